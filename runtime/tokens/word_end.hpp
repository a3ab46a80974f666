// SPDX-License-Identifier: Apache-2.0
// The words that pairs are merged in: GPT-2's pattern,
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// A byte that is part of no character of UTF-8 is a character of its own, and neither letter,
// number nor space.
#pragma once

#include <cstddef>
#include <string_view>

namespace halftone::tokens {

/// Where the word ends that begins at `begin`, which is less than the text's size.
[[nodiscard]] std::size_t word_end(std::string_view text, std::size_t begin);

}  // namespace halftone::tokens
