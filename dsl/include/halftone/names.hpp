// SPDX-License-Identifier: Apache-2.0
// The names of a graph: one table for inputs, states, layers, as(), outputs, losses and repeats.
// Names are compared by 64-bit hashes of their full paths, so that large models stay within the
// steps of a constant evaluation.
#pragma once

#include "halftone/sentence.hpp"

namespace halftone::dsl::checking {

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_identifier(const char* text) {
  if (!is_letter(*text)) return false;
  while (is_letter(*text) || is_digit(*text)) ++text;
  return *text == 0;
}

/// Letters, digits, _ - and / between components; a component of digits alone is a repeat's (D2,
/// stricter).
constexpr Fault inspect_name(const char* name) {
  if (name == nullptr || *name == 0) return Fault::empty_name;
  bool digits_alone = true;
  for (const char* at = name; *at != 0; ++at) {
    if (*at == '/') {
      if (digits_alone) return Fault::bad_name;
      digits_alone = true;
    } else if ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_' ||
               *at == '-') {
      digits_alone = false;
    } else if (*at < '0' || *at > '9') {
      return Fault::bad_name;
    }
  }
  return digits_alone ? Fault::bad_name : Fault::none;
}

constexpr Hash path_hash(const Graph& graph, int scope, const char* name) {
  return extend(scope < 0 ? kHashStart : graph.scopes[scope].hash, name);
}

/// The slot of `hash`, or the free slot where it belongs.
constexpr int slot_of(const Graph& graph, Hash hash) {
  const int mask = graph.slots.size() - 1;
  int slot = static_cast<int>(hash & static_cast<Hash>(mask));
  while (graph.slots[slot] >= 0 && graph.entries[graph.slots[slot]].hash != hash)
    slot = (slot + 1) & mask;
  return slot;
}

constexpr void rehash(Graph& graph) {
  const int size = graph.slots.size() == 0 ? 64 : 4 * graph.slots.size();
  for (int i = 0; i < graph.slots.size(); ++i) graph.slots[i] = -1;
  while (graph.slots.size() < size) graph.slots.push(-1);
  for (int i = 0; i < graph.entries.size(); ++i)
    graph.slots[slot_of(graph, graph.entries[i].hash)] = i;
}

/// Whether `value`, which the entry's name stands for, is the one that the entry already names.
constexpr bool is_same(const Entry& entry, const Value& value) {
  if (value.node >= 0) return value.node == entry.value.node;
  return value.name != nullptr && entry.name != nullptr && same_text(value.name, entry.name);
}

/// Gives `value` the name. An output may be called like the layer that it is.
constexpr void bind(Graph& graph, const char* name, int scope, int token, const Value& value) {
  if (const Fault fault = inspect_name(name); fault != Fault::none) {
    return graph.fail({.fault = fault, .token = token, .text = name});
  }
  if (2 * (graph.entries.size() + 1) > graph.slots.size()) rehash(graph);
  const Hash hash = path_hash(graph, scope, name);
  const int slot = slot_of(graph, hash);
  if (const int found = graph.slots[slot]; found >= 0) {
    const Entry& entry = graph.entries[found];
    const bool output = graph.program[token].part == Part::output;
    if (output && graph.program[entry.token].part != Part::output && is_same(entry, value)) return;
    return graph.fail(
        {.fault = Fault::duplicate_name, .other = entry.token, .token = token, .text = name});
  }
  graph.slots[slot] = graph.entries.size();
  graph.entries.push({hash, name, token, value});
}

/// The entry that `name` means when it is written in `scope`: the innermost one; -1 when there is
/// none.
constexpr int look_up(const Graph& graph, const char* name, int scope) {
  if (name == nullptr || graph.slots.size() == 0) return -1;
  for (;; scope = graph.scopes[scope].parent) {
    const int found = graph.slots[slot_of(graph, path_hash(graph, scope, name))];
    if (found >= 0 || scope < 0) return found;
  }
}

/// Layers without a name are called after what they continue (write_name); those names must differ
/// too.
constexpr void bind_derived_names(Graph& graph) {
  List<Hash> hashes;
  while (hashes.size() < graph.nodes.size()) hashes.push(0);
  for (int i = 0; i < graph.order.size() && graph.sound(); ++i) {
    const int n = graph.order[i];
    const Node& node = graph.nodes[n];
    if (node.owned) continue;
    if (node.name != nullptr) {
      hashes[n] = path_hash(graph, node.scope, node.name);
      continue;
    }
    const int base = continued(graph, node);
    const Hash start = base >= 0 ? extend(hashes[base], '.') : path_hash(graph, node.scope, "");
    hashes[n] = extend(start, word_of(graph, node));
    if (2 * (graph.entries.size() + 1) > graph.slots.size()) rehash(graph);
    const int slot = slot_of(graph, hashes[n]);
    if (graph.slots[slot] >= 0) return graph.fail({.fault = Fault::same_derived_name, .node = n});
    graph.slots[slot] = graph.entries.size();
    graph.entries.push({hashes[n], nullptr, node.token, {.node = n}});
  }
}

}  // namespace halftone::dsl::checking
