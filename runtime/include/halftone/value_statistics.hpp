// SPDX-License-Identifier: Apache-2.0
// What the values inside a run are like, and what roundings did to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halftone/inspection.hpp"
#include "halftone/trainer.hpp"

namespace halftone {

/// Of what one operation of a run left (InspectedValue). Gradients are times the loss scale.
struct ValueStatistics {
  std::string layer, op, pass, role;  ///< as InspectedValue has them

  std::int64_t elements = 0, zeros = 0, infinite = 0, not_a_number = 0;
  double least = 0.0, greatest = 0.0;  ///< magnitudes that are finite and not 0; both 0 without any
  /// How many magnitudes are in [2^e, 2^(e+1)), for every e from `first_exponent` on.
  std::int64_t first_exponent = 0;
  std::vector<std::int64_t> exponents = {};

  /// Of a rounding, else empty: the format, and the rule that decided it (empty: the default).
  std::string format = {}, rule = {};
  /// Of a rounding: the root of the sum of squared differences over that of squares before, of
  /// elements that are finite before and after; and how many became 0 that were not, became
  /// infinite or NaN that were finite, and are the format's largest number but were above it.
  double error = 0.0;
  std::int64_t flushed = 0, overflowed = 0, saturated = 0;
};

[[nodiscard]] ValueStatistics statistics_of(const InspectedValue& value);

/// Of every operation of what the trainer ran last, in the order of execution. Costs a step and
/// more memory while it runs, and throws Error, as Trainer::inspect() does.
[[nodiscard]] std::vector<ValueStatistics> value_statistics(const Trainer& trainer);

}  // namespace halftone
