// SPDX-License-Identifier: Apache-2.0
// The public face of an inference program.
#include "halftone/predictor.hpp"

#include <span>
#include <vector>

#include "inputs.hpp"
#include "predictor_state.hpp"
#include "text.hpp"
#include "trainer_state.hpp"

namespace halftone {

Predictor::Predictor(const Artifact& artifact, const Device& device, const Setup& setup)
    : state_(std::make_unique<State>(artifact, device, setup)) {}

Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

InUse<Predictor::State> Predictor::use(const char* operation) const {
  return {state_.get(), operation, "the predictor"};
}

const Predictor::State& Predictor::held(const char* operation) const {
  return require_held(state_.get(), operation, "the predictor");
}

void Predictor::copy_parameters(const Trainer& trainer) {
  use("copy_parameters")->program.copy_parameters(trainer.use("copy_parameters")->program);
}

void Predictor::copy_averages(const Trainer& trainer) {
  use("copy_averages")->program.copy_averages(trainer.use("copy_averages")->program);
}

void Predictor::copy_states(const Trainer& trainer) {
  use("copy_states")->program.copy_states(trainer.use("copy_states")->program);
}

void Predictor::copy_parameters(const Predictor& other) {
  const auto state = use("copy_parameters");
  if (&other != this) state->program.copy_parameters(other.use("copy_parameters")->program);
}

void Predictor::calibrate(const Calibration& calibration) {
  use("calibrate")->program.calibrate(calibration);
}

std::vector<std::string> Predictor::parameter_names() const {
  return held("parameter_names").program.parameter_names();
}

std::span<const std::int64_t> Predictor::parameter_shape(std::string_view name) const {
  return held("parameter_shape").program.parameter_shape("parameter_shape", name);
}

void Predictor::set_parameter(std::string_view name, std::span<const float> values) {
  use("set_parameter")->program.set_parameter(name, values);
}

std::span<const float> Predictor::parameter(std::string_view name) const {
  return use("parameter")->program.parameter("parameter", name);
}

std::vector<std::string> Predictor::state_names() const {
  return held("state_names").program.state_names();
}

std::span<const float> Predictor::state(std::string_view name) const {
  return use("state")->program.state("state", name);
}

void Predictor::set_state(std::string_view name, std::span<const float> values) {
  use("set_state")->program.set_state(name, values);
}

void Predictor::reset_states() { use("reset_states")->program.reset_states(); }

void Predictor::predict(std::span<const NamedValues> inputs) {
  const auto state = use("predict");
  copy_in_rows(state->program, "predict", state->inputs, inputs);
  state->program.run({manifest::Phase::forward});
}

void Predictor::evaluate(std::span<const NamedValues> inputs) {
  const auto state = use("evaluate");
  if (state->program.manifest().losses.empty()) {
    throw Error({.operation = "evaluate",
                 .object = named("model", state->program.manifest().model),
                 .cause = "has no losses",
                 .hint = "call predict(), or add losses(...) to the model"});
  }
  copy_in_rows(state->program, "evaluate", state->all_inputs, inputs);
  state->program.run({manifest::Phase::forward, manifest::Phase::loss});
}

std::vector<std::string> Predictor::loss_names() const {
  return held("loss_names").program.manifest().losses;
}

float Predictor::loss(std::string_view name) const { return use("loss")->program.loss(name); }

std::span<const float> Predictor::output(std::string_view name) const {
  return use("output")->program.output(name);
}

std::string Predictor::variant() const { return use("variant")->program.execution().variant(); }

std::int64_t Predictor::peak_bytes_predicted() const {
  return use("peak_bytes_predicted")->program.execution().bytes_predicted();
}
std::int64_t Predictor::peak_bytes_measured() const {
  return use("peak_bytes_measured")->program.execution().bytes_measured();
}

}  // namespace halftone
