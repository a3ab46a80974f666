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
  std::uint32_t nan;  ///< the code that every NaN is rounded to (F3)
  bool stored;        ///< whether rules may store it; otherwise it is computed in alone
  bool integer;
  bool has_sign;  ///< of an integer: whether its highest bit is one
};

/// In the order of Element.
inline constexpr ElementTraits kElementTraits[] = {
    {"f32", 32, 8, 23, 127, true, 0x7fffffff, true, false, true},
    {"tf32", 32, 8, 10, 127, true, 0x7fffffff, false, false, true},
    {"f16", 16, 5, 10, 15, true, 0x7fff, true, false, true},
    {"bf16", 16, 8, 7, 127, true, 0x7fff, true, false, true},
    {"i32", 32, 0, 0, 0, false, 0, true, true, true},
    {"u8", 8, 0, 0, 0, false, 0, true, true, false},
    {"i8", 8, 0, 0, 0, false, 0, true, true, true},
    {"u16", 16, 0, 0, 0, false, 0, true, true, false},
    {"i16", 16, 0, 0, 0, false, 0, true, true, true},
    {"i64", 64, 0, 0, 0, false, 0, true, true, true},
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

/// The exponents of the least normal, of the least subnormal and of the largest number.
constexpr int least_normal(const ElementTraits& element) { return 1 - element.bias; }
constexpr int least_subnormal(const ElementTraits& element) {
  return least_normal(element) - element.mantissa_bits;
}
constexpr int largest_exponent(const ElementTraits& element) {
  return (1 << element.exponent_bits) - 1 - element.bias - (element.has_infinity ? 1 : 0);
}

/// Whether every value of float `from` is one of float `to`.
constexpr bool contains(const ElementTraits& to, const ElementTraits& from) {
  return to.mantissa_bits >= from.mantissa_bits && least_subnormal(to) <= least_subnormal(from) &&
         largest_exponent(to) >= largest_exponent(from) && (to.has_infinity || !from.has_infinity);
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
