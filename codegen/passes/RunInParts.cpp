// SPDX-License-Identifier: Apache-2.0
// Finds batched products around a map over rows, as attention's, and makes of them what is done for
// one element of the batch, in a section that runs once for each (docs/decisions/0026).
#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/RowProducts.h"
#include "codegen/skeletons/KernelGroup.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/MapVector.h"

namespace halftone::ir {
#define GEN_PASS_DEF_RUNINPARTS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// How a member reads one of its operands in a part: of `parts` leading dimensions the element at
/// hand, by `access` where the member spells it.
struct Reading {
  int64_t parts = 0;
  AccessAttr access = {};
};

/// What lies around one map over rows.
class RowsSection {
public:
  explicit RowsSection(MapOp rows) : around(rows) {}

  /// Whether all of it can be done part by part.
  bool find() {
    return around.find() &&
           llvm::all_of(around.members, [&](Operation *op) { return canBePart(op); });
  }

  void cut(StringRef name) {
    around.gather();
    OpBuilder builder(around.edge(true));
    for (auto &[op, readings] : readingsOf) {
      cutOperands(builder, op, readings);
      op->setAttr(kSectionAttr, builder.getStringAttr(name));
      op->setAttr(kPartsAttr, builder.getArrayAttr(dims));
    }
    builder.setInsertionPointAfter(around.edge(false));
    for (auto &[op, readings] : readingsOf)
      cutResults(builder, op);
  }

private:
  static bool isOfWhole(Operation &scalar) {
    return isa<ElementIndexOp, QuarterIndexOp, DrawOp>(scalar);
  }

  bool canBePart(Operation *op) {
    if (auto map = dyn_cast<MapOp>(op))
      for (Operation &scalar : map.getBody().front()) {
        auto axis = dyn_cast<AxisIndexOp>(scalar);
        if (isOfWhole(scalar) || (axis && static_cast<int64_t>(axis.getAxis()) < axes))
          return false;
      }
    SmallVector<Reading> readings;
    for (OpOperand &operand : op->getOpOperands()) {
      std::optional<Reading> reading = readingOf(operand);
      if (!reading)
        return false;
      readings.push_back(*reading);
    }
    readingsOf[op] = std::move(readings);
    return llvm::all_of(cast<KernelForm>(op).getResultAccesses(),
                        [](AccessAttr access) { return access.getKind() == AccessKind::Full; });
  }

  /// Nothing where a part cannot read so.
  std::optional<Reading> readingOf(OpOperand &operand) {
    auto form = cast<KernelForm>(operand.getOwner());
    Value value = operand.get();
    AccessAttr access = form.getOperandAccesses()[operand.getOperandNumber()];
    ArrayRef<Attribute> shape = tensor(value).getDims();
    auto leads = [&](int64_t count) {
      return static_cast<int64_t>(shape.size()) >= count &&
             shape.take_front(count) == ArrayRef<Attribute>(dims).take_front(count);
    };
    switch (access.getKind()) {
    case AccessKind::Full:
    case AccessKind::Row:
    case AccessKind::Lhs:
    case AccessKind::Rhs:
      if (!leads(axes) ||
          (!around.members.contains(value.getDefiningOp()) && isComputedWhereRead(value)))
        return std::nullopt;
      return Reading{axes, access};
    case AccessKind::Column:
    case AccessKind::Scalar:
      return Reading{0, access};
    case AccessKind::General:
      return isComputedWhereRead(value) ? std::nullopt : general(access, value, leads);
    default:
      return std::nullopt;
    }
  }

  static bool isComputedWhereRead(Value value) { return isInlined(value.getDefiningOp()); }

  /// Leading dimensions are those of the parts, in order; behind them none is.
  std::optional<Reading> general(AccessAttr access, Value value,
                                 llvm::function_ref<bool(int64_t)> leads) {
    if (access.getWhere() || !access.isOfAxes())
      return std::nullopt;
    AffineMap map = access.getMap().getValue();
    MLIRContext *context = around.rows.getContext();
    int64_t parts = 0;
    while (parts < std::min<int64_t>(axes, map.getNumResults()) &&
           map.getResult(parts) == getAffineDimExpr(parts, context))
      ++parts;
    for (AffineExpr expression : map.getResults().drop_front(parts))
      for (int64_t axis = 0; axis < axes; ++axis)
        if (expression.isFunctionOfDim(axis))
          return std::nullopt;
    if (!leads(parts))
      return std::nullopt;
    SmallVector<AffineExpr> axesOfPart(axes, getAffineConstantExpr(0, context));
    int64_t rank = map.getNumDims() - axes;
    for (int64_t axis = 0; axis < rank; ++axis)
      axesOfPart.push_back(getAffineDimExpr(axis, context));
    SmallVector<AffineExpr> results;
    for (AffineExpr expression : map.getResults().drop_front(parts))
      results.push_back(expression.replaceDims(axesOfPart));
    return Reading{parts, recogniseAccess(AffineMap::get(rank, 0, results, context),
                                          {around.rows.getDomain().getDims().drop_front(axes), {}},
                                          withoutParts(tensor(value), parts))};
  }

  static TensorType withoutParts(TensorType type, int64_t parts) {
    return type.withDims(type.getDims().drop_front(parts));
  }

  void cutOperands(OpBuilder &builder, Operation *op, ArrayRef<Reading> readings) {
    SmallVector<Attribute> accesses;
    for (auto [operand, reading] : llvm::zip(op->getOpOperands(), readings)) {
      accesses.push_back(reading.access);
      Value value = operand.get();
      if (reading.parts == 0 || around.members.contains(value.getDefiningOp()))
        continue;
      Value &part = partsOf[{value, reading.parts}];
      if (!part)
        part = ViewOp::create(builder, op->getLoc(), withoutParts(tensor(value), reading.parts),
                              value, reading.parts);
      operand.set(part);
    }
    if (auto map = dyn_cast<MapOp>(op); map && map.getOver()) {
      map.setOverAttr(builder.getArrayAttr(map.getOver()->getValue().drop_front(axes)));
      map.setReadsAttr(builder.getArrayAttr(accesses));
    }
    if (auto contract = dyn_cast<ContractOp>(op))
      contract.setBatchAxes(0);
    op->walk([&](AxisIndexOp axis) { axis.setAxis(axis.getAxis() - axes); });
  }

  void cutResults(OpBuilder &builder, Operation *op) {
    for (Value result : op->getResults()) {
      TensorType all = tensor(result);
      result.setType(withoutParts(all, axes));
      if (!around.leaving.contains(op))
        continue;
      auto view = ViewOp::create(builder, op->getLoc(), all, result, axes);
      result.replaceAllUsesExcept(view, view);
    }
  }

  RowProducts around;
  const int64_t &axes = around.axes;
  const SmallVector<Attribute> &dims = around.dims;
  llvm::MapVector<Operation *, SmallVector<Reading>> readingsOf;
  llvm::MapVector<std::pair<Value, int64_t>, Value> partsOf;
};

struct RunInPartsPass : halftone::ir::impl::RunInPartsBase<RunInPartsPass> {
  using RunInPartsBase::RunInPartsBase;

  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>()) {
      if (graph.getName() == kDiagnosis)
        continue;
      int64_t count = 0;
      for (auto map : llvm::to_vector(graph.getBody().front().getOps<MapOp>())) {
        RowsSection section(map);
        if (map.getSkeleton() != Skeleton::Row || !section.find())
          continue;
        if (forChips)
          return getOperation()->setAttr(kCpuApartAttr, UnitAttr::get(&getContext()));
        section.cut((getLayer(map) + ":" + map.getLabel() + "#" + Twine(count++)).str());
      }
    }
  }
};

} // namespace
} // namespace halftone::ir
