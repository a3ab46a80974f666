// SPDX-License-Identifier: Apache-2.0
// What the parts of a clause select and which fields belong to what is selected: P1 to P6, P18 and
// P19 as sets of bits. Shared by validate and by the dsl's check, which runs it while compiling.
#pragma once

#include "halftone/description/kinds.hpp"

namespace halftone::description::rules {

/// Bit i stands for enumerator i.
using Mask = unsigned;
template <class Enum>
constexpr Mask bit(Enum value) {
  return Mask{1} << static_cast<unsigned>(value);
}

/// The fields of a rule, in the order of the text form.
enum class Field : std::uint8_t {
  store,
  compute,
  result,
  accumulate,
  master,
  rounding,
  recompute,
  loss_scale,
  memory_budget,
  quantize,
  place,
};
inline constexpr int kFields = 11;
inline constexpr const char* kFieldWords[] = {
    "store",     "compute",    "result",        "accumulate", "master", "rounding",
    "recompute", "loss_scale", "memory_budget", "quantize",   "place"};

/// What a rule states; a member counts when its bit is in `stated`.
struct Fields {
  Mask stated = 0;
  EncodingChoice store, compute;
  Encoding result;
  Accumulation accumulate = Accumulation::f32;
  Encoding master;
  bool remainder = false;  ///< of the master (P69)
  Rounding rounding = Rounding::nearest_even;
  bool recompute = false;
  LossScale loss_scale;
  MemoryBudget memory_budget;
  Quantization quantize;
  Memory place = Memory::device;

  constexpr bool has(Field field) const { return (stated & bit(field)) != 0; }
};

/// The parts of a clause but its glob, its targets and its stages; an empty set is a part that is
/// not stated.
struct Parts {
  Mask classes = 0;
  KindSet ops{};
  Mask roles = 0, passes = 0;
  /// Whether the clause has these.
  bool layer = false, targets = false, bounds = false, stages = false;

  bool operator==(const Parts&) const = default;
};

inline constexpr KindSet kLosses = KindSet::where(is_loss);
inline constexpr KindSet kAllOps = KindSet::where(is_computed);

/// P64: four lists of kinds for paint.hpp.
struct PaintLists {
  KindSet allow{}, infer{}, deny{}, clear{};

  bool operator==(const PaintLists&) const = default;
};

/// P3
inline constexpr int kLayerClasses = static_cast<int>(LayerClass::loss) + 1;
struct ClassMembers {
  KindSet of[kLayerClasses];
};
inline constexpr ClassMembers kMembers = [] {
  ClassMembers members;
  for (int i = 0; i < kLayerClasses; ++i) {
    members.of[i] =
        KindSet::where([i](Kind kind) { return (form_of(kind).classes >> i & 1) != 0; });
  }
  return members;
}();
constexpr const KindSet& ops_of(LayerClass layer_class) {
  return kMembers.of[static_cast<int>(layer_class)];
}
constexpr KindSet ops_of_classes(Mask classes) {
  KindSet ops{};
  for (int i = 0; i < kLayerClasses; ++i) {
    if ((classes >> i & 1) != 0) ops |= kMembers.of[i];
  }
  return ops;
}

/// P13: those with sums whose order rules may state.
inline constexpr KindSet kContracting =
    kMembers.of[static_cast<int>(LayerClass::contraction)] |
    KindSet::where([](Kind kind) { return form_of(kind).may_contract; });

/// The kinds that fit both class and op.
constexpr KindSet ops_of(const Parts& parts) {
  KindSet ops = parts.ops.any() ? parts.ops & kAllOps : kAllOps;
  return parts.classes != 0 ? ops & ops_of_classes(parts.classes) : ops;
}

constexpr bool fits(Mask stated, Mask is) { return stated == 0 || (stated & is) != 0; }

/// P6
constexpr Mask pass_of(Role role) {
  switch (role) {
    case Role::activation:
    case Role::saved:
      return bit(Pass::forward);
    case Role::gradient:
      return bit(Pass::input_gradient);
    case Role::weight_gradient:
      return bit(Pass::weight_gradient);
    default:
      return 0;
  }
}

/// Something that a glob can name: a layer or loss with its operations and its value, or a
/// parameter with its values. In a model with losses a layer counts as one that a loss depends on,
/// so that a rule does not depend on what stands behind a layer; what stands before it decides
/// whether there are gradients (P1).
struct Subject {
  KindSet ops{};       ///< of the layer, or of all that read the parameter (P5)
  Mask operands[3]{};  ///< roles of each pass's operands (P18); 0 where there is no such operation
  Mask values = 0;     ///< roles of its values
  bool is_matrix = false;  ///< of a parameter: of two dimensions or more

  bool operator==(const Subject&) const = default;
};

/// What a layer or loss reads, beside labels; trained values are those that depend on a trained
/// parameter or on an input that wants a gradient, so that they have one.
struct Reads {
  bool values = false, trained_values = false, parameters = false, trained_parameters = false;

  /// Whether the result is a trained value.
  constexpr bool trained() const { return trained_values || trained_parameters; }
};

/// `trains`: whether the model has losses; without them nothing is trained.
constexpr Subject layer_subject(Kind kind, Reads reads, bool trains) {
  const bool loss = is_loss(kind);
  const Mask weight = reads.parameters ? bit(Role::weight) : 0;
  Subject subject{.ops = KindSet(kind)};
  subject.operands[0] = (reads.values ? bit(Role::activation) : 0) | weight;
  if (!loss) subject.values = bit(Role::activation);
  if (form_of(kind).internals.size > 0) subject.values |= bit(Role::internal);  // P39
  if (!trains) return subject;
  if (!loss) subject.values |= bit(Role::saved) | (reads.trained() ? bit(Role::gradient) : 0);
  const Mask gradient = loss ? 0 : bit(Role::gradient);
  const Mask saved = bit(Role::saved);
  const GradientReads& also = form_of(kind).gradient;
  if (reads.trained_values) {
    subject.operands[1] = gradient | weight | (also.saved_for_inputs ? saved : 0);
  }
  if (reads.trained_parameters) {
    subject.operands[2] =
        gradient | (also.saved_for_weights ? saved : 0) | (also.weights_for_weights ? weight : 0);
  }
  return subject;
}

/// One of the internal values of a kind that has some, by its own name (P5).
constexpr Subject internal_subject(Kind kind) {
  return {.ops = KindSet(kind), .values = bit(Role::internal)};
}

constexpr Subject parameter_subject(const KindSet& readers, bool is_trained, bool is_matrix) {
  const Mask kept = bit(Role::weight) | bit(Role::master);
  const Mask trained = bit(Role::weight_gradient) | bit(Role::optimizer_state);
  return {.ops = readers, .values = kept | (is_trained ? trained : 0), .is_matrix = is_matrix};
}

/// Whether `parts` select an operand of one of the operations, or any operation when they name no
/// role.
constexpr bool selects_operand(const Parts& parts, const Subject& subject) {
  for (int pass = 0; pass < 3; ++pass) {
    const Mask roles = subject.operands[pass];
    if (roles != 0 && fits(parts.passes, Mask{1} << pass) && fits(parts.roles, roles)) return true;
  }
  return false;
}

/// Whether `parts` select one of the values with a role of `among`.
constexpr bool selects_value(const Parts& parts, const Subject& subject, Mask among) {
  for (int i = 0; i < kRoles; ++i) {
    const Mask role = Mask{1} << i & subject.values & among;
    if (role != 0 && fits(parts.roles, role) && fits(parts.passes, pass_of(static_cast<Role>(i)))) {
      return true;
    }
  }
  return false;
}

/// Whether `parts`, whose glob fits, select anything of the subject, whatever the field.
constexpr bool selects(const Parts& parts, const Subject& subject) {
  return (ops_of(parts) & subject.ops).any() &&
         (selects_operand(parts, subject) || selects_value(parts, subject, ~Mask{0}));
}

/// Whether `parts`, whose glob fits, select something of the subject that has the field.
constexpr bool selects(const Parts& parts, const Subject& subject, Field field) {
  if (!(ops_of(parts) & subject.ops).any()) return false;
  const Mask flowing = bit(Role::activation) | bit(Role::gradient);
  const Mask stored = parts.roles == 0 ? flowing
                                       : flowing | bit(Role::saved) | bit(Role::weight) |
                                             bit(Role::weight_gradient) |
                                             bit(Role::optimizer_state) | bit(Role::internal);
  switch (field) {
    case Field::store:  // P12, P19
      return selects_value(parts, subject, stored);
    case Field::compute:  // P10, P18
      return selects_operand(parts, subject);
    case Field::rounding:  // P15
      return selects_operand(parts, subject) || selects_value(parts, subject, stored);
    case Field::result: {  // P11; a loss itself is f32 (P36)
      Subject rounded = subject;
      if ((subject.ops & kLosses).any()) rounded.operands[0] = 0;
      return parts.roles == 0 && selects_operand(parts, rounded);
    }
    case Field::accumulate:  // P13
      return parts.roles == 0 && (ops_of(parts) & subject.ops & kContracting).any() &&
             selects_operand(parts, subject);
    case Field::master:  // P14
      return (subject.values & bit(Role::master)) != 0 && parts.passes == 0 &&
             fits(parts.roles, bit(Role::master) | bit(Role::weight));
    case Field::recompute:  // P16
      return (subject.values & bit(Role::saved)) != 0 &&
             selects_value(parts, subject, bit(Role::activation));
    case Field::quantize:  // P80
      return subject.is_matrix && parts.roles != 0 &&
             selects_value(parts, subject, bit(Role::weight));
    case Field::place:  // P91, P98
      return parts.roles != 0 && (selects_value(parts, subject, bit(Role::optimizer_state)) ||
                                  ((subject.values & bit(Role::saved)) != 0 &&
                                   selects_value(parts, subject, bit(Role::activation))));
    case Field::loss_scale:     // P17: of the model
    case Field::memory_budget:  // P67: likewise
      return false;
  }
  return false;
}

}  // namespace halftone::description::rules
