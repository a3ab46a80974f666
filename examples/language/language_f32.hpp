// SPDX-License-Identifier: Apache-2.0
// f32 throughout.
#include "language.hpp"

constexpr auto language_f32 = renamed("language_f32", language);
constexpr auto rules = precision(everywhere(store(f32), compute(f32)));

HALFTONE_MODEL(language_f32, rules, optimizer, rate, clip(1.0))
