// SPDX-License-Identifier: Apache-2.0
// The sums of `halftone explain --json`, recomputed from the Description alone.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "models.hpp"
#include "plain_rules.hpp"
#include "run_tool.hpp"

namespace halftone::tests {
namespace {

using description::Element;
using description::Kind;
using description::kind_called;
using description::NodeId;

constexpr std::int64_t kSymbol = 32;  // what every symbol is bound to

struct Sum {
  std::int64_t count = 0, bytes = 0;
  bool operator==(const Sum&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Sum& sum) {
  return out << sum.count << " values, " << sum.bytes << " bytes";
}

/// By role and format.
using Sums = std::map<std::pair<std::string, std::string>, Sum>;

/// Whether a value held in `from` is read as `to` without being rounded (F4).
bool is_exact(Element from, Element to) { return from == to || to == Element::f32; }

/// What docs/spec/precision.md says that there is, P2 by P2.
class Expected {
 public:
  explicit Expected(const PlainModel& model) : model_(model) {}

  Sums training() {
    add_forward(true);
    add_gradients();
    add_parameters(true);
    add_optimizer();
    return std::move(sums_);
  }

  Sums inference() {
    add_forward(false);
    add_parameters(false);
    return std::move(sums_);
  }

 private:
  void add(const char* role, Element format, NodeId node) {
    Sum& sum = sums_[{role, encoding::word(format)}];
    ++sum.count;
    sum.bytes += model_.bytes(node, format, kSymbol);
  }

  void add_flat(const char* role, std::int64_t tensors, std::int64_t bytes) {
    Sum& sum = sums_[{role, "f32"}];
    sum.count += tensors;
    sum.bytes += bytes;
  }

  Element held(NodeId node) const {
    const bool is_layer = PlainModel::is_layer(kind(node));
    return is_layer ? model_.store(node) : Element::f32;  // P36
  }

  Kind kind(NodeId node) const { return model_.nodes()[static_cast<std::size_t>(node)].kind; }
  NodeId count() const { return static_cast<NodeId>(model_.nodes().size()); }

  /// P32: a result each. P30, P38: a copy for each format that an operand is read in.
  void add_forward(bool with_losses) {
    std::set<std::pair<NodeId, Element>> copies, weights;
    for (NodeId id = 0; id < count(); ++id) {
      const bool is_layer = PlainModel::is_layer(kind(id));
      if (is_layer) add("activation", model_.store(id), id);
      if (!is_layer && !(with_losses && PlainModel::is_loss(kind(id)))) continue;
      for (const NodeId operand : model_.operands(id)) {
        if (!is_exact(held(operand), model_.compute(id)))
          copies.insert({operand, model_.compute(id)});
      }
      for (const NodeId parameter : model_.parameters(id)) {
        weights.insert({parameter, model_.compute(id)});
      }
    }
    for (const auto& [node, format] : copies) add("activation", format, node);
    for (const auto& [node, format] : weights) add("weight", format, node);
  }

  /// P34: every contribution and every partial sum; add hands on what arrives.
  void add_gradients() {
    std::map<NodeId, int> contributions;
    for (NodeId user = 0; user < count(); ++user) {
      if (!PlainModel::is_loss(kind(user)) && !model_.has_gradient(user)) continue;
      for (const NodeId operand : model_.operands(user)) {
        if (!model_.has_gradient(operand)) continue;
        ++contributions[operand];
        if (kind(user) != kind_called("add")) add("gradient", model_.store(operand), operand);
      }
    }
    for (const auto& [layer, number] : contributions) {
      for (int sum = 1; sum < number; ++sum) add("gradient", model_.store(layer), layer);
    }
  }

  void add_parameters(bool is_training) {
    for (NodeId id = 0; id < count(); ++id) {
      if (kind(id) != kind_called("parameter")) continue;
      add("master", Element::f32, id);
      if (is_training && model_.is_trained(id)) add("weight_gradient", Element::f32, id);
    }
  }

  /// U4 to U6 and L3, L4: moments lie like the parameters, each at a multiple of 32 elements.
  void add_optimizer() {
    std::int64_t flat = 0;
    for (NodeId id = 0; id < count(); ++id) {
      if (kind(id) != kind_called("parameter") || !model_.is_trained(id)) continue;
      flat += (model_.bytes(id, Element::f32, kSymbol) + 127) / 128 * 128;
    }
    const auto& optimizer = model_.description().optimizer;
    const auto* sgd = std::get_if<description::Sgd>(&optimizer);
    if (sgd == nullptr) {                                    // adam or adamw
      add_flat("optimizer_state", 2 + 4, 2 * flat + 4 * 4);  // two powers of two f32 each
    } else if (sgd->momentum != 0.0) {
      add_flat("optimizer_state", 1, flat);
    }
    for (const auto& rule : model_.description().rules) {
      if (!rule.loss_scale) continue;
      const bool dynamic = rule.loss_scale->kind == description::LossScale::Kind::dynamic;
      add_flat("optimizer_state", dynamic ? 4 : 1,
               dynamic ? 16 : 4);  // scale, wait, clean, floored
    }
  }

  const PlainModel& model_;
  Sums sums_;
};

Sums totals_of(const nlohmann::json& program) {
  Sums sums;
  for (const auto& total : program["totals"]["values"]) {
    sums[{total["role"], total["format"]}] = {total["count"], total["bytes"]};
  }
  return sums;
}

const nlohmann::json& program_of(const nlohmann::json& explanation, const std::string& name) {
  for (const auto& program : explanation["programs"]) {
    if (program["name"] == name) return program;
  }
  throw std::runtime_error("no program " + name);
}

void check_equal(const Sums& expected, const Sums& found) {
  for (const auto& [key, sum] : expected) {
    CAPTURE(key.first);
    CAPTURE(key.second);
    const auto at = found.find(key);
    CHECK((at == found.end() ? Sum{} : at->second) == sum);
  }
  for (const auto& [key, sum] : found) {
    CAPTURE(key.first);
    CAPTURE(key.second);
    CHECK(expected.contains(key));
  }
}

/// What lasts lies side by side; activations share what is left, at worst with nobody.
void check_arena(const nlohmann::json& program) {
  std::int64_t lasting = 0, activations = 0, accumulated = 0, buffers = 0;
  for (const auto& total : program["totals"]["buffers"]) {
    const std::int64_t bytes = total["bytes"];
    (total["role"] == "activation"    ? activations
     : total["role"] == "accumulated" ? accumulated
                                      : lasting) += bytes;
    buffers += total["count"].get<std::int64_t>();
  }
  const std::int64_t arena = program["arena_bytes"];
  CHECK(arena >= lasting);
  CHECK(arena <= lasting + activations + 63 * buffers);  // a slot is a multiple of 64 bytes
  CHECK(program["accumulated_bytes"].get<std::int64_t>() == (accumulated + 63) / 64 * 64);
}

/// P38: every value in a narrow format is made by one rounding; inference does not write copies of
/// weights.
std::int64_t roundings(const Sums& sums, bool with_weights) {
  std::int64_t count = 0;
  for (const auto& [key, sum] : sums) {
    if (key.second != "f32" && (with_weights || key.first != "weight")) count += sum.count;
  }
  return count;
}

/// Of these, those of values that are columns of others: a concat's, a slice's, and what they hand
/// back. Where a plan leaves them in their place they are rounded already (decisions/0051).
std::int64_t roundings_of_columns(const PlainModel& model, bool with_gradients) {
  std::int64_t count = 0;
  for (NodeId id = 0; id < static_cast<NodeId>(model.nodes().size()); ++id) {
    const Kind kind = model.nodes()[static_cast<std::size_t>(id)].kind;
    if (kind != kind_called("concat") && kind != kind_called("slice")) continue;
    count += model.store(id) == Element::f32 ? 0 : 1;
    if (!with_gradients || !model.has_gradient(id)) continue;
    for (const NodeId operand : model.operands(id))
      if (model.has_gradient(operand) && model.store(operand) != Element::f32) ++count;
  }
  return count;
}

void check_casts(const PlainModel& model, const nlohmann::json& program, std::int64_t all,
                 bool is_training) {
  const std::int64_t casts = program["casts_per_step"];
  CHECK(casts <= all);
  CHECK(casts >= all - roundings_of_columns(model, is_training));
}

struct Case {
  std::string model, rules;  ///< rules: "own" or "bf16"
};

/// All of f32, with two formats and with a loss scale; then what else changes sums: frozen
/// parameters, two symbols, another optimizer, sums of gradients, several inputs.
std::vector<Case> cases() {
  return {{"digits", "own"},      {"digits_bf16", "own"},
          {"every_layer", "own"}, {"frozen_and_scaled", "bf16"},
          {"rank3", "bf16"},      {"relu_sgd_momentum", "bf16"},
          {"skip", "bf16"},       {"two_inputs", "bf16"}};
}

description::Description described(const Case& c) {
  description::Description description = load_model(c.model);
  if (c.rules != "own") description.rules = load_model("digits_bf16").rules;
  return description;
}

nlohmann::json explained(const Case& c, const description::Description& description) {
  std::string symbols;
  std::set<std::string> names;
  for (const auto& node : description.nodes) {
    for (const auto& dimension : node.shape) names.insert(dimension.symbol);
  }
  names.erase("");
  for (const std::string& name : names) {
    symbols += (symbols.empty() ? "" : ",") + name + "=" + std::to_string(kSymbol);
  }
  return json_of("explain " + std::string(TOOL_ARTIFACTS) + "/" + c.model + "." + c.rules +
                 ".o --symbols " + symbols);
}

}  // namespace

TEST_CASE("explain's sums over values and its casts are those of the description") {
  for (const Case& c : cases()) {
    CAPTURE(c.model);
    CAPTURE(c.rules);
    const auto description = described(c);
    const PlainModel model(description);
    const nlohmann::json json = explained(c, description);
    const Sums training = Expected(model).training(), inference = Expected(model).inference();
    check_equal(training, totals_of(program_of(json, "training")));
    check_equal(inference, totals_of(program_of(json, "inference")));
    check_casts(model, program_of(json, "training"), roundings(training, true), true);
    check_casts(model, program_of(json, "inference"), roundings(inference, false), false);
  }
}

TEST_CASE("explain counts the description's parameters") {
  for (const Case& c : cases()) {
    CAPTURE(c.model);
    const auto description = described(c);
    const PlainModel model(description);
    std::int64_t tensors = 0, elements = 0, trained = 0;
    for (NodeId id = 0; id < static_cast<NodeId>(model.nodes().size()); ++id) {
      if (model.nodes()[static_cast<std::size_t>(id)].kind != kind_called("parameter")) continue;
      const std::int64_t count = model.bytes(id, Element::f32, kSymbol) / 4;
      ++tensors;
      elements += count;
      if (model.is_trained(id)) trained += count;
    }
    const nlohmann::json json = explained(c, description)["parameters"];
    CHECK(json["tensors"] == tensors);
    CHECK(json["elements"] == elements);
    CHECK(json["trained"] == trained);
  }
}

TEST_CASE("totals are the sums of what explain lists, and an arena holds its flat buffers") {
  for (const Case& c : cases()) {
    CAPTURE(c.model);
    CAPTURE(c.rules);
    const auto description = described(c);
    const nlohmann::json json = explained(c, description);
    for (const char* name : {"training", "inference"}) {
      const nlohmann::json& program = program_of(json, name);
      Sums listed;
      std::map<std::pair<std::string, std::string>, std::int64_t> stored;
      for (const auto& value : program["values"]) {
        Sum& sum = listed[{value["role"], value["format"]}];
        ++sum.count;
        sum.bytes += value["bytes"].get<std::int64_t>();
        if (value["stored"])
          stored[{value["role"], value["format"]}] += value["bytes"].get<std::int64_t>();
      }
      check_equal(listed, totals_of(program));
      for (const auto& total : program["totals"]["values"]) {
        CHECK(total["stored_bytes"] == stored[{total["role"], total["format"]}]);
      }
      check_arena(program);
    }
  }
}

TEST_CASE("sizes with symbols that are not bound are products of them") {
  const std::string file = std::string(TOOL_ARTIFACTS) + "/rank3.bf16.o";
  const nlohmann::json json = json_of("explain " + file + " --symbols batch=3");
  const nlohmann::json& program = program_of(json, "inference");
  CHECK(json["symbols"] == nlohmann::json{{"batch", 3}, {"time", nullptr}});
  CHECK(program["arena_bytes"].is_null());
  for (const auto& value : program["values"]) {
    if (value["name"] != "fc" || value["role"] != "activation") continue;
    CHECK(value["bytes"] == "192*time");  // 3 * time * 32 values of 2 bytes
    CHECK(value["shape"] == nlohmann::json::array({3, "time", 32}));
  }
}

}  // namespace halftone::tests
