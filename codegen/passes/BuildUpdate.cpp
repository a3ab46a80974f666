// SPDX-License-Identifier: Apache-2.0
// The flat parameter layout, and M4, U0 to U14 and L3 as ordinary operations.
#include <cmath>

#include "codegen/passes/LossScaleForm.h"
#include "codegen/passes/Optimizers.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/Schedules.h"

namespace halftone::ir {
#define GEN_PASS_DEF_BUILDUPDATE
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

constexpr int64_t kParameterAlignment = 32; // elements, docs/spec/description.md, Update

int64_t alignUp(int64_t value) {
  return (value + kParameterAlignment - 1) / kParameterAlignment * kParameterAlignment;
}

class Update {
public:
  explicit Update(GraphOp graph)
      : graph(graph), module(graph->getParentOfType<ModuleOp>()),
        builder(OpBuilder::atBlockEnd(&graph.getBody().front())),
        loc(NameLoc::get(builder.getStringAttr("update"))), schedule(graph),
        averages(module->getAttrOfType<FloatAttr>(kAverageAttr)) {}

  void run() {
    layOut();
    if (trainedElements == 0)
      return;
    auto flatType = TensorType::get(
        graph.getContext(), {builder.getI64IntegerAttr(trainedElements)}, builder.getF32Type());
    Value gradients = flatten(flatType);
    Value parameters = FlatParametersOp::create(builder, loc, flatType);
    std::unique_ptr<OptimizerForm> optimizer =
        createOptimizer(module->getAttrOfType<DictionaryAttr>(kOptimizerAttr), graph);
    SmallVector<AssignOp> assignments(graph.getBody().front().getOps<AssignOp>());
    accumulate(gradients);
    Checked checked = check(gradients, *optimizer);
    update(parameters, gradients, checked, *optimizer);
    for (AssignOp assign : assignments)
      if (auto state = assign.getDestination().getDefiningOp<StateOp>())
        moveOn(state, assign, checked.finite);
    schedule.erase();
  }

private:
  /// Trained parameters group by group (equal decay and learning-rate scale), then the frozen ones.
  void layOut() {
    using Key = std::pair<bool, double>;
    SmallVector<std::pair<Key, SmallVector<ParameterOp>>> byGroup;
    SmallVector<ParameterOp> frozen;
    for (auto parameter : graph.getBody().front().getOps<ParameterOp>()) {
      if (parameter.getFrozen()) {
        frozen.push_back(parameter);
        continue;
      }
      Key key{parameter.getDecay(), parameter.getLearningRateScale().convertToDouble()};
      auto group = llvm::find_if(byGroup, [&](auto &entry) { return entry.first == key; });
      if (group == byGroup.end()) {
        byGroup.emplace_back(key, SmallVector<ParameterOp>());
        group = std::prev(byGroup.end());
      }
      group->second.push_back(parameter);
    }
    int64_t offset = 0;
    auto place = [&](ParameterOp parameter) {
      parameter.setOffset(offset);
      offset = alignUp(offset + *cast<TensorType>(parameter.getType()).getStaticElements());
    };
    for (auto &[key, members] : byGroup) {
      int64_t begin = offset;
      llvm::for_each(members, place);
      groups.push_back({begin, offset, key.first, key.second});
    }
    trainedElements = offset;
    llvm::for_each(frozen, place);
  }

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

  Value state(StringRef name, ArrayRef<Attribute> dims, double initial) {
    auto type = TensorType::get(graph.getContext(), dims, builder.getF32Type());
    return StateOp::create(builder, loc, type, builder.getStringAttr(name),
                           builder.getF64FloatAttr(initial), builder.getUnitAttr());
  }

  /// M4: the gradients of earlier micro-batches and of this one, in both buffers.
  void accumulate(Value gradients) {
    Value sum = AccumulatedOp::create(builder, loc, gradients.getType());
    firstMicroBatch = hyperparameter("first_micro_batch", 1);
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

  /// U0: (1 / scale) / micro_batches; `a` is the scale, if there is one, and the number.
  static Value inverse(Scalars &s, ValueRange a) {
    Value one = s.like(a[0], 1);
    return s.div(a.size() > 1 ? s.div(one, a[0]) : one, a.back());
  }

  /// What the end of a step computes once: U0 to U2, and what is carried to the next step.
  struct Checked {
    Value finite, coefficient, inverse;
    Value learningRate;         ///< null without a schedule
    Value averageShare;         ///< null without averages
    SmallVector<Value> carried; ///< the optimizer's, after this step
  };

  Checked check(Value gradients, OptimizerForm &optimizer) {
    auto scalar = TensorType::get(graph.getContext(), {}, builder.getF32Type());
    LossScaleForm lossScale(module->getAttrOfType<DictionaryAttr>(kLossScaleAttr));
    SmallVector<Value> carried, scale = lossScale.carried(graph, builder, loc);
    for (const OptimizerForm::Scalar &s : optimizer.carriedScalars())
      carried.push_back(state(s.name, {}, s.initial));
    size_t ofOptimizer = carried.size(), ofScale = scale.size();
    for (const OptimizerForm::Scalar &s : averages.carriedScalars())
      carried.push_back(state(s.name, {}, s.initial));
    for (const OptimizerForm::Scalar &s : schedule.carriedScalars())
      carried.push_back(state(s.name, {}, s.initial));
    size_t ofUpdates = carried.size();
    microBatches = hyperparameter("micro_batches", 1);
    SmallVector<Value> unscaled{gradients};
    llvm::append_range(unscaled, ArrayRef(scale).take_front(1));
    unscaled.push_back(microBatches);
    auto squares = makeMap(builder, loc, "square", unscaled, gradients.getType(),
                           [](Scalars &s, ValueRange a) {
                             Value g = s.mul(a[0], inverse(s, a.drop_front()));
                             return SmallVector<Value>{s.mul(g, g)};
                           });
    setPhase(squares, Phase::Check);
    SmallVector<Value> scalars(carried);
    llvm::append_range(scalars, scale);
    scalars.push_back(microBatches);
    if (schedule.isStated())
      scalars.push_back(hyperparameter("learning_rate", ofModel("learning_rate")));
    size_t advancing = ofUpdates + (ofScale > 1 ? ofScale : 0);
    SmallVector<Type> types(4 + advancing + (schedule.isStated() ? 1 : 0), scalar);
    SmallVector<Value> summed{squares.getOutputs()[0]};
    llvm::append_range(summed, scalars);
    auto total =
        makeReduce(builder, loc, "total", {}, summed, types, nullptr, [&](Scalars &, ValueRange a) {
          return finishCheck(a[0], a.slice(1, ofUpdates), a.slice(1 + ofUpdates, ofScale),
                             a.drop_front(1 + ofUpdates + ofScale), optimizer, lossScale);
        });
    setPhase(total, Phase::Check);
    ValueRange outputs = total.getOutputs();
    sink<StatisticOp>(builder.getStringAttr("grad_norm"), outputs[0], Phase::Check);
    sink<StatisticOp>(builder.getStringAttr("finite"), outputs[1], Phase::Check);
    for (auto [before, after] : llvm::zip(scalars, outputs.slice(4, advancing)))
      setPhase(AssignOp::create(builder, loc, before, after), Phase::Check);
    Checked checked{outputs[1],
                    outputs[2],
                    outputs[3],
                    {},
                    averages.isStated() ? outputs[4 + ofOptimizer] : Value(),
                    SmallVector<Value>(outputs.slice(4, ofOptimizer))};
    if (schedule.isStated()) {
      checked.learningRate = outputs.back();
      sink<StatisticOp>(builder.getStringAttr("learning_rate.scheduled"), outputs.back(),
                        Phase::Check);
    }
    return checked;
  }

  /// `carried` are scalars of the optimizer, the averages and the schedule; `set` those that the
  /// host sets: the number of micro-batches and, with a schedule, the learning rate.
  SmallVector<Value> finishCheck(Value sum, ValueRange carried, ValueRange scale, ValueRange set,
                                 OptimizerForm &optimizer, LossScaleForm &lossScale) {
    Scalars s(builder, loc);
    Value norm = s.sqrt(sum);
    // Neither infinite nor NaN: an ordered comparison fails for NaN.
    Value finite = s.compare(arith::CmpFPredicate::OLT, sum, s.like(sum, INFINITY));
    Value coefficient = s.like(sum, 1);
    if (auto clip = module->getAttrOfType<FloatAttr>(kClipAttr)) { // U2
      Value ratio = s.div(s.like(sum, clip.getValueAsDouble()), s.add(norm, s.like(sum, 1e-6)));
      coefficient = arith::MinimumFOp::create(builder, loc, s.like(sum, 1), ratio);
    }
    SmallVector<Value> factors(scale.take_front(std::min<size_t>(1, scale.size())));
    factors.push_back(set[0]);
    SmallVector<Value> results{norm, s.select(finite, s.like(sum, 1), s.like(sum, 0)), coefficient,
                               inverse(s, factors)};
    ValueRange ofSchedule = carried.take_back(schedule.carriedScalars().size());
    ValueRange ofAverages =
        carried.drop_back(ofSchedule.size()).take_back(averages.carriedScalars().size());
    SmallVector<Value> next = optimizer.nextScalars(s, carried);
    llvm::append_range(next, averages.nextScalars(s, ofAverages));
    llvm::append_range(next, schedule.nextScalars(s, ofSchedule));
    for (auto [before, after] : llvm::zip(carried, next)) // U7
      results.push_back(s.select(finite, after, before));
    llvm::append_range(results, lossScale.next(s, scale, finite));
    if (schedule.isStated())
      results.push_back(s.mul(set[1], schedule.factor(builder, s, ofSchedule))); // U3
    return results;
  }

  double ofModel(StringRef number) {
    return module->getAttrOfType<DictionaryAttr>(kOptimizerAttr)
        .getAs<FloatAttr>(number)
        .getValueAsDouble();
  }

  Value hyperparameter(StringRef name, double initial) {
    auto scalar = TensorType::get(graph.getContext(), {}, builder.getF32Type());
    return HyperparameterOp::create(builder, loc, scalar, builder.getStringAttr(name),
                                    builder.getF64FloatAttr(initial));
  }

  template <typename Op> void sink(StringAttr name, Value value, Phase phase) {
    setPhase(Op::create(builder, loc, name, value), phase);
  }

  void update(Value parameters, Value gradients, const Checked &checked, OptimizerForm &optimizer) {
    Value learningRate = checked.learningRate
                             ? checked.learningRate
                             : hyperparameter("learning_rate", ofModel("learning_rate"));
    auto flatDims = cast<TensorType>(parameters.getType()).getDims();
    SmallVector<Value> moments;
    for (const OptimizerForm::Scalar &moment : optimizer.moments())
      moments.push_back(state(moment.name, flatDims, moment.initial));
    for (StringRef name : averages.moments())
      moments.push_back(state(name, flatDims, 0));
    SmallVector<Value> inputs{parameters, gradients};
    llvm::append_range(inputs, moments);
    llvm::append_range(inputs, ArrayRef<Value>{learningRate, checked.finite, checked.coefficient,
                                               checked.inverse});
    if (checked.averageShare)
      inputs.push_back(checked.averageShare);
    llvm::append_range(inputs, checked.carried);
    if (decays())
      inputs.push_back(hyperparameter("weight_decay", ofModel("weight_decay")));
    for (const OptimizerForm::Scalar &s : optimizer.hyperparameters())
      inputs.push_back(hyperparameter(s.name, s.initial));
    SmallVector<Type> types(1 + moments.size(), parameters.getType());
    auto op = makeMap(builder, loc, "update", inputs, types, [&](Scalars &s, ValueRange a) {
      return updateElement(s, a, moments.size(), optimizer);
    });
    setPhase(op, Phase::Update);
    setPhase(AssignOp::create(builder, loc, parameters, op.getOutputs()[0]), Phase::Update);
    for (auto [moment, next] : llvm::zip(moments, op.getOutputs().drop_front()))
      setPhase(AssignOp::create(builder, loc, moment, next), Phase::Update);
  }

  /// Arguments: parameter, gradient, moments, learning rate, finite, coefficient, inverse scale,
  /// the averages' share, if there are any, carried scalars, the weight decay, if any parameter
  /// decays, the optimizer's hyperparameters. The averages are the last moment.
  SmallVector<Value> updateElement(Scalars &s, ValueRange a, size_t moments,
                                   OptimizerForm &optimizer) {
    OptimizerForm::Element element;
    element.parameter = a[0];
    element.gradient = s.mul(a[1], a[5 + moments]); // U0
    if (module->hasAttr(kClipAttr))                 // U2
      element.gradient = s.mul(element.gradient, a[4 + moments]);
    if (auto clip = module->getAttrOfType<FloatAttr>(kClipValueAttr)) {
      double largest = clip.getValueAsDouble();
      Value raised = s.maximum(element.gradient, s.like(a[0], -largest));
      element.gradient = s.minimum(raised, s.like(a[0], largest));
    }
    size_t averaged = averages.isStated() ? 1 : 0;
    element.moments.assign(a.begin() + 2, a.begin() + 2 + moments);
    size_t own = optimizer.hyperparameters().size();
    element.hyperparameters = llvm::to_vector(a.take_back(own));
    Value decay = decays() ? a.drop_back(own).back() : Value();
    element.carried =
        llvm::to_vector(a.drop_back(own + (decay ? 1 : 0)).drop_front(6 + moments + averaged));
    Value scale =
        selectByGroup(s, [&](const Group &g) { return s.like(a[0], g.learningRateScale); });
    element.learningRate = s.mul(a[2 + moments], scale); // U3
    element.weightDecay =
        selectByGroup(s, [&](const Group &g) { return g.decay ? decay : s.like(a[0], 0); });
    SmallVector<Value> next = optimizer.updateElement(s, element);
    if (averages.isStated())
      next.push_back(averages.updateElement(s, a[6 + moments], next[0], element.moments.back()));
    Value finite = s.greater(a[3 + moments], s.like(a[0], 0));
    SmallVector<Value> results;
    results.push_back(s.select(finite, next[0], element.parameter)); // U7, M2
    for (auto [before, after] : llvm::zip(element.moments, ArrayRef(next).drop_front()))
      results.push_back(s.select(finite, after, before));
    return results;
  }

  /// S2, S4: accumulation moves the user's state on and keeps what it was before the first
  /// micro-batch; the update moves it on or back.
  void moveOn(StateOp state, AssignOp assign, Value finite) {
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
    auto last = makeMap(builder, loc, "assign_state", {next, now, before, finite, microBatches},
                        type, [](Scalars &s, ValueRange a) {
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

  struct Group {
    int64_t begin, end;
    bool decay;
    double learningRateScale;
  };

  bool decays() const {
    return llvm::any_of(groups, [](const Group &group) { return group.decay; });
  }

  /// What `of` gives for the element's group, chosen by its place in the flat buffer.
  Value selectByGroup(Scalars &s, llvm::function_ref<Value(const Group &)> of) {
    Value result = of(groups.back()), index;
    for (const Group &group : llvm::drop_begin(llvm::reverse(groups))) {
      if (!index)
        index = ElementIndexOp::create(builder, loc, builder.getI64Type());
      Value inside = s.compare(arith::CmpIPredicate::slt, index, s.integer(group.end, 64));
      result = s.select(inside, of(group), result);
    }
    return result;
  }

  GraphOp graph;
  ModuleOp module;
  OpBuilder builder;
  Location loc;
  SmallVector<Group> groups;
  int64_t trainedElements = 0;
  Value firstMicroBatch, microBatches; ///< hyperparameters
  ScheduleForm schedule;
  AverageForm averages;
};

/// Inference reads the same flat buffer, so its parameters take the training graph's offsets.
void copyOffsets(ModuleOp module) {
  llvm::StringMap<int64_t> offsets;
  int64_t end = 0;
  for (auto graph : module.getOps<GraphOp>())
    for (auto parameter : graph.getBody().front().getOps<ParameterOp>())
      if (graph.isTraining())
        offsets[parameter.getName()] = *parameter.getOffset();
  for (auto graph : module.getOps<GraphOp>())
    for (auto parameter : graph.getBody().front().getOps<ParameterOp>()) {
      if (graph.isTraining())
        continue;
      auto known = offsets.find(parameter.getName());
      if (known == offsets.end()) { // a model without training
        known = offsets.try_emplace(parameter.getName(), end).first;
        end = alignUp(end + *cast<TensorType>(parameter.getType()).getStaticElements());
      }
      parameter.setOffset(known->second);
    }
}

struct BuildUpdatePass : halftone::ir::impl::BuildUpdateBase<BuildUpdatePass> {
  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>())
      if (graph.isTraining())
        Update(graph).run();
    copyOffsets(getOperation());
  }
};

} // namespace
} // namespace halftone::ir
