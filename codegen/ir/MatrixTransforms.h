// SPDX-License-Identifier: Apache-2.0
// Spectra of sequences by products of matrices (Z7 to Z10 of docs/spec/math.md), for tensor cores:
// contractions and maps between them (docs/decisions/0059).
#ifndef HALFTONE_IR_MATRIXTRANSFORMS_H
#define HALFTONE_IR_MATRIXTRANSFORMS_H

#include "codegen/ir/Forms.h"

namespace halftone::ir {

/// Z7: the sides of a spectrum with so many places, a power of two from 2 on: as few as give none
/// more than 128 places, the longer ones first. Their product is `places`.
llvm::SmallVector<int64_t> sidesOf(int64_t places);

/// The largest magnitude of a map's constants, where it is a matrix or factors of Z7, with what
/// they are rounded to; nothing for other maps. Either part of a point is off by 2^-23 before that.
struct TransformTable {
  double size;
  Encoding to; ///< f32 where it is factors
};
std::optional<TransformTable> findTransformTable(MapOp map);

/// Builds what one layer needs in one pass. Matrices and factors are maps, each made once for all
/// layers of a graph that read the same.
class MatrixTransforms {
public:
  /// `to`: what products' operands are rounded to (P39), not f32.
  MatrixTransforms(mlir::Operation *layer, mlir::OpBuilder &builder, const Encoding &to,
                   int64_t places, ContractionPass pass);

  /// Z8: of [..., places, channels] the spectrum in f32, [..., channels, places before the last
  /// side, 2, last side], as multiplySpectra reads it.
  mlir::Value transform(mlir::Value sequence);
  /// Z10: the first places, in the type of `sequence`, of a product (Z9) of two such spectra, in
  /// f32.
  mlir::Value transformBack(mlir::Value product, TensorType sequence);

private:
  /// A tensor [..., groups, n, others, 2, k] as the map between two products reads it: n, a place
  /// of the next side, and k, one of the side before, change places.
  struct Turned {
    size_t side; ///< the one before
    bool back;   ///< whether [..., groups, k, others, 2, n] becomes it, rather than the reverse
  };

  mlir::Value load(mlir::Value sequence);
  mlir::Value store(mlir::Value sums, TensorType sequence);
  mlir::Value turn(mlir::Value sums, Turned how);
  mlir::Value round(mlir::Value product);
  /// Of the last two dimensions, a part and a place of side `side`.
  mlir::Value multiply(mlir::Value x, size_t side, bool back);

  mlir::Value matrixOf(size_t side);
  mlir::Value factorsBehind(size_t side);
  mlir::Value makeTable(llvm::StringRef name, bool isFirst, TensorType type, ScalarCode code);

  /// The places of all sides behind this one.
  int64_t placesBehind(size_t side) const;
  mlir::Value view(mlir::Value x, llvm::ArrayRef<mlir::Attribute> leading,
                   llvm::ArrayRef<int64_t> behind);
  TensorType makeType(llvm::ArrayRef<mlir::Attribute> leading, llvm::ArrayRef<int64_t> behind,
                      mlir::Type element);
  mlir::Type roundedType();

  mlir::Operation *layer;
  mlir::OpBuilder &builder;
  Encoding to;
  int64_t places;
  ContractionPass pass;
  llvm::SmallVector<int64_t> sides;
};

} // namespace halftone::ir

#endif
