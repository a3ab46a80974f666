// SPDX-License-Identifier: Apache-2.0
// How a tensor stands for numbers: what each element is, what scales them, and how a number that it
// does not hold is rounded.
#pragma once

#include "halftone/encoding/traits.hpp"

namespace halftone::encoding {

enum class Rounding : std::uint8_t { nearest_even, toward_zero, stochastic };  // F2, F6
inline constexpr const char* kRoundingWords[] = {"nearest_even", "toward_zero", "stochastic"};

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
  bool saturate = false;  ///< what exceeds the largest number becomes it (F2)

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
  const ElementTraits& element = traits(encoding.element);
  if (!element.computed && !element.integer) {
    return "is of an element that is converted alone, not computed with; state f8e4m3 or f8e5m2";
  }
  if (is_narrow(encoding.element)) return nullptr;
  if (encoding.saturate) {
    return "saturates, but nothing is rounded to its element (F2); leave saturate out";
  }
  return encoding.rounding == Rounding::stochastic
             ? "rounds stochastically, but nothing is rounded to its element (F6); leave "
               "stochastic out"
             : nullptr;
}

/// Whether rounding a value of `from` leaves it as it is: to saturate takes infinities.
constexpr bool keeps(const Encoding& to, Element from) {
  return holds(to.element, from) && !(to.saturate && traits(from).has_infinity);
}

}  // namespace halftone::encoding
