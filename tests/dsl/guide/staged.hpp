// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto by_stage = precision(
    everywhere(store(f32), compute(f32)), where(during("predict"))(store(bf16), compute(bf16)),
    where(during("predict") & (normalization | softmax | loss))(compute(f32)));

constexpr auto digits_staged = renamed("digits_staged", digits);
HALFTONE_MODEL(digits_staged, by_stage, adamw(lr(3e-3)),
               stages("warmup", "full", "predict", "correct"))
