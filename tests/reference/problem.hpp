// SPDX-License-Identifier: Apache-2.0
// A model with concrete data, every number of it an f32, so that all evaluations start from the
// same values.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "../support/integer_bound.hpp"
#include "halftone/description/text.hpp"
#include "halftone/reference/evaluator.hpp"

namespace halftone::reference::tests {

struct Problem {
  description::Description model;
  Symbols symbols;
  Tensors<double> parameters, states, external;
  Inputs<double> inputs;
};

/// Numbers in [0, 1) that are the same everywhere (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  double uniform(double low, double high) {
    return static_cast<float>(low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53);
  }

  std::vector<double> tensor(std::int64_t count, double low, double high) {
    std::vector<double> values(count);
    for (double& value : values) value = uniform(low, high);
    return values;
  }

 private:
  std::uint64_t state_;
};

/// Statements of the text form behind a head; adds an optimizer that a test does not care about.
inline description::Description parse_model(const std::string& statements,
                                            const std::string& optimizer =
                                                "optimizer sgd learning_rate 0.1 momentum 0.5 "
                                                "weight_decay 0\n") {
  const std::string text = "halftone description 1\nmodel \"test\"\n" + statements + optimizer;
  auto parsed = description::parse(text);
  if (const auto* error = std::get_if<description::ParseError>(&parsed)) {
    throw std::runtime_error(error->str("test") + "\n" + text);
  }
  return std::get<description::Description>(std::move(parsed));
}

/// Values in [low, high] for everything, external gradients in [-1, 1] for the outputs.
inline Problem make_problem(const description::Description& model, const Symbols& symbols,
                            std::uint64_t seed, double low = -1, double high = 1) {
  using description::Kind;
  using description::kind_called;
  Problem problem{model, symbols, {}, {}, {}, {}};
  const Exact evaluator(model, symbols);
  Random random(seed);
  for (std::size_t id = 0; id < model.nodes.size(); ++id) {
    const description::Node& node = model.nodes[id];
    const std::int64_t count = evaluator.count(static_cast<description::NodeId>(id));
    if (node.kind == kind_called("parameter")) {
      problem.parameters[node.name] = random.tensor(count, low, high);
    } else if (node.kind == kind_called("state")) {
      problem.states[node.name] = random.tensor(count, low, high);
    } else if (node.kind == kind_called("input") && holds_integers(node)) {
      const std::int64_t classes =
          halftone::tests::integer_bound(model, symbols, static_cast<description::NodeId>(id));
      for (std::int64_t e = 0; e < count; ++e) {
        problem.inputs.integers[node.name].push_back(
            static_cast<std::int32_t>(random.bits() % classes));
      }
    } else if (node.kind == kind_called("input")) {
      problem.inputs.values[node.name] = random.tensor(count, low, high);
    }
  }
  for (const description::Output& output : model.outputs) {
    problem.external[output.name] = random.tensor(evaluator.count(output.node), -1, 1);
  }
  return problem;
}

template <class Scalar>
Tensors<Scalar> as(const Tensors<double>& tensors) {
  Tensors<Scalar> result;
  for (const auto& [name, values] : tensors) {
    for (const double value : values) result[name].push_back(static_cast<Scalar>(value));
  }
  return result;
}

template <class Scalar>
Inputs<Scalar> as(const Inputs<double>& inputs) {
  return {as<Scalar>(inputs.values), inputs.integers};
}

/// One evaluation of a problem in Scalar's arithmetic.
template <class Scalar>
struct Run {
  Evaluator<Scalar> evaluator;
  State<Scalar> state;
  Forward<Scalar> forward;
  Gradients<Scalar> gradients;

  explicit Run(const Problem& problem) : evaluator(problem.model, problem.symbols) {
    state = evaluator.initial_state(as<Scalar>(problem.parameters));
    state.states = as<Scalar>(problem.states);
    forward = evaluator.forward(state, as<Scalar>(problem.inputs));
    gradients = evaluator.backward(forward, as<Scalar>(problem.external));
  }

  const std::vector<Scalar>& value(const std::string& name) const {
    return forward.values[evaluator.find(name)];
  }
  const std::vector<Scalar>& gradient(const std::string& name) const {
    return gradients[evaluator.find(name)];
  }
};

}  // namespace halftone::reference::tests
