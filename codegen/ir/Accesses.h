// SPDX-License-Identifier: Apache-2.0
// What accesses mean: affine maps from the axes of a kernel, its domain's and then its reduced
// ones, to the dimensions of an operand. Maps with loops of their own have names, AccessKind; a
// name also says at which level of a loop a value is read, which the map does not tell where an
// extent is 1.
#ifndef HALFTONE_IR_ACCESSES_H
#define HALFTONE_IR_ACCESSES_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// The powers of two of a product's operand in blocks, which its access has a map to.
inline bool isScales(AccessKind kind) {
  return kind == AccessKind::LhsScales || kind == AccessKind::RhsScales;
}

/// What the loop of a skeleton reads by itself: its body has no argument for it.
inline bool isMatrix(AccessKind kind) {
  return kind == AccessKind::Lhs || kind == AccessKind::Rhs || kind == AccessKind::Start ||
         kind == AccessKind::Values || kind == AccessKind::Lhs2 || kind == AccessKind::Rhs2 ||
         kind == AccessKind::Turns || kind == AccessKind::Factor || isScales(kind);
}

/// Of a result: a sum of products with what the operand of this access has.
inline bool isSumOfProducts(AccessKind kind) {
  return isMatrix(kind) && kind != AccessKind::Start && kind != AccessKind::Turns &&
         kind != AccessKind::Factor && !isScales(kind);
}

/// Of a result: an element for each of the domain's, which lies where that does, or in columns of a
/// wider tensor.
inline bool isOfElements(AccessKind kind) {
  return kind == AccessKind::Full || kind == AccessKind::Window;
}

/// Whether an attention's kernel reads or stores an operand of a product where its heads lie:
/// behind the times, which the access's map, of the dimensions [sequences, heads, times, columns],
/// says.
inline bool isInPlace(AccessAttr access) {
  return access.getMap() && isSumOfProducts(access.getKind());
}
/// The type of a tensor with such an access once its heads were moved before the times; null where
/// the map moves anything else.
TensorType withHeadsMoved(AccessAttr access, TensorType lies);

/// The axes of a kernel.
struct Axes {
  llvm::ArrayRef<mlir::Attribute> domain, reduction;

  unsigned size() const { return domain.size() + reduction.size(); }
  mlir::Attribute extent(unsigned axis) const {
    return axis < domain.size() ? domain[axis] : reduction[axis - domain.size()];
  }
};
Axes axesOf(KernelOp kernel);

/// How many leading axes a contraction's rhs has beyond its matrix, or sums over rows, which reduce
/// no axis of their own, beyond their row of columns.
unsigned countBatchAxes(llvm::ArrayRef<mlir::Attribute> reduction, TensorType rhs);

/// Likewise sums into segments, beyond their rows and columns.
unsigned countBatchAxesOfSegments(TensorType sums);

/// The map that `access` stands for; null where the tensor's rank does not fit it. An axis of
/// extent 1 that the tensor does not spell is added to a dimension that it does.
mlir::AffineMap getMap(AccessAttr access, const Axes &axes, TensorType tensor, bool transposed);

/// The name of a map among those that elements are read or stored by, or a general access, as where
/// the tensor has other extents than that name's.
AccessAttr recogniseAccess(mlir::AffineMap map, const Axes &axes, TensorType tensor);

/// The axes of a domain, as they stand.
llvm::SmallVector<mlir::AffineExpr> axesOf(TensorType domain);

/// How an element of the domain reads the operand: at these places, of the domain's axes and of
/// `lengths`, which the symbols are.
AccessAttr readAt(llvm::ArrayRef<mlir::AffineExpr> at, TensorType domain, TensorType operand,
                  llvm::ArrayRef<mlir::Attribute> lengths = {});

/// Whether dimension `dim` of the tensor has every index that the map gives it.
bool staysInside(mlir::AffineMap map, unsigned dim, const Axes &axes, TensorType tensor);

/// Of a general access that reads neighbours of a row as neighbours: how many columns after the
/// kernel's column. Nothing else that it reads depends on the column then.
std::optional<int64_t> getLineOffset(KernelOp kernel, unsigned input);

/// Whether the tensor can be addressed so from these axes; says on `op` if not. Of a general access
/// it looks at the number of its axes and dimensions alone.
mlir::LogicalResult verifyAccess(mlir::Operation *op, const Axes &axes, AccessAttr access,
                                 TensorType tensor, bool transposed = false);
/// Whether it holds sums over rows: a value a column, or one for each element of a batch, which are
/// the domain's first axes.
bool holdsColumnSums(llvm::ArrayRef<mlir::Attribute> domain, TensorType tensor);
mlir::LogicalResult verifyInputAccess(KernelOp kernel, unsigned input);
mlir::LogicalResult verifyResultAccess(KernelOp kernel, unsigned result);

} // namespace halftone::ir

#endif
