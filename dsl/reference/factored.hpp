// SPDX-License-Identifier: Apache-2.0
// Adafactor, whose second moments of a matrix are means over its rows and over its columns: U18.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "halftone/description/description.hpp"
#include "numerics.hpp"

namespace halftone::reference {

// A parameter as matrices, its last two dimensions, or as one row where it has fewer than two.
struct Factored {
  explicit Factored(const description::Shape& shape) : is_matrix(shape.size() >= 2) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const auto extent = static_cast<std::size_t>(shape[i].extent);
      (i + 1 == shape.size() ? columns : i + 2 == shape.size() ? rows : matrices) *= extent;
    }
  }

  bool is_matrix;
  std::size_t matrices = 1, rows = 1, columns = 1;

  [[nodiscard]] std::size_t row_means() const { return is_matrix ? matrices * rows : 0; }
  [[nodiscard]] std::size_t column_means() const { return matrices * columns; }
};

// N2 over each row of v * v, and N2 over those.
template <class Scalar>
Scalar sum_of_rows(const std::vector<Scalar>& values, std::size_t columns) {
  std::vector<Scalar> squares, sums;
  for (const Scalar value : values) squares.push_back(value * value);
  for (std::size_t at = 0; at < values.size(); at += columns)
    sums.push_back(sum(std::span<const Scalar>(squares).subspan(at, columns)));
  return sums.size() == 1 ? sums[0] : sum(std::span<const Scalar>(sums));
}

// The estimates of g * g, with the means that this moves on by a share.
template <class Scalar, class Slot>
std::vector<Scalar> second_moments(const description::Adafactor& o, Scalar share,
                                   const Factored& of, Slot& slot) {
  std::vector<Scalar> squares, estimates;
  for (const Scalar g : slot.g) squares.push_back(g * g);
  if (!of.is_matrix) {
    for (std::size_t e = 0; e < squares.size(); ++e) {
      Scalar& v = (*slot.second)[e];
      v = fma(share, squares[e] - v, v);
    }
    return *slot.second;
  }
  const auto count = [](std::size_t number) { return Scalar(static_cast<double>(number)); };
  for (std::size_t k = 0; k < of.matrices; ++k) {
    const std::span<const Scalar> matrix =
        std::span<const Scalar>(squares).subspan(k * of.rows * of.columns, of.rows * of.columns);
    Scalar* const r = slot.first->data() + k * of.rows;
    Scalar* const c = slot.second->data() + k * of.columns;
    for (std::size_t i = 0; i < of.rows; ++i) {
      const Scalar mean = sum(matrix.subspan(i * of.columns, of.columns)) / count(of.columns);
      r[i] = fma(share, mean - r[i], r[i]);
    }
    const auto sums = column_sums(matrix, static_cast<std::int64_t>(of.columns));
    for (std::size_t j = 0; j < of.columns; ++j)
      c[j] = fma(share, sums[j] / count(of.rows) - c[j], c[j]);
    const Scalar mean = sum(std::span<const Scalar>(r, of.rows)) / count(of.rows);
    const Scalar divisor = maximum(mean, static_cast<Scalar>(o.epsilon1));
    for (std::size_t i = 0; i < of.rows; ++i)
      for (std::size_t j = 0; j < of.columns; ++j) estimates.push_back((r[i] * c[j]) / divisor);
  }
  return estimates;
}

// U18, of update `t`, counted from 1.
template <class Scalar, class Slot>
void adafactor(const description::Adafactor& o, Scalar t, const Factored& of, Slot& slot) {
  const Scalar share = pow(t, static_cast<Scalar>(-o.decay_rate));
  const std::vector<Scalar> v = second_moments(o, share, of, slot);
  const Scalar least = static_cast<Scalar>(o.epsilon1 * o.epsilon1);
  std::vector<Scalar> step;
  for (std::size_t e = 0; e < v.size(); ++e) step.push_back(slot.g[e] / sqrt(maximum(v[e], least)));
  const double root = std::sqrt(static_cast<double>(v.size()));
  const Scalar rms = Scalar(sqrt(sum_of_rows(*slot.p, of.columns))) / static_cast<Scalar>(root);
  const Scalar rate = maximum(rms, static_cast<Scalar>(o.epsilon2)) *
                      minimum(slot.learning_rate, Scalar(1) / Scalar(sqrt(t)));
  const Scalar size =
      Scalar(sqrt(sum_of_rows(step, of.columns))) / static_cast<Scalar>(root * o.clip_threshold);
  const Scalar factor = -(rate / maximum(size, Scalar(1)));
  const Scalar shrink = -(slot.learning_rate * slot.decay);
  for (std::size_t e = 0; e < step.size(); ++e) {
    Scalar& p = (*slot.p)[e];
    p = fma(factor, step[e], fma(shrink, p, p));
  }
}

}  // namespace halftone::reference
