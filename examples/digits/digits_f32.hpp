// SPDX-License-Identifier: Apache-2.0
// f32 throughout.
#include "digits.hpp"

constexpr auto digits_f32 = renamed("digits_f32", digits);
constexpr auto rules = precision(everywhere(store(f32), compute(f32)));

HALFTONE_MODEL(digits_f32, rules, optimizer)
