// SPDX-License-Identifier: MIT
// Inside the jit room: the code cache and the compile queue, shared by its files.
#ifndef WEFT_JIT_CODE_H
#define WEFT_JIT_CODE_H

#include <pthread.h>

#include "announce.h"
#include "jit.h"
#include "llvm.h"
#include "map.h"
#include "store.h"

enum code_state { CODE_COLD, CODE_QUEUED, CODE_READY, CODE_FAILED };

// One body. rt_code comes first: programs point at it.
struct jit_entry {
    struct rt_code code;
    struct jit_entry *next;         // hash chain
    struct jit_entry *newer, *older; // use order
    struct jit_entry *queued;       // compile queue
    uint64_t hash[2];
    size_t key_size, bytes;         // bytes: what this entry counts for in the bound
    unsigned char *key;             // canonical bytes, owned
    struct seg seg;                 // points into key's block
    int refs;                       // programs that use it, + 1 while queued
    enum code_state state;
    uint64_t spent_ns;              // interpreted so far, estimated
    bool looked;                    // for it in the store
    struct llvm_code native;
    struct jit_map map;             // of an image; else native.handle is ORC's
    struct announced *announced;
    kern_map *kern[COUNT_OF(((struct llvm_code *)0)->need)];
};

struct jit {
    struct rt_env *env;
    struct jit_opts opts;
    pthread_mutex_t lock;           // guards everything below
    pthread_cond_t changed;
    struct jit_entry **bucket;
    size_t nbucket, nentry, bytes;
    struct jit_entry *newest, *oldest;
    // compile thread
    struct jit_entry *queue, **queue_end;
    int pending;                    // queued or being compiled
    bool thread_on, stopping;
    pthread_t thread;
    pid_t pid;                      // of the process that started it: a forked child has no such thread
    struct store *store;            // NULL: machine code dies with the context
    // LLVM; written once, under both locks
    pthread_mutex_t loading;
    const struct llvm_api *llvm;
    struct llvm_engine *engine;
    unsigned names; // enum weft_names
    bool llvm_tried, said; // said: that a body stays interpreted, once
    bool spent_said;       // that the time for compiling is spent
    char llvm_error[256];
    uint64_t compiles, compile_ns, ir_ns, emit_ns, hits, misses, evictions, refusals, runs_native, runs_interp;
};

// code.c
struct jit_entry *code_get(struct jit *j, const struct seg *s); // with a reference; NULL: no memory
void code_put(struct jit *j, struct jit_entry *e);
void code_trim(struct jit *j); // to the bound; lock held
// compile.c: lock held on entry and exit of all
bool compile_keep(struct jit *j, struct jit_entry *e); // compiled, and in the store
bool compile_look_up(struct jit *j, struct jit_entry *e); // in the store, once
bool compile_allowed(struct jit *j);
weft_status compile_now(struct jit *j, struct jit_entry *e, const struct rt_bind *bind);
void compile_later(struct jit *j, struct jit_entry *e);
void compile_stop(struct jit *j);
// load.c: lock not held; NULL engine when LLVM cannot be had (said once through the log)
struct llvm_engine *load_engine(struct jit *j);
void load_close(struct jit *j);

#endif
