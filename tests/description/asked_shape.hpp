// SPDX-License-Identifier: Apache-2.0
// A node that asks its kind's shape rule which parameters it needs and what it results in
// (shape_rule.hpp), where validate() compares what is stated.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "halftone/description/description.hpp"

namespace halftone::tests {

using namespace halftone::description;

class AskedShape {
 public:
  using Choice = std::function<Dimension(int operand, std::size_t dimension)>;

  /// The shapes of parameters are not read.
  AskedShape(Kind kind, const std::vector<Operand>& operands, std::vector<Shape> shapes,
             bool weighs, const Attributes& attributes, Choice choose)
      : form_(form_of(kind)),
        roles_(operands),
        operands_(std::move(shapes)),
        weighs_(weighs),
        choose_(std::move(choose)) {
    if (const auto* of_layer = std::get_if<LayerAttributes>(&attributes)) attributes_ = *of_layer;
  }

  [[nodiscard]] const Shape& needed(int operand) const { return needed_.at(operand); }
  /// Nothing where the rule refuses.
  [[nodiscard]] const std::optional<Shape>& result() const { return result_; }

  // What a rule calls.
  [[nodiscard]] int operands() const {
    return static_cast<int>(operands_.size()) - (weighs_ ? 1 : 0);
  }
  [[nodiscard]] bool weighs() const { return weighs_; }
  [[nodiscard]] const Shape& shape(int operand) const {
    return operands_.at(static_cast<std::size_t>(operand));
  }
  [[nodiscard]] int position(std::string_view role) const {
    for (int i = 0; i < operands(); ++i) {
      if (roles_.at(static_cast<std::size_t>(i)).role == role) return i;
    }
    return -1;
  }
  static int rank(const Shape& shape) { return static_cast<int>(shape.size()); }
  template <class Of>
  static auto& at(Of& shape, int dimension) {
    return shape.at(static_cast<std::size_t>(dimension));
  }
  static Dimension last(const Shape& shape) { return shape.back(); }
  static Shape rows(const Shape& shape) { return {shape.begin(), shape.end() - 1}; }
  static Shape with_last(Shape shape, const Dimension& last) {
    shape.back() = last;
    return shape;
  }
  static Shape extended(Shape shape, const Dimension& last) {
    shape.push_back(last);
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
  void limit(const Dimension&, std::int64_t, std::int64_t, const Words&...) {}
  Dimension chosen(int operand, std::size_t dimension, const char*) {
    return choose_(operand, dimension);
  }
  [[nodiscard]] bool flag(int setting) const {
    if (!form_.settings[setting].optional) return attributes_.flag(form_.settings[setting].name);
    return !attributes_.settings.empty() && attributes_.flag(form_.settings[setting].name);
  }
  [[nodiscard]] std::vector<std::int64_t> integers(int setting) const {
    const Setting* list = find(setting);
    return list ? std::get<std::vector<std::int64_t>>(list->value) : std::vector<std::int64_t>();
  }
  [[nodiscard]] const Shape& dimensions() const {
    return std::get<Shape>(attributes_.settings.at(0).value);
  }
  bool transposed_parameter(int operand, const Dimension& rows, const Dimension& columns) {
    return parameter(operand, columns, rows);
  }
  template <class... Dimensions>
  bool parameter(int operand, const Dimensions&... dimensions) {
    return shaped_parameter(operand, {dimensions...});
  }
  bool shaped_parameter(int operand, const Shape& shape) {
    needed_[operand] = shape;
    return true;
  }
  [[nodiscard]] bool states(int setting) const { return find(setting) != nullptr; }
  [[nodiscard]] std::int64_t integer(int setting) const {
    return std::get<std::int64_t>(find(setting)->value);
  }
  [[nodiscard]] double number(int setting) const { return std::get<double>(find(setting)->value); }
  [[nodiscard]] int choice(int setting) const {
    const auto& words = form_.settings[setting].words;
    const auto* word =
        std::find(words.begin(), words.end(), std::get<std::string>(find(setting)->value));
    return static_cast<int>(word - words.begin());
  }
  void result(Shape shape) { result_ = std::move(shape); }
  void refuse(const auto&...) {}

 private:
  /// Null where the setting is absent.
  [[nodiscard]] const Setting* find(int setting) const {
    for (const Setting& one : attributes_.settings) {
      if (one.name == form_.settings[setting].name) return &one;
    }
    return nullptr;
  }

  const KindForm& form_;
  std::vector<Operand> roles_;
  std::vector<Shape> operands_;
  bool weighs_;
  LayerAttributes attributes_;
  Choice choose_;
  std::map<int, Shape> needed_;
  std::optional<Shape> result_;
};

}  // namespace halftone::tests
