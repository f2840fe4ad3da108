// SPDX-License-Identifier: MIT
// DLPack both ways (dmlc.github.io/dlpack, Python specification): capsules "dltensor" and, for consumers that say
// max_version >= (1, 0), "dltensor_versioned". A capsule that was consumed is renamed "used_..."; one that was not is
// freed by its destructor. Only memory of the CPU; nothing is copied unless copy=True asks for it.
#include "module.h"

#include <string.h>

// The layouts of dlpack.h 1.x, as far as this file looks into them.
struct tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};
struct DLManagedTensor {
    struct tensor tensor;
    void *manager;
    void (*deleter)(struct DLManagedTensor *self);
};
struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    struct tensor tensor;
};
enum { READ_ONLY = 1, DEVICE_CPU = 1 };
static const char old_name[] = "dltensor", new_name[] = "dltensor_versioned";

void tensor_drop(struct memory *m) {
    struct DLManagedTensor *old = m->tensor;
    struct DLManagedTensorVersioned *t = m->tensor;
    if (m->kind == MEMORY_TENSOR_OLD && old->deleter) old->deleter(old);
    if (m->kind == MEMORY_TENSOR && t->deleter) t->deleter(t);
}

// ---- in ---------------------------------------------------------------------------------------
// o.__dlpack__(max_version=(1, 0)), or without for producers that do not know it.
static PyObject *capsule_of(PyObject *o) {
    PyObject *method = PyObject_GetAttrString(o, "__dlpack__");
    PyObject *none = PyTuple_New(0), *kw = method ? Py_BuildValue("{s(ii)}", "max_version", 1, 0) : NULL;
    PyObject *capsule = kw && none ? PyObject_Call(method, none, kw) : NULL;
    if (!capsule && kw && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_Call(method, none, NULL);
    }
    Py_XDECREF(kw);
    Py_XDECREF(none);
    Py_XDECREF(method);
    return capsule;
}

static bool adopt(struct memory *m, PyObject *capsule) {
    char why[200] = "";
    weft_status st;
    if (m->kind == MEMORY_TENSOR) {
        struct DLManagedTensorVersioned *t = PyCapsule_GetPointer(capsule, new_name);
        if (!t) return false;
        struct DLManagedTensorVersioned look = *t;
        look.flags &= ~(uint64_t)READ_ONLY; // it is only looked at
        m->read_only = t->flags & READ_ONLY;
        m->tensor = t;
        st = weft_dlpack_target(&look, &m->array, why, sizeof why);
    } else {
        m->tensor = PyCapsule_GetPointer(capsule, old_name);
        if (!m->tensor) return false;
        st = weft_dlpack_target_legacy(m->tensor, &m->array, why, sizeof why);
    }
    return st ? raise_status(st, why) != NULL : PyCapsule_SetName(capsule, m->kind == MEMORY_TENSOR ? "used_dltensor_versioned" : "used_dltensor") == 0;
}

struct memory *memory_from_dlpack(PyObject *o) {
    PyObject *capsule = capsule_of(o);
    if (!capsule) return NULL;
    struct memory *m = memory_blank(PyCapsule_IsValid(capsule, new_name) ? MEMORY_TENSOR : MEMORY_TENSOR_OLD);
    if (m && !adopt(m, capsule)) {
        m->kind = MEMORY_OWN; // the capsule still owns the tensor
        m->array.data = NULL;
        memory_drop(m);
        m = NULL;
    }
    Py_DECREF(capsule);
    return m;
}

// ---- out --------------------------------------------------------------------------------------
static void release_array(void *ud) { // on whatever thread the consumer is done
    PyGILState_STATE s = PyGILState_Ensure();
    Py_DECREF((PyObject *)ud);
    PyGILState_Release(s);
}

static void free_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, new_name)) {
        struct DLManagedTensorVersioned *t = PyCapsule_GetPointer(capsule, new_name);
        if (t->deleter) t->deleter(t);
    } else if (PyCapsule_IsValid(capsule, old_name)) {
        struct DLManagedTensor *t = PyCapsule_GetPointer(capsule, old_name);
        if (t->deleter) t->deleter(t);
    }
}

static PyObject *copy_of(struct array *a) {
    struct memory *m = memory_new(a->dtype, a->rank, a->memory->array.dims, false);
    if (!m) return NULL;
    if (!array_into(a, &m->array)) {
        memory_drop(m);
        return NULL;
    }
    return array_from_memory(m);
}

static PyObject *capsule_new(struct array *a, bool versioned, bool copied) {
    char why[200] = "";
    struct weft_share share = {.size = sizeof share, .release = release_array, .ud = a, .copied = versioned && copied,
                               .read_only = a->memory->read_only, .err = why, .err_size = sizeof why};
    struct DLManagedTensorVersioned *t = NULL;
    struct DLManagedTensor *old = NULL;
    weft_status st = versioned ? weft_to_dlpack(first_host->ctx, &a->memory->array, &share, &t)
                               : weft_to_dlpack_legacy(first_host->ctx, &a->memory->array, &share, &old);
    if (st) return raise_status(st, why);
    Py_INCREF((PyObject *)a);
    PyObject *capsule = PyCapsule_New(versioned ? (void *)t : (void *)old, versioned ? new_name : old_name, free_capsule);
    if (capsule) return capsule;
    if (t) t->deleter(t);
    if (old) old->deleter(old);
    return NULL;
}

PyObject *array_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    static const char *const known[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *a[4] = {NULL};
    int major = 0, minor = 0, device = DEVICE_CPU, id = 0;
    if (!read_arguments(&(struct signature){"__dlpack__", known, 0}, args, n, names, a)) return NULL;
    if (a[0] && a[0] != Py_None) return PyErr_Format(PyExc_BufferError, "memory of the CPU has no streams");
    if (a[1] && a[1] != Py_None && !PyArg_ParseTuple(a[1], "ii;max_version is (major, minor)", &major, &minor)) return NULL;
    if (a[2] && a[2] != Py_None && !PyArg_ParseTuple(a[2], "ii;dl_device is (type, id)", &device, &id)) return NULL;
    if (device != DEVICE_CPU) return PyErr_Format(PyExc_BufferError, "weft's arrays are in the memory of the CPU");
    struct array *x = (struct array *)self;
    if (!array_settle(x)) return NULL;
    const bool copy = a[3] == Py_True;
    PyObject *y = copy ? copy_of(x) : Py_NewRef(self);
    PyObject *capsule = y ? capsule_new((struct array *)y, major >= 1, copy) : NULL;
    Py_XDECREF(y);
    return capsule;
}

PyObject *array_dlpack_device(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return Py_BuildValue("(ii)", DEVICE_CPU, 0);
}
