// SPDX-License-Identifier: Apache-2.0
// Columns that a kernel would only copy stay where they are (docs/decisions/0051): what it would
// put side by side its producers store in their columns of the whole, and of what it would take out
// of rows readers read the columns where they lie.
#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"
#include "codegen/ir/GatheredLines.h"
#include "codegen/passes/CopiedColumns.h"
#include "codegen/passes/Lifetimes.h"
#include "codegen/passes/Passes.h"
#include "codegen/skeletons/Skeletons.h"
#include "mlir/IR/AffineMap.h"

namespace halftone::ir {
#define GEN_PASS_DEF_LEAVEPARTSINPLACE
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// Whether columns of wider tensors are read and stored by its skeleton as whole ones are, and no
/// section cuts what they lie in.
bool handlesColumns(KernelOp kernel) {
  return llvm::is_contained(skeletons::of(kernel).traits().stores, AccessKind::Window) &&
         !kernel->hasAttr(kSectionAttr);
}

/// Whether elements that lie one after another, as in one row, would become rows that fill no
/// vector.
bool wouldFillNoVector(KernelOp kernel) {
  constexpr int64_t kLanes = 16;
  return skeletons::of(kernel).isOneRow(kernel) && *kernel.getColumns() < kLanes;
}

/// Whether the last dimension has every index that the map gives it: an axis, or an axis that is
/// moved by some columns.
bool staysInColumns(AffineMap map, const Axes &axes, TensorType tensor) {
  AffineExpr last = map.getResults().back();
  int64_t from = 0;
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(last); sum && sum.getKind() == AffineExprKind::Add)
    if (auto constant = dyn_cast<AffineConstantExpr>(sum.getRHS())) {
      from = constant.getValue();
      last = sum.getLHS();
    }
  auto axis = dyn_cast<AffineDimExpr>(last);
  auto length = axis ? dyn_cast<IntegerAttr>(axes.extent(axis.getPosition())) : IntegerAttr();
  return length && from >= 0 && from + length.getInt() <= *tensor.getColumns();
}

/// How a kernel that reads a tensor reads the same elements of a wider one, whose columns from
/// `offset` on they are; null where it cannot, or might read neighbours in place of zeros.
AccessAttr inWider(OpOperand &use, int64_t offset, TensorType wide) {
  auto kernel = dyn_cast<KernelOp>(use.getOwner());
  if (!kernel || !handlesColumns(kernel))
    return {};
  AccessAttr access = kernel.getInputAccess(use.getOperandNumber());
  if (isScales(access.getKind()))
    return {};
  TensorType part = tensor(use.get()), domain = kernel.getDomainType();
  MLIRContext *context = kernel.getContext();
  auto window = [&](int64_t from) {
    return AccessAttr::get(context, AccessKind::Window, from + offset);
  };
  if (access.getKind() == AccessKind::Full)
    return part.hasSameDims(domain) && !wouldFillNoVector(kernel) ? window(0) : AccessAttr();
  if (access.getKind() == AccessKind::Window) {
    bool isInside = domain.getColumns() && access.getOffset() >= 0 &&
                    access.getOffset() + *domain.getColumns() <= *part.getColumns();
    return isInside ? window(access.getOffset()) : AccessAttr();
  }
  bool isGathered = access.getMap() && isMatrix(access.getKind()); // by a contraction
  if (access.getKind() != AccessKind::General && !isGathered)
    return {};
  AffineMap map = access.getMap().getValue();
  Axes axes = axesOf(kernel);
  SmallVector<AffineExpr> at(map.getResults());
  at.back() = at.back() + offset;
  AffineMap moved = AffineMap::get(map.getNumDims(), map.getNumSymbols(), at, context);
  if (isGathered) {
    auto wider = AccessAttr::get(context, access.getKind(), 0, AffineMapAttr::get(moved),
                                 access.getWhere(), access.getIndices(), access.getLengths());
    auto fits = [&](AccessAttr which, TensorType source) {
      return findGatheredLines(which, axes, kernel.getBatchDims().size(), source).has_value();
    };
    return fits(access, part) && fits(wider, wide) ? wider : AccessAttr();
  }
  if (!staysInColumns(map, axes, part))
    return {};
  if (!access.getWhere() && access.isOfAxes())
    return recogniseAccess(moved, axes, wide);
  return AccessAttr::get(context, AccessKind::General, 0, AffineMapAttr::get(moved),
                         access.getWhere(), access.getIndices(), access.getLengths());
}

/// Whether all that reads the value, but for `copy`, can read it as columns of a wider one.
bool areReadInWider(Value value, int64_t offset, TensorType wide, KernelOp copy) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    return use.getOwner() == copy || isa<WholeOp, PartOp>(use.getOwner()) ||
           inWider(use, offset, wide);
  });
}

void readInWider(Value value, int64_t offset, Value wide, TensorType type, KernelOp copy) {
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
    if (auto part = dyn_cast<PartOp>(use.getOwner()))
      part.setOffset(part.getOffset() + offset);
    auto kernel = dyn_cast<KernelOp>(use.getOwner());
    if (kernel == copy)
      continue;
    if (kernel) {
      SmallVector<Attribute> accesses(kernel.getInputAccesses().getValue());
      accesses[use.getOperandNumber()] = inWider(use, offset, type);
      kernel.setInputAccessesAttr(ArrayAttr::get(kernel.getContext(), accesses));
    }
    use.set(wide);
  }
}

/// Whether views and kernels alone read the value, none of which goes on in its place.
bool isReadByKernels(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<ViewOp>(user))
      return isReadByKernels(user->getResult(0));
    auto kernel = dyn_cast<KernelOp>(user);
    return kernel ? kernel.getInputAccess(use.getOperandNumber()).getKind() != AccessKind::Start
                  : isa<WholeOp, PartOp>(user);
  });
}

/// Which value of the model `there` is, as the kernel's result was.
void keepValue(KernelOp kernel, unsigned result, Operation *there) {
  if (auto values = kernel->getAttrOfType<DenseI64ArrayAttr>(kValuesAttr))
    there->setAttr(kValuesAttr, DenseI64ArrayAttr::get(kernel.getContext(), values[result]));
}

class Parts {
public:
  Parts(GraphOp graph, const AssumedSizes &sizes) : graph(graph), sizes(sizes) {}

  void run() {
    for (auto kernel : llvm::make_early_inc_range(graph.getBody().front().getOps<KernelOp>()))
      if (!kernel->hasAttr(kSectionAttr))
        visit(kernel);
  }

private:
  void visit(KernelOp kernel) {
    for (unsigned result = kernel.getStored().size(); result-- > 0;) {
      std::optional<CopiedRow> row = findCopiedRow(kernel, result);
      if (!row || !isReadByKernels(kernel.getStored()[result]))
        continue;
      if (row->parts.size() > 1 && copiesAlone(kernel))
        return putSideBySide(kernel, *row);
      if (row->parts.size() > 1 || !takeOut(kernel, result, *row))
        continue;
      if (kernel->getNumResults() == 1)
        return kernel.erase();
      kernel = dropResult(kernel, result);
    }
  }

  //===--- Columns taken out of rows ---===//

  /// Whether nothing reads the result from there on.
  bool takeOut(KernelOp copy, unsigned result, const CopiedRow &row) {
    int64_t offset = row.parts.front().from;
    Value source = copy.getInputs()[row.parts.front().input], part = copy.getStored()[result];
    Value lies = getViewed(source);
    TensorType wide = tensor(source);
    bool staysThere = isReadByKernels(lies) && isa<KernelOp, WholeOp>(lies.getDefiningOp());
    if (!staysThere || isSection(lies) || wide.getColumns() == tensor(part).getColumns() ||
        !areReadInWider(part, offset, wide, copy))
      return false;
    Lifetimes before(graph, sizes), after = before;
    after.find(source)->last = std::max(after.find(source)->last, after.find(part)->last);
    after.erase(part);
    if (after.countBytes() > before.countBytes())
      return false;
    readInWider(part, offset, source, wide, copy);
    OpBuilder builder(copy);
    auto there = PartOp::create(builder, copy.getLoc(), part.getType(), source, offset);
    keepValue(copy, result, there);
    return true;
  }

  static bool isSection(Value value) { return value.getDefiningOp()->hasAttr(kSectionAttr); }

  //===--- Parts side by side ---===//

  /// All parts that can be and for which there is memory; the others a kernel copies still, where
  /// they are neighbours.
  void putSideBySide(KernelOp copy, const CopiedRow &row) {
    TensorType wide = tensor(copy.getStored()[0]);
    ArrayRef<CopiedColumns> rest;
    std::optional<SmallVector<CopiedColumns>> placed = choose(copy, row, rest);
    if (!placed)
      return;
    SmallVector<Value> parts;
    for (const CopiedColumns &part : *placed) {
      parts.push_back(copy.getInputs()[part.input]);
      move(parts.back(), part.begin, wide, copy);
    }
    OpBuilder builder(copy);
    if (!rest.empty())
      parts.push_back(copyColumns(copy, rest, row.rounds).getStored()[0]);
    auto whole = WholeOp::create(builder, copy.getLoc(), wide, copy.getName(), parts);
    keepValue(copy, 0, whole);
    copy.getStored()[0].replaceAllUsesWith(whole);
    copy.erase();
  }

  /// Neighbours are left in `rest`, as few columns as can be; nothing where all would be.
  std::optional<SmallVector<CopiedColumns>> choose(KernelOp copy, const CopiedRow &row,
                                                   ArrayRef<CopiedColumns> &rest) {
    TensorType wide = tensor(copy.getStored()[0]);
    ArrayRef<CopiedColumns> all = row.parts;
    SmallVector<bool> canBe = llvm::map_to_vector(
        all, [&](const CopiedColumns &part) { return isStoredInPlace(copy, part, wide); });
    std::optional<SmallVector<CopiedColumns>> best;
    int64_t fewest = *wide.getColumns();
    for (size_t first = 0; first < all.size(); ++first)
      for (size_t last = first; last <= all.size(); ++last) {
        ArrayRef<CopiedColumns> left = all.slice(first, last - first);
        int64_t columns = left.empty() ? 0 : left.back().end - left.front().begin;
        SmallVector<CopiedColumns> placed(all.take_front(first));
        placed.append(all.begin() + last, all.end());
        bool areAble = llvm::all_of(llvm::seq(all.size()),
                                    [&](size_t i) { return canBe[i] || (first <= i && i < last); });
        if (columns >= fewest || !areAble || !savesMemory(copy, placed))
          continue;
        fewest = columns;
        rest = left;
        best = placed;
      }
    return best;
  }

  static bool isStoredInPlace(KernelOp copy, const CopiedColumns &part, TensorType wide) {
    Value value = copy.getInputs()[part.input];
    bool isAll = part.from == 0 && part.end - part.begin == tensor(value).getColumns();
    bool isOnce = llvm::count_if(copy.getInputs(), [&](Value v) { return v == value; }) == 1;
    return isAll && isOnce && canMove(value, part.begin, wide, copy);
  }

  /// Whether the value's kernel, or that of each of its parts, can store it in these columns, and
  /// all others read it there.
  static bool canMove(Value value, int64_t offset, TensorType wide, KernelOp copy) {
    if (!areReadInWider(value, offset, wide, copy))
      return false;
    if (auto whole = value.getDefiningOp<WholeOp>())
      return llvm::all_of(whole.getParts(),
                          [&](Value part) { return canMove(part, offset, wide, copy); });
    auto producer = value.getDefiningOp<KernelOp>();
    unsigned number = producer ? cast<OpResult>(value).getResultNumber() : 0;
    if (!producer || !handlesColumns(producer) || number >= producer.getStored().size())
      return false;
    auto goesOn = [](Attribute access) {
      return cast<AccessAttr>(access).getKind() == AccessKind::Start;
    };
    AccessKind kind = producer.getResultAccess(number).getKind();
    bool isRows = kind == AccessKind::Full && !wouldFillNoVector(producer) &&
                  tensor(value).hasSameDims(producer.getDomainType());
    return (isRows || kind == AccessKind::Window) &&
           llvm::none_of(producer.getInputAccesses(), goesOn);
  }

  static void move(Value value, int64_t offset, TensorType wide, KernelOp copy) {
    readInWider(value, offset, value, wide, copy);
    if (auto whole = value.getDefiningOp<WholeOp>()) {
      for (Value part : whole.getParts())
        move(part, offset, wide, copy);
    } else {
      auto producer = value.getDefiningOp<KernelOp>();
      unsigned number = cast<OpResult>(value).getResultNumber();
      SmallVector<Attribute> accesses(producer.getResultAccesses().getValue());
      accesses[number] = AccessAttr::get(copy.getContext(), AccessKind::Window,
                                         producer.getResultAccess(number).getOffset() + offset);
      producer.setResultAccessesAttr(ArrayAttr::get(copy.getContext(), accesses));
    }
    value.setType(wide);
  }

  /// Whether the slots take no more bytes than with a copy.
  bool savesMemory(KernelOp copy, ArrayRef<CopiedColumns> placed) {
    Lifetimes before(graph, sizes), after = before;
    Lifetimes::Span &whole = *after.find(copy.getStored()[0]);
    for (const CopiedColumns &part : placed) {
      const Lifetimes::Span &span = *after.find(copy.getInputs()[part.input]);
      whole.first = std::min(whole.first, span.first);
      whole.last = std::max(whole.last, span.last);
    }
    for (const CopiedColumns &part : placed)
      after.erase(copy.getInputs()[part.input]);
    return after.countBytes() <= before.countBytes();
  }

  GraphOp graph;
  const AssumedSizes &sizes;
};

struct LeavePartsInPlacePass : halftone::ir::impl::LeavePartsInPlaceBase<LeavePartsInPlacePass> {
  using LeavePartsInPlaceBase::LeavePartsInPlaceBase;

  void runOnOperation() override {
    AssumedSizes sizes;
    if (failed(readAssumedSizes(getOperation(), assume, sizes)))
      return signalPassFailure();
    for (auto graph : getOperation().getOps<GraphOp>())
      if (graph.getName() != kDiagnosis)
        Parts(graph, sizes).run();
  }
};

} // namespace
} // namespace halftone::ir
