// SPDX-License-Identifier: MIT
// The interpreter's form of a body. In: a seg; out: one block of acts with kernels resolved and
// places assigned, and the size of the scratch they need.
//
// Within an ELEM or FIN section a value lives in a strip from its definition to its last use;
// strips are reused at once, so that a body works within the first-level cache. Operands that are
// vectors are read where they are, except bools (any non-zero byte is true). An output may be the
// memory of an input, so nothing is written to an output before the last act that reads an operand
// in the same strip: the act that makes a stored value writes it in place if no such read follows,
// otherwise the value waits in a strip and is copied at the end. Values of ROW sections and
// reductions of rows live in cells.
#include "interp.h"

#include <assert.h>

// While the counts are unknown a place is its kind and its number among them.
enum {
    PLACE_OPERAND,
    PLACE_CELL,
    PLACE_STRIP,
    PLACE_SPREAD,
    PLACE_RESULT,
    PLACE__N,
    PLACE_SHIFT = 28
};
#define PLACE(kind, i) ((uint32_t)(kind) << PLACE_SHIFT | (uint32_t)(i))
#define PLACE_KIND(p) ((p) >> PLACE_SHIFT)
#define NOWHERE UINT32_MAX

struct maker {
    const struct seg *seg;
    enum kern_isa isa;
    struct interp_form *f;
    uint32_t nact, nspread_entry, nstream;
    uint32_t *place;     // per value: its place in its own section, or its cell
    uint32_t *last;      // per value: the last instruction that reads it (section's end: stored)
    uint32_t *spread_of; // per value: its spread strip
    uint32_t *seen;      // per value: 1 + the section that last listed its spread
    uint32_t *streamed;  // per operand: 1 + the section that last listed it
    uint32_t *free;      // stack of strips that are free
    uint32_t nfree;
    uint32_t section, begin; // the section under way and its first instruction
    bool outside;            // it reads cells made before it
    size_t biggest;          // element of a value
};

static const struct {
    uint8_t arity, family;
} op_facts[IR_OP__N] = {
#define FAMILY_LIGHT(name) KERN_FAMILY__N
#define FAMILY_HEAVY(name) KERN_F_##name
#define MAP(name, arity, rule, kernel, ...) [IR_##name] = {arity, FAMILY_##kernel(name)},
#include "../ir/ops.def"
};

static bool is_map(const struct seg_op *o) {
    return o->op < IR_OP__N && op_facts[o->op].arity > 0;
}
static int arity_of(const struct seg_op *o) {
    if (o->op == SEG_LOAD) return 0;
    return is_map(o) ? op_facts[o->op].arity : 1;
}
static uint8_t size_of(uint8_t dtype) {
    return (uint8_t)dtype_size((weft_dtype)dtype);
}

static struct act *add_act(struct maker *m, enum act_kind kind) {
    struct act *a = &m->f->act[m->nact++];
    *a = (struct act){.kind = (uint8_t)kind};
    return a;
}
static void add_copy(struct maker *m, enum act_kind kind, uint32_t out, uint32_t from,
                     uint8_t size) {
    struct act *a = add_act(m, kind);
    a->out = out;
    a->a = a->b = a->c = from;
    a->size = size;
}
static void add_normalise(struct maker *m, uint32_t out, uint32_t from) {
    struct act *a = add_act(m, ACT_STRIP);
    a->fn.strip = strip_find(IR_cast, WEFT_BOOL, WEFT_BOOL, m->isa);
    a->out = out;
    a->a = a->b = a->c = from;
}
static void add_stream(struct maker *m, uint32_t operand) {
    const struct nest_operand *o = &m->seg->operand[operand];
    if (m->streamed[operand] == m->section + 1) return;
    m->streamed[operand] = m->section + 1;
    const uint8_t step = o->cls == NEST_UNIT ? size_of(o->dtype) : 0;
    m->f->stream[m->nstream++] = (struct stream){operand, step};
}

// The act of a MAP operation, its operands' places given. False when nothing computes it.
static bool add_map(struct maker *m, const struct seg_op *o, uint32_t out, const uint32_t *in) {
    struct act *a = add_act(m, ACT_STRIP);
    const int n = arity_of(o);
    a->out = out;
    a->a = in[0];
    a->b = n > 1 ? in[1] : in[0];
    a->c = n > 2 ? in[2] : in[0];
    a->fn.strip =
        strip_find((enum ir_op)o->op, (weft_dtype)o->in_type, (weft_dtype)o->dtype, m->isa);
    if (a->fn.strip) return true;
    const int family = op_facts[o->op].family;
    const struct kern_row *row =
        family == KERN_FAMILY__N
            ? NULL
            : kern_find((enum kern_family)family, (weft_dtype)o->in_type, m->isa);
    if (!row) return false;
    a->kind = ACT_KERNEL;
    a->fn.kernel = row->fn;
    return true;
}

// ---- ROW sections
// --------------------------------------------------------------------------------

static uint32_t new_cell(struct maker *m) {
    return PLACE(PLACE_CELL, m->f->ncell++);
}

static void load_cell(struct maker *m, uint32_t v) {
    const struct seg_op *o = &m->seg->op[v];
    m->place[v] = new_cell(m);
    add_stream(m, o->arg[0]);
    add_copy(m, ACT_FIRST, m->place[v], PLACE(PLACE_OPERAND, o->arg[0]), size_of(o->dtype));
    if (o->dtype == WEFT_BOOL) add_normalise(m, m->place[v], m->place[v]);
}

static bool make_row_op(struct maker *m, uint32_t v) {
    const struct seg_op *o = &m->seg->op[v];
    uint32_t in[3] = {0};
    if (o->op == SEG_LOAD) {
        load_cell(m, v);
        return true;
    }
    if (o->op == SEG_STORE) {
        add_stream(m, o->arg[1]);
        add_copy(m, ACT_PUT, PLACE(PLACE_OPERAND, o->arg[1]), m->place[o->arg[0]],
                 size_of(o->dtype));
        return true;
    }
    for (int i = 0; i < arity_of(o); i++)
        in[i] = m->place[o->arg[i]];
    m->place[v] = new_cell(m);
    return is_map(o) && add_map(m, o, m->place[v], in);
}

// ---- ELEM and FIN sections
// -----------------------------------------------------------------------

static uint32_t take_strip(struct maker *m) {
    return m->nfree ? m->free[--m->nfree] : PLACE(PLACE_STRIP, m->f->nstrip++);
}

// Where an act finds value v: in its strip or operand, in the result of a reduction, or spread from
// a cell.
static uint32_t find_value(struct maker *m, uint32_t v) {
    const uint32_t p = m->place[v];
    if (PLACE_KIND(p) != PLACE_CELL) return p;
    m->outside |= v < m->begin;
    if (m->spread_of[v] == NOWHERE) m->spread_of[v] = m->f->nspread++;
    const uint32_t strip = PLACE(PLACE_SPREAD, m->spread_of[v]);
    if (m->seen[v] == m->section + 1) return strip;
    m->seen[v] = m->section + 1;
    m->f->spread[m->nspread_entry++] =
        (struct spread){p, strip, m->spread_of[v], size_of(m->seg->op[v].dtype)};
    return strip;
}

// A value that dies at instruction i gives its strip back.
static void release(struct maker *m, uint32_t v, uint32_t i) {
    if (PLACE_KIND(m->place[v]) != PLACE_STRIP || m->last[v] != i) return;
    m->free[m->nfree++] = m->place[v];
    m->last[v] = NOWHERE; // once, also when an operation reads it twice
}

static bool is_direct_load(const struct maker *m, uint32_t v) {
    const struct seg_op *o = &m->seg->op[v];
    return o->op == SEG_LOAD && m->seg->operand[o->arg[0]].cls == NEST_UNIT &&
           o->dtype != WEFT_BOOL;
}

// What a section needs to know before its acts are made.
struct section_facts {
    uint32_t begin, end;
    uint32_t last_read; // the last instruction that reads an operand's memory
    uint32_t nstore;
};

static struct section_facts study(struct maker *m, const struct seg_section *s) {
    struct section_facts k = {.begin = s->begin, .end = s->end, .last_read = s->begin};
    for (uint32_t i = s->begin; i < s->end; i++) {
        const struct seg_op *o = &m->seg->op[i];
        m->last[i] = i;
        k.nstore += o->op == SEG_STORE;
        if (o->op == SEG_LOAD && m->seg->operand[o->arg[0]].cls == NEST_UNIT &&
            o->dtype == WEFT_BOOL)
            k.last_read = i;
        for (int j = 0; j < arity_of(o); j++) {
            if (o->arg[j] < s->begin) continue;
            m->last[o->arg[j]] = i;
            if (o->op != SEG_STORE && is_direct_load(m, o->arg[j])) k.last_read = i;
        }
    }
    for (uint32_t i = s->begin; i < s->end; i++) { // stores happen at the end
        const uint32_t v = m->seg->op[i].arg[0];
        if (m->seg->op[i].op != SEG_STORE || v < s->begin) continue;
        m->last[v] = s->end;
        if (is_direct_load(m, v))
            k.last_read = MAX_OF(k.last_read, v); // may be copied where it is loaded
    }
    return k;
}

// The vector output that stores v first; NOWHERE when there is none.
static uint32_t output_of(const struct maker *m, const struct section_facts *k, uint32_t v) {
    for (uint32_t i = v + 1; i < k->end; i++) {
        const struct seg_op *o = &m->seg->op[i];
        if (o->op == SEG_STORE && o->arg[0] == v && m->seg->operand[o->arg[1]].cls == NEST_UNIT)
            return o->arg[1];
    }
    return NOWHERE;
}

static void make_load(struct maker *m, const struct section_facts *k, uint32_t v) {
    const struct seg_op *o = &m->seg->op[v];
    const uint32_t from = PLACE(PLACE_OPERAND, o->arg[0]);
    if (m->seg->operand[o->arg[0]].cls != NEST_UNIT) return; // made in the head
    add_stream(m, o->arg[0]);
    m->place[v] = from;
    // another store may overwrite what this one has yet to read
    const bool copy = k->nstore > 1 && m->last[v] == k->end;
    if (o->dtype != WEFT_BOOL && !copy) return;
    m->place[v] = take_strip(m);
    if (o->dtype == WEFT_BOOL)
        add_normalise(m, m->place[v], from);
    else
        add_copy(m, ACT_COPY, m->place[v], from, size_of(o->dtype));
    release(m, v, v);
}

static bool make_map(struct maker *m, const struct section_facts *k, uint32_t v) {
    const struct seg_op *o = &m->seg->op[v];
    const int n = arity_of(o);
    uint32_t in[3] = {0}, out = NOWHERE;
    for (int i = 0; i < n; i++)
        in[i] = find_value(m, o->arg[i]);
    for (int i = 0; i < n; i++) // in place only where elements have one size
        if (size_of(m->seg->op[o->arg[i]].dtype) == size_of(o->dtype)) release(m, o->arg[i], v);
    if (v >= k->last_read && m->last[v] == k->end) out = output_of(m, k, v);
    m->place[v] = out == NOWHERE ? take_strip(m) : PLACE(PLACE_OPERAND, out);
    if (out != NOWHERE) add_stream(m, out);
    for (int i = 0; i < n; i++)
        release(m, o->arg[i], v);
    if (!add_map(m, o, m->place[v], in)) return false;
    release(m, v, v);
    return true;
}

static void make_reduce(struct maker *m, uint32_t v) {
    const struct seg_op *o = &m->seg->op[v];
    struct reduction *r = &m->f->red[m->f->nred];
    struct act *a;
    const uint32_t from = find_value(m, o->arg[0]);
    *r = (struct reduction){.kind = (uint8_t)o->arg[1], .dtype = o->in_type};
    r->arg = kern_red_is_arg((enum kern_red)r->kind);
    r->lanes = r->arg ? 32 : kern_red_lanes((weft_dtype)r->dtype);
    r->result = m->seg->mode == NEST_OUTER ? PLACE(PLACE_RESULT, m->f->nred) : new_cell(m);
    m->place[v] = r->result;
    a = add_act(m, ACT_REDUCE);
    a->out = a->a = a->b = a->c = from;
    a->red = (uint16_t)m->f->nred++;
    release(m, o->arg[0], v);
}

static void make_stores(struct maker *m, const struct section_facts *k) {
    for (uint32_t i = k->begin; i < k->end; i++) {
        const struct seg_op *o = &m->seg->op[i];
        if (o->op != SEG_STORE) continue;
        const uint32_t to = PLACE(PLACE_OPERAND, o->arg[1]), from = find_value(m, o->arg[0]);
        add_stream(m, o->arg[1]);
        if (from == to) continue;
        add_copy(m, m->seg->operand[o->arg[1]].cls == NEST_UNIT ? ACT_COPY : ACT_FIRST, to, from,
                 size_of(o->dtype));
    }
}

static bool make_vectors(struct maker *m, const struct seg_section *s, struct part *p) {
    for (uint32_t v = s->begin; v < s->end; v++) { // elements that are the same for all columns
        const struct seg_op *o = &m->seg->op[v];
        if (o->op == SEG_LOAD && m->seg->operand[o->arg[0]].cls != NEST_UNIT) load_cell(m, v);
    }
    p->body = m->nact;
    struct section_facts k = study(m, s);
    m->nfree = 0;
    for (uint32_t i = 0; i < m->f->nstrip; i++) // all strips are free when a section begins
        m->free[m->nfree++] = PLACE(PLACE_STRIP, m->f->nstrip - 1 - i);
    for (uint32_t v = s->begin; v < s->end; v++) {
        const struct seg_op *o = &m->seg->op[v];
        if (o->op == SEG_LOAD)
            make_load(m, &k, v);
        else if (o->op == SEG_REDUCE)
            make_reduce(m, v);
        else if (o->op != SEG_STORE && (!is_map(o) || !make_map(m, &k, v)))
            return false;
    }
    make_stores(m, &k);
    return true;
}

// ---- sections that only reduce operands
// ----------------------------------------------------------------
// The load whose elements value v is: v itself, or what v is a cast of.
static uint32_t load_behind(const struct maker *m, uint32_t v) {
    const struct seg_op *o = &m->seg->op[v];
    return o->op == IR_cast ? o->arg[0] : v;
}

static const struct kern_red_row *run_of(const struct maker *m, uint32_t begin, uint32_t v) {
    const struct seg_op *o = &m->seg->op[v];
    const uint32_t load = load_behind(m, o->arg[0]);
    const struct seg_op *from = &m->seg->op[load];
    if (load < begin || from->op != SEG_LOAD || m->seg->operand[from->arg[0]].cls != NEST_UNIT) return NULL;
    return kern_red_find((enum kern_red)o->arg[1], (weft_dtype)o->in_type, (weft_dtype)from->dtype, m->isa);
}

static bool only_reduces(const struct maker *m, const struct seg_section *s) {
    if (m->seg->mode != NEST_INNER || s->kind != SEG_ELEM) return false;
    uint32_t reductions = 0;
    for (uint32_t v = s->begin; v < s->end; v++) {
        const struct seg_op *o = &m->seg->op[v];
        if (o->op == SEG_STORE || (o->op == SEG_LOAD && m->seg->operand[o->arg[0]].cls != NEST_UNIT))
            return false;
        if (o->op == SEG_REDUCE && !run_of(m, s->begin, v)) return false;
        if (o->op != SEG_REDUCE && o->op != SEG_LOAD && o->op != IR_cast) return false;
        reductions += o->op == SEG_REDUCE;
    }
    return reductions > 0;
}

static void make_runs(struct maker *m, const struct seg_section *s, struct part *p) {
    p->runs = true;
    for (uint32_t v = s->begin; v < s->end; v++) {
        if (m->seg->op[v].op != SEG_REDUCE) continue;
        const uint32_t load = load_behind(m, m->seg->op[v].arg[0]);
        const uint32_t operand = m->seg->op[load].arg[0];
        add_stream(m, operand);
        m->place[m->seg->op[v].arg[0]] = PLACE(PLACE_OPERAND, operand);
        make_reduce(m, v);
        m->f->red[m->f->nred - 1].run = run_of(m, s->begin, v);
    }
}

static bool make_section(struct maker *m, uint32_t number) {
    const struct seg_section *s = &m->seg->section[number];
    struct part *p = &m->f->part[number];
    m->section = number;
    m->begin = s->begin;
    m->outside = false;
    *p = (struct part){.kind = s->kind, .head = m->nact, .body = m->nact};
    p->spread_begin = m->nspread_entry;
    p->stream_begin = m->nstream;
    p->red_begin = (uint16_t)m->f->nred;
    if (only_reduces(m, s)) {
        make_runs(m, s, p);
    } else if (s->kind != SEG_ROW) {
        if (!make_vectors(m, s, p)) return false;
    } else {
        for (uint32_t v = s->begin; v < s->end; v++)
            if (!make_row_op(m, v)) return false;
    }
    p->end = m->nact;
    p->row_values = s->kind == SEG_FIN && m->outside;
    p->spread_end = m->nspread_entry;
    p->stream_end = m->nstream;
    p->red_end = (uint16_t)m->f->nred;
    return true;
}

// ---- the layout of scratch
// -----------------------------------------------------------------------

static size_t carve(size_t *at, size_t bytes) {
    const size_t here = *at;
    *at = (here + bytes + 63) & ~(size_t)63;
    return here;
}

// As wide as fits comfortably in the first-level cache beside the operands. A power of two that
// holds whole leaves of a reduction or divides one into multiples of its lanes.
static uint32_t choose_width(const struct maker *m, size_t l1) {
    const struct interp_form *f = m->f;
    size_t vectors = f->nstrip + f->nspread + (f->mode == NEST_OUTER ? 3 * f->nred : 0);
    for (uint32_t i = 0; i < f->noperand; i++)
        vectors += m->seg->operand[i].cls == NEST_UNIT;
    uint32_t width = 512;
    while (width > 64 && vectors * width * m->biggest > l1 * 3 / 4)
        width /= 2;
    return width;
}

static void lay_out_reductions(struct interp_form *f, size_t *at) {
    // a counter over leaves of a run of less than 2^63 elements never holds more states
    const size_t depth = f->mode == NEST_OUTER ? 63 - 2 + 1 : 63 - 8 + 1;
    for (uint32_t i = 0; i < f->nred; i++) {
        struct reduction *r = &f->red[i];
        const int64_t n = f->mode == NEST_OUTER ? (int64_t)f->width : (int64_t)r->lanes;
        const size_t state = kern_red_state((enum kern_red)r->kind, (weft_dtype)r->dtype, n);
        r->stack = carve(at, state * depth);
        r->indices = carve(at, r->arg && f->mode == NEST_OUTER ? 8 * (size_t)n : 0);
    }
}

static void lay_out(struct maker *m) {
    struct interp_form *f = m->f;
    size_t at = 0;
    f->width = choose_width(m, kern_cache_sizes().l1d);
    f->strip_bytes = f->width * m->biggest;
    const size_t places = (size_t)f->noperand + f->ncell + f->nstrip + f->nspread + f->nred;
    carve(&at, places * sizeof(char *));
    f->cells = carve(&at, (size_t)f->ncell * INTERP_CELL);
    f->spread_state = carve(&at, f->nspread * sizeof(struct spread_state));
    f->strips = carve(&at, (size_t)(f->nstrip + f->nspread) * f->strip_bytes);
    lay_out_reductions(f, &at);
    f->scratch = at;
}

// From kinds and numbers to indices of the table.
static void number_places(struct interp_form *f, uint32_t nact, uint32_t nspread_entry) {
    uint32_t base[PLACE__N] = {0};
    base[PLACE_CELL] = f->noperand;
    base[PLACE_STRIP] = base[PLACE_CELL] + f->ncell;
    base[PLACE_SPREAD] = base[PLACE_STRIP] + f->nstrip;
    base[PLACE_RESULT] = base[PLACE_SPREAD] + f->nspread;
#define NUMBER(p) ((p) = base[PLACE_KIND(p)] + ((p) & ((1u << PLACE_SHIFT) - 1)))
    for (struct act *a = f->act; a < f->act + nact; a++) {
        NUMBER(a->out);
        NUMBER(a->a);
        NUMBER(a->b);
        NUMBER(a->c);
    }
    for (struct spread *s = f->spread; s < f->spread + nspread_entry; s++) {
        NUMBER(s->cell);
        NUMBER(s->strip);
    }
    for (uint32_t i = 0; i < f->nred; i++)
        NUMBER(f->red[i].result);
#undef NUMBER
}

// ---- memory
// --------------------------------------------------------------------------------------

// One block for the form: at most two acts an instruction, three spreads, one stream.
static struct interp_form *new_form(const struct seg *s, const struct base_alloc *a) {
    const size_t nop = (size_t)s->nop;
    size_t at = 0;
    const size_t form = carve(&at, sizeof(struct interp_form));
    const size_t act = carve(&at, 2 * nop * sizeof(struct act));
    const size_t spread = carve(&at, 3 * nop * sizeof(struct spread));
    const size_t stream = carve(&at, nop * sizeof(struct stream));
    const size_t part = carve(&at, (size_t)s->nsection * sizeof(struct part));
    const size_t red = carve(&at, (size_t)s->nreduce * sizeof(struct reduction));
    char *block = base_get_zero(a, at);
    if (!block) return NULL;
    struct interp_form *f = (struct interp_form *)(void *)(block + form);
    f->bytes = at;
    f->mode = s->mode;
    f->noperand = (uint32_t)s->noperand;
    f->npart = (uint32_t)s->nsection;
    f->act = (struct act *)(void *)(block + act);
    f->spread = (struct spread *)(void *)(block + spread);
    f->stream = (struct stream *)(void *)(block + stream);
    f->part = (struct part *)(void *)(block + part);
    f->red = (struct reduction *)(void *)(block + red);
    return f;
}

static bool make_all(struct maker *m) {
    m->biggest = 1;
    for (int i = 0; i < m->seg->nop; i++)
        m->biggest = MAX_OF(m->biggest, (size_t)size_of(m->seg->op[i].dtype));
    for (uint32_t i = 0; i < m->f->npart; i++)
        if (!make_section(m, i)) return false;
    assert((int)m->f->nred == m->seg->nreduce && (int)m->nact <= 2 * m->seg->nop);
    lay_out(m);
    number_places(m->f, m->nact, m->nspread_entry);
    return true;
}

struct interp_form *interp_make(const struct seg *s, enum kern_isa isa, const struct base_alloc *a,
                                size_t *scratch) {
    const size_t nop = (size_t)s->nop, nwork = 5 * nop + (size_t)s->noperand;
    uint32_t *work = base_get_zero(a, nwork * sizeof *work);
    struct interp_form *f = new_form(s, a);
    struct maker m = {.seg = s, .isa = isa, .f = f};
    bool made = false;
    if (work && f) {
        m.place = work;
        m.last = work + nop;
        m.spread_of = work + 2 * nop;
        m.seen = work + 3 * nop;
        m.free = work + 4 * nop;
        m.streamed = work + 5 * nop;
        memset(m.place, 0xff, nop * sizeof *work);
        memset(m.spread_of, 0xff, nop * sizeof *work);
        made = make_all(&m);
    }
    base_put(a, work, nwork * sizeof *work);
    if (!made) {
        interp_free(f, a);
        return NULL;
    }
    *scratch = f->scratch;
    return f;
}

void interp_free(struct interp_form *f, const struct base_alloc *a) {
    if (f) base_put(a, f, f->bytes);
}
