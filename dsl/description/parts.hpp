// SPDX-License-Identifier: Apache-2.0
// The parts of a statement that need no other statement: shapes, initializers, attributes and
// expressions. Each reader leaves an error in the scanner when it returns false.
#pragma once

#include "scanner.hpp"

namespace halftone::description::detail {

/// "NAME 0.5"
bool read_setting(Scanner& scan, std::string_view name, double& value);
/// "[batch, 64]"
bool read_shape(Scanner& scan, Shape& shape);
/// "uniform(-1, 1)"
bool read_initializer(Scanner& scan, Initializer& initializer);
/// What follows the operands of a layer or loss, by the node's kind; nothing for most.
bool read_attributes(Scanner& scan, Node& node);
/// "{ %0 = operand 0; %1 = exp %0 }", of `arity` operands.
bool read_expression(Scanner& scan, std::int32_t arity, Expression& expression);
/// What follows "rule", to the end of its line.
bool read_rule(Scanner& scan, Rule& rule);

}  // namespace halftone::description::detail
