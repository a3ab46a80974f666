// SPDX-License-Identifier: Apache-2.0
// N10: which operations are narrow, by the bits that the two grades leave.
#include <doctest/doctest.h>

#include <string>

#include "problem.hpp"
#include "recipes.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;
using halftone::description::Element;

namespace {

constexpr int kCount = 4001;

Tensors<float> arguments() {
  Tensors<float> values;
  for (int i = 0; i < kCount; ++i)
    values["x"].push_back(static_cast<float>(i - kCount / 2) * 0.004371F);
  return values;
}

// The layer's result, and what of a gradient of 1 of its output arrives at its operand.
struct Both {
  std::vector<float> y, g;
};

Both evaluate(const std::string& layer, const std::string& rules) {
  const Evaluator<float> evaluator(
      parse_model(
          "input %zero : f32[4001]\nparameter %x : [4001] init constant(0)\n"
          "parameter %aside : [1] init constant(0)\n%moved = add(a: %x, b: %zero) : [4001]\n"
          "%y = " +
          layer +
          " : [4001]\n%idle = mse(x: %aside, target: %aside) : []\n"
          "output \"y\" = %y\nloss %idle weight 0\n" +
          rules),
      {});
  Inputs<float> inputs;
  inputs.values["zero"].assign(kCount, 0);
  Tensors<float> parameters = arguments();
  parameters["aside"] = {0};
  const auto forward = evaluator.forward(evaluator.initial_state(parameters), inputs);
  Tensors<float> ones;
  ones["y"].assign(kCount, 1);
  const auto gradients = evaluator.backward(forward, ones);
  return {forward.values[4], gradients[1]};
}

int different(const std::vector<float>& got, float (*recipe)(float), Element format) {
  const std::vector<float> x = arguments().at("x");
  int count = 0;
  for (int i = 0; i < kCount; ++i) count += got[i] != round({format}, recipe(x[i]));
  return count;
}

const char kGelu[] = "gelu(x: %moved) {approximation: erf}";
const char kTanh[] = "pointwise(x0: %moved) \"tanh\" { %0 = operand 0; %1 = tanh %0 }";

}  // namespace

TEST_CASE("a result that is first rounded to f16 or bf16 is that of the narrow recipe") {
  for (const auto& [format, word] : {std::pair{Element::f16, "f16"}, {Element::bf16, "bf16"}}) {
    for (const char* field : {"store", "result"}) {
      const std::string rule =
          "rule where layer \"y\" pass forward : " + std::string(field) + " " + word + "\n";
      CAPTURE(rule);
      CHECK(different(evaluate(kGelu, rule).y, recipe::narrow::gelu_erf, format) == 0);
      CHECK(different(evaluate(kTanh, rule).y, recipe::narrow::tanh, format) == 0);
      CHECK(different(evaluate(kGelu, rule).y, recipe::gelu_erf, format) > 0);
    }
  }
}

TEST_CASE("what a reader rounds, what is rounded toward zero or to tf32 first, is full") {
  const std::vector<float> plain = evaluate(kGelu, "").y;
  CHECK(different(plain, recipe::gelu_erf, Element::f32) == 0);
  CHECK(different(evaluate(kTanh, "").y, recipe::tanh, Element::f32) == 0);
  CHECK(different(evaluate(kGelu, "rule where layer \"y\" pass input_gradient : result bf16\n").y,
                  recipe::gelu_erf, Element::f32) == 0);
  const std::vector<float> cut =
      evaluate(kGelu, "rule where layer \"y\" pass forward : store bf16 rounding toward_zero\n").y;
  const std::vector<float> short_twice =
      evaluate(kGelu, "rule where layer \"y\" pass forward : store bf16 result tf32\n").y;
  for (int i = 0; i < kCount; ++i) {
    CHECK(cut[i] == round({Element::bf16, halftone::description::Rounding::toward_zero}, plain[i]));
    CHECK(short_twice[i] == round({Element::bf16}, round({Element::tf32}, plain[i])));
  }
}

TEST_CASE("a gradient has a grade of its own, by what its contribution is rounded to") {
  const auto check = [](const std::string& rule, float (*recipe)(float), Element format) {
    CAPTURE(rule);
    CHECK(different(evaluate(kGelu, rule).g, recipe, format) == 0);
  };
  check("", recipe::gelu_erf_derivative, Element::f32);
  check("rule where layer \"y\" pass input_gradient : result bf16\n",
        recipe::narrow::gelu_erf_derivative, Element::bf16);
  // Its operand's gradient is stored in f16, its own result's in f32.
  check("rule where layer \"moved\" role gradient : store f16\n",
        recipe::narrow::gelu_erf_derivative, Element::f16);
  check("rule where layer \"y\" role gradient : store f16\n", recipe::gelu_erf_derivative,
        Element::f32);
}

TEST_CASE("only the last instruction of an expression is narrow, and none of its gradient") {
  const std::string rule = "rule where layer \"y\" : store bf16 result bf16\n";
  const auto doubled = evaluate(
      "pointwise(x0: %moved) \"f\" { %0 = operand 0; %1 = tanh %0; %2 = add %1 %1 }", rule);
  CHECK(different(doubled.y, [](float x) { return 2 * recipe::tanh(x); }, Element::bf16) == 0);
  const auto once = evaluate(kTanh, rule);
  CHECK(different(
            once.g,
            [](float x) {
              const float r = recipe::tanh(x);
              return 1 - r * r;
            },
            Element::bf16) == 0);
}
