// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/ParameterLayout.h"

#include "llvm/ADT/StringMap.h"

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

ParameterLayout::ParameterLayout(GraphOp graph, bool hasNorms) {
  auto module = graph->getParentOfType<ModuleOp>();
  if (hasNorms)
    module->setAttr(kParameterAlignmentAttr,
                    IntegerAttr::get(IntegerType::get(module.getContext(), 64), PartNorms::kBlock));
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

Value ParameterLayout::select(OpBuilder &builder, Location loc, bool inBlocks,
                              function_ref<Value(const Group &)> of) const {
  Scalars s(builder, loc);
  Value result = of(groups.back()), index;
  for (const Group &group : llvm::drop_begin(llvm::reverse(groups))) {
    if (!index)
      index = inBlocks ? s.axisIndex(0)
                       : Value(ElementIndexOp::create(builder, loc, builder.getI64Type()));
    Value end = inBlocks ? s.integer(group.end() / PartNorms::kBlock) : s.integer(group.end(), 64);
    Value inside = s.compare(arith::CmpIPredicate::slt, index, end);
    result = s.select(inside, of(group), result);
  }
  return result;
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
}

} // namespace halftone::ir
