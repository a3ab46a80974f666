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

constexpr bool is_scaled(const Encoding& encoding) {
  return encoding.scaling.kind != Scaling::Kind::none;
}

inline constexpr int kLeastBlock = 2, kLargestBlock = 4096;  // P51

/// Of a scaled encoding, as `fault`.
constexpr const char* fault_of_scaling(const Encoding& encoding) {
  const Scaling& scaling = encoding.scaling;
  const ElementTraits& element = traits(encoding.element);
  if (element.integer || element.bits > 8 || is_scale(element)) {
    return "scales an element of more than 8 bits (P51); state f8e4m3, f8e5m2, f6e3m2, f6e2m3 or "
           "f4e2m1";
  }
  if (element.bits < 8 && encoding.rounding != Rounding::nearest_even) {
    return "rounds an element of fewer than 8 bits by other means than to the nearest (P53); leave "
           "rounding out";
  }
  if (scaling.scale != Element::f8e8m0) {
    return "has scales that are no powers of two (P51); state them as f8e8m0";
  }
  const bool is_block = scaling.kind == Scaling::Kind::block;
  if (is_block && (scaling.size < kLeastBlock || scaling.size > kLargestBlock)) {
    return "has blocks of fewer than 2 or more than 4096 elements (P51); state as many as 32 or 128";
  }
  if (scaling.axis != -1) {
    return "has blocks across rows (P51); leave axis out, so that they lie along the last dimension";
  }
  if (!encoding.saturate) return "is scaled and does not saturate (P51); add saturate";
  return nullptr;
}

/// What follows the name of what states an encoding that nothing computes with; null when all is
/// well.
constexpr const char* fault(const Encoding& encoding) {
  if (is_scaled(encoding)) return fault_of_scaling(encoding);
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

/// What holds every number of the encoding: of scaled elements bf16 (P52).
constexpr Element element_of_numbers(const Encoding& encoding) {
  return is_scaled(encoding) ? Element::bf16 : encoding.element;
}

/// Whether rounding a value of `from` leaves it as it is: to saturate takes infinities.
constexpr bool keeps(const Encoding& to, Element from) {
  return !is_scaled(to) && holds(to.element, from) &&
         !(to.saturate && traits(from).has_infinity);
}

}  // namespace halftone::encoding
