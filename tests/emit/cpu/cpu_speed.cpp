// SPDX-License-Identifier: Apache-2.0
// cpu_speed: GFLOP/s of the contractions of speed.mlir.in on one thread, by variant, beside those
// of register-only FMA; GB/s of its conversions beside those of memcpy.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "fma_peak.hpp"
#include "halftone/manifest/blocks.hpp"
#include "halftone/manifest/plan.hpp"
#include "processor.hpp"

extern "C" const halftone::manifest::ArtifactImage halftone_artifact_emit_cpu;

namespace {

/// GFLOP/s of register-only FMA: the ceiling of an AVX2 variant.
double fma_ceiling() {
  constexpr int kRounds = 1 << 22;
  const auto begin = std::chrono::steady_clock::now();
  halftone::tests::fma_256(kRounds);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return halftone::tests::kFmaOperations256 * kRounds / seconds.count() * 1e-9;
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class Work>
double seconds(int runs, Work work) {
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return median(times);
}

constexpr std::int64_t kBatch = 256, kColumns = 512, kDepth = 512, kCastColumns = 4096;

/// Values that are finite in every format.
std::vector<float> values(std::int64_t count) {
  return std::vector<float>(static_cast<std::size_t>(count), 0.25f);
}

/// Bytes that a conversion moves per element.
std::int64_t bytes_moved(const std::string& kernel) {
  return kernel.find("_tf32") != std::string::npos ? 8 : 6;
}

}  // namespace

int main() {
  const auto& image = halftone_artifact_emit_cpu;
  halftone::manifest::Manifest manifest;
  halftone::manifest::DecodeError error;
  if (!decode({image.manifests->bytes, image.manifests->size}, manifest, error)) return 1;
  std::vector<float> lhs = values(kBatch * kCastColumns), rhs = values(kDepth * kColumns),
                     result(kBatch * kCastColumns);
  const std::size_t bytes = lhs.size() * sizeof(float);
  std::printf("fma ceiling %.0f GFLOP/s\n", fma_ceiling());
  std::printf("memcpy %.1f GB/s read and written\n",
              2e-9 * bytes / seconds(101, [&] { std::memcpy(result.data(), lhs.data(), bytes); }));
  const auto runnable = halftone::runnable_variants(halftone::this_processor());
  for (std::size_t variant = 0; variant < manifest.variants.size(); ++variant)
    for (const auto& kernel : manifest.kernels) {
      if (std::ranges::count(runnable, manifest.variants[variant]) == 0) continue;
      using Entry = void (*)(const void* const*, const std::int64_t*, std::int64_t, std::int64_t,
                             const halftone::manifest::CpuBlocks*);
      const auto entry =
          reinterpret_cast<Entry>(const_cast<void*>(image.cpu_entries[variant][kernel.cpu_entry]));
      const bool contracts = kernel.skeleton == "contraction";
      const std::vector<std::int64_t> symbols{kBatch};
      halftone::manifest::BlockPlan plan;
      if (contracts)
        plan = plan_blocks(kernel, variant, symbols, halftone::manifest::CacheSizes{}, 1);
      else
        plan.tasks = task_count(kernel, symbols);
      std::vector<float> memory(static_cast<std::size_t>(plan.floats()) + 16);
      const halftone::manifest::CpuBlocks blocks = plan.in(memory.data());
      const std::int64_t tasks = plan.tasks;
      const bool slow = manifest.variants[variant] == "x86-64";
      std::vector<const void*> arguments{lhs.data()};
      if (contracts) arguments.push_back(rhs.data());
      arguments.push_back(result.data());
      const double time =
          seconds(slow ? 5 : 101, [&] { entry(arguments.data(), &kBatch, 0, tasks, &blocks); });
      const double work =
          contracts ? 2.0 * kBatch * kColumns * kDepth
                    : static_cast<double>(bytes_moved(kernel.name) * kBatch * kCastColumns);
      std::printf("%-13s %-24s %8.1f %s\n", manifest.variants[variant].c_str(), kernel.name.c_str(),
                  1e-9 * work / time, contracts ? "GFLOP/s" : "GB/s");
    }
}
