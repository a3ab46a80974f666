// SPDX-License-Identifier: Apache-2.0
// One memory for the programs of a model's stages (P66), which run in turn: what outlasts a run
// lies at the same place in all of them, and what a run makes for itself shares the rest, as large
// as the stage that needs most.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "program_plan.hpp"

namespace halftone {

/// Lays the plans out so; all are of one program, with the same sizes.
void share_memory(std::span<ProgramPlan* const> plans);

/// What a plan takes of the arena.
struct ArenaUse {
  std::int64_t kept = 0;     ///< what outlasts a run
  std::int64_t working = 0;  ///< all else
  std::int64_t host = 0;     ///< beside the arena, in the host's memory (P91)
};
[[nodiscard]] ArenaUse arena_use(const ProgramPlan& plan);

/// The same for two buffers, of one plan or of two, that are to be one: those of a name, but for a
/// loss scale's, which are one where the loss scale is (P70).
[[nodiscard]] std::string shared_name(const ProgramPlan& plan, std::size_t buffer);

/// Whether it is of the loss scale: the scale, or what counts its steps.
[[nodiscard]] bool is_of_loss_scale(const manifest::Buffer& buffer);

}  // namespace halftone
