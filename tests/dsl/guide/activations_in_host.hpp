// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto activations_in_host = precision(
    everywhere(store(bf16), compute(bf16)), where(normalization | softmax | loss)(compute(f32)),
    where(layer("act*") & activations)(place(host)));

constexpr auto digits_activations_in_host = renamed("digits_activations_in_host", digits);
HALFTONE_MODEL(digits_activations_in_host, activations_in_host, adamw(lr(3e-3)))
