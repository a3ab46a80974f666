// SPDX-License-Identifier: Apache-2.0
// F6 by the reference: every word of random bits, against whole numbers; and how many words go up.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>

#include "halftone/reference/rounding.hpp"
#include "stochastic_oracle.hpp"

using namespace halftone::reference;
using namespace halftone::tests;
using halftone::description::Element;
using halftone::description::Rounding;

namespace {

struct Case {
  const char* name;
  RoundTo to;
  Neighbours neighbours;
};

constexpr Rounding kStochastic = Rounding::stochastic;
constexpr Case kCases[] = {
    {"bf16", {Element::bf16, kStochastic}, kInBf16},
    {"f16", {Element::f16, kStochastic}, kInF16},
    {"f16 saturate", {Element::f16, kStochastic, true}, kInF16Saturating},
    {"tf32", {Element::tf32, kStochastic}, kInTf32},
    {"f8e4m3", {Element::f8e4m3, kStochastic}, kInF8e4m3},
    {"f8e4m3 saturate", {Element::f8e4m3, kStochastic, true}, kInF8e4m3Saturating},
    {"f8e5m2", {Element::f8e5m2, kStochastic}, kInF8e5m2},
    {"f8e5m2 saturate", {Element::f8e5m2, kStochastic, true}, kInF8e5m2Saturating},
};

std::uint32_t bits(float x) {
  return std::isnan(x) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(x);
}

}  // namespace

TEST_CASE("of all patterns of sixteen dropped bits, on every exponent, whole numbers say as much") {
  std::mt19937 random(5);
  for (const Case& c : kCases) {
    CAPTURE(std::string(c.name));
    std::uint32_t wrong = 0;
    for (std::uint32_t field = 0; field < 256; field += field < 140 ? 1 : 19)
      for (std::uint32_t pattern = 0; pattern < 1 << 16; ++pattern) {
        const std::uint32_t others = static_cast<std::uint32_t>(random()), word = random();
        const float x = std::bit_cast<float>((others & 0x807f0000u) | field << 23 | pattern);
        const std::uint32_t near = pattern << 16;  // what bf16 drops, as a word
        for (const std::uint32_t drawn : {word, near, near - 1, 0u, 0xffffffffu})
          wrong += bits(round_by(drawn, c.to, x)) != bits(c.neighbours.choose(drawn, x));
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("as many of all words go up as the number's share of the way is, to the last word") {
  const struct {
    const Case& of;
    float x;
  } cases[] = {{kCases[0], 1.003f},    {kCases[1], -0.7f},     {kCases[1], 0x1.234p-23f},
               {kCases[3], 3.14159f},  {kCases[4], 0.013f},    {kCases[4], -0x1.8p-11f},
               {kCases[6], 0.333333f}, {kCases[6], 0x1.fp-15f}};
  for (const auto& [of, x] : cases) {
    CAPTURE(std::string(of.name));
    CAPTURE(x);
    const float up = of.neighbours.choose(0, x);
    std::uint32_t ups = 0;
    for (std::uint32_t upper = 0; upper < 1 << 24; ++upper)
      ups += round_by(upper << 8, of.to, x) == up;
    CHECK(static_cast<double>(ups) == of.neighbours.share(x) * 0x1p24);
  }
}

TEST_CASE("what the format has stays, zeros with their signs, and the rest of F2 and F3 holds") {
  for (const Case& c : kCases) {
    CAPTURE(std::string(c.name));
    for (const std::uint32_t word : {0u, 0x12345678u, 0xffffffffu}) {
      for (const float x : {0.0f, -0.0f, 1.0f, -1.25f, 0.015625f})
        CHECK(bits(round_by(word, c.to, x)) == bits(x));
      CHECK(bits(round_by(word, c.to, std::nanf("1"))) == 0x7fffffffu);
      CHECK(bits(round_by(word, c.to, -INFINITY)) == bits(-c.neighbours.beyond));
    }
  }
}

TEST_CASE("only what is stochastic is rounded by a word, and that by nothing else") {
  CHECK_THROWS_AS((void)round({Element::bf16, kStochastic}, 1.0f), std::invalid_argument);
  CHECK_THROWS_AS((void)round_by(0, {Element::bf16}, 1.0f), std::invalid_argument);
  CHECK_THROWS_AS((void)round_by(0, {Element::f8e8m0, kStochastic}, 1.0f), std::invalid_argument);
  CHECK(round_by(0, {Element::bf16, kStochastic}, 1.001) == 1.001);  // exact knows no formats
}
