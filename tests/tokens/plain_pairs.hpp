// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding as its definition reads, with everything counted and looked for anew in each
// step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace halftone::tests::plain {

using Pair = std::pair<std::string, std::string>;  // the texts of two tokens
using Word = std::vector<std::string>;

inline Word bytes_of(const std::string& text) {
  Word word;
  for (const char byte : text) word.emplace_back(1, byte);
  return word;
}

/// From left to right.
inline Word merged(const Word& word, const Pair& pair) {
  Word result;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool is_pair = i + 1 < word.size() && word[i] == pair.first && word[i + 1] == pair.second;
    result.push_back(is_pair ? word[i] + word[i + 1] : word[i]);
    if (is_pair) ++i;
  }
  return result;
}

/// The tokens of one word. Of the pairs in it the one whose merge comes first; the leftmost alone.
inline Word encoded(const std::string& text, const std::vector<Pair>& merges) {
  Word word = bytes_of(text);
  while (true) {
    std::size_t best = merges.size(), place = 0;
    for (std::size_t i = 0; i + 1 < word.size(); ++i) {
      for (std::size_t rank = 0; rank < best; ++rank)
        if (merges[rank] == Pair{word[i], word[i + 1]}) best = rank, place = i;
    }
    if (best == merges.size()) return word;
    word[place] += word[place + 1];
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

/// Of words, each with how often it is there. `order` says which token is the smaller.
template <class Order>
std::vector<Pair> learned(const std::vector<std::string>& texts, std::size_t most,
                          std::int64_t least, Order order) {
  std::vector<Word> words;
  for (const std::string& text : texts) words.push_back(bytes_of(text));
  std::vector<Pair> merges;
  while (merges.size() < most) {
    std::map<Pair, std::int64_t> counts;
    for (const Word& word : words)
      for (std::size_t i = 0; i + 1 < word.size(); ++i) ++counts[{word[i], word[i + 1]}];
    const Pair* best = nullptr;
    std::int64_t most_often = least - 1;
    for (const auto& [pair, count] : counts) {
      const bool is_better =
          count > most_often || (best != nullptr && count == most_often && order(pair, *best));
      if (is_better) best = &pair, most_often = count;
    }
    if (best == nullptr) break;
    merges.push_back(*best);
    for (Word& word : words) word = merged(word, merges.back());
    order.made(merges.back());
  }
  return merges;
}

}  // namespace halftone::tests::plain
