// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Provenance.h"

#include "codegen/emit/ManifestBuilder.h"
#include "codegen/emit/TaskAxes.h"
#include "halftone/manifest/spelling.hpp"

using namespace mlir;
namespace hm = halftone::manifest;

namespace halftone::ir {

namespace {

class Provenance {
public:
  Provenance(GraphOp graph, const hm::Manifest &manifest,
             llvm::function_ref<int32_t(KernelOp)> indexOf, hm::Program &program)
      : graph(graph), manifest(manifest), indexOf(indexOf), program(program) {}

  void describe() {
    describeValues();
    if (graph.getName() == kDiagnosis)
      addProbes();
  }

private:
  void describeValues() {
    auto values = graph->getAttrOfType<ArrayAttr>(kValuesAttr);
    if (!values)
      return;
    for (auto entry : values.getAsRange<DictionaryAttr>())
      program.values.push_back(value(entry));
    for (Operation &op : graph.getBody().front()) {
      auto indices = op.getAttrOfType<DenseI64ArrayAttr>(kValuesAttr);
      auto places = op.getAttrOfType<PlacesAttr>(kPlacesAttr);
      if (!indices || !places ||
          !isa<KernelOp, ViewOp, WholeOp, PartOp, QuantizedWeightOp, WorkingCopyOp, ParameterOp>(
              op))
        continue;
      for (auto [i, index] : llvm::enumerate(indices.asArrayRef()))
        if (index >= 0)
          program.values[index].buffer = static_cast<int32_t>(places.getBuffers()[i]);
      noteCasts(&op);
    }
    addMasters();
  }

  hm::Value value(DictionaryAttr entry) {
    hm::Value v;
    auto text = [&](StringRef name) {
      auto attribute = entry.getAs<StringAttr>(name);
      return attribute ? attribute.getValue().str() : std::string();
    };
    v.name = text("name");
    v.layer = text("layer");
    v.op = text("op");
    v.role = static_cast<hm::ValueRole>(entry.getAs<IntegerAttr>("role").getInt());
    v.pass = v.role == hm::ValueRole::gradient          ? hm::Pass::input_gradient
             : v.role == hm::ValueRole::weight_gradient ? hm::Pass::weight_gradient
             : v.role == hm::ValueRole::weight          ? hm::Pass::none
                                                        : hm::Pass::forward;
    auto type = cast<TensorType>(entry.getAs<TypeAttr>("type").getValue());
    v.encoding = elementOf(type.getElementType());
    v.rule = static_cast<int32_t>(entry.getAs<IntegerAttr>("rule").getInt());
    if (auto beaten = entry.getAs<DenseI64ArrayAttr>("beaten"))
      v.beaten.assign(beaten.asArrayRef().begin(), beaten.asArrayRef().end());
    for (Attribute dim : type.getDims())
      v.shape.push_back(dimensionOf(dim, manifest.symbols));
    return v;
  }

  /// A kernel's casts, or that of a working copy, which the update performs; what is the upper half
  /// of masters (P69) the host rounds where there is no update.
  void noteCasts(Operation *op) {
    SmallVector<DictionaryAttr> casts;
    auto kernel = dyn_cast<KernelOp>(op);
    auto isOfMasters = [&] {
      int64_t place = op->getAttrOfType<PlacesAttr>(kPlacesAttr).getBuffers()[0];
      return program.buffers[place].role == hm::Role::parameters;
    };
    if (!kernel && program.name != "training" && isOfMasters())
      return;
    if (kernel)
      llvm::append_range(casts,
                         op->getAttrOfType<ArrayAttr>(kCastAttr).getAsRange<DictionaryAttr>());
    else if (auto one = op->getAttrOfType<DictionaryAttr>(kCastAttr))
      casts.push_back(one);
    for (DictionaryAttr entry : casts) {
      hm::Cast cast;
      cast.value = static_cast<int32_t>(entry.getAs<IntegerAttr>("value").getInt());
      cast.from = entry.getAs<EncodingAttr>("from").getValue();
      cast.to = entry.getAs<EncodingAttr>("to").getValue();
      cast.rule = static_cast<int32_t>(entry.getAs<IntegerAttr>("rule").getInt());
      const auto &writers = program.phases[static_cast<size_t>(
          program.name == "training" ? hm::Phase::update : hm::Phase::refresh)];
      int32_t index = kernel ? indexOf(kernel) : writers.empty() ? 0 : writers.back().kernel;
      cast.kernel = manifest.kernels[index].name;
      cast.own_launch = kernel && op->getAttrOfType<BoolAttr>(kOnlyCastsAttr).getValue();
      program.casts.push_back(std::move(cast));
    }
  }

  /// Masters, in one buffer or in two (P69), their gradients and the optimizer's state: f32, where
  /// rules do not say what states are held in (P68).
  void addMasters() {
    auto add = [&](StringRef name, hm::ValueRole role, hm::Pass pass, TensorType type,
                   int64_t buffer, DictionaryAttr decision = {}) {
      hm::Value v{name.str(),  name.str(),
                  "parameter", role,
                  pass,        elementOf(type.getElementType()),
                  -1,          {},
                  {},          static_cast<int32_t>(buffer)};
      if (decision)
        v.rule = static_cast<int32_t>(decision.getAs<IntegerAttr>("rule").getInt());
      if (auto beaten = decision ? decision.getAs<DenseI64ArrayAttr>("beaten") : nullptr)
        v.beaten.assign(beaten.asArrayRef().begin(), beaten.asArrayRef().end());
      for (Attribute dim : type.getDims())
        v.shape.push_back(dimensionOf(dim, manifest.symbols));
      program.values.push_back(std::move(v));
    };
    auto bufferOf = [&](hm::Role role) {
      for (size_t i = 0; i < program.buffers.size(); ++i)
        if (program.buffers[i].role == role)
          return static_cast<int64_t>(i);
      return int64_t{-1};
    };
    auto split = graph->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(kSplitByAttr);
    for (auto parameter : graph.getBody().front().getOps<ParameterOp>()) {
      if (parameter->hasAttr(kQuantizedAttr)) // P84
        continue;
      auto type = cast<TensorType>(parameter.getType());
      add(parameter.getName(), hm::ValueRole::master, hm::Pass::none, type,
          bufferOf(hm::Role::parameters), split);
      if (graph.isTraining() && !parameter.getFrozen())
        add(parameter.getName(), hm::ValueRole::weight_gradient, hm::Pass::weight_gradient, type,
            bufferOf(hm::Role::gradients));
    }
    auto isKnownByElements = [](StateOp state) { // delayed scales (P75)
      return state.getName().starts_with(hm::kDelayedScales);
    };
    for (auto state : graph.getBody().front().getOps<StateOp>())
      if (state.getOptimizer() && !isStateBeforeStep(state.getName()) && !isKnownByElements(state))
        add(state.getName(), hm::ValueRole::optimizer_state, hm::Pass::none,
            cast<TensorType>(state.getType()),
            state->getAttrOfType<PlacesAttr>(kPlacesAttr).getBuffers()[0],
            state->getAttrOfType<DictionaryAttr>(kHeldByAttr));
  }

  void addProbes() {
    int32_t counts[hm::kPhases] = {};
    llvm::DenseMap<Operation *, int32_t> launches;
    for (auto kernel : graph.getBody().front().getOps<KernelOp>()) {
      auto phase = static_cast<size_t>(getPhase(kernel));
      int32_t launch = launches[kernel] = counts[phase]++;
      Operation *shown = findShown(kernel);
      if (getPhase(kernel) == Phase::Refresh || !shown || isStepAlone(kernel))
        continue;
      Operation *first = findFirst(kernel);
      for (unsigned i = 0; i < kernel->getNumResults(); ++i) {
        program.probes.push_back(probe(kernel, shown, i, launch));
        if (first != kernel)
          program.probes.back().first_launch = launches.lookup(first);
      }
    }
  }

  /// A step of a rounding, which what it ends in shows: of a block that is rounded to zeros (P97)
  /// a step may be infinite where no value is.
  static bool isStepAlone(KernelOp kernel) {
    return kernel->hasAttr(kRoundingAttr) && kernel->getAttrOfType<ArrayAttr>(kCastAttr).empty();
  }

  /// Of what is rounded to `to`: held in 8 bits, or in its own element.
  static bool areCodes(Value value, const Encoding &to) {
    Element element = elementOf(cast<TensorType>(value.getType()).getElementType());
    bool hasEight = !encoding::traits(element).integer && encoding::traits(element).bits == 8;
    return hasEight || element == to.element;
  }

  /// The kernel that reads what this one is the end of rounding: itself, but where scales are
  /// found or words are drawn before it (P51, P72, F6). Where that leaves codes of a scaled
  /// encoding, what became codes counts, which is scaled already (P95).
  static KernelOp findFirst(KernelOp kernel) {
    auto casts = kernel->getAttrOfType<ArrayAttr>(kCastAttr);
    if (casts.empty())
      return kernel;
    const Encoding &to =
        cast<DictionaryAttr>(casts[casts.size() - 1]).getAs<EncodingAttr>("to").getValue();
    bool leavesCodes = encoding::is_scaled(to) && areCodes(kernel->getResult(0), to);
    if (encoding::factors_sums(to)) // copies of codes, too
      leavesCodes |= areCodes(kernel.getInputs()[0], to);
    KernelOp first = kernel;
    for (bool areMade = false;;) {
      areMade |= areCodes(first->getResult(0), to);
      auto before = first.getInputs()[0].getDefiningOp<KernelOp>();
      bool isStep = before && before->hasAttr(kRoundingAttr) &&
                    getPhase(before) == getPhase(kernel) &&
                    !(leavesCodes && areMade && !before->hasAttr(kInternalAttr));
      if (!isStep)
        return first;
      first = before;
    }
  }

  /// Whose results the kernel's are. What stays inside of a layer or a gradient shows in what it is
  /// a part of: in another kernel's, or here, where that is a view and has no launch.
  static Operation *findShown(KernelOp kernel) {
    if (!kernel->hasAttr(kInternalAttr))
      return kernel;
    for (Operation *user : kernel->getUsers())
      if (isa<ViewOp>(user) && !user->hasAttr(kInternalAttr))
        return user;
    return nullptr;
  }

  hm::Probe probe(KernelOp kernel, Operation *shown, unsigned result, int32_t launch) {
    hm::Probe p;
    p.phase = static_cast<hm::Phase>(getPhase(kernel));
    p.launch = launch;
    p.argument = static_cast<int32_t>(kernel.getInputs().size() + result);
    auto casts = kernel->getAttrOfType<ArrayAttr>(kCastAttr);
    if (!casts.empty())
      p.before = 0;
    p.layer = getLayer(shown).str();
    if (auto kind = shown->getAttrOfType<StringAttr>(kKindAttr))
      p.op = kind.getValue().str();
    bool backward = p.phase == hm::Phase::loss_backward || p.phase == hm::Phase::backward;
    p.role = backward ? hm::ValueRole::gradient : hm::ValueRole::activation;
    p.pass = backward ? hm::Pass::input_gradient : hm::Pass::forward;
    if (auto targets = shown->getAttrOfType<ArrayAttr>(kGradientOfAttr);
        targets && result < targets.size()) {
      StringRef target = cast<StringAttr>(targets[result]).getValue();
      for (const hm::Parameter &parameter : manifest.parameters)
        if (parameter.name == target) {
          p.role = hm::ValueRole::weight_gradient;
          p.pass = hm::Pass::weight_gradient;
        }
    }
    if (p.phase == hm::Phase::external)
      describeExternal(kernel, p);
    auto values = shown->getAttrOfType<DenseI64ArrayAttr>(kValuesAttr);
    if (values && result < static_cast<unsigned>(values.size()) && values[result] >= 0) {
      const hm::Value &value = program.values[values[result]];
      p.rule = value.rule;
      p.role = value.role;
      if (p.role == hm::ValueRole::weight) // P6, though what is drawn is cast in a pass (P50)
        p.pass = hm::Pass::none;
    }
    return p;
  }

  /// A caller's gradient of an output: times the loss scale, or that rounded to its store.
  static void describeExternal(KernelOp kernel, hm::Probe &p) {
    p.op = "output_gradient";
    p.role = hm::ValueRole::gradient;
    p.pass = hm::Pass::input_gradient;
    Operation *user = *kernel->user_begin();
    while (isa<KernelOp>(user))
      user = *user->user_begin();
    auto point = cast<AssignOp>(user).getDestination().getDefiningOp<OutputGradientOp>();
    p.layer = point.getName().str();
    if (!kernel.getInputs()[0].getDefiningOp<KernelOp>())
      return;
    p.before = 0;
    auto precision = point->getAttrOfType<PrecisionAttr>(kPrecisionAttr);
    for (auto rounding : cast<ArrayAttr>(precision.getResults()[0]).getAsRange<RoundingPointAttr>())
      p.rule = static_cast<int32_t>(rounding.getRule());
  }

  GraphOp graph;
  const hm::Manifest &manifest;
  llvm::function_ref<int32_t(KernelOp)> indexOf;
  hm::Program &program;
};

} // namespace

void describeProvenance(GraphOp graph, const hm::Manifest &manifest,
                        llvm::function_ref<int32_t(KernelOp)> indexOf, hm::Program &program) {
  Provenance(graph, manifest, indexOf, program).describe();
}

} // namespace halftone::ir
