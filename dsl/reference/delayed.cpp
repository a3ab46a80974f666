// SPDX-License-Identifier: Apache-2.0
#include "delayed.hpp"

#include <algorithm>
#include <cstdint>

namespace halftone::reference {

float larger(float a, float b) { return std::isnan(a) || a > b ? a : b; }

void add_amaxes(Amaxes& of_step, const Amaxes& of_pass) {
  for (const auto& [name, amax] : of_pass) {
    float& largest = of_step.try_emplace(name, amax).first->second.largest;
    largest = larger(largest, amax.largest);
  }
}

void move_delayed(const Amaxes& of_step, std::int64_t ended,
                  std::map<std::string, Delayed>& scales) {
  for (const auto& [name, amax] : of_step) {
    Delayed& delayed = scales[name];
    const auto history = static_cast<std::size_t>(amax.to.scaling.history);
    delayed.amaxes.resize(history, 0);
    delayed.amaxes[static_cast<std::uint32_t>(ended) % history] =
        std::isfinite(amax.largest) ? amax.largest : 0;
    const float largest = *std::max_element(delayed.amaxes.begin(), delayed.amaxes.end());
    if (largest > 0) delayed.scale = delayed_scale(amax.to, largest);
  }
}

}  // namespace halftone::reference
