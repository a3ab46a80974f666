// SPDX-License-Identifier: Apache-2.0
// Clips out of noise.
#pragma once

#include <cstdint>
#include <filesystem>
#include <halftone/device.hpp>
#include <halftone/predictor.hpp>
#include <span>
#include <vector>

#include "training.hpp"

struct Sampling {
  std::int64_t steps = 50;  ///< predictions, from the last level down
  std::uint64_t seed = 1;
  std::int64_t first = 0;  ///< number of the first clip: it and the seed decide what becomes of it
};

/// As many clips as there is room for, at most the predictor's batch: noise, of which every step
/// takes away what the model finds (Song et al. 2021: DDIM, which adds no new noise).
void sample(halftone::Predictor& predictor, std::span<float> clips, const Sampling& sampling);

/// How batches of clips go through predictors that share nothing, each on a thread of its own.
struct InFlight {
  std::int64_t clips = 8, batch = 2;
  int predictors = 2;
};
/// The same clips, whatever is in flight.
[[nodiscard]] std::vector<float> sample(const RuleSet& rules, const halftone::Device& device,
                                        const std::filesystem::path& weights,
                                        const InFlight& in_flight, Sampling sampling);

/// Makes of noised clips at one level what the model, asked once, takes for the clips.
void restore(halftone::Predictor& predictor, std::span<float> clips, std::int64_t level);
