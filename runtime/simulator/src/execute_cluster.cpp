// SPDX-License-Identifier: Apache-2.0
// Clusters: mapa and getctarank (PTX ISA 9.0, 9.7.9.22, 9.7.9.23), barrier.cluster (9.7.13.4).
#include <bit>
#include <span>

#include "async_work.hpp"
#include "lanes.hpp"
#include "shared_target.hpp"

namespace halftone::simulator {

namespace {

/// mapa{.shared::cluster}.type d, a, b. T: of d and a; generic addresses keep their window.
template <class T>
void run_mapa(Context& c, const Instruction& i) {
  const T* from = c.plane<T>(i.at[1]);
  const std::uint32_t* rank = c.plane(i.at[2]);
  T* to = c.plane<T>(i.at[0]);
  const std::uint64_t window = i.variant == 1 ? kSharedWindow : 0;
  each_lane(c.mask, [&](std::uint32_t l) {
    const std::uint32_t blocks =
        std::max<std::uint32_t>(1, static_cast<std::uint32_t>(c.block.cluster.size()));
    if (rank[l] >= blocks)
      c.report(Kind::invalid, i, l, {},
               "the cluster has " + std::to_string(blocks) + " blocks, none of rank " +
                   std::to_string(rank[l]));
    const std::uint32_t own = shared_target(c, from[l] + static_cast<T>(i.offset)).address;
    const std::uint64_t above =
        c.block.cluster.empty() ? 0 : std::uint64_t{rank[l] + 1} << kRankShift;
    to[l] = static_cast<T>(window + above + own);
  });
}

template <class T>
void run_rank(Context& c, const Instruction& i) {
  const T* from = c.plane<T>(i.at[1]);
  each_lane(c.mask, [&](std::uint32_t l) {
    const SharedTarget at = shared_target(c, from[l]);
    c.plane(i.at[0])[l] = at.block ? at.block->rank : kNone;
  });
}

void decode_mapa(Decoder& d) {
  Instruction& i = d.instruction;
  const std::uint8_t bytes = bytes_of(d.type());
  const bool wide = bytes == 8, rank = d.words[0] == "getctarank";
  i.variant = !d.has("shared::cluster");
  if (rank)
    i.run = wide ? run_rank<std::uint64_t> : run_rank<std::uint32_t>;
  else
    i.run = wide ? run_mapa<std::uint64_t> : run_mapa<std::uint32_t>;
  i.at[0] = d.destination(0, rank ? 4 : bytes);
  // A register, or the name of a shared variable, with an offset.
  i.at[1] = d.source(1, bytes);
  i.offset = 0;
  if (!rank) i.at[2] = d.source(2, 4);
}

/// The blocks of its cluster, or itself.
std::vector<RacingBlock*> racing_blocks(const Block& block) {
  if (block.cluster.empty()) return {block.racing.get()};
  std::vector<RacingBlock*> racing;
  for (const Block* each : block.cluster) racing.push_back(each->racing.get());
  return racing;
}

/// Whether there are threads that have not ended, and all of them arrived; the others do not count:
/// PTX ISA 9.0, 9.7.13.4.
bool all_arrived(std::span<Block* const> blocks, std::uint32_t phase) {
  bool any = false;
  for (const Block* block : blocks)
    for (const Warp& warp : block->warps)
      for (std::uint32_t left = warp.members & ~warp.exited; left != 0; left &= left - 1) {
        if (warp.cluster_phase[static_cast<std::uint32_t>(std::countr_zero(left))] != phase)
          return false;
        any = true;
      }
  return any;
}

void run_arrive(Context& c, const Instruction& i) {
  if (!c.block.cluster_barrier) c.block.cluster_barrier = std::make_shared<ClusterBarrier>();
  ClusterBarrier& barrier = *c.block.cluster_barrier;
  each_lane(c.mask, [&](std::uint32_t l) {
    if (c.warp.cluster_phase[l] == barrier.phase + 1)
      return c.report(Kind::misused_barrier, i, l, {},
                      "the thread arrives at the cluster's barrier twice in one phase");
    c.warp.cluster_phase[l] = barrier.phase + 1;
  });
  if (c.launch.races && i.variant == 0)
    c.launch.races->detector().cluster_arrive(c.launch.races->lanes(c, i), racing_blocks(c.block));
  try_cluster_barrier(c.launch, c.block);
}

void run_wait(Context& c, const Instruction& i) {
  const ClusterBarrier* const barrier = c.block.cluster_barrier.get();
  bool waits = false;
  each_lane(c.mask, [&](std::uint32_t l) {
    if (!barrier || c.warp.cluster_phase[l] == 0)
      c.report(Kind::misused_barrier, i, l, {},
               "the thread waits at the cluster's barrier without having arrived");
    else
      waits = waits || c.warp.cluster_phase[l] == barrier->phase + 1;
  });
  if (!waits) {
    if (c.launch.races) c.launch.races->detector().cluster_wait(c.launch.races->lanes(c, i));
    return;
  }
  c.group.state = Group::State::object;
  c.group.object = reinterpret_cast<std::uint64_t>(barrier);
  c.blocked = true;
}

constexpr Opcode kOpcodes[] = {{"mapa", decode_mapa}, {"getctarank", decode_mapa}};

}  // namespace

std::span<const Opcode> cluster_opcodes() { return kOpcodes; }

void decode_cluster_barrier(Decoder& d) {
  Instruction& i = d.instruction;
  if (d.has("arrive")) {
    i.run = run_arrive;
    i.variant = d.has("relaxed");  // orders nothing
  } else if (d.has("wait")) {
    i.run = run_wait;
    i.flow = Flow::wait;
  } else {
    d.unknown();
  }
}

bool try_cluster_barrier(Execution& launch, Block& block) {
  if (!block.cluster_barrier) return false;
  ClusterBarrier& barrier = *block.cluster_barrier;
  std::vector<Block*> blocks = block.cluster;
  if (blocks.empty()) blocks.push_back(&block);
  if (!all_arrived(blocks, barrier.phase + 1)) return false;
  ++barrier.phase;
  if (launch.races) launch.races->detector().cluster_complete(racing_blocks(block));
  for (Block* each : blocks)
    for (Warp& warp : each->warps)
      for (Group& group : warp.groups)
        if (group.state == Group::State::object &&
            group.object == reinterpret_cast<std::uint64_t>(&barrier))
          group.state = Group::State::ready;
  return true;
}

}  // namespace halftone::simulator
