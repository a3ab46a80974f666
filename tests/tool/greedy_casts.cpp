// SPDX-License-Identifier: Apache-2.0
// Casts and bytes of artifacts beside what an operator-local autocast would do: each operation
// casts each operand that is not in the operation's own format, every time, and leaves its result
// in it.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "models.hpp"
#include "plain_rules.hpp"
#include "run_tool.hpp"

namespace halftone::tests {
namespace {

using description::Element;
using description::Kind;
using description::kind_called;
using description::NodeId;

/// Counts operation by operation, as a graph of plain tensor operations runs: forward, the gradient
/// of each operand, of each parameter, the sums of gradients, and the f32 update of parameters.
class Greedy {
 public:
  explicit Greedy(const PlainModel& model) : model_(model) {}

  struct Count {
    int roundings = 0;  // of operands and results
    int launches = 0;   // operands cast, to either side
  };

  Count count() {
    const auto nodes = static_cast<NodeId>(model_.nodes().size());
    for (NodeId id = 0; id < nodes; ++id) {
      if (is_operation(id)) forward(id);
    }
    for (NodeId id = nodes; id-- > 0;) {
      if (is_operation(id)) backward(id);
    }
    return count_;
  }

 private:
  const description::Node& node(NodeId id) const {
    return model_.nodes()[static_cast<std::size_t>(id)];
  }
  bool is_operation(NodeId id) const {
    return PlainModel::is_layer(node(id).kind) || PlainModel::is_loss(node(id).kind);
  }

  /// What a tensor is in: a source is f32, a result in its operation's format.
  Element format_of(NodeId id) const {
    return is_operation(id) ? model_.compute(id) : Element::f32;
  }

  void read(Element held, Element wanted) {
    if (held == wanted) return;
    ++count_.launches;
    if (wanted != Element::f32) ++count_.roundings;
  }

  void leave(Element own) {
    if (own != Element::f32) ++count_.roundings;
  }

  void forward(NodeId id) {
    for (const NodeId operand : model_.operands(id)) read(format_of(operand), model_.compute(id));
    for (const NodeId parameter : model_.parameters(id)) {
      read(format_of(parameter), model_.compute(id));
    }
    if (!PlainModel::is_loss(node(id).kind)) leave(model_.compute(id));
  }

  void backward(NodeId id) {
    const bool is_loss = PlainModel::is_loss(node(id).kind);
    if (!is_loss && !gradients_.contains(id)) return;
    const Element own = model_.compute(id), arriving = is_loss ? own : gradients_[id];
    for (const NodeId operand : model_.operands(id)) {
      if (!model_.has_gradient(operand)) continue;
      if (node(id).kind == kind_called("add") || node(id).kind == kind_called("concat")) {
        contribute(operand, arriving);  // handed on, or a part of it
        continue;
      }
      read(arriving, own);
      read_other_operands(id, own);
      leave(own);
      contribute(operand, own);
    }
    for (const NodeId parameter : model_.parameters(id)) {
      if (!model_.is_trained(parameter)) continue;
      read(arriving, own);
      const bool is_bias = node(parameter).shape.size() == 1;
      if (!is_bias || node(id).kind == kind_called("pointwise")) read_values(id, own);
      if (node(id).kind == kind_called("layer_norm") && node(id).operands[1].node == parameter) {
        read_values(id, own);
      }
      leave(own);
      read(own, Element::f32);  // the update
    }
  }

  /// Beside the arriving gradient: linear reads its weight, all else what it read in forward.
  void read_other_operands(NodeId id, Element own) {
    if (node(id).kind != kind_called("linear")) read_values(id, own);
    if (node(id).kind == kind_called("linear") || node(id).kind == kind_called("layer_norm")) {
      read(format_of(model_.parameters(id).front()), own);
    }
  }

  void read_values(NodeId id, Element own) {
    for (const NodeId operand : model_.operands(id)) read(format_of(operand), own);
  }

  /// Sums are made in the format of the value whose gradient it is.
  void contribute(NodeId layer, Element format) {
    const auto known = gradients_.find(layer);
    if (known == gradients_.end()) {
      gradients_[layer] = format;
      return;
    }
    read(known->second, format_of(layer));
    read(format, format_of(layer));
    leave(format_of(layer));
    known->second = format_of(layer);
  }

  const PlainModel& model_;
  std::map<NodeId, Element> gradients_;  // what has arrived at a layer's result so far
  Count count_;
};

nlohmann::json training_of(const std::string& artifact, int batch = 32) {
  const nlohmann::json json = json_of("explain " + std::string(TOOL_ARTIFACTS) + "/" + artifact +
                                      ".o --symbols batch=" + std::to_string(batch));
  for (const auto& program : json["programs"]) {
    if (program["name"] == "training") return program;
  }
  throw std::runtime_error("no training program in " + artifact);
}

description::Description described(const std::string& model, const std::string& rules) {
  description::Description description = load_model(model);
  if (rules != "own") description.rules = load_model("digits_bf16").rules;
  return description;
}

std::int64_t bytes_of(const nlohmann::json& program, const std::string& role) {
  std::int64_t bytes = 0;
  for (const auto& total : program["totals"]["values"]) {
    if (total["role"] == role) bytes += total["stored_bytes"].get<std::int64_t>();
  }
  return bytes;
}

}  // namespace

TEST_CASE("an operator-local autocast of two linear layers casts what it is known to cast") {
  description::Description description = load_model("relu_sgd_momentum");
  description.rules = load_model("digits_bf16").rules;
  const auto [roundings, launches] = Greedy(PlainModel(description)).count();
  // Forward: x, weight and bias of fc1, weight and bias of fc2, and the logits that the loss reads.
  // Backward: the logits; fc2's three gradients each read what the loss left in f32, one the
  // weight; the update reads two gradients. fc1: the weight's gradient reads x; the update reads
  // two.
  CHECK(launches == 6 + 1 + (3 + 1 + 2) + (1 + 2));
  // Of these all but the logits, twice, and the four that updates read; results of fc1, relu, fc2,
  // of fc2's three gradients, relu's, and fc1's two.
  CHECK(roundings == 16 - 2 - 4 + 3 + 3 + 1 + 2);
}

TEST_CASE("an operator-local autocast of the digits casts what it is known to cast") {
  // Layers forward, then from the loss back: operand's, weight's and bias's gradient and updates.
  const int forward = 3 + 0 + 1 + 3 + 0 + 2 + 1;  // fc1 act1 norm fc2 act2 head xent
  const int xent = 1, head = 2 + (1 + 1) + (1 + 1), fc2 = 1 + (1 + 1) + (0 + 1);
  const int norm = 2 + 2 + 1, act1 = 1, fc1 = (1 + 1) + (0 + 1);
  CHECK(Greedy(PlainModel(load_model("digits_bf16"))).count().launches ==
        forward + xent + head + fc2 + norm + act1 + fc1);
}

TEST_CASE("a step casts less than an operator-local autocast would") {
  struct {
    std::string model, rules;
  } specs[] = {{"digits_bf16", "own"}, {"every_layer", "own"}, {"two_inputs", "bf16"}};
  MESSAGE("model, rules: roundings of an autocast, ours; launches to cast of an autocast, ours");
  for (const auto& spec : specs) {
    CAPTURE(spec.model);
    const auto greedy = Greedy(PlainModel(described(spec.model, spec.rules))).count();
    const nlohmann::json training = training_of(spec.model + "." + spec.rules);
    const int ours = training["casts_per_step"], launches = training["casts_with_own_launch"];
    MESSAGE(spec.model << ", " << spec.rules << ": " << greedy.roundings << ", " << ours << "; "
                       << greedy.launches << ", " << launches);
    CHECK(ours > 0);
    CHECK(ours < greedy.roundings);
    CHECK(launches < greedy.launches);
    CHECK(training["casts"].size() == training["casts_per_step"]);
  }
}

TEST_CASE("bf16 halves what activations take, and the weights that contractions read") {
  MESSAGE("batch: bytes of activations in f32, in bf16, of weights as read, arenas");
  for (const int batch : {1, 32, 256}) {
    CAPTURE(batch);
    const nlohmann::json f32 = training_of("digits.own", batch);
    const nlohmann::json bf16 = training_of("digits_bf16.own", batch);
    MESSAGE(batch << ": " << bytes_of(f32, "activation") << ", " << bytes_of(bf16, "activation")
                  << "; " << bytes_of(f32, "weight") << ", " << bytes_of(bf16, "weight") << "; "
                  << f32["arena_bytes"] << ", " << bf16["arena_bytes"]);
    CHECK(bytes_of(bf16, "activation") < bytes_of(f32, "activation"));
    CHECK(bytes_of(bf16, "weight") < bytes_of(f32, "weight"));
  }
}

}  // namespace halftone::tests
