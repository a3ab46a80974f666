// SPDX-License-Identifier: Apache-2.0
// What a single number of a tensor is (F1 of docs/spec/precision.md). traits.hpp says what each
// consists of.
#pragma once

#include <cstdint>

namespace halftone::encoding {

enum class Element : std::uint8_t { f32, tf32, f16, bf16, i32, u8, i8, u16, i16, i64 };

inline constexpr int kElements = 10;

}  // namespace halftone::encoding
