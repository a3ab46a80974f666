// SPDX-License-Identifier: Apache-2.0
#include "shrink.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "halftone/description/validate.hpp"

namespace halftone::tests {

using namespace halftone::description;

namespace {

/// Without the nodes that nothing reads any longer, and with ids that fit.
Description without_unused(const Description& model) {
  std::vector<bool> used(model.nodes.size(), false);
  const auto use = [&](NodeId id) { used[static_cast<std::size_t>(id)] = true; };
  for (const Output& output : model.outputs) use(output.node);
  for (const Loss& loss : model.losses) use(loss.node);
  for (bool grows = true; grows;) {
    const auto before = std::count(used.begin(), used.end(), true);
    for (std::size_t i = model.nodes.size(); i-- > 0;) {
      if (!used[i]) continue;
      for (const Operand& operand : model.nodes[i].operands) use(operand.node);
    }
    for (const Assignment& assignment : model.assignments) {
      if (used[static_cast<std::size_t>(assignment.state)]) use(assignment.value);
    }
    grows = std::count(used.begin(), used.end(), true) != before;
  }
  std::vector<NodeId> place(model.nodes.size(), -1);
  Description result = model;
  result.nodes.clear();
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    if (!used[i]) continue;
    place[i] = static_cast<NodeId>(result.nodes.size());
    result.nodes.push_back(model.nodes[i]);
    for (Operand& operand : result.nodes.back().operands) {
      operand.node = place[static_cast<std::size_t>(operand.node)];
    }
  }
  const auto move = [&](NodeId& id) { id = place[static_cast<std::size_t>(id)]; };
  std::erase_if(result.assignments,
                [&](const Assignment& one) { return !used[static_cast<std::size_t>(one.state)]; });
  for (Output& output : result.outputs) move(output.node);
  for (Loss& loss : result.losses) move(loss.node);
  for (Assignment& assignment : result.assignments) move(assignment.state), move(assignment.value);
  for (ClipGroup& group : result.clip_groups) {
    std::erase_if(group.parameters, [&](NodeId id) { return !used[static_cast<std::size_t>(id)]; });
    for (NodeId& id : group.parameters) move(id);
  }
  std::erase_if(result.clip_groups,
                [](const ClipGroup& group) { return group.parameters.empty(); });
  return result;
}

class Shrinker {
 public:
  Shrinker(Description model, const std::function<bool(const Description&)>& fails, int tries)
      : model_(std::move(model)), fails_(fails), left_(tries) {}

  Description shrink() {
    for (bool shrinks = true; shrinks && left_ > 0;) {
      shrinks = false;
      for (const auto part :
           {&Shrinker::drop_rules, &Shrinker::drop_ends, &Shrinker::drop_layers,
            &Shrinker::drop_operands, &Shrinker::simplify_rules, &Shrinker::simplify_training,
            &Shrinker::simplify_nodes, &Shrinker::shrink_extents}) {
        shrinks = (this->*part)() || shrinks;
      }
    }
    return model_;
  }

 private:
  /// Takes `changed` where it is valid and fails.
  bool take(const Description& changed) {
    Description smaller = without_unused(changed);
    if (left_ <= 0 || smaller == model_ || validate(smaller)) return false;
    --left_;
    if (!fails_(smaller)) return false;
    model_ = std::move(smaller);
    return true;
  }
  template <class Change>
  bool try_change(Change change) {
    Description changed = model_;
    change(changed);
    return take(changed);
  }
  /// One after the other of a list, the last first.
  template <class Of>
  bool drop_of(std::vector<Of> Description::*list) {
    bool dropped = false;
    for (std::size_t i = (model_.*list).size(); i-- > 0;) {
      if (i >= (model_.*list).size()) continue;
      dropped = try_change([&](Description& of) {
                  (of.*list).erase((of.*list).begin() + static_cast<std::ptrdiff_t>(i));
                }) ||
                dropped;
    }
    return dropped;
  }

  bool drop_rules() {
    return try_change([](Description& of) { of.rules.clear(); }) || drop_of(&Description::rules);
  }
  bool drop_ends() {
    bool dropped = try_change([](Description& of) { of.outputs.clear(); });
    dropped = drop_of(&Description::losses) || dropped;
    dropped = drop_of(&Description::outputs) || dropped;
    return drop_of(&Description::assignments) || dropped;
  }

  /// A layer's readers read its first operand of equal shape, or an input in its place.
  bool drop_layers() {
    bool dropped = false;
    for (std::size_t i = model_.nodes.size(); i-- > 0;) {
      if (i >= model_.nodes.size() || !is_layer(model_.nodes[i].kind)) continue;
      const Node layer = model_.nodes[i];
      bool passed = false;
      for (const Operand& operand : layer.operands) {
        const Node& source = model_.nodes[static_cast<std::size_t>(operand.node)];
        if (passed || source.shape != layer.shape || is_parameter(source.kind)) continue;
        passed = try_change(
            [&](Description& of) { redirect(of, static_cast<NodeId>(i), operand.node); });
      }
      if (!passed) {
        passed = try_change([&](Description& of) {
          of.nodes[i] = {layer.name, kInputKind, {}, layer.shape, Element::f32, {}};
        });
      }
      dropped = dropped || passed;
    }
    return dropped;
  }

  static void redirect(Description& of, NodeId from, NodeId to) {
    for (Node& node : of.nodes) {
      for (Operand& operand : node.operands) {
        if (operand.node == from) operand.node = to;
      }
    }
    for (Output& output : of.outputs) {
      if (output.node == from) output.node = to;
    }
    for (Assignment& assignment : of.assignments) {
      if (assignment.value == from) assignment.value = to;
    }
  }

  bool drop_operands() {
    bool dropped = false;
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      for (std::size_t j = model_.nodes[i].operands.size(); j-- > 1;) {
        if (i >= model_.nodes.size() || j >= model_.nodes[i].operands.size()) continue;
        dropped = try_change([&](Description& of) {
                    auto& operands = of.nodes[i].operands;
                    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(j));
                  }) ||
                  dropped;
      }
    }
    return dropped;
  }

  bool simplify_rules() {
    bool simpler = false;
    for (std::size_t i = 0; i < model_.rules.size(); ++i) {
      const auto without = [&](auto field) {
        simpler = try_change([&](Description& of) { (of.rules[i].*field).reset(); }) || simpler;
      };
      without(&Rule::store);
      without(&Rule::compute);
      without(&Rule::result);
      without(&Rule::accumulate);
      without(&Rule::master);
      without(&Rule::rounding);
      without(&Rule::recompute);
      without(&Rule::loss_scale);
      without(&Rule::memory_budget);
      without(&Rule::quantize);
      simpler = try_change([&](Description& of) { of.rules[i].clauses.clear(); }) || simpler;
      simpler = try_change([&](Description& of) { of.rules[i].exceptions.clear(); }) || simpler;
      for (std::size_t c = model_.rules[i].clauses.size(); c-- > 0;) {
        simpler = try_change([&](Description& of) {
                    auto& clauses = of.rules[i].clauses;
                    clauses.erase(clauses.begin() + static_cast<std::ptrdiff_t>(c));
                  }) ||
                  simpler;
      }
    }
    return simpler;
  }

  bool simplify_training() {
    bool simpler = try_change([](Description& of) { of.clip.reset(); });
    simpler = try_change([](Description& of) { of.clip_value.reset(); }) || simpler;
    simpler = drop_of(&Description::clip_groups) || simpler;
    simpler = try_change([](Description& of) { of.schedule.reset(); }) || simpler;
    simpler = try_change([](Description& of) { of.average.reset(); }) || simpler;
    if (model_.optimizer == Optimizer(Sgd())) return simpler;
    return try_change([](Description& of) { of.optimizer = Sgd(); }) || simpler;
  }

  /// Inputs of f32 that want no gradient, parameters as most are, settings and functions left out.
  bool simplify_nodes() {
    bool simpler = false;
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      const Node& node = model_.nodes[i];
      if (is_input(node.kind) && !is_counted(model_, static_cast<NodeId>(i))) {
        simpler = try_change([&](Description& of) {
                    of.nodes[i].format = Element::f32;
                    of.nodes[i].attributes = {};
                  }) ||
                  simpler;
      } else if (const auto* attributes = std::get_if<ParameterAttributes>(&node.attributes)) {
        const ParameterAttributes plain{.initializer = attributes->initializer};
        simpler = try_change([&](Description& of) { of.nodes[i].attributes = plain; }) || simpler;
      } else if (const auto* layer = std::get_if<LayerAttributes>(&node.attributes)) {
        for (std::size_t s = layer->settings.size(); s-- > 0;) {
          const auto& list = std::get<LayerAttributes>(model_.nodes[i].attributes).settings;
          if (s >= list.size()) continue;
          simpler = try_change([&](Description& of) {
                      auto& settings = std::get<LayerAttributes>(of.nodes[i].attributes).settings;
                      settings.erase(settings.begin() + static_cast<std::ptrdiff_t>(s));
                    }) ||
                    simpler;
        }
        simpler = simplify_function(i) || simpler;
      }
    }
    return simpler;
  }

  /// A function's first instructions alone.
  bool simplify_function(std::size_t i) {
    const auto& function = std::get<LayerAttributes>(model_.nodes[i].attributes).function;
    if (!function) return false;
    for (std::size_t count = 1; count < function->expression.instructions.size(); ++count) {
      const bool simpler = try_change([&](Description& of) {
        std::get<LayerAttributes>(of.nodes[i].attributes)
            .function->expression.instructions.resize(count);
      });
      if (simpler) return true;
    }
    return false;
  }

  /// Every extent of one number becomes another number, everywhere, symbols numbers.
  bool shrink_extents() {
    std::set<std::int64_t> extents;
    std::set<std::pair<std::string, std::int64_t>> symbols;  // with their factors
    for (const Node& node : model_.nodes) {
      for (const Dimension& dimension : node.shape) {
        if (dimension.symbol.empty()) extents.insert(dimension.extent);
        if (!dimension.symbol.empty()) symbols.insert({dimension.symbol, dimension.factor});
      }
    }
    bool shrinks = false;
    const auto replace = [&](const Dimension& from, const Dimension& to) {
      return try_change([&](Description& of) {
        for (Node& node : of.nodes) std::replace(node.shape.begin(), node.shape.end(), from, to);
      });
    };
    for (const std::int64_t extent : extents) {
      for (const std::int64_t smaller :
           {std::int64_t{1}, std::int64_t{2}, extent / 2, extent - 1}) {
        if (smaller < 1 || smaller >= extent) continue;
        if (!replace({extent, {}}, {smaller, {}})) continue;
        shrinks = true;
        break;
      }
    }
    for (const auto& [symbol, factor] : symbols) {
      if (factor != 1) shrinks = replace({0, symbol, factor}, {0, symbol}) || shrinks;
      if (symbol != "batch") shrinks = replace({0, symbol, factor}, {2 * factor, {}}) || shrinks;
    }
    return shrinks;
  }

  Description model_;
  const std::function<bool(const Description&)>& fails_;
  int left_;
};

}  // namespace

Description shrink(Description model, const std::function<bool(const Description&)>& fails,
                   int tries) {
  return Shrinker(std::move(model), fails, tries).shrink();
}

}  // namespace halftone::tests
