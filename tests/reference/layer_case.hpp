// SPDX-License-Identifier: Apache-2.0
// One layer with concrete operands, evaluated by its formulas alone, without a model around it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "finite_differences.hpp"
#include "judged.hpp"
#include "kinds.hpp"
#include "recorded.hpp"

namespace halftone::reference::tests {

/// Values are f32 numbers, so that all evaluations start from the same.
struct LayerCase {
  std::string name, kind;
  std::vector<Operand<double>> operands;
  Extents extents;
  Settings settings = {};
  std::optional<Draws> draws = {};
  std::map<std::string_view, RoundTo> internals = {};  ///< P39
};

/// With the values of data() and the salt.
inline Operand<double> values(std::string role, Extents extents, std::int64_t salt) {
  Operand<double> operand;
  operand.role = std::move(role);
  operand.values = data(count(extents), salt);
  operand.extents = std::move(extents);
  return operand;
}

inline Operand<double> integers(std::string role, Extents extents, Integers integers) {
  Operand<double> operand;
  operand.role = std::move(role);
  operand.extents = std::move(extents);
  operand.integers = std::move(integers);
  return operand;
}

template <class Scalar>
Values<Scalar> as(const Values<double>& values) {
  return {values.begin(), values.end()};
}

/// The layer as forward and, since nothing rounds here, as the gradient passes read it.
template <class Scalar>
Layer<Scalar> layer_of(const LayerCase& of) {
  Layer<Scalar> layer;
  layer.extents = of.extents;
  layer.settings = of.settings;
  layer.draws = of.draws;
  layer.internals = of.internals;
  for (const Operand<double>& operand : of.operands) {
    const Values<Scalar> values = as<Scalar>(operand.values);
    layer.operands.push_back({.role = operand.role,
                              .extents = operand.extents,
                              .values = values,
                              .integers = operand.integers,
                              .codes = {},
                              .factors = {},
                              .forward_values = values,
                              .wanted = true});
  }
  return layer;
}

template <class Scalar>
Values<Scalar> result(const LayerCase& of) {
  return result_of(of.kind, layer_of<Scalar>(of));
}

/// Of g with the salt 9.
template <class Scalar>
OperandGradients<Scalar> gradients(const LayerCase& of) {
  const Values<Scalar> g = as<Scalar>(data(count(of.extents), 9));
  return gradients_of(of.kind, layer_of<Scalar>(of), View<Scalar>(g));
}

/// That the gradient of the first operand agrees with central differences of sum(g * result).
inline void check_first_gradient(LayerCase& of) {
  const Values<double> g = data(count(of.extents), 9);
  const auto evaluate = [&] {
    Objective objective;
    const Values<double> y = result<double>(of);
    for (std::size_t e = 0; e < y.size(); ++e) objective.add(g[e] * y[e]);
    return objective;
  };
  check_gradient(evaluate, of.operands[0].values, gradients<double>(of)[0],
                 static_cast<double>(g.size()));
}

/// That result and gradient of the first operand, as declared, stay within the bound of exact ones.
inline void check_declared_layer(const LayerCase& of) {
  Judged judged;
  judged.append(result<double>(of), result<float>(of), result<Bounded>(of));
  judged.append(gradients<double>(of)[0], gradients<float>(of)[0], gradients<Bounded>(of)[0]);
  check_declared(judged);
}

}  // namespace halftone::reference::tests
