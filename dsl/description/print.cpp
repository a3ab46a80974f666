// SPDX-License-Identifier: Apache-2.0
// Writes the text form, one statement a line; grammar at the end of docs/spec/description.md.
#include "halftone/description/text.hpp"
#include "spelling.hpp"

namespace halftone::description {
namespace {

using detail::quoted;
using detail::spelled;

class Printer {
 public:
  explicit Printer(const Description& description) : description_(description) {}

  std::string structure() {
    put_structure();
    return std::move(text_);
  }

  std::string text() {
    put_structure();
    for (const std::string& stage : description_.stages) {
      put(&stage == description_.stages.data() ? "stages " : " ", quoted(stage));
    }
    if (!description_.stages.empty()) put("\n");
    for (const Rule& rule : description_.rules) put("rule ", spelled(rule), "\n");
    std::visit([this](const auto& optimizer) { put_optimizer(optimizer); }, description_.optimizer);
    if (description_.clip) put("clip ", spelled(*description_.clip), "\n");
    for (const ClipGroup& group : description_.clip_groups) {
      put("clip_group ", spelled(group.norm));
      for (const NodeId parameter : group.parameters) put(" ", name(parameter));
      put("\n");
    }
    if (description_.clip_value) put("clip_value ", spelled(*description_.clip_value), "\n");
    if (description_.schedule) {
      put("schedule");
      put_expression(*description_.schedule);
      put("\n");
    }
    if (description_.average) put("average ", spelled(*description_.average), "\n");
    return std::move(text_);
  }

 private:
  void put_structure() {
    put("halftone description 1\nmodel ", quoted(description_.name), "\n");
    for (const Node& node : description_.nodes) put_node(node);
    for (const Output& output : description_.outputs) {
      put("output ", quoted(output.name), " = ", name(output.node), "\n");
    }
    for (const Loss& loss : description_.losses) {
      put("loss ", name(loss.node), " weight ", spelled(loss.weight), "\n");
    }
    for (const Assignment& assignment : description_.assignments) {
      put("assign ", name(assignment.state), " = ", name(assignment.value), "\n");
    }
  }

  template <typename... Parts>
  void put(const Parts&... parts) {
    ((text_ += parts), ...);
  }

  std::string name(NodeId id) const {
    const bool known = id >= 0 && static_cast<std::size_t>(id) < description_.nodes.size();
    return known ? "%" + description_.nodes[static_cast<std::size_t>(id)].name : "%?";
  }

  void put_node(const Node& node) {
    if (is_source(node.kind)) {
      put(spelled(node.kind), " %", node.name, " : ",
          is_input(node.kind) ? spelled(node.format) : "", spelled(node.shape));
      std::visit([this](const auto& attributes) { put_attributes(attributes); }, node.attributes);
    } else {
      put("%", node.name, " = ", spelled(node.kind), "(");
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        put(i == 0 ? "" : ", ", node.operands[i].role, ": ", name(node.operands[i].node));
      }
      put(")");
      std::visit([this](const auto& attributes) { put_attributes(attributes); }, node.attributes);
      put(" : ", spelled(node.shape));
    }
    put("\n");
  }

  void put_attributes(std::monostate) {}

  void put_attributes(const InputAttributes& attributes) {
    if (attributes.gradient) put(" gradient");
    if (attributes.scale != 1) put(" scale ", spelled(attributes.scale));
    if (attributes.offset != 0) put(" offset ", spelled(attributes.offset));
  }

  void put_attributes(const ParameterAttributes& attributes) {
    const Initializer& initializer = attributes.initializer;
    put(" init ", spelled(initializer.kind), "(", spelled(initializer.first));
    using Kind = Initializer::Kind;
    if (initializer.kind != Kind::constant && initializer.kind != Kind::orthogonal)
      put(", ", spelled(initializer.second));
    if (initializer.kind == Kind::truncated_normal)
      put(", ", spelled(initializer.low), ", ", spelled(initializer.high));
    put(")");
    if (!attributes.decay) put(" no_decay");
    if (attributes.frozen) put(" frozen");
    if (attributes.learning_rate_scale != 1.0) {
      put(" learning_rate_scale ", spelled(attributes.learning_rate_scale));
    }
  }

  void put_attributes(const StateAttributes& attributes) {
    put(" initial ", spelled(attributes.initial));
  }

  void put_attributes(const LayerAttributes& attributes) {
    for (std::size_t i = 0; i < attributes.settings.size(); ++i) {
      const Setting& setting = attributes.settings[i];
      put(i == 0 ? " {" : ", ", setting.name, ": ");
      std::visit([this](const auto& value) { put_value(value); }, setting.value);
    }
    if (!attributes.settings.empty()) put("}");
    if (attributes.function) put_function(*attributes.function);
  }

  void put_value(double value) { put(spelled(value)); }
  void put_value(bool value) { put(value ? "true" : "false"); }
  void put_value(const std::string& word) { put(word); }
  void put_value(std::int64_t integer) { put(std::to_string(integer)); }
  void put_value(const Shape& dimensions) { put(spelled(dimensions)); }
  void put_value(const std::vector<std::int64_t>& integers) {
    Shape extents;
    for (const std::int64_t integer : integers) extents.push_back({integer, {}});
    put_value(extents);
  }

  void put_function(const Function& function) {
    put(" ", quoted(function.name));
    put_expression(function.expression);
  }

  void put_expression(const Expression& expression) {
    const auto& instructions = expression.instructions;
    put(" {");
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      const ScalarInstruction& instruction = instructions[i];
      put(i == 0 ? " %" : "; %", std::to_string(i), " = ", spelled(instruction.op));
      const int reads = detail::arity(instruction.op);
      if (instruction.op == ScalarOp::operand) put(" ", std::to_string(instruction.a));
      if (instruction.op == ScalarOp::constant) put(" ", spelled(instruction.constant));
      if (reads > 0) put(" %", std::to_string(instruction.a));
      if (reads > 1) put(" %", std::to_string(instruction.b));
      if (reads > 2) put(" %", std::to_string(instruction.c));
    }
    put(" }");
  }

  template <class Optimizer>
  void put_optimizer(const Optimizer& optimizer) {
    put("optimizer ", Optimizer::word);
    for (const auto& setting : Optimizer::settings) {
      const bool stated = setting.number != nullptr
                              ? !setting.optional || optimizer.*setting.number != 0
                              : optimizer.*setting.flag;
      if (stated) put(" ", setting.word);
      if (stated && setting.number != nullptr) put(" ", spelled(optimizer.*setting.number));
    }
    put_functions(optimizer);
    put("\n");
  }

  void put_functions(const auto&) {}
  void put_functions(const Custom& custom) {
    put(" parameter");
    put_expression(custom.parameter);
    for (const Custom::State& state : custom.states) {
      put(" ", state.name);
      put_expression(state.next);
    }
  }

  const Description& description_;
  std::string text_;
};

}  // namespace

std::string print(const Description& description) { return Printer(description).text(); }

std::string print_structure(const Description& description) {
  return Printer(description).structure();
}

}  // namespace halftone::description
