// SPDX-License-Identifier: Apache-2.0
// The one table of elements: their words, widths and codes. What depends on an element asks here.
#pragma once

#include "halftone/encoding/element.hpp"

namespace halftone::encoding {

/// A code of a float is sign, exponent, mantissa from the highest bit of `bits` down; what is left
/// below them is zero.
struct ElementTraits {
  const char* word;   ///< in every text form
  int bits;           ///< that an element takes in memory
  int exponent_bits;  ///< 0 for integers, as all that follows but the last three
  int mantissa_bits;  ///< without the leading one, which normal numbers do not store
  int bias;           ///< of the exponent
  bool has_infinity;
  std::uint32_t nan;  ///< the code that every NaN is rounded to (F3); 0 where there is none
  bool computed;      ///< whether rules may state it
  bool stored;        ///< whether tensors may be held in it
  bool integer;
  bool has_sign;  ///< whether the highest bit is one
};

/// In the order of Element.
inline constexpr ElementTraits kElementTraits[] = {
    {"f32", 32, 8, 23, 127, true, 0x7fffffff, true, true, false, true},
    {"tf32", 32, 8, 10, 127, true, 0x7fffffff, true, false, false, true},
    {"f16", 16, 5, 10, 15, true, 0x7fff, true, true, false, true},
    {"bf16", 16, 8, 7, 127, true, 0x7fff, true, true, false, true},
    {"i32", 32, 0, 0, 0, false, 0, false, true, true, true},
    {"u8", 8, 0, 0, 0, false, 0, false, true, true, false},
    {"i8", 8, 0, 0, 0, false, 0, false, true, true, true},
    {"u16", 16, 0, 0, 0, false, 0, false, true, true, false},
    {"i16", 16, 0, 0, 0, false, 0, false, true, true, true},
    {"i64", 64, 0, 0, 0, false, 0, false, true, true, true},
    {"f8e4m3", 8, 4, 3, 7, false, 0x7f, true, true, false, true},
    {"f8e5m2", 8, 5, 2, 15, true, 0x7f, true, true, false, true},
    {"f8e8m0", 8, 8, 0, 127, false, 0xff, false, false, false, false},
    {"f6e3m2", 6, 3, 2, 3, false, 0, false, false, false, true},
    {"f6e2m3", 6, 2, 3, 1, false, 0, false, false, false, true},
    {"f4e2m1", 4, 2, 1, 1, false, 0, false, false, false, true},
};
static_assert(sizeof kElementTraits == kElements * sizeof kElementTraits[0]);

constexpr const ElementTraits& traits(Element element) {
  return kElementTraits[static_cast<int>(element)];
}

constexpr const char* word(Element element) { return traits(element).word; }

/// Whether an f32 is rounded on its way there.
constexpr bool is_narrow(Element element) {
  return !traits(element).integer &&
         traits(element).mantissa_bits < traits(Element::f32).mantissa_bits;
}

/// Whether inputs may be delivered in it (D8): floats are those that hosts have numbers of.
constexpr bool is_delivered(Element element) {
  const ElementTraits& of = traits(element);
  return of.stored && (of.integer || of.bits >= 16);
}

/// Without a mantissa there is no zero to take the least exponent's place, and no subnormal number:
/// codes are exponents.
constexpr bool is_scale(const ElementTraits& element) {
  return !element.integer && element.mantissa_bits == 0;
}

/// The exponents of the least normal, of the least subnormal and of the largest number.
constexpr int least_normal(const ElementTraits& element) {
  return (is_scale(element) ? 0 : 1) - element.bias;
}
constexpr int least_subnormal(const ElementTraits& element) {
  return least_normal(element) - element.mantissa_bits;
}
constexpr int largest_exponent(const ElementTraits& element) {
  const bool ends_early = element.has_infinity || is_scale(element);  // in infinity and NaN alone
  return (1 << element.exponent_bits) - 1 - element.bias - (ends_early ? 1 : 0);
}

/// What the codes of neighbouring numbers differ by.
constexpr std::uint32_t last_place(const ElementTraits& element) {
  const int sign = element.has_sign ? 1 : 0;
  return 1u << (element.bits - sign - element.exponent_bits - element.mantissa_bits);
}

/// The codes of what nearest_even makes of all that exceeds the largest number (F2), which is
/// infinity, else NaN, else the largest number again; and of that number.
constexpr std::uint32_t code_beyond(const ElementTraits& element) {
  const std::uint32_t all_ones = (1u << element.exponent_bits) - 1;
  if (element.has_infinity) return (all_ones << element.mantissa_bits) * last_place(element);
  return element.nan != 0 ? element.nan
                          : (1u << (element.exponent_bits + element.mantissa_bits)) - 1;
}
constexpr std::uint32_t code_of_largest(const ElementTraits& element) {
  const bool is_apart = element.has_infinity || element.nan != 0;
  return code_beyond(element) - (is_apart ? last_place(element) : 0);
}

/// Whether every value of float `from` is one of float `to`.
constexpr bool contains(const ElementTraits& to, const ElementTraits& from) {
  return to.mantissa_bits >= from.mantissa_bits && least_subnormal(to) <= least_subnormal(from) &&
         largest_exponent(to) >= largest_exponent(from) &&
         (to.has_infinity || !from.has_infinity) && (to.has_sign || !from.has_sign) &&
         (to.nan != 0 || from.nan == 0);
}

/// Whether f32 has every number of an integer element.
constexpr bool is_exact_in_f32(Element element) {
  return traits(element).integer && traits(element).bits <= traits(Element::f32).mantissa_bits + 1;
}

/// Whether a conversion changes no value (F1, F4).
constexpr bool holds(Element to, Element from) {
  const bool are_floats = !traits(to).integer && !traits(from).integer;
  return to == from || (are_floats && contains(traits(to), traits(from)));
}

/// The bytes that `count` elements of `bits` each take one behind another: the last one is filled
/// up.
constexpr std::int64_t bytes_of_bits(int bits, std::int64_t count) {
  return count / 8 * bits + (count % 8 * bits + 7) / 8;  // no product exceeds the bytes
}

constexpr std::int64_t storage_bytes(Element element, std::int64_t count) {
  return bytes_of_bits(traits(element).bits, count);
}

}  // namespace halftone::encoding
