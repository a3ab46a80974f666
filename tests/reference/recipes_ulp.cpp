// SPDX-License-Identifier: Apache-2.0
// Prints the largest error of every recipe over all 2^32 inputs, and of every function over all
// codes of f16 and bf16: the tables of docs/numerics.md. Arguments: names of functions and "codes",
// none for all; before them "every N" for every N-th input alone. Takes minutes; recipes_test.cpp
// and narrow_recipes_test.cpp are the short forms.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "narrow_error.hpp"

namespace {

using namespace halftone::reference;
using halftone::description::Element;

constexpr std::uint32_t kThreads = 2;

std::uint32_t stride = 1;

/// The worst of two threads, each over every second pattern.
template <class Worst, class Take>
Worst over_all(Take take) {
  Worst halves[kThreads];
  const auto run = [&](std::uint32_t residue) {
    for (std::uint64_t pattern = residue * stride; pattern < 0x100000000;
         pattern += kThreads * stride)
      take(halves[residue], static_cast<std::uint32_t>(pattern));
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();
  halves[0].join(halves[1]);
  return halves[0];
}

Worst worst_of(const RecipeCase& recipe) {
  return over_all<Worst>([&](Worst& worst, std::uint32_t pattern) {
    const float x = std::bit_cast<float>(pattern);
    worst.take(error_ulp(recipe.recipe(x), recipe.oracle(x)), pattern);
  });
}

bool wanted(const char* name, int count, char** names) {
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(names[i], name) == 0) {
      return true;
    }
  }
  return count == 1;
}

/// Of a derivative: in ulps, and within half of its root in units of 2^-24; of its narrow recipe.
struct WorstSlope {
  Worst far, near_root;
  WorstOfBoth narrow;
  void join(const WorstSlope& other) {
    far.join(other.far);
    near_root.join(other.near_root);
    narrow.join(other.narrow);
  }
};

bool print_derivatives(int count, char** names) {
  std::printf(
      "| derivative | max ulp | at input | near its root, 2^-24 | narrow f16, bf16 beyond 0.01 "
      "ulp, "
      "2^-24 |\n|---|---|---|---|---|\n");
  bool within = true;
  for (const DerivativeCase& c : kDerivativeCases) {
    if (!wanted(c.name, count, names)) continue;
    const auto worst = over_all<WorstSlope>([&](WorstSlope& slope, std::uint32_t pattern) {
      const float x = std::bit_cast<float>(pattern), got = c.full(x);
      const double exact = c.oracle(x);
      if (is_near_root(c, x))
        slope.near_root.take(std::fabs(got - exact) * 0x1p+24, pattern);
      else
        slope.far.take(error_ulp(got, exact), pattern);
      slope.narrow.take(c, pattern);
    });
    const double f16 = worst.narrow.of[0].error, bf16 = worst.narrow.of[1].error;
    within = within && worst.far.error <= c.bound_ulp &&
             worst.near_root.error <= c.bound_near_root && std::fmax(f16, bf16) <= kNarrowNearRoot;
    std::printf("| %s | %.4f | %.9g | %.3f | %.3f, %.3f |\n", c.name, worst.far.error,
                static_cast<double>(std::bit_cast<float>(worst.far.input)), worst.near_root.error,
                f16, bf16);
    std::fflush(stdout);
  }
  return within;
}

bool print_narrow(int count, char** names) {
  std::printf(
      "| format | narrow recipe | max ulp | at input | not nearest |\n|---|---|---|---|---|\n");
  bool within = true;
  for (const GradedCase& c : kGradedCases) {
    if (!wanted(c.name, count, names)) continue;
    const auto worst = over_all<WorstOfBoth>(
        [&](WorstOfBoth& both, std::uint32_t pattern) { both.take(c, pattern); });
    for (const int format : {0, 1}) {
      const Worst& of = worst.of[format];
      within = within && of.error <= kNarrowUlps;
      std::printf("| %s | %s | %.4f | %.9g | %.4f%% |\n", format == 0 ? "f16" : "bf16", c.name,
                  of.error, static_cast<double>(std::bit_cast<float>(of.input)),
                  100.0 * static_cast<double>(of.not_nearest) * stride / 0x1p32);
    }
    std::fflush(stdout);
  }
  return within;
}

/// 2^28 pairs of each kind, and fewer with a stride.
bool print_power(int count, char** names) {
  if (!wanted("pow", count, names)) return true;
  WorstPower halves[kThreads];
  const auto run = [&](std::uint32_t thread) {
    take_powers(halves[thread], (1u << 28) / kThreads / stride, thread + 1);
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();
  const WorstPower& worst = halves[halves[1].ulp > halves[0].ulp ? 1 : 0];
  std::printf(
      "| function | max ulp | at base | at exponent | not nearest |\n|---|---|---|---|---|\n"
      "| pow | %.4f | %.9g | %.9g | %.3f%% |\n",
      worst.ulp, static_cast<double>(worst.x), static_cast<double>(worst.y),
      100.0 * static_cast<double>(halves[0].not_nearest + halves[1].not_nearest) /
          static_cast<double>(halves[0].taken + halves[1].taken));
  return worst.ulp <= kPowUlps;
}

void print_codes() {
  std::printf(
      "| format | function | max ulp | not nearest | of them at most |\n|---|---|---|---|---|\n");
  for (const Element format : {Element::f16, Element::bf16}) {
    for (const NarrowCase& c : kNarrowCases) {
      const NarrowError error = error_of(c, format);
      std::printf("| %s | %s | %.4f | %u | %.0f ulp at %.5g |\n",
                  format == Element::f16 ? "f16" : "bf16", c.name, error.exact_ulp,
                  error.not_nearest, error.rounded_ulp,
                  decode(format, static_cast<std::uint16_t>(error.at)));
    }
  }
}

}  // namespace

int main(int count, char** names) {
  if (count > 2 && std::strcmp(names[1], "every") == 0) {
    stride = static_cast<std::uint32_t>(std::atoi(names[2]));
    count -= 2, names += 2;
  }
  if (wanted("codes", count, names)) print_codes();
  std::printf("| function | max ulp | at input | bits | not nearest |\n|---|---|---|---|---|\n");
  bool within = true;
  for (const RecipeCase& recipe : kRecipeCases) {
    if (!wanted(recipe.name, count, names)) {
      continue;
    }
    const Worst worst = worst_of(recipe);
    within = within && worst.error <= recipe.bound_ulp;
    std::printf("| %s | %.4f | %.9g | %08x | %.3f%% |\n", recipe.name, worst.error,
                static_cast<double>(std::bit_cast<float>(worst.input)), worst.input,
                100.0 * static_cast<double>(worst.not_nearest) * stride / 0x1p32);
    std::fflush(stdout);
  }
  within = print_power(count, names) && within;
  within = print_narrow(count, names) && within;
  return print_derivatives(count, names) && within ? 0 : 1;
}
