// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/cuda/GatheredMatrix.h"

#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/ir/GatheredLines.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace halftone::ir {

/// Whether no value of its axes, which are not, is below zero.
static bool isNonNegative(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || expr.getKind() == AffineExprKind::Mod)
    return true;
  return isNonNegative(binary.getLHS()) && isNonNegative(binary.getRHS());
}

namespace {

class GatheredPrinter {
public:
  GatheredPrinter(KernelOp kernel, unsigned input, raw_ostream &out)
      : kernel(kernel), source(cast<TensorType>(kernel.getInputs()[input].getType())),
        access(kernel.getInputAccess(input)), map(access.getMap().getValue()), axes(axesOf(kernel)),
        lines(*findGatheredLines(access, axes, kernel.getBatchDims().size(), source)), out(out) {}

  void print() {
    printImages();
    printBatch();
    printWindow();
    printFind();
  }

private:
  unsigned firstOfWindow() const { return lines.firstAxis + lines.images; }
  bool isOfBatch(unsigned dim) const { return llvm::is_contained(lines.batch, dim); }

  void printImages() {
    SmallVector<Attribute> windows;
    for (unsigned axis = firstOfWindow(); axis < lines.lastAxis; ++axis)
      windows.push_back(axes.extent(axis));
    out << "  " << kDevice << " long long image_windows() const { return " << cudaProduct(windows)
        << "; }\n  " << kDevice << " long long image_elements() const { return "
        << cudaProduct(source.getDims().drop_front(lines.images)) << "; }\n";
  }

  /// The element of the batch taken apart, each of its axes times what lies behind its dimension.
  void printBatch() {
    out << "  " << kDevice << " long long batch_begin(long long element) const {\n    return ";
    std::string rest = "element", sum;
    for (unsigned axis = lines.batch.size(); axis-- > 0;) {
      std::string extent = "(" + cudaProduct(axes.extent(axis)) + ")";
      sum += (sum.empty() ? "" : " + ") + rest + (axis > 0 ? " % " + extent : "") + " * (" +
             cudaProduct(source.getDims().drop_front(lines.batch[axis] + 1)) + ")";
      rest += " / " + extent;
    }
    out << (sum.empty() ? "0" : sum) << ";\n  }\n";
  }

  void printWindow() {
    out << "  struct Window {\n";
    for (unsigned axis = firstOfWindow(); axis < lines.lastAxis; ++axis)
      out << "    int axis" << axis << ";\n";
    out << "  };\n  " << kDevice << " Window window(int number) const {\n    Window window;\n";
    for (unsigned axis = lines.lastAxis; axis-- > firstOfWindow();) {
      std::string extent = cudaProduct(axes.extent(axis));
      if (axis == firstOfWindow()) {
        out << "    window.axis" << axis << " = number;\n";
        continue;
      }
      out << "    window.axis" << axis << " = halftone::kernels::rest(number, " << extent << ");\n"
          << "    number = halftone::kernels::quotient(number, " << extent << ");\n";
    }
    out << "    return window;\n  }\n";
  }

  /// Whether the map gives the dimension no index that it has not; the last one's is a channel.
  bool isInside(unsigned dim) const {
    return dim + 1 == source.getRank() || staysInside(map, dim, axes, source);
  }

  void printFind() {
    out << "  " << kDevice
        << " bool find(const Window& window, int element, long long& place) const {\n";
    std::string outside;
    for (unsigned dim = lines.images; dim < source.getRank(); ++dim) {
      if (isOfBatch(dim))
        continue;
      std::string at = numbered("at", dim);
      out << "    const int " << at << " = " << textOf(map.getResult(dim)) << ";\n";
      if (!isInside(dim))
        outside += " || static_cast<unsigned int>(" + at + ") >= static_cast<unsigned int>(" +
                   cudaProduct(source.getDims()[dim]) + ")";
    }
    IntegerSet where = access.getWhere() ? access.getWhere().getValue() : IntegerSet();
    for (unsigned i = 0; where && i < where.getNumConstraints(); ++i)
      outside += " || " + textOf(where.getConstraint(i)) + (where.isEq(i) ? " != 0" : " < 0");
    out << "    place = " << placeText() << ";\n    return "
        << (outside.empty() ? "true" : "!(" + outside.substr(4) + ")") << ";\n  }\n";
  }

  /// Inside of an image: row-major, positions in 32 bits and elements in 64.
  std::string placeText() {
    std::string place;
    bool isSum = false;
    SmallVector<Attribute> behind; // dimensions since the last index
    unsigned last = source.getRank() - 1;
    for (unsigned dim = lines.images; dim < last; ++dim) {
      behind.push_back(source.getDims()[dim]);
      if (isOfBatch(dim))
        continue;
      std::string at = numbered("at", dim);
      place = place.empty() ? at
                            : (isSum ? "(" + place + ")" : place) + " * static_cast<int>(" +
                                  cudaProduct(behind) + ") + " + at;
      isSum = place != at;
      behind.clear();
    }
    behind.push_back(source.getDims()[last]);
    std::string channel = numbered("at", last);
    return place.empty() ? channel
                         : "static_cast<long long>(" + place + ") * (" + cudaProduct(behind) +
                               ") + " + channel;
  }

  std::string textOf(AffineExpr expr) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return std::to_string(constant.getValue());
    if (auto axis = dyn_cast<AffineDimExpr>(expr))
      return axis.getPosition() == lines.element ? "element"
                                                 : numbered("window.axis", axis.getPosition());
    auto binary = cast<AffineBinaryOpExpr>(expr);
    std::string a = textOf(binary.getLHS()), b = textOf(binary.getRHS());
    if (expr.getKind() == AffineExprKind::Add)
      return "(" + a + " + " + b + ")";
    if (expr.getKind() == AffineExprKind::Mul)
      return a + " * " + b;
    return std::string("halftone::kernels::") + (isNonNegative(binary.getLHS()) ? "" : "floor_") +
           (expr.getKind() == AffineExprKind::Mod ? "rest" : "quotient") + "(" + a + ", " + b + ")";
  }

  KernelOp kernel;
  TensorType source;
  AccessAttr access;
  AffineMap map;
  Axes axes;
  GatheredLines lines;
  raw_ostream &out;
};

} // namespace

std::string gatheredConstants(KernelOp kernel) {
  std::optional<unsigned> input = findGatheredInput(kernel);
  if (!input)
    return "";
  bool isLhs = kernel.getInputAccess(*input).getKind() == AccessKind::Lhs;
  return bodyConstant("kGathersLhs", isLhs) +
         bodyConstant("kNeighbours", countNeighbours(kernel, *input));
}

SmallVector<SmallVector<Attribute>> countedInImages(KernelOp kernel) {
  SmallVector<SmallVector<Attribute>> counted;
  std::optional<unsigned> input = findGatheredInput(kernel);
  if (!input)
    return counted;
  auto source = cast<TensorType>(kernel.getInputs()[*input].getType());
  Axes axes = axesOf(kernel);
  GatheredLines lines =
      *findGatheredLines(kernel.getInputAccess(*input), axes, kernel.getBatchDims().size(), source);
  for (SmallVector<Attribute> &extents : extentsOfImage(lines, axes, source))
    if (!getStaticProduct(extents))
      counted.push_back(std::move(extents));
  return counted;
}

void printGatheredMatrix(KernelOp kernel, raw_ostream &out) {
  if (std::optional<unsigned> input = findGatheredInput(kernel))
    GatheredPrinter(kernel, *input, out).print();
}

} // namespace halftone::ir
