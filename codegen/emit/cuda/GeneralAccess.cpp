// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/cuda/GeneralAccess.h"

#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/ir/Accesses.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"

using namespace mlir;

namespace halftone::ir {

bool isGeneral(KernelOp kernel, unsigned input) {
  return kernel.getInputAccess(input).getKind() == AccessKind::General;
}

bool usesGeneralAccess(KernelOp kernel) {
  return llvm::any_of(llvm::seq<unsigned>(0, kernel.getInputs().size()),
                      [&](unsigned i) { return isGeneral(kernel, i); });
}

/// The expression over `axisN` and `indexN`.
static std::string textOf(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue()) + "LL";
  if (auto axis = dyn_cast<AffineDimExpr>(expr))
    return numbered("axis", axis.getPosition());
  if (auto index = dyn_cast<AffineSymbolExpr>(expr))
    return numbered("index", index.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::string a = textOf(binary.getLHS()), b = textOf(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Add)
    return "(" + a + " + " + b + ")";
  if (expr.getKind() == AffineExprKind::Mul)
    return a + " * " + b;
  return "halftone::kernels::floor_" +
         std::string(expr.getKind() == AffineExprKind::Mod ? "modulo" : "divide") + "(" + a + ", " +
         b + ")";
}

/// The element of an index operand.
static std::string elementOf(KernelOp kernel, unsigned input) {
  AccessAttr access = kernel.getInputAccess(input);
  std::string place = access.getKind() == AccessKind::Scalar   ? "0"
                      : access.getKind() == AccessKind::Row    ? "row"
                      : access.getKind() == AccessKind::Column ? "column"
                                                               : "row * columns() + column";
  return numbered("input", input) + "[" + place + "]";
}

static void printAxes(KernelOp kernel, raw_ostream &out) {
  ArrayRef<Attribute> rows = kernel.getDomainType().getRowDims();
  std::string rest = "row";
  for (size_t i = rows.size(); i-- > 0;) {
    std::string extent = cudaProduct(rows[i]);
    out << "    const long long axis" << i << " = " << rest;
    if (i > 0)
      out << " % " << extent;
    out << ";\n";
    rest += " / " + extent;
  }
  out << "    const long long axis" << rows.size() << " = column;\n";
}

void printGeneralRead(KernelOp kernel, unsigned input, raw_ostream &out) {
  AccessAttr access = kernel.getInputAccess(input);
  AffineMap map = access.getMap().getValue();
  auto type = cast<TensorType>(kernel.getInputs()[input].getType());
  out << "  " << kDevice << " " << cudaType(type.getElementType()) << " read" << input
      << "(long long row, long long column) const {\n"
      << "    if (column >= columns()) return {};\n";
  printAxes(kernel, out);
  for (auto [i, index] : llvm::enumerate(access.getIndices()))
    out << "    const long long index" << i << " = " << elementOf(kernel, index) << ";\n";
  std::string outside, place;
  for (auto [dim, extent] : llvm::enumerate(type.getDims())) {
    std::string at = numbered("at", dim), bound = cudaProduct(extent);
    out << "    const long long " << at << " = " << textOf(map.getResult(dim)) << ";\n";
    if (!staysInside(map, dim, axesOf(kernel), type))
      outside += " || " + at + " < 0 || " + at + " >= " + bound;
    place = dim == 0   ? at
            : dim == 1 ? place + " * " + bound + " + " + at
                       : "(" + place + ") * " + bound + " + " + at;
  }
  IntegerSet where = access.getWhere() ? access.getWhere().getValue() : IntegerSet();
  for (unsigned i = 0; where && i < where.getNumConstraints(); ++i)
    outside += " || " + textOf(where.getConstraint(i)) + (where.isEq(i) ? " != 0" : " < 0");
  if (!outside.empty())
    out << "    if (" << outside.substr(4) << ") return {};\n";
  out << "    return input" << input << "[" << (place.empty() ? "0" : place) << "];\n  }\n";
}

} // namespace halftone::ir
