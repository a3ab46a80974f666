// SPDX-License-Identifier: Apache-2.0
// Every function over all codes of f16 and bf16: the table of docs/numerics.md.
#include "narrow_recipes.hpp"

#include <doctest/doctest.h>

using namespace halftone::reference;
using halftone::description::Format;

namespace {

struct Row {
  Format format;
  const char* name;
};

constexpr Row kFormats[] = {{Format::f16, "f16"}, {Format::bf16, "bf16"}};

}  // namespace

TEST_CASE("functions of all 16-bit codes are within JAX's figures of the correctly rounded value") {
  for (const Row& row : kFormats) {
    CAPTURE(std::string(row.name));
    for (const NarrowCase& c : kNarrowCases) {
      const NarrowError error = error_of(c, row.format);
      CAPTURE(std::string(c.name));
      CAPTURE(error.at);
      CHECK(error.rounded_ulp <= (row.format == Format::f16 ? c.bound_f16 : c.bound_bf16));
    }
  }
}

TEST_CASE("gelu of all 16-bit codes is within its formula's error, a few f32 units of x") {
  // 1 + erf and 1 + tanh are within 4 units of 2^-24 of theirs, and half of x multiplies them.
  constexpr long double kFormula = 0x1p-22L;
  for (const Row& row : kFormats) {
    CAPTURE(std::string(row.name));
    for (const NarrowCase& c : kNarrowCases) {
      if (c.bound_f16 != kUnbounded) continue;
      CAPTURE(std::string(c.name));
      for (std::uint32_t code = 0; code < 0x10000; ++code) {
        const float x = decode(row.format, static_cast<std::uint16_t>(code));
        const long double exact = c.oracle(x);
        if (!std::isfinite(x) || std::isinf(nearest(row.format, exact))) continue;
        const long double off = std::fabs(round({row.format}, c.function(x)) - exact);
        const long double bound = spacing(row.format, exact) / 2 + std::fabs(x) * kFormula;
        CAPTURE(x);
        if (!(off <= bound)) CHECK(off <= bound);  // NaN too
      }
    }
  }
}
