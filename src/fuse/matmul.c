// SPDX-License-Identifier: MIT
// Matrix products. Placing: the product's space is its batch axes, then m, n and k; operands are asked
// for there, views of leaves are read in place through strides, anything else is stored first. A map
// over the same elements that reads the product is computed in the same step, on each part of the
// product as it is finished (follow.c); else the product is a step of its own. Making: the placed
// product as a fuse_matmul, batch axes that all operands agree on joined to one.
#include "work.h"

// The last two axes of the node are axes a and b of the space, those before are batch axes.
static const struct fuse_map *matrix_map(struct fuse_work *w, ir_ref product, ir_ref n, int a,
                                         int b) {
    int rc = ir_at(w->g, product)->rank, rank = ir_at(w->g, n)->rank, nb = 0;
    int64_t *row;
    for (int i = 0; i < rc - 2; i++)
        nb += ir_dims(w->g, product)[i] != 1;
    struct fuse_map *m = map_new(w, rank, nb + 3, false);
    for (int i = 0, f = 0; m && i < rc - 2; i++) {
        int j = i - (rc - rank);
        row = m->w + (int64_t)j * (nb + 4);
        if (j >= 0 && ir_dims(w->g, n)[j] != 1) row[1 + f] = 1;
        f += ir_dims(w->g, product)[i] != 1;
    }
    if (!m) return NULL;
    m->w[(int64_t)(rank - 2) * (nb + 4) + 1 + nb + a] = 1;
    m->w[(int64_t)(rank - 1) * (nb + 4) + 1 + nb + b] = 1;
    return m;
}

static uint32_t product_cluster(struct fuse_work *w, ir_ref n, int height, const char *why) {
    int64_t dim[WEFT_MAX_RANK + 3];
    const int64_t *dims = ir_dims(w->g, n);
    ir_ref a = ir_at(w->g, n)->in[0];
    int rank = ir_at(w->g, n)->rank, nf = 0;
    for (int i = 0; i < rank - 2; i++)
        if (dims[i] != 1) dim[nf++] = dims[i];
    dim[nf++] = dims[rank - 2];
    dim[nf++] = dims[rank - 1];
    dim[nf++] = ir_dims(w->g, a)[ir_at(w->g, a)->rank - 1];
    uint32_t c = cluster_new(w, nf, dim, height, why);
    if (w->failed) return 0;
    cluster_at(w, c)->matmul = true;
    cluster_at(w, c)->node = n;
    return c;
}

// What is made as a whole has one place. Other places of the same node are copied from it.
uint32_t sink_main(struct fuse_work *w, ir_ref n, const char *why) {
    uint32_t s = w->pins[n];
    while (s && !sink_serves(w, n, s))
        s = sink_at(w, s)->next;
    if (!s) s = sink_temp(w, n);
    uint32_t copy = 0;
    for (uint32_t i = w->pins[n]; i && !w->failed; i = sink_at(w, i)->next) {
        if (i == s) continue;
        if (!copy) {
            int64_t dim[WEFT_MAX_RANK + 1];
            uint32_t c = cluster_new(w, space_of(w, n, dim), dim, height_above(w, n, UINT32_MAX), why);
            if (w->failed) return 0;
            copy = value_ask(w, c, n, map_identity(w, cluster_at(w, c), n, true), USE_ELEM);
        }
        sink_at(w, i)->value = copy;
    }
    return s;
}

void place_matmul(struct fuse_work *w, ir_ref n) {
    const char *why = w->pins[n] ? "root" : "matmul";
    uint32_t s = w->pins[n] ? sink_main(w, n, "another root of a matmul") : 0;
    uint32_t seen = w->failed ? 0 : matmul_follower(w, n);
    if (!s && seen && count_pending(w, n) == 1)
        s = sink_new(w, n, n, NULL, NEST_TEMP, SINK_OPEN);
    else if (!s)
        s = sink_temp(w, n);
    if (w->failed) return;
    int height = seen ? matmul_attach(w, n, seen) : height_above(w, n, UINT32_MAX);
    uint32_t c = product_cluster(w, n, height, why);
    if (w->failed) return;
    if (seen) {
        cluster_at(w, c)->host = cluster_find(w, value_at(w, seen)->cluster);
        cluster_at(w, cluster_at(w, c)->host)->product = c;
    }
    uint32_t home = value_ask(w, c, n, matrix_map(w, n, n, 0, 1), USE_ELEM);
    if (!home) return;
    value_settle(w, home, V_OP);
    w->slot[n] = s;
    sink_at(w, s)->value = home;
    place_readers(w, n, home);
    for (int i = 0; i < 2; i++) {
        ir_ref o = ir_at(w->g, n)->in[i];
        if (!ir_elements(w->g, o)) continue; // k is 0: nothing to read
        const struct fuse_map *m = matrix_map(w, n, o, i ? 2 : 0, i ? 1 : 2);
        uint32_t arg = value_ask(w, c, o, m, USE_ELEM);
        value_at(w, home)->arg[i] = arg;
    }
}

// ---- making -------------------------------------------------------------------------------------
static void fill_operand(struct fuse_work *w, uint32_t value, struct nest_operand *o) {
    const struct fuse_value *v = value_at(w, value);
    bool stored = v->kind == V_LOAD;
    const struct fuse_sink *s = sink_at(w, w->slot[v->node]);
    o->dtype = ir_at(w->g, v->node)->dtype;
    o->buffer = stored ? s->buffer : NEST_LEAF;
    o->buf = stored ? s->buf : w->number[v->node];
    value_address(w, v, &o->offset, o->stride);
}

static void drop_axis(struct nest_operand *o, int i, int nf) {
    memmove(o->stride + i, o->stride + i + 1, (size_t)(nf - 1 - i) * sizeof *o->stride);
}

static void join_batches(struct fuse_matmul *m) {
    struct nest_operand *o[3] = {&m->a, &m->b, &m->c};
    for (int i = m->nbatch - 2; i >= 0; i--) {
        bool agree = true;
        for (int j = 0; j < 3; j++)
            agree &= o[j]->stride[i] == o[j]->stride[i + 1] * m->batch[i + 1];
        if (!agree) continue;
        for (int j = 0; j < 3; j++)
            drop_axis(o[j], i, m->nbatch + 2);
        m->batch[i + 1] *= m->batch[i];
        memmove(m->batch + i, m->batch + i + 1, (size_t)(m->nbatch - 1 - i) * sizeof *m->batch);
        m->nbatch--;
    }
}

// C's memory is set: its type, buffer, offset and strides along the space.
static void make_product(struct fuse_work *w, const struct fuse_cluster *c, struct fuse_matmul *m) {
    const struct fuse_value *home = value_at(w, sink_at(w, w->slot[c->node])->value);
    int nb = c->nf - 3;
    m->dtype = (weft_dtype)ir_at(w->g, c->node)->dtype;
    m->nbatch = nb;
    memcpy(m->batch, c->dim, (size_t)nb * sizeof *m->batch);
    m->m = c->dim[nb];
    m->n = c->dim[nb + 1];
    m->k = c->dim[nb + 2];
    m->a = m->b = m->c;
    m->a.out = m->b.out = false;
    if (home->arg[0]) fill_operand(w, value_final(w, home->arg[0]), &m->a);
    if (home->arg[1]) fill_operand(w, value_final(w, home->arg[1]), &m->b);
    drop_axis(&m->a, nb + 1, nb + 3); // no n
    drop_axis(&m->b, nb, nb + 3);     // no m: (n, k)
    int64_t t = m->b.stride[nb];
    m->b.stride[nb] = m->b.stride[nb + 1];
    m->b.stride[nb + 1] = t;
    join_batches(m);
}

void matmul_make(struct fuse_work *w, uint32_t cluster, struct fuse_step *s) {
    const struct fuse_cluster *c = cluster_at(w, cluster);
    const struct fuse_sink *to = sink_at(w, w->slot[c->node]);
    struct nest_operand *o = &s->matmul.c;
    s->kind = FUSE_MATMUL;
    *o = (struct nest_operand){.dtype = ir_at(w->g, c->node)->dtype,
                               .out = true,
                               .buffer = to->buffer,
                               .buf = to->buf};
    sink_address(w, to, value_at(w, to->value)->map, &o->offset, o->stride);
    make_product(w, c, &s->matmul);
}

void matmul_lead(struct fuse_work *w, uint32_t cluster, struct fuse_step *s) {
    const struct fuse_cluster *host = cluster_at(w, cluster);
    const struct fuse_cluster *c = cluster_at(w, host->product);
    const struct fuse_access *at = host->place;
    struct nest_operand *o = &s->matmul.c;
    int axis[WEFT_MAX_RANK], rank = ir_at(w->g, c->node)->rank, f = 0;
    s->kind = FUSE_MATMUL;
    *o = at->o;
    o->dtype = ir_at(w->g, c->node)->dtype;
    o->out = true;
    memset(o->stride, 0, sizeof o->stride);
    matmul_axes(w, host, value_at(w, host->seen)->map, c->node, axis);
    for (int i = 0; i < rank; i++) { // batch axes of 1 are not in the space, m and n always are
        if (i < rank - 2 && axis[i] < 0) continue;
        o->stride[f++] = axis[i] < 0 ? 0 : at->stride[axis[i]];
    }
    make_product(w, c, &s->matmul);
}
