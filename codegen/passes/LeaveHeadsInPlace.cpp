// SPDX-License-Identifier: Apache-2.0
// Attention's kernels by warp groups read heads where they lie, behind the times, and store them
// there, rounded: no kernel moves them (docs/decisions/0035).
#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"
#include "codegen/passes/Passes.h"
#include "codegen/plan/AssumedSizes.h"
#include "codegen/plan/Chips.h"
#include "codegen/skeletons/KernelGroup.h"
#include "mlir/IR/AffineMap.h"

namespace halftone::ir {
#define GEN_PASS_DEF_LEAVEHEADSINPLACE
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// Fewer queries or keys leave the tiles of warp groups empty.
constexpr int64_t kFewestTimes = 64;

/// The map that moves one operand's elements and nothing else, or null.
AffineMap getMove(Operation *op) {
  if (!isa_and_nonnull<MapOp>(op) || !movesElements(op))
    return {};
  AccessAttr read = cast<MapOp>(op).getOperandAccesses()[0];
  bool isPlain = read.getKind() == AccessKind::General && !read.getWhere() && read.isOfAxes() &&
                 read.getMap().getValue().isPermutation();
  return isPlain ? read.getMap().getValue() : AffineMap();
}

/// Whether a tensor becomes `moved` by moving its heads before the times.
bool movesHeads(AffineMap map, Value lies, Value moved) {
  auto access =
      AccessAttr::get(lies.getContext(), AccessKind::Lhs, 0, AffineMapAttr::get(map), {}, {});
  TensorType type = withHeadsMoved(access, tensor(lies));
  return type && type.hasSameDims(tensor(moved));
}

bool isJoined(Operation *op) { return isa<ContractOp>(op) && op->hasAttr(kJoinedAttr); }

class Products {
public:
  Products(GraphOp graph, const AssumedSizes &sizes) : graph(graph), sizes(sizes) {}

  /// Whether some heads need not be moved.
  bool find() {
    for (auto product : graph.getBody().front().getOps<ContractOp>()) {
      if (!isJoined(product) || !isWorth(product))
        continue;
      for (Value operand : product->getOperands())
        if (isReadInPlace(operand))
          read.insert(operand.getDefiningOp());
      if (MapOp back = findMoveBack(product))
        stored.push_back({product, back});
    }
    return !read.empty() || !stored.empty();
  }

  void mark() {
    auto unit = UnitAttr::get(graph.getContext());
    for (Operation *move : read)
      move->setAttr(kInPlaceAttr, unit);
    for (auto [product, back] : stored) {
      join(product, back);
      if (CastOp rounding = findRounding(back))
        join(product, roundBeforeView(back, rounding));
    }
  }

private:
  /// By the times of the rows; columns are times where they are a symbol, or else of a head.
  bool isWorth(ContractOp product) {
    ArrayRef<Attribute> matrix = product.getType().getDims().take_back(2);
    auto isLong = [&](Attribute dim) {
      auto symbol = dyn_cast<StringAttr>(dim);
      int64_t times =
          symbol ? assumedSize(sizes, symbol.getValue()) : cast<IntegerAttr>(dim).getInt();
      return times >= kFewestTimes;
    };
    return isLong(matrix.front()) && (isa<IntegerAttr>(matrix.back()) || isLong(matrix.back()));
  }

  /// Tensor copies want what kernels stored, at a multiple of 16 bytes.
  bool isReadInPlace(Value operand) {
    Operation *move = operand.getDefiningOp();
    AffineMap map = getMove(move);
    if (!map || !llvm::all_of(move->getUsers(), isJoined))
      return false;
    Value source = move->getOperand(0);
    Operation *producer = getViewed(source).getDefiningOp();
    return isa<KernelForm>(producer) && !isInlined(producer) && movesHeads(map, source, operand);
  }

  MapOp findMoveBack(ContractOp product) {
    Value sums = product.getResult();
    Operation *move = sums.hasOneUse() ? *sums.user_begin() : nullptr;
    AffineMap map = getMove(move);
    bool fits = map && getPhase(move) == getPhase(product) && !isInlined(move) &&
                movesHeads(inversePermutation(map), move->getResult(0), sums);
    return fits ? cast<MapOp>(move) : MapOp();
  }

  /// The one rounding of the one view of what was moved, where it is to nearest in 16 bits.
  CastOp findRounding(MapOp back) {
    Value moved = back->getResult(0);
    auto view = moved.hasOneUse() ? dyn_cast<ViewOp>(*moved.user_begin()) : ViewOp();
    if (!view || !view->hasOneUse() || view.getParts() != 0)
      return {};
    auto rounding = dyn_cast<CastOp>(*view->user_begin());
    if (!rounding || isInlined(rounding) || getPhase(rounding) != getPhase(back))
      return {};
    Encoding to = rounding.getEncoding();
    bool isPlain = (to.element == Element::bf16 || to.element == Element::f16) && !to.saturate &&
                   to.rounding == encoding::Rounding::nearest_even;
    return isPlain ? rounding : CastOp();
  }

  /// What reads the rounded view reads a view of what is rounded.
  static CastOp roundBeforeView(MapOp back, CastOp rounding) {
    OpBuilder builder(back->getContext());
    builder.setInsertionPointAfter(back);
    Operation *view = rounding.getX().getDefiningOp();
    auto earlier =
        CastOp::create(builder, rounding.getLoc(), back->getResult(0), rounding.getEncoding(), "");
    earlier->setDiscardableAttrs(rounding->getDiscardableAttrDictionary());
    Value seen = ViewOp::create(builder, view->getLoc(), rounding.getType(), earlier.getResult());
    seen.getDefiningOp()->setDiscardableAttrs(view->getDiscardableAttrDictionary());
    rounding.replaceAllUsesWith(seen);
    rounding.erase();
    view->erase();
    return earlier;
  }

  /// As part of the product's kernel.
  static void join(ContractOp product, Operation *op) {
    for (StringRef name : {StringRef(kJoinedAttr), StringRef(kJoinedByAttr)})
      op->setAttr(name, product->getAttr(name));
    op->setAttr(kInPlaceAttr, UnitAttr::get(op->getContext()));
  }

  GraphOp graph;
  const AssumedSizes &sizes;
  llvm::SetVector<Operation *> read;
  SmallVector<std::pair<ContractOp, MapOp>> stored;
};

struct LeaveHeadsInPlacePass : halftone::ir::impl::LeaveHeadsInPlaceBase<LeaveHeadsInPlacePass> {
  using LeaveHeadsInPlaceBase::LeaveHeadsInPlaceBase;

  void runOnOperation() override {
    AssumedSizes sizes;
    if (failed(readAssumedSizes(getOperation(), assume, sizes)))
      return signalPassFailure();
    SmallVector<StringRef> able;
    llvm::copy_if(chips, std::back_inserter(able), [](StringRef name) {
      const Chip *chip = findChip(name);
      return chip && chip->warpgroupOperations > 0;
    });
    if (able.empty())
      return;
    for (auto graph : getOperation().getOps<GraphOp>()) {
      Products products(graph, sizes);
      if (!products.find())
        continue;
      if (able.size() == chips.size())
        products.mark();
      else
        getOperation()->setAttr(kChipsInPlaceAttr, Builder(&getContext()).getStrArrayAttr(able));
    }
  }
};

} // namespace
} // namespace halftone::ir
