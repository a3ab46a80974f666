// SPDX-License-Identifier: Apache-2.0
// The search for rules to blame, on losses whose cause is known.
#include "bisect/search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "made_up_variants.hpp"
#include "message_of.hpp"

namespace halftone::tests {
namespace {

using Verdict = BisectResult::Verdict;
using Outcome = BisectTrial::Outcome;

const RuleList kRules = {"everywhere : store bf16", "where class loss : compute f32",
                         "where op linear : compute f16", "where layer \"head\" : store f16",
                         "everywhere : accumulate f32"};

std::vector<std::size_t> numbers_of(const BisectResult& result) {
  std::vector<std::size_t> numbers;
  for (const BlamedRule& blamed : result.blamed) numbers.push_back(blamed.number);
  return numbers;
}

RuleList without(const std::vector<std::size_t>& numbers) {
  RuleList rest;
  for (std::size_t i = 0; i < kRules.size(); ++i)
    if (std::ranges::find(numbers, i + 1) == numbers.end()) rest.push_back(kRules[i]);
  return rest;
}

TEST_CASE("the rules that do harm are blamed, whichever of five they are, and no other") {
  int bounds = 0, misses = 0;
  for (unsigned culprits = 1; culprits < 32; ++culprits) {
    CAPTURE(culprits);
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < 5; ++i)
      if ((culprits >> i & 1) != 0) expected.push_back(i + 1);
    MadeUpVariants variants;
    variants.of_rules = 0.02;
    variants.world = culprits;
    variants.harm = [&](const RuleList& rules) {
      double harm = 0.0;
      for (const std::size_t number : expected)
        harm += has_rule(rules, kRules[number - 1]) ? 0.3 : 0.0;
      return harm;
    };
    const BisectResult result = search_rules(kRules, {}, variants);
    CHECK(result.verdict == Verdict::blamed);
    CHECK(numbers_of(result) == expected);
    CHECK(result.remedy == without(expected));
    for (const BlamedRule& blamed : result.blamed) {
      CHECK(blamed.is_confirmed);
      CHECK(blamed.worse_by.mean == doctest::Approx(0.3).epsilon(0.2));
      misses += blamed.worse_by.low > 0.3;
      misses += blamed.worse_by.high < 0.3;
      bounds += 2;
    }
    for (const auto& [rules, count] : variants.made) CHECK(count == 1);
  }
  CHECK(bounds == 160);
  CHECK(misses <= 8 + 3 * 3);  // each holds in 95 % of the cases, or more; three deviations
}

TEST_CASE("either of two rules that each spoil the run is blamed") {
  MadeUpVariants variants;
  variants.harm = [](const RuleList& rules) {
    return has_rule(rules, kRules[1]) || has_rule(rules, kRules[3]) ? 1.0 : 0.0;
  };
  const BisectResult result = search_rules(kRules, {}, variants);
  CHECK(numbers_of(result) == std::vector<std::size_t>{2, 4});
}

TEST_CASE("of two rules that do harm together alone, one is named") {
  MadeUpVariants variants;
  variants.harm = [](const RuleList& rules) {
    return has_rule(rules, kRules[1]) && has_rule(rules, kRules[3]) ? 1.0 : 0.0;
  };
  const BisectResult result = search_rules(kRules, {}, variants);
  REQUIRE(result.blamed.size() == 1);
  CHECK((result.blamed[0].number == 2 || result.blamed[0].number == 4));
}

TEST_CASE("a rule that a later one makes harmless is not blamed for what it would do alone") {
  MadeUpVariants variants;
  variants.harm = [](const RuleList& rules) {
    const bool is_unprotected = has_rule(rules, kRules[0]) && !has_rule(rules, kRules[1]);
    return is_unprotected ? 2.0 : 0.0;
  };
  CHECK(search_rules(kRules, {}, variants).verdict == Verdict::no_rule);
  variants.harm = [](const RuleList& rules) {
    const bool is_unprotected = has_rule(rules, kRules[0]) && !has_rule(rules, kRules[1]);
    return (is_unprotected ? 2.0 : 0.0) + (has_rule(rules, kRules[4]) ? 0.5 : 0.0);
  };
  const BisectResult result = search_rules(kRules, {}, variants);
  CHECK(numbers_of(result) == std::vector<std::size_t>{5});
}

TEST_CASE("where all rules are as good as the reference, or better, none is blamed") {
  for (const double harm : {0.0, 0.002, -0.5}) {
    CAPTURE(harm);
    MadeUpVariants variants;
    variants.harm = [&](const RuleList& rules) { return rules.empty() ? 0.0 : harm; };
    const BisectResult result = search_rules(kRules, {}, variants);
    CHECK(result.verdict == Verdict::no_rule);
    CHECK(result.blamed.empty());
    CHECK(result.trials.size() == 2);
    CHECK(text_of(result).find("no rule is to blame") != std::string::npos);
  }
}

TEST_CASE("a run that fails is worse, however few seeds it fails from") {
  MadeUpVariants variants;
  variants.harm = [&](const RuleList& rules) {
    const bool fails = has_rule(rules, kRules[2]) && variants.runs % 3 == 0;
    return fails ? std::numeric_limits<double>::quiet_NaN() : 0.0;
  };
  const BisectResult result = search_rules(kRules, {}, variants);
  CHECK(numbers_of(result) == std::vector<std::size_t>{3});
  CHECK(result.all_rules.failed > 0);
  CHECK(result.verdict == Verdict::blamed);
}

TEST_CASE("what of a rule does the harm, and where, is found where it is less than all") {
  const RuleList rules = {"everywhere : store bf16",
                          "where op linear : store f16 compute f8e4m3 accumulate f32"};
  MadeUpVariants variants;
  variants.layer_names = {"fc1", "fc2", "fc3", "fc4", "fc5", "head"};
  variants.harm = [](const RuleList& all) {
    double harm = 0.0;
    for (const std::string& rule : all) {
      if (rule.find("compute f8e4m3") == rule.npos) continue;
      for (const char* layer : {"\"fc2\"", "\"head\""})
        harm += rule.find(layer) == rule.npos ? 0.4 : 0.0;
    }
    return harm;
  };
  const BisectResult result = search_rules(rules, {}, variants);
  REQUIRE(result.blamed.size() == 1);
  CHECK(result.blamed[0].number == 2);
  CHECK(result.blamed[0].fields == std::vector<std::string>{"compute f8e4m3"});
  CHECK(result.blamed[0].layers == std::vector<std::string>{"fc2", "head"});
  const std::string remedy =
      "where op linear except layer \"fc2\" or layer \"head\" : store f16 compute f8e4m3 "
      "accumulate f32";
  CHECK(result.remedy == RuleList{rules[0], remedy});
  CHECK(result.remedy_worse_by.mean == 0.0);

  BisectOptions plain;
  plain.narrow = false;
  const BisectResult whole = search_rules(rules, plain, variants);
  REQUIRE(whole.blamed.size() == 1);
  CHECK(whole.blamed[0].fields.empty());
  CHECK(whole.blamed[0].layers.empty());
  CHECK(whole.remedy == RuleList{rules[0]});
}

TEST_CASE("rules of the reference stand before those on trial, and are not blamed") {
  BisectOptions options;
  options.reference = {"everywhere : store f16"};
  MadeUpVariants variants;
  variants.harm = [&](const RuleList& rules) {
    CHECK(rules.front() == options.reference.front());
    return 0.5 + (has_rule(rules, kRules[2]) ? 0.5 : 0.0);
  };
  const BisectResult result = search_rules(kRules, options, variants);
  CHECK(numbers_of(result) == std::vector<std::size_t>{3});
  CHECK(result.reference_loss == doctest::Approx(1.5).epsilon(0.3));
}

TEST_CASE("variants that halftonec refuses are passed over") {
  MadeUpVariants variants;
  variants.refuses = [](const RuleList& rules) {
    const bool is_sound = rules.empty() || has_rule(rules, kRules[0]);
    return std::string(is_sound ? "" : "needs rule 1");
  };
  variants.harm = [](const RuleList& rules) { return has_rule(rules, kRules[3]) ? 0.5 : 0.0; };
  const BisectResult result = search_rules(kRules, {}, variants);
  CHECK(numbers_of(result) == std::vector<std::size_t>{4});
  CHECK(std::ranges::count(result.trials, Outcome::refused, &BisectTrial::outcome) > 0);
}

TEST_CASE("a search that runs out of variants says so") {
  BisectOptions options;
  options.most_variants = 4;
  MadeUpVariants variants;
  variants.harm = [](const RuleList& rules) { return has_rule(rules, kRules[3]) ? 0.5 : 0.0; };
  const BisectResult result = search_rules(kRules, options, variants);
  CHECK(result.trials.size() == 4);
  REQUIRE(result.notes.size() == 1);
  CHECK(result.notes[0].find("4 variants (most_variants)") != std::string::npos);
  const std::vector<std::size_t> numbers = numbers_of(result);
  CHECK(std::ranges::find(numbers, 4) != numbers.end());
}

TEST_CASE("what cannot be searched is refused in a sentence") {
  MadeUpVariants variants;
  const auto said = [&](const RuleList& rules, const BisectOptions& options) {
    return message_of([&] { (void)search_rules(rules, options, variants); });
  };
  CHECK(
      said({}, {}) ==
      "bisect: the model has no precision rules; there is nothing to blame, so train it as it is");
  BisectOptions options;
  options.seeds = 1;
  CHECK(
      said(kRules, options) ==
      "bisect: the options have seeds 1, most_seeds 12 and check_seeds 6; give 2 or more of each, "
      "and no fewer most_seeds than seeds");
  options = {};
  options.confidence = 1.0;
  CHECK(said(kRules, options) == "bisect: the confidence is 1; give one above 0.5 and below 1");
  options = {};
  options.least = -1;
  CHECK(said(kRules, options) ==
        "bisect: the least difference is -1; give a share of the reference's loss, 0 or more");
  options = {};
  options.most_variants = 1;
  CHECK(said(kRules, options) == "bisect: the options have most_variants 1; give 3 or more");
  variants.base = std::numeric_limits<double>::infinity();
  CHECK(said(kRules, {}) ==
        "bisect: the reference does not train: from seed 1 its loss is not finite; mend what is "
        "not the rules' first, such as the learning rate, or name another reference");
  variants.base = 1.0;
  variants.refuses = [](const RuleList& rules) {
    return std::string(rules.empty() ? "" : "no such layer");
  };
  CHECK(said(kRules, {}) ==
        "bisect: the variant 'all rules' is refused: no such layer; mend the rules");
}

}  // namespace
}  // namespace halftone::tests
