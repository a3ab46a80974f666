// SPDX-License-Identifier: Apache-2.0
// Adaptation to another genome, in f32, clipped at 0.8.
#include "hyena.hpp"

constexpr auto adaptation_f32 = renamed("adaptation_f32", next_byte(kRead));
constexpr auto rules = precision(everywhere(store(f32), compute(f32)));

HALFTONE_MODEL(adaptation_f32, rules, optimizer, rate<kAdaptationSteps>, clip(0.8))
