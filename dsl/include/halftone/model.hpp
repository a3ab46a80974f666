// SPDX-License-Identifier: Apache-2.0
// Composition and wiring: inputs, chains, names, brackets and the model itself.
//
//   constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 1)),
//                              from("x") | linear("fc", 16) | relu | linear("out", 1) |
//                              output("guess"), losses(mse("loss", "guess", "y")));
//
// Chains may come in any order and name each other's values; a value may be named once in a scope.
#pragma once

#include <type_traits>

#include "halftone/layers.hpp"
#include "halftone/shape.hpp"

namespace halftone::dsl {

// ---- sources ----

/// An option of an input.
struct InputOption {
  long long number = 0;
  double scale = 0, offset = 0;
};

/// A trainer computes d objective / d input in every backward pass and gives it by name,
/// input_gradient("x"), without the loss scale (D15): tensor("x", batch, 16, with_gradient).
inline constexpr InputOption with_gradient{kWantsGradient};

/// The value of an input of u8, i8, u16 or i16 is its number, times scale, plus offset, each
/// rounded to f32 (D16): tensor("pixels", u8, batch, 784, scale(1.0 / 255), offset(-0.5)).
constexpr InputOption scale(double factor) { return {kScaled, factor, 0}; }
constexpr InputOption offset(double summand) { return {kShifted, 0, summand}; }

/// What the input is delivered in, a dimension, or an option.
template <class T>
concept PartOfInput = DimensionOfShape<T> || std::is_same_v<T, InputOption> ||
                      std::is_same_v<T, description::Element>;

namespace building {
template <int N, DimensionOfShape... D>
constexpr auto source(const Spec<N>& tokens, const D&... dimensions) {
  return Section<N + sizeof...(D)>{join(tokens, dimension_token(dimensions)...)};
}

/// Takes in an option, or appends a dimension.
constexpr int put(Token* tokens, int at, const InputOption& option) {
  Token& node = tokens[0];
  if ((node.number & option.number) != 0) node.number |= kTwice;
  node.number |= option.number;
  node.x += option.scale;
  node.y += option.offset;
  return at;
}
constexpr int put(Token* tokens, int at, description::Element element) {
  long long& number = tokens[0].number;
  number = number < kElement ? number + number_of(element) : number | kTwice;
  return at;
}
constexpr int put(Token* tokens, int at, const Dimension& dimension) {
  tokens[at] = dimension_token(dimension)[0];
  return at + 1;
}

template <class... Parts>
constexpr auto delivered(const char* name, long long number, const Parts&... parts) {
  constexpr int kSize = 1 + (DimensionOfShape<Parts> + ... + 0);
  Token tokens[kSize] = {token_of(Part::node, description::kInputKind, name, number)};
  int at = 1;
  ((at = put(tokens, at, parts)), ...);
  Section<kSize> section;
  for (int i = 0; i < kSize; ++i) section.spec[i] = tokens[i];
  return section;
}
}  // namespace building

/// An input of values, in f32 unless it says f16, bf16, u8, i8, u16 or i16: tensor("pixels", u8,
/// batch, 64). Dimensions outermost first, fixed or symbolic. Options: with_gradient, scale() and
/// offset().
template <PartOfInput... Parts>
constexpr auto tensor(const char* name, const Parts&... parts) {
  return building::delivered(name, 0, parts...);
}

/// An input of integers (D8), read by losses as class numbers, in i32 unless it says others:
/// labels("digit", batch), labels("digit", u8, batch).
template <PartOfInput... Parts>
constexpr auto labels(const char* name, const Parts&... parts) {
  return building::delivered(name, kIntegers, parts...);
}

/// The same, read by embeddings as rows of their weight: tokens("word", u16, batch, 256).
template <PartOfInput... Parts>
constexpr auto tokens(const char* name, const Parts&... parts) {
  return labels(name, parts...);
}

/// The same, read by rotary and sinusoidal_embedding as what time it is: positions("place", batch,
/// symbol("time")).
template <PartOfInput... Parts>
constexpr auto positions(const char* name, const Parts&... parts) {
  return labels(name, parts...);
}

/// The same, read by attention to mask keys: lengths("length", batch), key_masks("kept", batch,
/// time), segments("document", batch, time). The last also say what segment_sum and its like sum.
template <PartOfInput... Parts>
constexpr auto lengths(const char* name, const Parts&... parts) {
  return labels(name, parts...);
}
template <PartOfInput... Parts>
constexpr auto key_masks(const char* name, const Parts&... parts) {
  return labels(name, parts...);
}
template <PartOfInput... Parts>
constexpr auto segments(const char* name, const Parts&... parts) {
  return labels(name, parts...);
}

struct Initial {
  double value;
};
constexpr Initial initial(double value) { return {value}; }

/// A value that persists from step to step and is not trained; set by assign().
template <DimensionOfShape... D>
constexpr auto state(const char* name, Initial first, const D&... dimensions) {
  return building::source(one({.part = Part::node,
                               .detail = static_cast<unsigned char>(description::kStateKind),
                               .name = name,
                               .x = first.value,
                               .y = kStated}),
                          dimensions...);
}
template <DimensionOfShape... D>
constexpr auto state(const char* name, const D&... dimensions) {
  return state(name, initial(0), dimensions...);
}

/// `state` takes the value that `value` has in a training batch's forward pass, once the batch's
/// gradients join its step; every micro-batch assigns in turn. A step that is skipped takes it
/// back, and predictors assign nothing (D7, S1 to S5).
constexpr auto assign(const char* state, const char* value) {
  return Section<2>{one({.part = Part::assign, .name = state}) |
                    one({.part = Part::operand, .name = value})};
}

namespace building {
template <int... N>
constexpr auto joined(const Section<N>&... parts) {
  return Section<(N + ...)>{join(parts.spec...)};
}
}  // namespace building

/// The sections of a model, as they read in it.
template <int... N>
  requires(sizeof...(N) > 0)
constexpr auto inputs(const Section<N>&... parts) {
  return building::joined(parts...);
}
template <int... N>
  requires(sizeof...(N) > 0)
constexpr auto states(const Section<N>&... parts) {
  return building::joined(parts...);
}
template <int... N>
  requires(sizeof...(N) > 0)
constexpr auto assignments(const Section<N>&... parts) {
  return building::joined(parts...);
}
template <int... N>
  requires(sizeof...(N) > 0)
constexpr auto losses(const Section<N>&... parts) {
  return building::joined(parts...);
}

// ---- chains ----

/// Begins a chain, or a branch, with a named value: an input, a state, a layer, an as() or an
/// output.
constexpr Spec<1> from(const char* value) { return one({.part = Part::from, .name = value}); }

/// Names the current value. A layer without a name of its own takes this one.
constexpr Spec<1> as(const char* name) { return one({.part = Part::as, .name = name}); }

/// Makes the current value an output of the model, and names it.
constexpr Spec<1> output(const char* name) { return one({.part = Part::output, .name = name}); }

/// x + body(x); the body keeps the shape.
template <int N>
constexpr auto residual(const Spec<N>& body) {
  return join(one({.part = Part::begin_residual}), body,
              one(token_of(Part::end_residual, building::kSum)));
}

/// `Count` copies of the body one after another; the body keeps the shape. Layers are named
/// name/0/fc, name/1/fc, ... Inside the body its own names are found first, then those around it;
/// from outside, `name` is the last copy's result and names inside the body are not visible.
template <long long Count, int N>
constexpr auto repeat(const char* name, const Spec<N>& body) {
  return join(one({.part = Part::begin_repeat, .name = name, .number = Count}), body,
              one({.part = Part::end_repeat}));
}

/// The layers of the chain under one name: its fc is called name/fc, and `name` is the chain's
/// result. Inside, its own names are found first, then those around it.
template <int N>
constexpr auto named(const char* name, const Spec<N>& body) {
  return join(one({.part = Part::begin_named, .name = name}), body, one({.part = Part::end_named}));
}

/// The branches' results side by side along the last dimension; each branch starts from the current
/// value. D27
template <int First, int... N>
constexpr auto concat(const Spec<First>& first, const Spec<N>&... others) {
  return join(one(token_of(Part::begin_concat, building::kBeside)), first,
              (one({.part = Part::next_branch}) | others)...,
              one(token_of(Part::end_concat, building::kBeside)));
}

// ---- the model ----

template <int N>
struct Model {
  static constexpr int size = N;
  Spec<N> spec;
};

namespace building {
template <int N>
constexpr auto placed(const Spec<N>& chain) {
  return one({.part = Part::chain}) | chain;
}
template <int N>
constexpr const Spec<N>& placed(const Section<N>& section) {
  return section.spec;
}
template <int N>
constexpr auto whole(const Spec<N>& spec) {
  return Model<N>{spec};
}
}  // namespace building

/// A chain, or inputs(), states(), assignments() or losses().
template <class T>
concept PartOfModel = requires(const T& part) { building::placed(part); };

/// A model of sections and chains, in any order. `name` is a C++ identifier. Checked by
/// HALFTONE_MODEL. The generated header makes C++ names of the model's name and of those of inputs,
/// outputs and symbols, so that macros of the standard library, __ and _Capital are refused for
/// them, and keywords, std, halftone and models for the model; no value is called like a buffer
/// that halftonec makes, as gradients (description/reserved_names.hpp).
template <PartOfModel... Parts>
constexpr auto model(const char* name, const Parts&... parts) {
  return building::whole(
      join(one({.part = Part::model, .name = name}), building::placed(parts)...));
}

/// The same model under another name, so that one program can hold it with several sets of rules.
template <int N>
constexpr Model<N> renamed(const char* name, const Model<N>& of) {
  Model<N> result = of;
  result.spec[0].name = name;
  return result;
}

}  // namespace halftone::dsl
