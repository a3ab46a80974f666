// SPDX-License-Identifier: Apache-2.0
// How the text form spells enums, numbers, shapes and strings; shared by print, parse and the
// messages of validate.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "halftone/description/description.hpp"
#include "halftone/encoding/text.hpp"

namespace halftone::description::detail {

using std::string_view_literals::operator""sv;

template <std::size_t N>
constexpr std::array<std::string_view, N> views(const char* const (&words)[N]) {
  std::array<std::string_view, N> result;
  for (std::size_t i = 0; i < N; ++i) result[i] = words[i];
  return result;
}

// The words of each enum in the order of its enumerators.
constexpr auto words(Element) {
  std::array<std::string_view, encoding::kElements> result;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = encoding::kElementTraits[i].word;
  return result;
}
constexpr auto words(Kind) {
  std::array<std::string_view, kKinds> result;
  for (int i = 0; i < kKinds; ++i) result[static_cast<std::size_t>(i)] = AllKinds::forms[i]->word;
  return result;
}
constexpr auto words(Role) { return views(kRoleWords); }
constexpr auto words(Pass) { return views(kPassWords); }
constexpr auto words(LayerClass) { return views(kLayerClassWords); }
constexpr auto words(Relation) { return views(kRelationWords); }
constexpr auto words(Accumulation) { return views(kAccumulationWords); }
constexpr auto words(Rounding) { return views(kRoundingWords); }
constexpr auto words(LossScale::Kind) { return views(kLossScaleWords); }
constexpr auto words(MemoryBudget::Kind) { return views(kMemoryBudgetWords); }
constexpr auto words(Memory) { return views(kMemoryWords); }

constexpr auto words(Initializer::Kind) {
  return std::array{"constant"sv, "uniform"sv, "normal"sv, "truncated_normal"sv, "orthogonal"sv};
}

constexpr auto words(ScalarOp) {
  return std::array{"operand"sv,    "constant"sv, "add"sv,   "subtract"sv, "multiply"sv, "divide"sv,
                    "minimum"sv,    "maximum"sv,  "pow"sv,   "negate"sv,   "absolute"sv, "floor"sv,
                    "exp"sv,        "expm1"sv,    "log"sv,   "log1p"sv,    "sqrt"sv,     "rsqrt"sv,
                    "sin"sv,        "cos"sv,      "tanh"sv,  "erf"sv,      "sigmoid"sv,  "less"sv,
                    "less_equal"sv, "equal"sv,    "select"sv};
}

template <typename Enum>
constexpr std::string_view spelled(Enum value) {
  const auto table = words(Enum{});
  const auto index = static_cast<std::size_t>(value);
  return index < table.size() ? table[index] : "?"sv;
}

template <typename Enum>
constexpr std::optional<Enum> enum_of(std::string_view word) {
  const auto table = words(Enum{});
  for (std::size_t index = 0; index < table.size(); ++index) {
    if (table[index] == word) return static_cast<Enum>(index);
  }
  return std::nullopt;
}

/// The fewest digits that read back to the same double.
std::string spelled(double value);
/// "[batch, 64]"
std::string spelled(const Dimension& dimension);  // "batch", "64", "4*side"
std::string spelled(const Shape& shape);
/// What follows "rule ": "where layer \"fc*\" role saved : store f16".
std::string spelled(const Rule& rule);
/// In quotes, with \" \\ \n \r \t and \xHH for other control bytes.
std::string quoted(std::string_view text);

bool is_name_byte(char byte);             // D2
bool is_symbol(std::string_view symbol);  // letters, digits and _, not starting with a digit

/// How many earlier instructions an operation reads.
constexpr int arity(ScalarOp op) {
  if (op == ScalarOp::operand || op == ScalarOp::constant) return 0;
  if (op == ScalarOp::select) return 3;
  return op >= ScalarOp::negate && op <= ScalarOp::sigmoid ? 1 : 2;
}

}  // namespace halftone::description::detail
