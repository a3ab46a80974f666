// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto small_memory =
    precision(everywhere(store(f32), compute(f32)), where(saved_activations)(store(bf16)),
              where(activation_function)(recompute(always)));

constexpr auto digits_small = renamed("digits_small", digits);
HALFTONE_MODEL(digits_small, small_memory, adamw(lr(3e-3)))

constexpr auto weight_copies =
    precision(everywhere(compute(f32)), where(weights& layer("fc*"))(store(bf16)));

constexpr auto digits_copies = renamed("digits_copies", digits);
HALFTONE_MODEL(digits_copies, weight_copies, adamw(lr(3e-3)))
