// SPDX-License-Identifier: Apache-2.0
// How long the kernels of an artifact take to compile, and how long to come from the cache.
// compile_times CHIP ARTIFACT...
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include "cache/kernel_cache.hpp"
#include "cuda/nvrtc.hpp"
#include "halftone/artifact.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/texts.hpp"
#include "settings.hpp"
#include "thread_pool.hpp"

namespace halftone::bench {
namespace {

constexpr int kSkipped = 77, kRuns = 5;

struct Kernel {
  std::string text, name;
};

/// Every text that the artifact has for the chip, with the name of its first kernel; the longest
/// first, as the runtime compiles them.
std::vector<Kernel> kernels_of(const Artifact& artifact, const std::string& chip) {
  std::vector<std::string> texts;
  manifest::DecodeError error;
  const manifest::ArtifactImage& image = artifact.image();
  if (!manifest::unpack_texts({image.texts, image.text_bytes}, texts, error)) return {};
  std::map<std::int32_t, std::string> names;
  for (const manifest::Manifest& manifest : artifact.manifests()) {
    const manifest::CudaTarget* target = manifest::find_cuda(manifest, chip);
    if (!target) continue;
    for (const manifest::CudaKernel& kernel : target->kernels) {
      names.try_emplace(kernel.text, kernel.entry);
    }
  }
  std::vector<Kernel> kernels;
  for (const auto& [text, name] : names) {
    kernels.push_back({texts[static_cast<std::size_t>(text)], name});
  }
  std::ranges::sort(kernels, {}, [](const Kernel& kernel) {
    return std::pair(-std::ssize(kernel.text), kernel.name);
  });
  return kernels;
}

struct Times {
  double wall = 0.0, processor = 0.0;
};

/// Milliseconds for all, as a process would take that asks for them first; on the threads that a
/// device has.
Times time_of(const std::vector<Kernel>& kernels, const std::string& chip,
              const CacheSettings& settings, ThreadPool& pool, KernelCacheStatistics& statistics) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  const auto cache = std::make_shared<KernelCache>(settings);
  const CompileKernel compile = cached(
      [](const std::string& text, const std::string& name, const std::string& architecture) {
        return Nvrtc::instance().compile_cubin(text, name, architecture);
      },
      cache,
      [](const std::string& architecture) {
        return Nvrtc::instance().cubin_compiler(architecture);
      });
  pool.run_in_turn(std::ssize(kernels), [&](std::int64_t k) {
    const Kernel& kernel = kernels[static_cast<std::size_t>(k)];
    (void)compile(kernel.text, kernel.name, chip);
  });
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  statistics = cache->statistics();
  return {time.count(), 1e3 * static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC};
}

/// Whether what was compiled first came from the folder ever after.
bool measure(const std::string& path, const std::string& chip, ThreadPool& pool) {
  const std::vector<Kernel> kernels = kernels_of(Artifact::load(path), chip);
  std::string folder = (std::filesystem::temp_directory_path() / "halftone_bench.XXXXXX").string();
  if (!mkdtemp(folder.data())) return false;
  CacheSettings settings;
  settings.folder = folder;
  KernelCacheStatistics statistics;
  const Times cold = time_of(kernels, chip, settings, pool, statistics);
  bool right = !kernels.empty() && statistics.stored == kernels.size();
  Times warm{1e30, 1e30};
  for (int run = 0; run < kRuns; ++run) {
    const Times times = time_of(kernels, chip, settings, pool, statistics);
    warm = {std::min(warm.wall, times.wall), std::min(warm.processor, times.processor)};
    right = right && statistics.hits == kernels.size() && statistics.missed() == 0;
  }
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) bytes += file.file_size();
  std::filesystem::remove_all(folder);
  std::printf("%-24s %-8s %7zu %9.1f %9.1f %9.2f %9.2f %10ju%s\n",
              std::filesystem::path(path).stem().c_str(), chip.c_str(), kernels.size(), cold.wall,
              cold.processor, warm.wall, warm.processor, bytes,
              right ? "" : "  NOT FROM THE CACHE");
  return right;
}

int run(int count, char** values) {
  if (count < 3) {
    std::fprintf(stderr, "usage: compile_times CHIP ARTIFACT...\n");
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  try {
    (void)Nvrtc::instance();
  } catch (const Error& error) {
    std::printf("Skipped: %s\n", error.what());
    return kSkipped;
  }
  const std::chrono::duration<double, std::milli> opened = std::chrono::steady_clock::now() - start;
  ThreadPool pool(threads_setting());
  std::printf("%s opened in %.1f ms; %d threads; milliseconds for all kernels, and processors'\n",
              Nvrtc::instance().description().c_str(), opened.count(), pool.threads());
  std::printf(
      "artifact                 chip     kernels  compiled processor    cached processor      "
      "bytes\n");
  bool right = true;
  for (int i = 2; i < count; ++i) right = measure(values[i], values[1], pool) && right;
  return right ? 0 : 1;
}

}  // namespace
}  // namespace halftone::bench

int main(int count, char** values) {
  try {
    return halftone::bench::run(count, values);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compile_times: %s\n", error.what());
    return 2;
  }
}
