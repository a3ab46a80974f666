// SPDX-License-Identifier: Apache-2.0
// The public face of a training program.
#include "halftone/trainer.hpp"

#include <algorithm>
#include <cmath>

#include "floating_point.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/manifest.hpp"
#include "stage_memory.hpp"
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

std::span<const float> Trainer::input_gradient(std::string_view name) const {
  return use("input_gradient")->step.input_gradient(name);
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

namespace {

/// What the host may set (U3), as messages call it, and why a model may be without it.
struct Hyperparameter {
  const char* buffer;
  const char* object;
  bool below_one;
  const char *absent, *remedy;
};
constexpr Hyperparameter kLearningRate = {"learning_rate", "the learning rate", false, "", ""};
constexpr Hyperparameter kWeightDecay = {"weight_decay", "the weight decay", false,
                                         "has no part in this model's updates",
                                         "let some trained parameter be without no_decay"};
constexpr Hyperparameter kMomentum = {"momentum", "the momentum", true,
                                      "has no part in this model's updates",
                                      "state one, as sgd(momentum(0.9)) does"};

std::size_t place_of(const BoundProgram& program, const char* operation,
                     const Hyperparameter& which) {
  if (const auto place = program.plan().find(which.buffer)) return *place;
  throw Error({.operation = operation,
               .object = which.object,
               .cause = which.absent,
               .hint = which.remedy});
}

/// 0 where the model is without it.
float value_of(const BoundProgram& program, const Hyperparameter& which) {
  const auto place = program.plan().find(which.buffer);
  return place ? program.scalar(*place) : 0.0f;
}

void set(BoundProgram& program, const char* operation, const Hyperparameter& which, float value) {
  const std::size_t place = place_of(program, operation, which);
  if (!std::isfinite(value) || value < 0.0f || (which.below_one && value >= 1.0f)) {
    throw Error({.operation = operation,
                 .object = which.object,
                 .cause = "is " + number_text(value),
                 .hint = which.below_one ? "give a number from 0 to below 1"
                                         : "give a finite number that is not negative"});
  }
  program.set_scalar(place, value);
}

}  // namespace

void Trainer::set_learning_rate(float learning_rate) {
  const StandardFloatingPoint mode;
  set(use("set_learning_rate")->program, "set_learning_rate", kLearningRate, learning_rate);
}

float Trainer::learning_rate() const {
  return value_of(use("learning_rate")->program, kLearningRate);
}

void Trainer::set_weight_decay(float weight_decay) {
  const StandardFloatingPoint mode;
  set(use("set_weight_decay")->program, "set_weight_decay", kWeightDecay, weight_decay);
}

float Trainer::weight_decay() const { return value_of(use("weight_decay")->program, kWeightDecay); }

void Trainer::set_momentum(float momentum) {
  const StandardFloatingPoint mode;
  set(use("set_momentum")->program, "set_momentum", kMomentum, momentum);
}

float Trainer::momentum() const { return value_of(use("momentum")->program, kMomentum); }

void Trainer::enter(std::string_view stage) { use("enter")->step.enter(stage); }

std::string Trainer::stage() const { return use("stage")->program.stage(); }

std::vector<std::string> Trainer::stages() const {
  return held("stages").program.manifest().stages;
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
  statistics.weight_decay = value_of(program, kWeightDecay);
  statistics.momentum = value_of(program, kMomentum);
  statistics.grad_norm = program.scalar(*program.plan().find("grad_norm"));
  for (const std::string& name : program.manifest().losses) {
    statistics.losses.push_back({name, program.scalar(*program.plan().find(name))});
  }
  statistics.peak_bytes_predicted = program.execution().bytes_predicted();
  statistics.peak_bytes_measured = program.execution().bytes_measured();
  statistics.host_bytes = program.plan().arena().host_bytes;
  for (std::size_t phase = 0; phase < manifest::kPhases; ++phase) {
    statistics.kernels_per_phase[phase] =
        static_cast<std::int64_t>(program.program().phases[phase].size());
  }
  statistics.variant = program.execution().variant();
  statistics.stage = program.stage();
  for (const std::string& stage : program.manifest().stages) {
    for (const auto& turn : program.turns()) {
      if (!turn->plan.holds_in(stage)) continue;
      const ArenaUse use = arena_use(turn->plan);
      statistics.arena_bytes_of_stages.push_back(use.kept + use.working);
    }
  }
  return statistics;
}

}  // namespace halftone
