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

Type formatType(Builder &builder, hd::Format format) {
  switch (format) {
  case hd::Format::f32:
    return builder.getF32Type();
  case hd::Format::tf32:
    return builder.getTF32Type();
  case hd::Format::f16:
    return builder.getF16Type();
  case hd::Format::bf16:
    return builder.getBF16Type();
  case hd::Format::i32:
    return builder.getI32Type();
  }
  llvm_unreachable("all formats are listed");
}

/// Imports the nodes of one graph, in order.
class GraphImporter {
public:
  GraphImporter(OpBuilder &builder, const hd::Description &description)
      : builder(builder), description(description), values(description.nodes.size()) {}

  void importNode(hd::NodeId id);
  void importSinks(bool training);

private:
  TensorType typeOf(const hd::Node &node) {
    // Inputs arrive in the format they declare (D8); all else is f32 until the rules are applied.
    Type element = hd::is_input(node.kind) ? formatType(builder, node.format)
                                                : Type(builder.getF32Type());
    auto dims = llvm::map_to_vector(node.shape, [&](const hd::Dimension &dim) -> Attribute {
      return dim.symbol.empty() ? Attribute(builder.getI64IntegerAttr(dim.extent))
                                : builder.getStringAttr(dim.symbol);
    });
    return TensorType::get(builder.getContext(), dims, element);
  }
  SmallVector<Value> operandsOf(const hd::Node &node) {
    return llvm::map_to_vector(node.operands,
                               [&](const hd::Operand &operand) { return values[operand.node]; });
  }
  Value importSource(const hd::Node &node, Location loc);
  Value importLayer(const hd::Node &node, Location loc);
  Value importLoss(const hd::Node &node, Location loc);
  Value importParameter(const hd::Node &node, Location loc);
  Value mean(Value x, Location loc) {
    auto scalar = TensorType::get(builder.getContext(), {}, builder.getF32Type());
    return MeanOp::create(builder, loc, scalar, x);
  }

  OpBuilder &builder;
  const hd::Description &description;
  SmallVector<Value> values;
};

Value GraphImporter::importParameter(const hd::Node &node, Location loc) {
  const auto &attributes = std::get<hd::ParameterAttributes>(node.attributes);
  auto initializer = InitializerAttr::get(builder.getContext(),
                                          static_cast<InitializerKind>(attributes.initializer.kind),
                                          builder.getF64FloatAttr(attributes.initializer.first),
                                          builder.getF64FloatAttr(attributes.initializer.second));
  return ParameterOp::create(
      builder, loc, typeOf(node), builder.getStringAttr(node.name), initializer,
      builder.getBoolAttr(attributes.decay), builder.getBoolAttr(attributes.frozen),
      builder.getF64FloatAttr(attributes.learning_rate_scale), IntegerAttr());
}

Value GraphImporter::importSource(const hd::Node &node, Location loc) {
  if (hd::is_input(node.kind))
    return InputOp::create(builder, loc, typeOf(node), node.name);
  if (hd::is_parameter(node.kind))
    return importParameter(node, loc);
  return StateOp::create(
      builder, loc, typeOf(node), builder.getStringAttr(node.name),
      builder.getF64FloatAttr(std::get<hd::StateAttributes>(node.attributes).initial), UnitAttr());
}

Value GraphImporter::importLayer(const hd::Node &node, Location loc) {
  if (hd::is_source(node.kind))
    return importSource(node, loc);
  if (hd::is_loss(node.kind))
    return importLoss(node, loc);
  TensorType type = typeOf(node);
  SmallVector<Value> operands = operandsOf(node);
  const auto *attributes = std::get_if<hd::LayerAttributes>(&node.attributes);
  if (attributes && attributes->function)
    return importExpression(builder, loc, attributes->function->name,
                            attributes->function->expression, operands, type);
  StringRef kind = hd::kind_text(node.kind);
  if (kind == "linear")
    return LinearOp::create(builder, loc, type, operands[0], operands[1],
                            operands.size() > 2 ? operands[2] : Value());
  if (kind == "layer_norm") {
    TensorType rows = type.withDims(type.getRowDims());
    return LayerNormOp::create(builder, loc, type, rows, rows, operands[0], operands[1],
                               operands[2],
                               builder.getF64FloatAttr(attributes->number("epsilon")))
        .getResult();
  }
  if (kind == "relu")
    return ReluOp::create(builder, loc, type, operands[0]);
  if (kind == "gelu")
    return GeluOp::create(builder, loc, type, operands[0],
                          attributes->word("approximation") == "tanh");
  if (kind == "silu")
    return SiluOp::create(builder, loc, type, operands[0]);
  if (kind == "add")
    return AddOp::create(builder, loc, type, operands[0], operands[1]);
  if (kind == "concat")
    return ConcatOp::create(builder, loc, type, operands);
  llvm_unreachable("all layers are listed");
}

Value GraphImporter::importLoss(const hd::Node &node, Location loc) {
  SmallVector<Value> operands = operandsOf(node);
  TensorType result = cast<TensorType>(operands[0].getType()).withElementType(builder.getF32Type());
  StringRef kind = hd::kind_text(node.kind);
  if (kind == "cross_entropy")
    return mean(CrossEntropyOp::create(builder, loc, result.withDims(result.getRowDims()),
                                       operands[0], operands[1]),
                loc);
  if (kind == "mse") { // D30
    using enum hd::ScalarOp;
    const hd::Expression squares{2,
                                 {{operand, 0}, {operand, 1}, {subtract, 0, 1}, {multiply, 2, 2}}};
    return mean(importExpression(builder, loc, "mse", squares, operands, result), loc);
  }
  const hd::Function &function = *std::get<hd::LayerAttributes>(node.attributes).function;
  return mean(
      importExpression(builder, loc, function.name, function.expression, operands, result), loc);
}

void GraphImporter::importNode(hd::NodeId id) {
  const hd::Node &node = description.nodes[id];
  Location loc = NameLoc::get(builder.getStringAttr(node.name));
  Block *block = builder.getInsertionBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  values[id] = importLayer(node, loc);
  for (Operation *op = last ? last->getNextNode() : &block->front(); op; op = op->getNextNode()) {
    op->setAttr(kLayerAttr, builder.getStringAttr(node.name));
    op->setAttr(kKindAttr, builder.getStringAttr(hd::kind_text(node.kind)));
    if (hd::is_loss(node.kind))
      setPhase(op, Phase::Loss);
  }
}

void GraphImporter::importSinks(bool training) {
  for (const hd::Output &output : description.outputs)
    OutputOp::create(builder, NameLoc::get(builder.getStringAttr(output.name)), output.name,
                     values[output.node]);
  if (!training)
    return;
  for (const hd::Loss &loss : description.losses) {
    const std::string &name = description.nodes[loss.node].name;
    auto op = LossOp::create(builder, NameLoc::get(builder.getStringAttr(name)),
                             builder.getStringAttr(name), values[loss.node],
                             builder.getF64FloatAttr(loss.weight));
    setPhase(op, Phase::Loss);
  }
  for (const hd::Assignment &assignment : description.assignments) {
    const std::string &name = description.nodes[assignment.state].name;
    auto op = AssignOp::create(builder, NameLoc::get(builder.getStringAttr(name)),
                               values[assignment.state], values[assignment.value]);
    setPhase(op, Phase::Update);
  }
}

/// The nodes that the outputs are computed from.
std::vector<bool> neededForOutputs(const hd::Description &description) {
  std::vector<bool> needed(description.nodes.size());
  for (const hd::Output &output : description.outputs)
    needed[output.node] = true;
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

DictionaryAttr importOptimizer(Builder &builder, const hd::Optimizer &optimizer) {
  SmallVector<NamedAttribute> fields;
  auto set = [&](StringRef name, double value) {
    fields.push_back(builder.getNamedAttr(name, builder.getF64FloatAttr(value)));
  };
  if (const auto *adamw = std::get_if<hd::AdamW>(&optimizer)) {
    fields.push_back(builder.getNamedAttr("kind", builder.getStringAttr("adamw")));
    set("learning_rate", adamw->learning_rate);
    set("beta1", adamw->beta1);
    set("beta2", adamw->beta2);
    set("epsilon", adamw->epsilon);
    set("weight_decay", adamw->weight_decay);
  } else {
    const auto &sgd = std::get<hd::Sgd>(optimizer);
    fields.push_back(builder.getNamedAttr("kind", builder.getStringAttr("sgd")));
    set("learning_rate", sgd.learning_rate);
    set("momentum", sgd.momentum);
    set("weight_decay", sgd.weight_decay);
    fields.push_back(builder.getNamedAttr("nesterov", builder.getBoolAttr(sgd.nesterov)));
  }
  return builder.getDictionaryAttr(fields);
}

} // namespace

OwningOpRef<ModuleOp> importDescription(const hd::Description &description, StringRef target,
                                        MLIRContext *context) {
  context->loadDialect<HalftoneDialect, arith::ArithDialect, math::MathDialect>();
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, builder.getUnknownLoc());
  (*module)->setAttr(kModelAttr, builder.getStringAttr(description.name));
  (*module)->setAttr(kRulesAttr, RulesAttr::get(context, RuleList{description.rules}));
  (*module)->setAttr(kTargetAttr, builder.getStringAttr(target));
  hd::LossScale scale = lossScaleOf(description.rules, target).field.value_or(hd::LossScale());
  if (scale.kind != hd::LossScale::Kind::none && !description.losses.empty())
    (*module)->setAttr(kLossScaleAttr, importLossScale(builder, scale));
  (*module)->setAttr(kOptimizerAttr, importOptimizer(builder, description.optimizer));
  if (description.clip)
    (*module)->setAttr(kClipAttr, builder.getF64FloatAttr(*description.clip));
  auto addGraph = [&](StringRef name, const std::vector<bool> &needed, bool training) {
    builder.setInsertionPointToEnd(module->getBody());
    auto graph = GraphOp::create(builder, builder.getUnknownLoc(), name);
    builder.createBlock(&graph.getBody());
    GraphImporter importer(builder, description);
    for (size_t id = 0; id < description.nodes.size(); ++id)
      if (needed[id])
        importer.importNode(static_cast<hd::NodeId>(id));
    importer.importSinks(training);
  };
  if (!description.losses.empty())
    addGraph("training", std::vector<bool>(description.nodes.size(), true), true);
  if (!description.outputs.empty())
    addGraph("inference", neededForOutputs(description), false);
  return module;
}

} // namespace halftone::ir
