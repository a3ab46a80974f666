// SPDX-License-Identifier: Apache-2.0
// The rules that a node keeps by itself: D1 to D4, D8, D11 for its attributes, and its line in the
// table of nodes.
#include <algorithm>

#include "faults.hpp"
#include "halftone/description/in_f32.hpp"
#include "spelling.hpp"

namespace halftone::description::detail {

namespace {

/// The index of the attributes that nodes of this kind have; an input may have none.
std::size_t attributes_of(const Node& node) {
  const Kind kind = node.kind;
  const bool is_plain = std::holds_alternative<std::monostate>(node.attributes);
  if (is_input(kind) && !is_plain) return Attributes(InputAttributes{}).index();
  if (is_parameter(kind)) return Attributes(ParameterAttributes{}).index();
  if (is_state(kind)) return Attributes(StateAttributes{}).index();
  const KindForm& form = form_of(kind);
  const bool has_any = form.settings.size > 0 || form.function;
  return has_any ? Attributes(LayerAttributes{}).index() : Attributes().index();
}

Sentence name_fault(const Node& node) {  // D2
  if (!node.name.empty() && std::all_of(node.name.begin(), node.name.end(), is_name_byte)) {
    return std::nullopt;
  }
  return "the " + std::string(spelled(node.kind)) + " named " + quoted(node.name) +
         " needs a name of letters, digits and _ . / - (D2)";
}

Sentence dimension_fault(const Node& node) {  // D4
  for (const Dimension& dimension : node.shape) {
    if (dimension.symbol.empty() && dimension.extent <= 0) {
      return subject(node) + " has a dimension of " + std::to_string(dimension.extent) +
             "; make every extent positive (D4)";
    }
    if (dimension.symbol.empty() && dimension.factor != 1) {
      return subject(node) + " has a dimension of " + std::to_string(dimension.extent) +
             " with a factor; give factors to symbols alone (D112)";
    }
    if (dimension.symbol.empty()) continue;
    if (!is_symbol(dimension.symbol)) {
      return subject(node) + " has a dimension " + quoted(dimension.symbol) +
             "; a symbol is an identifier (D4)";
    }
    if (dimension.extent != 0 && !is_computed(node.kind)) {
      return subject(node) + " has a dimension that adds to the symbol '" + dimension.symbol +
             "'; give it a multiple of that, to which pad adds (D116)";
    }
    if (!is_factor(dimension.factor)) {
      return subject(node) + " has a dimension of " + std::to_string(dimension.factor) +
             " times the symbol '" + dimension.symbol + "'; make the factor 1 to " +
             std::to_string(kMostFactor) + " (D112)";
    }
    if (is_parameter(node.kind)) {
      return subject(node) + " has a dimension '" + dimension.symbol +
             "'; give a parameter fixed extents (D4)";
    }
  }
  std::int64_t elements = 1;
  for (const Dimension& dimension : node.shape) {
    elements = product_of_extents(elements,
                                  dimension.symbol.empty() ? dimension.extent : dimension.factor);
  }
  if (elements > kMostOfShape) {
    return subject(node) + " has more than " + std::to_string(kMostOfShape) +
           " elements; make its dimensions smaller (D4)";
  }
  return std::nullopt;
}

const OperandForm& form_of_operand(const Node& node, std::size_t i) {
  return operand_form(form_of(node.kind), node.operands[i].role);
}

/// Whether another operand before this one of `node` reads `source` as the other thing that an
/// input of integers may be: a value, or a label or token.
bool is_read_otherwise(const Description& description, const Node& node, const OperandForm& form,
                       NodeId source) {
  for (const Node& reader : description.nodes) {
    for (std::size_t i = 0; i < reader.operands.size(); ++i) {
      const OperandForm& of = form_of_operand(reader, i);
      if (reader.operands[i].node == source && of.integers != form.integers) return true;
      if (&reader == &node && &of == &form) return false;
    }
  }
  return false;
}

Sentence operand_format_fault(const Description& description, const Node& node,
                              const OperandForm& form, NodeId id) {  // D8
  const Node& source = description.nodes[static_cast<std::size_t>(id)];
  if (form.integers && !holds_integers(source)) {
    return subject(node) + " has the " + form.role + " '%" + source.name +
           "', which holds no integers; use an input of format i32, or of other integers (D8)";
  }
  if (!holds_integers(source)) return std::nullopt;
  if (!form.integers && !is_exact_in_f32(source.format)) {
    return subject(node) + " computes with the " + std::string(spelled(source.format)) +
           " input '%" + source.name +
           "'; only labels and tokens are so, and values f32, f16, bf16, u8, i8, u16 or i16 (D8)";
  }
  if (form.integers && input_attributes(source).converts()) {
    return subject(node) + " has the " + form.role + " '%" + source.name +
           "', which has a scale or an offset; only values have them, so leave them out (D16)";
  }
  if (is_read_otherwise(description, node, form, id)) {
    return subject(node) + " reads the input '%" + source.name +
           "' as a value, and another reads it as a label or token, or the other way round; give "
           "each an input of its own (D8)";
  }
  return std::nullopt;
}

Sentence format_fault(const Description& description, const Node& node) {  // D8
  if (is_input(node.kind) && !encoding::is_delivered(node.format)) {
    return subject(node) + " is delivered in " + std::string(spelled(node.format)) +
           ", which no input is; use f32 (D8)";
  }
  if (!is_input(node.kind) && node.format != Element::f32) {
    return subject(node) + " states the format " + std::string(spelled(node.format)) +
           "; leave it f32 and state formats in rules (D8)";
  }
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const Node& source = description.nodes[static_cast<std::size_t>(node.operands[i].node)];
    const OperandForm& form = form_of_operand(node, i);
    if (form.weighs && !is_input(source.kind)) {
      return subject(node) + " has the " + form.role + " '%" + source.name +
             "', which is no input; use an input for it (D8)";
    }
    if (auto fault = operand_format_fault(description, node, form, node.operands[i].node)) {
      return fault;
    }
  }
  return std::nullopt;
}

Sentence input_fault(const Description& description, const Node& node,
                     const InputAttributes& attributes) {
  if (attributes == InputAttributes{}) {
    return subject(node) + " has attributes that state nothing; leave them out (D20)";
  }
  if (!is_finite_in_f32(attributes.scale) || !is_finite_in_f32(attributes.offset)) {
    return subject(node) + " has a scale of " + spelled(attributes.scale) + " and an offset of " +
           spelled(attributes.offset) + "; make both finite in f32 (D16)";
  }
  if (attributes.converts() && !(holds_integers(node) && is_exact_in_f32(node.format))) {
    return subject(node) + " is delivered in " + std::string(spelled(node.format)) +
           " and has a scale or an offset; only u8, i8, u16 and i16 have them (D16)";
  }
  if (attributes.gradient && holds_integers(node)) {
    return subject(node) + " wants a gradient but holds integers, which have none; leave " +
           "'gradient' out (D15)";
  }
  if (attributes.gradient && description.losses.empty()) {
    return subject(node) + " wants a gradient but the model has no loss; add one, or leave " +
           "'gradient' out (D15)";
  }
  return std::nullopt;
}

Sentence parameter_fault(const Node& node, const ParameterAttributes& attributes) {
  using Kind = Initializer::Kind;
  const Initializer& initializer = attributes.initializer;
  const Kind kind = initializer.kind;
  if (kind == Kind::constant && initializer.second != 0) {
    return subject(node) + " has a constant initializer with a second number, " +
           spelled(initializer.second) + "; leave it 0 (D20)";
  }
  const Initializer standard;
  if ((kind == Kind::orthogonal && initializer.second != 0) ||
      (kind != Kind::truncated_normal &&
       (initializer.low != standard.low || initializer.high != standard.high))) {
    return subject(node) + " has an initializer " + std::string(spelled(kind)) +
           " with numbers that its text leaves out; leave them as they are (D20)";
  }
  if (kind == Kind::orthogonal && node.shape.size() < 2) {
    return subject(node) + " has an initializer orthogonal and one dimension; give it two or " +
           "more, or another initializer (D20)";
  }
  if (!is_finite_in_f32(initializer.low) || !is_finite_in_f32(initializer.high) ||
      initializer.low > initializer.high) {
    return subject(node) + " has an initializer truncated_normal from " + spelled(initializer.low) +
           " to " + spelled(initializer.high) +
           "; use ends that are finite in f32 and in order (D20)";
  }
  const bool is_normal = kind == Kind::normal || kind == Kind::truncated_normal;
  if (!is_finite_in_f32(initializer.first) || !is_finite_in_f32(initializer.second) ||
      (kind == Kind::uniform && initializer.first > initializer.second) ||
      (is_normal && initializer.second < 0)) {
    return subject(node) + " has an initializer " + std::string(spelled(initializer.kind)) +
           " of " + spelled(initializer.first) + " and " + spelled(initializer.second) +
           "; use numbers finite in f32, ends in order and a deviation that is not negative (D20)";
  }
  if (!is_not_negative_in_f32(attributes.learning_rate_scale)) {
    return subject(node) + " has a learning-rate scale of " +
           spelled(attributes.learning_rate_scale) +
           "; make it finite in f32 and not negative (D11)";
  }
  return std::nullopt;
}

Sentence number_fault(const Node& node, const SettingForm& form, double value) {
  if (form.accepts(value)) return std::nullopt;
  return subject(node) + " has " + form.title + " of " + spelled(value) + ", which " +
         form.trouble + "; write " + form.example + " (" + form.rule + ")";
}

Sentence list_fault(const Node& node, const SettingForm& form,
                    const std::vector<std::int64_t>& list) {
  for (const std::int64_t integer : list) {
    if (!form.accepts) break;
    if (auto fault = number_fault(node, form, static_cast<double>(integer))) return fault;
  }
  return std::nullopt;
}

Sentence setting_fault(const Node& node, const SettingForm& form, const Setting& setting) {
  const bool fits =
      setting.name == form.name && setting.value.index() == static_cast<std::size_t>(form.type);
  if (!fits) {
    return subject(node) + " does not have the settings of its kind; give it '" + form.name +
           "' (" + std::string(label_of(node)) + ")";
  }
  if (const bool* flag = std::get_if<bool>(&setting.value); flag && form.optional && !*flag) {
    return subject(node) + " states that it is not " + form.name + "; leave that out (" +
           std::string(label_of(node)) + ")";
  }
  if (const auto* number = std::get_if<double>(&setting.value)) {
    return number_fault(node, form, *number);
  }
  if (const auto* integer = std::get_if<std::int64_t>(&setting.value)) {
    return number_fault(node, form, static_cast<double>(*integer));
  }
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&setting.value)) {
    return list_fault(node, form, *list);
  }
  const auto* word = std::get_if<std::string>(&setting.value);
  if (!word || std::find(form.words.begin(), form.words.end(), *word) != form.words.end()) {
    return std::nullopt;
  }
  return subject(node) + " has " + form.title + " " + quoted(*word) + "; write " + form.words[0] +
         " (" + std::string(label_of(node)) + ")";
}

Sentence layer_fault(const Node& node, const KindForm& form, const LayerAttributes& attributes) {
  std::size_t met = 0;
  for (const SettingForm& expected : form.settings) {
    const Setting setting = met < attributes.settings.size() ? attributes.settings[met] : Setting{};
    if (expected.optional && setting.name != expected.name) continue;
    if (auto fault = setting_fault(node, expected, setting)) return fault;
    ++met;
  }
  if (attributes.settings.size() > met || attributes.function.has_value() != form.function) {
    return subject(node) + " has the attributes of another kind; give it its own (" +
           std::string(label_of(node)) + ")";
  }
  if (!form.function) return std::nullopt;
  const auto fault = expression_fault(attributes.function->expression, count_values(node));
  if (!fault) return std::nullopt;
  return subject(node) + ": " + *fault + " (" + std::string(label_of(node)) + ")";
}

Sentence attribute_fault(const Description& description, const Node& node) {
  if (node.attributes.index() != attributes_of(node)) {
    return subject(node) + " has the attributes of another kind; give it its own (" +
           std::string(label_of(node)) + ")";
  }
  if (const auto* input = std::get_if<InputAttributes>(&node.attributes)) {
    return input_fault(description, node, *input);
  }
  if (const auto* parameter = std::get_if<ParameterAttributes>(&node.attributes)) {
    return parameter_fault(node, *parameter);
  }
  const KindForm& form = form_of(node.kind);
  if (const auto* state = std::get_if<StateAttributes>(&node.attributes)) {
    return number_fault(node, form.settings[0], state->initial);
  }
  const auto* layer = std::get_if<LayerAttributes>(&node.attributes);
  return layer ? layer_fault(node, form, *layer) : std::nullopt;
}

Sentence shape_fault(const Description& description, const Node& node) {
  const InferredShape inferred = inferred_shape(description, node);
  if (!inferred.shape) {
    return inferred.fault.empty() ? std::nullopt : Sentence(inferred.fault);
  }
  if (*inferred.shape == node.shape) return std::nullopt;
  return subject(node) + " states the shape " + spelled(node.shape) + " but its operands give " +
         spelled(*inferred.shape) + "; state that (" + std::string(label_of(node)) + ")";
}

}  // namespace

Sentence node_fault(const Description& description, std::size_t index) {
  const Node& node = description.nodes[index];
  if (auto fault = name_fault(node)) return fault;
  if (auto fault = operand_fault(description, node, index)) return fault;
  if (auto fault = dimension_fault(node)) return fault;
  if (auto fault = attribute_fault(description, node)) return fault;
  if (auto fault = format_fault(description, node)) return fault;
  return shape_fault(description, node);
}

}  // namespace halftone::description::detail
