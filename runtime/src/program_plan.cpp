// SPDX-License-Identifier: Apache-2.0
#include "program_plan.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "dispatch.hpp"
#include "driver_context.hpp"
#include "floating_point.hpp"
#include "formats.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/error.hpp"
#include "nearest.hpp"
#include "text.hpp"

namespace halftone {
namespace {

using manifest::Role;

template <class T>
std::vector<std::byte> filled(std::int64_t count, double value) {
  const std::vector<T> values(static_cast<std::size_t>(count), static_cast<T>(value));
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

std::int64_t count_of(const manifest::Parameter& parameter) {
  std::int64_t count = 1;
  for (std::int64_t extent : parameter.shape) count *= extent;
  return count;
}

/// On a device with memory of its own the states that a rule could place elsewhere (P91).
std::int64_t bytes_of_states(const ProgramPlan& plan) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; plan.target() && i < plan.program().buffers.size(); ++i) {
    const manifest::Buffer& buffer = plan.buffer(i);
    const bool is_of_all =  // that are trained, and so of one element each
        buffer.role == Role::optimizer_state && buffer.shape.size() == 1 &&
        buffer.shape[0] == manifest::Dimension{plan.manifest().trained_elements, -1};
    if (is_of_all && !buffer.in_host) bytes += plan.bytes(i);
  }
  return bytes;
}

}  // namespace

ProgramPlan::ProgramPlan(const char* who, const Artifact& artifact, const Device& device,
                         std::string_view program, const Setup& setup)
    : who_(who), artifact_(artifact), device_(device) {
  choose_manifest(setup.stage);
  choose_program(program, setup);
  bind_symbols(setup.bindings);
  check_limits(symbols());
  plan();
}

ProgramPlan::ProgramPlan(const char* who, const ProgramPlan& like, std::string_view program)
    : who_(who),
      artifact_(like.artifact_),
      device_(like.device_),
      manifest_(like.manifest_),
      target_(like.target_),
      packed_(like.packed_),
      architecture_(like.architecture_),
      ahead_(like.ahead_),
      planned_{.symbols = like.planned_.symbols} {
  choose_program(program, Setup{});
  plan();
}

ProgramPlan ProgramPlan::in_stage(std::string_view stage) const {
  ProgramPlan other = *this;
  other.choose_manifest_of(stage);
  other.choose_program(program_->name, Setup{});
  other.planned_ = {.symbols = planned_.symbols};
  other.leading_.reset();
  other.plan();
  return other;
}

bool ProgramPlan::holds_in(std::string_view stage) const {
  return manifest::holds_in(*manifest_, stage);
}

/// Of the same target.
void ProgramPlan::choose_manifest_of(std::string_view stage) {
  const std::string target = target_ ? target_->chip : "cpu";
  for (const manifest::Manifest& manifest : artifact_.manifests()) {
    if (!manifest::holds_in(manifest, stage) ||
        std::ranges::find(manifest.targets, target) == manifest.targets.end()) {
      continue;
    }
    manifest_ = &manifest;
    target_ = target_ ? manifest::find_cuda(manifest, target) : nullptr;
    return;
  }
  throw Error({.operation = who_,
               .object = named("model", manifest_->model),
               .cause = "has no program for the stage '" + std::string(stage) + "' on " + target,
               .hint = "make the artifact again with halftonec"});
}

void ProgramPlan::choose_manifest(std::string_view stage) {
  manifest_ = &artifact_.manifest();
  if (!stage.empty()) require_stage(who_, *manifest_, stage);
  if (!device_.driver()) return choose_manifest_of(stage);
  const std::vector<std::string> names = chips_of(artifact_.manifests());
  const std::string& chip = device_.driver()->properties().chip;
  packed_ = unpack_kernels(artifact_, who_);
  std::string why;
  const auto chosen = device_.driver()->choose(names, packed_->offers(),
                                               chips_with_maps(artifact_.manifests()), why);
  const std::string best = "take Device::best(artifact)";
  if (names.empty()) {
    throw Error({.operation = who_,
                 .object = named("model", manifest_->model),
                 .cause = "has no kernels for GPUs, but " + named("device", device_.name()) +
                          " is one of chip '" + chip + "'",
                 .hint = "make the artifact with " + chip + " among its targets, or " + best});
  }
  if (!chosen) {
    throw Error(
        {.operation = who_,
         .object = named("model", manifest_->model),
         .cause = "has kernels for " + listed(names) + ", so that none runs on '" + chip +
                  "', which the device '" + device_.name() + "' is: " + why,
         .hint = device_.driver()->options().jit == Jit::never
                     ? "unset HALFTONE_JIT, or make the artifact with halftonec --aot"
                     : "make the artifact with " + chip + " among its targets, or " + best});
  }
  architecture_ = chosen->architecture;
  ahead_ = chosen->ahead;
  for (const manifest::Manifest& manifest : artifact_.manifests()) {
    target_ = manifest::find_cuda(manifest, names[chosen->target]);
    if (target_) break;
  }
  choose_manifest_of(stage);
}

void ProgramPlan::check_model(const Setup& setup) const {
  if (!setup.model.empty() && setup.model != manifest().model) {
    throw Error({.operation = who_,
                 .object = "the artifact",
                 .cause = "holds " + named("model", manifest().model) + ", not '" +
                          std::string(setup.model) + "'",
                 .hint = "load an artifact that was made from that model"});
  }
  if (setup.structure != 0 && setup.structure != manifest().structure) {
    throw Error({.operation = who_,
                 .object = "the artifact",
                 .cause = "holds another " + named("model", manifest().model) +
                          " than the program was compiled for: of other names, shapes, layers or "
                          "their settings",
                 .hint = "make both from one spec, in which rules and optimizer alone may differ"});
  }
}

void ProgramPlan::choose_program(std::string_view name, const Setup& setup) {
  check_model(setup);
  const auto found = std::ranges::find(manifest().programs, name, &manifest::Program::name);
  if (found == manifest().programs.end()) {
    throw Error({.operation = who_,
                 .object = named("model", manifest().model),
                 .cause = "has no program for " + std::string(name),
                 .hint = "its artifact was made without it"});
  }
  program_ = &*found;
}

void ProgramPlan::bind_symbols(std::span<const Binding> bindings) {
  const auto refuse = [&](std::string_view symbol, std::string cause) {
    throw Error({.operation = who_,
                 .object = named("symbol", symbol),
                 .cause = std::move(cause),
                 .hint = "the model's symbols are " + listed(manifest().symbols)});
  };
  const auto& names = manifest().symbols;
  std::vector<std::int64_t>& symbols = planned_.symbols;
  symbols.assign(names.size(), 0);
  for (const Binding& binding : bindings) {
    const auto found = std::ranges::find(names, binding.symbol);
    if (found == names.end()) refuse(binding.symbol, "is unknown");
    std::int64_t& value = symbols[static_cast<std::size_t>(found - names.begin())];
    if (value != 0) refuse(binding.symbol, "is bound twice");
    if (binding.value <= 0) {
      refuse(binding.symbol, "is " + std::to_string(binding.value) + ", but must be positive");
    }
    value = binding.value;
  }
  const auto unbound = std::ranges::find(symbols, 0);
  if (unbound != symbols.end()) {
    refuse(names[static_cast<std::size_t>(unbound - symbols.begin())], "is not bound to a size");
  }
}

void ProgramPlan::check_limits(std::span<const std::int64_t> symbols) const {
  const manifest::Limit* limit = manifest::find_exceeded(manifest(), symbols);
  if (!limit) return;
  const auto symbol = static_cast<std::size_t>(limit->symbol);
  const std::int64_t bound = symbols[symbol];
  const std::string least = std::to_string(limit->least), most = std::to_string(limit->most);
  throw Error({.operation = who_,
               .object = named("symbol", manifest().symbols[symbol]),
               .cause = "is " + std::to_string(bound) + ", but " + manifest::reason_of(*limit),
               .hint = bound < limit->least ? "take " + least + " or more"
                       : limit->parameter.empty()
                           ? "take " + most + " or less"
                           : "take " + most + " or less, or give the layer more times"});
}

void ProgramPlan::check_rows(const manifest::Kernel& kernel) const {
  for (const manifest::TaskAxis& axis : kernel.tasks) {
    if (axis.tile != manifest::kMostColumns || axis.extent.front().symbol < 0) continue;
    const auto symbol = static_cast<std::size_t>(axis.extent.front().symbol);
    const manifest::Dimension& row = axis.extent.front();
    if (symbols()[symbol] <= (manifest::kMostColumns - row.added) / row.extent) continue;
    throw Error({.operation = who_,
                 .object = named("symbol", manifest().symbols[symbol]),
                 .cause = "is " + std::to_string(symbols()[symbol]) + ", but the rows of " +
                          named("kernel", kernel.name) + " hold at most 2^30 elements",
                 .hint = "bind a smaller size"});
  }
}

/// Chips count windows and places in 32 bits.
void ProgramPlan::check_images(const manifest::Launch& launch) const {
  const auto index = static_cast<std::size_t>(launch.kernel);
  for (const manifest::TaskAxis& axis : target_->kernels[index].blocks) {
    if (axis.tile == manifest::kMostOfImage &&
        manifest::elements(axis.extent, symbols()) > axis.tile)
      refuse_launch("has an image of more than 2^30 windows or places, which " +
                    named("kernel", kernel(launch).name) + " gathers");
  }
}

void ProgramPlan::plan() {
  for (const auto& launches : program_->phases) {
    for (const manifest::Launch& launch : launches) check_rows(kernel(launch));
  }
  try {
    for (const auto& launches : program_->phases) {
      for (const manifest::Launch& launch : launches)
        if (target_) check_images(launch);
    }
    arena_ = manifest::plan_arena(*program_, symbols(), target_ != nullptr);
    for (const manifest::Buffer& buffer : program_->buffers) {
      planned_.elements.push_back(manifest::elements(*program_, buffer, symbols()));
    }
  } catch (const std::overflow_error&) {
    refuse_size("needs more than 2^62 bytes of memory");
  }
  find_leading_symbol();
}

void ProgramPlan::find_leading_symbol() {
  for (const std::string& name : manifest().inputs) {
    const auto input = find(name);
    if (!input || buffer(*input).shape.empty()) continue;
    const manifest::Dimension& first = buffer(*input).shape.front();
    if (first.symbol < 0) continue;
    const auto symbol = static_cast<std::size_t>(first.symbol);
    if (leading_ && *leading_ != symbol) {
      leading_.reset();
      return;
    }
    leading_ = symbol;
  }
  if (leading_) planned_.rows = symbols()[*leading_];
}

std::int64_t ProgramPlan::row_elements(std::size_t index) const {
  if (!leading_) return 0;
  std::int64_t times = 0, elements = 1;
  for (const manifest::Dimension& dimension : buffer(index).shape) {
    const bool leads = dimension.symbol == static_cast<std::int32_t>(*leading_) &&
                       dimension.divisor == 1 && dimension.added == 0;
    times += leads ? 1 : 0;
    elements *= leads ? dimension.extent : manifest::elements(std::span(&dimension, 1), symbols());
  }
  return times == 1 ? elements : 0;
}

Sizes ProgramPlan::with_rows(std::int64_t rows) const {
  std::vector<std::int64_t> symbols = planned_.symbols;
  if (leading_) symbols[*leading_] = rows;
  check_limits(symbols);
  Sizes sizes = with_symbols(std::move(symbols));
  sizes.rows = rows;
  return sizes;
}

Sizes ProgramPlan::with_symbols(std::vector<std::int64_t> symbols) const {
  Sizes sizes{.rows = leading_ ? symbols[*leading_] : 0, .symbols = std::move(symbols)};
  sizes.elements.reserve(planned_.elements.size());
  for (const manifest::Buffer& buffer : program_->buffers) {
    sizes.elements.push_back(manifest::elements(*program_, buffer, sizes.symbols));
  }
  return sizes;
}

const manifest::Section* ProgramPlan::section_of(manifest::Phase phase, std::size_t launch) const {
  return manifest::section_of(*program_, static_cast<std::size_t>(phase), launch);
}

std::span<const manifest::Launch> ProgramPlan::launches_of(const manifest::Section& section) const {
  return launches(section.phase)
      .subspan(static_cast<std::size_t>(section.first), static_cast<std::size_t>(section.count));
}

std::vector<ProgramPlan::Chunk> ProgramPlan::chunks_of(const manifest::Section& section,
                                                       const Sizes& sizes) const {
  const auto symbol = static_cast<std::size_t>(section.symbol);
  const std::int64_t all = sizes.symbols[symbol];
  const std::int64_t most = manifest::chunk_of(section, symbols());
  std::vector<Chunk> chunks;
  for (std::int64_t begin = 0; begin < all; begin += most) {
    Sizes chunk = sizes;
    chunk.symbols[symbol] = std::min(most, all - begin);
    if (leading_ == symbol) chunk.rows = chunk.symbols[symbol];
    for (std::size_t i = 0; i < chunk.elements.size(); ++i) {
      chunk.elements[i] = manifest::elements(buffer(i).shape, chunk.symbols);
    }
    chunks.push_back({std::move(chunk), begin});
  }
  return chunks;
}

std::int64_t ProgramPlan::bytes_before(const manifest::Argument& argument,
                                       const manifest::Section& section, const Sizes& sizes,
                                       std::int64_t begin) const {
  const manifest::Buffer& buffer = this->buffer(static_cast<std::size_t>(argument.buffer));
  const bool has_rows = !buffer.shape.empty() && buffer.shape[0].symbol == section.symbol &&
                        buffer.shape[0].divisor == 1 && buffer.shape[0].added == 0;
  if (buffer.section >= 0 || !has_rows || begin == 0) return 0;
  std::vector<std::int64_t> before = sizes.symbols;
  before[static_cast<std::size_t>(section.symbol)] = begin;
  return manifest::bytes_of(buffer.encoding, manifest::elements(buffer.shape, before));
}

std::int64_t ProgramPlan::count_parts(const manifest::Section& section, const Sizes& sizes) {
  return manifest::elements(section.parts, sizes.symbols);
}

ProgramPlan::PartOf ProgramPlan::part_of(const manifest::Argument& argument,
                                         const manifest::Section& section,
                                         const Sizes& sizes) const {
  const auto parts = static_cast<std::size_t>(argument.parts);
  const std::span all = section.parts;
  const std::int64_t elements =
      manifest::elements(buffer(static_cast<std::size_t>(argument.buffer)).shape, sizes.symbols);
  return {manifest::elements(all.subspan(parts), sizes.symbols),
          elements / manifest::elements(all.first(parts), sizes.symbols)};
}

std::optional<std::size_t> ProgramPlan::state_of_rows() const {
  for (std::size_t i = 0; leading_ && i < program_->buffers.size(); ++i) {
    if (buffer(i).role != Role::state) continue;
    for (const manifest::Dimension& dimension : buffer(i).shape) {
      if (dimension.symbol == static_cast<std::int32_t>(*leading_)) return i;
    }
  }
  return std::nullopt;
}

std::string ProgramPlan::model_text() const {
  std::string text = named("model", manifest().model);
  for (std::size_t i = 0; i < symbols().size(); ++i) {
    text += (i ? ", " : " with ") + manifest().symbols[i] + " " + std::to_string(symbols()[i]);
  }
  return text;
}

void ProgramPlan::refuse_size(std::string cause) const {
  throw Error({.operation = who_,
               .object = model_text(),
               .cause = std::move(cause),
               .hint = "bind smaller sizes or free memory"});
}

void ProgramPlan::refuse_bytes(std::int64_t bytes) const {
  const std::string cause = "needs " + std::to_string(bytes) +
                            " bytes of memory in one piece, which the device '" + device_.name() +
                            "' does not have";
  const std::int64_t states = bytes_of_states(*this);
  if (states == 0) refuse_size(cause);
  throw Error({.operation = who_,
               .object = model_text(),
               .cause = cause,
               .hint = "bind smaller sizes, free memory, or place the " + std::to_string(states) +
                       " bytes of the optimizer's states in the host's memory by a rule (P91)"});
}

void ProgramPlan::refuse_launch(std::string cause) const {
  throw Error({.operation = who_,
               .object = model_text(),
               .cause = std::move(cause),
               .hint = "bind smaller sizes"});
}

std::optional<std::size_t> ProgramPlan::find(std::string_view name) const {
  const auto found = std::ranges::find(program_->buffers, name, &manifest::Buffer::name);
  if (found == program_->buffers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - program_->buffers.begin());
}

std::optional<std::size_t> ProgramPlan::find(Role role) const {
  const auto found = std::ranges::find(program_->buffers, role, &manifest::Buffer::role);
  if (found == program_->buffers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - program_->buffers.begin());
}

const manifest::Buffer& ProgramPlan::buffer(std::size_t index) const {
  return program_->buffers[index];
}

std::int64_t ProgramPlan::elements(const manifest::Argument& argument, const Sizes& sizes) const {
  const auto index = static_cast<std::size_t>(argument.buffer);
  if (buffer(index).role == Role::gradients) {
    for (const manifest::Parameter& parameter : manifest().parameters) {
      if (parameter.offset == argument.offset) return count_of(parameter);
    }
  }
  return sizes.elements[index] - argument.offset;
}

std::int64_t ProgramPlan::first_byte(const manifest::Argument& argument) const {
  const auto index = static_cast<std::size_t>(argument.buffer);
  return manifest::bytes_of(buffer(index).encoding, argument.offset);
}

const manifest::Kernel& ProgramPlan::kernel(const manifest::Launch& launch) const {
  return manifest().kernels[static_cast<std::size_t>(launch.kernel)];
}

std::vector<std::byte> ProgramPlan::first_values(std::size_t index) const {
  const manifest::Buffer& buffer = this->buffer(index);
  if (buffer.initial == 0.0) return {};
  const StandardFloatingPoint mode;
  if (encoding::traits(buffer.encoding.element).integer)
    return filled<std::int32_t>(elements(index), buffer.initial);
  if (!encoding::is_narrow(buffer.encoding.element))
    return filled<float>(elements(index), buffer.initial);
  const auto value = static_cast<float>(buffer.initial);  // P68: of a state of 16 bits
  return filled<std::uint16_t>(elements(index), narrowed(buffer.encoding.element, value));
}

std::vector<std::size_t> ProgramPlan::inputs_of(manifest::Phase phase) const {
  std::vector<std::size_t> inputs;
  for (const std::string& name : manifest().inputs) {
    const auto index = find(name);
    if (!index) continue;
    const auto reads = [&](const manifest::Launch& launch) {
      return std::ranges::any_of(launch.arguments, [&](const manifest::Argument& argument) {
        return static_cast<std::size_t>(argument.buffer) == *index;
      });
    };
    if (std::ranges::any_of(launches(phase), reads)) inputs.push_back(*index);
  }
  return inputs;
}

std::vector<std::int64_t> ProgramPlan::extents(std::size_t index) const {
  std::vector<std::int64_t> extents;
  for (const manifest::Dimension& dimension : buffer(index).shape) {
    extents.push_back(manifest::elements(std::span(&dimension, 1), symbols()));
  }
  return extents;
}

std::string ProgramPlan::shape_text(std::size_t index, const Sizes& sizes) const {
  std::string text;
  for (const manifest::Dimension& dimension : buffer(index).shape) {
    if (!text.empty()) text += " x ";
    if (dimension.symbol < 0) {
      text += std::to_string(dimension.extent);
      continue;
    }
    const auto symbol = static_cast<std::size_t>(dimension.symbol);
    if (dimension.added != 0) text += "(";
    if (dimension.extent != 1) text += std::to_string(dimension.extent) + " * ";
    text += manifest().symbols[symbol] + " " + std::to_string(sizes.symbols[symbol]);
    if (dimension.divisor != 1) text += " / " + std::to_string(dimension.divisor);
    if (dimension.added != 0) text += manifest::added_text(dimension) + ")";
  }
  return text.empty() ? "a scalar" : text;
}

void require_stage(const char* operation, const manifest::Manifest& manifest,
                   std::string_view stage) {
  if (std::ranges::find(manifest.stages, stage) != manifest.stages.end()) return;
  const std::string near = nearest(std::string(stage), manifest.stages);
  throw Error({.operation = operation,
               .object = "the stage " + shown(stage),
               .cause = "is none of " + named("model", manifest.model) +
                        (near.empty() ? "" : "; did you mean '" + near + "'?"),
               .hint = manifest.stages.empty()
                           ? "give HALFTONE_MODEL stages(...) with its name"
                           : "the model's stages are " + listed(manifest.stages)});
}

}  // namespace halftone
