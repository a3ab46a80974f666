// SPDX-License-Identifier: Apache-2.0
// Judges gradients by central differences in double, with a tolerance that comes from the
// differences themselves.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "halftone/description/text.hpp"
#include "problem.hpp"

namespace halftone::reference::tests {

/// The sum over losses of weight * loss and over outputs of external gradient * output, and the sum
/// of their sizes.
struct Objective {
  double value = 0, magnitude = 0;

  void add(double term) {
    value += term;
    magnitude += std::fabs(term);
  }
};

inline Objective objective(const Exact& evaluator, const Problem& problem) {
  State<double> state = evaluator.initial_state(problem.parameters);
  state.states = problem.states;
  const Forward<double> forward = evaluator.forward(state, problem.inputs);
  Objective result;
  for (std::size_t i = 0; i < forward.losses.size(); ++i) {
    result.add(problem.model.losses[i].weight * forward.losses[i]);
  }
  for (const description::Output& output : problem.model.outputs) {
    const std::vector<double>& e = problem.external.at(output.name);
    for (std::size_t i = 0; i < e.size(); ++i) result.add(e[i] * forward.values[output.node][i]);
  }
  return result;
}

/// The five-point difference of step h: its truncation error falls with h^4. `evaluate` gives the
/// Objective at the values as they stand, of which x is one.
template <class Evaluate>
double difference(Evaluate evaluate, double& x, double h) {
  const double at = x;
  const auto f = [&](double offset) {
    x = at + offset;
    return evaluate().value;
  };
  const double slope = (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
  x = at;
  return slope;
}

struct Slope {
  double value, tolerance;
};

/// Truncation is bounded by the difference of two step sizes, rounding by one unit for each of
/// `operations` steps of the longest path. Steps shrink while they straddle a kink, such as relu's.
template <class Evaluate>
Slope slope_of(Evaluate evaluate, double& x, double operations) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const double magnitude = evaluate().magnitude;
  Slope slope{};
  double h = std::pow(kEpsilon, 0.2);  // balances truncation h^4 against rounding epsilon / h
  for (int attempt = 0; attempt < 4; ++attempt, h /= 8) {
    slope.value = difference(evaluate, x, h);
    const double wide = difference(evaluate, x, 2 * h);
    slope.tolerance = std::fabs(slope.value - wide) + operations * kEpsilon * magnitude / h;
    // Half the digits: a wider tolerance would prove little.
    if (slope.tolerance < std::sqrt(kEpsilon) * (1 + std::fabs(slope.value)) * (1 + magnitude))
      return slope;
  }
  FAIL(
      "no step size gives a difference that is accurate to half the digits; move the inputs from "
      "kinks");
  return slope;
}

/// Checks d(objective)/dx for elements of one tensor, at most `most` of them, evenly spaced, but
/// for those of `passed_over`, whose gradient is something else.
template <class Evaluate>
void check_gradient(Evaluate evaluate, std::vector<double>& tensor,
                    const std::vector<double>& gradient, double operations, std::size_t most = 24,
                    const std::set<std::size_t>& passed_over = {}) {
  REQUIRE(gradient.size() == tensor.size());
  const std::size_t stride = std::max<std::size_t>(1, tensor.size() / most);
  for (std::size_t e = 0; e < tensor.size(); e += stride) {
    if (passed_over.contains(e)) continue;
    const Slope slope = slope_of(evaluate, tensor[e], operations);
    CAPTURE(e);
    CAPTURE(slope.value);
    CAPTURE(gradient[e]);
    CAPTURE(slope.tolerance);
    CHECK(std::fabs(slope.value - gradient[e]) <= slope.tolerance);
  }
}

/// The elements of a parameter that stand in the row of an embedding's padding_index: what forward
/// reads there is no part of its gradient (D53).
inline std::set<std::size_t> padding_of(const description::Description& model,
                                        std::string_view parameter) {
  std::set<std::size_t> elements;
  for (const description::Node& node : model.nodes) {
    const auto* layer = std::get_if<description::LayerAttributes>(&node.attributes);
    if (!layer || description::kind_text(node.kind) != "embedding") continue;
    const description::Node& weight = model.nodes[static_cast<std::size_t>(node.operands[1].node)];
    const std::optional<std::int64_t> row = layer->integer("padding_index");
    const auto columns = static_cast<std::size_t>(weight.shape.back().extent);
    for (std::size_t j = 0; row && weight.name == parameter && j < columns; ++j)
      elements.insert(static_cast<std::size_t>(*row) * columns + j);
  }
  return elements;
}

/// Checks the gradients of all float inputs, states and trained parameters.
inline void check_gradients(Problem& problem) {
  const Exact evaluator(problem.model, problem.symbols);
  const Run<double> run(problem);
  double operations = 1;
  for (std::size_t id = 0; id < problem.model.nodes.size(); ++id) {
    operations += static_cast<double>(evaluator.count(static_cast<description::NodeId>(id)));
  }
  const auto check_all = [&](Tensors<double>& tensors) {
    for (auto& [name, values] : tensors) {
      CAPTURE(name);
      std::vector<double> gradient = run.gradient(name);
      if (gradient.empty()) continue;
      const auto id = static_cast<std::size_t>(evaluator.find(name));
      const bool is_unscaled = wants_gradient(problem.model.nodes[id]);                       // D15
      for (double& element : gradient) element /= is_unscaled ? 1 : run.state.scaling.scale;  // L1
      check_gradient([&] { return objective(evaluator, problem); }, values, gradient, operations,
                     24, padding_of(problem.model, name));
    }
  };
  check_all(problem.parameters);
  check_all(problem.states);
  check_all(problem.inputs.values);
}

}  // namespace halftone::reference::tests
