// SPDX-License-Identifier: Apache-2.0
// Functions that are made of others: their values beside formulas in double, their gradients beside
// differences of these, and beside torch's at kinks and far out.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "described.hpp"
#include "expression.hpp"
#include "spelling.hpp"

using namespace specs;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Of a lambda of x and, when it takes two values, y.
template <class F>
halftone::description::Expression expression_of(F function) {
  const auto net = described_layer(function);
  const auto& layer = std::get<halftone::description::LayerAttributes>(net.nodes.back().attributes);
  return layer.function->expression;
}

template <class Number>
struct Point {
  Number value{}, to_x{}, to_y{};
};

template <class Number>
Point<Number> at(const halftone::description::Expression& expression, double x, double y = 0) {
  namespace reference = halftone::reference;
  reference::Values<Number> results;
  const reference::Values<Number> operands = {static_cast<Number>(x), static_cast<Number>(y)};
  reference::evaluate<Number>(expression, operands, results);
  std::vector<std::optional<Number>> adjoints;
  reference::differentiate<Number>(expression, results, 1, adjoints);
  Point<Number> point{results.back(), adjoints[0].value_or(0)};
  if (adjoints.size() > 1) point.to_y = adjoints[1].value_or(0);
  return point;
}

bool close(double a, double b, double relative, double absolute = 0) {
  return std::fabs(a - b) <= relative * std::fabs(b) + absolute;
}

/// `exact` is smooth within 1/8 of the points, which lie in `low` to `high`.
template <class F, class Exact>
void check_function(const char* name, F function, Exact exact, double low = -8, double high = 8) {
  CAPTURE(std::string(name));
  const halftone::description::Expression expression = expression_of(function);
  for (double x = low; x <= high; x += 0.3125) {
    for (const double y : {-1.375, 0.21875, 2.5}) {
      CAPTURE(x);
      CAPTURE(y);
      const Point<double> point = at<double>(expression, x, y);
      CHECK(close(point.value, exact(x, y), 1e-13, 1e-15));
      CHECK(close(at<float>(expression, x, y).value, exact(x, y), 2e-6, 1e-7));
      const double h = 1e-5;
      CHECK(close(point.to_x, (exact(x + h, y) - exact(x - h, y)) / (2 * h), 1e-8, 1e-9));
      if (expression.arity < 2) break;
      CHECK(close(point.to_y, (exact(x, y + h) - exact(x, y - h)) / (2 * h), 1e-8, 1e-9));
    }
  }
}

/// In f32: the value and the gradient of x.
template <class F>
void check_at(F function, double x, double value, double to_x, double y = 0) {
  CAPTURE(x);
  CAPTURE(y);
  const Point<float> point = at<float>(expression_of(function), x, y);
  const auto same = [](float a, double b) {
    return std::isnan(a) ? std::isnan(b) : a == static_cast<float>(b);
  };
  CAPTURE(point.value);
  CAPTURE(point.to_x);
  CHECK(same(point.value, value));
  CHECK(same(point.to_x, to_x));
}

constexpr auto clamped = [](auto x) { return clamp(x, -1.5, 2); };
constexpr auto leaky = [](auto x) { return leaky_relu(x, 0.25); };
constexpr auto smooth = [](auto x) { return softplus(x); };
constexpr auto of_mish = [](auto x) { return mish(x); };
constexpr auto of_silu = [](auto x) { return silu(x); };
constexpr auto of_relu = [](auto x) { return relu(x); };
constexpr auto of_gelu = [](auto x) { return gelu(x); };
constexpr auto of_gelu_tanh = [](auto x) { return gelu_tanh(x); };
constexpr auto of_elu = [](auto x) { return elu(x, 1.5); };
constexpr auto of_logits = [](auto x, auto y) { return binary_cross_entropy_with_logits(x, y); };
constexpr auto soft = [](auto x) { return softsign(x); };
constexpr auto hard = [](auto x) { return hard_sigmoid(x); };
constexpr auto hard_x = [](auto x) { return hard_swish(x); };
constexpr auto of_huber = [](auto x, auto y) { return huber(x, y, 0.5); };
constexpr auto of_smooth = [](auto x, auto y) { return smooth_l1(x, y, 0.5); };

constexpr auto of_selu = [](auto x) { return selu(x); };
constexpr auto of_log_cosh = [](auto x, auto y) { return log_cosh(x, y); };
constexpr auto of_hinge = [](auto x, auto y) { return hinge(x, y); };
constexpr auto of_embedding = [](auto x, auto y) { return hinge_embedding(x, y, 1.5); };
constexpr auto of_soft_margin = [](auto x, auto y) { return soft_margin(x, y); };
constexpr auto of_ranking = [](auto x, auto y) { return margin_ranking(x, 0.25, y, 0.5); };
constexpr auto of_kl = [](auto x, auto y) { return kl_div(x, y); };

double exact_huber(double d, double delta) {
  return std::fabs(d) <= delta ? 0.5 * d * d : delta * (std::fabs(d) - 0.5 * delta);
}

}  // namespace

TEST_CASE("functions that are made of others have their values and gradients") {
  check_function(
      "clamp", clamped, [](double x, double) { return std::fmin(std::fmax(x, -1.5), 2); }, -7.9);
  check_function(
      "clamp between values", [](auto x, auto y) { return clamp(x, -2, y); },
      [](double x, double y) { return std::fmin(std::fmax(x, -2), y); }, -7.9);
  check_function(
      "leaky_relu", leaky, [](double x, double) { return x > 0 ? x : 0.25 * x; }, -7.9);
  check_function(
      "leaky_relu of two values", [](auto x, auto y) { return leaky_relu(x, y); },
      [](double x, double y) { return x > 0 ? x : y * x; }, -7.9);
  const auto log_of_sum = [](double x) {
    return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
  };
  check_function(
      "softplus", smooth, [&](double x, double) { return log_of_sum(x); }, -7.9);
  check_function(
      "mish", of_mish, [&](double x, double) { return x * std::tanh(log_of_sum(x)); }, -7.9);
  check_function(
      "silu", of_silu, [](double x, double) { return x / (1 + std::exp(-x)); }, -7.9);
  check_function(
      "relu", of_relu, [](double x, double) { return std::fmax(x, 0); }, -7.9);
  check_function(
      "gelu", of_gelu, [](double x, double) { return x * std::erfc(-x / std::sqrt(2)) / 2; }, -3.9);
  check_function(
      "gelu_tanh", of_gelu_tanh,
      [](double x, double) {
        const double pi = 3.14159265358979324;
        return x / 2 * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
      },
      -2.9);
  check_function(
      "elu", of_elu, [](double x, double) { return x > 0 ? x : 1.5 * std::expm1(x); }, -7.9);
  check_function(
      "binary_cross_entropy_with_logits", of_logits,
      [&](double x, double y) { return log_of_sum(x) - x * y; }, -7.9);
  check_function(
      "pow of whole exponents", [](auto x) { return pow(x, 5) + pow(x, -2) * pow(x, 0); },
      [](double x, double) { return std::pow(x, 5) + 1 / (x * x); }, 0.3);
  check_function(
      "pow of halves", [](auto x) { return pow(x, 0.5) - pow(x, -0.5); },
      [](double x, double) { return std::sqrt(x) - 1 / std::sqrt(x); }, 0.3);
  check_function(
      "pow", [](auto x, auto y) { return pow(x, y) + pow(x, 2.25) + pow(1.25, y); },
      [](double x, double y) { return std::pow(x, y) + std::pow(x, 2.25) + std::pow(1.25, y); },
      0.3);
  check_function(
      "sin, cos, log1p and expm1",
      [](auto x, auto y) { return sin(x) * cos(y) + log1p(x * x) + expm1(y); },
      [](double x, double y) {
        return std::sin(x) * std::cos(y) + std::log1p(x * x) + std::expm1(y);
      });
  check_function(
      "softsign", soft, [](double x, double) { return x / (1 + std::fabs(x)); }, -7.9);
  check_function(
      "hard_sigmoid", hard, [](double x, double) { return std::fmin(std::fmax(x + 3, 0), 6) / 6; },
      -7.9);
  check_function(
      "hard_swish", hard_x,
      [](double x, double) { return x * std::fmin(std::fmax(x + 3, 0), 6) / 6; }, -7.9);
  check_function(
      "huber", of_huber, [](double x, double y) { return exact_huber(x - y, 0.5); }, -7.95);
  check_function(
      "smooth_l1", of_smooth, [](double x, double y) { return exact_huber(x - y, 0.5) / 0.5; },
      -7.95);
  check_function(
      "poisson_nll", [](auto x, auto y) { return poisson_nll(x, y); },
      [](double x, double y) { return std::exp(x) - y * x; });
}

TEST_CASE("functions of margins and probabilities have their values and gradients") {
  check_function(
      "selu", of_selu,
      [](double x, double) {
        const double scale = 1.0507009873554805, alpha = 1.6732632423543772;
        return scale * (x > 0 ? x : alpha * std::expm1(x));
      },
      -7.9);
  check_function(
      "log_cosh", of_log_cosh, [](double x, double y) { return std::log(std::cosh(x - y)); }, -7.4);
  for (const double d : {0x1p-12, -0x1p-12, 9.99, -10.0, 10.25, 88.0}) {
    CAPTURE(d);
    const Point<float> point = at<float>(expression_of(of_log_cosh), d);
    const double exact = std::fabs(d) < 1 ? d * d / 2 : std::log(std::cosh(d));
    CHECK(close(point.value, exact, 1e-6));
    CHECK(close(point.to_x, std::tanh(d), 1e-6));
  }
  check_function(
      "hinge", of_hinge, [](double x, double y) { return std::fmax(0, 1 - y * x); }, -7.9);
  check_function(
      "hinge_embedding of a target that is neither", of_embedding,
      [](double x, double y) { return x + std::fmax(0, 1.5 - x) + 0 * y; }, -7.9);
  check_function(
      "soft_margin", of_soft_margin,
      [&](double x, double y) {
        return std::fmax(-y * x, 0) + std::log1p(std::exp(-std::fabs(y * x)));
      },
      -7.9);
  check_function(
      "margin_ranking", of_ranking,
      [](double x, double y) { return std::fmax(0, 0.5 - y * (x - 0.25)); }, -7.9);
  check_function(
      "kl_div", [](auto x, auto y) { return kl_div(x, y * y); },
      [](double x, double y) { return y * y * (std::log(y * y) - x); });
}

// clamp, leaky_relu, hardsigmoid, hardswish, huber_loss and softsign of torch, whose derivatives
// stand in its derivatives.yaml; its hinges go by clamp_min, which passes the gradient on at 0.
TEST_CASE("functions that are made of others have torch's gradients at kinks") {
  check_at(clamped, -1.5, -1.5, 1);
  check_at(clamped, 2, 2, 1);
  check_at(clamped, -2, -1.5, 0);
  check_at(clamped, kInfinity, 2, 0);
  check_at(clamped, -kInfinity, -1.5, 0);
  check_at([](auto x) { return clamp(x, 3, -1); }, 0, -1, 0);
  check_at(leaky, 0, 0, 0.25);
  check_at(leaky, -kInfinity, -kInfinity, 0.25);
  check_at(leaky, kInfinity, kInfinity, 1);
  check_at(smooth, 0, std::log(2.0f), 0.5);
  check_at(smooth, 100, 100, 1);
  check_at(smooth, -200, 0, 0);
  check_at(smooth, kInfinity, kInfinity, 1);
  check_at(smooth, -kInfinity, 0, 0);
  check_at(of_mish, 0, 0, std::tanh(std::log(2.0f)));
  check_at(of_mish, 1e30, 1e30, 1);
  check_at(of_mish, -1e30, 0, 0);
  check_at(of_relu, 0, 0, 0);
  check_at(of_relu, kInfinity, kInfinity, 1);
  check_at(of_relu, -kInfinity, 0, 0);
  check_at(of_silu, 0, 0, 0.5);
  check_at(of_elu, 0, 0, 1.5);
  check_at(of_elu, 1e30, 1e30, 1);
  check_at(of_elu, kInfinity, kInfinity, 1);
  check_at(of_elu, -kInfinity, -1.5, 0);
  check_at(of_logits, 0, std::log(2.0f), 0.25, 0.25);
  check_at(of_logits, 1e30, 0, 0, 1);
  check_at(of_logits, -1e30, 0, 0, 0);
  check_at(of_logits, 100, 100, 1, 0);
  check_at(of_logits, -100, 100, -1, 1);
  check_at([](auto x) { return pow(x, 2); }, 0, 0, 0);
  check_at([](auto x) { return pow(x, 3.5); }, 0, 0, 0);
  check_at([](auto x) { return pow(x, 1); }, 0, 0, 1);
  check_at([](auto x, auto y) { return pow(x, y); }, -2, -8, 12, 3);
  check_at(hard, -3, 0, 0);
  check_at(hard, 3, 1, 0);
  check_at(hard, kInfinity, 1, 0);
  check_at(hard, -kInfinity, 0, 0);
  check_at(hard_x, -3, 0, 0);
  check_at(hard_x, 3, 3, 1);
  check_at(soft, 0, 0, 1);
  for (const double d : {-0.5, 0.5}) {
    check_at(of_huber, d, 0.125, d);
    check_at(of_smooth, d, 0.25, 2 * d);
  }
  check_at(of_huber, 3e38, 1.5e38, 0.5);
  check_at(of_selu, 1e30, static_cast<float>(1.0507009873554805) * 1e30f, 1.0507009873554805);
  check_at(of_log_cosh, 0, 0, 0);
  check_at(of_log_cosh, 3e38, 3e38, 1);
  check_at(of_log_cosh, -kInfinity, kInfinity, -1);
  check_at(of_hinge, 1, 0, -1, 1);
  check_at(of_hinge, 2, 0, 0, 1);
  check_at(of_hinge, -1, 0, 1, -1);
  check_at(of_embedding, 0.5, 0.5, 1, 1);
  check_at(of_embedding, 0.5, 1, -1, -1);
  check_at(of_embedding, 1.5, 0, -1, -1);
  check_at(of_embedding, 2, 0, 0, -1);
  check_at(of_soft_margin, 100, 100, 1, -1);
  check_at(of_soft_margin, 200, 0, 0, 1);
  check_at(of_ranking, 0.75, 0, -1, 1);
  check_at(of_ranking, 1, 0, 0, 1);
  check_at(of_ranking, 0, 0.25, 1, -1);
  check_at(of_kl, -3, 0, 0, 0);
  check_at(of_kl, -3, 3, -1, 1);
  check_at(of_huber, kInfinity, kInfinity, 0.5);
  check_at(of_huber, -kInfinity, kInfinity, -0.5);
}

// The gradients, too, where torch's are: by them a step knows that something overflowed (M2).
TEST_CASE("functions that are made of others take a NaN along") {
  const auto is_nan = [](auto function) {
    return std::isnan(at<float>(expression_of(function), kNan, 1).value);
  };
  const auto is_nan_below = [](auto function) {
    return std::isnan(at<float>(expression_of(function), kNan, 1).to_x);
  };
  CHECK(is_nan_below(smooth));
  CHECK(is_nan_below(of_mish));
  CHECK(is_nan_below(of_elu));
  CHECK(is_nan_below(of_logits));
  CHECK(is_nan_below(of_huber));
  CHECK(is_nan_below(of_smooth));
  CHECK(is_nan_below(soft));
  CHECK(is_nan_below([](auto x, auto y) { return poisson_nll(x, y); }));
  CHECK(is_nan(clamped));
  CHECK(is_nan(leaky));
  CHECK(is_nan(smooth));
  CHECK(is_nan(of_mish));
  CHECK(is_nan(of_elu));
  CHECK(is_nan(of_logits));
  CHECK(is_nan([](auto x) { return pow(x, 3) + sin(x) + cos(x) + log1p(x) + expm1(x); }));
  CHECK(is_nan(soft));
  CHECK(is_nan(hard));
  CHECK(is_nan(hard_x));
  CHECK(is_nan(of_huber));
  CHECK(is_nan(of_smooth));
  CHECK(is_nan_below(of_selu));
  CHECK(is_nan_below(of_log_cosh));
  CHECK(is_nan(of_hinge));
  CHECK(is_nan(of_embedding));
  CHECK(is_nan_below(of_soft_margin));
  CHECK(is_nan(of_ranking));
  CHECK(is_nan(of_kl));
}

TEST_CASE("a power of a constant exponent is what torch makes of it, a root or products") {
  const auto operations = [](auto function) {
    std::string words;
    for (const auto& i : expression_of(function).instructions)
      words += std::string(words.empty() ? "" : " ") +
               std::string(halftone::description::detail::spelled(i.op));
    return words;
  };
  CHECK(operations([](auto x) { return pow(x, 0); }) == "constant");
  CHECK(operations([](auto x) { return pow(x, 1); }) == "operand");
  CHECK(operations([](auto x) { return pow(x, 7); }) ==
        "operand multiply multiply multiply multiply");
  CHECK(operations([](auto x) { return pow(x, -8.0); }) ==
        "operand multiply multiply multiply constant divide");
  CHECK(operations([](auto x) { return pow(x, 0.5); }) == "operand sqrt");
  CHECK(operations([](auto x) { return pow(x, -0.5); }) == "operand rsqrt");
  CHECK(operations([](auto x) { return pow(x, 9); }) == "operand constant pow");
  CHECK(operations([](auto x) { return pow(2, x); }) == "operand constant pow");
}

TEST_CASE("ready-made layers are pointwise layers of their names, with and without parentheses") {
  const auto net = described(model("net", inputs(tensor("x", batch, 2)),
                                   from("x") | softsign | hard_sigmoid("gate") | hard_swish |
                                       leaky_relu("act") | mish | softplus("soft") | elu("elu", 2) |
                                       tanh("flat") | sigmoid("share") | selu | output("y")));
  CHECK(lines(net, "%flat")[0] ==
        "%flat = pointwise(x0: %elu) \"tanh\" { %0 = operand 0; %1 = tanh %0 } : [batch, 2]");
  CHECK(lines(net, "%share = ")[0] ==
        "%share = pointwise(x0: %flat) \"sigmoid\" { %0 = operand 0; %1 = sigmoid %0 } : [batch, "
        "2]");
  CHECK(lines(net, "%share.selu = pointwise(x0: %share) \"selu\" {").size() == 1);
  CHECK(lines(net, "%x.softsign")[0] ==
        "%x.softsign = pointwise(x0: %x) \"softsign\" { %0 = operand 0; %1 = absolute %0; "
        "%2 = constant 1; %3 = add %2 %1; %4 = divide %0 %3 } : [batch, 2]");
  CHECK(lines(net, "%gate = pointwise(x0: %x.softsign) \"hard_sigmoid\" {").size() == 1);
  CHECK(lines(net, "%gate.hard_swish = pointwise(x0: %gate) \"hard_swish\" {").size() == 1);
  CHECK(lines(net, "%act.mish = pointwise(x0: %act) \"mish\" {").size() == 1);
  CHECK(lines(net, "%soft = pointwise(x0: %act.mish) \"softplus\" {").size() == 1);
  CHECK(lines(net, "%elu")[0] ==
        "%elu = pointwise(x0: %soft) \"elu\" { %0 = operand 0; %1 = constant 2; %2 = constant 0; "
        "%3 = less %2 %0; %4 = select %3 %2 %0; %5 = expm1 %4; %6 = multiply %1 %5; "
        "%7 = select %3 %0 %6 } : [batch, 2]");
  CHECK(lines(net, "%act")[0] ==
        "%act = pointwise(x0: %gate.hard_swish) \"leaky_relu\" { %0 = operand 0; "
        "%1 = constant 0.01; %2 = constant 0; %3 = less %2 %0; %4 = multiply %1 %0; "
        "%5 = select %3 %0 %4 } : [batch, 2]");
}

TEST_CASE("ready-made losses are pointwise losses with their number and weight") {
  const auto net = describe(
      model("net", inputs(tensor("x", batch, 2), tensor("y", batch, 2)),
            from("x") | linear("fc", 2) | output("out"),
            losses(l1("a", "fc", "y"), huber("b", "fc", "y"), huber("c", "fc", "y", 2, weight(3)),
                   huber("d", "fc", "y", weight(4)), smooth_l1("e", "fc", "y", 0.25),
                   smooth_l1("f", "fc", "y", weight(0)), poisson_nll("g", "fc", "y", weight(5)),
                   binary_cross_entropy_with_logits("h", "fc", "y"))),
      precision(everywhere(store(f32), compute(f32))), sgd());
  CHECK(lines(net, "%a")[0] ==
        "%a = pointwise_loss(x0: %fc, x1: %y) \"l1\" { %0 = operand 0; %1 = operand 1; "
        "%2 = subtract %0 %1; %3 = absolute %2 } : []");
  const std::string huber =
      "\"huber\" { %0 = operand 0; %1 = operand 1; %2 = constant N; %3 = subtract %0 %1; "
      "%4 = constant 0; %5 = less %3 %4; %6 = negate %3; %7 = select %5 %6 %3; %8 = less %2 %7; "
      "%9 = select %8 %2 %7; %10 = constant 0.5; %11 = multiply %10 %9; %12 = subtract %7 %11; "
      "%13 = multiply %9 %12 } : []";
  const auto of = [&](const char* number) {
    return std::string(huber).replace(huber.find('N'), 1, number);
  };
  CHECK(lines(net, "%b")[0] == "%b = pointwise_loss(x0: %fc, x1: %y) " + of("1"));
  CHECK(lines(net, "%c")[0] == "%c = pointwise_loss(x0: %fc, x1: %y) " + of("2"));
  CHECK(lines(net, "%e")[0].find("\"smooth_l1\" { %0 = operand 0; %1 = operand 1; %2 = constant "
                                 "0.25; ") != std::string::npos);
  CHECK(lines(net, "%g")[0] ==
        "%g = pointwise_loss(x0: %fc, x1: %y) \"poisson_nll\" { %0 = operand 0; %1 = operand 1; "
        "%2 = exp %0; %3 = multiply %1 %0; %4 = subtract %2 %3 } : []");
  CHECK(lines(net, "loss") == std::vector<std::string>{"loss %a weight 1", "loss %b weight 1",
                                                       "loss %c weight 3", "loss %d weight 4",
                                                       "loss %e weight 1", "loss %f weight 0",
                                                       "loss %g weight 5", "loss %h weight 1"});
}

TEST_CASE("losses of margins and probabilities are pointwise losses, too") {
  const auto net = describe(
      model("net", inputs(tensor("x", batch, 2), tensor("y", batch, 2), tensor("w", batch, 2)),
            from("x") | linear("fc", 2) | output("out"),
            losses(log_cosh("a", "fc", "y"), hinge("b", "fc", "y", weight(2)),
                   hinge_embedding("c", "fc", "y"), hinge_embedding("d", "fc", "y", 2, weight(3)),
                   soft_margin("e", "fc", "y"), margin_ranking("f", "fc", "x", "y"),
                   margin_ranking("g", "x", "fc", "y", 0.5, weight(4), sample_weight("w")),
                   kl_div("h", "fc", "y", weight(5)))),
      precision(everywhere(store(f32), compute(f32))), sgd());
  CHECK(lines(net, "%a = pointwise_loss(x0: %fc, x1: %y) \"log_cosh\" {").size() == 1);
  CHECK(lines(net, "%b")[0] ==
        "%b = pointwise_loss(x0: %fc, x1: %y) \"hinge\" { %0 = operand 0; %1 = operand 1; "
        "%2 = multiply %1 %0; %3 = constant 1; %4 = subtract %3 %2; %5 = constant 0; "
        "%6 = less %4 %5; %7 = select %6 %5 %4 } : []");
  CHECK(lines(net,
              "%c = pointwise_loss(x0: %fc, x1: %y) \"hinge_embedding\" { %0 = operand 0; "
              "%1 = operand 1; %2 = constant 1; ")
            .size() == 1);
  CHECK(lines(net,
              "%d = pointwise_loss(x0: %fc, x1: %y) \"hinge_embedding\" { %0 = operand 0; "
              "%1 = operand 1; %2 = constant 2; ")
            .size() == 1);
  CHECK(lines(net, "%e = pointwise_loss(x0: %fc, x1: %y) \"soft_margin\" {").size() == 1);
  CHECK(lines(net,
              "%f = pointwise_loss(x0: %fc, x1: %x, x2: %y) \"margin_ranking\" { "
              "%0 = operand 0; %1 = operand 1; %2 = operand 2; %3 = constant 0; ")
            .size() == 1);
  CHECK(lines(net,
              "%g = pointwise_loss(x0: %x, x1: %fc, x2: %y, sample_weight: %w) "
              "\"margin_ranking\" { %0 = operand 0; %1 = operand 1; %2 = operand 2; "
              "%3 = constant 0.5; ")
            .size() == 1);
  CHECK(lines(net, "%h = pointwise_loss(x0: %fc, x1: %y) \"kl_div\" {").size() == 1);
  CHECK(lines(net, "loss") == std::vector<std::string>{"loss %a weight 1", "loss %b weight 2",
                                                       "loss %c weight 1", "loss %d weight 3",
                                                       "loss %e weight 1", "loss %f weight 1",
                                                       "loss %g weight 4", "loss %h weight 5"});
}
