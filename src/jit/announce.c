// SPDX-License-Identifier: MIT
// In: code in executable memory and the object file it was linked from; out: lines of a perf map, records of a
// jitdump file, an entry of GDB's JIT interface. The formats are those of the kernel's
// tools/perf/Documentation/jit-interface.txt and jitdump-specification.txt and of GDB's manual ("JIT Interface").
// Every function of the object is named after the body: the tile function by the name itself, its helpers with
// their own name behind a dot. All of it belongs to the process, not to a context: one lock. Files are opened with
// O_NOFOLLOW, after a fork anew; what cannot be written is left out silently, for running does not depend on it.
#include "announce.h"

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "weft/profile.h"

enum { NAME = 256 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// ---- the object: its text, its functions ----------------------------------------------------------------
struct object {
    const unsigned char *at;
    size_t size;
    const Elf64_Shdr *sections;
    int nsection, text; // text: the section of the entry
    const Elf64_Sym *symbols;
    size_t nsymbol;
    const Elf64_Shdr *symtab, *names;
    uint64_t load; // address of the text section
};

static bool inside(const struct object *o, uint64_t offset, uint64_t bytes) {
    return offset <= o->size && bytes <= o->size - offset;
}

static const char *symbol_name(const struct object *o, const Elf64_Sym *s) {
    if (s->st_name >= o->names->sh_size) return "";
    return (const char *)o->at + o->names->sh_offset + s->st_name;
}

static bool is_function(const Elf64_Sym *s) { return ELF64_ST_TYPE(s->st_info) == STT_FUNC; }

static bool find_symbols(struct object *o) {
    for (int i = 0; i < o->nsection; i++)
        if (o->sections[i].sh_type == SHT_SYMTAB) o->symtab = &o->sections[i];
    if (!o->symtab || o->symtab->sh_link >= (unsigned)o->nsection) return false;
    o->names = &o->sections[o->symtab->sh_link];
    if (!inside(o, o->symtab->sh_offset, o->symtab->sh_size) || !inside(o, o->names->sh_offset, o->names->sh_size))
        return false;
    if (!o->names->sh_size || o->at[o->names->sh_offset + o->names->sh_size - 1]) return false;
    o->symbols = (const void *)(o->at + o->symtab->sh_offset);
    o->nsymbol = o->symtab->sh_size / sizeof *o->symbols;
    return true;
}

// The entry is the one global function.
static bool open_object(struct object *o, const struct announce_code *c) {
    const Elf64_Ehdr *h = c->object;
    *o = (struct object){.at = c->object, .size = c->size};
    if (c->size < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64) return false;
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff % 8 || (uintptr_t)c->object % 8 ||
        !inside(o, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
        return false;
    o->sections = (const void *)(o->at + h->e_shoff);
    o->nsection = h->e_shnum;
    if (!find_symbols(o)) return false;
    for (size_t i = 0; i < o->nsymbol; i++) {
        const Elf64_Sym *s = &o->symbols[i];
        if (!is_function(s) || ELF64_ST_BIND(s->st_info) != STB_GLOBAL || s->st_shndx >= o->nsection) continue;
        o->text = s->st_shndx;
        o->load = (uint64_t)(uintptr_t)c->fn - s->st_value;
        return true;
    }
    return false;
}

// Functions of the text section one after the other, with their names for people; NULL past the end.
static const Elf64_Sym *next_function(const struct object *o, size_t *at, const char *name, char *buf) {
    for (; *at < o->nsymbol; ++*at) {
        const Elf64_Sym *s = &o->symbols[*at];
        if (!is_function(s) || s->st_shndx != o->text) continue;
        if (ELF64_ST_BIND(s->st_info) == STB_GLOBAL)
            snprintf(buf, NAME, "%s", name);
        else
            snprintf(buf, NAME, "%s.%s", name, symbol_name(o, s));
        ++*at;
        return s;
    }
    return NULL;
}

// ---- perf: the map ------------------------------------------------------------------------------------------
static void put_map(const struct object *o, const char *name) {
    char path[64], called[NAME];
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "a");
    if (!f) {
        if (fd >= 0) close(fd);
        return;
    }
    size_t at = 0;
    for (const Elf64_Sym *s; (s = next_function(o, &at, name, called));)
        fprintf(f, "%llx %llx %s\n", (unsigned long long)(o->load + s->st_value), (unsigned long long)s->st_size,
                called);
    fclose(f);
}

// ---- perf: jitdump ------------------------------------------------------------------------------------------
static struct {
    int fd;
    pid_t pid; // 0: not open
    uint64_t index;
} dump;

struct dump_header {
    uint32_t magic, version, size, machine, pad, pid;
    uint64_t time, flags;
};
struct dump_load {
    uint32_t id, size;
    uint64_t time;
    uint32_t pid, tid;
    uint64_t vma, address, bytes, index;
};

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool write_all(int fd, const void *p, size_t n) {
    for (ssize_t k; n; p = (const char *)p + k, n -= (size_t)k)
        if ((k = write(fd, p, n)) <= 0) return false;
    return true;
}

// perf learns of the file by an executable mapping of it, which stays for the life of the process.
static bool open_dump(const Elf64_Ehdr *h) {
    char path[64];
    if (dump.pid == getpid()) return dump.fd >= 0;
    dump.pid = getpid();
    snprintf(path, sizeof path, "/tmp/jit-%ld.dump", (long)dump.pid);
    dump.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct dump_header d = {0x4A695444, 1, sizeof d, h->e_machine, 0, (uint32_t)dump.pid, now_ns(), 0};
    if (dump.fd < 0) return false;
    void *mark = MAP_FAILED;
    if (write_all(dump.fd, &d, sizeof d))
        mark = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, dump.fd, 0);
    if (mark != MAP_FAILED) return true;
    close(dump.fd);
    dump.fd = -1;
    return false;
}

static void put_dump(const struct object *o, const char *name) {
    char called[NAME];
    size_t at = 0;
    if (!open_dump((const void *)o->at)) return;
    for (const Elf64_Sym *s; (s = next_function(o, &at, name, called));) {
        const uint64_t address = o->load + s->st_value;
        const size_t text = strlen(called) + 1;
        struct dump_load l = {0, (uint32_t)(sizeof l + text + s->st_size), now_ns(), (uint32_t)dump.pid,
                              (uint32_t)syscall(SYS_gettid), address, address, s->st_size, dump.index++};
        if (!write_all(dump.fd, &l, sizeof l) || !write_all(dump.fd, called, text) ||
            !write_all(dump.fd, (const void *)(uintptr_t)address, s->st_size))
            return;
    }
}

// ---- GDB ------------------------------------------------------------------------------------------------------
// GDB finds these two by name, puts a breakpoint into the function and reads the list from the descriptor.
struct jit_code_entry {
    struct jit_code_entry *next, *prev;
    const void *object;
    uint64_t size;
};
struct jit_descriptor {
    uint32_t version, action; // 1: registered, 2: to be taken back
    struct jit_code_entry *relevant, *first;
};
#define FOR_GDB __attribute__((visibility("default"), weak, used))
void __jit_debug_register_code(void);
extern struct jit_descriptor __jit_debug_descriptor;
FOR_GDB __attribute__((noinline)) void __jit_debug_register_code(void) { __asm__ volatile("" ::: "memory"); }
FOR_GDB struct jit_descriptor __jit_debug_descriptor = {1, 0, NULL, NULL};

struct announced {
    struct jit_code_entry entry;
    _Alignas(16) unsigned char image[];
};

// The object once more, as it lies in memory: the text has its address, unwinding tables lie beyond it (the
// debugger reads them from the image, so any address near will do), and the symbols their new names.
static void rewrite(const struct object *o, unsigned char *image, const char *name) {
    Elf64_Shdr *sections = (void *)(image + ((const Elf64_Ehdr *)(const void *)o->at)->e_shoff);
    Elf64_Sym *symbols = (void *)(image + o->symtab->sh_offset);
    uint64_t beyond = o->load + ((sections[o->text].sh_size + 0xfff) & ~(uint64_t)0xfff);
    for (int i = 0; i < o->nsection; i++) {
        if (i == o->text)
            sections[i].sh_addr = o->load;
        else if (sections[i].sh_flags & SHF_ALLOC) {
            sections[i].sh_addr = beyond;
            beyond += (sections[i].sh_size + 0xfff) & ~(uint64_t)0xfff;
        }
    }
    // the new names lie behind the old ones, which lie behind the old image
    Elf64_Shdr *names = &sections[o->symtab->sh_link];
    memcpy(image + o->size, o->at + o->names->sh_offset, o->names->sh_size);
    names->sh_offset = o->size;
    char called[NAME];
    size_t at = 0;
    for (const Elf64_Sym *s; (s = next_function(o, &at, name, called));) {
        symbols[s - o->symbols].st_name = (uint32_t)names->sh_size;
        memcpy(image + names->sh_offset + names->sh_size, called, strlen(called) + 1);
        names->sh_size += strlen(called) + 1;
    }
}

static void tell_gdb(uint32_t action, struct jit_code_entry *e) {
    struct jit_descriptor *d = &__jit_debug_descriptor;
    d->relevant = e;
    d->action = action;
    __jit_debug_register_code();
    d->action = 0;
}

static struct announced *put_gdb(const struct object *o, const char *name) {
    char called[NAME];
    size_t at = 0, more = o->names->sh_size;
    while (next_function(o, &at, name, called))
        more += strlen(called) + 1;
    struct announced *a = malloc(sizeof *a + o->size + more);
    if (!a) return NULL;
    memcpy(a->image, o->at, o->size);
    rewrite(o, a->image, name);
    struct jit_descriptor *d = &__jit_debug_descriptor;
    a->entry = (struct jit_code_entry){d->first, NULL, a->image, o->size + more};
    if (d->first) d->first->prev = &a->entry;
    d->first = &a->entry;
    tell_gdb(1, &a->entry);
    return a;
}

// ---- both ways ----------------------------------------------------------------------------------------------
struct announced *announce_code(unsigned what, const struct announce_code *c) {
    struct object o;
    struct announced *a = NULL;
    if (!c->object || !open_object(&o, c)) return NULL;
    pthread_mutex_lock(&lock);
    if (what & WEFT_NAMES_PERF_MAP) put_map(&o, c->name);
    if (what & WEFT_NAMES_JITDUMP) put_dump(&o, c->name);
    if (what & WEFT_NAMES_GDB) a = put_gdb(&o, c->name);
    pthread_mutex_unlock(&lock);
    return a;
}

void announce_gone(struct announced *a) {
    if (!a) return;
    pthread_mutex_lock(&lock);
    struct jit_descriptor *d = &__jit_debug_descriptor;
    *(a->entry.prev ? &a->entry.prev->next : &d->first) = a->entry.next;
    if (a->entry.next) a->entry.next->prev = a->entry.prev;
    tell_gdb(2, &a->entry);
    pthread_mutex_unlock(&lock);
    free(a);
}
