// SPDX-License-Identifier: Apache-2.0
// Layers that tell a sequence's elements where they stand: rotary, position_embedding and
// sinusoidal_embedding. Formulas: docs/spec/description.md, D64 to D66.
#pragma once

#include "halftone/layers.hpp"

namespace halftone::dsl {

struct Base {
  double value;
};
/// Of rotary and sinusoidal_embedding: pair i of n elements turns by base^(-2i/n) a position;
/// base(10000).
constexpr Base base(double value) { return {value}; }

struct Interleaved {};
/// Of rotary: a pair is two neighbours, as in GPT-J. Without, it is an element of a head's first
/// half and one of its second, as in GPT-NeoX and Llama.
inline constexpr Interleaved interleaved{};

struct Rotated {
  double elements;
};
/// Of rotary: so many elements of a head are turned, an even number, the first ones. Without, all.
template <Whole Elements>
constexpr Rotated rotated(Elements elements) {
  return {static_cast<double>(static_cast<long long>(elements))};
}

struct Scaling {
  double factor = 1, low = 0, high = 0, length = 0;
};
/// Of rotary: positions count 1 / factor of what they say.
constexpr Scaling linear_scaling(double factor) { return {.factor = factor}; }
/// Of rotary, as in Llama 3.1: waves of up to length / high positions stay, those from length / low
/// on are as many times longer as `factor` says, and in between both are mixed.
///   llama3_scaling(8, 1, 4, 8192)
constexpr Scaling llama3_scaling(double factor, double low, double high, double length) {
  return {factor, low, high, length};
}

namespace building {
template <class Of>
constexpr Token positions_token(const char* input) {
  return {.part = Part::operand, .detail = number_of_role<Of>("position"), .name = input};
}
template <class Of>
constexpr Spec<1> position_tokens(Base of) {
  return one(setting<Of>("base", of.value));
}
template <class Of>
constexpr Spec<1> position_tokens(Interleaved) {
  return one(setting<Of>("interleaved", 1));
}
template <class Of>
constexpr Spec<1> position_tokens(Rotated of) {
  return one(setting<Of>("rotated", of.elements));
}
/// A length that is none states what the first token does.
template <class Of>
constexpr Spec<4> position_tokens(const Scaling& of) {
  const Token factor = setting<Of>("factor", of.factor);
  const bool by_length = of.low != 0 || of.high != 0 || of.length != 0;
  const auto either = [&](const char* name, double value) {
    return one(by_length ? setting<Of>(name, value) : factor);
  };
  return join(one(factor), either("low_factor", of.low), either("high_factor", of.high),
              either("original_length", of.length));
}
}  // namespace building

/// Turns pairs of every head's elements by angles that grow with the position, so that products of
/// two heads depend on how far apart they are: (rows..., times, heads * n) -> the same. D64
///   rotary("rope", 8, base(500000), llama3_scaling(8, 1, 4, 8192))
template <Whole Heads, class... Options>
  requires(building::kFits<void(Base, Interleaved, Rotated, Scaling), Options...>)
constexpr auto rotary(const char* name, Heads heads, const Options&... options) {
  return join(one(building::node_with<building::Rotary>(
                  name, static_cast<double>(static_cast<long long>(heads)))),
              building::position_tokens<building::Rotary>(options)...);
}
/// The same at positions that an input of positions() gives, (rows..., times), instead of 0, 1, ...
template <Whole Heads, class... Options>
  requires(building::kFits<void(Base, Interleaved, Rotated, Scaling), Options...>)
constexpr auto rotary(const char* name, Heads heads, const char* positions,
                      const Options&... options) {
  return join(rotary(name, heads, options...),
              one(building::positions_token<building::Rotary>(positions)));
}

/// Adds to time t row t of the weight (times, columns): (rows..., t, columns) -> the same, where t
/// is at most `times`: more are refused, a symbol's where it is bound. D65
template <Whole Times, class... Options>
constexpr auto position_embedding(const char* name, Times times, const Options&... options) {
  return join(one(building::node<building::PositionEmbedding>(name, times)),
              building::tokens_of(options)...);
}

/// Adds sines to even columns and cosines to odd ones (Vaswani et al. 2017): (rows..., times,
/// columns) -> the same. D66
template <class... Options>
  requires(building::kFits<void(Base), Options...>)
constexpr auto sinusoidal_embedding(const char* name, const Options&... options) {
  return join(one(building::node<building::SinusoidalEmbedding>(name)),
              building::position_tokens<building::SinusoidalEmbedding>(options)...);
}
/// The same at positions that an input of positions() gives.
template <class... Options>
  requires(building::kFits<void(Base), Options...>)
constexpr auto sinusoidal_embedding(const char* name, const char* positions,
                                    const Options&... options) {
  return join(sinusoidal_embedding(name, options...),
              one(building::positions_token<building::SinusoidalEmbedding>(positions)));
}

}  // namespace halftone::dsl
