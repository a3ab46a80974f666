// SPDX-License-Identifier: Apache-2.0
// Arithmetic of bounds against pairs of numbers that they hold: what f32 arithmetic, rounded after
// every operation, makes of declared ones, and double of exact ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "../reference/problem.hpp"
#include "codegen/audit/Functions.h"
#include "codegen/audit/Ranges.h"
#include "codegen/audit/TensorSums.h"
#include "halftone/reference/rounding.hpp"

using namespace halftone::audit;
using halftone::reference::tests::Random;

namespace {

/// A number as it is declared, and in exact arithmetic.
struct Pair {
  float declared;
  double exact;
};

/// A bound, and pairs that it holds.
struct Sample {
  Bound bound;
  std::vector<Pair> pairs;
};

constexpr int kPairs = 64;

/// Of numbers in a random interval at a random size; `positive`: above 0.
Sample sample(Random& random, bool positive = false) {
  const double size = std::exp2(random.uniform(-12, 6));
  const double low = random.uniform(positive ? 0.01 : -1, 1) * size;
  const double high = low + random.uniform(0, 1) * size;
  const bool is_exact = random.bits() % 3 == 0;
  const double error = is_exact ? 0 : random.uniform(0, 0.005) * (positive ? low : size);
  Sample result;
  for (int i = 0; i < kPairs; ++i) {
    const double exact = random.uniform(low, high);  // a number of f32
    const auto declared = static_cast<float>(exact + random.uniform(-error, error));
    result.pairs.push_back({declared, exact});
    result.bound.exact = hull(result.bound.exact, Interval::of(exact));
    result.bound.declared = hull(result.bound.declared, Interval::of(declared));
    result.bound.error = std::max(result.bound.error, std::fabs(declared - exact));
  }
  return result;
}

void check_holds(const Bound& bound, float declared, double exact) {
  if (!std::isfinite(declared)) return;
  CHECK(bound.declared.contains(declared));
  CHECK(bound.exact.contains(exact));
  CHECK(std::fabs(declared - exact) <= bound.error);
}

using OfPair = std::function<Bound(const Bound&, const Bound&)>;
struct Operation {
  std::string name;
  OfPair bound;
  std::function<float(float, float)> declared;
  std::function<double(double, double)> exact;
  bool positive = false;
};

const Operation kOperations[] = {
    {"sum", [](auto& a, auto& b) { return sum(a, b); }, [](float a, float b) { return a + b; },
     [](double a, double b) { return a + b; }},
    {"product", [](auto& a, auto& b) { return product(a, b); },
     [](float a, float b) { return a * b; }, [](double a, double b) { return a * b; }},
    {"quotient", [](auto& a, auto& b) { return quotient(a, b); },
     [](float a, float b) { return a / b; }, [](double a, double b) { return a / b; }, true},
    {"larger", [](auto& a, auto& b) { return larger(a, b); },
     [](float a, float b) { return std::max(a, b); },
     [](double a, double b) { return std::max(a, b); }},
    {"smaller", [](auto& a, auto& b) { return smaller(a, b); },
     [](float a, float b) { return std::min(a, b); },
     [](double a, double b) { return std::min(a, b); }},
    {"pow", [](auto& a, auto& b) { return power(a, b); },
     [](float a, float b) { return static_cast<float>(std::pow(double{a}, double{b})); },
     [](double a, double b) { return std::pow(a, b); }, true},
};

struct Function {
  std::string name;
  std::function<Bound(const Bound&)> bound;
  std::function<double(double)> exact;
  bool positive = false;
};

double gelu(double x) { return x / 2 * std::erfc(-x * std::sqrt(0.5)); }
double gelu_derivative(double x) {
  return std::erfc(-x * std::sqrt(0.5)) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
}
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu_tanh(double x) { return x * sigmoid(std::sqrt(8 / M_PI) * (x + 0.044715 * x * x * x)); }
double difference_quotient(double (*f)(double), double x) {
  return (f(x + 1e-5) - f(x - 1e-5)) / 2e-5;
}
double silu(double x) { return x * sigmoid(x); }

std::function<Bound(const Bound&)> of(Known function, bool narrow = false) {
  return [=](const Bound& x) { return applied(function, x, narrow); };
}

const Function kFunctions[] = {
    {"exp", of(Known::exp), [](double x) { return std::exp(x); }},
    {"expm1", of(Known::expm1), [](double x) { return std::expm1(x); }},
    {"log", of(Known::log), [](double x) { return std::log(x); }, true},
    {"log1p", of(Known::log1p), [](double x) { return std::log1p(x); }, true},
    {"sin", of(Known::sin), [](double x) { return std::sin(x); }},
    {"cos", of(Known::cos), [](double x) { return std::cos(x); }},
    {"tanh", of(Known::tanh), [](double x) { return std::tanh(x); }},
    {"erf", of(Known::erf), [](double x) { return std::erf(x); }},
    {"sigmoid", of(Known::sigmoid), sigmoid},
    {"rsqrt", of(Known::rsqrt), [](double x) { return 1 / std::sqrt(x); }, true},
    {"gelu", of(Known::geluErf), gelu},
    {"narrow gelu", of(Known::geluErf, true), gelu},
    {"gelu of tanh", of(Known::geluTanh), gelu_tanh},
    {"silu", of(Known::silu), silu},
    {"gelu's derivative", of(Known::geluErfDerivative), gelu_derivative},
    {"that of gelu of tanh", of(Known::geluTanhDerivative),
     [](double x) { return difference_quotient(gelu_tanh, x); }},
    {"silu's derivative", of(Known::siluDerivative),
     [](double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }},
    {"sqrt", squareRoot, [](double x) { return std::sqrt(x); }, true},
    {"floor", floored, [](double x) { return std::floor(x); }},
    {"absolute", absolute, [](double x) { return std::fabs(x); }},
};

}  // namespace

TEST_CASE("operations of two bounds hold what they make of numbers") {
  Random random(1);
  for (const Operation& operation : kOperations) {
    CAPTURE(operation.name);
    for (int i = 0; i < 300; ++i) {
      const Sample a = sample(random, operation.positive), b = sample(random, operation.positive);
      const Bound bound = operation.bound(a.bound, b.bound);
      for (int p = 0; p < kPairs; ++p) {
        check_holds(bound, operation.declared(a.pairs[p].declared, b.pairs[p].declared),
                    operation.exact(a.pairs[p].exact, b.pairs[p].exact));
      }
    }
  }
}

TEST_CASE("functions of bounds hold what they make of numbers") {
  Random random(2);
  for (const Function& function : kFunctions) {
    CAPTURE(function.name);
    for (int i = 0; i < 300; ++i) {
      const Sample x = sample(random, function.positive);
      const Bound bound = function.bound(x.bound);
      for (const Pair& pair : x.pairs) {
        check_holds(bound, static_cast<float>(function.exact(pair.declared)),
                    function.exact(pair.exact));
      }
    }
  }
}

TEST_CASE("roundings to formats stay inside of their bounds") {
  using halftone::encoding::Element;
  using halftone::encoding::Encoding;
  using halftone::encoding::Rounding;
  Random random(3);
  for (const Element element :
       {Element::tf32, Element::f16, Element::bf16, Element::f8e4m3, Element::f8e5m2}) {
    for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero}) {
      for (const bool saturate : {false, true}) {
        Encoding to(element, rounding);
        to.saturate = saturate;
        for (int i = 0; i < 200; ++i) {
          const Sample x = sample(random);
          const Rounded left = roundedTo(to, x.bound);
          for (const Pair& pair : x.pairs) {
            check_holds(left.bound,
                        halftone::reference::round({element, rounding, saturate}, pair.declared),
                        pair.exact);
          }
        }
      }
    }
  }
}

TEST_CASE("P105: rotated blocks, and short ones, stay inside of their bounds") {
  Random random(4);
  int near = 0;
  for (int i = 0; i < 400; ++i) {
    const Sample x = sample(random);
    const Bound bound = rotatedOf(x.bound);
    for (std::size_t first = 0; first < x.pairs.size(); first += 16) {
      for (unsigned c = 0; c < 16; ++c) {
        const unsigned signs = static_cast<unsigned>(random.bits());
        float declared = 0;
        double exact = 0;
        for (unsigned r = 0; r < 16; ++r) {  // of any signs, in any order
          const Pair& pair = x.pairs[first + r];
          const bool is_minus = i % 2 == 0 && (signs >> r) % 2 == 1;
          declared += (is_minus ? -0.25f : 0.25f) * pair.declared;
          exact += (is_minus ? -0.25 : 0.25) * pair.exact;
        }
        const float rounded =
            halftone::reference::round({halftone::encoding::Element::bf16}, declared);
        check_holds(bound, rounded, exact);
        near += std::fabs(exact) > bound.exact.magnitude() / 2;
      }
    }
    for (const Pair& pair : x.pairs)
      check_holds(bound,
                  halftone::reference::round({halftone::encoding::Element::bf16}, pair.declared),
                  pair.exact);
  }
  CHECK(near > 1000);
}

TEST_CASE("what leaves a format is told before it does") {
  using halftone::encoding::Element;
  using halftone::encoding::Encoding;
  CHECK_FALSE(roundedTo(Element::f16, Bound::of(65519.0)).mayOverflow);
  CHECK(roundedTo(Element::f16, Bound::of(65520.0)).mayOverflow);
  CHECK_FALSE(roundedTo(Element::f8e4m3, Bound::of(464.0 - 0x1p-10)).mayOverflow);
  Encoding saturating(Element::f8e4m3);
  saturating.saturate = true;
  const Rounded left = roundedTo(saturating, Bound::of(1000.0));
  CHECK(left.maySaturate);
  CHECK(left.bound.declared.high == 448);
  CHECK(left.bound.error >= 552);
  CHECK(roundedTo(Element::f16, Bound::of(0x1p-26)).bound.declared.high == 0);
}

TEST_CASE("sums of products hold every order of their additions") {
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    const Sample a = sample(random), b = sample(random);
    float ascending = 0, descending = 0;
    double exact = 0, sizes = 0;
    for (int p = 0; p < kPairs; ++p) {
      const int q = kPairs - 1 - p;
      ascending = std::fma(a.pairs[p].declared, b.pairs[p].declared, ascending);
      descending = std::fma(a.pairs[q].declared, b.pairs[q].declared, descending);
      exact += a.pairs[p].exact * b.pairs[p].exact;
      sizes += std::max(std::fabs(a.pairs[p].exact), std::fabs(double{a.pairs[p].declared}));
    }
    for (const double known : {kInfinity, sizes}) {
      const Bound bound = sumOfProducts({a.bound, known}, {b.bound}, kPairs, accumulated(kPairs));
      check_holds(bound, ascending, exact);
      check_holds(bound, descending, exact);
    }
  }
}

TEST_CASE("lines of ranges that mean nothing are refused in a sentence") {
  struct Refused {
    std::string text, sentence;
  };
  for (const auto& [text, sentence] : std::vector<Refused>{
           {"x 0 one",
            "f:1: 'one' behind 'x' is no number; write one such as -0.5 or 1e-3, or mend what the "
            "line "
            "begins with"},
           {"# fine\nx 1 0",
            "f:2: the range of 'x' goes from 1 down to 0; write its least number first"},
           {"x 1",
            "f:1: 'x' has no range; write its least number and then its largest, both of "
            "f32, and behind them all three sums or none"},
           {"assume fc 1 -2",
            "f:1: what is assumed of fc goes from 1 down to -2; write its least number first"},
           {"devaition norm 0.1",
            "f:1: 'norm' behind 'devaition' is no number; write one such as -0.5 or 1e-3, or mend "
            "what the line begins with"},
           {"x 0 1\nx 0 2", "f:2: 'x' has two ranges; give one"},
           {"deviation norm -1",
            "f:1: a deviation is one positive number of f32, the least that norm divides by; write "
            "`deviation norm 0.1`"},
           {"assume fc 1",
            "f:1: what is assumed of fc is no range; write its least number and "
            "then its largest"},
           {"loss_scale 0",
            "f:1: a loss scale is one positive number of f32; write `loss_scale 65536`"},
           {"loss_scale 1e39",
            "f:1: a loss scale is one positive number of f32; write `loss_scale 65536`"},
           {"loss_scale 8\nloss_scale 8", "f:2: two loss scales are given; give one"},
           {"x 0.5 0.7 whole",
            "f:1: no whole number lies in the range of 'x'; mend it, or leave whole out"},
           {"assume", "f:1: 'assume' names no layer; write its name behind it"},
           {"x 0 1 2 3 -4",
            "f:1: a sum of sizes of 'x' is negative; write what halftone ranges "
            "prints"}}) {
    const auto parsed = parseRanges(text, "f");
    REQUIRE(std::holds_alternative<std::string>(parsed));
    CHECK(std::get<std::string>(parsed) == sentence);
  }
  const auto parsed = parseRanges("x -1 2 3 4 5\nassume fc 0 1\nloss_scale 8\n", "f");
  REQUIRE(std::holds_alternative<Ranges>(parsed));
  CHECK(std::get<Ranges>(parsed).tensors.at("x").sumBehindFirst == 4);
  CHECK_FALSE(std::get<Ranges>(parsed).tensors.at("x").isWhole);
  CHECK(std::get<Ranges>(parsed).lossScale == 8);
  const auto mask = parseRanges("x 0 1 whole", "f");
  REQUIRE(std::holds_alternative<Ranges>(mask));
  CHECK(std::get<Ranges>(mask).tensors.at("x").isWhole);
}
