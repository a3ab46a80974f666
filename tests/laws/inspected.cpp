// SPDX-License-Identifier: Apache-2.0
// What inspect() shows of a run, layer by layer, is what the reference says.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "artifacts.hpp"
#include "halftone/description/text.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/error.hpp"
#include "halftone/reference/rounding.hpp"
#include "message_of.hpp"
#include "pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

TEST_CASE(
    "inspect() shows the reference's activations by the names of layers, and changes nothing") {
  std::size_t compared = 0, layers = 0;
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair(std::string(artifact.name), *artifact.image, tested_variant, 5);
    pair.draw();
    pair.trainer.forward(pair.named_inputs());
    const auto expected = pair.reference.forward(pair.state, pair.inputs);
    // What a layer computes, and what roundings make of it: where it is stored, and for readers.
    std::map<std::string, std::vector<std::vector<float>>> shown;
    pair.trainer.inspect([&](const InspectedValue& value) {
      const bool is_drawn_weight = value.role == "weight" && value.pass == "none";  // P6, P50
      CHECK((value.pass == "forward" || is_drawn_weight));
      if (value.role == "activation" || value.role == "saved")
        shown[std::string(value.layer)].emplace_back(value.values.begin(), value.values.end());
    });
    for (std::size_t id = 0; id < pair.description.nodes.size(); ++id) {
      const description::Node& node = pair.description.nodes[id];
      if (description::is_source(node.kind) || description::is_loss(node.kind)) continue;
      ++layers;
      const auto found = shown.find(node.name);
      if (found == shown.end()) continue;  // a view has no operation of its own
      CAPTURE(node.name);
      CHECK(std::ranges::any_of(found->second, [&](const std::vector<float>& values) {
        return first_difference(values, expected.values[id]) == -1;
      }));
      ++compared;
    }
    check_forward(pair, expected);
    check_step(pair);
  }
  CAPTURE(layers);
  CHECK(compared > layers * 3 / 4);
  MESSAGE(compared, " of ", layers, " layers");
}

TEST_CASE("inspect() shows the gradients of the backward pass") {
  Pair pair("digits", *find_artifact("digits").image, tested_variant, 5);
  pair.draw();
  pair.trainer.forward(pair.named_inputs());
  pair.trainer.backward();
  const auto expected = pair.reference.backward(pair.reference.forward(pair.state, pair.inputs));
  const auto of_trainer = pair.trainer.gradient("fc1.weight");
  std::size_t found = 0;
  const std::size_t weight = static_cast<std::size_t>(pair.reference.find("fc1.weight"));
  pair.trainer.inspect([&](const InspectedValue& value) {
    if (value.layer != "fc1" || value.pass != "weight_gradient") return;
    if (value.values.size() != expected[weight].size()) return;
    CHECK(first_difference(value.values, expected[weight]) == -1);
    CHECK(first_difference(of_trainer, expected[weight]) == -1);
    ++found;
  });
  CHECK(found >= 1);
}

namespace {

/// "f8e4m3 saturate"
reference::RoundTo rounding_to(std::string_view format) {
  reference::RoundTo to;
  const std::string_view word = format.substr(0, format.find(' '));
  for (int i = 0; i < encoding::kElements; ++i)
    if (word == encoding::word(static_cast<encoding::Element>(i)))
      to.format = static_cast<encoding::Element>(i);
  to.saturate = format.ends_with(" saturate");
  return to;
}

bool rounds_otherwise(const description::Description& model) {
  return std::ranges::any_of(
      model.rules, [](const description::Rule& rule) { return rule.rounding.has_value(); });
}

}  // namespace

TEST_CASE("inspect() shows what was rounded, to what, and by which rule") {
  std::size_t compared = 0, changed = 0, parameters = 0;
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair(std::string(artifact.name), *artifact.image, tested_variant, 5);
    if (rounds_otherwise(pair.description)) continue;
    pair.draw();
    pair.trainer.step(pair.named_inputs());
    std::map<std::string, std::vector<float>> masters;
    for (const std::string& name : pair.trainer.parameter_names()) {
      const auto values = pair.trainer.parameter(name);
      masters[name].assign(values.begin(), values.end());
    }
    pair.trainer.inspect([&](const InspectedValue& value) {
      if (value.before.empty()) {
        CHECK(value.format.empty());
        return;
      }
      CAPTURE(std::string(value.layer));
      CAPTURE(std::string(value.format));
      REQUIRE(value.before.size() == value.values.size());
      const reference::RoundTo to = rounding_to(value.format);
      CHECK(to.format != encoding::Element::f32);
      if (value.op == "parameter") {
        CHECK(first_difference(value.before, masters.at(std::string(value.layer))) == -1);
        ++parameters;
      }
      CHECK(std::ranges::any_of(pair.description.rules, [&](const description::Rule& rule) {
        return description::rule_text(rule) == value.rule;
      }));
      std::vector<float> expected;
      for (const float each : value.before) expected.push_back(reference::round(to, each));
      CHECK(first_difference(value.values, expected) == -1);
      ++compared;
      changed += first_difference(value.before, value.values) != -1;
    });
  }
  CHECK(compared > 100);
  CHECK(changed > compared / 2);
  CHECK(parameters > 100);
  MESSAGE(compared, " roundings, ", changed, " of which changed a number");
}

TEST_CASE("inspect() asks for a run, and hands on what its hook throws") {
  Pair pair("digits", *find_artifact("digits").image, tested_variant, 5);
  CHECK(message_of([&] { pair.trainer.inspect([](const InspectedValue&) {}); }) ==
        "inspect: the trainer has run nothing that could be replayed; call it after a step, "
        "forward() or backward()");
  pair.draw();
  pair.trainer.step(pair.named_inputs());
  CHECK_THROWS_AS(pair.trainer.inspect([](const InspectedValue&) { throw 7; }), int);
  pair.state = pair.reference.step(pair.state, pair.inputs).state;
  pair.draw();
  check_step(pair);
}

}  // namespace halftone::tests
