// SPDX-License-Identifier: Apache-2.0
#include "devices_command.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <span>
#include <vector>

#include "artifact_file.hpp"
#include "artifact_texts.hpp"
#include "cache/cache_folder.hpp"
#include "cache/cache_settings.hpp"
#include "cuda/cuda_device.hpp"
#include "cuda/nvrtc.hpp"
#include "halftone/device.hpp"
#include "halftone/error.hpp"
#include "packed_kernels.hpp"
#include "processor.hpp"
#include "settings.hpp"
#include "text.hpp"

namespace halftone::tools {
namespace {

std::string line(std::string name, const std::string& text) {
  name.resize(std::max<std::size_t>(name.size() + 1, 10), ' ');
  return name + text + "\n";
}

std::string name_of(const CudaDevice& gpu) { return "cuda:" + std::to_string(gpu.index); }

std::string hardware_of(const CudaDevice& gpu) {
  std::array<char, 64> memory{};
  std::snprintf(memory.data(), memory.size(), "%.1f GiB, driver for CUDA %s",
                static_cast<double>(gpu.memory_bytes) / (1024.0 * 1024.0 * 1024.0),
                text_of(cuda_version_of(gpu.cuda_version)).c_str());
  return gpu.name + " (" + gpu.chip + "), " + memory.data();
}

std::string compiler_text() {
  try {
    const Nvrtc& nvrtc = Nvrtc::instance();
    std::vector<std::string> chips;
    for (const int number : nvrtc.architectures()) chips.push_back("sm_" + std::to_string(number));
    return nvrtc.description() + ", for " + joined(chips, ", ");
  } catch (const Error& error) {
    return "none: " + error.object() + " " + error.cause();
  }
}

std::string choice_text(const std::optional<KernelChoice>& choice, const KernelOffer& offer,
                        const std::string& why) {
  const std::vector<std::string>& chips = offer.targets;
  if (!choice) return "no: " + (chips.empty() ? "it has no kernels for GPUs" : why);
  std::string text =
      "runs those for " + chips[choice->target] + ", compiled for " + choice->architecture;
  for (const std::string& passed : choice->passed_over) text += "; not " + passed;
  return text;
}

std::string kernels_text(const CudaDevice& gpu, const KernelOffer& offer) {
  std::string why;
  const auto choice = choose_on(gpu, offer, jit_setting(), why);
  return choice_text(choice, offer, why);
}

/// The code that a CPU runs: the best of its variants that the artifact has too.
std::string code_text(std::span<const std::string> variants, const manifest::Manifest& manifest) {
  for (const std::string& variant : variants) {
    if (std::ranges::find(manifest.variants, variant) != manifest.variants.end()) {
      return "runs " + variant;
    }
  }
  return "no: it has code for " + joined(manifest.variants, ", ");
}

/// What the device of HALFTONE_DEVICE makes of the artifact, which may be a simulated one.
std::string wished_text(const KernelOffer& offer, const manifest::Manifest& manifest) {
  const Device device = Device::best();
  const std::string name = device.name() + ", as HALFTONE_DEVICE says: ";
  if (!device.driver()) return name + code_text(device.variants(), manifest);
  std::string why;
  const auto choice = device.driver()->choose(offer.targets, offer.ahead, why);
  return name + choice_text(choice, offer, why);
}

std::string chosen_text(const KernelOffer& offer, const manifest::Manifest& manifest) {
  if (!device_setting().empty()) return wished_text(offer, manifest);
  const GpuChoice choice = choose_gpu(offer, jit_setting());
  if (!choice.index) return "cpu, since " + choice.why;
  return "cuda:" + std::to_string(*choice.index) + ", the first GPU that they run on";
}

/// Where compiled kernels are kept, or why not. A program makes a folder that is not there.
std::string cache_text() {
  const CacheSettings settings = cache_settings(cache_environment());
  if (settings.mode == CacheMode::off) return "none: HALFTONE_CACHE says off";
  if (settings.folder.empty()) return "none: " + settings.without_folder;
  struct stat status{};
  std::string reason;
  const bool absent = ::lstat(settings.folder.c_str(), &status) == -1 && errno == ENOENT;
  if (!absent && !CacheFolder::open(system_file_calls(), settings.folder, false, reason)) {
    return "none: " + reason;
  }
  const char* const mode = settings.mode == CacheMode::read_only ? ", read only"
                           : settings.mode == CacheMode::refresh ? ", refreshed"
                                                                 : "";
  return settings.folder + mode + ", limit " + std::to_string(settings.most_bytes) + " bytes";
}

}  // namespace

std::string devices_text(const std::string& artifact, const std::string& model) {
  (void)compile_timeout_setting();  // a wrong value is an error, not a compiler that is missing
  const Processor& processor = this_processor();
  std::string text =
      line("cpu", processor.brand + ", code for " + joined(runnable_variants(processor), ", "));
  std::vector<CudaDevice> gpus;
  const std::string no_gpu = list_cuda_devices(gpus);
  for (const CudaDevice& gpu : gpus) text += line(name_of(gpu), hardware_of(gpu));
  if (!no_gpu.empty()) text += "no GPU, since " + no_gpu + "\n";
  text += line("compiler", compiler_text()) + line("cache", cache_text());
  if (artifact.empty()) return text;
  const std::vector<manifest::Manifest> manifests = read_artifact(artifact, model);
  const std::vector<std::string> chips = chips_of(manifests);
  const std::string name = named("model", manifests.front().model);
  PackedKernels packed;
  if (!chips.empty()) packed.ahead = read_texts(artifact, manifests.front()).ahead;
  const KernelOffer offer{chips, packed.offers(), name};
  text += "\nfor " + name + ", which has kernels for " +
          (chips.empty() ? "no GPU" : joined(chips, ", ")) + "\n";
  text += line("cpu", code_text(runnable_variants(processor), manifests.front()));
  for (const CudaDevice& gpu : gpus) text += line(name_of(gpu), kernels_text(gpu, offer));
  return text + line("chosen", chosen_text(offer, manifests.front()));
}

}  // namespace halftone::tools
