// SPDX-License-Identifier: Apache-2.0
// How a call that fits no function of the dsl becomes a token with a sentence.
#pragma once

#include <type_traits>

#include "halftone/expression.hpp"
#include "halftone/loss_scale.hpp"
#include "halftone/model.hpp"
#include "halftone/training.hpp"

namespace halftone::dsl::building {

constexpr Section<1> misused_section(const char* sentence) { return {misused(sentence)}; }

template <int N>
constexpr void take_chain(const Spec<N>&) {}
/// Also of what is derived from Spec, to which an overload for everything would be preferred.
template <class T>
concept Chain = requires(const T& layers) { take_chain(layers); };

/// What a function of the dsl becomes that stands without its parentheses: of its overloads only
/// the one for misuse takes a Nothing, and it says the sentence. All else has no sentence.
struct Nothing {};
struct Argument {
  const char* sentence = nullptr;
  constexpr Argument() = default;
  constexpr Argument(const auto&) {}
  constexpr Argument(Spec<1> (*bare)(const Nothing&)) : sentence(bare({})[0].name) {}
  constexpr Argument(Section<1> (*bare)(const Nothing&)) : sentence(bare({}).spec[0].name) {}
  constexpr Argument(Model<1> (*bare)(const Nothing&)) : sentence(bare({}).spec[0].name) {}
  constexpr Argument(LinearOption (*bare)(const Nothing&)) : sentence(bare({}).token.name) {}
  constexpr Argument(SharedOption (*bare)(const Nothing&)) : sentence(bare({}).token.name) {}
};
/// A call that is no part of a lambda.
template <class... T>
concept Outside = !(std::is_same_v<T, Scalar> || ...);
/// Says the sentence of the first that has one, otherwise `sentence`.
template <int N>
constexpr Spec<1> misused(const Argument (&arguments)[N], const char* sentence) {
  for (const Argument& argument : arguments)
    if (argument.sentence != nullptr) return misused(argument.sentence);
  return misused(sentence);
}

}  // namespace halftone::dsl::building
