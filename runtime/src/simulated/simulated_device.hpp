// SPDX-License-Identifier: Apache-2.0
// A GPU that the simulator plays.
#pragma once

#include <memory>
#include <string_view>

#include "../driver_context.hpp"
#include "simulator_library.hpp"

namespace halftone {

/// Throws Error for a chip that the simulator does not know, and as process_simulator() does.
void require_simulated_chip(std::string_view chip);

/// A new one. `threads`: of the host, for blocks that do not depend on one another. Traffic is
/// counted for `observe` alone. Throws as require_simulated_chip() does.
[[nodiscard]] std::shared_ptr<DriverContext> open_simulated_device(std::string_view chip,
                                                                   const DriverOptions& options,
                                                                   int threads,
                                                                   ObserveLaunch observe = {});

}  // namespace halftone
