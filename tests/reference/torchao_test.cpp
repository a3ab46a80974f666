// SPDX-License-Identifier: Apache-2.0
// Operands in blocks of 32 (P51) against scales and codes that torchao's MX casts computed, and
// blocks of NVFP4 (P97) against its; record_torchao.py.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "operation.hpp"
#include "torchao_expected.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;
using halftone::description::Rounding;
using Groups = halftone::encoding::Scaling;

namespace {

RoundTo mx(Element element, int block) {
  return {element,
          Rounding::nearest_even,
          true,
          {.kind = Groups::Kind::block, .size = block, .scale = Element::f8e8m0}};
}

const RoundTo kNvfp4 = {
    Element::f4e2m1,
    Rounding::nearest_even,
    true,
    {.kind = Groups::Kind::block, .size = 16, .scale = Element::f8e4m3, .of_all = Element::f32}};

float real(std::uint32_t bits) { return std::bit_cast<float>(bits); }
float scale_at(int code) { return std::ldexp(1.0f, code - 127); }
float largest_number(Element element) {
  return round({element, Rounding::nearest_even, true}, 0x1p127f);
}
float scale_of_amax(Element element, float amax) {
  return scale_of(mx(element, 2), std::array{amax, 0.0f});
}

/// The exponent fields of a scale by the other ways of torchao's ScaleCalculationMode, within f32's
/// normal numbers: OCP's floor(log2(amax)) - m, that of the next power of two, and that of amax
/// rounded to the digits of the element.
int exponent_by(const std::string& mode, Element element, float amax) {
  const auto& traits = halftone::encoding::traits(element);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(amax);
  if (mode == "even") bits += 1u << (22 - traits.mantissa_bits);
  if (mode == "ceil") bits += 0x7fffffu;
  return static_cast<int>(bits >> 23) - halftone::encoding::largest_exponent(traits);
}

}  // namespace

TEST_CASE("P51: scales and codes of blocks are those that torchao computes by rceil") {
  for (const auto& [name, element] : {std::pair{"f8e4m3", Element::f8e4m3},
                                      {"f8e5m2", Element::f8e5m2},
                                      {"f6e3m2", Element::f6e3m2},
                                      {"f6e2m3", Element::f6e2m3},
                                      {"f4e2m1", Element::f4e2m1}})
    for (const auto& [salt, power] : {std::pair{1, 0}, {2, -60}, {3, 80}}) {
      const std::vector<float> x = spread(40 * 64, salt, power, 41);
      const std::vector<float> numbers =
          rounded_operand(mx(element, 32), x, {40, 64}, Draws(), "x");
      std::vector<float> scales, codes;
      for (std::size_t block = 0; block < 80; ++block) {
        scales.push_back(scale_of(mx(element, 32), std::span(x).subspan(block * 32, 32)));
        for (std::size_t e = block * 32; e < block * 32 + 32; ++e)
          codes.push_back(numbers[e] / scales.back());
      }
      const std::string of = std::string(name) + " " + std::to_string(power);
      check_bits(kTorchaoBits, of + " scales", scales);
      check_bits(kTorchaoBits, of + " codes", codes);
    }
}

TEST_CASE("P51: of torchao's ways to find scales rceil is this one, and all others are not") {
  for (const Apart& apart : kApart) {
    const std::string mode = apart.mode;
    CAPTURE(mode);
    CAPTURE(static_cast<int>(apart.element));
    int count = 0;
    for (std::uint32_t i = 0; i < 1u << 16; ++i) {
      const float amax = real(0x3f80007fu + i * 128);
      const float ours = scale_of_amax(apart.element, amax);
      count += mode != "rceil" && scale_at(exponent_by(mode, apart.element, amax)) != ours;
    }
    CHECK(count == apart.count);
  }
}

TEST_CASE("P51: just above a power of two times the largest number a block still fits its scale") {
  int apart = 0;
  for (const Edge& edge : kEdges) {
    CAPTURE(static_cast<int>(edge.element));
    CAPTURE(edge.amax);
    const float amax = real(edge.amax), ours = scale_of_amax(edge.element, amax);
    const float theirs = scale_at(edge.scale);
    const float largest = largest_number(edge.element);
    CHECK(amax <= ours * largest);
    CHECK(amax > ours / 2 * largest);
    // By a logarithm in f32, which rounds to the whole one below, theirs may be half of it.
    CHECK((theirs == ours || theirs == ours / 2));
    apart += theirs != ours;
  }
  CHECK(apart > 0);
}

TEST_CASE(
    "P51, P52: where scales are limited, and of what is not finite, blocks are not torchao's") {
  for (const SpecialBlock& block : kSpecialBlocks) {
    const std::string name = block.name;
    CAPTURE(name);
    std::vector<float> x, theirs;
    for (std::size_t e = 0; e < block.values.size(); ++e) {
      x.push_back(real(block.values[e]));
      theirs.push_back(real(block.codes[e]) * scale_at(block.scale));
    }
    const std::vector<float> ours =
        rounded_operand(mx(Element::f8e4m3, 8), x, {1, 8}, Draws(), "x");
    const float scale = scale_of(mx(Element::f8e4m3, 8), x);
    if (block.scale >= 254) {  // a NaN is torchao's whole block, an infinity its largest number
      for (std::size_t e = 0; e < x.size(); ++e) CHECK(std::isnan(ours[e]) == std::isnan(x[e]));
    } else if (scale == scale_at(block.scale) || scale == 0x1p-110f) {
      for (std::size_t e = 0; e < x.size(); ++e) CHECK(ours[e] == theirs[e]);
    } else {  // an amax as those above
      CHECK(name == "above the floor");
      CHECK(scale == 2 * scale_at(block.scale));
    }
  }
}

TEST_CASE("P97: scales and codes of these blocks are those of torchao's NVFP4, which divides") {
  for (const auto& [salt, power] : {std::pair{5, 0}, {6, 40}}) {
    const std::vector<float> x = spread(40 * 64, salt, power, 41);
    const float of_all = multiplier_of(kNvfp4, x);
    const Read<float> read = read_under_f32(kNvfp4, x, {40, 64}, Draws(), "x");
    std::vector<float> scales, codes;
    for (std::size_t block = 0; block < 160; ++block) {
      scales.push_back(code_scale_of_block(kNvfp4, of_all, std::span(x).subspan(block * 16, 16)));
      for (std::size_t e = block * 16; e < block * 16 + 16; ++e)
        codes.push_back(read.codes[e] / scales.back());
    }
    const std::string of = "nvfp4 " + std::to_string(power);
    check_bits(kTorchaoBits, of + " scales", scales);
    check_bits(kTorchaoBits, of + " codes", codes);
  }
}
