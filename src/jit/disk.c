// SPDX-License-Identifier: MIT
// In: records and their names; out: files of one directory. Every operation opens the directory anew and judges
// it before anything in it is touched (no descriptor is held for the host to trip over): ours by owner, mode
// exactly 0700, no symbolic link in the last place. Files are opened without following links and read into
// memory, never mapped, so a file that shrinks meanwhile is a short read. A write goes to a draft of its own
// name, which takes the final name only when it is whole: a process that dies leaves a draft, which the next
// trimming removes, and two processes that write one record leave one of the two. Nothing is synchronised to the
// medium: after a power failure the checksum refuses what is not whole.
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TOUCH_S = 3600, ROUND = 64 }; // files are touched at most once an hour; others' writes seen every ROUND

struct disk {
    struct rt_env *env;
    size_t bound;
    pthread_mutex_t lock; // guards said, held and puts
    bool said;
    uint64_t held;        // bytes in the directory, when last counted and with our writes since
    unsigned puts;
    size_t length;        // of dir, its NUL included
    char dir[];
};

struct disk *disk_new(struct rt_env *env, const char *dir, size_t bound) {
    const size_t length = strlen(dir) + 1;
    if (dir[0] != '/' || length > 4000) return NULL;
    struct disk *d = base_get_zero(&env->alloc, sizeof *d + length);
    if (!d) return NULL;
    d->env = env;
    d->bound = bound;
    d->length = length;
    memcpy(d->dir, dir, length);
    pthread_mutex_init(&d->lock, NULL);
    return d;
}

void disk_free(struct disk *d) {
    if (!d) return;
    struct base_alloc alloc = d->env->alloc;
    pthread_mutex_destroy(&d->lock);
    base_put(&alloc, d, sizeof *d + d->length);
}

// One line for the life of the context.
static void say(struct disk *d, const char *what, const char *why) {
    char line[4400];
    pthread_mutex_lock(&d->lock);
    bool first = !d->said;
    d->said = true;
    pthread_mutex_unlock(&d->lock);
    if (!first || !d->env->log) return;
    snprintf(line, sizeof line, "code cache %s: %s%s", d->dir, what, why);
    d->env->log(d->env->log_ud, WEFT_LOG_WARN, line);
}

// ---- the directory ---------------------------------------------------------------------------------------------
static const char *dir_fault(int fd) {
    struct stat st;
    if (fstat(fd, &st)) return "it cannot be looked at";
    if (!S_ISDIR(st.st_mode)) return "it is not a directory";
    if (st.st_uid != geteuid()) return "it belongs to somebody else";
    if ((st.st_mode & 0777) != 0700) return "its mode is not 0700";
    return NULL;
}

// The directories above it that are missing, 0700 as the XDG specification asks.
static bool make_dirs(struct disk *d) {
    char path[4096];
    memcpy(path, d->dir, d->length);
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = 0;
        if (mkdir(path, 0700) && errno != EEXIST && errno != EISDIR && access(path, F_OK)) return false;
        *p = '/';
    }
    return !mkdir(path, 0700) || errno == EEXIST;
}

// A descriptor, or -1: not there (only when make is off), refused, or not possible; said where it matters.
static int open_dir(struct disk *d, bool make) {
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = open(d->dir, flags);
    if (fd < 0 && errno == ENOENT) {
        if (!make) return -1;
        if (make_dirs(d)) fd = open(d->dir, flags);
    }
    if (fd < 0) {
        const bool odd = errno == ELOOP || errno == ENOTDIR;
        say(d, "not used, ", odd ? "it is a link or not a directory" : "it cannot be opened or made");
        return -1;
    }
    const char *fault = dir_fault(fd);
    if (!fault) return fd;
    say(d, "not used, ", fault);
    close(fd);
    return -1;
}

static void file_name(char out[DISK_NAME + sizeof DISK_SUFFIX], const char *name) {
    snprintf(out, DISK_NAME + sizeof DISK_SUFFIX, "%s" DISK_SUFFIX, name);
}

// ---- reading ---------------------------------------------------------------------------------------------------
static bool read_all(int fd, void *into, size_t size) {
    for (size_t at = 0; at < size;) {
        ssize_t n = read(fd, (char *)into + at, size - at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += (size_t)n;
    }
    return true;
}

static const char *file_fault(const struct stat *st) {
    if (!S_ISREG(st->st_mode)) return "not a file";
    if (st->st_uid != geteuid()) return "somebody else's";
    if (st->st_mode & 022) return "writable by others";
    return NULL;
}

// A file in use is young: what was used longest ago goes first.
static void touch(int fd, const struct stat *st) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return;
    if (now.tv_sec - st->st_mtim.tv_sec > TOUCH_S || now.tv_sec < st->st_mtim.tv_sec) (void)futimens(fd, NULL);
}

static size_t read_file(struct disk *d, int fd, void *into, size_t room) {
    struct stat st;
    if (fstat(fd, &st) || st.st_size <= 0 || (uint64_t)st.st_size > RECORD_MAX) return 0;
    const char *fault = file_fault(&st);
    if (fault) {
        say(d, "a file is passed over, it is ", fault);
        return 0;
    }
    const size_t size = (size_t)st.st_size;
    if (size > room) return size;
    if (!read_all(fd, into, size)) return 0;
    touch(fd, &st);
    return size;
}

size_t disk_get(void *disk, const char *name, void *into, size_t room) {
    struct disk *d = disk;
    char file[DISK_NAME + sizeof DISK_SUFFIX];
    const int dir = open_dir(d, false);
    if (dir < 0) return 0;
    file_name(file, name);
    const int fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const size_t size = fd < 0 ? 0 : read_file(d, fd, into, room);
    if (fd >= 0) close(fd);
    close(dir);
    return size;
}

// ---- writing ---------------------------------------------------------------------------------------------------
static bool write_all(int fd, const void *data, size_t size) {
    for (size_t at = 0; at < size;) {
        ssize_t n = write(fd, (const char *)data + at, size - at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += (size_t)n;
    }
    return true;
}

static bool write_file(int dir, const char *file, const void *data, size_t size) {
    static _Atomic unsigned long serial;
    char draft[80];
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(draft, sizeof draft, DISK_DRAFT "%ld-%lu-%llx", (long)getpid(), atomic_fetch_add(&serial, 1),
             (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec);
    const int fd = openat(dir, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool ok = write_all(fd, data, size);
    ok = !close(fd) && ok;
    ok = ok && !renameat(dir, draft, dir, file);
    if (!ok) (void)unlinkat(dir, draft, 0);
    return ok;
}

// The directory is counted at the first write, when the bound is reached, and now and then for others' writes.
static void stay_in_bound(struct disk *d, int dir, size_t added) {
    pthread_mutex_lock(&d->lock);
    d->held += (added + 4095) & ~(size_t)4095;
    const bool count = d->puts++ % ROUND == 0 || d->held > d->bound;
    pthread_mutex_unlock(&d->lock);
    if (!count) return;
    const uint64_t held = disk_trim(dir, d->bound, &d->env->alloc);
    pthread_mutex_lock(&d->lock);
    d->held = held;
    pthread_mutex_unlock(&d->lock);
}

bool disk_put(void *disk, const char *name, const void *data, size_t size) {
    struct disk *d = disk;
    char file[DISK_NAME + sizeof DISK_SUFFIX];
    if (size > d->bound) return false;
    const int dir = open_dir(d, true);
    if (dir < 0) return false;
    file_name(file, name);
    const bool ok = write_file(dir, file, data, size);
    if (ok)
        stay_in_bound(d, dir, size);
    else
        say(d, "a file cannot be written", "");
    close(dir);
    return ok;
}
