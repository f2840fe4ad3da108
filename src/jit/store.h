// SPDX-License-Identifier: MIT
// Where machine code outlives the process: a directory or a host's callbacks. Inside src/jit.
#ifndef WEFT_JIT_STORE_H
#define WEFT_JIT_STORE_H

#include "map.h"
#include "record.h"
#include "jit.h"

struct store;
struct store_stats { uint64_t hits, misses, refused, writes, bytes; };

// NULL when there is nowhere to keep code (which is no error) or no memory.
struct store *store_new(struct rt_env *env, const struct jit_opts *opts);
void store_free(struct store *s);
// Machine code of a body, mapped. *needs tells which kernels its table names. NULL: not there, or not believed.
tile_fn *store_load(struct store *s, const struct seg *seg, struct jit_map *map, struct llvm_code *code);
// llvm_major: of the LLVM that made it. Code of another LLVM than this library was built for is not kept.
bool store_keep(struct store *s, const struct seg *seg, const struct llvm_code *code, int llvm_major);
bool store_has(struct store *s, const struct seg *seg);
void store_read_stats(struct store *s, struct store_stats *out);

// ---- the default storage: a directory (disk.c, disk_trim.c) --------------------------------------------
struct disk;
struct disk *disk_new(struct rt_env *env, const char *dir, size_t bound); // NULL: no memory, or not absolute
void disk_free(struct disk *d);
size_t disk_get(void *disk, const char *name, void *into, size_t room); // as weft_code_store's
bool disk_put(void *disk, const char *name, const void *data, size_t size);

// Inside the storage: removes what was used longest ago until the directory holds at most `most` bytes, and
// what killed writers left; returns the bytes that remain.
enum { DISK_NAME = 32, DISK_STALE_S = 3600 };
#define DISK_SUFFIX ".weft"
#define DISK_DRAFT ".draft-"
uint64_t disk_trim(int dir, uint64_t most, const struct base_alloc *a);

#endif
