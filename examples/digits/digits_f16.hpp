// SPDX-License-Identifier: Apache-2.0
// f16 with a dynamic loss scale, which grows often because these runs are short.
#include "digits.hpp"

constexpr auto digits_f16 = renamed("digits_f16", digits);
constexpr auto rules =
    precision(everywhere(store(f16), compute(f16), dynamic_loss_scale(interval(200))),
              where(normalization | softmax | loss)(compute(f32)));

HALFTONE_MODEL(digits_f16, rules, optimizer)
