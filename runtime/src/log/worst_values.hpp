// SPDX-License-Identifier: Apache-2.0
// What of a sample's roundings fits into a line or a gauge: the worst.
#pragma once

#include <string>

#include "halftone/value_statistics.hpp"

namespace halftone {

struct WorstValue {
  double figure = 0.0;  ///< 0 where no value has more
  std::string value;    ///< "gradient of fc1 in f16"; empty where there is none
};

struct WorstValues {
  WorstValue overflowed, flushed;  ///< shares, of ValueStatistics
  WorstValue error;
};

inline WorstValues worst_of(const ValueSample& sample) {
  WorstValues worst;
  const auto take = [](WorstValue& into, double figure, const ValueStatistics& value) {
    if (!(figure > into.figure)) return;
    into = {figure, value.role + " of " + value.layer + " in " + value.format};
  };
  for (const ValueStatistics& value : sample.values) {
    take(worst.overflowed, value.overflowed_share(), value);
    take(worst.flushed, value.flushed_share(), value);
    take(worst.error, value.error, value);
  }
  return worst;
}

}  // namespace halftone
