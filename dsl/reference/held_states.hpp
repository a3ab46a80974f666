// SPDX-License-Identifier: Apache-2.0
// What rules hold the optimizer's states and masters in, between two updates: P68, P69, P86.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
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

// P68, P86: of all parameters, so that of any.
inline RoundTo states_held_in(const description::Description& description,
                              const Resolution& rules) {
  const std::vector<description::NodeId> order = flat_order(description);
  return order.empty() ? RoundTo() : rules.store(order.front(), description::Role::optimizer_state);
}

// What every parameter takes a multiple of in the flat buffers (U1).
inline std::size_t flat_padding(const description::Description& description,
                                const Resolution& rules) {
  const auto block = static_cast<std::size_t>(states_held_in(description, rules).scaling.size);
  return std::max(has_norms(description) ? kBlock : 32, block);
}

// A trained parameter and its first element in flat buffers, where each is padded as in U1.
struct FlatParameter {
  description::NodeId node = 0;
  std::uint64_t offset = 0;
};
inline std::vector<FlatParameter> flat_layout(const description::Description& description,
                                              std::uint64_t padding) {
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

// P86, of a block whose values have this largest magnitude.
constexpr double kLeastOfBlock = 1e-12;
inline double largest_code(description::Element format) {
  return format == description::Element::f8e4m3 ? 448 : 57344;
}

// The values of a parameter's state, in blocks from its first element on; what is drawn is drawn
// from element `first` on.
inline Values<float> rounded_in_blocks(RoundTo to, Values<float> values, const Draws& draws,
                                       const std::string& name, std::uint64_t first) {
  const auto size = static_cast<std::size_t>(to.scaling.size);
  to.scaling = {};
  for (std::size_t begin = 0; begin < values.size(); begin += size) {
    const std::size_t end = std::min(begin + size, values.size());
    float most = 0;
    for (std::size_t e = begin; e < end; ++e) most = maximum(most, std::fabs(values[e]));
    const float scale = maximum(most, static_cast<float>(kLeastOfBlock)) /
                        static_cast<float>(largest_code(to.format));
    Values<float> codes;
    for (std::size_t e = begin; e < end; ++e) codes.push_back(values[e] / scale);
    codes = rounded(to, std::move(codes), draws, name, first + begin);
    for (std::size_t e = begin; e < end; ++e) values[e] = codes[e - begin] * scale;
  }
  return values;
}

inline Values<double> rounded_in_blocks(const RoundTo&, Values<double> values, const Draws&,
                                        const std::string&, std::uint64_t) {
  return values;
}

// A code is off by half a place of it, or by one where it does not go to the nearest; by the least
// number's, which is a share of the block's largest, where it is subnormal.
inline Values<Bounded> rounded_in_blocks(const RoundTo& to, Values<Bounded> values, const Draws&,
                                         const std::string&, std::uint64_t) {
  const bool is_e4m3 = to.format == description::Element::f8e4m3;
  const bool to_nearest = to.rounding == description::Rounding::nearest_even;
  const double places = to_nearest ? 0.5 : 1, of_f32 = 0x1p-21;  // a division, a product, a limit
  const double relative = places * (is_e4m3 ? 0x1p-3 : 0x1p-2) + of_f32;
  const double least = places * (is_e4m3 ? 0x1p-9 : 0x1p-16);
  const auto size = static_cast<std::size_t>(to.scaling.size);
  for (std::size_t begin = 0; begin < values.size(); begin += size) {
    const std::size_t end = std::min(begin + size, values.size());
    double most = kLeastOfBlock;
    for (std::size_t e = begin; e < end; ++e)
      most = std::max(most, std::fabs(values[e].value) + values[e].error);
    for (std::size_t e = begin; e < end; ++e) {
      Bounded& value = values[e];
      value.error += (std::fabs(value.value) + value.error) * relative +
                     least * (1 + of_f32) * most / largest_code(to.format);
    }
  }
  return values;
}

// P68, P86; `draws` are those of the update, or of no training for first values, which go to the
// nearest.
template <class Scalar>
void hold_states(const description::Description& description, const Resolution& rules,
                 const Draws& draws, State<Scalar>& state) {
  RoundTo store = states_held_in(description, rules);
  if (!draws.training) store.rounding = description::Rounding::nearest_even;
  if (store.format == description::Element::f32) return;
  const std::uint64_t padding = flat_padding(description, rules);
  const bool is_scaled = store.scaling.kind != encoding::Scaling::Kind::none;
  if (is_scaled && !draws.training) return;  // all are 0 (P86)
  for (auto& [name, tensors] : flat_states(description.optimizer, state)) {
    for (const FlatParameter& parameter : flat_layout(description, padding)) {
      const auto found = tensors->find(description.nodes[parameter.node].name);
      if (found == tensors->end()) continue;
      Values<Scalar>& values = found->second;
      values = is_scaled
                   ? rounded_in_blocks(store, std::move(values), draws, name, parameter.offset)
                   : rounded(store, std::move(values), draws, name, parameter.offset);
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
