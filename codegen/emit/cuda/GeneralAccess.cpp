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

static void printAxes(KernelOp kernel, bool hasColumn, raw_ostream &out) {
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
  if (hasColumn)
    out << "    const long long axis" << rows.size() << " = column;\n";
}

/// Index by index, and the condition under which the operand has none such, behind " || ".
static std::string printPlaces(KernelOp kernel, unsigned input, unsigned dims, raw_ostream &out) {
  AccessAttr access = kernel.getInputAccess(input);
  AffineMap map = access.getMap().getValue();
  auto type = cast<TensorType>(kernel.getInputs()[input].getType());
  for (auto [i, index] : llvm::enumerate(access.getIndices()))
    out << "    const long long index" << i << " = " << elementOf(kernel, index) << ";\n";
  for (auto [i, length] : llvm::enumerate(access.getLengths()))
    out << "    const long long index" << access.getIndices().size() + i << " = "
        << cudaProduct(length) << ";\n";
  std::string outside;
  for (unsigned dim = 0; dim < dims; ++dim) {
    std::string at = numbered("at", dim);
    out << "    const long long " << at << " = " << textOf(map.getResult(dim)) << ";\n";
    if (!staysInside(map, dim, axesOf(kernel), type))
      outside += " || " + at + " < 0 || " + at + " >= " + cudaProduct(type.getDims()[dim]);
  }
  IntegerSet where = access.getWhere() ? access.getWhere().getValue() : IntegerSet();
  for (unsigned i = 0; where && i < where.getNumConstraints(); ++i)
    outside += " || " + textOf(where.getConstraint(i)) + (where.isEq(i) ? " != 0" : " < 0");
  return outside;
}

/// Of the first indices, row-major.
static std::string placeText(TensorType type, unsigned dims) {
  std::string place = dims == 0 ? "0" : "at0";
  for (unsigned dim = 1; dim < dims; ++dim)
    place = (dim == 1 ? place : "(" + place + ")") + " * " + cudaProduct(type.getDims()[dim]) +
            " + " + numbered("at", dim);
  return place;
}

void printGeneralRead(KernelOp kernel, unsigned input, raw_ostream &out) {
  auto type = cast<TensorType>(kernel.getInputs()[input].getType());
  bool isLine = getLineOffset(kernel, input).has_value();
  unsigned dims = type.getRank() - isLine;
  if (isLine)
    out << "  " << kDevice << " long long line" << input << "(long long row) const {\n";
  else
    out << "  " << kDevice << " " << cudaType(type.getElementType()) << " read" << input
        << "(long long row, long long column) const {\n"
        << "    if (column >= columns()) return {};\n";
  printAxes(kernel, !isLine, out);
  std::string outside = printPlaces(kernel, input, dims, out);
  if (!outside.empty())
    out << "    if (" << outside.substr(4) << ") return " << (isLine ? "-1" : "{}") << ";\n";
  if (isLine)
    out << "    return (" << placeText(type, dims) << ") * " << cudaProduct(type.getDims().back())
        << ";\n  }\n";
  else
    out << "    return input" << input << "[" << placeText(type, dims) << "];\n  }\n";
}

void printGeneralLoad(KernelOp kernel, unsigned input, raw_ostream &out) {
  std::optional<int64_t> offset = getLineOffset(kernel, input);
  if (!offset) {
    out << "#pragma unroll\n    for (int i = 0; i < kWidth; ++i) inputs.input" << input
        << "[i] = read" << input << "(row, column + i);\n";
    return;
  }
  auto type = cast<TensorType>(kernel.getInputs()[input].getType());
  std::string begin = numbered("begin", input);
  out << "    const long long " << begin << " = line" << input << "(row);\n"
      << "    halftone::kernels::load(input" << input << " + (" << begin << " < 0 ? 0 : " << begin
      << "), column + (" << *offset << "), static_cast<Column>(" << begin
      << " < 0 ? 0 : " << cudaProduct(type.getDims().back()) << "), inputs.input" << input
      << ");\n";
}

} // namespace halftone::ir
