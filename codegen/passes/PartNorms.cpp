// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/PartNorms.h"

#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace halftone::ir {

/// Of parts that one kernel knows: its code has a few operations for each.
static constexpr size_t kPartsAtOnce = 32;

TensorType PartNorms::type(ArrayRef<int64_t> dims) {
  SmallVector<Attribute> list;
  for (int64_t dim : dims)
    list.push_back(builder.getI64IntegerAttr(dim));
  return TensorType::get(builder.getContext(), list, builder.getF32Type());
}

/// What is widened element by element is so behind the view, so that no kernel stores it.
Value PartNorms::asBlocks(Value flat) {
  if (Operation *cast = flat.getDefiningOp(); isExactCast(cast)) {
    IRMapping map;
    map.map(cast->getOperand(0), asBlocks(cast->getOperand(0)));
    Operation *inside = builder.clone(*cast, map);
    inside->getResult(0).setType(
        tensor(flat).withDims(type({elements / kBlock, kBlock}).getDims()));
    return inside->getResult(0);
  }
  return ViewOp::create(builder, loc,
                        tensor(flat).withDims(type({elements / kBlock, kBlock}).getDims()), flat);
}

SmallVector<Value> PartNorms::sumBlocks(StringRef label, ValueRange operands, unsigned sums,
                                        ScalarCode summands) {
  Space space{type({elements / kBlock, kBlock}), {}, {}};
  SmallVector<Value> inputs = llvm::map_to_vector(operands, [&](Value operand) {
    return tensor(operand).getStaticElements() == elements ? asBlocks(operand) : operand;
  });
  space.reads = accesses(space.domain, inputs);
  space.writes.assign(sums, AccessAttr::get(builder.getContext(), AccessKind::Row));
  SmallVector<Type> results(sums, type({elements / kBlock}));
  auto map = makeMap(builder, loc, label, space, inputs, results, [&](Scalars &s, ValueRange a) {
    SmallVector<Value> totals;
    for (Value summand : summands(s, a))
      totals.push_back(s.rowSum(summand));
    return totals;
  });
  setPhase(map, phase);
  return SmallVector<Value>(map.getOutputs());
}

Value PartNorms::choose(Scalars &s, Value part, ArrayRef<double> constants) {
  Value result = s.constant(Float32Type::get(part.getContext()), constants.back());
  for (size_t i = constants.size() - 1; i > 0; --i) {
    Value isBefore = s.compare(arith::CmpIPredicate::slt, part, s.integer(static_cast<int64_t>(i)));
    result = s.select(isBefore, s.like(result, constants[i - 1]), result);
  }
  return result;
}

/// Blocks are counted in f32, which knows every number of them (kMostElements).
Value PartNorms::spread(StringRef label, ValueRange blockSums, ArrayRef<FlatPart> parts,
                        Number number) {
  int64_t blocks = elements / kBlock;
  auto access = [&](AccessKind kind) { return AccessAttr::get(builder.getContext(), kind); };
  Value everywhere;
  for (size_t from = 0; from < parts.size(); from += kPartsAtOnce) {
    ArrayRef<FlatPart> some = parts.slice(from, std::min(kPartsAtOnce, parts.size() - from));
    auto count = static_cast<int64_t>(some.size());
    auto ends = [&](int64_t FlatPart::*end) {
      return llvm::map_to_vector(
          some, [&](const FlatPart &part) { return static_cast<double>(part.*end / kBlock); });
    };
    SmallVector<double> begins = ends(&FlatPart::begin), behind = ends(&FlatPart::end);
    Space ofParts{type({count, blocks}),
                  SmallVector<AccessAttr>(blockSums.size(), access(AccessKind::Column)),
                  SmallVector<AccessAttr>(3, access(AccessKind::Row))};
    auto totals = makeMap(builder, loc, (label + "_of_parts").str(), ofParts, blockSums,
                          SmallVector<Type>(3, type({count})),
                          [&](Scalars &s, ValueRange a) -> SmallVector<Value> {
                            Value part = s.axisIndex(0), first = choose(s, part, begins);
                            Value end = choose(s, part, behind), block = s.number(s.columnIndex());
                            Value inside = s.both(s.lessOrEqual(first, block), s.less(block, end));
                            SmallVector<Value> sums;
                            for (Value sum : a)
                              sums.push_back(s.rowSum(s.select(inside, sum, s.like(sum, 0))));
                            Value index = s.plus(part, s.integer(static_cast<int64_t>(from)));
                            return {number(s, index, sums), first, end};
                          });
    setPhase(totals, phase);
    SmallVector<Value> operands(totals.getOutputs());
    Space ofBlocks{type({blocks, count}),
                   SmallVector<AccessAttr>(3, access(AccessKind::Column)),
                   {access(AccessKind::Row)}};
    if (everywhere) {
      operands.push_back(everywhere);
      ofBlocks.reads.push_back(access(AccessKind::Row));
    }
    auto spreading = makeMap(builder, loc, label, ofBlocks, operands, type({blocks}),
                             [&](Scalars &s, ValueRange a) -> SmallVector<Value> {
                               Value block = s.number(s.axisIndex(0));
                               Value inside =
                                   s.both(s.lessOrEqual(a[1], block), s.less(block, a[2]));
                               Value own = s.rowSum(s.select(inside, a[0], s.like(a[0], 0)));
                               return {a.size() > 3 ? s.add(a[3], own) : own};
                             });
    setPhase(spreading, phase);
    everywhere = spreading.getOutputs()[0];
  }
  return everywhere;
}

static AccessAttr accessTo(TensorType operand, TensorType domain) {
  auto access = [&](AccessKind kind) { return AccessAttr::get(domain.getContext(), kind); };
  if (operand.isScalar())
    return access(AccessKind::Scalar);
  if (operand.hasSameDims(domain))
    return access(AccessKind::Full);
  auto block = static_cast<uint64_t>(*domain.getStaticElements() / *operand.getStaticElements());
  AffineExpr first = getAffineDimExpr(0, domain.getContext());
  if (domain.getRank() == 1)
    return readAt({first.floorDiv(block)}, domain, operand);
  auto columns = static_cast<uint64_t>(*domain.getColumns());
  if (block == columns)
    return access(AccessKind::Row);
  if (block % columns == 0)
    return readAt({first.floorDiv(block / columns)}, domain, operand);
  AffineExpr column = getAffineDimExpr(1, domain.getContext());
  return readAt({first * (columns / block) + column.floorDiv(block)}, domain, operand);
}

SmallVector<AccessAttr> PartNorms::accesses(TensorType domain, ValueRange operands) {
  return llvm::map_to_vector(operands,
                             [&](Value operand) { return accessTo(tensor(operand), domain); });
}

} // namespace halftone::ir
