// SPDX-License-Identifier: Apache-2.0
// Marks batched products and the map over rows between them, as attention's, where chips run all of
// it in one kernel (docs/decisions/0027).
#include "codegen/ir/Forms.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/RowProducts.h"
#include "codegen/skeletons/Attention.h"
#include "codegen/skeletons/KernelGroup.h"

namespace halftone::ir {
#define GEN_PASS_DEF_JOINPRODUCTS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

skeletons::AttentionProduct formatsOf(ContractOp product) {
  TensorType rhs = tensor(product.getRhs());
  // Scores go over the columns of a head; the product with values gives them.
  return {tensor(product.getLhs()).getElementType(), rhs.getElementType(), rhs};
}

class Joint {
public:
  explicit Joint(MapOp rows) : around(rows) {}

  bool find() { return around.find(); }

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
    return skeletons::whyNotAttention(formatsOf(scores), formatsOf(mixed));
  }

  /// Likewise for one chip.
  std::string whyNotOn(StringRef chip) {
    return skeletons::whyNotAttentionOn(chip, formatsOf(scores), formatsOf(mixed));
  }

  void mark(StringAttr name) {
    around.gather();
    for (Operation *op : around.members)
      op->setAttr(kJoinedAttr, name);
  }

  void markApart(const std::string &reason) {
    around.rows->setAttr(
        kNotJoinedAttr,
        StringAttr::get(around.rows.getContext(), "its products are kernels apart: " + reason));
  }

private:
  static constexpr size_t kMembers = 3;

  RowProducts around;
  ContractOp scores, mixed;
};

struct JoinProductsPass : halftone::ir::impl::JoinProductsBase<JoinProductsPass> {
  using JoinProductsBase::JoinProductsBase;

  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>()) {
      int64_t count = 0;
      for (auto map : llvm::to_vector(graph.getBody().front().getOps<MapOp>())) {
        Joint joint(map);
        if (map.getSkeleton() == Skeleton::Row && joint.find())
          join(joint, graph.getName(),
               (getLayer(map) + ":" + map.getLabel() + "#" + Twine(count++)).str());
      }
    }
    if (apart.empty())
      return;
    Builder builder(&getContext());
    getOperation()->setAttr(kChipsApartAttr, builder.getStrArrayAttr(SmallVector<StringRef>(
                                                 apart.begin(), apart.end())));
  }

private:
  void join(Joint &joint, StringRef graph, const std::string &name) {
    if (std::string reason = joint.whyNot(); !reason.empty())
      return joint.markApart(reason);
    SmallVector<StringRef> cannot;
    llvm::copy_if(chips, std::back_inserter(cannot),
                  [&](StringRef chip) { return !joint.whyNotOn(chip).empty(); });
    if (cannot.size() == chips.size())
      return joint.markApart(joint.whyNotOn(cannot.front()));
    if (graph == kDecode)
      return joint.markApart("a pass that decodes has few rows, whose scores are small");
    if (graph == kDiagnosis)
      return;
    apart.insert_range(cannot);
    getOperation()->setAttr(kCpuApartAttr, UnitAttr::get(&getContext()));
    joint.mark(StringAttr::get(&getContext(), name));
  }

  llvm::SetVector<StringRef> apart; ///< chips that run some of it in kernels apart
};

} // namespace
} // namespace halftone::ir
