// SPDX-License-Identifier: Apache-2.0
#include "codegen/audit/Audit.h"

#include "codegen/import/FromDescription.h"
#include "codegen/passes/Passes.h"
#include "halftone/description/text.hpp"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace halftone::audit {

namespace {

/// Layers as primitives, with their gradients and all rounding points: what the pipeline does
/// before it decides what is kept, fused and planned, none of which changes a bit.
LogicalResult lower(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.addPass(ir::createRoundInternals());
  manager.addPass(ir::createBuildBackward());
  manager.addPass(ir::createResolvePrecision());
  manager.addPass(ir::createInsertCasts());
  manager.addPass(ir::createChooseGrades());
  manager.addPass(createCSEPass());
  manager.addPass(ir::createLowerLayers());
  return manager.run(module);
}

/// The training graph where there is one.
ir::GraphOp chooseGraph(ModuleOp module) {
  ir::GraphOp chosen;
  for (auto graph : module.getOps<ir::GraphOp>())
    if (!chosen || graph.isTraining())
      chosen = graph;
  return chosen;
}

/// Partial sums go to the nearest f32 on CPUs, to either neighbour on tensor cores (N8).
double unitOf(const std::string &target) { return target == "cpu" ? kUnit : 2 * kUnit; }

void collectSymbols(const description::Description &model, const ir::AssumedSizes &assumed,
                    Audit &audit) {
  std::set<std::string> symbols;
  for (const description::Node &node : model.nodes)
    for (const description::Dimension &dimension : node.shape)
      if (!dimension.symbol.empty())
        symbols.insert(dimension.symbol);
  for (const std::string &symbol : symbols)
    audit.sizes.emplace_back(symbol, ir::assumedSize(assumed, symbol));
}

/// What is wrong with a size that is assumed of no symbol of the model, as where artifacts are
/// made; empty where there is none such.
std::string unknownSymbol(const Audit &audit, const ir::AssumedSizes &assumed) {
  std::string known;
  for (const auto &[symbol, size] : audit.sizes)
    known += (known.empty() ? "it has " : ", ") + symbol;
  for (const auto &entry : assumed)
    if (llvm::none_of(audit.sizes, [&](const auto &each) { return each.first == entry.getKey(); }))
      return "a size is assumed of '" + entry.getKey().str() + "', which is no symbol of model '" +
             audit.model + "': " + (known.empty() ? "it has none" : known);
  return {};
}

/// Losses or, in a model without any, the values that no other value follows.
void chooseResults(Audit &audit) {
  const std::vector<Audited> &values = audit.bounds.values;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].isLoss)
      audit.results.push_back(i);
  for (size_t i = values.size(); audit.results.empty() && i-- > 0;)
    if (values[i].role == ir::ValueRole::Activation)
      audit.results.push_back(i);
}

/// A name in the ranges that says nothing about the model, if there is one.
std::string unusedName(const Ranges &ranges, const std::set<std::string> &used) {
  auto first = [&](const auto &names) {
    for (const auto &[name, value] : names)
      if (!used.contains(name))
        return name;
    return std::string();
  };
  std::string name = first(ranges.tensors);
  name = name.empty() ? first(ranges.leastDeviations) : name;
  return name.empty() ? first(ranges.assumed) : name;
}

} // namespace

std::variant<Audit, std::string> auditModel(const description::Description &model,
                                            const AuditOptions &options, MLIRContext *context) {
  Audit audit;
  audit.model = model.name;
  audit.target = options.target;
  collectSymbols(model, options.sizes, audit);
  if (std::string unknown = unknownSymbol(audit, options.sizes); !unknown.empty())
    return unknown;
  OwningOpRef<ModuleOp> module =
      ir::importDescription(model, options.target, context, options.stage);
  if (failed(lower(*module)))
    return std::string();
  ir::GraphOp graph = chooseGraph(*module);
  auto bound = [&](LeftOut leftOut) {
    return boundGraph(graph, options.ranges, options.sizes, unitOf(options.target), leftOut);
  };
  auto bounds = bound({});
  if (auto *failure = std::get_if<GraphFailure>(&bounds))
    return options.file + ": " + failure->sentence;
  audit.program = graph.getName().str();
  for (const description::Rule &rule : model.rules)
    audit.rules.push_back(description::rule_text(rule));
  audit.bounds = std::get<GraphBounds>(std::move(bounds));
  std::string unused = unusedName(options.ranges, audit.bounds.used);
  if (!unused.empty())
    return options.file + ":" + std::to_string(options.ranges.lines.at(unused)) + ": '" + unused +
           "' is nothing of model '" + model.name +
           "' that a range is about; remove its line, or mend the name";
  if (options.ranges.lossScale > 0 && !(*module)->hasAttr(ir::kLossScaleAttr))
    return options.file + ": model '" + model.name +
           "' has no loss scale; remove the line loss_scale";
  chooseResults(audit);
  std::set<std::int64_t> rules;
  for (const Audited &value : audit.bounds.values)
    if (value.rounding > 0 && value.rule >= 0)
      rules.insert(value.rule);
  for (std::int64_t rule : rules) {
    GraphBounds without = std::get<GraphBounds>(bound(rule));
    RuleCost cost{rule, {}};
    for (size_t result : audit.results)
      cost.errors.push_back(without.values[result].after.error);
    audit.costs.push_back(std::move(cost));
  }
  find(audit, (*module)->hasAttr(ir::kLossScaleAttr));
  return audit;
}

} // namespace halftone::audit
