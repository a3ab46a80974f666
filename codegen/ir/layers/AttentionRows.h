// SPDX-License-Identifier: Apache-2.0
// The rows of an attention: what becomes of the products of a query with all keys. One domain, of
// sequences, key heads, the heads that share each, queries and keys.
#ifndef HALFTONE_IR_LAYERS_ATTENTIONROWS_H
#define HALFTONE_IR_LAYERS_ATTENTIONROWS_H

#include "codegen/ir/Forms.h"

namespace halftone::ir {

/// The extents of an attention, whose operands may have any elements.
struct AttentionShape {
  llvm::SmallVector<mlir::Attribute> sequences;
  mlir::Attribute keyHeads, group, queries, keys, columns, valueColumns; ///< columns of a head

  explicit AttentionShape(AttentionOp op);
  /// Sequences, key heads and `others`, of the context's f32.
  TensorType of(llvm::ArrayRef<mlir::Attribute> others) const;
  TensorType products() const { return of({group, queries, keys}); }
};

/// Scalar code over the domain of the products.
class AttentionRows {
public:
  explicit AttentionRows(AttentionOp op) : op(op), shape(op) {}

  /// p of D61, of the products of queries and keys.
  mlir::Value makeWeights(mlir::OpBuilder &builder, mlir::Value products);
  /// p and b of D62, of these and of the products of values and what arrives.
  std::pair<mlir::Value, mlir::Value> makeGradients(mlir::OpBuilder &builder, mlir::Value products,
                                                    mlir::Value arriving);

private:
  /// What the code of one element computes with.
  struct Row {
    mlir::Value score, softmax, weight;
  };

  bool drops();
  Space makeSpace(llvm::SmallVectorImpl<mlir::Value> &operands, unsigned results);
  mlir::Type heldIn(llvm::StringRef internal);
  mlir::Value leave(Scalars &s, mlir::Value value, llvm::StringRef internal);

  mlir::Value axis(Scalars &s, unsigned behindSequences);
  mlir::Value distance(Scalars &s, mlir::Value position);
  mlir::Value kept(Scalars &s, mlir::Value position, mlir::ValueRange masks);
  mlir::Value slope(Scalars &s);
  mlir::Value bent(Scalars &s, mlir::Value score);
  mlir::Value shaped(Scalars &s, mlir::Value score, mlir::Value position);
  mlir::Value drop(Scalars &s, mlir::Value value, mlir::ValueRange others);
  Row compute(Scalars &s, mlir::Value product, mlir::ValueRange others);
  double scale();

  AttentionOp op;
  AttentionShape shape;
};

} // namespace halftone::ir

#endif
