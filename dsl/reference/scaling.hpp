// SPDX-License-Identifier: Apache-2.0
// The loss scale from step to step: L3 and L4.
#pragma once

#include "halftone/description/description.hpp"
#include "halftone/reference/evaluator.hpp"

namespace halftone::reference {

// What the first step starts from.
[[nodiscard]] Scaling initial_scaling(const description::LossScale& rule);

// L3, L4: after a step whose gradients were finite or not.
[[nodiscard]] Scaling next_scaling(const description::LossScale& rule, Scaling scaling,
                                   bool finite);

// L4
[[nodiscard]] bool is_exhausted(const description::LossScale& rule, const Scaling& scaling);

}  // namespace halftone::reference
