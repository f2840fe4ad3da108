// SPDX-License-Identifier: MIT
// In: a directory that is known to be ours; out: the same within its bound. Files are counted by what they take on
// the medium. When they take more than the bound, the ones used longest ago go (a hit touches its file) until
// an eighth of the bound is free, so that a full cache is not trimmed at every write. Drafts of writers that
// died go after an hour. Nothing is touched whose name is not one of ours. Other processes may do the
// same at the same time: a file that is gone already is no error.
#include "store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct item {
    char name[DISK_NAME + sizeof DISK_SUFFIX];
    struct timespec used;
    uint64_t bytes;
};

static bool is_record(const char *name) {
    return strspn(name, "0123456789abcdef") == DISK_NAME && strcmp(name + DISK_NAME, DISK_SUFFIX) == 0;
}
static bool is_draft(const char *name) { return strncmp(name, DISK_DRAFT, sizeof DISK_DRAFT - 1) == 0; }

static int older_first(const void *x, const void *y) {
    const struct item *a = x, *b = y;
    if (a->used.tv_sec != b->used.tv_sec) return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return (a->used.tv_nsec > b->used.tv_nsec) - (a->used.tv_nsec < b->used.tv_nsec);
}

static uint64_t bytes_of(const struct stat *st) {
    return (uint64_t)MAX_OF((int64_t)st->st_size, (int64_t)st->st_blocks * 512);
}

// All records; drafts nobody writes any more are removed on the way.
static uint64_t survey(int dir, DIR *list, struct base_vec *items) {
    uint64_t held = 0;
    const time_t now = time(NULL);
    for (struct dirent *entry; (entry = readdir(list));) {
        struct stat st;
        const bool record = is_record(entry->d_name);
        if (!record && !is_draft(entry->d_name)) continue;
        if (fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
        if (!record) {
            if (now - st.st_mtim.tv_sec > DISK_STALE_S) (void)unlinkat(dir, entry->d_name, 0);
            continue;
        }
        struct item item = {.used = st.st_mtim, .bytes = bytes_of(&st)};
        memcpy(item.name, entry->d_name, sizeof item.name);
        held += item.bytes;
        vec_push(items, &item, sizeof item);
    }
    return held;
}

uint64_t disk_trim(int dir, uint64_t most, const struct base_alloc *a) {
    const int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); // a place in the list of its own
    DIR *list = again < 0 ? NULL : fdopendir(again);
    if (!list) {
        if (again >= 0) close(again);
        return 0;
    }
    struct base_vec items;
    vec_init(&items, a);
    uint64_t held = survey(dir, list, &items);
    closedir(list);
    const size_t n = VEC_LEN(&items, struct item);
    if (held > most && !items.failed) {
        qsort(items.data, n, sizeof(struct item), older_first);
        for (size_t i = 0; i < n && held > most - most / 8; i++) {
            const struct item *item = &VEC_AT(&items, struct item, i);
            if (!unlinkat(dir, item->name, 0)) held -= item->bytes;
        }
    }
    vec_free(&items);
    return held;
}
