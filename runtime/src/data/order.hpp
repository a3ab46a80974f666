// SPDX-License-Identifier: Apache-2.0
// What seeds decide about rows: the order of an epoch and which are held out. Pure functions of
// Philox4x32-10, the same on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace halftone::data {

/// Which stream of draws a counter belongs to, in its last word; what is below is the stream's own.
enum class Stream : std::uint32_t { order = 0x6f000000, split = 0x73000000, rows = 0x72000000 };

/// A permutation of [0, rows), of which any element can be computed by itself, so that an epoch
/// takes neither memory nor time before it begins. A Feistel network (Luby and Rackoff, "How to
/// construct pseudorandom permutations from pseudorandom functions", 1988) on pairs (l, r) with l <
/// a, r < b, where b is the least even number with b * b >= rows and a = ceil(rows / b), of 8
/// rounds i, and of 24 for less than 1024 rows, of which fewer rounds favour some permutations:
///
///   x = l * b + r
///   even rounds i: l = (l + draw(i, r, a)) mod a;   odd ones: r = (r + draw(i, l, b)) mod b
///   draw(i, v, n) = floor(w * n / 2^64), w = w0 + 2^32 * w1 of the words that Philox makes of the
///   counter {v, epoch low, epoch high, Stream::order + i} and the key {seed low, seed high}
///
/// again while x >= rows (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002: cycle
/// walking). b is even so that odd permutations are among them.
class Order {
 public:
  Order(std::int64_t rows, std::uint64_t seed, std::int64_t epoch);

  [[nodiscard]] std::int64_t operator[](std::int64_t position) const;

  /// Appends the rows of positions [first, last): several at once, since draws that do not wait for
  /// each other take half the time.
  void append(std::int64_t first, std::int64_t last, std::vector<std::int64_t>& rows) const;

 private:
  template <std::size_t lanes>
  void permute(std::array<std::uint64_t, lanes>& x) const;
  [[nodiscard]] std::uint64_t draw(std::uint32_t round, std::uint64_t v, std::uint64_t n) const;

  std::uint64_t rows_, a_, b_;
  std::uint32_t rounds_;
  std::array<std::uint32_t, 2> key_, epoch_;
};

/// The `count` of `rows` rows whose rank is lowest: the words w0 + 2^32 * w1 that Philox makes of
/// the counter {row low, row high, 0, Stream::split}, then the row.
[[nodiscard]] std::vector<bool> drawn_rows(std::int64_t rows, std::int64_t count,
                                           std::uint64_t seed);

}  // namespace halftone::data
