// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/MemoryBudget.h"

#include "halftone/description/text.hpp"
#include "halftone/manifest/plan.hpp"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <map>

using namespace mlir;
namespace hd = halftone::description;
namespace hm = halftone::manifest;

namespace halftone::ir {
namespace {

/// Where more steps did not always take less, so many numbers of steps are tried before a budget is
/// refused.
constexpr int64_t kTries = 8;

std::string digits(double number, int decimals) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f", decimals, number);
  return text;
}

class BudgetSearch {
public:
  BudgetSearch(const hd::Description &description, const ResolvedFor &resolved,
               const AssumedSizes &assumed, llvm::function_ref<PlannedModule(int64_t)> plan)
      : description(description), resolved(resolved), assumed(assumed), plan(plan),
        budget(memoryBudgetOf(description.rules, resolved.first())) {}

  PlannedModule run(MLIRContext *context) {
    if (!budget.field || description.losses.empty())
      return plan(-1);
    if (failed(tryOut(0)))
      return failure();
    without = bytes.at(0);
    const hd::MemoryBudget &stated = *budget.field;
    most = stated.kind == hd::MemoryBudget::Kind::bytes
               ? stated.bytes
               : static_cast<int64_t>(stated.share * static_cast<double>(without) + 1e-6);
    FailureOr<int64_t> steps = findSteps();
    if (failed(steps))
      return failure();
    if (*steps < 0)
      return emitError(UnknownLoc::get(context)) << refusal();
    if (*steps != latestSteps && failed(tryOut(*steps)))
      return failure();
    note(*latest);
    return std::move(latest);
  }

private:
  /// As few as fit, if more never take more memory; -1 where no number of steps fits.
  FailureOr<int64_t> findSteps() {
    if (bytes.at(0) <= most)
      return 0;
    FailureOr<bool> fit = fits(all);
    if (failed(fit))
      return failure();
    if (!*fit)
      return tryMany();
    int64_t tooFew = 0, enough = all;
    while (enough - tooFew > 1) {
      int64_t middle = tooFew + (enough - tooFew) / 2;
      fit = fits(middle);
      if (failed(fit))
        return failure();
      (*fit ? enough : tooFew) = middle;
    }
    return enough;
  }

  FailureOr<int64_t> tryMany() {
    for (int64_t i = 1; i < kTries; ++i) {
      FailureOr<bool> fit = fits(i * all / kTries);
      if (failed(fit))
        return failure();
      if (*fit)
        return i * all / kTries;
    }
    return -1;
  }

  FailureOr<bool> fits(int64_t steps) {
    if (!bytes.count(steps) && failed(tryOut(steps)))
      return failure();
    return bytes.at(steps) <= most;
  }

  LogicalResult tryOut(int64_t steps) {
    PlannedModule planned = plan(steps);
    if (failed(planned))
      return failure();
    latest = std::move(*planned);
    latestSteps = steps;
    all = recomputation().getAs<IntegerAttr>("steps").getInt();
    hm::Manifest manifest = buildManifest(*latest, description, resolved, {}, assumed).manifest;
    auto training = llvm::find_if(manifest.programs,
                                  [](const hm::Program &of) { return of.name == "training"; });
    bytes[steps] = hm::activation_bytes(*training, manifest.assumed);
    sizes.clear();
    for (auto [symbol, size] : llvm::zip_equal(manifest.symbols, manifest.assumed))
      sizes += (sizes.empty() ? " at " : ", ") + symbol + "=" + std::to_string(size);
    return success();
  }

  DictionaryAttr recomputation() {
    return (*latest)->getAttrOfType<DictionaryAttr>(kRecomputationAttr);
  }

  std::string refusal() const {
    int64_t least = without;
    for (auto [steps, taken] : bytes)
      least = std::min(least, taken);
    std::string remedy = std::to_string(least) + " bytes";
    if (budget.field->kind == hd::MemoryBudget::Kind::share)
      remedy = "a share of " + digits(std::ceil(1000.0 * least / without) / 1000, 3);
    return "the rule '" + hd::rule_text(description.rules[budget.rule]) + "' leaves activations " +
           std::to_string(most) + " of the " + std::to_string(without) +
           " bytes that they take without it" + sizes + ", and they need " + std::to_string(least) +
           ": write " + remedy + " or more (P67)";
  }

  void note(ModuleOp module) {
    DictionaryAttr chosen = recomputation();
    auto number = [&](StringRef name) { return chosen.getAs<FloatAttr>(name).getValueAsDouble(); };
    std::string setting =
        std::to_string(bytes.at(latestSteps)) + " of " + std::to_string(without) + " bytes" +
        sizes + ", " + digits(number("operations"), 0) + " operations again, " +
        digits(100 * number("operations") / number("of_step"), 1) + " % of a step's";
    MLIRContext *context = module.getContext();
    SmallVector<Attribute> decisions;
    if (auto known = module->getAttrOfType<ArrayAttr>(kDecisionsAttr))
      decisions.assign(known.begin(), known.end());
    decisions.push_back(
        decisionAttr(context, "memory_budget", setting, budget.rule, budget.beaten, Site{}));
    for (StringRef layer : chosen.getAs<ArrayAttr>("layers").getAsValueRange<StringAttr>()) {
      Site site{layer.str(), false, {}, hd::Role::activation, hd::Pass::forward};
      decisions.push_back(decisionAttr(context, "recompute", "always", budget.rule, {}, site));
    }
    module->setAttr(kDecisionsAttr, ArrayAttr::get(context, decisions));
  }

  const hd::Description &description;
  const ResolvedFor &resolved;
  const AssumedSizes &assumed;
  llvm::function_ref<PlannedModule(int64_t)> plan;
  Decision<hd::MemoryBudget> budget;
  int64_t without = 0, most = 0, all = 0;
  std::map<int64_t, int64_t> bytes; ///< by steps that were tried
  OwningOpRef<ModuleOp> latest;
  int64_t latestSteps = -1;
  std::string sizes; ///< " at batch=256"
};

} // namespace

PlannedModule planWithinBudget(const hd::Description &description, const ResolvedFor &resolved,
                               const AssumedSizes &assumed, MLIRContext *context,
                               llvm::function_ref<PlannedModule(int64_t)> plan) {
  return BudgetSearch(description, resolved, assumed, plan).run(context);
}

} // namespace halftone::ir
