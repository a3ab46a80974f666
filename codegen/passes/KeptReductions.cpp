// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/KeptReductions.h"

#include "codegen/skeletons/KernelGroup.h"

using namespace mlir;

namespace halftone::ir {
namespace {

constexpr auto kMeaning =
    OperationEquivalence::IgnoreLocations | OperationEquivalence::IgnoreDiscardableAttrs;

/// Two maps of scores, code and operands.
class Comparison {
public:
  Comparison(MapOp kept, MapOp rows) : kept(kept), rows(rows) {}

  /// Whether a scalar of the one is that of the other.
  bool isSame(Value a, Value b) {
    if (known.contains({a, b}))
      return true;
    Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
    bool same =
        first && second
            ? OperationEquivalence::isEquivalentTo(
                  first, second, [&](Value x, Value y) { return success(isSame(x, y)); }, nullptr,
                  kMeaning)
            : !first && !second && isSameOperand(cast<BlockArgument>(a), cast<BlockArgument>(b));
    if (same)
      known.insert({a, b});
    return same;
  }

private:
  bool isSameOperand(BlockArgument a, BlockArgument b) {
    AccessAttr access = kept.getOperandAccesses()[a.getArgNumber()];
    Value x = kept.getInputs()[a.getArgNumber()], y = rows.getInputs()[b.getArgNumber()];
    return access == rows.getOperandAccesses()[b.getArgNumber()] && access.getIndices().empty() &&
           (isSameTensor(x, y) || isSameProduct(x, y));
  }

  /// Whether one is the other, or each is computed alike of the same: again for the backward pass,
  /// on which no bit depends (P16).
  bool isSameTensor(Value a, Value b) {
    if (a == b || known.contains({a, b}))
      return true;
    auto first = dyn_cast<OpResult>(a), second = dyn_cast<OpResult>(b);
    return first && second && first.getResultNumber() == second.getResultNumber() &&
           isa<KernelForm, ViewOp>(first.getOwner()) &&
           accumulationOf(first.getOwner()) == accumulationOf(second.getOwner()) &&
           OperationEquivalence::isEquivalentTo(
               first.getOwner(), second.getOwner(),
               [&](Value x, Value y) { return success(isSameTensor(x, y)); },
               [&](Value x, Value y) {
                 known.insert({x, y});
               },
               kMeaning);
  }

  /// Of equal operands, in whatever passes.
  bool isSameProduct(Value a, Value b) {
    auto first = a.getDefiningOp<ContractOp>(), second = b.getDefiningOp<ContractOp>();
    return first && second && first.getType() == second.getType() && !first.getStart() &&
           !second.getStart() && first.getBatchAxes() == second.getBatchAxes() &&
           first.getTransposeLhs() == second.getTransposeLhs() &&
           first.getTransposeRhs() == second.getTransposeRhs() &&
           accumulationOf(first) == accumulationOf(second) &&
           isSameTensor(first.getLhs(), second.getLhs()) &&
           isSameTensor(first.getRhs(), second.getRhs());
  }

  MapOp kept, rows;
  llvm::DenseSet<std::pair<Value, Value>> known; ///< that are the same
};

bool isAttention(Operation *op) {
  auto joined = op->getAttrOfType<SkeletonAttr>(kJoinedByAttr);
  return isa<MapOp>(op) && joined && joined.getValue() == Skeleton::Attention;
}

/// Of each reduction the one of `kept` that is the same, or null.
SmallVector<Value> findReductions(MapOp kept, MapOp rows, ArrayRef<Value> reductions) {
  Comparison comparison(kept, rows);
  return llvm::map_to_vector(reductions, [&](Value reduction) {
    for (Operation &op : kept.getBody().front())
      if (isa<RowSumOp, RowMaxOp>(op) && comparison.isSame(op.getResult(0), reduction))
        return Value(op.getResult(0));
    return Value();
  });
}

/// The map again, which gives `reductions` of its code, one of each row, behind its results.
MapOp addResults(MapOp map, ArrayRef<Value> reductions) {
  OpBuilder builder(map);
  TensorType domain = map.getDomain();
  SmallVector<Type> types(map.getResultTypes());
  SmallVector<Attribute> writes(map.getWritesAttr().getValue());
  auto yield = cast<YieldOp>(map.getBody().front().getTerminator());
  for (Value reduction : reductions) {
    types.push_back(domain.withElementType(reduction.getType()).withDims(domain.getRowDims()));
    writes.push_back(AccessAttr::get(map.getContext(), AccessKind::Row));
    yield.getValuesMutable().append(reduction);
  }
  auto more = MapOp::create(builder, map.getLoc(), types, map.getLabel(), map.getInputs(),
                            map.getOverAttr(), map.getReadsAttr(), builder.getArrayAttr(writes));
  for (NamedAttribute attribute : map->getDiscardableAttrs())
    if (attribute.getName() != kValuesAttr) // one for each result
      more->setAttr(attribute.getName(), attribute.getValue());
  more.getBody().takeBody(map.getBody());
  map->replaceAllUsesWith(more->getResults().take_front(map.getNumResults()));
  map.erase();
  return more;
}

} // namespace

SmallVector<Value> keepReductions(MapOp rows, ArrayRef<Value> reductions) {
  for (Operation *op = rows->getPrevNode(); op; op = op->getPrevNode()) {
    if (!isAttention(op))
      continue;
    auto kept = cast<MapOp>(op);
    SmallVector<Value> found = findReductions(kept, rows, reductions), given;
    llvm::copy_if(found, std::back_inserter(given), [](Value value) { return value != nullptr; });
    if (given.empty())
      continue;
    auto result = addResults(kept, given)->getResults().take_back(given.size()).begin();
    for (Value &value : found)
      if (value)
        value = *result++;
    return found;
  }
  return SmallVector<Value>(reductions.size());
}

} // namespace halftone::ir
