// SPDX-License-Identifier: Apache-2.0
#include "parts.hpp"

#include <utility>

namespace halftone::description::detail {

bool read_setting(Scanner& scan, std::string_view name, double& value) {
  return scan.expect_word(name) && scan.read_number(value, "a number");
}

bool read_shape(Scanner& scan, Shape& shape) {
  if (!scan.expect('[')) return false;
  if (scan.take(']')) return true;
  do {
    const Position start = scan.position();
    const char first = scan.peek();
    Dimension dimension;
    if ((first >= '0' && first <= '9') || first == '-') {
      if (!scan.read_integer(dimension.extent, "an extent")) return false;
    } else {
      std::string_view symbol;
      if (!scan.read_word(symbol, "an extent or a symbol")) return false;
      if (!is_symbol(symbol)) {
        return scan.fail(start, "a symbol is made of letters, digits and _, but this is " +
                                    quoted(symbol.substr(0, 32)));
      }
      dimension.symbol = symbol;
    }
    shape.push_back(std::move(dimension));
  } while (scan.take(','));
  return scan.expect(']');
}

bool read_initializer(Scanner& scan, Initializer& initializer) {
  if (!scan.read_enum(initializer.kind, "an initializer") || !scan.expect('(') ||
      !scan.read_number(initializer.first, "a number")) {
    return false;
  }
  if (initializer.kind != Initializer::Kind::constant &&
      !(scan.expect(',') && scan.read_number(initializer.second, "a number"))) {
    return false;
  }
  return scan.expect(')');
}

namespace {

bool read_instruction(Scanner& scan, ScalarInstruction& instruction) {
  if (!scan.read_enum(instruction.op, "an operation")) return false;
  if (instruction.op == ScalarOp::constant) {
    return scan.read_number(instruction.constant, "a number");
  }
  if (instruction.op == ScalarOp::operand) {
    const Position start = scan.position();
    std::int64_t operand = 0;
    if (!scan.read_integer(operand, "an operand's number")) return false;
    instruction.a = static_cast<std::int32_t>(operand);
    return instruction.a == operand || scan.fail(start, "an operand's number must fit 32 bits");
  }
  const int reads = arity(instruction.op);
  return (reads < 1 || scan.read_reference(instruction.a)) &&
         (reads < 2 || scan.read_reference(instruction.b)) &&
         (reads < 3 || scan.read_reference(instruction.c));
}

bool read_expression(Scanner& scan, Expression& expression) {
  if (!scan.expect('{')) return false;
  if (scan.take('}')) return true;
  do {
    const Position start = scan.position();
    std::int32_t number = 0;
    if (!scan.read_reference(number)) return false;
    if (static_cast<std::size_t>(number) != expression.instructions.size()) {
      return scan.fail(start, "instructions count up from %0, so this one must be %" +
                                  std::to_string(expression.instructions.size()));
    }
    ScalarInstruction instruction;
    if (!scan.expect('=') || !read_instruction(scan, instruction)) return false;
    expression.instructions.push_back(instruction);
  } while (scan.take(';'));
  return scan.expect('}');
}

}  // namespace

bool read_attributes(Scanner& scan, Node& node) {
  if (node.kind == Kind::layer_norm) {
    LayerNormAttributes attributes;
    const bool read = scan.expect('{') && scan.expect_word("epsilon") && scan.expect(':') &&
                      scan.read_number(attributes.epsilon, "a number") && scan.expect('}');
    node.attributes = attributes;
    return read;
  }
  if (node.kind == Kind::gelu) {
    GeluAttributes attributes;
    const bool read = scan.expect('{') && scan.expect_word("approximation") && scan.expect(':') &&
                      scan.read_enum(attributes.approximation, "an approximation") &&
                      scan.expect('}');
    node.attributes = attributes;
    return read;
  }
  if (node.kind == Kind::pointwise || node.kind == Kind::pointwise_loss) {
    PointwiseAttributes attributes;
    attributes.expression.arity = static_cast<std::int32_t>(node.operands.size());
    const bool read = scan.read_string(attributes.function, "the function's name in quotes") &&
                      read_expression(scan, attributes.expression);
    node.attributes = std::move(attributes);
    return read;
  }
  return true;
}

}  // namespace halftone::description::detail
