// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/FlatUpdate.h"

#include "codegen/ir/Forms.h"
#include "codegen/passes/SplitMasters.h"

using namespace mlir;

namespace halftone::ir {
namespace {

class FlatUpdate {
public:
  FlatUpdate(UpdateForms &of, const CheckedStep &checked, Value learningRate, Value parameters,
             Value gradients)
      : of(of), builder(of.builder), loc(of.loc), checked(checked), parameters(parameters),
        gradients(gradients), learningRate(learningRate) {
    TensorType flat = tensor(parameters);
    for (const OptimizerForm::Scalar &moment : of.optimizer->moments()) {
      double first = of.held.first(moment.initial);
      moments.push_back(
          of.held.state(of.state(moment.name, flat.getDims(), first, of.held.element())));
      if (of.held.block() > 0) // P86
        scales.push_back(
            of.held.place(of.state(moment.name + ".scale", rowsOf(flat).getRowDims(), 0)));
    }
    for (StringRef name : of.averages.moments())
      moments.push_back(of.held.place(of.state(name, flat.getDims(), 0)));
    if (of.layout.decays())
      weightDecay = of.ofOptimizer("weight_decay");
    for (const OptimizerForm::Scalar &s : of.optimizer->hyperparameters())
      hyperparameters.push_back(of.hyperparameter(s.name, s.initial));
  }

  void run(int64_t mostOfPart) {
    if (!of.held.inHost() || moments.empty())
      return updatePart({0, of.layout.getTrainedElements()});
    for (const Group &group : of.layout.getGroups()) { // P91
      alone = &group;
      for (int64_t begin = group.begin(); begin < group.end(); begin += mostOfPart)
        updatePart({begin, std::min(begin + mostOfPart, group.end())});
    }
  }

private:
  using Group = ParameterLayout::Group;

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

  void updatePart(FlatPart part) {
    SmallVector<Value> momentsOfPart, scalesOfPart;
    for (Value moment : moments)
      momentsOfPart.push_back(seen(moment, part));
    for (Value scale : scales)
      scalesOfPart.push_back(seenBlocks(scale, part, of.held.block()));
    Operands operands = operandsOf(part, momentsOfPart, scalesOfPart);
    TensorType domain = tensor(operands.values.front());
    SmallVector<Type> types(1 + moments.size(), domain);
    types.append(scales.size(), domain.withDims(domain.getRowDims()));
    auto op = makeMap(builder, loc, "update", spaceOf(domain, operands), operands.values, types,
                      [&](Scalars &s, ValueRange a) { return updateElement(s, a, operands); });
    setPhase(op, Phase::Update);
    assign(operands.values.front(), op.getOutputs()[0]);
    ValueRange nextMoments = op.getOutputs().slice(1, moments.size());
    for (auto [moment, next] : llvm::zip(momentsOfPart, nextMoments))
      assign(moment, of.held.round(builder, next, moment));
    if (scales.empty())
      return;
    // All threads of a row read its scale: the next one goes there when they are done.
    ValueRange nextScales = op.getOutputs().take_back(scales.size());
    auto moved = makeMap(builder, loc, "scales", nextScales, nextScales.getTypes(),
                         [](Scalars &, ValueRange a) { return SmallVector<Value>(a); });
    setPhase(moved, Phase::Update);
    for (auto [scale, next] : llvm::zip(scalesOfPart, moved.getOutputs()))
      assign(scale, next);
  }

  Operands operandsOf(FlatPart part, ArrayRef<Value> momentsOfPart, ArrayRef<Value> scalesOfPart) {
    Operands operands{{seen(parameters, part), seen(gradients, part)},
                      static_cast<unsigned>(moments.size())};
    for (Value moment : momentsOfPart)
      operands.add(of.held.read(builder, moment));
    operands.scales = operands.add(scalesOfPart);
    operands.learningRate =
        operands.add({learningRate, checked.finite, checked.coefficient, checked.inverse});
    if (checked.averageShare)
      operands.averageShare = operands.add(checked.averageShare);
    operands.carried = operands.add(checked.carried);
    if (weightDecay)
      operands.weightDecay = operands.add(weightDecay);
    operands.hyperparameters = operands.add(hyperparameters);
    if (checked.clips)
      operands.clips = operands.add(seenBlocks(checked.clips, part, PartNorms::kBlock));
    if (of.optimizer->countSums() > 0)
      if (Value numbers = sumOverParameters(operands))
        operands.number = operands.add(numbers);
    return operands;
  }

  /// Of rows, where a block's elements share what they read.
  Space spaceOf(TensorType domain, const Operands &operands) {
    if (!of.hasNorms() && of.held.block() == 0)
      return {};
    auto access = [&](AccessKind kind) { return AccessAttr::get(builder.getContext(), kind); };
    Space space{domain, PartNorms::accesses(domain, operands.values),
                SmallVector<AccessAttr>(1 + moments.size(), access(AccessKind::Full))};
    space.writes.append(scales.size(), access(AccessKind::Row));
    return space;
  }

  void assign(Value to, Value next) {
    setPhase(AssignOp::create(builder, loc, to, next), Phase::Update);
  }

  /// What the update's elements are: those of the flat buffers or, where neighbours share the scale
  /// of a state, rows of so many.
  TensorType rowsOf(TensorType flat) {
    if (of.held.block() == 0)
      return flat;
    int64_t rows = *flat.getStaticElements() / of.held.block();
    return flat.withDims(
        {builder.getI64IntegerAttr(rows), builder.getI64IntegerAttr(of.held.block())});
  }
  /// The part's elements of a flat buffer, as the update sees them.
  Value seen(Value flat, FlatPart part) {
    if (alone)
      return ViewOp::create(builder, loc, rowsOf(vector(flat, part.end - part.begin)), flat,
                            /*parts=*/0, part.begin);
    if (of.held.block() == 0)
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
    for (const Group &group : of.layout.getGroups())
      if (of.optimizer->sumsOver(group.decay))
        llvm::append_range(parts, group.parameters);
    if (parts.empty())
      return {};
    PartNorms norms(builder, loc, of.layout.getTrainedElements(), Phase::Update);
    auto summands = [&](Scalars &s, ValueRange a) {
      return of.optimizer->summands(s, elementOf(s, a, operands, PartNorms::kBlock));
    };
    SmallVector<Value> sums =
        norms.sumBlocks("parameter_squares", operands.values, of.optimizer->countSums(), summands);
    return norms.spread("parameter_norms", sums, parts, [&](Scalars &s, Value, ValueRange ofPart) {
      return of.optimizer->numberOf(s, ofPart);
    });
  }

  /// What the optimizer is given of the element at which `a` are the operands; `row` elements are a
  /// row of the domain, 0 where that is flat.
  OptimizerForm::Element elementOf(Scalars &s, ValueRange a, const Operands &operands,
                                   int64_t row) {
    unsigned scalars = operands.learningRate;
    OptimizerForm::Element element;
    element.parameter = a[0];
    element.gradient =
        of.unscaled(s, a[kGradient], a[scalars + kCoefficient], a[scalars + kInverse]);
    if (operands.clips) {
      Value clipped = s.mul(element.gradient, a[*operands.clips]);
      Value unclipped = element.gradient;
      element.gradient = selectByGroup(row, [&](const Group &g) {
        return g.clip == ParameterLayout::kNoClip ? unclipped : clipped;
      });
    }
    element.gradient = of.cut(s, element.gradient);
    element.moments = llvm::to_vector(a.slice(kFirstMoment, operands.moments));
    if (of.held.block() > 0)
      for (unsigned i = 0; i < of.optimizer->moments().size(); ++i)
        element.moments[i] = s.mul(element.moments[i], a[operands.scales + i]);
    element.carried =
        llvm::to_vector(a.slice(operands.carried, of.optimizer->carriedScalars().size()));
    element.hyperparameters =
        llvm::to_vector(a.slice(operands.hyperparameters, of.optimizer->hyperparameters().size()));
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
    OptimizerForm::Element element = elementOf(s, a, operands, of.held.block());
    if (of.optimizer->countSums() > 0)
      element.number = selectByGroup(of.held.block(), [&](const Group &g) {
        return of.optimizer->sumsOver(g.decay) ? a[*operands.number] : s.like(a[0], 1);
      });
    SmallVector<Value> next = of.optimizer->updateElement(s, element);
    if (operands.averageShare)
      next.push_back(
          of.averages.updateElement(s, a[*operands.averageShare], next[0], element.moments.back()));
    Value finite = s.greater(a[operands.learningRate + kFinite], s.like(a[0], 0));
    SmallVector<Value> results;
    if (splitsMasters(of.module)) // M5
      next[0] = settled(s, next[0]);
    results.push_back(s.select(finite, next[0], element.parameter)); // U7, M2
    SmallVector<Value> nextScales;
    if (of.held.block() > 0)
      for (unsigned i = 0; i < of.optimizer->moments().size(); ++i) { // codes, P86
        Value scale = of.held.scaleOfRow(s, next[1 + i]);
        next[1 + i] = s.div(next[1 + i], scale);
        element.moments[i] = a[kFirstMoment + i];
        nextScales.push_back(s.select(finite, scale, a[operands.scales + i]));
      }
    for (auto [before, after] : llvm::zip(element.moments, ArrayRef(next).drop_front()))
      results.push_back(s.select(finite, after, before));
    llvm::append_range(results, nextScales);
    return results;
  }

  /// What `choose` gives for the element's group.
  Value selectByGroup(int64_t row, llvm::function_ref<Value(const Group &)> choose) {
    return alone ? choose(*alone) : of.layout.select(builder, loc, row, choose);
  }

  UpdateForms &of;
  OpBuilder &builder;
  Location loc;
  const CheckedStep &checked;
  Value parameters, gradients, learningRate, weightDecay; ///< the last null where nothing decays
  SmallVector<Value> moments, scales, hyperparameters;    ///< moments, of which averages are last
  const Group *alone = nullptr; ///< that the part at hand is of, where there are parts (P91)
};

} // namespace

void updateFlat(UpdateForms &of, const CheckedStep &checked, Value learningRate, Value parameters,
                Value gradients, int64_t mostOfPart) {
  FlatUpdate(of, checked, learningRate, parameters, gradients).run(mostOfPart);
}

} // namespace halftone::ir
