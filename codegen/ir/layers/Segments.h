// SPDX-License-Identifier: Apache-2.0
// Sequences whose times belong to segments: [batch..., times, columns] beside [batch..., segments,
// columns], and [batch..., times] of i32, the segment of each time.
#ifndef HALFTONE_IR_LAYERS_SEGMENTS_H
#define HALFTONE_IR_LAYERS_SEGMENTS_H

#include "codegen/ir/Forms.h"

namespace halftone::ir {

/// Whether `numbers` has one for each time, and both differ in these dimensions alone; says on `op`
/// if not.
llvm::LogicalResult verifySegments(mlir::Operation *op, mlir::Value numbers, TensorType times,
                                   TensorType segments);

/// For every time its segment's row of `values`; +0 where its number is that of none.
mlir::Value readSegments(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef label,
                         mlir::Value values, mlir::Value numbers, TensorType times);

} // namespace halftone::ir

#endif
