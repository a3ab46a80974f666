// SPDX-License-Identifier: Apache-2.0
// L4: the first value that is not finite, as diagnose() names it, is the one that the reference
// meets first, for faults injected into every model.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "artifacts.hpp"
#include "first_non_finite.hpp"
#include "own_pair.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

constexpr std::int64_t kBatch = 3;

struct Fault {
  const char* name;
  std::function<void(Pair&, std::mt19937_64&)> inject;
};

float& random_element(std::vector<float>& values, std::mt19937_64& random) {
  return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random)];
}

std::vector<float>& random_tensor(reference::Tensors<float>& tensors, std::mt19937_64& random) {
  const auto at = std::uniform_int_distribution<std::size_t>(0, tensors.size() - 1)(random);
  return std::next(tensors.begin(), static_cast<std::ptrdiff_t>(at))->second;
}

auto set_input(float value) {
  return [value](Pair& pair, std::mt19937_64& random) {
    if (pair.inputs.values.empty()) return;  // of a model that reads tokens alone
    random_element(random_tensor(pair.inputs.values, random), random) = value;
  };
}

auto scale_inputs(float factor) {
  return [factor](Pair& pair, std::mt19937_64&) {
    for (auto& [name, values] : pair.inputs.values)
      for (float& value : values) value *= factor;
  };
}

auto scale_one_input(float factor) {
  return [factor](Pair& pair, std::mt19937_64& random) {
    if (pair.inputs.values.empty()) return;
    for (float& value : random_tensor(pair.inputs.values, random)) value *= factor;
  };
}

auto set_parameter(float value) {
  return [value](Pair& pair, std::mt19937_64& random) {
    random_element(random_tensor(pair.state.parameters, random), random) = value;
  };
}

auto scale_one_parameter(float factor) {
  return [factor](Pair& pair, std::mt19937_64& random) {
    for (float& value : random_tensor(pair.state.parameters, random)) value *= factor;
  };
}

auto scale_parameters(float factor) {
  return [factor](Pair& pair, std::mt19937_64&) {
    for (auto& [name, values] : pair.state.parameters)
      for (float& value : values) value *= factor;
  };
}

const Fault kFaults[] = {
    {"an input that is NaN", set_input(NAN)},
    {"an infinite input", set_input(-INFINITY)},
    {"an input past f16", set_input(1e5f)},
    {"an input near the end of f32", set_input(3.4e38f)},
    {"all inputs past f16", scale_inputs(3e5f)},
    {"all inputs with squares past f32", scale_inputs(1e20f)},
    {"all inputs near the end of f32", scale_inputs(3e38f)},
    {"one input times 1e18", scale_one_input(1e18f)},
    {"a parameter that is NaN", set_parameter(NAN)},
    {"a parameter past f16", set_parameter(-1e6f)},
    {"one parameter times 1e19", scale_one_parameter(1e19f)},
    {"one parameter times 1e38", scale_one_parameter(1e38f)},
    {"all parameters times 300", scale_parameters(300.0f)},
    {"all parameters times 2e4", scale_parameters(2e4f)},
    {"all parameters times 1e13", scale_parameters(1e13f)},
    {"all parameters times 1e18", scale_parameters(1e18f)},
    {"all parameters times 1e28", scale_parameters(1e28f)},
};

/// Of one element of a caller's gradient of an output, all others being small.
// 100 times the loss scale of digits_f16 is past f16, times the next step's it is not.
constexpr float kExternalFaults[] = {NAN, 100.0f, 1e5f, -3e38f};

std::string text(const Location& place) {
  return place.op + " " + place.layer + " " + place.pass + " " + place.role + " " +
         std::to_string(place.element) + " " + std::to_string(place.before) + " -> " +
         std::to_string(place.value) + " " + place.format;
}

bool is_same(const NonFinite& found, const Location& expected) {
  return found.layer == expected.layer && found.op == expected.op && found.pass == expected.pass &&
         found.role == expected.role && found.format == expected.format &&
         (expected.element == kUnknown ||
          (found.element == expected.element && bits(found.value) == bits(expected.value) &&
           bits(found.before) == bits(expected.before)));
}

/// A step up to its skipped update, in parts: an applied one would leave other parameters.
std::optional<NonFinite> diagnose_step(Pair& pair, const reference::Tensors<float>& external) {
  for (const auto& [name, values] : pair.state.parameters) pair.trainer.set_parameter(name, values);
  pair.trainer.forward(pair.named_inputs());
  std::vector<NamedValues> gradients;
  for (const auto& [name, values] : external)
    gradients.push_back({name, std::span<const float>(values)});
  if (gradients.empty())
    pair.trainer.backward();
  else
    pair.trainer.backward(gradients);
  if (!pair.trainer.check()) pair.trainer.update();
  return pair.trainer.diagnose();
}

struct Count {
  int located = 0, wanted = 0, computed = 0, rounded = 0, finite = 0;
};

void compare(Pair& pair, const reference::Tensors<float>& external, Count& count) {
  const std::vector<Location> expected =
      first_non_finite(pair.reference, {pair.symbols, pair.state, pair.inputs, external});
  const std::optional<NonFinite> found = diagnose_step(pair, external);
  const std::string sentence = found ? found->text() : "nothing";
  CAPTURE(sentence);
  if (expected.empty()) {
    ++count.finite;
    CHECK_FALSE(found);
    return;
  }
  ++count.wanted;
  count.computed += expected.front().pass != "none";
  count.rounded += !expected.front().format.empty();
  CAPTURE(text(expected.front()));
  const bool same =
      found && std::ranges::any_of(expected, [&](const Location& e) { return is_same(*found, e); });
  CHECK(same);
  count.located += same;
}

void try_fault(const LinkedArtifact& artifact, const Fault& fault, std::uint64_t seed,
               Count& count) {
  CAPTURE(std::string(artifact.name));
  CAPTURE(std::string(fault.name));
  Pair pair(artifact.name, *artifact.image, tested_variant, kBatch, seed);
  std::mt19937_64 random(seed);
  pair.draw();
  fault.inject(pair, random);
  pair.deliver();
  compare(pair, {}, count);
}

void try_external(const LinkedArtifact& artifact, float value, std::uint64_t seed, Count& count) {
  CAPTURE(std::string(artifact.name));
  CAPTURE(value);
  Pair pair(artifact.name, *artifact.image, tested_variant, kBatch, seed);
  for (const auto& program : pair.artifact.manifest().programs)
    if (!program.loss_without_output.empty()) return;
  std::mt19937_64 random(seed);
  pair.draw();
  reference::Tensors<float> external;
  for (const auto& output : pair.artifact.manifest().outputs)
    for (const auto& described : pair.description.outputs)
      if (described.name == output.name && !output.gradient.empty())
        external[output.name].assign(static_cast<std::size_t>(pair.reference.count(described.node)),
                                     0.0625f);
  if (external.empty()) return;
  random_element(random_tensor(external, random), random) = value;
  compare(pair, external, count);
}

/// Gives row `row` of every loss with labels a weight.
void weigh(Pair& pair, std::size_t row) {
  for (const auto& node : pair.description.nodes) {
    if (node.kind != description::kind_called("cross_entropy")) continue;
    for (const auto& operand : node.operands)
      if (operand.role == "sample_weight")
        pair.inputs.values.at(pair.description.nodes[operand.node].name)[row] = 0.5f;
  }
}

/// The first loss that reads a label.
const std::string& first_reader(const description::Description& model, description::NodeId label) {
  return std::ranges::find_if(model.nodes,
                              [&](const auto& node) {
                                return std::ranges::any_of(node.operands, [&](const auto& operand) {
                                  return operand.node == label;
                                });
                              })
      ->name;
}

}  // namespace

TEST_CASE("diagnose() names the reference's first value that is not finite") {
  Count count;
  std::uint64_t seed = 1;
  for (const LinkedArtifact& artifact : kArtifacts)
    for (const Fault& fault : kFaults) try_fault(artifact, fault, seed++, count);
  for (const LinkedArtifact& artifact : kArtifacts)
    for (const float value : kExternalFaults) try_external(artifact, value, seed++, count);
  MESSAGE("located " << count.located << " of " << count.wanted << " injected faults, "
                     << count.computed << " of them in computed values, " << count.rounded
                     << " by a rounding; " << count.finite << " had no effect");
  CHECK(count.located == count.wanted);
  CHECK(count.wanted >= 200);
  CHECK(count.computed >= 150);
  CHECK(count.rounded >= 40);
}

TEST_CASE("diagnose() names the layer that alone rounds the gradient of its output") {
  for (const LinkedArtifact& artifact : kNarrowArtifacts) {
    Pair pair = make_pair(artifact, tested_variant, kBatch);
    pair.draw();
    Count count;
    const std::size_t size = pair.inputs.values.at("target").size();
    compare(pair, {{"y", std::vector<float>(size, 1e5f)}}, count);
    pair.inputs.values.at("target").assign(size, 1e9f);
    pair.deliver();
    compare(pair, {}, count);
    CHECK(count.rounded == 2);
  }
}

TEST_CASE("diagnose() names a label that its loss has no class for") {
  int losses = 0;
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair(artifact.name, *artifact.image, tested_variant, kBatch);
    for (const auto& node : pair.description.nodes) {
      if (node.kind != description::kind_called("cross_entropy")) continue;
      const auto& name = pair.description.nodes[node.operands[1].node].name;
      const std::int32_t classes = pair.classes(node);
      const std::string& first = first_reader(pair.description, node.operands[1].node);
      for (const std::int32_t wrong : {-1, classes, 2147483647}) {
        const auto& input = pair.description.nodes[pair.reference.find(name)];
        if (!holds(input.format, wrong)) continue;
        pair.draw();
        pair.inputs.integers.at(name)[2] = wrong;
        weigh(pair, 2);
        const auto found = diagnose_step(pair, {});
        REQUIRE(found);
        CHECK(found->text() == "label '" + name + "': element 2 is " + std::to_string(wrong) +
                                   ", but the loss '" + first + "' has " + std::to_string(classes) +
                                   " classes");
        ++losses;
      }
    }
  }
  CHECK(losses >= 30);
}

TEST_CASE("diagnose() names a token that its embedding has no row for") {
  int embeddings = 0;
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair(artifact.name, *artifact.image, tested_variant, kBatch);
    for (const auto& node : pair.description.nodes) {
      if (node.kind != description::kind_called("embedding")) continue;
      const auto& name = pair.description.nodes[node.operands[0].node].name;
      const auto rows = pair.description.nodes[node.operands[1].node].shape.front().extent;
      for (const std::int32_t wrong : {-1, static_cast<std::int32_t>(rows), 2147483647}) {
        const auto& input = pair.description.nodes[pair.reference.find(name)];
        if (!holds(input.format, wrong)) continue;
        pair.draw();
        pair.inputs.integers.at(name)[2] = wrong;
        const auto found = diagnose_step(pair, {});
        REQUIRE(found);
        CHECK(found->text() == "token '" + name + "': element 2 is " + std::to_string(wrong) +
                                   ", but the embedding '" + node.name + "' has " +
                                   std::to_string(rows) + " rows");
        ++embeddings;
      }
    }
  }
  CHECK(embeddings >= 12);
}

TEST_CASE("diagnose() passes over metrics, which spoil no step (D6)") {
  for (const LinkedArtifact& artifact : kEdgeArtifacts) {
    Pair pair = make_pair(artifact, tested_variant, kBatch);
    pair.draw();
    CHECK_FALSE(diagnose_step(pair, {}));
    CHECK(std::isnan(pair.trainer.loss("undefined")));
    pair.trainer.update();
    // What a metric alone reads.
    pair.inputs.values.at("scores")[0] = NAN;
    pair.inputs.integers.at("rank")[0] = -1;
    CHECK_FALSE(diagnose_step(pair, {}));
    pair.trainer.update();
    CHECK(pair.trainer.updated());
    // A loss behind the metrics in the order of execution: its square is past f32.
    pair.inputs.values.at("target")[0] = 3e38f;
    const auto found = diagnose_step(pair, {});
    REQUIRE(found);
    CHECK(found->layer == "error");
  }
}

TEST_CASE("a skipped step leaves the user's states, and its replay reads them, as they were") {
  for (const LinkedArtifact& artifact : kArtifacts) {
    if (std::string_view(artifact.name) != "state_average") continue;
    Pair pair(artifact.name, *artifact.image, tested_variant, kBatch);
    pair.draw();
    // fc is infinite in its first element, and so is the average that is not assigned (S4).
    auto& weight = pair.state.parameters.at("fc.weight");
    const auto& x = pair.inputs.values.at("x");
    for (std::size_t i = 0; i < 8; ++i) weight[i] = std::copysign(3e38f, x[i]);
    const auto found = diagnose_step(pair, {});
    REQUIRE(found);
    CHECK(found->text() ==
          "linear 'fc' in forward: element 0 of its activation is inf (format by the rule "
          "'everywhere : store f32 compute f32 accumulate f32 master f32')");
    pair.trainer.step(pair.named_inputs());
    CHECK_FALSE(pair.trainer.updated());
    const auto next = pair.trainer.diagnose();
    REQUIRE(next);
    CHECK(next->text() == found->text());
  }
}

}  // namespace halftone::tests
