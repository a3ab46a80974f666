// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/GatheredPhases.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace halftone::ir {

constexpr int64_t kMostOfTable = 256; // taps, or phases

namespace {

/// What must be 0 for a tap to be inside: (place on an axis of rows + offset) modulo stride.
struct Remainder {
  unsigned axis;
  int64_t stride;
  AffineExpr offset; // of the element of the row alone
};

std::optional<Remainder> findRemainder(AffineExpr expr, unsigned first, unsigned last,
                                       unsigned element) {
  auto modulo = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!modulo || modulo.getKind() != AffineExprKind::Mod)
    return std::nullopt;
  auto stride = dyn_cast<AffineConstantExpr>(modulo.getRHS());
  for (unsigned axis = first; stride && axis < last; ++axis) {
    if (!modulo.getLHS().isFunctionOfDim(axis))
      continue;
    AffineExpr place = getAffineDimExpr(axis, expr.getContext());
    AffineExpr offset = simplifyAffineExpr(modulo.getLHS() - place, element + 1, 0);
    for (unsigned other = 0; other < element; ++other)
      if (offset.isFunctionOfDim(other))
        return std::nullopt;
    return Remainder{axis, stride.getValue(), offset};
  }
  return std::nullopt;
}

} // namespace

std::optional<Phases> findPhases(AccessAttr access, const Axes &axes, unsigned batchAxes) {
  auto domain = static_cast<unsigned>(axes.domain.size());
  auto length = dyn_cast<IntegerAttr>(axes.extent(domain));
  if (!access.getMap() || !access.getWhere() || axes.reduction.size() != 1 || !length)
    return std::nullopt;
  std::optional<Tap> tap = findTapOfLines(access, domain, length.getInt());
  if (!tap || length.getInt() / tap->elements > kMostOfTable)
    return std::nullopt;
  Phases phases;
  phases.tapLength = tap->elements;
  phases.strides.assign(domain - 1 - batchAxes, 1);
  SmallVector<Remainder> remainders;
  IntegerSet where = access.getWhere().getValue();
  int64_t count = 1;
  for (unsigned i = 0; i < where.getNumConstraints(); ++i) {
    std::optional<Remainder> found =
        where.isEq(i) ? findRemainder(where.getConstraint(i), batchAxes, domain - 1, domain)
                      : std::nullopt;
    if (!found || phases.strides[found->axis - batchAxes] != 1 ||
        found->stride > kMostOfTable / count)
      return std::nullopt;
    phases.strides[found->axis - batchAxes] = found->stride;
    count *= found->stride;
    remainders.push_back(*found);
  }
  if (count == 1)
    return std::nullopt;
  for (auto [dim, stride] :
       llvm::zip(axes.domain.drop_back().drop_front(batchAxes), phases.strides))
    phases.rows.push_back(stride == 1 ? dim : countParts(dim, stride));
  // The phase of a tap is that of the places where all remainders are 0.
  SmallVector<SmallVector<int64_t>> tapsOf(static_cast<size_t>(count));
  for (int64_t number = 0; number < length.getInt() / tap->elements; ++number) {
    SmallVector<int64_t> places(phases.strides.size(), 0);
    for (const Remainder &remainder : remainders) {
      AffineExpr first = getAffineConstantExpr(number * tap->elements, access.getContext());
      auto offset = dyn_cast<AffineConstantExpr>(
          remainder.offset.replace(getAffineDimExpr(domain, access.getContext()), first));
      if (!offset)
        return std::nullopt;
      places[remainder.axis - batchAxes] = llvm::mod(-offset.getValue(), remainder.stride);
    }
    int64_t phase = 0;
    for (auto [place, stride] : llvm::zip(places, phases.strides))
      phase = phase * stride + place;
    tapsOf[static_cast<size_t>(phase)].push_back(number);
  }
  for (const SmallVector<int64_t> &taps : tapsOf) {
    phases.firsts.push_back(static_cast<int64_t>(phases.taps.size()));
    phases.taps.append(taps);
  }
  phases.firsts.push_back(static_cast<int64_t>(phases.taps.size()));
  return phases;
}

} // namespace halftone::ir
