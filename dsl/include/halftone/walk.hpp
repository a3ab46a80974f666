// SPDX-License-Identifier: Apache-2.0
// The first pass over a specification: tokens become nodes, names and operands that are still
// names.
#pragma once

#include "halftone/names.hpp"

namespace halftone::dsl::checking {

/// Reads the tokens once, in order.
class Walk {
 public:
  constexpr explicit Walk(Graph& graph) : graph_(graph), program_(graph.program) {}

  constexpr void run() {
    for (int i = 0; i < program_.size && graph_.sound();) i = step(i);
  }

 private:
  struct Bracket {
    int token = -1;
    Value entry;         ///< the value that the first layer inside reads
    int branches = 0;    ///< where this concat's results start in branches_
    long long copy = 0;  ///< of a repeat
  };

  /// Reads the token at `i` with what belongs to it; returns where the next one is.
  constexpr int step(int i) {
    const Token& token = program_[i];
    switch (token.part) {
      case Part::model:
        if (!is_identifier(token.name))
          graph_.fail({.fault = Fault::bad_model_name, .text = token.name});
        return i + 1;
      case Part::input:
      case Part::labels:
      case Part::state:
        return source(i);
      case Part::chain:
        current_ = {};
        return i + 1;
      case Part::from:
        current_ = {.name = token.name, .scope = scope_};
        return i + 1;
      case Part::linear:
        return linear(i);
      case Part::layer_norm:
        return layer_norm(i);
      case Part::relu:
      case Part::gelu:
      case Part::gelu_tanh:
      case Part::silu:
      case Part::add:
      case Part::concat:
      case Part::pointwise:
        return layer(i);
      case Part::cross_entropy:
      case Part::mse:
      case Part::pointwise_loss:
        return loss(i);
      case Part::as:
        rename(i);
        return i + 1;
      case Part::output:
        if (!has_current(i)) return i;
        bind(graph_, token.name, scope_, i, current_);
        graph_.outputs.push({i, scope_, current_});
        return i + 1;
      case Part::assign:
        graph_.updates.push({{.name = token.name}, {.name = program_[i + 1].name}});
        return i + 2;
      case Part::stranger: {
        if (token.name != nullptr) {
          graph_.fail({.fault = Fault::misuse, .text = token.name});
          return i + 1;
        }
        int layer = i - 1;
        while (is_layer_option(program_[layer].part)) --layer;
        graph_.fail({.fault = Fault::not_an_option, .token = layer});
        return i + 1;
      }
      default:
        return bracket(i);
    }
  }

  constexpr int source(int i) {
    Node node{.part = program_[i].part, .name = program_[i].name, .token = i};
    int at = i + 1;
    for (; at < program_.size && program_[at].part == Part::dimension; ++at) {
      const Token& token = program_[at];
      if (node.shape.rank == kMaxRank) {
        graph_.fail({.fault = Fault::too_many_dimensions, .token = i, .text = node.name});
        return at;
      }
      if (token.name != nullptr && !is_identifier(token.name)) {
        graph_.fail({.fault = Fault::bad_symbol, .token = i, .text = token.name});
      }
      if (token.name == nullptr && token.number <= 0) {
        graph_.fail(
            {.fault = Fault::bad_extent, .token = i, .text = node.name, .number = token.number});
      }
      node.shape.push(token.name != nullptr ? Dimension(token.name) : Dimension(token.number));
    }
    place(node);
    return at;
  }

  constexpr bool has_current(int i) {
    if (!current_.exists())
      graph_.fail({.fault = Fault::no_source, .token = i, .text = program_[i].name});
    return current_.exists();
  }

  /// Adds a node with a name of its own, if it has one; returns it as a value.
  constexpr Value place(const Node& node) {
    const Value value{.node = graph_.nodes.size()};
    graph_.nodes.push(node);
    if (node.name != nullptr && node.part != Part::parameter)
      bind(graph_, node.name, node.scope, node.token, value);
    return value;
  }

  constexpr Node fresh(int i) {
    return {.part = program_[i].part,
            .name = program_[i].name,
            .scope = scope_,
            .token = i,
            .operands = graph_.operands.size()};
  }

  constexpr void finish(Node node) {
    node.operand_count = graph_.operands.size() - node.operands;
    current_ = place(node);
  }

  constexpr Value parameter(int i, Target target) {
    return place({.part = Part::parameter,
                  .target = target,
                  .name = program_[i].name,
                  .scope = scope_,
                  .token = i});
  }

  constexpr int linear(int i) {
    if (!has_current(i)) return i;
    bool bias = true;
    const char* tie = nullptr;
    int at = i + 1;
    for (; at < program_.size && is_layer_option(program_[at].part); ++at) {
      if (program_[at].part == Part::no_bias) bias = false;
      if (program_[at].part == Part::tied) tie = program_[at].name;
    }
    const Value weight =
        tie != nullptr ? Value{.name = tie, .scope = scope_, .tie = true} : parameter(i, kWeight);
    Value added;
    if (bias) added = parameter(i, kBias);
    const Node node = fresh(i);
    graph_.operands.push(current_);
    graph_.operands.push(weight);
    if (bias) graph_.operands.push(added);
    finish(node);
    return at;
  }

  constexpr int layer_norm(int i) {
    if (!has_current(i)) return i;
    const Value weight = parameter(i, kWeight);
    const Value bias = parameter(i, kBias);
    const Node node = fresh(i);
    graph_.operands.push(current_);
    graph_.operands.push(weight);
    graph_.operands.push(bias);
    finish(node);
    int at = i + 1;
    while (at < program_.size && is_layer_option(program_[at].part)) ++at;
    return at;
  }

  constexpr int named_operands(int at) {
    for (; at < program_.size && program_[at].part == Part::operand; ++at) {
      graph_.operands.push({.name = program_[at].name, .scope = scope_});
    }
    return at;
  }

  constexpr int layer(int i) {
    if (!has_current(i)) return i;
    const Node node = fresh(i);
    graph_.operands.push(current_);
    const int next = named_operands(i + 1);
    finish(node);
    return next;
  }

  constexpr int loss(int i) {
    const Node node = fresh(i);
    const int next = named_operands(i + 1);
    finish(node);
    graph_.losses.push({current_.node, program_[next].x});
    current_ = {};
    return next + 1;
  }

  constexpr void rename(int i) {
    if (!has_current(i)) return;
    const char* name = program_[i].name;
    if (current_.node >= 0 && graph_.nodes[current_.node].name == nullptr &&
        graph_.nodes[current_.node].scope == scope_) {
      graph_.nodes[current_.node].name = name;
    }
    bind(graph_, name, scope_, i, current_);
  }

  constexpr int bracket(int i) {
    switch (program_[i].part) {
      case Part::begin_residual:
      case Part::begin_concat:
      case Part::begin_repeat:
        if (!has_current(i)) return i;
        open_.push({i, current_, branches_.size(), 0});
        if (program_[i].part == Part::begin_repeat) return enter_copy(i);
        return i + 1;
      case Part::next_branch:
        branches_.push(current_);
        current_ = open_.back().entry;
        return i + 1;
      case Part::end_residual: {
        Node node = fresh(i);
        node.part = Part::add;
        graph_.operands.push(open_.back().entry);
        graph_.operands.push(current_);
        finish(node);
        break;
      }
      case Part::end_concat: {
        branches_.push(current_);
        Node node = fresh(i);
        node.part = Part::concat;
        for (int b = open_.back().branches; b < branches_.size(); ++b)
          graph_.operands.push(branches_[b]);
        branches_.truncate(open_.back().branches);
        finish(node);
        break;
      }
      default:
        return leave_copy(i);
    }
    open_.pop();
    return i + 1;
  }

  /// Opens the scope of the innermost repeat's present copy.
  constexpr int enter_copy(int i) {
    const Token& token = program_[i];
    if (token.number <= 0) {
      graph_.fail(
          {.fault = Fault::bad_repeat, .token = i, .text = token.name, .number = token.number});
      return i;
    }
    if (const Fault fault = inspect_name(token.name); fault != Fault::none) {
      graph_.fail({.fault = fault, .token = i, .text = token.name});
      return i;
    }
    Scope scope{token.name, graph_.expand ? open_.back().copy : -1, token.number, scope_};
    scope.hash = extend(extend(path_hash(graph_, scope_, token.name), '/'), '*');
    if (graph_.expand) {
      for (long long rest = scope.index + 1; rest > 0; rest /= 10) {
        scope.hash = extend(scope.hash, static_cast<char>('0' + rest % 10));
      }
    }
    scope.hash = extend(scope.hash, '/');
    graph_.scopes.push(scope);
    scope_ = graph_.scopes.size() - 1;
    return i + 1;
  }

  constexpr int leave_copy(int i) {
    Bracket& repeat = open_.back();
    graph_.seams.push({repeat.token, repeat.entry, current_, scope_});
    scope_ = graph_.scopes[scope_].parent;
    ++repeat.copy;
    repeat.entry = current_;
    if (graph_.expand && repeat.copy < program_[repeat.token].number)
      return enter_copy(repeat.token);
    bind(graph_, program_[repeat.token].name, scope_, repeat.token, current_);
    open_.pop();
    return i + 1;
  }

  Graph& graph_;
  const Program& program_;
  Value current_;
  int scope_ = -1;
  List<Bracket> open_;
  List<Value> branches_;
};

}  // namespace halftone::dsl::checking
