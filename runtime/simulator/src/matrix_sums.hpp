// SPDX-License-Identifier: Apache-2.0
// What the tensor-core instructions add up: exactly, and as badly as hardware may. Which bits a
// chip keeps is not documented; a kernel is right only if it holds its bound under both.
#pragma once

#include <cstdint>

namespace halftone::simulator {

enum class AccumulatorFormat : std::uint8_t { f32, f16 };

struct SumRules {
  bool truncating = false;
  int block = 8;       // truncating: products added at once, before the running sum is truncated
  int kept_bits = 24;  // truncating: significant bits that survive alignment to the largest term
  AccumulatorFormat accumulator = AccumulatorFormat::f32;
};

/// The pessimistic rules by bytes of an operand element: blocks of 4 tf32 or 8 16-bit products keep
/// 24 bits, as measured on V100 and A100 (Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of
/// NVIDIA tensor cores, 2021); blocks of 16 8-bit products keep 14, as reported for Hopper
/// (DeepSeek-V3 technical report, 3.3.2), and so do those of 4 bits here.
SumRules truncating_rules(int element_bytes, AccumulatorFormat accumulator);

/// d(m, n) = c(m, n) + sum over k of a(m, k) * b(k, n); rows of a, b and c are contiguous, d may be
/// c. Exact: products and sum in double (products of all formats up to tf32 are exact; the sum of
/// at most 64 terms errs by less than 2^-47 of the largest), rounded once to the accumulator,
/// nearest even. Truncating: c and `block` products at a time are aligned to the largest, cut
/// towards zero to `kept_bits` below it, added, and the sum is cut towards zero to the accumulator.
/// Infinities and NaN follow IEEE 754; a NaN result is 7fffffff.
void multiply_add(const float* a, const float* b, const float* c, float* d, int m, int n, int k,
                  const SumRules& rules);

}  // namespace halftone::simulator
