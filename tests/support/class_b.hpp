// SPDX-License-Identifier: Apache-2.0
// The bound of class B (N8): how far a contraction's stored result may lie from the exact sum when
// its f32 partial sums are added in an order of the kernel's choice. Source of k * u: N. Higham,
// Accuracy and Stability of Numerical Algorithms, 3.1.
#pragma once

#include <cmath>

#include "halftone/description/description.hpp"

namespace halftone::tests {

/// Who adds: correctly rounded f32 additions in any order, or a tensor core that cuts its partial
/// sums.
enum class Adder { rounded, tensor_core };

/// Half a unit in the last place of 1, and of the smallest subnormal.
struct Roundoff {
  double relative, absolute;
};

inline Roundoff roundoff(description::Format format) {
  switch (format) {
    case description::Format::f16:
      return {0x1p-11, 0x1p-25};
    case description::Format::bf16:
      return {0x1p-8, 0x1p-134};
    case description::Format::tf32:
      return {0x1p-11, 0x1p-137};
    default:
      return {0x1p-24, 0x1p-150};
  }
}

/// The largest |stored result - exact| of one element: `magnitude` is the exact sum of |a||b| over
/// k products.
inline double class_b_bound(std::int64_t k, double exact, double magnitude, Adder adder,
                            description::Format stored) {
  const double unit = adder == Adder::rounded ? 0x1p-24 : 0x1p-23;
  const double sum = static_cast<double>(k) * unit * magnitude;
  const Roundoff out = roundoff(stored);
  return sum + out.relative * (std::fabs(exact) + sum) + out.absolute;
}

}  // namespace halftone::tests
