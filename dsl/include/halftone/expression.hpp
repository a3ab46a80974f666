// SPDX-License-Identifier: Apache-2.0
// User functions of numbers, traced at compile time: the lambda is called once with Scalars that
// write down every operation, and the record becomes a constant array.
#pragma once

#include <utility>

namespace halftone::dsl {

/// In the order of halftone::description::ScalarOp.
enum class ScalarOp : unsigned char {
  operand,
  constant,
  add,
  subtract,
  multiply,
  divide,
  minimum,
  maximum,
  negate,
  absolute,
  exp,
  log,
  sqrt,
  rsqrt,
  tanh,
  erf,
  sigmoid,
  less,
  less_equal,
  equal,
  select,
};

struct Instruction {
  ScalarOp op = ScalarOp::operand;
  int a = 0, b = 0, c = 0;
  double constant = 0;
};

/// Why a lambda is not a pointwise function.
enum class Defect : unsigned char {
  none,
  captures,
  arity,
  result,
  constants,
  not_a_number,
  length
};

inline constexpr int kMaxInstructions = 128;
inline constexpr int kMaxOperands = 8;

/// The record of one traced call; its last instruction is the result.
struct Tape {
  Instruction instructions[kMaxInstructions]{};
  int size = 0;
  Defect defect = Defect::none;

  constexpr int record(ScalarOp op, int a = 0, int b = 0, int c = 0, double constant = 0) {
    if (size == kMaxInstructions) {
      defect = Defect::length;
      return 0;
    }
    instructions[size] = {op, a, b, c, constant};
    return size++;
  }
};

/// A number of the user's function. Numbers convert to it.
struct Scalar {
  Tape* tape = nullptr;  ///< null for a constant that is on no tape yet
  int id = 0;
  double value = 0;

  constexpr Scalar(double constant) : value(constant) {}
  constexpr Scalar(Tape* on, int instruction) : tape(on), id(instruction) {}
};

/// The result of a comparison; select() is its only use.
struct Condition {
  Tape* tape = nullptr;
  int id = 0;
};

namespace tracing {

/// 0.0 and -0.0 are different constants.
constexpr unsigned long long bits(double value) {
  return __builtin_bit_cast(unsigned long long, value);
}

/// The instruction that holds `scalar`; equal constants are recorded once.
constexpr int place(Tape& tape, const Scalar& scalar) {
  if (scalar.tape != nullptr) return scalar.id;
  if (scalar.value != scalar.value) tape.defect = Defect::not_a_number;
  for (int i = 0; i < tape.size; ++i) {
    const Instruction& at = tape.instructions[i];
    if (at.op == ScalarOp::constant && bits(at.constant) == bits(scalar.value)) return i;
  }
  return tape.record(ScalarOp::constant, 0, 0, 0, scalar.value);
}

/// Records `op`; a result without a tape stands for an operation on constants alone.
constexpr Scalar unary(ScalarOp op, const Scalar& a) {
  if (a.tape == nullptr) return {nullptr, -1};
  return {a.tape, a.tape->record(op, a.id)};
}

constexpr Scalar binary(ScalarOp op, const Scalar& a, const Scalar& b) {
  Tape* tape = a.tape != nullptr ? a.tape : b.tape;
  if (tape == nullptr) return {nullptr, -1};
  if (a.id < 0 || b.id < 0) tape->defect = Defect::constants;
  const int first = place(*tape, a);
  const int second = place(*tape, b);
  return {tape, tape->record(op, first, second)};
}

constexpr Condition compare(ScalarOp op, const Scalar& a, const Scalar& b) {
  const Scalar result = binary(op, a, b);
  return {result.tape, result.id};
}

}  // namespace tracing

constexpr Scalar operator+(const Scalar& a, const Scalar& b) {
  return tracing::binary(ScalarOp::add, a, b);
}
constexpr Scalar operator-(const Scalar& a, const Scalar& b) {
  return tracing::binary(ScalarOp::subtract, a, b);
}
constexpr Scalar operator*(const Scalar& a, const Scalar& b) {
  return tracing::binary(ScalarOp::multiply, a, b);
}
constexpr Scalar operator/(const Scalar& a, const Scalar& b) {
  return tracing::binary(ScalarOp::divide, a, b);
}
constexpr Scalar operator-(const Scalar& a) { return tracing::unary(ScalarOp::negate, a); }
constexpr Scalar operator+(const Scalar& a) { return a; }
constexpr Scalar& operator+=(Scalar& a, const Scalar& b) { return a = a + b; }
constexpr Scalar& operator-=(Scalar& a, const Scalar& b) { return a = a - b; }
constexpr Scalar& operator*=(Scalar& a, const Scalar& b) { return a = a * b; }
constexpr Scalar& operator/=(Scalar& a, const Scalar& b) { return a = a / b; }
constexpr Condition operator<(const Scalar& a, const Scalar& b) {
  return tracing::compare(ScalarOp::less, a, b);
}
constexpr Condition operator>(const Scalar& a, const Scalar& b) {
  return tracing::compare(ScalarOp::less, b, a);
}
constexpr Condition operator<=(const Scalar& a, const Scalar& b) {
  return tracing::compare(ScalarOp::less_equal, a, b);
}
constexpr Condition operator>=(const Scalar& a, const Scalar& b) {
  return tracing::compare(ScalarOp::less_equal, b, a);
}
constexpr Condition operator==(const Scalar& a, const Scalar& b) {
  return tracing::compare(ScalarOp::equal, a, b);
}

constexpr Scalar minimum(const Scalar& a, const Scalar& b) {
  return tracing::binary(ScalarOp::minimum, a, b);
}
constexpr Scalar maximum(const Scalar& a, const Scalar& b) {
  return tracing::binary(ScalarOp::maximum, a, b);
}
constexpr Scalar abs(const Scalar& a) { return tracing::unary(ScalarOp::absolute, a); }
constexpr Scalar exp(const Scalar& a) { return tracing::unary(ScalarOp::exp, a); }
constexpr Scalar log(const Scalar& a) { return tracing::unary(ScalarOp::log, a); }
constexpr Scalar sqrt(const Scalar& a) { return tracing::unary(ScalarOp::sqrt, a); }
constexpr Scalar rsqrt(const Scalar& a) { return tracing::unary(ScalarOp::rsqrt, a); }
constexpr Scalar tanh(const Scalar& a) { return tracing::unary(ScalarOp::tanh, a); }
constexpr Scalar erf(const Scalar& a) { return tracing::unary(ScalarOp::erf, a); }
constexpr Scalar sigmoid(const Scalar& a) { return tracing::unary(ScalarOp::sigmoid, a); }

/// `a` where the condition holds, else `b`; both are computed.
constexpr Scalar select(const Condition& condition, const Scalar& a, const Scalar& b) {
  if (condition.tape == nullptr) return {nullptr, -1};
  Tape& tape = *condition.tape;
  if (a.id < 0 || b.id < 0) tape.defect = Defect::constants;
  const int first = tracing::place(tape, a);
  const int second = tracing::place(tape, b);
  return {&tape, tape.record(ScalarOp::select, condition.id, first, second)};
}

/// What a token points to: a traced function, or the reason why there is none.
struct Expression {
  const Instruction* instructions = nullptr;
  int size = 0;
  int arity = 0;  ///< the values that the lambda takes, -1 when it takes none of 1 to kMaxOperands
  Defect defect = Defect::none;
};

namespace tracing {

constexpr int operands_of(ScalarOp op) {
  if (op <= ScalarOp::constant) return 0;
  if (op == ScalarOp::select) return 3;
  return op >= ScalarOp::negate && op <= ScalarOp::sigmoid ? 1 : 2;
}

/// Keeps what `result` needs, in order, so that the last instruction is the result.
constexpr Tape prune(const Tape& tape, int result) {
  bool needed[kMaxInstructions]{};
  int place_of[kMaxInstructions]{};
  needed[result] = true;
  for (int i = result; i >= 0; --i) {
    const Instruction& at = tape.instructions[i];
    const int count = needed[i] ? operands_of(at.op) : 0;
    if (count > 0) needed[at.a] = true;
    if (count > 1) needed[at.b] = true;
    if (count > 2) needed[at.c] = true;
  }
  Tape kept;
  for (int i = 0; i <= result; ++i) {
    if (!needed[i]) continue;
    Instruction at = tape.instructions[i];
    const int count = operands_of(at.op);
    if (count > 0) at.a = place_of[at.a];
    if (count > 1) at.b = place_of[at.b];
    if (count > 2) at.c = place_of[at.c];
    place_of[i] = kept.record(at.op, at.a, at.b, at.c, at.constant);
  }
  return kept;
}

template <int>
using ScalarAt = Scalar;

template <class F, class Indices>
inline constexpr bool accepts = false;
template <class F, int... I>
inline constexpr bool accepts<F, std::integer_sequence<int, I...>> =
    requires(const F& function, ScalarAt<I>... operands) { function(operands...); };

template <class F, int Count>
consteval int arity_of() {
  if constexpr (Count > kMaxOperands) {
    return -1;
  } else if constexpr (accepts<F, std::make_integer_sequence<int, Count>>) {
    return Count;
  } else {
    return arity_of<F, Count + 1>();
  }
}

template <class F, int... I>
consteval Tape trace(std::integer_sequence<int, I...>) {
  Tape tape;
  ((void)tape.record(ScalarOp::operand, I), ...);
  if constexpr (requires(const F& f) { Scalar(f(Scalar(&tape, I)...)); }) {
    const Scalar result = F{}(Scalar(&tape, I)...);
    if (result.id < 0) tape.defect = Defect::constants;
    if (tape.defect != Defect::none) return tape;
    return prune(tape, place(tape, result));
  } else {
    tape.defect = Defect::result;
    return tape;
  }
}

template <class F, int Count>
inline constexpr Tape tape_of = trace<F>(std::make_integer_sequence<int, Count>{});

template <class F, int Count>
consteval Expression express() {
  if constexpr (!requires { F{}; }) {
    return {nullptr, 0, Count, Defect::captures};
  } else if constexpr (!accepts<F, std::make_integer_sequence<int, Count>>) {
    return {nullptr, 0, arity_of<F, 1>(), Defect::arity};
  } else {
    constexpr const Tape& tape = tape_of<F, Count>;
    return {tape.instructions, tape.size, Count, tape.defect};
  }
}

/// The function `F` of `Count` values. F is a captureless lambda, so its type says all.
template <class F, int Count>
inline constexpr Expression expression_of = express<F, Count>();

}  // namespace tracing
}  // namespace halftone::dsl
