// SPDX-License-Identifier: Apache-2.0
// Both passes of a linear under rules beside recorded ones (record_factors.py, record_rotated.py).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "problem.hpp"
#include "recorded.hpp"

namespace halftone::reference::tests {

struct Passes {
  Forward<float> forward;
  Gradients<float> gradients;
};

/// Of a model whose loss is 0 there, so that the gradient of output "y" is the one given.
inline Passes passes(const Declared& model, const Tensors<float>& parameters, Tensors<float> values,
                     const std::vector<float>& gradient) {
  const auto state = model.initial_state(parameters);
  const auto output = static_cast<std::size_t>(model.description().outputs[0].node);
  values["wanted"] = model.forward(state, {values, {}}).values[output];
  Forward<float> forward = model.forward(state, {values, {}});
  Gradients<float> gradients = model.backward(forward, {{"y", gradient}});
  return {std::move(forward), std::move(gradients)};
}

/// A linear whose loss takes a caller's gradients in its place, of so many rows in a sequence.
struct LinearModel {
  std::int64_t rows, features, outputs;

  [[nodiscard]] std::string under(const std::string& rules) const {
    const std::string n = std::to_string(outputs), k = std::to_string(features),
                      sequence = "[batch, " + std::to_string(rows) + ", ";
    std::string text = "input %x : f32" + sequence + k + "] gradient\n";
    text += "input %wanted : f32" + sequence + n + "]\n";
    text += "parameter %fc.weight : [" + n + ", " + k + "] init constant(0)\n";
    text += "parameter %fc.bias : [" + n + "] init constant(0)\n";
    text += "%fc = linear(x: %x, weight: %fc.weight, bias: %fc.bias) : " + sequence + n + "]\n";
    text += "%error = mse(x: %fc, target: %wanted) : []\n";
    text += "output \"y\" = %fc\nloss %error weight 1\n";
    return text + rules;
  }

  /// Of two sequences the sums and the gradients have the recorded bits of `name`.
  void check(std::span<const Bits> table, const std::string& name, const std::string& rules) const {
    const Declared model(parse_model(under(rules)), {{"batch", 2}});
    const std::int64_t sums = 2 * rows * outputs;
    const auto [forward, gradients] = passes(
        model,
        {{"fc.weight", spread(outputs * features, 3, 0)}, {"fc.bias", data<float>(outputs, 4)}},
        {{"x", spread(2 * rows * features, 1, 4)}, {"wanted", data<float>(sums, 0)}},
        spread(sums, 2, -30));
    const auto at = [&](const char* node) { return static_cast<std::size_t>(model.find(node)); };
    check_bits(table, name + " forward", forward.values[at("fc")]);
    check_bits(table, name + " x", gradients[at("x")]);
    check_bits(table, name + " weight", gradients[at("fc.weight")]);
    check_bits(table, name + " bias", gradients[at("fc.bias")]);
  }
};

}  // namespace halftone::reference::tests
