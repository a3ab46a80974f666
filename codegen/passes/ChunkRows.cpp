// SPDX-License-Identifier: Apache-2.0
// Finds what lies between the product that makes a loss's logits and the gradients that leave them,
// and marks it as a section, which runs once per chunk of rows (docs/decisions/0024).
#include "codegen/ir/Forms.h"
#include "codegen/ir/Scalars.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/ScaledRounding.h"
#include "codegen/skeletons/KernelGroup.h"
#include "llvm/ADT/SetVector.h"

namespace halftone::ir {
#define GEN_PASS_DEF_CHUNKROWS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// One loss with chunk_rows.
class LossSection {
public:
  LossSection(MapOp loss, bool forChips) : loss(loss), forChips(forChips) {}

  LogicalResult build() {
    if (failed(findProduct(loss.getInputs().front())) || failed(findGradients()) ||
        failed(checkReaders()) || failed(checkRows()) || failed(checkOrder()))
      return failure();
    mark();
    return success();
  }

private:
  InFlightDiagnostic refuse() {
    return loss.emitError() << "loss '" << getLayer(loss)
                            << "' states chunk_rows, and cannot be computed in chunks: ";
  }

  /// In a chunk an element does not know its place among all rows, by which it is drawn (P48).
  LogicalResult refuseDraws() {
    return refuse() << "its logits or their gradient are rounded stochastically; round them to the "
                       "nearest, or leave chunk_rows out";
  }

  /// A scale is found from all rows before one of them is rounded (P54).
  LogicalResult refuseScales() {
    return refuse() << "its logits or their gradient are scaled; compute in bf16 there, or leave "
                       "chunk_rows out";
  }

  static bool draws(Operation *op) {
    auto map = dyn_cast<MapOp>(op);
    return map && !map.getBody().front().getOps<DrawOp>().empty();
  }

  LogicalResult refuseReaders() {
    return refuse()
           << "its logits are an output or read by others, too; make it their only reader, "
              "or leave chunk_rows out";
  }

  /// Past casts, which are of the section.
  Operation *pastCasts(Operation *op) {
    for (; isa<CastOp>(op); op = op->getOperand(0).getDefiningOp())
      members.insert(op);
    return op;
  }

  /// Whether it adds to what rows hold something that a column has for all of them, as a bias.
  static bool addsColumns(MapOp map) {
    return !map.getOver() && !map.getInputs().empty() &&
           llvm::all_of(map.getInputs().drop_front(), [](Value input) {
             return cast<TensorType>(input.getType()).getRank() == 1;
           });
  }

  /// From the logits, as they are read, back to the product.
  LogicalResult findProduct(Value logits) {
    Operation *op = pastCasts(logits.getDefiningOp());
    if (draws(op))
      return refuseDraws();
    if (isOfScaledRounding(op))
      return refuseScales();
    auto map = dyn_cast<MapOp>(op);
    if (map && addsColumns(map))
      op = pastCasts(map.getInputs().front().getDefiningOp());
    auto contract = dyn_cast<ContractOp>(op);
    if (!contract || contract.getBatchAxes() != 0 ||
        contract.getPass() != ContractionPass::Forward ||
        (map && getLayer(map) != getLayer(contract)))
      return refuse() << "its logits are not what a linear computes; make them so, or leave "
                         "chunk_rows out";
    if (map)
      members.insert(map);
    members.insert(contract);
    return success();
  }

  /// The gradient of the logits, and what reads that.
  LogicalResult findGradients() {
    members.insert(loss);
    for (Operation &op : *loss->getBlock()) {
      if (&op == loss.getOperation() || !op.hasAttr(kChunkRowsAttr) ||
          getLayer(&op) != getLayer(loss))
        continue;
      members.insert(&op);
      if (failed(findProduct(op.getOperand(0))) || failed(findContractions(op.getResult(0))))
        return failure();
    }
    return success();
  }

  LogicalResult findContractions(Value gradient) {
    for (Operation *user : gradient.getUsers()) {
      if (auto cast = dyn_cast<CastOp>(user)) {
        members.insert(cast);
        if (failed(findContractions(cast)))
          return failure();
        continue;
      }
      if (draws(user))
        return refuseDraws();
      if (isOfScaledRounding(user))
        return refuseScales();
      if (!isa<ContractOp>(user) && !isColumnSum(user))
        return refuseReaders();
      members.insert(user);
      gradients.insert(user);
    }
    return success();
  }

  /// Whether nothing but the losses of rows and the gradients leave the section.
  LogicalResult checkReaders() {
    for (Operation *op : members) {
      if (op == loss || gradients.contains(op))
        continue;
      for (Operation *user : op->getUsers())
        if (!members.contains(user))
          return refuseReaders();
    }
    return success();
  }

  /// Whether chunks can be cut from all that the section reads and writes.
  LogicalResult checkRows() {
    ArrayRef<Attribute> rows = cast<TensorType>(loss->getResult(0).getType()).getDims();
    auto symbol = rows.empty() ? StringAttr() : dyn_cast<StringAttr>(rows.front());
    auto isOfSymbol = [&](Attribute dim) {
      auto other = dyn_cast<StringAttr>(dim);
      return other && symbolicExtentOf(other.getValue()).name == symbol.getValue();
    };
    if (!symbol || !isOfSymbol(symbol) || llvm::any_of(rows.drop_front(), isOfSymbol))
      return refuse()
             << "its rows do not begin with a symbol of their own; give them one, or leave "
                "chunk_rows out";
    auto fits = [&](Value value) {
      ArrayRef<Attribute> dims = cast<TensorType>(value.getType()).getDims();
      return dims.empty() || !llvm::any_of(dims.drop_front(), isOfSymbol);
    };
    for (Operation *op : members)
      if (!llvm::all_of(op->getOperands(), fits) || !llvm::all_of(op->getResults(), fits))
        return refuse() << "what it reads does not lie row by row; leave chunk_rows out";
    return success();
  }

  /// Whether it is the gradient of a weight or a bias.
  static bool sumsRows(Operation *op) {
    auto contract = dyn_cast<ContractOp>(op);
    return !contract || contract.getTransposeLhs();
  }

  /// A chip's kernel adds what the chunks before have left to its own chunk's sum: no chain goes
  /// on.
  LogicalResult checkOrder() {
    auto isOrdered = [](Operation *op) { return accumulationOf(op) == Accumulation::Ordered; };
    for (Operation *op : gradients)
      if (forChips && sumsRows(op) &&
          (isOrdered(op) || (isa<ReduceOp>(op) && llvm::any_of(members, isOrdered))))
        return refuse() << "kernels for chips sum the weight's and the bias's gradient chunk by "
                           "chunk, which accumulate ordered does not allow; make the artifact with "
                           "--targets cpu, or leave chunk_rows out";
    return success();
  }

  void mark() {
    auto name = StringAttr::get(loss.getContext(), getLayer(loss));
    Attribute rows = loss->getAttr(kChunkRowsAttr);
    for (Operation *op : members) {
      for (Value operand : op->getOperands())
        hurry(operand.getDefiningOp());
      op->setAttr(kSectionAttr, name);
      op->setAttr(kChunkRowsAttr, rows);
      setPhase(op, Phase::Loss);
    }
    for (Operation *op : gradients)
      if (sumsRows(op))
        startFromZeros(op);
  }

  /// What the section reads of the losses' gradients, and of what the backward pass computes again,
  /// is there before it.
  void hurry(Operation *op) {
    if (members.contains(op) ||
        (getPhase(op) != Phase::LossBackward && getPhase(op) != Phase::Backward))
      return;
    for (Value operand : op->getOperands())
      hurry(operand.getDefiningOp());
    setPhase(op, Phase::Loss);
    op->moveBefore(loss);
  }

  /// A sum over rows goes on from what the chunks before have left.
  void startFromZeros(Operation *sum) {
    OpBuilder builder(sum);
    auto type = cast<TensorType>(sum->getResult(0).getType());
    auto zeros = makeMap(builder, sum->getLoc(), "start", {}, type,
                         [&](Scalars &s, ValueRange) -> SmallVector<Value> {
                           return {s.constant(type.getElementType(), 0)};
                         });
    setPhase(zeros, Phase::Loss);
    zeros->setAttr(kInternalAttr, builder.getUnitAttr());
    for (StringRef name : {StringRef(kLayerAttr), StringRef(kKindAttr)})
      if (Attribute attribute = sum->getAttr(name))
        zeros->setAttr(name, attribute);
    Value start = zeros.getOutputs()[0];
    if (auto contract = dyn_cast<ContractOp>(sum))
      return contract.getStartMutable().assign(start);
    auto reduce = cast<ReduceOp>(sum);
    reduce.getInputsMutable().append(start);
    auto reads = accesses(sum->getContext(), {AccessKind::Full, AccessKind::Start});
    reduce.setReadsAttr(builder.getArrayAttr(SmallVector<Attribute>(reads.begin(), reads.end())));
  }

  MapOp loss;
  bool forChips;
  llvm::SetVector<Operation *> members, gradients;
};

struct ChunkRowsPass : halftone::ir::impl::ChunkRowsBase<ChunkRowsPass> {
  using ChunkRowsBase::ChunkRowsBase;

  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>()) {
      if (graph.getName() == kDiagnosis)
        continue;
      for (auto map : llvm::to_vector(graph.getBody().front().getOps<MapOp>())) {
        if (getPhase(map) != Phase::Loss || !map->hasAttr(kChunkRowsAttr) ||
            map->hasAttr(kSectionAttr))
          continue;
        if (failed(LossSection(map, forChips).build()))
          return signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace halftone::ir
