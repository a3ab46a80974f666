// SPDX-License-Identifier: Apache-2.0
// What a user says of inputs, parameters and states, in a file.
#ifndef HALFTONE_AUDIT_RANGES_H
#define HALFTONE_AUDIT_RANGES_H

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "codegen/audit/Interval.h"

namespace halftone::audit {

/// Of one tensor: the least and the largest of its elements and, where they are known, the largest
/// sum of |x| over its last dimension, over all dimensions but the first, and over all but the
/// last.
struct TensorRange {
  Interval range;
  double sumOfLast = kInfinity, sumBehindFirst = kInfinity, sumBeforeLast = kInfinity;
  bool isWhole = false; ///< whether its numbers are integers, as those of a mask
};

struct Ranges {
  std::map<std::string, TensorRange> tensors;    ///< by the names of inputs, parameters and states
  std::map<std::string, double> leastDeviations; ///< of normalizations, by layer
  std::map<std::string, Interval> assumed;       ///< of values, by the names of layers
  double lossScale = 0;                          ///< 0 where the file says nothing
  std::map<std::string, size_t> lines;           ///< of what is named, the first, from 1
};

/// A line each, empty ones and such that start with # left out:
///
///   NAME LOW HIGH [SUM_OF_LAST SUM_BEHIND_FIRST SUM_BEFORE_LAST]
///   NAME LOW HIGH whole
///   assume LAYER LOW HIGH
///   deviation LAYER LEAST
///   loss_scale SCALE
///
/// On failure the sentence that says what is wrong, with its line.
std::variant<Ranges, std::string> parseRanges(std::string_view text, const std::string &file);

} // namespace halftone::audit

#endif
