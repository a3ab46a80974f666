// SPDX-License-Identifier: Apache-2.0
// Rotated blocks (P105, P106) against the matrix of TransformerEngine, spelled out here, and
// against numpy (record_rotated.py).
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "judged.hpp"
#include "linear_passes.hpp"
#include "operation.hpp"
#include "problem.hpp"
#include "rotated_expected.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;
using halftone::encoding::Element;
using Groups = halftone::encoding::Scaling;

namespace {

/// get_hadamard_matrix() and get_wgrad_sign_vector() of TransformerEngine's nvfp4_tensor.py.
constexpr int kHadamard[16][16] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1},
    {1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1},
    {1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1},
    {1, 1, 1, 1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, -1},
    {1, -1, 1, -1, -1, 1, -1, 1, 1, -1, 1, -1, -1, 1, -1, 1},
    {1, 1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, -1, 1, 1},
    {1, -1, -1, 1, -1, 1, 1, -1, 1, -1, -1, 1, -1, 1, 1, -1},
    {1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1},
    {1, -1, 1, -1, 1, -1, 1, -1, -1, 1, -1, 1, -1, 1, -1, 1},
    {1, 1, -1, -1, 1, 1, -1, -1, -1, -1, 1, 1, -1, -1, 1, 1},
    {1, -1, -1, 1, 1, -1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1},
    {1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1},
    {1, -1, 1, -1, -1, 1, -1, 1, -1, 1, -1, 1, 1, -1, 1, -1},
    {1, 1, -1, -1, -1, -1, 1, 1, -1, -1, 1, 1, 1, 1, -1, -1},
    {1, -1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1, -1, -1, 1},
};
constexpr int kSigns[16] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};

RoundTo rotating(int rows, int columns) {
  return {Element::f4e2m1,
          halftone::description::Rounding::nearest_even,
          true,
          {.kind = Groups::Kind::block,
           .size = columns,
           .rows = rows,
           .scale = Element::f8e4m3,
           .of_all = Element::f32,
           .rotated = true}};
}

constexpr LinearModel kLinear = {20, 24, 16};

constexpr const char* kRotated =
    R"(rule where op linear : compute f4e2m1 scaled block 16 f8e4m3 under f32 rotated saturate
rule where op linear role weight pass input_gradient : compute f4e2m1 scaled block 16 by 1 f8e4m3 under f32 rotated saturate
rule where op linear pass weight_gradient : compute f4e2m1 scaled block 16 by 1 f8e4m3 under f32 rotated saturate
)";

}  // namespace

TEST_CASE("P105: the rotation of each element of a block is a row of TransformerEngine's matrix") {
  for (std::size_t r = 0; r < 16; ++r) {
    CAPTURE(r);
    std::vector<float> block(16);
    block[r] = 3;
    const std::vector<float> y = rotated(rotating(1, 16), block, {1, 16});
    for (std::size_t c = 0; c < 16; ++c)
      CHECK(y[c] == 0.75f * static_cast<float>(kSigns[r] * kHadamard[r][c]));
  }
}

TEST_CASE("P105: blocks of bf16 numbers are TransformerEngine's, short ones as they are") {
  std::vector<float> near = data<float>(3 * 40 * 33, 5);
  for (float& value : near) value = round({Element::bf16}, value);
  check_bits(kRotatedBits, "published rows", rotated(rotating(1, 16), near, {40, 33}));
  check_bits(kRotatedBits, "published columns", rotated(rotating(16, 1), near, {40, 33}));
}

TEST_CASE("P105: sums are rounded in their order, then to bf16, scaled and rounded to codes") {
  for (const int power : {-130, 0, 100})
    for (const auto& [name, rows, columns] : {std::tuple{"rows", 1, 16}, {"columns", 16, 1}}) {
      const std::vector<float> x = spread(3 * 40 * 33, power + 300, power);
      const std::vector<float> y = rotated(rotating(rows, columns), x, {40, 33});
      const std::string of = std::string(name) + " " + std::to_string(power);
      check_bits(kRotatedBits, of, y);
      check_bits(kRotatedBits, of + " codes",
                 read_under_f32(rotating(rows, columns), y, {40, 33}, {}, "x").codes);
    }
}

TEST_CASE("P105: what is not finite spoils its block, and no element of another") {
  std::vector<float> x = data<float>(48, 7);
  x[20] = INFINITY;
  const std::vector<float> y = rotated(rotating(1, 16), x, {1, 48});
  for (std::size_t e = 0; e < x.size(); ++e) CHECK(std::isfinite(y[e]) == (e / 16 != 1));
}

TEST_CASE(
    "P106: a linear rotates both operands in all passes, and its bias' gradient sums others") {
  kLinear.check(kRotatedBits, "linear", kRotated);
}

TEST_CASE("P106: one rotated operand, or one that is not multiplied, is refused") {
  const auto said = [](const std::string& rules) -> std::string {
    const Declared model(parse_model(kLinear.under(rules)), {{"batch", 1}});
    try {
      (void)model.step(model.initial_state(
                           {{"fc.weight", spread(16 * 24, 3, 0)}, {"fc.bias", data<float>(16, 4)}}),
                       {{{"x", spread(480, 1, 0)}, {"wanted", spread(320, 2, 0)}}, {}});
    } catch (const std::invalid_argument& refused) {
      return refused.what();
    }
    return "";
  };
  CHECK(said(kRotated).empty());
  CHECK(said("rule where op linear role weight pass forward : compute f4e2m1 scaled block 16 "
             "f8e4m3 under f32 rotated saturate\n") ==
        "a product multiplies an operand in rotated blocks by one that is not rotated; rotate both "
        "or none (P106)");
  CHECK(said("rule where op mse : compute f8e4m3 scaled block 16 f8e8m0 rotated saturate\n") ==
        "\"error\" reads an operand in rotated blocks, which it does not multiply; rotate what is "
        "multiplied alone (P106)");
}

TEST_CASE("P105: exact operands are not rotated, and bounded ones hold what is declared within") {
  for (const auto& [rows, columns] : {std::pair{1, 16}, {16, 1}}) {
    const RoundTo to = rotating(rows, columns);
    const std::vector<float> x = spread(40 * 50, 9, 0);
    const std::vector<double> exact(x.begin(), x.end());
    CHECK(rotated(to, exact, {40, 50}) == exact);
    const std::vector<float> y = rotated(to, x, {40, 50});
    std::vector<Bounded> given;
    for (const float value : x) given.emplace_back(static_cast<double>(value));
    check_inside(y, rotated(to, given, {40, 50}), 4);
  }
}
