// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

/// The dimensions of what has more channels, and `factors` for its spatial ones, with places in
/// their stead; none where channels cannot be cut.
static std::optional<SmallVector<Attribute>> spread(ArrayRef<Attribute> deep,
                                                    ArrayRef<int64_t> factors) {
  SmallVector<Attribute> dims(deep);
  Builder builder(deep.back().getContext());
  int64_t places = 1;
  for (auto [dim, factor] :
       llvm::zip(MutableArrayRef(dims).drop_back().take_back(factors.size()), factors)) {
    dim = repeatDim(dim, factor);
    places *= factor;
  }
  auto channels = dyn_cast<IntegerAttr>(dims.back());
  if (!channels || channels.getInt() % places != 0)
    return std::nullopt;
  dims.back() = builder.getI64IntegerAttr(channels.getInt() / places);
  return dims;
}

LogicalResult PixelShuffleOp::verify() {
  ArrayRef<int64_t> factors = getFactor();
  if (factors.empty() || factors.size() > 3 ||
      llvm::any_of(factors, [](int64_t factor) { return factor < 1; }))
    return emitOpError("wants factors of 1 or more for one to three dimensions");
  TensorType deep = tensor(getX()), wide = getType();
  if (isInverse())
    std::swap(deep, wide);
  if (deep.getRank() > factors.size())
    if (auto dims = spread(deep.getDims(), factors); dims && ArrayRef(*dims) == wide.getDims())
      return success();
  return emitOpError() << "does not make " << getType() << " of " << tensor(getX())
                       << (isInverse() ? " by blocks of places" : " by groups of channels");
}

SmallVector<AccessAttr> PixelShuffleOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::General});
}

namespace {

Value viewAs(OpBuilder &builder, Location loc, Value x, ArrayRef<Attribute> dims) {
  return ViewOp::create(builder, loc, tensor(x).withDims(dims).withElementType(codeTypeOf(x)), x);
}

/// The elements of x in the shape of `to`. Places of a block are dimensions of their own on the
/// way: behind the channels where those are many, otherwise each behind its spatial dimension.
Value shuffle(PixelShuffleOp op, OpBuilder &builder, Value x, TensorType to, bool gathers) {
  ArrayRef<int64_t> factors = op.getFactor();
  ArrayRef<Attribute> deep = gathers ? to.getDims() : tensor(x).getDims();
  ArrayRef<Attribute> wide = gathers ? tensor(x).getDims() : to.getDims();
  size_t rank = factors.size(), first = deep.size() - 1 - rank;
  auto blocks = llvm::map_to_vector(
      factors, [&](int64_t factor) -> Attribute { return builder.getI64IntegerAttr(factor); });
  SmallVector<Attribute> ofDeep(deep.drop_back()), ofWide(deep.take_front(first));
  ofDeep.push_back(wide.back());
  ofDeep.append(blocks);
  SmallVector<int64_t> spreads, collects; // axes of the one that are those of the other
  for (size_t axis = 0; axis < first; ++axis)
    spreads.push_back(static_cast<int64_t>(axis));
  collects = spreads;
  for (size_t d = 0; d < rank; ++d) {
    ofWide.append({deep[first + d], blocks[d]});
    spreads.append({static_cast<int64_t>(first + d), static_cast<int64_t>(first + rank + 1 + d)});
    collects.push_back(static_cast<int64_t>(first + 2 * d));
  }
  ofWide.push_back(wide.back());
  spreads.push_back(static_cast<int64_t>(first + rank));
  collects.push_back(static_cast<int64_t>(first + 2 * rank));
  for (size_t d = 0; d < rank; ++d)
    collects.push_back(static_cast<int64_t>(first + 2 * d + 1));
  Location loc = op.getLoc();
  Value apart = viewAs(builder, loc, x, gathers ? ofWide : ofDeep);
  return viewAs(builder, loc, makeTranspose(builder, loc, apart, gathers ? collects : spreads),
                to.getDims());
}

} // namespace

SmallVector<Value> PixelShuffleOp::lower(OpBuilder &builder) { // D97
  return {shuffle(*this, builder, getX(), getType(), isInverse())};
}

SmallVector<Value> PixelShuffleOp::buildGradients(OpBuilder &builder,
                                                  ValueRange resultGradients) { // D98
  return {shuffle(*this, builder, resultGradients[0], gradientType(getX()), !isInverse())};
}

SmallVector<Value> PixelShuffleOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
