// SPDX-License-Identifier: Apache-2.0
#include "devices_command.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "artifact_file.hpp"
#include "artifact_texts.hpp"
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
  std::snprintf(memory.data(), memory.size(), "%.1f GiB, driver for CUDA %d.%d",
                static_cast<double>(gpu.memory_bytes) / (1024.0 * 1024.0 * 1024.0),
                gpu.cuda_version / 1000, gpu.cuda_version % 1000 / 10);
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

std::string kernels_text(const CudaDevice& gpu, const KernelOffer& offer) {
  const std::vector<std::string>& chips = offer.targets;
  std::string why;
  const auto choice = choose_on(gpu, offer, jit_setting(), why);
  if (!choice) return "no: " + (chips.empty() ? "it has no kernels for GPUs" : why);
  std::string text =
      "runs those for " + chips[choice->target] + ", compiled for " + choice->architecture;
  for (const std::string& passed : choice->passed_over) text += "; not " + passed;
  return text;
}

std::string chosen_text(const KernelOffer& offer) {
  if (const std::string wish = device_setting(); !wish.empty()) {
    return Device::best().name() + ", as HALFTONE_DEVICE says";
  }
  const GpuChoice choice = choose_gpu(offer, jit_setting());
  if (!choice.index) return "cpu, since " + choice.why;
  return "cuda:" + std::to_string(*choice.index) + ", the first GPU that they run on";
}

/// The code that the CPU runs: the best variant that both have.
std::string cpu_text(const manifest::Manifest& manifest) {
  for (const std::string& variant : runnable_variants(this_processor())) {
    if (std::ranges::find(manifest.variants, variant) != manifest.variants.end()) {
      return "runs " + variant;
    }
  }
  return "no: it has code for " + joined(manifest.variants, ", ");
}

}  // namespace

std::string devices_text(const std::string& artifact, const std::string& model) {
  const Processor& processor = this_processor();
  std::string text =
      line("cpu", processor.brand + ", code for " + joined(runnable_variants(processor), ", "));
  std::vector<CudaDevice> gpus;
  const std::string no_gpu = list_cuda_devices(gpus);
  for (const CudaDevice& gpu : gpus) text += line(name_of(gpu), hardware_of(gpu));
  if (!no_gpu.empty()) text += "no GPU, since " + no_gpu + "\n";
  text += line("compiler", compiler_text());
  if (artifact.empty()) return text;
  const std::vector<manifest::Manifest> manifests = read_artifact(artifact, model);
  std::vector<std::string> chips;
  for (const manifest::Manifest& manifest : manifests) {
    for (const manifest::CudaTarget& target : manifest.cuda) chips.push_back(target.chip);
  }
  const std::string name = named("model", manifests.front().model);
  PackedKernels packed;
  if (!chips.empty()) packed.ahead = read_texts(artifact, manifests.front()).ahead;
  const KernelOffer offer{chips, packed.offers(), name};
  text += "\nfor " + name + ", which has kernels for " +
          (chips.empty() ? "no GPU" : joined(chips, ", ")) + "\n";
  text += line("cpu", cpu_text(manifests.front()));
  for (const CudaDevice& gpu : gpus) text += line(name_of(gpu), kernels_text(gpu, offer));
  return text + line("chosen", chosen_text(offer));
}

}  // namespace halftone::tools
