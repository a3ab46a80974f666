// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto cast_rules =
    precision(presets::torch_autocast(f16), everywhere(dynamic_loss_scale()),
              where(layer("head"))(compute(f32)));

constexpr auto digits_cast = renamed("digits_cast", digits);
HALFTONE_MODEL(digits_cast, cast_rules, adamw(lr(3e-3)))
