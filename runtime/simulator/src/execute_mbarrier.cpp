// SPDX-License-Identifier: Apache-2.0
// mbarrier objects: PTX ISA 9.0, 9.7.13.15. Their state lies beside shared memory, under their
// address; the 8 bytes there are never read. try_wait suspends its lanes until the phase is
// complete, which the ISA allows.
#include <bit>

#include "async_work.hpp"
#include "lanes.hpp"
#include "shared_target.hpp"

namespace halftone::simulator {

namespace {

constexpr std::uint32_t kMostArrivals = (1u << 20) - 1;
constexpr std::uint32_t kPollsUntilWork = 64;

// at[0]: the state or predicate that results, at[1]: count, at[2]: bytes, at[3]: state or parity
// that is waited for. more: the address. variant and flags: below.
enum : std::uint8_t { kArrive, kDrop, kExpect, kCompleteBytes };
constexpr std::uint32_t kRelaxed = 1u << 0, kParity = 1u << 2, kTest = 1u << 3;

// mbarrier operations touch the object as strong reads would, and its initialisation writes it: so
// that the two need an order, and operations none.
void tell(Context& c, const Instruction& i, std::uint32_t lane, const SharedTarget& at,
          bool initialises) {
  if (!c.launch.races) return;
  std::array<std::uint64_t, 32> addresses;
  addresses.fill(at.address);
  LaneAccess what;
  what.touch = initialises ? Touch::write : Touch::read;
  what.owner = at.block->racing.get();
  what.addresses = addresses.data();
  what.bytes = 8;
  what.strong = !initialises;
  what.scope = Scope::cluster;
  c.launch.races->detector().access(c.launch.races->lanes(c, i, lane), what);
}

std::uint64_t state_of(const Mbarrier& m) {
  return std::uint64_t{m.parity()} << 63 | std::uint64_t{m.pending} << 32;
}

/// The mbarrier's life ends: what nobody waited for stays to be reported.
void keep_unawaited(AsyncWork& async, const Mbarrier& mbarrier) {
  async.unawaited.insert(async.unawaited.end(), mbarrier.unawaited.begin(),
                         mbarrier.unawaited.end());
}

void run_init(Context& c, const Instruction& i) {
  const auto addresses = addresses_at(c, i, 0);
  each_lane(c.mask, [&](std::uint32_t l) {
    const SharedTarget at = shared_target(c, addresses[l]);
    if (!check_shared(c, i, l, at, 8, 8)) return;
    tell(c, i, l, at, true);
    if (i.variant == 1) {  // inval
      const Mbarrier* const m = find_mbarrier(c, i, l, *at.block, at.address);
      if (!m) return;
      keep_unawaited(at.block->async, *m);
      at.block->async.mbarriers.erase(at.address);
      return;
    }
    const std::uint32_t count = c.plane(i.at[1])[l];
    if (count == 0 || count > kMostArrivals)
      return c.report(Kind::misused_barrier, i, l, shared_place(c.launch, at.address),
                      "an mbarrier expects 1 to 2^20 - 1 arrivals");
    const auto [known, added] = at.block->async.mbarriers.try_emplace(at.address);
    Mbarrier& m = known->second;
    if (!added && m.pending != m.expected)
      c.report(Kind::misused_barrier, i, l, shared_place(c.launch, at.address),
               "it is initialised again in the middle of a phase");
    keep_unawaited(at.block->async, m);
    m = {count, count, 0, 0, {}};
    check_set_shared(c, i, l, at, 8, true);
  });
}

void arrive(Context& c, const Instruction& i, std::uint32_t lane, Block& block,
            std::uint32_t address, Mbarrier& m, std::uint32_t count) {
  if (count > m.pending)
    return c.report(
        Kind::misused_barrier, i, lane, shared_place(c.launch, address),
        "more threads arrive than the phase expects, which is " + std::to_string(m.expected));
  m.pending -= count;
  if (i.variant == kDrop) m.expected -= std::min(count, m.expected);
  complete_phase(c.launch, block, address);
}

/// Lanes that arrive at one mbarrier together release what they know together.
void release(Context& c, const Instruction& i, const std::array<std::uint64_t, 32>& addresses,
             std::uint32_t mask) {
  if (!c.launch.races || (i.flags & kRelaxed) || (i.variant != kArrive && i.variant != kDrop))
    return;
  for (std::uint32_t left = mask; left != 0;) {
    const auto first = static_cast<std::uint32_t>(std::countr_zero(left));
    Lanes who = c.launch.races->lanes(c, i, first);
    each_lane(left, [&](std::uint32_t l) {
      who.mask |= static_cast<std::uint32_t>(addresses[l] == addresses[first]) << l;
    });
    left &= ~who.mask;
    const SharedTarget at = shared_target(c, addresses[first]);
    c.launch.races->detector().mbarrier_arrive(who, *at.block->racing, at.address);
  }
}

/// arrive, arrive_drop, with or without expect_tx; expect_tx, complete_tx
void run_arrive(Context& c, const Instruction& i) {
  const auto addresses = addresses_at(c, i, 0);
  std::uint32_t valid = 0;
  each_lane(c.mask, [&](std::uint32_t l) {
    const SharedTarget at = shared_target(c, addresses[l]);
    if (!check_shared(c, i, l, at, 8, 8) || !find_mbarrier(c, i, l, *at.block, at.address)) return;
    tell(c, i, l, at, false);
    valid |= 1u << l;
  });
  release(c, i, addresses, valid);
  each_lane(valid, [&](std::uint32_t l) {
    const SharedTarget at = shared_target(c, addresses[l]);
    Mbarrier* const m = &at.block->async.mbarriers.at(at.address);
    if (i.at[0] != kNone) c.plane<std::uint64_t>(i.at[0])[l] = state_of(*m);
    if (i.at[2] != kNone) {
      const std::uint32_t bytes = c.plane(i.at[2])[l];
      m->bytes += i.variant == kCompleteBytes ? -std::int64_t{bytes} : std::int64_t{bytes};
      if (m->bytes > std::int64_t{kMostArrivals})
        c.report(Kind::misused_barrier, i, l, shared_place(c.launch, at.address),
                 "more than 2^20 - 1 bytes are pending");
    }
    if (i.variant == kArrive || i.variant == kDrop)
      arrive(c, i, l, *at.block, at.address, *m, i.at[1] == kNone ? 1 : c.plane(i.at[1])[l]);
    else
      complete_phase(c.launch, *at.block, at.address);
  });
}

bool is_complete(const Context& c, const Instruction& i, std::uint32_t lane, const Mbarrier& m) {
  if (i.flags & kParity) return m.parity() != (c.plane(i.at[3])[lane] & 1);
  return m.parity() != c.plane<std::uint64_t>(i.at[3])[lane] >> 63;
}

void run_wait(Context& c, const Instruction& i) {
  const auto addresses = addresses_at(c, i, 0);
  std::uint32_t complete = 0, waiting = kNone;
  each_lane(c.mask, [&](std::uint32_t l) {
    const SharedTarget at = shared_target(c, addresses[l]);
    if (!check_shared(c, i, l, at, 8, 8)) return;
    Mbarrier* const m = find_mbarrier(c, i, l, *at.block, at.address);
    if (!m || is_complete(c, i, l, *m)) {
      complete |= 1u << l;
      if (m && !m->unawaited.empty()) m->was_awaited();
      return;
    }
    waiting = l;
    if (i.flags & kTest) return;
    c.group.object = reinterpret_cast<std::uint64_t>(m);
  });
  if (waiting != kNone && !(i.flags & kTest)) {
    c.group.state = Group::State::object;
    c.blocked = true;
    return;
  }
  each_lane(complete, [&](std::uint32_t l) {
    const SharedTarget at = shared_target(c, addresses[l]);
    if (!c.launch.races || !at.block->async.mbarriers.contains(at.address)) return;
    tell(c, i, l, at, false);
    if (!(i.flags & kRelaxed))
      c.launch.races->detector().mbarrier_wait(c.launch.races->lanes(c, i, l), *at.block->racing,
                                               at.address);
  });
  std::uint32_t& to = c.predicate(i.at[0]);
  to = (to & ~c.mask) | complete;
  if (waiting != kNone && ++c.block.async.polls % kPollsUntilWork == 0)
    do_one_job(c.launch, c.block);
}

void run_pending_count(Context& c, const Instruction& i) {
  const std::uint64_t* state = c.plane<std::uint64_t>(i.at[3]);
  each_lane(c.mask, [&](std::uint32_t l) {
    c.plane(i.at[0])[l] = static_cast<std::uint32_t>(state[l] >> 32) & kMostArrivals;
  });
}

void decode_arrive(Decoder& d) {
  Instruction& i = d.instruction;
  const std::string_view word = d.words[1];
  const bool arrives = word == "arrive" || word == "arrive_drop";
  i.run = run_arrive;
  i.variant = word == "arrive"        ? kArrive
              : word == "arrive_drop" ? kDrop
              : word == "expect_tx"   ? kExpect
                                      : kCompleteBytes;
  i.at[0] = i.at[1] = i.at[2] = kNone;
  std::size_t next = 0;
  if (arrives) {
    if (d.operand(next++).name != "_") i.at[0] = d.destination(0, 8);
  }
  place_address(d, d.operand(next++));
  if (d.has("expect_tx") || !arrives)
    i.at[2] = d.source(next, 4);
  else if (d.operands() > next)
    i.at[1] = d.source(next, 4);
}

void decode_wait(Decoder& d) {
  Instruction& i = d.instruction;
  i.run = run_wait;
  i.flow = Flow::wait;
  if (d.words[1] == "test_wait") i.flags |= kTest;
  if (d.has("parity")) i.flags |= kParity;
  i.at[0] = d.destination(0, kPredicate);
  place_address(d, d.operand(1));
  i.at[3] = d.source(2, i.flags & kParity ? 4 : 8);
  if (d.words[1] == "try_wait" && d.operands() > 3) (void)d.source(3, 4);  // how long at most
}

void decode_mbarrier(Decoder& d) {
  Instruction& i = d.instruction;
  const std::string_view word = d.words.size() > 1 ? d.words[1] : std::string_view();
  if (d.has("relaxed")) i.flags |= kRelaxed;
  if (word == "init" || word == "inval") {
    i.run = run_init;
    i.variant = word == "inval";
    place_address(d, d.operand(0));
    if (i.variant == 0) i.at[1] = d.source(1, 4);
  } else if (word == "arrive" || word == "arrive_drop" || word == "expect_tx" ||
             word == "complete_tx") {
    decode_arrive(d);
  } else if (word == "test_wait" || word == "try_wait") {
    decode_wait(d);
  } else if (word == "pending_count") {
    i.run = run_pending_count;
    i.at[0] = d.destination(0, 4);
    i.at[3] = d.source(1, 8);
  } else {
    d.unknown();
  }
}

constexpr Opcode kOpcodes[] = {{"mbarrier", decode_mbarrier}};

}  // namespace

std::span<const Opcode> mbarrier_opcodes() { return kOpcodes; }

Mbarrier* find_mbarrier(Context& c, const Instruction& i, std::uint32_t lane, Block& block,
                        std::uint32_t address) {
  const auto found = block.async.mbarriers.find(address);
  if (found != block.async.mbarriers.end()) return &found->second;
  c.report(Kind::misused_barrier, i, lane, shared_place(c.launch, address),
           "no mbarrier was initialised there");
  return nullptr;
}

void complete_phase(Execution& launch, Block& block, std::uint32_t address) {
  Mbarrier& m = block.async.mbarriers.at(address);
  if (m.pending != 0 || m.bytes != 0) return;
  ++m.phase;
  m.pending = m.expected;
  if (launch.races) launch.races->detector().mbarrier_complete(*block.racing, address);
  const auto wake = [&](Block& other) {
    for (Warp& warp : other.warps)
      for (Group& group : warp.groups)
        if (group.state == Group::State::object &&
            group.object == reinterpret_cast<std::uint64_t>(&m))
          group.state = Group::State::ready;
  };
  if (block.cluster.empty()) return wake(block);
  for (Block* other : block.cluster) wake(*other);
}

bool do_one_job(Execution&, Block& block) {
  const auto from = [](Block& each) {
    if (each.async.jobs.empty()) return false;
    const AsyncJob job = std::move(each.async.jobs.front());
    each.async.jobs.pop_front();
    const auto m = each.async.mbarriers.find(job.mbarrier);
    if (m == each.async.mbarriers.end())
      each.async.unawaited.push_back({job.instruction, job.thread, 0});
    else
      m->second.unawaited.push_back({job.instruction, job.thread, m->second.phase});
    job.run();
    return true;
  };
  if (from(block)) return true;
  for (Block* other : block.cluster)
    if (from(*other)) return true;
  return false;
}

}  // namespace halftone::simulator
