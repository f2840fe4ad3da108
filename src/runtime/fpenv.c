// SPDX-License-Identifier: MIT
// The floating-point environment of a run: nearest rounding, subnormals kept, exceptions masked.
// In: whatever the host left in the control register; out: exactly that again, sticky flags
// included, since the whole register is saved before and written back after. Done by hand because
// fenv.h knows no flush-to-zero and costs tens of cycles more, which the smallest runs would feel.
#include "runtime.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

struct rt_fp rt_fp_enter(void) {
    struct rt_fp fp = {_mm_getcsr()};
    // all exceptions masked, round to nearest, no FTZ, no DAZ; sticky flags do not matter
    if ((fp.saved & ~(uint64_t)0x3f) != 0x1f80) _mm_setcsr(0x1f80);
    return fp;
}
void rt_fp_leave(struct rt_fp fp) {
    if (_mm_getcsr() != (unsigned)fp.saved) _mm_setcsr((unsigned)fp.saved); // writing is the dear part
}

#elif defined(__aarch64__)

struct rt_fp rt_fp_enter(void) {
    uint64_t control, status;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(status));
    if (control & 0xffffffff) __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)0));
    return (struct rt_fp){(control & 0xffffffff) | status << 32};
}
void rt_fp_leave(struct rt_fp fp) {
    __asm__ volatile("msr fpcr, %0" ::"r"(fp.saved & 0xffffffff));
    __asm__ volatile("msr fpsr, %0" ::"r"(fp.saved >> 32));
}

#else
#include <fenv.h>

struct rt_fp rt_fp_enter(void) {
    struct rt_fp fp = {(uint64_t)fegetround()};
    fesetround(FE_TONEAREST);
    return fp;
}
void rt_fp_leave(struct rt_fp fp) {
    fesetround((int)fp.saved);
}
#endif
