// SPDX-License-Identifier: Apache-2.0
// The trees N2 to N4 and the functions N6 in both arithmetics.
#include "numerics.hpp"

#include <algorithm>
#include <limits>
#include <numbers>

#include "recipes.hpp"

namespace halftone::reference {
namespace {

constexpr double kSqrtTwoOverPi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double kCubic = 0.044715;

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

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// x times what lies between 0 and 1, which takes infinities along (D24, D25, D32).
double share_of(double x, double part) { return part == 0 ? -0.0 : x * part; }

double normal(double x) { return 0.5 * std::erfc(-x * (0.5 * std::numbers::sqrt2)); }

double gelu_tanh_argument(double x) { return 2 * kSqrtTwoOverPi * (x + kCubic * x * x * x); }

}  // namespace

float exp(float x) { return recipe::exp(x); }
float expm1(float x) { return recipe::expm1(x); }
float log(float x) { return recipe::log(x); }
float log1p(float x) { return recipe::log1p(x); }
float sin(float x) { return recipe::sin(x); }
float cos(float x) { return recipe::cos(x); }
float pow(float x, float y) { return recipe::pow(x, y); }
float tanh(float x) { return recipe::tanh(x); }
float erf(float x) { return recipe::erf(x); }
float sigmoid(float x) { return recipe::sigmoid(x); }
float rsqrt(float x) { return recipe::rsqrt(x); }
double exp(double x) { return std::exp(x); }
double expm1(double x) { return std::expm1(x); }
double log(double x) { return std::log(x); }
double log1p(double x) { return std::log1p(x); }
double sin(double x) { return std::sin(x); }
double cos(double x) { return std::cos(x); }
double pow(double x, double y) { return std::pow(x, y); }
double tanh(double x) { return std::tanh(x); }
double erf(double x) { return std::erf(x); }
double sigmoid(double x) { return logistic(x); }
double rsqrt(double x) { return 1 / std::sqrt(x); }

#define HALFTONE_GRADED(function)                                                    \
  float function(float x, Grade grade) {                                             \
    return grade == Grade::full ? recipe::function(x) : recipe::narrow::function(x); \
  }
HALFTONE_GRADED(exp)
HALFTONE_GRADED(tanh)
HALFTONE_GRADED(sigmoid)
HALFTONE_GRADED(gelu_erf)
HALFTONE_GRADED(gelu_erf_derivative)
HALFTONE_GRADED(gelu_tanh)
HALFTONE_GRADED(gelu_tanh_derivative)
HALFTONE_GRADED(silu)
HALFTONE_GRADED(silu_derivative)
#undef HALFTONE_GRADED

double exp(double x, Grade) { return exp(x); }
double tanh(double x, Grade) { return tanh(x); }
double sigmoid(double x, Grade) { return sigmoid(x); }

double gelu_erf(double x, Grade) { return share_of(x, normal(x)); }

double gelu_erf_derivative(double x, Grade) {
  const double density = std::exp(-0.5 * x * x) * (0.5 * kSqrtTwoOverPi);
  return normal(x) + (density == 0 ? 0 : x * density);
}

double gelu_tanh(double x, Grade) { return share_of(x, sigmoid(gelu_tanh_argument(x))); }

double gelu_tanh_derivative(double x, Grade) {
  const double u = gelu_tanh_argument(x), slope = 2 * kSqrtTwoOverPi * (1 + 3 * kCubic * x * x);
  const double both = sigmoid(u) * sigmoid(-u);
  return sigmoid(u) + (both == 0 ? 0 : x * both * slope);
}

double silu(double x, Grade) { return share_of(x, sigmoid(x)); }

double silu_derivative(double x, Grade) {
  const double both = sigmoid(x) * sigmoid(-x);
  return sigmoid(x) + (both == 0 ? 0 : x * both);
}

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
