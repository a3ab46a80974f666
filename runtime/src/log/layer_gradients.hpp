// SPDX-License-Identifier: Apache-2.0
// How large the gradient of every layer is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "halftone/run_log.hpp"

namespace halftone {

/// For RunFacts::gradient_layers.
[[nodiscard]] std::vector<std::string> gradient_layers(const RunFacts& facts);

/// For LogEntry::layer_gradients, of the last step, whose gradients had the norm `whole` together.
[[nodiscard]] std::vector<std::optional<double>> layer_gradients(const Trainer& trainer,
                                                                 const RunFacts& facts,
                                                                 float whole);

}  // namespace halftone
