// SPDX-License-Identifier: Apache-2.0
// Gated layers (Dauphin et al. 2017, Shazeer 2020), as transformers have them behind attention:
// y = down(act(gate x) * (up x)), of three linears that are named name/gate, name/up and name/down.
#pragma once

#include "halftone/model.hpp"
#include "halftone/pointwise.hpp"

namespace halftone::dsl {

namespace building {
/// What every one of the three linears may be given.
template <class T>
inline constexpr bool kOfLinears = std::is_same_v<T, LinearOption>;
template <int N>
inline constexpr bool kOfLinears<ParameterOptions<N>> = true;

template <class... Options>
constexpr auto gated(const char* name, long long hidden, long long outputs,
                     const Spec<1>& activation, const Options&... options) {
  const auto body =
      join(one({.part = Part::begin_concat}), linear("gate", hidden, options...), activation,
           one({.part = Part::next_branch}), linear("up", hidden, options...),
           one(joining<functions::Product>("product")), linear("down", outputs, options...));
  return named(name, body);
}
}  // namespace building

/// down(silu(gate x) * (up x)), as in Llama: (rows..., columns) -> (rows..., outputs), with
/// `hidden` values between: swiglu("mlp", 1024, 384, no_bias). Options are those of linear and hold
/// for all three. The values are called mlp/gate, mlp/act, mlp/up, mlp/product and mlp/down, in
/// rules and by others, and the last mlp.
template <Whole Hidden, Whole Outputs, class... Options>
  requires(building::kOfLinears<Options> && ...)
constexpr auto swiglu(const char* name, Hidden hidden, Outputs outputs, const Options&... options) {
  return building::gated(name, hidden, outputs, silu("act"), options...);
}
/// The same with gelu, by erf.
template <Whole Hidden, Whole Outputs, class... Options>
  requires(building::kOfLinears<Options> && ...)
constexpr auto geglu(const char* name, Hidden hidden, Outputs outputs, const Options&... options) {
  return building::gated(name, hidden, outputs, gelu("act"), options...);
}
/// The same with relu.
template <Whole Hidden, Whole Outputs, class... Options>
  requires(building::kOfLinears<Options> && ...)
constexpr auto reglu(const char* name, Hidden hidden, Outputs outputs, const Options&... options) {
  return building::gated(name, hidden, outputs, relu("act"), options...);
}
/// The same with sigmoid.
template <Whole Hidden, Whole Outputs, class... Options>
  requires(building::kOfLinears<Options> && ...)
constexpr auto glu(const char* name, Hidden hidden, Outputs outputs, const Options&... options) {
  constexpr building::Function<functions::Sigmoid> act;
  return building::gated(name, hidden, outputs, act("act"), options...);
}

}  // namespace halftone::dsl
