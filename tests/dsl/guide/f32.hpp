// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto f32_rules = precision(everywhere(store(f32), compute(f32)));
HALFTONE_MODEL(digits, f32_rules, adamw(lr(3e-3)))
