// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto drawn = precision(
    everywhere(store(bf16), compute(bf16)), where(normalization | softmax | loss)(compute(f32)),
    where(gradients)(store(f8e5m2), rounding(stochastic)),
    where(weights& layer("fc*"))(store(bf16), rounding(stochastic)));

constexpr auto digits_drawn = renamed("digits_drawn", digits);
HALFTONE_MODEL(digits_drawn, drawn, adamw(lr(3e-3)))
