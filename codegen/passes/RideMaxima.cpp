// SPDX-License-Identifier: Apache-2.0
// The largest magnitude of what a product's kernel computes is found in that kernel
// (docs/decisions/0070): maps that would find it row by row, and of what is left row by row again,
// become one reduce with a finish.
#include "codegen/ir/Forms.h"
#include "codegen/passes/Grouping.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/ScaledRounding.h"
#include "codegen/skeletons/Skeletons.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/MapVector.h"

namespace halftone::ir {
#define GEN_PASS_DEF_RIDEMAXIMA
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// The largest magnitude of every row of an operand.
struct RowMaxima {
  RowMaxOp op;
  unsigned operand; ///< which one, of as many dimensions as the domain
};

/// What `map` finds, if it is the only thing that it reduces rows to.
std::optional<RowMaxima> findRowMaxima(MapOp map) {
  std::optional<RowMaxima> found;
  for (Operation &op : map.getBody().front()) {
    if (!isa<RowMaxOp, RowSumOp>(op))
      continue;
    auto maximum = dyn_cast<RowMaxOp>(op);
    auto magnitude =
        maximum ? maximum->getOperand(0).getDefiningOp<math::AbsFOp>() : math::AbsFOp();
    auto argument = magnitude ? dyn_cast<BlockArgument>(magnitude.getOperand()) : BlockArgument();
    if (found || !argument || !argument.getType().isF32())
      return std::nullopt;
    found = RowMaxima{maximum, argument.getArgNumber()};
  }
  if (!found || map.getOperandAccesses()[found->operand].getKind() != AccessKind::Full ||
      !map.getDomain().hasSameDims(tensor(map.getInputs()[found->operand])))
    return std::nullopt;
  return found;
}

/// From the map that reads a tensor to the one that makes scalars of its largest magnitude.
struct Chain {
  MapOp first, last;
  Value x;
  unsigned result = 0; ///< the first map's result that holds maxima of rows
  SmallVector<MapOp> between;
};

/// Which result of the map holds maxima of rows, as they are; the others know nothing of them.
std::optional<unsigned> findMaximaAmongResults(MapOp map, RowMaxOp maximum) {
  Operation *yield = map.getBody().front().getTerminator();
  if (!maximum->hasOneUse() || *maximum->user_begin() != yield)
    return std::nullopt;
  return maximum->use_begin()->getOperandNumber();
}

/// Of what the largest magnitude is that of the maxima, too: where blocks have scales of their own
/// (P77), others read those, and the tensor's is one of them.
Value findGrouped(Value maxima) {
  auto map = maxima.getDefiningOp<MapOp>();
  return map && leavesMaxima(map) ? findGrouped(map.getInputs()[0]) : maxima;
}

std::optional<Chain> findChain(MapOp first) {
  std::optional<RowMaxima> maxima = findRowMaxima(first);
  std::optional<unsigned> result =
      maxima ? findMaximaAmongResults(first, maxima->op) : std::nullopt;
  if (!result)
    return std::nullopt;
  Chain chain{first, {}, findGrouped(first.getInputs()[maxima->operand]), *result, {}};
  Value left = first.getOutputs()[*result];
  while (true) {
    auto next = left.hasOneUse() ? dyn_cast<MapOp>(*left.user_begin()) : MapOp();
    if (!next || next.getInputs().size() != 1 || getPhase(next) != getPhase(first))
      return std::nullopt;
    std::optional<RowMaxima> again = findRowMaxima(next);
    if (!again || !next.getBody().front().getArgument(0).hasOneUse() ||
        !again->op->getOperand(0).hasOneUse())
      return std::nullopt;
    if (next.getDomain().getRank() == 1) {
      chain.last = next;
      return chain;
    }
    if (next.getNumResults() != 1 ||
        next.getBody().front().getTerminator()->getOperand(0) != again->op.getResult())
      return std::nullopt;
    chain.between.push_back(next);
    left = next.getOutputs()[0];
  }
}

/// Whether all of x's elements are computed, and known as such, in the kernel of a product that
/// has no finish.
bool isOfProduct(const Chain &chain, const KernelGroup &group) {
  auto x = cast<OpResult>(getBeforeWidening(chain.x));
  return group.contains(x.getOwner()) && group.skeleton->traits().sumsProducts &&
         group.skeleton->traits().finish == skeletons::Finish::Possible && !group.hasFinish &&
         !group.getSection() && group.phase == getPhase(chain.first) &&
         ArrayRef<Attribute>(group.domain) == tensor(chain.x).getDims() &&
         getResultAccessIn(group, x).getKind() == AccessKind::Full;
}

/// The map without that result.
void leaveOut(MapOp map, unsigned result) {
  auto others = [&](auto range) {
    SmallVector<std::decay_t<decltype(*range.begin())>> left(range.begin(), range.end());
    left.erase(left.begin() + result);
    return left;
  };
  OpBuilder builder(map);
  ArrayAttr writes = map.getWritesAttr();
  if (writes)
    writes = builder.getArrayAttr(others(writes.getValue()));
  auto rest = MapOp::create(builder, map.getLoc(), others(map->getResultTypes()), map.getLabel(),
                            map.getInputs(), map.getOverAttr(), map.getReadsAttr(), writes);
  rest->setDiscardableAttrs(map->getDiscardableAttrDictionary());
  if (auto values = map->getAttrOfType<DenseI64ArrayAttr>(kValuesAttr))
    rest->setAttr(kValuesAttr, builder.getDenseI64ArrayAttr(others(values.asArrayRef())));
  rest.getBody().takeBody(map.getBody());
  Block &body = rest.getBody().front();
  body.getTerminator()->eraseOperand(result);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (auto [before, after] : llvm::zip(others(map->getResults()), rest.getOutputs()))
    before.replaceAllUsesWith(after);
}

/// What the map makes of the maximum, which is its block's argument from here on.
Block &takeMaximum(MapOp last) {
  Block &made = last.getBody().front();
  Operation *maximum = findRowMaxima(last)->op, *magnitude = maximum->getOperand(0).getDefiningOp();
  maximum->replaceAllUsesWith(ValueRange{made.getArgument(0)});
  maximum->erase();
  magnitude->erase();
  return made;
}

/// Which values of the manifest a map's results are.
SmallVector<int64_t> getValues(MapOp map) {
  auto known = map->getAttrOfType<DenseI64ArrayAttr>(kValuesAttr);
  return known ? SmallVector<int64_t>(known.asArrayRef())
               : SmallVector<int64_t>(map.getNumResults(), -1);
}

/// One reduce in place of the maps of chains whose x is one value. What the last ones make of the
/// maximum is its finish.
void replace(ArrayRef<Chain> chains) {
  SmallVector<Block *> made;
  SmallVector<Type> types;
  SmallVector<int64_t> values;
  const Chain *foremost = chains.begin();
  for (const Chain &chain : chains) {
    MapOp last = chain.last;
    made.push_back(&takeMaximum(last));
    llvm::append_range(types, last.getResultTypes());
    llvm::append_range(values, getValues(last));
    if (last->isBeforeInBlock(foremost->last))
      foremost = &chain;
  }
  MapOp named = foremost->last;
  OpBuilder builder(named);
  auto reduce = makeReduce(
      builder, named.getLoc(), named.getLabel(), {}, foremost->x, types,
      [](Scalars &s, ValueRange e) { return SmallVector<Value>{s.absolute(e[0])}; },
      [&](Scalars &s, ValueRange largest) {
        SmallVector<Value> left;
        for (Block *block : made)
          llvm::append_range(left, s.inlined(*block, largest));
        return left;
      });
  reduce->setDiscardableAttrs(named->getDiscardableAttrDictionary());
  reduce->setAttr(kMaximumAttr, builder.getUnitAttr());
  reduce->setAttr(kValuesAttr, builder.getDenseI64ArrayAttr(values));
  ValueRange left = reduce.getResults();
  for (const Chain &chain : chains) {
    MapOp last = chain.last, first = chain.first;
    last->replaceAllUsesWith(left.take_front(last.getNumResults()));
    left = left.drop_front(last.getNumResults());
    last->erase();
    for (MapOp map : llvm::reverse(chain.between))
      map->erase();
    if (first.getNumResults() > 1)
      leaveOut(first, chain.result);
    first->erase();
  }
}

/// Whether a kernel that finds the maximum of one chain finds that of another, too, and not by the
/// same maps, of which one chain may have more.
bool rideTogether(const Chain &chain, const Chain &other) {
  return getBeforeWidening(chain.x) == getBeforeWidening(other.x) && chain.last != other.last;
}

void rideMaxima(GraphOp graph) {
  SmallVector<Chain> chains;
  for (auto map : graph.getBody().front().getOps<MapOp>())
    if (std::optional<Chain> chain = findChain(map))
      chains.push_back(*chain);
  if (chains.empty())
    return;
  std::vector<KernelGroup> groups = groupOperations(graph, /*fuse=*/true);
  llvm::MapVector<const KernelGroup *, SmallVector<Chain>> riders;
  for (const Chain &chain : chains) {
    auto group = llvm::find_if(
        groups, [&](const KernelGroup &candidate) { return isOfProduct(chain, candidate); });
    if (group == groups.end())
      continue;
    SmallVector<Chain> &of = riders[&*group];
    if (llvm::all_of(of, [&](const Chain &other) { return rideTogether(chain, other); }))
      of.push_back(chain);
  }
  for (const auto &[group, of] : riders)
    replace(of);
}

struct RideMaximaPass : halftone::ir::impl::RideMaximaBase<RideMaximaPass> {
  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>())
      if (graph.getName() != kDiagnosis)
        rideMaxima(graph);
  }
};

} // namespace
} // namespace halftone::ir
