// SPDX-License-Identifier: Apache-2.0
// Every edge of the race model among threads and blocks, and what is reported when it is missing.
#include "race.hpp"

#include <doctest/doctest.h>

#include <string>

#include "race_script.hpp"

using namespace halftone::tests;
using What = Conflict::What;

namespace {

constexpr std::uint64_t kX = kGlobal + 64, kFlag = kGlobal + 4096;

}  // namespace

TEST_CASE("a barrier of the block orders its threads, and nothing else does by itself") {
  struct Case {
    const char* name;
    Touch first, second;
    Order order;
  };
  const Case cases[] = {
      {"read after write", Touch::write, Touch::read, Order::read_after_write},
      {"write after read", Touch::read, Touch::write, Order::write_after_read},
      {"write after write", Touch::write, Touch::write, Order::write_after_write}};
  for (const Case& c : cases)
    for (const bool global : {false, true}) {
      CAPTURE(std::string(c.name));
      const std::uint64_t address = global ? kX : 64;
      Script ordered, unordered;
      for (Script* s : {&ordered, &unordered}) {
        s->at(11).lanes(c.first, 0, 0, 1u << 3, address, 4, true);
        if (s == &ordered) s->barrier();
        s->at(22).lanes(c.second, 0, 1, 1u << 5, address, 4, true);
      }
      CHECK(ordered.conflicts.empty());
      REQUIRE(unordered.conflicts.size() == 1);
      const Conflict& conflict = unordered.conflicts[0];
      CHECK(conflict.what == What::race);
      CHECK(conflict.order == c.order);
      CHECK(conflict.shared == !global);
      CHECK(conflict.address == address);
      CHECK(conflict.thread == 37);
      CHECK(conflict.other_thread == 3);
      CHECK(conflict.site == 22);
      CHECK(conflict.other_site == 11);
    }
}

TEST_CASE("two reads are no race, and neither is one thread with itself") {
  Script s;
  s.read(0, 1, 64), s.read(0, 70, 64);
  s.write(0, 9, 128), s.read(0, 9, 128), s.write(0, 9, 128);
  CHECK(s.conflicts.empty());
}

TEST_CASE("bytes are told apart, whatever the widths") {
  Script apart(1, 128, 2);
  apart.write(0, 0, 64, 2), apart.write(0, 1, 66, 2), apart.read(0, 2, 68, 4);
  apart.write(0, 3, 80, 16), apart.write(0, 4, 96, 8), apart.write(0, 5, 104, 8);
  CHECK(apart.conflicts.empty());
  Script wide(1, 128, 2);
  wide.write(0, 0, 66, 2);
  wide.read(0, 1, 64, 4);
  CHECK(race(wide, Order::read_after_write));
  Script line(1, 128, 2);
  line.write(0, 0, 80, 16);
  line.read(0, 1, 94, 2);
  CHECK(race(line, Order::read_after_write));
  Script back(1, 128, 2);
  back.read(0, 0, 82, 2);
  back.barrier();
  back.write(0, 0, 80, 16);
  back.read(0, 1, 80, 16);
  CHECK(race(back, Order::read_after_write));
}

TEST_CASE("bar.warp.sync orders the lanes it names, not those of other warps") {
  Script warp;
  warp.write_warp(0, 0, 0), warp.sync_warp(0),
      warp.lanes(Touch::read, 0, 0, kFullMask, 64, 4, true);
  CHECK(warp.conflicts.empty());
  Script none;
  none.write_warp(0, 0, 0), none.lanes(Touch::read, 0, 0, kFullMask, 64, 4, true);
  CHECK(race(none, Order::read_after_write));
  Script other;
  other.write_warp(0, 0, 0), other.sync_warp(0), other.sync_warp(1), other.read(0, 32, 0);
  CHECK(race(other, Order::read_after_write));
  Script some;
  some.write(0, 0, 0), some.write(0, 1, 4), some.sync_warp(0, 0x0ff), some.read(0, 7, 0),
      some.read(0, 0, 4);
  CHECK(some.conflicts.empty());
  some.read(0, 8, 0);
  CHECK(race(some, Order::read_after_write));
}

TEST_CASE("a warp passes on what it learnt: partial masks, then the whole warp, then others") {
  Script s;
  s.write(0, 0, 0);
  s.sync_warp(0, 0x3);
  s.sync_warp(0, 0x6);
  s.read(0, 2, 0);
  s.sync_warp(0);
  s.read(0, 31, 0);
  s.named_complete(1, {0, 1});
  s.read(0, 63, 0);
  CHECK(s.conflicts.empty());
  s.read(0, 64, 0);
  CHECK(race(s, Order::read_after_write));
}

TEST_CASE("a named barrier orders who takes part; bar.arrive gives and does not take") {
  Script s;
  s.write_warp(0, 0, 0), s.write_warp(0, 1, 128);
  s.named_arrive(0, 1);
  s.write_warp(0, 0, 256);  // after its arrival
  s.named_complete(1, {1});
  s.read_warp(0, 1, 0);
  CHECK(s.conflicts.empty());
  Script later;
  later.named_arrive(0, 1), later.write_warp(0, 0, 256), later.named_complete(1, {1}),
      later.read_warp(0, 1, 256);
  CHECK(race(later, Order::read_after_write));
  Script taken;
  taken.write_warp(0, 1, 0), taken.named_arrive(0, 1), taken.named_complete(1, {1}),
      taken.read_warp(0, 0, 0);
  CHECK(race(taken, Order::read_after_write));
  Script outside;
  outside.write_warp(0, 0, 0), outside.named_complete(1, {0, 1}), outside.read_warp(0, 2, 0);
  CHECK(race(outside, Order::read_after_write));
}

TEST_CASE("an mbarrier orders arrivals of a phase before those who waited for it") {
  Script s;
  s.write_warp(0, 0, 0), s.arrive_warp(0, 4096), s.complete(4096), s.wait(1, 4096),
      s.read_warp(0, 1, 0);
  CHECK(s.conflicts.empty());
  Script unwaited;
  unwaited.write_warp(0, 0, 0), unwaited.arrive_warp(0, 4096), unwaited.complete(4096),
      unwaited.read_warp(0, 1, 0);
  CHECK(race(unwaited, Order::read_after_write));
  Script late;  // an arrival of the next phase
  late.arrive_warp(0, 4096), late.complete(4096), late.write_warp(0, 0, 0),
      late.arrive_warp(0, 4096), late.wait(1, 4096);
  late.read_warp(0, 1, 0);
  CHECK(race(late, Order::read_after_write));
  Script one;  // only one lane arrived
  one.write_warp(0, 0, 0), one.arrive(0, 4096), one.complete(4096), one.wait(1, 4096),
      one.read(0, 32, 0);
  CHECK(one.conflicts.empty());
  one.read(0, 32, 4);
  CHECK(race(one, Order::read_after_write));
}

TEST_CASE("release and acquire order two blocks, when both are there and wide enough") {
  struct Case {
    const char* name;
    bool barrier, release, acquire;
    Scope scope;
    bool races;
  };
  const Case cases[] = {{"complete", true, true, true, Scope::device, false},
                        {"no barrier before", false, true, true, Scope::device, true},
                        {"relaxed store", true, false, true, Scope::device, true},
                        {"relaxed load", true, true, false, Scope::device, true},
                        {"scope of the block", true, true, true, Scope::block, true}};
  for (const Case& c : cases) {
    CAPTURE(std::string(c.name));
    Script s(2);
    s.write(0, 40, kX);
    if (c.barrier) s.barrier(0);
    s.strong(0, 0, kFlag, {false, true, false, c.release}, c.scope);
    s.strong(1, 0, kFlag, {true, false, c.acquire, false}, c.scope);
    s.barrier(1);
    s.read(1, 77, kX);
    CHECK(s.conflicts.empty() != c.races);
  }
}

TEST_CASE("a flag that is written again after the acquire tells nothing more") {
  Script s(2);
  s.store_release(0, 0, kFlag), s.load_acquire(1, 0, kFlag);
  s.write(0, 0, kX), s.store_release(0, 0, kFlag);
  s.read(1, 0, kX);
  CHECK(race(s, Order::read_after_write));
}

TEST_CASE("knowledge passes from block to block to block") {
  Script s(3);
  s.write(0, 0, kX), s.store_release(0, 0, kFlag);
  s.load_acquire(1, 5, kFlag), s.barrier(1), s.store_release(1, 90, kFlag + 4);
  s.load_acquire(2, 1, kFlag + 4), s.barrier(2), s.write(2, 100, kX);
  CHECK(s.conflicts.empty());
  Script without(3);
  without.write(0, 0, kX), without.store_release(0, 0, kFlag);
  without.store_release(1, 90, kFlag + 4);
  without.load_acquire(2, 1, kFlag + 4), without.write(2, 1, kX);
  CHECK(race(without, Order::write_after_write));
  CHECK(without.conflicts[0].other_block == 0);
}

TEST_CASE("what a block passed on outlives it") {
  constexpr std::uint64_t kShared = 64;
  for (const bool through : {false, true}) {
    Script s(3);
    s.write(0, 0, kX), s.store_release(0, 0, kFlag);
    s.load_acquire(1, 5, kFlag);
    if (through) s.store_release(1, 5, kShared, Scope::block);
    s.load_acquire(1, 90, kShared, Scope::block), s.store_release(1, 90, kFlag + 4);
    s.blocks[1].reset();
    s.load_acquire(2, 1, kFlag + 4), s.write(2, 1, kX);
    CHECK(s.conflicts.empty() == through);
  }
}

TEST_CASE("fences make relaxed atomics order, when there is one on each side") {
  for (const int missing : {0, 1, 2, 3}) {
    CAPTURE(missing);
    Script s(2);
    s.write(0, 0, kX);
    if (missing != 1) s.fence(0, 0, missing == 3 ? Scope::block : Scope::device);
    s.atomic(0, 0, kFlag);
    s.atomic(1, 0, kFlag);
    if (missing != 2) s.fence(1, 0);
    s.read(1, 0, kX);
    CHECK(s.conflicts.empty() == (missing == 0));
  }
  Script early(2);  // the fence comes before the write
  early.fence(0, 0), early.write(0, 0, kX), early.atomic(0, 0, kFlag);
  early.atomic(1, 0, kFlag), early.fence(1, 0), early.read(1, 0, kX);
  CHECK(race(early, Order::read_after_write));
  Script within;  // a fence of the block's scope orders threads of one block
  within.write(0, 0, 0), within.fence(0, 0, Scope::block), within.atomic(0, 0, 512, Scope::block);
  within.atomic(0, 99, 512, Scope::block), within.fence(0, 99, Scope::block), within.read(0, 99, 0);
  CHECK(within.conflicts.empty());
}

TEST_CASE("a fence relies on what was read before it, not on what was written since") {
  constexpr Strength kRead{true, false, false, false}, kWrite{false, true, false, false};
  struct Case {
    const char* name;
    bool before, after;  // the flag is read before and after the write
    bool races;
  };
  const Case cases[] = {{"read before", true, false, true},
                        {"read after", false, true, false},
                        {"read twice", true, true, false},
                        {"not read", false, false, true}};
  for (const Case& c : cases) {
    CAPTURE(std::string(c.name));
    Script s(2);
    s.store_release(0, 0, kFlag);
    if (c.before) s.strong(1, 0, kFlag, kRead);
    s.write(0, 0, kX), s.fence(0, 0), s.strong(0, 0, kFlag, kWrite);
    if (c.after) s.strong(1, 0, kFlag, kRead);
    s.fence(1, 0), s.read(1, 0, kX);
    CHECK(s.conflicts.empty() != c.races);
  }
}

TEST_CASE("atomics race with plain accesses, not with each other unless their scope is too small") {
  Script together(2);
  together.atomic(0, 0, kX), together.atomic(0, 64, kX), together.atomic(1, 3, kX);
  CHECK(together.conflicts.empty());
  together.read(1, 4, kX);
  CHECK(race(together, Order::read_after_write));
  Script plain;
  plain.write(0, 0, 0), plain.atomic(0, 40, 0);
  CHECK(race(plain, Order::write_after_write));
  Script narrow(2);
  narrow.atomic(0, 0, kX, Scope::block), narrow.atomic(1, 0, kX, Scope::device);
  CHECK(race(narrow, Order::write_after_write));
  Script same;
  same.atomic(0, 0, kX, Scope::block), same.atomic(0, 99, kX, Scope::block);
  CHECK(same.conflicts.empty());
}

TEST_CASE("blocks that touch the same global byte are reported") {
  Script s(2);
  s.at(5).write(0, 1, kX), s.barrier(0), s.barrier(1), s.at(6).write(1, 2, kX);
  REQUIRE(race(s, Order::write_after_write));
  CHECK(s.conflicts[0].block == 1);
  CHECK(s.conflicts[0].other_block == 0);
  CHECK(s.conflicts[0].other_site == 5);
  Script reads(2);
  reads.read(0, 1, kX), reads.read(1, 2, kX);
  CHECK(reads.conflicts.empty());
  reads.write(1, 2, kX);
  REQUIRE(race(reads, Order::write_after_read));
  CHECK(reads.conflicts[0].other_block == 0);
  Script shared(2);  // each block has its own
  shared.write(0, 1, 64), shared.write(1, 2, 64);
  CHECK(shared.conflicts.empty());
}

TEST_CASE("lanes of one instruction that write one address race when their values differ") {
  struct Case {
    const char* name;
    bool (*same)(const void*, std::uint32_t, std::uint32_t);
    bool reported;
  };
  const Case cases[] = {
      {"the same value", [](const void*, std::uint32_t, std::uint32_t) { return true; }, false},
      {"different values", [](const void*, std::uint32_t a, std::uint32_t b) { return a == b; },
       true},
      {"not known", nullptr, false}};
  for (const Case& c : cases) {
    CAPTURE(std::string(c.name));
    Script s;
    std::array<std::uint64_t, 32> addresses{};
    addresses[3] = addresses[9] = 64;
    LaneAccess access;
    access.touch = Touch::write;
    access.owner = s.blocks[0].get();
    access.addresses = addresses.data();
    access.bytes = 4;
    access.same = c.same;
    s.detector.access(s.who(0, 0, 1u << 3 | 1u << 9), access);
    CHECK(s.conflicts.size() == (c.reported ? 1 : 0));
    s.read(0, 40, 64);
    CHECK_FALSE(s.conflicts.empty());
  }
}

TEST_CASE("of many readers each one must be ordered before a write") {
  for (std::uint32_t missing = 0; missing <= 4; ++missing) {  // 4: none
    CAPTURE(missing);
    Script s(1, 160);
    for (std::uint32_t warp = 0; warp < 4; ++warp) {
      s.lanes(Touch::read, 0, warp, kFullMask, 64, 4, true);
      if (warp != missing) s.arrive_warp(warp, 4096);
    }
    s.complete(4096), s.wait(4, 4096);
    s.write(0, 130, 64);
    if (missing == 4) {
      CHECK(s.conflicts.empty());
    } else {
      REQUIRE(race(s, Order::write_after_read));
      CHECK(s.conflicts[0].other_thread / 32 == missing);
    }
  }
}
