// SPDX-License-Identifier: Apache-2.0
#include "bind.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "halftone/error.hpp"
#include "initialize.hpp"
#include "inputs.hpp"
#include "quantized_weights.hpp"
#include "split_masters.hpp"
#include "stage_memory.hpp"
#include "text.hpp"

namespace halftone {
namespace {

using manifest::Phase, manifest::Role;

std::size_t count_of(const manifest::Parameter& parameter) {
  std::int64_t count = 1;
  for (std::int64_t extent : parameter.shape) count *= extent;
  return static_cast<std::size_t>(count);
}

/// 16 bits of each.
std::int64_t byte_of(std::int64_t element) { return element * 2; }

HeldWeight held_as(const manifest::QuantizedWeight& weight, const manifest::Parameter& parameter,
                   const manifest::Buffer& codes) {
  HeldWeight how{.element = codes.encoding.element, .least_error = weight.least_error};
  const auto dimension = static_cast<std::size_t>(weight.dimension);
  how.channels = parameter.shape[dimension];
  for (std::size_t d = dimension + 1; d < parameter.shape.size(); ++d)
    how.behind *= parameter.shape[d];
  return how;
}

std::span<const float> part_of(std::span<const float> flat, const manifest::Parameter& parameter) {
  return flat.subspan(static_cast<std::size_t>(parameter.offset), count_of(parameter));
}

void require_address(const char* operation, std::string object, std::span<const float> values) {
  if (values.data()) return;
  throw Error({.operation = operation,
               .object = std::move(object),
               .cause = kNullValues,
               .hint = kNullValuesHint});
}

/// "64 x 16"
std::string shape_text(std::span<const std::int64_t> shape) {
  std::vector<std::string> extents;
  for (std::int64_t extent : shape) extents.push_back(std::to_string(extent));
  return extents.empty() ? "a scalar" : joined(extents, " x ");
}

}  // namespace

BoundProgram::BoundProgram(const char* who, const Artifact& artifact, const Device& device,
                           std::string_view program, const Setup& setup, Stages stages) {
  turns_.push_back(std::make_unique<Turn>(Turn{{who, artifact, device, program, setup}}));
  turn_ = turns_.front().get();
  const std::vector<std::string>& all = manifest().stages;
  if (!all.empty()) stage_ = setup.stage.empty() ? all.front() : std::string(setup.stage);
  if (stages == Stages::all) plan_turns();
  std::vector<const ProgramPlan*> plans;
  for (const auto& turn : turns_) plans.push_back(&turn->plan);
  std::vector<std::unique_ptr<Execution>> executions = make_executions(plans);
  for (std::size_t i = 0; i < turns_.size(); ++i) turns_[i]->execution = std::move(executions[i]);
  sizes_ = plan().planned();
  initialize_parameters(setup.seed);
}

/// In the order of the stages.
void BoundProgram::plan_turns() {
  std::vector<std::unique_ptr<Turn>> turns;
  const ProgramPlan own = plan();
  for (const std::string& stage : manifest().stages) {
    const auto holds = [&](const auto& turn) { return turn->plan.holds_in(stage); };
    if (std::ranges::any_of(turns, holds)) continue;
    turns.push_back(std::make_unique<Turn>(Turn{own.in_stage(stage)}));
  }
  if (turns.size() < 2) return;
  turns_ = std::move(turns);
  turn_ = find_turn(stage_);
  std::vector<ProgramPlan*> plans;
  for (const auto& turn : turns_) plans.push_back(&turn->plan);
  share_memory(plans);
}

BoundProgram::Turn* BoundProgram::find_turn(std::string_view stage) const {
  const auto found =
      std::ranges::find_if(turns_, [&](const auto& turn) { return turn->plan.holds_in(stage); });
  return found->get();
}

void BoundProgram::enter(std::string_view stage) {
  std::string entered(stage);
  if (Turn* next = find_turn(stage); next != turn_) {
    Sizes sizes = next->plan.planned();
    next->execution->begin_turn();
    next->execution->use(sizes);
    turn_ = next;  // nothing throws from here on
    sizes_ = std::move(sizes);
    parameters_changed_ = true;
  }
  stage_ = std::move(entered);
}

BoundProgram::BoundProgram(const char* who, const BoundProgram& like, std::string_view program)
    : stage_(like.stage_) {
  turns_.push_back(std::make_unique<Turn>(Turn{{who, like.plan(), program}}));
  turn_ = turns_.front().get();
  turns_.front()->execution = make_execution(plan());
  sizes_ = plan().planned();
}

void BoundProgram::change(Sizes sizes) {
  execution().use(sizes);
  sizes_ = std::move(sizes);
}

void BoundProgram::initialize_parameters(std::uint64_t seed) {
  if (!program().quantized.empty()) {  // P84
    for (const manifest::Parameter& parameter : manifest().parameters) {
      std::vector<float> values(count_of(parameter));
      initialize(values, parameter.initializer, seed, parameter.name,
                 parameter.shape.empty() ? 1 : parameter.shape.front());
      put(parameter, values);
    }
    return;
  }
  const auto masters = plan().find(Role::parameters);
  if (!masters) return;
  std::vector<float> values(static_cast<std::size_t>(plan().elements(*masters)));
  for (const manifest::Parameter& parameter : manifest().parameters) {
    const std::span all(values);
    initialize(all.subspan(static_cast<std::size_t>(parameter.offset), count_of(parameter)),
               parameter.initializer, seed, parameter.name,
               parameter.shape.empty() ? 1 : parameter.shape.front());
  }
  set_masters(0, values);
}

std::span<const float> BoundProgram::masters(const char* operation, std::int64_t first,
                                             std::size_t count) const {
  const auto at = static_cast<std::size_t>(first);
  const std::size_t whole = *plan().find(Role::parameters);
  const auto remainders = plan().find(Role::remainders);
  if (!remainders) return floats(operation, whole).subspan(at, count);
  joined_.resize(static_cast<std::size_t>(plan().elements(whole)));
  const std::span<float> found = std::span(joined_).subspan(at, count);
  join(execution().read(whole) + byte_of(first), execution().read(*remainders) + byte_of(first),
       found);
  return found;
}

void BoundProgram::set_masters(std::int64_t first, std::span<const float> values) {
  const std::size_t whole = *plan().find(Role::parameters);
  const auto remainders = plan().find(Role::remainders);
  if (!remainders) {
    return write(whole, first * static_cast<std::int64_t>(sizeof(float)), std::as_bytes(values));
  }
  const SplitMasters halves = split(values);
  write(whole, byte_of(first), std::as_bytes(std::span(halves.upper)));
  write(*remainders, byte_of(first), std::as_bytes(std::span(halves.remainders)));
}

void BoundProgram::refresh() {
  if (!parameters_changed_) return;
  if (!plan().launches(Phase::refresh).empty()) execution().run(std::array{Phase::refresh});
  parameters_changed_ = false;
}

void BoundProgram::run(std::span<const Phase> phases) {
  refresh();
  execution().run(phases);
}

void BoundProgram::run(Phase phase, std::size_t launch) {
  refresh();
  execution().run(phase, launch);
}

std::span<const float> BoundProgram::floats(const char* operation, std::size_t index) const {
  const manifest::Buffer& buffer = plan().buffer(index);
  if (buffer.encoding != manifest::Element::f32) {
    throw Error({.operation = operation,
                 .object = named("buffer", buffer.name),
                 .cause = "is not stored as f32",
                 .hint = "give it f32 storage in the precision rules"});
  }
  return {reinterpret_cast<const float*>(execution().read(index)),
          static_cast<std::size_t>(elements(index))};
}

void BoundProgram::write(std::size_t buffer, std::int64_t at, std::span<const std::byte> bytes) {
  execution().write(buffer, at, bytes);
  if (plan().buffer(buffer).role == Role::parameters) parameters_changed_ = true;
}

float BoundProgram::scalar(std::size_t index) const { return floats("statistics", index)[0]; }

void BoundProgram::set_scalar(std::size_t index, float value) {
  if (const float present = scalar(index); std::memcmp(&present, &value, sizeof value) == 0) return;
  execution().write(index, 0, std::as_bytes(std::span(&value, 1)));
}

std::vector<std::string> BoundProgram::parameter_names() const {
  std::vector<std::string> names;
  for (const auto& parameter : manifest().parameters) names.push_back(parameter.name);
  return names;
}

const manifest::Parameter& BoundProgram::find_parameter(const char* operation,
                                                        std::string_view name) const {
  const auto& parameters = manifest().parameters;
  const auto found = std::ranges::find(parameters, name, &manifest::Parameter::name);
  if (found != parameters.end()) return *found;
  throw Error({.operation = operation,
               .object = named("parameter", name),
               .cause = "is unknown",
               .hint = "the model's parameters are " + listed(parameter_names())});
}

const manifest::QuantizedWeight* BoundProgram::find_codes(
    const manifest::Parameter& parameter) const {
  const auto index = static_cast<std::int32_t>(&parameter - manifest().parameters.data());
  const auto& quantized = program().quantized;
  const auto found = std::ranges::find(quantized, index, &manifest::QuantizedWeight::parameter);
  return found == quantized.end() ? nullptr : &*found;
}

std::int64_t BoundProgram::master_offset(const manifest::Parameter& parameter) const {
  const auto& masters = program().masters;
  return masters.empty()
             ? parameter.offset
             : masters[static_cast<std::size_t>(&parameter - manifest().parameters.data())];
}

/// One after the other of codes and scales, as of the two halves of masters: where one cannot be
/// written, what the parameter was is gone.
void BoundProgram::put(const manifest::Parameter& parameter, std::span<const float> values) {
  const manifest::QuantizedWeight* const weight = find_codes(parameter);
  if (!weight) return set_masters(master_offset(parameter), values);
  const auto codes = static_cast<std::size_t>(weight->codes);
  const QuantizedValues held = quantize(held_as(*weight, parameter, plan().buffer(codes)), values,
                                        calibration_.squares(parameter.name));
  write(codes, weight->first_code, held.codes);
  write(*plan().find(Role::scales), weight->first_scale * static_cast<std::int64_t>(sizeof(float)),
        std::as_bytes(std::span(held.scales)));
}

/// Codes of one kind as they are: what they stand for would give scales that differ in a last place
/// (P83).
bool BoundProgram::copy_codes(const BoundProgram& from, std::string_view name) {
  const manifest::Parameter& parameter = find_parameter("copy_parameters", name);
  const manifest::QuantizedWeight* const to = find_codes(parameter);
  const manifest::QuantizedWeight* const source =
      from.find_codes(from.find_parameter("copy_parameters", name));
  if (!to || !source || to->dimension != source->dimension) return false;
  const auto codes = static_cast<std::size_t>(to->codes);
  const auto their_codes = static_cast<std::size_t>(source->codes);
  if (plan().buffer(codes).encoding != from.plan().buffer(their_codes).encoding) return false;
  const auto channels =
      static_cast<std::size_t>(parameter.shape[static_cast<std::size_t>(to->dimension)]);
  constexpr auto kScaleBytes = static_cast<std::int64_t>(sizeof(float));
  write(codes, to->first_code,
        {from.execution().read(their_codes) + source->first_code, count_of(parameter)});
  write(*plan().find(Role::scales), to->first_scale * kScaleBytes,
        {from.execution().read(*from.plan().find(Role::scales)) + source->first_scale * kScaleBytes,
         channels * sizeof(float)});
  return true;
}

std::span<const float> BoundProgram::parameter(const char* operation, std::string_view name) const {
  const manifest::Parameter& parameter = find_parameter(operation, name);
  const manifest::QuantizedWeight* const weight = find_codes(parameter);
  if (!weight) return masters(operation, master_offset(parameter), count_of(parameter));
  const auto codes = static_cast<std::size_t>(weight->codes);
  joined_.resize(count_of(parameter));
  dequantize(held_as(*weight, parameter, plan().buffer(codes)),
             execution().read(codes) + weight->first_code,
             execution().read(*plan().find(Role::scales)) +
                 weight->first_scale * static_cast<std::int64_t>(sizeof(float)),
             joined_);
  return joined_;
}

std::span<const float> BoundProgram::gradient(const char* operation, std::string_view name) const {
  const manifest::Parameter& parameter = find_parameter(operation, name);
  const auto gradients = plan().find(Role::gradients);
  if (!parameter.trained || !gradients) {
    throw Error({.operation = operation,
                 .object = named("parameter", name),
                 .cause = "is frozen and has no gradient",
                 .hint = ""});
  }
  return part_of(floats(operation, *gradients), parameter);
}

std::span<const std::int64_t> BoundProgram::parameter_shape(const char* operation,
                                                            std::string_view name) const {
  return find_parameter(operation, name).shape;
}

void BoundProgram::set_parameter(std::string_view name, std::span<const float> values) {
  const manifest::Parameter& parameter = find_parameter("set_parameter", name);
  if (values.size() != count_of(parameter)) {
    throw Error({.operation = "set_parameter",
                 .object = named("parameter", name),
                 .cause = "has " + std::to_string(count_of(parameter)) + " values, but was given " +
                          std::to_string(values.size()),
                 .hint = "give all of them, row-major"});
  }
  require_address("set_parameter", named("parameter", name), values);
  put(parameter, values);
}

void BoundProgram::calibrate(const Calibration& calibration) {
  for (const std::string& name : calibration.parameter_names()) {
    const auto& mine = find_parameter("calibrate", name).shape;
    if (const auto theirs = calibration.parameter_shape(name); !std::ranges::equal(mine, theirs)) {
      throw Error({.operation = "calibrate",
                   .object = named("parameter", name),
                   .cause = "is " + extents_text(mine) + " in the predictor, but " +
                            extents_text(theirs) + " in the calibration",
                   .hint = "calibrate by a trainer of the same model"});
    }
  }
  calibration_ = calibration;
}

std::span<const float> BoundProgram::average(const char* operation, std::string_view name) const {
  const manifest::Parameter& parameter = find_parameter(operation, name);
  const auto averages = plan().find("averaged.parameters");
  if (!parameter.trained || !averages) {
    throw Error({.operation = operation,
                 .object = named("parameter", name),
                 .cause = averages ? "is frozen and has no average" : "has no average",
                 .hint = averages ? "read parameter() in its place"
                                  : "give HALFTONE_MODEL average(0.999), say"});
  }
  return part_of(floats(operation, *averages), parameter);
}

void BoundProgram::require_same_parameters(const char* operation, const BoundProgram& from) const {
  const auto refuse = [&](const std::string& name, std::string cause) {
    throw Error({.operation = operation,
                 .object = named("parameter", name),
                 .cause = std::move(cause),
                 .hint = "make both from one model"});
  };
  const std::string who = plan().who(), other = from.plan().who();
  const std::string their = who == other ? "the other " + other : "the " + other;
  for (const manifest::Parameter& mine : manifest().parameters) {
    const auto& theirs = from.manifest().parameters;
    const auto found = std::ranges::find(theirs, mine.name, &manifest::Parameter::name);
    if (found == theirs.end()) {
      refuse(mine.name, "is none of " + their + "'s, which are " + listed(from.parameter_names()));
    }
    if (found->shape != mine.shape) {
      refuse(mine.name, "is " + shape_text(mine.shape) + " in the " + who + ", but " +
                            shape_text(found->shape) + " in " + their);
    }
  }
}

void BoundProgram::copy_parameters(const BoundProgram& from) {
  require_same_parameters("copy_parameters", from);
  const std::vector<std::string> kept = kept_states();
  for (const std::string& name : parameter_names()) {
    if (!copy_codes(from, name)) set_parameter(name, from.parameter("copy_parameters", name));
  }
  for (const std::string& name : kept) set_state(name, from.state("copy_parameters", name));
}

void BoundProgram::copy_averages(const BoundProgram& from) {
  require_same_parameters("copy_averages", from);
  const auto share = from.plan().find("averaged.share");
  if (!share || from.scalar(*share) == from.plan().buffer(*share).initial) {
    throw Error({.operation = "copy_averages",
                 .object = "the trainer",
                 .cause = share ? "has applied no update yet, so that it has no averages"
                                : "keeps no averages",
                 .hint = share ? "call step() first" : "give HALFTONE_MODEL average(0.999), say"});
  }
  const std::vector<std::string> kept = kept_states();
  for (const std::string& name : parameter_names()) {
    const bool trained = from.find_parameter("copy_averages", name).trained;
    set_parameter(name, trained ? from.average("copy_averages", name)
                                : from.parameter("copy_averages", name));
  }
  for (const std::string& name : kept) set_state(name, from.state("copy_averages", name));
}

float BoundProgram::loss(std::string_view name) const {
  const auto& losses = manifest().losses;
  if (std::ranges::find(losses, name) == losses.end()) {
    throw Error({.operation = "loss",
                 .object = named("loss", name),
                 .cause = "is unknown",
                 .hint = "the model's losses are " + listed(losses)});
  }
  const auto buffer = plan().find(name);
  if (buffer) return scalar(*buffer);
  throw Error({.operation = "loss",
               .object = named("loss", name),
               .cause = std::string("is none that the ") + plan().who() + " computes",
               .hint = "make the artifact again with halftonec"});
}

std::vector<std::size_t> BoundProgram::states() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < program().buffers.size(); ++i) {
    if (plan().buffer(i).role == Role::state) found.push_back(i);
  }
  return found;
}

std::vector<std::string> BoundProgram::state_names() const {
  std::vector<std::string> names;
  for (std::size_t index : states()) names.push_back(plan().buffer(index).name);
  return names;
}

std::size_t BoundProgram::find_state(const char* operation, std::string_view name) const {
  const auto found = plan().find(name);
  if (found && plan().buffer(*found).role == Role::state) return *found;
  throw Error(
      {.operation = operation,
       .object = named("state", name),
       .cause = "is unknown",
       .hint = std::string("the ") + plan().who() + "'s states are " + listed(state_names())});
}

std::span<const float> BoundProgram::state(const char* operation, std::string_view name) const {
  return floats(operation, find_state(operation, name));
}

void BoundProgram::set_state(std::string_view name, std::span<const float> values) {
  const std::size_t index = find_state("set_state", name);
  if (const std::size_t count = floats("set_state", index).size(); values.size() != count) {
    throw Error({.operation = "set_state",
                 .object = named("state", name),
                 .cause = "was given " + std::to_string(values.size()) + " values, but " +
                          plan().shape_text(index) + " needs " + std::to_string(count),
                 .hint = "give the whole tensor, row-major"});
  }
  require_address("set_state", named("state", name), values);
  execution().write(index, 0, std::as_bytes(values));
}

std::vector<std::string> BoundProgram::kept_states() const {
  std::vector<std::string> names = state_names();
  std::erase_if(names, [this](const std::string& name) {
    return std::ranges::find(manifest().kept_states, name) == manifest().kept_states.end();
  });
  return names;
}

void BoundProgram::reset_states() {
  const std::vector<std::string> kept = kept_states();
  std::vector<std::pair<std::size_t, std::vector<std::byte>>> firsts;
  for (std::size_t index : states()) {
    if (std::ranges::find(kept, plan().buffer(index).name) != kept.end()) continue;
    auto& [state, values] =
        firsts.emplace_back(index, plan().first_values(index));  // or none: zeros
    values.resize(static_cast<std::size_t>(plan().bytes(state)));
  }
  for (const auto& [state, values] : firsts) execution().write(state, 0, values);
}

void BoundProgram::copy_states(const BoundProgram& from) {
  for (std::size_t index : states()) {
    const std::string& name = plan().buffer(index).name;
    const std::size_t source = from.find_state("copy_states", name);
    if (from.plan().extents(source) == plan().extents(index)) continue;
    throw Error({.operation = "copy_states",
                 .object = named("state", name),
                 .cause = "is " + plan().shape_text(index) + " in the predictor, but " +
                          from.plan().shape_text(source) + " in the trainer",
                 .hint = "give both the same sizes, or give it values with set_state()"});
  }
  for (const std::string& name : state_names()) {
    set_state(name, from.state("copy_states", name));
  }
}

std::span<const float> BoundProgram::output(std::string_view name) const {
  const auto& outputs = manifest().outputs;
  const auto found = std::ranges::find(outputs, name, &manifest::Output::name);
  if (found != outputs.end()) return floats("output", *plan().find(found->buffer));
  std::vector<std::string> names;
  for (const auto& output : outputs) names.push_back(output.name);
  throw Error({.operation = "output",
               .object = named("output", name),
               .cause = "is unknown",
               .hint = "the model's outputs are " + listed(names)});
}

}  // namespace halftone
