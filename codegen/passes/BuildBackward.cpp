// SPDX-License-Identifier: Apache-2.0
// The gradients of a training graph, losses first, cut at the outputs.
#include "codegen/ir/Scalars.h"
#include "codegen/passes/Metrics.h"
#include "codegen/passes/Passes.h"

namespace halftone::ir {
#define GEN_PASS_DEF_BUILDBACKWARD
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// Builds the gradients of one training graph. Operations are visited in reverse, those of the
/// losses first.
class Backward {
public:
  explicit Backward(GraphOp graph)
      : graph(graph), builder(OpBuilder::atBlockEnd(&graph.getBody().front())) {
    for (Operation &op : graph.getBody().front())
      ops.push_back(&op);
  }

  LogicalResult run() {
    findTrained();
    for (Operation *op : ops)
      if (auto loss = dyn_cast<LossOp>(op); loss && !isMetric(loss))
        startFrom(loss);
    if (failed(visit(Phase::Loss)))
      return failure();
    cutAtOutputs();
    if (failed(visit(Phase::Forward)))
      return failure();
    for (Operation *op : ops)
      if (auto parameter = dyn_cast<ParameterOp>(op); parameter && !parameter.getFrozen())
        if (failed(finish(parameter)))
          return failure();
    for (Operation *op : ops)
      if (auto input = dyn_cast<InputOp>(op); input && input.getGradient())
        if (failed(finish(input)))
          return failure();
    return success();
  }

private:
  /// A value needs a gradient when it depends on a trained parameter or on an input that wants one.
  void findTrained() {
    for (Operation *op : ops) {
      auto parameter = dyn_cast<ParameterOp>(op);
      auto input = dyn_cast<InputOp>(op);
      bool trained = parameter ? !parameter.getFrozen()
                     : input   ? input.getGradient()
                               : llvm::any_of(op->getOperands(),
                                              [&](Value v) { return needsGradient.contains(v); });
      if (trained)
        needsGradient.insert(op->result_begin(), op->result_end());
    }
  }

  void startFrom(LossOp loss) {
    auto type = cast<TensorType>(loss.getX().getType());
    double weight = loss.getWeight().convertToDouble();
    SmallVector<Value> scale; // L1
    if (Value value = lossScale())
      scale.push_back(value);
    auto seed =
        makeMap(builder, loss.getLoc(), "loss_weight", scale, type, [&](Scalars &s, ValueRange a) {
          Value w = s.constant(type.getElementType(), weight);
          return SmallVector<Value>{a.empty() ? w : s.mul(w, a[0])};
        });
    setPhase(seed, Phase::LossBackward);
    contribute(loss.getX(), seed.getOutputs()[0], loss, Phase::LossBackward);
  }

  /// The scale that gradients start with, none without a loss scale.
  Value lossScale() {
    auto settings =
        graph->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(kLossScaleAttr);
    if (!settings || scale)
      return scale;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&graph.getBody().front());
    auto type = TensorType::get(graph.getContext(), {}, builder.getF32Type());
    scale = StateOp::create(builder, graph.getLoc(), type, builder.getStringAttr("loss_scale"),
                            settings.getAs<FloatAttr>("initial"), builder.getUnitAttr());
    return scale;
  }

  /// What rules know a value by whose gradient is built; empty inside a loss.
  StringAttr nameOf(Value value) {
    Operation *op = value.getDefiningOp();
    auto parameter = dyn_cast<ParameterOp>(op);
    return builder.getStringAttr(parameter                     ? parameter.getName()
                                 : getPhase(op) == Phase::Loss ? StringRef()
                                                               : getLayer(op));
  }

  void contribute(Value value, Value gradient, Operation *user, Phase phase) {
    Value &slot = gradients[value];
    if (!slot) {
      slot = gradient;
      return;
    }
    auto sum = makeSum(builder, user->getLoc(), slot, gradient);
    tag(sum, user, phase);
    sum->setAttr(kGradientOfAttr, builder.getArrayAttr({nameOf(value)}));
    sum->setAttr(kPartialSumAttr, builder.getUnitAttr());
    slot = sum.getOutputs()[0];
  }

  /// Says on the operation that built `gradient` what it is a contribution to. A gradient that was
  /// there before is handed on by an operation of its own.
  Value attribute(Value gradient, Value operand, Operation *last) {
    Operation *op = gradient.getDefiningOp();
    auto targets = op->getAttrOfType<ArrayAttr>(kGradientOfAttr);
    SmallVector<Attribute> names(op->getNumResults(), builder.getStringAttr(""));
    if (targets)
      names.assign(targets.begin(), targets.end());
    unsigned index = cast<OpResult>(gradient).getResultNumber();
    bool isNew = last->isBeforeInBlock(op) && names[index] == builder.getStringAttr("");
    if (!isNew) {
      op = HandOnOp::create(builder, op->getLoc(), gradient.getType(), gradient);
      names.assign(1, Attribute());
      index = 0;
    }
    names[index] = nameOf(operand);
    op->setAttr(kGradientOfAttr, builder.getArrayAttr(names));
    return op->getResult(index);
  }

  void tag(Operation *op, Operation *forward, Phase phase) {
    if (auto layer = forward->getAttr(kLayerAttr))
      op->setAttr(kLayerAttr, layer);
    if (auto kind = forward->getAttr(kKindAttr))
      op->setAttr(kKindAttr, kind);
    setPhase(op, phase);
  }

  LogicalResult visit(Phase forwardPhase) {
    Phase phase = forwardPhase == Phase::Loss ? Phase::LossBackward : Phase::Backward;
    for (Operation *op : llvm::reverse(ops)) {
      if (getPhase(op) != forwardPhase || op->getNumResults() == 0 ||
          !llvm::any_of(op->getOperands(), [&](Value v) { return needsGradient.contains(v); }))
        continue;
      SmallVector<Value> arriving =
          llvm::map_to_vector(op->getResults(), [&](Value v) { return gradients.lookup(v); });
      if (llvm::none_of(arriving, [](Value v) { return static_cast<bool>(v); }))
        continue;
      if (failed(differentiate(op, arriving, phase)))
        return failure();
    }
    return success();
  }

  LogicalResult differentiate(Operation *op, ArrayRef<Value> arriving, Phase phase) {
    auto layer = dyn_cast<Layer>(op);
    if (!layer)
      return op->emitError() << op->getName() << " of layer '" << getLayer(op)
                             << "' lies between a parameter and a loss but has no gradient";
    Operation *last = &graph.getBody().front().back();
    SmallVector<Value> results = layer.buildGradients(builder, arriving);
    if (results.size() != op->getNumOperands())
      return failure(); // buildGradients has said why
    separateParameters(op, results, last);
    for (auto [operand, gradient] : llvm::zip(op->getOperands(), results))
      if (gradient && needsGradient.contains(operand))
        gradient = attribute(gradient, operand, last);
    for (Operation *built = last->getNextNode(); built; built = built->getNextNode()) {
      tag(built, op, phase);
      if (!built->hasAttr(kGradientOfAttr) && !built->use_empty())
        built->setAttr(kInternalAttr, builder.getUnitAttr());
    }
    for (auto [operand, gradient] : llvm::zip(op->getOperands(), results))
      if (gradient && needsGradient.contains(operand))
        contribute(operand, gradient, op, phase);
    return success();
  }

  /// P1: the gradients of parameters belong to a pass of their own, in which rules may round what
  /// is read differently. What computes both kinds becomes two operations.
  void separateParameters(Operation *op, SmallVectorImpl<Value> &results, Operation *last) {
    llvm::SmallDenseSet<Operation *> ofValues;
    llvm::SmallDenseMap<Operation *, Operation *> ofParameters;
    auto wanted = [&](Value operand, Value gradient) {
      return gradient && needsGradient.contains(operand) &&
             last->isBeforeInBlock(gradient.getDefiningOp());
    };
    for (auto [operand, gradient] : llvm::zip(op->getOperands(), results))
      if (wanted(operand, gradient) && !isa<ParameterOp>(operand.getDefiningOp()))
        ofValues.insert(gradient.getDefiningOp());
    for (auto [operand, gradient] : llvm::zip(op->getOperands(), results)) {
      if (!wanted(operand, gradient) || !isa<ParameterOp>(operand.getDefiningOp()) ||
          !ofValues.contains(gradient.getDefiningOp()))
        continue;
      Operation *&own = ofParameters[gradient.getDefiningOp()];
      if (!own)
        own = builder.clone(*gradient.getDefiningOp());
      gradient = own->getResult(cast<OpResult>(gradient).getResultNumber());
    }
  }

  /// Where a caller may start from gradients of the outputs instead of from the losses.
  void cutAtOutputs() {
    llvm::SmallDenseSet<Value> cut;
    for (Operation *op : ops) {
      auto output = dyn_cast<OutputOp>(op);
      if (!output || !gradients.contains(output.getX()) || !cut.insert(output.getX()).second)
        continue;
      Value gradient = gradients[output.getX()];
      auto point = OutputGradientOp::create(builder, output.getLoc(), gradient.getType(),
                                            output.getName(), gradient);
      setPhase(point, Phase::LossBackward);
      point->setAttr(kGradientOfAttr, builder.getArrayAttr({nameOf(output.getX())}));
      point->setAttr(kLayerAttr, nameOf(output.getX()));
      if (Attribute kind = output.getX().getDefiningOp()->getAttr(kKindAttr))
        point->setAttr(kKindAttr, kind);
      gradients[output.getX()] = point;
      takeExternal(point);
    }
    auto isReached = [&](Value result) { return gradients.contains(result); };
    for (Operation *op : ops)
      if (getPhase(op) == Phase::Loss && llvm::any_of(op->getResults(), isReached))
        for (Value operand : op->getOperands())
          if (needsGradient.contains(operand) &&
              getPhase(operand.getDefiningOp()) == Phase::Forward && !cut.contains(operand))
            graph->setAttr(kLossWithoutOutputAttr, builder.getStringAttr(getLayer(op)));
  }

  /// P36: the gradient that a caller gives, multiplied by the loss scale, takes the place of the
  /// losses'.
  void takeExternal(OutputGradientOp point) {
    SmallVector<Value> operands{
        ExternalGradientOp::create(builder, point.getLoc(), point.getType(), point.getName())};
    if (Value value = lossScale())
      operands.push_back(value);
    auto op = makeMap(builder, point.getLoc(), "external_gradient", operands, point.getType(),
                      [](Scalars &s, ValueRange a) {
                        return SmallVector<Value>{a.size() > 1 ? s.mul(a[1], a[0]) : a[0]};
                      });
    setPhase(op, Phase::External);
    setPhase(AssignOp::create(builder, point.getLoc(), point, op.getOutputs()[0]), Phase::External);
  }

  LogicalResult finish(ParameterOp parameter) {
    Value gradient = gradients.lookup(parameter.getResult());
    if (!gradient)
      return parameter.emitError()
             << "parameter '" << parameter.getName()
             << "' is trained but no loss depends on it, or only metrics of weight 0: freeze it or "
                "use it in a loss";
    auto op = GradientOp::create(builder, parameter.getLoc(), parameter.getResult(), gradient);
    setPhase(op, Phase::Backward);
    return success();
  }

  LogicalResult finish(InputOp input) {
    Value gradient = gradients.lookup(input.getResult());
    if (!gradient)
      return input.emitError()
             << "input '" << input.getName()
             << "' wants a gradient but no loss depends on it, or only metrics of "
                "weight 0: leave 'gradient' out or use it in a loss";
    auto op = InputGradientOp::create(builder, input.getLoc(), input.getName(),
                                      unscaled(input, gradient));
    setPhase(op, Phase::Backward);
    return success();
  }

  /// D15: without the loss scale. Rules see a partial sum, which they do not round.
  Value unscaled(InputOp input, Value gradient) {
    Value value = lossScale();
    if (!value)
      return gradient;
    auto op = makeMap(builder, input.getLoc(), "unscale", {gradient, value}, gradient.getType(),
                      [](Scalars &s, ValueRange a) {
                        Value inverse = s.div(s.constant(a[1].getType(), 1), a[1]);
                        return SmallVector<Value>{s.mul(a[0], inverse)};
                      });
    tag(op, input, Phase::Backward);
    op->setAttr(kGradientOfAttr, builder.getArrayAttr({nameOf(input)}));
    op->setAttr(kPartialSumAttr, builder.getUnitAttr());
    return op.getOutputs()[0];
  }

  GraphOp graph;
  OpBuilder builder;
  SmallVector<Operation *> ops;
  llvm::DenseSet<Value> needsGradient;
  llvm::DenseMap<Value, Value> gradients;
  Value scale;
};

struct BuildBackwardPass : halftone::ir::impl::BuildBackwardBase<BuildBackwardPass> {
  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>())
      if (graph.isTraining() && failed(Backward(graph).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace halftone::ir
