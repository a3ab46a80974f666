// SPDX-License-Identifier: Apache-2.0
#include "scheduler.hpp"

#include <algorithm>

#include "async.hpp"

namespace halftone::simulator {

namespace {

/// Instructions that a warp runs before another one's turn: lanes may wait for other warps in a
/// loop, and for other blocks.
constexpr std::uint64_t kWarpShare = 1u << 16;
constexpr std::uint64_t kGroupShare = 1u << 12;
constexpr std::uint64_t kBlockRounds = 16;

/// splitmix64 (Steele, Lea, Flood, 2014).
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

class WarpRun {
 public:
  /// `divergent`: barriers no longer wait for lanes of their warp that are elsewhere.
  WarpRun(Execution& launch, Block& block, Warp& warp, bool divergent = false)
      : launch_(launch), block_(block), warp_(warp), divergent_(divergent) {}

  bool run() {
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

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  /// The ready group with the lowest instruction; of several that spin, each gets its turn.
  std::size_t choose() {
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

  /// Joins groups that are at the same instruction; returns where `at` is afterwards.
  void merge() {
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
  static bool can_join(const Group& g) {
    return g.state == Group::State::ready || g.state == Group::State::together;
  }

  /// The lowest instruction of another group past `pc`: there lanes may meet.
  std::uint32_t meeting(std::size_t at) const {
    std::uint32_t lowest = kNone;
    for (std::size_t i = 0; i < warp_.groups.size(); ++i)
      if (i != at && can_join(warp_.groups[i]) && warp_.groups[i].pc > warp_.groups[at].pc)
        lowest = std::min(lowest, warp_.groups[i].pc);
    return lowest;
  }

  bool run_group(std::size_t at, std::uint64_t end) {
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

  /// True when the same group goes on at its pc.
  bool flow(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context) {
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

  bool branch(std::size_t at, std::uint32_t target, std::uint32_t mask) {
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

  /// Lanes of `mask` go to `target`, the others to the next instruction.
  void split(std::size_t at, std::uint32_t mask, std::uint32_t target) {
    Group taken = warp_.groups[at];
    taken.mask = mask;
    taken.pc = target;
    warp_.groups[at].mask &= ~mask;
    ++warp_.groups[at].pc;
    warp_.groups.push_back(std::move(taken));
  }

  bool indexed(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context) {
    const std::uint32_t* which = context.plane(i.at[0]);
    Group base = warp_.groups[at];
    std::vector<Group> groups;
    if (base.mask != mask) {
      Group rest = base;
      rest.mask &= ~mask;
      ++rest.pc;
      groups.push_back(std::move(rest));
    }
    for (std::uint32_t n = 0; n < i.more.size(); ++n) {
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

  bool call(std::size_t at, const Instruction& i, std::uint32_t mask) {
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

  bool leave(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context) {
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

  /// .sync: the lanes of the member mask that still run must all be here.
  bool together(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context) {
    Group& group = warp_.groups[at];
    if (mask == 0) return ++group.pc, true;
    const std::uint32_t* members = context.plane(i.at[19]);
    const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
    const std::uint32_t wanted = members[first] & warp_.members & ~warp_.exited;
    bool alike = true;
    each_lane(mask, [&](std::uint32_t l) { alike = alike && members[l] == members[first]; });
    if (alike && (wanted & ~mask) != 0) {
      group.state = Group::State::together;
      return false;
    }
    if (!alike) return by_members(i, mask, members, context, group);
    if ((mask & ~members[first]) != 0)
      each_lane(mask & ~members[first], [&](std::uint32_t l) {
        context.report(Kind::divergent_warp, i, l, {}, "the mask does not name this lane");
      });
    execute(i, mask, context);
    ++group.pc;
    return true;
  }

  /// Lanes with different masks: each mask's lanes on their own, when they are all here.
  bool by_members(const Instruction& i, std::uint32_t mask, const std::uint32_t* members,
                  Context& context, Group& group) {
    for (std::uint32_t left = mask; left != 0;) {
      const auto first = static_cast<std::uint32_t>(std::countr_zero(left));
      const std::uint32_t own = members[first] & left;
      const std::uint32_t wanted = members[first] & warp_.members & ~warp_.exited;
      bool fits = (own >> first & 1) != 0 && own == wanted;
      each_lane(own, [&](std::uint32_t l) { fits = fits && members[l] == members[first]; });
      if (!fits)
        context.report(Kind::divergent_warp, i, first, {}, "lanes give masks that do not fit");
      const std::uint32_t part = own | (1u << first);
      execute(i, part, context);
      left &= ~part;
    }
    ++group.pc;
    return true;
  }

  void execute(const Instruction& i, std::uint32_t mask, Context& context) {
    context.mask = mask;
    i.run(context, i);
    if (i.variant == 1 && (i.flags & kAcquire) && launch_.races)
      launch_.races->detector().warp_barrier(launch_.races->lanes(context, i));
  }

  bool barrier(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context) {
    Group& group = warp_.groups[at];
    if (mask == 0) return ++group.pc, true;
    const std::uint32_t running = warp_.members & ~warp_.exited;
    if ((i.flags & 1) && mask != running && !divergent_) {
      group.state = Group::State::together;  // the others may yet come
      return false;
    }
    if ((i.flags & 1) && mask != running) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
      context.report(Kind::divergent_barrier, i, lane, {},
                     std::to_string(std::popcount(mask)) + " of the warp's " +
                         std::to_string(std::popcount(running)) + " running lanes are there");
    }
    group.state = Group::State::ready;
    arrive(at, i, mask, context);
    return false;
  }

  void arrive(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context);

  static constexpr std::uint64_t kTurns = 64;
  Execution& launch_;
  Block& block_;
  Warp& warp_;
  const bool divergent_;
  std::uint64_t turns_ = 0;
};

void WarpRun::arrive(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context) {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
  const std::uint32_t number = context.plane(i.at[0])[lane];
  std::uint32_t expected = block_.threads;
  if (i.at[1] != kNone) expected = context.plane(i.at[1])[lane];
  context.mask = mask;
  if (number >= block_.barriers.size() || expected == 0 || expected % 32 != 0) {
    if (number >= block_.barriers.size() || i.at[1] != kNone) {
      context.report(Kind::invalid, i, lane, {},
                     "barrier " + std::to_string(number) + " of " + std::to_string(expected) +
                         " threads; there are 16 barriers, and counts are multiples of 32");
      launch_.stopped = true;
      return;
    }
  }
  Barrier& barrier = block_.barriers[number];
  if (barrier.arrived != 0 && barrier.expected != expected)
    context.report(Kind::mismatched_barrier, i, lane, {},
                   "threads expect " + std::to_string(barrier.expected) + " and " +
                       std::to_string(expected) + " arrivals at barrier " + std::to_string(number));
  barrier.expected = expected;
  // A warp counts as a whole where a number of threads is stated.
  barrier.arrived += i.at[1] != kNone ? 32 : static_cast<std::uint32_t>(std::popcount(mask));
  if (i.variant == 1 && launch_.races)
    launch_.races->detector().named_arrive(launch_.races->lanes(context, i), number);
  if (i.variant >= 2) {
    std::uint32_t votes = context.predicate(i.at[2]);
    if (i.bytes) votes = ~votes;
    barrier.population += static_cast<std::uint32_t>(std::popcount(votes & mask));
    barrier.conjunction &= (votes & mask) == mask;
    barrier.disjunction |= (votes & mask) != 0;
  }
  Group& group = warp_.groups[at];
  const std::uint32_t rest = group.mask & ~mask;
  if (rest != 0) {
    split(at, rest, group.pc + 1);
    --warp_.groups[at].pc;  // split() moved on those that stay
  }
  Group& waiting = warp_.groups[at];
  if (i.variant == 1) {
    ++waiting.pc;  // bar.arrive does not wait
  } else {
    waiting.state = Group::State::barrier;
    waiting.barrier = number;
  }
  if (barrier.arrived >= barrier.expected) let_go(launch_, block_, number);
}

}  // namespace

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
