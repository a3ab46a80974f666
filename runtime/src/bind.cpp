// SPDX-License-Identifier: Apache-2.0
#include "bind.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "halftone/error.hpp"
#include "initialize.hpp"
#include "inputs.hpp"
#include "text.hpp"

namespace halftone {
namespace {

using manifest::Phase, manifest::Role;

std::size_t count_of(const manifest::Parameter& parameter) {
  std::int64_t count = 1;
  for (std::int64_t extent : parameter.shape) count *= extent;
  return static_cast<std::size_t>(count);
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
                           std::string_view program, const Setup& setup)
    : plan_(who, artifact, device, program, setup),
      execution_(make_execution(plan_)),
      sizes_(plan_.planned()) {
  initialize_parameters(setup.seed);
}

BoundProgram::BoundProgram(const char* who, const BoundProgram& like, std::string_view program)
    : plan_(who, like.plan_, program), execution_(make_execution(plan_)), sizes_(plan_.planned()) {}

void BoundProgram::change(Sizes sizes) {
  execution_->use(sizes);
  sizes_ = std::move(sizes);
}

void BoundProgram::initialize_parameters(std::uint64_t seed) {
  const auto masters = plan_.find(Role::parameters);
  if (!masters) return;
  std::vector<float> values(static_cast<std::size_t>(plan_.elements(*masters)));
  for (const manifest::Parameter& parameter : manifest().parameters) {
    const std::span all(values);
    initialize(all.subspan(static_cast<std::size_t>(parameter.offset), count_of(parameter)),
               parameter.initializer, seed, parameter.name,
               parameter.shape.empty() ? 1 : parameter.shape.front());
  }
  execution_->write(*masters, 0, std::as_bytes(std::span(values)));
}

void BoundProgram::refresh() {
  if (!parameters_changed_) return;
  parameters_changed_ = false;
  if (!plan_.launches(Phase::refresh).empty()) execution_->run(std::array{Phase::refresh});
}

void BoundProgram::run(std::span<const Phase> phases) {
  refresh();
  execution_->run(phases);
}

void BoundProgram::run(Phase phase, std::size_t launch) {
  refresh();
  execution_->run(phase, launch);
}

std::span<const float> BoundProgram::floats(const char* operation, std::size_t index) const {
  const manifest::Buffer& buffer = plan_.buffer(index);
  if (buffer.encoding != manifest::Element::f32) {
    throw Error({.operation = operation,
                 .object = named("buffer", buffer.name),
                 .cause = "is not stored as f32",
                 .hint = "give it f32 storage in the precision rules"});
  }
  return {reinterpret_cast<const float*>(execution_->read(index)),
          static_cast<std::size_t>(elements(index))};
}

void BoundProgram::write(std::size_t buffer, std::int64_t at, std::span<const std::byte> bytes) {
  execution_->write(buffer, at, bytes);
  if (plan_.buffer(buffer).role == Role::parameters) parameters_changed_ = true;
}

float BoundProgram::scalar(std::size_t index) const { return floats("statistics", index)[0]; }

void BoundProgram::set_scalar(std::size_t index, float value) {
  if (const float present = scalar(index); std::memcmp(&present, &value, sizeof value) == 0) return;
  execution_->write(index, 0, std::as_bytes(std::span(&value, 1)));
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

std::span<const float> BoundProgram::parameter(const char* operation, std::string_view name) const {
  const manifest::Parameter& parameter = find_parameter(operation, name);
  return part_of(floats(operation, *plan_.find(Role::parameters)), parameter);
}

std::span<const float> BoundProgram::gradient(const char* operation, std::string_view name) const {
  const manifest::Parameter& parameter = find_parameter(operation, name);
  const auto gradients = plan_.find(Role::gradients);
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
  const auto at = parameter.offset * static_cast<std::int64_t>(sizeof(float));
  write(*plan_.find(Role::parameters), at, std::as_bytes(values));
}

std::span<const float> BoundProgram::average(const char* operation, std::string_view name) const {
  const manifest::Parameter& parameter = find_parameter(operation, name);
  const auto averages = plan_.find("averaged.parameters");
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
  const std::string who = plan_.who(), other = from.plan_.who();
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
  for (const std::string& name : parameter_names()) {
    set_parameter(name, from.parameter("copy_parameters", name));
  }
  copy_kept_states("copy_parameters", from);
}

void BoundProgram::copy_averages(const BoundProgram& from) {
  require_same_parameters("copy_averages", from);
  const auto share = from.plan_.find("averaged.share");
  if (!share || from.scalar(*share) == from.plan_.buffer(*share).initial) {
    throw Error({.operation = "copy_averages",
                 .object = "the trainer",
                 .cause = share ? "has applied no update yet, so that it has no averages"
                                : "keeps no averages",
                 .hint = share ? "call step() first" : "give HALFTONE_MODEL average(0.999), say"});
  }
  for (const std::string& name : parameter_names()) {
    const bool trained = from.find_parameter("copy_averages", name).trained;
    set_parameter(name, trained ? from.average("copy_averages", name)
                                : from.parameter("copy_averages", name));
  }
  copy_kept_states("copy_averages", from);
}

void BoundProgram::copy_kept_states(const char* operation, const BoundProgram& from) {
  for (const std::string& name : kept_states()) set_state(name, from.state(operation, name));
}

float BoundProgram::loss(std::string_view name) const {
  const auto& losses = manifest().losses;
  if (std::ranges::find(losses, name) == losses.end()) {
    throw Error({.operation = "loss",
                 .object = named("loss", name),
                 .cause = "is unknown",
                 .hint = "the model's losses are " + listed(losses)});
  }
  return scalar(*plan_.find(name));
}

std::vector<std::size_t> BoundProgram::states() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < program().buffers.size(); ++i) {
    if (plan_.buffer(i).role == Role::state) found.push_back(i);
  }
  return found;
}

std::vector<std::string> BoundProgram::state_names() const {
  std::vector<std::string> names;
  for (std::size_t index : states()) names.push_back(plan_.buffer(index).name);
  return names;
}

std::size_t BoundProgram::find_state(const char* operation, std::string_view name) const {
  const auto found = plan_.find(name);
  if (found && plan_.buffer(*found).role == Role::state) return *found;
  throw Error(
      {.operation = operation,
       .object = named("state", name),
       .cause = "is unknown",
       .hint = std::string("the ") + plan_.who() + "'s states are " + listed(state_names())});
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
                          plan_.shape_text(index) + " needs " + std::to_string(count),
                 .hint = "give the whole tensor, row-major"});
  }
  require_address("set_state", named("state", name), values);
  execution_->write(index, 0, std::as_bytes(values));
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
  for (std::size_t index : states()) {
    if (std::ranges::find(kept, plan_.buffer(index).name) != kept.end()) continue;
    std::vector<std::byte> values = plan_.first_values(index);  // empty for zeros
    values.resize(static_cast<std::size_t>(plan_.bytes(index)));
    execution_->write(index, 0, values);
  }
}

void BoundProgram::copy_states(const BoundProgram& from) {
  for (std::size_t index : states()) {
    const std::string& name = plan_.buffer(index).name;
    const std::size_t source = from.find_state("copy_states", name);
    if (from.plan_.extents(source) == plan_.extents(index)) continue;
    throw Error({.operation = "copy_states",
                 .object = named("state", name),
                 .cause = "is " + plan_.shape_text(index) + " in the predictor, but " +
                          from.plan_.shape_text(source) + " in the trainer",
                 .hint = "give both the same sizes, or give it values with set_state()"});
  }
  for (const std::string& name : state_names()) {
    set_state(name, from.state("copy_states", name));
  }
}

std::span<const float> BoundProgram::output(std::string_view name) const {
  const auto& outputs = manifest().outputs;
  const auto found = std::ranges::find(outputs, name, &manifest::Output::name);
  if (found != outputs.end()) return floats("output", *plan_.find(found->buffer));
  std::vector<std::string> names;
  for (const auto& output : outputs) names.push_back(output.name);
  throw Error({.operation = "output",
               .object = named("output", name),
               .cause = "is unknown",
               .hint = "the model's outputs are " + listed(names)});
}

}  // namespace halftone
