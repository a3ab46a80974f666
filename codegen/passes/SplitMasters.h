// SPDX-License-Identifier: Apache-2.0
// Masters that are bf16 and a remainder of 16 bits, the two of which are an f32 (P69).
#ifndef HALFTONE_PASSES_SPLITMASTERS_H
#define HALFTONE_PASSES_SPLITMASTERS_H

#include "codegen/ir/Scalars.h"

namespace halftone::ir {

/// The flat buffers: the masters, or their upper halves, and the lower ones.
inline constexpr llvm::StringLiteral kMasters = "parameters";
inline constexpr llvm::StringLiteral kRemainders = "parameters.remainder";

/// Notes on the module that its rules split masters, if they do (kSplitByAttr).
void decideSplit(mlir::ModuleOp module);
bool splitsMasters(mlir::ModuleOp module);

/// The f32 x, moved by one place towards zero where bf16 and a remainder do not have it.
mlir::Value settled(Scalars &s, mlir::Value x);

/// The f32 of both halves, computed inside of its readers where these have its elements in order.
mlir::Value joinMasters(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value upper,
                        mlir::Value remainder, Phase phase);
/// The halves of what is settled: bf16, and an i16.
std::pair<mlir::Value, mlir::Value> splitMasters(mlir::OpBuilder &builder, mlir::Location loc,
                                                 mlir::Value x, Phase phase);

} // namespace halftone::ir

#endif
