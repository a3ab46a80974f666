// SPDX-License-Identifier: Apache-2.0
// Clips of groups of parameters: what D11 asks of them.
#include <algorithm>

#include "faults.hpp"
#include "halftone/description/in_f32.hpp"
#include "spelling.hpp"

namespace halftone::description::detail {
namespace {

bool holds(const ClipGroup& group, NodeId parameter) {
  return std::find(group.parameters.begin(), group.parameters.end(), parameter) !=
         group.parameters.end();
}

/// What is wrong with the parameter at `position` of the group.
Sentence member_fault(const Description& description, std::size_t index, std::size_t position) {
  const ClipGroup& group = description.clip_groups[index];
  const NodeId id = group.parameters[position];
  if (id < 0 || static_cast<std::size_t>(id) >= description.nodes.size())
    return "the clip of a group names no node; name a parameter";
  const Node& node = description.nodes[static_cast<std::size_t>(id)];
  const auto* parameter = std::get_if<ParameterAttributes>(&node.attributes);
  if (parameter == nullptr || parameter->frozen)
    return "the clip of a group names '%" + node.name +
           "', which is no parameter that is trained; leave it out";
  const auto before = group.parameters.begin() + static_cast<std::ptrdiff_t>(position);
  bool known = std::find(group.parameters.begin(), before, id) != before;
  for (std::size_t i = 0; i < index; ++i) known = known || holds(description.clip_groups[i], id);
  if (known)
    return "the clip of a group names '%" + node.name + "', which is clipped already; name it once";
  return std::nullopt;
}

}  // namespace

Sentence clip_group_fault(const Description& description, std::size_t index) {
  const ClipGroup& group = description.clip_groups[index];
  if (description.clip)
    return "the clip of a group stands beside a clip of all parameters; leave one of them out";
  if (!is_positive_in_f32(group.norm))
    return "the clip of a group has the norm " + spelled(group.norm) +
           "; make it finite and positive in f32";
  if (group.parameters.empty())
    return "the clip of a group names no parameter; name those that it clips";
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    if (const Sentence fault = member_fault(description, index, i)) return fault;
  }
  return std::nullopt;
}

}  // namespace halftone::description::detail
