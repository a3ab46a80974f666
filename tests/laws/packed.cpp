// SPDX-License-Identifier: Apache-2.0
// What is packed before tasks is a copy: whether all right operands of contractions are, or none,
// decides no bit (decisions/0052).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

Device packing(Packed packed, int threads) {
  return Device::cpu(tested_variant).with_threads(threads).with_packed(packed);
}

void add(std::vector<std::uint32_t>& all, std::span<const float> values) {
  for (const float value : values) all.push_back(bits(value));
}

/// All parameters after a step, a step of two micro-batches and one that may be skipped.
std::vector<std::uint32_t> trained(const LinkedArtifact& artifact, const Device& device,
                                   std::int64_t batch) {
  Pair inputs(artifact.name, *artifact.image, tested_variant, batch);
  Trainer trainer(inputs.artifact, device, inputs.setup(1));
  for (const char* run : {"step", "accumulate", "step", "spoil", "step"}) {
    inputs.draw();
    if (std::string_view(run) == "spoil") inputs.spoil(HUGE_VALF);
    if (std::string_view(run) == "accumulate")
      trainer.accumulate(inputs.named_inputs());
    else
      trainer.step(inputs.named_inputs());
  }
  std::vector<std::uint32_t> all;
  for (const std::string& name : trainer.parameter_names()) add(all, trainer.parameter(name));
  return all;
}

/// A model without outputs is made without it.
bool has_inference(const Pair& pair) {
  const auto& programs = pair.artifact.manifest().programs;
  return std::ranges::find(programs, "inference", &manifest::Program::name) != programs.end();
}

/// What a predictor makes of its first parameters, of a trainer's after each of two steps, twice,
/// and of some that are set.
std::vector<std::uint32_t> predicted(const LinkedArtifact& artifact, const Device& device,
                                     std::int64_t batch) {
  Pair inputs(artifact.name, *artifact.image, tested_variant, batch);
  if (!has_inference(inputs)) return {};
  Predictor predictor(inputs.artifact, device, inputs.setup(3));
  std::vector<std::uint32_t> all;
  const auto evaluate = [&] {
    inputs.draw();
    predictor.evaluate(inputs_of_predictor(inputs, false));
    for (const auto& output : inputs.description.outputs) add(all, predictor.output(output.name));
    for (const std::string& name : predictor.loss_names())
      all.push_back(bits(predictor.loss(name)));
  };
  evaluate();
  for (int i = 0; i < 2; ++i) {
    inputs.draw();
    inputs.trainer.step(inputs.named_inputs());
    predictor.copy_parameters(inputs.trainer);
    evaluate();
    evaluate();
  }
  for (const std::string& name : predictor.parameter_names()) {
    std::vector<float> values(predictor.parameter(name).begin(), predictor.parameter(name).end());
    for (float& value : values) value *= 0.5f;
    predictor.set_parameter(name, values);
  }
  evaluate();
  return all;
}

/// Of every model with a few rows, and of some with one and with as many as several tasks have.
template <class Check>
void each_model(const Check& check) {
  for (const LinkedArtifact& artifact : kArtifacts) {
    const std::string name = artifact.name;
    CAPTURE(name);
    check(artifact, 7);
    if (name != "digits" && name != "digits_bf16" && name != "matmul_bf16") continue;
    for (const std::int64_t batch : {1, 600}) check(artifact, batch);
  }
}

}  // namespace

TEST_CASE("steps have the same bits whether rhs is packed before tasks or by them") {
  each_model([](const LinkedArtifact& artifact, std::int64_t batch) {
    CAPTURE(batch);
    const auto expected = trained(artifact, packing(Packed::never, 1), batch);
    for (const int threads : {1, 3}) {
      CAPTURE(threads);
      CHECK((trained(artifact, packing(Packed::always, threads), batch) == expected));
    }
  });
}

TEST_CASE("a predictor's packed weights are those that it was given last") {
  each_model([](const LinkedArtifact& artifact, std::int64_t batch) {
    CAPTURE(batch);
    const auto expected = predicted(artifact, packing(Packed::never, 1), batch);
    for (const Packed packed : {Packed::automatic, Packed::always})
      CHECK((predicted(artifact, packing(packed, 2), batch) == expected));
  });
}

}  // namespace halftone::tests
