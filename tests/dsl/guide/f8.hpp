// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto f8_rules = precision(
    everywhere(store(f8e4m3, saturate), compute(f8e4m3, saturate), fixed_loss_scale(4096)),
    where(gradients)(store(f8e5m2, saturate), compute(f8e5m2, saturate)),
    where(normalization | softmax | loss)(compute(f32)),
    where(weights& layer("fc*"))(store(f8e4m3, saturate)),
    where(layer("head"))(store(f32), compute(bf16)));

constexpr auto digits_f8 = renamed("digits_f8", digits);
HALFTONE_MODEL(digits_f8, f8_rules, adamw(lr(3e-3)))
