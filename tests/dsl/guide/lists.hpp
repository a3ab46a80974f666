// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto listed_rules = precision(presets::allow_deny(f16), everywhere(dynamic_loss_scale()));

constexpr auto digits_listed = renamed("digits_listed", digits);
HALFTONE_MODEL(digits_listed, listed_rules, adamw(lr(3e-3)))
