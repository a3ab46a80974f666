// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/HostStays.h"

#include "codegen/ir/Rules.h"
#include "codegen/passes/Lifetimes.h"
#include "codegen/plan/PlanList.h"
#include "codegen/plan/StayTimes.h"
#include "halftone/description/text.hpp"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>
#include <limits>
#include <map>

using namespace mlir;
namespace hd = halftone::description;

namespace halftone::ir {

bool isBehindStays(Phase phase) {
  return phase == Phase::LossBackward || phase == Phase::External || phase == Phase::Backward;
}

static bool isBeforeStays(Phase phase) { return phase == Phase::Forward || phase == Phase::Loss; }

namespace {

/// Between the passes nothing uses it, and behind them nothing writes it.
struct Use {
  int64_t lastUse = -1, nextUse = -1;
  bool isOtherwise = false; ///< used in another way than that

  bool isKept() const { return lastUse >= 0 && nextUse >= 0 && !isOtherwise; }
};

/// What rules said of a value in a buffer.
struct Ruled {
  Site site;
  Decision<hd::Memory> memory;
};

class StayFinder {
public:
  StayFinder(GraphOp graph, const HostStaysOptions &options,
             llvm::function_ref<int64_t(Value)> placeOf,
             llvm::function_ref<TensorType(int64_t)> typeOf)
      : graph(graph), module(graph->getParentOfType<ModuleOp>()), block(graph.getBody().front()),
        options(options), placeOf(placeOf), typeOf(typeOf) {}

  SmallVector<HostStay> run() {
    findUses();
    findRuled();
    SmallVector<Stayable> stayable;
    SmallVector<int64_t> buffers;
    Lifetimes lifetimes(graph, options.sizes);
    for (const auto &[buffer, values] : ruled)
      if (isInHost(values)) {
        buffers.push_back(buffer);
        const Use &use = uses[buffer];
        stayable.push_back({lifetimes.bytesOf(typeOf(buffer)), use.lastUse, use.nextUse});
      } else {
        note(values, "device");
      }
    SmallVector<HostStay> stays;
    if (meanwhile.empty() || options.alike) {
      for (int64_t buffer : buffers)
        note(ruled[buffer], meanwhile.empty() ? "host" : "device, as of the CPU");
    } else {
      for (auto [buffer, times] :
           llvm::zip_equal(buffers, findStayTimes(stayable, meanwhile, options.leastBytes))) {
        note(ruled[buffer], settingOf(times.verdict));
        if (times.verdict == StayVerdict::stays)
          stays.push_back({buffer, times.until, times.from});
      }
    }
    writeNotes();
    if (!stays.empty())
      module->setAttr(kCpuApartAttr, UnitAttr::get(module.getContext()));
    return stays;
  }

private:
  /// A section runs once for every chunk, so that it uses what its kernels do from its first to its
  /// last.
  void findUses() {
    llvm::MapVector<Attribute, std::pair<int64_t, int64_t>> sections;
    int64_t time = 0;
    for (auto kernel : block.getOps<KernelOp>()) {
      if (Attribute section = kernel->getAttr(kSectionAttr))
        sections.try_emplace(section, time, time).first->second.second = time;
      addTime(kernel);
      ++time;
    }
    time = 0;
    for (auto kernel : block.getOps<KernelOp>()) {
      std::pair<int64_t, int64_t> span(time, time);
      if (Attribute section = kernel->getAttr(kSectionAttr))
        span = sections[section];
      for (Value input : kernel.getInputs())
        addUse(input, getPhase(kernel), span, false);
      for (Value result : kernel->getResults())
        addUse(result, getPhase(kernel), span, true);
      ++time;
    }
  }

  void addUse(Value value, Phase phase, std::pair<int64_t, int64_t> span, bool isWritten) {
    int64_t buffer = placeOf(value);
    if (!typeOf(buffer))
      return;
    Use &use = uses[buffer];
    if (isBeforeStays(phase))
      use.lastUse = std::max(use.lastUse, span.second);
    else if (isBehindStays(phase) && !isWritten)
      use.nextUse = use.nextUse < 0 ? span.first : std::min(use.nextUse, span.first);
    else
      use.isOtherwise = true;
  }

  /// What the bus moves meanwhile, on the chip where that is least; nothing beside what not every
  /// step runs.
  void addTime(KernelOp kernel) {
    std::optional<ArrayAttr> chips = kernel.getCudaPlans();
    if (!chips || chips->empty())
      return;
    double least = std::numeric_limits<double>::infinity();
    for (auto chip : chips->getAsRange<ChipPlansAttr>())
      if (!chip.getPlans().empty())
        least = std::min(least, microsecondsOf(chip.getPlans().front()) *
                                    busBytesPerMicrosecond(*findChip(chip.getChip())));
    bool isOfStep = isBeforeStays(getPhase(kernel)) || getPhase(kernel) == Phase::LossBackward ||
                    getPhase(kernel) == Phase::Backward;
    meanwhile.push_back(isOfStep && std::isfinite(least) ? least : 0);
  }

  /// Values that the forward pass leaves, by the buffers that are kept for the backward pass.
  void findRuled() {
    auto values = graph->getAttrOfType<ArrayAttr>(kValuesAttr);
    if (!values)
      return;
    Rules rules(module);
    for (Operation &op : block) {
      auto indices = op.getAttrOfType<DenseI64ArrayAttr>(kValuesAttr);
      if (!indices || !isa<KernelOp, ViewOp, WholeOp>(op))
        continue;
      for (auto [result, index] : llvm::zip(op.getResults(), indices.asArrayRef())) {
        if (index < 0)
          continue;
        auto entry = cast<DictionaryAttr>(values[index]);
        auto role = static_cast<ValueRole>(entry.getAs<IntegerAttr>("role").getInt());
        if (role != ValueRole::Activation && role != ValueRole::Saved)
          continue;
        int64_t buffer = placeOf(result);
        auto use = uses.find(buffer);
        if (use == uses.end() || !use->second.isKept())
          continue;
        Site site{entry.getAs<StringAttr>("layer").getValue().str(), false, kindsOf(entry),
                  hd::Role::activation, hd::Pass::forward};
        auto memory = rules.find(&hd::Rule::place, site);
        if (!memory.field)
          continue;
        site.role = static_cast<hd::Role>(role);
        ruled[buffer].push_back({site, memory});
      }
    }
  }

  static SmallVector<hd::Kind> kindsOf(DictionaryAttr entry) {
    auto op = entry.getAs<StringAttr>("op");
    std::optional<hd::Kind> kind = op ? hd::kind_of(op.getValue()) : std::nullopt;
    return kind ? SmallVector<hd::Kind>{*kind} : SmallVector<hd::Kind>();
  }

  static bool isInHost(ArrayRef<Ruled> values) {
    return llvm::all_of(values,
                        [](const Ruled &one) { return one.memory.field == hd::Memory::host; });
  }

  static StringRef settingOf(StayVerdict verdict) {
    switch (verdict) {
    case StayVerdict::stays:
      return "host";
    case StayVerdict::isSmall:
      return "device, too small to move";
    case StayVerdict::isSoonNeeded:
      return "device, needed again too soon";
    }
    llvm_unreachable("all verdicts are listed");
  }

  void note(ArrayRef<Ruled> values, StringRef setting) {
    for (const Ruled &one : values)
      notes.insert(decisionAttr(module.getContext(), "place", setting, one.memory.rule,
                                one.memory.beaten, one.site));
  }

  void writeNotes() {
    if (notes.empty())
      return;
    SmallVector<Attribute> all;
    if (auto known = module->getAttrOfType<ArrayAttr>(kDecisionsAttr))
      llvm::append_range(all, known);
    llvm::append_range(all, notes);
    module->setAttr(kDecisionsAttr, ArrayAttr::get(module.getContext(), all));
  }

  GraphOp graph;
  ModuleOp module;
  Block &block;
  const HostStaysOptions &options;
  llvm::function_ref<int64_t(Value)> placeOf;
  llvm::function_ref<TensorType(int64_t)> typeOf;     ///< null of what may not stay
  std::map<int64_t, Use> uses;                        ///< by buffer
  llvm::MapVector<int64_t, SmallVector<Ruled>> ruled; ///< likewise
  SmallVector<double> meanwhile;                      ///< of all kernels or of none
  llvm::SmallSetVector<Attribute, 8> notes;
};

} // namespace

SmallVector<HostStay> findHostStays(GraphOp graph, const HostStaysOptions &options,
                                    llvm::function_ref<int64_t(Value)> placeOf,
                                    llvm::function_ref<TensorType(int64_t)> typeOf) {
  if (!graph.isTraining() || graph.getName() == kDiagnosis)
    return {};
  return StayFinder(graph, options, placeOf, typeOf).run();
}

} // namespace halftone::ir
