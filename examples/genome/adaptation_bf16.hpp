// SPDX-License-Identifier: Apache-2.0
// Adaptation to another genome, in bf16 with a loss scale that grows slowly, clipped at 0.8.
#include "hyena.hpp"

constexpr auto adaptation_bf16 = renamed("adaptation_bf16", next_byte(kRead));
constexpr auto rules = precision(in_16_bits(bf16), everywhere(conservative));

HALFTONE_MODEL(adaptation_bf16, rules, optimizer, rate<kAdaptationSteps>, clip(0.8))
