// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto bf16_rules = precision(everywhere(store(bf16), compute(bf16)),
                                      where(normalization | softmax | loss)(compute(f32)));

constexpr auto digits_bf16 = renamed("digits_bf16", digits);
HALFTONE_MODEL(digits_bf16, bf16_rules, adamw(lr(3e-3)))
