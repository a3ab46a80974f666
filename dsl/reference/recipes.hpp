// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/spec/math.md (rule N6), line by line: what exp, log, tanh, erf, sigmoid and rsqrt mean, bit by bit.
#pragma once

namespace halftone::reference::recipe {

// Each function is defined for every float: zeros keep the sign the function gives them, subnormals are neither flushed
// nor produced early, overflow gives infinity, a NaN gives a NaN. Bits follow from math.md alone, given round-to-nearest-even;
// the largest errors against correctly rounded results are in docs/numerics.md.
[[nodiscard]] float exp(float x);      // R1
[[nodiscard]] float log(float x);      // R2: log(+-0) is -infinity, of a negative number NaN
[[nodiscard]] float tanh(float x);     // R3
[[nodiscard]] float erf(float x);      // R4
[[nodiscard]] float sigmoid(float x);  // R5: 1 / (1 + exp(-x))
[[nodiscard]] float rsqrt(float x);    // R6: 1 / sqrt(x); rsqrt(-0) is -infinity

}  // namespace halftone::reference::recipe
