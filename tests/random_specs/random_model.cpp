// SPDX-License-Identifier: Apache-2.0
#include "random_model.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../description/asked_shape.hpp"
#include "../description/builder.hpp"
#include "halftone/description/validate.hpp"
#include "halftone/encoding/traits.hpp"
#include "random_function.hpp"
#include "random_settings.hpp"
#include "random_training.hpp"

namespace halftone::tests {
namespace {

class ModelWriter {
 public:
  explicit ModelWriter(std::uint64_t seed) : choices_(seed) {
    model().name = "random_" + std::to_string(seed);
  }

  Description write() {
    add_value_input(first_shape());
    if (choices_.happens(50)) add_of_kind(kind_called("linear"));
    const std::int64_t most = choices_.between(2, 12);
    for (std::int64_t count = choices_.between(2, most); count > 0; --count) add_layer();
    add_losses();
    if (!settle()) train_something();
    add_outputs();
    add_random_optimizer(choices_, model());
    add_random_rules(choices_, model());
    return std::move(model());
  }

 private:
  static constexpr std::int64_t kMostElements = 4096;  // of a value, without symbols

  Description& model() { return builder_.description; }
  const Node& node(NodeId id) { return model().nodes[static_cast<std::size_t>(id)]; }
  const Shape& shape(NodeId id) { return node(id).shape; }
  NodeId nodes() { return static_cast<NodeId>(model().nodes.size()); }

  std::string name(const std::string& stem) { return stem + std::to_string(model().nodes.size()); }

  Dimension extent() {
    static constexpr std::int64_t kExtents[] = {1, 2, 3, 4, 6, 8, 8, 12, 16, 17, 24};
    return fixed(choices_.one_of(kExtents));
  }

  Shape first_shape() {
    Shape result = {symbol("batch")};
    if (choices_.happens(30)) {
      result.push_back(symbol("time"));
      result.back().factor = choices_.one_of(std::vector<std::int64_t>{1, 1, 2, 4, 6});  // D112
    }
    for (std::int64_t rank = choices_.between(0, 2); rank > 0; --rank) {
      if (result.size() < 4) result.push_back(fixed(choices_.between(1, 6)));
    }
    result.push_back(extent());
    return result;
  }

  NodeId add_value_input(Shape shape) {
    static constexpr Element kFormats[] = {Element::f32,  Element::f32, Element::f32, Element::f16,
                                           Element::bf16, Element::u8,  Element::i8};
    const Element format = choices_.one_of(kFormats);
    const NodeId id = builder_.input(name("x"), std::move(shape), format);
    if (encoding::traits(format).integer) {
      model().nodes.back().attributes = InputAttributes{.scale = 1.0 / 128, .offset = -0.5};
    }
    values_.push_back(id);
    return id;
  }

  NodeId add_parameter(const Shape& shape, const OperandForm& form) {
    ParameterAttributes attributes;
    double columns = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) columns *= static_cast<double>(shape[i].extent);
    const double range = 1 / std::sqrt(columns);
    attributes.initializer = {Initializer::Kind::uniform, -range, range};
    if (choices_.happens(15)) attributes.initializer = {Initializer::Kind::normal, 0, range};
    if (form.start == Start::constant && choices_.happens(50)) {
      attributes.initializer = {Initializer::Kind::constant, form.first, 0};
    }
    attributes.decay = choices_.happens(70);
    attributes.frozen = choices_.happens(10);
    if (choices_.happens(15)) attributes.learning_rate_scale = 0.5;
    return builder_.parameter(name("p"), shape, attributes);
  }

  /// One of that shape that there is, if it may be tied, or a new one.
  NodeId parameter_of(const Shape& wanted, const OperandForm& form) {
    for (NodeId id = 0; form.may_be_tied && id < nodes(); ++id) {
      const bool fits = is_parameter(node(id).kind) && shape(id) == wanted;
      if (fits && choices_.happens(35)) return id;
    }
    return add_parameter(wanted, form);
  }

  /// The last value, mostly.
  NodeId any_value() { return choices_.happens(60) ? values_.back() : choices_.one_of(values_); }

  /// One of the shape of `first` that was computed earlier, or `first`.
  NodeId alike(NodeId first) {
    std::vector<NodeId> fitting;
    for (const NodeId id : values_) {
      if (shape(id) == shape(first)) fitting.push_back(id);
    }
    return fitting.empty() ? first : choices_.one_of(fitting);
  }

  void add_layer() {
    if (choices_.happens(15)) return add_residual();
    if (choices_.happens(10) && add_sharing()) return;
    if (choices_.happens(8)) return add_state();
    if (choices_.happens(10) && add_of_kind(kind_called("pointwise"))) return;  // any function
    add_any(is_layer);
  }

  void add_residual() {
    for (int tries = 0; tries < 10; ++tries) {
      const NodeId a = values_.back(), b = alike(a);
      if (a == b) continue;
      const auto kind = kind_called("add");
      values_.push_back(builder_.node(name("add"), kind, {{"a", a}, {"b", b}}, shape(a)));
      return;
    }
    add_of_kind(kind_called("linear"));
  }

  /// A layer once more with all parameters of the earlier one, on another value.
  bool add_sharing() {
    for (NodeId id = nodes() - 1; id >= 0; --id) {
      const Node earlier = node(id);
      const Table<OperandForm>& forms = form_of(earlier.kind).operands;
      const bool keeps = std::any_of(forms.begin(), forms.end(), [](auto& f) { return f.kept; });
      const bool has = std::any_of(earlier.operands.begin(), earlier.operands.end(),
                                   [&](auto& of) { return is_parameter(node(of.node).kind); });
      if (!is_layer(earlier.kind) || keeps || !has || choices_.happens(30)) continue;
      std::vector<Operand> operands = earlier.operands;
      operands[0].node = alike(operands[0].node);
      if (operands[0].node == earlier.operands[0].node) continue;
      const NodeId before = nodes();
      const auto made =
          builder_.node(name("again"), earlier.kind, operands, earlier.shape, earlier.attributes);
      return keep(before, made);
    }
    return false;
  }

  /// A state that takes a value at the end of each step and joins it in the next.
  void add_state() {
    const NodeId value = values_.back();
    const NodeId state = builder_.node(name("kept"), kStateKind, {}, shape(value),
                                       StateAttributes{choices_.happens(50) ? 0.0 : 0.25});
    const auto kind = kind_called("pointwise");
    const NodeId moved =
        builder_.node(name("moved"), kind, {{"x0", state}, {"x1", value}}, shape(value),
                      function("moved", random_expression(choices_, 2)));
    model().assignments.push_back({state, choices_.happens(70) ? moved : value});
    values_.push_back(moved);
  }

  static std::vector<Kind> kinds_that(bool (*is)(Kind)) {
    std::vector<Kind> kinds;
    for (int i = 0; i < kKinds; ++i) {
      if (is(static_cast<Kind>(i))) kinds.push_back(static_cast<Kind>(i));
    }
    return kinds;
  }

  void add_any(bool (*is)(Kind)) {
    const std::vector<Kind> kinds = kinds_that(is);
    for (int tries = 0; tries < 4; ++tries) {
      if (add_of_kind(choices_.one_of(kinds))) return;
    }
  }

  /// The first of the last value, mostly.
  void add_losses() {
    const std::vector<Kind> kinds = kinds_that(is_loss);
    for (int tries = 0; tries < 40 && model().losses.empty(); ++tries) {
      if (choices_.happens(10)) try_kind(kind_called("linear"), values_.back());
      try_kind(choices_.one_of(kinds), values_.back());
    }
    for (std::int64_t more = choices_.between(0, 2); more > 0; --more) add_any(is_loss);
  }

  bool add_of_kind(Kind kind) {
    for (int tries = 0; tries < 40; ++tries) {
      if (try_kind(kind, any_value())) return true;
    }
    return false;
  }

  /// A layer or loss that reads x, by its form; false where what was drawn does not fit it.
  bool try_kind(Kind kind, NodeId x) {
    const NodeId before = nodes();
    const std::size_t values = values_.size();
    const NodeId made = build(kind, x);
    if (made >= 0 && keep(before, made)) return true;
    model().nodes.resize(static_cast<std::size_t>(before));
    values_.resize(values);
    return false;
  }

  NodeId build(Kind kind, NodeId x);
  NodeId other_operand(NodeId x);
  Shape integers_of(Kind kind, const std::vector<Operand>& operands, NodeId x);

  /// Takes the node `made`, the last of those from `before` on, among values or losses, unless it
  /// is not valid or large.
  bool keep(NodeId before, NodeId made) {
    std::int64_t elements = 1;
    for (const Dimension& dimension : shape(made)) {
      elements *= dimension.symbol.empty() ? dimension.extent : dimension.factor;
    }
    if (elements > kMostElements) return undo(before);
    if (!shape(made).empty() && !shape(made).back().symbol.empty()) return undo(before);
    const auto violation = validate(probe());
    if (violation && violation->node >= before) return undo(before);
    if (is_loss(node(made).kind)) {
      static constexpr double kWeights[] = {1, 1, 0.25, 0, -0.5};
      const bool first = model().losses.empty();
      model().losses.push_back({made, first ? 1 : choices_.one_of(kWeights)});
    } else {
      values_.push_back(made);
    }
    return true;
  }

  bool undo(NodeId before) {
    model().nodes.resize(static_cast<std::size_t>(before));
    return false;
  }

  std::vector<bool> used() {
    std::vector<bool> used(model().nodes.size(), false);
    for (const Node& node : model().nodes) {
      for (const Operand& operand : node.operands) {
        used[static_cast<std::size_t>(operand.node)] = true;
      }
    }
    return used;
  }

  /// The model as far as it goes, with an output for every value that nothing reads.
  Description probe() {
    Description result = model();
    const std::vector<bool> is_used = used();
    result.losses.clear();
    for (NodeId id = 0; id < nodes(); ++id) {
      if (is_loss(node(id).kind)) {
        result.losses.push_back({id, 1});
      } else if (!is_used[static_cast<std::size_t>(id)]) {
        result.outputs.push_back({"o" + std::to_string(id), id});
      }
    }
    return result;
  }

  void add_outputs() {
    const std::vector<bool> is_used = used();
    for (const NodeId id : values_) {
      if (is_used[static_cast<std::size_t>(id)]) {
        if (!choices_.happens(10) || is_input(node(id).kind) || is_chunked(id)) continue;
      }
      Node& of = model().nodes[static_cast<std::size_t>(id)];
      if (holds_integers(of)) {  // D6
        of.format = Element::f32;
        of.attributes = {};
      }
      model().outputs.push_back({"out" + std::to_string(id), id});
    }
  }

  /// What losses that count depend on.
  std::vector<bool> reached() {
    std::vector<bool> result(model().nodes.size(), false);
    for (const Loss& loss : model().losses) {
      if (loss.weight != 0) result[static_cast<std::size_t>(loss.node)] = true;
    }
    for (NodeId id = nodes() - 1; id >= 0; --id) {
      if (!result[static_cast<std::size_t>(id)]) continue;
      for (const Operand& operand : node(id).operands) {
        const OperandForm& form = operand_form(form_of(node(id).kind), operand.role);
        const bool is_side =  // D107: a number that says which, and has no gradient
            node(id).kind == kind_called("cosine_embedding") && operand.role == "target";
        const bool passes = !form.integers && !form.weighs && !form.kept && !is_side;
        if (passes) result[static_cast<std::size_t>(operand.node)] = true;
      }
    }
    return result;
  }

  /// What codegen asks beyond validate(): freezes what no loss depends on, and lets inputs that one
  /// does want gradients. Whether anything is trained.
  bool settle() {
    const std::vector<bool> is_reached = reached();
    bool trains = false;
    for (NodeId id = 0; id < nodes(); ++id) {
      Node& node = model().nodes[static_cast<std::size_t>(id)];
      const bool is_read = is_reached[static_cast<std::size_t>(id)];
      if (auto* parameter = std::get_if<ParameterAttributes>(&node.attributes)) {
        parameter->frozen = parameter->frozen || !is_read;
        trains = trains || !parameter->frozen;
      }
      const bool is_float = is_input(node.kind) && !encoding::traits(node.format).integer;
      if (is_float && is_read && choices_.happens(15)) {
        node.attributes = InputAttributes{.gradient = true};
      }
      if (is_loss(node.kind)) leave_whole(id);
    }
    return trains;
  }

  /// A loss is computed in chunks where its logits are its own and of a linear without bias.
  void leave_whole(NodeId loss) {
    Node& of = model().nodes[static_cast<std::size_t>(loss)];
    auto* attributes = std::get_if<LayerAttributes>(&of.attributes);
    const Node& logits = node(of.operands[0].node);
    int readers = 0;
    for (const Node& other : model().nodes) {
      for (const Operand& operand : other.operands) {
        readers += operand.node == of.operands[0].node ? 1 : 0;
      }
    }
    const bool fits = logits.kind == kind_called("linear") && logits.operands.size() == 2;
    if (attributes == nullptr || (fits && readers == 1)) return;
    std::erase_if(attributes->settings, [](auto& one) { return one.name == "chunk_rows"; });
  }

  bool is_chunked(NodeId logits) {
    return std::any_of(model().nodes.begin(), model().nodes.end(), [&](const Node& loss) {
      if (!is_loss(loss.kind) || loss.operands[0].node != logits) return false;
      const auto* attributes = std::get_if<LayerAttributes>(&loss.attributes);
      return attributes != nullptr && attributes->integer("chunk_rows").has_value();
    });
  }

  void train_something() {
    try_kind(kind_called("linear"), values_.back());
    for (const Operand& operand : model().nodes.back().operands) {
      Node& weight = model().nodes[static_cast<std::size_t>(operand.node)];
      auto* parameter = std::get_if<ParameterAttributes>(&weight.attributes);
      if (parameter != nullptr) parameter->frozen = false;
    }
    while (!try_kind(kind_called("mse"), values_.back())) {
    }
    model().losses.back().weight = 1;
  }

  Choices choices_;
  Builder builder_;
  std::vector<NodeId> values_;  // floats with a fixed last dimension
};

/// Another value, or an input of its own.
NodeId ModelWriter::other_operand(NodeId x) {
  if (choices_.happens(50)) return alike(x);
  if (choices_.happens(40)) return choices_.one_of(values_);
  Shape wanted = shape(x);
  if (wanted.size() > 1 && choices_.happens(20)) {  // a number for every row, as some losses read
    wanted.pop_back();
    return builder_.input(name("r"), std::move(wanted));
  }
  if (choices_.happens(50)) {  // as for the other matrix of a product, or other keys
    Dimension& changed =
        wanted[wanted.size() - 1 - choices_.below(std::min<std::size_t>(2, wanted.size()))];
    if (changed.symbol.empty()) changed = extent();
  }
  return add_value_input(std::move(wanted));
}

/// The shape of an input of integers or of weights.
Shape ModelWriter::integers_of(Kind kind, const std::vector<Operand>& operands, NodeId x) {
  NodeId of = x;
  if (choices_.happens(30)) {
    const NodeId other = choices_.one_of(operands).node;
    if (other >= 0) of = other;
  }
  Shape result = shape(of);
  if (is_loss(kind) && choices_.happens(30)) return result;
  if (!result.empty()) result.pop_back();
  if (choices_.happens(30) && !result.empty()) result.pop_back();
  if (choices_.happens(15)) result.push_back(fixed(choices_.between(1, 6)));
  return result;
}

NodeId ModelWriter::build(Kind kind, NodeId x) {
  static constexpr Element kIntegers[] = {Element::i32, Element::i32, Element::u8, Element::i64};
  const KindForm& form = form_of(kind);
  std::vector<Operand> operands;
  for (const OperandForm& one : form.operands) {
    if (one.repeated) {
      for (std::int64_t i = 0, count = choices_.between(1, 3); i < count; ++i) {
        operands.push_back({one.role + std::to_string(i), i == 0 ? x : alike(x)});
      }
      continue;
    }
    if (one.optional && choices_.happens(60)) continue;
    const bool later = one.is_own() || one.integers || one.weighs;
    operands.push_back({one.role, later ? -1 : operands.empty() ? x : other_operand(x)});
  }
  const bool weighs = operands.back().role == kSampleWeight.role;
  std::vector<Shape> shapes;
  for (const Operand& operand : operands) {
    const OperandForm& one = operand_form(form, operand.role);
    const bool drawn = one.integers || one.weighs;
    shapes.push_back(drawn              ? integers_of(kind, operands, x)
                     : operand.node < 0 ? Shape{}
                                        : shape(operand.node));
  }
  const std::vector<Shape> drawn_shapes = shapes;
  const std::size_t arity = operands.size() - (weighs ? 1 : 0);
  Attributes attributes = random_attributes(choices_, kind, shape(x));
  if (form.function) {
    std::get<LayerAttributes>(attributes).function =
        Function{"f", random_expression(choices_, arity)};
  }
  const auto choose = [&](int, std::size_t) { return extent(); };
  AskedShape asked(kind, operands, std::move(shapes), weighs, attributes, choose);
  AllKinds::infer_shape(kind, asked);
  if (!asked.result()) return -1;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    auto& [role, read] = operands[i];
    if (read >= 0) continue;
    const OperandForm& one = operand_form(form, role);
    const auto at = static_cast<int>(i);
    read = one.weighs     ? builder_.input(name("share"), drawn_shapes[i])
           : one.integers ? builder_.input(name("i"), drawn_shapes[i], choices_.one_of(kIntegers))
           : one.kept     ? builder_.node(name("own"), kStateKind, {}, asked.needed(at),
                                          StateAttributes{one.first})
                          : parameter_of(asked.needed(at), one);
  }
  return builder_.node(name(form.word), kind, std::move(operands), *asked.result(),
                       std::move(attributes));
}

}  // namespace

Description random_model(std::uint64_t seed) { return ModelWriter(seed).write(); }

}  // namespace halftone::tests
