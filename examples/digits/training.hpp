// SPDX-License-Identifier: Apache-2.0
// One training run of the digits network.
#pragma once

#include <cstdint>
#include <functional>
#include <halftone/artifact.hpp>
#include <halftone/device.hpp>
#include <halftone/trainer.hpp>
#include <string>
#include <vector>

#include "images.hpp"

struct Plan {
  std::int64_t steps = 1760;  ///< of kBatch images: 40 passes over the training images
  std::uint64_t seed = 1;     ///< of weights, order and augmentation
  std::string name = {};      ///< of the run in its log
  std::string log = {};       ///< a file of JSON lines, replaced where it is there; empty: none
};

struct Run {
  double accuracy = 0.0;  ///< held out, in 0..1
  double ms_per_step = 0.0;
  halftone::Statistics statistics;
};

/// Called after every step with the number of steps done and the loss.
using Progress = std::function<void(std::int64_t, float)>;

/// One set of precision rules of the same model.
struct RuleSet {
  std::string name;
  halftone::Artifact artifact;
  /// Trains with a learning rate that falls along half a cosine, then looks at the held-out images
  /// once.
  Run (*train)(const halftone::Device& device, const Split& data, const Plan& plan,
               const Progress& progress);
};

/// f32, bf16, f16 and tf32, in this order; with equal seeds all start from equal weights.
[[nodiscard]] std::vector<RuleSet> rule_sets();
