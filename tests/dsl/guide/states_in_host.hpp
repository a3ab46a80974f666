// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto states_in_host = precision(
    everywhere(store(bf16), compute(bf16)), where(normalization | softmax | loss)(compute(f32)),
    where(optimizer_states)(place(host)));

constexpr auto digits_states_in_host = renamed("digits_states_in_host", digits);
HALFTONE_MODEL(digits_states_in_host, states_in_host, adamw(lr(3e-3)))
