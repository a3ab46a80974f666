// SPDX-License-Identifier: Apache-2.0
// Prints the largest error of every recipe over all 2^32 inputs, and of every function over all
// codes of f16 and bf16: the tables of docs/numerics.md. Arguments: names of recipes and "narrow",
// none for all. Takes minutes; recipes_test.cpp and narrow_recipes_test.cpp are the short forms.
#include <cstdio>
#include <cstring>
#include <thread>

#include "narrow_recipes.hpp"
#include "recipe_error.hpp"

namespace {

using halftone::reference::error_ulp;
using halftone::reference::FormulaCase, halftone::reference::RecipeCase;

constexpr std::uint32_t kThreads = 2;

struct Worst {
  double ulp = 0;
  std::uint32_t input = 0;
  std::uint64_t not_nearest = 0;  // results further than half an ulp from the oracle
};

Worst worst_of(const RecipeCase& recipe, std::uint32_t first_thread_bit) {
  Worst worst;
  std::uint32_t pattern = first_thread_bit;
  do {
    const float x = std::bit_cast<float>(pattern);
    const double ulp = error_ulp(recipe.recipe(x), recipe.oracle(x));
    worst.not_nearest += ulp > 0.5 ? 1 : 0;
    if (ulp > worst.ulp) {
      worst.ulp = ulp;
      worst.input = pattern;
    }
    pattern += kThreads;
  } while (pattern != first_thread_bit);  // wraps after the last pattern of this residue
  return worst;
}

Worst worst_of(const RecipeCase& recipe) {
  Worst odd;
  std::thread other([&] { odd = worst_of(recipe, 1); });
  Worst worst = worst_of(recipe, 0);
  other.join();
  const std::uint64_t not_nearest = worst.not_nearest + odd.not_nearest;
  worst = odd.ulp > worst.ulp ? odd : worst;
  worst.not_nearest = not_nearest;
  return worst;
}

bool wanted(const char* name, int count, char** names) {
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(names[i], name) == 0) {
      return true;
    }
  }
  return count == 1;
}

/// In ulps of the result, and beyond half of one in units of |x| * 2^-24.
struct WorstFormula {
  Worst result;
  double of_input = 0;
};

WorstFormula worst_of(const FormulaCase& formula, std::uint32_t residue) {
  WorstFormula worst;
  std::uint32_t pattern = residue;
  do {
    const float x = std::bit_cast<float>(pattern), got = formula.formula(x);
    const double exact = formula.oracle(x), ulp = error_ulp(got, exact);
    worst.result.not_nearest += ulp > 0.5 ? 1 : 0;
    if (ulp > worst.result.ulp) worst.result.ulp = ulp, worst.result.input = pattern;
    const double unit = std::fabs(static_cast<double>(x)) * 0x1p-24;
    if (ulp > 0.5) {
      // An infinite error stays one; 0 * infinity is none.
      const double off = std::isinf(ulp) ? ulp : std::fabs(got - exact) * (1 - 0.5 / ulp);
      worst.of_input = std::fmax(worst.of_input, off / unit);
    }
    pattern += kThreads;
  } while (pattern != residue);
  return worst;
}

WorstFormula worst_of(const FormulaCase& formula) {
  WorstFormula odd;
  std::thread other([&] { odd = worst_of(formula, 1); });
  WorstFormula worst = worst_of(formula, 0);
  other.join();
  const std::uint64_t not_nearest = worst.result.not_nearest + odd.result.not_nearest;
  if (odd.result.ulp > worst.result.ulp) worst.result = odd.result;
  worst.result.not_nearest = not_nearest;
  worst.of_input = std::fmax(worst.of_input, odd.of_input);
  return worst;
}

bool print_formulas(int count, char** names) {
  bool within = true;
  for (const FormulaCase& formula : halftone::reference::kFormulaCases) {
    if (!wanted(formula.name, count, names)) continue;
    const WorstFormula worst = worst_of(formula);
    within = within && worst.of_input <= formula.bound_of_input;
    std::printf("| %s | %.4g | %.9g | %08x | %.3f%% | %.3f |\n", formula.name, worst.result.ulp,
                static_cast<double>(std::bit_cast<float>(worst.result.input)), worst.result.input,
                100.0 * static_cast<double>(worst.result.not_nearest) / 0x1p32, worst.of_input);
    std::fflush(stdout);
  }
  return within;
}

void print_narrow() {
  using namespace halftone;
  std::printf(
      "| format | function | max ulp | not nearest | of them at most |\n|---|---|---|---|---|\n");
  for (const auto format : {description::Format::f16, description::Format::bf16}) {
    for (const reference::NarrowCase& c : reference::kNarrowCases) {
      const reference::NarrowError error = reference::error_of(c, format);
      std::printf("| %s | %s | %.4f | %u | %.0f ulp at %.5g |\n",
                  format == description::Format::f16 ? "f16" : "bf16", c.name, error.exact_ulp,
                  error.not_nearest, error.rounded_ulp,
                  reference::decode(format, static_cast<std::uint16_t>(error.at)));
    }
  }
}

}  // namespace

int main(int count, char** names) {
  if (wanted("narrow", count, names)) print_narrow();
  std::printf("| function | max ulp | at input | bits | not nearest |\n|---|---|---|---|---|\n");
  bool within = true;
  for (const RecipeCase& recipe : halftone::reference::kRecipeCases) {
    if (!wanted(recipe.name, count, names)) {
      continue;
    }
    const Worst worst = worst_of(recipe);
    within = within && worst.ulp <= recipe.bound_ulp;
    std::printf("| %s | %.4f | %.9g | %08x | %.3f%% |\n", recipe.name, worst.ulp,
                static_cast<double>(std::bit_cast<float>(worst.input)), worst.input,
                100.0 * static_cast<double>(worst.not_nearest) / 0x1p32);
    std::fflush(stdout);
  }
  std::printf(
      "| function | max ulp | at input | bits | not nearest | of |x| 2^-24 |\n"
      "|---|---|---|---|---|---|\n");
  return print_formulas(count, names) && within ? 0 : 1;
}
