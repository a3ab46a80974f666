// SPDX-License-Identifier: Apache-2.0
// libcuda with a counter in front of every call that the runtime makes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "cuda/cuda_library.hpp"
#include "halftone/device.hpp"

namespace halftone::tests {

/// Calls by their names, since the last reset; those that were made alone.
using CallCounts = std::map<std::string, std::int64_t>;
[[nodiscard]] CallCounts counted_calls();
void reset_counted_calls();

/// A device through `library`, every call counted. The library must stay where it is; there is one
/// of these at a time. Throws std::runtime_error in the driver's words.
[[nodiscard]] Device counted_device(const CudaLibrary& library, bool takes_ptx);

}  // namespace halftone::tests
