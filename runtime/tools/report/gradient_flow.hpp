// SPDX-License-Identifier: Apache-2.0
// How large the gradient of every layer is, step by step, as a picture.
#pragma once

#include <cstdint>
#include <string>

#include "run_file.hpp"

namespace halftone::tools {

/// A row for every layer, in the order of the model, with the steps from left to right: the larger
/// the norm, the stronger the colour, by its logarithm. Empty where the run has no such norms.
[[nodiscard]] std::string gradient_flow(const LoggedRun& run, std::int64_t first,
                                        std::int64_t last);

}  // namespace halftone::tools
