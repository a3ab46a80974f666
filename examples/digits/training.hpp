// SPDX-License-Identifier: Apache-2.0
// One training run of the digits network.
#pragma once

#include <cstdint>
#include <functional>
#include <halftone/device.hpp>
#include <halftone/trainer.hpp>

#include "images.hpp"

struct Plan {
  std::int64_t steps = 1760;  ///< of kBatch images: 40 passes over the training images
  std::uint64_t seed = 1;     ///< of weights, order and augmentation
};

struct Run {
  double accuracy = 0.0;  ///< held out, in 0..1
  double ms_per_step = 0.0;
  halftone::Statistics statistics;
};

/// Trains with a learning rate that falls along half a cosine, then looks at the held-out images
/// once. `progress` is called after every step with the number of steps done and the loss.
[[nodiscard]] Run train(const halftone::Device& device, const Split& data, const Plan& plan,
                        const std::function<void(std::int64_t, float)>& progress);
