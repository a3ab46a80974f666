// SPDX-License-Identifier: Apache-2.0
// The search of the first value that is not finite: a step is run once more, one operation at a
// time, by a program of its own.
#pragma once

#include <optional>

#include "bind.hpp"
#include "halftone/diagnosis.hpp"

namespace halftone {

/// What the trainer ran last. Inputs and the caller's gradients of outputs are still in its
/// buffers.
struct Replay {
  enum class Backward { none, losses, external };
  bool forward = false, losses = false;
  Backward backward = Backward::none;
  /// An update changed nothing but moved the user's states on; the replay takes them as they were
  /// kept.
  bool skipped = false;
};

/// In the order of execution; nothing when all values are finite. Throws Error when the artifact
/// has no program for it, or there is no memory for one.
[[nodiscard]] std::optional<NonFinite> diagnose(const BoundProgram& training, const Replay& replay);

}  // namespace halftone
