// SPDX-License-Identifier: Apache-2.0
// From rules to an encoding for every operand and value: docs/spec/precision.md, P10 to P37.
#include "codegen/ir/Rules.h"
#include "codegen/passes/Passes.h"
#include "halftone/description/text.hpp"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace halftone::ir {
#define GEN_PASS_DEF_RESOLVEPRECISION
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;
namespace hd = halftone::description;

namespace halftone::ir {
namespace {

/// What `follow` stands for; nothing where there is nothing to follow.
using Followed = std::optional<Encoding>;

/// P20: what saturates in one of them alone does not in both.
Followed widest(Followed a, Followed b) {
  if (!a || a == b)
    return b;
  if (!b)
    return a;
  return a->element == b->element ? Encoding(a->element) : Encoding();
}

/// What is left behind at a point, however it was rounded; what is scaled counts as bf16 (P53).
Encoding heldAt(RoundingPointAttr point) {
  Encoding held = point.getEncoding();
  if (encoding::is_scaled(held))
    return Encoding(Element::bf16);
  held.rounding = hd::Rounding::nearest_even;
  return held;
}

/// Who won the fields that are no formats (kDecisionsAttr), each once.
using Decisions = llvm::SetVector<Attribute>;

/// Resolves one graph, operation by operation in order.
class Resolver {
public:
  Resolver(GraphOp graph, const Rules &rules, Decisions &ofModule)
      : graph(graph), rules(rules), context(graph.getContext()), ofModule(ofModule) {
    graph->getParentOfType<ModuleOp>().walk([this](Operation *op) { noteKinds(op); });
  }

  LogicalResult run() {
    for (Operation &op : llvm::reverse(graph.getBody().front()))
      if (op.getNumResults() == 0 ||
          llvm::any_of(op.getUsers(), [&](Operation *user) { return live.contains(user); }))
        live.insert(&op);
    for (auto input : graph.getBody().front().getOps<InputOp>())
      inputs.insert(input.getName());
    if (graph.isInference())
      for (auto parameter : graph.getBody().front().getOps<ParameterOp>())
        holdInCodes(parameter);
    for (Operation &op : graph.getBody().front())
      if ((isa<Layer, KernelForm, ViewOp>(op) && op.hasAttr(kLayerAttr)) ||
          isa<OutputGradientOp>(op))
        resolve(&op);
    return failure(hasFailed);
  }

private:
  using Chain = SmallVector<RoundingPointAttr>;

  /// A layer has the kind that import gave it; a parameter has those of all that read it (P5), in
  /// whichever graph.
  void noteKinds(Operation *op) {
    auto kind = op->getAttrOfType<StringAttr>(kKindAttr);
    std::optional<hd::Kind> known = kind ? hd::kind_of(kind.getValue()) : std::nullopt;
    if (!known || isBackward(op))
      return;
    if (!isa<ParameterOp>(op)) {
      kinds[getLayer(op)] = {*known};
      if (auto layer = dyn_cast<Layer>(op); layer && op->getParentOp() == graph)
        layers.try_emplace(getLayer(op), layer);
    }
    for (Value operand : op->getOperands())
      if (auto parameter = operand.getDefiningOp<ParameterOp>())
        kinds[parameter.getName()].push_back(*known);
  }

  static bool isBackward(Operation *op) {
    return getPhase(op) == Phase::LossBackward || getPhase(op) == Phase::Backward;
  }

  static bool isOfLoss(Operation *op) {
    return getPhase(op) == Phase::Loss || getPhase(op) == Phase::LossBackward;
  }

  static hd::Pass passOf(Operation *op) {
    if (!isBackward(op))
      return hd::Pass::forward;
    if (op->hasAttr(kInternalAttr)) // a part of the gradient that reads it
      return passOf(*op->user_begin());
    auto targets = op->getAttrOfType<ArrayAttr>(kGradientOfAttr);
    bool ofParameter =
        targets && llvm::any_of(targets.getAsRange<StringAttr>(), [&](StringAttr name) {
          return isParameterName(op, name.getValue());
        });
    return ofParameter ? hd::Pass::weight_gradient : hd::Pass::input_gradient;
  }

  static bool isParameterName(Operation *op, StringRef name) {
    auto parameters = op->getParentOfType<GraphOp>().getBody().front().getOps<ParameterOp>();
    return llvm::any_of(parameters, [&](ParameterOp p) { return p.getName() == name; });
  }

  /// Inside a layer or a loss: nothing is rounded there (P31).
  static bool isInternal(Value value) {
    Operation *op = value.getDefiningOp();
    if (!isFloat(value) || getPhase(op) == Phase::Loss)
      return true;
    if (isa<OutputGradientOp>(op))
      return false;
    return isBackward(op) ? targetOf(cast<OpResult>(value)).empty()
                          : cast<OpResult>(value).getResultNumber() > 0;
  }

  /// Read by the layer that keeps it, as it is (D17).
  static bool isKeptState(Value value) {
    auto state = value.getDefiningOp<StateOp>();
    return state && state->hasAttr(kKeptAttr);
  }

  /// What a gradient is a contribution to, empty inside a loss.
  static StringRef targetOf(OpResult result) {
    auto targets = result.getOwner()->getAttrOfType<ArrayAttr>(kGradientOfAttr);
    return targets ? cast<StringAttr>(targets[result.getResultNumber()]).getValue() : StringRef();
  }

  Site site(StringRef name, std::optional<hd::Role> role, std::optional<hd::Pass> pass,
            bool hasPart = false, bool named = false) {
    return {name.str(), hasPart, kinds.lookup(name), role, pass, named};
  }

  template <typename Field>
  RoundingPointAttr point(Encoding encoding, const Site &where, ValueRole role,
                          const Decision<Field> &decision) {
    Decision<hd::Rounding> rounding = rules.find(&hd::Rule::rounding, where);
    if (rounding.field && where.role)
      encoding.rounding = roundingOf(encoding.element, *rounding.field);
    if (rounding.field && where.role && encoding.element != Element::f32)
      note("rounding", hd::kRoundingWords[static_cast<size_t>(*rounding.field)], rounding, where);
    auto beaten = decision.beaten.empty() ? DenseI64ArrayAttr()
                                          : DenseI64ArrayAttr::get(context, decision.beaten);
    return RoundingPointAttr::get(context, encoding, role, decision.rule, beaten);
  }

  /// P49
  hd::Rounding roundingOf(Element element, hd::Rounding stated) {
    bool draws = !graph.isInference() && encoding::is_narrow(element);
    return draws || stated != hd::Rounding::stochastic ? stated : hd::Rounding::nearest_even;
  }

  /// Of the operation being resolved.
  template <typename Field>
  void note(StringRef field, StringRef setting, const Decision<Field> &decision,
            const Site &where) {
    ofOp.insert(decisionAttr(context, field, setting, decision.rule, decision.beaten, where));
  }

  /// The store of a value, `follow` being what stands for that word; nothing when a rule must name
  /// the role and none does.
  void addStore(Chain &chain, const Site &where, ValueRole role, Followed follow) {
    Decision<hd::EncodingChoice> store = rules.find(&hd::Rule::store, where);
    if (!where.named || store.field)
      chain.push_back(point(heldIn(store, follow), where, role, store));
  }

  static Encoding heldIn(const Decision<hd::EncodingChoice> &store, Followed follow) {
    hd::EncodingChoice choice = store.field.value_or(hd::EncodingChoice());
    Followed encoding = choice.follow ? follow : choice.encoding;
    bool isHeld = encoding && encoding::traits(encoding->element).stored;
    return isHeld ? *encoding : Encoding(); // P20
  }

  /// P11; role activation, gradient or weight gradient as the results that it rounds.
  void addResult(Chain &chain, Operation *op, hd::Pass pass, ValueRole role) {
    Site where = site(getLayer(op), std::nullopt, pass);
    Decision<Encoding> result = rules.find(&hd::Rule::result, where);
    if (result.field)
      chain.push_back(point(*result.field, where, role, result));
  }

  Chain readOperand(Operation *op, Value operand, hd::Pass pass,
                    bool isPartialSum) { // P18, P30, P33
    Chain chain;
    if (isPartialSum || isInternal(operand) || isKeptState(operand))
      return chain;
    Operation *producer = operand.getDefiningOp();
    hd::Role role = hd::Role::saved;
    ValueRole valueRole = ValueRole::Saved;
    if (auto parameter = dyn_cast<ParameterOp>(producer)) {
      if (parameter->hasAttr(kQuantizedAttr)) // P82
        return chain;
      role = hd::Role::weight;
      valueRole = ValueRole::Weight;
      addStore(chain, site(parameter.getName(), role, std::nullopt, true, true), valueRole, {});
    } else if (pass == hd::Pass::forward) {
      role = hd::Role::activation;
      valueRole = ValueRole::Activation;
    } else if (isBackward(producer)) {
      role = hd::Role::gradient;
      valueRole = ValueRole::Gradient;
    } else if (!isa<InputOp, StateOp>(producer)) {
      addStore(chain, savedSite(operand), valueRole, storedEncoding(operand));
    }
    Site where = site(getLayer(op), role, pass);
    Decision<hd::EncodingChoice> compute = rules.find(&hd::Rule::compute, where);
    hd::EncodingChoice choice = compute.field.value_or(hd::EncodingChoice());
    Encoding encoding = choice.follow ? widestOperand(op, pass) : choice.encoding;
    if (graph.isInference() || isOfLoss(op)) // P74
      encoding = encoding::without_delay(encoding);
    if (encoding.scaling.rotated && isa<ReduceOp>(op)) // P37: a bias' gradient
      encoding = Encoding();
    checkFactors(op, operand, encoding);
    checkRotated(op, operand, encoding);
    chain.push_back(point(encoding, where, valueRole, compute));
    return chain;
  }

  /// P88, P89: who multiplies sums by scales.
  void checkFactors(Operation *op, Value operand, const Encoding &encoding) {
    bool isVector = cast<TensorType>(operand.getType()).getRank() < 2;
    if (!encoding::factors_sums(encoding) || isVector || hasFailed)
      return;
    bool isOfVectors = encoding::is_of_vectors(encoding.scaling);
    auto wanted = isOfVectors ? hd::SumFactors::of_vectors : hd::SumFactors::of_tensors;
    if (llvm::any_of(kinds.lookup(getLayer(op)),
                     [&](hd::Kind kind) { return hd::form_of(kind).sum_factors >= wanted; }))
      return;
    op->emitError() << "'" << getLayer(op) << "' reads an operand under a scale of f32, "
                    << (isOfVectors
                            ? "one for each row or column, by which linear alone multiplies "
                              "its sums; scale where op linear, or state f8e8m0 (P89)"
                            : "by which linear and matmul alone multiply their sums; scale "
                              "where op linear|matmul, or state f8e8m0 (P88)");
    hasFailed = true;
  }

  /// P106, of which FactorScales checks the rest: who multiplies rotated blocks.
  void checkRotated(Operation *op, Value operand, const Encoding &encoding) {
    bool isVector = cast<TensorType>(operand.getType()).getRank() < 2;
    if (!encoding.scaling.rotated || isVector || hasFailed)
      return;
    if (llvm::any_of(kinds.lookup(getLayer(op)), [](hd::Kind kind) {
          return hd::form_of(kind).sum_factors != hd::SumFactors::none;
        }))
      return;
    op->emitError() << "'" << getLayer(op)
                    << "' reads an operand in rotated blocks, which linear and matmul alone "
                       "multiply; state rotated where op linear|matmul (P106)";
    hasFailed = true;
  }

  Encoding storedEncoding(Value value) {
    Followed known = stored.lookup(value);
    if (isDelivered(value)) // P30
      return Encoding();
    return known ? *known : elementOf(cast<TensorType>(value.getType()).getElementType());
  }

  Site savedSite(Value value) {
    return site(getLayer(value.getDefiningOp()), hd::Role::saved, hd::Pass::forward, false, true);
  }
  Site gradientSite(StringRef layer) {
    return site(layer, hd::Role::gradient, hd::Pass::input_gradient);
  }

  /// P20, P33: what the backward pass finds `value` in.
  Encoding savedEncoding(Value value) {
    if (isa<InputOp, StateOp>(value.getDefiningOp()))
      return storedEncoding(value);
    Decision<hd::EncodingChoice> store = rules.find(&hd::Rule::store, savedSite(value));
    return store.field ? heldIn(store, storedEncoding(value)) : storedEncoding(value);
  }

  /// P20, of a whole operation: all gradients of a pass read what they share alike (P37).
  Encoding widestOperand(Operation *op, hd::Pass pass) {
    Followed encoding;
    Layer layer = layers.lookup(getLayer(op));
    auto include = [&](Value value, Encoding read) {
      if (isFloat(value) && !isa<ParameterOp>(value.getDefiningOp()) && !isKeptState(value))
        encoding = widest(encoding, read);
    };
    if (pass == hd::Pass::forward || !layer) {
      for (Value operand : op->getOperands())
        include(operand, storedEncoding(operand));
    } else {
      if (getPhase(layer) == Phase::Forward)
        encoding = heldIn(rules.find(&hd::Rule::store, gradientSite(getLayer(op))),
                          activations.lookup(getLayer(op)));
      for (Value value : readForGradients(layer, pass))
        include(value, savedEncoding(value));
    }
    return encoding.value_or(Encoding());
  }

  /// What the gradients of one pass read of `layer` beside those that arrive.
  static SmallVector<Value> readForGradients(Layer layer, hd::Pass pass) {
    SmallVector<Value> values;
    for (auto [i, operand] : llvm::enumerate(layer->getOperands()))
      if (isa<ParameterOp>(operand.getDefiningOp()) == (pass == hd::Pass::weight_gradient))
        llvm::append_range(values, layer.readForGradient(i));
    return values;
  }

  Chain leaveResult(Operation *op, OpResult result, hd::Pass pass,
                    Encoding computed) { // P32 to P35
    Chain chain;
    bool partialSum = op->hasAttr(kPartialSumAttr) || isa<OutputGradientOp>(op);
    if (isInternal(result))
      return chain;
    if (!isBackward(op)) {
      addResult(chain, op, pass, ValueRole::Activation);
      addStore(chain, site(getLayer(op), hd::Role::activation, pass), ValueRole::Activation,
               computed);
      activations[getLayer(op)] = heldAt(chain.back());
      return chain;
    }
    StringRef target = targetOf(result);
    bool ofParameter = isParameterName(op, target);
    ValueRole role = ofParameter ? ValueRole::WeightGradient : ValueRole::Gradient;
    if (!partialSum)
      addResult(chain, op, pass, role);
    if (ofParameter)
      return chain;
    if (inputs.contains(target)) { // P36
      chain.push_back(RoundingPointAttr::get(context, Encoding(), role, -1, DenseI64ArrayAttr()));
      return chain;
    }
    addStore(chain, gradientSite(target), role, activations.lookup(target));
    return chain;
  }

  void resolve(Operation *op) {
    hd::Pass pass = passOf(op);
    bool partialSum = op->hasAttr(kPartialSumAttr) || isa<OutputGradientOp>(op);
    SmallVector<Attribute> operands, results;
    Followed computed; // the widest that operands other than parameters were rounded to
    for (Value operand : op->getOperands()) {
      Chain chain = readOperand(op, operand, pass, partialSum);
      if (!chain.empty() && !operand.getDefiningOp<ParameterOp>())
        computed = widest(computed, heldAt(chain.back()));
      operands.push_back(
          ArrayAttr::get(context, SmallVector<Attribute>(chain.begin(), chain.end())));
    }
    for (OpResult result : op->getResults()) {
      Chain chain = leaveResult(op, result, pass, computed.value_or(Encoding()));
      stored[result] = chain.empty() ? Encoding() : heldAt(chain.back());
      results.push_back(
          ArrayAttr::get(context, SmallVector<Attribute>(chain.begin(), chain.end())));
    }
    Site whole = site(getLayer(op), std::nullopt, pass);
    Decision<hd::Accumulation> accumulate = rules.find(&hd::Rule::accumulate, whole);
    if (accumulate.field && readsMatrix(op, 0))
      note("accumulate", hd::kAccumulationWords[static_cast<size_t>(*accumulate.field)], accumulate,
           whole);
    op->setAttr(kPrecisionAttr,
                PrecisionAttr::get(
                    context, ArrayAttr::get(context, operands), ArrayAttr::get(context, results),
                    static_cast<Accumulation>(accumulate.field.value_or(hd::Accumulation::f32))));
    if (!isBackward(op))
      decideRecompute(op, pass);
    recordDecisions(op);
  }

  void decideRecompute(Operation *op, hd::Pass pass) { // P16
    Site where = site(getLayer(op), hd::Role::activation, pass);
    Decision<bool> recompute = rules.find(&hd::Rule::recompute, where);
    if (!recompute.field)
      return;
    op->setAttr(kRecomputeAttr, BoolAttr::get(context, *recompute.field));
    note("recompute", *recompute.field ? "always" : "never", recompute, where);
  }

  /// P80
  void holdInCodes(ParameterOp parameter) {
    Site where = site(parameter.getName(), hd::Role::weight, std::nullopt, true, true);
    Decision<hd::Quantization> decision = rules.find(&hd::Rule::quantize, where);
    if (cast<TensorType>(parameter.getType()).getRank() < 2 || !decision.field ||
        !hd::is_quantized(decision.field->element))
      return;
    Builder builder(context);
    bool isSought = decision.field->scale == hd::Quantization::Scale::least_error;
    NamedAttrList how;
    how.append("element", TypeAttr::get(typeOf(context, decision.field->element)));
    how.append("least_error", builder.getBoolAttr(isSought));
    how.append("rule", builder.getI64IntegerAttr(decision.rule));
    if (!decision.beaten.empty())
      how.append("beaten", builder.getDenseI64ArrayAttr(decision.beaten));
    parameter->setAttr(kQuantizedAttr, how.getDictionary(context));
    std::string setting = encoding::word(decision.field->element);
    ofModule.insert(decisionAttr(context, "quantize", setting + (isSought ? " least_error" : ""),
                                 decision.rule, decision.beaten, where));
  }

  void recordDecisions(Operation *op) {
    if (!ofOp.empty())
      op->setAttr(kDecisionsAttr, ArrayAttr::get(context, ofOp.getArrayRef()));
    if (live.contains(op))
      ofModule.insert(ofOp.begin(), ofOp.end());
    ofOp.clear();
  }

  GraphOp graph;
  const Rules &rules;
  MLIRContext *context;
  Decisions ofOp, &ofModule;
  bool hasFailed = false;           ///< what was said of the first operation that cannot read so
  llvm::DenseSet<Operation *> live; ///< some gradients are built and not needed
  llvm::StringSet<> inputs;
  llvm::StringMap<SmallVector<hd::Kind>> kinds;
  llvm::StringMap<Layer> layers;          ///< of every layer its forward operation
  llvm::StringMap<Followed> activations;  ///< what every layer's result is held in
  llvm::DenseMap<Value, Followed> stored; ///< likewise of every value met so far
};

struct ResolvePrecisionPass : halftone::ir::impl::ResolvePrecisionBase<ResolvePrecisionPass> {
  void runOnOperation() override {
    Rules rules(getOperation());
    Decisions decisions;
    if (auto known = getOperation()->getAttrOfType<ArrayAttr>(kDecisionsAttr))
      decisions.insert(known.begin(), known.end()); // about internal values
    for (auto graph : getOperation().getOps<GraphOp>())
      if (failed(Resolver(graph, rules, decisions).run()))
        return signalPassFailure();
    if (!decisions.empty())
      getOperation()->setAttr(kDecisionsAttr,
                              ArrayAttr::get(&getContext(), decisions.getArrayRef()));
  }
};

} // namespace
} // namespace halftone::ir
