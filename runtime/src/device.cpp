// SPDX-License-Identifier: Apache-2.0
// Which processor or GPU code runs on, with which threads and memory.
#include "halftone/device.hpp"

#include "cuda/cuda_device.hpp"
#include "cuda/nvrtc.hpp"
#include "device_word.hpp"
#include "dispatch.hpp"
#include "driver_context.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/manifest.hpp"
#include "packed_kernels.hpp"
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
  Packed packed = Packed::automatic;
  std::shared_ptr<DriverContext> driver;
};

namespace {

std::string describe(const std::string& name, const std::string& hardware,
                     const std::string& reason, int threads) {
  return name + ": " + hardware + ", " + std::to_string(threads) +
         (threads == 1 ? " thread; " : " threads; ") + reason;
}

DriverOptions driver_options() {
  return {.checks_launches = check_launches_setting(),
          .steps_in_flight = steps_in_flight_setting(),
          .jit = jit_setting()};
}

/// Before a program of the device compiles in the background.
std::shared_ptr<DriverContext> warmed_up(std::shared_ptr<DriverContext> driver) {
  if (driver->options().jit == Jit::background) Nvrtc::warm_up();
  return driver;
}

/// Whatever the device, so that no setting is ignored because of where a program runs today.
Device as_the_environment_says(const Device& device) {
  require_sound_settings();
  return device.with_threads(threads_setting());
}

}  // namespace

std::optional<Device> Device::named_by_environment() {
  const auto word = device_word();
  if (!word) return std::nullopt;
  switch (word->kind) {
    case DeviceWord::Kind::cpu:
      return word->detail ? cpu(*word->detail) : cpu();
    case DeviceWord::Kind::simulated:
      return simulated(*word->detail);
    case DeviceWord::Kind::gpu:
      break;
  }
  return word->index ? cuda(*word->index) : cuda(word->gpu());
}

Device Device::best(const Artifact& artifact) {
  if (const auto named = named_by_environment()) return *named;
  const std::vector<std::string> chips = chips_of(artifact.manifests());
  const std::string model = named("model", artifact.manifest().model);
  const auto without = [&](const std::string& why) {
    const Device device = cpu();
    return device.because(device.state_->reason + "; no GPU, since " + why);
  };
  const GpuChoice gpu =
      choose_gpu({chips,
                  artifact.image().text_bytes > 0 ? unpack_kernels(artifact, "device")->offers()
                                                  : std::vector<AheadOfTime>{},
                  model, chips_with_maps(artifact.manifests())},
                 driver_options().jit);
  if (!gpu.index) return without(gpu.why);
  return cuda(*gpu.index)
      .because("runs the kernels for " + chips[gpu.kernels.target] + " of " + model +
               (gpu.kernels.passed_over.empty()
                    ? ""
                    : " (" + joined(gpu.kernels.passed_over, "; ") + ")"));
}

std::vector<DeviceEntry> Device::list(std::string* no_gpu) {
  std::vector<DeviceEntry> entries{{.name = "cpu", .hardware = this_processor().brand, .chip = ""}};
  std::vector<CudaDevice> gpus;
  std::string why = list_cuda_devices(gpus);
  for (const CudaDevice& gpu : gpus) {
    entries.push_back({"cuda:" + std::to_string(gpu.index), gpu.name, gpu.chip, gpu.memory_bytes});
  }
  if (no_gpu) *no_gpu = std::move(why);
  return entries;
}

Device Device::cpu() {
  auto state = std::make_shared<State>();
  state->name = "cpu";
  state->hardware = this_processor().brand;
  state->variants = runnable_variants(this_processor());
  state->reason = "runs the best code that an artifact has among " + listed(state->variants);
  state->memory = host_memory();
  return as_the_environment_says(Device(std::move(state)));
}

Device Device::cpu(std::string_view variant) {
  require_variant(this_processor(), variant);
  auto state = std::make_shared<State>();
  state->name = "cpu:" + std::string(variant);
  state->hardware = this_processor().brand;
  state->variants = {std::string(variant)};
  state->reason = "runs " + std::string(variant) + " code alone, as it was asked to";
  state->memory = host_memory();
  return as_the_environment_says(Device(std::move(state)));
}

Device Device::cuda(int index) {
  return driven(warmed_up(open_cuda_device(index, driver_options())), "it was asked for");
}

Device Device::cuda(const GpuWish& wish) { return cuda(require_gpu(wish).index); }

Device Device::simulated(std::string_view chip) {
  return driven(warmed_up(open_simulated_device(chip, driver_options(), threads_setting())),
                "it was asked for");
}

Device Device::driven(std::shared_ptr<DriverContext> driver, std::string reason) {
  auto state = std::make_shared<State>();
  const DriverProperties& properties = driver->properties();
  state->name = driver->device();
  state->hardware = properties.name + " (" + properties.chip + ", " + properties.version + ")";
  state->reason = std::move(reason);
  state->driver = std::move(driver);
  return as_the_environment_says(Device(std::move(state)));
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
  return with_pool(ThreadPool::shared(threads));
}

Device Device::with_executor(std::shared_ptr<Executor> executor) const {
  if (executor == nullptr) {
    throw Error({.operation = "device",
                 .object = "the executor",
                 .cause = "is null",
                 .hint = "give one, or leave with_executor out"});
  }
  const int threads = executor->threads();
  if (threads < 1 || threads > kMostThreads) {
    throw Error({.operation = "device",
                 .object = "the executor",
                 .cause = "has " + std::to_string(threads) + " threads",
                 .hint = "return 1 to " + std::to_string(kMostThreads) + " from its threads()"});
  }
  return with_pool(std::make_shared<ThreadPool>(threads, std::move(executor)));
}

Device Device::with_pool(std::shared_ptr<ThreadPool> pool) const {
  auto state = std::make_shared<State>(*state_);
  state->pool = std::move(pool);
  state->description =
      describe(state->name, state->hardware, state->reason, state->pool->threads());
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

Device Device::with_packed(Packed packed) const {
  if (state_->driver) {
    throw Error({.operation = "device",
                 .object = named("device", state_->name),
                 .cause = "packs no operands of matrix products",
                 .hint = "give with_packed to the CPU alone"});
  }
  auto state = std::make_shared<State>(*state_);
  state->packed = packed;
  return Device(std::move(state));
}

const std::string& Device::name() const noexcept { return state_->name; }
const std::string& Device::description() const noexcept { return state_->description; }
int Device::threads() const noexcept { return state_->pool->threads(); }
std::span<const std::string> Device::variants() const noexcept { return state_->variants; }
ThreadPool& Device::pool() const noexcept { return *state_->pool; }
const std::shared_ptr<MemorySource>& Device::memory() const noexcept { return state_->memory; }
Packed Device::packed() const noexcept { return state_->packed; }
const std::shared_ptr<DriverContext>& Device::driver() const noexcept { return state_->driver; }

}  // namespace halftone
