// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_IMPORT_EXPRESSIONS_H
#define HALFTONE_IMPORT_EXPRESSIONS_H

#include "codegen/ir/Dialect.h"
#include "halftone/description/description.hpp"

namespace halftone::ir {

/// The user's expression as the code of `region`, in f32 until ResolvePrecision decides.
void importExpression(mlir::OpBuilder &builder, mlir::Location loc,
                      const description::Expression &expression, mlir::Region &region);

} // namespace halftone::ir

#endif
