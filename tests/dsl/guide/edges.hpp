// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto edges_in_f32 = precision(
    everywhere(store(bf16), compute(bf16)), where(normalization | softmax | loss)(compute(f32)),
    where(contraction&(first_layers(1) | last_layers(1)))(
        compute(f32), because("both ends of the model keep f32")),
    where(weights& at_least(512)).except(layer("head"))(store(bf16)));

constexpr auto digits_edges = renamed("digits_edges", digits);
HALFTONE_MODEL(digits_edges, edges_in_f32, adamw(lr(3e-3)))
