// SPDX-License-Identifier: Apache-2.0
#include "scheduler.hpp"

#include <algorithm>

#include "async.hpp"
#include "warp_run.hpp"

namespace halftone::simulator {

namespace {

/// Instructions that a warp runs before another one's turn: lanes may wait for other warps in a
/// loop, and for other blocks.
constexpr std::uint64_t kWarpShare = 1u << 16;
constexpr std::uint64_t kGroupShare = 1u << 12;
constexpr std::uint64_t kBlockRounds = 16;

}  // namespace

bool WarpRun::run() {
  std::uint64_t end = warp_.executed + kWarpShare;
  if (launch_.options.seed != 0) end = warp_.executed + 1 + next_random(launch_.random) % 256;
  bool ran = false;
  while (warp_.executed < end && !launch_.stopped) {
    const std::size_t at = choose();
    if (at == kNowhere) break;
    ran |= run_group(at, end);
  }
  return ran;
}

std::size_t WarpRun::choose() {
  std::size_t best = kNowhere;
  for (std::size_t i = 0; i < warp_.groups.size(); ++i) {
    const Group& group = warp_.groups[i];
    if (group.state != Group::State::ready) continue;
    if (best == kNowhere || group.pc < warp_.groups[best].pc) best = i;
  }
  if (best == kNowhere || warp_.groups.size() == 1) return best;
  if (launch_.options.seed != 0 && next_random(launch_.random) % 4 == 0) {
    const std::size_t i = next_random(launch_.random) % warp_.groups.size();
    if (warp_.groups[i].state == Group::State::ready) return i;
  }
  if (++turns_ % kTurns == 0) {  // not only the lowest: a lane may spin until another one has run
    const std::size_t count = warp_.groups.size();
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i = (turns_ / kTurns + k) % count;
      if (warp_.groups[i].state == Group::State::ready) return i;
    }
  }
  return best;
}

void WarpRun::merge() {
  auto& groups = warp_.groups;
  for (std::size_t a = 0; a < groups.size(); ++a)
    for (std::size_t b = a + 1; b < groups.size();) {
      const bool movable = can_join(groups[a]) && can_join(groups[b]);
      if (movable && groups[a].pc == groups[b].pc && groups[a].returns == groups[b].returns) {
        groups[a].mask |= groups[b].mask;
        groups[a].state = Group::State::ready;
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(b));
      } else {
        ++b;
      }
    }
}

std::uint32_t WarpRun::meeting(std::size_t at) const {
  std::uint32_t lowest = kNone;
  for (std::size_t i = 0; i < warp_.groups.size(); ++i)
    if (i != at && can_join(warp_.groups[i]) && warp_.groups[i].pc > warp_.groups[at].pc)
      lowest = std::min(lowest, warp_.groups[i].pc);
  return lowest;
}

bool WarpRun::run_group(std::size_t at, std::uint64_t end) {
  const Instruction* const code = launch_.kernel.code.data();
  Group& group = warp_.groups[at];
  const bool alone = warp_.groups.size() == 1;
  const std::uint32_t meet = alone ? kNone : meeting(at);
  if (!alone) end = std::min(end, warp_.executed + kGroupShare);
  Context context{warp_.registers, group.mask, warp_, block_, launch_, group};
  std::uint64_t thread_instructions = 0;
  const auto lanes = static_cast<std::uint64_t>(std::popcount(group.mask));
  const std::uint64_t before = warp_.executed;
  std::uint32_t pc = group.pc;
  bool again = true;
  while (again && warp_.executed < end) {
    const Instruction& i = code[pc];
    std::uint32_t mask = group.mask;
    if (i.guard != kNone) {
      const std::uint32_t p = *reinterpret_cast<const std::uint32_t*>(warp_.registers + i.guard);
      mask &= i.guard_negated ? ~p : p;
    }
    ++warp_.executed;
    thread_instructions +=
        i.guard == kNone ? lanes : static_cast<std::uint64_t>(std::popcount(mask));
    if (!warp_.wgmma.sums.empty()) {
      context.mask = mask;
      check_registers(context, i);
    }
    if (!warp_.tensor_loads.empty()) {
      context.mask = mask;
      check_tensor_loads(context, i);
    }
    if (i.flow == Flow::straight) {
      if (mask != 0) {
        context.mask = mask;
        i.run(context, i);
      }
      if (++pc == meet) again = false;
      continue;
    }
    group.pc = pc;
    again = flow(at, i, mask, context);
    if (!again) break;
    pc = group.pc;
    if (pc == meet) again = false;
  }
  if (again || pc == meet) {
    // The group is still where it was in the list: nothing diverged.
    warp_.groups[at].pc = pc;
  }
  launch_.counters.thread_instructions += thread_instructions;
  launch_.counters.warp_instructions += warp_.executed - before;
  if (warp_.groups.size() > 1) merge();
  return warp_.executed != before;
}

bool WarpRun::flow(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context) {
  Group& group = warp_.groups[at];
  switch (i.flow) {
    case Flow::branch:
      return branch(at, i.target, mask);
    case Flow::indexed:
      return indexed(at, i, mask, context);
    case Flow::call:
      return call(at, i, mask);
    case Flow::leave:
      return leave(at, i, mask, context);
    case Flow::together:
      return together(at, i, mask, context);
    case Flow::barrier:
      return barrier(at, i, mask, context);
    case Flow::wait: {
      context.mask = mask;
      context.blocked = false;
      i.run(context, i);
      if (context.blocked) return false;
      ++group.pc;
      return true;
    }
    case Flow::straight:
      break;
  }
  return true;
}

bool WarpRun::branch(std::size_t at, std::uint32_t target, std::uint32_t mask) {
  Group& group = warp_.groups[at];
  if (mask == group.mask) {
    group.pc = target;
    return true;
  }
  if (mask == 0) {
    ++group.pc;
    return true;
  }
  split(at, mask, target);
  return false;
}

void WarpRun::split(std::size_t at, std::uint32_t mask, std::uint32_t target) {
  Group taken = warp_.groups[at];
  taken.mask = mask;
  taken.pc = target;
  warp_.groups[at].mask &= ~mask;
  ++warp_.groups[at].pc;
  warp_.groups.push_back(std::move(taken));
}

bool WarpRun::indexed(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context) {
  const std::uint32_t* which = context.plane(i.at[0]);
  const auto targets = static_cast<std::uint32_t>(i.more.size());
  each_lane(mask, [&](std::uint32_t l) {
    if (which[l] < targets) return;
    context.report(Kind::invalid, i, l, {},
                   "index " + std::to_string(which[l]) + " is past the list's " +
                       std::to_string(targets) + " targets");
    launch_.stopped = true;  // nobody knows where the lane goes
  });
  if (launch_.stopped) return false;
  Group base = warp_.groups[at];
  std::vector<Group> groups;
  if (base.mask != mask) {
    Group rest = base;
    rest.mask &= ~mask;
    ++rest.pc;
    groups.push_back(std::move(rest));
  }
  for (std::uint32_t n = 0; n < targets; ++n) {
    Group taken = base;
    taken.mask = 0;
    each_lane(mask, [&](std::uint32_t l) {
      taken.mask |= static_cast<std::uint32_t>(which[l] == n) << l;
    });
    taken.pc = i.more[n];
    if (taken.mask != 0) groups.push_back(std::move(taken));
  }
  warp_.groups.erase(warp_.groups.begin() + static_cast<std::ptrdiff_t>(at));
  warp_.groups.insert(warp_.groups.end(), groups.begin(), groups.end());
  return false;
}

bool WarpRun::call(std::size_t at, const Instruction& i, std::uint32_t mask) {
  Group& group = warp_.groups[at];
  if (mask == 0) return ++group.pc, true;
  if (mask == group.mask) {
    group.returns.push_back(group.pc + 1);
    group.pc = i.target;
    return true;
  }
  Group inside = group;
  inside.mask = mask;
  inside.returns.push_back(group.pc + 1);
  inside.pc = i.target;
  group.mask &= ~mask;
  ++group.pc;
  warp_.groups.push_back(std::move(inside));
  return false;
}

bool WarpRun::leave(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context) {
  Group& group = warp_.groups[at];
  if (mask == 0) return ++group.pc, true;
  const bool back = !group.returns.empty() && i.variant == 0;
  if (back) {
    if (mask != group.mask) {
      split(at, mask, kNone);
      Group& leaving = warp_.groups.back();
      leaving.pc = leaving.returns.back();
      leaving.returns.pop_back();
      return false;
    }
    group.pc = group.returns.back();
    group.returns.pop_back();
    return true;
  }
  context.mask = mask;
  check_copies_at_exit(context, mask);
  ++launch_.progress;
  warp_.exited |= mask;
  if (mask != group.mask) {
    group.mask &= ~mask;
    ++group.pc;
    return false;
  }
  warp_.groups.erase(warp_.groups.begin() + static_cast<std::ptrdiff_t>(at));
  return false;
}

std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

bool run_divergent(Execution& launch, Block& block) {
  for (Warp& warp : block.warps)
    for (Group& group : warp.groups) {
      if (group.state != Group::State::together) continue;
      if (launch.kernel.code[group.pc].flow != Flow::barrier) continue;
      group.state = Group::State::ready;
      return WarpRun(launch, block, warp, true).run();
    }
  return false;
}

bool run_warp(Execution& launch, Block& block, Warp& warp) {
  return WarpRun(launch, block, warp).run();
}

BlockOutcome run_block(Execution& launch, Block& block) {
  std::uint64_t rounds = 0, ran_instructions = 0;
  bool ever = false;
  while (!launch.stopped) {
    bool ran = false, spinning = false;
    for (Warp& warp : block.warps) {
      if (warp.done()) continue;
      const std::uint64_t before = warp.executed;
      ran |= run_warp(launch, block, warp);
      spinning |= warp.executed - before >= kWarpShare;
      ran_instructions += warp.executed - before;
    }
    ever = ever || ran;
    if (block.done()) return {true, false, ever};
    if (ran) {
      // All that ran used up its share: it may wait for another block.
      if (spinning) ++rounds;
      if (rounds >= kBlockRounds || ran_instructions >= kBlockRounds * kWarpShare * 8)
        return {false, true, true};
      continue;
    }
    return {false, false, ever};
  }
  return {true, false, ever};
}

}  // namespace halftone::simulator
