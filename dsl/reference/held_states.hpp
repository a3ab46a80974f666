// SPDX-License-Identifier: Apache-2.0
// What rules hold the optimizer's states and masters in, between two updates: P68, P69.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "operation.hpp"
#include "update.hpp"

namespace halftone::reference {

// The states that have an element for every one of a parameter, under the names of checkpoints.
template <class Scalar>
std::vector<std::pair<std::string, Tensors<Scalar>*>> flat_states(
    const description::Optimizer& optimizer, State<Scalar>& state) {
  using namespace description;
  const std::string word = std::visit([](const auto& o) { return std::string(o.word); }, optimizer);
  const bool is_rmsprop = std::holds_alternative<RmsProp>(optimizer);
  const bool has_momentum = is_rmsprop || std::holds_alternative<Sgd>(optimizer) ||
                            std::holds_alternative<Lion>(optimizer);
  const char* second = is_rmsprop                                   ? ".square"
                       : std::holds_alternative<Adagrad>(optimizer) ? ".sum"
                                                                    : ".second_moment";
  std::vector<std::pair<std::string, Tensors<Scalar>*>> states = {
      {word + (has_momentum ? ".momentum" : ".first_moment"), &state.first_moments},
      {word + second, &state.second_moments},
      {word + (is_rmsprop ? ".mean" : ".largest_second_moment"), &state.third_moments}};
  if (const auto* own = own_states(optimizer)) {
    for (std::size_t i = 0; i < own->size(); ++i)
      states.emplace_back(word + "." + (*own)[i].name, &state.own_states[i]);
  }
  return states;
}

// A trained parameter and its first element in flat buffers, where each is padded as in U1.
struct FlatParameter {
  description::NodeId node = 0;
  std::uint64_t offset = 0;
};
inline std::vector<FlatParameter> flat_layout(const description::Description& description) {
  const std::uint64_t padding = has_norms(description) ? kBlock : 32;
  std::vector<FlatParameter> layout;
  std::uint64_t end = 0;
  for (const description::NodeId at : flat_order(description)) {
    layout.push_back({at, end});
    std::uint64_t elements = 1;
    for (const description::Dimension& dimension : description.nodes[at].shape)
      elements *= static_cast<std::uint64_t>(dimension.extent);
    end += (elements + padding - 1) / padding * padding;
  }
  return layout;
}

// P68; `draws` are those of the update, or of no training for first values, which go to the
// nearest.
template <class Scalar>
void hold_states(const description::Description& description, const Resolution& rules,
                 const Draws& draws, State<Scalar>& state) {
  const std::vector<FlatParameter> layout = flat_layout(description);
  if (layout.empty()) return;
  RoundTo store = rules.store(layout.front().node, description::Role::optimizer_state);
  if (!draws.training) store.rounding = description::Rounding::nearest_even;
  if (store.format == description::Element::f32) return;
  for (auto& [name, tensors] : flat_states(description.optimizer, state)) {
    for (const FlatParameter& parameter : layout) {
      const auto found = tensors->find(description.nodes[parameter.node].name);
      if (found == tensors->end()) continue;
      found->second = rounded(store, std::move(found->second), draws, name, parameter.offset);
    }
  }
}

// M5: f32 has no place for a master that lies in the middle of two numbers of bf16, of which the
// even one is nearer to zero.
inline double settled(double master) { return master; }
inline float settled(float master) {
  const auto bits = std::bit_cast<std::uint32_t>(master);
  const std::uint32_t low = bits & 0xffff, last = bits >> 16 & 1;
  return low == 0x8000 && last == 0 ? std::bit_cast<float>(bits - 1) : master;
}
inline Bounded settled(Bounded master) {
  master.error += std::abs(master.value) * 0x1p-23;
  return master;
}

template <class Scalar>
void settle_masters(const Resolution& rules, State<Scalar>& state) {
  if (!rules.splits_masters()) return;
  for (auto& [name, values] : state.parameters) {
    for (Scalar& value : values) value = settled(value);
  }
}

}  // namespace halftone::reference
