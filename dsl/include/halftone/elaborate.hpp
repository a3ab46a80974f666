// SPDX-License-Identifier: Apache-2.0
// From tokens to a graph: nodes, names, operands and a topological order. The compile-time check
// and describe() run this same code; the check visits the body of a repeat once, describe() once
// per copy.
#pragma once

#include "halftone/infer.hpp"
#include "halftone/walk.hpp"

namespace halftone::dsl::checking {

/// Operands become nodes.
class Resolution {
 public:
  constexpr explicit Resolution(Graph& graph) : graph_(graph) {}

  constexpr void run() {
    for (int n = 0; n < graph_.nodes.size() && graph_.sound(); ++n) {
      for (int i = 0; i < graph_.nodes[n].operand_count; ++i) {
        Value& value = graph_.operand(graph_.nodes[n], i);
        if (value.tie != Tie::none)
          tie(n, i, value);
        else
          find(value, n, -1);
        if (!graph_.sound()) return;
        if (value.node >= 0)
          use(value);
        else
          graph_.nodes[n].operand_count = i;  // what it shares goes without this one and the rest
      }
    }
    for (int i = 0; i < graph_.outputs.size() && graph_.sound(); ++i) {
      find(graph_.outputs[i].value, -1, graph_.outputs[i].token);
      use(graph_.outputs[i].value);
    }
    for (int i = 0; i < graph_.seams.size() && graph_.sound(); ++i) {
      find(graph_.seams[i].enters, -1, graph_.seams[i].token);
      find(graph_.seams[i].leaves, -1, graph_.seams[i].token);
    }
    for (int i = 0; i < graph_.updates.size() && graph_.sound(); ++i) {
      find(graph_.updates[i].state, -1, -1);
      find(graph_.updates[i].value, -1, -1);
      use(graph_.updates[i].value);
    }
  }

 private:
  constexpr void use(const Value& value) {
    if (graph_.sound()) ++graph_.nodes[value.node].users;
  }

  /// Follows names, which may stand for names, to a node. `user` or `token` is who asks.
  constexpr void find(Value& value, int user, int token) {
    for (int hops = 0; value.node < 0; ++hops) {
      const int found = look_up(graph_, value.name, value.scope);
      if (found < 0) {
        return graph_.fail({.fault = Fault::unknown_value,
                            .node = user,
                            .token = token,
                            .text = value.name,
                            .number = value.scope});
      }
      if (hops > graph_.entries.size())
        return graph_.fail({.fault = Fault::self_alias, .text = value.name});
      value = graph_.entries[found].value;
    }
  }

  /// Whether a layer uses another's weight transposed, so that it stands for no map of its own.
  constexpr bool turns(const Node& node) const {
    const Program& program = graph_.program;
    for (int at = node.token + 1; at < program.size && is_layer_option(program[at].part); ++at) {
      if (program[at].part != Part::setting) continue;
      const auto& setting = form_of(node.kind).settings[program[at].detail];
      if (setting.type == description::SettingType::flag && setting.optional) return true;
    }
    return false;
  }

  /// The parameter of the layer that `value` names, through layers that are tied themselves;
  /// nothing where that layer has none in this role.
  constexpr void tie(int user, int role, Value& value) {
    description::Kind kind = graph_.nodes[user].kind;
    for (int hops = 0; value.tie != Tie::none; ++hops) {
      const char* name = value.name;
      Value layer{.name = name, .scope = value.scope};
      if (look_up(graph_, name, value.scope) < 0) {
        return graph_.fail(
            {.fault = Fault::tied_unknown, .node = user, .text = name, .number = value.scope});
      }
      find(layer, user, -1);
      if (!graph_.sound()) return;
      const Node& owner = graph_.nodes[layer.node];
      if (value.tie == Tie::weight) {
        role = tied_operand(owner.kind);
        kind = owner.kind;
      }
      if (role < 0 || owner.kind != kind)
        return graph_.fail({.fault = Fault::tied_kind, .node = user, .text = name});
      if (hops > graph_.nodes.size())
        return graph_.fail({.fault = Fault::tied_cycle, .node = user, .text = name});
      if (turns(owner))
        return graph_.fail({.fault = Fault::tied_turned, .node = user, .text = name});
      value = role < owner.operand_count ? graph_.operand(owner, role) : Value{};
    }
  }

  Graph& graph_;
};

/// Orders the nodes: inputs and states as written, since a step takes inputs in that order, then
/// the others as written, but operands before their users (D1).
constexpr void sort(Graph& graph) {
  for (int n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    if (node.category == Category::trained || !is_given(node)) continue;
    node.mark = 2;
    graph.order.push(n);
  }
  struct Visit {
    int node = -1, next = 0;
  };
  List<Visit> path;
  for (int start = 0; start < graph.nodes.size(); ++start) {
    if (graph.nodes[start].mark != 0) continue;
    path.push({start, 0});
    graph.nodes[start].mark = 1;
    while (path.size() > 0) {
      const int at = path.back().node;
      if (path.back().next == graph.nodes[at].operand_count) {
        graph.nodes[at].mark = 2;
        graph.order.push(at);
        path.pop();
        continue;
      }
      const int before = graph.operand(graph.nodes[at], path.back().next++).node;
      if (graph.nodes[before].mark == 1)
        return graph.fail({.fault = Fault::cycle, .node = at, .other = before});
      if (graph.nodes[before].mark == 0) {
        graph.nodes[before].mark = 1;
        path.push({before, 0});
      }
    }
  }
}

/// Builds the graph; `graph.finding` tells the first fault of the model, whose later stages are
/// then left out.
constexpr void elaborate(Graph& graph) {
  if (graph.program.size == 0) return graph.fail({.fault = Fault::not_constant});
  Walk(graph).run();
  if (graph.sound()) Resolution(graph).run();
  if (graph.sound()) sort(graph);
  if (graph.sound()) bind_derived_names(graph);
  if (graph.sound()) Inference(graph).run();
}

}  // namespace halftone::dsl::checking
