// SPDX-License-Identifier: Apache-2.0
// In the order of execution: what was given, working copies, layers, what losses alone read,
// losses, then the gradients of losses and layers from the last to the first. Every value before
// its roundings and after each.
#include "first_non_finite.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <string>
#include <variant>

#include "delayed.hpp"
#include "halftone/description/text.hpp"
#include "halftone/encoding/text.hpp"
#include "halftone/encoding/traits.hpp"
#include "operation.hpp"
#include "settings.hpp"

namespace halftone::tests {

namespace {

using description::Kind, description::Node, description::NodeId, description::Pass,
    description::Role;
using reference::RoundTo, reference::is_layer, reference::is_loss, reference::is_parameter;
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
        inputs_(passing_over(reference, given)),
        given_{given.symbols, given.state, inputs_, given.external},
        forward_(reference.forward(given_.state, given_.inputs)),
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
  /// D6, D73: what metrics alone read, and what losses alone read and weigh 0, is none of a step's.
  static reference::Inputs<float> passing_over(const reference::Declared& reference,
                                               const Given& given) {
    reference::Inputs<float> inputs = given.inputs;
    const description::Description& model = reference.description();
    const auto forward = reference.forward(given.state, given.inputs);
    for (NodeId id = 0; id < static_cast<NodeId>(model.nodes.size()); ++id) {
      const Node& input = model.nodes[id];
      if (!description::is_input(input.kind) || !inputs.values.contains(input.name)) continue;
      Floats& values = inputs.values.at(input.name);
      for (std::size_t e = 0; e < values.size(); ++e) {
        const bool counts = std::ranges::any_of(model.nodes, [&](const Node& reader) {
          return reads(reader, id) && !is_metric(model, reader) &&
                 !weighs_nothing(forward, reader, id, e) &&
                 !is_ignored(given.inputs, model, reader, id, e);
        });
        if (!counts) values[e] = 0;
      }
    }
    return inputs;
  }

  /// Whether element `e` of the input is of a summand of the reader that has weight 0.
  static bool weighs_nothing(const reference::Forward<float>& forward, const Node& reader,
                             NodeId input, std::size_t e) {
    const description::Operand& last = reader.operands.back();
    if (last.role != "sample_weight" || last.node == input) return false;
    const Floats& weights = forward.values[last.node];
    return weights[e / (forward.values[input].size() / weights.size())] == 0;
  }

  /// Whether element `e` of the input is the weight of a row that the reader ignores (D71).
  static bool is_ignored(const reference::Inputs<float>& inputs,
                         const description::Description& model, const Node& reader, NodeId input,
                         std::size_t e) {
    const std::map<std::string, double> numbers = reference::settings_of(reader).numbers;
    if (!numbers.contains("ignore_index") || reader.operands.back().node != input) return false;
    const auto label = std::ranges::find(reader.operands, "label", &description::Operand::role);
    return inputs.integers.at(model.nodes[label->node].name)[e] == numbers.at("ignore_index");
  }

  /// D6: none of a step's.
  static bool is_metric(const description::Description& model, const Node& loss) {
    return std::ranges::any_of(model.losses, [&](const description::Loss& each) {
      return &model.nodes[each.node] == &loss && static_cast<float>(each.weight) == 0;
    });
  }

  [[nodiscard]] NodeId size() const { return static_cast<NodeId>(model_.nodes.size()); }
  [[nodiscard]] const Node& node(NodeId id) const { return model_.nodes[id]; }
  [[nodiscard]] bool is_given(NodeId id) const {
    return description::is_input(node(id).kind) || description::is_state(node(id).kind);
  }
  /// An input that losses alone read.
  [[nodiscard]] bool is_of_losses(NodeId id) const {
    return description::is_input(node(id).kind) &&
           std::ranges::none_of(model_.nodes, [&](const Node& reader) {
             return reads(reader, id) && !is_loss(reader);
           });
  }
  [[nodiscard]] bool needs_any(const Node& node) const {
    return std::ranges::any_of(node.operands, [&](const auto& o) { return needed_[o.node]; });
  }

  /// Who a value belongs to.
  struct Place {
    std::string layer, op;
    const char* pass;
    const char* role;
  };
  [[nodiscard]] Place place(NodeId id, const char* pass, const char* role) const {
    return {node(id).name, std::string(description::kind_text(node(id).kind)), pass, role};
  }

  /// Notes the first element that is not finite.
  void look(const Floats& values, const Place& at) {
    const auto found = std::ranges::find_if(values, [](float v) { return !std::isfinite(v); });
    if (found == values.end()) return;
    found_.push_back(
        {at.layer, at.op, at.pass, at.role, found - values.begin(), *found, "", *found});
  }

  /// The same, unless the search has ended before.
  void look_next(const Floats& values, const Place& at) {
    if (found_.empty()) look(values, at);
  }

  /// At the rounding point of that name (P48).
  [[nodiscard]] Floats rounded(RoundTo to, Floats values, const std::string& name) const {
    return reference::rounded(to, std::move(values), forward_.draws, name);
  }

  /// An operand that node `reader` reads, of the shape of node `of`, which may be scaled (P51).
  struct Read {
    NodeId reader, of;
    RoundTo to;
    bool is_saved = false;
  };
  /// Its numbers or, under scales of f32, the codes that sums are made of (P88).
  [[nodiscard]] Floats rounded(const Read& read, Floats values, const std::string& name) const {
    auto operand =
        reference::Operation<float>(model_, rules_, given_.symbols, forward_, read.reader)
            .as_operand(read.to, std::move(values), read.of, name, read.is_saved);
    return operand.factors.empty() ? operand.numbers : operand.codes;
  }

  static std::string format_of(const RoundTo& to) { return encoding::word(to.format); }
  /// Losses have no delayed scales (P74), and vectors none at all (P51).
  [[nodiscard]] std::string format_of(const Read& read) const {
    RoundTo to = is_loss(node(read.reader)) ? reference::without_delay(read.to) : read.to;
    if (to.scaling.kind == encoding::Scaling::Kind::none) return format_of(to);
    if (node(read.of).shape.size() < 2) return encoding::word(description::Element::bf16);
    encoding::Encoding scaled(to.format, to.rounding);
    scaled.scaling = to.scaling;
    scaled.saturate = to.saturate;
    return encoding::spelled(scaled);
  }

  /// Rounds values that are finite, step by step, at points of one name, and notes the first step
  /// and element that are not.
  void look_at_roundings(Floats values, std::initializer_list<std::variant<RoundTo, Read>> steps,
                         const Place& at, const std::string& name) {
    for (const auto& step : steps) {
      const Floats before = values;
      const std::size_t known = found_.size();
      values = std::visit([&](const auto& to) { return rounded(to, before, name); }, step);
      look(values, at);
      if (found_.size() == known) continue;
      Location& location = found_.back();
      location.before = before[static_cast<std::size_t>(location.element)];
      location.format = std::visit([&](const auto& to) { return format_of(to); }, step);
      return;
    }
  }

  void search_given() {
    for (NodeId id = 0; id < size(); ++id)
      if (is_parameter(node(id))) look_next(forward_.values[id], place(id, "none", "master"));
    for (NodeId id = 0; id < size(); ++id)
      if (is_given(id) && !is_of_losses(id))
        look_next(forward_.values[id], place(id, "none", "activation"));
    for (const auto& [name, values] : given_.external)
      look_next(values, {name, "output_gradient", "none", "gradient"});
  }

  /// P30: every weight as its readers read it.
  void search_working_copies() {
    if (!found_.empty()) return;
    for (NodeId id = 0; id < size(); ++id) {
      for (const Node& reader : model_.nodes) {
        if (!is_parameter(node(id)) || !reads(reader, id)) continue;
        const auto at = static_cast<NodeId>(&reader - model_.nodes.data());
        for (Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient})
          look_at_roundings(forward_.values[id],
                            {rules_.store(id, Role::weight),
                             Read{at, id, rules_.operand(at, pass, Role::weight)}},
                            place(id, "none", "weight"), node(id).name);
      }
    }
  }

  [[nodiscard]] static bool reads(const Node& reader, NodeId id) {
    return std::ranges::any_of(reader.operands, [&](const auto& o) { return o.node == id; });
  }

  /// Whether a gradient formula (D40 to D60) reads the operands that are no parameters.
  [[nodiscard]] bool reads_saved(const Node& reader, Pass pass) const {
    if (!needs_any(reader) || reader.kind == description::kind_called("add") ||
        reader.kind == description::kind_called("concat") ||
        reader.kind == description::kind_called("pool") ||
        reader.kind == description::kind_called("upsample") ||
        reader.kind == description::kind_called("adaptive_pool") ||
        reader.kind == description::kind_called("pad") ||
        reader.kind == description::kind_called("pixel_shuffle") ||
        reader.kind == description::kind_called("segment_reduce") ||
        reader.kind == description::kind_called("segment_broadcast"))
      return false;
    if (reader.kind == description::kind_called("linear") ||
        reader.kind == description::kind_called("convolution") ||
        reader.kind == description::kind_called("transposed_convolution"))
      return pass == Pass::weight_gradient;
    return pass == Pass::input_gradient || reader.kind == description::kind_called("layer_norm");
  }

  /// P38: the copies of a value that its readers' operations need; `losses`: of losses alone, or of
  /// all other operations.
  void search_copies(NodeId id, std::vector<Pass> passes, bool losses) {
    if (!found_.empty() || description::is_counted(model_, id)) return;
    for (NodeId at = 0; at < size(); ++at) {
      if (!reads(node(at), id) || is_loss(node(at)) != losses) continue;
      Floats value = forward_.values[id];
      for (std::size_t e = 0; e < value.size() && is_of_losses(id); ++e)
        if (weighs_nothing(forward_, node(at), id, e)) value[e] = 0;
      for (Pass pass : passes) {
        if (pass == Pass::forward) {
          look_at_roundings(value, {Read{at, id, rules_.operand(at, pass, Role::activation)}},
                            place(id, "forward", "activation"), node(id).name);
        } else if (reads_saved(node(at), pass)) {
          look_at_roundings(value,
                            {rules_.store(id, Role::saved),
                             Read{at, id, rules_.operand(at, pass, Role::saved), true}},
                            place(id, "forward", "saved"), node(id).name);
        }
      }
    }
  }

  void search_layer(NodeId id) {
    if (!is_layer(node(id)) || !found_.empty()) return;
    const std::string& name = node(id).name;
    const Floats& stored = forward_.values[id];
    // What saturates hides an infinite result, which is one all the same.
    const bool hides =
        rules_.result(id, Pass::forward).saturate || rules_.store(id, Role::activation).saturate;
    if (hides || std::ranges::any_of(stored, [](float v) { return !std::isfinite(v); })) {
      const reference::Declared exact(with_rule(model_, name, "store f32 result f32"),
                                      given_.symbols);
      const Floats value = exact.forward(given_.state, given_.inputs).values[id];
      const Place at = place(id, "forward", "activation");
      look_next(value, at);
      if (found_.empty())
        look_at_roundings(value,
                          {rules_.result(id, Pass::forward), rules_.store(id, Role::activation)},
                          at, name);
    }
    const std::vector<Pass> all = {Pass::forward, Pass::input_gradient, Pass::weight_gradient};
    search_copies(id, all, false);
    search_copies(id, all, true);
  }

  void search_losses() {
    for (NodeId id = 0; id < size(); ++id)
      if (is_of_losses(id)) look_next(forward_.values[id], place(id, "none", "activation"));
    for (NodeId id = 0; id < size(); ++id)
      if (is_given(id)) search_copies(id, {Pass::forward}, true);
    for (NodeId id = 0; id < size(); ++id) search_loss(id);
  }

  void search_loss(NodeId id) {
    if (!is_loss(node(id)) || is_metric(model_, node(id)) || !found_.empty()) return;
    if (std::isfinite(forward_.values[id][0])) return;
    const Place at = place(id, "forward", "activation");
    const bool has_squares = node(id).kind == description::kind_called("mse") &&
                             node(id).operands.back().role != "sample_weight";
    look(has_squares ? squares(id) : forward_.values[id], at);
    look_next(forward_.values[id], at);
    if (!has_squares) found_.back().element = kUnknown;
  }

  /// D31, before the mean.
  [[nodiscard]] Floats squares(NodeId id) const {
    const RoundTo to = rules_.operand(id, Pass::forward, Role::activation);
    const auto read = [&](std::size_t operand) {
      const NodeId of = node(id).operands[operand].node;
      return rounded(Read{id, of, to}, forward_.values[of], node(of).name);
    };
    Floats x = read(0);
    const Floats target = read(1);
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
    const Place from = {output.name, "output_gradient", "input_gradient", "gradient"};
    look_next(gradient, from);
    const std::string& of = node(output.node).name;
    const std::string point = of + " gradient " + of;
    look_next_rounding(gradient, store(output.node), from, point);
    ++awaited_[output.node];
    arrive(output.node, rounded(store(output.node), std::move(gradient), point), from);
  }

  void hand_on(NodeId id) {
    const auto exact_model = with_rule(model_, node(id).name, "result f32");
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
        const Place at = gradient_place(id, to);
        look_next(raw[i], at);
        const std::string point = node(to).name + " gradient " + node(id).name;
        if (found_.empty()) {
          look_at_roundings(raw[i], {rules_.result(id, pass), store(to)}, at, point);
        }
        arriving[i] = rounded(store(to), std::move(results[i]), point);
        look_next(arriving[i], at);
      }
    }
    for (std::size_t i = 0; i < arriving.size() && found_.empty(); ++i) {
      const NodeId to = node(id).operands[i].node;
      if (!arriving[i].empty()) arrive(to, std::move(arriving[i]), gradient_place(id, to));
    }
  }

  [[nodiscard]] RoundTo store(NodeId to) const {
    return is_layer(node(to)) ? rules_.store(to, Role::gradient) : RoundTo{};
  }

  /// Of the gradient that `from` hands to `to`.
  [[nodiscard]] Place gradient_place(NodeId from, NodeId to) const {
    return is_parameter(node(to)) ? place(from, "weight_gradient", "weight_gradient")
                                  : place(from, "input_gradient", "gradient");
  }

  void look_next_rounding(const Floats& values, RoundTo to, const Place& at,
                          const std::string& name) {
    if (found_.empty()) look_at_roundings(values, {to}, at, name);
  }

  void arrive(NodeId to, Floats contribution, const Place& from) {
    Floats& gradient = gradients_[to];
    if (gradient.empty()) {
      gradient = std::move(contribution);
    } else {
      for (std::size_t e = 0; e < gradient.size(); ++e) gradient[e] += contribution[e];
      look_next(gradient, from);
      const std::string point = node(to).name + " sum " + from.layer;
      look_next_rounding(gradient, store(to), from, point);
      gradient = rounded(store(to), std::move(gradient), point);
    }
    if (--awaited_[to] == 0 && is_layer(node(to)) && found_.empty()) {
      for (Pass pass : kGradientPasses) {
        const Read operand{to, to, rules_.operand(to, pass, Role::gradient)};
        const std::string point = node(to).name + " gradient";
        look_at_roundings(gradient, {operand}, from, point);
        // Past the point of an output.
        look_at_roundings(gradient, {operand}, place(to, "input_gradient", "gradient"), point);
      }
    }
  }

  const description::Description& model_;
  const reference::Resolution& rules_;
  const reference::Inputs<float> inputs_;
  const Given given_;
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
