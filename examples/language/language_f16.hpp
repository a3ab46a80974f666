// SPDX-License-Identifier: Apache-2.0
// f16 with a dynamic loss scale, which grows often because these runs are short.
#include "language.hpp"

constexpr auto language_f16 = renamed("language_f16", language);
constexpr auto rules =
    precision(everywhere(store(f16), compute(f16), dynamic_loss_scale(interval(200))),
              where(normalization | softmax | loss)(compute(f32)),
              where(layer("h/*/mix.{weights,score_gradients}") & internal_values)(store(f16)));

HALFTONE_MODEL(language_f16, rules, optimizer, rate, clip(1.0))
