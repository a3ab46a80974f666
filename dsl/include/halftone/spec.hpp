// SPDX-License-Identifier: Apache-2.0
// A specification is a flat constant array of small tokens; nesting is written with brackets.
// Arrays of one type keep compilation fast
// (docs/decisions/0001-constexpr-arrays-instead-of-hana.md).
#pragma once

#include "halftone/expression.hpp"

namespace halftone::dsl {

/// What a token says. Options follow the layer, operands the node, dimensions the source that they
/// belong to.
enum class Part : unsigned char {
  model,  // name
  input,
  labels,
  state,      // name; state: x is the initial value
  dimension,  // number, or name of a symbol
  parameter,  // a node of the elaborated graph, never a token
  chain,      // forgets the current value
  from,       // name of the value that becomes the current one
  linear,
  layer_norm,
  relu,
  gelu,
  gelu_tanh,
  silu,  // name; linear: number of outputs; layer_norm: x is epsilon
  add,
  concat,
  pointwise,  // name or null, then operands after the current value
  cross_entropy,
  mse,
  pointwise_loss,  // name, then operands
  operand,         // name of a value
  as,
  output,  // another name of the current value
  begin_residual,
  end_residual,  // brackets
  begin_repeat,
  end_repeat,  // name, number of repetitions
  begin_concat,
  next_branch,
  end_concat,
  no_bias,
  tied,  // options of linear; tied: name of a linear layer
  frozen,
  no_decay,
  learning_rate_scale,  // options of parameters; detail: Target; scale: x
  init_constant,
  init_uniform,
  init_normal,  // detail: Target; x, y as in description::Initializer
  loss_weight,  // option of a loss: x
  assign,       // name of a state, then the value as operand
  stranger,     // a call or argument that does not fit; name: the sentence, or null for an option
};

/// Which parameters of a layer an option speaks of.
enum Target : unsigned char { kWeight = 1, kBias = 2, kBoth = 3 };

struct Token {
  Part part = Part::model;
  unsigned char detail = 0;
  const char* name = nullptr;
  long long number = 0;
  double x = 0, y = 0;
  const Expression* expression = nullptr;
};

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
