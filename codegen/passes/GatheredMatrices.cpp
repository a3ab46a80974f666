// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/GatheredMatrices.h"

#include "codegen/ir/GatheredLines.h"
#include "codegen/passes/Passes.h"
#include "codegen/skeletons/KernelGroup.h"
#include "halftone/manifest/kernels.hpp"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"

namespace halftone::ir {
#define GEN_PASS_DEF_GATHERMATRICES
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {

/// Whether the map leaves its one operand's elements as they are, each where another one was.
static bool onlyMoves(MapOp map) {
  Block &body = map.getBody().front();
  if (map.getInputs().size() != 1 || map.getNumResults() != 1 || !map.getReads() ||
      &body.front() != body.getTerminator() ||
      body.getTerminator()->getOperand(0) != body.getArgument(0))
    return false;
  AccessAttr read = map.getOperandAccesses()[0];
  return read.getKind() == AccessKind::General && read.isOfAxes() &&
         map.getResultAccesses()[0].getKind() == AccessKind::Full;
}

/// Whether the view makes one dimension, a number, of the last ones of x and leaves the others.
static bool joinsLast(ViewOp view) {
  ArrayRef<Attribute> before = tensor(view.getX()).getDims(), after = view.getType().getDims();
  size_t same = after.size() - 1;
  return view.getParts() == 0 && !after.empty() && before.size() > same &&
         before.take_front(same) == after.drop_back() && getStaticProduct(before.drop_front(same));
}

/// For each dimension of the matrix its axis among those of the contraction.
static SmallVector<AffineExpr> axesOfMatrix(ContractOp op, bool isLhs) {
  auto axis = [&](size_t number) {
    return getAffineDimExpr(static_cast<unsigned>(number), op.getContext());
  };
  size_t batch = op.getBatchAxes(), domain = op.getType().getRank();
  SmallVector<AffineExpr> axes;
  for (size_t i = 0, count = isLhs ? domain - 1 : batch; i < count; ++i)
    axes.push_back(axis(i));
  for (size_t k = 0; k < op.getReduction().size(); ++k)
    axes.push_back(axis(domain + k));
  if (!isLhs)
    axes.push_back(axis(domain - 1));
  return axes;
}

std::optional<GatheredMatrix> findGathered(ContractOp op, bool isLhs) {
  if (isLhs ? op.getTransposeLhs() : op.getTransposeRhs())
    return std::nullopt;
  auto view = (isLhs ? op.getLhs() : op.getRhs()).getDefiningOp<ViewOp>();
  auto map = view ? view.getX().getDefiningOp<MapOp>() : MapOp();
  if (!map || !joinsLast(view) || !onlyMoves(map))
    return std::nullopt;
  // An axis of the matrix for each of the map's, the last of them taken apart.
  SmallVector<AffineExpr> axes = axesOfMatrix(op, isLhs);
  AffineExpr last = axes.pop_back_val();
  ArrayRef<Attribute> joined = tensor(view.getX()).getDims().drop_front(axes.size());
  for (size_t i = 0; i < joined.size(); ++i) {
    AffineExpr at = last.floorDiv(*getStaticProduct(joined.drop_front(i + 1)));
    axes.push_back(i == 0 ? at : at % cast<IntegerAttr>(joined[i]).getInt());
  }
  auto count = static_cast<unsigned>(op.getType().getRank() + op.getReduction().size());
  AccessAttr read = map.getOperandAccesses()[0];
  MLIRContext *context = op.getContext();
  IntegerSetAttr where;
  if (read.getWhere()) {
    IntegerSet set = read.getWhere().getValue();
    where = IntegerSetAttr::get(set.replaceDimsAndSymbols(axes, {}, count, 0));
  }
  AffineMap moved = read.getMap().getValue().replaceDimsAndSymbols(axes, {}, count, 0);
  // The contraction widens what it reads by itself.
  Value source = getBeforeWidening(map.getInputs()[0]);
  return GatheredMatrix{source,
                        AccessAttr::get(context, isLhs ? AccessKind::Lhs : AccessKind::Rhs, 0,
                                        AffineMapAttr::get(moved), where, {}),
                        map, view};
}

namespace {

struct GatherMatricesPass : halftone::ir::impl::GatherMatricesBase<GatherMatricesPass> {
  using GatherMatricesBase::GatherMatricesBase;

  void runOnOperation() override {
    bool areAlike = true;
    for (auto graph : getOperation().getOps<GraphOp>()) {
      for (auto op : graph.getBody().front().getOps<ContractOp>())
        for (bool isLhs : {true, false}) {
          std::optional<GatheredMatrix> matrix = findGathered(op, isLhs);
          if (!matrix || (graph.getName() == kDiagnosis && isShown(*matrix)))
            continue;
          bool onCpu = canBeGathered(*matrix);
          bool isMarked = forChips ? canBeGatheredByChips(*matrix) : onCpu;
          areAlike &= isMarked == onCpu;
          if (!isMarked)
            continue;
          for (Operation *part : {matrix->map.getOperation(), matrix->view.getOperation()})
            part->setAttr(kGatheredAttr, UnitAttr::get(&getContext()));
        }
    }
    if (!areAlike)
      getOperation()->setAttr(kCpuApartAttr, UnitAttr::get(&getContext()));
  }

private:
  /// Whether a diagnosis shows it: all but what stays inside of a layer or a gradient.
  static bool isShown(const GatheredMatrix &matrix) {
    return !matrix.map->hasAttr(kInternalAttr) || !matrix.view->hasAttr(kInternalAttr);
  }

  /// Floats of lines whose number of neighbours is known.
  static bool hasLines(ContractOp op, const GatheredMatrix &matrix) {
    return matrix.map->hasOneUse() && getPhase(matrix.map) == getPhase(op) && !op.getStart() &&
           isa<FloatType>(tensor(matrix.source).getElementType()) &&
           tensor(matrix.source).getColumns();
  }

  /// By CPUs, by every product that reads the matrix.
  static bool canBeGathered(GatheredMatrix matrix) {
    return llvm::all_of(matrix.view->getUsers(), [&](Operation *user) {
      auto op = dyn_cast<ContractOp>(user);
      if (!op || op.getLhs() == op.getRhs())
        return false;
      bool isLhs = op.getLhs() == matrix.view->getResult(0);
      std::optional<GatheredMatrix> read = findGathered(op, isLhs);
      return read && hasLines(op, *read) && hasTaps(op, read->access, isLhs) &&
             !wouldLoseTiles(op, read->source);
    });
  }

  /// Which CPUs read one behind the other.
  static bool hasTaps(ContractOp op, AccessAttr access, bool isLhs) {
    SmallVector<Attribute> reduction = op.getReduction();
    auto domain = static_cast<unsigned>(op.getType().getRank());
    Attribute length = isLhs ? reduction.front() : op.getType().getDims().back();
    return (!isLhs || reduction.size() == 1) && isa<IntegerAttr>(length) &&
           findTapOfLines(access, isLhs ? domain : domain - 1, cast<IntegerAttr>(length).getInt());
  }

  /// Of CPUs: AMX and AVX512-BF16 multiply bf16 alone, which windows of 8 bits are once they are
  /// widened in memory.
  static bool wouldLoseTiles(ContractOp op, Value source) {
    auto isBf16 = [](Value value) {
      return elementOf(tensor(value).getElementType()) == Element::bf16;
    };
    return isBf16(op.getLhs()) && isBf16(op.getRhs()) && !isBf16(source) &&
           accumulationOf(op) != Accumulation::Ordered;
  }

  /// Where every product that reads the matrix can gather it, elements are taken more than once or
  /// some are left out; what is only turned is read faster as it lies.
  static bool canBeGatheredByChips(GatheredMatrix matrix) {
    return !isPermutation(tensor(matrix.view.getX()).getDims(), tensor(matrix.source).getDims()) &&
           llvm::all_of(matrix.view->getUsers(), [&](Operation *user) {
             auto op = dyn_cast<ContractOp>(user);
             return op && chipsGather(op, op.getLhs() == matrix.view.getResult());
           });
  }

  static bool chipsGather(ContractOp op, bool isLhs) {
    std::optional<GatheredMatrix> matrix = findGathered(op, isLhs);
    SmallVector<Attribute> reduction = op.getReduction();
    if (!matrix || op.getLhs() == op.getRhs() || !hasLines(op, *matrix) ||
        isGathered((isLhs ? op.getRhs() : op.getLhs()).getDefiningOp()))
      return false;
    Axes axes{op.getType().getDims(), reduction};
    TensorType source = tensor(matrix->source);
    std::optional<GatheredLines> lines =
        findGatheredLines(matrix->access, axes, static_cast<unsigned>(op.getBatchAxes()), source);
    return lines && llvm::all_of(extentsOfImage(*lines, axes, source), isCounted);
  }

  /// In the 32 bits that chips have for it; what symbols stand for, the runtime looks at.
  static bool isCounted(ArrayRef<Attribute> extents) {
    return getStaticProduct(extents).value_or(0) <= manifest::kMostOfImage;
  }

  static bool isPermutation(ArrayRef<Attribute> dims, ArrayRef<Attribute> others) {
    return dims.size() == others.size() &&
           std::is_permutation(dims.begin(), dims.end(), others.begin());
  }
};

} // namespace
} // namespace halftone::ir
