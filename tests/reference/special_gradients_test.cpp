// SPDX-License-Identifier: Apache-2.0
// Gradients where there is no derivative, where it is not finite, and of what no loss reaches.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "finite_differences.hpp"

using namespace halftone::reference::tests;
using halftone::reference::Declared, halftone::reference::Forward, halftone::reference::Gradients;
using halftone::reference::State, halftone::reference::Step;

namespace {

// What torch 2.15.0 gave on a CPU for a gradient of 3 that arrives: backward() of torch.absolute,
// relu, minimum, maximum, where, sqrt, log, rsqrt, div and leaky_relu at these f32 values.
struct TorchGradient {
  const char* body;  // %0 and %1 are the operands
  float a, b, of_a, of_b;
};

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr const char kMinimum[] = "%2 = minimum %0 %1", kMaximum[] = "%2 = maximum %0 %1";
constexpr const char kFloor[] = "%2 = floor %0";
constexpr const char kAbsolute[] = "%2 = absolute %0", kDivide[] = "%2 = divide %0 %1";
constexpr const char kWhere[] = "%2 = less %0 %1; %3 = select %2 %0 %1";
constexpr const char kPow[] = "%2 = pow %0 %1", kLog1p[] = "%2 = log1p %0";
constexpr const char kExpm1[] = "%2 = expm1 %0", kSin[] = "%2 = sin %0", kCos[] = "%2 = cos %0";
constexpr const char kSqrt[] = "%2 = sqrt %0", kLog[] = "%2 = log %0", kRsqrt[] = "%2 = rsqrt %0";
constexpr const char kLeaky[] =
    "%2 = constant 0; %3 = less %2 %0; %4 = constant 0.25; %5 = multiply %0 %4; "
    "%6 = select %3 %0 %5";

const TorchGradient kTorchGradients[] = {
    {kFloor, 1.5, 0, 0, 0},
    {kFloor, 2, 0, 0, 0},
    {kFloor, kNan, 0, 0, 0},
    {kAbsolute, 0, 0, 0, 0},
    {kAbsolute, -0.0f, 0, 0, 0},
    {kAbsolute, 1, 0, 3, 0},
    {kAbsolute, -1, 0, -3, 0},
    {kAbsolute, kNan, 0, 0, 0},
    {kAbsolute, -kInfinity, 0, -3, 0},
    {kMinimum, 1, 1, 1.5, 1.5},
    {kMinimum, 0, -0.0f, 1.5, 1.5},
    {kMinimum, 1, 2, 3, 0},
    {kMinimum, 2, 1, 0, 3},
    {kMinimum, kNan, 1, 3, 3},
    {kMinimum, 1, kNan, 3, 3},
    {kMinimum, kInfinity, kInfinity, 1.5, 1.5},
    {kMaximum, 1, 1, 1.5, 1.5},
    {kMaximum, -0.0f, 0, 1.5, 1.5},
    {kMaximum, 1, 2, 0, 3},
    {kMaximum, 2, 1, 3, 0},
    {kMaximum, kNan, 1, 3, 3},
    {kMaximum, 1, kNan, 3, 3},
    {kMaximum, -kInfinity, -kInfinity, 1.5, 1.5},
    {kWhere, 1, 1, 0, 3},
    {kWhere, 1, 2, 3, 0},
    {kWhere, kNan, 1, 0, 3},
    {kLeaky, 0, 0, 0.75, 0},
    {kLeaky, kNan, 0, 0.75, 0},
    {kSqrt, 0, 0, kInfinity, 0},
    {kSqrt, -0.0f, 0, -kInfinity, 0},
    {kSqrt, -1, 0, kNan, 0},
    {kLog, 0, 0, kInfinity, 0},
    {kLog, -0.0f, 0, -kInfinity, 0},
    {kLog, -1, 0, -3, 0},
    {kRsqrt, 0, 0, -kInfinity, 0},
    {kRsqrt, kInfinity, 0, -0.0f, 0},
    // derivatives.yaml of torch: grad * (exponent == 0 ? 0 : exponent * self.pow(exponent - 1)),
    // and grad * (self == 0 && exponent >= 0 ? 0 : result * self.log()); grad / (self + 1); grad *
    // (result + 1); grad * self.cos(); grad * -self.sin().
    {kPow, 0, 0, 0, 0},
    {kPow, 0, 2, 0, 0},
    {kPow, 0, 1, 3, 0},
    {kPow, 0, 0.5f, kInfinity, 0},
    {kPow, 0, -1, -kInfinity, -kInfinity},
    {kPow, -2, 3, 36, kNan},
    {kPow, -2, 0, 0, kNan},
    {kPow, kNan, 0, 0, kNan},
    {kPow, 1, kNan, kNan, 0},
    {kPow, 4, 0.5f, 0.75f, 3 * 2 * 1.38629436f},
    {kLog1p, -1, 0, kInfinity, 0},
    {kLog1p, kInfinity, 0, 0, 0},
    {kLog1p, -0.0f, 0, 3, 0},
    {kExpm1, -kInfinity, 0, 0, 0},
    {kExpm1, 0, 0, 3, 0},
    {kSin, 0, 0, 3, 0},
    {kSin, kInfinity, 0, kNan, 0},
    {kCos, 0, 0, 0, 0},
    {kDivide, 0, 0, kInfinity, kNan},
    {kDivide, 1, 0, kInfinity, -kInfinity},
    {kDivide, 1, kInfinity, 0, -0.0f},
};

// Of x and z when y, the result of `layers`, has one element and the gradient 3.
std::pair<float, float> gradients_of(const std::string& layers, float x, float z) {
  const Declared evaluator(
      parse_model("input %x : f32[1]\ninput %z : f32[1]\n" + layers + "output \"y\" = %y\n"), {});
  const Forward<float> forward =
      evaluator.forward(evaluator.initial_state({}), {{{"x", {x}}, {"z", {z}}}, {}});
  const Gradients<float> gradients = evaluator.backward(forward, {{"y", {3}}});
  const auto of = [&](const char* name) {
    const std::vector<float>& gradient = gradients[evaluator.find(name)];
    return gradient.empty() ? 0.0f : gradient[0];
  };
  return {of("x"), of("z")};
}

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

TEST_CASE("at kinks, at NaN and where it is infinite the gradient is torch's") {
  for (const TorchGradient& c : kTorchGradients) {
    CAPTURE(std::string(c.body));
    CAPTURE(c.a);
    CAPTURE(c.b);
    const auto [of_a, of_b] =
        gradients_of(std::string("%y = pointwise(x0: %x, x1: %z) \"f\" { %0 = operand 0; "
                                 "%1 = operand 1; ") +
                         c.body + " } : [1]\n",
                     c.a, c.b);
    CHECK(same(of_a, c.of_a));
    CHECK(same(of_b, c.of_b));
  }
  const std::pair<float, float> relu[] = {{0.0f, 0.0f},  {-0.0f, 0.0f}, {1.0f, 3.0f},
                                          {-1.0f, 0.0f}, {kNan, 3.0f},  {kInfinity, 3.0f}};
  for (const auto& [x, gradient] : relu) {
    CAPTURE(x);
    const char* layers = "%r = relu(x: %x) : [1]\n%y = add(a: %r, b: %z) : [1]\n";
    CHECK(gradients_of(layers, x, 0).first == gradient);
  }
}

TEST_CASE("a condition receives no gradient and an unused branch receives zero") {
  const Problem problem = make_problem(parse_model(R"(input %x : f32[batch, 1]
input %c : f32[batch, 1]
input %z : f32[batch, 1]
%y = pointwise(x0: %c, x1: %x, x2: %z) "f" { %0 = operand 0; %1 = operand 1; %2 = operand 2; %3 = constant 9; %4 = less %0 %3; %5 = select %4 %1 %2 } : [batch, 1]
output "y" = %y
)"),
                                       {{"batch", 1}}, 1);
  const Run<float> run(problem);
  CHECK(run.gradient("c").empty());
  CHECK(run.gradient("z") == std::vector<float>{0.0f});
  CHECK(run.gradient("x")[0] == static_cast<float>(problem.external.at("y")[0]));
}

TEST_CASE("a frozen parameter has no gradient and a parameter that no loss reaches has zeros") {
  const Problem problem = make_problem(parse_model(R"(input %x : f32[batch, 2]
parameter %w : [2, 2] init constant(0) frozen
parameter %v : [2, 2] init constant(0)
parameter %u : [1, 2] init constant(0)
%a = linear(x: %x, weight: %w) : [batch, 2]
%b = linear(x: %a, weight: %u) : [batch, 1]
%c = linear(x: %a, weight: %v) : [batch, 2]
%loss = mse(x: %a, target: %x) : []
output "b" = %b
output "c" = %c
loss %loss weight 1
)"),
                                       {{"batch", 2}}, 1);
  Problem without_external = problem;
  without_external.external.clear();
  const Run<double> run(without_external);
  CHECK(run.gradient("w").empty());
  CHECK(run.gradient("v") == std::vector<double>(4, 0.0));
  CHECK(run.gradient("u") == std::vector<double>(2, 0.0));
}

TEST_CASE("a metric that is not finite leaves the gradients alone, the objective too") {
  // d sqrt(h - h) = 0 / 0, of a value that the loss reads as well.
  const char* model = R"(input %x : f32[2]
parameter %w : [2] init constant(0)
%h = add(a: %x, b: %w) : [2]
%metric = pointwise_loss(x0: %h) "f" { %0 = operand 0; %1 = subtract %0 %0; %2 = sqrt %1; %3 = divide %2 %1 } : []
%loss = mse(x: %h, target: %x) : []
loss %metric weight WEIGHT
loss %loss weight 1
)";
  for (const char* weight : {"0", "-0", "1e-60", "1"}) {
    CAPTURE(std::string(weight));
    std::string text = model;
    text.replace(text.find("WEIGHT"), 6, weight);
    const Declared evaluator(parse_model(text), {});
    const State<float> state = evaluator.initial_state({{"w", {1, 2}}});
    const Step<float> step = evaluator.step(state, {{{"x", {1, 1}}}, {}});
    const bool metric = std::string(weight) != "1";
    CHECK(std::isnan(step.losses[0]));
    CHECK(step.finite == metric);
    if (!metric) continue;
    CHECK(step.objective == 2.5f);
    // w - 0.1 * 2 w / 2
    CHECK(step.state.parameters.at("w")[0] == std::fma(-0.1f, 1.0f, 1.0f));
    CHECK(step.state.parameters.at("w")[1] == std::fma(-0.1f, 2.0f, 2.0f));
  }
}
