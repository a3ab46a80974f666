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
      case Part::node:
        return description::is_source(token.kind()) ? source(i) : computed(i);
      case Part::chain:
        current_ = {};
        return i + 1;
      case Part::from:
        current_ = {.name = token.name, .scope = scope_};
        return i + 1;
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
    Node node{.kind = program_[i].kind(),
              .category = form_of(program_[i].kind()).category,
              .integers = is_input(program_[i]) && (program_[i].number & kIntegers) != 0,
              .gradient = is_input(program_[i]) && (program_[i].number & kWantsGradient) != 0,
              .name = program_[i].name,
              .token = i};
    const int at = dimensions(i, options_of(i).end, node.shape);
    for (int d = 0; d < node.shape.rank; ++d) {
      const Dimension& dimension = node.shape.dimensions[d];
      if (dimension.symbol != nullptr && dimension.extent != 0)
        graph_.fail({.fault = Fault::sum_of_symbol, .token = i, .text = dimension.symbol});
    }
    place(node);
    return at;
  }

  constexpr bool is_dimension(int at) const {
    return at < program_.size && program_[at].part == Part::dimension;
  }

  /// Those at `at`, of the node at `i`; returns where the next token is.
  constexpr int dimensions(int i, int at, Shape& shape) {
    std::int64_t elements = 1;  // of the extents and of the factors of symbols
    for (; is_dimension(at); ++at) {
      const Token& token = program_[at];
      if (shape.rank == kMaxRank) {
        graph_.fail({.fault = Fault::too_many_dimensions, .token = i});
        return at;
      }
      if (token.name != nullptr && !is_identifier(token.name)) {
        graph_.fail({.fault = Fault::bad_symbol, .token = i, .text = token.name});
      }
      if (token.name == nullptr && token.number <= 0)
        graph_.fail({.fault = Fault::bad_extent, .token = i, .number = token.number});
      if (token.name != nullptr && !description::is_factor(token.number)) {
        graph_.fail({.fault = Fault::bad_factor,
                     .token = i,
                     .text = token.name,
                     .number = token.number});
      }
      shape.push(dimension_of(token));
      elements = description::product_of_extents(elements, token.number);
    }
    if (elements > description::kMostOfShape)
      graph_.fail({.fault = Fault::too_many_elements, .token = i});
    return at;
  }

  /// A layer's.
  constexpr int skip_dimensions(int i, int at) {
    Shape checked;
    return dimensions(i, at, checked);
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
    if (node.name != nullptr && !node.owned) bind(graph_, node.name, node.scope, node.token, value);
    return value;
  }

  constexpr Node fresh(int i) {
    return {.kind = program_[i].kind(),
            .category = form_of(program_[i].kind()).category,
            .name = program_[i].name,
            .scope = scope_,
            .token = i,
            .operands = graph_.operands.size()};
  }

  constexpr void finish(Node node) {
    node.operand_count = graph_.operands.size() - node.operands;
    current_ = place(node);
  }

  constexpr Value own(int i, int role, bool kept) {
    return place({.kind = kept ? description::kStateKind : description::kParameterKind,
                  .category = kept ? Category::kept : Category::trained,
                  .owned = true,
                  .role = role,
                  .name = program_[i].name,
                  .scope = scope_,
                  .token = i});
  }

  struct Options {
    int end = 0;                 ///< the token behind them
    int without = 0;             ///< Targets
    bool with = false;           ///< its optional states
    const char* tied = nullptr;  ///< to what layer
    bool shared = false;         ///< in all its parameters
  };

  constexpr Options options_of(int i) const {
    Options options{i + 1};
    for (; options.end < program_.size; ++options.end) {
      const Token& option = program_[options.end];
      if (!is_layer_option(option.part)) break;
      if (option.part == Part::without) options.without |= option.detail;
      options.with |= option.part == Part::with;
      if (option.part != Part::tied) continue;
      options.tied = option.name;
      options.shared = option.detail == kBoth;
    }
    return options;
  }

  /// Appends what the layer owns in `role`, unless it goes without it.
  constexpr void push_own(int i, int role, const description::OperandForm& form,
                          const Options& options) {
    if (form.optional && !form.kept && (options.without & target_of(form.group)) != 0) return;
    // States stay the layer's own (D17).
    if (options.tied == nullptr || !(form.may_be_tied || (options.shared && !form.kept))) {
      graph_.operands.push(own(i, role, form.kept));
      return;
    }
    graph_.operands.push(
        {.name = options.tied, .scope = scope_, .tie = options.shared ? Tie::same : Tie::weight});
  }

  /// The named value at `at`, if there is one for this optional role, otherwise for any other.
  constexpr bool push_named(int at, int optional_role = 0) {
    if (at >= program_.size || program_[at].part != Part::operand ||
        program_[at].detail != optional_role)
      return false;
    graph_.operands.push({.name = program_[at].name, .scope = scope_});
    return true;
  }

  /// A layer reads the current value first; a loss names all that it reads, and its weight follows.
  constexpr int computed(int i) {
    const description::KindForm& form = form_of(program_[i].kind());
    const bool chained = form.category == Category::layer;
    if (chained && !has_current(i)) return i;
    Node node = fresh(i);
    const Options options = options_of(i);
    int at = options.end;
    if (is_dimension(at)) at = skip_dimensions(i, at);
    if (chained) graph_.operands.push(current_);
    for (int role = chained ? 1 : 0; role < form.operands.size; ++role) {
      const description::OperandForm& operand = form.operands[role];
      if (operand.kept && operand.optional && !options.with)
        node.absent |= 1u << role;
      else if (operand.group != description::ParameterGroup::none || operand.kept)
        push_own(i, role, operand, options);
      else if (push_named(at, operand.optional ? role : 0))
        ++at;
      else if (operand.optional && !operand.weighs)
        node.absent |= 1u << role;
    }
    if (form.operands[0].repeated) {
      while (push_named(at)) ++at;
    }
    if (!chained && program_[at].part == Part::weights) {
      graph_.operands.push({.name = program_[at++].name, .scope = scope_});
      node.weighs = true;
    }
    finish(node);
    if (options.tied != nullptr) graph_.tied.push(current_.node);
    if (chained) return at;
    graph_.losses.push({current_.node, program_[at].x});
    current_ = {};
    return at + 1;
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
      case Part::begin_named:
      case Part::end_named:
        return named(i);
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
        const Node node = fresh(i);
        graph_.operands.push(open_.back().entry);
        graph_.operands.push(current_);
        finish(node);
        break;
      }
      case Part::end_concat: {
        branches_.push(current_);
        const Node node = fresh(i);
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

  /// Opens or closes the scope of a named chain.
  constexpr int named(int i) {
    const char* name = program_[i].name;
    if (program_[i].part == Part::begin_named) {
      if (!has_current(i)) return i;
      if (const Fault fault = inspect_name(name); fault != Fault::none) {
        graph_.fail({.fault = fault, .token = i, .text = name});
        return i;
      }
      Scope scope{.name = name, .parent = scope_};
      scope.hash = extend(path_hash(graph_, scope_, name), '/');
      graph_.scopes.push(scope);
      scope_ = graph_.scopes.size() - 1;
      return i + 1;
    }
    const Scope& closed = graph_.scopes[scope_];
    scope_ = closed.parent;
    bind(graph_, closed.name, scope_, i, current_);
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
