// SPDX-License-Identifier: MIT
// Reading .npy files, versions 1 to 3. The header is a Python literal written by anyone: it is read
// by a small strict parser, and nothing it says is believed before it is checked against the file's
// size. Data is used where it lies, in a private mapping; foreign byte order is turned around in
// that mapping, and what is no regular file is read into memory first.
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_HEADER = 1 << 20 };

struct header { // the text of the dictionary, and what it said
    const char *path, *text;
    size_t len, at, offset; // offset of text in the file
    weft_dtype dtype;
    bool swapped, fortran;
    int rank;
    int64_t dims[WEFT_MAX_RANK];
    unsigned seen; // 1 descr, 2 fortran_order, 4 shape
    bool quiet;    // what is wrong is said by a later reading
};

static bool bad(const struct header *h, const char *what) {
    if (!h->quiet) cmd_fail("%s: byte %zu: %s", h->path, h->offset + h->at, what);
    return false;
}

// ---- the dictionary ---------------------------------------------------------------------------
static void skip_space(struct header *h) {
    while (h->at < h->len &&
           (h->text[h->at] == ' ' || h->text[h->at] == '\n' || h->text[h->at] == '\t'))
        h->at++;
}
static bool take(struct header *h, char c) {
    skip_space(h);
    if (h->at >= h->len || h->text[h->at] != c) return false;
    h->at++;
    return true;
}
static bool need(struct header *h, char c) {
    char what[40];
    if (take(h, c)) return true;
    snprintf(what, sizeof what, "'%c' is missing in the header", c);
    return bad(h, what);
}
// A quoted word into buf.
static bool read_word(struct header *h, char *buf, size_t size) {
    skip_space(h);
    char quote = h->at < h->len ? h->text[h->at] : 0;
    if (quote != '\'' && quote != '"') return bad(h, "a quoted word is missing in the header");
    const char *begin = h->text + h->at + 1, *end = memchr(begin, quote, h->len - h->at - 1);
    if (!end || (size_t)(end - begin) >= size) return bad(h, "a word of the header is too long");
    memcpy(buf, begin, (size_t)(end - begin));
    buf[end - begin] = 0;
    h->at += (size_t)(end - begin) + 2;
    return true;
}
static bool take_text(struct header *h, const char *s) {
    size_t n = strlen(s);
    skip_space(h);
    if (h->len - h->at < n || memcmp(h->text + h->at, s, n) != 0) return false;
    h->at += n;
    return true;
}

static bool read_descr(struct header *h) {
    static const struct {
        const char *name;
        weft_dtype t;
    } types[] = {{"b1", WEFT_BOOL}, {"?", WEFT_BOOL}, {"i1", WEFT_I8},  {"i2", WEFT_I16},
                 {"i4", WEFT_I32},  {"i8", WEFT_I64}, {"u1", WEFT_U8},  {"u2", WEFT_U16},
                 {"u4", WEFT_U32},  {"u8", WEFT_U64}, {"f4", WEFT_F32}, {"f8", WEFT_F64},
                 {"f2", WEFT_F16},  {"V2", WEFT_BF16}, {"c8", WEFT_C64}, {"c16", WEFT_C128}};
    char word[32], text[100];
    skip_space(h);
    if (h->at < h->len && h->text[h->at] == '[')
        return bad(h, "structured types are not supported");
    if (!read_word(h, word, sizeof word)) return false;
    bool order = word[0] == '<' || word[0] == '>' || word[0] == '|' || word[0] == '=';
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (strcmp(word + order, types[i].name) != 0) continue;
        const uint16_t one = 1;
        bool little = *(const unsigned char *)&one == 1;
        h->dtype = types[i].t;
        h->swapped = weft_dtype_size(h->dtype) > 1 && word[0] == (little ? '>' : '<');
        return true;
    }
    snprintf(text, sizeof text, "the type '%s' is not supported", word);
    return bad(h, text);
}

static bool read_extent(struct header *h, int64_t *out) {
    int64_t v = 0;
    size_t begin = h->at;
    for (; h->at < h->len && h->text[h->at] >= '0' && h->text[h->at] <= '9'; h->at++)
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, h->text[h->at] - '0', &v))
            return bad(h, "an extent is too large");
    if (h->at == begin) return bad(h, "an extent is not a number");
    if (h->at < h->len && h->text[h->at] == 'L') h->at++; // Python 2
    *out = v;
    return true;
}

static bool read_shape(struct header *h) {
    if (!need(h, '(')) return false;
    for (h->rank = 0; !take(h, ')'); h->rank++) {
        if (h->rank == WEFT_MAX_RANK) return bad(h, "more than 32 axes");
        skip_space(h);
        if (!read_extent(h, &h->dims[h->rank])) return false;
        if (take(h, ',')) continue;
        skip_space(h);
        if (h->at >= h->len || h->text[h->at] != ')') return bad(h, "')' is missing in the shape");
    }
    return true;
}

static bool read_entry(struct header *h) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char word[32];
    unsigned k = 0;
    if (!read_word(h, word, sizeof word)) return false;
    while (k < COUNT_OF(keys) && strcmp(word, keys[k]) != 0)
        k++;
    if (k == COUNT_OF(keys) || h->seen >> k & 1)
        return bad(h, "an unknown or repeated key in the header");
    h->seen |= 1u << k;
    if (!need(h, ':')) return false;
    if (k == 0) return read_descr(h);
    if (k == 2) return read_shape(h);
    h->fortran = take_text(h, "True");
    return h->fortran || take_text(h, "False") || bad(h, "True or False is missing in the header");
}

static bool read_header(struct header *h) {
    if (!need(h, '{')) return false;
    while (!take(h, '}')) {
        if (!read_entry(h)) return false;
        if (take(h, ',')) continue;
        skip_space(h);
        if (h->at >= h->len || h->text[h->at] != '}')
            return bad(h, "',' or '}' is missing in the header");
    }
    skip_space(h);
    if (h->at < h->len) return bad(h, "there is text after the header");
    return h->seen == 7 || bad(h, "descr, fortran_order or shape is missing");
}

// The fixed part: false when this is no file of a known version.
static bool read_start(struct header *h, const unsigned char *p, size_t size) {
    bool magic = size >= 10 && memcmp(p, "\x93NUMPY", 6) == 0;
    if (!magic || p[6] < 1 || p[6] > 3 || p[7] != 0) {
        if (!magic && !h->quiet)
            cmd_fail("%s: not a .npy file", h->path);
        else if (!h->quiet)
            cmd_fail("%s: version %d.%d of the format is not supported", h->path, p[6], p[7]);
        return false;
    }
    h->offset = p[6] == 1 ? 10 : 12;
    h->len = (size_t)p[8] | (size_t)p[9] << 8;
    if (p[6] > 1 && size >= 12) h->len |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    return true;
}

// Where the dictionary lies in the first bytes of the file.
static bool find_header(struct header *h, const unsigned char *p, size_t size) {
    if (!read_start(h, p, size)) return false;
    size_t have = size < h->offset ? 0 : size - h->offset;
    if (h->len > MAX_HEADER || h->len > have) {
        if (!h->quiet)
            cmd_fail("%s: byte 8: the header says it has %zu bytes; %s", h->path, h->len,
                     h->len > MAX_HEADER ? "no header is so long" : "the file ends before");
        return false;
    }
    h->text = (const char *)p + h->offset;
    return read_header(h);
}

// ---- the data ---------------------------------------------------------------------------------
static void set_strides(const struct header *h, weft_array *a) {
    uint64_t step = weft_dtype_size(h->dtype); // wraps only where no element is
    if (!h->fortran) return;
    for (int i = 0; i < h->rank; i++) {
        a->strides[i] = (int64_t)step;
        step *= h->dims[i] > 0 ? (uint64_t)h->dims[i] : 1;
    }
}

static void swap_bytes(unsigned char *p, size_t count, size_t size) {
    for (size_t i = 0; i < count; i++, p += size)
        for (size_t k = 0; k < size / 2; k++) {
            unsigned char t = p[k];
            p[k] = p[size - 1 - k];
            p[size - 1 - k] = t;
        }
}

static bool use_file(const char *path, struct npy *out) {
    struct header h = {.path = path};
    unsigned char *p = out->memory;
    if (!find_header(&h, p, out->bytes)) return false;
    out->array = weft_dense(h.dtype, p + h.offset + h.len, h.rank, h.dims);
    int64_t count = weft_array_count(&out->array);
    size_t have = out->bytes - h.offset - h.len, size = weft_dtype_size(h.dtype);
    if (count < 0) {
        cmd_fail("%s: the shape in the header is too large", path);
        return false;
    }
    if ((uint64_t)count > have / size) {
        cmd_fail("%s: truncated: %lld elements of %s need %lld bytes, the file has %zu", path,
                 (long long)count, weft_dtype_name(h.dtype), (long long)(count * (int64_t)size),
                 have);
        return false;
    }
    set_strides(&h, &out->array);
    size_t part = weft_dtype_size(part_type(h.dtype)); // of a complex element there are two
    if (h.swapped) swap_bytes(out->array.data, (size_t)count * (size / part), part);
    return true;
}

// How many bytes of a stream are needed, as far as the first ones say: a stream may have no end. What is
// wrong with them is found, and said, when they are used.
static size_t bytes_wanted(const unsigned char *p, size_t have) {
    struct header h = {.path = "", .quiet = true};
    if (have < 12) return have >= 6 && memcmp(p, "\x93NUMPY", 6) != 0 ? have : 12;
    if (!read_start(&h, p, have) || h.len > MAX_HEADER) return have;
    if (have < h.offset + h.len) return h.offset + h.len;
    if (!find_header(&h, p, have)) return have;
    weft_array a = weft_dense(h.dtype, NULL, h.rank, h.dims);
    int64_t count = weft_array_count(&a); // as bytes they fit an int64_t
    return h.offset + h.len + (count < 0 ? 0 : (size_t)count * weft_dtype_size(h.dtype));
}

// What cannot be mapped: pipes and the like.
static bool read_stream(int fd, struct npy *out) {
    size_t cap = 1 << 16, want = 12;
    unsigned char *p = malloc(cap);
    while (p) {
        if (out->bytes >= want && (want = bytes_wanted(p, out->bytes)) <= out->bytes) break;
        if (out->bytes == cap) {
            unsigned char *q = cap <= SIZE_MAX / 2 ? realloc(p, cap * 2) : NULL;
            if (!q) break;
            p = q;
            cap *= 2;
        }
        size_t most = want - out->bytes < cap - out->bytes ? want - out->bytes : cap - out->bytes;
        ssize_t n = read(fd, p + out->bytes, most);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            want = n == 0 ? 0 : SIZE_MAX; // its end; or an error
            break;
        }
        out->bytes += (size_t)n;
    }
    if (p && want <= out->bytes) {
        out->memory = p;
        return true;
    }
    free(p);
    return false;
}

static bool map_file(int fd, const struct stat *st, struct npy *out) {
    if (!S_ISREG(st->st_mode) || st->st_size == 0) return false;
    // written to only when the byte order is foreign, and then only in this process
    void *p = mmap(NULL, (size_t)st->st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) return false;
    *out = (struct npy){.memory = p, .bytes = (size_t)st->st_size, .mapped = true};
    return true;
}

bool npy_read(const char *path, struct npy *out) {
    struct stat st;
    *out = (struct npy){.memory = NULL};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fstat(fd, &st) == 0;
    if (ok && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        ok = false;
    }
    ok = ok && (map_file(fd, &st, out) || read_stream(fd, out));
    if (!ok) cmd_fail("%s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    if (ok && use_file(path, out)) return true;
    npy_free(out);
    return false;
}

void npy_free(struct npy *n) {
    if (n->mapped)
        munmap(n->memory, n->bytes);
    else
        free(n->memory);
    *n = (struct npy){.memory = NULL};
}
