// SPDX-License-Identifier: Apache-2.0
// Bounds of what a graph begins with: inputs, parameters and states.
#ifndef HALFTONE_AUDIT_SOURCES_H
#define HALFTONE_AUDIT_SOURCES_H

#include <string>
#include <variant>

#include "codegen/audit/Ranges.h"
#include "codegen/audit/TensorSums.h"

namespace halftone::audit {

struct Source {
  Bound bound;
  TensorSums sums;
  bool isWhole = false; ///< of integers
};

/// By the ranges or, where they say nothing, what integers can be, what a parameter is drawn from
/// (the runtime's normal numbers are at most 9.5 deviations from their mean), and a state's first
/// value. Without any the sentence that says so.
std::variant<Source, std::string> sourceOf(ir::InputOp input, const Ranges &ranges,
                                           const ScalarCode &code);
std::variant<Source, std::string> sourceOf(ir::ParameterOp parameter, const Ranges &ranges,
                                           const ScalarCode &code);
std::variant<Source, std::string> sourceOf(ir::StateOp state, const Ranges &ranges,
                                           const ScalarCode &code);

/// What an input of integers stands for where it is read as a value (D16), or its number as i32.
Bound deliveredOf(ir::CastOp cast, const Bound &number);

/// The numbers of an integer type.
Bound integersOf(mlir::Type type);

} // namespace halftone::audit

#endif
