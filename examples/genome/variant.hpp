// SPDX-License-Identifier: Apache-2.0
// Variant effect: what a substitution makes of an amino acid. bf16, clipped at 0.5, with a loss
// scale that grows slowly.
#include "hyena.hpp"

constexpr auto variant = classified("variant", kVariant, kEffects);
constexpr auto rules = precision(in_16_bits(bf16), everywhere(conservative));

HALFTONE_MODEL(variant, rules, optimizer, rate<kVariantSteps>, clip(0.5))
