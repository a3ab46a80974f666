// SPDX-License-Identifier: Apache-2.0
// `halftone explain --simulate`: a training step of an artifact on a simulated chip, and what each
// launch of it did beside what the cost model said of its kernel.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "explain.hpp"

namespace halftone::tools {

/// The object that docs/tools.md calls `simulated`. Inputs are zeros; symbols that are not bound
/// have the sizes that plans were chosen for. Throws std::runtime_error, one sentence, for a chip
/// that is not the artifact's or cannot be simulated, where there is no NVRTC, and when a kernel
/// has a fault.
[[nodiscard]] Json simulation_of(std::span<const manifest::Manifest> manifests,
                                 std::span<const std::string> texts, const Binding& binding,
                                 const std::string& chip, const std::string& stage = {});

/// The same for people.
[[nodiscard]] std::string text_of_simulation(const Json& simulated);

}  // namespace halftone::tools
