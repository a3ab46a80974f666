// SPDX-License-Identifier: Apache-2.0
// A glob (glob.hpp) as an automaton that reads a name character by character. It keeps all places
// of the glob where the name may be, so that no glob takes more steps than its length times the
// name's.
#pragma once

namespace halftone::description {

/// Longer globs match nothing; a rule that has one is refused (P40).
inline constexpr int kLongestGlob = 126;

class GlobStates {
 public:
  /// A set of places: bit i stands for the place before character i, the last one for the end.
  __extension__ typedef unsigned __int128 Set;

  constexpr GlobStates(const char* glob, unsigned long size) {
    if (size > kLongestGlob) return;
    end_ = static_cast<int>(size);
    for (int i = 0; i < end_; ++i) i = add(glob, i);
  }

  [[nodiscard]] constexpr Set start() const { return end_ < 0 ? 0 : with_jumps(1); }

  /// Where a name may be after one more character.
  [[nodiscard]] constexpr Set after(Set at, char next) const {
    Set moved = (at & literals_[static_cast<unsigned char>(next)]) << 1 | (at & crossing_);
    if (next != '/') moved |= (at & any_) << 1 | (at & stars_);
    return with_jumps(moved);
  }

  [[nodiscard]] constexpr bool accepts(Set at) const { return end_ >= 0 && (at >> end_ & 1) != 0; }

  /// Whether one digit leads elsewhere than another one.
  [[nodiscard]] constexpr bool tells_digits_apart(Set at) const { return (at & digits_) != 0; }

 private:
  struct Jump {
    Set from = 0, to = 0;
  };

  static constexpr Set bit(int place) { return static_cast<Set>(1) << place; }

  /// Takes in what begins at `i`; returns its last character's place.
  constexpr int add(const char* glob, int i) {
    const bool twice = glob[i] == '*' && i + 1 < end_ && glob[i + 1] == '*';
    if (glob[i] == '*') {
      (twice ? crossing_ : stars_) |= bit(i);
      return i + (twice ? 1 : 0);
    }
    int close = glob[i] == '{' ? i : end_;
    while (close < end_ && glob[close] != '}') ++close;
    if (close < end_) return add_alternatives(glob, i, close);
    if (glob[i] == '?') {
      any_ |= bit(i);
    } else {
      literals_[static_cast<unsigned char>(glob[i])] |= bit(i);
      if (glob[i] >= '0' && glob[i] <= '9') digits_ |= bit(i);
    }
    return i;
  }

  constexpr int add_alternatives(const char* glob, int open, int close) {
    const int end_of_glob = end_;
    Set starts = bit(open + 1), ends = bit(close);
    for (int i = open + 1; i < close; ++i) {
      if (glob[i] == ',') {
        ends |= bit(i);
        starts |= bit(i + 1);
        continue;
      }
      end_ = close;  // a star or brace inside does not look past its alternatives
      const bool star = glob[i] == '*';
      if (star || glob[i] != '{')
        i = add(glob, i);
      else
        literals_[static_cast<unsigned char>('{')] |= bit(i);
      end_ = end_of_glob;
    }
    jumps_[jump_count_++] = {bit(open), starts};
    jumps_[jump_count_++] = {ends, bit(close + 1)};
    return close;
  }

  constexpr Set with_jumps(Set at) const {
    for (Set before = 0; before != at;) {
      before = at;
      at |= (at & stars_) << 1 | (at & crossing_) << 2;
      for (int i = 0; i < jump_count_; ++i) {
        if ((at & jumps_[i].from) != 0) at |= jumps_[i].to;
      }
    }
    return at;
  }

  int end_ = -1;
  Set literals_[256]{}, stars_ = 0, crossing_ = 0, any_ = 0, digits_ = 0;
  Jump jumps_[kLongestGlob]{};
  int jump_count_ = 0;
};

}  // namespace halftone::description
