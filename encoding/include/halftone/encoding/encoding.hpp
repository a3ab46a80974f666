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
  enum class Kind : std::uint8_t { none, tensor, block, delayed, row, column };
  Kind kind = Kind::none;
  std::int32_t size = 0;         ///< of a block, in columns: along the last dimension
  std::int32_t rows = 1;         ///< of a block, along the dimension in front of that
  Element scale = Element::f32;  ///< what scales are held in
  std::int32_t history = 0;      ///< of delayed ones: steps whose largest magnitude counts (P72)
  std::int32_t margin = 0;       ///< likewise powers of two that are left above it
  /// Under two levels (P77) what the scale of all blocks is held in: a power of two, or f32 (P97).
  Element of_all = Element::f8e8m0;
  bool rotated = false;  ///< of blocks of 16: numbers are those times a fixed matrix (P105)

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

inline constexpr int kLargestBlock = 4096;                         // P51, of rows and of columns
inline constexpr int kRotated = 16;                                // P105
inline constexpr int kLongestHistory = 4096, kLargestMargin = 16;  // P72

/// Whether its scale is that of earlier steps, which a trainer keeps (P72).
constexpr bool is_delayed(const Encoding& encoding) {
  return encoding.scaling.kind == Scaling::Kind::delayed;
}

/// With the scale of the tensor as it is in the place of one of earlier steps (P74).
constexpr Encoding without_delay(Encoding encoding) {
  if (!is_delayed(encoding)) return encoding;
  encoding.scaling.kind = Scaling::Kind::tensor;
  encoding.scaling.history = encoding.scaling.margin = 0;
  return encoding;
}

/// Whether each vector along the last dimension, or along all others, has a scale (P89).
constexpr bool is_of_vectors(const Scaling& scaling) {
  return scaling.kind == Scaling::Kind::row || scaling.kind == Scaling::Kind::column;
}

/// Whether blocks have scales that are no powers of two, under one scale of the tensor (P77).
constexpr bool has_two_levels(const Scaling& scaling) {
  return scaling.kind == Scaling::Kind::block && scaling.scale == Element::f8e4m3;
}

/// Whether numbers are codes times factors of f32 (P87, P101), of two levels those of the upper one
/// (P97).
constexpr bool has_f32_scales(const Scaling& scaling) {
  if (scaling.kind == Scaling::Kind::none) return false;
  return (has_two_levels(scaling) ? scaling.of_all : scaling.scale) == Element::f32;
}
constexpr bool has_f32_scales(const Encoding& encoding) { return has_f32_scales(encoding.scaling); }

/// Likewise such by which products multiply sums (P88, P97): each block has one of its own under
/// one level.
constexpr bool factors_sums(const Scaling& scaling) {
  const bool is_block = scaling.kind == Scaling::Kind::block;
  return has_f32_scales(scaling) && (!is_block || has_two_levels(scaling));
}
constexpr bool factors_sums(const Encoding& encoding) { return factors_sums(encoding.scaling); }

/// Whether blocks are so many neighbours in a row or in a column as a rotation takes (P105).
constexpr bool may_be_rotated(const Scaling& scaling) {
  const bool is_in_row = scaling.rows == 1 && scaling.size == kRotated;
  const bool is_in_column = scaling.rows == kRotated && scaling.size == 1;
  return scaling.kind == Scaling::Kind::block && (is_in_row || is_in_column);
}

/// Of an optimizer's states alone (P86): blocks of a flat buffer, each with a scale in f32.
constexpr bool is_of_states(const Encoding& encoding) {
  const Scaling& scaling = encoding.scaling;
  const bool is_power = (scaling.size & (scaling.size - 1)) == 0;
  return (encoding.element == Element::f8e4m3 || encoding.element == Element::f8e5m2) &&
         scaling.kind == Scaling::Kind::block && scaling.rows == 1 && is_power &&
         scaling.size >= 32 && scaling.size <= 1024 && scaling.scale == Element::f32 &&
         !scaling.rotated && encoding.saturate;
}

/// Whether an element of more than 8 bits has less than f32's range, which a scale of f32 gives it
/// (P100).
constexpr bool gains_range(const ElementTraits& element) {
  return !element.integer && element.bits > 8 &&
         element.exponent_bits < traits(Element::f32).exponent_bits;
}

/// Of a scaled encoding, as `fault`.
constexpr const char* fault_of_scaling(const Encoding& encoding) {
  const Scaling& scaling = encoding.scaling;
  const ElementTraits& element = traits(encoding.element);
  const bool is_block = scaling.kind == Scaling::Kind::block;
  if (gains_range(element) && (is_block || !has_f32_scales(scaling))) {
    return "scales an element of 16 bits by powers of two, or in blocks (P100); state a scale of "
           "f32 for the tensor, for each row or for each column";
  }
  if (element.integer || is_scale(element) || (element.bits > 8 && !gains_range(element))) {
    return "scales an element of more than 8 bits (P51); state f8e4m3, f8e5m2, f6e3m2, f6e2m3 or "
           "f4e2m1";
  }
  if (has_two_levels(scaling) && encoding.element != Element::f4e2m1) {
    return "has scales of f8e4m3 on another element than f4e2m1 (P77); state them as f8e8m0";
  }
  if (scaling.of_all != Element::f8e8m0 &&
      (scaling.of_all != Element::f32 || !has_two_levels(scaling))) {
    return "states a scale of the tensor beside others than blocks' of f8e4m3, or in another "
           "format than f32 (P97); leave under out, or state block 16 f8e4m3 under f32";
  }
  if (scaling.scale != Element::f8e8m0 && !has_two_levels(scaling) && !has_f32_scales(scaling)) {
    return "has scales that are neither powers of two nor f32 (P51, P87); state them as f8e8m0 or "
           "f32";
  }
  const auto fits = [](std::int32_t extent) { return extent > 0 && extent <= kLargestBlock; };
  const bool is_one = scaling.rows == 1 && scaling.size == 1;
  if (is_block && (!fits(scaling.rows) || !fits(scaling.size) || is_one)) {
    return "has blocks of one element, or of more than 4096 rows or columns (P51); state as many "
           "as 32 or 128";
  }
  if (scaling.rotated && !may_be_rotated(scaling)) {
    return "rotates others than blocks of 16 in a row or a column (P105); state block 16 or block "
           "16 by 1, or leave rotated out";
  }
  const bool has_history = scaling.history >= 1 && scaling.history <= kLongestHistory;
  if (is_delayed(encoding) ? !has_history : scaling.history != 0) {
    return "has a history of fewer than 1 or more than 4096 steps (P72); state as many as 1024";
  }
  if (scaling.margin < 0 || scaling.margin > (is_delayed(encoding) ? kLargestMargin : 0)) {
    return "has a margin outside of 0 to 16 powers of two (P72); leave margin out, or state 1";
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

/// What holds every number of the encoding: of scaled elements bf16 (P52), or f32 where scales are
/// no powers of two (P88, P101).
constexpr Element element_of_numbers(const Encoding& encoding) {
  if (has_f32_scales(encoding)) return Element::f32;
  return is_scaled(encoding) ? Element::bf16 : encoding.element;
}

/// Whether rounding a value of `from` leaves it as it is: to saturate takes infinities.
constexpr bool keeps(const Encoding& to, Element from) {
  return !is_scaled(to) && holds(to.element, from) && !(to.saturate && traits(from).has_infinity);
}

}  // namespace halftone::encoding
