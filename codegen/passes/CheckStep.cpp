// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/CheckStep.h"

#include <cmath>

#include "codegen/ir/Forms.h"
#include "codegen/passes/LossScaleForm.h"

using namespace mlir;

namespace halftone::ir {
namespace {

/// U0: (1 / scale) / micro_batches; `a` is the scale, if there is one, and the number.
Value inverse(Scalars &s, ValueRange a) {
  Value one = s.like(a[0], 1);
  return s.div(a.size() > 1 ? s.div(one, a[0]) : one, a.back());
}

Value clipCoefficient(Scalars &s, llvm::function_ref<Value()> largest, Value norm) { // U2
  Value ratio = s.div(largest(), s.add(norm, s.like(norm, 1e-6)));
  return s.minimum(s.like(norm, 1), ratio);
}

class StepCheck {
public:
  explicit StepCheck(UpdateForms &of)
      : of(of), builder(of.builder), loc(of.loc),
        lossScale(of.module->getAttrOfType<DictionaryAttr>(kLossScaleAttr)),
        scale(lossScale.carried(of.graph, builder, loc)) {
    carry(of.optimizer->carriedScalars());
    ofOptimizer = carried.size();
    carry(of.averages.carriedScalars());
    carry(of.schedule.carriedScalars());
    microBatches = of.hyperparameter("micro_batches", 1);
  }

  CheckedStep run(Value gradients) {
    Value squares = square(gradients);
    SmallVector<Value> scalars(carried);
    llvm::append_range(scalars, scale);
    scalars.push_back(microBatches);
    if (of.schedule.isStated())
      scalars.push_back(of.ofOptimizer("learning_rate"));
    ValueRange outputs = total(squares, scalars);
    sink("grad_norm", outputs[0]);
    sink("finite", outputs[1]);
    for (auto [before, after] : llvm::zip(scalars, outputs.slice(kCarried, countAdvancing())))
      setPhase(AssignOp::create(builder, loc, before, after), Phase::Check);
    CheckedStep checked{outputs[1],
                        outputs[2],
                        outputs[3],
                        {},
                        of.averages.isStated() ? outputs[kCarried + ofOptimizer] : Value(),
                        SmallVector<Value>(outputs.slice(kCarried, ofOptimizer))};
    if (of.schedule.isStated()) {
      checked.learningRate = outputs.back();
      sink("learning_rate.scheduled", outputs.back());
    }
    checked.clips = clipGroups(gradients, checked.inverse);
    checked.microBatches = microBatches;
    return checked;
  }

private:
  /// Behind the norm, whether it is finite, the coefficient and the inverse.
  static constexpr size_t kCarried = 4;

  void carry(ArrayRef<OptimizerForm::Scalar> scalars) {
    for (const OptimizerForm::Scalar &s : scalars)
      carried.push_back(of.state(s.name, {}, s.initial));
  }

  /// Of the carried scalars and of the loss scale's, those that a step may change.
  size_t countAdvancing() const { return carried.size() + (scale.size() > 1 ? scale.size() : 0); }

  Value square(Value gradients) {
    SmallVector<Value> unscaled{gradients};
    llvm::append_range(unscaled, ArrayRef(scale).take_front(1));
    unscaled.push_back(microBatches);
    auto squares = makeMap(builder, loc, "square", unscaled, gradients.getType(),
                           [](Scalars &s, ValueRange a) {
                             Value g = s.mul(a[0], inverse(s, a.drop_front()));
                             return SmallVector<Value>{s.mul(g, g)};
                           });
    setPhase(squares, Phase::Check);
    return squares.getOutputs()[0];
  }

  ValueRange total(Value squares, ArrayRef<Value> scalars) {
    auto scalar = TensorType::get(of.graph.getContext(), {}, builder.getF32Type());
    size_t results = kCarried + countAdvancing() + (of.schedule.isStated() ? 1 : 0);
    SmallVector<Type> types(results, scalar);
    SmallVector<Value> summed{squares};
    llvm::append_range(summed, scalars);
    auto total =
        makeReduce(builder, loc, "total", {}, summed, types, nullptr, [&](Scalars &, ValueRange a) {
          return finish(a[0], a.slice(1, carried.size()), a.slice(1 + carried.size(), scale.size()),
                        a.drop_front(1 + carried.size() + scale.size()));
        });
    setPhase(total, Phase::Check);
    return total.getOutputs();
  }

  /// `advancing` are scalars of the optimizer, the averages and the schedule; `set` those that the
  /// host sets: the number of micro-batches and, with a schedule, the learning rate.
  SmallVector<Value> finish(Value sum, ValueRange advancing, ValueRange scales, ValueRange set) {
    Scalars s(builder, loc);
    Value norm = s.sqrt(sum);
    // Neither infinite nor NaN: an ordered comparison fails for NaN.
    Value finite = s.compare(arith::CmpFPredicate::OLT, sum, s.like(sum, INFINITY));
    Value coefficient = s.like(sum, 1);
    if (auto clip = of.module->getAttrOfType<FloatAttr>(kClipAttr))
      coefficient = clipCoefficient(
          s, [&] { return s.like(sum, clip.getValueAsDouble()); }, norm);
    SmallVector<Value> factors(scales.take_front(std::min<size_t>(1, scales.size())));
    factors.push_back(set[0]);
    SmallVector<Value> results{norm, s.select(finite, s.like(sum, 1), s.like(sum, 0)), coefficient,
                               inverse(s, factors)};
    ValueRange ofSchedule = advancing.take_back(of.schedule.carriedScalars().size());
    ValueRange ofAverages =
        advancing.drop_back(ofSchedule.size()).take_back(of.averages.carriedScalars().size());
    SmallVector<Value> next = of.optimizer->nextScalars(s, advancing);
    llvm::append_range(next, of.averages.nextScalars(s, ofAverages));
    llvm::append_range(next, of.schedule.nextScalars(s, ofSchedule));
    for (auto [before, after] : llvm::zip(advancing, next)) // U7
      results.push_back(s.select(finite, after, before));
    llvm::append_range(results, lossScale.next(s, scales, finite));
    if (of.schedule.isStated())
      results.push_back(s.mul(set[1], of.schedule.factor(builder, s, ofSchedule))); // U3
    return results;
  }

  /// U2: the coefficient of each clip of a group, at all blocks of its parameters; null without.
  Value clipGroups(Value gradients, Value inverse) {
    auto clips = of.module->getAttrOfType<ArrayAttr>(kClipGroupsAttr);
    if (!clips)
      return {};
    SmallVector<double> largest;
    for (auto clip : clips.getAsRange<DictionaryAttr>())
      largest.push_back(clip.getAs<FloatAttr>("norm").getValueAsDouble());
    PartNorms norms(builder, loc, of.layout.getTrainedElements(), Phase::Check);
    SmallVector<Value> sums =
        norms.sumBlocks("clip_squares", {gradients, inverse}, 1, [](Scalars &s, ValueRange a) {
          Value g = s.mul(a[0], a[1]);
          return SmallVector<Value>{s.mul(g, g)};
        });
    return norms.spread("clip", sums, of.layout.getClips(),
                        [&](Scalars &s, Value part, ValueRange sum) {
                          auto ofPart = [&] { return PartNorms::choose(s, part, largest); };
                          return clipCoefficient(s, ofPart, s.sqrt(sum[0]));
                        });
  }

  void sink(StringRef name, Value value) {
    setPhase(StatisticOp::create(builder, loc, builder.getStringAttr(name), value), Phase::Check);
  }

  UpdateForms &of;
  OpBuilder &builder;
  Location loc;
  LossScaleForm lossScale;
  SmallVector<Value> scale, carried; ///< the loss scale's, and all others, before this step
  size_t ofOptimizer = 0;            ///< of those carried, which are the first
  Value microBatches;
};

} // namespace

CheckedStep checkStep(UpdateForms &of, Value gradients) { return StepCheck(of).run(gradients); }

} // namespace halftone::ir
