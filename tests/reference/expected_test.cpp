// SPDX-License-Identifier: Apache-2.0
// Declared evaluation against numpy's f32, bit by bit, and exact updates against torch's in f64
// (record_expected.py).
#include "expected.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "problem.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

void check_bits(const std::string& name, const std::vector<float>& values) {
  check_bits(kNumpyBits, name, values);
}

std::vector<float> joined(const Tensors<float>& tensors) {
  std::vector<float> all;
  for (const auto& [name, values] : tensors) all.insert(all.end(), values.begin(), values.end());
  return all;
}

const char kTwoParameters[] = R"(input %x : f32[40]
input %z : f32[7]
parameter %p0 : [40] init constant(0)
parameter %p1 : [7] init constant(0) no_decay learning_rate_scale 0.3
%y = add(a: %x, b: %p0) : [40]
%w = add(a: %z, b: %p1) : [7]
output "y" = %y
output "w" = %w
)";

std::string optimizer_text(const std::string& kind) {
  if (kind.starts_with("adam")) {
    return "optimizer " + kind +
           " learning_rate 0.3 beta1 0.9 beta2 0.999 epsilon 1e-08 weight_decay 0.7\nclip 0.5\n";
  }
  return std::string("optimizer sgd learning_rate 0.3 momentum ") + (kind == "sgd" ? "0" : "0.9") +
         (kind == "nesterov" ? " nesterov" : "") + " weight_decay 0.7\nclip 0.5\n";
}

// Five updates with the gradients of record_expected.py.
template <class Scalar>
Step<Scalar> five_updates(const std::string& kind) {
  const Evaluator<Scalar> evaluator(parse_model(kTwoParameters, optimizer_text(kind)), {});
  Step<Scalar> step;
  step.state = evaluator.initial_state({{"p0", data<Scalar>(40, 1)}, {"p1", data<Scalar>(7, 2)}});
  for (int i = 0; i < 5; ++i) {
    Gradients<Scalar> gradients(evaluator.description().nodes.size());
    gradients[evaluator.find("p0")] = data<Scalar>(40, 10 + i);
    gradients[evaluator.find("p1")] = data<Scalar>(7, 20 + i);
    step = evaluator.update(step.state, gradients);
  }
  return step;
}

void check_layer_norm(std::int64_t rows, std::int64_t n) {
  const std::string extent = std::to_string(n),
                    name = "layer_norm " + std::to_string(rows) + "x" + extent;
  Problem problem;
  problem.model = parse_model(
      "input %x : f32[" + std::to_string(rows) + ", " + extent + "]\nparameter %w : [" + extent +
      "] init constant(0)\nparameter %b : [" + extent +
      "] init constant(0)\n%y = layer_norm(x: %x, weight: %w, bias: %b) {epsilon: 1e-05} : [" +
      std::to_string(rows) + ", " + extent + "]\noutput \"y\" = %y\n");
  problem.inputs.values["x"] = data(rows * n, 1);
  problem.parameters = {{"w", data(n, 2)}, {"b", data(n, 3)}};
  problem.external["y"] = data(rows * n, 4);
  const Run<float> run(problem);
  check_bits(name + " y", run.value("y"));
  check_bits(name + " x", run.gradient("x"));
  check_bits(name + " w", run.gradient("w"));
  check_bits(name + " b", run.gradient("b"));
}

}  // namespace

TEST_CASE("linear is one fma chain for each result and its bias gradient the column tree") {
  Problem problem;
  problem.model = parse_model(R"(input %x : f32[300, 37]
parameter %w : [6, 37] init constant(0)
parameter %b : [6] init constant(0)
%y = linear(x: %x, weight: %w, bias: %b) : [300, 6]
output "y" = %y
)");
  problem.inputs.values["x"] = data(300 * 37, 1);
  problem.parameters = {{"w", data(6 * 37, 2)}, {"b", data(6, 3)}};
  problem.external["y"] = data(300 * 6, 4);
  const Run<float> run(problem);
  check_bits("linear y", run.value("y"));
  check_bits("linear x", run.gradient("x"));
  check_bits("linear w", run.gradient("w"));
  check_bits("linear b", run.gradient("b"));
}

TEST_CASE("a transposed linear takes its weight the other way, and gives its gradient so") {
  Problem problem;
  problem.model = parse_model(R"(input %x : f32[300, 37]
parameter %w : [37, 6] init constant(0)
parameter %b : [6] init constant(0)
%y = linear(x: %x, weight: %w, bias: %b) {transposed: true} : [300, 6]
output "y" = %y
)");
  problem.inputs.values["x"] = data(300 * 37, 1);
  problem.parameters = {{"w", data(37 * 6, 5)}, {"b", data(6, 3)}};
  problem.external["y"] = data(300 * 6, 4);
  const Run<float> run(problem);
  check_bits("transposed y", run.value("y"));
  check_bits("transposed x", run.gradient("x"));
  check_bits("transposed w", run.gradient("w"));
  check_bits("linear b", run.gradient("b"));
}

TEST_CASE("layer_norm sums rows of one chunk and of several by the row tree") {
  check_layer_norm(300, 40);
  check_layer_norm(2, 2100);
}

TEST_CASE("mse sums by the flat tree and divides by its count") {
  Problem problem;
  problem.model = parse_model(R"(input %x : f32[5000]
parameter %target : [5000] init constant(0)
%loss = mse(x: %x, target: %target) : []
loss %loss weight 0.3
)");
  problem.inputs.values["x"] = data(5000, 1);
  problem.parameters["target"] = data(5000, 2);
  const Run<float> run(problem);
  check_bits("mse loss", run.forward.losses);
  check_bits("mse x", run.gradient("x"));
  check_bits("mse target", run.gradient("target"));
}

TEST_CASE("five declared updates of every optimizer have numpy's bits") {
  for (const std::string kind : {"sgd", "momentum", "nesterov", "adamw", "adam"}) {
    const Step<float> step = five_updates<float>(kind);
    check_bits(kind + " norm", {step.norm});
    check_bits(kind + " p", joined(step.state.parameters));
    if (kind != "sgd") check_bits(kind + " first", joined(step.state.first_moments));
    if (!kind.starts_with("adam")) continue;
    check_bits(kind + " second", joined(step.state.second_moments));
    check_bits(kind + " powers", {step.state.power1.high, step.state.power1.low,
                                  step.state.power2.high, step.state.power2.low});
  }
}

TEST_CASE("five exact updates of every optimizer equal torch's in f64") {
  constexpr double kRoundings = 5 * 24;  // steps times the operations of an update, on either side
  for (const TorchUpdate& torch : kTorchUpdates) {
    const Step<double> step = five_updates<double>(torch.optimizer);
    std::size_t at = 0;
    for (const auto& [name, values] : step.state.parameters) {
      for (const double value : values) {
        CAPTURE(at);
        const double expected = torch.parameters.at(at++);
        CHECK(std::fabs(value - expected) <=
              kRoundings * std::numeric_limits<double>::epsilon() * (1 + std::fabs(expected)));
      }
    }
    CHECK(at == torch.parameters.size());
  }
}
