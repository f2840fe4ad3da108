// SPDX-License-Identifier: MIT
#include "cases.h"
