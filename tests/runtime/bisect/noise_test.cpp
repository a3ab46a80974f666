// SPDX-License-Identifier: Apache-2.0
// Seeds that differ more than rules do: how often a rule is blamed that has done nothing, and how
// often one that has is found.
#include <doctest/doctest.h>

#include <string>

#include "made_up_variants.hpp"

namespace halftone::tests {
namespace {

const RuleList kRules = {"everywhere : store bf16", "where class loss : compute f32",
                         "where op linear : compute f16", "where layer \"head\" : store f16"};

constexpr int kWorlds = 400;

struct Count {
  int blamed = 0, named = 0, right = 0, unclear = 0;
};

/// Of searches in so many worlds, each with noise of its own.
Count searches(const BisectOptions& options, double noise, double harm) {
  Count count;
  for (int world = 1; world <= kWorlds; ++world) {
    MadeUpVariants variants;
    variants.world = static_cast<std::uint64_t>(world);
    variants.of_rules = noise;
    variants.harm = [&](const RuleList& rules) { return has_rule(rules, kRules[2]) ? harm : 0.0; };
    const BisectResult result = search_rules(kRules, options, variants);
    const bool is_blamed = result.verdict == BisectResult::Verdict::blamed;
    count.blamed += is_blamed;
    count.named += !result.blamed.empty();
    count.unclear += result.verdict == BisectResult::Verdict::unclear;
    count.right += is_blamed && result.blamed.size() == 1 && result.blamed[0].number == 3;
  }
  return count;
}

TEST_CASE("where seeds alone make differences hardly ever a rule is blamed") {
  BisectOptions options;
  options.least = 0.0;  // which lets the smallest difference count
  for (const double noise : {0.05, 0.5}) {
    CAPTURE(noise);
    const Count count = searches(options, noise, 0.0);
    MESSAGE(noise, ": ", count.named, " named, ", count.blamed, " blamed of ", kWorlds);
    // The first comparison errs in 5 % of the worlds at most, the check again in 5 % of those for
    // each of the rules that it is asked about.
    CHECK(count.named <= 35);  // 20, and three deviations and a half of a binomial count
    CHECK(count.blamed <= 5);
  }
}

TEST_CASE("a harm as large as the noise is found with enough seeds, and not invented with few") {
  BisectOptions options;
  options.seeds = 8;
  options.most_seeds = 64;
  options.check_seeds = 64;
  const Count many = searches(options, 0.1, 0.2);
  MESSAGE(many.right, " found, ", many.blamed, " blamed, ", many.unclear, " unclear of ", kWorlds);
  CHECK(many.right >= kWorlds * 85 / 100);
  options.seeds = options.most_seeds = 3;
  options.check_seeds = 3;
  const Count few = searches(options, 0.1, 0.02);
  MESSAGE(few.right, " found, ", few.blamed, " blamed, ", few.unclear, " unclear of ", kWorlds);
  CHECK(few.blamed <= kWorlds * 5 / 100);
}

}  // namespace
}  // namespace halftone::tests
