// SPDX-License-Identifier: Apache-2.0
// The bytes of checkpoints, to and from a trainer.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "../bind.hpp"
#include "../safetensors/snapshot.hpp"
#include "../step.hpp"
#include "halftone/checkpoint.hpp"

namespace halftone {

/// Without its checksum (set_checksum). Throws Error between check() and update(), and after
/// micro-batches that no step followed.
[[nodiscard]] Snapshot snapshot_of(BoundProgram& program, Step& step, const Notes& notes);

/// Gives the program and its steps what the file holds. Throws Error, and changes nothing, when it
/// is no sound checkpoint of this model; `name` is the file's, for errors.
Resumed restore(BoundProgram& program, Step& step, std::span<const std::byte> file,
                const std::string& name, const ResumeOptions& options);

}  // namespace halftone
