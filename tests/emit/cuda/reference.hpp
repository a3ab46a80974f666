// SPDX-License-Identifier: Apache-2.0
// The sums of docs/spec/description.md, N1 to N5, as plainly as they can be written.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace reference {

using Values = std::vector<float>;

inline float plus(float a, float b) { return a + b; }
inline float maximum(float a, float b) { return a > b || std::isnan(a) ? a : b; }  // N5

/// N2, from `start` with `combine`.
inline float tree(const Values& v, float start, float (*combine)(float, float)) {
  if (v.size() > 1024) {
    Values results;
    for (std::size_t first = 0; first < v.size(); first += 1024)
      results.push_back(tree(
          Values(v.begin() + first, v.begin() + std::min(first + 1024, v.size())), start, combine));
    return tree(results, start, combine);
  }
  Values p(32, start);
  for (std::size_t e = 0; e < v.size(); ++e) p[e % 32] = combine(p[e % 32], v[e]);
  for (std::size_t s : {16, 8, 4, 2, 1})
    for (std::size_t l = 0; l < s; ++l) p[l] = combine(p[l], p[l + s]);
  return p[0];
}
inline float row_sum(const Values& v) { return tree(v, 0.0f, plus); }
inline float row_max(const Values& v) {
  return tree(v, -std::numeric_limits<float>::infinity(), maximum);
}

/// N3.
inline float column_sum(const Values& v) {
  float total = 0.0f;
  for (std::size_t first = 0; first < v.size(); first += 128) {
    float chain = 0.0f;
    for (std::size_t i = first; i < std::min(first + 128, v.size()); ++i) chain += v[i];
    total += chain;
  }
  return total;
}

/// N1.
inline float contraction(const Values& a, const Values& b) {
  float sum = 0.0f;
  for (std::size_t k = 0; k < a.size(); ++k) sum = std::fma(a[k], b[k], sum);
  return sum;
}

}  // namespace reference
