// SPDX-License-Identifier: Apache-2.0
// What a tokenizer knows: its tokens, and which pairs of them become one, in which order.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/tokenizer.hpp"
#include "pair_table.hpp"
#include "word_table.hpp"

namespace halftone {

struct Tokenizer::Vocabulary {
  struct Merge {
    Token left, right, made;
  };

  std::array<Token, 256> of_byte{};
  std::vector<std::string> texts;  ///< by token: bytes, or a special one's name
  std::vector<Merge> merges;       ///< the earlier goes first
  std::vector<Token> special;      ///< ascending
  tokens::PairTable ranks;         ///< where in `merges` a pair is
  /// Tokens that a word of their text becomes, so that most words need no merges; by their texts.
  tokens::WordTable<Token> whole;

  void add_merge(const Merge& merge) {
    ranks.insert(tokens::pair_of(merge.left, merge.right),
                 static_cast<std::uint32_t>(merges.size()));
    merges.push_back(merge);
  }
};

namespace tokens {

inline constexpr const char* kOperation = "tokenizer";
inline constexpr int kBytes = 256;

/// Throws Error.
[[noreturn]] void refuse(std::string object, std::string cause, std::string hint);

/// Fills `whole`; then nothing may change.
void find_whole_words(Tokenizer::Vocabulary& vocabulary);

/// Gives them the next tokens. Throws Error for names that are empty, no UTF-8 or given twice.
void add_special(Tokenizer::Vocabulary& vocabulary, const std::vector<std::string>& names);

}  // namespace tokens
}  // namespace halftone
