// SPDX-License-Identifier: Apache-2.0
// Every function over all codes of f16 and bf16, and narrow recipes over every 997th f32 and around
// powers of two: the tables of docs/numerics.md. The exhaustive form is recipes_ulp.cpp.
#include "narrow_recipes.hpp"

#include <doctest/doctest.h>

#include "narrow_error.hpp"

using namespace halftone::reference;
using halftone::description::Element;

namespace {

struct Row {
  Element format;
  const char* name;
};

constexpr Row kFormats[] = {{Element::f16, "f16"}, {Element::bf16, "bf16"}};

void check(const WorstOfBoth& worst, const char* name, double bound) {
  for (const int format : {0, 1}) {
    CAPTURE(std::string(name));
    CAPTURE(std::string(kFormats[format].name));
    CAPTURE(worst.of[format].input);
    CHECK(worst.of[format].error <= bound);
  }
}

}  // namespace

TEST_CASE("functions of all 16-bit codes are within JAX's figures of the correctly rounded value") {
  for (const Row& row : kFormats) {
    CAPTURE(std::string(row.name));
    for (const NarrowCase& c : kNarrowCases) {
      const NarrowError error = error_of(c, row.format);
      CAPTURE(std::string(c.name));
      CAPTURE(error.at);
      CHECK(error.rounded_ulp <= (row.format == Element::f16 ? c.bound_f16 : c.bound_bf16));
    }
  }
}

TEST_CASE("a narrow recipe's rounded result is within 0.51 ulp on a stride through all floats") {
  for (const GradedCase& c : kGradedCases) {
    WorstOfBoth worst;
    for (std::uint64_t pattern = 0; pattern < 0x100000000; pattern += 997)
      worst.take(c, static_cast<std::uint32_t>(pattern));
    check(worst, c.name, kNarrowUlps);
  }
}

TEST_CASE("it is so around every power of two and where full and narrow recipes clamp") {
  for (const GradedCase& c : kGradedCases) {
    WorstOfBoth worst;
    const auto around = [&](std::uint32_t centre) {
      for (std::uint32_t offset = 0; offset < 512; ++offset) worst.take(c, centre - 256 + offset);
    };
    for (std::uint32_t exponent = 0; exponent < 512; ++exponent) around(exponent << 23);
    for (const float x : {5.0F, 10.0F, 10.5F, 11.0F, 13.6F, 14.5F, 89.0F, 100.0F, 104.0F, 110.0F}) {
      around(std::bit_cast<std::uint32_t>(x));
      around(std::bit_cast<std::uint32_t>(-x));
    }
    check(worst, c.name, kNarrowUlps);
  }
}

TEST_CASE("a narrow derivative is within 0.01 ulp of the format, near its root within 2^-24 more") {
  for (const DerivativeCase& c : kDerivativeCases) {
    WorstOfBoth worst;
    for (std::uint64_t pattern = 0; pattern < 0x100000000; pattern += 997)
      worst.take(c, static_cast<std::uint32_t>(pattern));
    check(worst, c.name, kNarrowNearRoot);
  }
}

TEST_CASE("special values come through narrow recipes as through full ones") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float large = std::numeric_limits<float>::max();
  for (const GradedCase& c : kGradedCases) {
    CAPTURE(std::string(c.name));
    for (const std::uint32_t nan :
         {0x7fffffffU, 0x7fc00000U, 0x7f800001U, 0xffffffffU, 0xffc00000U, 0xff800001U})
      CHECK(std::isnan(c.narrow(std::bit_cast<float>(nan))));
    for (const float x : {0.0F, -0.0F, kInfinity, -kInfinity, large, -large, 0x1p-149F, -0x1p-149F})
      for (const Row& row : kFormats) {
        CAPTURE(x);
        const float full = round({row.format}, c.full(x));
        const float narrow = round({row.format}, c.narrow(x));
        CHECK(std::bit_cast<std::uint32_t>(narrow) == std::bit_cast<std::uint32_t>(full));
      }
  }
}
