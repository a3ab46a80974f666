// SPDX-License-Identifier: Apache-2.0
// f32 values; contractions read them as tf32.
#include "digits.hpp"

constexpr auto digits_tf32 = renamed("digits_tf32", digits);
constexpr auto rules =
    precision(everywhere(store(f32), compute(f32)), where(contraction)(compute(tf32)));

HALFTONE_MODEL(digits_tf32, rules, optimizer)
