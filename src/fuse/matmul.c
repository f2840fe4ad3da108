// SPDX-License-Identifier: MIT
// Matrix products are steps of their own. Placing: the product's space is its batch axes, then m, n
// and k; operands are asked for there, views of leaves are read in place through strides, anything
// else is stored first. Making: the placed product as a fuse_matmul, batch axes that all operands
// agree on joined to one.
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

static uint32_t product_cluster(struct fuse_work *w, ir_ref n, const char *why) {
    int64_t dim[WEFT_MAX_RANK + 3];
    const int64_t *dims = ir_dims(w->g, n);
    ir_ref a = ir_at(w->g, n)->in[0];
    int rank = ir_at(w->g, n)->rank, nf = 0;
    for (int i = 0; i < rank - 2; i++)
        if (dims[i] != 1) dim[nf++] = dims[i];
    dim[nf++] = dims[rank - 2];
    dim[nf++] = dims[rank - 1];
    dim[nf++] = ir_dims(w->g, a)[ir_at(w->g, a)->rank - 1];
    uint32_t c = cluster_new(w, nf, dim, height_above(w, n, UINT32_MAX), why);
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
    uint32_t s = sink_main(w, n, "another root of a matmul");
    if (w->failed) return;
    uint32_t c = product_cluster(w, n, why);
    if (w->failed) return;
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

void matmul_make(struct fuse_work *w, uint32_t cluster, struct fuse_step *s) {
    const struct fuse_cluster *c = cluster_at(w, cluster);
    struct fuse_matmul *m = &s->matmul;
    const struct fuse_sink *to = sink_at(w, w->slot[c->node]);
    const struct fuse_value *home = value_at(w, to->value);
    int nb = c->nf - 3;
    s->kind = FUSE_MATMUL;
    m->dtype = (weft_dtype)ir_at(w->g, c->node)->dtype;
    m->nbatch = nb;
    memcpy(m->batch, c->dim, (size_t)nb * sizeof *m->batch);
    m->m = c->dim[nb];
    m->n = c->dim[nb + 1];
    m->k = c->dim[nb + 2];
    m->c.dtype = (uint8_t)m->dtype;
    m->c.out = true;
    m->c.buffer = to->buffer;
    m->c.buf = to->buf;
    sink_address(w, to, home->map, &m->c.offset, m->c.stride);
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
