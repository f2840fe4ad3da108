// SPDX-License-Identifier: MIT
// Entries in, machine code in the same entries out, on one background thread; a caller may wait. An entry is compiled at most once, whoever asks: CODE_QUEUED makes others wait or go on
// interpreting. The lock is dropped while LLVM works.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "code.h"

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// The address that machine code gets for a need; NULL: there is no such kernel.
static kern_map *find_kernel(const struct llvm_need *n, enum kern_isa isa) {
    if (n->family == KERN_FAMILY__N)
        return (kern_map *)(uintptr_t)kern_red_find((enum kern_red)n->red, (weft_dtype)n->dtype,
                                                    (weft_dtype)n->from, isa);
    const struct kern_row *row = kern_find((enum kern_family)n->family, (weft_dtype)n->dtype, isa);
    if (n->block) return row && row->block ? (kern_map *)row->block->entry : NULL;
    return row ? row->fn : NULL;
}

// Names it to whoever asked; the object has served then.
static void announce(struct jit *j, struct jit_entry *e) {
    char name[JIT_NAME + 8];
    struct announce_code c = {.object = e->native.object, .size = e->native.object_size, .name = name};
    memcpy(&c.fn, &e->native.fn, sizeof c.fn);
    int n = snprintf(name, sizeof name, "weft_");
    jit_seg_name(&e->seg, '_', name + n, sizeof name - (size_t)n);
    e->announced = announce_code(j->names, &c);
    free(e->native.object);
    e->native.object = NULL;
}

static void publish(struct jit *j, struct jit_entry *e) {
    if (e->native.object) announce(j, e);
    for (int i = 0; i < e->native.nneed; i++)
        e->kern[i] = find_kernel(&e->native.need[i], j->env->isa);
    e->code.native_form = e->kern;
    e->code.native_scratch = e->native.scratch;
    e->bytes += e->native.bytes;
    j->bytes += e->native.bytes;
    e->state = CODE_READY;
    atomic_store_explicit(&e->code.native, e->native.fn, memory_order_release);
}

static bool kernels_known(struct jit *j, const struct llvm_code *c) {
    for (int i = 0; i < c->nneed; i++)
        if (!find_kernel(&c->need[i], j->env->isa)) return false;
    return true;
}

// Where the code lies: mapped from its image, or as ORC linked it. Then names are told to tools.
static bool place(struct jit *j, struct jit_entry *e, char *err, size_t err_size) {
    struct llvm_code *c = &e->native;
    const char *why = kernels_known(j, c) ? NULL : "a kernel is missing";
    if (!why && c->image) {
        c->fn = map_code(&e->map, c->image, c->image_size, c->entry);
        c->bytes = e->map.size;
        if (!c->fn) why = "the system gives no executable memory";
    }
    if (!why) return true;
    snprintf(err, err_size, "%s", why);
    if (c->handle) j->llvm->release(j->engine, c->handle);
    free(c->object);
    c->handle = c->object = NULL;
    return false;
}

static void say_failed(struct jit *j, const char *why) {
    char line[320];
    if (j->said || !j->env->log) return;
    j->said = true;
    snprintf(line, sizeof line, "machine code could not be made, such steps stay interpreted: %s", why);
    j->env->log(j->env->log_ud, WEFT_LOG_WARN, line);
}

// What tools know by name has unwinding tables and is compiled here; the code cache is passed by.
static bool keeps(const struct jit *j) { return j->store && !j->names; }

// Lock held on entry and exit; dropped in between. The caller holds a reference and has set CODE_QUEUED.
static void compile_entry(struct jit *j, struct jit_entry *e) {
    char err[256] = "";
    const bool named = j->names != 0, kept = keeps(j);
    pthread_mutex_unlock(&j->lock);
    struct llvm_engine *engine = load_engine(j);
    const uint64_t start = now_ns();
    bool ok = false;
    if (engine) {
        j->llvm->keep(engine, named);
        ok = j->llvm->compile(engine, &e->seg, &e->native, err, sizeof err) && place(j, e, err, sizeof err);
    }
    const uint64_t spent = now_ns() - start;
    if (ok && kept) store_keep(j->store, &e->seg, &e->native, j->llvm->major);
    free(e->native.image);
    e->native.image = NULL;
    pthread_mutex_lock(&j->lock);
    if (engine) {
        j->compile_ns += spent;
        j->ir_ns += e->native.ir_ns;
        j->emit_ns += e->native.emit_ns;
    }
    if (ok) {
        j->compiles++;
        publish(j, e);
        code_trim(j);
    } else {
        e->state = CODE_FAILED;
        if (engine) say_failed(j, err);
    }
    pthread_cond_broadcast(&j->changed);
}

// Lock held on entry and exit; dropped in between. Once for each body: reading a file costs what a small
// evaluation does, so it is tried at the first sight of a body, by the thread that wants to run it.
bool compile_look_up(struct jit *j, struct jit_entry *e) {
    if (e->looked || !keeps(j) || e->state != CODE_COLD) return e->state == CODE_READY;
    e->looked = true;
    e->state = CODE_QUEUED;
    e->refs++;
    pthread_mutex_unlock(&j->lock);
    bool found = store_load(j->store, &e->seg, &e->map, &e->native) != NULL;
    if (found && !kernels_known(j, &e->native)) {
        map_free(&e->map);
        found = false;
    }
    pthread_mutex_lock(&j->lock);
    e->refs--;
    e->state = CODE_COLD;
    if (found) publish(j, e);
    if (found) code_trim(j);
    pthread_cond_broadcast(&j->changed);
    return found;
}

// Whether there is time left to compile in; says once that there is none.
bool compile_allowed(struct jit *j) {
    if (!j->opts.compile_ns || j->compile_ns < j->opts.compile_ns) return true;
    if (j->env->log && !j->spent_said) {
        char line[160];
        snprintf(line, sizeof line,
                 "compiling has taken %.1f ms, the limit is %.1f ms: what is not compiled yet stays interpreted",
                 (double)j->compile_ns * 1e-6, (double)j->opts.compile_ns * 1e-6);
        j->env->log(j->env->log_ud, WEFT_LOG_WARN, line);
    }
    j->spent_said = true;
    return false;
}

static void refuse(struct jit *j, struct jit_entry *e) {
    e->state = CODE_FAILED;
    j->refusals++;
}

// ---- the background thread ---------------------------------------------------------------------------
static void *work(void *arg) {
    struct jit *j = arg;
    pthread_mutex_lock(&j->lock);
    while (!j->stopping) {
        struct jit_entry *e = j->queue;
        if (!e) {
            pthread_cond_wait(&j->changed, &j->lock);
            continue;
        }
        j->queue = e->queued;
        if (!j->queue) j->queue_end = &j->queue;
        if (compile_allowed(j))
            compile_entry(j, e);
        else
            refuse(j, e);
        e->refs--;
        j->pending--;
        code_trim(j);
        pthread_cond_broadcast(&j->changed);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

// A forked child has none of the parent's threads. It may start its own unless the parent was compiling: then
// LLVM's locks, and the body, belong to a thread that is not there.
static bool is_orphan(struct jit *j) { return j->thread_on && j->pid != getpid(); }
static bool can_compile(struct jit *j) {
    if (!is_orphan(j)) return true;
    if (j->pending) return false;
    j->thread_on = false;
    return true;
}

// LLVM wants a deep stack; every signal belongs to the host's threads.
static bool start_thread(struct jit *j) {
    if (!can_compile(j)) return false;
    if (j->thread_on) return true;
    pthread_attr_t attr;
    sigset_t all, old;
    if (pthread_attr_init(&attr)) return false;
    pthread_attr_setstacksize(&attr, (size_t)8 << 20);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    j->pid = getpid();
    j->thread_on = pthread_create(&j->thread, &attr, work, j) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return j->thread_on;
}

void compile_later(struct jit *j, struct jit_entry *e) {
    if (e->state != CODE_COLD) return;
    if (!compile_allowed(j)) {
        refuse(j, e);
        return;
    }
    if (!start_thread(j)) return;
    e->state = CODE_QUEUED;
    e->refs++;
    e->queued = NULL;
    *j->queue_end = e;
    j->queue_end = &e->queued;
    j->pending++;
    pthread_cond_broadcast(&j->changed);
}

static bool is_stopped(const struct jit *j, const struct rt_bind *b) {
    return b && rt_is_stopped(j->env, b->begun, b->control);
}

// Waits for the background thread: LLVM needs more stack than a caller may have. Another thread may be looking
// for the body in the store: when it comes back without, the body is cold again. Whoever cancels may be a
// signal handler and wakes nobody, so the wait looks for itself.
weft_status compile_now(struct jit *j, struct jit_entry *e, const struct rt_bind *bind) {
    enum { LOOK_NS = 2000000 };
    compile_look_up(j, e);
    for (;;) {
        struct timespec t;
        compile_later(j, e);
        if (e->state != CODE_QUEUED || is_orphan(j)) return WEFT_OK;
        if (is_stopped(j, bind)) return WEFT_ECANCELED;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += LOOK_NS;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&j->changed, &j->lock, &t);
    }
}

// Code that was compiled has been put there already; it may have been dropped since, or lost.
bool compile_keep(struct jit *j, struct jit_entry *e) {
    if (!keeps(j)) return false;
    (void)compile_now(j, e, NULL);
    if (e->state != CODE_READY) return false;
    struct llvm_code code = e->native;
    const int major = j->llvm ? j->llvm->major : 0;
    code.image = e->map.at;
    e->refs++;
    pthread_mutex_unlock(&j->lock);
    bool kept = store_has(j->store, &e->seg) || store_keep(j->store, &e->seg, &code, major);
    pthread_mutex_lock(&j->lock);
    e->refs--;
    return kept;
}

void compile_stop(struct jit *j) {
    pthread_mutex_lock(&j->lock);
    j->stopping = true;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
    if (j->thread_on && !is_orphan(j)) pthread_join(j->thread, NULL);
    j->thread_on = false;
}

void jit_wait(struct jit *j) {
    pthread_mutex_lock(&j->lock);
    while (j->pending && !is_orphan(j))
        pthread_cond_wait(&j->changed, &j->lock);
    pthread_mutex_unlock(&j->lock);
}
