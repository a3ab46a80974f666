// SPDX-License-Identifier: Apache-2.0
// Builders of single operations.
#include "codegen/emit/cpu/Code.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace halftone::cpu {

static unsigned alignmentOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrFloat() ? std::max(1u, element.getIntOrFloatBitWidth() / 8) : 8;
}

//===--- Integers ---===//

Value Code::integer(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 64); }
Value Code::real(float value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
}
Value Code::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value Code::subtract(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
Value Code::multiply(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
Value Code::divide(Value a, Value b) { return arith::DivUIOp::create(builder, loc, a, b); }
Value Code::remainder(Value a, Value b) { return arith::RemUIOp::create(builder, loc, a, b); }
Value Code::ceilDivide(Value a, Value b) { return divide(add(a, subtract(b, integer(1))), b); }
Value Code::roundDown(Value a, int64_t b) { return multiply(divide(a, b), integer(b)); }
Value Code::minimum(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
Value Code::maximum(Value a, Value b) { return arith::MaxSIOp::create(builder, loc, a, b); }
Value Code::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}
Value Code::less(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}
Value Code::equal(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, b);
}

//===--- Memory ---===//

Type Code::pointer() { return LLVM::LLVMPointerType::get(builder.getContext()); }

Value Code::address(Value base, Type element, Value index) {
  return LLVM::GEPOp::create(builder, loc, pointer(), element, base, ValueRange{index});
}

void Code::prefetch(Value pointer) {
  constexpr unsigned kToRead = 0, kKeep = 3, kData = 1; // LLVM's language reference, llvm.prefetch
  LLVM::Prefetch::create(builder, loc, pointer, kToRead, kKeep, kData);
}

/// Below AVX-512 there are masked moves of 32-bit lanes only; LLVM makes a branch of every 16-bit
/// one. So whole pairs of lanes move as one, and single lanes, if there are any, by branches.
Code::PairedMask Code::pairUp(Value mask) {
  unsigned lanes = static_cast<unsigned>(cast<VectorType>(mask.getType()).getNumElements());
  Type i16s = vector(builder.getI16Type(), lanes), i32s = vector(builder.getI32Type(), lanes / 2);
  Value all = arith::ExtSIOp::create(builder, loc, i16s, mask);
  Value ones = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(cast<VectorType>(i32s), builder.getI32IntegerAttr(-1)));
  Value pairs = equal(vector::BitCastOp::create(builder, loc, i32s, all), ones);
  Value paired = vector::BitCastOp::create(builder, loc, i16s,
                                           arith::ExtSIOp::create(builder, loc, i32s, pairs));
  Value rest = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, all, paired);
  Value some = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, rest);
  return {pairs, rest, some};
}

static bool isVectorOfShorts(Type type) {
  return isa<VectorType>(type) && getElementTypeOrSelf(type).isInteger(16);
}

Value Code::load(Type type, Value pointer, Value mask) {
  unsigned alignment = alignmentOf(type);
  if (!mask)
    return LLVM::LoadOp::create(builder, loc, type, pointer, alignment);
  auto masked = [&](Type loaded, Value lanes) -> Value {
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(loaded));
    return LLVM::MaskedLoadOp::create(builder, loc, loaded, pointer, lanes, zero, alignment);
  };
  if (!isVectorOfShorts(type))
    return masked(type, mask);
  PairedMask paired = pairUp(mask);
  Type wide = vector(builder.getI32Type(), cast<VectorType>(type).getNumElements() / 2);
  Value pairs = vector::BitCastOp::create(builder, loc, type, masked(wide, paired.pairs));
  return when(paired.some, {pairs}, [&] {
    return Values{arith::OrIOp::create(builder, loc, pairs, masked(type, paired.rest))};
  })[0];
}

void Code::store(Value value, Value pointer, Value mask) {
  Type type = value.getType();
  unsigned alignment = alignmentOf(type);
  if (!mask) {
    LLVM::StoreOp::create(builder, loc, value, pointer, alignment);
    return;
  }
  auto masked = [&](Value stored, Value lanes) {
    LLVM::MaskedStoreOp::create(builder, loc, stored, pointer, lanes, alignment);
  };
  if (!isVectorOfShorts(type))
    return masked(value, mask);
  PairedMask paired = pairUp(mask);
  Type wide = vector(builder.getI32Type(), cast<VectorType>(type).getNumElements() / 2);
  masked(vector::BitCastOp::create(builder, loc, wide, value), paired.pairs);
  when(paired.some, [&] { masked(value, paired.rest); });
}

void Code::storePastCaches(Value vector, Value pointer) {
  auto type = cast<VectorType>(vector.getType());
  auto bytes = static_cast<unsigned>(type.getNumElements()) * alignmentOf(type);
  LLVM::StoreOp::create(builder, loc, vector, pointer, std::min(bytes, kLine),
                        /*isVolatile=*/false, /*isNonTemporal=*/true);
}

Value Code::gather(Type element, Value base, Value indices, Value mask) {
  auto lanes = static_cast<unsigned>(cast<VectorType>(indices.getType()).getNumElements());
  Type values = vector(element, lanes);
  Value addresses = LLVM::GEPOp::create(builder, loc, vector(pointer(), lanes), element, base,
                                        ArrayRef<LLVM::GEPArg>{indices});
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(values));
  return LLVM::masked_gather::create(builder, loc, values, addresses, mask, ValueRange{zero},
                                     alignmentOf(element));
}

Value Code::scratch(Type element, int64_t elements) {
  OpBuilder::InsertionGuard guard(builder);
  auto function = builder.getInsertionBlock()->getParentOp();
  if (!isa<func::FuncOp>(function))
    function = function->getParentOfType<func::FuncOp>();
  builder.setInsertionPointToStart(&cast<func::FuncOp>(function).front());
  return LLVM::AllocaOp::create(builder, loc, pointer(), element, integer(elements), 64);
}

//===--- Vectors ---===//

Value Code::splat(Value scalar, unsigned lanes) {
  if (isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(builder, loc, vector(scalar.getType(), lanes), scalar);
}

Value Code::firstLane(Value vector) {
  return vector::ExtractOp::create(builder, loc, vector, ArrayRef<int64_t>{0});
}

Value Code::slice(Value vector, int64_t from, int64_t lanes) {
  return vector::ExtractStridedSliceOp::create(builder, loc, vector, ArrayRef<int64_t>{from},
                                               ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1});
}

Value Code::insert(Value part, Value vector, int64_t from) {
  return vector::InsertStridedSliceOp::create(builder, loc, part, vector, ArrayRef<int64_t>{from},
                                              ArrayRef<int64_t>{1});
}

Value Code::shuffle(Value a, Value b, ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(builder, loc, a, b, lanes);
}

Value Code::lanesOf(Type integer, unsigned lanes) {
  SmallVector<Attribute> numbers;
  for (unsigned lane = 0; lane < lanes; ++lane)
    numbers.push_back(builder.getIntegerAttr(integer, lane));
  auto type = vector(integer, lanes);
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, numbers));
}

Value Code::firstLanes(int64_t count, unsigned lanes) {
  if (count == lanes)
    return {};
  SmallVector<bool> bits(lanes);
  std::fill_n(bits.begin(), count, true);
  auto type = vector(builder.getI1Type(), lanes);
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
}

Value Code::firstLanes(Value count, unsigned lanes) {
  Value narrow =
      arith::TruncIOp::create(builder, loc, builder.getI32Type(), minimum(count, integer(lanes)));
  return less(lanesOf(builder.getI32Type(), lanes), splat(narrow, lanes));
}

void Code::transpose(Values &rows) {
  int64_t count = static_cast<int64_t>(rows.size());
  for (int64_t side = count / 2; side > 0; side /= 2)
    for (int64_t i = 0; i < count; ++i) {
      if (i & side)
        continue;
      SmallVector<int64_t> upper, lower;
      for (int64_t lane = 0; lane < count; ++lane) {
        upper.push_back(lane & side ? count + lane - side : lane);
        lower.push_back(lane & side ? count + lane : lane + side);
      }
      Value a = rows[i], b = rows[i + side];
      rows[i] = vector::ShuffleOp::create(builder, loc, a, b, upper);
      rows[i + side] = vector::ShuffleOp::create(builder, loc, a, b, lower);
    }
}

//===--- Control flow ---===//

Value Code::callIntrinsic(StringRef name, Type result, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(builder, loc, result, builder.getStringAttr(name), operands)
      .getResult(0);
}

void Code::loop(Value first, Value last, Value step, Body body) {
  loop(first, last, step, {}, [&](Value index, ValueRange) {
    body(index);
    return Values();
  });
}

Values Code::loop(Value first, Value last, Value step, ValueRange initial, CarryingBody body) {
  auto op = scf::ForOp::create(builder, loc, first, last, step, initial);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = op.getBody();
  if (initial.empty())
    block->getTerminator()->erase();
  builder.setInsertionPointToEnd(block);
  Values carried = body(op.getInductionVar(), op.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, carried);
  return Values(op.getResults());
}

void Code::when(Value condition, function_ref<void()> body) {
  auto op = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  body();
}

void Code::when(Value condition, function_ref<void()> body, function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  body();
  builder.setInsertionPointToStart(op.elseBlock());
  otherwise();
}

Values Code::when(Value condition, ValueRange otherwise, function_ref<Values()> body) {
  auto op =
      scf::IfOp::create(builder, loc, otherwise.getTypes(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  Values values = body();
  scf::YieldOp::create(builder, loc, values);
  builder.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(builder, loc, otherwise);
  return Values(op.getResults());
}

void registerCpuDialects(DialectRegistry &registry) {
  registry.insert<func::FuncDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect,
                  vector::VectorDialect, LLVM::LLVMDialect>();
}

} // namespace halftone::cpu
