// SPDX-License-Identifier: Apache-2.0
// How contractions are cut on the CPU. A task computes a block of `rows` by `columns` results;
// along k it goes in blocks of `depth`, for each of which it keeps lhs's part in the second-level
// cache and, one after another, panels of rhs in the first (Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", 2008). Blocks decide no bit: every result stays one
// chain with k ascending (N1), whose sum waits in memory between two blocks of k; and where bf16
// is not widened, blocks are made of whole products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "halftone/manifest/manifest.hpp"

namespace halftone::manifest {

/// Tasks of at most so many rows read a rhs that is not transposed where it lies, and one past the
/// second-level cache in blocks of kDepthInPlace, so that lines as long as tasks are wide follow.
inline constexpr std::int64_t kFewRows = 12, kDepthInPlace = 8;

/// Panels of a rhs that is not transposed are copied so many at a time: a row of it gives each a
/// line, and lines that follow one another come sooner than those a row apart.
inline constexpr std::int64_t kPanels = 2;

/// Elements along k that are packed together where bf16 is not widened: a line of 64 bytes.
inline constexpr std::int64_t kPackedDepth = 32;

/// Where a contraction's tasks have panels of rhs from.
enum class Panels : std::int64_t {
  own,      ///< each packs them, one after another
  packing,  ///< they have no rows, and pack those of their columns and of all k for later tasks
  packed,   ///< such tasks ran before
};

/// What CPU entries receive behind their tasks: all but past_caches is for contractions.
struct CpuBlocks {
  std::int64_t rows = 0;     ///< of results in a task
  std::int64_t columns = 0;  ///< likewise, a multiple of the register tile's
  /// Of a block along k, a multiple of kPackedDepth where copies are bf16; at most
  /// Blocking::stride where they are f32 and that is not 0.
  std::int64_t depth = 0;
  /// Memory of the calling thread alone, aligned to 64 bytes. With rows and columns rounded up to
  /// the register tile: lhs's part, rows * stride or, where stride is 0, depth * lanes for each
  /// register tile of rows; kPanels panels of rhs, one where it is transposed or bf16, depth *
  /// the tile's columns each. Both hold f32, or bf16 as if stride were 0. f32
  /// sums, rows * columns where depth is less than the whole, otherwise a register tile; sums of
  /// lhs over k (N3), rows and a tile's columns.
  float *lhs = nullptr, *panel = nullptr, *sums = nullptr, *lhs_sums = nullptr;
  /// A bit for each argument: whether a pointwise or row kernel writes it past the caches.
  std::uint64_t past_caches = 0;
  /// Unless panels are their own: all panels of rhs, one behind another, each of all k, aligned to
  /// 64 bytes. Tasks that pack them run with the blocks of plan_packing().
  std::byte* rhs = nullptr;
  Panels panels = Panels::own;
};

/// Bytes of data cache: what one core may count on, and of the last level, which cores share.
struct CacheSizes {
  std::int64_t first = 32 << 10, second = 512 << 10, last = 32 << 20;
};

/// What a launch's argument stands for.
struct MemoryRange {
  const std::byte* begin = nullptr;
  std::int64_t bytes = 0;
};

/// CpuBlocks::past_caches of a launch. A result that goes through the caches is fetched into them
/// first, a third of what copying moves; where a launch touches more than twice the last one, the
/// kernel that reads the result finds none of it there anyway. Other than whole lines, and what
/// takes an operand's place and is in the cache when it is written, go through them.
[[nodiscard]] std::uint64_t past_caches(std::span<const MemoryRange> arguments,
                                        const CacheSizes& caches);

struct BlockPlan {
  CpuBlocks blocks;        ///< without memory
  std::int64_t tasks = 0;  ///< of the kernel
  std::int64_t uses = 0;   ///< tasks that read a panel of rhs
  std::int64_t lhs = 0, panel = 0, sums = 0,
               lhs_sums = 0;  ///< floats of each part, a multiple of 16

  /// What one thread works in.
  [[nodiscard]] std::int64_t floats() const { return lhs + panel + sums + lhs_sums; }
  /// The blocks with their parts one after another from `memory` on.
  [[nodiscard]] CpuBlocks in(float* memory) const;
};

/// For a contraction; throws std::overflow_error past 2^62 tasks.
[[nodiscard]] BlockPlan plan_blocks(const Kernel& kernel, std::size_t variant,
                                    std::span<const std::int64_t> symbols, const CacheSizes& caches,
                                    int threads);

/// Tasks that pack rhs for others (decisions/0052).
struct PackingPlan {
  CpuBlocks blocks;        ///< without memory
  std::int64_t tasks = 0;  ///< each of kPanels panels
  std::int64_t bytes = 0;  ///< of all panels, a multiple of 64
};

/// Of a contraction that has Blocking::rhs; throws std::overflow_error past 2^62 bytes. The layout
/// depends on the extents of rhs and on the variant alone: neither on rows nor on blocks.
[[nodiscard]] PackingPlan plan_packing(const Kernel& kernel, std::size_t variant,
                                       std::span<const std::int64_t> symbols);

/// Whether a launch is faster where its rhs is packed before its tasks, every time that it runs:
/// where several tasks would pack the same panels for tiles of matrices. For f32 products packing
/// is a few percent of them, about what reading panels from memory costs.
[[nodiscard]] bool is_worth_packing(const Kernel& kernel, std::size_t variant,
                                    const BlockPlan& plan);

/// Whether its tasks are faster where rhs is packed for good: those that do not widen bf16, and of
/// few rows that would turn all of rhs.
[[nodiscard]] bool is_worth_keeping_packed(const Kernel& kernel, std::size_t variant,
                                           std::span<const std::int64_t> symbols);

/// With the extents of `blocks`, for those who measure or test.
[[nodiscard]] BlockPlan plan_blocks(const Kernel& kernel, std::size_t variant,
                                    std::span<const std::int64_t> symbols, const CpuBlocks& blocks);

}  // namespace halftone::manifest
