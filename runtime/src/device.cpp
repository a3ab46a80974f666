// SPDX-License-Identifier: Apache-2.0
// Which processor code runs on, with which threads and memory.
#include "halftone/device.hpp"

#include "halftone/error.hpp"
#include "processor.hpp"
#include "settings.hpp"
#include "text.hpp"
#include "thread_pool.hpp"

namespace halftone {

struct Device::State {
  std::string name, reason, description;
  std::vector<std::string> variants;
  std::shared_ptr<ThreadPool> pool;
  std::shared_ptr<MemorySource> memory;
};

namespace {

std::string describe(const std::string& name, const std::string& reason, int threads) {
  return name + ": " + this_processor().brand + ", " + std::to_string(threads) +
         (threads == 1 ? " thread; " : " threads; ") + reason;
}

}  // namespace

Device Device::best() {
  const std::string wish = device_setting();
  if (wish.empty() || wish == "cpu") return cpu();
  if (constexpr std::string_view kPrefix = "cpu:"; wish.starts_with(kPrefix)) {
    return cpu(std::string_view(wish).substr(kPrefix.size()));
  }
  throw Error({.operation = "settings",
               .object = "HALFTONE_DEVICE",
               .cause = "is '" + wish + "'",
               .hint = "give 'cpu' or 'cpu:<variant>' (this processor runs " +
                       listed(runnable_variants(this_processor())) + ") or unset it"});
}

Device Device::cpu() {
  auto state = std::make_shared<State>();
  state->name = "cpu";
  state->variants = runnable_variants(this_processor());
  state->reason = "runs the best code that an artifact has among " + listed(state->variants);
  state->memory = host_memory();
  return Device(std::move(state)).with_threads(threads_setting());
}

Device Device::cpu(std::string_view variant) {
  require_variant(this_processor(), variant);
  auto state = std::make_shared<State>();
  state->name = "cpu:" + std::string(variant);
  state->variants = {std::string(variant)};
  state->reason = "runs " + std::string(variant) + " code alone, as it was asked to";
  state->memory = host_memory();
  return Device(std::move(state)).with_threads(threads_setting());
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
  state->description = describe(state->name, state->reason, threads);
  return Device(std::move(state));
}

Device Device::with_memory(std::shared_ptr<MemorySource> source) const {
  if (source == nullptr) {
    throw Error({.operation = "device",
                 .object = "the memory source",
                 .cause = "is null",
                 .hint = "give one, or leave with_memory out"});
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

}  // namespace halftone
