// SPDX-License-Identifier: MIT
// Whose instruction is it? In a dump, values are named after the node they compute ("n12.mul.a" is part a of node
// 12), and every instruction gets a debug location whose line tells the node's number; the assembly printer turns
// those into .loc lines, which become comments and go. Bodies that are run have neither.
#include "gen.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>

// The module is linked without the ir room; it has the names from the same table.
static const char *const names[IR_OP__N] = {
    [IR_NOP] = "?",
#define MAP(name, ...) [IR_##name] = #name,
#include "../../ir/ops.def"
#define REDUCE(name, ...) [IR_R_##name] = #name,
#include "../../ir/ops.def"
};
static const char *name_of(const struct seg_op *op) {
    if (op->op == SEG_LOAD) return "load";
    if (op->op == SEG_REDUCE) return names[IR_R_sum + op->arg[1]];
    return op->op < IR_OP__N && names[op->op] ? names[op->op] : "?";
}

enum { FIRST = 16 }; // lines below belong to the function as a whole

void gen_label_begin(struct gen *g) {
    if (!g->s->node) return;
    LLVMDIBuilderRef d = LLVMCreateDIBuilder(g->mod);
    LLVMMetadataRef file = LLVMDIBuilderCreateFile(d, "weft", 4, "", 0);
    LLVMDIBuilderCreateCompileUnit(d, LLVMDWARFSourceLanguageC99, file, "weft", 4, 0, "", 0, 0, "", 0,
                                   LLVMDWARFEmissionLineTablesOnly, 0, 0, 0, "", 0, "", 0);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(d, file, NULL, 0, LLVMDIFlagZero);
    g->scope = LLVMDIBuilderCreateFunction(d, file, "tile", 4, "", 0, file, 1, type, 0, 1, 1, LLVMDIFlagZero, 0);
    LLVMSetSubprogram(g->fn, g->scope);
    LLVMMetadataRef version = LLVMValueAsMetadata(LLVMConstInt(g->i32, LLVMDebugMetadataVersion(), 0));
    LLVMAddModuleFlag(g->mod, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18, version);
    LLVMDIBuilderFinalize(d);
    LLVMDisposeDIBuilder(d);
}

LLVMMetadataRef gen_here(struct gen *g, int i) {
    if (!g->scope) return NULL;
    LLVMMetadataRef before = LLVMGetCurrentDebugLocation2(g->b);
    gen_there(g, LLVMDIBuilderCreateDebugLocation(g->ctx, FIRST + g->s->node[i], 0, g->scope, NULL));
    return before;
}

void gen_there(struct gen *g, LLVMMetadataRef at) {
    if (g->scope) LLVMSetCurrentDebugLocation2(g->b, at);
}

LLVMValueRef gen_label(struct gen *g, int i, int part, LLVMValueRef v) {
    size_t n = 0;
    if (!g->scope || !v || !LLVMIsAInstruction(v) || (LLVMGetValueName2(v, &n), n)) return v;
    char text[64];
    snprintf(text, sizeof text, "n%u.%s.%c", g->s->node[i], name_of(&g->s->op[i]), 'a' + part);
    LLVMSetValueName2(v, text, strlen(text));
    return v;
}

// ---- assembly for reading -----------------------------------------------------------------------------------
static bool starts(const char *s, const char *prefix) { return strncmp(s, prefix, strlen(prefix)) == 0; }

static unsigned line_of(const char *s) { // "\t.loc\t0 12 0 ..."
    const char *file = strpbrk(s + 5, "0123456789");
    const char *after = file ? file + strspn(file, "0123456789") : NULL;
    const unsigned line = after ? (unsigned)strtoul(after, NULL, 10) : 0;
    return line > FIRST ? line - FIRST : 0;
}

// An operation, else the load of a node that another step has made.
static const char *op_of(const struct gen *g, unsigned node) {
    for (int i = g->s->nop - 1; i >= 0; i--)
        if (g->s->node[i] == node && g->s->op[i].op != SEG_LOAD && g->s->op[i].op != SEG_STORE)
            return name_of(&g->s->op[i]);
    return "load";
}

static bool is_noise(const char *s) {
    static const char *const noise[] = {"\t.file", ".Ltmp", ".Lfunc_", ".Ldebug", ".Lline", "\t.ident", "\t.cfi_", ".Lsec_"};
    for (size_t i = 0; i < COUNT_OF(noise); i++)
        if (starts(s, noise[i])) return true;
    return false;
}

// Replaces .loc lines by "# n12.mul", takes out the sections that only a debugger reads. A comment may be longer
// than its line, though not by as much as the whole: twice the room is enough.
char *gen_label_assembly(const struct gen *g, const char *text, size_t size) {
    char *out = malloc(2 * size + 1), *to = out;
    bool skipped = false;
    unsigned node = 0;
    if (!out) return NULL;
    for (const char *s = text, *end = text + size, *next; s < end; s = next) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        next = stop ? stop + 1 : end;
        if (starts(s, "\t.section")) skipped = starts(s, "\t.section\t.debug");
        if (starts(s, "\t.text")) skipped = false;
        if (skipped || is_noise(s)) continue;
        if (!starts(s, "\t.loc")) {
            memcpy(to, s, (size_t)(next - s));
            to += next - s;
            continue;
        }
        unsigned now = line_of(s);
        if (now == node) continue;
        node = now;
        to += now ? snprintf(to, 64, "\t# n%u.%s\n", now, op_of(g, now)) : snprintf(to, 64, "\t# -\n");
    }
    *to = 0;
    return out;
}

// Takes out of printed IR what only the printer of assembly needs: locations, and the metadata they refer to.
void gen_label_ir(const struct gen *g, char *text) {
    char *to = text;
    if (!g->scope) return;
    for (char *s = text, *next; *s; s = next) {
        size_t n = strcspn(s, "\n"), keep = n;
        next = s + n + (s[n] == '\n');
        if (*s == '!') continue;
        for (size_t i = 0; i + 7 < n; i++)
            if (starts(s + i, ", !dbg !") || starts(s + i, " !dbg !")) {
                keep = i;
                break;
            }
        bool open = s[n ? n - 1 : 0] == '{'; // of a function's head
        memmove(to, s, keep);
        to += keep;
        if (open && keep < n) to += (memcpy(to, " {", 2), 2);
        if (s[n] == '\n') *to++ = '\n';
    }
    *to = 0;
}
