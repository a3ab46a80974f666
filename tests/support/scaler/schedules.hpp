// SPDX-License-Identifier: Apache-2.0
// Random schedules of training steps in which gradients are infinite or NaN now and then, what
// torch.amp.GradScaler did on them, and the interface of whatever is held to it. The schedules are
// those that schedules.py draws; the two must be changed together.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace halftone::tests {

/// The elements of the one parameter that each optimizer of a schedule has.
inline constexpr int kElements = 3;

/// splitmix64's finalizer (Steele, Lea, Flood 2014).
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// splitmix64.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(mix(seed)) {}

  std::uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15u); }
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32);
  }

 private:
  std::uint64_t state_;
};

/// What L3 and L4 read, and the shape of a schedule. Floor and ceiling do not bind unless stated.
struct ScheduleSettings {
  float initial = 65536.0f, growth = 2.0f, backoff = 0.5f;
  int interval = 2000;
  float floor = std::numeric_limits<float>::min(), ceiling = std::numeric_limits<float>::max();
  int hysteresis = 1;
  int patience = 1 << 24;
  int steps = 0;
  int micro_batches = 1;
  std::optional<float> clip{};
  int optimizers = 1;
  std::uint32_t rate = 0;  ///< of 256: how often an optimizer's gradients are hit in a step
};

/// One step's gradients before any loss scale: [micro-batch][optimizer][element].
using MicroBatches = std::vector<std::vector<std::array<float, kElements>>>;

struct StepEvents {
  MicroBatches gradients;
  std::array<bool, 2> hit{};  ///< whether an optimizer's gradients hold an infinity or a NaN
  [[nodiscard]] bool any() const { return hit[0] || hit[1]; }
};

/// The state after a step.
struct Outcome {
  float scale = 0;
  int clean = 0;         ///< L3; torch's growth tracker
  bool skipped = false;  ///< no parameter changed
  int wait = 0;          ///< L3; Apex's hysteresis tracker
  int floored = 0;       ///< L4
};

/// An implementation of the loss scale.
struct ScalerUnderTest {
  virtual ~ScalerUnderTest() = default;
  virtual void reset(const ScheduleSettings& settings) = 0;
  virtual Outcome step(const StepEvents& events) = 0;
};

inline ScheduleSettings draw_settings(Draws& draws) {
  constexpr float kMantissas[] = {1.0f, 1.0f, 1.5f, 1.1f};
  constexpr float kGrowths[] = {2.0f, 1.5f, 1.25f, 1.1f, 4.0f};
  constexpr float kBackoffs[] = {0.5f, 0.25f, 0.75f, 0.9f, 0.3f};
  constexpr int kIntervals[] = {1, 2, 3, 5, 8, 13, 2000};
  constexpr std::optional<float> kClips[] = {std::nullopt, std::nullopt, 0.5f, 100.0f};
  constexpr std::uint32_t kRates[] = {0, 4, 32, 85, 224};
  ScheduleSettings s;
  s.initial = kMantissas[draws.below(4)];
  s.initial = std::ldexp(s.initial, static_cast<int>(draws.below(25)));
  s.growth = kGrowths[draws.below(5)];
  s.backoff = kBackoffs[draws.below(5)];
  s.interval = kIntervals[draws.below(7)];
  if (s.growth == 4.0f && s.interval == 1) s.interval = 2;  // or 60 steps could pass f32's range
  s.steps = 10 + static_cast<int>(draws.below(51));
  s.micro_batches = 1 + static_cast<int>(draws.below(4));
  s.clip = kClips[draws.below(4)];
  s.optimizers = 1 + static_cast<int>(draws.below(2));
  for (int i = 0; i < s.optimizers; ++i) draws.below(3);  // the class of torch's optimizer
  s.rate = kRates[draws.below(5)];
  return s;
}

/// Hysteresis, floor and ceiling for the schedules of record_hysteresis.py; follows draw_settings.
inline void draw_bounds(Draws& draws, ScheduleSettings& s) {
  s.hysteresis = 1 + static_cast<int>(draws.below(5));
  s.floor = std::ldexp(s.initial, -static_cast<int>(draws.below(6)));
  s.ceiling = std::ldexp(s.initial, static_cast<int>(draws.below(6)));
}

inline StepEvents draw_step(Draws& draws, const ScheduleSettings& s) {
  struct Hit {
    std::uint32_t micro_batch, optimizer, element;
    float value;
  };
  constexpr float kValues[] = {INFINITY, -INFINITY, NAN};
  StepEvents events;
  std::vector<Hit> hits;
  for (int optimizer = 0; optimizer < s.optimizers; ++optimizer) {
    events.hit[optimizer] = draws.below(256) < s.rate;
    if (!events.hit[optimizer]) continue;
    const int count = draws.below(4) == 0 ? 2 : 1;
    for (int i = 0; i < count; ++i) {
      const float value = kValues[draws.below(3)];
      const std::uint32_t micro_batch = draws.below(static_cast<std::uint32_t>(s.micro_batches));
      hits.push_back(
          {micro_batch, static_cast<std::uint32_t>(optimizer), draws.below(kElements), value});
    }
  }
  events.gradients.resize(static_cast<std::size_t>(s.micro_batches));
  for (auto& micro_batch : events.gradients) {
    micro_batch.resize(static_cast<std::size_t>(s.optimizers));
    for (auto& parameter : micro_batch) {
      const std::uint64_t word = draws.next();
      for (int e = 0; e < kElements; ++e)
        parameter[e] = static_cast<float>(static_cast<int>((word >> (8 * e)) & 31) - 16) / 16.0f;
    }
  }
  for (const Hit& hit : hits)
    events.gradients[hit.micro_batch][hit.optimizer][hit.element] = hit.value;
  return events;
}

/// 32 bits of all words that were added.
class Digest {
 public:
  void add(std::uint32_t high, std::uint32_t low) {
    state_ = mix(state_ + (static_cast<std::uint64_t>(high) << 32) + low);
  }
  /// What record_traces.py digests of its artifacts' schedules.
  void add_visible(const Outcome& outcome) {
    add(std::bit_cast<std::uint32_t>(outcome.scale), outcome.skipped ? 1 : 0);
  }
  /// What record_traces.py digests of the others.
  void add_outcome(const Outcome& outcome) {
    add(std::bit_cast<std::uint32_t>(outcome.scale),
        static_cast<std::uint32_t>(outcome.clean * 2 + (outcome.skipped ? 1 : 0)));
  }
  /// What record_hysteresis.py digests.
  void add_all(const Outcome& outcome) {
    add_outcome(outcome);
    add(static_cast<std::uint32_t>(outcome.wait), static_cast<std::uint32_t>(outcome.floored));
  }
  [[nodiscard]] std::uint32_t value() const { return static_cast<std::uint32_t>(state_ >> 32); }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace halftone::tests
