// SPDX-License-Identifier: Apache-2.0
// A user's function of single elements.
#pragma once

#include <cstdint>
#include <vector>

namespace halftone::description {

/// Scalar operations of a pointwise function. Operands are indices of earlier instructions.
enum class ScalarOp : std::uint8_t {
  operand,   // the element of operand number `a`
  constant,  // the value `constant`
  add,
  subtract,
  multiply,
  divide,
  minimum,
  maximum,
  pow,  // a, b
  negate,
  absolute,
  floor,
  exp,
  expm1,
  log,
  log1p,
  sqrt,
  rsqrt,
  sin,
  cos,
  tanh,
  erf,
  sigmoid,  // a
  less,
  less_equal,
  equal,   // a, b: a condition, usable only as the first operand of select
  select,  // a ? b : c
};

struct ScalarInstruction {
  ScalarOp op = ScalarOp::operand;
  std::int32_t a = 0, b = 0, c = 0;
  double constant = 0.0;

  bool operator==(const ScalarInstruction&) const = default;
};

/// A pointwise function in single-assignment form; the last instruction is its result.
struct Expression {
  std::int32_t arity = 0;
  std::vector<ScalarInstruction> instructions;

  bool operator==(const Expression&) const = default;
};

}  // namespace halftone::description
