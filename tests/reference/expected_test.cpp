// SPDX-License-Identifier: Apache-2.0
// Declared evaluation against numpy's f32, bit by bit, and exact updates against torch's in f64
// (record_expected.py).
#include "expected.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
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

std::string two_parameters(std::int64_t first, std::int64_t second) {
  const std::string p0 = "[" + std::to_string(first) + "]", p1 = "[" + std::to_string(second) + "]";
  return "input %x : f32" + p0 + "\ninput %z : f32" + p1 + "\nparameter %p0 : " + p0 +
         " init constant(0)\nparameter %p1 : " + p1 +
         " init constant(0) no_decay learning_rate_scale 0.3\n%y = add(a: %x, b: %p0) : " + p0 +
         "\n%w = add(a: %z, b: %p1) : " + p1 + "\noutput \"y\" = %y\noutput \"w\" = %w\n";
}

struct OptimizerCase {
  const char* name;
  const char* text;
};
const OptimizerCase kOptimizers[] = {
    {"sgd", "sgd learning_rate 0.3 momentum 0 weight_decay 0.7"},
    {"momentum", "sgd learning_rate 0.3 momentum 0.9 weight_decay 0.7"},
    {"nesterov", "sgd learning_rate 0.3 momentum 0.9 nesterov weight_decay 0.7"},
    {"dampened", "sgd learning_rate 0.3 momentum 0.9 dampening 0.25 weight_decay 0.7"},
    {"adamw", "adamw learning_rate 0.3 beta1 0.9 beta2 0.999 epsilon 1e-08 weight_decay 0.7"},
    {"adam", "adam learning_rate 0.3 beta1 0.9 beta2 0.999 epsilon 1e-08 weight_decay 0.7"},
    {"adamw_amsgrad",
     "adamw learning_rate 0.3 beta1 0.9 beta2 0.999 epsilon 1e-08 weight_decay 0.7 amsgrad"},
    {"adam_amsgrad",
     "adam learning_rate 0.3 beta1 0.9 beta2 0.999 epsilon 1e-08 weight_decay 0.7 amsgrad"},
    {"nadam",
     "nadam learning_rate 0.3 beta1 0.9 beta2 0.999 epsilon 1e-08 weight_decay 0.7 momentum_decay "
     "0.5"},
    {"nadam_decoupled",
     "nadam learning_rate 0.3 beta1 0.9 beta2 0.999 epsilon 1e-08 weight_decay 0.7 momentum_decay "
     "0.5 decoupled_weight_decay"},
    {"adagrad",
     "adagrad learning_rate 0.3 epsilon 1e-10 weight_decay 0.7 initial_accumulator_value 0.125"},
    {"rmsprop", "rmsprop learning_rate 0.3 alpha 0.75 epsilon 1e-08 momentum 0 weight_decay 0.7"},
    {"rmsprop_all",
     "rmsprop learning_rate 0.3 alpha 0.75 epsilon 1e-08 momentum 0.9 centered weight_decay 0.7"},
    {"clipped", "sgd learning_rate 0.3 momentum 0.9 weight_decay 0.7\nclip_value 0.03"},
    {"lion", "lion learning_rate 0.3 beta1 0.9 beta2 0.99 weight_decay 0.7"},
    {"clip_groups",
     "sgd learning_rate 0.3 momentum 0.9 weight_decay 0.7\nclip_group 0.5 %p0\nclip_group 0.05 "
     "%p1"},
    {"lamb", "lamb learning_rate 0.3 beta1 0.9 beta2 0.999 epsilon 1e-06 weight_decay 0.7"},
    {"lamb_limited",
     "lamb learning_rate 0.3 beta1 0.9 beta2 0.999 epsilon 1e-06 weight_decay 0.7 max_trust 0.25 "
     "decayed_only"},
};

std::string optimizer_text(const std::string& kind) {
  const auto* found = std::ranges::find_if(
      kOptimizers, [&](const OptimizerCase& each) { return kind == each.name; });
  REQUIRE(found != std::end(kOptimizers));
  return "optimizer " + std::string(found->text) + (kind == "clip_groups" ? "\n" : "\nclip 0.5\n");
}

// Updates with the gradients of record_expected.py, of parameters of so many elements.
template <class Scalar>
Step<Scalar> updates_of(const std::string& optimizer, int steps, std::int64_t first,
                        std::int64_t second) {
  const Evaluator<Scalar> evaluator(parse_model(two_parameters(first, second), optimizer), {});
  Step<Scalar> step;
  step.state =
      evaluator.initial_state({{"p0", data<Scalar>(first, 1)}, {"p1", data<Scalar>(second, 2)}});
  for (int i = 0; i < steps; ++i) {
    Gradients<Scalar> gradients(evaluator.description().nodes.size());
    gradients[evaluator.find("p0")] = data<Scalar>(first, 10 + i);
    gradients[evaluator.find("p1")] = data<Scalar>(second, 20 + i);
    step = evaluator.update(step.state, gradients);
  }
  return step;
}

template <class Scalar>
Step<Scalar> five_updates_of(const std::string& optimizer) {
  return updates_of<Scalar>(optimizer, 5, 40, 7);
}

template <class Scalar>
Step<Scalar> five_updates(const std::string& kind) {
  return five_updates_of<Scalar>(optimizer_text(kind));
}

void check_step(const std::string& kind, const Step<float>& step) {
  const State<float>& state = step.state;
  check_bits(kind + " norm", {step.norm});
  check_bits(kind + " p", joined(state.parameters));
  if (!state.first_moments.empty()) check_bits(kind + " first", joined(state.first_moments));
  if (!state.second_moments.empty()) check_bits(kind + " second", joined(state.second_moments));
  if (!state.third_moments.empty()) check_bits(kind + " third", joined(state.third_moments));
  if (kind.starts_with("nadam")) {
    check_bits(kind + " powers", {state.power2.high, state.power2.low, state.growth.high,
                                  state.growth.low, state.momentum_product});
  } else if (kind.starts_with("adam") || kind.starts_with("lamb")) {
    check_bits(kind + " powers",
               {state.power1.high, state.power1.low, state.power2.high, state.power2.low});
  }
}

void check_torch(const TorchUpdate& torch, const Step<double>& step) {
  constexpr double kRoundings = 5 * 24;  // steps times the operations of an update, on either side
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
  for (const OptimizerCase& each : kOptimizers) {
    const std::string kind = each.name;
    CAPTURE(kind);
    check_step(kind, five_updates<float>(kind));
  }
}

TEST_CASE("U15: norms of parameters that have several blocks have numpy's bits") {
  for (const std::string kind : {"clip_groups", "lamb"}) {
    CAPTURE(kind);
    check_step(kind + " in blocks", updates_of<float>(optimizer_text(kind), 2, 2500, 1030));
  }
}

TEST_CASE("every optimizer keeps the moments that it has, and no others") {
  for (const OptimizerCase& each : kOptimizers) {
    const std::string kind = each.name;
    CAPTURE(kind);
    const State<float> state = five_updates<float>(kind).state;
    CHECK(state.first_moments.empty() == (kind == "sgd" || kind == "adagrad" || kind == "rmsprop"));
    CHECK(state.second_moments.empty() ==
          (kind == "sgd" || kind == "momentum" || kind == "nesterov" || kind == "dampened" ||
           kind == "clipped" || kind == "clip_groups" || kind == "lion"));
    CHECK(state.third_moments.empty() == !(kind.ends_with("amsgrad") || kind == "rmsprop_all"));
  }
}

TEST_CASE("optimizers that are written as expressions equal torch's in f64") {
  struct Case {
    const char* torch;
    const char* text;
  };
  // g = of.gradient + wd * p throughout; adagrad's sum begins at 0.125 with the first update.
  const Case cases[] = {
      {"momentum",
       "parameter { %0 = operand 0; %1 = operand 1; %2 = operand 3; %3 = multiply %2 %0; %4 = add "
       "%1 %3; %5 = operand 5; %6 = constant 0.9; %7 = multiply %6 %5; %8 = add %7 %4; %9 = "
       "operand "
       "2; %10 = multiply %9 %8; %11 = subtract %0 %10 } buffer { %0 = operand 0; %1 = operand 1; "
       "%2 = operand 3; %3 = multiply %2 %0; %4 = add %1 %3; %5 = operand 5; %6 = constant 0.9; %7 "
       "= multiply %6 %5; %8 = add %7 %4 }"},
      {"adagrad",
       "parameter { %0 = operand 0; %1 = operand 1; %2 = operand 3; %3 = multiply %2 %0; %4 = add "
       "%1 %3; %5 = operand 5; %6 = operand 4; %7 = constant 0; %8 = equal %6 %7; %9 = constant "
       "0.125; %10 = select %8 %9 %5; %11 = multiply %4 %4; %12 = add %10 %11; %13 = sqrt %12; %14 "
       "= constant 1e-10; %15 = add %13 %14; %16 = divide %4 %15; %17 = operand 2; %18 = multiply "
       "%17 %16; %19 = subtract %0 %18 } sum { %0 = operand 0; %1 = operand 1; %2 = operand 3; %3 "
       "= "
       "multiply %2 %0; %4 = add %1 %3; %5 = operand 5; %6 = operand 4; %7 = constant 0; %8 = "
       "equal "
       "%6 %7; %9 = constant 0.125; %10 = select %8 %9 %5; %11 = multiply %4 %4; %12 = add %10 %11 "
       "}"}};
  for (const Case& each : cases) {
    CAPTURE(std::string(each.torch));
    const auto torch = std::ranges::find_if(kTorchUpdates, [&](const TorchUpdate& update) {
      return std::string(each.torch) == update.optimizer;
    });
    REQUIRE(torch != std::end(kTorchUpdates));
    const Step<double> step =
        five_updates_of<double>("optimizer custom learning_rate 0.3 weight_decay 0.7 " +
                                std::string(each.text) + "\nclip 0.5\n");
    REQUIRE(step.state.own_states.size() == 1);
    std::size_t at = 0;
    for (const auto& [name, values] : step.state.parameters) {
      for (const double value : values) {
        CAPTURE(at);
        const double expected = torch->parameters.at(at++);
        CHECK(std::fabs(value - expected) <= 1e-13 * (1 + std::fabs(expected)));
      }
    }
    CHECK(at == torch->parameters.size());
  }
}

TEST_CASE("five exact updates of every optimizer equal torch's in f64") {
  for (const TorchUpdate& torch : kTorchUpdates) {
    CAPTURE(std::string(torch.optimizer));
    check_torch(torch, five_updates<double>(torch.optimizer));
  }
}

TEST_CASE("U2: a clip of a group that has all parameters is torch's clip of all") {
  const auto torch = std::ranges::find_if(
      kTorchUpdates, [](const TorchUpdate& of) { return std::string(of.optimizer) == "momentum"; });
  REQUIRE(torch != std::end(kTorchUpdates));
  check_torch(*torch,
              five_updates_of<double>("optimizer sgd learning_rate 0.3 momentum 0.9 weight_decay "
                                      "0.7\nclip_group 0.5 %p0 %p1\n"));
}
