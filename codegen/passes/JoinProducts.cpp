// SPDX-License-Identifier: Apache-2.0
// Marks batched products and the map over rows between them, as attention's, where chips run all of
// it in one kernel, and of its gradient in two (docs/decisions/0027).
#include "codegen/passes/AttentionGradient.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/RowProducts.h"
#include "codegen/skeletons/KernelGroup.h"

namespace halftone::ir {
#define GEN_PASS_DEF_JOINPRODUCTS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// Queries times keys, a map over the rows of that, and what it gives times values.
class Attention {
public:
  explicit Attention(RowProducts &around) : around(around) {}

  /// Why these operations stay kernels apart, whatever the chip; empty where they need not.
  std::string whyNot() {
    MapOp rows = around.rows;
    scores = rows.getInputs().front().getDefiningOp<ContractOp>();
    Value weights = rows.getOutputs().front();
    mixed = weights.hasOneUse() ? dyn_cast<ContractOp>(*weights.user_begin()) : ContractOp();
    if (!scores || !mixed || rows.getNumResults() != 1 || around.members.size() != kMembers)
      return "it reads more than one product, or more than one reads it";
    if (scores.getTransposeLhs() || !scores.getTransposeRhs() || mixed.getLhs() != weights ||
        mixed.getTransposeLhs() || mixed.getTransposeRhs())
      return "its products are transposed otherwise than those of queries, keys and values";
    for (ContractOp product : {scores, mixed})
      if (accumulationOf(product) == Accumulation::Ordered)
        return "accumulate ordered: tensor cores sum in an order of their own";
    return skeletons::whyNotAttention(products());
  }

  /// Likewise for one chip.
  std::string whyNotOn(StringRef chip) { return skeletons::whyNotAttentionOn(chip, products()); }

  void mark(StringRef name) {
    around.gather();
    MLIRContext *context = around.rows.getContext();
    for (Operation *op : around.members) {
      op->setAttr(kJoinedAttr, StringAttr::get(context, name));
      op->setAttr(kJoinedByAttr, SkeletonAttr::get(context, Skeleton::Attention));
    }
  }

private:
  static constexpr size_t kMembers = 3;

  SmallVector<skeletons::AttentionProduct> products() {
    return {productOf("queries and keys", scores), productOf("weights and values", mixed)};
  }

  RowProducts &around;
  ContractOp scores, mixed;
};

struct JoinProductsPass : halftone::ir::impl::JoinProductsBase<JoinProductsPass> {
  using JoinProductsBase::JoinProductsBase;

  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>()) {
      int64_t count = 0;
      for (auto map : llvm::to_vector(graph.getBody().front().getOps<MapOp>())) {
        RowProducts around(map);
        if (map.getSkeleton() != Skeleton::Row || !around.find())
          continue;
        std::string name = (getLayer(map) + ":" + map.getLabel() + "#" + Twine(count++)).str();
        if (AttentionGradient gradient(around); gradient.find())
          join(gradient, map, name);
        else
          join(Attention(around), map, name);
      }
    }
    if (apart.empty())
      return;
    if (auto before = getOperation()->getAttrOfType<ArrayAttr>(kChipsApartAttr))
      apart.insert_range(before.getAsValueRange<StringAttr>());
    Builder builder(&getContext());
    getOperation()->setAttr(kChipsApartAttr, builder.getStrArrayAttr(SmallVector<StringRef>(
                                                 apart.begin(), apart.end())));
  }

private:
  /// Marks what one finds around the map, or says why not.
  template <class Products> void join(Products &&found, MapOp rows, StringRef name) {
    auto markApart = [&](const std::string &reason) {
      rows->setAttr(kNotJoinedAttr,
                    StringAttr::get(&getContext(), "its products are kernels apart: " + reason));
    };
    if (std::string reason = found.whyNot(); !reason.empty())
      return markApart(reason);
    SmallVector<StringRef> cannot;
    llvm::copy_if(chips, std::back_inserter(cannot),
                  [&](StringRef chip) { return !found.whyNotOn(chip).empty(); });
    if (cannot.size() == chips.size())
      return markApart(found.whyNotOn(cannot.front()));
    StringRef graph = rows->getParentOfType<GraphOp>().getName();
    if (graph == kDecode)
      return markApart("a pass that decodes has few rows, whose scores are small");
    if (graph == kDiagnosis)
      return;
    apart.insert_range(cannot);
    getOperation()->setAttr(kCpuApartAttr, UnitAttr::get(&getContext()));
    found.mark(name);
  }

  llvm::SetVector<StringRef> apart; ///< chips that run some of it in kernels apart
};

} // namespace
} // namespace halftone::ir
