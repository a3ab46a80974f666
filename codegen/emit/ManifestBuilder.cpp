// SPDX-License-Identifier: Apache-2.0
// Reads the plan off the graphs and stores equal kernels once.
#include "codegen/emit/ManifestBuilder.h"

#include "codegen/emit/Provenance.h"

#include "codegen/emit/TaskAxes.h"
#include "codegen/ir/Rules.h"
#include "codegen/passes/HostStays.h"
#include "codegen/skeletons/Skeletons.h"
#include "halftone/description/text.hpp"
#include "halftone/description/validate.hpp"
#include "halftone/manifest/checksum.hpp"
#include "halftone/manifest/version.hpp"
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

/// A number as steps compute with it.
double inF32(double value) { return static_cast<float>(value); }

class ManifestBuilder {
public:
  ManifestBuilder(ModuleOp module, const hd::Description &description, const ResolvedFor &resolved,
                  ArrayRef<cpu::CpuVariant> variants, const AssumedSizes &assumed)
      : module(module), description(description), resolved(resolved), variants(variants),
        assumed(assumed) {}

  ManifestAndKernels build() {
    describeModel();
    for (auto graph : module.getOps<GraphOp>())
      addProgram(graph);
    return std::move(result);
  }

private:
  void describeModel() {
    hm::Manifest &m = result.manifest;
    m.model = description.name;
    m.halftone_version = kVersionOfHalftone;
    m.description = hd::print(description);
    m.structure = hm::hash_of(hd::print_structure(description));
    for (const hd::Rule &rule : description.rules)
      m.rules.push_back(hd::rule_text(rule));
    m.targets = resolved.targets;
    m.stages = description.stages;
    m.during = resolved.stages;
    describeLossScale();
    describeDecisions();
    for (const hd::Node &node : description.nodes) {
      for (const hd::Dimension &dim : node.shape)
        if (!dim.symbol.empty() && !llvm::is_contained(m.symbols, dim.symbol))
          m.symbols.push_back(dim.symbol);
      if (hd::is_input(node.kind))
        m.inputs.push_back(node.name);
      for (unsigned i = 0; i < node.operands.size() && hd::is_computed(node.kind); ++i)
        if (hd::operand_form(hd::form_of(node.kind), node.operands[i].role).kept)
          m.kept_states.push_back(description.nodes[node.operands[i].node].name);
      if (hd::wants_gradient(node))
        m.input_gradients.push_back({node.name, inputGradientBuffer(node.name)});
    }
    describeDecoding();
    describeLimits();
    for (const std::string &symbol : m.symbols)
      m.assumed.push_back(assumedSize(assumed, symbol));
    for (const hd::Loss &loss : description.losses)
      m.losses.push_back(description.nodes[loss.node].name);
    for (const cpu::CpuVariant &variant : variants)
      m.variants.push_back(variant.name.str());
    auto optimizer = module->getAttrOfType<DictionaryAttr>(kOptimizerAttr);
    m.learning_rate = inF32(optimizer.getAs<FloatAttr>("learning_rate").getValueAsDouble());
    auto graphs = module.getOps<GraphOp>();
    addParameters(*graphs.begin());
    llvm::StringSet<> gradients;
    (*graphs.begin()).walk([&](OutputGradientOp op) { gradients.insert(op.getName()); });
    for (const hd::Output &output : description.outputs)
      m.outputs.push_back(
          {output.name, outputBuffer(output.name),
           gradients.contains(output.name) ? outputGradientBuffer(output.name) : ""});
  }

  /// What a program that decodes has beside the model's own.
  void describeDecoding() {
    for (auto graph : module.getOps<GraphOp>()) {
      if (graph.getName() != kDecode)
        continue;
      result.manifest.symbols.push_back(kCapacity.str());
      for (auto input : graph.getBody().front().getOps<InputOp>())
        if (!llvm::is_contained(result.manifest.inputs, input.getName()))
          result.manifest.inputs.push_back(input.getName().str());
    }
  }

  /// Of a program that decodes, positions are below `capacity`, and times fewer.
  void describeLimits() {
    hm::Manifest &m = result.manifest;
    bool decodes = llvm::any_of(module.getOps<GraphOp>(),
                                [](GraphOp graph) { return graph.getName() == kDecode; });
    for (const hd::Node &node : description.nodes) {
      int rows = hd::form_of(node.kind).rows_of_times;
      if (rows < 0)
        continue;
      const hd::Node &x = description.nodes[node.operands.front().node],
                     &weight = description.nodes[node.operands[rows].node];
      const std::string &times = x.shape[x.shape.size() - 2].symbol;
      if (times.empty())
        continue;
      auto symbol = decodes ? std::prev(m.symbols.end()) : llvm::find(m.symbols, times);
      m.limits.push_back({static_cast<int32_t>(symbol - m.symbols.begin()),
                          weight.shape.front().extent, node.name, weight.name});
    }
    for (hd::SizeLimit &limit : hd::size_limits(description)) {
      auto symbol = llvm::find(m.symbols, limit.symbol);
      m.limits.push_back({static_cast<int32_t>(symbol - m.symbols.begin()), limit.most, limit.node,
                          "", limit.least, std::move(limit.reason)});
    }
  }

  void describeLossScale() {
    if (!module->hasAttr(kLossScaleAttr))
      return;
    Decision<hd::LossScale> decision = lossScaleOf(description.rules, resolved.first());
    const hd::LossScale &scale = *decision.field;
    result.manifest.loss_scale = {static_cast<hm::LossScale::Kind>(scale.kind),
                                  inF32(scale.initial),
                                  inF32(scale.growth),
                                  inF32(scale.backoff),
                                  scale.interval,
                                  inF32(scale.floor),
                                  inF32(scale.ceiling),
                                  scale.hysteresis,
                                  scale.patience};
    hm::Decision recorded{"loss_scale",
                          "",
                          "",
                          "",
                          hd::kLossScaleWords[static_cast<size_t>(scale.kind)],
                          static_cast<int32_t>(decision.rule),
                          {}};
    recorded.beaten.assign(decision.beaten.begin(), decision.beaten.end());
    result.manifest.decisions.push_back(std::move(recorded));
  }

  void describeDecisions() {
    auto decisions = module->getAttrOfType<ArrayAttr>(kDecisionsAttr);
    if (!decisions)
      return;
    for (auto entry : decisions.getAsRange<DictionaryAttr>()) {
      auto text = [&](StringRef name) { return entry.getAs<StringAttr>(name).getValue().str(); };
      hm::Decision decision{text("field"),
                            text("layer"),
                            text("role"),
                            text("pass"),
                            text("setting"),
                            static_cast<int32_t>(entry.getAs<IntegerAttr>("rule").getInt()),
                            {}};
      auto beaten = entry.getAs<DenseI64ArrayAttr>("beaten").asArrayRef();
      decision.beaten.assign(beaten.begin(), beaten.end());
      result.manifest.decisions.push_back(std::move(decision));
    }
  }

  void addParameters(GraphOp graph) {
    hm::Manifest &m = result.manifest;
    int64_t alignment = getParameterAlignment(graph->getParentOfType<ModuleOp>());
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
      if (init.getLow()) {
        p.initializer.low = init.getLow().getValueAsDouble();
        p.initializer.high = init.getHigh().getValueAsDouble();
      }
      int64_t end = llvm::alignTo(p.offset + *type.getStaticElements(), alignment);
      m.parameter_elements = std::max(m.parameter_elements, end);
      if (p.trained)
        m.trained_elements = std::max(m.trained_elements, end);
      m.parameters.push_back(std::move(p));
    }
    llvm::sort(m.parameters,
               [](const hm::Parameter &a, const hm::Parameter &b) { return a.offset < b.offset; });
  }

  hm::Dimension dimension(Attribute dim) { return dimensionOf(dim, result.manifest.symbols); }

  void addBuffer(hm::Program &program, BufferAttr attr) {
    auto type = cast<TensorType>(attr.getType());
    hm::Buffer buffer{attr.getName().str(),
                      static_cast<hm::Role>(0),
                      elementOf(type.getElementType()),
                      {},
                      static_cast<int32_t>(attr.getSlot()),
                      attr.getInitial().getValueAsDouble()};
    if (StringAttr section = attr.getSection())
      buffer.section = sectionCalled(section);
    if (!encoding::traits(buffer.encoding.element).integer)
      buffer.initial = inF32(buffer.initial);
    buffer.role = role(attr.getRole());
    buffer.in_host = attr.getRole() == BufferRole::HostState;
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
    case BufferRole::HostState:
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
    case BufferRole::Counters:
      return hm::Role::counters;
    case BufferRole::InputGradient:
      return hm::Role::input_gradient;
    case BufferRole::Cache:
      return hm::Role::cache;
    case BufferRole::Remainders:
      return hm::Role::remainders;
    case BufferRole::Codes:
      return hm::Role::codes;
    case BufferRole::Scales:
      return hm::Role::scales;
    }
    llvm_unreachable("all roles are listed");
  }

  void addProgram(GraphOp graph) {
    hm::Program program;
    program.name = graph.getName().str();
    if (auto loss = graph->getAttrOfType<StringAttr>(kLossWithoutOutputAttr))
      program.loss_without_output = loss.getValue().str();
    sections.clear();
    for (auto kernel : graph.getBody().front().getOps<KernelOp>())
      if (auto section = kernel->getAttrOfType<StringAttr>(kSectionAttr))
        sections.insert(section);
    for (auto buffer : graph->getAttrOfType<ArrayAttr>(kBuffersAttr).getAsRange<BufferAttr>())
      addBuffer(program, buffer);
    addMasters(program, graph);
    llvm::SmallDenseMap<int32_t, int32_t> back;
    if (auto stays = graph->getAttrOfType<DenseI64ArrayAttr>(kStaysAttr))
      for (int64_t i = 0; i < stays.size(); i += 2) {
        program.stays.push_back(
            {static_cast<int32_t>(stays[i]), static_cast<int32_t>(stays[i + 1])});
        back[program.stays.back().buffer] = program.stays.back().back;
      }
    for (auto kernel : graph.getBody().front().getOps<KernelOp>()) {
      std::vector<hm::Launch> &phase = program.phases[static_cast<size_t>(getPhase(kernel))];
      if (kernel->hasAttr(kSectionAttr))
        extendSection(program, kernel, static_cast<int32_t>(phase.size()));
      phase.push_back({indexOf(kernel), argumentsOf(program, kernel), fusedOf(kernel)});
      for (hm::Argument &argument : phase.back().arguments)
        if (auto stay = back.find(argument.buffer);
            stay != back.end() && isBehindStays(getPhase(kernel)))
          argument.buffer = stay->second;
    }
    describeProvenance(
        graph, result.manifest, [&](KernelOp kernel) { return indexOf(kernel); }, program);
    result.manifest.programs.push_back(std::move(program));
  }

  /// P84, of a graph that holds some weights as codes.
  void addMasters(hm::Program &program, GraphOp graph) {
    auto offsets = graph->getAttrOfType<DictionaryAttr>(kMastersAttr);
    if (!offsets)
      return;
    const std::vector<hm::Parameter> &parameters = result.manifest.parameters;
    for (const hm::Parameter &parameter : parameters) {
      auto offset = offsets.getAs<IntegerAttr>(parameter.name);
      program.masters.push_back(offset ? offset.getInt() : -1);
    }
    for (auto weight : graph.getBody().front().getOps<QuantizedWeightOp>()) {
      auto parameter = llvm::find_if(
          parameters, [&](const hm::Parameter &one) { return one.name == weight.getParameter(); });
      auto places = weight->getAttrOfType<PlacesAttr>(kPlacesAttr);
      program.quantized.push_back({static_cast<int32_t>(parameter - parameters.begin()),
                                   static_cast<int32_t>(places.getBuffers()[0]),
                                   places.getOffsets()[0], places.getOffsets()[1],
                                   static_cast<int32_t>(weight.getDimension()),
                                   weight.getLeastError()});
    }
  }

  int32_t sectionCalled(StringAttr name) {
    return static_cast<int32_t>(llvm::find(sections, name) - sections.begin());
  }

  /// By the launch that comes next. All of its kernels have rows; those of the loss are its
  /// domain's.
  void extendSection(hm::Program &program, KernelOp kernel, int32_t launch) {
    auto name = kernel->getAttrOfType<StringAttr>(kSectionAttr);
    if (static_cast<size_t>(sectionCalled(name)) == program.sections.size()) {
      hm::Section &section = program.sections.emplace_back();
      section.phase = static_cast<hm::Phase>(getPhase(kernel));
      section.first = launch;
      if (auto parts = kernel->getAttrOfType<ArrayAttr>(kPartsAttr)) {
        for (Attribute dim : parts)
          section.parts.push_back(dimension(dim));
        ++section.count;
        return;
      }
      section.rows = kernel->getAttrOfType<IntegerAttr>(kChunkRowsAttr).getInt();
      ArrayRef<Attribute> rows = kernel.getDomain().getValue().drop_back();
      section.symbol = dimension(rows.front()).symbol;
      for (Attribute dim : rows.drop_front())
        section.inner.push_back(dimension(dim));
    }
    ++program.sections.back().count;
    if (sumsOnOverRows(kernel))
      program.sections.back().multiple = skeletons::kSumChunk;
  }

  /// Its chunks of rows are those of the whole sum (N3), if each of the section begins with one.
  static bool sumsOnOverRows(KernelOp kernel) {
    return kernel.getReduction().empty() &&
           llvm::any_of(kernel.getInputAccesses(), [](Attribute access) {
             return cast<AccessAttr>(access).getKind() == AccessKind::Start;
           });
  }

  int32_t indexOf(KernelOp kernel) {
    std::string structure = structureOf(kernel);
    auto [it, inserted] =
        indices.try_emplace(structure, static_cast<int32_t>(result.kernels.size()));
    if (inserted) {
      hm::Kernel k;
      k.name = kernel.getName().str();
      const skeletons::Skeleton &skeleton = skeletons::of(kernel);
      k.skeleton = skeleton.name().str();
      k.tasks = taskAxesOf(skeleton.getTaskAxes(kernel), result.manifest.symbols);
      if (!kernel.getColumns() && !skeleton.isOneRow(kernel))
        k.tasks.insert(k.tasks.begin(),
                       {{dimension(kernel.getDomain().getValue().back())}, hm::kMostColumns});
      k.blocking = blockingOf(kernel, result.manifest.symbols, variants);
      result.manifest.kernels.push_back(std::move(k));
      result.kernels.push_back(kernel);
      result.structures.push_back(std::move(structure));
    }
    return it->second;
  }

  static std::string fusedOf(KernelOp kernel) {
    return llvm::join(llvm::map_range(kernel.getFused().getAsValueRange<StringAttr>(),
                                      [](StringRef s) { return s.str(); }),
                      " + ");
  }

  static std::vector<hm::Argument> argumentsOf(const hm::Program &program, KernelOp kernel) {
    std::vector<hm::Argument> arguments;
    auto add = [&](Operation *op, unsigned result, int32_t parts) {
      auto places = op->getAttrOfType<PlacesAttr>(kPlacesAttr);
      auto buffer = static_cast<int32_t>(places.getBuffers()[result]);
      int64_t seen = program.buffers[buffer].in_host
                         ? *cast<TensorType>(op->getResult(result).getType()).getStaticElements()
                         : 0;
      arguments.push_back({buffer, places.getOffsets()[result], parts, seen});
    };
    for (Value input : kernel.getInputs())
      add(input.getDefiningOp(), cast<OpResult>(input).getResultNumber(), partsOf(input));
    for (unsigned i = 0; i < kernel->getNumResults(); ++i)
      add(kernel, i, partsOf(kernel->getResult(i)));
    if (kernel.hasFinish())
      add(kernel, kernel->getNumResults(), 0);
    return arguments;
  }

  /// How many dimensions lie before the part that a kernel sees.
  static int32_t partsOf(Value value) {
    if (auto view = value.getDefiningOp<ViewOp>(); view && !view.leavesPart())
      return static_cast<int32_t>(view.getParts());
    for (Operation *user : value.getUsers())
      if (auto view = dyn_cast<ViewOp>(user); view && view.leavesPart())
        return static_cast<int32_t>(view.getParts());
    return 0;
  }

  ModuleOp module;
  const hd::Description &description;
  const ResolvedFor &resolved;
  ArrayRef<cpu::CpuVariant> variants;
  const AssumedSizes &assumed;
  ManifestAndKernels result;
  llvm::StringMap<int32_t> indices;
  llvm::SmallSetVector<Attribute, 2> sections; ///< of the program at hand, in their order
};

} // namespace

ManifestAndKernels buildManifest(ModuleOp module, const hd::Description &description,
                                 const ResolvedFor &resolved, ArrayRef<cpu::CpuVariant> variants,
                                 const AssumedSizes &assumed) {
  return ManifestBuilder(module, description, resolved, variants, assumed).build();
}

} // namespace halftone::ir
