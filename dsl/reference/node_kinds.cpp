// SPDX-License-Identifier: Apache-2.0
#include "node_kinds.hpp"

#include <algorithm>

#include "halftone/description/text.hpp"
#include "layers.hpp"
#include "settings.hpp"

namespace halftone::reference {

using description::kind_text;

bool belongs_to(description::Kind kind, description::LayerClass layer_class) {
  bool belongs = false;
  Layers::visit(kind_text(kind), [&](auto of) {
    belongs = std::ranges::find(of.classes, layer_class) != of.classes.end();
  });
  return belongs;
}

bool gradient_reads(description::Kind kind, std::string_view read, std::string_view wanted) {
  bool reads = false;
  Layers::visit(kind_text(kind), [&](auto of) { reads = of.reads(read, wanted); });
  return reads;
}

int columns_of_products(const description::Node& layer, std::string_view operand,
                        std::size_t dimensions) {
  int columns = -1;
  Layers::visit(kind_text(layer.kind), [&](auto of) {
    columns = of.columns_of_products(operand, settings_of(layer), dimensions);
  });
  return columns;
}

std::vector<std::string_view> internals_of(description::Kind kind) {
  std::vector<std::string_view> internals;
  Layers::visit(kind_text(kind),
                [&](auto of) { internals.assign(of.internals.begin(), of.internals.end()); });
  return internals;
}

std::vector<std::string_view> kept_by(description::Kind kind) {
  std::vector<std::string_view> kept;
  Layers::visit(kind_text(kind),
                [&](auto of) { kept.assign(of.kept_states.begin(), of.kept_states.end()); });
  return kept;
}

bool is_kept(description::Kind kind, std::string_view role) {
  bool is_one = false;
  Layers::visit(kind_text(kind), [&](auto of) {
    is_one = std::ranges::find(of.kept_states, role) != of.kept_states.end() ||
             std::ranges::find(of.fixed_states, role) != of.fixed_states.end();
  });
  return is_one;
}

bool multiplies_sums(description::Kind kind, bool of_vectors) {
  bool multiplies = false;
  Layers::visit(kind_text(kind), [&](auto of) {
    multiplies = of_vectors ? of.multiplies_sums_of_vectors : of.multiplies_sums;
  });
  return multiplies;
}

bool gradient_reads_result(description::Kind kind) {
  bool reads = false;
  Layers::visit(kind_text(kind), [&](auto of) { reads = of.reads_result; });
  return reads;
}

}  // namespace halftone::reference
