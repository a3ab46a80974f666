// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_IMPORT_EXPRESSIONS_H
#define HALFTONE_IMPORT_EXPRESSIONS_H

#include "codegen/ir/Dialect.h"
#include "halftone/description/description.hpp"

namespace halftone::ir {

/// A pointwise operation with the user's expression as its region, in f32 until ResolvePrecision
/// decides.
mlir::Value importExpression(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef function,
                             const description::Expression &expression, mlir::ValueRange operands,
                             TensorType result);

} // namespace halftone::ir

#endif
