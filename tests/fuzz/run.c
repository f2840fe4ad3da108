// SPDX-License-Identifier: MIT
// Evaluates a case in every way that there is and compares. First every node by itself, unfused, in
// the interpreter, against the naive evaluator node by node (a function with an error bound is
// checked against the bound, and its bits are taken for what comes after). Then the roots alone:
// fused and not, interpreted and compiled, at 1 to 3 threads, for each instruction set, as
// programs: the same bits, no byte changed outside the outputs, no access outside the blocks, which
// lie against pages that cannot be touched.
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "fuzz.h"

enum { PAGE = 4096, ROOM = 1 << 25 };
static unsigned char *slots[BLOCKS];
static int64_t mapped[BLOCKS]; // bytes that may be touched, behind the first page
int run_all;

// ---- memory
// ---------------------------------------------------------------------------------------------
unsigned char *block_memory(int i, const struct block *b) {
    int64_t body = (b->size + PAGE - 1) / PAGE * PAGE;
    if (!slots[i]) {
        slots[i] = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (slots[i] == MAP_FAILED) abort();
    }
    if (body + 2 * PAGE > ROOM) abort();
    if (mapped[i] != body) {
        mprotect(slots[i] + PAGE, ROOM - 2 * PAGE, PROT_NONE);
        if (body && mprotect(slots[i] + PAGE, (size_t)body, PROT_READ | PROT_WRITE)) abort();
        mapped[i] = body;
    }
    return slots[i] + PAGE + (b->at_end ? body - b->size : 0);
}
static void restore(const struct fcase *c) {
    for (int i = 0; i < c->nblock; i++)
        memcpy(block_memory(i, &c->block[i]), c->block[i].bytes, (size_t)c->block[i].size);
}
bool bits_equal(weft_dtype t, const void *a, const void *b) {
    size_t size = weft_dtype_size(t), part = weft_dtype_size(real_of(t));
    if (memcmp(a, b, size) == 0) return true;
    for (size_t at = 0; at < size; at += part) {
        const char *p = (const char *)a + at, *q = (const char *)b + at;
        if (memcmp(p, q, part) == 0) continue;
        if (!is_float(real_of(t)) || !num_is_nan(real_of(t), num_load(real_of(t), p)) ||
            !num_is_nan(real_of(t), num_load(real_of(t), q)))
            return false;
    }
    return true;
}

// ---- contexts
// -----------------------------------------------------------------------------------------------
enum { CONTEXTS = 7 };
static const struct {
    const char *name;
    weft_backend backend;
    weft_isa isa;
} kinds[CONTEXTS] = {{"interp", WEFT_BACKEND_INTERP, WEFT_ISA_BEST},
                     {"jit", WEFT_BACKEND_JIT, WEFT_ISA_BEST},
                     {"jit avx2", WEFT_BACKEND_JIT, WEFT_ISA_AVX2},
                     {"jit scalar", WEFT_BACKEND_JIT, WEFT_ISA_SCALAR},
                     {"interp avx2", WEFT_BACKEND_INTERP, WEFT_ISA_AVX2},
                     {"interp scalar", WEFT_BACKEND_INTERP, WEFT_ISA_SCALAR},
                     {"auto", WEFT_BACKEND_AUTO, WEFT_ISA_BEST}};
static weft_ctx *contexts[CONTEXTS];
static weft_ctx *context(int i) {
    weft_ctx_opts o = {.size = sizeof o,
                       .backend = kinds[i].backend,
                       .threads = 3,
                       .isa = kinds[i].isa,
                       .ignore_env = true};
    if (!contexts[i] && weft_ctx_new(&contexts[i], &o)) abort();
    return contexts[i];
}
void run_limit(int seconds) {
    struct itimerval t = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &t, NULL);
    alarm(10 * (unsigned)seconds);
}
void run_open(void) {
    context(0);
}
weft_ctx *run_context(void) {
    return context(0);
}

// ---- saying what failed
// -----------------------------------------------------------------------------------
static bool fail(struct failure *f, int kind, const char *how, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->text, sizeof f->text, fmt, ap);
    va_end(ap);
    snprintf(f->how, sizeof f->how, "%s", how);
    f->kind = kind;
    return false;
}
static void element_text(weft_dtype t, const void *p, char *buf, size_t size) {
    struct num v = num_load(t, p);
    if (is_complex(t))
        snprintf(buf, size, "(%La, %La)", v.f, v.g);
    else if (is_float(t))
        snprintf(buf, size, "%.17Lg (%La)", v.f, v.f);
    else if (t == WEFT_U64)
        snprintf(buf, size, "%llu", (unsigned long long)v.i);
    else
        snprintf(buf, size, "%lld", (long long)v.i);
}
static bool differ(struct failure *f, const char *how, const struct fcase *c, int node, int64_t at,
                   const void *have, const void *want) {
    char a[100], b[100];
    weft_dtype t = c->shape[node].t;
    element_text(t, have, a, sizeof a);
    element_text(t, want, b, sizeof b);
    return fail(f, (strcmp(how, "naive") ? 200 : 100), how,
                "t%d (%s, %s), element %lld is %s instead of %s", node,
                kind_name(c->node[node].kind), weft_dtype_name(t), (long long)at, a, b);
}

// ---- every node by itself
// -----------------------------------------------------------------------------------
static bool literal(const struct fcase *c, int i) {
    return c->node[i].kind == K_integer || c->node[i].kind == K_number;
}

static weft_status eval_nodes(const struct fcase *c, const struct built *b, struct tensor *have) {
    weft_expr *x[NODES];
    weft_array outs[NODES];
    int n = 0;
    for (int i = 0; i < c->nnode; i++) {
        if (literal(c, i)) continue;
        have[i] = tensor_new(c->shape[i].t, c->shape[i].rank, c->shape[i].dims);
        outs[n] = weft_dense(c->shape[i].t, have[i].data, c->shape[i].rank, c->shape[i].dims);
        x[n++] = b->x[i];
    }
    weft_eval_opts o = {.size = sizeof o, .threads = 1, .unfused = true};
    return weft_eval_n(n, x, outs, &o);
}

// have, element at, is too far from what MPFR says: told with the operands, as far as they do not
// broadcast.
static bool beyond(const struct fcase *c, const struct naive *w, int i, const struct tensor *have,
                   int64_t at, struct failure *f) {
    char text[3][100] = {"", "", ""};
    element_text(have->s.t, have->data + (size_t)at * weft_dtype_size(have->s.t), text[0],
                 sizeof text[0]);
    for (int k = 0; k < kind_arity(c->node[i].kind) && k < 2; k++) {
        const struct tensor *x = &w->v[c->node[i].in[k]];
        if (x->n == have->n || x->n == 1)
            element_text(x->s.t, x->data + (size_t)(x->n == 1 ? 0 : at) * weft_dtype_size(x->s.t),
                         text[1 + k], sizeof text[0]);
    }
    return fail(f, 100, "naive", "t%d (%s, %s), element %lld is %s of (%s%s%s), beyond the bound",
                i, kind_name(c->node[i].kind), weft_dtype_name(have->s.t), (long long)at, text[0],
                text[1], text[2][0] ? ", " : "", text[2]);
}

static bool check_node(const struct fcase *c, struct naive *w, int i, const struct tensor *have,
                       struct failure *f) {
    int64_t at;
    naive_node(w, i);
    if (literal(c, i)) return true;
    struct tensor *want = &w->v[i];
    if (w->verdict[i] != UNKNOWN) {
        bool same = want->s.t == have->s.t && want->s.rank == have->s.rank;
        for (int k = 0; same && k < have->s.rank; k++)
            same = want->s.dims[k] == have->s.dims[k];
        if (!same)
            return fail(f, 300, "naive",
                        "t%d (%s): the result is %s of rank %d instead of %s of rank %d", i,
                        kind_name(c->node[i].kind), weft_dtype_name(have->s.t), have->s.rank,
                        weft_dtype_name(want->s.t), want->s.rank);
    }
    if (w->nan_met[i] || w->index_bad[i])
        return fail(f, 500, "naive", "t%d (%s): what should have been refused was computed", i,
                    kind_name(c->node[i].kind));
    size_t size = weft_dtype_size(have->s.t);
    if (w->verdict[i] == BOUNDED && !naive_bound(w, i, have, &at))
        return beyond(c, w, i, have, at, f);
    for (int64_t l = 0; w->verdict[i] == EXACT && l < have->n; l++)
        if (!bits_equal(have->s.t, have->data + (size_t)l * size, want->data + (size_t)l * size))
            return differ(f, "naive", c, i, l, have->data + (size_t)l * size,
                          want->data + (size_t)l * size);
    *want = *have; // the same bits, or what there is no model of
    return true;
}

// What can stop an evaluation with a reason.
static bool may_stop(const struct fcase *c, weft_status st) {
    bool nan = false, index = false, library = false, skip = false;
    for (int i = 0; i < c->nnode; i++) {
        const struct node *n = &c->node[i];
        nan |= n->kind >= K_sum && n->kind <= K_argmax && n->p[0] == WEFT_NAN_RAISE;
        skip |= (n->kind == K_argmin || n->kind == K_argmax) && n->p[0] == WEFT_NAN_SKIP;
        index |= n->kind >= K_take && n->kind <= K_bincount;
        library |= n->kind >= K_cholesky;
    }
    return st == WEFT_ENAN     ? nan || skip
           : st == WEFT_EINDEX ? index
                               : library && (st == WEFT_EINVAL || st == WEFT_EUNSUPPORTED);
}

// ---- the roots
// ------------------------------------------------------------------------------------------------
struct expected {
    weft_status status;
    struct tensor v[ROOTS]; // with status 0
};

static void outputs(const struct fcase *c, weft_array *outs) {
    for (int i = 0; i < c->nroot; i++) {
        const struct shape *s = &c->shape[c->root[i].node];
        const struct root *r = &c->root[i];
        outs[i] = weft_strided(s->t, block_memory(r->block, &c->block[r->block]) + r->at, s->rank,
                               s->dims, r->strides);
    }
}
static void arrays_of(const struct fcase *c, weft_array *arrays) {
    for (int i = 0; i < c->nleaf; i++) {
        const struct leaf *l = &c->leaf[i];
        arrays[i] = weft_strided(l->s.t, block_memory(l->block, &c->block[l->block]) + l->at,
                                 l->s.rank, l->s.dims, l->strides);
    }
}
// *refused: the graph itself, which weft took before
static weft_status run_way(const struct fcase *c, const struct way *w, bool *refused, char *text,
                           size_t size) {
    weft_array arrays[LEAVES], outs[ROOTS], inputs[LEAVES];
    weft_expr *x[ROOTS];
    struct built b = {.g = weft_graph_new(context(w->context))};
    weft_eval_opts o = {.size = sizeof o, .threads = w->threads, .unfused = w->unfused};
    weft_status st;
    arrays_of(c, arrays);
    outputs(c, outs);
    *refused = !build_case(c, arrays, w->program, &b);
    text[0] = 0;
    if (*refused) {
        st = weft_graph_status(b.g);
    } else {
        for (int i = 0; i < c->nroot; i++)
            x[i] = b.x[c->root[i].node];
        weft_program *p = NULL;
        if (w->program) {
            st = weft_compile(c->nroot, x, &p);
            for (int i = 0; i < b.ninput; i++)
                inputs[i] = arrays[b.input_leaf[i]];
            if (!st) st = weft_run(p, NULL, inputs, outs, text, size);
            weft_program_free(p);
        } else {
            st = weft_eval_n(c->nroot, x, outs, &o);
        }
    }
    if (st && !text[0]) snprintf(text, size, "%s", weft_graph_error(b.g));
    weft_graph_free(b.g);
    return st;
}

static bool check_memory(const struct fcase *c, const struct expected *e, const char *how,
                         struct failure *f) {
    weft_array outs[ROOTS];
    outputs(c, outs);
    for (int i = 0; i < c->nroot; i++) {
        const struct root *r = &c->root[i];
        size_t size = weft_dtype_size(e->v[i].s.t);
        int64_t at[RANK];
        for (int64_t l = 0; l < e->v[i].n; l++) {
            int64_t off = 0;
            unravel(l, &e->v[i].s, at);
            for (int k = 0; k < e->v[i].s.rank; k++)
                off += at[k] * r->strides[k];
            unsigned char *have = (unsigned char *)outs[i].data + off;
            if (!bits_equal(e->v[i].s.t, have, e->v[i].data + (size_t)l * size))
                return differ(f, how, c, r->node, l, have, e->v[i].data + (size_t)l * size);
            memcpy(have, c->block[r->block].bytes + r->at + off, size);
        }
    }
    for (int i = 0; i < c->nblock; i++)
        if (memcmp(block_memory(i, &c->block[i]), c->block[i].bytes, (size_t)c->block[i].size) != 0)
            return fail(f, 600, how, "a byte outside the outputs was changed, in block %d", i);
    return true;
}

static bool index_or(weft_status a, weft_status b) { // what is not needed may go unchecked
    return a == b || (a == WEFT_EINDEX && b == WEFT_OK) || (a == WEFT_OK && b == WEFT_EINDEX);
}
static bool one_way(const struct fcase *c, const struct way *w, const struct expected *e,
                    struct failure *f) {
    char how[160], text[300];
    bool refused;
    snprintf(how, sizeof how, "%s, %d threads%s%s", kinds[w->context].name, w->threads,
             w->unfused ? ", unfused" : "", w->program ? ", program" : "");
    f->way = *w; // whatever happens
    restore(c);
    weft_status st = run_way(c, w, &refused, text, sizeof text);
    if (refused && w->program) return true; // a shape that must not follow from inputs
    if (w->program && st == WEFT_EUNSUPPORTED) return true;
    if (e->status ? !index_or(e->status, st) : st != WEFT_OK)
        return fail(f, 700, how, "status %d (%s) instead of %d: %s", st, weft_status_text(st),
                    e->status, text);
    return e->status || st ? true : check_memory(c, e, how, f);
}

// Compiling is what takes time, so one way that compiles and two that do not; all of them on
// request.
static bool every_way(const struct fcase *c, const struct expected *e, struct failure *f) {
    struct chance r = {c->seed ^ 0x5eed};
    static const struct way interpreted[] = {{0, 1, true, false, false},
                                             {0, 3, false, false, false},
                                             {4, 2, false, false, false},
                                             {5, 3, false, false, false},
                                             {0, 3, false, true, false},
                                             {5, 1, true, false, false}},
                            compiled[] = {{1, 1, false, false, false}, {1, 2, false, false, false},
                                          {1, 3, false, false, false}, {1, 3, false, true, false},
                                          {2, 3, false, false, false}, {3, 2, false, false, false},
                                          {6, 3, false, false, false}, {1, 1, true, false, false},
                                          {2, 1, false, true, false}},
                            first = {0, 1, false, false, false};
    enum {
        INTERPRETED = sizeof interpreted / sizeof *interpreted,
        COMPILED = sizeof compiled / sizeof *compiled
    };
    if (!one_way(c, &first, e, f)) return false;
    for (int i = 0; i < (run_all ? INTERPRETED : 1); i++)
        if (!one_way(c, &interpreted[run_all ? i : below(&r, INTERPRETED)], e, f)) return false;
    for (int i = 0; i < (run_all ? COMPILED : 1); i++)
        if (!one_way(c, &compiled[run_all ? i : below(&r, COMPILED)], e, f)) return false;
    return true;
}

static void expect_roots(const struct fcase *c, const struct tensor *values, struct expected *e) {
    static const struct way reference = {0, 1, true, false, false};
    char text[300];
    bool refused;
    e->status = WEFT_OK;
    for (int i = 0; values && i < c->nroot; i++)
        e->v[i] = values[c->root[i].node];
    if (values) return;
    restore(c);
    e->status = run_way(c, &reference, &refused, text, sizeof text);
    weft_array outs[ROOTS];
    outputs(c, outs);
    for (int i = 0; !e->status && i < c->nroot; i++) {
        const struct shape *s = &c->shape[c->root[i].node];
        int64_t at[RANK];
        e->v[i] = tensor_new(s->t, s->rank, s->dims);
        for (int64_t l = 0; l < e->v[i].n; l++) {
            unsigned char *p = outs[i].data;
            unravel(l, s, at);
            for (int k = 0; k < s->rank; k++)
                p += at[k] * outs[i].strides[k];
            memcpy(e->v[i].data + (size_t)l * weft_dtype_size(s->t), p, weft_dtype_size(s->t));
        }
    }
}

static bool run_built(struct fcase *c, struct built *b, const struct way *only, struct failure *f) {
    struct tensor have[NODES];
    struct naive w = {.c = c};
    struct expected e;
    f->way = (struct way){.naive = true};
    weft_status st = eval_nodes(c, b, have);
    if (st && !may_stop(c, st))
        return fail(f, 800, "interp, every node by itself", "status %d (%s): %s", st,
                    weft_status_text(st), weft_graph_error(b->g));
    for (int i = 0; !st && i < c->nnode; i++) {
        if (only && !only->naive)
            w.v[i] = have[i];
        else if (f->node = i, !check_node(c, &w, i, &have[i], f))
            return false;
    }
    f->node = -1;
    if (only && only->naive) return true;
    expect_roots(c, st ? NULL : w.v, &e);
    return only ? one_way(c, only, &e, f) : every_way(c, &e, f);
}

static bool build_here(struct fcase *c, struct built *b) {
    weft_array arrays[LEAVES];
    arrays_of(c, arrays);
    restore(c);
    if (!build_case(c, arrays, false, b)) return false;
    for (int i = 0; i < c->nnode; i++) {
        c->shape[i] =
            (struct shape){.t = weft_expr_dtype(b->x[i]), .rank = weft_expr_rank(b->x[i])};
        if (c->shape[i].rank > RANK - 2) return false;
        if (c->shape[i].rank)
            memcpy(c->shape[i].dims, weft_expr_dims(b->x[i]),
                   (size_t)c->shape[i].rank * sizeof(int64_t));
    }
    return true;
}

bool run_case(struct fcase *c, const struct way *only, struct failure *f) {
    struct built b = {.g = weft_graph_new(context(0))};
    f->kind = 0, f->node = -1;
    bool ok = build_here(c, &b) ? run_built(c, &b, only, f)
                                : fail(f, 900, "building", "%s", weft_graph_error(b.g));
    weft_graph_free(b.g);
    naive_free();
    return ok;
}

bool run_values(struct fcase *c, unsigned char *const *memory) {
    struct built b = {.g = weft_graph_new(context(0))};
    struct tensor have[NODES];
    bool ok = build_here(c, &b) && !eval_nodes(c, &b, have);
    for (int i = 0; ok && i < c->nnode; i++)
        if (!literal(c, i))
            memcpy(memory[i], have[i].data, (size_t)have[i].n * weft_dtype_size(have[i].s.t));
    weft_graph_free(b.g);
    naive_free();
    return ok;
}

void way_options(const struct way *w, FILE *f) {
    static const char *const isas[] = {"best", "scalar", "avx2", "avx512", "neon"},
                             *const backends[] = {"auto", "interp", "jit"};
    fprintf(f, " --backend %s --isa %s --threads %d%s", backends[kinds[w->context].backend],
            isas[kinds[w->context].isa], w->threads ? w->threads : 1,
            w->unfused || w->naive ? " --unfused" : "");
}
