// SPDX-License-Identifier: Apache-2.0
// The search of the first value that is not finite: a step is run once more, one operation at a
// time, by a program of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "bind.hpp"
#include "halftone/diagnosis.hpp"

namespace halftone {

/// Inputs, the caller's gradients of outputs, and counters, by buffer; empty where none was given.
using GivenValues = std::map<std::size_t, std::vector<std::byte>>;

/// What the trainer ran: last, with what it was given still in its buffers, or for an earlier
/// micro-batch.
struct Replay {
  enum class Backward { none, losses, external };
  std::int64_t rows = 0;  ///< BoundProgram::rows()
  bool forward = false, losses = false;
  Backward backward = Backward::none;
  /// Of an earlier micro-batch, whose replay takes the states as the step found them; else null.
  const GivenValues* given = nullptr;
  std::int64_t micro_batch = 0, micro_batches = 0;  ///< as in NonFinite
};

/// The first in the order of execution; nothing when all values are finite. Throws Error when the
/// artifact has no program for it, or there is no memory for one.
[[nodiscard]] std::optional<NonFinite> diagnose(const BoundProgram& training,
                                                std::span<const Replay> replays);

}  // namespace halftone
