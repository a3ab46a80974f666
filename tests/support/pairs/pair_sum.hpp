// SPDX-License-Identifier: Apache-2.0
// The sum of products that AVX512-BF16 makes of pairs, by the formula of VDPBF16PS ("Intel 64 and
// IA-32 Architectures Software Developer's Manual", volume 2): fused multiply-adds, here with k
// ascending, to the nearest; subnormal factors and results are zeros.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace halftone::tests::pairs {

inline float flushed(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0f, value) : value;
}

/// Added to `sum`; an odd number of products has one of zeros behind it.
inline float pair_sum(std::span<const float> a, std::span<const float> b, float sum = 0) {
  sum = flushed(sum);
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum = flushed(std::fma(flushed(a[k]), flushed(b[k]), sum));
  }
  return a.size() % 2 == 0 ? sum : sum + 0.0f;
}

}  // namespace halftone::tests::pairs
