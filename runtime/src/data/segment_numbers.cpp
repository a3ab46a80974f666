// SPDX-License-Identifier: Apache-2.0
#include "halftone/segment_numbers.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "halftone/error.hpp"

namespace halftone {
namespace {

[[noreturn]] void refuse(std::string object, std::string cause, std::string hint) {
  throw Error({.operation = "number segments",
               .object = std::move(object),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

}  // namespace

std::int32_t number_segments(std::span<const std::uint8_t> begins,
                             std::span<std::int32_t> numbers) {
  if (begins.size() != numbers.size()) {
    refuse("a sequence of " + std::to_string(numbers.size()) + " times",
           "has " + std::to_string(begins.size()) + " boundaries", "give one for every time");
  }
  std::int32_t segments = 0;
  for (std::size_t t = 0; t < numbers.size(); ++t) {
    if (t == 0 || begins[t] != 0) ++segments;
    numbers[t] = segments - 1;
  }
  return segments;
}

void number_segments_by_length(std::span<const std::int32_t> lengths,
                               std::span<std::int32_t> numbers) {
  std::size_t begin = 0;
  for (std::size_t segment = 0; segment < lengths.size(); ++segment) {
    const std::int32_t length = lengths[segment];
    if (length < 0) {
      refuse("segment " + std::to_string(segment), "has a length of " + std::to_string(length),
             "write 0 for one without times");
    }
    if (static_cast<std::size_t>(length) > numbers.size() - begin) {
      refuse("segment " + std::to_string(segment),
             "ends behind the " + std::to_string(numbers.size()) + " times of its sequence",
             "let the lengths add up to them, or to fewer");
    }
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(begin);
    std::fill_n(first, length, static_cast<std::int32_t>(segment));
    begin += static_cast<std::size_t>(length);
  }
  std::fill(numbers.begin() + static_cast<std::ptrdiff_t>(begin), numbers.end(), -1);
}

}  // namespace halftone
