// SPDX-License-Identifier: Apache-2.0
// Finds what lies between the product that makes a loss's logits and the gradients that leave them,
// and marks it as a section, which runs once per chunk of rows (docs/decisions/0024).
#include "codegen/ir/Scalars.h"
#include "codegen/passes/Passes.h"
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

  static bool draws(Operation *op) {
    auto map = dyn_cast<MapOp>(op);
    return map && !map.getBody().front().getOps<DrawOp>().empty();
  }

  LogicalResult refuseReaders() {
    return refuse()
           << "its logits are an output or read by others, too; make it their only reader, "
              "or leave chunk_rows out";
  }

  /// From the logits, as they are read, back to the product.
  LogicalResult findProduct(Value logits) {
    Operation *op = logits.getDefiningOp();
    for (; isa<CastOp>(op); op = op->getOperand(0).getDefiningOp())
      members.insert(op);
    if (draws(op))
      return refuseDraws();
    auto contract = dyn_cast<ContractOp>(op);
    if (!contract || contract.getBatchAxes() != 0 || contract.getPass() != ContractionPass::Forward)
      return refuse() << "its logits are not what a linear without bias computes; make them so, or "
                         "leave chunk_rows out";
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
      auto contract = dyn_cast<ContractOp>(user);
      if (!contract)
        return refuseReaders();
      members.insert(contract);
      gradients.insert(contract);
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
    if (!symbol || llvm::is_contained(rows.drop_front(), rows.front()))
      return refuse()
             << "its rows do not begin with a symbol of their own; give them one, or leave "
                "chunk_rows out";
    auto fits = [&](Value value) {
      ArrayRef<Attribute> dims = cast<TensorType>(value.getType()).getDims();
      return dims.empty() || !llvm::is_contained(dims.drop_front(), Attribute(symbol));
    };
    for (Operation *op : members)
      if (!llvm::all_of(op->getOperands(), fits) || !llvm::all_of(op->getResults(), fits))
        return refuse() << "what it reads does not lie row by row; leave chunk_rows out";
    return success();
  }

  /// A chip's kernel adds what the chunks before have left to its own chunk's sum: no chain goes
  /// on.
  LogicalResult checkOrder() {
    for (Operation *op : gradients)
      if (forChips && cast<ContractOp>(op).getTransposeLhs() &&
          accumulationOf(op) == Accumulation::Ordered)
        return refuse() << "kernels for chips sum the weight's gradient chunk by chunk, which "
                           "accumulate ordered does not allow; make the artifact with --targets "
                           "cpu, or leave chunk_rows out";
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
      if (auto contract = cast<ContractOp>(op); contract.getTransposeLhs())
        startFromZeros(contract);
  }

  /// What the section reads of the losses' gradients is there before it.
  void hurry(Operation *op) {
    if (members.contains(op) || getPhase(op) != Phase::LossBackward)
      return;
    for (Value operand : op->getOperands())
      hurry(operand.getDefiningOp());
    setPhase(op, Phase::Loss);
    op->moveBefore(loss);
  }

  /// A sum over rows goes on from what the chunks before have left.
  void startFromZeros(ContractOp contract) {
    OpBuilder builder(contract);
    auto zeros = makeMap(builder, contract.getLoc(), "start", {}, contract.getType(),
                         [&](Scalars &s, ValueRange) -> SmallVector<Value> {
                           return {s.constant(contract.getType().getElementType(), 0)};
                         });
    setPhase(zeros, Phase::Loss);
    zeros->setAttr(kInternalAttr, builder.getUnitAttr());
    for (StringRef name : {StringRef(kLayerAttr), StringRef(kKindAttr)})
      if (Attribute attribute = contract->getAttr(name))
        zeros->setAttr(name, attribute);
    contract.getStartMutable().assign(zeros.getOutputs()[0]);
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
