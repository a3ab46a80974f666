// SPDX-License-Identifier: Apache-2.0
// L1 to L5, M3 and M4 spelled out for gradients that are given: the shortest thing that can be held
// to torch's traces, which proves that the specification says what torch does.
#pragma once

#include <algorithm>
#include <cmath>

#include "schedules.hpp"

namespace halftone::tests {

class SpelledOut final : public ScalerUnderTest {
 public:
  void reset(const ScheduleSettings& settings) override {
    settings_ = settings;
    state_ = {.scale = settings.initial, .wait = settings.hysteresis};
  }

  Outcome step(const StepEvents& events) override {
    const float inverse = 1.0f / state_.scale / static_cast<float>(settings_.micro_batches);  // L2
    float squares = 0.0f;
    for (int optimizer = 0; optimizer < settings_.optimizers; ++optimizer)
      for (int e = 0; e < kElements; ++e) {
        float sum = state_.scale * events.gradients[0][optimizer][e];  // L1, M4
        for (int i = 1; i < settings_.micro_batches; ++i)
          sum += state_.scale * events.gradients[i][optimizer][e];
        const float g = sum * inverse;
        squares += g * g;
      }
    advance(std::isfinite(squares));  // U1
    return state_;
  }

 private:
  void advance(bool finite) {
    state_.skipped = !finite;
    state_.floored = !finite && state_.scale == settings_.floor ? state_.floored + 1 : 0;  // L4
    if (finite) {                                                                          // L3
      state_.wait = settings_.hysteresis;
      if (++state_.clean == settings_.interval) {
        state_.scale = std::min(settings_.ceiling, state_.scale * settings_.growth);
        state_.clean = 0;
      }
    } else {
      state_.clean = 0;
      if (--state_.wait <= 0)
        state_.scale = std::max(settings_.floor, state_.scale * settings_.backoff);
    }
  }

  ScheduleSettings settings_;
  Outcome state_;
};

}  // namespace halftone::tests
