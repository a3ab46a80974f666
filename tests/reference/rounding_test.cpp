// SPDX-License-Identifier: Apache-2.0
// The reference's conversions by every oracle on this machine. conversions_exhaustive.cpp is the
// form over all 2^32 inputs.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "reference_conversions.hpp"

using namespace halftone::reference;
using namespace halftone::tests;
using halftone::description::Element;
using halftone::description::Rounding;

namespace {

void check(const Verdict& verdict) {
  CAPTURE(verdict.culprit);
  CAPTURE(verdict.got);
  CAPTURE(verdict.wanted);
  CHECK(verdict.mismatches == 0);
  CHECK(verdict.not_canonical == 0);
  CHECK(verdict.inputs > 0);
}

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("f16 and bf16 codes are those of every oracle at all boundaries and on a stride") {
  for (const std::string& reason : missing_oracles()) MESSAGE("an oracle is missing: " << reason);
  for (const Mode& mode : kCodeModes) {
    CAPTURE(std::string(mode.name));
    for (const auto& oracle : code_oracles(mode)) {
      CAPTURE(oracle.name);
      check(judge(mode, codes_by_reference(mode), oracle, Inputs::quick));
    }
  }
}

TEST_CASE("tf32 values are those of every oracle at all boundaries and on a stride") {
  for (const Mode& mode : kTf32Modes) {
    CAPTURE(std::string(mode.name));
    for (const auto& oracle : tf32_oracles(mode)) {
      CAPTURE(oracle.name);
      check(judge(mode, tf32_by_reference(mode), oracle, Inputs::quick));
    }
  }
}

TEST_CASE("all codes have the values of every oracle and come back to themselves") {
  for (const Element format : {Element::f16, Element::bf16}) {
    CAPTURE(static_cast<int>(format));
    for (const auto& oracle : decode_oracles(format)) {
      CAPTURE(oracle.name);
      check(judge(values_by_reference(format), oracle));
    }
    for (std::uint32_t code = 0; code < 0x10000; ++code) {
      const float value = decode(format, static_cast<std::uint16_t>(code));
      for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero}) {
        const std::uint16_t back = encode({format, rounding}, value);
        const std::uint32_t wanted = std::isnan(value) ? 0x7fff : code;
        if (back != wanted) CHECK(back == wanted);
      }
    }
  }
}

TEST_CASE("round gives the value of the code, and f32 keeps every bit but a NaN's") {
  for (std::uint64_t pattern = 0; pattern < 0x100000000; pattern += 4099) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(pattern));
    for (const Mode& mode : kCodeModes) {
      const RoundTo to = {mode.format, mode.rounding};
      const std::uint32_t wanted = bits(decode(mode.format, encode(to, x)));
      if (bits(round(to, x)) != wanted) CHECK(bits(round(to, x)) == wanted);
    }
    const std::uint32_t kept = std::isnan(x) ? 0x7fffffff : bits(x);
    if (bits(round({}, x)) != kept) CHECK(bits(round({}, x)) == kept);
  }
}

TEST_CASE("values by hand") {
  struct Case {
    RoundTo to;
    float x, result;
  };
  const RoundTo half = {Element::f16}, half_down = {Element::f16, Rounding::toward_zero};
  const RoundTo brain = {Element::bf16}, brain_down = {Element::bf16, Rounding::toward_zero};
  const RoundTo tensor = {Element::tf32}, tensor_down = {Element::tf32, Rounding::toward_zero};
  const float largest = std::numeric_limits<float>::max();
  const Case cases[] = {
      {half, 65519.996F, 65504},
      {half, 65520, kInfinity},
      {half_down, 1e30F, 65504},
      {half_down, -kInfinity, -kInfinity},
      {half, 0x1.002p+0F, 1},
      {half, 0x1.006p+0F, 0x1.008p+0F},
      {half, 0x1p-25F, 0},
      {half, 0x1.000002p-25F, 0x1p-24F},
      {half, -0x1p-25F, -0.0F},
      {half_down, 0x1.fffffep-25F, 0},
      {half, 0x1.ffep-15F, 0x1p-14F},
      {half_down, 0x1.ffep-15F, 0x1.ff8p-15F},
      {brain, 0x1.01p+0F, 1},
      {brain, 0x1.03p+0F, 0x1.04p+0F},
      {brain, largest, kInfinity},
      {brain_down, largest, 0x1.fep+127F},
      {brain, 0x1p-134F, 0},
      {brain, 0x1.8p-133F, 0x1p-132F},
      {brain_down, -0x1.ffp+0F, -0x1.fep+0F},
      {tensor, 0x1.002p+0F, 1},
      {tensor, 0x1.006p+0F, 0x1.008p+0F},
      {tensor, largest, kInfinity},
      {tensor_down, largest, 0x1.ffcp+127F},
      {tensor, 0x1p-137F, 0},
      {{}, 0x1p-149F, 0x1p-149F},
  };
  for (const Case& c : cases) {
    CAPTURE(c.x);
    CAPTURE(static_cast<int>(c.to.format));
    CHECK(bits(round(c.to, c.x)) == bits(c.result));
  }
  CHECK(encode(half, -std::numeric_limits<float>::quiet_NaN()) == 0x7fff);
  CHECK(encode(brain, std::bit_cast<float>(0x7f800001u)) == 0x7fff);
  CHECK(bits(round(tensor, std::bit_cast<float>(0xff800001u))) == 0x7fffffff);
}
