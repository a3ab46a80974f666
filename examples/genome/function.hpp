// SPDX-License-Identifier: Apache-2.0
// Protein function: the family that a piece of a protein is of. bf16, clipped at 1; on chips the
// optimizer's states lie in the host's memory.
#include "hyena.hpp"

constexpr auto function = classified("function", kPiece, kFamilies);
constexpr auto rules = precision(in_16_bits(bf16), where(optimizer_states)(place(host)));

HALFTONE_MODEL(function, rules, optimizer, rate<kFunctionSteps>, clip(1.0))
