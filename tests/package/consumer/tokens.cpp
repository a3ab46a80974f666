// SPDX-License-Identifier: Apache-2.0
// Trains a tokenizer, and has its text back.
#include <halftone/tokenizer.hpp>

int main() {
  const std::string_view text = "the cat sat on the mat";
  const auto tokenizer = halftone::Tokenizer::train({&text, 1}, {.size = 260});
  const auto tokens = tokenizer.encode(text);
  return tokens.size() < text.size() && tokenizer.decode(tokens) == text ? 0 : 1;
}
