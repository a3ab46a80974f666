// SPDX-License-Identifier: Apache-2.0
// Text that a constant evaluation writes: names of nodes, shapes, and the sentences of check.hpp.
#pragma once

#include "halftone/graph.hpp"

namespace halftone::dsl::checking {

struct Sentence {
  static constexpr int kCapacity = 600;
  char text[kCapacity]{};
  int size = 0;

  constexpr void put(char c) {
    if (size < kCapacity - 1) text[size++] = c;
  }
  constexpr void put(const char* words) {
    for (; words != nullptr && *words != 0; ++words) put(*words);
  }
  constexpr void quote(const char* words) {
    put('"');
    put(words);
    put('"');
  }
  constexpr void put(long long number) {
    char digits[20]{};
    int count = 0;
    unsigned long long rest = number < 0 ? 0ull - static_cast<unsigned long long>(number)
                                         : static_cast<unsigned long long>(number);
    if (number < 0) put('-');
    do {
      digits[count++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    while (count > 0) put(digits[--count]);
  }
  /// Any one of `count` copies of a repeat.
  constexpr void put_copies(long long) { put('*'); }
  constexpr void put(int number) { put(static_cast<long long>(number)); }
  constexpr void put(const Dimension& dimension) {
    if (dimension.symbol != nullptr)
      put(dimension.symbol);
    else
      put(dimension.extent);
  }
  /// [batch, 64]
  constexpr void put(const Shape& shape) {
    put('[');
    for (int i = 0; i < shape.rank; ++i) {
      if (i > 0) put(", ");
      put(shape.dimensions[i]);
    }
    put(']');
  }
};

/// How the kind of a layer, source or section reads in sentences and in derived names.
constexpr const char* kind_of(Part part) {
  switch (part) {
    case Part::input:
    case Part::labels:
      return "input";
    case Part::state:
      return "state";
    case Part::parameter:
      return "parameter";
    case Part::linear:
      return "linear";
    case Part::layer_norm:
      return "layer_norm";
    case Part::relu:
      return "relu";
    case Part::gelu:
    case Part::gelu_tanh:
      return "gelu";
    case Part::silu:
      return "silu";
    case Part::add:
    case Part::end_residual:
      return "add";
    case Part::concat:
    case Part::end_concat:
      return "concat";
    case Part::pointwise:
      return "pointwise";
    case Part::output:
      return "output";
    case Part::as:
      return "as()";
    case Part::begin_repeat:
      return "repeat";
    default:
      return "loss";
  }
}

/// h/3/, or h/*/ where one copy stands for all.
constexpr void write_scope(auto& out, const Graph& graph, int scope) {
  if (scope < 0) return;
  write_scope(out, graph, graph.scopes[scope].parent);
  out.put(graph.scopes[scope].name);
  out.put('/');
  if (graph.scopes[scope].index < 0) {
    out.put_copies(graph.scopes[scope].count);
  } else {
    out.put(graph.scopes[scope].index);
  }
  out.put('/');
}

/// The full name of a node. A layer without a name is called after what it continues: fc1.gelu.
constexpr void write_name(auto& out, const Graph& graph, int n) {
  const Node& node = graph.nodes[n];
  if (node.name != nullptr) {
    write_scope(out, graph, node.scope);
    out.put(node.name);
    if (node.part == Part::parameter) out.put(node.target == kWeight ? ".weight" : ".bias");
    return;
  }
  const int base = continued(graph, node);
  if (base >= 0) {
    write_name(out, graph, base);
    out.put('.');
  } else {
    write_scope(out, graph, node.scope);
  }
  out.put(kind_of(node.part));
}

}  // namespace halftone::dsl::checking
