// SPDX-License-Identifier: Apache-2.0
// Conversions between f32 and the narrower formats, in integers: F1 to F4 of
// docs/spec/precision.md.
#pragma once

#include <cstdint>
#include <span>

#include "halftone/description/description.hpp"
#include "halftone/reference/bounded.hpp"

namespace halftone::reference {

/// What a value is rounded to, and how.
struct RoundTo {
  description::Element format = description::Element::f32;
  description::Rounding rounding = description::Rounding::nearest_even;
  bool saturate = false;
  encoding::Scaling scaling = {};  ///< of operands alone (P51)

  bool operator==(const RoundTo&) const = default;
};

/// F2, F3: x rounded to the format, which is no integer. Every NaN becomes 7fffffff, and the
/// largest number where the format has none. Throws std::invalid_argument of what is stochastic.
/// What is scaled is rounded so once it is divided by its group's scale.
[[nodiscard]] float round(RoundTo to, float x);

/// F6: up or down as `word`, 32 random bits, decides. Throws std::invalid_argument unless `to` is
/// stochastic, and of f8e8m0, which rules do not state.
[[nodiscard]] float round_by(std::uint32_t word, RoundTo to, float x);

/// Exact evaluation knows no formats.
[[nodiscard]] inline double round(RoundTo, double x) { return x; }
[[nodiscard]] inline double round_by(std::uint32_t, RoundTo, double x) { return x; }

/// Throws std::domain_error when the declared value may overflow the format, since then nothing
/// bounds it.
[[nodiscard]] Bounded round(RoundTo to, Bounded x);
[[nodiscard]] inline Bounded round_by(std::uint32_t, RoundTo to, Bounded x) { return round(to, x); }

/// P51: the scale of a group of numbers that are rounded to the scaled format; of bounded ones the
/// largest that it may be.
[[nodiscard]] float scale_of(RoundTo to, std::span<const float> group);
[[nodiscard]] inline double scale_of(RoundTo, std::span<const double>) { return 1; }
[[nodiscard]] double scale_of(RoundTo to, std::span<const Bounded> group);

/// P77: likewise the scale of a whole tensor whose blocks have scales of their own, and that of
/// such a block with its tensor's in it.
[[nodiscard]] float scale_of_all(RoundTo to, std::span<const float> values);
[[nodiscard]] float scale_of_block(RoundTo to, float of_all, std::span<const float> group);
[[nodiscard]] inline double scale_of_all(RoundTo, std::span<const double>) { return 1; }
[[nodiscard]] inline double scale_of_block(RoundTo, double, std::span<const double>) { return 1; }
[[nodiscard]] double scale_of_all(RoundTo to, std::span<const Bounded> values);
[[nodiscard]] double scale_of_block(RoundTo to, double of_all, std::span<const Bounded> group);

/// P87, P97: whether numbers are codes times scales of f32, by which products multiply their sums
/// (P88).
[[nodiscard]] inline bool has_f32_scales(const RoundTo& to) {
  return encoding::has_f32_scales(to.scaling);
}

/// P87: what a group of numbers is multiplied by before it is rounded to such a format; of one
/// whose blocks have scales of their own S_g, of all numbers (P97).
[[nodiscard]] float multiplier_of(RoundTo to, std::span<const float> group);

/// P97: the scale of a block under the multiplier of all numbers.
[[nodiscard]] float code_scale_of_block(RoundTo to, float of_all, std::span<const float> group);

/// P87: the number that stands for x, of a group with such a scale: x itself, with what rounding
/// may take or add.
[[nodiscard]] Bounded number_under_f32(RoundTo to, std::span<const Bounded> group, Bounded x);

/// P73: the scale after a step under which numbers are rounded to the delayed format, `largest`,
/// which is positive and finite, being the largest magnitude of the steps that count; of f32 what
/// numbers are multiplied by (P87).
[[nodiscard]] float delayed_scale(RoundTo to, float largest);

/// The code of round(to, x) in a float of at most 16 bits; F3's for every NaN.
[[nodiscard]] std::uint16_t encode(RoundTo to, float x);

/// F4: the value of such a code; 7fffffff for every NaN.
[[nodiscard]] float decode(description::Element format, std::uint16_t code);

}  // namespace halftone::reference
