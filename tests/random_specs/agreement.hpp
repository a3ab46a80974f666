// SPDX-License-Identifier: Apache-2.0
// A model as generated code and as the reference's declared evaluation, step by step. On the CPU
// every bit is promised (docs/spec/description.md, N1 to N7): class B is of chips alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "halftone/description/description.hpp"
#include "halftone/manifest/manifest.hpp"

namespace halftone::tests {

/// How a model is run, drawn from the same seed as the model.
struct Run {
  std::uint64_t seed = 1;
  std::string variant;                      ///< of CPU code
  std::int64_t batch = 1;                   ///< the size of the symbol
  std::vector<std::int64_t> micro_batches;  ///< of each step
  bool optimize = true;                     ///< whether its code is what halftonec ships
};
Run random_run(std::uint64_t seed);

/// What `at` is told last where every step was applied: no gradient was infinite or NaN.
inline constexpr const char* kAllApplied = "all steps were applied";

/// What the two differ in first: losses, outputs, states, gradients, norm, parameters, averages,
/// or what a predictor says. `at` is told what begins.
std::optional<std::string> first_disagreement(const description::Description& model,
                                              const manifest::ArtifactImage& image, const Run& run,
                                              const std::function<void(const std::string&)>& at);

}  // namespace halftone::tests
