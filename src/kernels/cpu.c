// SPDX-License-Identifier: MIT
// The machine: which kernels may run on it, and how large its caches are.
//
// An instruction set counts only when the processor has every feature its sources are compiled for
// (x86-64-v3 and -v4) and the operating system saves the registers (XGETBV); a processor with half
// of a level gets the level below. Detection costs about a hundred cycles and is not cached: it is
// done once per context. Cache sizes come from the C library; a size that is unknown gets a common
// one.
#include <unistd.h>

#include "kern.h"

#ifdef __x86_64__
#include <cpuid.h>

static bool has_all(unsigned reg, unsigned mask) {
    return (reg & mask) == mask;
}

static uint64_t saved_state(void) {
    uint32_t lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
}

enum kern_isa kern_isa_detect(void) {
    const unsigned v3_1c = bit_FMA | bit_MOVBE | bit_OSXSAVE | bit_AVX | bit_F16C;
    const unsigned v3_7b = bit_BMI | bit_AVX2 | bit_BMI2;
    const unsigned v4_7b = bit_AVX512F | bit_AVX512DQ | bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
    unsigned a, b, c, d, ext_c = 0, b7 = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return KERN_BASE;
    if (!has_all(c, v3_1c)) return KERN_BASE; // also guards XGETBV
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) b7 = b;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d)) ext_c = c;
    uint64_t xcr0 = saved_state();
    if (!has_all(b7, v3_7b) || !has_all(ext_c, bit_LZCNT)) return KERN_BASE;
    if ((xcr0 & 0x06) != 0x06) return KERN_BASE; // SSE and AVX state
    if (!has_all(b7, v4_7b)) return KERN_AVX2;
    if ((xcr0 & 0xe6) != 0xe6) return KERN_AVX2; // mask and ZMM state too
    return KERN_AVX512;
}
#else
enum kern_isa kern_isa_detect(void) {
    return KERN_BASE;
}
#endif

enum kern_isa kern_isa_capped(weft_isa cap) {
    enum kern_isa have = kern_isa_detect(), most = KERN_ISA__N;
    if (cap == WEFT_ISA_SCALAR || cap == WEFT_ISA_NEON) most = KERN_BASE;
    if (cap == WEFT_ISA_AVX2) most = KERN_AVX2;
    return MIN_OF(have, most);
}

const char *kern_isa_name(enum kern_isa isa) {
    static const char *const names[] = {"base", "avx2", "avx512"};
    return (unsigned)isa < COUNT_OF(names) ? names[isa] : "?";
}

static size_t size_or(int name, size_t otherwise) {
    long v = name < 0 ? 0 : sysconf(name);
    return v > 0 ? (size_t)v : otherwise;
}

struct kern_cache kern_cache_sizes(void) {
#ifdef _SC_LEVEL1_DCACHE_SIZE
    const int l1 = _SC_LEVEL1_DCACHE_SIZE, l2 = _SC_LEVEL2_CACHE_SIZE, l3 = _SC_LEVEL3_CACHE_SIZE;
#else
    const int l1 = -1, l2 = -1, l3 = -1;
#endif
    const size_t last = size_or(l3, 8 << 20), most = (size_t)32 << 20; // what is told may be the sum of all slices
    return (struct kern_cache){size_or(l1, 32 << 10), size_or(l2, 512 << 10), MIN_OF(last, most)};
}
