// SPDX-License-Identifier: Apache-2.0
// Shapes of a sorted graph, and the rules on what a layer may read (D8, the table of nodes).
#pragma once

#include "halftone/sentence.hpp"

namespace halftone::dsl::checking {

/// A node as the shape rules of description/kinds see it (description/shape_rule.hpp). A refusal is
/// put into words where there is a sentence for them.
class NodeView {
 public:
  constexpr NodeView(Graph& graph, int node, Sentence* out = nullptr)
      : graph_(graph), node_(graph.nodes[node]), n_(node), out_(out) {}

  /// Compares tied parameters, too, once all parameters have shapes.
  constexpr void compare_tied() { compares_ = true; }
  constexpr void apply();

  constexpr int operands() const { return node_.operand_count - (node_.weighs ? 1 : 0); }
  constexpr bool weighs() const { return node_.weighs; }
  constexpr const Shape& shape(int operand) const { return graph_.read(node_, operand).shape; }

  constexpr int position(const char* role) const {
    for (int i = 0; i < operands(); ++i) {
      if (same_text(form_of_operand(node_, i).role, role)) return i;
    }
    return -1;
  }

  static constexpr int rank(const Shape& shape) { return shape.rank; }
  static constexpr auto& at(auto& shape, int dimension) { return shape.dimensions[dimension]; }
  static constexpr Dimension last(const Shape& shape) { return shape.last(); }
  static constexpr Shape rows(const Shape& shape) { return shape.leading(); }
  static constexpr Shape with_last(Shape shape, const Dimension& last) {
    shape.last() = last;
    return shape;
  }
  static constexpr Shape extended(Shape shape, const Dimension& last) {
    shape.push(last);
    return shape;
  }
  static constexpr int kMostDimensions = kMaxRank;
  static constexpr bool is_fixed(const Dimension& dimension) { return dimension.symbol == nullptr; }
  static constexpr bool is_batch(const Dimension& dimension) {
    return dimension.symbol != nullptr && same_text(dimension.symbol, "batch");
  }
  static constexpr long long extent(const Dimension& dimension) { return dimension.extent; }
  static constexpr Dimension fixed(long long extent) { return extent; }
  static constexpr long long factor(const Dimension& dimension) { return dimension.factor; }
  static constexpr Dimension with_factor(Dimension dimension, long long factor) {
    dimension.factor = factor;
    return dimension;
  }
  static constexpr Dimension with_extent(Dimension dimension, long long extent) {
    dimension.extent = extent;
    return dimension;
  }
  constexpr void limit(const Dimension&, long long, long long, const auto&...) {}

  /// The only one stands in the node's token, the second of two behind it.
  constexpr Dimension chosen(int, int dimension, const char*) const {
    const Program& program = graph_.program;
    const int behind = node_.token + dimension;
    const bool is_second = behind < program.size && program[behind].part == Part::extent;
    return program[is_second ? behind : node_.token].number;
  }

  constexpr bool states(int setting) const { return token_of(setting) >= 0; }
  constexpr long long integer(int setting) const {
    return whole_number(graph_.program[token_of(setting)].x);
  }
  constexpr double number(int setting) const { return graph_.program[token_of(setting)].x; }
  constexpr int choice(int setting) const {
    return static_cast<int>(states(setting) ? number(setting)
                                            : form_of(node_.kind).settings[setting].standard);
  }

  constexpr bool flag(int setting) const {
    const int token = token_of(setting);
    return token >= 0 ? graph_.program[token].x != 0
                      : form_of(node_.kind).settings[setting].standard != 0;
  }

  constexpr StatedList integers(int setting) const {
    return {&graph_.program, node_.token, setting};
  }
  constexpr Shape dimensions() const {
    const TokenList list = list_of(graph_.program, node_.token);
    Shape shape;
    for (int i = 0; i < list.count; ++i) shape.push(dimension_of(graph_.program[list.first + i]));
    return shape;
  }

  /// A matrix that is kept transposed, so that an output sums down its columns.
  constexpr bool transposed_parameter(int operand, const Dimension& rows,
                                      const Dimension& columns) {
    const bool fits = parameter(operand, columns, rows);
    inputs_ = columns.extent;
    return fits;
  }

  template <class... Dimensions>
  constexpr bool parameter(int operand, const Dimensions&... dimensions) {
    Shape needed;
    (needed.push(dimensions), ...);
    return shaped_parameter(operand, needed);
  }
  constexpr bool shaped_parameter(int operand, const Shape& needed);

  constexpr void result(const Shape& shape);

  constexpr void refuse(const auto&... words) {
    graph_.fail({.fault = Fault::shape, .node = n_});
    if (out_ != nullptr) (put(words), ...);
  }

 private:
  /// What states a setting, or -1.
  constexpr int token_of(int setting) const {
    const Program& program = graph_.program;
    for (int at = node_.token; at < program.size; ++at) {
      if (at > node_.token && !is_layer_option(program[at].part)) break;
      if (stated(program[at]) == setting) return at;
    }
    return -1;
  }

  /// A tied layer uses its owner's parameter as it is.
  constexpr bool fits(const Shape& needed, int operand) {
    const int tied = graph_.operand(node_, operand).node;
    const Shape& shape = graph_.nodes[tied].shape;
    if (needed == shape) return true;
    graph_.fail(
        {.fault = Fault::tied_shape, .node = n_, .other = tied, .left = needed, .right = shape});
    return false;
  }

  constexpr void put(const auto& words) { out_->put(words); }
  constexpr void put(description::OperandName name) {
    write_node(*out_, graph_, graph_.operand(node_, name.index).node);
  }
  constexpr void put(description::Remedy) { out_->put(": "); }

  Graph& graph_;
  Node& node_;
  int n_;
  Sentence* out_;
  bool compares_ = false;
  long long inputs_ = 1;
};

/// No product of two numbers below 2^20 is above 2^40. Most shapes are such, which saves a check the
/// steps that compilers count.
constexpr bool is_small(const Shape& shape) {
  const Dimension &first = shape.dimensions[0], &second = shape.dimensions[1];
  return shape.rank <= 2 &&
         (first.extent | first.factor | second.extent | second.factor) < (1 << 20);
}

// Behind the class, since clang makes what they call where they are defined.
constexpr void NodeView::result(const Shape& shape) {
  if (is_small(shape) || description::is_countable(*this, shape)) node_.shape = shape;
}
constexpr bool NodeView::shaped_parameter(int operand, const Shape& needed) {
  if (!is_small(needed) && !description::is_countable(*this, needed)) return false;
  long long inputs = 1;
  for (int i = 0; i < needed.rank; ++i) {
    const Dimension& dimension = needed.dimensions[i];
    if (dimension.symbol != nullptr) {
      graph_.fail({.fault = Fault::symbolic_columns, .node = n_, .text = dimension.symbol});
      return false;
    }
    if (i > 0) inputs *= dimension.extent;
  }
  if (needed.rank > 1) inputs_ = inputs;
  Node& of = graph_.read(node_, operand);
  if (of.token != node_.token) return !compares_ || fits(needed, operand);
  of.shape = needed;
  of.inputs = inputs_;
  return true;
}
constexpr void NodeView::apply() { description::AllKinds::infer_shape(node_.kind, *this); }

class Inference {
 public:
  constexpr explicit Inference(Graph& graph) : graph_(graph) {}

  constexpr void run() {
    for (int i = 0; i < graph_.order.size() && graph_.sound(); ++i) {
      if (!graph_.nodes[graph_.order[i]].owned) visit(graph_.order[i]);
    }
    for (int i = 0; i < graph_.tied.size() && graph_.sound(); ++i) {
      NodeView view(graph_, graph_.tied[i]);
      view.compare_tied();
      view.apply();
    }
    for (int i = 0; i < graph_.seams.size() && graph_.sound(); ++i) {
      const Seam& seam = graph_.seams[i];
      const Shape& enters = graph_.nodes[seam.enters.node].shape;
      const Shape& leaves = graph_.nodes[seam.leaves.node].shape;
      if (!(enters == leaves)) {
        graph_.fail(
            {.fault = Fault::repeat_shape, .token = seam.token, .left = enters, .right = leaves});
      }
    }
  }

 private:
  constexpr void visit(int n) {
    const Node& node = graph_.nodes[n];
    if (is_source(node.category)) return;
    readable(n);
    if (form_of(node.kind).function) function(n);
    if (graph_.program[node.token].part == Part::end_residual) residual(n);
    if (graph_.sound()) NodeView(graph_, n).apply();
  }

  /// Losses are read by nobody, integers only where the reader's form asks for them.
  constexpr void readable(int n) {
    const Node& node = graph_.nodes[n];
    const description::KindForm& form = form_of(node.kind);
    for (int i = 0; i < node.operand_count; ++i) {
      const int at = graph_.operand(node, i).node;
      const Node& read = graph_.nodes[at];
      const description::OperandForm& operand = form_of_operand(form, node, i);
      if (read.category == Category::loss) {
        graph_.fail({.fault = Fault::loss_as_value, .node = n, .other = at});
      } else if (read.integers != operand.integers) {
        graph_.fail({.fault = read.integers ? Fault::integers_as_values : Fault::values_as_integers,
                     .node = n,
                     .other = at,
                     .text = operand.role});
      } else if (operand.weighs && read.category != Category::delivered) {
        graph_.fail({.fault = Fault::weight_not_delivered, .node = n, .other = at});
      }
    }
  }

  constexpr void residual(int n) {
    const Shape& enters = graph_.read(graph_.nodes[n], 0).shape;
    const Shape& leaves = graph_.read(graph_.nodes[n], 1).shape;
    if (enters == leaves) return;
    graph_.fail({.fault = Fault::residual_shape, .node = n, .left = enters, .right = leaves});
  }

  constexpr void function(int n) {
    const Expression& expression = *graph_.program[graph_.nodes[n].token].expression;
    if (expression.defect == Defect::none) return;
    graph_.fail({.fault = fault_of(expression.defect), .node = n, .number = expression.arity});
  }

  Graph& graph_;
};

}  // namespace halftone::dsl::checking
