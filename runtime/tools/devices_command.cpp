// SPDX-License-Identifier: Apache-2.0
#include "devices_command.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "artifact_file.hpp"
#include "artifact_texts.hpp"
#include "cache/cache_folder.hpp"
#include "cache/cache_settings.hpp"
#include "cuda/cuda_device.hpp"
#include "cuda/nvrtc.hpp"
#include "device_word.hpp"
#include "halftone/device.hpp"
#include "halftone/error.hpp"
#include "packed_kernels.hpp"
#include "processor.hpp"
#include "settings.hpp"
#include "text.hpp"

namespace halftone::tools {
namespace {

constexpr int kSchema = 1;

std::string name_of(const CudaDevice& gpu) { return "cuda:" + std::to_string(gpu.index); }

Json gpu_of(const CudaDevice& gpu) {
  return {{"device", name_of(gpu)},
          {"name", gpu.name},
          {"chip", gpu.chip},
          {"memory_bytes", gpu.memory_bytes},
          {"driver_cuda", text_of(cuda_version_of(gpu.cuda_version))}};
}

Json compiler() {
  Json json{{"description", nullptr}, {"version", nullptr}, {"chips", Json::array()}};
  json["why_none"] = nullptr;
  try {
    const Nvrtc& nvrtc = Nvrtc::instance();
    json["description"] = nvrtc.description();
    json["version"] = text_of(nvrtc.version());
    for (const int number : nvrtc.architectures()) {
      json["chips"].push_back("sm_" + std::to_string(number));
    }
  } catch (const Error& error) {
    json["why_none"] = error.object() + " " + error.cause();
  }
  return json;
}

/// 0, or why this user cannot add to that folder, as an errno.
int cannot_add_to(const std::string& folder) {
  return ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/// 0, or why a folder that is not there could not be made, as an errno; makes nothing.
int cannot_be_made(const std::string& folder) {
  std::filesystem::path parent = folder;
  struct stat status {};
  do {
    parent = parent.parent_path();
    if (parent.empty()) parent = ".";
    if (::stat(parent.c_str(), &status) == 0) {
      return S_ISDIR(status.st_mode) ? cannot_add_to(parent) : ENOTDIR;
    }
  } while (errno == ENOENT && parent != "." && parent.has_relative_path());
  return errno;
}

/// Why a program would keep nothing in the folder, or empty. A program makes one that is not there.
std::string why_no_folder(const CacheSettings& settings) {
  if (settings.mode == CacheMode::off) return "HALFTONE_CACHE says off";
  if (settings.folder.empty()) return settings.without_folder;
  struct stat status {};
  const bool absent = ::lstat(settings.folder.c_str(), &status) == -1 && errno == ENOENT;
  if (absent && settings.mode != CacheMode::read_only) {
    const int failure = cannot_be_made(settings.folder);
    if (failure == 0) return {};
    return "the folder '" + settings.folder + "' cannot be made (" +
           std::generic_category().message(failure) +
           "); name another folder in HALFTONE_CACHE_DIR";
  }
  std::string reason;
  (void)CacheFolder::open(system_file_calls(), settings.folder, false, reason);
  return reason;
}

/// Why the folder that is there takes no kernel, or null.
Json why_not_stored(const CacheSettings& settings) {
  if (settings.mode == CacheMode::read_only) return {};
  const int failure = cannot_add_to(settings.folder);
  const bool takes_kernels = failure == 0 || failure == ENOENT;
  return takes_kernels ? Json() : Json(std::generic_category().message(failure));
}

const char* word_of(CacheMode mode) {
  switch (mode) {
    case CacheMode::read_write:
      return "rw";
    case CacheMode::read_only:
      return "ro";
    case CacheMode::off:
      return "off";
    case CacheMode::refresh:
      break;
  }
  return "refresh";
}

Json cache() {
  const CacheSettings settings = cache_settings(cache_environment());
  const std::string why_none = why_no_folder(settings);
  Json json{{"folder", settings.folder.empty() ? Json() : Json(settings.folder)},
            {"mode", word_of(settings.mode)},
            {"limit_bytes", settings.most_bytes}};
  json["why_none"] = why_none.empty() ? Json() : Json(why_none);
  json["why_not_stored"] = why_none.empty() ? why_not_stored(settings) : Json();
  return json;
}

/// Why this machine has no device as HALFTONE_DEVICE says, or empty.
std::string why_not_served(const DeviceWord& word) {
  try {
    require_device(word);
    return {};
  } catch (const Error& error) {
    return error.object() + " " + error.cause() + "; " + error.hint();
  }
}

Json wish_of(const DeviceWord& word) {
  const std::string why_not = why_not_served(word);
  return {{"device", word.text}, {"why_not", why_not.empty() ? Json() : Json(why_not)}};
}

/// What a device makes of an artifact.
Json runs(const std::string& device, const Json& what, const Json& compiled_for,
          const std::vector<std::string>& passed_over, const std::string& why_not) {
  return {{"device", device},
          {"runs", what},
          {"compiled_for", compiled_for},
          {"passed_over", passed_over},
          {"why_not", what.is_null() ? Json(why_not) : Json()}};
}

Json runs(const std::string& device, const std::optional<KernelChoice>& choice,
          const KernelOffer& offer, const std::string& why) {
  if (!choice) {
    return runs(device, {}, {}, {}, offer.targets.empty() ? "it has no kernels for GPUs" : why);
  }
  return runs(device, offer.targets[choice->target], choice->architecture, choice->passed_over, {});
}

/// The code that a CPU runs: the best of its variants that the artifact has too.
Json runs_on_cpu(const std::string& device, std::span<const std::string> variants,
                 const manifest::Manifest& manifest) {
  for (const std::string& variant : variants) {
    if (std::ranges::find(manifest.variants, variant) != manifest.variants.end()) {
      return runs(device, variant, {}, {}, {});
    }
  }
  return runs(device, {}, {}, {}, "it has code for " + joined(manifest.variants, ", "));
}

Json runs_on_gpu(const CudaDevice& gpu, const KernelOffer& offer) {
  std::string why;
  const auto choice = choose_on(gpu, offer, jit_setting(), why);
  return runs(name_of(gpu), choice, offer, why);
}

/// What a simulated device makes of the artifact.
Json runs_simulated(const DeviceWord& word, const KernelOffer& offer) {
  const Device device = Device::simulated(*word.detail);
  std::string why;
  const auto choice = device.driver()->choose(offer.targets, offer.ahead, offer.with_maps, why);
  return runs(device.name(), choice, offer, why);
}

/// What the device of HALFTONE_DEVICE makes of the artifact.
Json wished(const DeviceWord& word, const KernelOffer& offer, const manifest::Manifest& manifest) {
  if (const std::string why_not = why_not_served(word); !why_not.empty()) {
    return runs(word.text, {}, {}, {}, why_not);
  }
  switch (word.kind) {
    case DeviceWord::Kind::gpu:
      return runs_on_gpu(word.index ? require_gpu(*word.index) : require_gpu(word.gpu()), offer);
    case DeviceWord::Kind::simulated:
      return runs_simulated(word, offer);
    case DeviceWord::Kind::cpu:
      break;
  }
  const auto variants =
      word.detail ? std::vector<std::string>{*word.detail} : runnable_variants(this_processor());
  return runs_on_cpu(word.text, variants, manifest);
}

Json chosen(const std::optional<DeviceWord>& word, const KernelOffer& offer,
            const manifest::Manifest& manifest) {
  if (word) {
    Json json = wished(*word, offer, manifest);
    json["why"] = "HALFTONE_DEVICE says so";
    return json;
  }
  const GpuChoice choice = choose_gpu(offer, jit_setting());
  if (!choice.index) return {{"device", "cpu"}, {"why", choice.why}};
  return {{"device", "cuda:" + std::to_string(*choice.index)},
          {"why", "the first GPU that they run on"}};
}

Json artifact_of(const std::string& path, const std::string& model,
                 std::span<const CudaDevice> gpus, const std::optional<DeviceWord>& word) {
  const std::vector<manifest::Manifest> manifests = read_artifact(path, model);
  const manifest::Manifest& first = manifests.front();
  const std::vector<std::string> chips = chips_of(manifests);
  PackedKernels packed;
  if (!chips.empty()) packed.ahead = read_texts(path, first).ahead;
  const KernelOffer offer{chips, packed.offers(), named("model", first.model),
                          chips_with_maps(manifests)};
  Json devices = Json::array();
  devices.push_back(runs_on_cpu("cpu", runnable_variants(this_processor()), first));
  for (const CudaDevice& gpu : gpus) devices.push_back(runs_on_gpu(gpu, offer));
  return {{"model", first.model},
          {"chips", chips},
          {"devices", devices},
          {"chosen", chosen(word, offer, first)}};
}

}  // namespace

Json devices_of(const std::string& artifact, const std::string& model) {
  require_sound_settings();  // here too, though nothing of this command needs most of them
  const std::optional<DeviceWord> word = device_word();
  const Processor& processor = this_processor();
  std::vector<CudaDevice> gpus;
  const std::string no_gpu = list_cuda_devices(gpus);
  Json json{{"schema", kSchema},
            {"cpu", {{"name", processor.brand}, {"variants", runnable_variants(processor)}}},
            {"gpus", Json::array()}};
  for (const CudaDevice& gpu : gpus) json["gpus"].push_back(gpu_of(gpu));
  json["no_gpu"] = no_gpu.empty() ? Json() : Json(no_gpu);
  json["compiler"] = compiler();
  json["cache"] = cache();
  json["wish"] = word ? wish_of(*word) : Json();
  json["artifact"] = artifact.empty() ? Json() : artifact_of(artifact, model, gpus, word);
  return json;
}

}  // namespace halftone::tools
