// SPDX-License-Identifier: Apache-2.0
// Fused multiply-adds on registers alone: the most floating point operations that a core does.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace halftone::tests {

inline constexpr int kFmaChains = 12;  ///< independent, to hide the latency
/// Of one round.
inline constexpr double kFmaOperations256 = 2.0 * 8 * kFmaChains;
inline constexpr double kFmaOperations512 = 2.0 * 16 * kFmaChains;

[[gnu::target("avx2,fma"), gnu::noinline]] inline void fma_256(std::int64_t rounds) {
  const __m256 factor = _mm256_set1_ps(0.5f), addend = _mm256_set1_ps(1.0f);
  __m256 chains[kFmaChains];
  for (__m256& chain : chains) chain = addend;
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m256& chain : chains) chain = _mm256_fmadd_ps(chain, factor, addend);
  }
  for (const __m256 chain : chains) asm volatile("" : : "x"(chain));
}

[[gnu::target("avx512f"), gnu::noinline]] inline void fma_512(std::int64_t rounds) {
  const __m512 factor = _mm512_set1_ps(0.5f), addend = _mm512_set1_ps(1.0f);
  __m512 chains[kFmaChains];
  for (__m512& chain : chains) chain = addend;
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m512& chain : chains) chain = _mm512_fmadd_ps(chain, factor, addend);
  }
  for (const __m512 chain : chains) asm volatile("" : : "v"(chain));
}

}  // namespace halftone::tests
