// SPDX-License-Identifier: Apache-2.0
#include "halftone/manifest/blocks.hpp"

#include <algorithm>

#include "halftone/manifest/plan.hpp"
#include "sizes.hpp"

namespace halftone::manifest {
namespace {

constexpr std::int64_t kFloat = sizeof(float), kBf16 = 2, kLine = 16;  // floats of a cache line
constexpr std::int64_t kRowsOfTask = 512, kColumnsOfTask = 1024, kMostDepth = 512;
/// Multiply-adds that are worth a task of their own, and tasks that a thread may get.
constexpr double kWorthATask = 2e6;
constexpr std::int64_t kTasksPerThread = 4;
/// Copying an element of lhs, and of rhs along its rows or across them, in multiply-adds of a
/// vector.
constexpr double kCopiesLhs = 0.15, kCopiesRhs = 0.15, kTransposesRhs = 0.6;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }
std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_divide(a, b) * b; }

struct Problem {
  RegisterTile tile;
  std::int64_t batch, rows, columns, depth;

  [[nodiscard]] bool is_of_matrices() const { return tile.depth > 1; }
  /// Bytes of a copied element.
  [[nodiscard]] std::int64_t element() const { return is_of_matrices() ? kBf16 : kFloat; }
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
                     depth = round_up(blocks.depth, p.tile.depth),
                     stride = p.is_of_matrices() ? 0 : kernel.blocking.stride;
  const auto floats = [](std::int64_t count) { return round_up(count, kLine); };
  const auto copies = [&](std::int64_t count) {
    return floats(ceil_divide(count * p.element(), kFloat));
  };
  BlockPlan plan;
  plan.blocks = {blocks.rows, blocks.columns, depth};
  plan.uses = ceil_divide(p.rows, blocks.rows);
  plan.tasks = times(times(p.batch, plan.uses), ceil_divide(p.columns, blocks.columns));
  plan.lhs = copies(stride > 0 ? rows * stride : rows / p.tile.rows * p.tile.lanes * depth);
  const bool one = kernel.blocking.transposes || p.is_of_matrices();
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
  if (blocking.stride > 0 && !p.is_of_matrices()) {
    most_depth = std::min(most_depth, blocking.stride);
  }
  const std::int64_t step = std::max<std::int64_t>(kLine, p.tile.depth);
  const bool streams = p.rows <= kFewRows && !blocking.transposes && !p.is_of_matrices() &&
                       double(p.depth) * double(p.columns) * kFloat > double(caches.second);
  const std::int64_t depth =
      std::min(p.depth, streams ? kDepthInPlace : even_part(p.depth, most_depth, step));
  const std::int64_t most_rows =
      std::clamp(caches.second / 2 / (p.element() * depth), std::int64_t{p.tile.rows}, kRowsOfTask);
  std::int64_t row_parts = ceil_divide(p.rows, most_rows),
               column_parts = ceil_divide(p.columns, kColumnsOfTask);
  const double work = double(p.batch) * double(p.rows) * double(p.columns) * double(p.depth);
  const auto wanted = static_cast<std::int64_t>(
      std::min(work / kWorthATask, double(threads > 1 ? kTasksPerThread * threads : 1)));
  const double copies_rhs = blocking.transposes ? kTransposesRhs : kCopiesRhs;
  while (times(times(p.batch, row_parts), column_parts) < wanted) {
    const bool can_cut_rows = row_parts * p.tile.rows < p.rows,
               can_cut_columns = column_parts * p.tile.columns < p.columns;
    if (!can_cut_rows && !can_cut_columns) break;
    const bool cheaper = double(p.rows) * kCopiesLhs <= double(p.columns) * copies_rhs;
    if (can_cut_columns && (cheaper || !can_cut_rows)) {
      ++column_parts;
    } else {
      ++row_parts;
    }
  }
  CpuBlocks blocks;
  blocks.rows = even_part(p.rows, ceil_divide(p.rows, row_parts), p.tile.rows);
  blocks.columns = even_part(p.columns, ceil_divide(p.columns, column_parts), p.tile.columns);
  blocks.depth = depth;
  return plan_blocks(kernel, variant, symbols, blocks);
}

PackingPlan plan_packing(const Kernel& kernel, std::size_t variant,
                         std::span<const std::int64_t> symbols) {
  const Problem p = problem_of(kernel, variant, symbols);
  const std::int64_t group = kPanels * p.tile.columns,
                     elements = times(round_up(p.columns, p.tile.columns),
                                      round_up(p.depth, p.tile.depth));
  PackingPlan plan;
  plan.blocks = {.rows = p.tile.rows,
                 .columns = group,
                 .depth = round_up(p.depth, p.tile.depth),
                 .panels = Panels::packing};
  plan.tasks = ceil_divide(p.columns, group);
  plan.bytes = round_up(times(elements, p.element()), kLine * kFloat);
  return plan;
}

bool is_worth_packing(const Kernel& kernel, std::size_t variant, const BlockPlan& plan) {
  return kernel.blocking.tiles[variant].depth > 1 && plan.uses > 1;
}

bool is_worth_keeping_packed(const Kernel& kernel, std::size_t variant,
                             std::span<const std::int64_t> symbols) {
  const Problem p = problem_of(kernel, variant, symbols);
  return p.is_of_matrices() || (kernel.blocking.transposes && p.rows <= kFewRows);
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
