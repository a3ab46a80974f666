// SPDX-License-Identifier: Apache-2.0
// Operations as the precision rules see them: here alone operands are rounded before a formula
// reads them and results before they are stored.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delayed.hpp"
#include "drawing.hpp"
#include "halftone/description/text.hpp"
#include "halftone/reference/evaluator.hpp"
#include "halftone/reference/resolution.hpp"
#include "kinds.hpp"
#include "node_kinds.hpp"
#include "quantization.hpp"
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
                              : to.format == f6e3m2 ? "f6e3m2"
                              : to.format == f6e2m3 ? "f6e2m3"
                              : to.format == f4e2m1 ? "f4e2m1"
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

/// The last two dimensions of a tensor, whose matrices lie one behind the other.
struct Matrices {
  std::size_t rows = 1, columns = 1;
};

/// The places of each group of values that share a scale (P51): all, or block by block.
inline std::vector<std::vector<std::size_t>> groups_of(const encoding::Scaling& scaling,
                                                       const Matrices& of, std::size_t count) {
  std::vector<std::vector<std::size_t>> groups;
  if (scaling.kind != encoding::Scaling::Kind::block) {
    std::vector<std::size_t>& all = groups.emplace_back(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return groups;
  }
  const auto rows = static_cast<std::size_t>(scaling.rows);
  const auto columns = static_cast<std::size_t>(scaling.size);
  const std::size_t blocks_in_row = (of.columns + columns - 1) / columns;
  const std::size_t blocks_in_column = (of.rows + rows - 1) / rows;
  const std::size_t matrix = of.rows * of.columns;
  groups.resize(count / matrix * blocks_in_row * blocks_in_column);
  for (std::size_t e = 0; e < count; ++e) {
    const std::size_t row = e % matrix / of.columns, column = e % of.columns;
    const std::size_t block = (e / matrix * blocks_in_column + row / rows) * blocks_in_row;
    groups[block + column / columns].push_back(e);
  }
  return groups;
}

/// P51, P77: for every value the scale of its group.
template <class Scalar>
Values<Scalar> scales_of(const RoundTo& to, const Values<Scalar>& values, const Matrices& of) {
  Values<Scalar> scales(values.size());
  const bool has_two = has_two_levels(to.scaling);
  const auto of_all = has_two ? scale_of_all(to, std::span<const Scalar>(values)) : 1;
  for (const std::vector<std::size_t>& group : groups_of(to.scaling, of, values.size())) {
    Values<Scalar> members;
    for (const std::size_t e : group) members.push_back(values[e]);
    const std::span<const Scalar> of_group(members);
    const auto scale = has_two ? scale_of_block(to, of_all, of_group) : scale_of(to, of_group);
    for (const std::size_t e : group) scales[e] = Scalar(scale);
  }
  return scales;
}

/// What numbers are multiplied by before they are rounded: finite where a block's scale is 0 (P77).
inline float inverse_of(float scale) {
  return std::min(1 / scale, std::numeric_limits<float>::max());
}
inline double inverse_of(double scale) { return 1 / scale; }
inline Bounded inverse_of(Bounded scale) { return Bounded(1) / scale; }

/// An operand at the rounding point of that name (P10, P51).
template <class Scalar>
Values<Scalar> rounded_operand(const RoundTo& to, Values<Scalar> values, const Matrices& of,
                               const Draws& draws, const std::string& name) {
  if (to.scaling.kind == encoding::Scaling::Kind::none) {
    return rounded(to, std::move(values), draws, name);
  }
  const Values<Scalar> given = values, scales = scales_of(to, values, of);
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = values[e] * inverse_of(scales[e]);
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
  /// scaled (P51). Of what is saved for the backward pass delayed scales are others (P72).
  [[nodiscard]] Values<Scalar> rounded_operand(RoundTo to, Values<Scalar> values,
                                               description::NodeId at, const std::string& name,
                                               bool is_saved = false) const {
    using Kind = encoding::Scaling::Kind;
    if (values.empty()) return values;  // of integers
    const description::Shape& shape = model_.nodes[at].shape;
    if (to.scaling.kind != Kind::none && shape.size() < 2) {
      to = {description::Element::bf16, to.rounding};
    }
    if (!forward_.draws.training || is_loss(node())) to = without_delay(to);
    if (to.scaling.kind == Kind::delayed) {
      return rounded_under_delayed(
          to, std::move(values), forward_, is_saved ? name + " saved" : name,
          [&](Values<Scalar> scaled) { return rounded(to, std::move(scaled), name); });
    }
    const Extents extents = bound(shape, symbols_);
    const auto extent = [&](std::size_t from_last) {
      const bool is_there = from_last <= extents.size();
      return is_there ? static_cast<std::size_t>(extents[extents.size() - from_last]) : 1;
    };
    return reference::rounded_operand(to, std::move(values), {extent(2), extent(1)}, forward_.draws,
                                      name);
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
    return rounded_operand(rules_.operand(id_, pass, role), std::move(stored), at, name,
                           role == Role::saved);
  }

  /// P80: whether a predictor has codes of the node alone.
  [[nodiscard]] bool is_held_in_codes(description::NodeId at) const {
    return !forward_.draws.training && is_parameter(model_.nodes[at]) &&
           rules_.quantization(at).has_value();
  }

  [[nodiscard]] Quantized<Scalar> codes_of(description::NodeId at) const {
    return quantized(*rules_.quantization(at), channel_dimension(model_, at),
                     bound(model_.nodes[at].shape, symbols_), View<Scalar>(forward_.values[at]));
  }

  /// P82: what codes stand for, times scales where no sum is multiplied by them.
  [[nodiscard]] Values<Scalar> read_codes(const description::Operand& of) const {
    Quantized<Scalar> held = codes_of(of.node);
    if (scales_sums(model_, id_, of)) return std::move(held.codes);
    const Extents extents = bound(model_.nodes[of.node].shape, symbols_);
    const int dimension = channel_dimension(model_, of.node);
    for (std::size_t e = 0; e < held.codes.size(); ++e)
      held.codes[e] = held.codes[e] * held.scales[channel_of(e, dimension, extents)];
    return std::move(held.codes);
  }

  [[nodiscard]] Operand<Scalar> operand(const description::Operand& of,
                                        description::Pass pass) const {
    const description::Node& source = model_.nodes[of.node];
    Operand<Scalar> operand;
    operand.role = of.role;
    operand.extents = bound(source.shape, symbols_);
    const bool is_as_kept = is_kept(node().kind, of.role);  // D17
    operand.values = is_as_kept                  ? forward_.values[of.node]
                     : is_held_in_codes(of.node) ? read_codes(of)
                                                 : read(of.node, pass);
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
      if (!is_held_in_codes(of.node)) continue;
      Quantized<Scalar> held = codes_of(of.node);
      if (scales_sums(model_, id_, of)) layer.scales = std::move(held.scales);
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
