// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/UpdateForms.h"

#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

UpdateForms::UpdateForms(GraphOp graph)
    : graph(graph), module(graph->getParentOfType<ModuleOp>()),
      builder(OpBuilder::atBlockEnd(&graph.getBody().front())),
      loc(NameLoc::get(builder.getStringAttr("update"))), held(module),
      optimizer(createOptimizer(module->getAttrOfType<DictionaryAttr>(kOptimizerAttr), graph)),
      layout(graph, std::max(hasNorms() ? PartNorms::kBlock : 0, held.block())), schedule(graph),
      averages(module->getAttrOfType<FloatAttr>(kAverageAttr)) {}

bool UpdateForms::hasNorms() const {
  return module->hasAttr(kClipGroupsAttr) || optimizer->countSums() > 0;
}

Value UpdateForms::state(StringRef name, ArrayRef<Attribute> dims, double initial,
                         Element element) {
  auto type = TensorType::get(graph.getContext(), dims, typeOf(graph.getContext(), element));
  return StateOp::create(builder, loc, type, builder.getStringAttr(name),
                         builder.getF64FloatAttr(initial), builder.getUnitAttr());
}

Value UpdateForms::hyperparameter(StringRef name, double initial) {
  auto scalar = TensorType::get(graph.getContext(), {}, builder.getF32Type());
  return HyperparameterOp::create(builder, loc, scalar, builder.getStringAttr(name),
                                  builder.getF64FloatAttr(initial));
}

Value UpdateForms::ofOptimizer(StringRef name) {
  auto ofModel = module->getAttrOfType<DictionaryAttr>(kOptimizerAttr).getAs<FloatAttr>(name);
  return hyperparameter(name, ofModel.getValueAsDouble());
}

Value UpdateForms::unscaled(Scalars &s, Value gradient, Value coefficient, Value inverse) const {
  gradient = s.mul(gradient, inverse);
  return module->hasAttr(kClipAttr) ? s.mul(gradient, coefficient) : gradient;
}

Value UpdateForms::cut(Scalars &s, Value gradient) const {
  auto clip = module->getAttrOfType<FloatAttr>(kClipValueAttr);
  if (!clip)
    return gradient;
  double largest = clip.getValueAsDouble();
  return s.minimum(s.maximum(gradient, s.like(gradient, -largest)), s.like(gradient, largest));
}

} // namespace halftone::ir
