// SPDX-License-Identifier: Apache-2.0
// What a layer's formula sees: shapes, settings and its operands' values by role, as its operation
// reads them. And what the file of a kind states.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "extents.hpp"
#include "halftone/reference/draws.hpp"
#include "halftone/reference/rounding.hpp"
#include "numerics.hpp"
#include "settings.hpp"

namespace halftone::reference {

template <class Scalar>
using Values = std::vector<Scalar>;

template <class Scalar>
using View = std::span<const Scalar>;

using Integers = std::vector<std::int32_t>;

/// One gradient for each operand of the node, in their order; empty where the operand receives
/// none.
template <class Scalar>
using OperandGradients = std::vector<Values<Scalar>>;

/// Holds values, or integers where its source is i32.
template <class Scalar>
struct Operand {
  std::string role;
  Extents extents;
  Values<Scalar> values;
  Integers integers;
  Values<Scalar> codes, factors;  ///< P88: of each value, where scales are f32; else empty
  bool rotated = false;           ///< P105
  // In the gradient passes alone:
  Values<Scalar> forward_values;  ///< as forward read them
  bool wanted = false;            ///< whether the pass computes this operand's gradient
};

/// What a product multiplies of an operand: its numbers, or codes, whose sums are multiplied by
/// factors (P88).
template <class Scalar>
struct Factor {
  View<Scalar> numbers, codes, factors;
  bool rotated = false;

  [[nodiscard]] bool is_coded() const { return !codes.empty(); }
  Scalar operator[](std::size_t e) const { return is_coded() ? codes[e] : numbers[e]; }

  /// The factor that all of a sum's elements share, which lie where at(c) says.
  template <class At>
  Scalar shared(std::int64_t length, At at) const {
    for (std::int64_t c = 0; c < length; ++c)
      if (!(factors[at(c)] == factors[at(0)]))
        throw std::invalid_argument(
            "a product sums over elements that share no scale of f32; scale each vector that it "
            "sums over as one (P89)");
    return factors[at(0)];
  }
};

/// N12: the sum over c of a and b at places of theirs, times the product of their factors.
template <class Scalar, class AtA, class AtB>
Scalar product_sum(std::int64_t length, const Factor<Scalar>& a, AtA at_a, const Factor<Scalar>& b,
                   AtB at_b) {
  if (a.rotated != b.rotated)
    throw std::invalid_argument(
        "a product multiplies an operand in rotated blocks by one that is not rotated; rotate both "
        "or none (P106)");
  const Scalar sum = contraction<Scalar>(
      length, [&](std::int64_t c) { return a[at_a(c)]; },
      [&](std::int64_t c) { return b[at_b(c)]; });
  if (length == 0 || (!a.is_coded() && !b.is_coded())) return sum;
  if (!b.is_coded()) return sum * a.shared(length, at_a);
  if (!a.is_coded()) return sum * b.shared(length, at_b);
  return sum * (a.shared(length, at_a) * b.shared(length, at_b));
}

template <class Scalar>
struct Layer {
  std::vector<Operand<Scalar>> operands;  ///< in the node's order
  Extents extents;                        ///< of the result
  Settings settings;
  std::optional<Draws> draws;                     ///< of a layer that draws
  Grade grade = Grade::full;                      ///< N10, of this pass
  std::map<std::string_view, RoundTo> internals;  ///< by name; what is missing stays f32
  Values<Scalar> result;  ///< what forward left; in the gradient passes alone
  Values<Scalar> scales;  ///< P82: of each column of products with codes; empty without

  Values<Scalar> arriving_codes, arriving_factors;  ///< P88: of the gradient that arrives
  bool arrives_rotated = false;                     ///< P105
  Values<Scalar> arriving_unrotated;                ///< likewise, as it is stored; else empty

  /// P88: the operand as products read it, and the gradient that arrives.
  [[nodiscard]] Factor<Scalar> factor(std::string_view role) const {
    const Operand<Scalar>& of = operand(role);
    return {of.values, of.codes, of.factors, of.rotated};
  }
  [[nodiscard]] Factor<Scalar> arriving(View<Scalar> g) const {
    return {g, arriving_codes, arriving_factors, arrives_rotated};
  }
  /// P37: the gradient that arrives as sums over rows read it.
  [[nodiscard]] View<Scalar> summed(View<Scalar> g) const {
    return arrives_rotated ? View<Scalar>(arriving_unrotated) : g;
  }

  /// P82: a sum of products in column j.
  [[nodiscard]] Scalar scaled(std::int64_t j, Scalar sum) const {
    return scales.empty() ? sum : sum * scales[static_cast<std::size_t>(j)];
  }

  [[nodiscard]] bool has(std::string_view role) const {
    for (const Operand<Scalar>& operand : operands) {
      if (operand.role == role) return true;
    }
    return false;
  }

  [[nodiscard]] std::size_t position(std::string_view role) const {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].role == role) return i;
    }
    throw std::invalid_argument("a layer has no operand \"" + std::string(role) +
                                "\"; give it every operand that its kind requires");
  }

  [[nodiscard]] const Operand<Scalar>& operand(std::string_view role) const {
    return operands[position(role)];
  }

  /// The operand's values; empty when the layer has none of this role.
  [[nodiscard]] View<Scalar> operator[](std::string_view role) const {
    return has(role) ? View<Scalar>(operand(role).values) : View<Scalar>();
  }

  /// P39: an internal value of the kind, as rules round it.
  [[nodiscard]] Scalar internal(std::string_view name, Scalar value) const {
    const auto to = internals.find(name);
    return to == internals.end() ? value : round(to->second, value);
  }

  /// Whether the pass computes the gradient of an operand that the layer has.
  [[nodiscard]] bool wants(std::string_view role) const {
    return has(role) && operand(role).wanted;
  }
};

/// What the file of a kind states; it hides what differs from this. Beside it stand `word`, the
/// kind's in the text form, `result`, its formula, and `gradients`, of all operands of the pass or
/// of all that it has.
struct LayerKind {
  /// P3. Losses are the members of class loss; the gradient that arrives at one has one element.
  static constexpr std::array<description::LayerClass, 0> classes{};

  /// P39: the names of internal values.
  static constexpr std::array<std::string_view, 0> internals{};

  /// D17: the operands that are states of its own, which it reads as they are. A kind that has some
  /// has `moved`, too: what they are after a training pass, in this order.
  static constexpr std::array<std::string_view, 0> kept_states{};
  /// D17: likewise, but no pass moves them.
  static constexpr std::array<std::string_view, 0> fixed_states{};

  /// P20: whether gradients read forward's result.
  static constexpr bool reads_result = false;

  /// P88, P89: whether its products multiply sums by scales of f32 of whole tensors, and whether by
  /// those of rows and columns.
  static constexpr bool multiplies_sums = false, multiplies_sums_of_vectors = false;

  /// P82: of an operand of so many dimensions, which the layer multiplies rows by, the dimension
  /// that is the columns of the products; -1 of all else.
  static int columns_of_products(std::string_view /*operand*/, const Settings& /*settings*/,
                                 std::size_t /*dimensions*/) {
    return -1;
  }

  /// P20: whether the gradient of operand `wanted` reads operand `read`.
  static constexpr bool reads(std::string_view /*read*/, std::string_view /*wanted*/) {
    return true;
  }
};

}  // namespace halftone::reference
