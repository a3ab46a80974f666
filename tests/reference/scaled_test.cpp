// SPDX-License-Identifier: Apache-2.0
// Scaled operands of the reference (P51 to P53) against TransformerEngine's search for scales and
// the casts of ml_dtypes (record_scaled.py); their draws against whole numbers.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "drawing.hpp"
#include "operation.hpp"
#include "problem.hpp"
#include "scaled_expected.hpp"
#include "stochastic_oracle.hpp"
#include "xxh3.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;
using halftone::description::Rounding;
using Groups = halftone::encoding::Scaling;

namespace {

constexpr Element kFormats[] = {Element::f8e4m3, Element::f8e5m2, Element::f6e3m2, Element::f6e2m3,
                                Element::f4e2m1};

RoundTo scaled(Element element, int block, Rounding rounding = Rounding::nearest_even) {
  Groups scaling{.kind = Groups::Kind::tensor, .scale = Element::f8e8m0};
  if (block > 0) scaling.kind = Groups::Kind::block;
  scaling.size = block;
  return {element, rounding, true, scaling};
}

std::vector<float> operand(const RoundTo& to, std::vector<float> x, std::size_t row,
                           const Draws& draws = {}) {
  return rounded_operand(to, std::move(x), row, draws, "x");
}

std::vector<float> spread(std::int64_t count, std::int64_t salt, int power) {
  std::vector<float> values = data<float>(count, salt);
  for (std::int64_t i = 0; i < count; ++i) {
    float& value = values[static_cast<std::size_t>(i)];
    value = std::ldexp(value, static_cast<int>(i * 17 % 41) - 20 + power);
  }
  return values;
}

std::uint32_t bits(float x) {
  return std::isnan(x) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(x);
}

}  // namespace

TEST_CASE("tensors and blocks, the last of a row shorter, are what the recorded casts make") {
  const struct {
    std::int64_t rows, columns;
    int block, power;
  } cases[] = {{7, 50, 0, 0},     {7, 50, 32, 0},       {5, 64, 32, -100}, {5, 33, 2, 90},
               {3, 300, 128, 12}, {1, 4099, 4096, -60}, {6, 1, 2, 0}};
  for (const Element format : kFormats)
    for (std::int64_t salt = 0; salt < std::ssize(cases); ++salt) {
      const auto& of = cases[salt];
      const std::string name = std::string(halftone::encoding::word(format)) + " " +
                               std::to_string(of.block) + " " + std::to_string(of.power);
      check_bits(kScaledBits, name,
                 operand(scaled(format, of.block), spread(of.rows * of.columns, salt, of.power),
                         static_cast<std::size_t>(of.columns)));
    }
}

TEST_CASE("zeros, infinities, NaN, ties and what is at the ends of f32 are as recorded") {
  for (const ScaledRow& row : kScaledRows) {
    CAPTURE(std::string(row.name));
    CAPTURE(row.block);
    std::vector<float> x;
    for (const std::uint32_t code : row.x) x.push_back(std::bit_cast<float>(code));
    const std::vector<float> y = operand(scaled(row.format, row.block), x, 8);
    for (std::size_t i = 0; i < y.size(); ++i) {
      CAPTURE(i);
      CHECK(bits(y[i]) == row.expected[i]);
    }
  }
}

TEST_CASE("every number of a scaled operand is one of bf16, and rounding it again keeps it") {
  for (const Element format : kFormats)
    for (const int power : {-120, -60, 0, 60, 100}) {
      const std::vector<float> y =
          operand(scaled(format, 32), spread(4000, power + 200, power), 50);
      for (const float value : y) CHECK((bits(value) & 0xffffu) == 0);
      CHECK(operand(scaled(format, 32), y, 50) == y);
    }
}

TEST_CASE("a scale is the least by which the largest number fits, found by product or quotient") {
  for (const auto& [format, differing] : kDividedOtherwise) {
    const float largest = format == Element::f8e4m3   ? 448.0f
                          : format == Element::f8e5m2 ? 57344.0f
                          : format == Element::f6e3m2 ? 28.0f
                          : format == Element::f6e2m3 ? 7.5f
                                                      : 6.0f;
    int wrong = 0, divided = 0;
    for (std::uint32_t code = 0x3f800000; code < 0x40000000; ++code) {
      const float amax = std::bit_cast<float>(code);
      const float scale = scale_of(scaled(format, 0), std::array{amax});
      wrong += amax > largest * scale || amax <= largest * scale / 2;
      const float cut =
          std::bit_cast<float>(std::bit_cast<std::uint32_t>(largest / amax) & 0xff800000u);
      divided += scale != 1 / cut;
    }
    CHECK(wrong == 0);
    CHECK(divided == differing);
  }
}

TEST_CASE(
    "P53: a scaled operand draws by its name, what its elements are rounded to, and its place") {
  const Draws draws{.training = true, .seed = 77, .step = 3, .micro_batch = 1};
  const struct {
    Element format;
    const char* name;
    halftone::tests::Neighbours neighbours;
  } cases[] = {
      {Element::f8e4m3, "x f8e4m3 stochastic saturate", halftone::tests::kInF8e4m3Saturating},
      {Element::f8e5m2, "x f8e5m2 stochastic saturate", halftone::tests::kInF8e5m2Saturating}};
  for (const auto& of : cases)
    for (const int block : {0, 32}) {
      CAPTURE(std::string(of.name));
      CAPTURE(block);
      const std::vector<float> x = spread(350, 4, 3);
      const std::vector<float> near = operand(scaled(of.format, block), x, 50);
      const std::vector<float> y =
          operand(scaled(of.format, block, Rounding::stochastic), x, 50, draws);
      Draws of_point = draws;
      of_point.layer = xxh3(of.name);
      int moved = 0;
      for (std::size_t e = 0; e < x.size(); ++e) {
        CAPTURE(e);
        const std::size_t row = e / 50 * 50, begin = block == 0 ? 0 : row + e % 50 / 32 * 32;
        const std::size_t end = block == 0 ? x.size() : std::min(begin + 32, row + 50);
        float amax = 0;
        for (std::size_t i = begin; i < end; ++i) amax = std::max(amax, std::fabs(x[i]));
        float scale = std::numeric_limits<float>::min();
        while (amax > scale * static_cast<float>(of.neighbours.largest)) scale *= 2;
        CHECK(bits(y[e]) == bits(of.neighbours.choose(draw(of_point, e), x[e] / scale) * scale));
        moved += bits(y[e]) != bits(near[e]);
      }
      CHECK(moved > 20);
      CHECK(operand(scaled(of.format, block, Rounding::stochastic), x, 50) == near);  // P49
    }
}

TEST_CASE("exact operands are not rounded, and bounded ones hold what is declared within") {
  const std::vector<float> x = spread(350, 9, 0);
  for (const Element format : kFormats)
    for (const int block : {0, 32}) {
      const std::vector<double> exact(x.begin(), x.end());
      CHECK(rounded_operand(scaled(format, block), exact, 50, {}, "x") == exact);
      const std::vector<float> y = operand(scaled(format, block), x, 50);
      std::vector<Bounded> bounded;
      for (const float value : x) bounded.emplace_back(static_cast<double>(value) * (1 + 1e-5));
      for (Bounded& value : bounded) value.error = std::fabs(value.value) * 1e-5;
      bounded = rounded_operand(scaled(format, block), bounded, 50, {}, "x");
      int rounded = 0;
      for (std::size_t e = 0; e < x.size(); ++e) {
        CAPTURE(e);
        const double off = std::fabs(static_cast<double>(y[e]) - bounded[e].value);
        CHECK(off <= bounded[e].error);
        rounded += off > bounded[e].error / 10;
      }
      CHECK(rounded > 20);
    }
}

TEST_CASE("of a linear's operands the bias, a vector, is read in bf16, and the matrices scaled") {
  const Declared model(parse_model(R"(input %x : f32[batch, 2]
parameter %fc.weight : [2, 2] init constant(0)
parameter %fc.bias : [2] init constant(0)
%fc = linear(x: %x, weight: %fc.weight, bias: %fc.bias) : [batch, 2]
%error = mse(x: %fc, target: %x) : []
output "y" = %fc
loss %error weight 1
rule where class contraction : compute f8e4m3 scaled tensor f8e8m0 saturate
)"),
                       {{"batch", 2}});
  const auto state =
      model.initial_state({{"fc.weight", {448, 0, 0, 1.0625}}, {"fc.bias", {448, 1.01171875}}});
  const auto forward = model.forward(state, {{{"x", {1, 1.0625, 448, 17}}}, {}});
  // x as E4M3 has 1.0625 = 1 and 17 = 16, ties to even, and the weight 1.0625 = 1; the bias in
  // bf16 is 1.0078125 or 1.015625, whose last digit is even.
  CHECK(forward.values[model.find("fc")] ==
        std::vector<float>{448 * 1 + 448, 1 + 1.015625f, 448 * 448 + 448, 16 + 1.015625f});
}

TEST_CASE("blocks along a symbol are refused, and integers are none that blocks could lie along") {
  const auto model = [](const std::string& rule) {
    return Declared(parse_model(R"(input %x : f32[batch, time]
input %token : i32[batch, time]
parameter %table : [3, 2] init constant(0)
%act = relu(x: %x) : [batch, time]
%known = embedding(token: %token, weight: %table) : [batch, time, 2]
output "act" = %act
output "known" = %known
)" + rule + "\n",
                                "optimizer sgd learning_rate 0.1 momentum 0 weight_decay 0\n"),
                    {{"batch", 1}, {"time", 2}});
  };
  const Inputs<float> inputs{{{"x", {1, 2}}}, {{"token", {0, 2}}}};
  const auto run = [&](const std::string& rule) {
    const Declared of = model(rule);
    return of.forward(of.initial_state({{"table", {1, 1, 1, 1, 448, 1.0625}}}), inputs)
        .values[of.find("known")];
  };
  CHECK_THROWS_WITH_AS(
      (void)run("rule where op relu : compute f8e4m3 scaled block 2 f8e8m0 saturate"),
      "\"x\" has blocks along \"time\", a symbol (P51); scale it as a tensor, or state bf16",
      std::invalid_argument);
  CHECK(run("rule where op embedding : compute f8e4m3 scaled block 2 f8e8m0 saturate") ==
        std::vector<float>{1, 1, 448, 1});
}
