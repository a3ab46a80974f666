// SPDX-License-Identifier: Apache-2.0
// What the kernels of symbolic.mlir compute, element by element; n is the length of a row.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "reference.hpp"

namespace symbolic {

using reference::Values;
using Labels = std::vector<int>;
using Codes = std::vector<std::uint16_t>;

inline constexpr std::size_t kRows = 11;

/// Fractions whose sums do not fit 24 bits, so that their order shows, with zeros of both signs.
inline Values drawn(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Values values;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t word = random();
    values.push_back(word % 16 == 0 ? (word % 32 ? 0.0f : -0.0f)
                                    : static_cast<float>(word >> 8) * 0x1p-22f - 2.0f);
  }
  return values;
}

/// The values whose codes have 16 bits.
inline Codes as_bf16(const Values& values) {
  Codes codes;
  for (float value : values)
    codes.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
  return codes;
}
inline float widened(std::uint16_t code) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
}

/// make(i, j) for every element of [rows, n].
template <class Make>
Values each(std::size_t rows, std::size_t n, Make make) {
  Values result;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < n; ++j) result.push_back(make(i, j));
  return result;
}

inline Values addressed(std::size_t n, const Values& x, const Codes& h, const Values& y,
                        const Values& narrow, const Values& c, const Values& r) {
  return each(kRows, n, [&](std::size_t i, std::size_t j) {
    const float next = j + 2 < n ? y[i * n + j + 2] : 0.0f;
    const float before = j >= 1 && j < 6 ? narrow[i * 5 + j - 1] : 0.0f;
    const float chosen = j > 3 ? widened(h[i * n + j]) : x[i * n + j];
    const float scaled = (chosen + (next - before)) * r[i];
    return scaled + c[j];
  });
}

inline Values rowless(std::size_t n, const Values& x, const Values& y) {
  return each(kRows, n, [&](std::size_t i, std::size_t j) {
    return x[i * n + j] / static_cast<float>(n) + y[i * n + j];
  });
}

inline Values read_by_maps(std::size_t n, const Values& turned, const Values& pairs) {
  return each(kRows, n, [&](std::size_t i, std::size_t j) {
    return turned[j * kRows + i] - (j + 1 < n ? pairs[i / 2 * n + j + 1] : 0.0f);
  });
}

/// Calls test(name, what the results shall be, operands...) for every elementwise kernel.
template <class Test>
void each_elementwise(std::size_t n, const Test& test) {
  const Values x = drawn(kRows * n, 1), y = drawn(kRows * n, 2), narrow = drawn(kRows * 5, 3),
               c = drawn(n, 4), r = drawn(kRows, 5), pairs = drawn(6 * n, 6);
  const Codes h = as_bf16(drawn(kRows * n, 7));
  using Results = std::vector<Values>;
  test("addressed", Results{addressed(n, x, h, y, narrow, c, r)}, x, h, y, narrow, c, r);
  test("rowless", Results{rowless(n, x, y)}, x, y);
  test("read_by_maps", Results{read_by_maps(n, x, pairs)}, x, pairs);
}

inline Values row_of(const Values& x, std::size_t i, std::size_t n) {
  return {x.begin() + static_cast<std::ptrdiff_t>(i * n),
          x.begin() + static_cast<std::ptrdiff_t>((i + 1) * n)};
}

/// The elements and every row's maximum.
inline std::vector<Values> normalised(std::size_t n, const Values& x, const Values& c) {
  Values y, maxima;
  for (std::size_t i = 0; i < kRows; ++i) {
    const Values row = row_of(x, i, n);
    const float mean = reference::row_sum(row) / static_cast<float>(n);
    Values squares;
    for (const float a : row) squares.push_back((a - mean) * (a - mean));
    const float root = std::sqrt(reference::row_sum(squares));
    maxima.push_back(reference::row_max(row));
    for (std::size_t j = 0; j < n; ++j)
      y.push_back(std::fma((row[j] - mean) / root, c[j], maxima.back()));
  }
  return {y, maxima};
}

inline Values narrowed(std::size_t n, const Codes& h) {
  Values wide, y;
  for (std::uint16_t code : h) wide.push_back(widened(code));
  for (std::size_t i = 0; i < kRows; ++i) {
    const Values row = row_of(wide, i, n);
    const float sum = reference::row_sum(row);
    for (const float a : row) y.push_back(a - sum);
  }
  return y;
}

/// The loss and every row's term of it.
inline std::vector<Values> picked_loss(std::size_t n, const Values& x, const Labels& labels,
                                       const Values& scale) {
  Values terms;
  for (std::size_t i = 0; i < kRows; ++i) {
    const Values row = row_of(x, i, n);
    const auto label = static_cast<std::uint32_t>(labels[i]);
    Values only(n);
    if (label < n) only[label] = row[label];
    terms.push_back(reference::row_max(row) - (label < n ? reference::row_sum(only) : -1.0f));
  }
  return {{reference::row_sum(terms) * scale[0]}, terms};
}

/// Calls test(name, what the results shall be, operands...) for every kernel over rows.
template <class Test>
void each_row_kernel(std::size_t n, const Test& test) {
  Values x = drawn(kRows * n, 8);
  for (std::size_t j = 0; j < n; ++j)  // whose maximum depends on the order of comparisons
    x[3 * n + j] = j * 7 % 11 < 5 ? -0.0f : 0.0f;
  const Values c = drawn(n, 9), scale{0.37f};
  const Codes h = as_bf16(x);
  Labels labels;
  for (std::size_t i = 0; i < kRows; ++i)  // beside the columns in some rows
    labels.push_back(i % 4 == 3 ? static_cast<int>(n) - 2 * static_cast<int>(i % 8)
                                : static_cast<int>(i * 977 % n));
  test("normalised", normalised(n, x, c), x, c);
  test("narrowed", std::vector<Values>{narrowed(n, h)}, h);
  test("picked_loss", picked_loss(n, x, labels, scale), x, labels, scale);
}

/// Every column's sum, and what is summed.
inline std::vector<Values> column_sums(std::size_t n, const Values& x, const Values& weights) {
  const Values products =
      each(300, n, [&](std::size_t i, std::size_t j) { return x[i * n + j] * weights[i]; });
  Values sums;
  for (std::size_t j = 0; j < n; ++j) {
    Values column;
    for (std::size_t i = 0; i < 300; ++i) column.push_back(products[i * n + j]);
    sums.push_back(reference::column_sum(column));
  }
  return {sums, products};
}

/// Calls test(name, what the results shall be, operands...) for the kernel that sums over rows.
template <class Test>
void each_column_kernel(std::size_t n, const Test& test) {
  const Values x = drawn(300 * n, 18), weights = drawn(300, 19);
  test("column_sums", column_sums(n, x, weights), x, weights);
}

/// N1 for every element of a batch; at(element, row or column, k).
template <class Lhs, class Rhs>
Values products(std::size_t elements, std::size_t rows, std::size_t columns, std::size_t depth,
                Lhs lhs, Rhs rhs) {
  Values result;
  for (std::size_t e = 0; e < elements; ++e)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        float sum = 0.0f;
        for (std::size_t k = 0; k < depth; ++k) sum = std::fma(lhs(e, i, k), rhs(e, j, k), sum);
        result.push_back(sum);
      }
  return result;
}

/// queries: [11, 10], keys: [n, 10]
inline Values scores(std::size_t n, const Values& queries, const Values& keys, const Values& c,
                     const Values& y) {
  Values sums = products(
      1, kRows, n, 10,
      [&](std::size_t, std::size_t i, std::size_t k) { return queries[i * 10 + k]; },
      [&](std::size_t, std::size_t j, std::size_t k) { return keys[j * 10 + k]; });
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = (sums[i] + c[i % n]) * y[i];
  return sums;
}

/// lk: [10, 11], rk: [10, n]; also the sums of lk over its rows
inline std::vector<Values> turned_plain(std::size_t n, const Codes& lk, const Values& rk) {
  Values sums;
  for (std::size_t i = 0; i < kRows; ++i) {
    Values column;
    for (std::size_t k = 0; k < 10; ++k) column.push_back(widened(lk[k * kRows + i]));
    sums.push_back(reference::column_sum(column));
  }
  return {products(
              1, kRows, n, 10,
              [&](std::size_t, std::size_t i, std::size_t k) { return widened(lk[k * kRows + i]); },
              [&](std::size_t, std::size_t j, std::size_t k) { return rk[k * n + j]; }),
          sums};
}

/// q, k: [2, 3, n, 7]
inline Values attention_scores(std::size_t n, const Values& q, const Values& k) {
  const auto at = [&](const Values& x) {
    return [&](std::size_t e, std::size_t t, std::size_t d) { return x[(e * n + t) * 7 + d]; };
  };
  return products(6, n, n, 7, at(q), at(k));
}

/// p: [2, 3, n, n], v: [2, 3, n, 7]
inline Values attention_values(std::size_t n, const Values& p, const Values& v) {
  return products(
      6, n, 7, n,
      [&](std::size_t e, std::size_t i, std::size_t t) { return p[(e * n + i) * n + t]; },
      [&](std::size_t e, std::size_t j, std::size_t t) { return v[(e * n + t) * 7 + j]; });
}

/// Calls test(name, what the results shall be, operands...) for every contraction.
template <class Test>
void each_contraction(std::size_t n, const Test& test) {
  using Results = std::vector<Values>;
  const Values queries = drawn(kRows * 10, 10), keys = drawn(n * 10, 11), c = drawn(n, 12),
               y = drawn(kRows * n, 13);
  test("scores", Results{scores(n, queries, keys, c, y)}, queries, keys, c, y);
  const Codes lk = as_bf16(drawn(kRows * 10, 14));
  test("turned_plain", turned_plain(n, lk, keys), lk, keys);
  const Values q = drawn(6 * n * 7, 15), k = drawn(6 * n * 7, 16), p = drawn(6 * n * n, 17);
  test("attention_scores", Results{attention_scores(n, q, k)}, q, k);
  test("attention_values", Results{attention_values(n, p, k)}, p, k);
}

}  // namespace symbolic
