// SPDX-License-Identifier: Apache-2.0
// The search of the first value that is not finite: a step is run once more, one operation at a
// time, by a program of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "bind.hpp"
#include "halftone/diagnosis.hpp"

namespace halftone {

/// What the trainer ran last. Inputs and the caller's gradients of outputs are still in its
/// buffers.
struct Replay {
  enum class Backward { none, losses, external };
  bool forward = false, losses = false;
  Backward backward = Backward::none;
  float loss_scale = 1.0f;  ///< that backward read
  struct State {
    std::size_t buffer = 0;  ///< of the training program
    std::vector<std::byte> contents;
  };
  /// The user's states as forward read them, once an update moved them on; empty when they stand as
  /// they were.
  std::vector<State> states;
};

/// For Replay::states.
[[nodiscard]] std::vector<Replay::State> copy_states(const BoundProgram& program);

/// In the order of execution; nothing when all values are finite. Throws Error when the artifact
/// has no program for it, or there is no memory for one.
[[nodiscard]] std::optional<NonFinite> diagnose(const BoundProgram& training, const Replay& replay);

}  // namespace halftone
