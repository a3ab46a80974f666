// SPDX-License-Identifier: Apache-2.0
// A specification is a flat constant array of small tokens; nesting is written with brackets.
// Arrays of one type keep compilation fast
// (docs/decisions/0001-constexpr-arrays-instead-of-hana.md).
#pragma once

#include "halftone/description/kinds.hpp"
#include "halftone/expression.hpp"
#include "halftone/shape.hpp"

namespace halftone::dsl {

/// What a token says. Options follow the layer, operands the node, dimensions the source that they
/// belong to.
enum class Part : unsigned char {
  model,  // name
  node,   // detail: Kind; name or null; number: what the layer chooses (its outputs), kNumbered, of
          // an input what is said at kIntegers; x: its kind's first setting, where y is kStated
  extent,   // number: a second one that the layer chooses; right behind the node
  setting,  // option of a node; detail: which other setting; x; of a list of numbers one for each
  without,  // options of a layer; without: detail: the optional parameters that it has not
  with,     // its optional states, which it has then
  tied,     // name of a layer whose weight it uses or, where detail is kBoth, all parameters
  frozen,
  no_decay,
  learning_rate_scale,  // options of parameters; detail: Target; scale: x
  init_constant,
  init_uniform,
  init_normal,  // detail: Target; x, y as in description::Initializer
  init_truncated_normal,
  init_bounds,  // of the truncated normal before it
  init_orthogonal,
  init_xavier_uniform,
  init_xavier_normal,
  init_kaiming_uniform,
  init_kaiming_normal,  // x: a Gain's square; number: a Fan
  dimension,    // of a source, or of a layer's list, behind its options: number, of the symbol
                // where there is a name
  operand,      // of a node: name of a value; of a layer, after the current value; detail: of an
                // optional one which operand, otherwise 0
  weights,      // of a loss, behind its operands: name of the input that is its sample_weight
  chain,        // forgets the current value
  from,         // name of the value that becomes the current one
  as,
  output,  // another name of the current value
  begin_residual,
  end_residual,  // brackets; detail: the Kind that joins
  begin_repeat,
  end_repeat,  // name, number of repetitions
  begin_named,
  end_named,  // name
  begin_concat,
  next_branch,
  end_concat,   // detail: the Kind that joins
  loss_weight,  // follows a loss: x
  assign,       // name of a state, then the value as operand
  group,        // of settings: name: a glob of parameters, of which the options behind it speak
  group_clip,   // of a group: x: the largest norm
  stranger,     // a call or argument that does not fit; name: the sentence, or null for an option
};

/// Which parameters of a layer an option speaks of.
enum Target : unsigned char { kWeight = 1, kBias = 2, kBoth = 3 };
constexpr Target target_of(description::ParameterGroup group) {
  return group == description::ParameterGroup::weight ? kWeight : kBias;
}

/// The bits of an input's number: it has labels or tokens; it wants a gradient (D15); x is its
/// scale, y its offset (D16); something is stated twice. Above them stands 1 + its element, or 0
/// where none is stated.
inline constexpr long long kIntegers = 1, kWantsGradient = 2, kScaled = 4, kShifted = 8,
                           kTwice = 16, kElement = 32;
constexpr long long number_of(description::Element element) {
  return kElement * (1 + static_cast<long long>(element));
}
/// What an input of this number is delivered in (D8).
constexpr description::Element delivered_in(long long number) {
  if (number / kElement > 0) return static_cast<description::Element>(number / kElement - 1);
  return (number & kIntegers) != 0 ? description::Element::i32 : description::Element::f32;
}

/// The number of a function's node whose expression takes the token's x as its last value.
inline constexpr long long kNumbered = 1;

struct Token {
  Part part = Part::model;
  unsigned char detail = 0;
  const char* name = nullptr;
  long long number = 0;
  double x = 0, y = 0;
  const Expression* expression = nullptr;

  /// Of a node, or of what ends in one.
  constexpr description::Kind kind() const { return static_cast<description::Kind>(detail); }
};

/// Most that state a setting state one, so that it goes with the node: tokens cost time to move.
inline constexpr double kStated = 1;

/// A token that holds a kind.
constexpr Token token_of(Part part, description::Kind kind, const char* name = nullptr,
                         long long number = 0) {
  return {.part = part, .detail = static_cast<unsigned char>(kind), .name = name, .number = number};
}

/// Tokens move in chunks, since a constant evaluation has a limited number of steps.
inline constexpr int kChunk = 16;
struct Chunk {
  Token tokens[kChunk];
};

/// A part of a model: N tokens.
template <int N>
struct Spec {
  Chunk chunks[(N + kChunk - 1) / kChunk];

  constexpr Token& operator[](int i) { return chunks[i / kChunk].tokens[i % kChunk]; }
  constexpr const Token& operator[](int i) const { return chunks[i / kChunk].tokens[i % kChunk]; }
};

/// A section of a model beside its chains: inputs, losses, states, assignments.
template <int N>
struct Section {
  Spec<N> spec;
};

constexpr Spec<1> one(const Token& token) {
  Spec<1> result;
  result[0] = token;
  return result;
}

namespace building {
template <class Of>
constexpr Token node(const char* name, long long number = 0) {
  return token_of(Part::node, description::kind<Of>, name, number);
}

template <class Of>
constexpr int setting_of(const char* name) {
  int i = 0;
  while (!same_text(Of::form.settings[i].name, name)) ++i;
  return i;
}

/// Of what an option says of a setting that is not the kind's first.
template <class Of>
constexpr Token setting(const char* name, double value) {
  return {.part = Part::setting,
          .detail = static_cast<unsigned char>(setting_of<Of>(name)),
          .x = value};
}

/// Of a source's shape, or of a layer's list.
constexpr Spec<1> dimension_token(const Dimension& dimension) {
  return one({.part = Part::dimension,
              .name = dimension.symbol,
              .number = dimension.symbol == nullptr ? dimension.extent : dimension.factor,
              .x = dimension.symbol == nullptr ? 0 : static_cast<double>(dimension.extent)});
}

/// With the kind's first setting.
template <class Of>
constexpr Token node_with(const char* name, double value) {
  Token token = node<Of>(name);
  token.x = value;
  token.y = kStated;
  return token;
}

/// What a call that fits no function becomes, so that HALFTONE_MODEL says the sentence.
constexpr Spec<1> misused(const char* sentence) {
  return one({.part = Part::stranger, .name = sentence});
}
}  // namespace building

/// `first`, then `second`.
template <int A, int B>
constexpr Spec<A + B> operator|(const Spec<A>& first, const Spec<B>& second) {
  Spec<A + B> result;
  for (int i = 0; i < (A + kChunk - 1) / kChunk; ++i) result.chunks[i] = first.chunks[i];
  for (int i = 0; i < B; ++i) result[A + i] = second[i];
  return result;
}

template <int... N>
constexpr auto join(const Spec<N>&... parts) {
  return (parts | ...);
}

}  // namespace halftone::dsl
