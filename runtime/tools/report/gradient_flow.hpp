// SPDX-License-Identifier: Apache-2.0
// How large some numbers are, step by step, as a picture: the gradients of layers, what roundings
// lose.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "run_file.hpp"

namespace halftone::tools {

/// What a picture says of itself.
struct FlowWords {
  std::string none;  ///< in place of its range, where nothing is positive
  std::string note;  ///< behind that
};

/// A row for each, with the steps from left to right: the larger the number, the stronger the
/// colour, by its logarithm.
[[nodiscard]] std::string flow_of(std::span<const Series> rows, std::int64_t first,
                                  std::int64_t last, const FlowWords& words);

/// Of every layer's gradient, in the order of the model. Empty where the run has no such norms.
[[nodiscard]] std::string gradient_flow(const LoggedRun& run, std::int64_t first,
                                        std::int64_t last);

}  // namespace halftone::tools
