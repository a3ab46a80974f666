// SPDX-License-Identifier: Apache-2.0
// One word's tokens: of all pairs that stand side by side the one whose merge comes first, and of
// several such the leftmost, becomes one, until no pair has a merge.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "vocabulary.hpp"

namespace halftone::tokens {

/// Keeps its memory from word to word.
class WordMerger {
 public:
  explicit WordMerger(const Tokenizer::Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  /// Appends the word's tokens.
  void merge(std::string_view word, std::vector<Token>& tokens);

 private:
  struct Symbol {
    Token token;
    std::uint32_t rank;  ///< of the pair that begins here
    std::uint32_t previous, next;
  };

  [[nodiscard]] std::uint32_t rank_of(Token left, Token right) const {
    return vocabulary_.ranks.find(pair_of(left, right));
  }
  void merge_short(std::string_view word, std::vector<Token>& tokens) const;
  void merge_long(std::string_view word, std::vector<Token>& tokens);
  void set_rank(std::uint32_t at);

  const Tokenizer::Vocabulary& vocabulary_;
  std::vector<Symbol> symbols_;
  std::vector<std::uint64_t> queue_;  ///< a heap of rank and place
};

}  // namespace halftone::tokens
