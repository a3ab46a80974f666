// SPDX-License-Identifier: Apache-2.0
// Node by node, in order; every operation carries the name of its layer.
#include "codegen/import/FromDescription.h"

#include "codegen/import/Expressions.h"
#include "codegen/ir/Rules.h"
#include "codegen/ir/Scalars.h"
#include "halftone/description/text.hpp"

using namespace mlir;
namespace hd = halftone::description;

namespace halftone::ir {

namespace {

const hd::Function *functionOf(const hd::Node &node) {
  const auto *attributes = std::get_if<hd::LayerAttributes>(&node.attributes);
  return attributes && attributes->function ? &*attributes->function : nullptr;
}

/// What a node has beside operands, by name, as attributes of its operation.
class SettingsImporter {
public:
  SettingsImporter(Builder &builder, OperationState &state) : builder(builder), state(state) {}

  void add(const hd::Node &node) {
    std::visit([this](const auto &attributes) { addAll(attributes); }, node.attributes);
  }

private:
  void add(StringRef name, double value) {
    state.addAttribute(name, builder.getF64FloatAttr(value));
  }
  void add(StringRef name, bool value) { state.addAttribute(name, builder.getBoolAttr(value)); }
  void add(StringRef name, const std::string &value) {
    state.addAttribute(name, builder.getStringAttr(value));
  }
  void add(StringRef name, int64_t value) {
    state.addAttribute(name, builder.getI64IntegerAttr(value));
  }
  void add(StringRef name, const std::vector<std::int64_t> &value) {
    state.addAttribute(name, builder.getDenseI64ArrayAttr(value));
  }
  void add(StringRef, const hd::Shape &) {} // the result's type has the dimensions
  void add(StringRef name, const hd::Initializer &value) {
    FloatAttr low, high;
    if (value.kind == hd::Initializer::Kind::truncated_normal) {
      low = builder.getF64FloatAttr(value.low);
      high = builder.getF64FloatAttr(value.high);
    }
    state.addAttribute(
        name, InitializerAttr::get(builder.getContext(), static_cast<InitializerKind>(value.kind),
                                   builder.getF64FloatAttr(value.first),
                                   builder.getF64FloatAttr(value.second), low, high));
  }

  void addAll(std::monostate) {}
  void addAll(const hd::InputAttributes &attributes) {
    if (attributes.gradient)
      state.addAttribute("gradient", builder.getUnitAttr());
    auto set = [&](StringRef name, double value) {
      state.addAttribute(name, builder.getF32FloatAttr(static_cast<float>(value)));
    };
    if (attributes.converts()) { // an offset of 0, too: it makes +0 of -0
      set("scale", attributes.scale);
      set("offset", attributes.offset);
    }
  }
  void addAll(const hd::ParameterAttributes &attributes) {
    add("initializer", attributes.initializer);
    add("decay", attributes.decay);
    add("frozen", attributes.frozen);
    add("learning_rate_scale", attributes.learning_rate_scale);
  }
  void addAll(const hd::StateAttributes &attributes) { add("initial", attributes.initial); }
  void addAll(const hd::LayerAttributes &attributes) {
    for (const hd::Setting &setting : attributes.settings)
      std::visit([&](const auto &value) { add(setting.name, value); }, setting.value);
    if (attributes.function)
      add("function", attributes.function->name);
  }

  Builder &builder;
  OperationState &state;
};

/// Of every operand of the node's kind whether it is there; of `more` operands that it is not.
SmallVector<int32_t> segmentsOf(const hd::Node &node, unsigned more) {
  SmallVector<int32_t> segments;
  for (const hd::OperandForm &form : hd::form_of(node.kind).operands)
    segments.push_back(llvm::any_of(
        node.operands, [&](const hd::Operand &operand) { return operand.role == form.role; }));
  segments.append(more, 0);
  return segments;
}

/// Imports the nodes of one graph, in order.
class GraphImporter {
public:
  GraphImporter(OpBuilder &builder, const hd::Description &description)
      : builder(builder), description(description), values(description.nodes.size()) {}

  void importNode(hd::NodeId id, bool training);
  void importSinks(bool training);
  void importOwnValues();

private:
  TensorType typeOf(const hd::Node &node) {
    auto dims = llvm::map_to_vector(node.shape, [&](const hd::Dimension &dim) -> Attribute {
      return dim.symbol.empty()
                 ? Attribute(builder.getI64IntegerAttr(dim.extent))
                 : symbolOf(builder.getContext(), {dim.symbol, 1, dim.factor, dim.extent});
    });
    return TensorType::get(builder.getContext(), dims,
                           ir::typeOf(builder.getContext(), node.format));
  }
  Operation *create(const hd::Node &node, Location loc);
  void importKept(const hd::Node &node, Operation *op, bool training);

  struct Assignment {
    Value state, next;
    StringAttr name;
  };
  SmallVector<Operation *> createDivisor(Operation *loss);

  OpBuilder &builder;
  const hd::Description &description;
  SmallVector<Value> values;
  SmallVector<Assignment> assignments; ///< of states that layers keep
};

/// The operation of the kind's word, with the operands in the order of their roles and the settings
/// as attributes.
Operation *GraphImporter::create(const hd::Node &node, Location loc) {
  OperationState state(loc, ("halftone." + StringRef(hd::kind_text(node.kind))).str());
  auto registered = state.name.getRegisteredInfo();
  if (!registered)
    llvm::report_fatal_error("codegen/ir/Layers.td lists no " + state.name.getStringRef());
  for (const hd::Operand &operand : node.operands)
    state.operands.push_back(values[operand.node]);
  if (hd::is_source(node.kind))
    state.addAttribute("name", builder.getStringAttr(node.name));
  SettingsImporter(builder, state).add(node);
  const auto *layer = registered->getInterface<Layer>();
  if (state.name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    state.addAttribute(
        "operandSegmentSizes",
        builder.getDenseI32ArrayAttr(segmentsOf(node, layer ? layer->countOperandsOfPasses() : 0)));
  if (layer)
    state.addTypes(layer->inferResults(typeOf(node), state.operands,
                                       state.attributes.getDictionary(builder.getContext())));
  else
    state.addTypes(typeOf(node));
  const hd::Function *function = functionOf(node);
  if (function)
    state.addRegion();
  Operation *op = builder.create(state);
  if (function)
    importExpression(builder, loc, function->expression, op->getRegion(0));
  return op;
}

/// The states that a layer keeps (D17): it alone reads them, as they are, and leaves as its last
/// results what those are next that steps move.
void GraphImporter::importKept(const hd::Node &node, Operation *op, bool training) {
  const hd::KindForm &form = hd::form_of(node.kind);
  SmallVector<Value> kept;
  for (unsigned i = 0; i < node.operands.size(); ++i)
    if (const auto &of = hd::operand_form(form, node.operands[i].role); of.kept) {
      op->getOperand(i).getDefiningOp()->setAttr(kKeptAttr, builder.getUnitAttr());
      if (!of.fixed)
        kept.push_back(op->getOperand(i));
    }
  for (auto [state, next] : llvm::zip(kept, op->getResults().take_back(kept.size()))) {
    if (training)
      assignments.push_back({state, next, cast<StateOp>(state.getDefiningOp()).getNameAttr()});
  }
}

/// Whether it is a sum, which nothing divides (D71).
bool isSummed(Operation *loss) { return loss->hasAttr(hd::kSummed.name); }

/// What a loss under weights divides by, the last one's result: before it, so that its mean can
/// join it (D71).
SmallVector<Operation *> GraphImporter::createDivisor(Operation *loss) {
  if (isSummed(loss))
    return {};
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loss);
  Operation *before = loss->getPrevNode();
  cast<Layer>(loss).buildDivisor(builder);
  SmallVector<Operation *> ops;
  for (Operation *op = before->getNextNode(); op != loss; op = op->getNextNode()) {
    op->setAttr(kInternalAttr, builder.getUnitAttr());
    ops.push_back(op);
  }
  return ops;
}

void GraphImporter::importNode(hd::NodeId id, bool training) {
  const hd::Node &node = description.nodes[id];
  Location loc = NameLoc::get(builder.getStringAttr(node.name));
  SmallVector<Operation *> ops{create(node, loc)};
  if (node.format != Element::i32 && hd::is_counted(description, id))
    ops.front()->setAttr("integers", builder.getUnitAttr());
  importKept(node, ops.front(), training);
  if (hd::is_loss(node.kind)) {
    Operation *loss = ops.front();
    ops = createDivisor(loss);
    Value divisor = ops.empty() ? Value() : ops.back()->getResult(0);
    ops.push_back(loss);
    ops.push_back(
        MeanOp::create(builder, loc, typeOf(node), loss->getResult(0), divisor, isSummed(loss)));
  }
  values[id] = ops.back()->getResult(0);
  for (Operation *op : ops) {
    op->setAttr(kLayerAttr, builder.getStringAttr(node.name));
    op->setAttr(kKindAttr, builder.getStringAttr(hd::kind_text(node.kind)));
    if (hd::is_loss(node.kind))
      setPhase(op, Phase::Loss);
  }
}

/// The functions of a user's optimizer: the parameter's, then the states'.
void GraphImporter::importOwnValues() {
  const auto *custom = std::get_if<hd::Custom>(&description.optimizer);
  if (!custom)
    return;
  Location loc = NameLoc::get(builder.getStringAttr("optimizer"));
  auto add = [&](StringRef name, const hd::Expression &value) {
    auto op = OwnValueOp::create(builder, loc, builder.getStringAttr(name));
    importExpression(builder, loc, value, op.getBody());
  };
  add("parameter", custom->parameter);
  for (const hd::Custom::State &state : custom->states)
    add(state.name, state.next);
}

void GraphImporter::importSinks(bool training) {
  for (const hd::Output &output : description.outputs)
    OutputOp::create(builder, NameLoc::get(builder.getStringAttr(output.name)), output.name,
                     values[output.node]);
  for (const hd::Loss &loss : description.losses) {
    const std::string &name = description.nodes[loss.node].name;
    auto op = LossOp::create(builder, NameLoc::get(builder.getStringAttr(name)),
                             builder.getStringAttr(name), values[loss.node],
                             builder.getF64FloatAttr(loss.weight));
    setPhase(op, Phase::Loss);
  }
  if (!training)
    return;
  if (description.schedule) {
    Location loc = NameLoc::get(builder.getStringAttr("schedule"));
    auto op = ScheduleOp::create(builder, loc);
    importExpression(builder, loc, *description.schedule, op.getBody());
  }
  importOwnValues();
  for (const hd::Assignment &assignment : description.assignments) {
    const std::string &name = description.nodes[assignment.state].name;
    assignments.push_back(
        {values[assignment.state], values[assignment.value], builder.getStringAttr(name)});
  }
  for (const Assignment &assignment : assignments) {
    auto op =
        AssignOp::create(builder, NameLoc::get(assignment.name), assignment.state, assignment.next);
    setPhase(op, Phase::Update);
  }
}

/// The nodes that outputs and losses are computed from.
std::vector<bool> neededForInference(const hd::Description &description) {
  std::vector<bool> needed(description.nodes.size());
  for (const hd::Output &output : description.outputs)
    needed[output.node] = true;
  for (const hd::Loss &loss : description.losses)
    needed[loss.node] = true;
  for (size_t id = description.nodes.size(); id-- > 0;)
    if (needed[id])
      for (const hd::Operand &operand : description.nodes[id].operands)
        needed[operand.node] = true;
  return needed;
}

DictionaryAttr importLossScale(Builder &builder, const hd::LossScale &scale) {
  NamedAttrList fields;
  auto number = [&](StringRef name, double value) {
    fields.append(name, builder.getF64FloatAttr(value));
  };
  bool dynamic = scale.kind == hd::LossScale::Kind::dynamic;
  fields.append("kind", builder.getStringAttr(dynamic ? "dynamic" : "fixed"));
  number("initial", scale.initial);
  if (dynamic) {
    number("growth", scale.growth);
    number("backoff", scale.backoff);
    number("interval", static_cast<double>(scale.interval));
    number("floor", scale.floor);
    number("ceiling", scale.ceiling);
    number("hysteresis", static_cast<double>(scale.hysteresis));
  }
  return fields.getDictionary(builder.getContext());
}

/// Of each the norm and the names of its parameters.
ArrayAttr importClipGroups(Builder &builder, const hd::Description &description) {
  SmallVector<Attribute> groups;
  for (const hd::ClipGroup &group : description.clip_groups) {
    SmallVector<Attribute> names;
    for (hd::NodeId parameter : group.parameters)
      names.push_back(builder.getStringAttr(description.nodes[parameter].name));
    groups.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("norm", builder.getF64FloatAttr(group.norm)),
         builder.getNamedAttr("parameters", builder.getArrayAttr(names))}));
  }
  return builder.getArrayAttr(groups);
}

/// Its word as `kind`, and its settings by their words.
DictionaryAttr importOptimizer(Builder &builder, const hd::Optimizer &optimizer) {
  SmallVector<NamedAttribute> fields;
  std::visit(
      [&]<class Optimizer>(const Optimizer &is) {
        fields.push_back(builder.getNamedAttr("kind", builder.getStringAttr(Optimizer::word)));
        for (const auto &setting : Optimizer::settings) {
          Attribute value;
          if (setting.number != nullptr)
            value = builder.getF64FloatAttr(is.*setting.number);
          else
            value = builder.getBoolAttr(is.*setting.flag);
          fields.push_back(builder.getNamedAttr(setting.word, value));
        }
      },
      optimizer);
  return builder.getDictionaryAttr(fields);
}

} // namespace

OwningOpRef<ModuleOp> importDescription(const hd::Description &description, StringRef target,
                                        MLIRContext *context, StringRef stage) {
  context->loadDialect<HalftoneDialect, arith::ArithDialect, math::MathDialect>();
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, builder.getUnknownLoc());
  (*module)->setAttr(kModelAttr, builder.getStringAttr(description.name));
  (*module)->setAttr(kRulesAttr, RulesAttr::get(context, RuleList{description.rules}));
  if (DictionaryAttr places = rulePlacesOf(context, description))
    (*module)->setAttr(kRulePlacesAttr, places);
  (*module)->setAttr(kTargetAttr, builder.getStringAttr(target));
  if (stage.empty() && !description.stages.empty())
    stage = description.stages.front();
  if (!stage.empty())
    (*module)->setAttr(kStageAttr, builder.getStringAttr(stage));
  hd::LossScale scale =
      lossScaleOf(description.rules, {target, stage}).field.value_or(hd::LossScale());
  if (scale.kind != hd::LossScale::Kind::none && !description.losses.empty())
    (*module)->setAttr(kLossScaleAttr, importLossScale(builder, scale));
  (*module)->setAttr(kOptimizerAttr, importOptimizer(builder, description.optimizer));
  if (description.clip)
    (*module)->setAttr(kClipAttr, builder.getF64FloatAttr(*description.clip));
  if (!description.clip_groups.empty())
    (*module)->setAttr(kClipGroupsAttr, importClipGroups(builder, description));
  if (description.clip_value)
    (*module)->setAttr(kClipValueAttr, builder.getF64FloatAttr(*description.clip_value));
  if (description.average)
    (*module)->setAttr(kAverageAttr, builder.getF64FloatAttr(*description.average));
  auto addGraph = [&](StringRef name, const std::vector<bool> &needed, bool training) {
    builder.setInsertionPointToEnd(module->getBody());
    auto graph = GraphOp::create(builder, builder.getUnknownLoc(), name);
    builder.createBlock(&graph.getBody());
    GraphImporter importer(builder, description);
    for (size_t id = 0; id < description.nodes.size(); ++id)
      if (needed[id])
        importer.importNode(static_cast<hd::NodeId>(id), training);
    importer.importSinks(training);
  };
  if (!description.losses.empty())
    addGraph("training", std::vector<bool>(description.nodes.size(), true), true);
  if (!description.outputs.empty())
    addGraph("inference", neededForInference(description), false);
  return module;
}

} // namespace halftone::ir
