// SPDX-License-Identifier: Apache-2.0
#include "merge_word.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace halftone::tokens {
namespace {

// Up to here looking at every pair after each merge is quicker than a heap.
constexpr std::size_t kShort = 32;
// Longer words are merged in parts of so many bytes: places are numbers of 32 bits.
constexpr std::size_t kLongest = std::size_t{1} << 31;
constexpr std::uint32_t kEnd = ~std::uint32_t{0};

}  // namespace

void WordMerger::merge(std::string_view word, std::vector<Token>& tokens) {
  if (word.size() <= kShort) return merge_short(word, tokens);
  for (; word.size() > kLongest; word.remove_prefix(kLongest))
    merge_long(word.substr(0, kLongest), tokens);
  merge_long(word, tokens);
}

void WordMerger::merge_short(std::string_view word, std::vector<Token>& tokens) const {
  std::array<Token, kShort> symbols;
  std::array<std::uint32_t, kShort> ranks;  // of the pair that begins there
  std::size_t count = word.size();
  for (std::size_t i = 0; i < count; ++i)
    symbols[i] = vocabulary_.of_byte[static_cast<unsigned char>(word[i])];
  for (std::size_t i = 0; i + 1 < count; ++i) ranks[i] = rank_of(symbols[i], symbols[i + 1]);
  while (count > 1) {
    const auto* const least = std::min_element(ranks.data(), ranks.data() + count - 1);
    if (*least == PairTable::kNone) break;
    const auto at = static_cast<std::size_t>(least - ranks.data());
    symbols[at] = vocabulary_.merges[*least].made;
    std::copy(symbols.data() + at + 2, symbols.data() + count, symbols.data() + at + 1);
    --count;
    if (at + 1 < count) {
      std::copy(ranks.data() + at + 2, ranks.data() + count, ranks.data() + at + 1);
      ranks[at] = rank_of(symbols[at], symbols[at + 1]);
    }
    if (at > 0) ranks[at - 1] = rank_of(symbols[at - 1], symbols[at]);
  }
  tokens.insert(tokens.end(), symbols.data(), symbols.data() + count);
}

void WordMerger::set_rank(std::uint32_t at) {
  Symbol& symbol = symbols_[at];
  symbol.rank =
      symbol.next == kEnd ? PairTable::kNone : rank_of(symbol.token, symbols_[symbol.next].token);
  if (symbol.rank == PairTable::kNone) return;
  queue_.push_back(std::uint64_t{symbol.rank} << 32 | at);
  std::ranges::push_heap(queue_, std::greater{});
}

void WordMerger::merge_long(std::string_view word, std::vector<Token>& tokens) {
  const auto count = static_cast<std::uint32_t>(word.size());
  symbols_.clear();
  queue_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    symbols_.push_back({vocabulary_.of_byte[static_cast<unsigned char>(word[i])], PairTable::kNone,
                        i - 1, i + 1 == count ? kEnd : i + 1});
  }
  for (std::uint32_t i = 0; i < count; ++i) set_rank(i);
  while (!queue_.empty()) {
    std::ranges::pop_heap(queue_, std::greater{});
    const auto rank = static_cast<std::uint32_t>(queue_.back() >> 32);
    const auto at = static_cast<std::uint32_t>(queue_.back());
    queue_.pop_back();
    Symbol& symbol = symbols_[at];
    if (symbol.rank != rank) continue;  // one of the two is part of another token by now
    Symbol& right = symbols_[symbol.next];
    symbol.token = vocabulary_.merges[rank].made;
    symbol.next = right.next;
    right.rank = PairTable::kNone;
    if (symbol.next != kEnd) symbols_[symbol.next].previous = at;
    set_rank(at);
    if (at != 0) set_rank(symbol.previous);
  }
  for (std::uint32_t at = 0; at != kEnd; at = symbols_[at].next)
    tokens.push_back(symbols_[at].token);
}

void find_whole_words(Tokenizer::Vocabulary& vocabulary) {
  WordMerger merger(vocabulary);
  std::vector<Token> tokens;
  for (const auto& merge : vocabulary.merges) {
    const std::string& text = vocabulary.texts[static_cast<std::size_t>(merge.made)];
    tokens.clear();
    merger.merge(text, tokens);
    // Always, where training made the merges; else one that comes before may take a part of it.
    if (tokens.size() == 1) vocabulary.whole.insert(text).first = merge.made;
  }
}

}  // namespace halftone::tokens
