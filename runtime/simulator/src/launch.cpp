// SPDX-License-Identifier: Apache-2.0
// Blocks run one after another, in ascending order or one that the seed chooses. One that only
// spins is put aside for the next, as long as the chip could hold both, so that blocks may wait for
// each other.
#include "launch.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <numeric>
#include <optional>
#include <span>
#include <thread>

#include "block_maker.hpp"
#include "scheduler.hpp"

namespace halftone::simulator {

namespace {

bool within_limits(Execution& launch) {
  const std::uint64_t threads = count(launch.block);
  const Kernel& kernel = launch.kernel;
  const std::uint64_t shared =
      std::uint64_t{kernel.static_shared_bytes} + launch.dynamic_shared_bytes;
  std::string why;
  if (threads == 0 || count(launch.grid) == 0)
    why = "the grid or the block is empty";
  else if (threads > launch.chip.threads_per_block || launch.block.z > 64)
    why = "a block of " + std::to_string(threads) + " threads is larger than " +
          std::to_string(launch.chip.threads_per_block);
  else if (kernel.most_threads != 0 && threads > kernel.most_threads)
    why = "a block of " + std::to_string(threads) + " threads is larger than its launch bounds, " +
          std::to_string(kernel.most_threads);
  else if (kernel.static_shared_bytes > launch.chip.static_shared_bytes)
    why = std::to_string(kernel.static_shared_bytes) +
          " bytes of static shared memory are more than " +
          std::to_string(launch.chip.static_shared_bytes);
  else if (shared > launch.chip.shared_bytes_per_block)
    why = std::to_string(shared) + " bytes of shared memory are more than " +
          std::string(launch.chip.name) + "'s " +
          std::to_string(launch.chip.shared_bytes_per_block);
  else if (launch.grid.y > 65535 || launch.grid.z > 65535 || launch.grid.x > 2147483647u)
    why = "the grid is larger than 2147483647 x 65535 x 65535";
  if (why.empty()) return true;
  Finding finding;
  finding.kind = Kind::launch_limit;
  finding.kernel = kernel.name;
  finding.detail = why;
  launch.findings.add(std::move(finding));
  return false;
}

/// The blocks of a cluster, which run side by side; or one block.
struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;
};

Cluster make_cluster(BlockMaker& maker, const Execution& launch, std::uint64_t number) {
  const Dim3 size = launch.cluster, grid = launch.grid;
  const Dim3 at = position_in(number, {grid.x / size.x, grid.y / size.y, grid.z / size.z});
  Cluster cluster;
  for (std::uint64_t rank = 0; rank < count(size); ++rank) {
    const Dim3 in = position_in(rank, size);
    const std::uint64_t x = at.x * size.x + in.x, y = at.y * size.y + in.y,
                        z = at.z * size.z + in.z;
    cluster.blocks.push_back(maker.make((z * grid.y + y) * grid.x + x));
  }
  if (cluster.blocks.size() == 1) return cluster;
  const auto barrier = std::make_shared<ClusterBarrier>();
  for (auto& block : cluster.blocks) {
    for (auto& other : cluster.blocks) block->cluster.push_back(other.get());
    block->cluster_barrier = barrier;
  }
  return cluster;
}

/// Asynchronous work is done when no thread can run without it.
BlockOutcome run_cluster(Execution& launch, Cluster& cluster) {
  while (!launch.stopped) {
    bool done = true, ran = false, spent = false;
    for (auto& block : cluster.blocks) {
      if (block->done()) continue;
      const BlockOutcome outcome = run_block(launch, *block);
      if (outcome.done && launch.races && !launch.stopped && cluster.blocks.size() > 1)
        launch.races->detector().block_ends(*block->racing);
      done = done && outcome.done;
      spent = spent || outcome.spent;
      ran = ran || outcome.ran || outcome.done;
    }
    if (done) return {true};
    if (spent) return {false, true};
    if (ran) continue;
    Block& first = *cluster.blocks.front();
    if (try_cluster_barrier(launch, first) || do_one_job(launch, first)) continue;
    if (std::ranges::none_of(cluster.blocks,
                             [&](auto& block) { return run_divergent(launch, *block); }))
      return {};
  }
  return {true};
}

/// Copies that nobody waited for: their block's shared memory may be gone before they arrive,
/// whether or not they were done here.
void report_left_over(Execution& launch, const Block& block) {
  constexpr const char* kNobodyWaited =
      "the block ended before anybody waited for the mbarrier that it completes on";
  const auto report = [&](const Instruction& instruction, std::uint32_t thread,
                          const char* detail) {
    Finding finding;
    finding.kind = Kind::unfinished;
    finding.kernel = launch.kernel.name;
    set_lines(finding, launch.kernel, instruction);
    finding.block = block.index;
    finding.thread = thread;
    finding.detail = detail;
    launch.findings.add(std::move(finding));
  };
  const auto report_all = [&](std::span<const Unawaited> left) {
    for (const Unawaited& work : left) report(*work.instruction, work.thread, kNobodyWaited);
  };
  for (const AsyncJob& job : block.async.jobs) report(*job.instruction, job.thread, kNobodyWaited);
  for (const auto& [address, mbarrier] : block.async.mbarriers) report_all(mbarrier.unawaited);
  report_all(block.async.unawaited);
  each_left_over(block, report);
}

bool clusters_fit(Execution& launch) {
  const Dim3 size = launch.cluster;
  std::string why;
  if (count(size) > 1 && !launch.chip.clusters())
    why = std::string(launch.chip.name) + " has no clusters";
  else if (count(size) == 0 || count(size) > 16)
    why = "a cluster of " + std::to_string(count(size)) + " blocks; there can be 1 to 16";
  else if (launch.grid.x % size.x != 0 || launch.grid.y % size.y != 0 ||
           launch.grid.z % size.z != 0)
    why = "the grid is no multiple of the cluster";
  if (why.empty()) return true;
  Finding finding;
  finding.kind = Kind::launch_limit;
  finding.kernel = launch.kernel.name;
  finding.detail = why;
  launch.findings.add(std::move(finding));
  return false;
}

/// How many clusters the chip can hold at once.
std::uint64_t resident_clusters(const Execution& launch) {
  const auto threads = static_cast<std::uint32_t>((count(launch.block) + 31) / 32 * 32);
  const std::uint32_t each =
      std::max<std::uint32_t>(1, std::min(launch.chip.blocks_per_multiprocessor,
                                          launch.chip.threads_per_multiprocessor / threads));
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(launch.chip.multiprocessors) * each / count(launch.cluster));
}

void give_up(Execution& launch, const Cluster& cluster, Kind kind) {
  for (const auto& block : cluster.blocks) {
    if (block->done()) continue;
    report_deadlock(launch, *block, kind);
    launch.stopped = true;
    return;
  }
}

/// Hands out the numbers of clusters, each once: ascending, or with a seed in steps of a number
/// that has no divisor in common with theirs.
class ClusterOrder {
 public:
  ClusterOrder(std::uint64_t clusters, std::uint64_t seed) : clusters_(clusters) {
    if (seed == 0) return;
    first_ = next_random(seed) % clusters;
    do {
      step_ = 1 + next_random(seed) % clusters;
    } while (std::gcd(step_, clusters) != 1);
  }

  std::optional<std::uint64_t> next() {
    const std::uint64_t given = given_.fetch_add(1);
    if (given >= clusters_) return std::nullopt;
    using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((first_ + static_cast<Wide>(given) * step_) % clusters_);
  }

 private:
  const std::uint64_t clusters_;
  std::uint64_t first_ = 0, step_ = 1;
  std::atomic<std::uint64_t> given_ = 0;
};

/// Runs clusters that `order` hands out until there are none, or a fault ends the launch.
void run_clusters(Execution& launch, const Variables& variables, ClusterOrder& order) {
  BlockMaker maker(launch, variables);
  std::deque<Cluster> active;
  const std::uint64_t resident = resident_clusters(launch);
  std::uint64_t stuck = 0;  // turns since anything changed
  const auto take_next = [&] {
    const auto number = order.next();
    if (!number) return false;
    active.push_front(make_cluster(maker, launch, *number));
    stuck = 0;
    return true;
  };
  while (!launch.stopped) {
    if (active.empty() && !take_next()) return;
    if (stuck > 0 && active.size() < resident) take_next();
    launch.findings.block_number = active.front().blocks.front()->number;
    const std::uint64_t before = launch.progress;
    const BlockOutcome outcome = run_cluster(launch, active.front());
    if (outcome.done) {
      for (auto& block : active.front().blocks) {
        if (!launch.stopped && launch.options.check) report_left_over(launch, *block);
        maker.take_back(std::move(block));
      }
      active.pop_front();
      stuck = 0;
      continue;
    }
    // Nothing can run: other clusters cannot help. Or all only spin.
    if (!outcome.spent) return give_up(launch, active.front(), Kind::deadlock);
    if (stuck > 2 * active.size() + 16) return give_up(launch, active.front(), Kind::no_progress);
    stuck = launch.progress == before ? stuck + 1 : 1;
    active.push_back(std::move(active.front()));
    active.pop_front();
  }
}

/// One host thread's copy of a launch.
Execution share_of(const Execution& launch) {
  return {.kernel = launch.kernel,
          .memory = launch.memory,
          .chip = launch.chip,
          .options = launch.options,
          .grid = launch.grid,
          .block = launch.block,
          .cluster = launch.cluster,
          .dynamic_shared_bytes = launch.dynamic_shared_bytes,
          .dynamic_offset = launch.dynamic_offset,
          .parameters = launch.parameters,
          .findings = Findings(launch.options.max_findings),
          .counters = {},
          .races = nullptr};
}

}  // namespace

void run_launch(Execution& launch, const Variables& variables) {
  if (!within_limits(launch) || !clusters_fit(launch)) return;
  const std::uint32_t alignment = std::max(launch.kernel.dynamic_alignment, 16u);
  launch.dynamic_offset =
      (launch.kernel.static_shared_bytes + alignment - 1) / alignment * alignment;
  launch.random = launch.options.seed;
  ClusterOrder order(count(launch.grid) / count(launch.cluster), launch.options.seed);
  // What is known of bytes is not kept per host thread, and blocks that talk need one order.
  const bool alone = launch.options.check || launch.kernel.orders_blocks ||
                     count(launch.cluster) > 1 || launch.options.seed != 0;
  const std::uint64_t threads =
      alone ? 1 : std::min<std::uint64_t>(launch.options.threads, count(launch.grid));
  std::vector<Execution> shares;
  shares.reserve(threads);
  std::vector<std::thread> helpers;
  for (std::uint64_t t = 1; t < threads; ++t) {
    shares.push_back(share_of(launch));
    helpers.emplace_back([&, share = &shares.back()] { run_clusters(*share, variables, order); });
  }
  run_clusters(launch, variables, order);
  for (std::thread& helper : helpers) helper.join();
  for (Execution& share : shares) {
    launch.counters += share.counters;
    launch.findings.merge(share.findings);
  }
  if (!launch.options.check) launch.memory.trust_everything();
}

}  // namespace halftone::simulator
