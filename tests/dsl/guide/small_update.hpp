// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto small_update = precision(
    everywhere(store(bf16), compute(bf16)), where(normalization | softmax | loss)(compute(f32)),
    where(master_weights)(master(bf16, with_remainder)),
    where(optimizer_states)(store(bf16), rounding(stochastic)));

constexpr auto digits_small_update = renamed("digits_small_update", digits);
HALFTONE_MODEL(digits_small_update, small_update, adamw(lr(3e-3)))
