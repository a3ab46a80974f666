// SPDX-License-Identifier: Apache-2.0
// Scales of f32 as factors of sums (P87 to P89, P100, N12), and of blocks (P101), against
// TransformerEngine's formulas and sums of codes in numpy (record_factors.py).
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "factors_expected.hpp"
#include "judged.hpp"
#include "linear_passes.hpp"
#include "operation.hpp"
#include "problem.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;
using halftone::description::Rounding;
using Groups = halftone::encoding::Scaling;

namespace {

RoundTo under_f32(Element element, Groups::Kind kind, int history = 0, int margin = 0) {
  return {element,
          Rounding::nearest_even,
          true,
          {.kind = kind, .scale = Element::f32, .history = history, .margin = margin}};
}

/// E2M1 in blocks with scales of E4M3 under one of f32 (P97).
RoundTo levels(int rows, int columns, Rounding rounding = Rounding::nearest_even) {
  return {Element::f4e2m1,
          rounding,
          true,
          {.kind = Groups::Kind::block,
           .size = columns,
           .rows = rows,
           .scale = Element::f8e4m3,
           .of_all = Element::f32}};
}

/// In blocks with scales of f32 (P101).
RoundTo blocks(Element element, int rows, int columns, Rounding rounding = Rounding::nearest_even) {
  return {element,
          rounding,
          true,
          {.kind = Groups::Kind::block, .size = columns, .rows = rows, .scale = Element::f32}};
}

constexpr struct {
  Groups::Kind kind;
  const char* word;
} kGroups[] = {
    {Groups::Kind::tensor, "tensor"}, {Groups::Kind::row, "row"}, {Groups::Kind::column, "column"}};

constexpr LinearModel kLinear = {3, 10, 4};

constexpr const char* kTensors = R"(rule where op linear : compute f8e4m3 scaled tensor f32 saturate
rule where op linear role gradient : compute f8e5m2 scaled tensor f32 saturate
)";
constexpr const char* kVectors = R"(rule where op linear : compute f8e4m3 scaled row f32 saturate
rule where op linear role weight pass input_gradient : compute f8e4m3 scaled column f32 saturate
rule where op linear pass weight_gradient : compute f8e4m3 scaled column f32 saturate
rule where op linear role gradient pass input_gradient : compute f8e5m2 scaled row f32 saturate
rule where op linear role gradient pass weight_gradient : compute f8e5m2 scaled column f32 saturate
)";

constexpr const char* kLevels =
    R"(rule where op linear : compute f4e2m1 scaled block 4 f8e4m3 under f32 saturate
rule where op linear role weight : compute f4e2m1 scaled block 4 by 4 f8e4m3 under f32 saturate
rule where op linear pass weight_gradient : compute f4e2m1 scaled block 4 by 1 f8e4m3 under f32 saturate
)";

constexpr const char* kBlocks =
    R"(rule where op linear : compute f8e4m3 scaled block 4 f32 saturate
rule where op linear role weight : compute f8e4m3 scaled block 4 by 4 f32 saturate
rule where op linear pass weight_gradient : compute f8e4m3 scaled block 4 by 1 f32 saturate
)";

// P100: of the gradients, too; then beside codes of 8 bits.
constexpr const char* kHalves = "rule where op linear : compute f16 scaled tensor f32 saturate\n";
constexpr const char* kMixed = R"(rule where op linear : compute f16 scaled tensor f32 saturate
rule where op linear role weight : compute f8e4m3 scaled tensor f32 saturate
)";

/// Beside it something that is trained.
std::string matmul_under(const std::string& rules) {
  return R"(input %a : f32[batch, 5, 6] gradient
input %b : f32[batch, 7, 6] gradient
input %wanted : f32[batch, 5, 7]
input %other : f32[batch, 1]
parameter %fc.weight : [1, 1] init constant(0)
%fc = linear(x: %other, weight: %fc.weight) : [batch, 1]
%none = mse(x: %fc, target: %other) : []
%y = matmul(a: %a, b: %b) {transpose_a: false, transpose_b: true} : [batch, 5, 7]
%error = mse(x: %y, target: %wanted) : []
output "y" = %y
loss %error weight 1
loss %none weight 1
)" + rules;
}

}  // namespace

void check_multipliers(std::span<const Multiplier> multipliers, Groups::Kind groups) {
  for (const Multiplier& of : multipliers) {
    CAPTURE(std::string(halftone::encoding::word(of.format)));
    const float amax = std::bit_cast<float>(of.amax);
    CAPTURE(amax);
    const float found = multiplier_of(under_f32(of.format, groups), std::array{0.0f, -amax});
    CHECK(std::bit_cast<std::uint32_t>(found) == of.multiplier);
  }
}

TEST_CASE("a multiplier is TransformerEngine's scale of the largest magnitude") {
  check_multipliers(kMultipliers, Groups::Kind::tensor);
}

TEST_CASE("a row's multiplier is torchao's, whose quotient is one of f64 rounded to f32") {
  check_multipliers(kTorchaoMultipliers, Groups::Kind::row);
}

TEST_CASE("tensors, rows and columns have the recorded numbers, each a code times a factor") {
  for (const Element format : {Element::f8e4m3, Element::f8e5m2, Element::f4e2m1, Element::f16})
    for (const auto& groups : kGroups)
      for (const int power : {-120, 0, 110}) {
        const std::vector<float> x = spread(3 * 7 * 10, power + 200, power);
        const Read<float> read =
            read_under_f32(under_f32(format, groups.kind), x, {7, 10}, {}, "x");
        check_bits(kFactoredBits,
                   std::string(halftone::encoding::word(format)) + " " + groups.word + " " +
                       std::to_string(power),
                   read.numbers);
        for (std::size_t e = 0; e < x.size(); ++e) {
          CHECK(round({format}, read.codes[e]) == read.codes[e]);
          CHECK(read.codes[e] * read.factors[e] == read.numbers[e]);
        }
      }
}

TEST_CASE("P101: numbers of blocks are the recorded ones, of which nothing else is read") {
  for (const Element format : {Element::f8e4m3, Element::f8e5m2, Element::f4e2m1})
    for (const auto& [rows, columns] : {std::pair{1, 4}, {4, 1}, {3, 16}})
      for (const int power : {-140, -120, 0, 110}) {
        const std::vector<float> x = spread(3 * 7 * 10, power + 200, power);
        const Read<float> read = read_under_f32(blocks(format, rows, columns), x, {7, 10}, {}, "x");
        check_bits(kFactoredBits,
                   std::string(halftone::encoding::word(format)) + " " + std::to_string(rows) +
                       "x" + std::to_string(columns) + " " + std::to_string(power),
                   read.numbers);
        CHECK(read.codes.empty());
        CHECK(read.factors.empty());
      }
}

TEST_CASE("P101: what is not finite is NaN, and its block is rounded under a scale of 1") {
  for (const float bad : {INFINITY, -INFINITY, std::nanf("")}) {
    CAPTURE(bad);
    const Read<float> read =
        read_under_f32(blocks(Element::f8e4m3, 1, 3),
                       std::vector<float>{0.3f, bad, 1000.0f, 0.3f, 0.0f, 1.0f}, {1, 6}, {}, "x");
    CHECK(read.numbers[0] == 0.3125f);
    CHECK(std::isnan(read.numbers[1]));
    CHECK(read.numbers[2] == 448);
    CHECK(read.numbers[3] == 128 * (1 / 448.0f));
    CHECK(read.numbers[5] == 448 * (1 / 448.0f));
  }
}

TEST_CASE("P97: codes under two levels, and their numbers, are the recorded ones") {
  for (const auto& [rows, columns] : {std::pair{1, 4}, {4, 1}, {3, 16}})
    for (const int power : {-140, -120, 0, 110}) {
      const std::vector<float> x = spread(3 * 7 * 10, power + 200, power);
      const Read<float> read = read_under_f32(levels(rows, columns), x, {7, 10}, {}, "x");
      const std::string name = "levels " + std::to_string(rows) + "x" + std::to_string(columns) +
                               " " + std::to_string(power);
      check_bits(kFactoredBits, name + " codes", read.codes);
      check_bits(kFactoredBits, name, read.numbers);
      for (std::size_t e = 0; e < x.size(); ++e) {
        CHECK(round({Element::bf16}, read.codes[e]) == read.codes[e]);
        CHECK(read.factors[e] == read.factors[0]);
      }
    }
}

TEST_CASE("P97: a block's scale is TransformerEngine's, to the bit where orders differ") {
  CHECK(std::size(kBlockScales) == 6);
  for (const BlockScale& of : kBlockScales) {
    const float amax = std::bit_cast<float>(of.amax), block = std::bit_cast<float>(of.of_block);
    CAPTURE(amax);
    CAPTURE(block);
    const RoundTo to = levels(1, 2);
    const float multiplier = multiplier_of(to, std::array{amax, -block});
    const float scale = code_scale_of_block(to, multiplier, std::array{-block, 0.0f});
    CHECK(std::bit_cast<std::uint32_t>(scale) == of.scale);
  }
}

TEST_CASE("P97: what is not finite is NaN, and blocks beside it are rounded under a scale of 1") {
  for (const float bad : {INFINITY, -INFINITY, std::nanf("")}) {
    CAPTURE(bad);
    const Read<float> read = read_under_f32(
        levels(1, 4), std::vector<float>{3.0f, bad, 448.0f, 2688.0f, 6.0f, -3.0f, 0.0f, 0.5f},
        {1, 8}, {}, "x");
    CHECK(std::isnan(read.codes[1]));
    CHECK(std::isnan(read.numbers[1]));
    CHECK(read.factors[0] == 1);
    // The block has the largest scale, 448; the one beside it 1.
    const std::vector<float> others(read.numbers.begin() + 2, read.numbers.end());
    CHECK(others == std::vector<float>{448, 2688, 6, -3, 0, 0.5f});
    CHECK(read.numbers[0] == 0);
  }
}

TEST_CASE("an infinite or missing number is NaN, and others are rounded as if it were none") {
  for (const float bad : {INFINITY, -INFINITY, std::nanf("")})
    for (const auto& [format, largest] : {std::pair{Element::f8e4m3, 448.0f},
                                          {Element::f8e5m2, 57344.0f},
                                          {Element::f4e2m1, 6.0f},
                                          {Element::f16, 65504.0f}}) {
      CAPTURE(std::string(halftone::encoding::word(format)));
      CAPTURE(bad);
      const Read<float> read =
          read_under_f32(under_f32(format, Groups::Kind::tensor),
                         std::vector<float>{1.0f, bad, 0.3f, 100000.0f}, {2, 2}, {}, "x");
      CHECK(std::isnan(read.codes[1]));
      CHECK(std::isnan(read.numbers[1]));
      CHECK(read.numbers[0] == 1);
      CHECK(read.numbers[3] == largest);  // by 1, as the source does
    }
}

TEST_CASE(
    "a linear multiplies codes, and its sums by the factors of both or of one, in all passes") {
  constexpr const char* kWeights =
      "rule where op linear role weight : compute f8e4m3 scaled tensor f32 saturate\n";
  for (const auto& [name, rules] : {std::pair{"tensor", kTensors},
                                    {"vectors", kVectors},
                                    {"levels", kLevels},
                                    {"blocks", kBlocks},
                                    {"halves", kHalves},
                                    {"mixed", kMixed},
                                    {"alone", kWeights}}) {
    CAPTURE(std::string(name));
    kLinear.check(kFactoredBits, name, rules);
  }
}

TEST_CASE("a matmul multiplies codes, and its sums by both factors, in all passes") {
  constexpr const char* kBoth = R"(rule where op matmul : compute f8e4m3 scaled tensor f32 saturate
rule where op matmul role gradient : compute f8e5m2 scaled tensor f32 saturate
)";
  const Declared model(parse_model(matmul_under(kBoth)), {{"batch", 2}});
  const auto at = [&](const char* node) { return static_cast<std::size_t>(model.find(node)); };
  const auto [forward, gradients] = passes(model, {{"fc.weight", {0}}},
                                           {{"a", spread(60, 5, 3)},
                                            {"b", spread(84, 6, -8)},
                                            {"wanted", std::vector<float>(70)},
                                            {"other", {0, 0}}},
                                           spread(70, 7, 20));
  check_bits(kFactoredBits, "matmul forward", forward.values[at("y")]);
  check_bits(kFactoredBits, "matmul a", gradients[at("a")]);
  check_bits(kFactoredBits, "matmul b", gradients[at("b")]);
}

TEST_CASE("delayed multipliers follow TransformerEngine's history, margin and all") {
  for (const DelayedMultipliers& of : kDelayedMultipliers) {
    CAPTURE(std::string(halftone::encoding::word(of.format)));
    CAPTURE(of.history);
    CAPTURE(of.margin);
    const RoundTo to = under_f32(of.format, Groups::Kind::delayed, of.history, of.margin);
    std::map<std::string, Delayed> scales;
    for (std::size_t step = 0; step < kAmaxesOfFactors.size(); ++step) {
      CAPTURE(step);
      const Amaxes amaxes{{"x", {to, std::bit_cast<float>(kAmaxesOfFactors[step])}}};
      move_delayed(amaxes, static_cast<std::int64_t>(step), scales);
      CHECK(std::bit_cast<std::uint32_t>(scales["x"].scale) == of.multipliers[step]);
    }
  }
}

TEST_CASE("a step under delayed scales of f32 reads what earlier ones left, 1 at first") {
  const Declared model(parse_model(R"(input %x : f32[batch, 2]
input %wanted : f32[batch, 1]
parameter %fc.weight : [1, 2] init constant(0)
%fc = linear(x: %x, weight: %fc.weight) : [batch, 1]
%error = mse(x: %fc, target: %wanted) : []
output "y" = %fc
loss %error weight 1
rule where op linear : compute f8e4m3 scaled delayed 2 f32 saturate
)",
                                   "optimizer sgd learning_rate 0 momentum 0 weight_decay 0\n"),
                       {{"batch", 1}});
  State<float> state = model.initial_state({{"fc.weight", {1, 0}}});
  const auto given = [](float x) { return Inputs<float>{{{"x", {x, 0}}, {"wanted", {0}}}, {}}; };
  const auto product = [&](float x) {
    return model.forward(state, given(x)).values[static_cast<std::size_t>(model.find("fc"))][0];
  };
  CHECK(product(1000) == 448);
  CHECK(product(17) == 16);
  state = model.step(state, given(700)).state;
  const float multiplier = 448.0f / 700;
  const float code = round({Element::f8e4m3}, 100 * multiplier);  // 64: its weight's is 448 / 1
  CHECK(code == 64);
  CHECK(product(100) == 64 * 448 * ((1 / multiplier) * (1 / 448.0f)));
  CHECK(product(800) == 448 * 448 * ((1 / multiplier) * (1 / 448.0f)));  // what it outgrew
  CHECK(std::isnan(product(INFINITY)));
}

TEST_CASE("what multiplies no sum by a factor, or sums over several, is refused") {
  const auto said = [](const std::string& text) -> std::string {
    const Declared model(parse_model(text), {{"batch", 2}});
    State<float> state;
    Inputs<float> inputs;
    for (const auto& node : model.description().nodes) {
      const auto count = static_cast<std::size_t>(model.count(model.find(node.name)));
      const bool is_input = halftone::description::is_input(node.kind);
      if (is_input) inputs.values[node.name] = spread(static_cast<std::int64_t>(count), 3, 0);
    }
    Tensors<float> parameters;
    for (const auto& node : model.description().nodes)
      if (halftone::description::is_parameter(node.kind))
        parameters[node.name] = spread(model.count(model.find(node.name)), 4, 0);
    try {
      (void)model.step(model.initial_state(parameters), inputs);
    } catch (const std::invalid_argument& refused) {
      return refused.what();
    }
    return "";
  };
  CHECK(said(kLinear.under(kVectors)).empty());
  CHECK(said(kLinear.under("rule everywhere : compute f8e4m3 scaled tensor f32 saturate\n")) ==
        "\"error\" reads an operand under a scale of f32, by which it multiplies no sum; scale "
        "operands of what does (P88)");
  CHECK(said(matmul_under("rule where op matmul : compute f8e4m3 scaled row f32 saturate\n")) ==
        "\"y\" reads an operand under a scale of f32, by which it multiplies no sum; scale "
        "operands of what does (P88)");
  CHECK(said(kLinear.under("rule where op linear : compute f8e4m3 scaled row f32 saturate\n")) ==
        "a product sums over elements that share no scale of f32; scale each vector that it sums "
        "over as one (P89)");
}

TEST_CASE("exact operands are not rounded, and bounded ones hold what is declared within") {
  for (const Element format : {Element::f8e4m3, Element::f8e5m2, Element::f4e2m1, Element::f16})
    for (const auto& groups : kGroups) {
      CAPTURE(std::string(groups.word));
      const RoundTo to = under_f32(format, groups.kind);
      const std::vector<float> x = spread(350, 9, 0);
      const std::vector<double> exact(x.begin(), x.end());
      CHECK(read_under_f32(to, exact, {7, 50}, {}, "x").numbers == exact);
      const std::vector<float> y = read_under_f32(to, x, {7, 50}, {}, "x").numbers;
      std::vector<Bounded> given;
      for (const float value : x) given.emplace_back(static_cast<double>(value) * (1 + 1e-5));
      for (Bounded& value : given) value.error = std::fabs(value.value) * 1e-5;
      check_inside(y, read_under_f32(to, given, {7, 50}, {}, "x").numbers, 10);
    }
}

TEST_CASE("P101: bounded operands hold what is declared in blocks") {
  for (const Element format : {Element::f8e4m3, Element::f8e5m2, Element::f4e2m1})
    for (const auto& [rows, columns] : {std::pair{1, 16}, {3, 4}}) {
      const RoundTo to = blocks(format, rows, columns);
      const std::vector<float> x = spread(350, 9, 0);
      const std::vector<double> exact(x.begin(), x.end());
      CHECK(read_under_f32(to, exact, {7, 50}, {}, "x").numbers == exact);
      const std::vector<float> y = read_under_f32(to, x, {7, 50}, {}, "x").numbers;
      std::vector<Bounded> given;
      for (const float value : x) given.emplace_back(static_cast<double>(value));
      check_inside(y, read_under_f32(to, given, {7, 50}, {}, "x").numbers, 10);
    }
}

TEST_CASE("P97: bounded operands hold what is declared under two levels") {
  for (const Rounding rounding : {Rounding::nearest_even, Rounding::stochastic}) {
    const RoundTo to = levels(1, 16, rounding);
    const std::vector<float> x = spread(350, 9, 0);
    const Draws draws{.training = true, .seed = 3};
    const std::vector<double> exact(x.begin(), x.end());
    CHECK(read_under_f32(to, exact, {7, 50}, draws, "x").numbers == exact);
    const std::vector<float> y = read_under_f32(to, x, {7, 50}, draws, "x").numbers;
    std::vector<Bounded> given;
    for (const float value : x) given.emplace_back(static_cast<double>(value));
    check_inside(y, read_under_f32(to, given, {7, 50}, draws, "x").numbers, 4);
  }
}
