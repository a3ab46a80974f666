// SPDX-License-Identifier: Apache-2.0
// The search by halves, for every target among up to eight elements, and for properties that have
// no order at all.
#include "bisect/minimize.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace halftone {
namespace {

Part bits_of(unsigned word, std::size_t count) {
  Part part;
  for (std::size_t i = 0; i < count; ++i)
    if ((word >> i & 1) != 0) part.push_back(i);
  return part;
}

unsigned word_of(const Part& part) {
  unsigned word = 0;
  for (const std::size_t i : part) word |= 1u << i;
  return word;
}

TEST_CASE("what a property hangs on is found, whichever of up to eight elements it is") {
  for (std::size_t count = 1; count <= 8; ++count) {
    for (unsigned target = 1; target < 1u << count; ++target) {
      CAPTURE(count);
      CAPTURE(target);
      const Part all = bits_of((1u << count) - 1, count);
      const Part found =
          minimize(all, [&](const Part& part) { return (word_of(part) & target) == target; });
      CHECK(found == bits_of(target, count));
    }
  }
}

TEST_CASE("of any property no element of what is left can be left out") {
  std::mt19937 random(7);
  constexpr std::size_t kCount = 7;
  for (int round = 0; round < 500; ++round) {
    CAPTURE(round);
    std::vector<bool> has(1u << kCount);
    for (auto&& each : has) each = random() % 3 == 0;
    has.back() = true;
    const auto has_property = [&](const Part& part) { return has[word_of(part)]; };
    const Part found = minimize(bits_of((1u << kCount) - 1, kCount), has_property);
    CHECK(has[word_of(found)]);
    if (found.size() < 2) continue;
    for (std::size_t i = 0; i < found.size(); ++i) {
      Part less = found;
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
      CHECK_FALSE(has_property(less));
    }
  }
}

TEST_CASE("one among 64 takes twice the logarithm of questions at most, all of them n squared") {
  for (std::size_t culprit = 0; culprit < 64; ++culprit) {
    int asked = 0;
    Part all(64);
    for (std::size_t i = 0; i < 64; ++i) all[i] = i;
    const Part found = minimize(all, [&](const Part& part) {
      ++asked;
      return std::ranges::find(part, culprit) != part.end();
    });
    CHECK(found == Part{culprit});
    CHECK(asked <= 12);
  }
  int asked = 0;
  Part all(16);
  for (std::size_t i = 0; i < 16; ++i) all[i] = i;
  CHECK(minimize(all, [&](const Part& part) {
          ++asked;
          return part.size() == 16;
        }) == all);
  CHECK(asked <= 16 * 16);
}

}  // namespace
}  // namespace halftone
