// SPDX-License-Identifier: Apache-2.0
// A GPU that the simulator plays.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "../driver_context.hpp"

namespace halftone::simulator {
struct LaunchReport;
}

namespace halftone {

/// Is told of every launch, in order, before its findings become a status.
using ObserveLaunch = std::function<void(const std::string& entry, const simulator::LaunchReport&)>;

/// A new one. `threads`: of the host, for blocks that do not depend on one another. Traffic is
/// counted for `observe` alone. Throws Error for a chip that the simulator does not know.
[[nodiscard]] std::shared_ptr<DriverContext> open_simulated_device(std::string_view chip,
                                                                   const DriverOptions& options,
                                                                   int threads,
                                                                   ObserveLaunch observe = {});

}  // namespace halftone
