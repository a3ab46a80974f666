// SPDX-License-Identifier: Apache-2.0
// Generation: the base behind each. f16 with a loss scale, clipped at 2; on chips the optimizer's
// states lie in the host's memory.
#include "hyena.hpp"

constexpr auto generation = renamed("generation", next_byte(kRead));
constexpr auto rules = precision(in_16_bits(f16), everywhere(dynamic_loss_scale(interval(200))),
                                 where(optimizer_states)(place(host)));

HALFTONE_MODEL(generation, rules, optimizer, rate<kGenerationSteps>, clip(2.0))
