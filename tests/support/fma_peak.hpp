// SPDX-License-Identifier: Apache-2.0
// Fused multiply-adds, and products of bf16 in pairs and by tiles, on registers alone: the most
// floating point operations that a core does.
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

inline constexpr int kPairChains = 16;  ///< likewise
inline constexpr double kPairOperations = 2.0 * 32 * kPairChains;

[[gnu::target("avx512f,avx512bf16"), gnu::noinline]] inline void pair_products(
    std::int64_t rounds) {
  const auto ones = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3f803f80));
  __m512 chains[kPairChains];
  for (__m512& chain : chains) chain = _mm512_setzero_ps();
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (__m512& chain : chains) chain = _mm512_dpbf16_ps(chain, ones, ones);
  }
  for (const __m512 chain : chains) asm volatile("" : : "v"(chain));
}

inline constexpr int kTileChains = 4;
/// Of one round: 16 x 16 sums, 32 products each.
inline constexpr double kTileOperations = 2.0 * 16 * 16 * 32 * kTileChains;

/// The process must have Linux's permission for tiles.
[[gnu::target("amx-tile,amx-bf16"), gnu::noinline]] inline void tile_products(std::int64_t rounds) {
  // Palette 1, eight tiles of 16 rows of 64 bytes (LDTILECFG).
  alignas(64) std::uint8_t configuration[64] = {1};
  for (int tile = 0; tile < 8; ++tile) {
    configuration[16 + 2 * tile] = 64;
    configuration[48 + tile] = 16;
  }
  _tile_loadconfig(configuration);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (std::int64_t round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}

}  // namespace halftone::tests
