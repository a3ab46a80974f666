// SPDX-License-Identifier: Apache-2.0
// A body's operations cloned onto scalars and vectors, each value once.
#include "codegen/emit/cpu/Body.h"

#include "codegen/emit/cpu/Casts.h"
#include "codegen/emit/cpu/GeneralAccess.h"
#include "codegen/ir/Accesses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::cpu {

using ir::TensorType;

Value Frame::product(Code &code, ArrayRef<Attribute> dims) const {
  Value result = code.integer(1);
  for (Attribute dim : dims) {
    Value extent;
    if (auto number = dyn_cast<IntegerAttr>(dim)) {
      extent = code.integer(number.getInt());
    } else {
      SymbolicExtent of = symbolicExtentOf(cast<StringAttr>(dim).getValue());
      auto index = llvm::find(symbolNames, of.name) - symbolNames.begin();
      extent = code.load(code.i64(), code.address(symbols, code.i64(), code.integer(index)));
      if (of.divisor != 1)
        extent = code.divide(code.add(extent, code.integer(of.divisor - 1)), of.divisor);
      if (of.factor != 1)
        extent = code.multiply(extent, code.integer(of.factor));
      if (of.added != 0)
        extent = code.add(extent, code.integer(of.added));
    }
    result = code.multiply(result, extent);
  }
  return result;
}

static Value buildCount(Code &code, const Frame &frame, CountOp count) {
  Value product = frame.product(code, count.getDims().getValue());
  if (count.getType().isInteger())
    return arith::TruncIOp::create(code.builder, code.loc, count.getType(), product);
  return arith::SIToFPOp::create(code.builder, code.loc, count.getType(), product);
}

Value buildOperation(Code &code, const Frame &frame, Operation *op, ValueRange operands,
                     unsigned lanes) {
  if (auto count = dyn_cast<CountOp>(op))
    return buildCount(code, frame, count);
  if (auto integer = dyn_cast<IntegerOp>(op))
    return integerOf(code, integer.getX().getType(), operands[0], integer.getType());
  if (isa<Low16Op>(op))
    return low16(code, operands[0]);
  if (auto cast = dyn_cast<arith::ExtFOp>(op))
    return widen(code, frame.variant, cast.getIn().getType(), operands[0]);
  if (auto cast = dyn_cast<arith::TruncFOp>(op))
    return narrow(code, frame.variant, cast.getType(),
                  cast.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even),
                  operands[0]);
  Type type = op->getResult(0).getType();
  if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && storageOf(type) != type)
    return narrowConstant(code, cast<FloatAttr>(constant.getValue()).getValue(), type);
  Operation *clone = code.builder.clone(*op);
  clone->setOperands(operands);
  clone->setLoc(code.loc);
  if (lanes && !operands.empty())
    clone->getResult(0).setType(code.vector(storageOf(type), lanes));
  else
    clone->getResult(0).setType(storageOf(type));
  return clone->getResult(0);
}

Body::Body(Code &code, Frame &frame)
    : code(code), frame(frame), block(frame.kernel.getBody().front()) {
  for (unsigned i = 0; i < frame.kernel.getInputs().size(); ++i)
    if (Value argument = frame.kernel.getElement(i))
      inputOf[argument] = i;
  classify();
}

/// Whether it is where the element lies along an axis that a row has one place on.
static bool isOfRow(KernelOp kernel, Operation *op) {
  auto index = dyn_cast<AxisIndexOp>(op);
  return index && index.getAxis() + 1 < kernel.getDomain().size();
}

void Body::classify() {
  for (BlockArgument argument : block.getArguments()) {
    auto input = inputOf.find(argument);
    AccessKind kind = input == inputOf.end() ? AccessKind::Full
                                             : frame.kernel.getInputAccess(input->second).getKind();
    levels[argument] = kind == AccessKind::Scalar ? kKernel
                       : kind == AccessKind::Row  ? kRow
                                                  : kElement;
  }
  for (Operation &op : block.without_terminator()) {
    Level level = isOfRow(frame.kernel, &op)              ? kRow
                  : isOfPlace(&op)                        ? kElement
                  : isa<RowSumOp, RowMaxOp, LhsSumOp>(op) ? kRow
                                                          : kKernel;
    if (!isa<RowSumOp, RowMaxOp, LhsSumOp>(op))
      for (Value operand : op.getOperands())
        level = std::max(level, levels.lookup(operand));
    levels[op.getResult(0)] = level;
    auto isSame = [&](Value operand) {
      return levels.lookup(operand) != kElement || sameInQuarter.contains(operand);
    };
    if (isa<QuarterIndexOp>(op) ||
        (level == kElement && !isOfPlace(&op) && llvm::all_of(op.getOperands(), isSame)))
      sameInQuarter.insert(op.getResult(0));
  }
}

/// Whether every four lanes from the first one on are a quarter. Rows, and tasks where there are
/// none, begin with one.
bool Body::hasWholeQuarters() {
  int64_t stride = row ? frame.kernel.getColumns().value_or(1) : frame.kernel.getCpuTile()->back();
  return lanes % 8 == 0 && stride % 4 == 0;
}

/// Draws come in fours (N9), so that computing one for each lane computes it four times.
Value Body::getOfQuarters(Value bodyValue) {
  unsigned quarters = lanes / 4;
  if (!sameInQuarter.contains(bodyValue))
    return code.splat(get(bodyValue), quarters);
  if (Value value = ofQuarters.lookup(bodyValue))
    return value;
  Operation *op = bodyValue.getDefiningOp();
  Value value;
  if (isa<QuarterIndexOp>(op)) {
    Value first = row ? code.add(code.multiply(row, frame.columns(code)), column) : column;
    value =
        code.add(code.splat(code.divide(first, 4), quarters), code.lanesOf(code.i64(), quarters));
  } else {
    Values operands;
    for (Value operand : op->getOperands())
      operands.push_back(getOfQuarters(operand));
    value = buildOperation(code, frame, op, operands, quarters);
  }
  return ofQuarters[bodyValue] = value;
}

Value Body::addressOf(Value pointer, TensorType type, AccessAttr access) {
  Value index;
  switch (access.getKind()) {
  case AccessKind::Full:
    index = row ? code.add(code.multiply(row, frame.columns(code)), column) : column;
    break;
  case AccessKind::Window:
    index = code.add(code.multiply(row, columnsOf(type)),
                     code.add(column, code.integer(access.getOffset())));
    break;
  case AccessKind::Column:
    index = column;
    break;
  case AccessKind::Row:
    index = row;
    break;
  default:
    index = code.integer(0);
  }
  return code.address(pointer, storageOf(type.getElementType()), index);
}

Value Body::columnsOf(TensorType type) {
  std::optional<int64_t> number = type.getColumns();
  return number ? code.integer(*number) : frame.product(code, type.getDims().take_back());
}

/// The lanes that lie in an operand's own columns; the others of its window read zero.
Value Body::windowMask(int64_t offset, TensorType type) {
  std::optional<int64_t> needed = frame.kernel.getColumns(), given = type.getColumns();
  if (needed && given && offset >= 0 && offset + *needed <= *given)
    return {};
  OpBuilder &builder = code.builder;
  Type i32 = builder.getI32Type();
  Value start =
      arith::TruncIOp::create(builder, code.loc, i32, code.add(column, code.integer(offset)));
  Value index =
      arith::AddIOp::create(builder, code.loc, code.splat(start, lanes), code.lanesOf(i32, lanes));
  Value bound = given ? Value(arith::ConstantIntOp::create(builder, code.loc, *given, 32))
                      : arith::TruncIOp::create(builder, code.loc, i32, columnsOf(type));
  // Unsigned: a negative index is not below the bound either.
  return arith::CmpIOp::create(builder, code.loc, arith::CmpIPredicate::ult, index,
                               code.splat(bound, lanes));
}

Value Body::load(unsigned input) {
  AccessAttr access = frame.kernel.getInputAccess(input);
  if (access.getKind() == AccessKind::General) {
    Values indices;
    for (int64_t index : access.getIndices())
      indices.push_back(get(frame.kernel.getElement(index)));
    return loadGeneral(code, frame, input, {row, column, mask, lanes}, indices);
  }
  auto type = cast<TensorType>(frame.kernel.getInputs()[input].getType());
  Value address = addressOf(frame.input(input), type, access);
  if (access.getKind() == AccessKind::Row || access.getKind() == AccessKind::Scalar)
    return code.load(storageOf(type.getElementType()), address);
  Value inside =
      access.getKind() == AccessKind::Window ? windowMask(access.getOffset(), type) : Value();
  Value both = inside && mask ? Value(arith::AndIOp::create(code.builder, code.loc, inside, mask))
               : inside       ? inside
                              : mask;
  return code.load(code.vector(storageOf(type.getElementType()), lanes), address, both);
}

/// Of element_index, quarter_index and quarter_place.
Value Body::computePlace(Operation *op) {
  OpBuilder &builder = code.builder;
  Value first = row ? code.add(code.multiply(row, frame.columns(code)), column) : column;
  Value index = arith::AddIOp::create(builder, code.loc, code.splat(first, lanes),
                                      code.lanesOf(code.i64(), lanes));
  if (isa<QuarterIndexOp>(op))
    return arith::ShRUIOp::create(builder, code.loc, index, code.splat(code.integer(2), lanes));
  if (isa<ElementIndexOp>(op))
    return index;
  if (hasWholeQuarters()) {
    SmallVector<int32_t> places;
    for (unsigned lane = 0; lane < lanes; ++lane)
      places.push_back(static_cast<int32_t>(lane % 4));
    return arith::ConstantOp::create(builder, code.loc, builder.getI32VectorAttr(places));
  }
  Type words = code.vector(builder.getI32Type(), lanes);
  Value low = arith::TruncIOp::create(builder, code.loc, words, index);
  Value mask = arith::ConstantIntOp::create(builder, code.loc, 3, 32);
  return arith::AndIOp::create(builder, code.loc, low, code.splat(mask, lanes));
}

/// The row's number taken apart.
Value Body::computeAxis(int64_t axis) {
  ArrayRef<Attribute> rows = frame.kernel.getDomainType().getRowDims();
  OpBuilder &builder = code.builder;
  Value behind = frame.product(code, rows.drop_front(axis + 1));
  Value index = arith::DivSIOp::create(builder, code.loc, row, behind);
  if (axis > 0)
    index = arith::RemSIOp::create(builder, code.loc, index, frame.product(code, rows[axis]));
  return arith::TruncIOp::create(builder, code.loc, builder.getI32Type(), index);
}

/// Clones the operation onto the level's values: scalars below the element, vectors in it.
Value Body::compute(Operation *op, Level level) {
  if (level == kRow && isOfPlace(op))
    return computeAxis(cast<AxisIndexOp>(op).getAxis());
  if (isa<ColumnIndexOp, AxisIndexOp>(op)) {
    Value narrow =
        arith::TruncIOp::create(code.builder, code.loc, code.builder.getI32Type(), column);
    return arith::AddIOp::create(code.builder, code.loc, code.splat(narrow, lanes),
                                 code.lanesOf(code.builder.getI32Type(), lanes));
  }
  if (isOfPlace(op))
    return computePlace(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(level == kElement ? getVector(operand) : get(operand));
  return buildOperation(code, frame, op, operands, level == kElement ? lanes : 0);
}

void Body::loadInputs(Level level) {
  for (unsigned i = 0; i < frame.kernel.getInputs().size(); ++i)
    if (Value argument = frame.kernel.getElement(i); argument && levels.lookup(argument) == level)
      known[level][argument] = load(i);
}

void Body::enterKernel() {
  loadInputs(kKernel);
  for (Operation &op : block.without_terminator())
    if (levels.lookup(op.getResult(0)) == kKernel)
      known[kKernel][op.getResult(0)] = compute(&op, kKernel);
}

void Body::beginStreams(int64_t stride) {
  constexpr int64_t kPastCaches = 7; // of manifest::CpuBlocks
  if (!frame.variant.hasStoresPastCaches())
    return;
  for (unsigned i = 0; i < frame.kernel.getStored().size(); ++i) {
    Type element = cast<TensorType>(frame.kernel.getStored()[i].getType()).getElementType();
    int64_t bytes = storageOf(element).getIntOrFloatBitWidth() / 8;
    size_t argument = frame.kernel.getInputs().size() + i;
    if (frame.kernel.getResultAccess(i).getKind() != AccessKind::Full ||
        stride * bytes % kLine != 0 || argument >= 64)
      continue;
    Value bit = arith::AndIOp::create(code.builder, code.loc,
                                      frame.blockField(code, kPastCaches, code.i64()),
                                      code.integer(static_cast<int64_t>(1ull << argument)));
    streams[i] = arith::CmpIOp::create(code.builder, code.loc, arith::CmpIPredicate::ne, bit,
                                       code.integer(0));
  }
}

void Body::endStreams() {
  for (unsigned i = 0; i < frame.kernel.getStored().size(); ++i)
    if (Value isStreamed = streams.lookup(i))
      code.when(isStreamed, [&] {
        LLVM::CallIntrinsicOp::create(code.builder, code.loc,
                                      code.builder.getStringAttr("llvm.x86.sse.sfence"),
                                      ValueRange());
      });
}

void Body::enterRow(Value at) {
  row = at;
  known[kRow].clear();
  loadInputs(kRow);
  advanceRow();
}

void Body::knowRow(Value bodyValue, Value scalar) {
  known[kRow][bodyValue] = scalar;
  advanceRow();
}

void Body::advanceRow() {
  auto available = [&](Value v) { return known[kKernel].contains(v) || known[kRow].contains(v); };
  for (Operation &op : block.without_terminator()) {
    Value result = op.getResult(0);
    if (levels.lookup(result) == kRow && !isa<RowSumOp, RowMaxOp, LhsSumOp>(op) &&
        !known[kRow].contains(result) && llvm::all_of(op.getOperands(), available))
      known[kRow][result] = compute(&op, kRow);
  }
}

void Body::enterElement(Value at, Value lanesMask, unsigned width) {
  column = at;
  mask = lanesMask;
  lanes = width;
  known[kElement].clear();
  ofQuarters.clear();
}

void Body::setAccumulator(Value vector) { known[kElement][block.getArgument(0)] = vector; }

Value Body::get(Value bodyValue) {
  Level level = levels.lookup(bodyValue);
  if (level != kElement)
    return known[level].lookup(bodyValue);
  if (Value value = known[kElement].lookup(bodyValue))
    return value;
  Value value;
  if (Value memory = kept.lookup(bodyValue)) {
    value = code.load(code.vector(code.f32(), lanes), code.address(memory, code.f32(), column));
  } else if (sameInQuarter.contains(bodyValue) && hasWholeQuarters()) {
    SmallVector<int64_t> quarterOf;
    for (unsigned lane = 0; lane < lanes; ++lane)
      quarterOf.push_back(lane / 4);
    Value quarters = getOfQuarters(bodyValue);
    value = code.shuffle(quarters, quarters, quarterOf);
  } else if (Operation *op = bodyValue.getDefiningOp())
    value = compute(op, kElement);
  else
    value = load(inputOf.lookup(bodyValue));
  known[kElement][bodyValue] = value;
  return value;
}

bool hasResults(KernelOp kernel, AccessKind kind) {
  return llvm::any_of(kernel.getResultAccesses(),
                      [&](Attribute access) { return cast<AccessAttr>(access).getKind() == kind; });
}

void Body::fetchAhead(int64_t rows, unsigned line) {
  std::optional<int64_t> columns = frame.kernel.getColumns();
  for (unsigned i = 0; columns && i < frame.kernel.getInputs().size(); ++i) {
    AccessAttr access = frame.kernel.getInputAccess(i);
    auto type = cast<TensorType>(frame.kernel.getInputs()[i].getType());
    Type element = storageOf(type.getElementType());
    unsigned bytes = element.getIntOrFloatBitWidth() / 8;
    std::optional<int64_t> apart =
        access.getKind() == AccessKind::Window ? type.getColumns() : columns;
    if (!isOfElements(access.getKind()) || !apart || (line + 1) * kLine > lanes * bytes)
      continue;
    Value here = addressOf(frame.input(i), type, access);
    Value there = code.address(here, element, code.integer(rows * *apart + line * kLine / bytes));
    LLVM::Prefetch::create(code.builder, code.loc, there, /*rw=*/0, /*hint=*/2, /*cache=*/1);
  }
}

void Body::storeFull() {
  SmallVector<std::pair<unsigned, Value>> values;
  for (unsigned i = 0; i < frame.kernel.getStored().size(); ++i)
    if (isOfElements(frame.kernel.getResultAccess(i).getKind()))
      values.emplace_back(i, getVector(frame.kernel.getYield().getStores()[i]));
  for (auto &[i, value] : values) {
    auto type = cast<TensorType>(frame.kernel.getStored()[i].getType());
    Value address = addressOf(frame.stored(i), type, frame.kernel.getResultAccess(i));
    if (Value isStreamed = mask ? Value() : streams.lookup(i))
      code.when(
          isStreamed, [&] { code.storePastCaches(value, address); },
          [&] { code.store(value, address); });
    else
      code.store(value, address, mask);
  }
}

void Body::storeColumns(Value begin, Value end) {
  unsigned width = frame.variant.bodyLanes;
  Value main = code.add(begin, code.roundDown(code.subtract(end, begin), width));
  code.loop(begin, main, width, [&](Value first) {
    enterElement(first, {}, width);
    storeFull();
  });
  code.when(code.less(main, end), [&] {
    enterElement(main, code.firstLanes(code.subtract(end, main), width), width);
    storeFull();
  });
}

void Body::storeRow() {
  for (unsigned i = 0; i < frame.kernel.getStored().size(); ++i)
    if (frame.kernel.getResultAccess(i).getKind() == AccessKind::Row) {
      auto type = cast<TensorType>(frame.kernel.getStored()[i].getType());
      code.store(get(frame.kernel.getYield().getStores()[i]),
                 addressOf(frame.stored(i), type, frame.kernel.getResultAccess(i)));
    }
}

} // namespace halftone::cpu
