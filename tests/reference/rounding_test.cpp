// SPDX-License-Identifier: Apache-2.0
// The reference's conversions by every oracle on this machine. conversions_exhaustive.cpp is the
// form over all 2^32 inputs.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

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

/// As many as judge it, or one that this machine lacks in a place of theirs.
template <class Oracles>
void check_two(const Oracles& oracles) {
  CHECK(oracles.size() + missing_oracles().size() >= 2);
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("f16 and bf16 codes are those of every oracle at all boundaries and on a stride") {
  for (const std::string& reason : missing_oracles()) MESSAGE("an oracle is missing: " << reason);
  for (const Mode& mode : kCodeModes) {
    CAPTURE(std::string(mode.name));
    const auto oracles = code_oracles(mode);
    check_two(oracles);
    for (const auto& oracle : oracles) {
      CAPTURE(oracle.name);
      check(judge(mode, codes_by_reference(mode), oracle, Inputs::quick));
    }
  }
}

TEST_CASE("codes of 8, 6 and 4 bits are those of every oracle at all boundaries and on a stride") {
  for (const Mode& mode : kByteModes) {
    CAPTURE(std::string(mode.name));
    const auto oracles = code_oracles(mode);
    check_two(oracles);
    for (const auto& oracle : oracles) {
      CAPTURE(oracle.name);
      check(judge(mode, codes_by_reference(mode), oracle, Inputs::quick));
    }
  }
}

TEST_CASE("tf32 values are those of every oracle at all boundaries and on a stride") {
  for (const Mode& mode : kTf32Modes) {
    CAPTURE(std::string(mode.name));
    const auto oracles = tf32_oracles(mode);
    check_two(oracles);
    for (const auto& oracle : oracles) {
      CAPTURE(oracle.name);
      check(judge(mode, tf32_by_reference(mode), oracle, Inputs::quick));
    }
  }
}

TEST_CASE("all codes have the values of every oracle and come back to themselves") {
  const struct {
    Element format;
    std::uint16_t nan;
  } formats[] = {{Element::f16, 0x7fff},  {Element::bf16, 0x7fff}, {Element::f8e4m3, 0x7f},
                 {Element::f8e5m2, 0x7f}, {Element::f8e8m0, 0xff}, {Element::f6e3m2, 0},
                 {Element::f6e2m3, 0},    {Element::f4e2m1, 0}};
  for (const auto& [format, nan] : formats) {
    CAPTURE(static_cast<int>(format));
    for (const auto& oracle : decode_oracles(format)) {
      CAPTURE(oracle.name);
      check(judge(values_by_reference(format), oracle, codes_of(format)));
    }
    for (std::uint32_t code = 0; code < codes_of(format); ++code) {
      const float value = decode(format, static_cast<std::uint16_t>(code));
      for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero}) {
        const std::uint16_t back = encode({format, rounding}, value);
        const std::uint32_t wanted = std::isnan(value) ? nan : code;
        if (back != wanted) CHECK(back == wanted);
      }
    }
  }
}

TEST_CASE("round gives the value of the code, and f32 keeps every bit but a NaN's") {
  std::vector<Mode> modes(std::begin(kCodeModes), std::end(kCodeModes));
  modes.insert(modes.end(), std::begin(kByteModes), std::end(kByteModes));
  for (std::uint64_t pattern = 0; pattern < 0x100000000; pattern += 4099) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(pattern));
    for (const Mode& mode : modes) {
      const RoundTo to = {mode.format, mode.rounding, mode.saturate};
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
  const RoundTo e4m3 = {Element::f8e4m3}, e4m3_down = {Element::f8e4m3, Rounding::toward_zero},
                e4m3_most = {Element::f8e4m3, Rounding::nearest_even, true};
  const RoundTo e5m2 = {Element::f8e5m2}, e5m2_down = {Element::f8e5m2, Rounding::toward_zero},
                e5m2_most = {Element::f8e5m2, Rounding::nearest_even, true};
  const float kNaN = std::bit_cast<float>(0x7fffffffu);
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
      // Above 464, the middle to what would be 480, no code of f8e4m3 is left but NaN.
      {e4m3, 464, 448},
      {e4m3, std::nextafter(464.0F, 500.0F), kNaN},
      {e4m3, -kInfinity, kNaN},
      {e4m3_down, 1e30F, 448},
      {e4m3_down, kInfinity, kNaN},
      {e4m3_most, 1e30F, 448},
      {e4m3_most, -kInfinity, -448},
      {e4m3_most, kNaN, kNaN},
      {e4m3, 0x1p-10F, 0},
      {e4m3, 0x1.8p-9F, 0x1p-8F},
      {e5m2, 61439.996F, 57344},
      {e5m2, 61440, kInfinity},
      {e5m2_most, -kInfinity, -57344},
      {e5m2_most, 61440, 57344},
      {e5m2_down, -0x1.fffffep-17F, -0.0F},
      {{Element::f4e2m1}, kNaN, 6},
      {{Element::f4e2m1}, -7, -6},
      {{Element::f4e2m1}, 2.5F, 2},
      {{Element::f6e3m2}, kInfinity, 28},
      {{Element::f6e2m3}, -7.75F, -7.5F},
      {{Element::f4e2m1, Rounding::toward_zero}, 2.99F, 2},
      {{Element::f4e2m1, Rounding::toward_zero}, -0.99F, -0.5F},
      {{Element::f4e2m1, Rounding::toward_zero}, 0.49F, 0},
      {{Element::f6e3m2, Rounding::toward_zero}, 0.0624F, 0},
      {{Element::f6e2m3, Rounding::toward_zero}, -7.49F, -7},
      {{Element::f8e8m0}, 0, 0x1p-127F},
      {{Element::f8e8m0}, -3, 4},
      {{Element::f8e8m0, Rounding::toward_zero}, 3.99F, 2},
      {{Element::f8e8m0}, kInfinity, kNaN},
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
