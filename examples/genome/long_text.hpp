// SPDX-License-Identifier: Apache-2.0
// The model of generation.hpp on texts of 65,536 bases; no weight depends on the length.
#include "hyena.hpp"

constexpr auto long_text = renamed("long_text", next_byte(kLong));
constexpr auto rules = precision(in_16_bits(f16), everywhere(dynamic_loss_scale(interval(200))));

HALFTONE_MODEL(long_text, rules, optimizer, rate<kGenerationSteps>, clip(2.0))
