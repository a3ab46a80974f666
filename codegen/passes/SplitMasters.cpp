// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/SplitMasters.h"

#include "codegen/ir/Rules.h"

using namespace mlir;
namespace hd = halftone::description;

namespace halftone::ir {

void decideSplit(ModuleOp module) {
  Rules rules(module);
  Site site;
  site.role = hd::Role::master;
  Decision<Encoding> last = rules.find(&hd::Rule::master, site);
  if (!last.field || last.field->element != Element::bf16)
    return;
  Builder builder(module.getContext());
  NamedAttrList entries;
  entries.append("rule", builder.getI64IntegerAttr(last.rule));
  if (!last.beaten.empty())
    entries.append("beaten", builder.getDenseI64ArrayAttr(last.beaten));
  module->setAttr(kSplitByAttr, entries.getDictionary(module.getContext()));
}

bool splitsMasters(ModuleOp module) { return module->hasAttr(kSplitByAttr); }

/// In the middle between two numbers of bf16 whose even one is nearer to zero, where the code of
/// the remainder would be that of the middle on the even one's other side.
Value settled(Scalars &s, Value x) {
  constexpr int64_t kUpperLastAndLower = 0x1ffff, kMiddle = 0x08000;
  Value bits = s.bits(x);
  Value isMiddle = s.compare(arith::CmpIPredicate::eq, s.both(bits, s.integer(kUpperLastAndLower)),
                             s.integer(kMiddle));
  return s.real(s.select(isMiddle, s.minus(bits, s.integer(1)), bits));
}

static TensorType withElement(Value like, Element element) {
  auto type = cast<TensorType>(like.getType());
  return type.withElementType(typeOf(like.getContext(), element));
}

Value joinMasters(OpBuilder &builder, Location loc, Value upper, Value remainder, Phase phase) {
  auto map = makeMap(builder, loc, "join", {upper, remainder}, withElement(upper, Element::f32),
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       Value wide = arith::ExtFOp::create(builder, loc, builder.getF32Type(), e[0]);
                       Value lower = IntegerOp::create(builder, loc, builder.getI32Type(), e[1]);
                       return {s.real(s.plus(s.bits(wide), lower))};
                     });
  map->setAttr(kInlineAttr, builder.getUnitAttr());
  map->setAttr(kInternalAttr, builder.getUnitAttr());
  setPhase(map, phase);
  return map.getOutputs()[0];
}

std::pair<Value, Value> splitMasters(OpBuilder &builder, Location loc, Value x, Phase phase) {
  auto upper = CastOp::create(builder, loc, x, Encoding(Element::bf16));
  auto lower = makeMap(builder, loc, "remainder", x, withElement(x, Element::i16),
                       [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                         Value rounded = s.round(e[0], Encoding(Element::bf16));
                         Value rest = s.minus(s.bits(e[0]), s.bits(rounded));
                         Value kept = s.select(s.isNan(e[0]), s.integer(0), rest);
                         Type i16 = typeOf(builder.getContext(), Element::i16);
                         return {Low16Op::create(builder, loc, i16, kept)};
                       });
  setPhase(upper, phase);
  setPhase(lower, phase);
  return {upper, lower.getOutputs()[0]};
}

} // namespace halftone::ir
