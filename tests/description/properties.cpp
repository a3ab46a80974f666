// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <set>

#include "halftone/description/text.hpp"
#include "halftone/description/validate.hpp"
#include "random_description.hpp"

using namespace halftone::description;

namespace {

Description any_description() {
  const auto number = rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint32_t>());
  const auto list = rc::gen::container<std::vector<std::uint32_t>>(number);
  return halftone::tests::random_description(*rc::gen::scale(4.0, list));
}

/// What a rule has, by name.
void note(std::set<std::string_view>& met, const Rule& rule) {
  const auto add = [&](std::string_view name, bool has) {
    if (has) met.insert(name);
  };
  for (const Clause& clause : rule.clauses) {
    add("layer", clause.layer.has_value());
    add("class", !clause.classes.empty());
    add("op", !clause.ops.empty());
    add("role", !clause.roles.empty());
    add("pass", !clause.passes.empty());
    add("target", !clause.targets.empty());
    add("during", !clause.stages.empty());
    add("first", clause.bounds.first != 0);
    add("last", clause.bounds.last != 0);
    add("depth", clause.bounds.depth_end != 0);
    add("at_least", clause.bounds.at_least != 0);
    add("smaller_than", clause.bounds.smaller_than != 0);
  }
  add("or", rule.clauses.size() > 1);
  add("except", !rule.exceptions.empty());
  add("if_any", rule.if_any);
  add("because", !rule.because.empty());
  add("store", rule.store.has_value());
  add("compute", rule.compute.has_value());
  add("result", rule.result.has_value());
  add("accumulate", rule.accumulate.has_value());
  add("master", rule.master.has_value());
  add("rounding", rule.rounding.has_value());
  add("recompute", rule.recompute.has_value());
  add("loss_scale", rule.loss_scale.has_value());
  add("memory_budget", rule.memory_budget.has_value());
  add("quantize", rule.quantize.has_value());
  add("place", rule.place.has_value());
}

}  // namespace

TEST_CASE("print and parse give back any valid Description, and the same text") {
  std::set<Kind> kinds;
  std::set<std::string_view> of_rules;
  const bool holds = rc::check("parse(print(d)) == d", [&] {
    const Description description = any_description();
    for (const Node& node : description.nodes) kinds.insert(node.kind);
    for (const Rule& rule : description.rules) note(of_rules, rule);
    const auto violation = validate(description);
    if (violation) RC_FAIL(violation->message);
    const std::string text = print(description);
    const auto result = parse(text);
    if (const auto* error = std::get_if<ParseError>(&result))
      RC_FAIL(error->str("text") + "\n" + text);
    const Description& read = std::get<Description>(result);
    RC_ASSERT(read == description);
    RC_ASSERT(print(read) == text);
  });
  CHECK(holds);
  CHECK(kinds.size() == kKinds);
  CHECK(of_rules.size() == 27);
}

TEST_CASE("the shape of every node of a valid Description is the inferred one") {
  CHECK(rc::check("infer_shape(d, node) == node.shape", [] {
    const Description description = any_description();
    for (const Node& node : description.nodes) {
      const auto shape = infer_shape(description, node);
      RC_ASSERT(shape.has_value() == is_computed(node.kind));
      if (shape) RC_ASSERT(*shape == node.shape);
    }
  }));
}
