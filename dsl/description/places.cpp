// SPDX-License-Identifier: Apache-2.0
// Where layers and parameters stand, for the bounds of clauses (P60).
#include <algorithm>

#include "halftone/description/description.hpp"
#include "halftone/description/rule_meaning.hpp"

namespace halftone::description {
namespace {

// The number of the outermost copy: the first component of the name that is a number alone.
std::int64_t depth_of(std::string_view name) {
  while (!name.empty()) {
    const std::string_view component = name.substr(0, name.find('/'));
    const bool number = !component.empty() && component.size() <= 18 &&
                        component.find_first_not_of("0123456789") == component.npos;
    if (number) {
      std::int64_t value = 0;
      for (const char digit : component) value = 10 * value + (digit - '0');
      return value;
    }
    name.remove_prefix(std::min(name.size(), component.size() + 1));
  }
  return -1;
}

std::int64_t elements_of(const Node& parameter) {
  std::int64_t elements = 1;
  for (const Dimension& dimension : parameter.shape) elements *= dimension.extent;
  return elements;
}

std::int64_t smaller(std::int64_t a, std::int64_t b) {
  return a < 0 || b < 0 ? std::max(a, b) : std::min(a, b);
}

}  // namespace

std::vector<Place> places_of(const Description& description) {
  const auto& nodes = description.nodes;
  std::vector<Place> places(nodes.size());
  const auto multiplies = [](const Node& node) {
    return rules::ops_of(LayerClass::contraction).has(node.kind);
  };
  std::int64_t left = std::ranges::count_if(nodes, multiplies), met = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Place& at = places[i];
    if (is_computed(nodes[i].kind) || is_parameter(nodes[i].kind))
      at.depth = depth_of(nodes[i].name);
    if (is_parameter(nodes[i].kind)) at.elements = elements_of(nodes[i]);
    if (multiplies(nodes[i])) {
      at.before = met++;
      at.behind = --left;
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Operand& operand : nodes[i].operands) {
      Place& read = places[static_cast<std::size_t>(operand.node)];
      if (!is_parameter(nodes[static_cast<std::size_t>(operand.node)].kind)) continue;
      places[i].elements = std::max(places[i].elements, read.elements);
      read.before = smaller(read.before, places[i].before);
      read.behind = smaller(read.behind, places[i].behind);
    }
  }
  return places;
}

}  // namespace halftone::description
