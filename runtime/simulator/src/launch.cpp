// SPDX-License-Identifier: Apache-2.0
// Blocks run one after another. One that only spins is put aside for the next, as long as the chip
// could hold both, so that blocks may wait for each other.
#include "launch.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

#include "scheduler.hpp"

namespace halftone::simulator {

namespace {

constexpr std::size_t kPlaneAlignment = 64;

std::uint64_t count(Dim3 size) { return std::uint64_t{size.x} * size.y * size.z; }

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

std::uint32_t rank_of(const Execution& launch, Dim3 block) {
  const Dim3 size = launch.cluster;
  return block.x % size.x + size.x * (block.y % size.y + size.y * (block.z % size.z));
}

class Maker {
 public:
  Maker(Execution& launch, const Variables& variables) : launch_(launch), variables_(variables) {}

  std::unique_ptr<Block> make(std::uint64_t number) {
    std::unique_ptr<Block> block;
    const bool is_new = spare_.empty();
    if (is_new) {
      block = std::make_unique<Block>();
    } else {
      block = std::move(spare_.back());
      spare_.pop_back();
    }
    const Kernel& kernel = launch_.kernel;
    block->number = number;
    block->index = position_in(number, launch_.grid);
    block->threads = static_cast<std::uint32_t>(count(launch_.block));
    block->barriers = {};
    block->async = {};
    block->cluster.clear();
    block->cluster_barrier = nullptr;
    block->rank = rank_of(launch_, block->index);
    block->shared.assign(launch_.dynamic_offset + launch_.dynamic_shared_bytes, std::byte{0xff});
    block->shared_set.assign(block->shared.size() / 8 + 1, 0);
    const std::uint32_t warps = (block->threads + 31) / 32;
    const std::size_t stride =
        (kernel.register_bytes + kPlaneAlignment - 1) / kPlaneAlignment * kPlaneAlignment;
    if (!block->register_memory)
      block->register_memory =
          std::make_unique_for_overwrite<std::byte[]>(stride * warps + kPlaneAlignment);
    auto base = reinterpret_cast<std::uintptr_t>(block->register_memory.get());
    base = (base + kPlaneAlignment - 1) / kPlaneAlignment * kPlaneAlignment;
    block->warps.resize(warps);
    for (std::uint32_t w = 0; w < warps; ++w)
      prepare(*block, block->warps[w], w, reinterpret_cast<std::byte*>(base) + w * stride, is_new);
    if (launch_.races) launch_.races->block_begins(*block);
    return block;
  }

  /// Its memory serves the next block.
  void take_back(std::unique_ptr<Block> block) { spare_.push_back(std::move(block)); }

 private:
  void prepare(const Block& block, Warp& warp, std::uint32_t index, std::byte* registers,
               bool is_new) {
    const Kernel& kernel = launch_.kernel;
    const std::uint32_t left = block.threads - index * 32;
    warp = Warp{};
    warp.index = index;
    warp.members = left >= 32 ? kAllLanes : (1u << left) - 1;
    warp.registers = registers;
    if (is_new) fill_constants(registers);  // nothing overwrites them
    for (const SpecialPlane& special : kernel.specials)
      for (std::uint32_t l = 0; l < 32; ++l)
        write(registers, special, l, value_of(special.special, block, index, l));
    if (kernel.local_bytes > 0) {
      warp.local.assign(std::size_t{32} * kernel.local_bytes, std::byte{0xff});
      warp.local_set.assign(warp.local.size() / 8 + 1, 0);
    }
    Group all;
    all.mask = warp.members;
    warp.groups.push_back(all);
  }

  void fill_constants(std::byte* registers) const {
    const Kernel& kernel = launch_.kernel;
    std::memset(registers, 0, kernel.register_bytes);
    for (const Literal& literal : kernel.literals)
      fill(registers, literal.place, literal.bytes, literal.bits);
    for (const Address& address : kernel.addresses) {
      const auto known = variables_.find(address.variable);
      const std::uint64_t at = known == variables_.end() ? launch_.dynamic_offset : known->second;
      fill(registers, address.place, address.bytes,
           at + static_cast<std::uint64_t>(address.offset));
    }
  }

  static void fill(std::byte* registers, std::uint32_t place, std::uint8_t bytes,
                   std::uint64_t bits) {
    if (bytes == 0) {
      *reinterpret_cast<std::uint32_t*>(registers + place) = static_cast<std::uint32_t>(bits);
    } else if (bytes == 4) {
      std::fill_n(reinterpret_cast<std::uint32_t*>(registers + place), 32,
                  static_cast<std::uint32_t>(bits));
    } else {
      std::fill_n(reinterpret_cast<std::uint64_t*>(registers + place), 32, bits);
    }
  }
  static void write(std::byte* registers, const SpecialPlane& s, std::uint32_t lane,
                    std::uint64_t value) {
    if (s.bytes == 4)
      reinterpret_cast<std::uint32_t*>(registers + s.place)[lane] =
          static_cast<std::uint32_t>(value);
    else
      reinterpret_cast<std::uint64_t*>(registers + s.place)[lane] = value;
  }

  std::uint64_t value_of(Special special, const Block& block, std::uint32_t warp,
                         std::uint32_t lane) const {
    const Dim3 thread = position_in(warp * 32 + lane, launch_.block);
    switch (special) {
      case Special::tid_x:
        return thread.x;
      case Special::tid_y:
        return thread.y;
      case Special::tid_z:
        return thread.z;
      case Special::ntid_x:
        return launch_.block.x;
      case Special::ntid_y:
        return launch_.block.y;
      case Special::ntid_z:
        return launch_.block.z;
      case Special::ctaid_x:
        return block.index.x;
      case Special::ctaid_y:
        return block.index.y;
      case Special::ctaid_z:
        return block.index.z;
      case Special::nctaid_x:
        return launch_.grid.x;
      case Special::nctaid_y:
        return launch_.grid.y;
      case Special::nctaid_z:
        return launch_.grid.z;
      case Special::laneid:
        return lane;
      case Special::warpid:
        return warp;
      case Special::nwarpid:
        return (block.threads + 31) / 32;
      case Special::smid:
        return block.number % static_cast<std::uint64_t>(launch_.chip.multiprocessors);
      case Special::nsmid:
        return static_cast<std::uint64_t>(launch_.chip.multiprocessors);
      case Special::lanemask_eq:
        return 1u << lane;
      case Special::lanemask_le:
        return (2ull << lane) - 1;
      case Special::lanemask_lt:
        return (1ull << lane) - 1;
      case Special::lanemask_ge:
        return kAllLanes & ~((1ull << lane) - 1);
      case Special::lanemask_gt:
        return kAllLanes & ~((2ull << lane) - 1);
      case Special::dynamic_smem_size:
        return launch_.dynamic_shared_bytes;
      case Special::total_smem_size:
        return block.shared.size();
      case Special::clusterid_x:
        return block.index.x / launch_.cluster.x;
      case Special::clusterid_y:
        return block.index.y / launch_.cluster.y;
      case Special::clusterid_z:
        return block.index.z / launch_.cluster.z;
      case Special::nclusterid_x:
        return launch_.grid.x / launch_.cluster.x;
      case Special::nclusterid_y:
        return launch_.grid.y / launch_.cluster.y;
      case Special::nclusterid_z:
        return launch_.grid.z / launch_.cluster.z;
      case Special::cluster_ctaid_x:
        return block.index.x % launch_.cluster.x;
      case Special::cluster_ctaid_y:
        return block.index.y % launch_.cluster.y;
      case Special::cluster_ctaid_z:
        return block.index.z % launch_.cluster.z;
      case Special::cluster_nctaid_x:
        return launch_.cluster.x;
      case Special::cluster_nctaid_y:
        return launch_.cluster.y;
      case Special::cluster_nctaid_z:
        return launch_.cluster.z;
      case Special::cluster_ctarank:
        return block.rank;
      case Special::cluster_nctarank:
        return count(launch_.cluster);
      default:
        return 0;
    }
  }

  Execution& launch_;
  const Variables& variables_;
  std::vector<std::unique_ptr<Block>> spare_;
};

/// The blocks of a cluster, which run side by side; or one block.
struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;
};

Cluster make_cluster(Maker& maker, const Execution& launch, std::uint64_t number) {
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

/// Copies that nobody waited for: their block's shared memory is gone before they arrive.
void report_left_over(Execution& launch, const Block& block) {
  for (const AsyncJob& job : block.async.jobs) {
    Finding finding;
    finding.kind = Kind::unfinished;
    finding.kernel = launch.kernel.name;
    set_lines(finding, launch.kernel, *job.instruction);
    finding.block = block.index;
    finding.thread = job.thread;
    finding.detail = "the block ended before anybody waited for the mbarrier that it completes on";
    launch.findings.add(std::move(finding));
  }
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

}  // namespace

namespace {

/// How many clusters the chip can hold at once.
std::uint64_t resident_clusters(const Execution& launch) {
  const auto threads = static_cast<std::uint32_t>((count(launch.block) + 31) / 32 * 32);
  const std::uint32_t each =
      std::max<std::uint32_t>(1, std::min(launch.chip.blocks_per_multiprocessor,
                                          launch.chip.threads_per_multiprocessor / threads));
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(launch.chip.multiprocessors) * each / count(launch.cluster));
}

/// Runs clusters that `next` hands out until there are none, or a fault ends the launch.
void run_clusters(Execution& launch, const Variables& variables, std::atomic<std::uint64_t>& next) {
  Maker maker(launch, variables);
  std::deque<Cluster> active;
  const std::uint64_t clusters = count(launch.grid) / count(launch.cluster),
                      resident = resident_clusters(launch);
  std::uint64_t stuck = 0;  // turns since anything changed
  const auto take_next = [&] {
    const std::uint64_t number = next.fetch_add(1);
    if (number >= clusters) return false;
    active.push_front(make_cluster(maker, launch, number));
    stuck = 0;
    return true;
  };
  const auto give_up = [&](Kind kind) {
    launch.stopped = true;
    for (const auto& block : active.front().blocks)
      if (!block->done()) return report_deadlock(launch, *block, kind);
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
    // Nothing can run, and other clusters cannot help. Or all only spin.
    const bool spins = outcome.spent && stuck > 4 * active.size() + 64;
    if (!outcome.spent || spins) {
      give_up(spins ? Kind::no_progress : Kind::deadlock);
      return;
    }
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
  std::atomic<std::uint64_t> next = 0;
  // What is known of bytes is not kept per host thread, and blocks that talk need one order.
  const bool alone = launch.options.check || launch.kernel.orders_blocks ||
                     launch.kernel.uses_clusters || launch.options.seed != 0;
  const std::uint64_t threads =
      alone ? 1 : std::min<std::uint64_t>(launch.options.threads, count(launch.grid));
  std::vector<Execution> shares;
  shares.reserve(threads);
  std::vector<std::thread> helpers;
  for (std::uint64_t t = 1; t < threads; ++t) {
    shares.push_back(share_of(launch));
    helpers.emplace_back([&, share = &shares.back()] { run_clusters(*share, variables, next); });
  }
  run_clusters(launch, variables, next);
  for (std::thread& helper : helpers) helper.join();
  for (Execution& share : shares) {
    launch.counters += share.counters;
    launch.findings.merge(share.findings);
  }
  if (!launch.options.check) launch.memory.trust_everything();
}

}  // namespace halftone::simulator
