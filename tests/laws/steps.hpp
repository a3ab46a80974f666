// SPDX-License-Identifier: Apache-2.0
// A training step twice, compared in everything that can be read: generated code with the
// reference, and generated code with other generated code.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "pair.hpp"

namespace halftone::tests {

inline void check_forward(const Pair& pair, const reference::Forward<float>& expected) {
  for (std::size_t i = 0; i < pair.description.losses.size(); ++i) {
    const std::string& name = pair.description.nodes[pair.description.losses[i].node].name;
    CAPTURE(name);
    CHECK(bits(pair.trainer.loss(name)) == bits(expected.losses[i]));
  }
  for (const auto& output : pair.description.outputs) {
    CAPTURE(output.name);
    CHECK(first_difference(pair.trainer.output(output.name), expected.values[output.node]) == -1);
  }
}

inline void check_gradients(const Pair& pair, const reference::Gradients<float>& expected) {
  for (std::size_t id = 0; id < pair.description.nodes.size(); ++id) {
    const auto& node = pair.description.nodes[id];
    CAPTURE(node.name);
    if (description::wants_gradient(node)) {
      CHECK(first_difference(pair.trainer.input_gradient(node.name), expected[id]) == -1);
    }
    const auto* attributes = std::get_if<description::ParameterAttributes>(&node.attributes);
    if (attributes == nullptr || attributes->frozen) continue;
    CHECK(first_difference(pair.trainer.gradient(node.name), expected[id]) == -1);
  }
}

inline void check_parameters(const Pair& pair) {
  for (const auto& [name, values] : pair.state.parameters) {
    CAPTURE(name);
    CHECK(first_difference(pair.trainer.parameter(name), values) == -1);
  }
  for (const auto& [name, values] : pair.state.averages) {
    CAPTURE(name);
    CHECK(first_difference(pair.trainer.average(name), values) == -1);
  }
}

/// One step of both, compared in everything that can be read.
inline void check_step(Pair& pair) {
  const auto forward = pair.reference.forward(pair.state, pair.inputs);
  const auto gradients = pair.reference.backward(forward);
  const auto expected = pair.reference.step(pair.state, pair.inputs);
  pair.trainer.step(pair.named_inputs());
  CHECK(pair.trainer.updated() == expected.finite);
  pair.state = expected.state;
  check_forward(pair, forward);
  check_gradients(pair, gradients);
  CHECK(bits(pair.trainer.stats().grad_norm) == bits(expected.norm));
  check_parameters(pair);
}

/// Three steps of both with the same inputs; `other` was made from the model of `pair`.
inline void check_equal_steps(Pair& pair, Trainer& other) {
  for (int step = 0; step < 3; ++step) {
    CAPTURE(step);
    pair.draw();
    for (Trainer* each : {&other, &pair.trainer}) each->step(pair.named_inputs());
    CHECK(other.updated() == pair.trainer.updated());
    for (const auto& loss : pair.trainer.stats().losses) {
      CAPTURE(loss.name);
      CHECK(bits(other.loss(loss.name)) == bits(loss.value));
    }
    for (const auto& output : pair.description.outputs) {
      CAPTURE(output.name);
      CHECK(first_difference(other.output(output.name), pair.trainer.output(output.name)) == -1);
    }
    for (const std::string& name : pair.trainer.parameter_names()) {
      CAPTURE(name);
      CHECK(first_difference(other.parameter(name), pair.trainer.parameter(name)) == -1);
    }
  }
}

/// Of the inference program: those that its phase `forward` reads, or all that it has.
inline std::vector<NamedValues> inputs_of_predictor(const Pair& pair, bool forward_alone) {
  std::vector<NamedValues> needed;
  for (const auto& program : pair.artifact.manifest().programs) {
    if (program.name != "inference") continue;
    std::set<std::string> read;
    for (const auto& launch : program.phases[static_cast<std::size_t>(manifest::Phase::forward)])
      for (const auto& argument : launch.arguments)
        read.insert(program.buffers[static_cast<std::size_t>(argument.buffer)].name);
    for (const NamedValues& input : pair.named_inputs()) {
      const auto buffer =
          std::ranges::find(program.buffers, std::string(input.name), &manifest::Buffer::name);
      if (buffer == program.buffers.end()) continue;
      if (!forward_alone || read.contains(buffer->name)) needed.push_back(input);
    }
  }
  return needed;
}

inline std::int64_t launches(const Trainer& of) {
  std::int64_t sum = 0;
  for (const std::int64_t kernels : of.stats().kernels_per_phase) sum += kernels;
  return sum;
}

}  // namespace halftone::tests
