// SPDX-License-Identifier: Apache-2.0
// What a single number of a tensor is (F1 of docs/spec/precision.md). traits.hpp says what each
// consists of.
#pragma once

#include <cstdint>

namespace halftone::encoding {

enum class Element : std::uint8_t { f32, tf32, f16, bf16, i32 };

inline constexpr int kElements = 5;

}  // namespace halftone::encoding
