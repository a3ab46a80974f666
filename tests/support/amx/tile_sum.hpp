// SPDX-License-Identifier: Apache-2.0
// The sum of products that AMX's tiles make, by the formula of TDPBF16PS ("Intel 64 and IA-32
// Architectures Software Developer's Manual", volume 2): 32 k at a time the even ones are a chain
// from zero and the odd ones another, whose sum joins that of the former k; all to the nearest, and
// subnormal factors and results are zeros.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace halftone::tests::amx {

inline float flushed(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0f, value) : value;
}

/// Added to `sum`.
inline float tile_sum(std::span<const float> a, std::span<const float> b, float sum = 0) {
  constexpr std::size_t kDepth = 32;
  for (std::size_t block = 0; block < a.size(); block += kDepth) {
    float chains[2] = {};
    for (std::size_t k = block; k < a.size() && k < block + kDepth; ++k) {
      chains[k % 2] = flushed(std::fma(flushed(a[k]), flushed(b[k]), chains[k % 2]));
    }
    sum = flushed(flushed(sum) + flushed(chains[0] + chains[1]));
  }
  return sum;
}

}  // namespace halftone::tests::amx
