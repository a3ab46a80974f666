// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/ParameterLayout.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;

namespace halftone::ir {

static int64_t countElements(ParameterOp parameter) {
  return *cast<TensorType>(parameter.getType()).getStaticElements();
}

static int64_t alignUp(int64_t value, int64_t alignment) {
  return static_cast<int64_t>(llvm::alignTo(value, alignment));
}

/// The clips of groups by the names of their parameters.
static llvm::StringMap<int> findClips(ModuleOp module) {
  llvm::StringMap<int> clipOf;
  auto clips = module->getAttrOfType<ArrayAttr>(kClipGroupsAttr);
  for (auto [i, clip] : llvm::enumerate(clips ? clips.getValue() : ArrayRef<Attribute>()))
    for (auto name :
         cast<DictionaryAttr>(clip).getAs<ArrayAttr>("parameters").getAsRange<StringAttr>())
      clipOf[name.getValue()] = static_cast<int>(i);
  return clipOf;
}

ParameterLayout::ParameterLayout(GraphOp graph, int64_t block) {
  auto module = graph->getParentOfType<ModuleOp>();
  if (block > getParameterAlignment(module))
    module->setAttr(kParameterAlignmentAttr,
                    IntegerAttr::get(IntegerType::get(module.getContext(), 64), block));
  llvm::StringMap<int> clipOf = findClips(module);
  using Key = std::tuple<int, bool, double>;
  SmallVector<std::pair<Key, SmallVector<ParameterOp>>> byGroup;
  SmallVector<ParameterOp> frozen;
  for (auto parameter : graph.getBody().front().getOps<ParameterOp>()) {
    if (parameter.getFrozen()) {
      frozen.push_back(parameter);
      continue;
    }
    auto clip = clipOf.find(parameter.getName());
    Key key{clip == clipOf.end() ? kNoClip : clip->second, parameter.getDecay(),
            parameter.getLearningRateScale().convertToDouble()};
    auto group = llvm::find_if(byGroup, [&](auto &entry) { return entry.first == key; });
    if (group == byGroup.end()) {
      byGroup.emplace_back(key, SmallVector<ParameterOp>());
      group = std::prev(byGroup.end());
    }
    group->second.push_back(parameter);
  }
  SmallVector<int> clipsInOrder; // each where its first group is
  for (auto &[key, members] : byGroup)
    if (!llvm::is_contained(clipsInOrder, std::get<0>(key)))
      clipsInOrder.push_back(std::get<0>(key));
  int64_t offset = 0, alignment = getParameterAlignment(module);
  auto place = [&](ParameterOp parameter) {
    parameter.setOffset(offset);
    int64_t begin = offset;
    offset = alignUp(offset + countElements(parameter), alignment);
    return FlatPart{begin, offset};
  };
  for (int clip : clipsInOrder)
    for (auto &[key, members] : byGroup)
      if (std::get<0>(key) == clip) {
        Group &group = groups.emplace_back();
        std::tie(group.clip, group.decay, group.learningRateScale) = key;
        for (ParameterOp parameter : members)
          group.parameters.push_back(place(parameter));
      }
  trainedElements = offset;
  llvm::for_each(frozen, place);
}

bool ParameterLayout::decays() const {
  return llvm::any_of(groups, [](const Group &group) { return group.decay; });
}

SmallVector<FlatPart> ParameterLayout::getClips() const {
  SmallVector<FlatPart> clips;
  for (const Group &group : groups) {
    if (group.clip == kNoClip)
      continue;
    clips.resize(std::max<size_t>(clips.size(), group.clip + 1));
    FlatPart &clip = clips[group.clip];
    clip = {clip.end == 0 ? group.begin() : clip.begin, group.end()};
  }
  return clips;
}

Value ParameterLayout::select(OpBuilder &builder, Location loc, int64_t block,
                              function_ref<Value(const Group &)> of) const {
  Scalars s(builder, loc);
  Value result = of(groups.back()), index;
  for (const Group &group : llvm::drop_begin(llvm::reverse(groups))) {
    if (!index)
      index = block > 0 ? s.axisIndex(0)
                        : Value(ElementIndexOp::create(builder, loc, builder.getI64Type()));
    Value end = block > 0 ? s.integer(group.end() / block) : s.integer(group.end(), 64);
    Value inside = s.compare(arith::CmpIPredicate::slt, index, end);
    result = s.select(inside, of(group), result);
  }
  return result;
}

/// P84: masters of the parameters that are not held as codes, in the order of all.
static void layOutMasters(GraphOp graph) {
  auto module = graph->getParentOfType<ModuleOp>();
  llvm::StringSet<> held;
  for (auto parameter : graph.getBody().front().getOps<ParameterOp>())
    if (parameter->hasAttr(kQuantizedAttr))
      held.insert(parameter.getName());
  if (held.empty())
    return;
  std::map<int64_t, ParameterOp> inOrder; // of the graph or, where it has no use for them, others
  module.walk([&](ParameterOp parameter) {
    if (!held.contains(parameter.getName()))
      inOrder.try_emplace(*parameter.getOffset(), parameter);
  });
  Builder builder(module.getContext());
  NamedAttrList offsets;
  int64_t end = 0;
  for (auto &[offset, parameter] : inOrder) {
    offsets.append(parameter.getName(), builder.getI64IntegerAttr(end));
    end = alignUp(end + countElements(parameter), getParameterAlignment(module));
  }
  graph->setAttr(kMastersAttr, offsets.getDictionary(module.getContext()));
  graph->setAttr(kMasterElementsAttr, builder.getI64IntegerAttr(end));
}

int64_t getMasterOffset(ParameterOp parameter) {
  auto graph = parameter->getParentOfType<GraphOp>();
  auto offsets = graph->getAttrOfType<DictionaryAttr>(kMastersAttr);
  return offsets ? offsets.getAs<IntegerAttr>(parameter.getName()).getInt()
                 : static_cast<int64_t>(*parameter.getOffset());
}

int64_t countMasterElements(GraphOp graph) {
  if (auto elements = graph->getAttrOfType<IntegerAttr>(kMasterElementsAttr))
    return elements.getInt();
  auto module = graph->getParentOfType<ModuleOp>();
  int64_t end = 0;
  module.walk([&](ParameterOp parameter) {
    end = std::max(end,
                   alignUp(static_cast<int64_t>(*parameter.getOffset()) + countElements(parameter),
                           getParameterAlignment(module)));
  });
  return end;
}

void copyOffsets(ModuleOp module) {
  llvm::StringMap<int64_t> offsets;
  int64_t end = 0;
  for (auto graph : module.getOps<GraphOp>())
    for (auto parameter : graph.getBody().front().getOps<ParameterOp>())
      if (graph.isTraining())
        offsets[parameter.getName()] = *parameter.getOffset();
  for (auto graph : module.getOps<GraphOp>())
    for (auto parameter : graph.getBody().front().getOps<ParameterOp>()) {
      if (graph.isTraining())
        continue;
      auto known = offsets.find(parameter.getName());
      if (known == offsets.end()) { // a model without training
        known = offsets.try_emplace(parameter.getName(), end).first;
        end = alignUp(end + countElements(parameter), getParameterAlignment(module));
      }
      parameter.setOffset(known->second);
    }
  for (auto graph : module.getOps<GraphOp>())
    layOutMasters(graph);
}

} // namespace halftone::ir
