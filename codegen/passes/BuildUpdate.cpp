// SPDX-License-Identifier: Apache-2.0
// M4, U0 to U16, L3 and P86 as ordinary operations.
#include "codegen/ir/Forms.h"
#include "codegen/passes/DelayedScales.h"
#include "codegen/passes/FactoredUpdate.h"
#include "codegen/passes/FlatUpdate.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/SplitMasters.h"

namespace halftone::ir {
#define GEN_PASS_DEF_BUILDUPDATE
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

class Update {
public:
  explicit Update(GraphOp graph) : of(graph), graph(graph), builder(of.builder), loc(of.loc) {}

  /// In parts of at most so many elements, where it is cut into parts (P91).
  LogicalResult run(int64_t mostOfPart) {
    int64_t trainedElements = of.layout.getTrainedElements();
    if (trainedElements == 0)
      return success();
    if (of.hasNorms() && trainedElements > PartNorms::kMostElements)
      return graph.emitError() << "the update takes norms of parameters, of at most "
                               << PartNorms::kMostElements << " trained elements, and there are "
                               << trainedElements
                               << ": use another optimizer than lamb, and clip() of all parameters";
    auto flatType = TensorType::get(
        graph.getContext(), {builder.getI64IntegerAttr(trainedElements)}, builder.getF32Type());
    Value gradients = flatten(flatType);
    Value parameters = FlatParametersOp::create(builder, loc, flatType);
    SmallVector<AssignOp> assignments(graph.getBody().front().getOps<AssignOp>());
    accumulate(gradients);
    CheckedStep checked = checkStep(of, gradients);
    if (const FactoredForm *form = of.optimizer->factored()) {
      if (failed(updateEach(*form, parameters, gradients, checked)))
        return failure();
    } else {
      updateFlat(of, checked, learningRateOf(checked), parameters, gradients, mostOfPart);
    }
    buildDelayedScales(graph, builder, loc, firstMicroBatch, checked.microBatches);
    for (AssignOp assign : assignments)
      if (auto state = assign.getDestination().getDefiningOp<StateOp>())
        moveOn(state, assign, checked);
    of.schedule.erase();
    return success();
  }

private:
  Value flatten(TensorType type) {
    SmallVector<std::pair<int64_t, GradientOp>> found;
    for (auto gradient : graph.getBody().front().getOps<GradientOp>())
      found.emplace_back(*gradient.getParameter().getDefiningOp<ParameterOp>().getOffset(),
                         gradient);
    llvm::sort(found, [](auto &a, auto &b) { return a.first < b.first; });
    SmallVector<Value> parts;
    SmallVector<int64_t> offsets;
    for (auto &[offset, gradient] : found) {
      parts.push_back(gradient.getX());
      offsets.push_back(offset);
      gradient.erase();
    }
    auto op = FlattenOp::create(builder, loc, type, parts, offsets);
    setPhase(op, Phase::Backward);
    return op;
  }

  /// M4: the gradients of earlier micro-batches and of this one, in both buffers.
  void accumulate(Value gradients) {
    Value sum = AccumulatedOp::create(builder, loc, gradients.getType());
    firstMicroBatch = of.hyperparameter("first_micro_batch", 1);
    auto op = makeMap(builder, loc, "accumulate", {sum, gradients, firstMicroBatch},
                      {gradients.getType(), gradients.getType()}, [](Scalars &s, ValueRange a) {
                        Value isFirst = s.greater(a[2], s.like(a[2], 0));
                        Value total = s.select(isFirst, a[1], s.add(a[0], a[1]));
                        return SmallVector<Value>{total, total};
                      });
    setPhase(op, Phase::Accumulate);
    setPhase(AssignOp::create(builder, loc, sum, op.getOutputs()[0]), Phase::Accumulate);
    setPhase(AssignOp::create(builder, loc, gradients, op.getOutputs()[1]), Phase::Accumulate);
  }

  Value learningRateOf(const CheckedStep &checked) {
    return checked.learningRate ? checked.learningRate : of.ofOptimizer("learning_rate");
  }

  /// U18
  LogicalResult updateEach(const FactoredForm &form, Value parameters, Value gradients,
                           const CheckedStep &checked) {
    FactoredOperands all{parameters, gradients};
    for (StringRef name : of.averages.moments())
      all.averages = of.state(name, tensor(parameters).getDims(), 0);
    all.learningRate = learningRateOf(checked);
    all.finite = checked.finite;
    all.coefficient = checked.coefficient;
    all.inverse = checked.inverse;
    all.share = checked.carried[FactoredForm::kShare];
    all.largestRate = checked.carried[FactoredForm::kLargestRate];
    if (of.layout.decays())
      all.weightDecay = of.ofOptimizer("weight_decay");
    all.averageShare = checked.averageShare;
    auto gradientOf = [&](Scalars &s, Value g, Value coefficient, Value inverse) {
      return of.cut(s, of.unscaled(s, g, coefficient, inverse));
    };
    FactoredUpdate each(builder, loc, form, of.averages, all, gradientOf);
    for (auto parameter : graph.getBody().front().getOps<ParameterOp>())
      if (!parameter.getFrozen() && failed(each.build(parameter)))
        return failure();
    return success();
  }

  /// S2, S4: accumulation moves the user's state on and keeps what it was before the first
  /// micro-batch; the update moves it on or back.
  void moveOn(StateOp state, AssignOp assign, const CheckedStep &checked) {
    Value now = state, next = asForwardReadsIt(assign.getX(), now);
    auto type = cast<TensorType>(now.getType());
    Value before = StateOp::create(builder, loc, type,
                                   builder.getStringAttr(stateBeforeStepBuffer(state.getName())),
                                   state.getInitialAttr(), builder.getUnitAttr());
    auto onward = makeMap(builder, loc, "advance_state", {next, now, before, firstMicroBatch},
                          {type, type}, [](Scalars &s, ValueRange a) {
                            Value isFirst = s.greater(a[3], s.like(a[3], 0));
                            return SmallVector<Value>{a[0], s.select(isFirst, a[1], a[2])};
                          });
    setPhase(onward, Phase::Accumulate);
    setPhase(AssignOp::create(builder, loc, now, onward.getOutputs()[0]), Phase::Accumulate);
    setPhase(AssignOp::create(builder, loc, before, onward.getOutputs()[1]), Phase::Accumulate);
    auto last = makeMap(builder, loc, "assign_state",
                        {next, now, before, checked.finite, checked.microBatches}, type,
                        [](Scalars &s, ValueRange a) {
                          Value isFinite = s.greater(a[3], s.like(a[3], 0));
                          Value wasMoved = s.greater(a[4], s.like(a[4], 1));
                          Value found = s.select(wasMoved, a[2], a[1]);
                          return SmallVector<Value>{s.select(isFinite, a[0], found)};
                        });
    setPhase(last, Phase::Update);
    setPhase(AssignOp::create(builder, loc, now, last.getOutputs()[0]), Phase::Update);
    assign.erase();
  }

  /// S1: another state and a parameter change in the phases in which `state` does; an input must
  /// be one of the forward pass, which asks for no others where there are no losses.
  Value asForwardReadsIt(Value value, Value state) {
    if (value == state || !isa<StateOp, ParameterOp, InputOp>(getViewed(value).getDefiningOp()))
      return value;
    auto copy = makeMap(builder, loc, "copy", value, value.getType(),
                        [](Scalars &, ValueRange a) { return SmallVector<Value>{a[0]}; });
    return copy.getOutputs()[0];
  }

  UpdateForms of;
  GraphOp graph;
  OpBuilder &builder;
  Location loc;
  Value firstMicroBatch; ///< the hyperparameter
};

struct BuildUpdatePass : halftone::ir::impl::BuildUpdateBase<BuildUpdatePass> {
  using BuildUpdateBase::BuildUpdateBase;

  void runOnOperation() override {
    decideSplit(getOperation());
    for (auto graph : getOperation().getOps<GraphOp>())
      if (graph.isTraining() && failed(Update(graph).run(part)))
        return signalPassFailure();
    copyOffsets(getOperation());
  }
};

} // namespace
} // namespace halftone::ir
