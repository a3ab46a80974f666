// SPDX-License-Identifier: Apache-2.0
// Builds Descriptions by hand, one node a call; every call returns the new node's id.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "halftone/description/description.hpp"

namespace halftone::tests {

using namespace halftone::description;

inline Dimension fixed(std::int64_t extent) { return {extent, {}}; }
inline Dimension symbol(std::string name) { return {0, std::move(name)}; }

/// The attributes of a kind with one setting, which takes this value.
inline LayerAttributes set(Kind kind, decltype(Setting::value) value) {
  LayerAttributes attributes = standard_attributes(kind);
  attributes.settings.at(0).value = std::move(value);
  return attributes;
}

/// The attributes of a kind with a function.
inline LayerAttributes function(std::string name, Expression expression) {
  return {{}, Function{std::move(name), std::move(expression)}};
}

/// The words of the kinds for which `is` holds, as sentences list them.
inline std::string words_of(bool (*is)(Kind), const std::string& before_last = ", ") {
  std::vector<std::string> words;
  for (int i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    if (is(kind)) words.push_back(form_of(kind).word);
  }
  std::string list = words.at(0);
  for (std::size_t i = 1; i < words.size(); ++i) {
    list += (i + 1 < words.size() ? ", " : before_last) + words[i];
  }
  return list;
}

struct Builder {
  Description description;

  /// A layer without settings may leave its attributes out.
  NodeId node(std::string name, Kind kind, std::vector<Operand> operands, Shape shape,
              Attributes attributes = {}) {
    const bool has_settings = !is_source(kind) && form_of(kind).settings.size > 0;
    if (has_settings && attributes.index() == 0) attributes = LayerAttributes{};
    description.nodes.push_back({std::move(name), kind, std::move(operands), std::move(shape),
                                 Element::f32, std::move(attributes)});
    return static_cast<NodeId>(description.nodes.size() - 1);
  }

  NodeId input(std::string name, Shape shape, Element format = Element::f32) {
    const NodeId id = node(std::move(name), kind_called("input"), {}, std::move(shape));
    description.nodes.back().format = format;
    return id;
  }

  NodeId parameter(std::string name, Shape shape, ParameterAttributes attributes = {}) {
    return node(std::move(name), kind_called("parameter"), {}, std::move(shape), attributes);
  }
};

}  // namespace halftone::tests
