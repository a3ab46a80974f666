// SPDX-License-Identifier: Apache-2.0
// An operand in a scaled format (P51 of docs/spec/precision.md), as primitives.
#ifndef HALFTONE_PASSES_SCALEDROUNDING_H
#define HALFTONE_PASSES_SCALEDROUNDING_H

#include "codegen/ir/Forms.h"

namespace halftone::ir {

/// What stands for x of any float or delivered element once it is rounded to the scaled encoding
/// `to`: its numbers, held as bf16 (P52), or f32 where scales are (P88, P101). `point` is the name
/// that a stochastic rounding draws by, else empty. Under a delayed scale (P72) that is what
/// `delayed` holds, else that is null, and an AmaxOp takes x's largest magnitude. The operations
/// are built where `builder` is, the last of them leaves the numbers.
llvm::SmallVector<mlir::Operation *> buildScaledRounding(mlir::OpBuilder &builder,
                                                         mlir::Location loc, mlir::Value x,
                                                         const Encoding &to, llvm::StringRef point,
                                                         StateOp delayed);

/// On a stochastic cast of f32 to f8e4m3: the element, of fewer bits, that it draws a number of
/// (type).
inline constexpr llvm::StringLiteral kDrawnAsAttr = "halftone.drawn_as";

/// Whether it is one of those operations that a scaled rounding alone has.
bool isOfScaledRounding(mlir::Operation *op);

/// What is widened inside of its readers, as it lies in memory.
mlir::Value unwidened(mlir::Value value);

/// Whether it makes numbers of codes.
bool leavesNumbers(mlir::Operation *op);

/// Of one that does: the cast that rounds to those codes, below the scales of blocks, too (P97);
/// null where none does.
CastOp roundingOf(mlir::Operation *numbers);

/// Has `cast` say what rules decided of `numbers`, for people, and that the value lies as it is
/// there.
void moveNotes(mlir::Operation *numbers, CastOp cast);

/// Of one that makes numbers: whether each block of codes has a power of two for its scale (P51).
bool scalesBlocksByPowers(mlir::Operation *op);

/// Likewise whether each has a scale of f32 (P101), which is no factor of sums.
bool scalesBlocksByF32(mlir::Operation *op);

/// Likewise whether codes are numbers of f4e2m1, which are held as f8e4m3.
bool makesNumbersOf4Bits(mlir::Operation *op);

/// Whether a map multiplies the scales of blocks by the one of all, a power of two (P77): its
/// operands, its first result the products.
bool joinsLevels(mlir::Operation *op);

/// Whether a map leaves the largest magnitudes of groups of its operand's elements, of which each
/// is in one.
bool leavesMaxima(mlir::Operation *op);

} // namespace halftone::ir

#endif
