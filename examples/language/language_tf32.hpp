// SPDX-License-Identifier: Apache-2.0
// f32 values; contractions read them as tf32.
#include "language.hpp"

constexpr auto language_tf32 = renamed("language_tf32", language);
constexpr auto rules =
    precision(everywhere(store(f32), compute(f32)), where(contraction)(compute(tf32)));

HALFTONE_MODEL(language_tf32, rules, optimizer, rate, clip(1.0))
