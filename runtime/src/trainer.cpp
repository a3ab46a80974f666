// SPDX-License-Identifier: Apache-2.0
// The public face of a training program.
#include "halftone/trainer.hpp"

#include <algorithm>
#include <cmath>

#include "floating_point.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/manifest.hpp"
#include "step.hpp"
#include "text.hpp"
#include "trainer_state.hpp"

namespace halftone {

Trainer::Trainer(const Artifact& artifact, const Device& device, const Setup& setup)
    : state_(std::make_unique<State>(artifact, device, setup)) {
  const StandardFloatingPoint mode;
  set_learning_rate(static_cast<float>(state_->program.manifest().learning_rate));
}

Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

InUse<Trainer::State> Trainer::use(const char* operation) const {
  return {state_.get(), operation, "the trainer"};
}

const Trainer::State& Trainer::held(const char* operation) const {
  return require_held(state_.get(), operation, "the trainer");
}

void Trainer::step(std::span<const NamedValues> inputs) { use("step")->step.run(inputs); }
bool Trainer::updated() const { return use("updated")->step.updated("updated"); }
void Trainer::wait() const { use("wait")->step.wait(); }
void Trainer::accumulate(std::span<const NamedValues> inputs) {
  use("accumulate")->step.accumulate(inputs);
}
void Trainer::forward(std::span<const NamedValues> inputs) {
  use("forward")->step.forward("forward", inputs);
}
void Trainer::backward() { use("backward")->step.backward(); }
void Trainer::backward(std::span<const NamedValues> output_gradients) {
  use("backward")->step.backward(output_gradients);
}
void Trainer::accumulate_gradients() { use("accumulate_gradients")->step.accumulate_gradients(); }
bool Trainer::check() { return use("check")->step.check(); }
void Trainer::update() { use("update")->step.update(); }
std::optional<NonFinite> Trainer::diagnose() const { return use("diagnose")->step.diagnose(); }

std::vector<std::string> Trainer::loss_names() const {
  return held("loss_names").program.manifest().losses;
}

float Trainer::loss(std::string_view name) const { return use("loss")->program.loss(name); }

std::span<const float> Trainer::output(std::string_view name) const {
  return use("output")->program.output(name);
}

std::span<const float> Trainer::parameter(std::string_view name) const {
  return use("parameter")->program.parameter("parameter", name);
}

std::span<const float> Trainer::gradient(std::string_view name) const {
  return use("gradient")->program.gradient("gradient", name);
}

std::vector<std::string> Trainer::parameter_names() const {
  return held("parameter_names").program.parameter_names();
}

std::span<const float> Trainer::average(std::string_view name) const {
  return use("average")->program.average("average", name);
}

std::span<const std::int64_t> Trainer::parameter_shape(std::string_view name) const {
  return held("parameter_shape").program.parameter_shape("parameter_shape", name);
}

void Trainer::copy_parameters(const Trainer& other) {
  const auto state = use("copy_parameters");
  if (&other != this) state->program.copy_parameters(other.use("copy_parameters")->program);
}

void Trainer::set_parameter(std::string_view name, std::span<const float> values) {
  use("set_parameter")->program.set_parameter(name, values);
}

std::vector<std::string> Trainer::state_names() const {
  return held("state_names").program.state_names();
}

std::span<const float> Trainer::state(std::string_view name) const {
  return use("state")->program.state("state", name);
}

void Trainer::set_state(std::string_view name, std::span<const float> values) {
  use("set_state")->program.set_state(name, values);
}

void Trainer::reset_states() { use("reset_states")->program.reset_states(); }

void Trainer::set_learning_rate(float learning_rate) {
  const StandardFloatingPoint mode;
  if (!std::isfinite(learning_rate) || learning_rate < 0.0f) {
    throw Error({.operation = "set_learning_rate",
                 .object = "the learning rate",
                 .cause = "is " + number_text(learning_rate),
                 .hint = "give a finite number that is not negative"});
  }
  const auto state = use("set_learning_rate");
  BoundProgram& program = state->program;
  program.set_scalar(*program.plan().find("learning_rate"), learning_rate);
}

float Trainer::learning_rate() const {
  const auto state = use("learning_rate");
  const BoundProgram& program = state->program;
  return program.scalar(*program.plan().find("learning_rate"));
}

Statistics Trainer::stats() const {
  const auto state = use("stats");
  const BoundProgram& program = state->program;
  Statistics statistics;
  statistics.steps = state->step.steps();
  statistics.skipped_steps = state->step.skipped_steps();
  statistics.loss_scale = state->step.loss_scale();
  statistics.floored = state->step.floored();
  statistics.casts_per_step = static_cast<std::int64_t>(program.program().casts.size());
  statistics.learning_rate = program.scalar(*program.plan().find(
      program.plan().find("learning_rate.scheduled") ? "learning_rate.scheduled"
                                                     : "learning_rate"));
  statistics.grad_norm = program.scalar(*program.plan().find("grad_norm"));
  for (const std::string& name : program.manifest().losses) {
    statistics.losses.push_back({name, program.scalar(*program.plan().find(name))});
  }
  statistics.peak_bytes_predicted = program.execution().bytes_predicted();
  statistics.peak_bytes_measured = program.execution().bytes_measured();
  for (std::size_t phase = 0; phase < manifest::kPhases; ++phase) {
    statistics.kernels_per_phase[phase] =
        static_cast<std::int64_t>(program.program().phases[phase].size());
  }
  statistics.variant = program.execution().variant();
  return statistics;
}

}  // namespace halftone
