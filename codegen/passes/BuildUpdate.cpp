// SPDX-License-Identifier: Apache-2.0
// M4, U0 to U16, L3 and P86 as ordinary operations.
#include <cmath>

#include "codegen/ir/Forms.h"
#include "codegen/passes/DelayedScales.h"
#include "codegen/passes/FactoredUpdate.h"
#include "codegen/passes/HeldStates.h"
#include "codegen/passes/LossScaleForm.h"
#include "codegen/passes/Optimizers.h"
#include "codegen/passes/ParameterLayout.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/Schedules.h"
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
  Update(GraphOp graph, int64_t mostOfPart)
      : graph(graph), module(graph->getParentOfType<ModuleOp>()),
        builder(OpBuilder::atBlockEnd(&graph.getBody().front())),
        loc(NameLoc::get(builder.getStringAttr("update"))), held(module),
        optimizer(createOptimizer(module->getAttrOfType<DictionaryAttr>(kOptimizerAttr), graph)),
        layout(graph, std::max(hasNorms() ? PartNorms::kBlock : 0, held.block())), schedule(graph),
        averages(module->getAttrOfType<FloatAttr>(kAverageAttr)), mostOfPart(mostOfPart) {}

  LogicalResult run() {
    int64_t trainedElements = layout.getTrainedElements();
    if (trainedElements == 0)
      return success();
    if (hasNorms() && trainedElements > PartNorms::kMostElements)
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
    Checked checked = check(gradients);
    if (failed(update(parameters, gradients, checked)))
      return failure();
    buildDelayedScales(graph, builder, loc, firstMicroBatch, microBatches);
    for (AssignOp assign : assignments)
      if (auto state = assign.getDestination().getDefiningOp<StateOp>())
        moveOn(state, assign, checked.finite);
    schedule.erase();
    return success();
  }

private:
  using Group = ParameterLayout::Group;

  /// Whether the update takes sums over parts of the flat buffers (U15).
  bool hasNorms() const { return module->hasAttr(kClipGroupsAttr) || optimizer->countSums() > 0; }

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

  Value state(StringRef name, ArrayRef<Attribute> dims, double initial,
              Element element = Element::f32) {
    auto type = TensorType::get(graph.getContext(), dims, typeOf(graph.getContext(), element));
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
    Value clips = {};           ///< a coefficient for every block; null without clips of groups
  };

  Checked check(Value gradients) {
    auto scalar = TensorType::get(graph.getContext(), {}, builder.getF32Type());
    LossScaleForm lossScale(module->getAttrOfType<DictionaryAttr>(kLossScaleAttr));
    SmallVector<Value> carried, scale = lossScale.carried(graph, builder, loc);
    for (const OptimizerForm::Scalar &s : optimizer->carriedScalars())
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
                             a.drop_front(1 + ofUpdates + ofScale), lossScale);
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
    checked.clips = clipGroups(gradients, checked.inverse);
    return checked;
  }

  /// U2: the coefficient of each clip of a group, at all blocks of its parameters; null without.
  Value clipGroups(Value gradients, Value inverse) {
    auto clips = module->getAttrOfType<ArrayAttr>(kClipGroupsAttr);
    if (!clips)
      return {};
    SmallVector<double> largest;
    for (auto clip : clips.getAsRange<DictionaryAttr>())
      largest.push_back(clip.getAs<FloatAttr>("norm").getValueAsDouble());
    PartNorms norms(builder, loc, layout.getTrainedElements(), Phase::Check);
    SmallVector<Value> sums =
        norms.sumBlocks("clip_squares", {gradients, inverse}, 1, [](Scalars &s, ValueRange a) {
          Value g = s.mul(a[0], a[1]);
          return SmallVector<Value>{s.mul(g, g)};
        });
    return norms.spread("clip", sums, layout.getClips(),
                        [&](Scalars &s, Value part, ValueRange sum) {
                          auto ofPart = [&] { return PartNorms::choose(s, part, largest); };
                          return clipCoefficient(s, ofPart, s.sqrt(sum[0]));
                        });
  }

  static Value clipCoefficient(Scalars &s, llvm::function_ref<Value()> largest,
                               Value norm) { // U2
    Value ratio = s.div(largest(), s.add(norm, s.like(norm, 1e-6)));
    return s.minimum(s.like(norm, 1), ratio);
  }

  /// `carried` are scalars of the optimizer, the averages and the schedule; `set` those that the
  /// host sets: the number of micro-batches and, with a schedule, the learning rate.
  SmallVector<Value> finishCheck(Value sum, ValueRange carried, ValueRange scale, ValueRange set,
                                 LossScaleForm &lossScale) {
    Scalars s(builder, loc);
    Value norm = s.sqrt(sum);
    // Neither infinite nor NaN: an ordered comparison fails for NaN.
    Value finite = s.compare(arith::CmpFPredicate::OLT, sum, s.like(sum, INFINITY));
    Value coefficient = s.like(sum, 1);
    if (auto clip = module->getAttrOfType<FloatAttr>(kClipAttr))
      coefficient = clipCoefficient(
          s, [&] { return s.like(sum, clip.getValueAsDouble()); }, norm);
    SmallVector<Value> factors(scale.take_front(std::min<size_t>(1, scale.size())));
    factors.push_back(set[0]);
    SmallVector<Value> results{norm, s.select(finite, s.like(sum, 1), s.like(sum, 0)), coefficient,
                               inverse(s, factors)};
    ValueRange ofSchedule = carried.take_back(schedule.carriedScalars().size());
    ValueRange ofAverages =
        carried.drop_back(ofSchedule.size()).take_back(averages.carriedScalars().size());
    SmallVector<Value> next = optimizer->nextScalars(s, carried);
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

  /// What code on an element of the update reads, and where that stands among its arguments.
  struct Operands {
    SmallVector<Value> values;
    unsigned moments = 0, scales = 0, learningRate = 0, carried = 0, hyperparameters = 0;
    std::optional<unsigned> averageShare = {}, weightDecay = {}, clips = {}, number = {};

    unsigned add(Value value) {
      values.push_back(value);
      return values.size() - 1;
    }
    unsigned add(ValueRange more) {
      llvm::append_range(values, more);
      return values.size() - more.size();
    }
  };
  /// Those behind the moments.
  static constexpr unsigned kGradient = 1, kFirstMoment = 2;
  static constexpr unsigned kFinite = 1, kCoefficient = 2, kInverse = 3; ///< behind learningRate

  LogicalResult update(Value parameters, Value gradients, const Checked &checked) {
    auto flat = cast<TensorType>(parameters.getType());
    if (const FactoredForm *form = optimizer->factored())
      return updateEach(*form, parameters, gradients, checked);
    Whole whole{parameters, gradients, learningRateOf(checked)};
    for (const OptimizerForm::Scalar &moment : optimizer->moments()) {
      double first = held.first(moment.initial);
      whole.moments.push_back(
          held.state(state(moment.name, flat.getDims(), first, held.element())));
      if (held.block() > 0) // P86
        whole.scales.push_back(
            held.place(state(moment.name + ".scale", rowsOf(flat).getRowDims(), 0)));
    }
    for (StringRef name : averages.moments())
      whole.moments.push_back(held.place(state(name, flat.getDims(), 0)));
    if (layout.decays())
      whole.weightDecay = hyperparameter("weight_decay", ofModel("weight_decay"));
    for (const OptimizerForm::Scalar &s : optimizer->hyperparameters())
      whole.hyperparameters.push_back(hyperparameter(s.name, s.initial));
    if (!held.inHost() || whole.moments.empty()) {
      updatePart(whole, {0, layout.getTrainedElements()}, checked);
      return success();
    }
    for (const Group &group : layout.getGroups()) { // P91
      alone = &group;
      for (int64_t begin = group.begin(); begin < group.end(); begin += mostOfPart)
        updatePart(whole, {begin, std::min(begin + mostOfPart, group.end())}, checked);
    }
    alone = nullptr;
    return success();
  }

  /// What the update reads, before it is cut into parts.
  struct Whole {
    Value parameters, gradients, learningRate;
    SmallVector<Value> moments = {}, scales = {}, hyperparameters = {};
    Value weightDecay = {};
  };

  void updatePart(const Whole &whole, FlatPart part, const Checked &checked) {
    SmallVector<Value> moments, scales;
    for (Value moment : whole.moments)
      moments.push_back(seen(moment, part));
    for (Value scale : whole.scales)
      scales.push_back(seenBlocks(scale, part, held.block()));
    Operands operands{{seen(whole.parameters, part), seen(whole.gradients, part)},
                      static_cast<unsigned>(moments.size())};
    for (Value moment : moments)
      operands.add(held.read(builder, moment));
    operands.scales = operands.add(scales);
    operands.learningRate =
        operands.add({whole.learningRate, checked.finite, checked.coefficient, checked.inverse});
    if (checked.averageShare)
      operands.averageShare = operands.add(checked.averageShare);
    operands.carried = operands.add(checked.carried);
    if (whole.weightDecay)
      operands.weightDecay = operands.add(whole.weightDecay);
    operands.hyperparameters = operands.add(whole.hyperparameters);
    if (checked.clips)
      operands.clips = operands.add(seenBlocks(checked.clips, part, PartNorms::kBlock));
    if (optimizer->countSums() > 0)
      if (Value numbers = sumOverParameters(operands))
        operands.number = operands.add(numbers);
    TensorType domain = tensor(operands.values.front());
    SmallVector<Type> types(1 + moments.size(), domain);
    types.append(scales.size(), domain.withDims(domain.getRowDims()));
    Space space;
    if (hasNorms() || held.block() > 0) {
      auto access = [&](AccessKind kind) { return AccessAttr::get(graph.getContext(), kind); };
      space = {domain, PartNorms::accesses(domain, operands.values),
               SmallVector<AccessAttr>(1 + moments.size(), access(AccessKind::Full))};
      space.writes.append(scales.size(), access(AccessKind::Row));
    }
    auto op = makeMap(builder, loc, "update", space, operands.values, types,
                      [&](Scalars &s, ValueRange a) { return updateElement(s, a, operands); });
    setPhase(op, Phase::Update);
    auto assign = [&](Value to, Value next) {
      setPhase(AssignOp::create(builder, loc, to, next), Phase::Update);
    };
    assign(operands.values.front(), op.getOutputs()[0]);
    ValueRange nextMoments = op.getOutputs().slice(1, moments.size());
    for (auto [moment, next] : llvm::zip(moments, nextMoments))
      assign(moment, held.round(builder, next, moment));
    if (scales.empty())
      return;
    // All threads of a row read its scale: the next one goes there when they are done.
    ValueRange nextScales = op.getOutputs().take_back(scales.size());
    auto moved = makeMap(builder, loc, "scales", nextScales, nextScales.getTypes(),
                         [](Scalars &, ValueRange a) { return SmallVector<Value>(a); });
    setPhase(moved, Phase::Update);
    for (auto [scale, next] : llvm::zip(scales, moved.getOutputs()))
      assign(scale, next);
  }

  Value learningRateOf(const Checked &checked) {
    return checked.learningRate ? checked.learningRate
                                : hyperparameter("learning_rate", ofModel("learning_rate"));
  }

  /// U18
  LogicalResult updateEach(const FactoredForm &form, Value parameters, Value gradients,
                           const Checked &checked) {
    FactoredOperands all{parameters, gradients};
    for (StringRef name : averages.moments())
      all.averages = state(name, tensor(parameters).getDims(), 0);
    all.learningRate = learningRateOf(checked);
    all.finite = checked.finite;
    all.coefficient = checked.coefficient;
    all.inverse = checked.inverse;
    all.share = checked.carried[FactoredForm::kShare];
    all.largestRate = checked.carried[FactoredForm::kLargestRate];
    if (layout.decays())
      all.weightDecay = hyperparameter("weight_decay", ofModel("weight_decay"));
    all.averageShare = checked.averageShare;
    auto gradientOf = [&](Scalars &s, Value g, Value coefficient, Value inverse) {
      return cut(s, unscaled(s, g, coefficient, inverse));
    };
    FactoredUpdate each(builder, loc, form, averages, all, gradientOf);
    for (auto parameter : graph.getBody().front().getOps<ParameterOp>())
      if (!parameter.getFrozen() && failed(each.build(parameter)))
        return failure();
    return success();
  }

  /// U0, and U2 of all parameters
  Value unscaled(Scalars &s, Value gradient, Value coefficient, Value inverse) {
    gradient = s.mul(gradient, inverse);
    return module->hasAttr(kClipAttr) ? s.mul(gradient, coefficient) : gradient;
  }

  /// U2 of an element.
  Value cut(Scalars &s, Value gradient) {
    auto clip = module->getAttrOfType<FloatAttr>(kClipValueAttr);
    if (!clip)
      return gradient;
    double largest = clip.getValueAsDouble();
    return s.minimum(s.maximum(gradient, s.like(gradient, -largest)), s.like(gradient, largest));
  }

  /// What the update's elements are: those of the flat buffers or, where neighbours share the scale
  /// of a state, rows of so many.
  TensorType rowsOf(TensorType flat) {
    if (held.block() == 0)
      return flat;
    int64_t rows = *flat.getStaticElements() / held.block();
    return flat.withDims(
        {builder.getI64IntegerAttr(rows), builder.getI64IntegerAttr(held.block())});
  }
  /// The part's elements of a flat buffer, as the update sees them.
  Value seen(Value flat, FlatPart part) {
    if (alone)
      return ViewOp::create(builder, loc, rowsOf(vector(flat, part.end - part.begin)), flat,
                            /*parts=*/0, part.begin);
    if (held.block() == 0)
      return flat;
    return ViewOp::create(builder, loc, rowsOf(tensor(flat)), flat);
  }
  /// Likewise of what has a value for each block of so many.
  Value seenBlocks(Value ofBlocks, FlatPart part, int64_t block) {
    if (!alone)
      return ofBlocks;
    return ViewOp::create(builder, loc, vector(ofBlocks, (part.end - part.begin) / block), ofBlocks,
                          /*parts=*/0, part.begin / block);
  }
  TensorType vector(Value like, int64_t elements) {
    return tensor(like).withDims({builder.getI64IntegerAttr(elements)});
  }

  /// U15: the optimizer's number of each parameter that has one, at all of its blocks; null where
  /// none has.
  Value sumOverParameters(const Operands &operands) {
    SmallVector<FlatPart> parts;
    for (const Group &group : layout.getGroups())
      if (optimizer->sumsOver(group.decay))
        llvm::append_range(parts, group.parameters);
    if (parts.empty())
      return {};
    PartNorms norms(builder, loc, layout.getTrainedElements(), Phase::Update);
    auto summands = [&](Scalars &s, ValueRange a) {
      return optimizer->summands(s, elementOf(s, a, operands, PartNorms::kBlock));
    };
    SmallVector<Value> sums =
        norms.sumBlocks("parameter_squares", operands.values, optimizer->countSums(), summands);
    return norms.spread("parameter_norms", sums, parts, [&](Scalars &s, Value, ValueRange of) {
      return optimizer->numberOf(s, of);
    });
  }

  /// What the optimizer is given of the element at which `a` are the operands; `row` elements are a
  /// row of the domain, 0 where that is flat.
  OptimizerForm::Element elementOf(Scalars &s, ValueRange a, const Operands &operands,
                                   int64_t row) {
    unsigned scalars = operands.learningRate;
    OptimizerForm::Element element;
    element.parameter = a[0];
    element.gradient = unscaled(s, a[kGradient], a[scalars + kCoefficient], a[scalars + kInverse]);
    if (operands.clips) {
      Value clipped = s.mul(element.gradient, a[*operands.clips]);
      Value unclipped = element.gradient;
      element.gradient = selectByGroup(row, [&](const Group &g) {
        return g.clip == ParameterLayout::kNoClip ? unclipped : clipped;
      });
    }
    element.gradient = cut(s, element.gradient);
    element.moments = llvm::to_vector(a.slice(kFirstMoment, operands.moments));
    if (held.block() > 0)
      for (unsigned i = 0; i < optimizer->moments().size(); ++i)
        element.moments[i] = s.mul(element.moments[i], a[operands.scales + i]);
    element.carried =
        llvm::to_vector(a.slice(operands.carried, optimizer->carriedScalars().size()));
    element.hyperparameters =
        llvm::to_vector(a.slice(operands.hyperparameters, optimizer->hyperparameters().size()));
    Value decay = operands.weightDecay ? a[*operands.weightDecay] : Value();
    Value scale =
        selectByGroup(row, [&](const Group &g) { return s.like(a[0], g.learningRateScale); });
    element.learningRate = s.mul(a[scalars], scale); // U3
    element.weightDecay =
        selectByGroup(row, [&](const Group &g) { return g.decay ? decay : s.like(a[0], 0); });
    return element;
  }

  /// The parameter's new value and the moments', of which averages are the last, then scales.
  SmallVector<Value> updateElement(Scalars &s, ValueRange a, const Operands &operands) {
    OptimizerForm::Element element = elementOf(s, a, operands, held.block());
    if (optimizer->countSums() > 0)
      element.number = selectByGroup(held.block(), [&](const Group &g) {
        return optimizer->sumsOver(g.decay) ? a[*operands.number] : s.like(a[0], 1);
      });
    SmallVector<Value> next = optimizer->updateElement(s, element);
    if (operands.averageShare)
      next.push_back(
          averages.updateElement(s, a[*operands.averageShare], next[0], element.moments.back()));
    Value finite = s.greater(a[operands.learningRate + kFinite], s.like(a[0], 0));
    SmallVector<Value> results;
    if (splitsMasters(module)) // M5
      next[0] = settled(s, next[0]);
    results.push_back(s.select(finite, next[0], element.parameter)); // U7, M2
    SmallVector<Value> scales;
    if (held.block() > 0)
      for (unsigned i = 0; i < optimizer->moments().size(); ++i) { // codes, P86
        Value scale = held.scaleOfRow(s, next[1 + i]);
        next[1 + i] = s.div(next[1 + i], scale);
        element.moments[i] = a[kFirstMoment + i];
        scales.push_back(s.select(finite, scale, a[operands.scales + i]));
      }
    for (auto [before, after] : llvm::zip(element.moments, ArrayRef(next).drop_front()))
      results.push_back(s.select(finite, after, before));
    llvm::append_range(results, scales);
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

  /// What `of` gives for the element's group.
  Value selectByGroup(int64_t row, llvm::function_ref<Value(const Group &)> of) {
    if (alone)
      return of(*alone);
    return layout.select(builder, loc, row, of);
  }

  GraphOp graph;
  ModuleOp module;
  OpBuilder builder;
  Location loc;
  Value firstMicroBatch, microBatches; ///< hyperparameters
  HeldStates held;
  std::unique_ptr<OptimizerForm> optimizer;
  ParameterLayout layout;
  ScheduleForm schedule;
  AverageForm averages;
  int64_t mostOfPart;           ///< elements, where the update is cut into parts (P91)
  const Group *alone = nullptr; ///< that the part at hand is of
};

struct BuildUpdatePass : halftone::ir::impl::BuildUpdateBase<BuildUpdatePass> {
  using BuildUpdateBase::BuildUpdateBase;

  void runOnOperation() override {
    decideSplit(getOperation());
    for (auto graph : getOperation().getOps<GraphOp>())
      if (graph.isTraining() && failed(Update(graph, part).run()))
        return signalPassFailure();
    copyOffsets(getOperation());
  }
};

} // namespace
} // namespace halftone::ir
