// SPDX-License-Identifier: Apache-2.0
// What a kind of node is to everything but its formula: its word, operands, settings and
// parameters, as a constant that the dsl's check and the text form read. Each kind fills one in a
// file of its own, kinds/<kind>.hpp; kinds.hpp lists them.
#pragma once

#include <string_view>

#include "halftone/description/vocabulary.hpp"

namespace halftone::description {

/// A constant array of any length.
template <class T>
struct Table {
  const T* data = nullptr;
  int size = 0;

  constexpr Table() = default;
  template <int N>
  constexpr Table(const T (&array)[N]) : data(array), size(N) {}

  constexpr const T& operator[](int i) const { return data[i]; }
  constexpr const T* begin() const { return data; }
  constexpr const T* end() const { return data + size; }
};

/// The first three are sources: no operation computes them.
enum class Category : std::uint8_t {
  delivered,  // with every step
  trained,    // or frozen; has first values
  kept,       // from step to step
  layer,
  loss,  // its result is a scalar, the mean over what it reduces
};

constexpr bool is_source(Category category) { return category <= Category::kept; }

/// A parameter's first values, where its layer states none.
enum class Start : std::uint8_t {
  constant,
  by_inputs,  // uniform from +-sqrt(1 / inputs), as torch.nn.Linear
  normal,     // of mean 0 and deviation 1, as torch.nn.Embedding
};

/// Which of the dsl's options speak of a parameter.
enum class ParameterGroup : std::uint8_t { none, weight, bias };

struct OperandForm {
  const char* role = nullptr;  ///< repeated: with 0, 1, ... appended
  bool optional = false;       ///< may be absent; a parameter, as all behind it
  bool repeated = false;       ///< any number, at least one; it is the first operand
  bool integers = false;       ///< an input of i32
  bool weighs = false;  ///< an input of floats, what the summands of a loss count (D70); the last

  // A parameter, which the dsl makes with its layer.
  ParameterGroup group = ParameterGroup::none;
  bool may_be_tied = false;  ///< to that of another layer
  Start start = Start::constant;
  double first = 0;  ///< of Start::constant, or of a state

  /// A state, which the dsl makes with its layer, and which that moves while it trains (D17).
  bool kept = false;
  /// Such a state that no step moves: its values are the user's (D17).
  bool fixed = false;

  constexpr bool is_parameter() const { return group != ParameterGroup::none; }
  constexpr bool is_own() const { return is_parameter() || kept; }
};

/// In the order of the alternatives of Setting::value. The last two are lists; a kind has at most
/// one of dimensions.
enum class SettingType : std::uint8_t { number, flag, choice, integer, integers, dimensions };

/// A setting is written `name: value` in braces in the text form.
struct SettingForm {
  const char* name = nullptr;
  SettingType type = SettingType::number;
  bool optional = false;        ///< absent where nobody states it; has no standard; a flag is true
                                ///< where it is stated
  double standard = 0;          ///< where the dsl's user states nothing; choice: the word's index
  Table<const char*> words{};   ///< of a choice
  Table<const char*> labels{};  ///< of a choice whose words have formulas of their own
  bool (*accepts)(double) = nullptr;  ///< of a number or an integer, or of each of a list
  const char* title = nullptr;        ///< "an epsilon"
  const char* trouble = nullptr;      ///< what a number does that is not accepted
  const char* example = nullptr;      ///< a number that is
  bool plain = false;                 ///< the dsl's user gives it without its name
  const char* rule = nullptr;         ///< the label that demands it
};

/// What the gradient operations read beside the gradient that arrives (P18).
struct GradientReads {
  bool saved_for_inputs = true, saved_for_weights = true, weights_for_weights = false;
};

/// By which scales of f32 the products of a kind multiply sums of codes (P88): by none, by those of
/// whole tensors, or by those of rows and columns, too (P89).
enum class SumFactors : unsigned char { none, of_tensors, of_vectors };

struct KindForm {
  const char* word = nullptr;
  const char* label = nullptr;  ///< of its line in the specification's table of nodes
  Category category = Category::layer;
  unsigned classes = 0;  ///< P3, as joined by in()
  Table<OperandForm> operands{};
  Table<SettingForm> settings{};
  Table<const char*> internals{};  ///< names of values inside of it that rules may round (P39)
  bool function = false;           ///< has one of the user's, over all its operands
  GradientReads gradient{};
  int rows_of_times = -1;  ///< the operand with a row for every time of the first one, of which no
                           ///< symbol may have more
  SumFactors sum_factors = SumFactors::none;
  bool may_contract = false;  ///< of no class contraction, but rules may ask it for contractions
                              ///< inside (P13)
};

/// P3: a set of classes.
template <class... Class>
constexpr unsigned in(Class... classes) {
  return ((1u << static_cast<unsigned>(classes)) | ...);
}

inline constexpr OperandForm kNoOperand{};

/// The form of the operand in this role; that of the first one where the kind has none such, as for
/// those of one that repeats.
constexpr const OperandForm& operand_form(const KindForm& form, std::string_view role) {
  for (const OperandForm& operand : form.operands) {
    if (role == operand.role) return operand;
  }
  return form.operands.size > 0 ? form.operands[0] : kNoOperand;
}

/// What a loss may read behind its other operands (D70).
inline constexpr OperandForm kSampleWeight{
    .role = "sample_weight", .optional = true, .weighs = true};

/// Of a loss that is a sum over its summands in place of their mean (D71).
inline constexpr SettingForm kSummed{.name = "summed", .type = SettingType::flag, .optional = true};

}  // namespace halftone::description
