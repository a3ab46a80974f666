// SPDX-License-Identifier: Apache-2.0
// A node of a Description as the shape rules of kinds/ see it (shape_rule.hpp).
#include <algorithm>
#include <limits>

#include "faults.hpp"
#include "halftone/description/validate.hpp"
#include "spelling.hpp"

namespace halftone::description::detail {
namespace {

class NodeView {
 public:
  NodeView(const Description& description, const Node& node)
      : description_(description), node_(node) {}

  InferredShape take() { return std::move(inferred_); }

  int operands() const { return static_cast<int>(count_values(node_)); }
  bool weighs() const { return is_weighted(node_); }
  const Shape& shape(int operand) const { return read(operand).shape; }

  int position(std::string_view role) const {
    for (int i = 0; i < operands(); ++i) {
      if (node_.operands[static_cast<std::size_t>(i)].role == role) return i;
    }
    return -1;
  }

  static int rank(const Shape& shape) { return static_cast<int>(shape.size()); }
  template <class Of>
  static auto& at(Of& shape, int dimension) {
    return shape[static_cast<std::size_t>(dimension)];
  }
  static Dimension last(const Shape& shape) { return shape.back(); }
  static Shape rows(const Shape& shape) { return {shape.begin(), shape.end() - 1}; }
  static Shape with_last(Shape shape, Dimension last) {
    shape.back() = std::move(last);
    return shape;
  }
  static Shape extended(Shape shape, Dimension last) {
    shape.push_back(std::move(last));
    return shape;
  }
  static constexpr int kMostDimensions = std::numeric_limits<int>::max();
  static bool is_fixed(const Dimension& dimension) { return dimension.symbol.empty(); }
  static bool is_batch(const Dimension& dimension) { return dimension.symbol == "batch"; }
  static std::int64_t extent(const Dimension& dimension) { return dimension.extent; }
  static Dimension fixed(std::int64_t extent) { return {extent, {}}; }
  static std::int64_t factor(const Dimension& dimension) { return dimension.factor; }
  static Dimension with_factor(Dimension dimension, std::int64_t factor) {
    dimension.factor = factor;
    return dimension;
  }
  static Dimension with_extent(Dimension dimension, std::int64_t extent) {
    dimension.extent = extent;
    return dimension;
  }

  template <class... Words>
  void limit(const Dimension& dimension, std::int64_t least, std::int64_t most,
             const Words&... words) {
    const std::int64_t factor = dimension.factor;
    SizeLimit found;
    found.symbol = dimension.symbol;
    found.node = node_.name;
    found.least = std::max<std::int64_t>(1, (least - dimension.extent + factor - 1) / factor);
    if (most != kNoMost) found.most = (most - dimension.extent) / factor;
    if (found.least == 1 && found.most == kNoMost) return;
    (put(found.reason, words), ...);
    inferred_.limits.push_back(std::move(found));
  }

  /// What the parameter's declared shape says.
  Dimension chosen(int operand, std::size_t dimension, const char* name) const {
    const Shape& declared = shape(operand);
    return dimension < declared.size() ? declared[dimension] : Dimension{0, name, 1};
  }

  bool flag(int setting) const {
    const bool* on = stated<bool>(setting);
    return on ? *on : form_of(node_.kind).settings[setting].standard != 0;
  }
  bool states(int setting) const {
    const Setting* one = find(setting);
    const SettingType type = form_of(node_.kind).settings[setting].type;
    return one && one->value.index() == static_cast<std::size_t>(type);
  }
  std::int64_t integer(int setting) const { return value<std::int64_t>(setting); }
  double number(int setting) const { return value<double>(setting); }
  int choice(int setting) const {
    const auto& words = form_of(node_.kind).settings[setting].words;
    const auto* word = std::find(words.begin(), words.end(), value<std::string>(setting));
    return word == words.end() ? 0 : static_cast<int>(word - words.begin());
  }

  /// Empty where it is absent, or of another type.
  std::vector<std::int64_t> integers(int setting) const {
    return value<std::vector<std::int64_t>>(setting);
  }
  /// Empty where the node does not have the settings of its kind.
  Shape dimensions() const { return list<Shape>(); }

  bool transposed_parameter(int operand, const Dimension& rows, const Dimension& columns) {
    return parameter(operand, columns, rows);
  }
  template <class... Dimensions>
  bool parameter(int operand, const Dimensions&... dimensions) {
    return shaped_parameter(operand, {dimensions...});
  }
  bool shaped_parameter(int operand, const Shape& needed) {
    if (shape(operand) == needed) return true;
    refuse("needs the ", node_.operands[static_cast<std::size_t>(operand)].role, " ", needed,
           " but reads ", shape(operand), " of ", OperandName{operand}, kRemedy, "make it ",
           needed);
    return false;
  }

  void result(Shape shape) {
    if (is_countable(*this, shape)) inferred_.shape = std::move(shape);
  }

  template <class... Words>
  void refuse(const Words&... words) {
    inferred_.fault = subject(node_) + " ";
    (put(inferred_.fault, words), ...);
    inferred_.fault.append(" (").append(label_of(node_)).append(")");
  }

 private:
  const Node& read(int operand) const {
    const NodeId id = node_.operands[static_cast<std::size_t>(operand)].node;
    return description_.nodes[static_cast<std::size_t>(id)];
  }

  template <class List>
  List list() const {
    const auto* attributes = std::get_if<LayerAttributes>(&node_.attributes);
    if (!attributes) return {};
    for (const Setting& setting : attributes->settings) {
      if (const auto* list = std::get_if<List>(&setting.value)) return *list;
    }
    return {};
  }

  /// Null where the setting is absent.
  const Setting* find(int setting) const {
    const auto* attributes = std::get_if<LayerAttributes>(&node_.attributes);
    if (!attributes) return nullptr;
    for (const Setting& one : attributes->settings) {
      if (one.name == form_of(node_.kind).settings[setting].name) return &one;
    }
    return nullptr;
  }
  /// Null where it is absent, or of another type.
  template <class Value>
  const Value* stated(int setting) const {
    const Setting* one = find(setting);
    return one ? std::get_if<Value>(&one->value) : nullptr;
  }

  /// 0 where it is absent, or of another type.
  template <class Value>
  Value value(int setting) const {
    const Value* one = stated<Value>(setting);
    return one ? *one : Value{};
  }

  static void put(std::string& to, std::string_view text) { to += text; }
  static void put(std::string& to, const Shape& shape) { to += spelled(shape); }
  static void put(std::string& to, const Dimension& dimension) { to += spelled(dimension); }
  void put(std::string& to, OperandName name) { to += "'%" + read(name.index).name + "'"; }
  static void put(std::string& to, Remedy) { to += "; "; }

  const Description& description_;
  const Node& node_;
  InferredShape inferred_;
};

}  // namespace

InferredShape inferred_shape(const Description& description, const Node& node) {
  NodeView view(description, node);
  AllKinds::infer_shape(node.kind, view);
  return view.take();
}

}  // namespace halftone::description::detail

namespace halftone::description {

std::optional<Shape> infer_shape(const Description& description, const Node& node) {
  if (detail::operand_fault(description, node, description.nodes.size())) return std::nullopt;
  return detail::inferred_shape(description, node).shape;
}

std::vector<SizeLimit> size_limits(const Description& description) {
  std::vector<SizeLimit> limits;
  for (const Node& node : description.nodes) {
    for (SizeLimit& limit : detail::inferred_shape(description, node).limits)
      limits.push_back(std::move(limit));
  }
  return limits;
}

}  // namespace halftone::description
