// SPDX-License-Identifier: Apache-2.0
#include "halftone/manifest/blocks.hpp"

#include <algorithm>
#include <cmath>

#include "halftone/manifest/plan.hpp"
#include "sizes.hpp"

namespace halftone::manifest {
namespace {

constexpr std::int64_t kFloat = sizeof(float), kBf16 = 2, kPair = 2,
                       kLine = 16;  // floats of a cache line
constexpr std::int64_t kRowsOfTask = 512, kColumnsOfTask = 1024, kMostDepth = 512;
/// Multiply-adds that are worth a task of their own, and tasks that a thread may get.
constexpr double kWorthATask = 2e6;
constexpr std::int64_t kTasksPerThread = 8;
/// What copying an element of lhs takes, and of rhs along its rows or across them, in multiply-adds
/// of a vector; more where it comes from behind the second-level cache; and what finding the next
/// run of a gathered line takes.
constexpr double kCopiesLhs = 0.15, kCopiesRhs = 0.15, kTransposesRhs = 0.6, kFetches = 0.5,
                 kFinds = 16;
/// Multiply-adds of matrices in the time of one of a vector, and packing an element for them, of
/// which a tile's row is found at once, or reading one that is packed already.
constexpr double kOfMatrices = 128, kPacks = 1, kReadsPacked = 0.5;
/// Of a task's time, what threads wait for the last one when all tasks take equally long.
constexpr double kWaits = 0.1;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }
std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_divide(a, b) * b; }

struct Problem {
  RegisterTile tile;
  std::int64_t batch, rows, columns, depth;

  /// Whether copies are bf16, and whether tiles of matrices multiply these.
  [[nodiscard]] bool is_of_bf16() const { return tile.depth > 1; }
  [[nodiscard]] bool is_of_matrices() const { return tile.depth > kPair; }
  /// Bytes of a copied element, and how many along k are copied together.
  [[nodiscard]] std::int64_t element() const { return is_of_bf16() ? kBf16 : kFloat; }
  [[nodiscard]] std::int64_t packed_depth() const { return is_of_bf16() ? kPackedDepth : 1; }
};

Problem problem_of(const Kernel& kernel, std::size_t variant,
                   std::span<const std::int64_t> symbols) {
  const auto axis = [&](std::size_t from_last) {
    return elements(kernel.tasks[kernel.tasks.size() - from_last].extent, symbols);
  };
  Problem problem{kernel.blocking.tiles[variant], 1, axis(2), axis(1),
                  elements(kernel.blocking.depth, symbols)};
  // A symbolic row stands in front of the axes once more, as one tile.
  for (std::size_t i = 3; i <= kernel.tasks.size(); ++i) {
    const TaskAxis& outer = kernel.tasks[kernel.tasks.size() - i];
    problem.batch = times(problem.batch, ceil_divide(axis(i), outer.tile));
  }
  return problem;
}

/// As long as `most` allows, and all about equally long.
std::int64_t even_part(std::int64_t whole, std::int64_t most, std::int64_t multiple) {
  const std::int64_t parts = std::max<std::int64_t>(1, ceil_divide(whole, most));
  return std::max(multiple, round_up(ceil_divide(whole, parts), multiple));
}

/// That one multiply-add is of. Columns that are no power of two are vectors of a register each.
std::int64_t lanes_of_vector(const RegisterTile& tile) {
  const bool is_one_vector = (tile.columns & (tile.columns - 1)) == 0;
  return is_one_vector ? tile.lanes : tile.columns & -tile.columns;
}

/// What a contraction takes, cut in tasks for threads, in multiply-adds of a vector.
class Cuts {
 public:
  Cuts(const Problem& problem, const Blocking& blocking, std::int64_t cache, int thread_count)
      : p_(problem), threads_(thread_count) {
    const bool tiles = p_.is_of_matrices(), transposes = blocking.transposes;
    // Of a line that is gathered each run is found, of what a panel or a tile's row has of it. What
    // lies in memory is fetched; windows overlap.
    const auto reads = [&](std::int64_t neighbours, std::int64_t at_once, std::int64_t lines) {
      if (neighbours > 0) return kFinds * (1.0 / double(neighbours) + 1.0 / double(at_once));
      const double bytes = double(lines) * double(p_.depth) * double(p_.element());
      return bytes > double(cache) ? kFetches : 0.0;
    };
    product_ = 1.0 / (tiles ? kOfMatrices : double(lanes_of_vector(p_.tile) * p_.tile.depth));
    lhs_ = (tiles ? kPacks : kCopiesLhs) +
           reads(blocking.lhs_neighbours, tiles ? p_.tile.depth : kMostDepth, p_.rows);
    rhs_ = (tiles        ? kPacks
            : transposes ? kTransposesRhs
                         : kCopiesRhs) +
           reads(blocking.rhs_neighbours, p_.tile.columns, p_.columns);
    if (tiles && blocking.rhs >= 0) rhs_ = kReadsPacked;  // packed once for all tasks
  }

  [[nodiscard]] double tasks(std::int64_t rows, std::int64_t columns) const {
    return double(p_.batch) * double(ceil_divide(p_.rows, rows)) *
           double(ceil_divide(p_.columns, columns));
  }

  /// Until the last thread is done with tasks of `rows` by `columns`.
  [[nodiscard]] double time(std::int64_t rows, std::int64_t columns) const {
    const double count = tasks(rows, columns), rounds = std::ceil(count / threads_),
                 longest = time_of(double(std::min(rows, p_.rows)), double(columns), 1, 1),
                 all = double(p_.batch) * time_of(double(p_.rows), double(padded_columns()),
                                                  double(ceil_divide(p_.rows, rows)),
                                                  double(ceil_divide(p_.columns, columns)));
    return std::max(longest, rounds * all / count) + kWaits * longest;
  }

 private:
  [[nodiscard]] std::int64_t padded_columns() const {
    return round_up(p_.columns, p_.tile.columns);
  }
  /// Of so many rows and columns in parts: each part of rows copies rhs, each of columns lhs.
  [[nodiscard]] double time_of(double rows, double columns, double row_parts,
                               double column_parts) const {
    return double(p_.depth) *
           (rows * columns * product_ + rows * column_parts * lhs_ + columns * row_parts * rhs_);
  }

  Problem p_;
  int threads_;
  double product_, lhs_, rhs_;
};

/// Cuts tasks into smaller ones, no more than `most`, where those take least time of all.
void cut(CpuBlocks& task, const Problem& p, const Cuts& cuts, double most) {
  const CpuBlocks whole = task;
  double least = cuts.time(whole.rows, whole.columns);
  const std::int64_t row_tiles = ceil_divide(p.rows, p.tile.rows),
                     column_tiles = ceil_divide(p.columns, p.tile.columns);
  for (std::int64_t down = ceil_divide(p.rows, whole.rows); down <= row_tiles; ++down) {
    const std::int64_t rows = even_part(p.rows, ceil_divide(p.rows, down), p.tile.rows);
    if (cuts.tasks(rows, whole.columns) > most) break;
    for (std::int64_t across = ceil_divide(p.columns, whole.columns); across <= column_tiles;
         ++across) {
      const std::int64_t columns =
          even_part(p.columns, ceil_divide(p.columns, across), p.tile.columns);
      if (cuts.tasks(rows, columns) > most) break;
      const double time = cuts.time(rows, columns);
      if (time >= least) continue;
      least = time;
      task.rows = rows;
      task.columns = columns;
    }
  }
}

}  // namespace

std::uint64_t past_caches(std::span<const MemoryRange> arguments, const CacheSizes& caches) {
  constexpr std::int64_t kMostArguments = 64, kLineBytes = kLine * kFloat;
  const auto meet = [](const MemoryRange& a, const MemoryRange& b) {
    return a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
  };
  std::int64_t touched = 0;
  std::uint64_t alone = 0;
  for (std::size_t i = 0; i < arguments.size() && i < kMostArguments; ++i) {
    const MemoryRange& range = arguments[i];
    const auto met = [&](const MemoryRange& other) {
      return &other != &range && meet(range, other);
    };
    touched = plus(touched, range.bytes);
    if (reinterpret_cast<std::uintptr_t>(range.begin) % kLineBytes == 0 &&
        std::ranges::none_of(arguments, met))
      alone |= std::uint64_t{1} << i;
  }
  return touched / 2 > caches.last ? alone : 0;
}

BlockPlan plan_blocks(const Kernel& kernel, std::size_t variant,
                      std::span<const std::int64_t> symbols, const CpuBlocks& blocks) {
  const Problem p = problem_of(kernel, variant, symbols);
  const std::int64_t rows = round_up(blocks.rows, p.tile.rows),
                     columns = round_up(blocks.columns, p.tile.columns),
                     depth = round_up(blocks.depth, p.packed_depth()),
                     stride = p.is_of_bf16() ? 0 : kernel.blocking.stride;
  const auto floats = [](std::int64_t count) { return round_up(count, kLine); };
  const auto copies = [&](std::int64_t count) {
    return floats(ceil_divide(count * p.element(), kFloat));
  };
  BlockPlan plan;
  plan.blocks = {blocks.rows, blocks.columns, depth};
  plan.uses = ceil_divide(p.rows, blocks.rows);
  plan.tasks = times(times(p.batch, plan.uses), ceil_divide(p.columns, blocks.columns));
  plan.lhs = copies(stride > 0 ? rows * stride : rows / p.tile.rows * p.tile.lanes * depth);
  const bool one = kernel.blocking.transposes || p.is_of_bf16();
  plan.panel = copies(depth * std::min(columns, (one ? 1 : kPanels) * p.tile.columns));
  plan.sums = floats(depth < p.depth ? rows * columns : p.tile.rows * p.tile.columns);
  plan.lhs_sums = floats(rows + p.tile.columns);
  return plan;
}

BlockPlan plan_blocks(const Kernel& kernel, std::size_t variant,
                      std::span<const std::int64_t> symbols, const CacheSizes& caches,
                      int threads) {
  const Problem p = problem_of(kernel, variant, symbols);
  const Blocking& blocking = kernel.blocking;
  const std::int64_t width = p.tile.rows + p.tile.columns;
  std::int64_t most_depth =
      std::clamp(caches.first / (p.element() * width), std::int64_t{64}, kMostDepth);
  if (blocking.stride > 0 && !p.is_of_bf16()) {
    most_depth = std::min(most_depth, blocking.stride);
  }
  const std::int64_t step = std::max(kLine, p.packed_depth());
  const bool streams = p.rows <= kFewRows && !blocking.transposes && !p.is_of_bf16() &&
                       double(p.depth) * double(p.columns) * kFloat > double(caches.second);
  const std::int64_t depth =
      std::min(p.depth, streams ? kDepthInPlace : even_part(p.depth, most_depth, step));
  const std::int64_t most_rows =
      std::clamp(caches.second / 2 / (p.element() * depth), std::int64_t{p.tile.rows}, kRowsOfTask);
  CpuBlocks blocks;
  blocks.rows = even_part(p.rows, most_rows, p.tile.rows);
  blocks.columns = even_part(p.columns, kColumnsOfTask, p.tile.columns);
  const double work = double(p.batch) * double(p.rows) * double(p.columns) * double(p.depth);
  if (threads > 1 && work >= 2 * kWorthATask) {
    const double most = std::min(work / kWorthATask, double(kTasksPerThread) * threads);
    cut(blocks, p, Cuts(p, blocking, caches.second, threads), most);
  }
  blocks.depth = depth;
  return plan_blocks(kernel, variant, symbols, blocks);
}

PackingPlan plan_packing(const Kernel& kernel, std::size_t variant,
                         std::span<const std::int64_t> symbols) {
  const Problem p = problem_of(kernel, variant, symbols);
  const std::int64_t group = kPanels * p.tile.columns,
                     elements = times(round_up(p.columns, p.tile.columns),
                                      round_up(p.depth, p.packed_depth()));
  PackingPlan plan;
  plan.blocks = {.rows = p.tile.rows,
                 .columns = group,
                 .depth = round_up(p.depth, p.packed_depth()),
                 .panels = Panels::packing};
  plan.tasks = ceil_divide(p.columns, group);
  plan.bytes = round_up(times(elements, p.element()), kLine * kFloat);
  return plan;
}

bool is_worth_packing(const Kernel& kernel, std::size_t variant, const BlockPlan& plan) {
  return kernel.blocking.tiles[variant].depth > kPair && plan.uses > 1;
}

bool is_worth_keeping_packed(const Kernel& kernel, std::size_t variant,
                             std::span<const std::int64_t> symbols) {
  const Problem p = problem_of(kernel, variant, symbols);
  return p.is_of_bf16() || (kernel.blocking.transposes && p.rows <= kFewRows);
}

CpuBlocks BlockPlan::in(float* memory) const {
  CpuBlocks placed = blocks;
  placed.lhs = memory;
  placed.panel = placed.lhs + lhs;
  placed.sums = placed.panel + panel;
  placed.lhs_sums = placed.sums + sums;
  return placed;
}

}  // namespace halftone::manifest
