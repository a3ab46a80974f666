// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_PASSES_DRAWS_H
#define HALFTONE_PASSES_DRAWS_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// The word of D35, computed in front of `op`.
mlir::Value expandDraw(mlir::OpBuilder &builder, DrawOp op);

} // namespace halftone::ir

#endif
