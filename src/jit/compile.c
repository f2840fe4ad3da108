// SPDX-License-Identifier: MIT
// Entries in, machine code in the same entries out, on one background thread; a caller may wait. An entry is compiled at most once, whoever asks: CODE_QUEUED makes others wait or go on
// interpreting. The lock is dropped while LLVM works.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

// Lock held on entry and exit; dropped in between. The caller holds a reference and has set CODE_QUEUED.
static void compile_entry(struct jit *j, struct jit_entry *e) {
    char err[256] = "a kernel is missing";
    struct llvm_engine *engine = load_engine(j);
    bool ok = false;
    if (engine) {
        j->llvm->keep(engine, j->names != 0);
        pthread_mutex_unlock(&j->lock);
        uint64_t start = now_ns();
        ok = j->llvm->compile(engine, &e->seg, &e->native, err, sizeof err);
        uint64_t spent = now_ns() - start;
        pthread_mutex_lock(&j->lock);
        j->compile_ns += spent;
        if (ok && !kernels_known(j, &e->native)) {
            j->llvm->release(engine, e->native.handle);
            free(e->native.object);
            ok = false;
        }
    }
    if (ok) {
        j->compiles++;
        publish(j, e);
        code_trim(j);
    } else {
        e->state = CODE_FAILED;
        if (engine && j->env->log && !j->said) {
            j->said = true;
            char line[320];
            snprintf(line, sizeof line, "machine code could not be made, such steps stay interpreted: %s", err);
            j->env->log(j->env->log_ud, WEFT_LOG_WARN, line);
        }
    }
    pthread_cond_broadcast(&j->changed);
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
        compile_entry(j, e);
        e->refs--;
        j->pending--;
        code_trim(j);
        pthread_cond_broadcast(&j->changed);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

// LLVM wants a deep stack; every signal belongs to the host's threads.
static bool start_thread(struct jit *j) {
    if (j->thread_on) return true;
    pthread_attr_t attr;
    sigset_t all, old;
    if (pthread_attr_init(&attr)) return false;
    pthread_attr_setstacksize(&attr, (size_t)8 << 20);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    j->thread_on = pthread_create(&j->thread, &attr, work, j) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return j->thread_on;
}

void compile_later(struct jit *j, struct jit_entry *e) {
    if (e->state != CODE_COLD || !start_thread(j)) return;
    e->state = CODE_QUEUED;
    e->refs++;
    e->queued = NULL;
    *j->queue_end = e;
    j->queue_end = &e->queued;
    j->pending++;
    pthread_cond_broadcast(&j->changed);
}

// Waits for the background thread: LLVM needs more stack than a caller may have.
bool compile_now(struct jit *j, struct jit_entry *e) {
    compile_later(j, e);
    while (e->state == CODE_QUEUED)
        pthread_cond_wait(&j->changed, &j->lock);
    return e->state == CODE_READY;
}

void compile_stop(struct jit *j) {
    pthread_mutex_lock(&j->lock);
    j->stopping = true;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
    if (j->thread_on) pthread_join(j->thread, NULL);
    j->thread_on = false;
}

void jit_wait(struct jit *j) {
    pthread_mutex_lock(&j->lock);
    while (j->pending)
        pthread_cond_wait(&j->changed, &j->lock);
    pthread_mutex_unlock(&j->lock);
}
