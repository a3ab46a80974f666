// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/contraction/CpuPhase.h"

#include "codegen/emit/cpu/GeneralAccess.h"
#include "codegen/skeletons/Skeletons.h"
#include "codegen/skeletons/contraction/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

std::optional<Phases> findCpuPhases(KernelOp kernel) {
  Matrices matrices = findMatrices(kernel);
  AccessAttr lhs = kernel.getInputAccess(matrices.lhs);
  const bool isPlain = !matrices.start && !matrices.lhsScales && !kernel.getTransposeLhs() &&
                       !kernel.getInputAccess(matrices.rhs).getMap() &&
                       !hasResults(kernel, AccessKind::Row) &&
                       kernel.getBody().front().getOps<LhsSumOp>().empty();
  if (!isPlain || !lhs.getMap() || !mayReorder(kernel))
    return std::nullopt;
  auto batch = static_cast<unsigned>(kernel.getBatchDims().size());
  std::optional<Phases> phases = findPhases(lhs, ir::axesOf(kernel), batch);
  const bool arePairs = of(kernel).multipliesPairs(kernel);
  return phases && arePairs && phases->tapLength % kMatrixDepth != 0 ? std::nullopt : phases;
}

static Value makeTable(Code &code, ArrayRef<int64_t> entries) {
  auto type = cast<VectorType>(code.vector(code.i64(), static_cast<unsigned>(entries.size())));
  Value memory = code.scratch(code.i64(), static_cast<int64_t>(entries.size()));
  code.store(
      arith::ConstantOp::create(code.builder, code.loc, DenseElementsAttr::get(type, entries)),
      memory);
  return memory;
}

CpuPhase::CpuPhase(Code &code, Frame &frame, Phases found)
    : code(code), frame(frame), phases(std::move(found)),
      dims(
          frame.kernel.getDomainType().getRowDims().drop_front(frame.kernel.getBatchDims().size())),
      taps(makeTable(code, phases.taps)), firsts(makeTable(code, phases.firsts)) {}

Value CpuPhase::entryOf(Value table, Value number) const {
  return code.load(code.i64(), code.address(table, code.i64(), number));
}

Value CpuPhase::kOfMap(Value k) const {
  Value length = code.integer(phases.tapLength);
  Value tap = entryOf(taps, code.divide(k, length));
  return code.add(code.multiply(tap, length), code.remainder(k, length));
}

void CpuPhase::enter(Value number) {
  Values strides;
  for (int64_t stride : phases.strides)
    strides.push_back(code.integer(stride));
  remainders = takeApart(code, number, strides);
  extentsOfRows.clear();
  numberOfRows = code.integer(1);
  for (auto [axis, stride] : llvm::enumerate(phases.strides)) {
    Value extent = frame.product(code, dims[axis]);
    if (stride > 1)
      extent = code.divide(
          code.subtract(code.add(extent, code.integer(stride - 1)), remainders[axis]), stride);
    extentsOfRows.push_back(extent);
    numberOfRows = code.multiply(numberOfRows, extent);
  }
  Value length = code.integer(phases.tapLength);
  firstK = code.multiply(entryOf(firsts, number), length);
  lastK = code.multiply(entryOf(firsts, code.add(number, code.integer(1))), length);
}

Value CpuPhase::placeOn(size_t axis, Value number) const {
  int64_t stride = phases.strides[axis];
  return stride == 1 ? number
                     : code.add(code.multiply(number, code.integer(stride)), remainders[axis]);
}

Values CpuPhase::placesOf(Value row, size_t axes) const {
  Values places = takeApart(code, row, extents().take_front(axes));
  for (auto [axis, place] : llvm::enumerate(places))
    place = placeOn(axis, place);
  return places;
}

Value CpuPhase::rowOfResult(Value row) const {
  Value place = code.integer(0);
  for (auto [axis, onAxis] : llvm::enumerate(placesOf(row, dims.size())))
    place = code.add(code.multiply(place, frame.product(code, dims[axis])), onAxis);
  return place;
}

} // namespace halftone::skeletons
