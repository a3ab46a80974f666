// SPDX-License-Identifier: Apache-2.0
// cpu_speed: GFLOP/s of the contractions of speed.mlir.in on one thread, by variant, and of
// register-only FMA.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "halftone/manifest/manifest.hpp"

extern "C" const halftone::manifest::ArtifactImage halftone_artifact_emit_cpu;

namespace {

/// Twelve independent chains of 8-lane FMA: the ceiling of an AVX2 variant.
[[gnu::target("avx2,fma"), gnu::noinline]] double fma_ceiling() {
  constexpr int kChains = 12, kRounds = 1 << 22;
  __m256 factor = _mm256_set1_ps(0.5f), addend = _mm256_set1_ps(1.0f), chains[kChains];
  for (__m256& chain : chains) chain = addend;
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chains[i] = _mm256_fmadd_ps(chains[i], factor, addend);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  for (const __m256 chain : chains) asm volatile("" : : "x"(chain));
  return 2.0 * 8 * kChains * kRounds / seconds.count() * 1e-9;
}

double median_seconds(const std::vector<double>& times) {
  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

}  // namespace

int main() {
  constexpr std::int64_t kBatch = 256, kColumns = 512, kDepth = 512;
  const auto& image = halftone_artifact_emit_cpu;
  halftone::manifest::Manifest manifest;
  halftone::manifest::DecodeError error;
  if (!decode({image.manifest, image.manifest_bytes}, manifest, error)) return 1;
  std::vector<float> lhs(kBatch * kDepth, 0.5f), rhs(kDepth * kColumns, 0.25f),
      result(kBatch * kColumns);
  const void* arguments[] = {lhs.data(), rhs.data(), result.data()};
  std::printf("fma ceiling %.0f GFLOP/s\n", fma_ceiling());
  for (std::size_t variant = 0; variant < manifest.variants.size(); ++variant)
    for (const auto& kernel : manifest.kernels) {
      using Entry = void (*)(const void* const*, const std::int64_t*, std::int64_t, std::int64_t);
      const auto entry =
          reinterpret_cast<Entry>(const_cast<void*>(image.cpu_entries[variant][kernel.cpu_entry]));
      const std::int64_t tasks = task_count(kernel, std::vector<std::int64_t>{kBatch});
      std::vector<double> times;
      for (int run = 0; run < (variant == 0 ? 101 : 5); ++run) {
        const auto begin = std::chrono::steady_clock::now();
        entry(arguments, &kBatch, 0, tasks);
        times.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      }
      std::printf("%-10s %-24s %8.1f GFLOP/s\n", manifest.variants[variant].c_str(),
                  kernel.name.c_str(), 2e-9 * kBatch * kColumns * kDepth / median_seconds(times));
    }
}
