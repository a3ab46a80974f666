// SPDX-License-Identifier: Apache-2.0
#include "halftone/simulator/device.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "decode.hpp"
#include "floating_point.hpp"
#include "halftone/simulator/error.hpp"
#include "launch.hpp"

namespace halftone::simulator {

struct Device::State {
  explicit State(const Chip& of) : chip(of) {}

  const Chip& chip;
  Memory memory;
  std::recursive_mutex mutex;  ///< held by every call that touches memory or modules
  /// Modules stay alive with their variables' addresses.
  struct Loaded {
    Module module;
    Variables variables;
  };
  std::map<const Program*, Loaded> modules;
};

namespace {

/// Numbers, or addresses of variables.
void write_initial(const syntax::Variable& v, const Variables& variables, std::span<std::byte> to) {
  const std::size_t each = std::max<std::size_t>(1, bytes_of(type_of(v.type)));
  for (std::size_t e = 0; e < v.initial.size() && (e + 1) * each <= to.size(); ++e) {
    std::uint64_t bits = v.initial[e].bits;
    if (const std::string_view name = v.initial[e].name; !name.empty()) {
      const auto known = variables.find(name);
      if (known == variables.end())
        throw Error("the initial value of '" + std::string(v.name) + "' is the address of '" +
                    std::string(name) + "', which the module does not define");
      bits = known->second + static_cast<std::uint64_t>(v.initial[e].offset);
    }
    std::memcpy(to.data() + e * each, &bits, each);
  }
}

const Chip& chip_of(std::string_view name) {
  if (const Chip* chip = find_chip(name)) return *chip;
  std::string names;
  for (const Chip& each : chips()) names += (names.empty() ? "" : ", ") + std::string(each.name);
  throw Error("no chip '" + std::string(name) + "' can be simulated; there are " + names);
}

/// Refuses what a driver would: no kernel image for this device.
void require_target(const Chip& chip, const Program& program) {
  const std::string_view all = program.syntax.target, target = all.substr(0, all.find(','));
  if (chip.runs(target)) return;
  const std::string name(chip.name);
  throw Error("module '" + program.name + "' is for " +
              (target.empty() ? "no .target" : std::string(target)) + ", which " + name +
              " does not run; compile it for " + name);
}

}  // namespace

Device::Device(std::string_view chip) : state_(std::make_unique<State>(chip_of(chip))) {}
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;
Device::~Device() = default;

const Chip& Device::chip() const { return state_->chip; }

std::uint64_t Device::allocate(std::uint64_t bytes, std::string_view name) {
  const std::lock_guard lock(state_->mutex);
  return state_->memory.allocate(bytes, name);
}

void Device::free(std::uint64_t address) {
  const std::lock_guard lock(state_->mutex);
  state_->memory.free(address);
}

void Device::copy_in(std::uint64_t to, std::span<const std::byte> from) {
  const std::lock_guard lock(state_->mutex);
  std::byte* bytes = state_->memory.range(to, from.size(), "copy to the device");
  if (from.empty()) return;
  std::memcpy(bytes, from.data(), from.size());
  state_->memory.mark(to, from.size(), true);
}

void Device::copy_out(std::span<std::byte> to, std::uint64_t from) {
  const std::lock_guard lock(state_->mutex);
  const std::byte* bytes = state_->memory.range(from, to.size(), "copy from the device");
  if (!to.empty()) std::memcpy(to.data(), bytes, to.size());
}

void Device::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  const std::lock_guard lock(state_->mutex);
  const std::byte* source = state_->memory.range(from, bytes, "copy on the device");
  std::byte* destination = state_->memory.range(to, bytes, "copy on the device");
  if (bytes == 0) return;
  std::memmove(destination, source, bytes);
  state_->memory.mark(to, bytes, true);
}

void Device::fill(std::uint64_t address, std::uint64_t bytes, std::byte value) {
  const std::lock_guard lock(state_->mutex);
  std::byte* to = state_->memory.range(address, bytes, "fill");
  if (bytes == 0) return;
  std::memset(to, static_cast<int>(value), bytes);
  state_->memory.mark(address, bytes, true);
}

void Device::load(const Module& module) {
  const std::lock_guard lock(state_->mutex);
  const Program& program = *module.program();
  require_target(state_->chip, program);
  const auto [at, is_new] = state_->modules.try_emplace(&program, State::Loaded{module, {}});
  if (!is_new) return;
  for (const syntax::Variable& v : program.syntax.variables) {
    if (v.space == "shared") continue;
    const std::uint64_t bytes = size_of(v);
    at->second.variables[v.name] = state_->memory.allocate(bytes, v.name);
  }
  for (const syntax::Variable& v : program.syntax.variables) {
    if (v.space == "shared") continue;
    const std::uint64_t address = at->second.variables.at(v.name);
    std::vector<std::byte> initial(size_of(v));
    write_initial(v, at->second.variables, initial);
    copy_in(address, initial);
    state_->memory.find(address)->read_only = v.space == "const";
  }
}

void Device::unload(const Module& module) {
  const std::lock_guard lock(state_->mutex);
  const auto at = state_->modules.find(module.program().get());
  if (at == state_->modules.end()) return;
  for (const auto& [name, address] : at->second.variables) state_->memory.free(address);
  state_->modules.erase(at);
}

std::uint64_t Device::variable(const Module& module, std::string_view name) {
  const std::lock_guard lock(state_->mutex);
  load(module);
  const auto& variables = state_->modules.at(module.program().get()).variables;
  const auto found = variables.find(name);
  if (found == variables.end())
    throw Error("module '" + module.program()->name + "' has no variable '" + std::string(name) +
                "'");
  return found->second;
}

void Device::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(state_->mutex);
  std::byte* to = state_->memory.range(address, bytes, "forget");
  if (bytes == 0) return;
  std::memset(to, 0xff, bytes);
  state_->memory.mark(address, bytes, false);
}

LaunchReport Device::launch(const Module& module, std::string_view entry, Dim3 grid, Dim3 block,
                            std::uint32_t shared_bytes, std::span<const void* const> parameters,
                            const LaunchOptions& options) {
  const std::lock_guard lock(state_->mutex);
  const OwnFloatingPoint mode;
  load(module);
  const Program& program = *module.program();
  const auto found = program.kernels.find(entry);
  if (found == program.kernels.end())
    throw Error("module '" + program.name + "' has no entry '" + std::string(entry) + "'");
  const Kernel& kernel = found->second;
  if (parameters.size() != kernel.parameters.size())
    throw Error("kernel '" + kernel.name + "' has " + std::to_string(kernel.parameters.size()) +
                " parameters, but " + std::to_string(parameters.size()) + " were given");
  Execution launch{.kernel = kernel,
                   .memory = state_->memory,
                   .chip = state_->chip,
                   .options = options,
                   .grid = grid,
                   .block = block,
                   .cluster = {},
                   .dynamic_shared_bytes = shared_bytes,
                   .parameters = std::vector<std::byte>(kernel.parameter_bytes),
                   .findings = Findings(options.max_findings),
                   .counters = {},
                   .races = nullptr};
  for (std::size_t i = 0; i < parameters.size(); ++i)
    std::memcpy(launch.parameters.data() + kernel.parameters[i].offset, parameters[i],
                kernel.parameters[i].bytes);
  const auto& of_entry = kernel.cluster;
  launch.cluster = of_entry[0] != 0 ? Dim3{of_entry[0], of_entry[1], of_entry[2]} : options.cluster;
  if (options.check) launch.races = std::make_unique<Races>(launch);
  run_launch(launch, state_->modules.at(&program).variables);
  return {launch.findings.take(), launch.counters};
}

}  // namespace halftone::simulator
