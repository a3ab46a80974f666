// SPDX-License-Identifier: Apache-2.0
// Numbers by pairs of tokens, in one array with open addressing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "halftone/tokenizer.hpp"

namespace halftone::tokens {

/// Orders pairs by their left tokens, then by their right ones.
[[nodiscard]] constexpr std::uint64_t pair_of(Token left, Token right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}
[[nodiscard]] constexpr Token left_of(std::uint64_t pair) { return static_cast<Token>(pair >> 32); }
[[nodiscard]] constexpr Token right_of(std::uint64_t pair) { return static_cast<Token>(pair); }

class PairTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  [[nodiscard]] std::uint32_t find(std::uint64_t pair) const {
    return slots_[place_of(pair)].number;
  }

  /// The number that the pair has, or gets.
  std::uint32_t insert(std::uint64_t pair, std::uint32_t number) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(pair)];
    if (slot.number == kNone) {
      slot = {pair, number};
      ++count_;
    }
    return slot.number;
  }

 private:
  struct Slot {
    std::uint64_t pair = 0;
    std::uint32_t number = kNone;
  };

  /// Where the pair is, or would be.
  [[nodiscard]] std::size_t place_of(std::uint64_t pair) const {
    const std::uint64_t mixed = (pair ^ pair >> 29) * 0x9e3779b97f4a7c15u;
    std::size_t place = mixed >> shift_;
    while (slots_[place].number != kNone && slots_[place].pair != pair)
      place = (place + 1) & (slots_.size() - 1);
    return place;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    --shift_;
    for (const Slot& slot : old)
      if (slot.number != kNone) slots_[place_of(slot.pair)] = slot;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  unsigned shift_ = 64 - 6;
  std::size_t count_ = 0;
};

}  // namespace halftone::tokens
