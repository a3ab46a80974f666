// SPDX-License-Identifier: Apache-2.0
// Operations as the precision rules see them: here alone operands are rounded before a formula
// reads them and results before they are stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
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
#include "rotation.hpp"
#include "rounded_operand.hpp"
#include "xxh3.hpp"

namespace halftone::reference {

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
    const auto to = rules_.operand(id_, pass, description::Role::gradient);
    Read<Scalar> arriving{.numbers = g, .codes = {}, .factors = {}};
    if (!is_loss(node())) arriving = rounded_operand(to, g, id_, node().name + " gradient");
    Layer<Scalar> reader = layer(pass);
    reader.arriving_codes = std::move(arriving.codes);
    reader.arriving_factors = std::move(arriving.factors);
    reader.arrives_rotated = arriving.rotated;
    if (arriving.rotated) reader.arriving_unrotated = g;
    OperandGradients<Scalar> all = gradients_of(word(), reader, View<Scalar>(arriving.numbers));
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!is_of(pass, node().operands[i])) continue;
      gradients[i] = rounded(rules_.result(id_, pass), std::move(all[i]), node().name);
    }
    return gradients;
  }

  /// What the operation reads of values of the shape of node `at`, at the rounding point of that
  /// name (P10, P51).
  [[nodiscard]] Read<Scalar> as_operand(const RoundTo& to, Values<Scalar> values,
                                        description::NodeId at, const std::string& name,
                                        bool is_saved) const {
    return rounded_operand(to, std::move(values), at, name, is_saved);
  }

 private:
  [[nodiscard]] const description::Node& node() const { return model_.nodes[id_]; }

  [[nodiscard]] Values<Scalar> rounded(RoundTo to, Values<Scalar> values,
                                       const std::string& name) const {
    return reference::rounded(to, std::move(values), forward_.draws, name);
  }

  /// Likewise of what an operation reads, which is of the shape of node `at`; a vector is not
  /// scaled (P51). Of what is saved for the backward pass delayed scales are others (P72).
  [[nodiscard]] Read<Scalar> rounded_operand(RoundTo to, Values<Scalar> values,
                                             description::NodeId at, const std::string& name,
                                             bool is_saved = false) const {
    using Kind = encoding::Scaling::Kind;
    if (values.empty()) return {};  // of integers
    const description::Shape& shape = model_.nodes[at].shape;
    if (to.scaling.kind != Kind::none && shape.size() < 2) {
      to = {description::Element::bf16, to.rounding};
    }
    if (!forward_.draws.training || is_loss(node())) to = without_delay(to);
    const std::string point = is_saved ? name + " saved" : name;
    const auto to_element = [&](Values<Scalar> scaled) {
      return rounded(to, std::move(scaled), name);
    };
    if (encoding::factors_sums(to.scaling)) refuse_where_no_sum_is_multiplied(to);
    if constexpr (std::is_same_v<Scalar, float>) {
      if (to.scaling.kind == Kind::delayed && has_f32_scales(to)) {
        const Values<float> multipliers(values.size(), scale_at(to, values, forward_, point));
        return read_codes(values, multipliers, to_element);
      }
    }
    if (to.scaling.kind == Kind::delayed) {
      return {.numbers = rounded_under_delayed(to, std::move(values), forward_, point, to_element),
              .codes = {},
              .factors = {}};
    }
    const Extents extents = bound(shape, symbols_);
    const auto extent = [&](std::size_t from_last) {
      const bool is_there = from_last <= extents.size();
      return is_there ? static_cast<std::size_t>(extents[extents.size() - from_last]) : 1;
    };
    const Matrices matrices{extent(2), extent(1)};
    if (to.scaling.rotated) {
      refuse_where_nothing_is_rotated();
      values = rotated(to, std::move(values), matrices);
    }
    Read<Scalar> read;
    if (has_f32_scales(to))
      read = read_under_f32(to, values, matrices, forward_.draws, name);
    else
      read.numbers =
          reference::rounded_operand(to, std::move(values), matrices, forward_.draws, name);
    read.rotated = to.scaling.rotated;
    return read;
  }

  /// P106
  void refuse_where_nothing_is_rotated() const {
    if (multiplies_sums(node().kind, false)) return;
    throw std::invalid_argument(
        "\"" + node().name +
        "\" reads an operand in rotated blocks, which it does not multiply; "
        "rotate what is multiplied alone (P106)");
  }

  /// P88, P89
  void refuse_where_no_sum_is_multiplied(const RoundTo& to) const {
    const bool is_of_vectors = to.scaling.kind == encoding::Scaling::Kind::row ||
                               to.scaling.kind == encoding::Scaling::Kind::column;
    if (multiplies_sums(node().kind, is_of_vectors)) return;
    throw std::invalid_argument("\"" + node().name +
                                "\" reads an operand under a scale of f32, by which it multiplies "
                                "no sum; scale operands of what does (P88)");
  }

  /// Whether the pass computes the operand's gradient.
  [[nodiscard]] bool is_of(description::Pass pass, const description::Operand& operand) const {
    return is_parameter(model_.nodes[operand.node]) == (pass == description::Pass::weight_gradient);
  }

  /// P30, P33: what the operation reads where it asks for the value of a node.
  [[nodiscard]] Read<Scalar> read(description::NodeId at, description::Pass pass) const {
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
  [[nodiscard]] Values<Scalar> read_quantized(const description::Operand& of) const {
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
    if (is_as_kept || is_held_in_codes(of.node)) {
      operand.values = is_as_kept ? forward_.values[of.node] : read_quantized(of);
    } else {
      Read<Scalar> found = read(of.node, pass);
      operand.values = std::move(found.numbers);
      operand.codes = std::move(found.codes);
      operand.factors = std::move(found.factors);
      operand.rotated = found.rotated;
    }
    operand.integers = forward_.integers[of.node];
    if (pass == description::Pass::forward) return operand;
    operand.forward_values = read(of.node, description::Pass::forward).numbers;
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
    if (pass != description::Pass::forward && is_layer(node()))
      layer.result = read(id_, pass).numbers;
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
