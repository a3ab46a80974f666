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
    if (dimension.symbol == nullptr) return put(dimension.extent);
    if (dimension.factor != 1) {
      put(dimension.factor);
      put('*');
    }
    put(dimension.symbol);
    if (dimension.extent == 0) return;
    put(dimension.extent < 0 ? " - " : " + ");
    put(dimension.extent < 0 ? -dimension.extent : dimension.extent);
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

/// What a node is, in sentences.
constexpr const char* described(description::Kind kind) {
  const Category category = form_of(kind).category;
  return category == Category::layer  ? "layer"
         : category == Category::loss ? "loss"
                                      : form_of(kind).word;
}
constexpr const char* described(const Token& token) {
  switch (token.part) {
    case Part::node:
      return described(token.kind());
    case Part::output:
      return "output";
    case Part::as:
      return "as()";
    case Part::begin_repeat:
      return "repeat";
    case Part::begin_named:
      return "named";
    case Part::begin_residual:
      return "residual";
    default:
      return form_of(token.kind()).word;
  }
}

/// h/3/, or h/*/ where one copy stands for all; of a named chain mlp/.
constexpr void write_scope(auto& out, const Graph& graph, int scope) {
  if (scope < 0) return;
  write_scope(out, graph, graph.scopes[scope].parent);
  out.put(graph.scopes[scope].name);
  out.put('/');
  if (graph.scopes[scope].count == 0) return;
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
    if (!node.owned) return;
    out.put('.');
    out.put(own_form(graph.program, node).role);
    return;
  }
  const int base = continued(graph, node);
  if (base >= 0) {
    write_name(out, graph, base);
    out.put('.');
  } else {
    write_scope(out, graph, node.scope);
  }
  out.put(word_of(graph, node));
}

/// layer 'fc1'
constexpr void write_node(auto& out, const Graph& graph, int n) {
  out.put(described(graph.nodes[n].kind));
  out.put(" '");
  write_name(out, graph, n);
  out.put('\'');
}

}  // namespace halftone::dsl::checking
