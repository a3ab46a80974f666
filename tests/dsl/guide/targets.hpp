// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto by_chip = precision(
    everywhere(store(bf16), compute(bf16)), where(normalization | softmax | loss)(compute(f32)),
    where(on(before(sm_80)))(store(f16), compute(f16), dynamic_loss_scale()),
    where(contraction& on(cpu))(accumulate(ordered)));

constexpr auto digits_by_chip = renamed("digits_by_chip", digits);
HALFTONE_MODEL(digits_by_chip, by_chip, adamw(lr(3e-3)))
