// SPDX-License-Identifier: MIT
// Writing .npy files. The result is computed right into a mapping of a file that has no name yet
// (or a temporary one beside the target), and takes the target's name when it is complete: a
// failure, a full disk or a signal leaves the old file or none. Targets that are no regular files
// are written through.
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const char *path) {
    cmd_fail("%s: %s", path, strerror(errno));
    return false;
}

// The header, padded so that the data is 64-byte aligned; its length.
static size_t make_header(char *buf, weft_dtype t, int rank, const int64_t *dims) {
    static const char *const descr[WEFT_DTYPE__N] = {
        [WEFT_BOOL] = "|b1", [WEFT_I8] = "|i1", [WEFT_I16] = "i2", [WEFT_I32] = "i4",
        [WEFT_I64] = "i8",   [WEFT_U8] = "|u1", [WEFT_U16] = "u2", [WEFT_U32] = "u4",
        [WEFT_U64] = "u8",   [WEFT_F32] = "f4", [WEFT_F64] = "f8",
        [WEFT_F16] = "f2",   [WEFT_BF16] = "V2", [WEFT_C64] = "c8", [WEFT_C128] = "c16"};
    const uint16_t one = 1;
    const char *order = descr[t][0] == '|' ? "" : *(const unsigned char *)&one == 1 ? "<" : ">";
    size_t n = 10;
    n += (size_t)sprintf(buf + n, "{'descr': '%s%s', 'fortran_order': False, 'shape': (", order,
                         descr[t]);
    for (int i = 0; i < rank; i++)
        n += (size_t)sprintf(buf + n, "%lld,%s", (long long)dims[i], i + 1 < rank ? " " : "");
    if (rank > 1) n--; // only a single extent keeps its comma
    n += (size_t)sprintf(buf + n, "), }");
    while ((n + 1) % 64)
        buf[n++] = ' ';
    buf[n++] = '\n';
    memcpy(buf, "\x93NUMPY\x01\x00", 8);
    buf[8] = (char)((n - 10) & 0xff);
    buf[9] = (char)((n - 10) >> 8);
    return n;
}

// ---- the file without its name ----------------------------------------------------------------
static mode_t wanted_mode(const char *path) {
    struct stat st;
    if (stat(path, &st) == 0) return st.st_mode & 0777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static char *beside(const char *path, const char *pattern) {
    size_t n = strlen(path), m = strlen(pattern);
    char *name = cmd_alloc(n + m + 1);
    memcpy(name, path, n);
    memcpy(name + n, pattern, m + 1);
    return name;
}

static bool open_nameless(struct npy_out *o) {
    char *copy = beside(o->path, "");
    o->fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    free(copy);
    if (o->fd >= 0) return true;
    o->temporary = beside(o->path, ".XXXXXX"); // a file system without nameless files
    o->fd = mkstemp(o->temporary);
    if (o->fd >= 0) return true;
    free(o->temporary);
    o->temporary = NULL;
    return false;
}

static bool reserve(struct npy_out *o) {
    int e = posix_fallocate(o->fd, 0, (off_t)o->bytes); // a full disk shows now, not as a signal
    if (e == EOPNOTSUPP || e == EINVAL) e = ftruncate(o->fd, (off_t)o->bytes) ? errno : 0;
    if (e == 0) {
        void *p = mmap(NULL, o->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, o->fd, 0);
        o->mapped = p != MAP_FAILED;
        if (o->mapped) o->base = p;
        e = o->mapped ? 0 : errno;
    }
    errno = e;
    return e == 0;
}

bool npy_create(const char *path, weft_dtype t, int rank, const int64_t *dims, struct npy_out *o) {
    char header[64 + 24 * (WEFT_MAX_RANK + 8)];
    struct stat st;
    *o = (struct npy_out){.path = path, .fd = -1};
    size_t head = make_header(header, t, rank, dims);
    o->array = weft_dense(t, header, rank, dims);
    o->bytes = head + (size_t)weft_array_count(&o->array) * weft_dtype_size(t);
    o->stream = strcmp(path, "-") == 0 ||
                (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
    bool ok = true;
    if (o->stream)
        ok = (o->base = malloc(o->bytes)) != NULL;
    else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        ok = (errno = EISDIR, false);
    else
        ok = open_nameless(o) && fchmod(o->fd, wanted_mode(path)) == 0 && reserve(o);
    if (!ok) {
        fail(path);
        npy_abandon(o);
        return false;
    }
    memcpy(o->base, header, head);
    o->array.data = o->base + head;
    return true;
}

// ---- the name ---------------------------------------------------------------------------------
static bool write_through(struct npy_out *o) {
    bool to_stdout = strcmp(o->path, "-") == 0;
    int fd = to_stdout ? STDOUT_FILENO : open(o->path, O_WRONLY | O_CLOEXEC);
    size_t done = 0;
    while (fd >= 0 && done < o->bytes) {
        ssize_t n = write(fd, o->base + done, o->bytes - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) break;
        done += (size_t)n;
    }
    int e = errno;
    bool ok = fd >= 0 && done == o->bytes;
    if (fd >= 0 && !to_stdout) ok = (close(fd) == 0) && ok;
    errno = e;
    return ok;
}

// Gives a nameless file a temporary name, since a link cannot replace the target.
static bool name_file(struct npy_out *o) {
    char proc[64];
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", o->fd);
    for (int i = 0; i < 100; i++) {
        char suffix[32];
        snprintf(suffix, sizeof suffix, ".%lx.%d", (unsigned long)getpid(), i);
        o->temporary = beside(o->path, suffix);
        if (linkat(AT_FDCWD, proc, AT_FDCWD, o->temporary, AT_SYMLINK_FOLLOW) == 0) return true;
        free(o->temporary);
        o->temporary = NULL;
        if (errno != EEXIST) return false;
    }
    return false;
}

bool npy_commit(struct npy_out *o) {
    bool ok;
    if (o->stream) {
        ok = write_through(o);
    } else {
        ok = (o->temporary || name_file(o)) && rename(o->temporary, o->path) == 0;
        if (ok) {
            free(o->temporary);
            o->temporary = NULL;
        }
    }
    if (!ok) fail(o->path);
    npy_abandon(o);
    return ok;
}

void npy_abandon(struct npy_out *o) {
    if (o->mapped)
        munmap(o->base, o->bytes);
    else
        free(o->base);
    if (o->fd >= 0) close(o->fd);
    if (o->temporary) unlink(o->temporary);
    free(o->temporary);
    *o = (struct npy_out){.fd = -1};
}
