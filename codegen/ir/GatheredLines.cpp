// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/GatheredLines.h"

#include <numeric>

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

/// Of the last result of a map that counts the elements of a line of `length` by `element`; nothing
/// where a tap's are no neighbours.
static std::optional<Tap> findTap(AffineExpr last, AffineExpr element, int64_t length) {
  Tap tap{length, 0};
  if (auto constant = dyn_cast<AffineConstantExpr>(last)) // of one element, element % 1
    return Tap{1, constant.getValue()};
  auto binary = dyn_cast<AffineBinaryOpExpr>(last);
  if (binary && last.getKind() == AffineExprKind::Add)
    if (auto offset = dyn_cast<AffineConstantExpr>(binary.getRHS())) {
      tap.offset = offset.getValue();
      last = binary.getLHS();
      binary = dyn_cast<AffineBinaryOpExpr>(last);
    }
  if (last == element)
    return tap;
  auto elements = binary && last.getKind() == AffineExprKind::Mod && binary.getLHS() == element
                      ? dyn_cast<AffineConstantExpr>(binary.getRHS())
                      : AffineConstantExpr();
  if (!elements)
    return std::nullopt;
  tap.elements = elements.getValue();
  return tap;
}

std::optional<Tap> findTapOfLines(AccessAttr access, unsigned element, int64_t length) {
  AffineMap map = access.getMap().getValue();
  AffineExpr axis = getAffineDimExpr(element, map.getContext());
  std::optional<Tap> tap = findTap(map.getResults().back(), axis, length);
  auto isFixed = [&](AffineExpr expr) { return isOfTaps(expr, axis, tap->elements); };
  if (!tap || length % tap->elements != 0 || !llvm::all_of(map.getResults().drop_back(), isFixed) ||
      (access.getWhere() && !llvm::all_of(access.getWhere().getValue().getConstraints(), isFixed)))
    return std::nullopt;
  return tap;
}

/// How many taps of `channels` follow one another where a place in the source is `expr`.
static std::optional<int64_t> countTapsOfRun(AffineExpr expr, unsigned element, int64_t channels,
                                             int64_t length) {
  AffineExpr axis = getAffineDimExpr(element, expr.getContext());
  AffineExpr number = axis.floorDiv(channels); // of the tap
  if (expr == number)
    return length / channels;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  AffineExpr left = binary.getLHS(), right = binary.getRHS();
  if (expr.getKind() == AffineExprKind::Mod && left == number)
    return cast<AffineConstantExpr>(right).getValue();
  if (expr.getKind() != AffineExprKind::Add ||
      left.isFunctionOfDim(element) == right.isFunctionOfDim(element))
    return std::nullopt;
  AffineExpr ofElement = left.isFunctionOfDim(element) ? left : right;
  return countTapsOfRun(ofElement, element, channels, length);
}

std::optional<Tap> findRunOfLines(AccessAttr access, unsigned element, int64_t length,
                                  TensorType source) {
  std::optional<Tap> tap = findTapOfLines(access, element, length);
  ArrayRef<AffineExpr> places = access.getMap().getValue().getResults();
  if (!tap || tap->offset != 0 || source.getColumns() != tap->elements || places.size() < 2)
    return std::nullopt;
  std::optional<int64_t> taps =
      countTapsOfRun(places[places.size() - 2], element, tap->elements, length);
  if (!taps || *taps < 2)
    return std::nullopt;
  const int64_t elements = *taps * tap->elements;
  AffineExpr axis = getAffineDimExpr(element, access.getContext());
  auto isFixed = [&](AffineExpr expr) { return isOfTaps(expr, axis, elements); };
  if (length % elements != 0 || !llvm::all_of(places.drop_back(2), isFixed) ||
      (access.getWhere() && !llvm::all_of(access.getWhere().getValue().getConstraints(), isFixed)))
    return std::nullopt;
  return Tap{elements, 0};
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
    AffineExpr element = axis(lines.element);
    std::optional<Tap> tap = findTap(map.getResults().back(), element, length.getInt());
    if (!tap || tap->offset < 0 || tap->offset + tap->elements > *columns)
      return false;
    // Of columns of a wider source as many as begin where vectors of them do.
    lines.neighbours = std::gcd(std::gcd(tap->elements, *columns), tap->offset);
    auto isFixed = [&](AffineExpr expr) { return isOfTaps(expr, element, lines.neighbours); };
    return length.getInt() % tap->elements == 0 &&
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

std::array<SmallVector<Attribute>, 2> extentsOfImage(const GatheredLines &lines, const Axes &axes,
                                                     TensorType source) {
  SmallVector<Attribute> windows;
  for (unsigned axis = lines.firstAxis + lines.images; axis < lines.lastAxis; ++axis)
    windows.push_back(axes.extent(axis));
  return {windows, SmallVector<Attribute>(source.getRowDims().drop_front(lines.images))};
}

std::optional<unsigned> findGatheredInput(KernelOp kernel) {
  if (kernel.getSkeleton() != Skeleton::Contraction)
    return std::nullopt;
  for (unsigned input = 0; input < kernel.getInputs().size(); ++input)
    if (AccessAttr access = kernel.getInputAccess(input);
        access.getMap() && isMatrix(access.getKind()) && !isScales(access.getKind()))
      return input;
  return std::nullopt;
}

int64_t countNeighbours(KernelOp kernel, unsigned input) {
  AccessAttr access = kernel.getInputAccess(input);
  auto source = cast<TensorType>(kernel.getInputs()[input].getType());
  std::optional<GatheredLines> lines;
  if (access.getMap() && kernel.getSkeleton() == Skeleton::Contraction)
    lines = findGatheredLines(access, axesOf(kernel), kernel.getBatchDims().size(), source);
  if (lines)
    return lines->neighbours;
  auto symbol = dyn_cast<StringAttr>(source.getDims().back());
  return symbol ? symbolicExtentOf(symbol.getValue()).knownDivisor() : *source.getColumns();
}

} // namespace halftone::ir
