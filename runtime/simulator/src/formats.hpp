// SPDX-License-Identifier: Apache-2.0
// Number formats of PTX narrower than f32: exact reading, and correctly rounded writing with
// saturation and relu as the instruction cvt defines them (PTX ISA 9.0, 9.7.9.21). Codes sit in the
// low bits; tf32 keeps its f32 pattern.
#pragma once

#include <bit>
#include <cstdint>

namespace halftone::simulator {

enum class NumberFormat : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, e2m1, e3m2, e2m3, ue8m0 };

enum class Rounding : std::uint8_t {
  nearest_even,  // rn
  toward_zero,   // rz
  upward,        // rp
  downward,      // rm
  nearest_away,  // rna
  stochastic,    // rs: the magnitude gains a random fraction of the last place, then is truncated
};

struct Encoding {
  Rounding rounding = Rounding::nearest_even;
  bool finite =
      false;  // .satfinite: past the largest finite value, infinity included, comes that value
  bool relu = false;  // .relu: negative values and -0 become +0
};

/// Random bits for Rounding::stochastic; the highest of the `count` bits weighs half of the last
/// place.
struct RandomBits {
  std::uint32_t bits = 0;
  int count = 0;
};

/// The code of `value` in `format`. NaN becomes the format's canonical NaN (7fff in f16 and bf16,
/// 7fffffff in tf32, 7f in e4m3 and e5m2, ff in ue8m0), or the largest value where the format has
/// none. Overflow without `finite` gives infinity where the rounding goes that way and the format
/// has one, NaN in e4m3 and ue8m0, else the largest value. ue8m0 takes the magnitude and knows
/// rounding toward_zero and upward only.
std::uint32_t encode(NumberFormat format, double value, Encoding how = {}, RandomBits random = {});

/// The value of a code, exact in f32; NaN reads as 7fffffff except in bf16 and tf32, whose pattern
/// is kept.
float decode(NumberFormat format, std::uint32_t code);

/// Bits of one element inside a packed x2 or x4 register: 16, 8, or 4 for e2m1 (PTX
/// ISA 9.0, 5.2.3).
int packed_bits(NumberFormat format);

/// The x2 forms of cvt: the first operand lies in the upper half.
std::uint32_t encode_pair(NumberFormat format, double upper, double lower, Encoding how = {});
struct Pair {
  float upper, lower;
};
Pair decode_pair(NumberFormat format, std::uint32_t codes);

// Branch-free forms of the commonest conversions, for loops over lanes.

inline float f16_value(std::uint16_t code) {
  const std::uint32_t magnitude = code & 0x7fffu;
  const float finite = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const std::uint32_t special =
      magnitude > 0x7c00u ? 0x7fffffffu : 0x7f800000u | (code & 0x8000u) << 16;
  const std::uint32_t ordinary = std::bit_cast<std::uint32_t>(finite) | (code & 0x8000u) << 16;
  return std::bit_cast<float>(magnitude >= 0x7c00u ? special : ordinary);
}

inline float bf16_value(std::uint16_t code) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
}

/// Nearest even, NaN canonical. The subnormal case lets the addition of 1/2 round at 2^-24.
inline std::uint16_t f16_code(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), magnitude = bits & 0x7fffffffu;
  const std::uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
  const std::uint32_t small =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  std::uint32_t code = magnitude < 113u << 23 ? small : normal;
  code = magnitude >= 0x477ff000u ? 0x7c00u : code;
  code |= bits >> 16 & 0x8000u;
  return static_cast<std::uint16_t>(magnitude > 0x7f800000u ? 0x7fffu : code);
}

inline std::uint16_t bf16_code(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded);
}

}  // namespace halftone::simulator
