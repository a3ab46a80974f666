// SPDX-License-Identifier: Apache-2.0
// D93 and D95: which segment of its sequence every time belongs to.
#pragma once

#include <cstdint>
#include <vector>

#include "layer.hpp"

namespace halftone::reference {

class Segments {
 public:
  /// Of numbers [batch..., times] and rows of segments [batch..., segments, columns].
  template <class Scalar>
  Segments(const Operand<Scalar>& numbers, const Extents& rows)
      : numbers_(numbers.integers),
        times_(numbers.extents.back()),
        segments_(rows[rows.size() - 2]),
        columns_(rows.back()),
        rows_(count(rows) / columns_) {}

  [[nodiscard]] std::int64_t columns() const { return columns_; }

  /// For each segment one chain of additions from +0 over its times, ascending.
  template <class Scalar>
  [[nodiscard]] Values<Scalar> sum(View<Scalar> x) const {
    Values<Scalar> sums(rows_ * columns_, Scalar(0));
    for (std::int64_t e = 0; e < std::ssize(x); ++e) {
      const std::int64_t row = row_of(e / columns_);
      if (row == kNone) continue;
      Scalar& chain = sums[row * columns_ + e % columns_];
      chain = chain + x[e];
    }
    return sums;
  }

  /// For each time the row of its segment, +0 where it has none.
  template <class Scalar>
  [[nodiscard]] Values<Scalar> read(View<Scalar> rows) const {
    Values<Scalar> x;
    for (std::int64_t time = 0; time < std::ssize(numbers_); ++time) {
      const std::int64_t row = row_of(time);
      for (std::int64_t j = 0; j < columns_; ++j)
        x.push_back(row == kNone ? Scalar(0) : rows[row * columns_ + j]);
    }
    return x;
  }

  /// How many times each segment has.
  [[nodiscard]] std::vector<std::int64_t> counts() const {
    std::vector<std::int64_t> counts(rows_, 0);
    for (std::int64_t time = 0; time < std::ssize(numbers_); ++time) {
      if (const std::int64_t row = row_of(time); row != kNone) ++counts[row];
    }
    return counts;
  }

 private:
  static constexpr std::int64_t kNone = -1;

  /// Counted over all sequences.
  [[nodiscard]] std::int64_t row_of(std::int64_t time) const {
    const std::int64_t number = numbers_[time];
    return number < 0 || number >= segments_ ? kNone : time / times_ * segments_ + number;
  }

  const Integers& numbers_;
  std::int64_t times_, segments_, columns_, rows_;
};

}  // namespace halftone::reference
