// SPDX-License-Identifier: Apache-2.0
// Barriers of a block: who waits is let go, and knows what the others did before.
#include "scheduler.hpp"

namespace halftone::simulator {

namespace {

/// Tells who meets at a barrier: every thread of the block, or some. Threads that have ended did
/// not meet anybody.
void order_accesses(Execution& launch, Block& block, std::uint32_t number) {
  std::vector<Lanes> waiters;
  bool everybody = true;
  for (const Warp& warp : block.warps) {
    std::uint32_t here = 0;
    for (const Group& group : warp.groups)
      if (group.state == Group::State::barrier && group.barrier == number) here |= group.mask;
    everybody = everybody && here == warp.members;
    if (here != 0) waiters.push_back({*block.racing, warp.index, here, 0});
  }
  RaceDetector& detector = launch.races->detector();
  if (everybody)
    detector.block_barrier(*block.racing);
  else
    detector.named_complete(*block.racing, number, waiters);
}

}  // namespace

void let_go(Execution& launch, Block& block, std::uint32_t number) {
  Barrier& barrier = block.barriers[number];
  if (launch.races) order_accesses(launch, block, number);
  for (Warp& warp : block.warps)
    for (Group& group : warp.groups) {
      if (group.state != Group::State::barrier || group.barrier != number) continue;
      const Instruction& i = launch.kernel.code[group.pc];
      if (i.variant >= 2) {  // bar.red
        const std::uint32_t all = barrier.conjunction ? kAllLanes : 0,
                            any = barrier.disjunction ? kAllLanes : 0;
        if (i.variant == 2) {
          auto* to = reinterpret_cast<std::uint32_t*>(warp.registers + i.at[3]);
          each_lane(group.mask, [&](std::uint32_t l) { to[l] = barrier.population; });
        } else {
          auto& p = *reinterpret_cast<std::uint32_t*>(warp.registers + i.at[3]);
          p = (p & ~group.mask) | ((i.variant == 3 ? all : any) & group.mask);
        }
      }
      group.state = Group::State::ready;
      ++group.pc;
    }
  ++launch.counters.barriers;
  ++launch.progress;
  barrier = {};
}

}  // namespace halftone::simulator
