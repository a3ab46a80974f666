// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/HeldStates.h"

#include "codegen/ir/Rules.h"
#include "halftone/description/text.hpp"

using namespace mlir;
namespace hd = halftone::description;

namespace halftone::ir {

static Element heldIn(Value value) {
  return elementOf(cast<TensorType>(value.getType()).getElementType());
}

/// That a rule decided a field of all states.
template <typename Field>
static void note(ModuleOp module, StringRef field, StringRef setting, const Decision<Field> &by,
                 const Site &site) {
  SmallVector<Attribute> noted;
  if (auto known = module->getAttrOfType<ArrayAttr>(kDecisionsAttr))
    llvm::append_range(noted, known);
  noted.push_back(decisionAttr(module.getContext(), field, setting, by.rule, by.beaten, site));
  module->setAttr(kDecisionsAttr, ArrayAttr::get(module.getContext(), noted));
}

HeldStates::HeldStates(ModuleOp module) : context(module.getContext()) {
  Rules rules(module);
  Site site;
  site.role = hd::Role::optimizer_state;
  site.named = true;
  auto memory = rules.find(&hd::Rule::place, site);
  isInHost = memory.field == hd::Memory::host;
  if (memory.field)
    note(module, "place", hd::kMemoryWords[static_cast<size_t>(*memory.field)], memory, site);
  auto store = rules.find(&hd::Rule::store, site);
  if (!store.field)
    return;
  Builder builder(module.getContext());
  NamedAttrList entries;
  entries.append("rule", builder.getI64IntegerAttr(store.rule));
  if (!store.beaten.empty())
    entries.append("beaten", builder.getDenseI64ArrayAttr(store.beaten));
  decision = entries.getDictionary(module.getContext());
  encoding = store.field->encoding;
  auto rounding = rules.find(&hd::Rule::rounding, site);
  if (!rounding.field || encoding.element == Element::f32)
    return;
  encoding.rounding = *rounding.field;
  note(module, "rounding", hd::kRoundingWords[static_cast<size_t>(*rounding.field)], rounding,
       site);
}

double HeldStates::first(double initial) const {
  auto type = cast<FloatType>(typeOf(context, encoding.element));
  llvm::APFloat value(static_cast<float>(initial));
  bool loses = false;
  value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
  if (encoding.saturate && value.isInfinity())
    value = llvm::APFloat::getLargest(type.getFloatSemantics(), value.isNegative());
  return value.convertToDouble();
}

Value HeldStates::state(Value state) const {
  if (decision)
    state.getDefiningOp()->setAttr(kHeldByAttr, decision);
  return place(state);
}

Value HeldStates::place(Value state) const {
  if (isInHost)
    state.getDefiningOp()->setAttr(kInHostAttr, UnitAttr::get(context));
  return state;
}

Value HeldStates::read(OpBuilder &builder, Value state) const {
  if (heldIn(state) == Element::f32)
    return state;
  auto wide = CastOp::create(builder, state.getLoc(), state, Encoding(Element::f32));
  wide->setAttr(kInlineAttr, builder.getUnitAttr());
  setPhase(wide, Phase::Update);
  return wide;
}

Value HeldStates::round(OpBuilder &builder, Value next, Value state) const {
  if (heldIn(state) == Element::f32)
    return next;
  bool isDrawn = encoding.rounding == encoding::Rounding::stochastic;
  StringRef name = cast<StateOp>(getViewed(state).getDefiningOp()).getName();
  Encoding codes = encoding;
  codes.scaling = {};
  auto cast = CastOp::create(builder, state.getLoc(), next, codes, isDrawn ? name : StringRef());
  setPhase(cast, Phase::Update);
  return cast;
}

/// As torchao's OptimState8bit and OptimStateFp8 have it, the largest magnitude of less than 1e-12
/// counting as that much.
Value HeldStates::scaleOfRow(Scalars &s, Value next) const {
  constexpr double kLeast = 1e-12;
  Value magnitude = s.rowMax(s.absolute(next));
  Value kept = s.maximum(magnitude, s.like(next, kLeast));
  return s.div(kept, s.like(next, largestOf(encoding.element)));
}

} // namespace halftone::ir
