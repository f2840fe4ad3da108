// SPDX-License-Identifier: MIT
// In: the object LLVM made of one body. Out: its code and constants in one block that works at any address, or a
// refusal. Code comes first, constants behind it, each section on its alignment. Since the two keep their
// distance, references between them (relative to the instruction or to a jump table) are resolved here once and
// for all, and whoever maps the block has nothing left to do: it goes to a file and back as it is. Anything
// else, be it a symbol from outside, an absolute address, writable data or an unknown relocation, is refused; ORC
// links such an object then (orc.c), and it stays out of caches. Unwinding tables are left out.
#include "gen.h"

#include <elf.h>
#include <stdlib.h>

enum { SECTIONS_MAX = 64, ALIGN_MAX = 64 };

struct source {
    const unsigned char *at;
    size_t size;
    const Elf64_Shdr *section;
    int nsection;
    bool placed[SECTIONS_MAX];
    size_t place[SECTIONS_MAX];
};

static bool inside(const struct source *o, uint64_t offset, uint64_t bytes) {
    return offset <= o->size && bytes <= o->size - offset;
}

static bool open_source(struct source *o, const void *bytes, size_t size) {
    const Elf64_Ehdr *h = bytes;
    *o = (struct source){.at = bytes, .size = size};
    if (size < sizeof *h || (uintptr_t)bytes % 8 || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0) return false;
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_type != ET_REL || h->e_machine != EM_X86_64) return false;
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum > SECTIONS_MAX || h->e_shoff % 8 ||
        !inside(o, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
        return false;
    o->section = (const void *)(o->at + h->e_shoff);
    o->nsection = h->e_shnum;
    return true;
}

static const char *section_name(const struct source *o, const Elf64_Shdr *s) {
    const Elf64_Ehdr *h = (const void *)o->at;
    if (h->e_shstrndx >= o->nsection) return "";
    const Elf64_Shdr *names = &o->section[h->e_shstrndx];
    if (!inside(o, names->sh_offset, names->sh_size) || s->sh_name >= names->sh_size) return "";
    const char *text = (const char *)o->at + names->sh_offset;
    return memchr(text + s->sh_name, 0, names->sh_size - s->sh_name) ? text + s->sh_name : "";
}

static bool is_loaded(const struct source *o, const Elf64_Shdr *s) {
    return (s->sh_flags & SHF_ALLOC) && s->sh_size && strcmp(section_name(o, s), ".eh_frame") != 0;
}

// Gives every loaded section of one kind (code or not) its place. false: one that cannot have a place.
static bool place_sections(struct source *o, bool code, size_t *end) {
    for (int i = 0; i < o->nsection; i++) {
        const Elf64_Shdr *s = &o->section[i];
        if (!is_loaded(o, s) || !(s->sh_flags & SHF_EXECINSTR) == code) continue;
        const size_t align = s->sh_addralign ? s->sh_addralign : 1;
        if (s->sh_type != SHT_PROGBITS || (s->sh_flags & (SHF_WRITE | SHF_TLS))) return false;
        if (align > ALIGN_MAX || (align & (align - 1)) || !inside(o, s->sh_offset, s->sh_size)) return false;
        o->placed[i] = true;
        o->place[i] = (*end + align - 1) & ~(align - 1);
        *end = o->place[i] + s->sh_size;
    }
    return true;
}

static const Elf64_Sym *symbol_at(const struct source *o, const Elf64_Shdr *table, uint64_t i) {
    if (table->sh_type != SHT_SYMTAB || table->sh_offset % 8 || !inside(o, table->sh_offset, table->sh_size)) return NULL;
    if (i >= table->sh_size / sizeof(Elf64_Sym)) return NULL;
    const Elf64_Sym *y = (const Elf64_Sym *)(const void *)(o->at + table->sh_offset) + i;
    if (y->st_shndx >= o->nsection || !o->placed[y->st_shndx]) return NULL;
    return y->st_value <= o->section[y->st_shndx].sh_size ? y : NULL;
}

static bool relocate(const struct source *o, const Elf64_Shdr *rela, unsigned char *image) {
    const size_t target = rela->sh_info;
    if (rela->sh_link >= (unsigned)o->nsection || rela->sh_offset % 8 || !inside(o, rela->sh_offset, rela->sh_size))
        return false;
    const Elf64_Rela *r = (const void *)(o->at + rela->sh_offset);
    for (size_t i = 0; i < rela->sh_size / sizeof *r; i++) {
        const Elf64_Sym *y = symbol_at(o, &o->section[rela->sh_link], ELF64_R_SYM(r[i].r_info));
        const uint32_t type = ELF64_R_TYPE(r[i].r_info);
        if (!y || (type != R_X86_64_PC32 && type != R_X86_64_PLT32)) return false;
        if (r[i].r_offset + 4 < 4 || r[i].r_offset + 4 > o->section[target].sh_size) return false;
        const uint64_t from = o->place[target] + r[i].r_offset;
        const int64_t value = (int64_t)(o->place[y->st_shndx] + y->st_value + (uint64_t)r[i].r_addend - from);
        const int32_t field = (int32_t)value;
        if (field != value) return false;
        memcpy(image + from, &field, sizeof field);
    }
    return true;
}

static bool relocate_all(const struct source *o, unsigned char *image) {
    for (int i = 0; i < o->nsection; i++) {
        const Elf64_Shdr *s = &o->section[i];
        if (s->sh_type == SHT_REL) return false;
        if (s->sh_type != SHT_RELA || s->sh_info >= (unsigned)o->nsection || !o->placed[s->sh_info]) continue;
        if (!relocate(o, s, image)) return false;
    }
    return true;
}

// The one global function, the tile's; helpers are local to the object.
static bool find_entry(const struct source *o, size_t *entry) {
    int found = 0;
    for (int i = 0; i < o->nsection; i++) {
        const Elf64_Shdr *table = &o->section[i];
        if (table->sh_type != SHT_SYMTAB) continue;
        for (uint64_t k = 0; k < table->sh_size / sizeof(Elf64_Sym); k++) {
            const Elf64_Sym *y = symbol_at(o, table, k);
            if (!y || ELF64_ST_BIND(y->st_info) != STB_GLOBAL || ELF64_ST_TYPE(y->st_info) != STT_FUNC) continue;
            *entry = o->place[y->st_shndx] + y->st_value;
            found++;
        }
    }
    return found == 1;
}

bool llvm_image_make(const void *object, size_t size, struct llvm_code *out) {
    struct source o;
    size_t end = 0;
    if (!open_source(&o, object, size) || !place_sections(&o, true, &end) || !place_sections(&o, false, &end))
        return false;
    if (!end || !find_entry(&o, &out->entry)) return false;
    unsigned char *image = calloc(1, end);
    if (!image) return false;
    for (int i = 0; i < o.nsection; i++)
        if (o.placed[i]) memcpy(image + o.place[i], o.at + o.section[i].sh_offset, o.section[i].sh_size);
    if (!relocate_all(&o, image)) {
        free(image);
        return false;
    }
    out->image = image;
    out->image_size = end;
    return true;
}
