// SPDX-License-Identifier: MIT
// The .npy reader: any bytes, as a file that is mapped and, when the first byte is odd, as a
// stream. Every element of what is accepted is read.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/cmd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sum;

static void read_all(const weft_array *a) {
    int64_t at[WEFT_MAX_RANK] = {0};
    size_t each = weft_dtype_size(a->dtype);
    for (int64_t n = weft_array_count(a); n > 0; n--) {
        const unsigned char *p = a->data;
        for (int k = 0; k < a->rank; k++)
            p += at[k] * a->strides[k];
        for (size_t i = 0; i < each; i++)
            sum += p[i];
        for (int k = a->rank - 1; k >= 0 && ++at[k] == a->dims[k]; k--)
            at[k] = 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct npy n;
    char path[64];
    int fd, pipes[2];
    if (size < 1 || size > 60000) return 0;
    if (data[0] & 1) {
        if (pipe(pipes)) return 0;
        if (write(pipes[1], data + 1, size - 1) < 0) abort(); // fits the pipe's buffer
        close(pipes[1]);
        fd = pipes[0];
    } else {
        fd = memfd_create("npy", 0);
        if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)size - 1) abort();
        lseek(fd, 0, SEEK_SET);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (npy_read(path, &n)) {
        read_all(&n.array);
        npy_free(&n);
    }
    close(fd);
    return 0;
}
