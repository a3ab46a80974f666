// SPDX-License-Identifier: Apache-2.0
#include "order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "../philox.hpp"

namespace halftone::data {
namespace {

std::array<std::uint32_t, 2> words_of(std::uint64_t value) {
  return {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)};
}

std::uint64_t first_two(const PhiloxCounter& words) {
  return words[0] | std::uint64_t{words[1]} << 32;
}

/// The least even b > 0 with b * b >= rows.
std::uint64_t even_root(std::uint64_t rows) {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(rows)));
  while (root > 0 && (root - 1) * (root - 1) >= rows) --root;
  while (root * root < rows) ++root;
  return root == 0 ? 2 : root + root % 2;
}

}  // namespace

Order::Order(std::int64_t rows, std::uint64_t seed, std::int64_t epoch)
    : rows_(static_cast<std::uint64_t>(rows)),
      a_(0),
      b_(even_root(rows_)),
      rounds_(rows < 1024 ? 24 : 8),
      key_(words_of(seed)),
      epoch_(words_of(static_cast<std::uint64_t>(epoch))) {
  a_ = (rows_ + b_ - 1) / b_;
}

std::uint64_t Order::draw(std::uint32_t round, std::uint64_t v, std::uint64_t n) const {
  const PhiloxCounter words = philox4x32({static_cast<std::uint32_t>(v), epoch_[0], epoch_[1],
                                          static_cast<std::uint32_t>(Stream::order) + round},
                                         key_);
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(first_two(words)) * n >> 64);
}

template <std::size_t lanes>
void Order::permute(std::array<std::uint64_t, lanes>& x) const {
  std::array<std::uint64_t, lanes> l, r;
  for (std::size_t i = 0; i < lanes; ++i) {
    l[i] = x[i] / b_;
    r[i] = x[i] % b_;
  }
  for (std::uint32_t round = 0; round < rounds_; round += 2) {
    for (std::size_t i = 0; i < lanes; ++i) {
      l[i] += draw(round, r[i], a_);
      l[i] -= l[i] >= a_ ? a_ : 0;
    }
    for (std::size_t i = 0; i < lanes; ++i) {
      r[i] += draw(round + 1, l[i], b_);
      r[i] -= r[i] >= b_ ? b_ : 0;
    }
  }
  for (std::size_t i = 0; i < lanes; ++i) x[i] = l[i] * b_ + r[i];
}

std::int64_t Order::operator[](std::int64_t position) const {
  std::array<std::uint64_t, 1> x = {static_cast<std::uint64_t>(position)};
  do permute(x);
  while (x[0] >= rows_);
  return static_cast<std::int64_t>(x[0]);
}

void Order::append(std::int64_t first, std::int64_t last, std::vector<std::int64_t>& rows) const {
  constexpr std::int64_t kLanes = 8;
  for (; first < last; first += kLanes) {
    std::array<std::uint64_t, kLanes> x;
    for (std::int64_t i = 0; i < kLanes; ++i)
      x[static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(std::min(first + i, last - 1));
    permute(x);
    for (std::int64_t i = 0; i < std::min(kLanes, last - first); ++i) {
      const auto row = static_cast<std::int64_t>(x[static_cast<std::size_t>(i)]);
      rows.push_back(row < static_cast<std::int64_t>(rows_) ? row : (*this)[row]);
    }
  }
}

std::vector<bool> drawn_rows(std::int64_t rows, std::int64_t count, std::uint64_t seed) {
  std::vector<std::pair<std::uint64_t, std::int64_t>> ranks;
  ranks.reserve(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto [low, high] = words_of(static_cast<std::uint64_t>(row));
    ranks.emplace_back(
        first_two(
            philox4x32({low, high, 0, static_cast<std::uint32_t>(Stream::split)}, words_of(seed))),
        row);
  }
  const auto end = ranks.begin() + count;
  std::ranges::nth_element(ranks, end);
  std::vector<bool> is_drawn(ranks.size());
  for (auto each = ranks.begin(); each != end; ++each)
    is_drawn[static_cast<std::size_t>(each->second)] = true;
  return is_drawn;
}

}  // namespace halftone::data
