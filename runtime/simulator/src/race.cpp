// SPDX-License-Identifier: Apache-2.0
#include "race.hpp"

#include <algorithm>
#include <bit>

namespace halftone::simulator {
namespace {

/// Whether known(thread) is true of everybody who read, asked up to the first of whom it is not.
template <class Known>
bool all_readers(const ReadStamp& read, Known known) {
  if (read.lanes == 0) return known(std::uint32_t{read.stamp.thread});
  for (std::uint32_t left = read.lanes; left != 0; left &= left - 1)
    if (!known(read.stamp.thread / 32u * 32 + static_cast<std::uint32_t>(std::countr_zero(left))))
      return false;
  return true;
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
  if (read.lanes != 0 && read.stamp.block == a.block.clocks.number() &&
      read.stamp.time <= a.block.clocks.base())
    return true;
  return all_readers(read, [&](std::uint32_t thread) {
    culprit = thread;
    return knows(a, read.stamp, thread);
  });
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

// Who knows of the actor's read knows of this one: the actor did, or both are of one agent.
bool RaceDetector::replaces(const Actor& a, const ReadStamp& read) const {
  if (read.stamp.strong != a.stamp.strong) return false;
  std::uint32_t culprit = 0;
  return knows(a, read, culprit) ||
         (read.lanes == 0 && a.lanes == 0 && read.stamp.block == a.stamp.block &&
          read.stamp.thread == a.stamp.thread);
}

void RaceDetector::record_read(const Actor& a, Cell& cell) {
  const ReadStamp read{a.stamp, a.lanes};
  if (cell.more == 0) {
    Stamp& last = cell.read.stamp;
    if (last.time == 0 || replaces(a, cell.read)) {
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
      if (!replaces(a, other)) continue;
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
  global_.each_part(address, bytes, [&](ShadowLines& page, std::uint64_t at, std::uint32_t part) {
    touch_cells(a, page, at % GlobalShadow::kPage, part, at);
  });
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

void RaceDetector::block_ends(RacingBlock& block) {
  const BlockClocks& clocks = block.clocks;
  const auto gone = [&](const Stamp& stamp, std::uint32_t thread, Order order,
                        std::uint64_t address = 0) {
    Conflict c{Conflict::What::owner_gone, order, true, address};
    c.owner = c.other_block = clocks.number();
    c.block = stamp.block;
    c.thread = thread;
    c.site = c.other_site = stamp.site;
    listener_(c);
  };
  const auto known = [&](const Stamp& stamp, std::uint32_t thread) {
    for (std::uint32_t t = 0; t < clocks.threads(); ++t)
      if (clocks.knows_foreign(t, stamp.block, thread, stamp.time)) return true;
    return false;
  };
  const auto foreign = [&](const Stamp& stamp) {
    return stamp.time != 0 && stamp.block != clocks.number();
  };
  const auto check = [&](const ReadStamp& read) {
    if (!foreign(read.stamp)) return;
    all_readers(read, [&](std::uint32_t thread) {
      if (known(read.stamp, thread)) return true;
      gone(read.stamp, thread, Order::read_after_write);
      return false;
    });
  };
  block.shared.each([&](const Cell& cell) {
    if (foreign(cell.write) && !known(cell.write, cell.write.thread))
      gone(cell.write, cell.write.thread, Order::write_after_write);
    check(cell.read);
    if (cell.more != 0) std::ranges::for_each(sets_.at(cell.more), check);
  });
  if (!block.flight.any()) return;
  block.flight.each([&](std::uint64_t address, const FlightMap::Word& word) {
    if (word.reads == 0) return;
    Stamp stamp;
    stamp.block = clocks.number();
    stamp.site = word.site;
    gone(stamp, word.thread, Order::read_after_write, address);
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

}  // namespace halftone::simulator
