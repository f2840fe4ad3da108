// SPDX-License-Identifier: MIT
// Records of the code cache. The checksum is made to hold first, so that what lies behind it is reached: whatever is
// accepted must describe bytes inside the record, and nothing outside may be read.
#include <stdlib.h>
#include <string.h>

#include "jit/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sum;

static void read_all(const unsigned char *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        sum += p[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct record r;
    if (size < 1) return 0;
    const bool seal = data[0] & 1 && size - 1 >= sizeof(struct record_head);
    unsigned char *bytes = malloc(size); // exactly as large, for the address sanitizer
    if (!bytes) abort();
    memcpy(bytes, data + 1, size - 1);
    if (seal) record_seal(bytes, size - 1);
    if (!record_parse(bytes, size - 1, &r)) {
        read_all(r.key, r.key_size);
        read_all(r.code, r.code_size);
        if (r.entry >= r.code_size) abort();
    }
    free(bytes);
    return 0;
}
