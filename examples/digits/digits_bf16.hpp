// SPDX-License-Identifier: Apache-2.0
// bf16 values and operands; what normalises, the softmax and the loss read f32.
#include "digits.hpp"

constexpr auto digits_bf16 = renamed("digits_bf16", digits);
constexpr auto rules = precision(everywhere(store(bf16), compute(bf16)),
                                 where(normalization | softmax | loss)(compute(f32)));

HALFTONE_MODEL(digits_bf16, rules, optimizer)
