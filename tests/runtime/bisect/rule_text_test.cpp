// SPDX-License-Identifier: Apache-2.0
// Parts of rules as text, against the parser of descriptions.
#include "bisect/rule_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <variant>
#include <vector>

#include "halftone/description/rule_meaning.hpp"
#include "halftone/description/text.hpp"
#include "models.hpp"

namespace halftone {
namespace {

using description::Rule;

Rule parsed(const std::string& text) {
  CAPTURE(text);
  const auto result = description::parse_rule(text);
  REQUIRE(std::holds_alternative<Rule>(result));
  return std::get<Rule>(result);
}

/// Rules of all test models, as they are spelled, and some with words that look like others.
std::vector<std::string> all_rules() {
  std::vector<std::string> rules = {
      R"(everywhere except layer "store" or class loss if_any : compute f16 because "a : b, \"store\" too")",
      R"(where layer "except" or op gelu : store bf16 rounding stochastic)",
      R"(where role gradient : store f8e5m2 saturate compute f8e5m2 saturate rounding toward_zero because "rounding")",
      "everywhere : store f16 compute f16 loss_scale dynamic initial 1024 growth 2 backoff 0.5 "
      "interval 200 floor 1 ceiling 65536 hysteresis 2 patience 20 memory_budget share 0.5",
      R"(where role master : master bf16 remainder)",
      R"(everywhere : compute f8e4m3 scaled block 32 f8e8m0 saturate accumulate ordered)",
      R"(where layer "a" : recompute never)"};
  for (const std::string& name : tests::model_names()) {
    for (const Rule& rule : tests::load_model(name).rules)
      rules.push_back(description::rule_text(rule));
  }
  return rules;
}

/// What a rule states, but for the rounding.
int stated(const Rule& rule) {
  return rule.store.has_value() + rule.compute.has_value() + rule.result.has_value() +
         rule.accumulate.has_value() + rule.master.has_value() + rule.recompute.has_value() +
         rule.loss_scale.has_value() + rule.memory_budget.has_value() + rule.quantize.has_value();
}

/// The rule without what a field's text says.
Rule lacking(Rule rule, const std::string& field) {
  const std::string word = field.substr(0, field.find(' '));
  if (word == "store") rule.store.reset();
  if (word == "compute") rule.compute.reset();
  if (word == "result") rule.result.reset();
  if (word == "accumulate") rule.accumulate.reset();
  if (word == "master") rule.master.reset(), rule.remainder = false;
  if (word == "recompute") rule.recompute.reset();
  if (word == "loss_scale") rule.loss_scale.reset();
  if (word == "quantize") rule.quantize.reset();
  if (word == "memory_budget") rule.memory_budget.reset();
  if (!rule.store && !rule.compute) rule.rounding.reset();
  return rule;
}

TEST_CASE("the words of fields are those of descriptions") {
  std::vector<std::string> known(std::begin(description::rules::kFieldWords),
                                 std::end(description::rules::kFieldWords));
  known.emplace_back("because");
  std::vector<std::string> words(kWordsOfFields.begin(), kWordsOfFields.end());
  std::ranges::sort(known);
  std::ranges::sort(words);
  CHECK(words == known);
}

TEST_CASE("a rule's fields are what the parser finds stated, and leaving one out leaves the rest") {
  std::size_t looked_at = 0;
  for (const std::string& text : all_rules()) {
    CAPTURE(text);
    const Rule rule = parsed(text);
    const std::vector<std::string> fields = fields_of_rule(text);
    CHECK(static_cast<int>(fields.size()) == stated(rule));
    if (fields.size() < 2) continue;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      CAPTURE(fields[i]);
      CHECK(parsed(without_fields(text, std::array{i})) == lacking(rule, fields[i]));
      ++looked_at;
    }
  }
  CHECK(looked_at > 50);
}

TEST_CASE("exceptions for layers stand behind those that a rule has") {
  const std::vector<std::string> layers = {"fc1", R"(odd "name" \ )"};
  for (const std::string& text : all_rules()) {
    CAPTURE(text);
    Rule expected = parsed(text);
    for (const std::string& layer : layers) {
      description::Clause clause;
      clause.layer = layer;
      expected.exceptions.push_back(clause);
    }
    CHECK(parsed(with_exceptions(text, layers)) == expected);
    CHECK(parsed(with_exceptions(text, {})) == parsed(text));
  }
}

}  // namespace
}  // namespace halftone
