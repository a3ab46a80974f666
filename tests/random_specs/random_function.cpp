// SPDX-License-Identifier: Apache-2.0
#include "random_function.hpp"

#include <vector>

namespace halftone::tests {

using namespace halftone::description;

namespace {

class FunctionWriter {
 public:
  FunctionWriter(Choices& choices, std::size_t arity)
      : choices_(choices), arity_(arity), expression_{static_cast<std::int32_t>(arity), {}} {}

  Expression write() {
    for (std::size_t i = 0; i < arity_; ++i) {
      numbers_.push_back(put({ScalarOp::operand, static_cast<std::int32_t>(i)}));
    }
    for (std::size_t count = choices_.below(9); count > 0; --count) {
      numbers_.push_back(operation(static_cast<ScalarOp>(choices_.below(kOps))));
    }
    std::int32_t sum = numbers_.front();
    for (std::size_t i = 1; i < numbers_.size(); ++i) {  // so that every one counts
      sum = put({ScalarOp::add, sum, numbers_[i]});
    }
    sum = put({ScalarOp::multiply, sum, constant(0.5)});
    put({choices_.happens(20) ? ScalarOp::sigmoid : ScalarOp::tanh, sum});
    return std::move(expression_);
  }

 private:
  static constexpr std::size_t kOps = static_cast<std::size_t>(ScalarOp::select) + 1;

  std::int32_t put(ScalarInstruction instruction) {
    expression_.instructions.push_back(instruction);
    return static_cast<std::int32_t>(expression_.instructions.size()) - 1;
  }
  std::int32_t number() { return choices_.one_of(numbers_); }
  std::int32_t constant(double value) { return put({.op = ScalarOp::constant, .constant = value}); }
  /// In (-1, 1), but for one time in ten.
  std::int32_t small() { return choices_.happens(10) ? number() : put({ScalarOp::tanh, number()}); }
  /// 1 + n * n, but for one time in ten.
  std::int32_t positive() {
    const std::int32_t n = number();
    if (choices_.happens(10)) return n;
    const std::int32_t square = put({ScalarOp::multiply, n, n});
    return put({ScalarOp::add, square, constant(1)});
  }

  std::int32_t operation(ScalarOp op) {
    switch (op) {
      case ScalarOp::operand:
        return put({op, static_cast<std::int32_t>(choices_.below(arity_))});
      case ScalarOp::constant:
        return constant(choices_.one_of(std::vector{0.0, 1.0, -1.0, 0.1, -0.75, 3.0}));
      case ScalarOp::divide: {
        const std::int32_t dividend = number();
        return put({op, dividend, positive()});
      }
      case ScalarOp::pow: {
        const std::int32_t base = positive();
        return put({op, base, small()});
      }
      case ScalarOp::exp:
      case ScalarOp::expm1:
        return put({op, small()});
      case ScalarOp::log:
      case ScalarOp::log1p:
      case ScalarOp::sqrt:
      case ScalarOp::rsqrt:
        return put({op, positive()});
      case ScalarOp::less:
      case ScalarOp::less_equal:
      case ScalarOp::equal:
      case ScalarOp::select: {
        const bool is_condition = op != ScalarOp::select;
        const std::int32_t a = number(), b = number();
        const std::int32_t condition = put({is_condition ? op : ScalarOp::less, a, b});
        return put({ScalarOp::select, condition, number(), number()});
      }
      default: {
        const bool is_unary = op >= ScalarOp::negate && op <= ScalarOp::sigmoid;
        const std::int32_t a = number();
        return put({op, a, is_unary ? 0 : number()});
      }
    }
  }

  Choices& choices_;
  std::size_t arity_;
  Expression expression_;
  std::vector<std::int32_t> numbers_;
};

}  // namespace

Expression random_expression(Choices& choices, std::size_t arity) {
  return FunctionWriter(choices, arity).write();
}

}  // namespace halftone::tests
