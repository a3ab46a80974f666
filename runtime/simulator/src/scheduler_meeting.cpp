// SPDX-License-Identifier: Apache-2.0
// Instructions that lanes execute together, and barriers.
#include <bit>
#include <string>

#include "warp_run.hpp"

namespace halftone::simulator {

bool WarpRun::together(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context) {
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

bool WarpRun::by_members(const Instruction& i, std::uint32_t mask, const std::uint32_t* members,
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

void WarpRun::execute(const Instruction& i, std::uint32_t mask, Context& context) {
  context.mask = mask;
  i.run(context, i);
  if (i.variant == 1 && (i.flags & kAcquire) && launch_.races)
    launch_.races->detector().warp_barrier(launch_.races->lanes(context, i));
}

bool WarpRun::barrier(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context) {
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

}  // namespace halftone::simulator
