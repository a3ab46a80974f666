// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/contraction/CpuLines.h"

#include "codegen/emit/cpu/Casts.h"
#include "codegen/emit/cpu/GeneralAccess.h"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

CpuLines::CpuLines(Code &code, Frame &frame, unsigned input, Value element, const CpuPhase *phase)
    : code(code), frame(frame), phase(phase), input(input) {
  KernelOp kernel = frame.kernel;
  AccessAttr access = kernel.getInputAccess(input);
  const bool isLhs = access.getKind() == AccessKind::Lhs;
  const auto domain = static_cast<unsigned>(kernel.getDomain().size());
  ArrayRef<Attribute> batch = kernel.getBatchDims(), reduction = kernel.getReduction().getValue();
  dims = isLhs ? kernel.getDomainType().getRowDims().drop_front(batch.size()) : reduction;
  firstAxis = isLhs ? static_cast<unsigned>(batch.size()) : domain;
  elementAxis = isLhs ? domain : domain - 1;
  origin = Values(domain + reduction.size(), code.integer(0));
  if (element)
    llvm::copy(takeApart(code, frame, element, batch), origin.begin());
  int64_t length = cast<IntegerAttr>(ir::axesOf(kernel).extent(elementAxis)).getInt();
  tap = *findTapOfLines(access, elementAxis, length);
}

CpuLines::Part CpuLines::partOf(Value first, Value count) const {
  Value begin = code.roundDown(first, tap.elements);
  return {begin, first, count, tapOfMap(begin)};
}

void CpuLines::eachPart(Value first, Value last, function_ref<void(const Part &part)> body) const {
  Value length = code.integer(tap.elements);
  code.loop(code.divide(first, length), code.ceilDivide(last, length), 1, [&](Value number) {
    Value begin = code.multiply(number, length), from = code.maximum(first, begin);
    body({begin, from, code.subtract(code.minimum(last, code.add(begin, length)), from),
          tapOfMap(begin)});
  });
}

Values CpuLines::placesOf(Value line, size_t count) const {
  return phase ? phase->placesOf(line, count)
               : takeApart(code, frame, line, dims.take_front(count));
}

Values CpuLines::axesOf(Value line) const {
  Values axes = origin;
  llvm::copy(placesOf(line, dims.size()), axes.begin() + firstAxis);
  return axes;
}

void CpuLines::eachLine(Value first, Value last,
                        function_ref<void(Value line, ValueRange axes)> body) const {
  if (dims.empty())
    return code.loop(first, last, 1, [&](Value line) { body(line, origin); });
  const size_t inLast = dims.size() - 1;
  Value extent = phase ? phase->extents().back() : frame.product(code, dims.take_back());
  code.loop(code.divide(first, extent), code.ceilDivide(last, extent), 1, [&](Value number) {
    Value begin = code.multiply(number, extent);
    Values axes = origin;
    llvm::copy(placesOf(number, inLast), axes.begin() + firstAxis);
    code.loop(code.maximum(first, begin), code.minimum(last, code.add(begin, extent)), 1,
              [&](Value line) {
                Value place = code.subtract(line, begin);
                axes[firstAxis + inLast] = phase ? phase->placeOn(inLast, place) : place;
                body(line, axes);
              });
  });
}

CpuLines::Place CpuLines::find(ValueRange axes, const Part &part) const {
  Values places(axes);
  places[elementAxis] = part.tapOfMap;
  Line line = findLine(code, frame, input, places);
  Value inTap = code.subtract(part.first, part.tap);
  Value index = code.add(line.index, code.add(code.integer(tap.offset), inTap));
  Type element = cast<ir::TensorType>(frame.kernel.getInputs()[input].getType()).getElementType();
  return {code.address(frame.input(input), storageOf(element), index), line.inside};
}

} // namespace halftone::skeletons
