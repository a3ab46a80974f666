// SPDX-License-Identifier: Apache-2.0
// What the precision rules of a description decide for one target: P1 to P21 of
// docs/spec/precision.md, read off the rules anew for every question.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/description/description.hpp"
#include "halftone/reference/rounding.hpp"

namespace halftone::reference {

/// Operations and values are named by the node they belong to: an operation is a layer or loss in
/// one pass, a value the node's result or parameter in one role. What is no activation (an input,
/// a state, a loss) stays as it is.
class Resolution {
 public:
  /// Of a valid description. `target` is "cpu" or a chip such as "sm_90a"; `stage` is one of the
  /// description's (P66), its first when empty.
  explicit Resolution(description::Description description, std::string target = "cpu",
                      std::string stage = "");

  /// P10, P15: what the operation rounds its operands of this role (P18) to before use.
  [[nodiscard]] RoundTo operand(description::NodeId node, description::Pass pass,
                                description::Role role) const;

  /// P11
  [[nodiscard]] RoundTo result(description::NodeId node, description::Pass pass) const;

  /// P13
  [[nodiscard]] description::Accumulation accumulation(description::NodeId node,
                                                       description::Pass pass) const;

  /// P12, P15: what a value is rounded to when it is stored. `saved` without a rule of its own is
  /// stored as the activation is (P33).
  [[nodiscard]] RoundTo store(description::NodeId node, description::Role role) const;

  /// P39, P15: what an internal value of a layer or loss is rounded to.
  [[nodiscard]] RoundTo internal(description::NodeId node, std::string_view value) const;

  /// P69: whether masters are bf16 with a remainder.
  [[nodiscard]] bool splits_masters() const;

  /// P80: what a predictor holds a parameter in; nothing where it is held as it is.
  [[nodiscard]] std::optional<description::Quantization> quantization(
      description::NodeId parameter) const;

  /// P16: always, never, or the generator's choice.
  [[nodiscard]] std::optional<bool> recompute(description::NodeId node) const;

  /// P17
  [[nodiscard]] description::LossScale loss_scale() const;

 private:
  [[nodiscard]] description::Encoding widest_operand(description::NodeId node,
                                                     description::Pass pass) const;

  description::Description description_;
  std::string target_, stage_;
  std::vector<description::Encoding> activations_;  // by NodeId: what a node's users read
};

}  // namespace halftone::reference
