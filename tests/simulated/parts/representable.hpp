// SPDX-License-Identifier: Apache-2.0
// Formats by definition: the list of their values from the formula (1 + m / 2^p) * 2^e, and
// rounding by search in it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "formats.hpp"

namespace halftone::tests {

using simulator::NumberFormat;
using simulator::Rounding;

struct Definition {
  NumberFormat format;
  const char* name;
  int exponent_bits, mantissa_bits;
  bool has_infinity;
  std::uint32_t nan;     // 0: none
  std::uint32_t values;  // codes 0 .. values - 1 are finite and not negative
};

// OCP OFP8 1.0, OCP MX 1.0, IEEE 754; the number of finite values per sign is counted by hand.
inline constexpr Definition kDefinitions[] = {
    {NumberFormat::f16, "f16", 5, 10, true, 0x7fff, 31 * 1024},
    {NumberFormat::bf16, "bf16", 8, 7, true, 0x7fff, 255 * 128},
    {NumberFormat::tf32, "tf32", 8, 10, true, 0x7fffffff, 255 * 1024},
    {NumberFormat::e4m3, "e4m3", 4, 3, false, 0x7f, 127},
    {NumberFormat::e5m2, "e5m2", 5, 2, true, 0x7f, 31 * 4},
    {NumberFormat::e2m1, "e2m1", 2, 1, false, 0, 8},
    {NumberFormat::e3m2, "e3m2", 3, 2, false, 0, 32},
    {NumberFormat::e2m3, "e2m3", 2, 3, false, 0, 32},
};

inline int code_shift(const Definition& d) { return d.format == NumberFormat::tf32 ? 13 : 0; }
inline std::uint32_t sign_of(const Definition& d) {
  return 1u << (d.exponent_bits + d.mantissa_bits + code_shift(d));
}

// Values of codes 0, 1, 2, ...; ascending.
inline std::vector<double> finite_values(const Definition& d) {
  std::vector<double> values;
  const int bias = (1 << (d.exponent_bits - 1)) - 1;
  const double steps = std::exp2(d.mantissa_bits);
  for (std::uint32_t code = 0; code < d.values; ++code) {
    const int field = static_cast<int>(code >> d.mantissa_bits);
    const double fraction = (code & ((1u << d.mantissa_bits) - 1)) / steps;
    values.push_back(field ? (1 + fraction) * std::exp2(field - bias)
                           : fraction * std::exp2(1 - bias));
  }
  return values;
}

// One format's definition and values.
template <NumberFormat kFormat>
struct Listed {
  const Definition* definition = nullptr;
  std::vector<double> values;
  Listed() {
    for (const Definition& d : kDefinitions)
      if (d.format == kFormat) definition = &d, values = finite_values(d);
  }
  static const Listed& get() {
    static const Listed made;
    return made;
  }
};

// f32 inputs around every value and every midpoint of neighbours, and past the largest; both signs.
inline std::vector<float> boundaries(const std::vector<double>& values, std::size_t stride) {
  std::vector<float> inputs;
  const auto around = [&](double x) {
    float f = static_cast<float>(x);
    for (int i = 0; i < 2; ++i) f = std::nextafter(f, -1.0f);
    for (int i = 0; i < 5; ++i, f = std::nextafter(f, INFINITY))
      inputs.insert(inputs.end(), {f, -f});
  };
  for (std::size_t i = 0; i + 1 < values.size(); i += stride) {
    around(values[i]);
    around((values[i] + values[i + 1]) / 2);
  }
  const double last = values.back(), step = last - values[values.size() - 2];
  for (const double x : {last, last + step / 2, last + step, last * 2}) around(x);
  for (const std::uint32_t special : {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00001u,
                                      0x7f800001u, 0x7f7fffffu, 1u, 0x80000001u})
    inputs.push_back(std::bit_cast<float>(special));
  return inputs;
}

// The code that PTX promises for x, found by comparing x with the format's values.
inline std::uint32_t rounded_code(const Definition& d, const std::vector<double>& values, double x,
                                  simulator::Encoding how) {
  const std::uint32_t largest = (d.values - 1) << code_shift(d);
  if (std::isnan(x)) return d.nan ? d.nan : largest;
  const bool negative = std::signbit(x);
  if (negative && how.relu) return 0;
  const std::uint32_t sign = negative ? sign_of(d) : 0;
  const bool stays = how.rounding == Rounding::toward_zero ||
                     how.rounding == (negative ? Rounding::upward : Rounding::downward);
  std::uint32_t past = d.has_infinity ? d.values << code_shift(d) : d.nan ? d.nan : largest;
  if (how.finite || (stays && !std::isinf(x))) past = largest;
  if (std::isinf(x)) return sign | past;
  const double magnitude = std::min(std::fabs(x), 2 * values.back());
  const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
  const auto low = static_cast<std::uint32_t>(above - values.begin()) - 1;
  const double step = values[values.size() - 1] - values[values.size() - 2];
  const double next = above == values.end() ? values.back() + step : *above;
  const double down = magnitude - values[low], up = next - magnitude;
  bool away = false;
  switch (how.rounding) {
    case Rounding::nearest_even:
      away = down > up || (down == up && low % 2 == 1);
      break;
    case Rounding::nearest_away:
      away = down >= up;
      break;
    case Rounding::toward_zero:
      break;
    case Rounding::upward:
      away = down > 0 && !negative;
      break;
    case Rounding::downward:
      away = down > 0 && negative;
      break;
    case Rounding::stochastic:
      break;
  }
  const std::uint32_t chosen = low + (away ? 1 : 0);
  return sign | (chosen >= d.values ? past : chosen << code_shift(d));
}

}  // namespace halftone::tests
