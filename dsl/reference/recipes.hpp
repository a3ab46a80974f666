// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/spec/math.md (rule N6): what functions mean, bit by bit.
#pragma once

namespace halftone::reference::recipe {

// Each function is defined for every float: zeros keep the sign the function gives them, subnormals
// are neither flushed nor produced early, overflow gives infinity, a NaN gives a NaN. Bits follow
// from math.md alone, given round-to-nearest-even; the largest errors against correctly rounded
// results are in docs/numerics.md.
[[nodiscard]] float exp(float x);      // R1
[[nodiscard]] float log(float x);      // R2: log(+-0) is -infinity, of a negative number NaN
[[nodiscard]] float tanh(float x);     // R3
[[nodiscard]] float erf(float x);      // R4
[[nodiscard]] float sigmoid(float x);  // R5: 1 / (1 + exp(-x))
[[nodiscard]] float rsqrt(float x);    // R6: 1 / sqrt(x); rsqrt(-0) is -infinity

// R1 in fewer operations, with its bits for every x that is not above zero.
[[nodiscard]] float exp_of_nonpositive(float x);

[[nodiscard]] float gelu_erf(float x);              // R7
[[nodiscard]] float gelu_erf_derivative(float x);   // R8
[[nodiscard]] float gelu_tanh(float x);             // R9
[[nodiscard]] float gelu_tanh_derivative(float x);  // R10
[[nodiscard]] float silu(float x);                  // R11
[[nodiscard]] float silu_derivative(float x);       // R12

[[nodiscard]] float log1p(float x);  // R22: log(1 + x); of -1 -infinity, below it NaN
[[nodiscard]] float expm1(float x);  // R23: exp(x) - 1

[[nodiscard]] float sin(float x);  // R24: in radians, of every finite x; of infinities NaN
[[nodiscard]] float cos(float x);  // R25: likewise

[[nodiscard]] float pow(float x, float y);  // R26: with IEEE 754's special cases

// For results that are rounded to f16 or bf16 with nothing in between (N10).
namespace narrow {
[[nodiscard]] float exp(float x);                   // R13
[[nodiscard]] float tanh(float x);                  // R14
[[nodiscard]] float sigmoid(float x);               // R15
[[nodiscard]] float gelu_erf(float x);              // R16
[[nodiscard]] float gelu_erf_derivative(float x);   // R17
[[nodiscard]] float gelu_tanh(float x);             // R18
[[nodiscard]] float gelu_tanh_derivative(float x);  // R19
[[nodiscard]] float silu(float x);                  // R20
[[nodiscard]] float silu_derivative(float x);       // R21
}  // namespace narrow

}  // namespace halftone::reference::recipe
