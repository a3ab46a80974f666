// SPDX-License-Identifier: Apache-2.0
#include "race.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace halftone::simulator {
namespace {

template <class Visit>
void each_lane_of(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

std::uint8_t strength_of(bool strong, Scope scope) {
  return strong ? static_cast<std::uint8_t>(1 + static_cast<int>(scope)) : 0;
}

// Both strong, and each one's scope includes the other's thread.
bool morally_strong(const Stamp& a, const Stamp& b) {
  if (a.strong == 0 || b.strong == 0) return false;
  const std::uint8_t least =
      1 + static_cast<std::uint8_t>(a.block == b.block ? Scope::block : Scope::cluster);
  return a.strong >= least && b.strong >= least;
}

}  // namespace

bool RaceDetector::knows(const Actor& a, const Stamp& stamp, std::uint32_t thread) const {
  const BlockClocks& clocks = a.block.clocks;
  if (stamp.block == clocks.number()) return clocks.knows(a.thread, thread, stamp.time);
  return clocks.knows_foreign(a.thread, stamp.block, thread, stamp.time);
}

bool RaceDetector::knows(const Actor& a, const ReadStamp& read, std::uint32_t& culprit) const {
  if (read.stamp.block == a.block.clocks.number() && read.stamp.time <= a.block.clocks.base())
    return true;
  if (read.lanes == 0) return knows(a, read.stamp, culprit = read.stamp.thread);
  bool all = true;
  each_lane_of(read.lanes, [&](std::uint32_t l) {
    const std::uint32_t thread = read.stamp.thread / 32 * 32 + l;
    if (!all || knows(a, read.stamp, thread)) return;
    all = false;
    culprit = thread;
  });
  return all;
}

// A generic write is visible to the asynchronous proxy if its thread fenced it and the actor knows
// of that fence, or the actor fenced when it knew of the write.
bool RaceDetector::fenced(const Actor& a, const Stamp& write) const {
  if (write.block != a.block.clocks.number()) return true;
  const auto& fences = a.block.proxy_fences;
  if (write.thread < fences.size()) {
    const auto& times = fences[write.thread];
    const auto fence = std::ranges::lower_bound(times, write.time);
    if (fence != times.end() && a.block.clocks.knows(a.thread, write.thread, *fence)) return true;
  }
  return a.thread < a.block.proxy_seen.size() &&
         a.block.clocks.knew(a.block.proxy_seen[a.thread], a.thread, write.thread, write.time);
}

void RaceDetector::report(const Actor& a, Conflict::What what, Order order, std::uint64_t address,
                          const Stamp& other, std::uint32_t other_thread) {
  Conflict c;
  c.what = what;
  c.order = order;
  c.shared = a.owner != nullptr;
  c.address = address;
  c.owner = a.owner ? a.owner->clocks.number() : 0;
  c.block = a.block.clocks.number();
  c.other_block = other.block;
  c.thread = a.thread;
  c.other_thread = other_thread;
  c.site = a.stamp.site;
  c.other_site = other.site;
  listener_(c);
}

void RaceDetector::check_cell(const Actor& a, Cell& cell, std::uint64_t address) {
  const Stamp& write = cell.write;
  const bool writes = a.touch == Touch::write;
  if (write.time != 0) {
    if (!knows(a, write, write.thread)) {
      if (!morally_strong(a.stamp, write))
        report(a, Conflict::What::race, writes ? Order::write_after_write : Order::read_after_write,
               address, write, write.thread);
    } else if (!a.stamp.generic && write.generic && !fenced(a, write)) {
      report(a, Conflict::What::missing_fence,
             writes ? Order::write_after_write : Order::read_after_write, address, write,
             write.thread);
    }
  }
  if (!writes || cell.read.stamp.time == 0) return;
  const auto check = [&](const ReadStamp& read) {
    std::uint32_t culprit = 0;
    if (!knows(a, read, culprit) && !morally_strong(a.stamp, read.stamp))
      report(a, Conflict::What::race, Order::write_after_read, address, read.stamp, culprit);
  };
  check(cell.read);
  if (cell.more != 0)
    for (const ReadStamp& read : sets_.at(cell.more)) check(read);
}

void RaceDetector::record_read(const Actor& a, Cell& cell) {
  const ReadStamp read{a.stamp, a.lanes};
  std::uint32_t culprit = 0;
  if (cell.more == 0) {
    Stamp& last = cell.read.stamp;
    if (last.time == 0 || (last.strong == a.stamp.strong && knows(a, cell.read, culprit))) {
      cell.read = read;
      return;
    }
    if (last.time == a.stamp.time && last.block == a.stamp.block && last.strong == a.stamp.strong &&
        cell.read.lanes != 0 && a.lanes != 0 && last.thread / 32 == a.stamp.thread / 32) {
      cell.read.lanes |= a.lanes;
      return;
    }
  } else {
    for (ReadStamp& other : sets_.at(cell.more)) {
      const bool same = other.stamp.time == a.stamp.time && other.stamp.block == a.stamp.block &&
                        other.stamp.strong == a.stamp.strong && other.lanes != 0 && a.lanes != 0 &&
                        other.stamp.thread / 32 == a.stamp.thread / 32;
      if (same) {
        other.lanes |= a.lanes;
        return;
      }
      if (other.stamp.strong != a.stamp.strong || !knows(a, other, culprit)) continue;
      other = read;
      return;
    }
  }
  sets_.add(cell.more, read, a.owner ? ReadSets::kMostShared : ReadSets::kMostGlobal);
}

void RaceDetector::touch_cells(const Actor& a, ShadowLines& lines, std::uint64_t offset,
                               std::uint32_t bytes, std::uint64_t address) {
  const bool writes = a.touch == Touch::write, records = a.mode != Mode::check;
  lines.visit(offset, bytes, writes && records, sets_, [&](Cell& cell) {
    if (a.mode != Mode::record) check_cell(a, cell, address);
    if (!records) return;
    if (!writes) return record_read(a, cell);
    cell.write = a.stamp;
    cell.read.stamp.time = 0;
    sets_.drop(cell.more);
  });
}

void RaceDetector::touch(const Actor& a, std::uint64_t address, std::uint32_t bytes) {
  if (a.owner) {
    if (a.mode != Mode::record && a.owner->flight.any()) check_flight(a, address, bytes);
    return touch_cells(a, a.owner->shared, address, bytes, address);
  }
  while (bytes > 0) {
    const std::uint64_t offset = address % GlobalShadow::kPage;
    const auto part =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, GlobalShadow::kPage - offset));
    touch_cells(a, global_.page(address), offset, part, address);
    address += part;
    bytes -= part;
  }
}

void RaceDetector::check_flight(const Actor& a, std::uint64_t address, std::uint32_t bytes) {
  const bool writes = a.touch == Touch::write;
  for (std::uint64_t at = address / 4 * 4; at < address + bytes; at += 4) {
    const FlightMap::Word& word = a.owner->flight.at(at);
    if (word.writes == 0 && (!writes || word.reads == 0)) continue;
    Stamp other;
    other.block = a.owner->clocks.number();
    other.site = word.site;
    const Order order = !writes       ? Order::read_after_write
                        : word.writes ? Order::write_after_write
                                      : Order::write_after_read;
    return report(a, Conflict::What::in_flight, order, std::max(at, address), other, word.thread);
  }
}

std::uint32_t RaceDetector::without_repeats(const Lanes& who, const LaneAccess& what) {
  bool ascending = true;
  std::uint64_t past = 0;
  each_lane_of(who.mask, [&](std::uint32_t l) {
    ascending = ascending && what.addresses[l] >= past;
    past = what.addresses[l] + what.bytes;
  });
  if (ascending) return who.mask;
  std::uint32_t kept = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> first;  // lane by address
  each_lane_of(who.mask, [&](std::uint32_t l) {
    const auto [at, added] = first.try_emplace(what.addresses[l], l);
    kept |= static_cast<std::uint32_t>(added) << l;
    if (added || !what.same || what.same(what.context, at->second, l)) return;
    Stamp other{who.block.clocks.now(), who.block.clocks.number(), who.site};
    const Actor actor{who.block, who.warp * 32 + l, 1u << l, other, Touch::write, what.owner};
    report(actor, Conflict::What::race, Order::write_after_write, what.addresses[l], other,
           who.warp * 32 + at->second);
  });
  return kept;
}

void RaceDetector::access(const Lanes& who, const LaneAccess& what) {
  const bool writes = what.touch == Touch::write;
  std::uint32_t left = writes && !what.strong ? without_repeats(who, what) : who.mask;
  Stamp stamp{who.block.clocks.now(), who.block.clocks.number(), who.site};
  stamp.strong = strength_of(what.strong, what.scope);
  while (left != 0) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    std::uint32_t lanes = 1u << lane;
    left &= left - 1;
    while (!writes && left != 0) {  // neighbours that read the same are one reader
      const auto next = static_cast<std::uint32_t>(std::countr_zero(left));
      if (what.addresses[next] != what.addresses[lane]) break;
      lanes |= 1u << next;
      left &= left - 1;
    }
    stamp.thread = static_cast<std::uint16_t>(who.warp * 32 + lane);
    touch({who.block, stamp.thread, lanes, stamp, what.touch, what.owner}, what.addresses[lane],
          what.bytes);
  }
}

void RaceDetector::named_arrive(const Lanes& who, std::uint32_t barrier) {
  Message message = who.block.clocks.publish(who.warp, who.mask);
  const auto [at, added] = who.block.named.try_emplace(barrier, message);
  if (!added) at->second = joined(at->second, message);
}

void RaceDetector::named_complete(RacingBlock& block, std::uint32_t barrier,
                                  std::span<const Lanes> waiters) {
  for (const Lanes& who : waiters) named_arrive(who, barrier);
  const auto message = block.named.find(barrier);
  if (message == block.named.end()) return;
  for (const Lanes& who : waiters) block.clocks.receive(who.warp, who.mask, message->second);
  block.named.erase(message);
}

// The barrier of a cluster is an mbarrier of each of its blocks.
constexpr std::uint32_t kClusterBarrier = 0xffffffff;

void RaceDetector::cluster_arrive(const Lanes& who, std::span<RacingBlock* const> blocks) {
  for (RacingBlock* block : blocks) mbarrier_arrive(who, *block, kClusterBarrier);
}

void RaceDetector::cluster_complete(std::span<RacingBlock* const> blocks) {
  for (RacingBlock* block : blocks) mbarrier_complete(*block, kClusterBarrier);
}

void RaceDetector::cluster_wait(const Lanes& who) {
  mbarrier_wait(who, who.block, kClusterBarrier);
}

void RaceDetector::block_ends(RacingBlock& block) {
  const BlockClocks& clocks = block.clocks;
  const auto check = [&](const Stamp& stamp, Order order) {
    if (stamp.time == 0 || stamp.block == clocks.number()) return;
    for (std::uint32_t t = 0; t < clocks.threads(); ++t)
      if (clocks.knows_foreign(t, stamp.block, stamp.thread, stamp.time)) return;
    Conflict c{Conflict::What::owner_gone, order, true};
    c.owner = c.other_block = clocks.number();
    c.block = stamp.block;
    c.thread = stamp.thread;
    c.site = c.other_site = stamp.site;
    listener_(c);
  };
  block.shared.each([&](const Cell& cell) {
    check(cell.write, Order::write_after_write);
    check(cell.read.stamp, Order::read_after_write);
  });
}

void RaceDetector::fence(const Lanes& who, Scope scope) {
  each_lane_of(who.mask, [&](std::uint32_t l) {
    who.block.clocks.fence(who.warp * 32 + l, scope != Scope::block);
  });
  who.block.clocks.tick();
}

Objects& RaceDetector::objects_of(const Lanes& who, const LaneAccess& what) {
  if (!what.owner && what.scope != Scope::block) return objects_;
  RacingBlock& block = what.owner ? *what.owner : who.block;
  if (!block.objects) kept_.push_back(block.objects = std::make_shared<Objects>());
  return *block.objects;
}

void RaceDetector::synchronize(const Lanes& who, const LaneAccess& what, Strength strength) {
  auto& objects = objects_of(who, what);
  BlockClocks& clocks = who.block.clocks;
  const bool wide = what.scope != Scope::block;
  each_lane_of(who.mask, [&](std::uint32_t l) {
    const std::uint32_t thread = who.warp * 32 + l;
    const auto known = objects.find(what.addresses[l]);
    if (strength.reads && known != objects.end()) {
      if (strength.acquire)
        clocks.receive(who.warp, 1u << l, known->second);
      else
        clocks.read_object(thread, wide, known->second);
    }
    if (!strength.writes) return;
    if (strength.release)
      objects[what.addresses[l]].append(clocks.publish(who.warp, 1u << l));
    else if (clocks.has_fence(thread, wide))
      objects[what.addresses[l]].append(clocks.fenced(thread, wide));
  });
}

void RaceDetector::mbarrier_arrive(const Lanes& who, RacingBlock& owner, std::uint32_t address) {
  RacingBlock::Mbarrier& barrier = owner.mbarrier(address);
  const Message message = who.block.clocks.publish(who.warp, who.mask);
  if (&who.block != &owner && !barrier.others)
    barrier.others = logs_.emplace_back(std::make_unique<Log>()).get();
  if (&who.block == &owner)
    barrier.arriving = joined(barrier.arriving, message);
  else
    barrier.others->append(message);
}

void RaceDetector::mbarrier_complete(RacingBlock& owner, std::uint32_t address) {
  RacingBlock::Mbarrier& barrier = owner.mbarrier(address);
  barrier.complete = joined(barrier.complete, barrier.arriving);
  barrier.arriving = {};
  if (barrier.others) barrier.others_complete = barrier.others->see();
}

void RaceDetector::mbarrier_wait(const Lanes& who, RacingBlock& owner, std::uint32_t address) {
  RacingBlock::Mbarrier& barrier = owner.mbarrier(address);
  if (&who.block == &owner) who.block.clocks.receive(who.warp, who.mask, barrier.complete);
  who.block.clocks.receive(who.warp, who.mask, barrier.others_complete);
}

void RaceDetector::proxy_fence(const Lanes& who) {
  RacingBlock& block = who.block;
  block.proxy_fences.resize(block.clocks.threads());
  block.proxy_seen.resize(block.clocks.threads());
  each_lane_of(who.mask, [&](std::uint32_t l) {
    const std::uint32_t thread = who.warp * 32 + l;
    block.proxy_fences[thread].push_back(block.clocks.now());
    block.proxy_seen[thread] = block.clocks.glance(thread);
  });
  block.clocks.tick();
}

RaceDetector::Actor RaceDetector::actor_of(const Lanes& who, std::uint32_t lane,
                                           const Stretch& stretch, Mode mode) const {
  Stamp stamp{who.block.clocks.now(), who.block.clocks.number(), who.site};
  stamp.thread = static_cast<std::uint16_t>(who.warp * 32 + lane);
  stamp.generic = !stretch.proxy;
  stamp.strong = strength_of(stretch.strong, Scope::device);
  return {who.block, stamp.thread, 1u << lane, stamp, stretch.touch, stretch.owner, mode};
}

void RaceDetector::fly(const Lanes& who, const Stretch& stretch, int change) {
  if (!stretch.owner || stretch.bytes == 0) return;
  FlightMap& flight = stretch.owner->flight;
  flight.opened(change);
  for (std::uint64_t at = stretch.address / 4 * 4; at < stretch.address + stretch.bytes; at += 4) {
    FlightMap::Word& word = flight.at(at);
    std::uint16_t& count = stretch.touch == Touch::read ? word.reads : word.writes;
    count = static_cast<std::uint16_t>(count + change);
    if (change < 0 || (stretch.touch == Touch::read && word.writes > 0)) continue;
    word.site = who.site;
    word.thread = static_cast<std::uint16_t>(
        who.warp * 32 + static_cast<std::uint32_t>(std::countr_zero(who.mask)));
  }
}

void RaceDetector::async_check(const Lanes& who, const Stretch& stretch) {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(who.mask));
  touch(actor_of(who, lane, stretch, Mode::check), stretch.address, stretch.bytes);
}

void RaceDetector::async_begin(const Lanes& who, const Stretch& stretch) {
  async_check(who, stretch);
  fly(who, stretch, 1);
}

void RaceDetector::async_end(const Lanes& who, const Stretch& stretch) {
  fly(who, stretch, -1);
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(who.mask));
  touch(actor_of(who, lane, stretch, stretch.owner ? Mode::record : Mode::check_and_record),
        stretch.address, stretch.bytes);
}

void RaceDetector::async_end(const Lanes& issuer, const Stretch& stretch, RacingBlock& owner,
                             std::uint32_t mbarrier) {
  fly(issuer, stretch, -1);
  RacingBlock::Mbarrier& barrier = owner.mbarrier(mbarrier);
  const std::uint32_t time = owner.clocks.tick();
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(issuer.mask));
  Actor actor = actor_of(issuer, lane, stretch, Mode::record);
  actor.stamp.time = time;
  actor.stamp.block = owner.clocks.number();
  actor.stamp.thread = static_cast<std::uint16_t>(owner.clocks.threads() + barrier.agent);
  actor.lanes = 0;
  touch(actor, stretch.address, stretch.bytes);
  barrier.arriving = joined(barrier.arriving, owner.clocks.agent_message(barrier.agent, time));
}

}  // namespace halftone::simulator
