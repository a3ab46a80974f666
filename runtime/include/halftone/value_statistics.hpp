// SPDX-License-Identifier: Apache-2.0
// What the values inside a run are like, and what roundings did to them (P94 and P95 of
// docs/spec/precision.md), now and then while it goes on:
//
//   ValueSampling sampling;  // 2 % of the time
//   for (...) {
//     trainer.step(features, target);
//     log.step(trainer);
//     if (const auto sample = sampling.step(trainer)) log.values(*sample);
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halftone/inspection.hpp"
#include "halftone/trainer.hpp"

namespace halftone {

/// Of what one operation of a run left (InspectedValue). Gradients are times the loss scale.
struct ValueStatistics {
  std::string layer = {}, op = {}, pass = {}, role = {};  ///< as InspectedValue has them

  std::int64_t elements = 0, zeros = 0, infinite = 0, not_a_number = 0;
  double least = 0.0, greatest = 0.0;  ///< magnitudes that are finite and not 0; both 0 without any
  /// How many magnitudes are in [2^e, 2^(e+1)), for every e from `first_exponent` on.
  std::int64_t first_exponent = 0;
  std::vector<std::int64_t> exponents = {};

  /// Of a rounding, else empty: the format, and the rule that decided it (empty: the default).
  std::string format = {}, rule = {};
  /// Of a rounding: the root of the sum of squared differences over that of squares before, of
  /// elements that are finite before and after; and how many became 0 that were not, became
  /// infinite or NaN that were finite, and are the format's largest number but were above it. Where
  /// all elements have one scale, that number is the greatest of them; of several scales none are
  /// counted as saturated.
  double error = 0.0;
  std::int64_t flushed = 0, overflowed = 0, saturated = 0;
  /// Of a rounding: as `first_exponent` and `exponents`, of what it rounded.
  std::int64_t first_exponent_before = 0;
  std::vector<std::int64_t> exponents_before = {};

  /// Of all elements those that overflowed or saturated, and of those that were not 0 before those
  /// that became 0: from 0 to 1.
  [[nodiscard]] double overflowed_share() const {
    return share_of(overflowed + saturated, elements);
  }
  [[nodiscard]] double flushed_share() const {
    return share_of(flushed, elements - (zeros - flushed));
  }

 private:
  static double share_of(std::int64_t count, std::int64_t of) {
    return of > 0 ? static_cast<double>(count) / static_cast<double>(of) : 0.0;
  }
};

[[nodiscard]] ValueStatistics statistics_of(const InspectedValue& value);

/// Of every operation of what the trainer ran last, in the order of execution. Costs a step and
/// more memory while it runs, and throws Error, as Trainer::inspect() does.
[[nodiscard]] std::vector<ValueStatistics> value_statistics(const Trainer& trainer);

/// What the roundings of a step did.
struct ValueSample {
  std::int64_t step = 0;                     ///< Statistics::steps
  std::string stage = {};                    ///< Statistics::stage
  float loss_scale = 1.0f;                   ///< likewise
  double seconds = 0.0;                      ///< that it took to make
  std::vector<ValueStatistics> values = {};  ///< roundings, in the order of execution
};

/// The roundings among value_statistics().
[[nodiscard]] ValueSample sample_values(const Trainer& trainer);

/// A sample is made where both allow it; 0 says nothing, and one of them is above it. With a share
/// of the time, which steps are sampled depends on the machine.
struct ValueSamplingOptions {
  std::int64_t every = 0;  ///< steps, the first one of them
  /// Of the time that goes by, the most that samples take after the first: the longer one takes,
  /// the rarer they are. Where a CPU computes, of the process's processor time, too: beside other
  /// programs a sample may be over before they get their turn, which steps then wait for.
  double share_of_time = 0.015;
};

/// When samples are made. They change nothing of the run; a GPU is waited for.
class ValueSampling {
 public:
  /// Throws Error for a negative number of steps, a share outside [0, 1], or both at 0.
  explicit ValueSampling(const ValueSamplingOptions& options = {});

  /// After every step. Throws Error as Trainer::inspect() does.
  [[nodiscard]] std::optional<ValueSample> step(const Trainer& trainer);

 private:
  /// In seconds: what has gone by.
  struct Time {
    double clock = 0.0, processor = 0.0;
  };
  [[nodiscard]] static Time now();
  [[nodiscard]] bool is_due();
  [[nodiscard]] double seconds_to_wait(double since) const;

  ValueSamplingOptions options_;
  std::int64_t calls_ = 0;
  std::optional<Time> last_;  ///< the end of the last sample
  Time took_;                 ///< by the last sample
  std::int64_t last_call_ = 0;
  std::int64_t next_look_ = 0;  ///< at the clock, by calls: looks cost, too, where steps are short
  bool is_on_chip_ = false;     ///< where the trainer's steps are computed
};

}  // namespace halftone
