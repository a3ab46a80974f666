// SPDX-License-Identifier: Apache-2.0
// The user's functions: D28, D31, D47 and D50. An expression is evaluated, and differentiated in
// reverse, for one element at a time.
#pragma once

#include <numbers>
#include <optional>

#include "layer.hpp"

namespace halftone::reference {

// D28: the result of every instruction; conditions are 1 or 0. x holds one element of each operand,
// `last` is the grade of the last instruction (N10).
template <class Scalar>
void evaluate(const description::Expression& expression, View<Scalar> x, Values<Scalar>& results,
              Grade last = Grade::full) {
  using description::ScalarOp;
  results.clear();
  for (const description::ScalarInstruction& i : expression.instructions) {
    const Grade grade = &i == &expression.instructions.back() ? last : Grade::full;
    const auto at = [&](std::int32_t index) { return results[index]; };
    switch (i.op) {
      case ScalarOp::operand:
        results.push_back(x[i.a]);
        break;
      case ScalarOp::constant:
        results.push_back(static_cast<Scalar>(i.constant));
        break;
      case ScalarOp::add:
        results.push_back(at(i.a) + at(i.b));
        break;
      case ScalarOp::subtract:
        results.push_back(at(i.a) - at(i.b));
        break;
      case ScalarOp::multiply:
        results.push_back(at(i.a) * at(i.b));
        break;
      case ScalarOp::divide:
        results.push_back(at(i.a) / at(i.b));
        break;
      case ScalarOp::minimum:
        results.push_back(minimum(at(i.a), at(i.b)));
        break;
      case ScalarOp::maximum:
        results.push_back(maximum(at(i.a), at(i.b)));
        break;
      case ScalarOp::pow:
        results.push_back(pow(at(i.a), at(i.b)));
        break;
      case ScalarOp::negate:
        results.push_back(-at(i.a));
        break;
      case ScalarOp::absolute:
        results.push_back(absolute(at(i.a)));
        break;
      case ScalarOp::floor:
        results.push_back(floor(at(i.a)));
        break;
      case ScalarOp::exp:
        results.push_back(exp(at(i.a), grade));
        break;
      case ScalarOp::expm1:
        results.push_back(expm1(at(i.a)));
        break;
      case ScalarOp::log:
        results.push_back(log(at(i.a)));
        break;
      case ScalarOp::log1p:
        results.push_back(log1p(at(i.a)));
        break;
      case ScalarOp::sqrt:
        results.push_back(sqrt(at(i.a)));
        break;
      case ScalarOp::rsqrt:
        results.push_back(rsqrt(at(i.a)));
        break;
      case ScalarOp::sin:
        results.push_back(sin(at(i.a)));
        break;
      case ScalarOp::cos:
        results.push_back(cos(at(i.a)));
        break;
      case ScalarOp::tanh:
        results.push_back(tanh(at(i.a), grade));
        break;
      case ScalarOp::erf:
        results.push_back(erf(at(i.a)));
        break;
      case ScalarOp::sigmoid:
        results.push_back(sigmoid(at(i.a), grade));
        break;
      case ScalarOp::less:
        results.push_back(at(i.a) < at(i.b) ? 1 : 0);
        break;
      case ScalarOp::less_equal:
        results.push_back(at(i.a) <= at(i.b) ? 1 : 0);
        break;
      case ScalarOp::equal:
        results.push_back(at(i.a) == at(i.b) ? 1 : 0);
        break;
      case ScalarOp::select:
        results.push_back(at(i.a) != 0 ? at(i.b) : at(i.c));
        break;
    }
  }
}

template <class Scalar>
using Adjoint = std::optional<Scalar>;

// D47: the first contribution is taken as it is.
template <class Scalar>
void contribute(Adjoint<Scalar>& adjoint, Scalar value) {
  adjoint = adjoint ? *adjoint + value : value;
}

// D47: whose adjoint instruction i has: instructions that read the same operand have that of the
// first.
inline std::size_t adjoint_of(const description::Expression& expression, std::size_t i) {
  const auto& all = expression.instructions;
  if (all[i].op != description::ScalarOp::operand) return i;
  std::size_t first = 0;
  while (all[first].op != description::ScalarOp::operand || all[first].a != all[i].a) ++first;
  return first;
}

// D47: what minimum or maximum gives to one operand: nothing when the other was taken, and each of
// two that are equal takes half. Where one is NaN neither was taken before the other.
template <class Scalar>
Scalar share(bool other_taken, Scalar a, Scalar b, Scalar v) {
  if (other_taken) return 0;
  return a == b ? static_cast<Scalar>(0.5) * v : v;
}

// D47: what instruction i with result r and adjoint v gives to its operands a, b, c. A constant
// exponent receives nothing, so that its base may be negative, where no logarithm is.
template <class Scalar>
void propagate(const description::Expression& expression, const description::ScalarInstruction& i,
               Scalar r, Scalar v, const Values<Scalar>& results,
               std::vector<Adjoint<Scalar>>& adjoints) {
  using description::ScalarOp;
  const bool reads_exponent = expression.instructions[i.b].op != ScalarOp::constant;
  constexpr Scalar half = static_cast<Scalar>(0.5);
  constexpr Scalar two_over_sqrt_pi = static_cast<Scalar>(2 * std::numbers::inv_sqrtpi);
  const Scalar a = results[i.a], b = results[i.b];
  const auto to_a = [&](Scalar value) { contribute(adjoints[adjoint_of(expression, i.a)], value); };
  const auto to_b = [&](Scalar value) { contribute(adjoints[adjoint_of(expression, i.b)], value); };
  const auto to_c = [&](Scalar value) { contribute(adjoints[adjoint_of(expression, i.c)], value); };
  switch (i.op) {
    case ScalarOp::add:
      to_a(v), to_b(v);
      break;
    case ScalarOp::subtract:
      to_a(v), to_b(-v);
      break;
    case ScalarOp::multiply:
      to_a(v * b), to_b(v * a);
      break;
    case ScalarOp::divide:
      to_a(v / b), to_b(-((v * r) / b));
      break;
    case ScalarOp::minimum:
      to_a(share(a > b, a, b, v)), to_b(share(a < b, a, b, v));
      break;
    case ScalarOp::maximum:
      to_a(share(a < b, a, b, v)), to_b(share(a > b, a, b, v));
      break;
    case ScalarOp::pow:
      to_a(b == 0 ? 0 : v * (b * pow(a, b - 1)));
      if (reads_exponent) to_b(a == 0 && 0 <= b ? 0 : v * (r * log(a)));
      break;
    case ScalarOp::negate:
      to_a(-v);
      break;
    case ScalarOp::absolute:
      to_a(a > 0 ? v : (a < 0 ? -v : 0));
      break;
    case ScalarOp::floor:
      to_a(0);
      break;
    case ScalarOp::exp:
      to_a(v * r);
      break;
    case ScalarOp::expm1:
      to_a(v * (r + 1));
      break;
    case ScalarOp::log:
      to_a(v / a);
      break;
    case ScalarOp::log1p:
      to_a(v / (1 + a));
      break;
    case ScalarOp::sqrt:
      to_a((half * v) / r);
      break;
    case ScalarOp::rsqrt:
      to_a((-half * v) * (r / a));
      break;
    case ScalarOp::sin:
      to_a(v * cos(a));
      break;
    case ScalarOp::cos:
      to_a(-(v * sin(a)));
      break;
    case ScalarOp::tanh:
      to_a(v * (1 - r * r));
      break;
    case ScalarOp::erf:
      to_a(v * (exp(-(a * a)) * two_over_sqrt_pi));
      break;
    case ScalarOp::sigmoid:
      to_a(v * (r * (1 - r)));
      break;
    case ScalarOp::select:
      to_b(a != 0 ? v : 0), to_c(a != 0 ? 0 : v);
      break;
    case ScalarOp::operand:
    case ScalarOp::constant:
    case ScalarOp::less:
    case ScalarOp::less_equal:
    case ScalarOp::equal:
      break;
  }
}

// D47: the adjoints of the operands, from the adjoint g of the last instruction; none where no path
// leads.
template <class Scalar>
void differentiate(const description::Expression& expression, const Values<Scalar>& results,
                   Scalar g, std::vector<Adjoint<Scalar>>& of_operands) {
  std::vector<Adjoint<Scalar>> adjoints(results.size());
  of_operands.assign(expression.arity, {});
  adjoints[adjoint_of(expression, results.size() - 1)] = g;
  for (std::size_t at = results.size(); at-- > 0;) {
    if (!adjoints[at]) continue;
    const description::ScalarInstruction& i = expression.instructions[at];
    if (i.op == description::ScalarOp::operand) {
      contribute(of_operands[i.a], *adjoints[at]);
    } else {
      propagate(expression, i, results[at], *adjoints[at], results, adjoints);
    }
  }
}

// One element of each operand that the expression reads: of a loss, not its sample_weight.
template <class Scalar>
Values<Scalar> element(const Layer<Scalar>& layer, std::size_t e) {
  Values<Scalar> x;
  for (std::int32_t i = 0; i < layer.settings.expression.arity; ++i) {
    x.push_back(layer.operands[static_cast<std::size_t>(i)].values[e]);
  }
  return x;
}

// D28
template <class Scalar>
Values<Scalar> expression_values(const Layer<Scalar>& layer) {
  Values<Scalar> y(layer.operands[0].values.size()), results;
  for (std::size_t e = 0; e < y.size(); ++e) {
    evaluate<Scalar>(layer.settings.expression, element(layer, e), results, layer.grade);
    y[e] = results.back();
  }
  return y;
}

// D47, with g(e) the gradient that arrives at element e.
template <class Scalar, class Arriving>
OperandGradients<Scalar> expression_gradients(const Layer<Scalar>& layer, Arriving g) {
  OperandGradients<Scalar> gradients(layer.operands.size());
  Values<Scalar> results;
  std::vector<Adjoint<Scalar>> adjoints;
  for (std::size_t e = 0; e < layer.operands[0].values.size(); ++e) {
    evaluate<Scalar>(layer.settings.expression, element(layer, e), results);
    differentiate<Scalar>(layer.settings.expression, results, g(e), adjoints);
    for (std::size_t i = 0; i < adjoints.size(); ++i) {
      if (adjoints[i]) gradients[i].push_back(*adjoints[i]);
    }
  }
  return gradients;
}

}  // namespace halftone::reference
