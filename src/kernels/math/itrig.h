// SPDX-License-Identifier: MIT
// Shared by the inverse trigonometric recipes: the parts of pi and a quotient's missing digits.
#ifndef WEFT_KERN_ITRIG_H
#define WEFT_KERN_ITRIG_H

#include "math.h"

#define PI_HI 0x1.921fb54442d18p1
#define PI_LO 0x1.1a62633145c07p-53
#define HALF_PI_HI 0x1.921fb54442d18p0
#define HALF_PI_LO 0x1.1a62633145c07p-54

// 1/d within 2 %, for positive d of moderate size: enough to scale a remainder. Finite for d = 0.
RECIPE_FN double rough_inverse(double d) {
    double y = from64(0x7fde623822fc16e6u - bits64(d));
    return y * fma64(-d, y, 2.0);
}

// base + t + rest, where |base| >= |t| or base = 0, and rest is small
RECIPE_FN double sum3(double base, double t, double rest) {
    struct dd64 s = fast_two_sum(base, t);
    return s.hi + (s.lo + rest);
}

#endif
