// SPDX-License-Identifier: MIT
// Complex results and inputs at the edge: what the caller has as one array of pairs, the rooms behind have as
// two real arrays, one element size apart, with the strides of the pairs. Requests are taken apart here; what
// has no complex root is handed on as it came.
#include "api.h"

weft_array pairs_part(const weft_array *a, int which) {
    weft_array part = *a;
    if (!dtype_is_complex(a->dtype)) return part;
    part.dtype = dtype_real_of(a->dtype);
    if (which && part.data) part.data = (char *)part.data + dtype_size(part.dtype);
    return part;
}

weft_array pairs_dense(const struct ir_graph *g, ir_ref r) {
    const struct ir_node *n = ir_at(g, r);
    return weft_dense((weft_dtype)n->dtype, NULL, n->rank, ir_dims(g, r));
}

weft_status pairs_expand(struct ir_graph *g, const struct base_alloc *a, const struct plan_request *q,
                         struct pairs *p) {
    *p = (struct pairs){.request = *q};
    int m = 0;
    for (int i = 0; i < q->n; i++)
        m += 1 + dtype_is_complex((weft_dtype)ir_at(g, q->roots[i])->dtype);
    if (m == q->n) return WEFT_OK;
    p->bytes = (size_t)m * (sizeof *p->outs + sizeof *p->roots);
    p->outs = m <= (int)COUNT_OF(p->few_outs) ? p->few_outs : base_get(a, p->bytes);
    if (!p->outs) return WEFT_ENOMEM;
    p->roots = p->outs == p->few_outs ? p->few_roots : (ir_ref *)(void *)(p->outs + m);
    for (int i = 0, k = 0; i < q->n; i++) {
        bool two = dtype_is_complex((weft_dtype)ir_at(g, q->roots[i])->dtype);
        weft_array whole = q->outs ? q->outs[i] : pairs_dense(g, q->roots[i]);
        for (int which = 0; which <= two; which++, k++) {
            p->roots[k] = ir_pair_root(g, q->roots[i], which);
            p->outs[k] = pairs_part(&whole, which);
            if (!p->roots[k]) {
                pairs_free(a, p);
                return WEFT_ENOMEM;
            }
        }
    }
    p->request.n = m;
    p->request.roots = p->roots;
    p->request.outs = p->outs;
    return WEFT_OK;
}

void pairs_free(const struct base_alloc *a, struct pairs *p) {
    if (p->outs && p->outs != p->few_outs) base_put(a, p->outs, p->bytes);
    p->outs = NULL;
}

int pairs_inputs(const struct ir_graph *g) {
    int n = 0;
    for (int i = 0; i < ir_input_count(g); i++)
        n += ir_input_at(g, i)->part != 2;
    return n;
}

struct pair_input pairs_input(const struct ir_graph *g, int k) {
    const struct ir_input *in = ir_input_at(g, k);
    const struct ir_node *n = ir_at(g, in->node);
    weft_dtype t = (weft_dtype)n->dtype;
    struct pair_input p = {.number = -1, .name = in->name};
    for (int i = 0; i <= k; i++)
        p.number += ir_input_at(g, i)->part != 2;
    p.offset = in->part == 2 ? dtype_size(t) : 0;
    p.declared = weft_dense(in->part ? dtype_complex_of(t) : t, NULL, n->rank, ir_dims(g, in->node));
    return p;
}
