// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/contraction/CpuLines.h"

#include "codegen/emit/cpu/Casts.h"
#include "codegen/emit/cpu/GeneralAccess.h"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

/// The axis that counts the elements of a line.
static unsigned elementAxisOf(KernelOp kernel, unsigned input) {
  const auto domain = static_cast<unsigned>(kernel.getDomain().size());
  return kernel.getInputAccess(input).getKind() == AccessKind::Lhs ? domain : domain - 1;
}

/// How many elements a line has, where that is a number.
static IntegerAttr lengthOf(KernelOp kernel, unsigned input) {
  return dyn_cast<IntegerAttr>(ir::axesOf(kernel).extent(elementAxisOf(kernel, input)));
}

static ir::TensorType sourceOf(KernelOp kernel, unsigned input) {
  return cast<ir::TensorType>(kernel.getInputs()[input].getType());
}

std::optional<Tap> findRunOrTap(KernelOp kernel, unsigned input) {
  AccessAttr access = kernel.getInputAccess(input);
  const unsigned element = elementAxisOf(kernel, input);
  IntegerAttr length = access.getMap() ? lengthOf(kernel, input) : IntegerAttr();
  if (!length)
    return std::nullopt;
  std::optional<Tap> run =
      findRunOfLines(access, element, length.getInt(), sourceOf(kernel, input));
  return run ? run : findTapOfLines(access, element, length.getInt());
}

CpuLines::CpuLines(Code &code, Frame &frame, unsigned input, Value element, const CpuPhase *phase)
    : code(code), frame(frame), phase(phase), input(input) {
  KernelOp kernel = frame.kernel;
  AccessAttr access = kernel.getInputAccess(input);
  const bool isLhs = access.getKind() == AccessKind::Lhs;
  const auto domain = static_cast<unsigned>(kernel.getDomain().size());
  ArrayRef<Attribute> batch = kernel.getBatchDims(), reduction = kernel.getReduction().getValue();
  dims = isLhs ? kernel.getDomainType().getRowDims().drop_front(batch.size()) : reduction;
  firstAxis = isLhs ? static_cast<unsigned>(batch.size()) : domain;
  elementAxis = elementAxisOf(kernel, input);
  origin = Values(domain + reduction.size(), code.integer(0));
  if (element)
    llvm::copy(takeApart(code, frame, element, batch), origin.begin());
  // Taps that are counted phase after phase do not follow one another.
  tap = phase ? *findTapOfLines(access, elementAxis, lengthOf(kernel, input).getInt())
              : *findRunOrTap(kernel, input);
  int64_t columns = *sourceOf(kernel, input).getColumns();
  channels = tap.elements > columns ? columns : 0;
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
  if (channels)
    return findInRun(places, part);
  Line line = findLine(code, frame, input, places);
  Value inTap = code.subtract(part.first, part.tap);
  Value index = code.add(line.index, code.add(code.integer(tap.offset), inTap));
  Place place{addressOf(index), {}, {}};
  if (line.inside) {
    place.from = code.integer(0);
    place.to = code.select(line.inside, part.count, place.from);
  }
  return place;
}

CpuLines::Place CpuLines::findInRun(ValueRange places, const Part &part) const {
  Run run = findRun(code, frame, input, places);
  Value each = code.integer(channels), zero = code.integer(0);
  // Elements of the source's row of places that lie before the part.
  Value before = code.add(code.multiply(run.place, each), code.subtract(part.first, part.tap));
  Place place{addressOf(code.add(run.line.index, before)), {}, {}};
  if (!run.line.inside && !run.extent)
    return place;
  place.from = zero;
  place.to = part.count;
  if (run.extent) {
    Value behind = code.subtract(code.multiply(run.extent, each), before);
    place.from = code.minimum(code.maximum(zero, code.subtract(zero, before)), part.count);
    place.to = code.maximum(place.from, code.minimum(behind, part.count));
  }
  if (run.line.inside)
    place.to = code.select(run.line.inside, place.to, place.from);
  return place;
}

Value CpuLines::addressOf(Value index) const {
  return code.address(frame.input(input), storageOf(sourceOf(frame.kernel, input).getElementType()),
                      index);
}

} // namespace halftone::skeletons
