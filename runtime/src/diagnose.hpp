// SPDX-License-Identifier: Apache-2.0
// The search of the first value that is not finite: a step is run once more, one operation at a
// time, by a program of its own.
#pragma once

#include <optional>
#include <span>

#include "halftone/diagnosis.hpp"
#include "replay.hpp"

namespace halftone {

/// The first in the order of execution; nothing when all values are finite. Throws Error when the
/// artifact has no program for it, or there is no memory for one.
[[nodiscard]] std::optional<NonFinite> diagnose(const BoundProgram& training,
                                                std::span<const Replay> replays);

}  // namespace halftone
