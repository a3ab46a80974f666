// SPDX-License-Identifier: Apache-2.0
// The trees N2 to N4 and the functions N6 in both arithmetics.
#include "numerics.hpp"

#include <algorithm>
#include <limits>

#include "recipes.hpp"

namespace halftone::reference {
namespace {

constexpr std::size_t kLanes = 32;          // N2: partial results of a chunk
constexpr std::size_t kChunk = 1024;        // N2: elements of a chunk
constexpr std::int64_t kRowsOfChunk = 128;  // N3

// N2 of at most one chunk.
template <class Scalar, class Combine>
Scalar chunk_tree(std::span<const Scalar> values, Scalar start, Combine combine) {
  Scalar partial[kLanes];
  std::fill(std::begin(partial), std::end(partial), start);
  for (std::size_t e = 0; e < values.size(); ++e) {
    partial[e % kLanes] = combine(partial[e % kLanes], values[e]);
  }
  for (std::size_t s = kLanes / 2; s > 0; s /= 2) {
    for (std::size_t l = 0; l < s; ++l) partial[l] = combine(partial[l], partial[l + s]);
  }
  return partial[0];
}

// N2 of any length: the tree again over the chunks' results, until one chunk holds them.
template <class Scalar, class Combine>
Scalar row_tree(std::span<const Scalar> values, Scalar start, Combine combine) {
  std::vector<Scalar> level(values.begin(), values.end());
  while (level.size() > kChunk) {
    std::vector<Scalar> results;
    for (std::size_t begin = 0; begin < level.size(); begin += kChunk) {
      const std::size_t length = std::min(kChunk, level.size() - begin);
      results.push_back(
          chunk_tree(std::span<const Scalar>(level).subspan(begin, length), start, combine));
    }
    level = std::move(results);
  }
  return chunk_tree(std::span<const Scalar>(level), start, combine);
}

template <class Scalar>
Scalar sum_tree(std::span<const Scalar> values) {
  return row_tree(values, Scalar(0), [](Scalar a, Scalar b) { return a + b; });
}

// N3
template <class Scalar>
std::vector<Scalar> column_tree(std::span<const Scalar> matrix, std::int64_t columns) {
  const std::int64_t rows = static_cast<std::int64_t>(matrix.size()) / columns;
  std::vector<Scalar> totals(columns, Scalar(0));
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t begin = 0; begin < rows; begin += kRowsOfChunk) {
      Scalar chunk = 0;
      const std::int64_t end = std::min(begin + kRowsOfChunk, rows);
      for (std::int64_t i = begin; i < end; ++i) chunk = chunk + matrix[i * columns + j];
      totals[j] = totals[j] + chunk;
    }
  }
  return totals;
}

}  // namespace

float exp(float x) { return recipe::exp(x); }
float log(float x) { return recipe::log(x); }
float tanh(float x) { return recipe::tanh(x); }
float erf(float x) { return recipe::erf(x); }
float sigmoid(float x) { return recipe::sigmoid(x); }
float rsqrt(float x) { return recipe::rsqrt(x); }
double exp(double x) { return std::exp(x); }
double log(double x) { return std::log(x); }
double tanh(double x) { return std::tanh(x); }
double erf(double x) { return std::erf(x); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrt(double x) { return 1 / std::sqrt(x); }

float sum(std::span<const float> values) { return sum_tree(values); }
Bounded sum(std::span<const Bounded> values) { return sum_tree(values); }

double sum(std::span<const double> values) {
  double total = 0;
  for (double value : values) total += value;
  return total;
}

float row_maximum(std::span<const float> values) {
  return row_tree(values, -std::numeric_limits<float>::infinity(), maximum<float>);
}

double row_maximum(std::span<const double> values) {
  double result = -std::numeric_limits<double>::infinity();
  for (double value : values) result = maximum(result, value);
  return result;
}

std::vector<float> column_sums(std::span<const float> matrix, std::int64_t columns) {
  return column_tree(matrix, columns);
}

std::vector<Bounded> column_sums(std::span<const Bounded> matrix, std::int64_t columns) {
  return column_tree(matrix, columns);
}

std::vector<double> column_sums(std::span<const double> matrix, std::int64_t columns) {
  std::vector<double> totals(columns, 0.0);
  for (std::size_t e = 0; e < matrix.size(); ++e) totals[e % columns] += matrix[e];
  return totals;
}

}  // namespace halftone::reference
