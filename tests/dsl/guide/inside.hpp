// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto rounded_inside = precision(
    everywhere(store(bf16), compute(bf16)), where(normalization | softmax | loss)(compute(f32)),
    where(layer("norm.normalized") & internal_values)(store(bf16)),
    where(op("cross_entropy") & internal_values)(store(tf32), rounding(toward_zero)));

constexpr auto digits_inside = renamed("digits_inside", digits);
HALFTONE_MODEL(digits_inside, rounded_inside, adamw(lr(3e-3)))
