// SPDX-License-Identifier: Apache-2.0
// Number formats as values that precision rules name.
#pragma once

namespace halftone::dsl {

/// `unset` is what a rule says about a role that it leaves to other rules.
enum class Format : unsigned char { unset, f32, tf32, f16, bf16 };

inline constexpr Format f32 = Format::f32;  ///< IEEE binary32
inline constexpr Format tf32 =
    Format::tf32;                           ///< f32's range with 10 bits of fraction, operands only
inline constexpr Format f16 = Format::f16;  ///< IEEE binary16
inline constexpr Format bf16 = Format::bf16;  ///< the upper half of binary32

constexpr const char* spelling(Format format) {
  constexpr const char* kNames[] = {"unset", "f32", "tf32", "f16", "bf16"};
  return kNames[static_cast<int>(format)];
}

}  // namespace halftone::dsl
