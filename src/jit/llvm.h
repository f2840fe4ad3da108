// SPDX-License-Identifier: MIT
// The wall around LLVM. The files behind it are built into the module libweft-jit, which exports one
// symbol, weft_jit_module; the core opens it with RTLD_LOCAL on first need and talks through this table.
// The module allocates with malloc (LLVM does) and reports sentences, never ends the process.
#ifndef WEFT_JIT_LLVM_H
#define WEFT_JIT_LLVM_H

#include "../kernels/kern.h"
#include "../nest.h"

struct llvm_engine; // one per context: target machine and ORC JIT for the host, at one kern_isa

// What the code calls: form[i] is the kernel's address at run time, or for family KERN_FAMILY__N that of
// the kern_red_row of a reduction of runs.
struct llvm_need {
    uint8_t family; // enum kern_family
    uint8_t dtype;
    bool block;     // its block kernel, called through inline assembly
    uint8_t red, from;
};
// Code comes either as an image, position-independent bytes (malloc'ed, the caller's to map and free), or where
// the object does not allow that, linked by ORC: fn and handle.
struct llvm_code {
    tile_fn *fn;            // called with code = table of kernel addresses, in the order of need[]
    void *image;            // NULL: ORC has linked it
    size_t image_size, entry; // entry: offset of the function in the image
    size_t scratch;         // bytes of tile.scratch it uses
    size_t bytes;           // machine code and data
    int nneed;
    struct llvm_need need[64];
    uint64_t ir_ns, emit_ns; // time to build and verify the IR; to make the object of it
    void *handle;           // ORC's, for release
    void *object;           // when the engine keeps objects: a copy of it, malloc'ed; the caller's to free
    size_t object_size;
};
// The block kernel for exactly this level, or NULL.
typedef const struct kern_block *llvm_block_fn(enum kern_family f, weft_dtype t, enum kern_isa isa);

enum llvm_dump_kind { LLVM_DUMP_IR, LLVM_DUMP_ASM };

struct llvm_api {
    int abi;                // LLVM_API_ABI
    int major;              // LLVM_VERSION_MAJOR
    // block may be NULL: then heavy operations run on strips
    struct llvm_engine *(*open)(enum kern_isa isa, llvm_block_fn *block, char *err, size_t err_size);
    void (*close)(struct llvm_engine *e);
    // Thread-safe: one compilation at a time per engine (it locks). false with a sentence on failure.
    bool (*compile)(struct llvm_engine *e, const struct seg *s, struct llvm_code *out, char *err,
                    size_t err_size);
    void (*release)(struct llvm_engine *e, void *handle); // frees machine code really
    // Code compiled from now on has unwinding tables, and its object is kept for the caller.
    void (*keep)(struct llvm_engine *e, bool on);
    // ORC links everything compiled from now on, as it does where images are refused; for tests.
    void (*orc_only)(struct llvm_engine *e, bool on);
    // For any x86-64 level on any x86-64 machine. *text is malloc'ed.
    bool (*dump)(struct llvm_engine *e, const struct seg *s, enum llvm_dump_kind kind,
                 enum kern_isa isa, char **text, char *err, size_t err_size);
};
enum { LLVM_API_ABI = 6 };
typedef const struct llvm_api *llvm_module_fn(void);
llvm_module_fn weft_jit_module; // the one exported symbol

#endif
