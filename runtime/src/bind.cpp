// SPDX-License-Identifier: Apache-2.0
// A program with its symbols bound: sizes, arena, arguments of every launch.
#include "bind.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "halftone/error.hpp"
#include "initialize.hpp"
#include "text.hpp"

namespace halftone {
namespace {

using manifest::Phase, manifest::Role;

template <class T>
void fill(std::byte* address, std::int64_t count, double value) {
  T* values = reinterpret_cast<T*>(address);
  std::fill(values, values + count, static_cast<T>(value));
}

std::int64_t count_of(const manifest::Parameter& parameter) {
  std::int64_t count = 1;
  for (std::int64_t extent : parameter.shape) count *= extent;
  return count;
}

}  // namespace

BoundProgram::BoundProgram(const char* who, const Artifact& artifact, const Device& device,
                           std::string_view program, const Setup& setup)
    : who_(who), artifact_(artifact), device_(device), memory_(device.memory()) {
  choose_program(program, setup);
  bind_symbols(setup.bindings);
  choose_variant();
  make_ready();
  initialize_parameters(setup.seed);
}

BoundProgram::BoundProgram(const char* who, const BoundProgram& like, std::string_view program)
    : who_(who),
      artifact_(like.artifact_),
      device_(like.device_),
      memory_(like.device_.memory()),
      variant_(like.variant_),
      symbols_(like.symbols_) {
  choose_program(program, {});
  make_ready();
}

void BoundProgram::make_ready() {
  plan();
  if (plan_.bytes > 0) arena_ = allocate(plan_.bytes);
  write_first_values();
  for (std::size_t phase = 0; phase < manifest::kPhases; ++phase) {
    if (static_cast<Phase>(phase) != Phase::accumulate) bind_launches(static_cast<Phase>(phase));
  }
}

void BoundProgram::prepare_accumulation() {
  const auto phase = static_cast<std::size_t>(Phase::accumulate);
  if (phases_[phase].size() == program_->phases[phase].size()) return;
  phases_[phase].clear();
  if (!accumulated_ && plan_.accumulated_bytes > 0) {
    accumulated_ = allocate(plan_.accumulated_bytes);
  }
  bind_launches(Phase::accumulate);
}

void BoundProgram::choose_program(std::string_view name, const Setup& setup) {
  if (!setup.model.empty() && setup.model != manifest().model) {
    throw Error({.operation = who_,
                 .object = "the artifact",
                 .cause = "holds " + named("model", manifest().model) + ", not '" +
                          std::string(setup.model) + "'",
                 .hint = "load an artifact that was made from that model"});
  }
  const auto found = std::ranges::find(manifest().programs, name, &manifest::Program::name);
  if (found == manifest().programs.end()) {
    throw Error({.operation = who_,
                 .object = named("model", manifest().model),
                 .cause = "has no program for " + std::string(name),
                 .hint = "its artifact was made without it"});
  }
  program_ = &*found;
}

void BoundProgram::bind_symbols(std::span<const Binding> bindings) {
  const auto refuse = [&](std::string_view symbol, std::string cause) {
    throw Error({.operation = who_,
                 .object = named("symbol", symbol),
                 .cause = std::move(cause),
                 .hint = "the model's symbols are " + listed(manifest().symbols)});
  };
  const auto& names = manifest().symbols;
  symbols_.assign(names.size(), 0);
  for (const Binding& binding : bindings) {
    const auto found = std::ranges::find(names, binding.symbol);
    if (found == names.end()) refuse(binding.symbol, "is unknown");
    std::int64_t& value = symbols_[static_cast<std::size_t>(found - names.begin())];
    if (value != 0) refuse(binding.symbol, "is bound twice");
    if (binding.value <= 0) {
      refuse(binding.symbol, "is " + std::to_string(binding.value) + ", but must be positive");
    }
    value = binding.value;
  }
  const auto unbound = std::ranges::find(symbols_, 0);
  if (unbound != symbols_.end()) {
    refuse(names[static_cast<std::size_t>(unbound - symbols_.begin())], "is not bound to a size");
  }
}

void BoundProgram::choose_variant() {
  const auto& offered = manifest().variants;
  for (const std::string& variant : device_.variants()) {
    const auto found = std::ranges::find(offered, variant);
    if (found == offered.end()) continue;
    variant_ = static_cast<std::size_t>(found - offered.begin());
    return;
  }
  throw Error({.operation = who_,
               .object = named("model", manifest().model),
               .cause = "has code for " + listed(offered) + ", but the device '" + device_.name() +
                        "' runs " + listed(device_.variants()),
               .hint = "choose another device or make the artifact for this one"});
}

std::string BoundProgram::bindings_text() const {
  std::string text;
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    text += (i ? ", " : " with ") + manifest().symbols[i] + " " + std::to_string(symbols_[i]);
  }
  return text;
}

void BoundProgram::refuse_size(std::string cause) const {
  throw Error({.operation = who_,
               .object = named("model", manifest().model) + bindings_text(),
               .cause = std::move(cause),
               .hint = "bind smaller sizes or free memory"});
}

void BoundProgram::plan() {
  try {
    plan_ = manifest::plan_arena(*program_, symbols_);
    for (const manifest::Buffer& buffer : program_->buffers) {
      elements_.push_back(manifest::elements(buffer.shape, symbols_));
    }
  } catch (const std::overflow_error&) {
    refuse_size("needs more than 2^62 bytes of memory");
  }
}

std::byte* BoundProgram::allocate(std::int64_t bytes) {
  auto* address = static_cast<std::byte*>(memory_.allocate(bytes, manifest::kSlotAlignment));
  if (!address) {
    refuse_size("needs " + std::to_string(bytes) +
                " bytes of memory in one piece, which the device '" + device_.name() +
                "' does not have");
  }
  std::memset(address, 0, static_cast<std::size_t>(bytes));
  return address;
}

void BoundProgram::write_first_values() {
  for (std::size_t i = 0; i < program_->buffers.size(); ++i) {
    const manifest::Buffer& buffer = program_->buffers[i];
    if (buffer.initial == 0.0) continue;
    if (buffer.format == manifest::Format::i32) {
      fill<std::int32_t>(address(i), elements_[i], buffer.initial);
    } else {
      fill<float>(address(i), elements_[i], buffer.initial);
    }
  }
}

void BoundProgram::initialize_parameters(std::uint64_t seed) {
  for (const manifest::Parameter& parameter : manifest().parameters) {
    initialize(this->parameter(who_, parameter.name), parameter.initializer, seed, parameter.name);
  }
}

void BoundProgram::bind_launches(Phase phase) {
  const auto index = static_cast<std::size_t>(phase);
  try {
    for (const auto& launch : program_->phases[index]) bind_launch(launch, phases_[index]);
  } catch (const std::overflow_error&) {
    throw Error({.operation = who_,
                 .object = named("model", manifest().model) + bindings_text(),
                 .cause = "has a kernel with more than 2^62 tasks",
                 .hint = "bind smaller sizes"});
  }
}

void BoundProgram::bind_launch(const manifest::Launch& launch, std::vector<BoundLaunch>& launches) {
  const auto& kernel = manifest().kernels[static_cast<std::size_t>(launch.kernel)];
  const void* const* entries = artifact_.image().cpu_entries[variant_];
  const auto entry_at = [&](std::int32_t index) {
    return index < 0 ? nullptr : reinterpret_cast<CpuEntry>(const_cast<void*>(entries[index]));
  };
  BoundLaunch bound{entry_at(kernel.cpu_entry),
                    entry_at(kernel.cpu_finish),
                    {},
                    manifest::task_count(kernel, symbols_)};
  for (const manifest::Argument& argument : launch.arguments) {
    const auto index = static_cast<std::size_t>(argument.buffer);
    if (argument.offset >= elements_[index]) {
      throw Error({.operation = who_,
                   .object = named("kernel", kernel.name),
                   .cause = "reads past the end of " + named("buffer", buffer(index).name),
                   .hint = "make the artifact again with halftonec"});
    }
    bound.arguments.push_back(address(index) +
                              argument.offset * manifest::bytes_of(buffer(index).format));
  }
  launches.push_back(std::move(bound));
}

std::optional<std::size_t> BoundProgram::find(std::string_view name) const {
  const auto found = std::ranges::find(program_->buffers, name, &manifest::Buffer::name);
  if (found == program_->buffers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - program_->buffers.begin());
}

std::optional<std::size_t> BoundProgram::find(Role role) const {
  const auto found = std::ranges::find(program_->buffers, role, &manifest::Buffer::role);
  if (found == program_->buffers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - program_->buffers.begin());
}

const manifest::Buffer& BoundProgram::buffer(std::size_t index) const {
  return program_->buffers[index];
}

std::byte* BoundProgram::address(std::size_t buffer) const {
  const auto slot = static_cast<std::size_t>(program_->buffers[buffer].slot);
  std::byte* piece = program_->buffers[buffer].role == Role::accumulated ? accumulated_ : arena_;
  return piece + plan_.slot_offsets[slot];
}

std::int64_t BoundProgram::elements(const manifest::Argument& argument) const {
  const auto index = static_cast<std::size_t>(argument.buffer);
  if (buffer(index).role == Role::gradients) {
    for (const manifest::Parameter& parameter : manifest().parameters) {
      if (parameter.offset == argument.offset) return count_of(parameter);
    }
  }
  return elements_[index] - argument.offset;
}

std::span<float> BoundProgram::floats(const char* operation, std::size_t index) const {
  if (buffer(index).format != manifest::Format::f32) {
    throw Error({.operation = operation,
                 .object = named("buffer", buffer(index).name),
                 .cause = "is not stored as f32",
                 .hint = "give it f32 storage in the precision rules"});
  }
  return {reinterpret_cast<float*>(address(index)), static_cast<std::size_t>(elements_[index])};
}

float BoundProgram::scalar(std::size_t index) const { return floats("statistics", index)[0]; }

const manifest::Parameter& BoundProgram::find_parameter(const char* operation,
                                                        std::string_view name) const {
  const auto& parameters = manifest().parameters;
  const auto found = std::ranges::find(parameters, name, &manifest::Parameter::name);
  if (found != parameters.end()) return *found;
  std::vector<std::string> names;
  for (const auto& parameter : parameters) names.push_back(parameter.name);
  throw Error({.operation = operation,
               .object = named("parameter", name),
               .cause = "is unknown",
               .hint = "the model's parameters are " + listed(names)});
}

std::span<float> BoundProgram::parameter(const char* operation, std::string_view name) const {
  const manifest::Parameter& parameter = find_parameter(operation, name);
  const std::span<float> all = floats(operation, *find(Role::parameters));
  return all.subspan(static_cast<std::size_t>(parameter.offset),
                     static_cast<std::size_t>(count_of(parameter)));
}

std::span<float> BoundProgram::gradient(const char* operation, std::string_view name) const {
  const manifest::Parameter& parameter = find_parameter(operation, name);
  const auto gradients = find(Role::gradients);
  if (!parameter.trained || !gradients) {
    throw Error({.operation = operation,
                 .object = named("parameter", name),
                 .cause = "is frozen and has no gradient",
                 .hint = ""});
  }
  return floats(operation, *gradients)
      .subspan(static_cast<std::size_t>(parameter.offset), this->parameter(operation, name).size());
}

void BoundProgram::set_parameter(std::string_view name, std::span<const float> values) {
  const std::span<float> mine = parameter("set_parameter", name);
  if (values.size() != mine.size()) {
    throw Error({.operation = "set_parameter",
                 .object = named("parameter", name),
                 .cause = "has " + std::to_string(mine.size()) + " values, but was given " +
                          std::to_string(values.size()),
                 .hint = "give all of them, row-major"});
  }
  std::ranges::copy(values, mine.begin());
  parameters_changed_ = true;
}

std::span<const float> BoundProgram::output(std::string_view name) const {
  const auto& outputs = manifest().outputs;
  const auto found = std::ranges::find(outputs, name, &manifest::Output::name);
  if (found != outputs.end()) return floats("output", *find(found->buffer));
  std::vector<std::string> names;
  for (const auto& output : outputs) names.push_back(output.name);
  throw Error({.operation = "output",
               .object = named("output", name),
               .cause = "is unknown",
               .hint = "the model's outputs are " + listed(names)});
}

std::vector<std::size_t> BoundProgram::inputs_of(manifest::Phase phase) const {
  std::vector<std::size_t> inputs;
  for (const std::string& name : manifest().inputs) {
    const auto index = find(name);
    if (!index) continue;
    const auto reads = [&](const manifest::Launch& launch) {
      return std::ranges::any_of(launch.arguments, [&](const manifest::Argument& argument) {
        return static_cast<std::size_t>(argument.buffer) == *index;
      });
    };
    if (std::ranges::any_of(program_->phases[static_cast<std::size_t>(phase)], reads)) {
      inputs.push_back(*index);
    }
  }
  return inputs;
}

std::string BoundProgram::shape_text(std::size_t index) const {
  std::string text;
  for (const manifest::Dimension& dimension : buffer(index).shape) {
    if (!text.empty()) text += " x ";
    if (dimension.symbol < 0) {
      text += std::to_string(dimension.extent);
      continue;
    }
    const auto symbol = static_cast<std::size_t>(dimension.symbol);
    if (dimension.extent != 1) text += std::to_string(dimension.extent) + " * ";
    text += manifest().symbols[symbol] + " " + std::to_string(symbols_[symbol]);
  }
  return text.empty() ? "a scalar" : text;
}

}  // namespace halftone
