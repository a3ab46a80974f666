// SPDX-License-Identifier: Apache-2.0
// The parts of a step, called alone, for loops of a caller's own.
#include <doctest/doctest.h>

#include "artifacts.hpp"
#include "halftone/error.hpp"
#include "pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

/// The program with a backward pass.
const manifest::Program& training(const Pair& pair) {
  for (const auto& program : pair.artifact.manifest().programs)
    if (program.name == "training") return program;
  throw std::runtime_error("the artifact has no training program");
}

}  // namespace

TEST_CASE("forward, backward, check and update alone give the bits of a step") {
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair whole(artifact.name, *artifact.image, tested_variant, 6),
        parts(artifact.name, *artifact.image, tested_variant, 6);
    for (int step = 0; step < 3; ++step) {
      whole.draw();
      parts.draw();
      whole.trainer.step(whole.named_inputs());
      parts.trainer.forward(parts.named_inputs());
      parts.trainer.backward();
      CHECK(parts.trainer.check());
      parts.trainer.update();
    }
    for (const std::string& name : whole.trainer.parameter_names()) {
      CAPTURE(name);
      CHECK(first_difference(whole.trainer.parameter(name), parts.trainer.parameter(name)) == -1);
    }
  }
}

TEST_CASE("backward from gradients of the outputs gives the reference's gradients without losses") {
  int tried = 0;
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair(std::string(artifact.name), *artifact.image, tested_variant, 6);
    pair.draw();
    reference::Tensors<float> external;
    std::vector<NamedValues> named;
    for (const auto& output : pair.artifact.manifest().outputs) {
      if (output.gradient.empty()) continue;
      for (const auto& described : pair.description.outputs)
        if (described.name == output.name)
          external[output.name].resize(
              static_cast<std::size_t>(pair.reference.count(described.node)));
      float next = -0.5f;
      for (float& value : external[output.name])
        value = next = next > 0.5f ? -0.45f : next + 0.0625f;
      named.push_back({output.name, std::span<const float>(external[output.name])});
    }
    pair.trainer.forward(pair.named_inputs());
    if (!training(pair).loss_without_output.empty()) {
      CHECK_THROWS_AS(pair.trainer.backward(named), Error);
      continue;
    }
    ++tried;
    pair.trainer.backward(named);
    auto silent = pair.description;
    for (auto& loss : silent.losses) loss.weight = 0;
    const reference::Declared reference(silent, pair.symbols);
    const auto expected = reference.backward(reference.forward(pair.state, pair.inputs), external);
    check_gradients(pair, expected);
  }
  CHECK(tried > 5);
}

}  // namespace halftone::tests
