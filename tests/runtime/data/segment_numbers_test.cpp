// SPDX-License-Identifier: Apache-2.0
#include "halftone/segment_numbers.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "halftone/error.hpp"

using namespace halftone;

namespace {

using Numbers = std::vector<std::int32_t>;

std::string refused(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a segment begins at the first time and wherever a boundary is") {
  const std::vector<std::uint8_t> begins = {0, 0, 1, 0, 1, 255, 0};
  Numbers numbers(7, 99);
  CHECK(number_segments(begins, numbers) == 4);
  CHECK(numbers == Numbers{0, 0, 1, 1, 2, 3, 3});
  const std::vector<std::uint8_t> marked = {1, 0};
  Numbers two(2, 99);
  CHECK(number_segments(marked, two) == 1);
  CHECK(two == Numbers{0, 0});
  CHECK(number_segments({}, {}) == 0);
}

TEST_CASE("segments of given lengths follow each other, and what is left belongs to none") {
  const Numbers lengths = {2, 0, 3};
  Numbers numbers(7, 99);
  number_segments_by_length(lengths, numbers);
  CHECK(numbers == Numbers{0, 0, 2, 2, 2, -1, -1});
  Numbers exact(5, 99);
  number_segments_by_length(lengths, exact);
  CHECK(exact == Numbers{0, 0, 2, 2, 2});
}

TEST_CASE("boundaries and lengths that fit no sequence are refused") {
  Numbers numbers(4);
  const std::vector<std::uint8_t> begins(3);
  CHECK(refused([&] { number_segments(begins, numbers); }) ==
        "number segments: a sequence of 4 times has 3 boundaries; give one for every time");
  const Numbers negative = {1, -2};
  CHECK(refused([&] { number_segments_by_length(negative, numbers); }) ==
        "number segments: segment 1 has a length of -2; write 0 for one without times");
  const Numbers long_ones = {2, 3, 2147483647};
  CHECK(
      refused([&] { number_segments_by_length(long_ones, numbers); }) ==
      "number segments: segment 1 ends behind the 4 times of its sequence; let the lengths add up "
      "to them, or to fewer");
}
