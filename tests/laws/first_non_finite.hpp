// SPDX-License-Identifier: Apache-2.0
// Where the first value of a step that is not finite comes from, read off the reference: its
// forward values, and the contributions to gradients that its operations make one after another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halftone/reference/evaluator.hpp"

namespace halftone::tests {

inline constexpr std::int64_t kUnknown = -1;

struct Location {
  std::string layer, op, pass, role;
  std::int64_t element = 0;  ///< kUnknown inside a loss whose rows the reference does not show
  float value = 0.0f;
  /// Where a rounding made it so: the format, and the element before. Otherwise "" and `value`.
  std::string format;
  float before = 0.0f;
};

/// What a step was given. With gradients of outputs the losses are left out.
struct Given {
  const reference::Symbols& symbols;
  const reference::State<float>& state;
  const reference::Inputs<float>& inputs;
  const reference::Tensors<float>& external;
};

/// Empty when all values are finite. More than one where one value is rounded to several formats
/// whose order no specification states.
[[nodiscard]] std::vector<Location> first_non_finite(const reference::Declared& reference,
                                                     const Given& given);

}  // namespace halftone::tests
