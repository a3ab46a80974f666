// SPDX-License-Identifier: Apache-2.0
// What rules round inside of layers: P39 of docs/spec/precision.md.
#include "codegen/ir/Rules.h"
#include "codegen/passes/Passes.h"
#include "halftone/description/text.hpp"
#include "halftone/encoding/text.hpp"
#include "llvm/ADT/SetVector.h"

namespace halftone::ir {
#define GEN_PASS_DEF_ROUNDINTERNALS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;
namespace hd = halftone::description;

namespace halftone::ir {
namespace {

struct RoundInternalsPass : halftone::ir::impl::RoundInternalsBase<RoundInternalsPass> {
  void runOnOperation() override {
    Rules rules(getOperation());
    getOperation().walk([&](Layer layer) { round(layer, rules); });
    if (!decisions.empty())
      getOperation()->setAttr(kDecisionsAttr,
                              ArrayAttr::get(&getContext(), decisions.getArrayRef()));
  }

private:
  void round(Layer layer, const Rules &rules) {
    std::optional<hd::Kind> kind = hd::kind_of(layer->getName().stripDialect());
    if (!kind) // the mean of a loss
      return;
    NamedAttrList rounded;
    for (StringRef value : hd::form_of(*kind).internals) {
      Site where{
          (getLayer(layer) + "." + value).str(), true, {*kind}, hd::Role::internal, {}, true};
      if (Encoding to = decide(where, rules); to.element != Element::f32)
        rounded.append(value, EncodingAttr::get(&getContext(), to));
    }
    if (!rounded.empty())
      layer->setAttr(kRoundedInsideAttr, rounded.getDictionary(&getContext()));
  }

  Encoding decide(const Site &where, const Rules &rules) {
    Decision<hd::EncodingChoice> store = rules.find(&hd::Rule::store, where);
    Decision<hd::Rounding> rounding = rules.find(&hd::Rule::rounding, where);
    if (!store.field)
      return {};
    Encoding to = store.field->encoding;
    note("store", encoding::spelled(to), store, where);
    if (rounding.field && to.element != Element::f32) {
      to.rounding = *rounding.field;
      note("rounding", hd::kRoundingWords[static_cast<size_t>(to.rounding)], rounding, where);
    }
    return to;
  }

  template <typename Field>
  void note(StringRef field, StringRef setting, const Decision<Field> &decision,
            const Site &where) {
    decisions.insert(
        decisionAttr(&getContext(), field, setting, decision.rule, decision.beaten, where));
  }

  llvm::SetVector<Attribute> decisions; // each once, whichever graphs have the layer
};

} // namespace
} // namespace halftone::ir
