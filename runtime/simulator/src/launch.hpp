// SPDX-License-Identifier: Apache-2.0
// Runs the blocks of a launch.
#pragma once

#include <map>
#include <string_view>

#include "execute.hpp"

namespace halftone::simulator {

/// Addresses of a module's variables in global memory.
using Variables = std::map<std::string_view, std::uint64_t, std::less<>>;

/// Runs all blocks to their end, or until a deadlock. A launch beyond the chip's limits is a
/// finding and runs nothing.
void run_launch(Execution& launch, const Variables& variables);

}  // namespace halftone::simulator
