// SPDX-License-Identifier: MIT
// A failing case made small: fewer outputs, nodes replaced by their values or by an operand, plain
// layouts, smaller extents, simpler values, as long as it still fails in the same way. Every
// attempt runs in a child, since what fails may be a crash. Greedy, until nothing helps or the time
// is over.
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

enum { VALUES = 1 << 28 };
static struct failure *seen;  // of the child
static struct shape *shapes;  // as it found them
static unsigned char *values; // of all nodes
static double deadline;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void *shared_memory(size_t size) {
    void *p =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) abort();
    return p;
}

// Whether c fails as f says; *f is brought up to date then.
static bool fails(struct fcase *c, struct failure *f) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        run_limit(20);
        bool ok = run_case(c, f->kind / 100 == 9 ? NULL : &f->way, seen);
        memcpy(shapes, c->shape, sizeof c->shape);
        _exit(!ok);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0) abort();
    if (WIFSIGNALED(status)) return f->kind == 1000 + WTERMSIG(status);
    if (WEXITSTATUS(status) > 1) return f->kind == 1000;
    if (WEXITSTATUS(status) == 0 || seen->kind / 100 != f->kind / 100) return false;
    struct way way = f->way;
    *f = *seen;
    f->way = way;
    memcpy(c->shape, shapes, sizeof c->shape);
    return true;
}

// ---- what is not used any more goes
// ----------------------------------------------------------------------
static void compact(struct fcase *c) {
    bool live[NODES] = {false}, leaf_live[LEAVES] = {false}, block_live[BLOCKS] = {false};
    int to[NODES], leaf_to[LEAVES], block_to[BLOCKS], n = 0;
    for (int i = 0; i < c->nroot; i++)
        live[c->root[i].node] = block_live[c->root[i].block] = true;
    for (int i = c->nnode - 1; i >= 0; i--)
        for (int k = 0; live[i] && k < kind_arity(c->node[i].kind); k++)
            live[c->node[i].in[k]] = true;
    for (int i = 0; i < c->nnode; i++)
        if (live[i] && c->node[i].kind == K_leaf) leaf_live[c->node[i].p[0]] = true;
    for (int i = 0; i < c->nleaf; i++)
        if (leaf_live[i]) block_live[c->leaf[i].block] = true;
    for (int i = 0; i < c->nblock; i++) {
        if (!block_live[i]) free(c->block[i].bytes);
        if (block_live[i]) c->block[block_to[i] = n++] = c->block[i];
    }
    c->nblock = n, n = 0;
    for (int i = 0; i < c->nleaf; i++) {
        if (!leaf_live[i]) continue;
        c->leaf[i].block = block_to[c->leaf[i].block];
        c->leaf[leaf_to[i] = n++] = c->leaf[i];
    }
    c->nleaf = n, n = 0;
    for (int i = 0; i < c->nnode; i++) {
        if (!live[i]) continue;
        struct node m = c->node[i];
        for (int k = 0; k < kind_arity(m.kind); k++)
            m.in[k] = to[m.in[k]];
        if (m.kind == K_leaf) m.p[0] = leaf_to[m.p[0]];
        c->shape[n] = c->shape[i];
        c->node[to[i] = n++] = m;
    }
    c->nnode = n;
    for (int i = 0; i < c->nroot; i++) {
        c->root[i].node = to[c->root[i].node];
        c->root[i].block = block_to[c->root[i].block];
    }
}

// Takes next for c when it still fails; next is used up.
static bool keep_if(struct fcase *c, struct fcase *next, struct failure *f) {
    compact(next);
    bool yes = now() < deadline && fails(next, f);
    if (yes) {
        case_free(c);
        *c = *next;
    } else {
        case_free(next);
    }
    free(next);
    return yes;
}
static struct fcase *copy_of(const struct fcase *c) {
    struct fcase *n = malloc(sizeof *n);
    if (!n) abort();
    case_copy(n, c);
    return n;
}

// ---- smaller graphs
// ---------------------------------------------------------------------------------------
static bool fewer_roots(struct fcase *c, struct failure *f) {
    bool any = false;
    for (int i = c->nroot - 1; i >= 0 && c->nroot > 1; i--) {
        struct fcase *n = copy_of(c);
        memmove(&n->root[i], &n->root[i + 1], (size_t)(n->nroot - 1 - i) * sizeof *n->root);
        n->nroot--;
        any |= keep_if(c, n, f);
    }
    return any;
}
// Output i becomes dense, in a block of its own.
static bool own_output(struct fcase *c, int i) {
    struct root *r = &c->root[i];
    const struct shape *s = &c->shape[r->node];
    int64_t step = (int64_t)weft_dtype_size(s->t);
    if (c->nblock == BLOCKS) return false;
    for (int d = s->rank - 1; d >= 0; step *= s->dims[d--])
        r->strides[d] = step;
    r->at = 0, r->block = c->nblock;
    c->block[c->nblock++] = (struct block){step, calloc((size_t)step + 1, 1), true};
    return true;
}
// A root's operand becomes the root.
static bool earlier_root(struct fcase *c, struct failure *f) {
    for (int i = 0; i < c->nroot; i++)
        for (int k = 0; k < kind_arity(c->node[c->root[i].node].kind); k++) {
            struct fcase *n = copy_of(c);
            struct root *r = &n->root[i];
            r->node = c->node[r->node].in[k];
            int kind = n->node[r->node].kind;
            if (kind != K_integer && kind != K_number) own_output(n, i);
            if (keep_if(c, n, f)) return true;
        }
    return false;
}
static bool values_of(struct fcase *c, unsigned char **memory) {
    size_t at = 0;
    int status;
    for (int i = 0; i < c->nnode; i++) {
        memory[i] = values + at;
        at += (size_t)(shape_count(&c->shape[i]) * (int64_t)weft_dtype_size(c->shape[i].t) + 15) &
              ~(size_t)15;
    }
    if (at > VALUES) return false;
    pid_t pid = fork();
    if (pid == 0) {
        run_limit(20);
        _exit(!run_values(c, memory));
    }
    return pid > 0 && waitpid(pid, &status, 0) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
static bool leaf_for_node(struct fcase *c, int i, const unsigned char *value) {
    const struct shape *s = &c->shape[i];
    if (c->nleaf == LEAVES || c->nblock == BLOCKS) return false;
    struct leaf *l = &c->leaf[c->nleaf];
    int64_t step = (int64_t)weft_dtype_size(s->t);
    *l = (struct leaf){.s = *s, .block = c->nblock};
    for (int d = s->rank - 1; d >= 0; step *= s->dims[d--])
        l->strides[d] = step;
    c->block[c->nblock++] = (struct block){step, malloc((size_t)step + 1), true};
    memcpy(c->block[l->block].bytes, value, (size_t)step);
    c->node[i] = (struct node){.kind = K_leaf, .p = {c->nleaf++}};
    return true;
}
static bool fewer_nodes(struct fcase *c, struct failure *f) {
    unsigned char *memory[NODES];
    bool some = values_of(c, memory), any = false;
    for (int i = 0; some && i < c->nnode; i++) {
        if (kind_arity(c->node[i].kind) == 0) continue;
        struct fcase *n = copy_of(c);
        if (!leaf_for_node(n, i, memory[i])) {
            case_free(n), free(n);
            continue;
        }
        if (!keep_if(c, n, f)) continue;
        any = true;
        some = values_of(c, memory);
        i = -1;
    }
    for (int i = 0; i < c->nnode; i++)
        for (int k = 0; k < kind_arity(c->node[i].kind); k++) {
            const struct shape *a = &c->shape[i], *b = &c->shape[c->node[i].in[k]];
            if (a->t != b->t || a->rank != b->rank || memcmp(a->dims, b->dims, sizeof a->dims) != 0)
                continue;
            struct fcase *n = copy_of(c);
            for (int j = 0; j < n->nnode; j++)
                for (int l = 0; l < kind_arity(n->node[j].kind); l++)
                    if (n->node[j].in[l] == i) n->node[j].in[l] = c->node[i].in[k];
            for (int j = 0; j < n->nroot; j++)
                if (n->root[j].node == i) n->root[j].node = c->node[i].in[k];
            if (keep_if(c, n, f)) return true;
        }
    return any;
}

// ---- plainer memory
// -------------------------------------------------------------------------------------------
static bool plainer_leaves(struct fcase *c, struct failure *f) {
    unsigned char *memory[NODES];
    bool any = false;
    for (int i = 0; i < c->nnode; i++) {
        if (c->node[i].kind != K_leaf || !values_of(c, memory)) continue;
        const struct leaf *l = &c->leaf[c->node[i].p[0]];
        int64_t step = (int64_t)weft_dtype_size(l->s.t);
        bool plain = l->at == 0;
        for (int d = l->s.rank - 1; d >= 0; step *= l->s.dims[d--])
            plain &= l->strides[d] == step;
        if (plain && c->block[l->block].size == step) continue;
        struct fcase *n = copy_of(c);
        if (leaf_for_node(n, i, memory[i]))
            any |= keep_if(c, n, f);
        else
            case_free(n), free(n);
    }
    return any;
}
static bool plainer_roots(struct fcase *c, struct failure *f) {
    bool any = false;
    for (int i = 0; i < c->nroot; i++) {
        const struct shape *s = &c->shape[c->root[i].node];
        const struct root *r = &c->root[i];
        int64_t step = (int64_t)weft_dtype_size(s->t);
        bool plain = r->at == 0;
        for (int d = s->rank - 1; d >= 0; step *= s->dims[d--])
            plain &= r->strides[d] == step;
        if (plain && c->block[r->block].size == step) continue;
        struct fcase *n = copy_of(c);
        if (own_output(n, i))
            any |= keep_if(c, n, f);
        else
            case_free(n), free(n);
    }
    return any;
}

// ---- smaller extents and simpler values
// ---------------------------------------------------------------------------
static void cut_extent(struct fcase *c, int64_t from, int64_t to) {
    for (int i = 0; i < c->nleaf; i++)
        for (int d = 0; d < c->leaf[i].s.rank; d++)
            if (c->leaf[i].s.dims[d] == from) c->leaf[i].s.dims[d] = to;
    for (int i = 0; i < c->nnode; i++) {
        struct node *n = &c->node[i];
        int first = n->kind == K_reshape || n->kind == K_broadcast_to        ? 0
                    : n->kind == K_iota                                      ? 2
                    : n->kind == K_random_integers                           ? 5
                    : n->kind >= K_random_bits && n->kind <= K_random_normal ? 3
                                                                             : -1;
        for (int k = 0; first >= 0 && k < n->p[first]; k++)
            if (n->p[first + 1 + k] == from) n->p[first + 1 + k] = to;
        if (n->kind == K_eye)
            for (int k = 1; k < 3; k++)
                if (n->p[k] == from) n->p[k] = to;
    }
    for (int i = 0; i < c->nroot; i++) { // outputs dense in blocks of their own
        struct root *r = &c->root[i];
        const struct shape *s = &c->shape[r->node];
        int64_t step = (int64_t)weft_dtype_size(s->t);
        for (int d = s->rank - 1; d >= 0; step *= s->dims[d--])
            r->strides[d] = step;
        r->at = 0;
    }
}
static bool smaller_extents(struct fcase *c, struct failure *f) {
    bool any = false;
    for (int i = 0; i < c->nleaf; i++)
        for (int d = 0; d < c->leaf[i].s.rank; d++) {
            int64_t e = c->leaf[i].s.dims[d], to[] = {1, 2, e / 2, e - 1};
            for (int k = 0; k < 4 && e > 1; k++) {
                if (to[k] < 1 || to[k] >= e) continue;
                struct fcase *n = copy_of(c);
                cut_extent(n, e, to[k]);
                if (!keep_if(c, n, f)) continue;
                any = true;
                break;
            }
        }
    return any;
}
static bool simpler_values(struct fcase *c, struct failure *f) {
    static const double plain[] = {0, 1};
    bool any = false;
    for (int i = 0; i < c->nleaf; i++) {
        weft_dtype t = c->leaf[i].s.t;
        int64_t size = (int64_t)weft_dtype_size(t), count = c->block[c->leaf[i].block].size / size;
        for (int64_t e = -1; e < (count < 40 ? count : 40); e++) // -1: all of them
            for (int k = 0; k < 2; k++) {
                unsigned char one[16] = {0};
                num_store(t, one, num_cast(t, WEFT_F64, (struct num){plain[k], 0, 0}));
                struct fcase *n = copy_of(c);
                unsigned char *p = n->block[n->leaf[i].block].bytes;
                for (int64_t j = e < 0 ? 0 : e; j < (e < 0 ? count : e + 1); j++)
                    memcpy(p + j * size, one, (size_t)size);
                if (memcmp(p, c->block[c->leaf[i].block].bytes, (size_t)(count * size)) == 0) {
                    case_free(n), free(n);
                    break;
                }
                if (!keep_if(c, n, f)) continue;
                any = true;
                break;
            }
    }
    return any;
}
static bool plainer_nodes(struct fcase *c, struct failure *f) {
    bool any = false;
    for (int i = 0; i < c->nnode; i++)
        for (int k = 0; k < 4 && c->node[i].kind >= K_sum && c->node[i].kind <= K_argmax; k++) {
            if (!c->node[i].p[k]) continue;
            struct fcase *n = copy_of(c);
            n->node[i].p[k] = 0;
            any |= keep_if(c, n, f);
        }
    return any;
}

void shrink_case(struct fcase *c, struct failure *f, double seconds) {
    seen = shared_memory(sizeof *seen);
    shapes = shared_memory(sizeof c->shape);
    values = shared_memory(VALUES);
    deadline = now() + seconds;
    if (!fails(c, f)) {
        printf("(the case alone does not fail in this way: it may depend on what ran before)\n");
        return;
    }
    if (f->way.naive && f->node >= 0) { // the node alone
        struct fcase *n = copy_of(c);
        n->nroot = 1;
        n->root[0].node = f->node;
        own_output(n, 0);
        keep_if(c, n, f);
    } else {
        compact(c);
    }
    for (bool again = true; again && now() < deadline;) {
        again = fewer_roots(c, f);
        again |= fewer_nodes(c, f);
        again |= earlier_root(c, f);
        again |= plainer_roots(c, f);
        again |= plainer_leaves(c, f);
        again |= plainer_nodes(c, f);
        again |= smaller_extents(c, f);
        if (!again) again = simpler_values(c, f);
    }
}

// ---- telling it
// -------------------------------------------------------------------------------------------------------
static bool write_npy(const char *path, const struct shape *s, const unsigned char *data) {
    static const char *const descr[] = {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4",
                                        "<u8", "<f4", "<f8", "<f2", "<V2", "<c8", "<c16"};
    char head[512];
    int n = snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                     descr[s->t]);
    for (int k = 0; k < s->rank; k++)
        n += snprintf(head + n, sizeof head - (size_t)n, "%lld, ", (long long)s->dims[k]);
    n += snprintf(head + n, sizeof head - (size_t)n, "), }");
    while ((n + 11) % 64)
        head[n++] = ' ';
    head[n++] = '\n';
    FILE *f = fopen(path, "wb");
    if (!f) return false;
    unsigned char start[10] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)n, (unsigned char)(n >> 8)};
    fwrite(start, 1, 10, f);
    fwrite(head, 1, (size_t)n, f);
    fwrite(data, weft_dtype_size(s->t), (size_t)shape_count(s), f);
    return fclose(f) == 0;
}
static void tell_memory(const struct fcase *c) {
    for (int i = 0; i < c->nleaf; i++) {
        const struct leaf *l = &c->leaf[i];
        printf("  x%d: %s, rank %d, in block %d at byte %lld, extents and strides", i,
               weft_dtype_name(l->s.t), l->s.rank, l->block, (long long)l->at);
        for (int k = 0; k < l->s.rank; k++)
            printf(" %lld:%lld", (long long)l->s.dims[k], (long long)l->strides[k]);
        puts("");
    }
    for (int i = 0; i < c->nroot; i++) {
        const struct root *r = &c->root[i];
        printf("  output %d: t%d in block %d at byte %lld, extents and strides", i, r->node,
               r->block, (long long)r->at);
        for (int k = 0; k < c->shape[r->node].rank; k++)
            printf(" %lld:%lld", (long long)c->shape[r->node].dims[k], (long long)r->strides[k]);
        puts("");
    }
}
static void tell_command(const struct fcase *c, const struct way *w, const char *folder) {
    printf("  weft eval '");
    text_case(c, stdout);
    printf("'");
    for (int i = 0; i < c->nleaf; i++)
        printf(" x%d=%s/x%d.npy", i, folder, i);
    way_options(w, stdout);
    puts(" --raw");
}

void tell_case(const struct fcase *c, const struct failure *f, const char *folder) {
    struct naive w = {.c = c};
    char path[200];
    printf("%s: %s\n", f->how, f->text);
    if (mkdir(folder, 0777) && errno != EEXIST) printf("(cannot make %s)\n", folder);
    for (int i = 0; i < c->nnode; i++) {
        if (c->node[i].kind != K_leaf) continue;
        naive_node(&w, i);
        snprintf(path, sizeof path, "%s/x%d.npy", folder, (int)c->node[i].p[0]);
        if (!write_npy(path, &w.v[i].s, w.v[i].data)) printf("(cannot write %s)\n", path);
    }
    tell_command(c, &f->way, folder);
    if (!f->way.naive) {
        puts("against");
        tell_command(c, &(struct way){.threads = 1, .unfused = true}, folder);
    }
    puts("with");
    tell_memory(c);
    if (f->way.program)
        puts("  as a program: weft_compile with every leaf but the fifth as weft_input, weft_run");
    printf("or: fuzz_graph --all --graphs 1 --seed %llu\n", (unsigned long long)c->seed);
    naive_free();
}
