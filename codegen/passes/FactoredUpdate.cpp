// SPDX-License-Identifier: Apache-2.0
// Of a matrix seven kernels: means over rows, over columns and of the former, the sizes of the step
// and of the parameter, and the update; of what has one dimension, one.
#include "codegen/passes/FactoredUpdate.h"

#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"
#include "codegen/passes/SplitMasters.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {

//===--- The formula ---===//

static double settingOf(DictionaryAttr attributes, StringRef name) {
  return attributes.getAs<FloatAttr>(name).getValueAsDouble();
}

FactoredForm::FactoredForm(DictionaryAttr attributes)
    : decayRate(settingOf(attributes, "decay_rate")), epsilon1(settingOf(attributes, "epsilon1")),
      epsilon2(settingOf(attributes, "epsilon2")),
      clipThreshold(settingOf(attributes, "clip_threshold")) {}

SmallVector<OptimizerForm::Scalar> FactoredForm::carriedScalars() const {
  return {{"adafactor.updates_high", 0},
          {"adafactor.updates_low", 0},
          {"adafactor.share", 0},
          {"adafactor.largest_rate", 0}};
}

SmallVector<Value> FactoredForm::nextScalars(Scalars &s, ValueRange carried) const {
  Value one = s.like(carried[0], 1), base = s.like(carried[0], 0x1p20);
  Value more = s.add(carried[1], one), overflows = s.equal(more, base);
  Value high = s.select(overflows, s.add(carried[0], one), carried[0]);
  Value low = s.select(overflows, s.like(more, 0), more);
  Value updates = s.fma(high, base, low);
  return {high, low, s.pow(updates, s.like(one, -decayRate)), s.div(one, s.sqrt(updates))};
}

Value FactoredForm::step(Scalars &s, Value gradient, Value estimate) const {
  return s.div(gradient, s.sqrt(s.maximum(estimate, s.like(estimate, epsilon1 * epsilon1))));
}

Value FactoredForm::divisor(Scalars &s, Value mean) const {
  return s.maximum(mean, s.like(mean, epsilon1));
}

Value FactoredForm::factor(Scalars &s, Value ofParameter, Value ofStep, int64_t elements,
                           Value learningRate, Value largestRate) const {
  double root = std::sqrt(static_cast<double>(elements));
  Value size = s.div(s.sqrt(ofParameter), s.like(ofParameter, root));
  Value rate = s.mul(s.maximum(size, s.like(size, epsilon2)), s.minimum(learningRate, largestRate));
  Value length = s.div(s.sqrt(ofStep), s.like(ofStep, root * clipThreshold));
  return s.neg(s.div(rate, s.maximum(length, s.like(length, 1))));
}

SmallVector<Value> FactoredForm::updateElement(Scalars &s, const Element &e) const {
  Value shrink = s.neg(s.mul(e.learningRate, e.weightDecay));
  Value decayed = s.fma(shrink, e.parameter, e.parameter);
  return {s.fma(e.number, step(s, e.gradient, e.moments[0]), decayed)};
}

//===--- One parameter ---===//

/// As matrices [rows, columns] or [matrices, rows, columns], or as one row.
struct FactoredUpdate::Views {
  TensorType shape;
  Value parameter = {}, gradient = {}, average = {};
};

TensorType FactoredUpdate::type(ArrayRef<int64_t> dims) {
  SmallVector<Attribute> list;
  for (int64_t dim : dims)
    list.push_back(builder.getI64IntegerAttr(dim));
  return TensorType::get(builder.getContext(), list, builder.getF32Type());
}

AccessAttr FactoredUpdate::access(AccessKind kind) {
  return AccessAttr::get(builder.getContext(), kind);
}

Value FactoredUpdate::seen(Value flat, ParameterOp parameter, TensorType shape) {
  return ViewOp::create(builder, loc, shape, flat, /*parts=*/0,
                        static_cast<int64_t>(*parameter.getOffset()));
}

Value FactoredUpdate::state(StringRef of, ParameterOp parameter, ArrayRef<int64_t> dims) {
  std::string name = ("adafactor." + of + "/" + parameter.getName()).str();
  return StateOp::create(builder, loc, type(dims), builder.getStringAttr(name),
                         builder.getF64FloatAttr(0), builder.getUnitAttr());
}

MapOp FactoredUpdate::map(const Twine &label, const Space &space, ValueRange inputs,
                          ArrayRef<TensorType> results, ScalarCode code) {
  SmallVector<Type> types(results.begin(), results.end());
  auto op = makeMap(builder, loc, label.str(), space, inputs, types, code);
  setPhase(op, Phase::Update);
  return op;
}

void FactoredUpdate::assign(Value to, Value next) {
  setPhase(AssignOp::create(builder, loc, to, next), Phase::Update);
}

Value FactoredUpdate::gradient(Scalars &s, ValueRange a) { return gradientOf(s, a[0], a[1], a[2]); }

Value FactoredUpdate::learningRate(Scalars &s, Value rate, ParameterOp parameter) {
  return s.mul(rate, s.like(rate, parameter.getLearningRateScale().convertToDouble()));
}

static Value selectFinite(Scalars &s, Value finite, Value after, Value before) { // U7
  return s.select(s.greater(finite, s.like(finite, 0)), after, before);
}

LogicalResult FactoredUpdate::build(ParameterOp parameter) {
  SmallVector<int64_t> dims;
  for (Attribute dim : tensor(parameter).getDims())
    dims.push_back(cast<IntegerAttr>(dim).getInt());
  int64_t elements = *tensor(parameter).getStaticElements();
  int64_t columns = dims.empty() ? 1 : dims.back();
  if (std::max(columns, elements / columns) > int64_t(1) << 20)
    return parameter.emitError() << "the optimizer adafactor sums over rows and columns of at most "
                                 << (1 << 20) << ", and parameter '" << parameter.getName()
                                 << "' has longer ones: use another optimizer (U17)";
  if (dims.size() < 2)
    dims = {columns};
  else if (dims.size() > 2)
    dims = {elements / columns / dims[dims.size() - 2], dims[dims.size() - 2], columns};
  Views views{type(dims)};
  views.parameter = seen(all.parameters, parameter, views.shape);
  views.gradient = seen(all.gradients, parameter, views.shape);
  if (all.averages)
    views.average = seen(all.averages, parameter, views.shape);
  if (dims.size() >= 2)
    return buildMatrix(parameter, views);
  buildRow(parameter, views);
  return success();
}

/// What updated() is given, in front of what it is given by itself.
SmallVector<Value> FactoredUpdate::operandsOf(const Views &views) {
  SmallVector<Value> operands{views.gradient,  all.coefficient, all.inverse,
                              views.parameter, all.finite,      all.learningRate};
  if (all.weightDecay)
    operands.push_back(all.weightDecay);
  if (views.average)
    operands.append({views.average, all.averageShare});
  return operands;
}

SmallVector<Value> FactoredUpdate::updated(Scalars &s, ValueRange a, ParameterOp parameter,
                                           Value factor, Value estimate) {
  unsigned next = 6;
  OptimizerForm::Element element;
  element.gradient = gradient(s, a);
  element.parameter = a[3];
  element.learningRate = learningRate(s, a[5], parameter);
  element.weightDecay = all.weightDecay ? a[next++] : Value();
  if (!parameter.getDecay())
    element.weightDecay = s.like(a[3], 0);
  element.moments = {estimate};
  element.number = factor;
  Value value = form.updateElement(s, element)[0];
  SmallVector<Value> results;
  if (all.averages) {
    Value average = averages.updateElement(s, a[next + 1], value, a[next]);
    results.push_back(selectFinite(s, a[4], average, a[next]));
  }
  if (splitsMasters(parameter->getParentOfType<ModuleOp>())) // M5
    value = settled(s, value);
  results.insert(results.begin(), selectFinite(s, a[4], value, a[3]));
  return results;
}

void FactoredUpdate::assignUpdated(const Views &views, ValueRange next) {
  assign(views.parameter, next[0]);
  if (views.average)
    assign(views.average, next[1]);
}

void FactoredUpdate::buildRow(ParameterOp parameter, const Views &views) {
  int64_t columns = *views.shape.getColumns();
  Value state = this->state("squares", parameter, {columns});
  SmallVector<Value> operands = operandsOf(views);
  unsigned own = operands.size();
  operands.append({state, all.share, all.largestRate});
  Space space{views.shape, {}, {}};
  for (Value operand : operands)
    space.reads.push_back(
        access(tensor(operand).isScalar() ? AccessKind::Scalar : AccessKind::Full));
  SmallVector<TensorType> results(views.average ? 3 : 2, views.shape);
  space.writes.assign(results.size(), access(AccessKind::Full));
  auto op =
      map("update " + parameter.getName(), space, operands, results, [&](Scalars &s, ValueRange a) {
        Value g = gradient(s, a), v = a[own];
        Value estimate = s.fma(a[own + 1], s.sub(s.mul(g, g), v), v);
        Value step = form.step(s, g, estimate);
        Value ofStep = s.rowSum(s.mul(step, step)), ofParameter = s.rowSum(s.mul(a[3], a[3]));
        Value factor = form.factor(s, ofParameter, ofStep, columns,
                                   learningRate(s, a[5], parameter), a[own + 2]);
        SmallVector<Value> next = updated(s, a, parameter, factor, estimate);
        next.push_back(selectFinite(s, a[4], estimate, v));
        return next;
      });
  assignUpdated(views, op.getOutputs());
  assign(state, op.getOutputs().back());
}

LogicalResult FactoredUpdate::buildMatrix(ParameterOp parameter, const Views &views) {
  StringRef name = parameter.getName();
  TensorType shape = views.shape, rowsType = shape.withDims(shape.getRowDims());
  bool isOne = shape.getRank() == 2;
  auto extent = [&](unsigned fromEnd) {
    return cast<IntegerAttr>(shape.getDims()[shape.getRank() - fromEnd]).getInt();
  };
  int64_t columns = extent(1), rows = extent(2), matrices = isOne ? 1 : extent(3);
  SmallVector<int64_t> ofRows{rows}, ofColumns{columns}, ofMatrices;
  if (!isOne) {
    ofRows.insert(ofRows.begin(), matrices);
    ofColumns.insert(ofColumns.begin(), matrices);
    ofMatrices.push_back(matrices);
  }
  AccessAttr full = access(AccessKind::Full), row = access(AccessKind::Row),
             scalar = access(AccessKind::Scalar);
  AffineExpr matrix = getAffineDimExpr(0, builder.getContext());
  AccessAttr column =
      isOne ? access(AccessKind::Column)
            : readAt({matrix, getAffineDimExpr(2, builder.getContext())}, shape, type(ofColumns));
  AccessAttr ofMatrix = isOne ? scalar : readAt({matrix}, shape, type(ofMatrices));

  Value rowMeans = state("row_means", parameter, ofRows);
  Value columnMeans = state("column_means", parameter, ofColumns);
  auto moved = [&](Scalars &s, Value sum, int64_t count, Value before, Value share, Value finite) {
    Value mean = s.div(sum, s.like(sum, static_cast<double>(count)));
    return selectFinite(s, finite, s.fma(share, s.sub(mean, before), before), before);
  };
  auto square = [](Scalars &s, Value x) { return s.mul(x, x); };

  auto ofEachRow = map(
      "row_means " + name, {shape, {full, scalar, scalar, full, row, scalar, scalar}, {row, row}},
      {views.gradient, all.coefficient, all.inverse, views.parameter, rowMeans, all.share,
       all.finite},
      {rowsType, rowsType}, [&](Scalars &s, ValueRange a) -> SmallVector<Value> {
        Value sum = s.rowSum(square(s, gradient(s, a)));
        return {moved(s, sum, columns, a[4], a[5], a[6]), s.rowSum(square(s, a[3]))};
      });
  Value nextRows = ofEachRow.getOutputs()[0], parameterSizes = ofEachRow.getOutputs()[1];
  auto sums =
      makeReduce(builder, loc, "column_squares", {}, {views.gradient, all.coefficient, all.inverse},
                 type(ofColumns), [&](Scalars &s, ValueRange a) -> SmallVector<Value> {
                   return {square(s, gradient(s, a))};
                 });
  setPhase(sums, Phase::Update);
  auto ofEachColumn =
      map("column_means " + name, {type(ofColumns), {full, full, scalar, scalar}, {full}},
          {sums.getOutputs()[0], columnMeans, all.share, all.finite}, {type(ofColumns)},
          [&](Scalars &s, ValueRange a) -> SmallVector<Value> {
            return {moved(s, a[0], rows, a[1], a[2], a[3])};
          });
  Value nextColumns = ofEachColumn.getOutputs()[0];
  // All threads of a row read its mean: the next one goes there when they are done.
  auto mean =
      map("mean " + name, {type(ofRows), {full}, {row, full}}, nextRows,
          {type(ofMatrices), type(ofRows)}, [&](Scalars &s, ValueRange a) -> SmallVector<Value> {
            Value sum = s.rowSum(a[0]);
            return {form.divisor(s, s.div(sum, s.like(sum, static_cast<double>(rows)))), a[0]};
          });
  auto estimate = [&](Scalars &s, ValueRange a) { return s.div(s.mul(a[0], a[1]), a[2]); };
  SmallVector<Value> estimates{nextRows, nextColumns, mean.getOutputs()[0]};
  SmallVector<AccessAttr> ofEstimates{row, column, ofMatrix};

  SmallVector<Value> operands{views.gradient, all.coefficient, all.inverse};
  operands.append(estimates);
  SmallVector<AccessAttr> reads{full, scalar, scalar};
  reads.append(ofEstimates);
  auto steps = map("steps " + name, {shape, reads, {row}}, operands, {rowsType},
                   [&](Scalars &s, ValueRange a) -> SmallVector<Value> {
                     Value step = form.step(s, gradient(s, a), estimate(s, a.drop_front(3)));
                     return {s.rowSum(square(s, step))};
                   });
  auto asRow = [&](Value sizes) -> Value {
    return isOne ? sizes : ViewOp::create(builder, loc, type({matrices * rows}), sizes);
  };
  auto factor =
      map("factor " + name, {type({matrices * rows}), {full, full, scalar, scalar}, {row}},
          {asRow(parameterSizes), asRow(steps.getOutputs()[0]), all.learningRate, all.largestRate},
          {type({})}, [&](Scalars &s, ValueRange a) -> SmallVector<Value> {
            return {form.factor(s, s.rowSum(a[0]), s.rowSum(a[1]), matrices * rows * columns,
                                learningRate(s, a[2], parameter), a[3])};
          });

  operands = operandsOf(views);
  reads = llvm::map_to_vector(
      operands, [&](Value operand) { return tensor(operand).isScalar() ? scalar : full; });
  unsigned own = operands.size();
  operands.append(estimates);
  reads.append(ofEstimates);
  operands.push_back(factor.getOutputs()[0]);
  reads.push_back(scalar);
  SmallVector<TensorType> results(views.average ? 2 : 1, shape);
  auto op = map("update " + name, {shape, reads, SmallVector<AccessAttr>(results.size(), full)},
                operands, results, [&](Scalars &s, ValueRange a) {
                  return updated(s, a, parameter, a.back(), estimate(s, a.drop_front(own)));
                });
  assignUpdated(views, op.getOutputs());
  assign(rowMeans, mean.getOutputs()[1]);
  assign(columnMeans, nextColumns);
  return success();
}

} // namespace halftone::ir
