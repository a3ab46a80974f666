// SPDX-License-Identifier: Apache-2.0
// What a single number of a tensor is (F1 of docs/spec/precision.md). traits.hpp says what each
// consists of.
#pragma once

#include <cstdint>

namespace halftone::encoding {

/// Those of 8 bits and less are of OCP's specifications: f8e4m3 and f8e5m2 of "OCP 8-bit Floating
/// Point Specification (OFP8)" 1.0, the others of "OCP Microscaling Formats (MX)" 1.0.
enum class Element : std::uint8_t {
  f32,
  tf32,
  f16,
  bf16,
  i32,
  u8,
  i8,
  u16,
  i16,
  i64,
  f8e4m3,
  f8e5m2,
  f8e8m0,
  f6e3m2,
  f6e2m3,
  f4e2m1
};

inline constexpr int kElements = 16;

}  // namespace halftone::encoding
