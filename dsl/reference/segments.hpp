// SPDX-License-Identifier: Apache-2.0
// D93 and D95: which segment of its sequence every time belongs to.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
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

  /// Of each segment and column the largest, by N5 of each in turn and those before, +0 of none;
  /// and the first time of its sequence that has it, or -1.
  template <class Scalar>
  struct Largest {
    Values<Scalar> values;
    std::vector<std::int64_t> times;
  };
  template <class Scalar>
  [[nodiscard]] Largest<Scalar> largest(View<Scalar> x) const {
    const auto nothing = static_cast<Scalar>(-std::numeric_limits<double>::infinity());
    Largest<Scalar> found{Values<Scalar>(rows_ * columns_, nothing),
                          std::vector<std::int64_t>(rows_ * columns_, kNone)};
    for (std::int64_t e = 0; e < std::ssize(x); ++e) {
      const std::int64_t row = row_of(e / columns_);
      if (row == kNone) continue;
      const std::int64_t at = row * columns_ + e % columns_;
      const bool is_first = plain(x[e]) > plain(found.values[at]) ||
                            (std::isnan(plain(x[e])) && !std::isnan(plain(found.values[at])));
      found.values[at] = maximum(x[e], found.values[at]);
      if (is_first) found.times[at] = e / columns_ % times_;
    }
    for (Scalar& value : found.values)
      if (plain(value) == plain(nothing)) value = Scalar(0);
    return found;
  }

  /// Whether element `e` of x is the largest of its segment's and column's.
  template <class Scalar>
  [[nodiscard]] bool is_found(const Largest<Scalar>& found, std::int64_t e) const {
    const std::int64_t row = row_of(e / columns_);
    return row != kNone && found.times[row * columns_ + e % columns_] == e / columns_ % times_;
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
