// SPDX-License-Identifier: Apache-2.0
// The words of a Description that need no standard library, so that the dsl can share them at no
// cost: what precision rules speak of, each with its spelling in the text form.
#pragma once

#include <cstdint>

#include "halftone/encoding/encoding.hpp"

namespace halftone::description {

using encoding::Element, encoding::Encoding, encoding::Rounding, encoding::kRoundingWords;

/// What a node is: an index into the list of kinds.hpp.
enum class Kind : std::uint8_t {};

/// Who reads or holds a value (P2).
enum class Role : std::uint8_t {
  activation,
  saved,
  gradient,
  weight,
  weight_gradient,
  master,
  optimizer_state,
  internal,
};

/// P1
enum class Pass : std::uint8_t { forward, input_gradient, weight_gradient };

/// P3: a target is a chip, or all chips before one, or a chip and all after it.
enum class Relation : std::uint8_t { is, before, from };

/// P3: groups of layer kinds that rules may name at once.
enum class LayerClass : std::uint8_t {
  contraction,
  normalization,
  softmax,
  activation_function,
  elementwise,
  loss,
};

/// What a rule states: an encoding, or `follow` (P20). How it rounds is a field of its own (P15).
struct EncodingChoice {
  bool follow = false;
  Encoding encoding;  ///< when not follow

  bool operator==(const EncodingChoice&) const = default;
};

enum class Accumulation : std::uint8_t { f32, ordered, hardware, promoted };  // P21

/// L1, L3, L4. `fixed` uses `initial` alone.
struct LossScale {
  enum class Kind : std::uint8_t { none, fixed, dynamic };
  Kind kind = Kind::none;
  double initial = 65536.0;
  double growth = 2.0, backoff = 0.5;
  std::int64_t interval = 2000;  ///< clean steps before the scale grows
  double floor = 1.0, ceiling = 0x1p127;
  std::int64_t hysteresis = 1;  ///< skipped steps before the scale backs off
  std::int64_t patience = 50;   ///< consecutive skipped steps at the floor before a step fails

  bool operator==(const LossScale&) const = default;
};

/// P80: what a predictor holds a weight in, f32 for as it is, and how a channel's scale is found.
struct Quantization {
  enum class Scale : std::uint8_t { maximum, least_error };
  Element element = Element::f32;
  Scale scale = Scale::maximum;

  bool operator==(const Quantization&) const = default;
};

/// P91, P98: where states lie between updates, or activations between passes: on the device, or in
/// the host's memory.
enum class Memory : std::uint8_t { device, host };

/// Whether a weight held so is codes and scales.
constexpr bool is_quantized(Element element) {
  return element == Element::i8 || element == Element::f8e4m3;
}

/// P67: what activations may take of the arena. `share` and `bytes` use the number of their name.
struct MemoryBudget {
  enum class Kind : std::uint8_t { share, bytes };
  Kind kind = Kind::share;
  double share = 1.0;      ///< of what they take without a budget, above 0 and at most 1
  std::int64_t bytes = 0;  ///< at least 1

  bool operator==(const MemoryBudget&) const = default;
};

// The words of each enum, in the order of its enumerators.
inline constexpr const char* kRoleWords[] = {"activation",      "saved",           "gradient",
                                             "weight",          "weight_gradient", "master",
                                             "optimizer_state", "internal"};
inline constexpr int kRoles = static_cast<int>(Role::internal) + 1;
inline constexpr const char* kPassWords[] = {"forward", "input_gradient", "weight_gradient"};
inline constexpr const char* kLayerClassWords[] = {
    "contraction", "normalization", "softmax", "activation_function", "elementwise", "loss"};
inline constexpr const char* kAccumulationWords[] = {"f32", "ordered", "hardware", "promoted"};
inline constexpr const char* kLossScaleWords[] = {"none", "fixed", "dynamic"};
inline constexpr const char* kMemoryBudgetWords[] = {"share", "bytes"};
inline constexpr const char* kMemoryWords[] = {"device", "host"};
inline constexpr const char* kQuantizationScaleWords[] = {"maximum", "least_error"};
inline constexpr const char* kRelationWords[] = {"is", "before", "from"};

}  // namespace halftone::description
