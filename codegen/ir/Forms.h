// SPDX-License-Identifier: Apache-2.0
// What the forms of layers and of other tensor operations share.
#ifndef HALFTONE_IR_FORMS_H
#define HALFTONE_IR_FORMS_H

#include "codegen/ir/Scalars.h"

namespace halftone::ir {

inline TensorType tensor(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

inline llvm::SmallVector<AccessAttr> accesses(mlir::MLIRContext *context,
                                              llvm::ArrayRef<AccessKind> kinds) {
  return llvm::map_to_vector(kinds,
                             [&](AccessKind kind) { return AccessAttr::get(context, kind); });
}

inline llvm::SmallVector<AccessAttr> inferAccesses(TensorType domain, mlir::ValueRange operands) {
  return llvm::map_to_vector(operands,
                             [&](mlir::Value v) { return inferAccess(domain, tensor(v)); });
}

inline llvm::SmallVector<AccessAttr> listed(mlir::ArrayAttr accesses) {
  return llvm::SmallVector<AccessAttr>(accesses.getAsRange<AccessAttr>());
}

/// The type of a gradient of `value`: arithmetic is f32 until ResolvePrecision decides.
inline TensorType gradientType(mlir::Value value) {
  return tensor(value).withElementType(mlir::Float32Type::get(value.getContext()));
}

/// Whether operands and results of `op` fit one domain, and its region them.
llvm::LogicalResult verifyElementwise(mlir::Operation *op);
/// One argument of `block` per input, of its element type.
void addArguments(mlir::Block *block, mlir::ValueRange inputs, mlir::Location loc);
/// Whether code on `scalars` fits operands or results `tensors`.
bool fitCode(mlir::TypeRange scalars, mlir::ValueRange tensors);
/// Whether `code` takes one scalar per operand and yields one per result.
llvm::LogicalResult verifyCode(mlir::Operation *op, mlir::Region &code);
/// Whether both have the same dimensions but for the last; says on `op` if not.
llvm::LogicalResult verifyRows(mlir::Operation *op, TensorType a, TensorType b);
/// Whether all operands have the shape of the result.
llvm::LogicalResult verifyOneShape(mlir::Operation *op);

/// Dimension d of the result is dimension axes_d of x: a view, or a map that only moves elements.
mlir::Value makeTranspose(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                          llvm::ArrayRef<int64_t> axes);
/// The columns of x from `offset` on, as many as `type` has; +0 where x has none.
mlir::Value makeWindow(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef label,
                       mlir::Value x, int64_t offset, TensorType type);
/// Whether neighbours stay neighbours: axes of other extents than 1 keep their order.
bool keepsOrder(llvm::ArrayRef<mlir::Attribute> dims, llvm::ArrayRef<int64_t> axes);

/// Whether both have as many elements; says on `op` if not.
llvm::LogicalResult verifyAsManyElements(mlir::Operation *op, TensorType a, TensorType b);
/// The counters that a layer of the graph that `op` is in draws by, in the order of their
/// operation's results, which is made where there is none.
mlir::ValueRange countersFor(mlir::Operation *op);
/// What `layer` rounds an internal value of its kind to (P39).
Encoding internalEncoding(mlir::Operation *layer, llvm::StringRef value);

/// The one map that a layer is, with its name: `code` for every element of its result; or, where
/// its operands are addressed otherwise, of `domain`, from which results are addressed by `writes`.
llvm::SmallVector<mlir::Value> lowerToMap(mlir::Operation *layer, mlir::OpBuilder &builder,
                                          ScalarCode code, TensorType domain = {},
                                          llvm::ArrayRef<AccessKind> writes = {});

} // namespace halftone::ir

#endif
