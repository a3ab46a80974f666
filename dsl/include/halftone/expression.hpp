// SPDX-License-Identifier: Apache-2.0
// User functions of numbers, traced at compile time: the lambda is called once with Scalars that
// write down every operation, and the record becomes a constant array.
#pragma once

#include <type_traits>
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
  pow,
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
  length,
  branch,
  condition,
  untraceable,
};

inline constexpr int kMaxInstructions = 128;
inline constexpr int kMaxOperands = 8;

/// The record of one traced call; its last instruction is the result.
struct Tape {
  Instruction instructions[kMaxInstructions]{};
  int size = 0;
  int branches = 0;  ///< conditions that C++ has asked for a truth value
  Defect defect = Defect::none;

  constexpr void fail(Defect is) {
    if (defect == Defect::none) defect = is;
  }
  constexpr int record(ScalarOp op, int a = 0, int b = 0, int c = 0, double constant = 0) {
    if (size == kMaxInstructions) {
      fail(Defect::length);
      return 0;
    }
    instructions[size] = {op, a, b, c, constant};
    return size++;
  }
};

/// The result of a comparison; select() is its only use.
struct Condition {
  Tape* tape = nullptr;
  int id = 0;
  bool negated = false;

  /// Not what select() is for. Alternates, so that the user's loops end.
  constexpr explicit operator bool() const {
    if (tape == nullptr) return false;
    tape->fail(Defect::branch);
    return (++tape->branches & 1) == 0;
  }
};

/// A number of the user's function. Numbers convert to it.
struct Scalar {
  Tape* tape = nullptr;  ///< null for a constant that is on no tape yet
  int id = 0;
  double value = 0;

  constexpr Scalar(double constant) : value(constant) {}
  constexpr Scalar(Tape* on, int instruction) : tape(on), id(instruction) {}
  constexpr Scalar(const Condition& condition) : tape(condition.tape), id(condition.id) {
    if (tape != nullptr) tape->fail(Defect::condition);
  }

  /// Nothing can follow a value into C++'s numbers, where std::exp takes it for one.
  constexpr operator double() const {
    if (tape != nullptr) tape->fail(Defect::untraceable);
    return tape != nullptr ? 1 : value;
  }
};

namespace tracing {

/// 0.0 and -0.0 are different constants.
constexpr unsigned long long bits(double value) {
  return __builtin_bit_cast(unsigned long long, value);
}

/// The instruction that holds `scalar`; equal constants are recorded once.
constexpr int place(Tape& tape, const Scalar& scalar) {
  if (scalar.tape != nullptr) return scalar.id;
  if (scalar.value != scalar.value) tape.fail(Defect::not_a_number);
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
  if (a.id < 0 || b.id < 0) tape->fail(Defect::constants);
  const int first = place(*tape, a);
  const int second = place(*tape, b);
  return {tape, tape->record(op, first, second)};
}

constexpr Condition compare(ScalarOp op, const Scalar& a, const Scalar& b) {
  const Scalar result = binary(op, a, b);
  return {result.tape, result.id};
}

constexpr Scalar refuse(Defect defect, const Scalar& a, const Scalar& b) {
  Tape* tape = a.tape != nullptr ? a.tape : b.tape;
  if (tape != nullptr) tape->fail(defect);
  return binary(ScalarOp::add, a, b);
}

template <class T>
concept Traced = std::is_same_v<T, Scalar> || std::is_same_v<T, Condition>;
/// Exact for both sides, so that no built-in operator competes for what converts to a number.
template <class A, class B>
concept Operands = (Traced<A> && (Traced<B> || std::is_arithmetic_v<B>)) ||
                   (std::is_arithmetic_v<A> && Traced<B>);

}  // namespace tracing

template <class A, class B>
requires tracing::Operands<A, B>
constexpr Scalar operator+(const A& a, const B& b) { return tracing::binary(ScalarOp::add, a, b); }
template <class A, class B>
requires tracing::Operands<A, B>
constexpr Scalar operator-(const A& a, const B& b) {
  return tracing::binary(ScalarOp::subtract, a, b);
}
template <class A, class B>
requires tracing::Operands<A, B>
constexpr Scalar operator*(const A& a, const B& b) {
  return tracing::binary(ScalarOp::multiply, a, b);
}
template <class A, class B>
requires tracing::Operands<A, B>
constexpr Scalar operator/(const A& a, const B& b) {
  return tracing::binary(ScalarOp::divide, a, b);
}
constexpr Scalar operator-(const Scalar& a) { return tracing::unary(ScalarOp::negate, a); }
constexpr Scalar operator+(const Scalar& a) { return a; }
constexpr Scalar& operator+=(Scalar& a, const Scalar& b) { return a = a + b; }
constexpr Scalar& operator-=(Scalar& a, const Scalar& b) { return a = a - b; }
constexpr Scalar& operator*=(Scalar& a, const Scalar& b) { return a = a * b; }
constexpr Scalar& operator/=(Scalar& a, const Scalar& b) { return a = a / b; }
template <class A, class B>
requires tracing::Operands<A, B>
constexpr Condition operator<(const A& a, const B& b) {
  return tracing::compare(ScalarOp::less, a, b);
}
template <class A, class B>
requires tracing::Operands<A, B>
constexpr Condition operator>(const A& a, const B& b) {
  return tracing::compare(ScalarOp::less, b, a);
}
template <class A, class B>
requires tracing::Operands<A, B>
constexpr Condition operator<=(const A& a, const B& b) {
  return tracing::compare(ScalarOp::less_equal, a, b);
}
template <class A, class B>
requires tracing::Operands<A, B>
constexpr Condition operator>=(const A& a, const B& b) {
  return tracing::compare(ScalarOp::less_equal, b, a);
}
template <class A, class B>
requires tracing::Operands<A, B>
constexpr Condition operator==(const A& a, const B& b) {
  return tracing::compare(ScalarOp::equal, a, b);
}
constexpr Condition operator!(const Condition& a) { return {a.tape, a.id, !a.negated}; }
template <class A, class B>
requires tracing::Operands<A, B>
constexpr Condition operator!=(const A& a, const B& b) { return !(a == b); }

// What C++ has and a pointwise function has not.
template <class A, class B>
requires tracing::Operands<A, B>
constexpr Scalar operator%(const A& a, const B& b) {
  return tracing::refuse(Defect::untraceable, a, b);
}
template <class A, class B>
requires tracing::Operands<A, B>
constexpr Scalar operator^(const A& a, const B& b) {
  return tracing::refuse(Defect::untraceable, a, b);
}
constexpr Condition operator&&(const Condition& a, const Condition& b) {
  if (a.tape != nullptr) a.tape->fail(Defect::branch);
  return b;
}
constexpr Condition operator||(const Condition& a, const Condition& b) { return a && b; }

constexpr Scalar minimum(const Scalar& a, const Scalar& b) {
  return tracing::binary(ScalarOp::minimum, a, b);
}
constexpr Scalar maximum(const Scalar& a, const Scalar& b) {
  return tracing::binary(ScalarOp::maximum, a, b);
}
constexpr Scalar abs(const Scalar& a) { return tracing::unary(ScalarOp::absolute, a); }
/// The largest whole number that is not above `a`.
constexpr Scalar floor(const Scalar& a) { return tracing::unary(ScalarOp::floor, a); }
constexpr Scalar exp(const Scalar& a) { return tracing::unary(ScalarOp::exp, a); }
/// exp(a) - 1, with all digits where a is small.
constexpr Scalar expm1(const Scalar& a) { return tracing::unary(ScalarOp::expm1, a); }
constexpr Scalar log(const Scalar& a) { return tracing::unary(ScalarOp::log, a); }
/// log(1 + a), with all digits where a is small.
constexpr Scalar log1p(const Scalar& a) { return tracing::unary(ScalarOp::log1p, a); }
constexpr Scalar sqrt(const Scalar& a) { return tracing::unary(ScalarOp::sqrt, a); }
constexpr Scalar rsqrt(const Scalar& a) { return tracing::unary(ScalarOp::rsqrt, a); }
/// Of radians, however many.
constexpr Scalar sin(const Scalar& a) { return tracing::unary(ScalarOp::sin, a); }
constexpr Scalar cos(const Scalar& a) { return tracing::unary(ScalarOp::cos, a); }
constexpr Scalar tanh(const Scalar& a) { return tracing::unary(ScalarOp::tanh, a); }
constexpr Scalar erf(const Scalar& a) { return tracing::unary(ScalarOp::erf, a); }
constexpr Scalar sigmoid(const Scalar& a) { return tracing::unary(ScalarOp::sigmoid, a); }

/// `a` where the condition holds, else `b`; both are computed.
constexpr Scalar select(const Condition& condition, const Scalar& a, const Scalar& b) {
  if (condition.tape == nullptr) return {nullptr, -1};
  Tape& tape = *condition.tape;
  if (a.id < 0 || b.id < 0) tape.fail(Defect::constants);
  const int first = tracing::place(tape, condition.negated ? b : a);
  const int second = tracing::place(tape, condition.negated ? a : b);
  return {&tape, tape.record(ScalarOp::select, condition.id, first, second)};
}

/// Names a type when its argument is a constant.
template <bool>
struct KnownWhileCompiling {};

/// What a token points to: a traced function, or the reason why there is none.
struct Expression {
  const Instruction* instructions = nullptr;
  int size = 0;
  int arity = 0;  ///< the values that the lambda takes, -1 when it takes none of 1 to kMaxOperands
  Defect defect = Defect::none;
  const char* word = nullptr;  ///< of a function that the dsl has ready
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
    requires(const F& function, ScalarAt<I>... operands) {
  function(operands...);
};

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
  Scalar operands[] = {Scalar(&tape, I)...};
  using Result = std::remove_cvref_t<decltype(F{}(operands[I]...))>;
  if constexpr (std::is_convertible_v<Result, Scalar> && !std::is_same_v<Result, Condition>) {
    const Scalar result = F{}(operands[I]...);
    if (result.id < 0) tape.fail(Defect::constants);
    if (tape.defect != Defect::none) return tape;
    return prune(tape, place(tape, result));
  } else {
    tape.fail(Defect::result);
    return tape;
  }
}

template <class F, int Count>
inline constexpr Tape tape_of = trace<F>(std::make_integer_sequence<int, Count>{});

template <class F, bool Accepted, int Count>
consteval Expression express() {
  using Operands = std::make_integer_sequence<int, Count>;
  if constexpr (!Accepted) {
    return {nullptr, 0, arity_of<F, 1>(), Defect::arity};
  } else if constexpr (!requires { F{}; }) {
    return {nullptr, 0, Count, Defect::captures};
  } else if constexpr (requires {
                         typename KnownWhileCompiling<(trace<F>(Operands{}).size > 0)>;
                       }) {
    constexpr const Tape& tape = tape_of<F, Count>;
    return {tape.instructions, tape.size, Count, tape.defect};
  } else {
    return {nullptr, 0, Count, Defect::untraceable};
  }
}

/// The function `F` of `Count` values, which it accepts or not: asked where the user's call is
/// seen, so that compilers tell the way to an error in the lambda in few lines. F is a captureless
/// lambda, so its type says all.
template <class F, bool Accepted, int Count>
inline constexpr Expression expression_of = express<F, Accepted, Count>();

}  // namespace tracing
}  // namespace halftone::dsl
