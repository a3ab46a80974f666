// SPDX-License-Identifier: Apache-2.0
// Values by words of a text that stays where it is, in one array with open addressing.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone::tokens {

template <class Value>
class WordTable {
 public:
  /// The word's value, and whether it had none: then it is Value{}. Valid until the next call.
  std::pair<Value&, bool> insert(std::string_view word) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    const std::uint64_t hash = XXH3_64bits(word.data(), word.size());
    std::size_t place = hash & (slots_.size() - 1);
    for (;; place = (place + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[place];
      if (slot.word.data() == nullptr) {
        slot = {word, hash, Value{}};
        ++count_;
        return {slot.value, true};
      }
      if (slot.hash == hash && slot.word == word) return {slot.value, false};
    }
  }

  /// Null where it has none.
  [[nodiscard]] const Value* find(std::string_view word) const {
    if (slots_.empty()) return nullptr;
    const std::uint64_t hash = XXH3_64bits(word.data(), word.size());
    std::size_t place = hash & (slots_.size() - 1);
    for (; slots_[place].word.data() != nullptr; place = (place + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[place];
      if (slot.hash == hash && slot.word == word) return &slot.value;
    }
    return nullptr;
  }

  template <class Visit>
  void visit(Visit visit) const {
    for (const Slot& slot : slots_)
      if (slot.word.data() != nullptr) visit(slot.word, slot.value);
  }

  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  struct Slot {
    std::string_view word;
    std::uint64_t hash = 0;
    Value value{};
  };

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.word.data() == nullptr) continue;
      std::size_t place = slot.hash & (slots_.size() - 1);
      while (slots_[place].word.data() != nullptr) place = (place + 1) & (slots_.size() - 1);
      slots_[place] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace halftone::tokens
