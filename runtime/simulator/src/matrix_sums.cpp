// SPDX-License-Identifier: Apache-2.0
#include "matrix_sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "formats.hpp"

namespace halftone::simulator {
namespace {

constexpr int kColumns = 8;  // columns of d at a time

float canonical(float x) { return std::isnan(x) ? std::bit_cast<float>(0x7fffffffu) : x; }

float rounded(double sum, AccumulatorFormat format) {
  if (format == AccumulatorFormat::f32) return canonical(static_cast<float>(sum));
  return canonical(decode(NumberFormat::f16, encode(NumberFormat::f16, sum)));
}

float truncated(double sum, AccumulatorFormat format) {
  if (format == AccumulatorFormat::f16)
    return canonical(
        decode(NumberFormat::f16, encode(NumberFormat::f16, sum, {Rounding::toward_zero})));
  const float nearest = static_cast<float>(sum);
  if (!std::isfinite(sum)) return canonical(nearest);
  return std::fabs(nearest) > std::fabs(sum) ? std::nextafter(nearest, 0.0f) : nearest;
}

/// Eight columns of d. Products of two formats of at most 24 significant bits are exact in double,
/// so that it is all the same whether they are fused with the sum.
[[gnu::always_inline]] inline void exact_columns(const float* a, const float* b, double* sums,
                                                 int n, int k) {
  double total[kColumns] = {};
  for (int i = 0; i < k; ++i) {
    const double x = a[i];
    const float* row = b + static_cast<std::ptrdiff_t>(i) * n;
    for (int j = 0; j < kColumns; ++j) total[j] += x * static_cast<double>(row[j]);
  }
  for (int j = 0; j < kColumns; ++j) sums[j] = total[j];
}
void columns_plain(const float* a, const float* b, double* sums, int n, int k) {
  exact_columns(a, b, sums, n, k);
}
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void columns_avx2(const float* a, const float* b, double* sums, int n,
                                              int k) {
  exact_columns(a, b, sums, n, k);
}
#endif
using Columns = void (*)(const float*, const float*, double*, int, int);
Columns fastest_columns() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return columns_avx2;
#endif
  return columns_plain;
}

void exact_row(const float* a, const float* b, const float* c, float* d, int n, int columns, int k,
               AccumulatorFormat accumulator) {
  static const Columns sum_columns = fastest_columns();
  double sums[kColumns] = {};
  if (columns == kColumns) {
    sum_columns(a, b, sums, n, k);
  } else {
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < columns; ++j)
        sums[j] += static_cast<double>(a[i]) *
                   static_cast<double>(b[static_cast<std::ptrdiff_t>(i) * n + j]);
  }
  for (int j = 0; j < columns; ++j)
    d[j] = rounded(sums[j] + static_cast<double>(c[j]), accumulator);
}

// The sum of terms, each cut to a multiple of the last place kept below the largest. Terms carry at
// most 24 + 1 places each after cutting, so that the sum of 17 of them is exact in double.
double aligned_sum(const double* terms, int count, int kept_bits) {
  double largest = 0, plain = 0;
  for (int i = 0; i < count; ++i) {
    largest = std::max(largest, std::fabs(terms[i]));
    plain += terms[i];
  }
  if (!std::isfinite(plain) || largest == 0) return plain;
  const int last = std::ilogb(largest) - kept_bits + 1;
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += std::ldexp(std::trunc(std::ldexp(terms[i], -last)), last);
  return sum;
}

float truncating_element(const float* a, const float* b, float c, int n, int k,
                         const SumRules& rules) {
  float sum = c;
  for (int start = 0; start < k; start += rules.block) {
    double terms[33] = {static_cast<double>(sum)};
    const int count = std::min(rules.block, k - start);
    for (int i = 0; i < count; ++i)
      terms[i + 1] = static_cast<double>(a[start + i]) *
                     static_cast<double>(b[static_cast<std::ptrdiff_t>(start + i) * n]);
    sum = truncated(aligned_sum(terms, count + 1, rules.kept_bits), rules.accumulator);
  }
  return sum;
}

}  // namespace

SumRules truncating_rules(int element_bytes, AccumulatorFormat accumulator) {
  return {true, 16 / element_bytes, element_bytes == 1 ? 14 : 24, accumulator};
}

void multiply_add(const float* a, const float* b, const float* c, float* d, int m, int n, int k,
                  const SumRules& rules) {
  for (int row = 0; row < m; ++row, a += k, c += n, d += n) {
    if (rules.truncating) {
      for (int j = 0; j < n; ++j) d[j] = truncating_element(a, b + j, c[j], n, k, rules);
      continue;
    }
    for (int j = 0; j < n; j += kColumns)
      exact_row(a, b + j, c + j, d + j, n, std::min(kColumns, n - j), k, rules.accumulator);
  }
}

}  // namespace halftone::simulator
