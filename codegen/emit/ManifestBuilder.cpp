// SPDX-License-Identifier: Apache-2.0
// Reads the plan off the graphs and stores equal kernels once.
#include "codegen/emit/ManifestBuilder.h"

#include "codegen/emit/cpu/LoopNests.h"
#include "codegen/ir/Rules.h"
#include "halftone/description/text.hpp"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
namespace hd = halftone::description;
namespace hm = halftone::manifest;

namespace halftone::ir {

namespace {

/// What a kernel computes, without its name and the layers it came from.
std::string structureOf(KernelOp kernel) {
  KernelOp clone = kernel.clone();
  clone.setName("");
  clone.setFusedAttr(ArrayAttr::get(clone.getContext(), {}));
  SmallVector<StringAttr> names;
  for (NamedAttribute attribute : clone->getDiscardableAttrs())
    names.push_back(attribute.getName());
  for (StringAttr name : names)
    clone->removeDiscardableAttr(name);
  std::string text;
  llvm::raw_string_ostream stream(text);
  clone->print(stream, OpPrintingFlags().printGenericOpForm().useLocalScope());
  clone->dropAllReferences();
  clone->destroy();
  return text;
}

class ManifestBuilder {
public:
  ManifestBuilder(ModuleOp module, const hd::Description &description)
      : module(module), description(description) {}

  ManifestAndKernels build() {
    describeModel();
    for (auto graph : module.getOps<GraphOp>())
      addProgram(graph);
    int32_t entry = static_cast<int32_t>(result.kernels.size());
    for (auto [kernel, op] : llvm::zip(result.manifest.kernels, result.kernels))
      if (op.hasFinish())
        kernel.cpu_finish = entry++;
    return std::move(result);
  }

private:
  void describeModel() {
    hm::Manifest &m = result.manifest;
    m.model = description.name;
    m.halftone_version = HALFTONE_VERSION;
    m.description = hd::print(description);
    for (const hd::Rule &rule : description.rules)
      m.rules.push_back(hd::rule_text(rule));
    m.target = module->getAttrOfType<StringAttr>(kTargetAttr).getValue().str();
    describeLossScale();
    for (const hd::Node &node : description.nodes) {
      for (const hd::Dimension &dim : node.shape)
        if (!dim.symbol.empty() && !llvm::is_contained(m.symbols, dim.symbol))
          m.symbols.push_back(dim.symbol);
      if (node.kind == hd::Kind::input)
        m.inputs.push_back(node.name);
    }
    for (const hd::Loss &loss : description.losses)
      m.losses.push_back(description.nodes[loss.node].name);
    for (const cpu::CpuVariant &variant : cpu::cpuVariants())
      m.variants.push_back(variant.name.str());
    auto optimizer = module->getAttrOfType<DictionaryAttr>(kOptimizerAttr);
    m.learning_rate = optimizer.getAs<FloatAttr>("learning_rate").getValueAsDouble();
    auto graphs = module.getOps<GraphOp>();
    addParameters(*graphs.begin());
    llvm::StringSet<> gradients;
    (*graphs.begin()).walk([&](OutputGradientOp op) { gradients.insert(op.getName()); });
    for (const hd::Output &output : description.outputs)
      m.outputs.push_back(
          {output.name, outputBuffer(output.name),
           gradients.contains(output.name) ? outputGradientBuffer(output.name) : ""});
  }

  void describeLossScale() {
    if (!module->hasAttr(kLossScaleAttr))
      return;
    hd::LossScale scale = lossScaleOf(description.rules, result.manifest.target);
    result.manifest.loss_scale = {static_cast<hm::LossScale::Kind>(scale.kind),
                                  scale.initial,
                                  scale.growth,
                                  scale.backoff,
                                  scale.interval,
                                  scale.floor,
                                  scale.ceiling,
                                  scale.hysteresis,
                                  scale.patience};
  }

  void addParameters(GraphOp graph) {
    hm::Manifest &m = result.manifest;
    for (auto parameter : graph.getBody().front().getOps<ParameterOp>()) {
      auto type = cast<TensorType>(parameter.getType());
      InitializerAttr init = parameter.getInitializer();
      hm::Parameter p;
      p.name = parameter.getName().str();
      for (Attribute dim : type.getDims())
        p.shape.push_back(cast<IntegerAttr>(dim).getInt());
      p.offset = *parameter.getOffset();
      p.trained = graph.isTraining() && !parameter.getFrozen();
      p.initializer = {static_cast<hm::Initializer::Kind>(init.getKind()),
                       init.getFirst().getValueAsDouble(), init.getSecond().getValueAsDouble()};
      int64_t end = llvm::alignTo(p.offset + *type.getStaticElements(), 32);
      m.parameter_elements = std::max(m.parameter_elements, end);
      if (p.trained)
        m.trained_elements = std::max(m.trained_elements, end);
      m.parameters.push_back(std::move(p));
    }
    llvm::sort(m.parameters,
               [](const hm::Parameter &a, const hm::Parameter &b) { return a.offset < b.offset; });
  }

  hm::Dimension dimension(Attribute dim) {
    if (auto extent = dyn_cast<IntegerAttr>(dim))
      return {extent.getInt(), -1};
    auto symbol = llvm::find(result.manifest.symbols, cast<StringAttr>(dim).getValue());
    return {1, static_cast<int32_t>(symbol - result.manifest.symbols.begin())};
  }

  static hm::Format format(Type type) {
    if (type.isF32())
      return hm::Format::f32;
    if (type.isTF32())
      return hm::Format::tf32;
    if (type.isF16())
      return hm::Format::f16;
    if (type.isBF16())
      return hm::Format::bf16;
    return hm::Format::i32;
  }

  void addBuffer(hm::Program &program, BufferAttr attr) {
    auto type = cast<TensorType>(attr.getType());
    hm::Buffer buffer{attr.getName().str(),
                      static_cast<hm::Role>(0),
                      format(type.getElementType()),
                      {},
                      static_cast<int32_t>(attr.getSlot()),
                      attr.getInitial().getValueAsDouble()};
    buffer.role = role(attr.getRole());
    for (Attribute dim : type.getDims())
      buffer.shape.push_back(dimension(dim));
    program.slots.resize(std::max<size_t>(program.slots.size(), attr.getSlot() + 1));
    program.slots[attr.getSlot()].tenants.push_back(static_cast<int32_t>(program.buffers.size()));
    program.buffers.push_back(std::move(buffer));
  }

  static hm::Role role(BufferRole role) {
    switch (role) {
    case BufferRole::Input:
      return hm::Role::input;
    case BufferRole::Parameters:
      return hm::Role::parameters;
    case BufferRole::Gradients:
      return hm::Role::gradients;
    case BufferRole::OptimizerState:
      return hm::Role::optimizer_state;
    case BufferRole::State:
      return hm::Role::state;
    case BufferRole::Activation:
      return hm::Role::activation;
    case BufferRole::Output:
      return hm::Role::output;
    case BufferRole::OutputGradient:
      return hm::Role::output_gradient;
    case BufferRole::Loss:
      return hm::Role::loss;
    case BufferRole::Hyperparameter:
      return hm::Role::hyperparameter;
    case BufferRole::Statistic:
      return hm::Role::statistic;
    case BufferRole::WorkingCopies:
      return hm::Role::working_copies;
    case BufferRole::Accumulated:
      return hm::Role::accumulated;
    }
    llvm_unreachable("all roles are listed");
  }

  void addProgram(GraphOp graph) {
    hm::Program program;
    program.name = graph.getName().str();
    if (auto loss = graph->getAttrOfType<StringAttr>(kLossWithoutOutputAttr))
      program.loss_without_output = loss.getValue().str();
    for (auto buffer : graph->getAttrOfType<ArrayAttr>(kBuffersAttr).getAsRange<BufferAttr>())
      addBuffer(program, buffer);
    for (auto kernel : graph.getBody().front().getOps<KernelOp>())
      program.phases[static_cast<size_t>(getPhase(kernel))].push_back(
          {indexOf(kernel), argumentsOf(kernel), fusedOf(kernel)});
    describeValues(graph, program);
    if (graph.getName() == kDiagnosis)
      addProbes(graph, program);
    result.manifest.programs.push_back(std::move(program));
  }

  //===--- What rules decided ---===//

  void describeValues(GraphOp graph, hm::Program &program) {
    auto values = graph->getAttrOfType<ArrayAttr>(kValuesAttr);
    if (!values)
      return;
    for (auto entry : values.getAsRange<DictionaryAttr>())
      program.values.push_back(value(entry));
    for (Operation &op : graph.getBody().front()) {
      auto indices = op.getAttrOfType<DenseI64ArrayAttr>(kValuesAttr);
      auto places = op.getAttrOfType<PlacesAttr>(kPlacesAttr);
      if (!indices || !places || !isa<KernelOp, WorkingCopyOp, ParameterOp>(op))
        continue;
      for (auto [i, index] : llvm::enumerate(indices.asArrayRef()))
        if (index >= 0)
          program.values[index].buffer = static_cast<int32_t>(places.getBuffers()[i]);
      noteCasts(&op, program);
    }
    addMasters(graph, program);
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
    v.format = format(type.getElementType());
    v.rule = static_cast<int32_t>(entry.getAs<IntegerAttr>("rule").getInt());
    if (auto beaten = entry.getAs<DenseI64ArrayAttr>("beaten"))
      v.beaten.assign(beaten.asArrayRef().begin(), beaten.asArrayRef().end());
    for (Attribute dim : type.getDims())
      v.shape.push_back(dimension(dim));
    return v;
  }

  /// A kernel's casts, or that of a working copy, which the update performs.
  void noteCasts(Operation *op, hm::Program &program) {
    SmallVector<DictionaryAttr> casts;
    auto kernel = dyn_cast<KernelOp>(op);
    if (kernel)
      llvm::append_range(casts,
                         op->getAttrOfType<ArrayAttr>(kCastAttr).getAsRange<DictionaryAttr>());
    else if (auto one = op->getAttrOfType<DictionaryAttr>(kCastAttr))
      casts.push_back(one);
    for (DictionaryAttr entry : casts) {
      hm::Cast cast;
      cast.value = static_cast<int32_t>(entry.getAs<IntegerAttr>("value").getInt());
      cast.from = format(entry.getAs<TypeAttr>("from").getValue());
      cast.to = format(entry.getAs<TypeAttr>("to").getValue());
      cast.rule = static_cast<int32_t>(entry.getAs<IntegerAttr>("rule").getInt());
      const auto &writers = program.phases[static_cast<size_t>(
          program.name == "training" ? hm::Phase::update : hm::Phase::refresh)];
      int32_t index = kernel ? indexOf(kernel) : writers.empty() ? 0 : writers.back().kernel;
      cast.kernel = result.manifest.kernels[index].name;
      cast.own_launch = kernel && op->getAttrOfType<BoolAttr>(kOnlyCastsAttr).getValue();
      program.casts.push_back(std::move(cast));
    }
  }

  /// Masters, their gradients and the optimizer's state: f32 by the rules of the language.
  void addMasters(GraphOp graph, hm::Program &program) {
    auto add = [&](StringRef name, hm::ValueRole role, hm::Pass pass, TensorType type,
                   int64_t buffer) {
      hm::Value v{name.str(),      name.str(), "parameter", role, pass,
                  hm::Format::f32, -1,         {},          {},   static_cast<int32_t>(buffer)};
      for (Attribute dim : type.getDims())
        v.shape.push_back(dimension(dim));
      program.values.push_back(std::move(v));
    };
    auto bufferOf = [&](hm::Role role) {
      for (size_t i = 0; i < program.buffers.size(); ++i)
        if (program.buffers[i].role == role)
          return static_cast<int64_t>(i);
      return int64_t{-1};
    };
    for (auto parameter : graph.getBody().front().getOps<ParameterOp>()) {
      auto type = cast<TensorType>(parameter.getType());
      add(parameter.getName(), hm::ValueRole::master, hm::Pass::none, type,
          bufferOf(hm::Role::parameters));
      if (graph.isTraining() && !parameter.getFrozen())
        add(parameter.getName(), hm::ValueRole::weight_gradient, hm::Pass::weight_gradient, type,
            bufferOf(hm::Role::gradients));
    }
    for (auto state : graph.getBody().front().getOps<StateOp>())
      if (state.getOptimizer())
        add(state.getName(), hm::ValueRole::optimizer_state, hm::Pass::none,
            cast<TensorType>(state.getType()),
            state->getAttrOfType<PlacesAttr>(kPlacesAttr).getBuffers()[0]);
  }

  void addProbes(GraphOp graph, hm::Program &program) {
    int32_t counts[hm::kPhases] = {};
    for (auto kernel : graph.getBody().front().getOps<KernelOp>()) {
      auto phase = static_cast<size_t>(getPhase(kernel));
      int32_t launch = counts[phase]++;
      if (getPhase(kernel) == Phase::Refresh)
        continue;
      for (unsigned i = 0; i < kernel->getNumResults(); ++i)
        program.probes.push_back(probe(kernel, i, launch, program));
    }
  }

  hm::Probe probe(KernelOp kernel, unsigned result, int32_t launch, const hm::Program &program) {
    hm::Probe p;
    p.phase = static_cast<hm::Phase>(getPhase(kernel));
    p.launch = launch;
    p.argument = static_cast<int32_t>(kernel.getInputs().size() + result);
    auto casts = kernel->getAttrOfType<ArrayAttr>(kCastAttr);
    if (!casts.empty())
      p.before = 0;
    p.layer = getLayer(kernel).str();
    if (auto kind = kernel->getAttrOfType<StringAttr>(kKindAttr))
      p.op = kind.getValue().str();
    bool backward = p.phase == hm::Phase::loss_backward || p.phase == hm::Phase::backward;
    p.role = backward ? hm::ValueRole::gradient : hm::ValueRole::activation;
    p.pass = backward ? hm::Pass::input_gradient : hm::Pass::forward;
    if (auto targets = kernel->getAttrOfType<ArrayAttr>(kGradientOfAttr);
        targets && result < targets.size()) {
      StringRef target = cast<StringAttr>(targets[result]).getValue();
      for (const hm::Parameter &parameter : this->result.manifest.parameters)
        if (parameter.name == target) {
          p.role = hm::ValueRole::weight_gradient;
          p.pass = hm::Pass::weight_gradient;
        }
    }
    if (p.phase == hm::Phase::external)
      describeExternal(kernel, p);
    auto values = kernel->getAttrOfType<DenseI64ArrayAttr>(kValuesAttr);
    if (values && result < static_cast<unsigned>(values.size()) && values[result] >= 0) {
      const hm::Value &value = program.values[values[result]];
      p.rule = value.rule;
      p.role = value.role;
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

  int32_t indexOf(KernelOp kernel) {
    auto [it, inserted] =
        indices.try_emplace(structureOf(kernel), static_cast<int32_t>(result.kernels.size()));
    if (inserted) {
      hm::Kernel k;
      k.name = kernel.getName().str();
      k.skeleton = stringifySkeleton(kernel.getSkeleton()).str();
      k.fused = fusedOf(kernel);
      k.tasks = cpu::taskAxes(kernel, result.manifest.symbols);
      k.cpu_entry = it->second;
      result.manifest.kernels.push_back(std::move(k));
      result.kernels.push_back(kernel);
    }
    return it->second;
  }

  static std::string fusedOf(KernelOp kernel) {
    return llvm::join(llvm::map_range(kernel.getFused().getAsValueRange<StringAttr>(),
                                      [](StringRef s) { return s.str(); }),
                      " + ");
  }

  static std::vector<hm::Argument> argumentsOf(KernelOp kernel) {
    std::vector<hm::Argument> arguments;
    auto add = [&](Operation *op, unsigned result) {
      auto places = op->getAttrOfType<PlacesAttr>(kPlacesAttr);
      arguments.push_back(
          {static_cast<int32_t>(places.getBuffers()[result]), places.getOffsets()[result]});
    };
    for (Value input : kernel.getInputs())
      add(input.getDefiningOp(), cast<OpResult>(input).getResultNumber());
    for (unsigned i = 0; i < kernel->getNumResults(); ++i)
      add(kernel, i);
    if (kernel.hasFinish())
      add(kernel, kernel->getNumResults());
    return arguments;
  }

  ModuleOp module;
  const hd::Description &description;
  ManifestAndKernels result;
  llvm::StringMap<int32_t> indices;
};

} // namespace

ManifestAndKernels buildManifest(ModuleOp module, const hd::Description &description) {
  return ManifestBuilder(module, description).build();
}

} // namespace halftone::ir
