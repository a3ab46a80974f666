// SPDX-License-Identifier: Apache-2.0
// What rounds to a scaled encoding leaves a map of codes times scales. A contraction that reads it
// reads the codes instead, and its sums are multiplied behind.
#include "codegen/passes/FactorScales.h"

#include "codegen/ir/Forms.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/Rotation.h"
#include "codegen/passes/ScaleFormulas.h"
#include "codegen/passes/ScaledRounding.h"

namespace halftone::ir {
#define GEN_PASS_DEF_FACTORSCALES
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// The map that makes numbers of codes, where `operand` is its result and its scales may be
/// factors; null for all others.
MapOp numbersOf(Value operand, FactoredScales scales) {
  if (scales == FactoredScales::All)
    if (auto cast = operand.getDefiningOp<CastOp>())
      operand = cast.getX();
  auto map = operand.getDefiningOp<MapOp>();
  return map && leavesNumbers(map) && !scalesBlocksByF32(map) ? map : MapOp();
}

/// How an element of a product reads the scale of its vector of an operand, whose elements read it
/// as the map says; null where the scales differ along the sum.
AccessAttr factorAccess(ContractOp contract, bool isRhs, MapOp numbers) {
  AccessAttr read = numbers.getOperandAccesses()[1];
  bool isTransposed = isRhs ? contract.getTransposeRhs() : contract.getTransposeLhs();
  if (read.getKind() == AccessKind::Scalar)
    return read;
  AccessKind perVector = isTransposed == isRhs ? AccessKind::Row : AccessKind::Column;
  if (read.getKind() != perVector)
    return {};
  return AccessAttr::get(read.getContext(), isRhs ? AccessKind::Column : AccessKind::Row);
}

/// What a map makes of a code of 1: the factor alone.
Value factorOf(Scalars &s, MapOp numbers, Value scale) {
  return s.inlined(numbers.getBody().front(), {s.like(scale, 1), scale})[0];
}

/// What holds the codes of both operands, of which products are exact: bf16 unless some need
/// another (P100), which has all others.
Element heldIn(ContractOp contract, FactoredScales scales) {
  Element held = Element::bf16;
  for (unsigned i : {0u, 1u})
    if (MapOp numbers = numbersOf(contract->getOperand(i), scales)) {
      Type codes = tensor(unwidened(numbers.getInputs()[0])).getElementType();
      if (isNarrow(codes) && !encoding::holds(held, elementOf(codes))) // of two levels f32
        held = elementOf(codes);
    }
  return held;
}

} // namespace

bool areFactors(ContractOp contract, unsigned operand, MapOp numbers) {
  return !contract.getStart() && factorAccess(contract, operand == 1, numbers);
}

Value CodeReaders::codesOf(MapOp numbers, Element held) {
  Value &copy = copies[{numbers, static_cast<int>(held)}];
  if (copy)
    return copy;
  Value codes = unwidened(numbers.getInputs()[0]);
  CastOp shown = roundingOf(numbers);
  if (elementOf(tensor(codes).getElementType()) == held) {
    copy = codes;
  } else {
    builder.setInsertionPointAfter(numbers);
    auto cast = CastOp::create(builder, numbers.getLoc(), codes, Encoding(held));
    for (StringRef name : {StringRef(kLayerAttr), StringRef(kKindAttr)})
      if (Attribute attribute = numbers->getAttr(name))
        cast->setAttr(name, attribute);
    setPhase(cast, getPhase(numbers));
    copy = cast.getResult();
    if (!leavesNumbers(codes.getDefiningOp())) // P97: elements times their blocks' scales
      shown = cast;
  }
  if (shown)
    moveNotes(numbers, shown);
  return copy;
}

FailureOr<bool> CodeReaders::readCodes(ContractOp contract, FactoredScales scales) {
  SmallVector<MapOp> factors;
  SmallVector<AccessAttr> reads{AccessAttr::get(contract.getContext(), AccessKind::Full)};
  SmallVector<Value> inputs{contract.getResult()};
  Element held = heldIn(contract, scales);
  for (unsigned i : {0u, 1u}) {
    MapOp numbers = numbersOf(contract->getOperand(i), scales);
    if (!numbers)
      continue;
    bool isFactor = areFactors(contract, i, numbers);
    if (!isFactor && scales == FactoredScales::All) // numbers of bf16 are what it may read as well
      continue;
    if (contract.getStart())
      return contract.emitError()
             << "loss " << contract->getAttr(kSectionAttr)
             << " states chunk_rows, and cannot be computed in chunks: sums of '"
             << getLayer(contract)
             << "' go on from chunk to chunk, and a scale of f32 would multiply them each time; "
                "state f8e8m0 there, or leave chunk_rows out (P88)";
    if (!isFactor)
      return contract.emitError()
             << "'" << getLayer(contract)
             << "' sums over elements that share no scale of f32; scale per row what is summed "
                "along its last dimension, per column what is summed along others, or state "
                "f8e8m0 (P89)";
    contract->setOperand(i, codesOf(numbers, held));
    factors.push_back(numbers);
    reads.push_back(factorAccess(contract, i == 1, numbers));
    inputs.push_back(numbers.getInputs()[1]);
  }
  if (factors.empty())
    return false;

  builder.setInsertionPointAfter(contract);
  Space space{contract.getType(), reads, {reads.front()}};
  auto map = makeMap(builder, contract.getLoc(), "scale", space, inputs, contract.getType(),
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       auto of = [&](size_t i) {
                         Value factor = factorOf(s, factors[i], e[i + 1]);
                         return scales == FactoredScales::All ? infiniteAbove(s, factor) : factor;
                       };
                       Value factor = of(0);
                       if (factors.size() == 2)
                         factor = s.mul(factor, of(1));
                       return {s.mul(e[0], factor)};
                     });
  contract.getResult().replaceAllUsesExcept(map.getOutputs()[0], map);
  for (NamedAttribute attribute : contract->getDiscardableAttrs())
    map->setAttr(attribute.getName(), attribute.getValue());
  contract->removeAttr(kValuesAttr);
  contract->setAttr(kInternalAttr, builder.getUnitAttr());
  return true;
}

namespace {

struct FactorScalesPass : halftone::ir::impl::FactorScalesBase<FactorScalesPass> {
  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>()) {
      OpBuilder builder(graph.getContext());
      CodeReaders readers(builder);
      for (auto contract : llvm::to_vector(graph.getBody().front().getOps<ContractOp>()))
        if (failed(checkRotations(contract)) ||
            failed(readers.readCodes(contract, FactoredScales::F32)))
          return signalPassFailure();
      eraseUnread(graph);
    }
  }

private:
  /// Numbers that nobody reads any more.
  static void eraseUnread(GraphOp graph) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(graph.getBody().front()))) {
      auto cast = dyn_cast<CastOp>(op);
      bool isOfCodes = cast && op.hasAttr(kInlineAttr);
      if ((leavesNumbers(&op) || isOfCodes) && op.use_empty())
        op.erase();
    }
  }
};

} // namespace
} // namespace halftone::ir
