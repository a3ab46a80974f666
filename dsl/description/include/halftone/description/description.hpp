// SPDX-License-Identifier: Apache-2.0
// The Description: a model, its losses, its optimizer and its precision rules as a DAG of plain
// structs. It is what the dsl produces and the only thing that codegen and the reference evaluator
// read. docs/spec/description.md numbers every rule that a valid Description keeps (labels D1, D2,
// ...).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "halftone/description/bounds.hpp"
#include "halftone/description/expression.hpp"
#include "halftone/description/kinds.hpp"
#include "halftone/description/optimizers.hpp"
#include "halftone/encoding/traits.hpp"

namespace halftone::description {

/// One extent of a shape: a fixed size, or a number of times a symbol such as `batch` that is bound
/// when a trainer is built, of what layers compute with a number added.
struct Dimension {
  std::int64_t extent = 0;  ///< the size when `symbol` is empty, otherwise what is added (D116)
  std::string symbol;       ///< name of the symbol, empty for a fixed size
  std::int64_t factor = 1;  ///< how often the symbol; 1 for a fixed size (D112)

  bool operator==(const Dimension&) const = default;
};

/// Row-major, outermost first; empty means a scalar.
using Shape = std::vector<Dimension>;

/// Index into Description::nodes. An operand's node always comes before its user.
using NodeId = std::int32_t;

/// How a parameter's first values are drawn. Every element has its own counter, so the values
/// depend on the trainer's seed and the parameter's name alone.
struct Initializer {
  enum class Kind : std::uint8_t { constant, uniform, normal, truncated_normal, orthogonal };
  Kind kind = Kind::constant;
  double first = 0.0;   ///< constant: the value; uniform: the lower end; normals: the mean;
                        ///< orthogonal: the length of rows, or of columns where those are fewer
  double second = 0.0;  ///< uniform: the upper end; normals: the standard deviation
  double low = -2.0, high = 2.0;  ///< truncated_normal: the ends; otherwise as here

  bool operator==(const Initializer&) const = default;
};

/// What an input states beside its format and shape; one that states nothing has no attributes.
struct InputAttributes {
  bool gradient = false;           ///< a trainer computes d objective / d input (D15)
  double scale = 1.0, offset = 0;  ///< of integers that are read as a value (D16)

  [[nodiscard]] bool converts() const { return scale != 1.0 || offset != 0; }

  bool operator==(const InputAttributes&) const = default;
};

struct ParameterAttributes {
  Initializer initializer;
  bool decay = true;                 ///< subject to the optimizer's weight decay
  bool frozen = false;               ///< has no gradient and is never updated
  double learning_rate_scale = 1.0;  ///< multiplies the optimizer's learning rate

  bool operator==(const ParameterAttributes&) const = default;
};

struct StateAttributes {
  double initial = 0.0;  ///< the value of every element before the first step

  bool operator==(const StateAttributes&) const = default;
};

/// A setting of a layer or loss: a number, a flag, the word of a choice, an integer or a list, as
/// its kind's form says.
struct Setting {
  std::string name;
  std::variant<double, bool, std::string, std::int64_t, std::vector<std::int64_t>, Shape> value;

  bool operator==(const Setting&) const = default;
};

/// The user's function of a layer or loss.
struct Function {
  std::string name;
  Expression expression;

  bool operator==(const Function&) const = default;
};

/// What a layer or loss has beside operands, if its kind's form says that it has any.
struct LayerAttributes {
  std::vector<Setting> settings;  ///< the form's, in its order; optional ones may be absent
  std::optional<Function> function;

  /// Of a setting that the form has; throws std::bad_variant_access or std::out_of_range otherwise.
  [[nodiscard]] double number(std::string_view setting) const;
  [[nodiscard]] bool flag(std::string_view setting) const;
  [[nodiscard]] const std::string& word(std::string_view setting) const;
  [[nodiscard]] const std::vector<std::int64_t>& integers(std::string_view setting) const;
  [[nodiscard]] const Shape& dimensions(std::string_view setting) const;
  /// Nothing where it is absent.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view setting) const;

  bool operator==(const LayerAttributes&) const = default;
};

/// The settings that a kind has where the dsl's user states none.
[[nodiscard]] LayerAttributes standard_attributes(Kind kind);

using Attributes = std::variant<std::monostate, ParameterAttributes, StateAttributes,
                                LayerAttributes, InputAttributes>;

struct Operand {
  std::string role;  ///< as its kind's form says: x, weight, bias, logits, label, ...
  NodeId node = 0;

  bool operator==(const Operand&) const = default;
};

struct Node {
  std::string name;  ///< unique; a path such as h/3/fc, parameters such as h/3/fc.weight
  Kind kind = kInputKind;
  std::vector<Operand> operands;
  Shape shape;
  Element format =
      Element::f32;  ///< what an input is delivered in; elsewhere the precision rules decide
  Attributes attributes;

  bool operator==(const Node&) const = default;
};

/// An input's attributes, those that state nothing where it has none.
[[nodiscard]] inline InputAttributes input_attributes(const Node& node) {
  const auto* input = std::get_if<InputAttributes>(&node.attributes);
  return input ? *input : InputAttributes{};
}

/// Whether it is an input whose gradient a trainer computes (D15).
[[nodiscard]] inline bool wants_gradient(const Node& node) {
  return input_attributes(node).gradient;
}

/// Whether it is an input of integers.
[[nodiscard]] inline bool holds_integers(const Node& node) {
  return encoding::traits(node.format).integer;
}

struct Output {
  std::string name;
  NodeId node = 0;

  bool operator==(const Output&) const = default;
};

struct Loss {
  NodeId node = 0;
  double weight = 1.0;  ///< the training objective is the sum of weight * loss

  bool operator==(const Loss&) const = default;
};

/// `state` takes the value of `value` at the end of every training step's forward pass.
struct Assignment {
  NodeId state = 0;
  NodeId value = 0;

  bool operator==(const Assignment&) const = default;
};

/// P3: one chip, or all before it, or it and all after it.
struct TargetRange {
  using Relation = description::Relation;
  Relation relation = Relation::is;
  std::string chip;  ///< "cpu", "sm_80", "sm_90a", ...

  bool operator==(const TargetRange&) const = default;
};

/// P3: every part that is stated must fit; an empty part fits everything.
struct Clause {
  std::optional<std::string> layer;  ///< a glob
  std::vector<LayerClass> classes;
  std::vector<Kind> ops;  ///< layers and losses only
  std::vector<Role> roles;
  std::vector<Pass> passes;
  std::vector<TargetRange> targets;
  Bounds bounds{};                    ///< P60
  std::vector<std::string> stages{};  ///< P66: it fits in these alone

  bool operator==(const Clause&) const = default;
};

/// P3, P4: for what one of the clauses matches, or for everything without clauses, but for what one
/// of the exceptions matches (P61), the fields that are stated.
struct Rule {
  std::vector<Clause> clauses;  ///< empty: everywhere
  std::optional<EncodingChoice> store, compute;
  std::optional<Encoding> result;
  std::optional<Accumulation> accumulate;
  std::optional<Encoding> master;
  std::optional<Rounding> rounding;
  std::optional<bool> recompute;  ///< true: always, false: never
  std::optional<LossScale> loss_scale;
  std::optional<MemoryBudget> memory_budget{};
  std::optional<Quantization> quantize{};  ///< of weights in predictors (P80)
  std::optional<Memory> place{};           ///< of states, of activations (P91, P98)
  bool remainder = false;                  ///< of the master (P69)
  std::vector<Clause> exceptions{};        ///< P61
  bool if_any = false;                     ///< whether it may match nothing (P65)
  std::string because{};                   ///< for people: why there is this rule (P63)

  bool operator==(const Rule&) const = default;
};

/// Parameters whose gradients are scaled down together when their norm exceeds `norm` (U2).
struct ClipGroup {
  double norm = 1.0;
  std::vector<NodeId> parameters;

  bool operator==(const ClipGroup&) const = default;
};

struct Description {
  std::string name;
  std::vector<Node> nodes;  ///< in topological order
  std::vector<Output> outputs;
  std::vector<Loss> losses;
  std::vector<Assignment> assignments;
  /// P66: the parts of a run, each under the rules that hold in it, in the order of their
  /// declaration; a run begins in the first. Empty: there is one, without a name.
  std::vector<std::string> stages{};
  std::vector<Rule> rules;
  Optimizer optimizer;
  std::optional<double> clip;            ///< the largest global gradient norm
  std::vector<ClipGroup> clip_groups{};  ///< in place of a global clip; no two share a parameter
  std::optional<double> clip_value;      ///< the largest size of an element of the gradient
  /// A factor of the learning rate: of the number of updates that were applied before (U3).
  std::optional<Expression> schedule;
  /// The trained parameters' averages keep this share of themselves at every update (U8).
  std::optional<double> average;

  bool operator==(const Description&) const = default;
};

/// P60: of every node; nowhere for one that is no layer, loss or parameter.
std::vector<Place> places_of(const Description& description);

/// Of a valid description: whether the node is an input whose integers are labels or tokens, and no
/// values (D8).
[[nodiscard]] bool is_counted(const Description& description, NodeId node);

}  // namespace halftone::description
