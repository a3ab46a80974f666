// SPDX-License-Identifier: Apache-2.0
// What transforms see of a batch.
#include <algorithm>
#include <vector>

#include "../philox.hpp"
#include "../text.hpp"
#include "halftone/error.hpp"
#include "halftone/loader.hpp"
#include "order.hpp"

namespace halftone {
namespace {

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

}  // namespace

/// The counter {row low, row high, epoch, Stream::rows + number of four words}.
RowDraws::RowDraws(std::uint64_t seed, std::int64_t epoch, std::int64_t row)
    : key_{low(seed), high(seed)},
      counter_{low(static_cast<std::uint64_t>(row)), high(static_cast<std::uint64_t>(row)),
               low(static_cast<std::uint64_t>(epoch)),
               static_cast<std::uint32_t>(data::Stream::rows)} {}

std::uint32_t RowDraws::bits() {
  if (left_ == 0) {
    words_ = philox4x32(counter_, key_);
    ++counter_[3];
    left_ = 4;
  }
  return words_[static_cast<std::size_t>(4 - left_--)];
}

float RowDraws::uniform() { return static_cast<float>(bits() >> 8) * 0x1p-24f; }

std::int64_t RowDraws::below(std::int64_t count) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  if (count < 1 || count > kMost) {
    throw Error({.operation = "loader",
                 .object = "a draw",
                 .cause = "is to be below " + std::to_string(count),
                 .hint = "give 1 to 2^32"});
  }
  return static_cast<std::int64_t>(std::uint64_t{bits()} * static_cast<std::uint64_t>(count) >> 32);
}

std::span<float> GatheredBatch::row(std::string_view input, std::size_t i) const {
  const auto found = std::ranges::find(inputs, input, &Input::name);
  const auto* values = found == inputs.end() ? nullptr : std::get_if<0>(&found->values);
  if (values == nullptr || i >= rows.size()) {
    std::vector<std::string_view> names;
    for (const Input& each : inputs)
      if (each.values.index() == 0) names.push_back(each.name);
    throw Error({.operation = "loader",
                 .object = named("input", input),
                 .cause = "has no f32 row " + std::to_string(i) + " of " +
                          std::to_string(rows.size()) + " in the batch",
                 .hint = "inputs of f32 are " + listed(names)});
  }
  const std::size_t count = values->size() / rows.size();
  return values->subspan(i * count, count);
}

}  // namespace halftone
