// SPDX-License-Identifier: Apache-2.0
// What a random model is trained by: its rules, and its optimizer with clips, schedule and average.
#pragma once

#include "choices.hpp"
#include "halftone/description/description.hpp"

namespace halftone::tests {

/// Up to five rules that validate() has nothing against; now and then none.
void add_random_rules(Choices& choices, description::Description& model);

void add_random_optimizer(Choices& choices, description::Description& model);

}  // namespace halftone::tests
