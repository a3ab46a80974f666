// SPDX-License-Identifier: Apache-2.0
// How a tensor stands for numbers: what each element is, what scales them, and how a number that it
// does not hold is rounded.
#pragma once

#include "halftone/encoding/element.hpp"

namespace halftone::encoding {

enum class Rounding : std::uint8_t { nearest_even, toward_zero };  // F2
inline constexpr const char* kRoundingWords[] = {"nearest_even", "toward_zero"};

/// Which elements share a scale: a number equals its element times its scale.
struct Scaling {
  enum class Kind : std::uint8_t { none, tensor, block };
  Kind kind = Kind::none;
  std::int32_t size = 0;         ///< of a block, in elements
  std::int32_t axis = -1;        ///< that blocks lie along; counted from the last dimension, -1
  Element scale = Element::f32;  ///< what scales are held in

  bool operator==(const Scaling&) const = default;
};

struct Encoding {
  Element element = Element::f32;
  Scaling scaling;
  Rounding rounding = Rounding::nearest_even;
  bool saturate = false;  ///< what exceeds the largest number becomes it, not infinity

  constexpr Encoding() = default;
  /// Unscaled.
  constexpr Encoding(Element element,  // NOLINT: implicit, an element alone is an encoding
                     Rounding rounding = Rounding::nearest_even)
      : element(element), rounding(rounding) {}

  bool operator==(const Encoding&) const = default;
};

/// What follows the name of what states an encoding that nothing computes with; null when all is
/// well.
constexpr const char* fault(const Encoding& encoding) {
  if (encoding.scaling != Scaling{}) {
    return "scales its elements, which nothing computes with; state an element alone";
  }
  return encoding.saturate
             ? "saturates, but what exceeds an element's range becomes infinite (F2); "
               "leave saturate out"
             : nullptr;
}

}  // namespace halftone::encoding
