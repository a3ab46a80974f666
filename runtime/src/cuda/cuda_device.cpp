// SPDX-License-Identifier: Apache-2.0
#include "cuda_device.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "../cache/kernel_cache.hpp"
#include "../text.hpp"
#include "cuda_driver.hpp"
#include "halftone/error.hpp"
#include "nvrtc.hpp"

namespace halftone {
namespace {

[[noreturn]] void refuse(int index, std::string cause) {
  throw Error({.operation = "device",
               .object = named("device", "cuda:" + std::to_string(index)),
               .cause = std::move(cause),
               .hint = "choose another device, or install the driver and the GPU"});
}

/// False with a reason when the driver fails.
bool describe(const CudaLibrary& library, CudaDevice& found, std::string& reason) {
  std::array<char, 256> name{};
  int device = 0, major = 0, minor = 0;
  std::size_t memory = 0;
  int result = library.cuDeviceGet(&device, found.index);
  if (result == 0) result = library.cuDeviceGetName(name.data(), 255, device);
  if (result == 0) result = library.cuDeviceGetAttribute(&major, cuda::kMajor, device);
  if (result == 0) result = library.cuDeviceGetAttribute(&minor, cuda::kMinor, device);
  if (result == 0) result = library.cuDeviceTotalMem_v2(&memory, device);
  if (result == 0) result = library.cuDriverGetVersion(&found.cuda_version);
  if (result != 0) reason = "the driver says " + library.text_of(result);
  found.name = name.data();
  found.chip = "sm_" + std::to_string(10 * major + minor);
  found.memory_bytes = static_cast<std::int64_t>(memory);
  found.encodes_maps = library.cuTensorMapEncodeTiled != nullptr;
  return result == 0;
}

Toolchain toolchain_with(int cuda_version) {
  const Nvrtc& nvrtc = Nvrtc::instance();
  return {nvrtc.version(), nvrtc.architectures(), cuda_version_of(cuda_version)};
}

}  // namespace

std::string text_of(const CudaDevice& gpu) {
  std::array<char, 32> gib{};
  std::snprintf(gib.data(), gib.size(), "%.1f GiB",
                static_cast<double>(gpu.memory_bytes) / (1024.0 * 1024.0 * 1024.0));
  return "cuda:" + std::to_string(gpu.index) + " " + gpu.name + " (" + gpu.chip + ", " +
         gib.data() + ")";
}

std::string texts_of(std::span<const CudaDevice> devices) {
  std::vector<std::string> texts;
  for (const CudaDevice& gpu : devices) texts.push_back(text_of(gpu));
  return joined(texts, ", ");
}

const CudaDevice* find_gpu(std::span<const CudaDevice> devices, const GpuWish& wish) {
  const auto equal = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  const auto least = parse_chip(wish.chip);
  const auto suits = [&](const CudaDevice& gpu) {
    const auto chip = parse_chip(gpu.chip);
    const bool named =
        wish.name.empty() || !std::ranges::search(gpu.name, wish.name, equal).empty();
    return named && (!least || (chip && chip->number >= least->number)) &&
           gpu.memory_bytes >= wish.memory_bytes;
  };
  const auto found = std::ranges::find_if(devices, suits);
  return found == devices.end() ? nullptr : &*found;
}

GpuChoice choose_gpu(const KernelOffer& offer, Jit jit) {
  if (offer.targets.empty()) return {{}, {}, offer.model + " has no kernels for one"};
  std::vector<CudaDevice> found;
  if (std::string why = list_cuda_devices(found); !why.empty()) return {{}, {}, std::move(why)};
  std::vector<std::string> tried;
  for (const CudaDevice& gpu : found) {
    std::string why;
    if (const auto choice = choose_on(gpu, offer, jit, why)) return {gpu.index, *choice, {}};
    tried.push_back(text_of(gpu) + ": " + why);
  }
  return {{},
          {},
          offer.model + " has kernels for " + listed(offer.targets) + ", which do not run on " +
              joined(tried, ", ")};
}

std::optional<KernelChoice> choose_on(const CudaDevice& gpu, const KernelOffer& offer, Jit jit,
                                      std::string& why) {
  try {
    DriverProperties device;
    device.chip = gpu.chip;
    device.cuda_version = gpu.cuda_version;
    device.encodes_maps = gpu.encodes_maps;
    return choose_for(device,
                      {.jit = jit, .toolchain = [&] { return toolchain_with(gpu.cuda_version); }},
                      offer.targets, offer.ahead, offer.with_maps, why);
  } catch (const Error& error) {
    why = error.object() + " " + error.cause();
    return std::nullopt;
  }
}

std::string list_cuda_devices(std::vector<CudaDevice>& devices) {
  devices.clear();
  std::string reason;
  const CudaLibrary* library = CudaLibrary::open(reason);
  if (!library) return reason;
  int count = 0;
  if (const int result = library->cuDeviceGetCount(&count); result != 0) {
    return "the driver says " + library->text_of(result);
  }
  for (int index = 0; index < count; ++index) {
    CudaDevice found;
    found.index = index;
    if (describe(*library, found, reason)) devices.push_back(std::move(found));
  }
  if (!devices.empty()) return {};
  return reason.empty() ? "the driver finds no GPU" : reason;
}

CudaDevice require_gpu(int index) {
  std::vector<CudaDevice> gpus;
  if (const std::string why = list_cuda_devices(gpus); !why.empty()) {
    refuse(index, "cannot be used, since " + why);
  }
  const auto found = std::ranges::find(gpus, index, &CudaDevice::index);
  if (found == gpus.end()) refuse(index, "does not exist: this machine has " + texts_of(gpus));
  return *found;
}

CudaDevice require_gpu(const GpuWish& wish) {
  std::vector<CudaDevice> gpus;
  std::string why = list_cuda_devices(gpus);
  if (!wish.chip.empty() && !parse_chip(wish.chip)) {
    throw Error({.operation = "device",
                 .object = "the wish for a GPU",
                 .cause = "names '" + std::string(wish.chip) + "', which is no chip",
                 .hint = "give one such as 'sm_90'"});
  }
  if (const CudaDevice* gpu = find_gpu(gpus, wish)) return *gpu;
  std::vector<std::string> wants;
  if (!wish.name.empty()) wants.push_back("with '" + std::string(wish.name) + "' in its name");
  if (!wish.chip.empty()) wants.push_back("of " + std::string(wish.chip) + " or later");
  if (wish.memory_bytes > 0) {
    wants.push_back("with " + std::to_string(wish.memory_bytes) + " bytes of memory");
  }
  const std::string wanted = wants.empty() ? "" : " " + joined(wants, ", ");
  throw Error(
      {.operation = "device",
       .object = "a GPU" + wanted,
       .cause = "is not there: " + (why.empty() ? "this machine has " + texts_of(gpus) : why),
       .hint = "choose another device"});
}

std::shared_ptr<DriverContext> open_cuda_device(int index, const DriverOptions& options) {
  const std::string name = "cuda:" + std::to_string(require_gpu(index).index);
  std::string reason;
  const CudaLibrary* library = CudaLibrary::open(reason);
  DriverStatus status;
  auto driver = std::make_unique<CudaDriver>(*library, index, status);
  if (!status.ok()) refuse(index, "cannot be opened: " + status.text);
  DriverOptions with_toolchain = options;
  with_toolchain.toolchain = [version = driver->properties().cuda_version] {
    return toolchain_with(version);
  };
  const std::string driver_version = driver->properties().version;
  return std::make_shared<DriverContext>(
      name, std::move(driver),
      cached(
          [](const std::string& text, const std::string& kernel, const std::string& architecture) {
            return Nvrtc::instance().compile_cubin(text, kernel, architecture);
          },
          process_kernel_cache(),
          [version = driver_version](const std::string& architecture) {
            CompilerIdentity compiler = Nvrtc::instance().cubin_compiler(architecture);
            if (architecture.starts_with("compute_")) compiler.driver = version;
            return compiler;
          }),
      with_toolchain);
}

}  // namespace halftone
