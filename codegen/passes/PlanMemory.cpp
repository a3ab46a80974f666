// SPDX-License-Identifier: Apache-2.0
// A buffer for every tensor and a slot of the arena for every buffer.
#include "codegen/passes/HostStays.h"
#include "codegen/passes/Lifetimes.h"
#include "codegen/passes/ParameterLayout.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/SplitMasters.h"
#include "codegen/skeletons/Skeletons.h"

namespace halftone::ir {
#define GEN_PASS_DEF_PLANMEMORY
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// Activations compare their sizes as if every symbol were this: only how well slots are shared
/// depends on it. Larger than most numbers of columns, so that what grows with the square of a
/// symbol, as scores of attention, comes first and shares slots with its like: a slot that held it
/// beside smaller activations would be as large as it.
constexpr int64_t kNominalExtent = 4096;

struct Place {
  int64_t buffer = -1, offset = 0;
};

struct BufferPlan {
  std::string name;
  BufferRole role;
  TensorType type;
  FloatAttr initial;
  int64_t first = 0, last = 0; ///< kernels between which an activation lives
  int64_t slot = -1;
  StringAttr section = {}; ///< of an activation that it alone uses
  bool ofPart = false;     ///< of a section in parts: each thread has its own
};

class Memory {
public:
  explicit Memory(GraphOp graph)
      : graph(graph), block(graph.getBody().front()), builder(graph.getContext()) {}

  void run(const HostStaysOptions &staying) {
    placeSources();
    placeSinks();
    placeActivations();
    stretchOverSections();
    leaveInHost(staying);
    chooseSlots();
    write();
  }

private:
  int64_t add(StringRef name, BufferRole role, Type type, double initial = 0) {
    buffers.push_back({name.str(), role, cast<TensorType>(type), builder.getF64FloatAttr(initial)});
    return static_cast<int64_t>(buffers.size()) - 1;
  }

  TensorType flat(int64_t elements) {
    return TensorType::get(graph.getContext(), {builder.getI64IntegerAttr(elements)},
                           builder.getF32Type());
  }

  void placeSources() {
    int64_t elements = countMasterElements(graph);
    int64_t parameters = elements ? placeMasters(elements) : -1;
    for (Operation &op : block) {
      if (auto input = dyn_cast<InputOp>(op))
        places[input.getResult()] = {add(input.getName(), BufferRole::Input, input.getType())};
      else if (op.hasAttr(kQuantizedAttr)) // it has no master
        continue;
      else if (auto parameter = dyn_cast<ParameterOp>(op))
        places[parameter.getResult()] = {parameters, getMasterOffset(parameter)};
      else if (auto weight = dyn_cast<QuantizedWeightOp>(op))
        placeCodes(weight);
      else if (auto all = dyn_cast<FlatParametersOp>(op))
        places[all.getResult()] = {parameters, 0};
      else if (auto copies = dyn_cast<FlatWorkingCopiesOp>(op))
        places[copies.getResult()] = {workingCopies(copies.getName(), copies.getType(), elements)};
      else if (auto copy = dyn_cast<WorkingCopyOp>(op))
        places[copy.getResult()] = {workingCopies(copy.getBuffer(), copy.getType(), elements),
                                    static_cast<int64_t>(copy.getOffset())};
      else if (auto external = dyn_cast<ExternalGradientOp>(op))
        places[external.getResult()] = {add(outputGradientBuffer(external.getName()),
                                            BufferRole::OutputGradient, external.getType())};
      else if (auto sum = dyn_cast<AccumulatedOp>(op))
        places[sum.getResult()] = {add("accumulated", BufferRole::Accumulated, sum.getType())};
      else if (auto state = dyn_cast<StateOp>(op))
        places[state.getResult()] = placeOf(state);
      else if (auto counters = dyn_cast<CountersOp>(op))
        placeCounters(counters);
      else if (auto hyper = dyn_cast<HyperparameterOp>(op))
        places[hyper.getResult()] = {add(hyper.getName(), BufferRole::Hyperparameter,
                                         hyper.getType(), hyper.getInitial().convertToDouble())};
    }
  }

  /// f32, or the two halves of it (P69); gives the place of what has parameters' names.
  int64_t placeMasters(int64_t elements) {
    if (!splitsMasters(graph->getParentOfType<ModuleOp>()))
      return add(kMasters, BufferRole::Parameters, flat(elements));
    auto half = [&](StringRef name, BufferRole role, Element element) {
      Type type = typeOf(graph.getContext(), element);
      return copies[name] = add(name, role, flat(elements).withElementType(type));
    };
    int64_t upper = half(kMasters, BufferRole::Parameters, Element::bf16);
    half(kRemainders, BufferRole::Remainders, Element::i16);
    return upper;
  }

  /// P81: one buffer for all codes of an element, and one for all scales, each as long as its last.
  void placeCodes(QuantizedWeightOp weight) {
    auto place = [&](StringRef name, BufferRole role, Value part, int64_t offset) {
      auto type = cast<TensorType>(part.getType());
      auto [entry, isNew] = copies.try_emplace(name, -1);
      if (isNew)
        entry->second = add(name, role, type);
      int64_t end = offset + *type.getStaticElements();
      buffers[entry->second].type = flat(end).withElementType(type.getElementType());
      places[part] = {entry->second, offset};
    };
    Value codes = weight.getCodes();
    std::string element =
        encoding::word(elementOf(cast<TensorType>(codes.getType()).getElementType()));
    place("codes." + element, BufferRole::Codes, codes,
          static_cast<int64_t>(weight.getCodesOffset()));
    place("codes.scale", BufferRole::Scales, weight.getScales(),
          static_cast<int64_t>(weight.getScalesOffset()));
  }

  /// In a buffer of its own or, of a delayed scale (P72), in that of the vector that it is an
  /// element of, which the graph need not name otherwise.
  Place placeOf(StateOp state) {
    StringRef name = state.getName();
    auto type = cast<TensorType>(state.getType());
    auto element = state->getAttrOfType<DictionaryAttr>(kElementOfAttr);
    if (element) {
      name = element.getAs<StringAttr>("buffer").getValue();
      type = type.withDims({element.get("count")});
    }
    auto [known, isNew] = states.try_emplace(name, -1);
    if (isNew)
      known->second = add(name, roleOf(state), type, state.getInitial().convertToDouble());
    return {known->second, element ? element.getAs<IntegerAttr>("index").getInt() : 0};
  }

  static BufferRole roleOf(StateOp state) {
    if (state.getCache())
      return BufferRole::Cache;
    if (state->hasAttr(kInHostAttr))
      return BufferRole::HostState;
    return state.getOptimizer() ? BufferRole::OptimizerState : BufferRole::State;
  }

  /// One after another in a buffer whose name no node can have.
  void placeCounters(CountersOp counters) {
    auto type = cast<TensorType>(counters.getStep().getType());
    int64_t count = counters->getNumResults();
    int64_t buffer =
        add("%counters", BufferRole::Counters, type.withDims({builder.getI64IntegerAttr(count)}));
    for (OpResult counter : counters->getResults())
      places[counter] = {buffer, counter.getResultNumber()};
  }

  int64_t workingCopies(StringRef name, Type like, int64_t elements) {
    auto [entry, isNew] = copies.try_emplace(name, -1);
    if (isNew)
      entry->second = add(name, BufferRole::WorkingCopies,
                          flat(elements).withElementType(cast<TensorType>(like).getElementType()));
    return entry->second;
  }

  /// FormKernels gave every sink a value of its own: that value lies where the sink says.
  void placeSinks() {
    for (Operation &op : block) {
      if (auto output = dyn_cast<OutputOp>(op))
        places[output.getX()] = {
            add(outputBuffer(output.getName()), BufferRole::Output, output.getX().getType())};
      else if (auto gradient = dyn_cast<InputGradientOp>(op))
        places[gradient.getX()] = {add(inputGradientBuffer(gradient.getName()),
                                       BufferRole::InputGradient, gradient.getX().getType())};
      else if (auto loss = dyn_cast<LossOp>(op))
        places[loss.getX()] = {add(loss.getName(), BufferRole::Loss, loss.getX().getType())};
      else if (auto statistic = dyn_cast<StatisticOp>(op))
        places[statistic.getX()] = {
            add(statistic.getName(), BufferRole::Statistic, statistic.getX().getType())};
      else if (auto gradient = dyn_cast<OutputGradientOp>(op)) {
        int64_t id = add("%" + outputGradientBuffer(gradient.getName()), BufferRole::Activation,
                         gradient.getType());
        buffers[id].first = kNotYet;
        places[gradient.getX()] = {id};
        places[gradient.getResult()] = {id};
      } else if (auto whole = dyn_cast<WholeOp>(op)) {
        placeWhole(whole);
      } else if (auto assign = dyn_cast<AssignOp>(op)) {
        places[assign.getX()] = placeOf(assign.getDestination());
      } else if (auto all = dyn_cast<FlattenOp>(op)) {
        auto name = all->getAttrOfType<StringAttr>(kFlattenedAttr);
        int64_t buffer = name ? add(name, BufferRole::Activation, all.getType())
                              : add("gradients", BufferRole::Gradients, all.getType());
        if (name)
          buffers[buffer].first = kNotYet;
        places[all.getResult()] = {buffer, 0};
        for (auto [part, offset] : llvm::zip(all.getParts(), all.getOffsets()))
          places[part] = {buffer, offset};
      }
    }
  }

  /// Each of its kernels stores its own columns. What is part of another whole lies there.
  void placeWhole(WholeOp whole) {
    if (llvm::any_of(whole->getUsers(), [](Operation *user) { return isa<WholeOp>(user); }))
      return;
    int64_t id = add(("%" + whole.getName() + ".0").str(), BufferRole::Activation, whole.getType());
    buffers[id].first = kNotYet;
    SmallVector<Value> open{whole.getResult()};
    while (!open.empty()) {
      Value value = open.pop_back_val();
      places[value] = {id};
      if (auto inner = value.getDefiningOp<WholeOp>())
        llvm::append_range(open, inner.getParts());
    }
  }

  /// Of what views look at, too, before these have places of their own.
  Place placeOf(Value value) {
    auto view = value.getDefiningOp<ViewOp>();
    if (!view)
      return places.lookup(value);
    Place place = placeOf(view.getX());
    if (view.isOfFlat())
      place.offset += static_cast<int64_t>(view.getAt());
    return place;
  }

  static constexpr int64_t kNotYet = -1; ///< the kernel that writes an activation first

  void placeActivations() {
    int64_t time = 0;
    for (Operation &op : block) {
      if (auto view = dyn_cast<ViewOp>(op))
        places[view] = placeOf(view);
      if (auto part = dyn_cast<PartOp>(op))
        places[part] = places.lookup(part.getX());
      auto kernel = dyn_cast<KernelOp>(op);
      if (!kernel)
        continue;
      for (Value input : kernel.getInputs())
        buffers[places[input].buffer].last = time;
      for (Value result : kernel->getResults())
        if (Value same = findSame(kernel, result); same && places.contains(same)) {
          places[result] = places.lookup(same);
          buffers[places[result].buffer].last = time;
        } else if (!places.contains(result)) {
          std::string name =
              ("%" + kernel.getName() + "." + Twine(cast<OpResult>(result).getResultNumber()))
                  .str();
          int64_t id = add(name, BufferRole::Activation, getWhole(result).getType());
          buffers[id].first = buffers[id].last = time;
          places[result] = {id};
        } else if (BufferPlan &buffer = buffers[places[result].buffer]; buffer.first == kNotYet) {
          buffer.first = buffer.last = time;
        }
      if (kernel.hasFinish()) {
        int64_t id =
            add(("%" + kernel.getName() + ".workspace").str(), BufferRole::Activation,
                kernel.getDomainType().withDims(skeletons::of(kernel).getSummands(kernel)));
        buffers[id].first = buffers[id].last = time;
        workspaces[kernel] = id;
      }
      ++time;
    }
  }

  /// All parts of what a section leaves.
  static Value getWhole(Value result) {
    for (Operation *user : result.getUsers())
      if (auto view = dyn_cast<ViewOp>(user); view && view.leavesPart())
        return view;
    return result;
  }

  /// Where chains go on from a start, both lie in one place: the start's where the result's is
  /// known, or else the result's where the start's is.
  static Value findSame(KernelOp kernel, Value result) {
    for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
      if (kernel.getInputAccess(i).getKind() == AccessKind::Start)
        return input;
    for (OpOperand &use : result.getUses())
      if (auto user = dyn_cast<KernelOp>(use.getOwner());
          user && user.getInputAccess(use.getOperandNumber()).getKind() == AccessKind::Start)
        return user->getResult(0);
    return {};
  }

  /// What a section alone uses is its own, as large as a chunk; all else that it uses it uses in
  /// every chunk, from the first to the last.
  void stretchOverSections() {
    llvm::MapVector<Attribute, std::pair<int64_t, int64_t>> spans;
    forEachKernel([&](KernelOp kernel, int64_t time) {
      if (Attribute section = kernel->getAttr(kSectionAttr))
        spans.try_emplace(section, time, time).first->second.second = time;
    });
    forEachKernel([&](KernelOp kernel, int64_t) {
      auto section = kernel->getAttrOfType<StringAttr>(kSectionAttr);
      if (!section)
        return;
      auto [first, last] = spans[section];
      auto use = [&](Value value) {
        BufferPlan &buffer = buffers[places[value].buffer];
        if (buffer.role != BufferRole::Activation)
          return;
        if (isOf(section, value)) {
          buffer.section = section;
          buffer.ofPart = kernel->hasAttr(kPartsAttr);
          return;
        }
        buffer.first = std::min(buffer.first, first);
        buffer.last = std::max(buffer.last, last);
      };
      llvm::for_each(kernel.getInputs(), use);
      llvm::for_each(kernel->getResults(), use);
    });
  }

  /// What stays in the host's memory has two places, one before and one behind (P98).
  void leaveInHost(const HostStaysOptions &staying) {
    auto placeOf = [&](Value value) { return places[value].buffer; };
    auto typeOf = [&](int64_t buffer) {
      const BufferPlan &plan = buffers[buffer];
      bool isWhole = plan.role == BufferRole::Activation && !plan.section;
      return isWhole ? plan.type : TensorType();
    };
    for (auto [buffer, until, from] : findHostStays(graph, staying, placeOf, typeOf)) {
      int64_t back =
          add(buffers[buffer].name + ".back", BufferRole::Activation, buffers[buffer].type);
      buffers[back].first = from;
      buffers[back].last = std::exchange(buffers[buffer].last, until);
      stays.append({buffer, back});
    }
  }

  template <typename Fn> void forEachKernel(Fn visit) {
    int64_t time = 0;
    for (auto kernel : block.getOps<KernelOp>())
      visit(kernel, time++);
  }

  static bool isOf(StringAttr section, Value value) {
    auto inside = [&](Operation *op) {
      return isa<KernelOp>(op) && op->getAttr(kSectionAttr) == section;
    };
    return inside(value.getDefiningOp()) && llvm::all_of(value.getUsers(), inside);
  }

  static int64_t nominalBytes(TensorType type) {
    int64_t elements = 1;
    for (Attribute dim : type.getDims()) {
      auto symbol = dyn_cast<StringAttr>(dim);
      elements *= symbol ? kNominalExtent * symbolicExtentOf(symbol.getValue()).factor
                         : cast<IntegerAttr>(dim).getInt();
    }
    return encoding::storage_bytes(elementOf(type.getElementType()), elements);
  }

  /// Activations share slots, largest first into the first slot that is free while they live, those
  /// of parts among themselves; all else has its own.
  void chooseSlots() {
    bool sharing = graph.getName() != kDiagnosis;
    SmallVector<BufferPlan *> activations;
    for (BufferPlan &buffer : buffers) {
      if (buffer.role == BufferRole::Activation)
        activations.push_back(&buffer);
      else
        buffer.slot = slots++;
    }
    llvm::sort(activations, [](BufferPlan *a, BufferPlan *b) {
      return std::pair(-nominalBytes(a->type), a) <
             std::pair(-nominalBytes(b->type), b); // then in order of making
    });
    SmallVector<int64_t> chosen = firstFreeSlots(activations.size(), [&](size_t i, size_t j) {
      const BufferPlan &a = *activations[i], &b = *activations[j];
      return !sharing || (a.first <= b.last && b.first <= a.last) || a.ofPart != b.ofPart;
    });
    for (auto [buffer, slot] : llvm::zip(activations, chosen))
      buffer->slot = slots + slot;
  }

  void write() {
    SmallVector<Attribute> list;
    for (BufferPlan &b : buffers)
      list.push_back(BufferAttr::get(graph.getContext(), b.name, b.role, b.type, b.slot, b.initial,
                                     b.section));
    graph->setAttr(kBuffersAttr, builder.getArrayAttr(list));
    if (!stays.empty())
      graph->setAttr(kStaysAttr, builder.getDenseI64ArrayAttr(stays));
    for (Operation &op : block) {
      SmallVector<int64_t> ids, offsets;
      for (Value result : op.getResults()) {
        ids.push_back(places[result].buffer);
        offsets.push_back(places[result].offset);
      }
      if (auto kernel = dyn_cast<KernelOp>(op); kernel && kernel.hasFinish()) {
        ids.push_back(workspaces[kernel]);
        offsets.push_back(0);
      }
      if (!ids.empty())
        op.setAttr(kPlacesAttr, PlacesAttr::get(graph.getContext(), ids, offsets));
    }
  }

  GraphOp graph;
  Block &block;
  OpBuilder builder;
  SmallVector<BufferPlan> buffers;
  llvm::DenseMap<Value, Place> places;
  llvm::DenseMap<Operation *, int64_t> workspaces;
  llvm::StringMap<int64_t> states; ///< buffers by name
  llvm::StringMap<int64_t> copies; ///< buffers of working copies by name
  SmallVector<int64_t> stays;      ///< as kStaysAttr has them
  int64_t slots = 0;
};

struct PlanMemoryPass : halftone::ir::impl::PlanMemoryBase<PlanMemoryPass> {
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    HostStaysOptions staying{{}, leastStay, alike};
    if (failed(readAssumedSizes(getOperation(), assume, staying.sizes)))
      return signalPassFailure();
    for (auto graph : getOperation().getOps<GraphOp>())
      Memory(graph).run(staying);
  }
};

} // namespace
} // namespace halftone::ir
