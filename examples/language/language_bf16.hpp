// SPDX-License-Identifier: Apache-2.0
// bf16 values and operands; what normalises, the softmax and the loss read f32. Attention
// multiplies weights that are rounded, too, as one kernel on chips does (docs/precision-guide.md).
#include "language.hpp"

constexpr auto language_bf16 = renamed("language_bf16", language);
constexpr auto rules = precision(
    everywhere(store(bf16), compute(bf16)), where(normalization | softmax | loss)(compute(f32)),
    where(layer("h/*/mix.{weights,score_gradients}") & internal_values)(store(bf16)));

HALFTONE_MODEL(language_bf16, rules, optimizer, rate, clip(1.0))
