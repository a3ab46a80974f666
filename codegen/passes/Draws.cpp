// SPDX-License-Identifier: Apache-2.0
// What layers draw, in integer arithmetic: D35 and Philox4x32-10 (N9).
#include "codegen/passes/Draws.h"

#include <array>

#include "halftone/manifest/checksum.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace halftone::ir {

namespace {

/// Arithmetic on words of 32 bits, which wraps around.
class Words {
public:
  Words(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value constant(uint32_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value wide(int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  }
  Value add(Value a, uint32_t b) { return arith::AddIOp::create(builder, loc, a, constant(b)); }
  Value exclusiveOr(Value a, Value b) { return arith::XOrIOp::create(builder, loc, a, b); }
  Value shiftRight(Value number, int64_t bits) {
    return arith::ShRUIOp::create(builder, loc, number, wide(bits));
  }
  Value low(Value number) {
    return arith::TruncIOp::create(builder, loc, builder.getI32Type(), number);
  }
  Value high(Value number) { return low(shiftRight(number, 32)); }
  /// All 64 bits of the product.
  Value product(Value a, uint32_t b) {
    Value whole = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), a);
    return arith::MulIOp::create(builder, loc, whole, wide(b));
  }
  /// Word `number` mod 4 of four.
  Value choose(Value number, ArrayRef<Value> words) {
    Value odd = isSet(number, 1), first = select(odd, words[1], words[0]);
    Value second = select(odd, words[3], words[2]);
    return select(isSet(number, 2), second, first);
  }

private:
  Value isSet(Value number, uint32_t bit) {
    Value masked = arith::AndIOp::create(builder, loc, number, constant(bit));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, masked, constant(0));
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }

  OpBuilder &builder;
  Location loc;
};

/// N9
std::array<Value, 4> philox(Words &words, std::array<Value, 4> c, std::array<Value, 2> key) {
  for (int round = 0; round < 10; ++round) {
    Value even = words.product(c[0], 0xD2511F53), odd = words.product(c[2], 0xCD9E8D57);
    c = {words.exclusiveOr(words.exclusiveOr(words.high(odd), c[1]), key[0]), words.low(odd),
         words.exclusiveOr(words.exclusiveOr(words.high(even), c[3]), key[1]), words.low(even)};
    key = {words.add(key[0], 0x9E3779B9), words.add(key[1], 0xBB67AE85)};
  }
  return c;
}

} // namespace

Value expandDraw(OpBuilder &builder, DrawOp op) {
  Words words(builder, op.getLoc());
  uint64_t hash = manifest::hash_of(std::string_view(op.getLayer()));
  auto low = static_cast<uint32_t>(hash), high = static_cast<uint32_t>(hash >> 32);
  std::array<Value, 2> key = {words.exclusiveOr(op.getSeedLow(), words.constant(low)),
                              words.exclusiveOr(op.getSeedHigh(), words.constant(high))};
  Value place = QuarterPlaceOp::create(builder, op.getLoc(), builder.getI32Type());
  Value block = QuarterIndexOp::create(builder, op.getLoc(), builder.getI64Type());
  std::array<Value, 4> counter = {words.low(block), words.high(block), op.getStep(),
                                  op.getMicroBatch()};
  return words.choose(place, philox(words, counter, key));
}

} // namespace halftone::ir
