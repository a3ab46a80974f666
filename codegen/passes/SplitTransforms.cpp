// SPDX-License-Identifier: Apache-2.0
// Passes of chips over long sequences, each of many blocks that work in shared memory
// (docs/decisions/0057).
#include "codegen/ir/Transforms.h"
#include "codegen/passes/Passes.h"
#include "llvm/ADT/DenseMap.h"

namespace halftone::ir {
#define GEN_PASS_DEF_SPLITTRANSFORMS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// A product of spectra that nothing reads but an inverse transform, and whose first factor is the
/// transform of a sequence.
struct Convolution {
  InverseTransformOp inverse;
  MapOp product;
  TransformOp of;
  Value factor; ///< a spectrum without leading dimensions
  bool conjugate;
};

std::optional<Convolution> findConvolution(InverseTransformOp inverse) {
  auto product = inverse.getSpectrum().getDefiningOp<MapOp>();
  auto conjugate = product ? product->getAttrOfType<BoolAttr>(kProductOfSpectraAttr) : BoolAttr();
  if (!conjugate || !product->hasOneUse())
    return std::nullopt;
  auto of = product.getInputs()[0].getDefiningOp<TransformOp>();
  Value factor = product.getInputs().back();
  if (!of || tensor(factor).getRank() != 4 || tensor(of.getX()) != tensor(inverse.getResult()))
    return std::nullopt;
  return Convolution{inverse, product, of, factor, conjugate.getValue()};
}

/// The transforms of one graph.
class GraphTransforms {
public:
  explicit GraphTransforms(Block &block) : block(block) {}

  /// Whether there were any.
  bool split() {
    for (auto inverse : llvm::make_early_inc_range(block.getOps<InverseTransformOp>()))
      if (std::optional<Convolution> found = findConvolution(inverse);
          found && !isShort(inverse.getTurns()))
        join(*found);
    for (auto transform : llvm::make_early_inc_range(block.getOps<TransformOp>()))
      if (!isShort(transform.getTurns()))
        split(transform);
    for (auto inverse : llvm::make_early_inc_range(block.getOps<InverseTransformOp>()))
      if (!isShort(inverse.getTurns()))
        split(inverse);
    return hasPasses;
  }

private:
  static bool isShort(Value turns) { return *tensor(turns).getColumns() < kFewestPlacesOfPasses; }
  static bool hasTwoPasses(Value turns) {
    int64_t places = *tensor(turns).getColumns();
    return int64_t{1} << countStagesOfFirstPass(places) < places;
  }

  /// With the phase, layer and section of what it stands for.
  template <class Pass, class... Operands>
  Value make(Operation *of, Type type, Operands... operands) {
    hasPasses = true;
    OpBuilder builder(of);
    auto pass = Pass::create(builder, of->getLoc(), type, operands...);
    pass->setDiscardableAttrs(of->getDiscardableAttrDictionary());
    return pass.getResult();
  }

  /// What the first stages leave of a sequence, where several read it made once.
  Value makeFirst(TransformOp op) {
    Value &first = firsts[op];
    if (!first)
      first = make<TransformPassOp>(op, op.getType(), op.getX(), op.getTurns());
    return first;
  }

  /// Products join the passes around them: what these work on stays in shared memory.
  void join(Convolution found) {
    InverseTransformOp inverse = found.inverse;
    Value turns = inverse.getTurns(), y;
    auto convolve = [&](Value x) {
      return make<ConvolutionPassOp>(inverse, x.getType(), x, found.factor, turns, found.conjugate);
    };
    if (hasTwoPasses(turns))
      y = make<InverseTransformPassOp>(inverse, inverse.getResult().getType(),
                                       convolve(makeFirst(found.of)), turns);
    else
      y = convolve(found.of.getX());
    inverse.getResult().replaceAllUsesWith(y);
    inverse.erase();
    found.product->erase();
  }

  void split(TransformOp op) {
    if (!op->use_empty()) {
      Value spectrum = makeFirst(op);
      if (hasTwoPasses(op.getTurns()))
        spectrum = make<TransformPassOp>(op, op.getType(), spectrum, op.getTurns());
      op.getResult().replaceAllUsesWith(spectrum);
    }
    op.erase();
  }

  void split(InverseTransformOp op) {
    Value turns = op.getTurns(), spectrum = op.getSpectrum();
    if (hasTwoPasses(turns))
      spectrum = make<InverseTransformPassOp>(op, spectrum.getType(), spectrum, turns);
    op.getResult().replaceAllUsesWith(
        make<InverseTransformPassOp>(op, op.getResult().getType(), spectrum, turns));
    op.erase();
  }

  Block &block;
  llvm::DenseMap<Operation *, Value> firsts; ///< by the transform
  bool hasPasses = false;
};

struct SplitTransformsPass : halftone::ir::impl::SplitTransformsBase<SplitTransformsPass> {
  using SplitTransformsBase::SplitTransformsBase;

  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>())
      if (graph.getName() != kDiagnosis && GraphTransforms(graph.getBody().front()).split())
        getOperation()->setAttr(kCpuApartAttr, UnitAttr::get(&getContext()));
  }
};

} // namespace
} // namespace halftone::ir
