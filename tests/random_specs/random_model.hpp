// SPDX-License-Identifier: Apache-2.0
// Models that train, drawn from a seed: 2 to 12 layers, 4 or 5 on average, of any kind of the list
// of kinds with losses, states, shared weights, rules and an optimizer. Values are of moderate
// size, so that most steps are finite.
#pragma once

#include <cstdint>

#include "halftone/description/description.hpp"

namespace halftone::tests {

/// Most are valid; the others are as a user may write them who overlooks something.
description::Description random_model(std::uint64_t seed);

}  // namespace halftone::tests
