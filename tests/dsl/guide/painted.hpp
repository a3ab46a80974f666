// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto painted_rules =
    precision(paint(f16, ops("linear"), ops("gelu"), ops("layer_norm", "cross_entropy"), ops()),
              everywhere(dynamic_loss_scale()));

constexpr auto digits_painted = renamed("digits_painted", digits);
HALFTONE_MODEL(digits_painted, painted_rules, adamw(lr(3e-3)))
