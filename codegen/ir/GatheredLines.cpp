// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/GatheredLines.h"

#include "codegen/ir/Forms.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"

using namespace mlir;

namespace halftone::ir {

/// Whether the expression is the same for elements [n * neighbours, (n + 1) * neighbours) of a
/// line.
static bool isOfTaps(AffineExpr expr, AffineExpr element, int64_t neighbours) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (neighbours == 1)
    return true;
  if (!binary)
    return expr != element;
  if (expr.getKind() == AffineExprKind::FloorDiv && binary.getLHS() == element)
    return cast<AffineConstantExpr>(binary.getRHS()).getValue() % neighbours == 0;
  return isOfTaps(binary.getLHS(), element, neighbours) &&
         isOfTaps(binary.getRHS(), element, neighbours);
}

namespace {

class LineFinder {
public:
  LineFinder(AccessAttr access, const Axes &axes, unsigned batchAxes, TensorType source)
      : axes(axes), source(source), map(access.getMap().getValue()),
        where(access.getWhere() ? access.getWhere().getValue() : IntegerSet()),
        batchAxes(batchAxes), isLhs(access.getKind() == AccessKind::Lhs) {}

  std::optional<GatheredLines> find() {
    auto domain = static_cast<unsigned>(axes.domain.size());
    lines.firstAxis = isLhs ? batchAxes : domain;
    lines.lastAxis = isLhs ? domain - 1 : axes.size();
    lines.element = isLhs ? domain : domain - 1;
    if (map.getNumSymbols() != 0 || (isLhs && axes.reduction.size() != 1) || !findNeighbours() ||
        !findBatch())
      return std::nullopt;
    while (lines.firstAxis + lines.images < lines.lastAxis && isImage(lines.images))
      ++lines.images;
    return lines;
  }

private:
  bool findNeighbours() {
    std::optional<int64_t> columns = source.getColumns();
    auto length = dyn_cast<IntegerAttr>(axes.extent(lines.element));
    if (!columns || !length)
      return false;
    lines.neighbours = *columns;
    AffineExpr element = axis(lines.element);
    AffineExpr last = map.getResults().back();
    bool areWhole = last == element % *columns || // 0 where that is 1
                    (last == element && length.getInt() == *columns);
    auto isFixed = [&](AffineExpr expr) { return isOfTaps(expr, element, *columns); };
    return areWhole && length.getInt() % *columns == 0 &&
           llvm::all_of(map.getResults().drop_back(), isFixed) &&
           (!where || llvm::all_of(where.getConstraints(), isFixed));
  }

  bool findBatch() {
    for (unsigned number = 0; number < batchAxes; ++number) {
      std::optional<unsigned> dim = dimensionOf(number);
      if (!dim)
        return false;
      lines.batch.push_back(*dim);
    }
    return true;
  }

  bool isImage(unsigned number) { return dimensionOf(lines.firstAxis + number) == number; }

  /// The dimension that the axis counts as it stands, where it is used for nothing else.
  std::optional<unsigned> dimensionOf(unsigned number) {
    std::optional<unsigned> found;
    for (auto [dim, expr] : llvm::enumerate(map.getResults().drop_back())) {
      if (!expr.isFunctionOfDim(number))
        continue;
      if (found || expr != axis(number) || !staysInside(map, dim, axes, source))
        return std::nullopt;
      found = dim;
    }
    bool isAsked = where && llvm::any_of(where.getConstraints(), [&](AffineExpr expr) {
                     return expr.isFunctionOfDim(number);
                   });
    return isAsked ? std::nullopt : found;
  }

  AffineExpr axis(unsigned number) { return getAffineDimExpr(number, map.getContext()); }

  const Axes &axes;
  TensorType source;
  AffineMap map;
  IntegerSet where;
  unsigned batchAxes;
  bool isLhs;
  GatheredLines lines;
};

} // namespace

std::optional<GatheredLines> findGatheredLines(AccessAttr access, const Axes &axes,
                                               unsigned batchAxes, TensorType source) {
  return LineFinder(access, axes, batchAxes, source).find();
}

std::optional<unsigned> findGatheredInput(KernelOp kernel) {
  if (kernel.getSkeleton() != Skeleton::Contraction)
    return std::nullopt;
  for (unsigned input = 0; input < kernel.getInputs().size(); ++input)
    if (AccessAttr access = kernel.getInputAccess(input);
        access.getMap() && isMatrix(access.getKind()))
      return input;
  return std::nullopt;
}

} // namespace halftone::ir
