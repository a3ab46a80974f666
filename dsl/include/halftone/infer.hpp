// SPDX-License-Identifier: Apache-2.0
// Shapes of a sorted graph, and the rules on what a layer may read (D8, D20 to D32).
#pragma once

#include "halftone/graph.hpp"

namespace halftone::dsl::checking {

class Inference {
 public:
  constexpr explicit Inference(Graph& graph) : graph_(graph) {}

  constexpr void run() {
    for (int i = 0; i < graph_.order.size() && graph_.sound(); ++i) visit(graph_.order[i]);
    for (int i = 0; i < graph_.order.size() && graph_.sound(); ++i) compare_tied(graph_.order[i]);
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
    Node& node = graph_.nodes[n];
    if (is_source(node.part) || node.part == Part::parameter || !readable(n)) return;
    switch (node.part) {
      case Part::linear:
        return linear(n, node);
      case Part::layer_norm:
        return layer_norm(n, node);
      case Part::add: {
        const bool residual = graph_.program[node.token].part == Part::end_residual;
        return alike(n, residual ? Fault::residual_shape : Fault::add_shape, true);
      }
      case Part::concat:
        return concat(n, node);
      case Part::pointwise:
        return function(n, node, true);
      case Part::pointwise_loss:
        return function(n, node, false);
      case Part::cross_entropy:
        return cross_entropy(n, node);
      case Part::mse:
        return alike(n, Fault::mse_shape, false);
      default:
        node.shape = graph_.read(node, 0).shape;
    }
  }

  /// Losses are read by nobody, labels only as the label of a cross-entropy.
  constexpr bool readable(int n) {
    const Node& node = graph_.nodes[n];
    for (int i = 0; i < node.operand_count; ++i) {
      const int read = graph_.operand(node, i).node;
      const bool label = node.part == Part::cross_entropy && i == 1;
      if (is_loss(graph_.nodes[read].part)) {
        graph_.fail({.fault = Fault::loss_as_value, .node = n, .other = read});
      } else if (label && graph_.nodes[read].part != Part::labels) {
        graph_.fail({.fault = Fault::values_as_labels, .node = n, .other = read});
      } else if (!label && graph_.nodes[read].part == Part::labels) {
        graph_.fail({.fault = Fault::labels_as_values, .node = n, .other = read});
      }
    }
    return graph_.sound();
  }

  constexpr void declare(int parameter, const Dimension& first) {
    Shape shape;
    shape.push(first);
    graph_.nodes[parameter].shape = shape;
  }

  /// Weights need a number of columns that is known while compiling.
  constexpr bool has_columns(int n, const Shape& shape) {
    if (shape.rank == 0) {
      graph_.fail({.fault = Fault::no_columns, .node = n});
    } else if (shape.last().symbol != nullptr) {
      graph_.fail({.fault = Fault::symbolic_columns, .node = n, .text = shape.last().symbol});
    }
    return graph_.sound();
  }

  constexpr void linear(int n, Node& node) {
    const long long outputs = graph_.program[node.token].number;
    const Shape& x = graph_.read(node, 0).shape;
    if (outputs <= 0)
      return graph_.fail({.fault = Fault::bad_outputs, .node = n, .number = outputs});
    if (!has_columns(n, x)) return;
    Node& weight = graph_.read(node, 1);
    if (weight.token == node.token) {
      declare(graph_.operand(node, 1).node, outputs);
      weight.shape.push(x.last());
      weight.inputs = x.last().extent;
    }
    if (node.operand_count == 3) {
      declare(graph_.operand(node, 2).node, outputs);
      graph_.read(node, 2).inputs = x.last().extent;
    }
    node.shape = x;
    node.shape.last() = Dimension(outputs);
  }

  /// A tied layer uses its owner's weight as it is: (outputs, columns) of both must agree.
  constexpr void compare_tied(int n) {
    const Node& node = graph_.nodes[n];
    if (node.part != Part::linear) return;
    const int weight = graph_.operand(node, 1).node;
    if (graph_.nodes[weight].token == node.token) return;
    Shape needed;
    needed.push(node.shape.last());
    needed.push(graph_.read(node, 0).shape.last());
    if (!(needed == graph_.nodes[weight].shape)) {
      graph_.fail({.fault = Fault::tied_shape,
                   .node = n,
                   .other = weight,
                   .left = needed,
                   .right = graph_.nodes[weight].shape});
    }
  }

  constexpr void layer_norm(int n, Node& node) {
    const Shape& x = graph_.read(node, 0).shape;
    if (!has_columns(n, x)) return;
    declare(graph_.operand(node, 1).node, x.last());
    declare(graph_.operand(node, 2).node, x.last());
    node.shape = x;
  }

  /// All operands have one shape, which is the result's unless that is a scalar.
  constexpr void alike(int n, Fault fault, bool keeps_shape) {
    Node& node = graph_.nodes[n];
    const Shape& first = graph_.read(node, 0).shape;
    for (int i = 1; i < node.operand_count; ++i) {
      const Shape& other = graph_.read(node, i).shape;
      if (!(first == other)) {
        return graph_.fail({.fault = fault,
                            .node = n,
                            .other = graph_.operand(node, i).node,
                            .left = first,
                            .right = other});
      }
    }
    if (keeps_shape) node.shape = first;
  }

  constexpr void function(int n, Node& node, bool keeps_shape) {
    const Expression& expression = *graph_.program[node.token].expression;
    constexpr Fault kFaults[] = {Fault::none,
                                 Fault::captures,
                                 Fault::arity,
                                 Fault::lambda_result,
                                 Fault::lambda_constants,
                                 Fault::lambda_nan,
                                 Fault::lambda_length,
                                 Fault::lambda_branch,
                                 Fault::lambda_condition,
                                 Fault::lambda_untraceable};
    if (expression.defect != Defect::none) {
      return graph_.fail({.fault = kFaults[static_cast<int>(expression.defect)],
                          .node = n,
                          .number = expression.arity});
    }
    alike(n, Fault::pointwise_shape, keeps_shape);
  }

  constexpr void concat(int n, Node& node) {
    const Shape& first = graph_.read(node, 0).shape;
    long long columns = 0;
    for (int i = 0; i < node.operand_count; ++i) {
      const int part = graph_.operand(node, i).node;
      const Shape& shape = graph_.nodes[part].shape;
      if (shape.rank == 0) return graph_.fail({.fault = Fault::no_columns, .node = n});
      if (!(shape.leading() == first.leading())) {
        return graph_.fail({.fault = Fault::concat_shape,
                            .node = n,
                            .other = part,
                            .left = first,
                            .right = shape});
      }
      if (shape.last().symbol != nullptr) {
        return graph_.fail(
            {.fault = Fault::concat_symbol, .node = n, .other = part, .text = shape.last().symbol});
      }
      columns += shape.last().extent;
    }
    node.shape = first;
    node.shape.last() = Dimension(columns);
  }

  constexpr void cross_entropy(int n, Node& node) {
    const Shape& logits = graph_.read(node, 0).shape;
    const Shape& label = graph_.read(node, 1).shape;
    if (logits.rank == 0) return graph_.fail({.fault = Fault::no_columns, .node = n});
    if (!(logits.leading() == label)) {
      graph_.fail({.fault = Fault::label_shape,
                   .node = n,
                   .other = graph_.operand(node, 1).node,
                   .left = logits,
                   .right = label});
    }
  }

  Graph& graph_;
};

}  // namespace halftone::dsl::checking
