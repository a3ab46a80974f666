// SPDX-License-Identifier: Apache-2.0
// ONNX's optimizers through updates of one step.
#pragma once

#include "onnx_graph.hpp"

namespace halftone::reference::tests {

/// One update of parameters p0, p1, ... from tensors in the layout R, T, X..., G..., V... [, H...].
struct OnnxUpdate {
  std::string optimizer;
  double l2 = 0;  ///< its gradient, l2 * X, is part of the gradients that update receives
  bool corrected =
      true;  ///< false: no bias correction, as after infinitely many steps, when the powers are 0
  std::size_t moments = 1;
  bool only_second = false;  ///< the one moment is the second, as adagrad's sum of squares

  template <class Scalar>
  [[nodiscard]] std::vector<std::vector<Scalar>> run(const onnx::Vector& vector) const {
    const std::size_t count = vector.outputs.size() / (1 + moments);
    std::string statements;
    Tensors<Scalar> parameters;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = "p" + std::to_string(i),
                        n = std::to_string(vector.inputs[2 + i].values.size());
      statements += "input %x" + name + " : f32[" + n + "]\nparameter %" + name + " : [" + n +
                    "] init constant(0)\n%y" + name + " = add(a: %x" + name + ", b: %" + name +
                    ") : [" + n + "]\noutput \"" + name + "\" = %y" + name + "\n";
    }
    for (std::size_t i = 0; i < count; ++i) {
      for (double v : vector.inputs[2 + i].values)
        parameters["p" + std::to_string(i)].push_back(static_cast<Scalar>(v));
    }
    const Evaluator<Scalar> evaluator(parse_model(statements, optimizer), {});
    State<Scalar> state = evaluator.initial_state(parameters);
    Gradients<Scalar> gradients(evaluator.description().nodes.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = "p" + std::to_string(i);
      std::vector<Scalar>& g = gradients[evaluator.find(name)];
      const auto load = [&](std::size_t group) {
        const std::vector<double>& from = vector.inputs[2 + group * count + i].values;
        return std::vector<Scalar>(from.begin(), from.end());
      };
      g = load(1);
      for (std::size_t e = 0; e < g.size(); ++e)
        g[e] = g[e] + static_cast<Scalar>(l2) * parameters[name][e];
      (only_second ? state.second_moments : state.first_moments)[name] = load(2);
      if (moments > 1) state.second_moments[name] = load(3);
    }
    if (!corrected) state.power1 = state.power2 = {0, 0};
    const double learning_rate = vector.inputs[0].values[0];
    const Step<Scalar> step = evaluator.update(state, gradients, learning_rate);
    std::vector<std::vector<Scalar>> results;
    for (const auto& [name, values] : step.state.parameters) results.push_back(values);
    for (const auto& [name, values] : step.state.first_moments) results.push_back(values);
    for (const auto& [name, values] : step.state.second_moments) results.push_back(values);
    return results;
  }

  void check(const onnx::Vector& vector) const {
    const auto exact = run<double>(vector);
    const auto declared = run<float>(vector);
    const auto bound = run<Bounded>(vector);
    REQUIRE(exact.size() == vector.outputs.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
      Judged judged;
      judged.append(exact[i], declared[i], bound[i]);
      check_recorded(judged, vector.outputs[i].values);
    }
  }
};

/// V = alpha V + beta' (G + norm X) with beta' = 1 at T = 0, else beta: torch's SGD where beta'
/// is 1.
inline std::string run_momentum(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  if (vector.inputs[1].values[0] > 0 && attribute_or(node, "beta", 1.0f) != 1)
    return "dampens its gradient";
  const bool nesterov = node.attributes.at("mode").s == "nesterov";
  OnnxUpdate update;
  update.optimizer = "optimizer sgd learning_rate 0.1 momentum " +
                     std::to_string(attribute_or(node, "alpha", 0.0f)) +
                     (nesterov ? " nesterov" : "") + " weight_decay " +
                     std::to_string(attribute_or(node, "norm_coefficient", 0.0f)) + "\n";
  update.check(vector);
  return "";
}

/// ONNX does not correct the bias at T = 0, and its decay is L2.
inline std::string run_adam(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  if (vector.inputs[1].values[0] != 0) return "adds epsilon before the bias correction";
  if (attribute_or(node, "norm_coefficient_post", 0.0f) != 0) return "decays after the step";
  // Its generator (onnx/backend/test/case/node/adam.py) computes with 0.01 and leaves the attribute
  // out of the model.
  const float standard = vector.name == "test_adam_multiple" ? 0.01f : 1e-6f;
  const double epsilon = attribute_or(node, "epsilon", standard);
  OnnxUpdate update;
  update.optimizer = "optimizer adamw learning_rate 0.1 beta1 " +
                     std::to_string(attribute_or(node, "alpha", 0.9f)) + " beta2 " +
                     std::to_string(attribute_or(node, "beta", 0.999f)) + " epsilon " +
                     std::to_string(epsilon) + " weight_decay 0\n";
  update.l2 = attribute_or(node, "norm_coefficient", 0.0f);
  update.corrected = false;
  update.moments = 2;
  update.check(vector);
  return "";
}

/// Its decay of the learning rate has done nothing at T = 0, and its weight decay is L2.
inline std::string run_adagrad(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  if (vector.inputs[1].values[0] != 0) return "decays its learning rate";
  OnnxUpdate update;
  update.optimizer = "optimizer adagrad learning_rate 0.1 epsilon " +
                     std::to_string(attribute_or(node, "epsilon", 1e-6F)) + " weight_decay " +
                     std::to_string(attribute_or(node, "norm_coefficient", 0.0F)) +
                     " initial_accumulator_value 0\n";
  update.only_second = true;
  update.check(vector);
  return "";
}

}  // namespace halftone::reference::tests
