// SPDX-License-Identifier: Apache-2.0
// The recipes against libm's double functions, over every 997th bit pattern and around every
// special value. The exhaustive form is recipes_ulp.cpp.
#include <doctest/doctest.h>

#include <vector>

#include "recipe_error.hpp"

using namespace halftone::reference;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

// 2048 patterns on each side of every power of two, of zero, infinity and NaN's edges, and of where
// a recipe changes.
std::vector<std::uint32_t> neighbourhoods() {
  std::vector<std::uint32_t> centres;
  for (std::uint32_t exponent = 0; exponent < 512; ++exponent) {
    centres.push_back(exponent << 23);
  }
  for (const float x :
       {89.0F,      88.72284F,   87.33655F,   103.97208F,      104.0F,         0.70710677F,
        10.0F,      1.125F,      3.92F,       0.34657359F,     11.0F,          14.5F,
        110.0F,     0.41421357F, 0.29289323F, 17.328680F,      0.78539819F,    1.5707964F,
        3.1415927F, 6.2831855F,  355.0F,      1.0F - 0x1p-24F, 0x1.f9cbe2p+95F}) {
    centres.push_back(bits(x));
    centres.push_back(bits(-x));
  }
  std::vector<std::uint32_t> patterns;
  for (const std::uint32_t centre : centres) {
    for (std::uint32_t offset = 0; offset < 4096; ++offset) {
      patterns.push_back(centre - 2048 + offset);
    }
  }
  return patterns;
}

// The largest error over the patterns, and where it is.
struct Worst {
  double ulp = 0;
  std::uint32_t input = 0;
  void take(const RecipeCase& recipe, std::uint32_t pattern) {
    const float x = std::bit_cast<float>(pattern);
    const double error = error_ulp(recipe.recipe(x), recipe.oracle(x));
    if (error > ulp) {
      ulp = error;
      input = pattern;
    }
  }
};

}  // namespace

TEST_CASE("every recipe stays within the bound math.md promises on a stride through all floats") {
  for (const RecipeCase& recipe : kRecipeCases) {
    Worst worst;
    for (std::uint64_t pattern = 0; pattern < 0x100000000; pattern += 997) {
      worst.take(recipe, static_cast<std::uint32_t>(pattern));
    }
    CAPTURE(recipe.name);
    CAPTURE(worst.input);
    CHECK(worst.ulp <= recipe.bound_ulp);
  }
}

TEST_CASE("every recipe stays within its bound around the special values") {
  const std::vector<std::uint32_t> patterns = neighbourhoods();
  for (const RecipeCase& recipe : kRecipeCases) {
    Worst worst;
    for (const std::uint32_t pattern : patterns) {
      worst.take(recipe, pattern);
    }
    CAPTURE(recipe.name);
    CAPTURE(worst.input);
    CHECK(worst.ulp <= recipe.bound_ulp);
  }
}

TEST_CASE("derivatives stay within their bounds on a stride through all floats") {
  for (const DerivativeCase& derivative : kDerivativeCases) {
    double ulp = 0, near_root = 0;
    for (std::uint64_t pattern = 0; pattern < 0x100000000; pattern += 997) {
      const float x = std::bit_cast<float>(static_cast<std::uint32_t>(pattern));
      const double exact = derivative.oracle(x);
      const double off = error_ulp(derivative.full(x), exact);
      if (is_near_root(derivative, x))
        near_root = std::fmax(near_root, std::fabs(derivative.full(x) - exact) * 0x1p+24);
      else
        ulp = std::fmax(ulp, off);
    }
    CAPTURE(derivative.name);
    CHECK(ulp <= derivative.bound_ulp);
    CHECK(near_root <= derivative.bound_near_root);
  }
}

TEST_CASE("the shorter exp has exp's bits where nothing is above zero") {
  std::uint32_t different = 0;
  const auto compare = [&](std::uint32_t pattern) {
    const float x = std::bit_cast<float>(pattern);
    if (x > 0) return;
    const float shorter = recipe::exp_of_nonpositive(x), full = recipe::exp(x);
    const bool same = std::isnan(x) ? std::isnan(shorter) : bits(shorter) == bits(full);
    if (!same) ++different;
  };
  for (std::uint64_t pattern = 0; pattern < 0x100000000; pattern += 499)
    compare(static_cast<std::uint32_t>(pattern));
  for (std::uint32_t pattern = bits(-87.0F); pattern <= bits(-105.0F); ++pattern) compare(pattern);
  CHECK(different == 0);
}

TEST_CASE("recipes are exact where mathematics is") {
  struct Exact {
    float (*recipe)(float);
    float x;
    float result;
  };
  const Exact cases[] = {
      {recipe::exp, 0.0F, 1.0F},
      {recipe::exp, -0.0F, 1.0F},
      {recipe::exp, kInfinity, kInfinity},
      {recipe::exp, -kInfinity, 0.0F},
      {recipe::log, 1.0F, 0.0F},
      {recipe::log, 0.0F, -kInfinity},
      {recipe::log, -0.0F, -kInfinity},
      {recipe::log, kInfinity, kInfinity},
      {recipe::tanh, -0.0F, -0.0F},
      {recipe::tanh, kInfinity, 1.0F},
      {recipe::tanh, -kInfinity, -1.0F},
      {recipe::tanh, 0x1p-149F, 0x1p-149F},
      {recipe::erf, -0.0F, -0.0F},
      {recipe::erf, kInfinity, 1.0F},
      {recipe::erf, -kInfinity, -1.0F},
      {recipe::sigmoid, 0.0F, 0.5F},
      {recipe::sigmoid, -0.0F, 0.5F},
      {recipe::sigmoid, kInfinity, 1.0F},
      {recipe::sigmoid, -kInfinity, 0.0F},
      {recipe::rsqrt, 4.0F, 0.5F},
      {recipe::rsqrt, 0.0F, kInfinity},
      {recipe::rsqrt, -0.0F, -kInfinity},
      {recipe::rsqrt, kInfinity, 0.0F},
      {recipe::log1p, 0.0F, 0.0F},
      {recipe::log1p, -0.0F, -0.0F},
      {recipe::log1p, 0x1p-149F, 0x1p-149F},
      {recipe::log1p, -1.0F, -kInfinity},
      {recipe::log1p, kInfinity, kInfinity},
      {recipe::expm1, 0.0F, 0.0F},
      {recipe::expm1, -0.0F, -0.0F},
      {recipe::expm1, -0x1p-149F, -0x1p-149F},
      {recipe::expm1, kInfinity, kInfinity},
      {recipe::expm1, -kInfinity, -1.0F},
      {recipe::sin, 0.0F, 0.0F},
      {recipe::sin, -0.0F, -0.0F},
      {recipe::sin, 0x1p-149F, 0x1p-149F},
      {recipe::cos, 0.0F, 1.0F},
      {recipe::cos, -0.0F, 1.0F},
      {recipe::gelu_erf, 0.0F, 0.0F},
      {recipe::gelu_erf, -0.0F, 0.0F},
      {recipe::gelu_erf, kInfinity, kInfinity},
      {recipe::gelu_erf, -kInfinity, -0.0F},
      {recipe::gelu_tanh, 0.0F, 0.0F},
      {recipe::gelu_tanh, -0.0F, 0.0F},
      {recipe::gelu_tanh, kInfinity, kInfinity},
      {recipe::gelu_tanh, -kInfinity, -0.0F},
      {recipe::silu, 0.0F, 0.0F},
      {recipe::silu, -0.0F, 0.0F},
      {recipe::silu, kInfinity, kInfinity},
      {recipe::silu, -kInfinity, -0.0F},
  };
  for (const Exact& exact : cases) {
    CAPTURE(exact.x);
    CHECK(bits(exact.recipe(exact.x)) == bits(exact.result));
  }
}

TEST_CASE("every NaN comes through every recipe, and a negative log or rsqrt is one") {
  for (const RecipeCase& recipe : kRecipeCases) {
    CAPTURE(recipe.name);
    for (const std::uint32_t pattern :
         {0x7fffffffU, 0x7fc00000U, 0x7f800001U, 0xffffffffU, 0xffc00000U, 0xff800001U}) {
      CHECK(std::isnan(recipe.recipe(std::bit_cast<float>(pattern))));
    }
  }
  for (const float x : {-0x1p-149F, -1.0F, -kInfinity}) {
    CHECK(std::isnan(recipe::log(x)));
    CHECK(std::isnan(recipe::rsqrt(x)));
    CHECK(std::isnan(recipe::log1p(x - 1.0F)) == (x < -0.5F));
  }
  for (const float x : {kInfinity, -kInfinity}) {
    CHECK(std::isnan(recipe::sin(x)));
    CHECK(std::isnan(recipe::cos(x)));
  }
}

TEST_CASE("pow stays within its bound") {
  WorstPower worst;
  take_powers(worst, 400'000);
  CAPTURE(worst.x);
  CAPTURE(worst.y);
  CHECK(worst.ulp <= kPowUlps);
}

// IEEE 754-2019, 9.2.1, which C's pow follows (F.10.4.4).
TEST_CASE("pow is IEEE's where that says what it is") {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const float special[] = {0.0F,      0.5F,   1.0F,     1.5F,        2.0F,      3.0F,
                           4.0F,      1e-30F, 1e30F,    0x1p-149F,   0x1p-126F, 0x1.fffffep+127F,
                           kInfinity, kNaN,   0x1p+24F, 16777213.0F, 33.0F,     0x1p+22F + 0.5F};
  for (const float x : special)
    for (const float y : special)
      for (const float a : {x, -x})
        for (const float b : {y, -y}) {
          CAPTURE(a);
          CAPTURE(b);
          CHECK(error_ulp(recipe::pow(a, b), std::pow(static_cast<double>(a), b)) <= kPowUlps);
        }
  CHECK(recipe::pow(kNaN, 0.0F) == 1.0F);
  CHECK(recipe::pow(1.0F, kNaN) == 1.0F);
  CHECK(recipe::pow(-1.0F, -kInfinity) == 1.0F);
  CHECK(bits(recipe::pow(-0.0F, 3.0F)) == bits(-0.0F));
  CHECK(bits(recipe::pow(-kInfinity, -3.0F)) == bits(-0.0F));
  CHECK(recipe::pow(-0.0F, -1.0F) == -kInfinity);
  CHECK(std::isnan(recipe::pow(-2.0F, 0.5F)));
  for (int n = -12; n <= 12; ++n)
    CHECK(recipe::pow(2.0F, static_cast<float>(n)) == std::ldexp(1.0F, n));
  for (int n = 0; n <= 12; ++n)
    CHECK(recipe::pow(-3.0F, static_cast<float>(n)) == std::pow(-3.0, n));
}
