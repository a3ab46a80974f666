// SPDX-License-Identifier: Apache-2.0
// In the order of execution: what was given, working copies, layers, losses, then the gradients of
// losses and layers from the last to the first. Every value before its roundings and after each.
#include "first_non_finite.hpp"

#include <algorithm>
#include <cmath>

#include "halftone/description/text.hpp"
#include "operation.hpp"

namespace halftone::tests {

namespace {

using description::Kind, description::Node, description::NodeId, description::Pass,
    description::Role;
using reference::RoundTo, reference::is_layer, reference::is_loss, reference::is_parameter,
    reference::rounded;
using Floats = std::vector<float>;

constexpr Pass kGradientPasses[] = {Pass::input_gradient, Pass::weight_gradient};

/// The same model, in which what a layer leaves in f32 is stored as it is.
description::Description with_rule(description::Description model, const std::string& layer,
                                   const std::string& fields) {
  auto rule = description::parse_rule("where layer \"" + layer + "\" : " + fields);
  model.rules.push_back(std::get<description::Rule>(std::move(rule)));
  return model;
}

class Search {
 public:
  Search(const reference::Declared& reference, const Given& given)
      : model_(reference.description()),
        rules_(reference.rules()),
        given_(given),
        forward_(reference.forward(given.state, given.inputs)),
        needed_(model_.nodes.size()),
        awaited_(model_.nodes.size()),
        gradients_(model_.nodes.size()) {
    for (NodeId id = 0; id < size(); ++id) {
      const Node& node = model_.nodes[id];
      needed_[id] = reference::is_trained(node) || needs_any(node);
    }
  }

  std::vector<Location> run() {
    search_given();
    search_working_copies();
    for (NodeId id = 0; id < size(); ++id)
      if (is_given(id)) search_copies(id, {Pass::forward}, false);
    for (NodeId id = 0; id < size(); ++id) search_layer(id);
    if (given_.external.empty()) search_losses();
    search_backward();
    return found_;
  }

 private:
  [[nodiscard]] NodeId size() const { return static_cast<NodeId>(model_.nodes.size()); }
  [[nodiscard]] const Node& node(NodeId id) const { return model_.nodes[id]; }
  [[nodiscard]] bool is_given(NodeId id) const {
    return node(id).kind == Kind::input || node(id).kind == Kind::state;
  }
  [[nodiscard]] bool needs_any(const Node& node) const {
    return std::ranges::any_of(node.operands, [&](const auto& o) { return needed_[o.node]; });
  }

  /// Notes the first element that is not finite.
  void look(const Floats& values, const std::string& layer, const char* pass, const char* role) {
    const auto at = std::ranges::find_if(values, [](float v) { return !std::isfinite(v); });
    if (at != values.end()) found_.push_back({layer, pass, role, at - values.begin()});
  }

  /// The same, unless the search has ended before.
  void look_next(const Floats& values, const std::string& layer, const char* pass,
                 const char* role) {
    if (found_.empty()) look(values, layer, pass, role);
  }

  void search_given() {
    for (NodeId id = 0; id < size(); ++id)
      if (is_parameter(node(id))) look_next(forward_.values[id], node(id).name, "none", "master");
    for (NodeId id = 0; id < size(); ++id)
      if (is_given(id)) look_next(forward_.values[id], node(id).name, "none", "activation");
    for (const auto& [name, values] : given_.external) look_next(values, name, "none", "gradient");
  }

  /// P30: every weight as its readers read it.
  void search_working_copies() {
    if (!found_.empty()) return;
    for (NodeId id = 0; id < size(); ++id) {
      for (const Node& reader : model_.nodes) {
        if (!is_parameter(node(id)) || !reads(reader, id)) continue;
        const auto at = static_cast<NodeId>(&reader - model_.nodes.data());
        Floats stored = rounded(rules_.store(id, Role::weight), forward_.values[id]);
        for (Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient})
          look(rounded(rules_.operand(at, pass, Role::weight), stored), node(id).name, "none",
               "weight");
      }
    }
  }

  [[nodiscard]] static bool reads(const Node& reader, NodeId id) {
    return std::ranges::any_of(reader.operands, [&](const auto& o) { return o.node == id; });
  }

  /// Whether a gradient formula (D40 to D51) reads the operands that are no parameters.
  [[nodiscard]] bool reads_saved(const Node& reader, Pass pass) const {
    if (!needs_any(reader) || reader.kind == Kind::add || reader.kind == Kind::concat) return false;
    if (reader.kind == Kind::linear) return pass == Pass::weight_gradient;
    return pass == Pass::input_gradient || reader.kind == Kind::layer_norm;
  }

  /// P38: the copies of a value that its readers' operations need; `losses`: of losses alone, or of
  /// all other operations.
  void search_copies(NodeId id, std::vector<Pass> passes, bool losses) {
    if (!found_.empty() || node(id).format == description::Format::i32) return;
    const Floats& value = forward_.values[id];
    for (NodeId at = 0; at < size(); ++at) {
      if (!reads(node(at), id) || is_loss(node(at)) != losses) continue;
      for (Pass pass : passes) {
        if (pass == Pass::forward) {
          look(rounded(rules_.operand(at, pass, Role::activation), value), node(id).name, "forward",
               "activation");
        } else if (reads_saved(node(at), pass)) {
          look(rounded(rules_.operand(at, pass, Role::saved),
                       rounded(rules_.store(id, Role::saved), value)),
               node(id).name, "forward", "saved");
        }
      }
    }
  }

  void search_layer(NodeId id) {
    if (!is_layer(node(id)) || !found_.empty()) return;
    const std::string& name = node(id).name;
    const Floats& stored = forward_.values[id];
    if (std::ranges::any_of(stored, [](float v) { return !std::isfinite(v); })) {
      const reference::Declared exact(with_rule(model_, name, "store f32 result f32"),
                                      given_.symbols);
      Floats value = exact.forward(given_.state, given_.inputs).values[id];
      look_next(value, name, "forward", "activation");
      value = rounded(rules_.result(id, Pass::forward), std::move(value));
      look_next(value, name, "forward", "activation");
      look_next(stored, name, "forward", "activation");
    }
    const std::vector<Pass> all = {Pass::forward, Pass::input_gradient, Pass::weight_gradient};
    search_copies(id, all, false);
    search_copies(id, all, true);
  }

  void search_losses() {
    for (NodeId id = 0; id < size(); ++id)
      if (is_given(id)) search_copies(id, {Pass::forward}, true);
    for (NodeId id = 0; id < size(); ++id) search_loss(id);
  }

  void search_loss(NodeId id) {
    if (!is_loss(node(id)) || !found_.empty()) return;
    if (std::isfinite(forward_.values[id][0])) return;
    look(node(id).kind == Kind::mse ? squares(id) : forward_.values[id], node(id).name, "forward",
         "activation");
    if (found_.empty()) look(forward_.values[id], node(id).name, "forward", "activation");
    if (node(id).kind != Kind::mse) found_.back().element = kUnknown;
  }

  /// D31, before the mean.
  [[nodiscard]] Floats squares(NodeId id) const {
    const RoundTo to = rules_.operand(id, Pass::forward, Role::activation);
    Floats x = rounded(to, forward_.values[node(id).operands[0].node]);
    const Floats target = rounded(to, forward_.values[node(id).operands[1].node]);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = (x[i] - target[i]) * (x[i] - target[i]);
    return x;
  }

  //===--- Backward ---===//

  void search_backward() {
    for (NodeId id = 0; id < size(); ++id)
      if (needs_any(node(id)) && (given_.external.empty() || !is_loss(node(id))))
        for (const auto& operand : node(id).operands)
          awaited_[operand.node] += needed_[operand.node];
    for (const description::Output& output : model_.outputs)
      if (given_.external.contains(output.name)) start_from(output);
    for (const description::Loss& loss : model_.losses)
      if (given_.external.empty())
        gradients_[loss.node] = {static_cast<float>(loss.weight) * forward_.scale};
    for (const bool losses : {true, false})
      for (NodeId id = size(); id-- > 0 && found_.empty();)
        if (!node(id).operands.empty() && is_loss(node(id)) == losses && !gradients_[id].empty())
          hand_on(id);
  }

  /// P36
  void start_from(const description::Output& output) {
    Floats gradient = given_.external.at(output.name);
    for (float& value : gradient) value *= forward_.scale;
    look_at_gradient(gradient, output.name, output.node);
    ++awaited_[output.node];
    arrive(output.node, rounded(store(output.node), std::move(gradient)), output.name);
  }

  void hand_on(NodeId id) {
    const std::string& name = node(id).name;
    const auto exact_model = with_rule(model_, name, "result f32");
    const reference::Resolution exact_rules(exact_model);
    const reference::Operation<float> declared(model_, rules_, given_.symbols, forward_, id),
        exact(exact_model, exact_rules, given_.symbols, forward_, id);
    std::vector<Floats> arriving(node(id).operands.size());
    for (Pass pass : kGradientPasses) {
      const auto raw = exact.gradients(pass, gradients_[id]);
      auto results = declared.gradients(pass, gradients_[id]);
      for (std::size_t i = 0; i < results.size(); ++i) {
        const NodeId to = node(id).operands[i].node;
        if (results[i].empty() || !needed_[to]) continue;
        look_at_gradient(raw[i], name, to);
        look_at_gradient(results[i], name, to);
        arriving[i] = rounded(store(to), std::move(results[i]));
        look_at_gradient(arriving[i], name, to);
      }
    }
    for (std::size_t i = 0; i < arriving.size() && found_.empty(); ++i)
      if (!arriving[i].empty()) arrive(node(id).operands[i].node, std::move(arriving[i]), name);
  }

  [[nodiscard]] RoundTo store(NodeId to) const {
    return is_layer(node(to)) ? rules_.store(to, Role::gradient) : RoundTo{};
  }

  void look_at_gradient(const Floats& values, const std::string& layer, NodeId to) {
    const bool weight = is_parameter(node(to));
    look_next(values, layer, weight ? "weight_gradient" : "input_gradient",
              weight ? "weight_gradient" : "gradient");
  }

  void arrive(NodeId to, Floats contribution, const std::string& from) {
    Floats& gradient = gradients_[to];
    look_at_gradient(contribution, from, to);
    if (gradient.empty()) {
      gradient = std::move(contribution);
    } else {
      for (std::size_t e = 0; e < gradient.size(); ++e) gradient[e] += contribution[e];
      look_at_gradient(gradient, from, to);
      gradient = rounded(store(to), std::move(gradient));
      look_at_gradient(gradient, from, to);
    }
    if (--awaited_[to] == 0 && is_layer(node(to)) && found_.empty()) {
      for (Pass pass : kGradientPasses) {
        const Floats copy = rounded(rules_.operand(to, pass, Role::gradient), gradient);
        look(copy, from, "input_gradient", "gradient");
        look(copy, node(to).name, "input_gradient", "gradient");  // past the point of an output
      }
    }
  }

  const description::Description& model_;
  const reference::Resolution& rules_;
  const Given& given_;
  reference::Forward<float> forward_;
  std::vector<bool> needed_;  ///< whether a trained parameter comes before
  std::vector<int> awaited_;  ///< contributions to a gradient that are still to come
  reference::Gradients<float> gradients_;
  std::vector<Location> found_;
};

}  // namespace

std::vector<Location> first_non_finite(const reference::Declared& reference, const Given& given) {
  return Search(reference, given).run();
}

}  // namespace halftone::tests
