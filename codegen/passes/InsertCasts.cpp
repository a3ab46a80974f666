// SPDX-License-Identifier: Apache-2.0
// Rounding points become operations: next to the value, once per value and chain of encodings
// (P38). Where an operation reads a narrow value its arithmetic is f32 all the same, so a cast that
// widens, exactly, stands before it and is computed inside its kernel; a contraction reads narrow
// matrices as they are.
#include "codegen/passes/Passes.h"
#include "codegen/passes/Rotation.h"
#include "codegen/passes/ScaledRounding.h"
#include "halftone/encoding/text.hpp"

namespace halftone::ir {
#define GEN_PASS_DEF_INSERTCASTS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

Element elementOf(Value value) {
  return ir::elementOf(cast<TensorType>(value.getType()).getElementType());
}

class Caster {
public:
  explicit Caster(GraphOp graph) : graph(graph), builder(graph.getContext()) {}

  void run() {
    SmallVector<Operation *> ops;
    for (Operation &op : graph.getBody().front())
      ops.push_back(&op);
    for (Operation *op : ops) {
      if (auto point = dyn_cast<OutputGradientOp>(op))
        cross(point);
      else if (auto precision = op->getAttrOfType<PrecisionAttr>(kPrecisionAttr))
        round(op, precision);
      else if (op->getNumResults() == 0)
        readAtSink(op);
    }
    graph->setAttr(kValuesAttr, builder.getArrayAttr(values));
    trackLiveAlone();
  }

private:
  auto points(Attribute chain) { return cast<ArrayAttr>(chain).getAsRange<RoundingPointAttr>(); }

  Value storedOf(Value value) {
    Value known = stored.lookup(value);
    return known ? known : value;
  }

  /// P36: what the losses leave is rounded by P34 already, if to a narrower format by `result`;
  /// what a caller gives is rounded here.
  void cross(OutputGradientOp point) {
    Value x = storedOf(point.getX());
    auto precision = point->getAttrOfType<PrecisionAttr>(kPrecisionAttr);
    Element store = Element::f32;
    for (RoundingPointAttr rounding : points(precision.getResults()[0]))
      store = rounding.getEncoding().element;
    if (elementOf(x) != store) {
      builder.setInsertionPoint(point);
      x = CastOp::create(builder, point.getLoc(), x, store);
      setPhase(x.getDefiningOp(), getPhase(point));
    }
    point.getXMutable().assign(x);
    point.getResult().setType(cast<TensorType>(x.getType()));
  }

  void readAtSink(Operation *op) { // P36
    if (auto assign = dyn_cast<AssignOp>(op))
      if (auto point = assign.getDestination().getDefiningOp<OutputGradientOp>())
        return takeExternal(assign, point);
    for (OpOperand &operand : op->getOpOperands())
      if (!isa<AssignOp>(op) || operand.getOperandNumber() > 0)
        operand.set(widen(storedOf(operand.get()), op, false));
  }

  void takeExternal(AssignOp assign, OutputGradientOp point) {
    builder.setInsertionPoint(assign);
    auto precision = point->getAttrOfType<PrecisionAttr>(kPrecisionAttr);
    for (RoundingPointAttr rounding : points(precision.getResults()[0])) {
      Value x = assign.getX();
      if (encoding::keeps(rounding.getEncoding(), elementOf(x)))
        continue;
      auto cast = CastOp::create(builder, assign.getLoc(), x, rounding.getEncoding(),
                                 nameIfDrawn(rounding, leftPoint(point->getResult(0))));
      setPhase(cast, Phase::External);
      assign.getXMutable().assign(cast);
    }
  }

  void round(Operation *op, PrecisionAttr precision) {
    bool inside = isa<Layer, KernelForm>(op);
    for (auto [i, chain] : llvm::enumerate(precision.getOperands())) {
      OpOperand &operand = op->getOpOperand(i);
      if (!isFloat(operand.get())) {
        operand.set(undelivered(operand.get(), Element::i32, op));
        continue;
      }
      Value value = storedOf(operand.get());
      RoundingPointAttr last;
      for (RoundingPointAttr point : points(chain))
        value = roundAt(value, last = point, operand.get(), op,
                        {readPoint(operand.get()),
                         point.getRole() == ValueRole::Saved && value != storedOf(operand.get())});
      if (last && isa<ParameterOp>(value.getDefiningOp())) // read as its master is
        record(value, nameOf(cast<OpResult>(value)), op, last);
      if (isa<HandOnOp>(op))
        return leave(op, value, op->getResult(0), points(precision.getResults()[0]));
      bool showsOperand = isView(op) || movesMatrix(op);
      if (showsOperand || readsMatrix(op, i))
        value = undelivered(value, Element::f32, op);
      if (showsOperand) {
        show(op, value);
        continue;
      }
      operand.set(readsMatrix(op, i) ? value : widen(value, op, inside));
    }
    for (auto [result, chain] : llvm::zip(op->getResults(), precision.getResults()))
      leave(op, result, result, points(chain));
  }

  /// What stands for integers that an input is delivered in, for readers that take them from
  /// memory: matrices, views, and labels and tokens, which may be indices (isInlined decides). All
  /// other values are computed inside of their readers, by widen().
  Value undelivered(Value value, Element to, Operation *reader) {
    if (!isDelivered(value))
      return value;
    Operation *&known = decoded[value];
    if (known) {
      setPhase(known, firstOf(getPhase(known), getPhase(reader)));
      return known->getResult(0);
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    known = CastOp::create(builder, value.getLoc(), value, to);
    for (StringRef name : {StringRef(kLayerAttr), StringRef(kKindAttr)})
      if (Attribute attribute = value.getDefiningOp()->getAttr(name))
        known->setAttr(name, attribute);
    setPhase(known, getPhase(reader));
    if (to == Element::i32)
      known->setAttr(kInlineAttr, builder.getUnitAttr());
    return known->getResult(0);
  }

  /// Whether it moves elements inside of a layer to where contractions alone read them.
  static bool movesMatrix(Operation *op) {
    return op->hasAttr(kInternalAttr) && movesElements(op) && areMatrices(op);
  }

  /// Whether contractions alone read what `op` leaves, or views of it.
  static bool areMatrices(Operation *op) {
    return llvm::all_of(op->getUses(), [](OpOperand &use) {
      Operation *reader = use.getOwner();
      return isa<ViewOp>(reader) ? reader->hasAttr(kInternalAttr) && areMatrices(reader)
                                 : readsMatrix(reader, use.getOperandNumber());
    });
  }

  /// A view, or what moves a matrix, shows what it reads as that is held: nothing is computed that
  /// would have to be f32.
  static void show(Operation *op, Value value) {
    Type element = cast<TensorType>(value.getType()).getElementType();
    op->setOperand(0, value);
    Value result = op->getResult(0);
    result.setType(cast<TensorType>(result.getType()).withElementType(element));
    if (auto map = dyn_cast<MapOp>(op))
      map.getBody().front().getArgument(0).setType(element);
  }

  /// What `op` leaves behind of `value` stands for `result` from here on.
  template <typename Points> void leave(Operation *op, Value value, OpResult result, Points chain) {
    RoundingPointAttr last;
    if (!chain.empty())
      madeByKernel(result);
    for (RoundingPointAttr point : chain) {
      value = roundAt(value, point, result, op, {leftPoint(result)});
      last = point;
    }
    stored[result] = value;
    if (last)
      record(value, nameOf(result), op, last);
  }

  /// The layer, or for a gradient the layer whose gradient it is.
  static StringRef nameOf(OpResult result) {
    if (auto parameter = dyn_cast<ParameterOp>(result.getOwner()))
      return parameter.getName();
    auto targets = result.getOwner()->getAttrOfType<ArrayAttr>(kGradientOfAttr);
    return targets ? cast<StringAttr>(targets[result.getResultNumber()]).getValue()
                   : getLayer(result.getOwner());
  }

  /// P48: what a point is called where an operation reads a value...
  static std::string readPoint(Value original) {
    auto result = cast<OpResult>(original);
    bool isGradient = result.getOwner()->hasAttr(kGradientOfAttr);
    return (nameOf(result) + (isGradient ? " gradient" : "")).str();
  }

  /// ... and where one leaves it.
  static std::string leftPoint(OpResult result) {
    Operation *op = result.getOwner();
    if (!op->hasAttr(kGradientOfAttr))
      return nameOf(result).str();
    bool isSum = op->hasAttr(kPartialSumAttr);
    return (nameOf(result) + (isSum ? " sum " : " gradient ") + getLayer(op)).str();
  }

  /// What a point is called, and whether it reads a value that was stored otherwise for the
  /// backward pass (P33).
  struct PointName {
    std::string name;
    bool isOfSaved = false;
  };

  /// P72: the scale of what is rounded to `to` at the point; null unless that is delayed.
  StateOp delayedScale(const PointName &name, const Encoding &to, RoundingPointAttr point) {
    if (!encoding::is_delayed(to))
      return {};
    std::string of = name.name + (name.isOfSaved ? " saved " : " ") + encoding::spelled(to);
    StateOp &known = delayedScales[of];
    if (known)
      return known;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&graph.getBody().front());
    auto scalar = TensorType::get(graph.getContext(), {}, builder.getF32Type());
    known = StateOp::create(builder, graph.getLoc(), scalar, builder.getStringAttr(of),
                            builder.getF64FloatAttr(1), builder.getUnitAttr());
    known->setAttr(kDelayedAttr, EncodingAttr::get(builder.getContext(), to));
    NamedAttrList decision;
    decision.append("rule", builder.getI64IntegerAttr(point.getRule()));
    if (point.getBeaten())
      decision.append("beaten", point.getBeaten());
    known->setAttr(kHeldByAttr, decision.getDictionary(builder.getContext()));
    return known;
  }

  /// Some gradients are built and not needed: what they alone round moves no scale.
  void trackLiveAlone() {
    llvm::DenseSet<Operation *> live;
    for (Operation &op : llvm::reverse(graph.getBody().front()))
      if ((op.getNumResults() == 0 && !isa<AmaxOp>(op)) ||
          llvm::any_of(op.getUsers(), [&](Operation *user) { return live.contains(user); }))
        live.insert(&op);
    for (auto &[rounding, built] : parts)
      if (!live.contains(rounding))
        for (Operation *op : built)
          if (isa<AmaxOp>(op))
            op->erase();
  }

  static StringRef nameIfDrawn(RoundingPointAttr point, StringRef name) {
    return point.getEncoding().rounding == encoding::Rounding::stochastic ? name : StringRef();
  }

  /// `value` rounded at a point called `of`; `original` is what it was before any rounding, `user`
  /// who asks.
  Value roundAt(Value value, RoundingPointAttr point, Value original, Operation *user,
                const PointName &of) {
    Element from = isDelivered(value) ? Element::f32 : elementOf(value); // P30
    Encoding to = encodingOf(point, cast<TensorType>(value.getType()));
    if (encoding::keeps(to, from))
      return value;
    StringRef name = nameIfDrawn(point, of.name);
    Operation *&known =
        casts[{value, EncodingAttr::get(builder.getContext(), to), builder.getStringAttr(name)}];
    if (known) {
      if (isSource(original.getDefiningOp()))
        readBy(user, known);
      return known->getResult(0);
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    SmallVector<Operation *> built;
    if (encoding::is_scaled(to))
      built = buildScaledRounding(builder, value.getLoc(), value, to, name,
                                  delayedScale(of, to, point));
    else
      built.push_back(CastOp::create(builder, value.getLoc(), value, to, name));
    Operation *op = known = built.back();
    for (Operation *part : built)
      tag(part, original, user);
    for (Operation *part : ArrayRef(built).drop_back())
      if (!isRotation(part)) // what that leaves is rounded (P105)
        part->setAttr(kRoundingAttr, builder.getUnitAttr());
    if (built.size() > 1)
      parts[op] = std::move(built);
    record(op->getResult(0), nameOf(cast<OpResult>(original)), user, point);
    NamedAttrList cast;
    cast.append("value", builder.getI64IntegerAttr(static_cast<int64_t>(values.size()) - 1));
    cast.append("from", EncodingAttr::get(builder.getContext(), from));
    cast.append("to", EncodingAttr::get(builder.getContext(), to));
    cast.append("rule", builder.getI64IntegerAttr(point.getRule()));
    op->setAttr(kCastAttr, cast.getDictionary(builder.getContext()));
    return op->getResult(0);
  }

  /// What `point` rounds a tensor of that type to (P51).
  static Encoding encodingOf(RoundingPointAttr point, TensorType type) {
    Encoding to = point.getEncoding();
    bool isVector = encoding::is_scaled(to) && type.getRank() < 2;
    return isVector ? Encoding(Element::bf16, to.rounding) : to;
  }

  /// That a source is read in both phases.
  void readBy(Operation *user, Operation *rounding) {
    Phase phase = firstOf(getPhase(rounding), getPhase(user));
    setPhase(rounding, phase);
    for (Operation *part : parts.lookup(rounding))
      setPhase(part, phase);
  }

  static bool isSource(Operation *op) { return isa<InputOp, StateOp, ParameterOp>(op); }

  /// The phase of a source's cast that is read in both. The losses' phases may be left out of a
  /// step whose gradients come from a caller (P36): what the backward pass reads too is made before
  /// them.
  static Phase firstOf(Phase a, Phase b) {
    auto [first, last] = std::minmax(a, b);
    bool ofLosses = first == Phase::Loss || first == Phase::LossBackward;
    return ofLosses && last == Phase::Backward ? Phase::Forward : first;
  }

  void tag(Operation *cast, Value original, Operation *user) {
    Operation *producer = original.getDefiningOp();
    for (StringRef name : {StringRef(kLayerAttr), StringRef(kKindAttr)})
      if (Attribute attribute = producer->getAttr(name))
        cast->setAttr(name, attribute);
    setPhase(cast, isSource(producer)                ? getPhase(user)
                   : isa<OutputGradientOp>(producer) ? Phase::Backward
                                                     : getPhase(producer));
  }

  /// f32 again, exactly: inside the reader's kernel, or as a value of its own for a sink.
  Value widen(Value value, Operation *reader, bool inside) {
    if (!isFloat(value) || elementOf(value) == Element::f32)
      return value;
    OpBuilder::InsertionGuard guard(builder);
    if (inside)
      builder.setInsertionPoint(reader);
    else
      builder.setInsertionPointAfterValue(value);
    auto op = CastOp::create(builder, value.getLoc(), value, Element::f32);
    if (inside)
      op->setAttr(kInlineAttr, builder.getUnitAttr());
    setPhase(op, getPhase(inside ? reader : value.getDefiningOp()));
    return op;
  }

  /// Of a gradient that is a view of what its formula makes inside: that, which leaves, too.
  static OpResult madeByKernel(OpResult result) {
    auto inside = dyn_cast<OpResult>(getViewed(result));
    if (!inside || inside == result || !inside.getOwner()->hasAttr(kInternalAttr))
      return result;
    inside.getOwner()->removeAttr(kInternalAttr);
    return inside;
  }

  /// Notes what rules decided about a value, for people.
  void record(Value value, StringRef name, Operation *decidedFor, RoundingPointAttr point) {
    OpResult result = madeByKernel(cast<OpResult>(value));
    Operation *op = result.getOwner();
    NamedAttrList entry;
    entry.append("name", builder.getStringAttr(name));
    entry.append("layer", builder.getStringAttr(getLayer(decidedFor)));
    if (Attribute kind = decidedFor->getAttr(kKindAttr))
      entry.append("op", kind);
    entry.append("role", builder.getI64IntegerAttr(static_cast<int64_t>(point.getRole())));
    entry.append("type", TypeAttr::get(value.getType()));
    entry.append("rule", builder.getI64IntegerAttr(point.getRule()));
    if (point.getBeaten())
      entry.append("beaten", point.getBeaten());
    auto known = op->getAttrOfType<DenseI64ArrayAttr>(kValuesAttr);
    SmallVector<int64_t> indices = known ? SmallVector<int64_t>(known.asArrayRef())
                                         : SmallVector<int64_t>(op->getNumResults(), -1);
    if (indices[result.getResultNumber()] >= 0)
      return;
    indices[result.getResultNumber()] = static_cast<int64_t>(values.size());
    op->setAttr(kValuesAttr, builder.getDenseI64ArrayAttr(indices));
    values.push_back(entry.getDictionary(builder.getContext()));
  }

  using Key = std::tuple<Value, EncodingAttr, StringAttr>;
  GraphOp graph;
  OpBuilder builder;
  llvm::DenseMap<Value, Value> stored; ///< an unrounded value to what is left of it
  llvm::DenseMap<Key, Operation *> casts;
  llvm::DenseMap<Operation *, SmallVector<Operation *>>
      parts; ///< of a scaled rounding, by its last
  llvm::StringMap<StateOp> delayedScales;
  llvm::DenseMap<Value, Operation *> decoded; ///< inputs of integers to what stands for them
  SmallVector<Attribute> values;
};

struct InsertCastsPass : halftone::ir::impl::InsertCastsBase<InsertCastsPass> {
  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>()) {
      Caster(graph).run();
      for (auto op : llvm::make_early_inc_range(graph.getBody().front().getOps<HandOnOp>())) {
        op.replaceAllUsesWith(op.getX()); // of one that no rules were asked about
        op.erase();
      }
    }
  }
};

} // namespace
} // namespace halftone::ir
