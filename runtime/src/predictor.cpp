// SPDX-License-Identifier: Apache-2.0
// The public face of an inference program.
#include "halftone/predictor.hpp"

#include <span>
#include <vector>

#include "halftone/error.hpp"
#include "inputs.hpp"
#include "text.hpp"
#include "trainer_state.hpp"

namespace halftone {

struct Predictor::State {
  State(const Artifact& artifact, const Device& device, const Setup& setup)
      : program("predictor", artifact, device, "inference", setup) {
    for (std::size_t input : program.plan().inputs_of(manifest::Phase::forward)) {
      inputs.push_back({program.plan().buffer(input).name, input});
    }
  }

  BoundProgram program;
  std::vector<Place> inputs;
};

Predictor::Predictor(const Artifact& artifact, const Device& device, const Setup& setup)
    : state_(std::make_unique<State>(artifact, device, setup)) {}

Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Predictor::State& Predictor::state(const char* operation) const {
  if (state_) return *state_;
  throw Error({.operation = operation,
               .object = "the predictor",
               .cause = "was moved from",
               .hint = "use the one that it was moved to"});
}

void Predictor::copy_parameters(const Trainer& trainer) {
  BoundProgram& mine = state("copy_parameters").program;
  const BoundProgram& theirs = trainer.state("copy_parameters").program;
  for (const manifest::Parameter& parameter : mine.manifest().parameters) {
    mine.set_parameter(parameter.name, theirs.parameter("copy_parameters", parameter.name));
  }
  const ProgramPlan &plan = mine.plan(), &source_plan = theirs.plan();
  for (std::size_t i = 0; i < mine.program().buffers.size(); ++i) {
    const manifest::Buffer& state = plan.buffer(i);
    if (state.role != manifest::Role::state) continue;
    const auto source = source_plan.find(state.name);
    if (!source || source_plan.buffer(*source).format != state.format ||
        source_plan.elements(*source) != plan.elements(i)) {
      throw Error({.operation = "copy_parameters",
                   .object = named("state", state.name),
                   .cause = "has another format or size in the trainer",
                   .hint = "make both from one artifact with the same sizes"});
    }
    mine.execution().write(
        i, 0, std::span(theirs.execution().read(*source), static_cast<std::size_t>(plan.bytes(i))));
  }
}

void Predictor::set_parameter(std::string_view name, std::span<const float> values) {
  state("set_parameter").program.set_parameter(name, values);
}

std::span<const float> Predictor::parameter(std::string_view name) const {
  return state("parameter").program.parameter("parameter", name);
}

void Predictor::predict(std::span<const NamedValues> inputs) {
  State& state = this->state("predict");
  copy_in(state.program, "predict", "input", state.inputs, inputs);
  state.program.run({manifest::Phase::forward});
}

std::span<const float> Predictor::output(std::string_view name) const {
  return state("output").program.output(name);
}

std::string Predictor::variant() const { return state("variant").program.execution().variant(); }

std::int64_t Predictor::peak_bytes_predicted() const {
  return state("peak_bytes_predicted").program.execution().bytes_predicted();
}
std::int64_t Predictor::peak_bytes_measured() const {
  return state("peak_bytes_measured").program.execution().bytes_measured();
}

}  // namespace halftone
