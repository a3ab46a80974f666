// SPDX-License-Identifier: Apache-2.0
// What a manifest's sizes come to with its symbols bound: elements, tasks, blocks, memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "halftone/manifest/manifest.hpp"

namespace halftone::manifest {

/// That many elements take; throws std::overflow_error past 2^62.
[[nodiscard]] std::int64_t bytes_of(const Encoding& encoding, std::int64_t elements);

/// The number of elements / tasks with the symbols bound; throws std::overflow_error past 2^62.
[[nodiscard]] std::int64_t elements(std::span<const Dimension> shape,
                                    std::span<const std::int64_t> symbols);
[[nodiscard]] std::int64_t task_count(const Kernel& kernel, std::span<const std::int64_t> symbols);

/// The first limit that sizes of all symbols do not keep, 0 for one that is not bound; null if
/// none.
[[nodiscard]] const Limit* find_exceeded(const Manifest& manifest,
                                         std::span<const std::int64_t> symbols);

/// "layer 'places' has 24 times, the rows of parameter 'places.weight'"
[[nodiscard]] std::string reason_of(const Limit& limit);

/// " + 2" or " - 1" behind a dimension to which that is added; empty otherwise.
[[nodiscard]] std::string added_text(const Dimension& dimension);

/// How much of its symbol a chunk of a section has, the last one less: as much as fits into its
/// rows, and at least what makes a multiple of the section's.
[[nodiscard]] std::int64_t chunk_of(const Section& section, std::span<const std::int64_t> symbols);

/// Of a buffer, of a section's those of a chunk.
[[nodiscard]] std::int64_t elements(const Program& program, const Buffer& buffer,
                                    std::span<const std::int64_t> symbols);

/// The section that a launch of a phase belongs to, or null.
[[nodiscard]] const Section* section_of(const Program& program, std::size_t phase,
                                        std::size_t launch);

/// Whether it is of a section that runs in parts.
[[nodiscard]] bool is_of_part(const Program& program, const Buffer& buffer);

/// The memory that a program needs, known before it runs. Slots of role accumulated lie in a piece
/// of their own beside the arena, which exists once micro-batches are asked for; those of parts in
/// one that each thread has; those in the host's memory in one there, if the device has its own,
/// and behind them what stays there between the passes (P98).
struct ArenaPlan {
  std::int64_t bytes = 0;                  ///< of the arena
  std::int64_t accumulated_bytes = 0;      ///< of the piece for micro-batches
  std::int64_t part_bytes = 0;             ///< of each thread's piece
  std::int64_t host_bytes = 0;             ///< of the host's memory
  std::vector<std::int64_t> slot_offsets;  ///< in the arena, or in that piece
  std::int64_t stay_bytes = 0;             ///< of host_bytes what activations take
  std::vector<std::int64_t> stay_offsets;  ///< in the host's memory, by Program::stays
};
/// `has_own_memory`: whether the device has; otherwise Buffer::in_host says nothing.
[[nodiscard]] ArenaPlan plan_arena(const Program& program, std::span<const std::int64_t> symbols,
                                   bool has_own_memory = false);

/// What activations take of the arena: the slots that they share (P67).
[[nodiscard]] std::int64_t activation_bytes(const Program& program,
                                            std::span<const std::int64_t> symbols);

/// How many parts the sum has, and blocks the grid; both throw std::overflow_error past 2^62.
[[nodiscard]] std::int64_t split_count(const Split& split, std::span<const std::int64_t> symbols);
[[nodiscard]] std::int64_t block_count(const CudaKernel& kernel,
                                       std::span<const std::int64_t> symbols);

/// The grid on so many SMs, 0 where nobody knows: block_count(), or of a kernel with `resident` as
/// many as run at once.
[[nodiscard]] std::int64_t grid_size(const CudaKernel& kernel,
                                     std::span<const std::int64_t> symbols,
                                     std::int64_t multiprocessors);

/// Where every part of a kernel's workspace begins, and the bytes of all.
struct WorkspacePlan {
  std::int64_t bytes = 0;
  std::vector<std::int64_t> offsets;  ///< by part
};
[[nodiscard]] WorkspacePlan plan_workspace(const CudaKernel& kernel,
                                           std::span<const std::int64_t> symbols);

}  // namespace halftone::manifest
