// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto served = precision(
    everywhere(store(bf16), compute(bf16)), where(normalization | softmax | loss)(compute(f32)),
    where(weights)(quantize(i8)), where(layer("head") & weights)(quantize(f8e4m3, least_error)));

constexpr auto digits_served = renamed("digits_served", digits);
HALFTONE_MODEL(digits_served, served, adamw(lr(3e-3)))
