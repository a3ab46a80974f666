// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto tf32_rules = precision(where(contraction)(compute(tf32)));

constexpr auto digits_tf32 = renamed("digits_tf32", digits);
HALFTONE_MODEL(digits_tf32, tf32_rules, adamw(lr(3e-3)))
