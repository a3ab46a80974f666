// SPDX-License-Identifier: Apache-2.0
// GPT-2's characters for bytes, which files of its kind are written in: '!' to '~', U+00A1 to
// U+00AC and U+00AE to U+00FF stand for the bytes of their numbers, and U+0100 on for the others,
// in order. None of them is white space.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halftone::tokens {

/// In the order of their characters' numbers, which is that of GPT-2's first 256 tokens.
[[nodiscard]] const std::array<std::uint8_t, 256>& bytes_in_order();

[[nodiscard]] std::string characters_of(std::string_view bytes);
/// Nothing where one of them stands for no byte.
[[nodiscard]] std::optional<std::string> bytes_of(std::string_view characters);

}  // namespace halftone::tokens
