// SPDX-License-Identifier: Apache-2.0
// Operations as the precision rules see them: here alone operands are rounded before a formula
// reads them and results before they are stored.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drawing.hpp"
#include "halftone/description/text.hpp"
#include "halftone/reference/evaluator.hpp"
#include "halftone/reference/resolution.hpp"
#include "kinds.hpp"
#include "node_kinds.hpp"
#include "xxh3.hpp"

namespace halftone::reference {

/// P49: without draws what is stochastic goes to the nearest, as does f32, to which nothing is
/// rounded.
inline RoundTo in_pass(RoundTo to, const Draws& draws) {
  const bool draws_none = !draws.training || to.format == description::Element::f32;
  const bool is_stochastic = to.rounding == description::Rounding::stochastic;
  if (is_stochastic && draws_none) to.rounding = description::Rounding::nearest_even;
  return to;
}

/// What is rounded to in words, as the names of points that draw end (P48, P53).
inline std::string drawn_format(const RoundTo& to) {
  using enum description::Element;
  const char* const element = to.format == f16      ? "f16"
                              : to.format == bf16   ? "bf16"
                              : to.format == tf32   ? "tf32"
                              : to.format == f8e4m3 ? "f8e4m3"
                                                    : "f8e5m2";
  return std::string(element) + " stochastic" + (to.saturate ? " saturate" : "");
}

/// All values of a tensor at the rounding point of that name (P48), or those from `first` on.
template <class Scalar>
Values<Scalar> rounded(RoundTo to, Values<Scalar> values, Draws draws, const std::string& name,
                       std::uint64_t first = 0) {
  to = in_pass(to, draws);
  if (to.rounding != description::Rounding::stochastic) {
    for (Scalar& value : values) value = round(to, value);
    return values;
  }
  draws.layer = xxh3(name + " " + drawn_format(to));
  for (std::size_t e = 0; e < values.size(); ++e) {
    values[e] = round_by(draw(draws, first + e), to, values[e]);
  }
  return values;
}

/// P51: for every value the scale of its group, in rows of `row` elements.
template <class Scalar>
Values<Scalar> scales_of(const RoundTo& to, const Values<Scalar>& values, std::size_t row) {
  using Kind = encoding::Scaling::Kind;
  Values<Scalar> scales(values.size());
  const bool is_tensor = to.scaling.kind == Kind::tensor;
  if (is_tensor) row = values.size();
  const std::size_t most = is_tensor ? row : static_cast<std::size_t>(to.scaling.size);
  for (std::size_t begin = 0; begin < values.size();) {
    const std::size_t size = std::min(most, row - begin % row);
    const std::span<const Scalar> group(values.data() + begin, size);
    std::fill_n(scales.begin() + static_cast<std::ptrdiff_t>(begin), size,
                Scalar(scale_of(to, group)));
    begin += size;
  }
  return scales;
}

/// An operand at the rounding point of that name, in rows of `row` elements (P10, P51).
template <class Scalar>
Values<Scalar> rounded_operand(const RoundTo& to, Values<Scalar> values, std::size_t row,
                               const Draws& draws, const std::string& name) {
  if (to.scaling.kind == encoding::Scaling::Kind::none) {
    return rounded(to, std::move(values), draws, name);
  }
  const Values<Scalar> given = values, scales = scales_of(to, values, row);
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = values[e] * (Scalar(1) / scales[e]);
  values = rounded(to, std::move(values), draws, name);
  for (std::size_t e = 0; e < values.size(); ++e) {
    const bool is_nan = std::isnan(plain(given[e]));  // which some formats do not have (P52)
    values[e] = is_nan ? round({description::Element::bf16}, given[e]) : values[e] * scales[e];
  }
  return values;
}

/// One layer or loss of a model and what forward has left so far.
template <class Scalar>
class Operation {
 public:
  Operation(const description::Description& model, const Resolution& rules, const Symbols& symbols,
            const Forward<Scalar>& forward, description::NodeId id)
      : model_(model), rules_(rules), symbols_(symbols), forward_(forward), id_(id) {}

  /// P32, without the rounding of losses (P36).
  [[nodiscard]] Values<Scalar> result() const {
    using description::Pass, description::Role;
    Values<Scalar> y = result_of(word(), layer(Pass::forward));
    if (is_loss(node())) return y;
    y = rounded(rules_.result(id_, Pass::forward), std::move(y), node().name);
    return rounded(rules_.store(id_, Role::activation), std::move(y), node().name);
  }

  /// D17: what the states that the layer keeps are after a training pass, with their nodes.
  [[nodiscard]] std::vector<std::pair<description::NodeId, Values<Scalar>>> moved() const {
    std::vector<std::pair<description::NodeId, Values<Scalar>>> moved;
    const auto kept = kept_by(node().kind);
    if (kept.empty()) return moved;
    auto values = moved_by(word(), layer(description::Pass::forward));
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const auto of = std::ranges::find(node().operands, kept[i], &description::Operand::role);
      moved.emplace_back(of->node, std::move(values[i]));
    }
    return moved;
  }

  /// The gradients of the operands that belong to the pass (P1), each rounded to the result (P34,
  /// P35); empty for the others. g is the gradient that arrives at the result.
  [[nodiscard]] OperandGradients<Scalar> gradients(description::Pass pass,
                                                   const Values<Scalar>& g) const {
    OperandGradients<Scalar> gradients(node().operands.size());
    if (std::ranges::none_of(node().operands, [&](const auto& o) { return is_of(pass, o); })) {
      return gradients;
    }
    const auto read = rules_.operand(id_, pass, description::Role::gradient);
    const Values<Scalar> arriving =
        is_loss(node()) ? g : rounded_operand(read, g, id_, node().name + " gradient");
    OperandGradients<Scalar> all = gradients_of(word(), layer(pass), View<Scalar>(arriving));
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!is_of(pass, node().operands[i])) continue;
      gradients[i] = rounded(rules_.result(id_, pass), std::move(all[i]), node().name);
    }
    return gradients;
  }

 private:
  [[nodiscard]] const description::Node& node() const { return model_.nodes[id_]; }

  [[nodiscard]] Values<Scalar> rounded(RoundTo to, Values<Scalar> values,
                                       const std::string& name) const {
    return reference::rounded(to, std::move(values), forward_.draws, name);
  }

  /// Likewise of what an operation reads, which is of the shape of node `at`; a vector is not
  /// scaled (P51).
  [[nodiscard]] Values<Scalar> rounded_operand(RoundTo to, Values<Scalar> values,
                                               description::NodeId at,
                                               const std::string& name) const {
    using Kind = encoding::Scaling::Kind;
    if (values.empty()) return values;  // of integers
    const description::Shape& shape = model_.nodes[at].shape;
    if (to.scaling.kind != Kind::none && shape.size() < 2) {
      to = {description::Element::bf16, to.rounding};
    }
    if (to.scaling.kind == Kind::block && !shape.back().symbol.empty()) {
      throw std::invalid_argument("\"" + model_.nodes[at].name + "\" has blocks along \"" +
                                  shape.back().symbol +
                                  "\", a symbol (P51); scale it as a tensor, or state bf16");
    }
    const Extents extents = bound(shape, symbols_);
    const std::size_t row = extents.empty() ? 1 : static_cast<std::size_t>(extents.back());
    return reference::rounded_operand(to, std::move(values), row, forward_.draws, name);
  }

  /// Whether the pass computes the operand's gradient.
  [[nodiscard]] bool is_of(description::Pass pass, const description::Operand& operand) const {
    return is_parameter(model_.nodes[operand.node]) == (pass == description::Pass::weight_gradient);
  }

  /// P30, P33: what the operation reads where it asks for the value of a node.
  [[nodiscard]] Values<Scalar> read(description::NodeId at, description::Pass pass) const {
    using description::Pass, description::Role;
    Role role = pass == Pass::forward ? Role::activation : Role::saved;
    if (is_parameter(model_.nodes[at])) role = Role::weight;
    Values<Scalar> stored = forward_.values[at];  // an activation is stored as it is read
    const std::string& name = model_.nodes[at].name;
    if (role != Role::activation) stored = rounded(rules_.store(at, role), std::move(stored), name);
    return rounded_operand(rules_.operand(id_, pass, role), std::move(stored), at, name);
  }

  [[nodiscard]] Operand<Scalar> operand(const description::Operand& of,
                                        description::Pass pass) const {
    const description::Node& source = model_.nodes[of.node];
    Operand<Scalar> operand;
    operand.role = of.role;
    operand.extents = bound(source.shape, symbols_);
    const bool is_as_kept = is_kept(node().kind, of.role);  // D17
    operand.values = is_as_kept ? forward_.values[of.node] : read(of.node, pass);
    operand.integers = forward_.integers[of.node];
    if (pass == description::Pass::forward) return operand;
    operand.forward_values = read(of.node, description::Pass::forward);
    operand.wanted = is_of(pass, of);
    return operand;
  }

  /// N10: narrow where the first rounding of the result is to 16 bits or fewer, to the nearest.
  [[nodiscard]] Grade grade(description::Pass pass) const {
    using description::Element, description::Pass, description::Role;
    if (is_loss(node())) return Grade::full;
    RoundTo first = rules_.result(id_, pass);
    if (first.format == Element::f32) first = stored(pass);
    const bool is_short = first.format != Element::f32 && first.format != Element::tf32;
    const bool to_nearest =
        in_pass(first, forward_.draws).rounding == description::Rounding::nearest_even;
    return is_short && to_nearest ? Grade::narrow : Grade::full;
  }

  /// What the result is held in, in a gradient pass that of the first operand's gradient: the
  /// layers with two grades of gradients have one operand.
  [[nodiscard]] RoundTo stored(description::Pass pass) const {
    using description::Pass, description::Role;
    if (pass == Pass::forward) return rules_.store(id_, Role::activation);
    const description::NodeId target = node().operands[0].node;
    return is_layer(model_.nodes[target]) ? rules_.store(target, Role::gradient) : RoundTo{};
  }

  [[nodiscard]] Layer<Scalar> layer(description::Pass pass) const {
    Layer<Scalar> layer;
    layer.extents = bound(node().shape, symbols_);
    layer.settings = settings_of(node());
    layer.grade = grade(pass);
    layer.draws = forward_.draws;
    layer.draws->layer = xxh3(node().name);
    for (const std::string_view internal : internals_of(node().kind)) {
      layer.internals[internal] = rules_.internal(id_, internal);
    }
    for (const description::Operand& of : node().operands) {
      layer.operands.push_back(operand(of, pass));
    }
    if (pass != description::Pass::forward && is_layer(node())) layer.result = read(id_, pass);
    return layer;
  }

  [[nodiscard]] std::string_view word() const { return description::kind_text(node().kind); }

  const description::Description& model_;
  const Resolution& rules_;
  const Symbols& symbols_;
  const Forward<Scalar>& forward_;
  description::NodeId id_;
};

}  // namespace halftone::reference
