// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto head_in_f32 = precision(everywhere(store(bf16), compute(bf16)),
                                       where(normalization | softmax | loss)(compute(f32)),
                                       where(layer("head"))(store(f32), compute(f32)));

constexpr auto digits_head = renamed("digits_head", digits);
HALFTONE_MODEL(digits_head, head_in_f32, adamw(lr(3e-3)))

constexpr auto precise_gradients =
    precision(everywhere(store(bf16), compute(bf16)),
              where(layer("fc{1,2}") & weight_gradient_pass)(compute(f32), accumulate(ordered)));

constexpr auto digits_gradients = renamed("digits_gradients", digits);
HALFTONE_MODEL(digits_gradients, precise_gradients, adamw(lr(3e-3)))
