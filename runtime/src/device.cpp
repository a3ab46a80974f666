// SPDX-License-Identifier: Apache-2.0
// Which processor or GPU code runs on, with which threads and memory.
#include "halftone/device.hpp"

#include <charconv>

#include "cuda/cuda_device.hpp"
#include "dispatch.hpp"
#include "driver_context.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/manifest.hpp"
#include "processor.hpp"
#include "settings.hpp"
#include "simulated/simulated_device.hpp"
#include "text.hpp"
#include "thread_pool.hpp"

namespace halftone {

struct Device::State {
  std::string name, hardware, reason, description;
  std::vector<std::string> variants;
  std::shared_ptr<ThreadPool> pool;
  std::shared_ptr<MemorySource> memory;
  std::shared_ptr<DriverContext> driver;
};

namespace {

std::string describe(const std::string& name, const std::string& hardware,
                     const std::string& reason, int threads) {
  return name + ": " + hardware + ", " + std::to_string(threads) +
         (threads == 1 ? " thread; " : " threads; ") + reason;
}

/// Nothing when the setting is empty. Throws Error when nothing understands it.
std::optional<Device> wished_for() {
  const std::string wish = device_setting();
  const auto behind = [&](std::string_view prefix) {
    return std::string_view(wish).substr(prefix.size());
  };
  if (wish.empty()) return std::nullopt;
  if (wish == "cpu") return Device::cpu();
  if (wish.starts_with("cpu:")) return Device::cpu(behind("cpu:"));
  if (wish.starts_with("simulated:")) return Device::simulated(behind("simulated:"));
  if (wish.starts_with("cuda:")) {
    const std::string_view digits = behind("cuda:");
    int index = 0;
    const auto [stop, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), index);
    const bool whole = failure == std::errc{} && stop == digits.data() + digits.size();
    if (whole && index >= 0) return Device::cuda(index);
  }
  throw Error({.operation = "settings",
               .object = "HALFTONE_DEVICE",
               .cause = "is '" + wish + "'",
               .hint = "give 'cpu', 'cpu:<variant>' (this processor runs " +
                       listed(runnable_variants(this_processor())) +
                       "), 'cuda:<index>' or 'simulated:<chip>', or unset it"});
}

std::vector<std::string> chips_of(const Artifact& artifact) {
  std::vector<std::string> chips;
  for (const manifest::Manifest& manifest : artifact.manifests()) {
    for (const manifest::CudaTarget& target : manifest.cuda) chips.push_back(target.chip);
  }
  return chips;
}

}  // namespace

Device Device::best() {
  if (const auto wish = wished_for()) return *wish;
  return cpu();
}

Device Device::best(const Artifact& artifact) {
  if (const auto wish = wished_for()) return *wish;
  const std::vector<std::string> chips = chips_of(artifact);
  const std::string model = named("model", artifact.manifest().model);
  const auto without = [&](const std::string& why) {
    const Device device = cpu();
    return device.because(device.state_->reason + "; no GPU, since " + why);
  };
  if (chips.empty()) return without(model + " has no kernels for one");
  std::vector<CudaDevice> found;
  if (const std::string why = list_cuda_devices(found); !why.empty()) return without(why);
  std::string tried;
  for (const CudaDevice& gpu : found) {
    if (const auto target = choose_target(gpu.chip, chips)) {
      return cuda(gpu.index).because("runs the kernels for " + chips[*target] + " of " + model);
    }
    tried += (tried.empty() ? "" : ", ") + gpu.name + " (" + gpu.chip + ")";
  }
  return without(model + " has kernels for " + listed(chips) + ", which do not run on " + tried);
}

Device Device::cpu() {
  auto state = std::make_shared<State>();
  state->name = "cpu";
  state->hardware = this_processor().brand;
  state->variants = runnable_variants(this_processor());
  state->reason = "runs the best code that an artifact has among " + listed(state->variants);
  state->memory = host_memory();
  return Device(std::move(state)).with_threads(threads_setting());
}

Device Device::cpu(std::string_view variant) {
  require_variant(this_processor(), variant);
  auto state = std::make_shared<State>();
  state->name = "cpu:" + std::string(variant);
  state->hardware = this_processor().brand;
  state->variants = {std::string(variant)};
  state->reason = "runs " + std::string(variant) + " code alone, as it was asked to";
  state->memory = host_memory();
  return Device(std::move(state)).with_threads(threads_setting());
}

Device Device::cuda(int index) {
  return driven(open_cuda_device(index, check_launches_setting()), "it was asked for");
}

Device Device::simulated(std::string_view chip) {
  return driven(open_simulated_device(chip, check_launches_setting(), threads_setting()),
                "it was asked for");
}

Device Device::driven(std::shared_ptr<DriverContext> driver, std::string reason) {
  auto state = std::make_shared<State>();
  const DriverProperties& properties = driver->properties();
  state->name = driver->device();
  state->hardware = properties.name + " (" + properties.chip + ", " + properties.version + ")";
  state->reason = std::move(reason);
  state->driver = std::move(driver);
  return Device(std::move(state)).with_threads(threads_setting());
}

Device Device::because(std::string reason) const {
  auto state = std::make_shared<State>(*state_);
  state->reason = std::move(reason);
  state->description = describe(state->name, state->hardware, state->reason, threads());
  return Device(std::move(state));
}

Device Device::with_threads(int threads) const {
  if (threads < 1 || threads > kMostThreads) {
    throw Error({.operation = "device",
                 .object = "a pool",
                 .cause = "of " + std::to_string(threads) + " threads cannot be made",
                 .hint = "give 1 to " + std::to_string(kMostThreads)});
  }
  auto state = std::make_shared<State>(*state_);
  state->pool = std::make_shared<ThreadPool>(threads);
  state->description = describe(state->name, state->hardware, state->reason, threads);
  return Device(std::move(state));
}

Device Device::with_memory(std::shared_ptr<MemorySource> source) const {
  if (source == nullptr) {
    throw Error({.operation = "device",
                 .object = "the memory source",
                 .cause = "is null",
                 .hint = "give one, or leave with_memory out"});
  }
  if (state_->driver) {
    throw Error({.operation = "device",
                 .object = named("device", state_->name),
                 .cause = "has memory of its own",
                 .hint = "give a memory source to the CPU alone"});
  }
  auto state = std::make_shared<State>(*state_);
  state->memory = std::move(source);
  return Device(std::move(state));
}

const std::string& Device::name() const noexcept { return state_->name; }
const std::string& Device::description() const noexcept { return state_->description; }
int Device::threads() const noexcept { return state_->pool->threads(); }
std::span<const std::string> Device::variants() const noexcept { return state_->variants; }
ThreadPool& Device::pool() const noexcept { return *state_->pool; }
const std::shared_ptr<MemorySource>& Device::memory() const noexcept { return state_->memory; }
const std::shared_ptr<DriverContext>& Device::driver() const noexcept { return state_->driver; }

}  // namespace halftone
