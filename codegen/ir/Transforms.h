// SPDX-License-Identifier: Apache-2.0
// Spectra of sequences (Z1 to Z4 of docs/spec/math.md): their shapes, what transforms multiply by,
// and products of two.
#ifndef HALFTONE_IR_TRANSFORMS_H
#define HALFTONE_IR_TRANSFORMS_H

#include "codegen/ir/Forms.h"

namespace halftone::ir {

/// Channels of a block, whose parts of one place are neighbours.
inline constexpr int64_t kBlockChannels = 16;
/// Of a sequence.
inline constexpr int64_t kMostPlaces = int64_t{1} << 20;

/// Passes of chips: of fewer places no pass is made, and the shared memory of a block holds as many
/// stages at most.
inline constexpr int64_t kFewestPlacesOfPasses = 64;
inline constexpr unsigned kMostStagesOfPass = 10;

/// Of a spectrum with so many places, the stages of the first pass of `transform_pass`, the last
/// one of its inverse: all, or half of them.
unsigned countStagesOfFirstPass(int64_t places);

/// Of the spectrum of a sequence with so many: the least power of two that is not less, 2 or more.
int64_t countSpectrumPlaces(int64_t places);

/// Turns are counted in these (Z1).
inline constexpr int64_t kUnitsOfTurn = int64_t{1} << 22;
/// Z7: cosine and sine of an angle of so many units, less than a whole turn.
std::pair<mlir::Value, mlir::Value> buildPointOfTurn(Scalars &s, mlir::Value units);

/// How many last dimensions of a sequence, and of a spectrum, are numbers.
inline constexpr size_t kSequenceDims = 2, kSpectrumDims = 4;

/// A sequence, [..., places, channels], both numbers.
bool isSequence(TensorType type);
/// [..., blocks, places, 2, kBlockChannels].
TensorType typeOfSpectrum(TensorType sequence, int64_t places);

/// The turns of a spectrum with so many places, [2, places]: of one map for all layers of the graph
/// that are as long, that which there is or a new one before `layer`.
mlir::Value makeTransformTurns(mlir::Operation *layer, mlir::OpBuilder &builder, int64_t places);

/// Z2, of f32.
mlir::Value makeTransform(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sequence,
                          mlir::Value turns);
/// Z3.
mlir::Value makeInverseTransform(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value spectrum,
                                 mlir::Value turns, TensorType sequence);
/// On the map of such a product, whether it is one with a conjugate (BoolAttr).
inline constexpr llvm::StringLiteral kProductOfSpectraAttr = "halftone.product_of_spectra";
/// Z4: `a` times `b`, or with `conjugate` times its conjugate. Where `b` has the last dimensions of
/// `a` alone, it is the same for all leading ones.
mlir::Value multiplySpectra(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef label,
                            mlir::Value a, mlir::Value b, bool conjugate);

} // namespace halftone::ir

#endif
