// SPDX-License-Identifier: Apache-2.0
// The sources of D20, which are what has no operands (D3).
#pragma once

#include <variant>

#include "halftone/description/description.hpp"

namespace halftone::reference {

inline bool is_source(const description::Node& node) { return node.operands.empty(); }

inline bool is_parameter(const description::Node& node) {
  return std::holds_alternative<description::ParameterAttributes>(node.attributes);
}

inline bool is_state(const description::Node& node) {
  return std::holds_alternative<description::StateAttributes>(node.attributes);
}

inline bool is_input(const description::Node& node) {
  return is_source(node) && !is_parameter(node) && !is_state(node);
}

}  // namespace halftone::reference
