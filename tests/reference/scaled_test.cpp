// SPDX-License-Identifier: Apache-2.0
// Scaled operands of the reference (P51 to P53, P76 to P78) against TransformerEngine's search for
// scales and the casts of ml_dtypes (record_scaled.py); their draws against whole numbers.
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

/// In blocks of so many columns and rows, or without them as a tensor.
RoundTo scaled(Element element, int block, Rounding rounding = Rounding::nearest_even,
               int rows = 1) {
  Groups scaling{.kind = Groups::Kind::tensor, .scale = Element::f8e8m0};
  if (block > 0) scaling.kind = Groups::Kind::block;
  scaling.size = block;
  scaling.rows = rows;
  return {element, rounding, true, scaling};
}
RoundTo nvfp4(int block, int rows = 1, Rounding rounding = Rounding::nearest_even) {
  RoundTo to = scaled(Element::f4e2m1, block, rounding, rows);
  to.scaling.scale = Element::f8e4m3;
  return to;
}

/// In rows of `row` elements.
std::vector<float> operand(const RoundTo& to, std::vector<float> x, std::size_t row,
                           const Draws& draws = {}) {
  const Matrices of{x.size() / row, row};
  return rounded_operand(to, std::move(x), of, draws, "x");
}

std::vector<float> spread_wide(std::int64_t count, std::int64_t salt, int power) {
  return spread(count, salt, power, 41);
}

std::uint32_t bits(float x) {
  return std::isnan(x) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(x);
}

}  // namespace

TEST_CASE("tensors and blocks, the last of a row shorter, are what the recorded casts make") {
  const struct {
    std::int64_t rows, columns;
    int high, wide, power;
  } cases[] = {{7, 50, 0, 0, 0},    {7, 50, 1, 32, 0},    {5, 64, 1, 32, -100},
               {5, 33, 1, 2, 90},   {3, 300, 1, 128, 12}, {1, 4099, 1, 4096, -60},
               {6, 1, 1, 2, 0},     {70, 5, 32, 1, 0},    {9, 33, 4, 16, 20},
               {2, 3, 128, 128, -3}},
    two_levels[] = {{7, 50, 1, 16, 0},
                    {35, 5, 16, 1, -100},
                    {33, 20, 16, 16, 90},
                    {1, 3, 1, 2, 120},
                    {5, 40, 2, 4, -125}};
  const auto check = [](const std::string& format, std::int64_t salt, const auto& of,
                        const RoundTo& to) {
    const std::string by =
        of.wide == 0 ? "tensor" : std::to_string(of.high) + "x" + std::to_string(of.wide);
    check_bits(kScaledBits, format + " " + by + " " + std::to_string(of.power),
               operand(to, spread_wide(of.rows * of.columns, salt, of.power),
                       static_cast<std::size_t>(of.columns)));
  };
  for (const Element format : kFormats)
    for (std::int64_t salt = 0; salt < std::ssize(cases); ++salt) {
      const auto& of = cases[salt];
      check(halftone::encoding::word(format), salt, of,
            scaled(format, of.wide, Rounding::nearest_even, std::max(of.high, 1)));
    }
  for (std::int64_t salt = 0; salt < std::ssize(two_levels); ++salt)
    check("nvfp4", salt, two_levels[salt], nvfp4(two_levels[salt].wide, two_levels[salt].high));
}

TEST_CASE("blocks begin anew with each matrix of a tensor") {
  for (const RoundTo& to : {scaled(Element::f8e4m3, 1, Rounding::nearest_even, 32),
                            scaled(Element::f6e2m3, 4, Rounding::nearest_even, 2)}) {
    const std::vector<float> x = spread_wide(3 * 7 * 10, 5, 0);
    const std::vector<float> y = rounded_operand(to, x, {7, 10}, {}, "x");
    for (int matrix = 0; matrix < 3; ++matrix) {
      const auto begin = x.begin() + matrix * 70;
      const std::vector<float> alone = operand(to, {begin, begin + 70}, 10);
      CHECK(alone == std::vector<float>(y.begin() + matrix * 70, y.begin() + matrix * 70 + 70));
    }
    CHECK(operand(to, x, 10) != y);
  }
}

TEST_CASE("zeros, infinities, NaN, ties and what is at the ends of f32 are as recorded") {
  for (const ScaledRow& row : kScaledRows) {
    CAPTURE(std::string(row.name));
    CAPTURE(row.block);
    std::vector<float> x;
    for (const std::uint32_t code : row.x) x.push_back(std::bit_cast<float>(code));
    RoundTo to = scaled(row.format, row.block);
    to.scaling.scale = row.scale;
    const std::vector<float> y = operand(to, x, 8);
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
          operand(scaled(format, 32), spread_wide(4000, power + 200, power), 50);
      for (const float value : y) CHECK((bits(value) & 0xffffu) == 0);
      CHECK(operand(scaled(format, 32), y, 50) == y);
      const std::vector<float> square = operand(scaled(format, 3, Rounding::nearest_even, 5),
                                                spread_wide(4000, power, power), 50);
      for (const float value : square) CHECK((bits(value) & 0xffffu) == 0);
    }
  for (const int power : {-120, -60, 0, 60, 100})
    for (const int rows : {1, 16}) {
      const std::vector<float> y =
          operand(nvfp4(16, rows), spread_wide(4000, power + 200, power), 50);
      for (const float value : y) CHECK((bits(value) & 0xffffu) == 0);
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
      {Element::f8e5m2, "x f8e5m2 stochastic saturate", halftone::tests::kInF8e5m2Saturating},
      {Element::f6e3m2, "x f6e3m2 stochastic saturate", halftone::tests::kInF6e3m2},
      {Element::f6e2m3, "x f6e2m3 stochastic saturate", halftone::tests::kInF6e2m3},
      {Element::f4e2m1, "x f4e2m1 stochastic saturate", halftone::tests::kInF4e2m1}};
  for (const auto& of : cases)
    for (const int block : {0, 32}) {
      CAPTURE(std::string(of.name));
      CAPTURE(block);
      const std::vector<float> x = spread_wide(350, 4, 3);
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
      CHECK(moved > 10);
      CHECK(operand(scaled(of.format, block, Rounding::stochastic), x, 50) == near);  // P49
    }
}

TEST_CASE("P78: under two levels elements are drawn of the block's scale, limited before") {
  const Draws draws{.training = true, .seed = 5, .step = 9};
  const std::vector<float> x = spread_wide(350, 4, 3);
  const std::vector<float> y = operand(nvfp4(16, 1, Rounding::stochastic), x, 50, draws);
  const std::vector<float> near = operand(nvfp4(16), x, 50);
  CHECK(operand(nvfp4(16, 1, Rounding::stochastic), x, 50) == near);  // P49
  Draws of_point = draws;
  of_point.layer = xxh3("x f4e2m1 stochastic saturate");
  float all = 0;
  for (const float value : x) all = std::max(all, std::fabs(value));
  float of_all = std::numeric_limits<float>::min();
  while (all > of_all * 2688) of_all *= 2;
  int moved = 0, limited = 0;
  for (std::size_t e = 0; e < x.size(); ++e) {
    CAPTURE(e);
    const std::size_t row = e / 50 * 50, begin = row + e % 50 / 16 * 16;
    float amax = 0;
    for (std::size_t i = begin; i < std::min(begin + 16, row + 50); ++i)
      amax = std::max(amax, std::fabs(x[i]));
    const float scale =
        decode(Element::f8e4m3, encode({Element::f8e4m3}, amax / 6 / of_all)) * of_all;
    const float divided = scale == 0 ? 0 : x[e] / scale;
    limited += std::fabs(divided) > 6;
    const double drawn = halftone::tests::kInF4e2m1.choose(draw(of_point, e), x[e] * (1 / scale));
    CHECK(std::fabs(y[e]) == std::fabs(drawn * scale));
    moved += bits(y[e]) != bits(near[e]);
  }
  CHECK(moved > 10);
  CHECK(limited > 0);
}

TEST_CASE("exact operands are not rounded, and bounded ones hold what is declared within") {
  const std::vector<float> x = spread_wide(350, 9, 0);
  std::vector<RoundTo> formats = {nvfp4(16), nvfp4(3, 5)};
  for (const Element format : kFormats)
    for (const int block : {0, 32}) formats.push_back(scaled(format, block));
  formats.push_back(scaled(Element::f8e4m3, 1, Rounding::nearest_even, 4));
  for (const RoundTo& to : formats) {
    CAPTURE(std::string(halftone::encoding::word(to.format)));
    CAPTURE(to.scaling.size);
    const std::vector<double> exact(x.begin(), x.end());
    CHECK(rounded_operand(to, exact, {7, 50}, {}, "x") == exact);
    const std::vector<float> y = operand(to, x, 50);
    std::vector<Bounded> bounded;
    for (const float value : x) bounded.emplace_back(static_cast<double>(value) * (1 + 1e-5));
    for (Bounded& value : bounded) value.error = std::fabs(value.value) * 1e-5;
    bounded = rounded_operand(to, bounded, {7, 50}, {}, "x");
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

TEST_CASE("blocks lie along symbols, too, and integers are none that they could lie along") {
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
                    {{"batch", 3}, {"time", 3}});
  };
  constexpr float t = 0x1p-11f;  // nothing beside 448, and kept without it
  const Inputs<float> inputs{{{"x", {448, t, t, t, t, t, t, t, t}}},
                             {{"token", {0, 2, 1, 0, 0, 0, 0, 0, 0}}}};
  const auto run = [&](const std::string& rule, const char* node) {
    const Declared of = model(rule);
    return of.forward(of.initial_state({{"table", {1, 1, 1, 1, 448, 1.0625}}}), inputs)
        .values[of.find(node)];
  };
  CHECK(run("rule where op relu : compute f8e4m3 scaled block 2 f8e8m0 saturate", "act") ==
        std::vector<float>{448, 0, t, t, t, t, t, t, t});
  CHECK(run("rule where op relu : compute f8e4m3 scaled block 2 by 1 f8e8m0 saturate", "act") ==
        std::vector<float>{448, t, t, 0, t, t, t, t, t});
  CHECK(run("rule where op relu : compute f8e4m3 scaled block 2 by 2 f8e8m0 saturate", "act") ==
        std::vector<float>{448, 0, t, 0, 0, t, t, t, t});
  CHECK(run("rule where op embedding : compute f8e4m3 scaled block 2 f8e8m0 saturate", "known") ==
        std::vector<float>{1, 1, 448, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
}
