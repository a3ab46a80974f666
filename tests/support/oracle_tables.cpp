// SPDX-License-Identifier: Apache-2.0
// The definition itself, for formats of at most 8 bits and tf32: tables of what codes stand for,
// from the exponent's and the mantissa's bits of the formats' specifications, in which the
// neighbours of a number are looked up. No arithmetic on codes, and no code of anybody's.
#include <algorithm>
#include <cmath>
#include <optional>

#include "oracles.hpp"

namespace halftone::tests {
namespace {

using description::Element;
using description::Rounding;

/// Magnitudes by their codes, the last one the number behind the largest.
struct Table {
  std::vector<double> values;
  std::uint32_t beyond;     ///< the code of what exceeds the largest: infinity or NaN
  std::uint32_t sign_code;  ///< 0 where there are no signs
  bool has_beyond;          ///< else numbers saturate
  bool has_even;            ///< else middles belong to the larger neighbour

  [[nodiscard]] std::uint32_t largest() const {
    return static_cast<std::uint32_t>(values.size()) - 2;
  }

  /// F2 and F5 of docs/spec/precision.md, but for NaN.
  [[nodiscard]] std::uint32_t round(const Mode& mode, float x) const {
    const double magnitude = std::fabs(static_cast<double>(x));
    const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
    std::uint32_t code =
        above == values.begin() ? 0 : static_cast<std::uint32_t>(above - values.begin()) - 1;
    if (mode.rounding == Rounding::toward_zero) {
      if (!std::isinf(x)) code = std::min(code, largest());
    } else if (code <= largest()) {
      const double down = magnitude - values[code], up = values[code + 1] - magnitude;
      if (up < down || (up == down && (!has_even || code % 2 == 1))) ++code;
    }
    if (code > largest()) code = mode.saturate || !has_beyond ? largest() : beyond;
    return std::signbit(x) ? code | sign_code : code;
  }
};

/// Codes up to `largest`, of so many bits, with the usual bias and subnormal numbers.
Table table_of(int exponent_bits, int mantissa_bits, std::uint32_t largest, bool has_beyond) {
  Table table{.values = {},
              .beyond = largest + 1,
              .sign_code = 1u << (exponent_bits + mantissa_bits),
              .has_beyond = has_beyond,
              .has_even = true};
  const int bias = (1 << (exponent_bits - 1)) - 1;
  for (std::uint32_t code = 0; code <= largest + 1; ++code) {
    const int field = static_cast<int>(code >> mantissa_bits);
    const double fraction =
        std::ldexp(code & ((1u << mantissa_bits) - 1), -mantissa_bits) + (field == 0 ? 0 : 1);
    table.values.push_back(std::ldexp(fraction, std::max(field, 1) - bias));
  }
  return table;
}

std::optional<Table> table_of(Element format) {
  switch (format) {
    case Element::tf32:
      return table_of(8, 10, 0x3fbff, true);
    case Element::f8e4m3:
      return table_of(4, 3, 0x7e, true);
    case Element::f8e5m2:
      return table_of(5, 2, 0x7b, true);
    case Element::f6e3m2:
      return table_of(3, 2, 0x1f, false);
    case Element::f6e2m3:
      return table_of(2, 3, 0x1f, false);
    case Element::f4e2m1:
      return table_of(2, 1, 0x7, false);
    case Element::f8e8m0: {
      Table table{
          .values = {}, .beyond = 0xff, .sign_code = 0, .has_beyond = true, .has_even = false};
      for (int code = 0; code <= 0xff; ++code) table.values.push_back(std::ldexp(1.0, code - 127));
      return table;
    }
    default:
      return {};
  }
}

// `shift` puts tf32's 19 bits where an f32 has them.
template <class Code>
Encode<Code> encode(const Mode& mode, int shift) {
  const std::optional<Table> table = table_of(mode.format);
  if (!table) return {};
  return [mode, table = *table, shift](const float* in, Code* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = static_cast<Code>(table.round(mode, in[i]) << shift);
    }
  };
}

}  // namespace

Encode<std::uint16_t> tables_encode(const Mode& mode) {
  return mode.format == Element::tf32 ? Encode<std::uint16_t>{} : encode<std::uint16_t>(mode, 0);
}

Encode<std::uint32_t> tables_encode_tf32(const Mode& mode) {
  return encode<std::uint32_t>(mode, 13);
}

}  // namespace halftone::tests
