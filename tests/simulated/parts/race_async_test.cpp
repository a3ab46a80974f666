// SPDX-License-Identifier: Apache-2.0
// Edges of the race model to and from asynchronous work and between blocks of a cluster, and what
// is reported when one is missing.
#include <doctest/doctest.h>

#include "race.hpp"
#include "race_script.hpp"

using namespace halftone::tests;
using What = Conflict::What;

TEST_CASE("cp.async is in flight until its thread waited, and known to that thread alone") {
  Script early;
  early.at(1).copy_begins(3, 64), early.at(2).read(0, 3, 68);
  REQUIRE(only(early, What::in_flight, Order::read_after_write));
  CHECK(early.conflicts[0].other_site == 1);
  CHECK(early.conflicts[0].other_thread == 3);
  Script own;
  own.copy_begins(3, 64), own.read(0, 3, 80), own.copy_ends(3, 64), own.read(0, 3, 64);
  CHECK(own.conflicts.empty());
  own.read(0, 4, 64);
  CHECK(race(own, Order::read_after_write));
  Script all;
  all.copy_begins(3, 64), all.copy_ends(3, 64), all.barrier(), all.read(0, 4, 64);
  CHECK(all.conflicts.empty());
  Script reused;  // a stage that others still read
  reused.read(0, 50, 64), reused.copy_begins(3, 64);
  CHECK(race(reused, Order::write_after_read));
  Script twice;
  twice.copy_begins(3, 64), twice.copy_begins(3, 64);
  CHECK(only(twice, What::in_flight, Order::write_after_write));
}

TEST_CASE("a bulk load is known to those who waited for its mbarrier, and to no others") {
  Script good;
  good.bulk_begins(0, Touch::write, 1024, 512), good.arrive(0, 4096),
      good.bulk_arrives(0, 1024, 512, 4096);
  good.complete(4096), good.wait(1, 4096), good.read_warp(0, 1, 1024);
  CHECK(good.conflicts.empty());
  good.read_warp(0, 2, 1024);
  CHECK(race(good, Order::read_after_write));
  Script barrier;  // a barrier passes on what somebody waited for, and nothing more
  barrier.bulk_begins(0, Touch::write, 1024, 512), barrier.arrive(0, 4096),
      barrier.bulk_arrives(0, 1024, 512, 4096);
  barrier.complete(4096), barrier.wait(0, 4096), barrier.barrier(), barrier.read_warp(0, 2, 1024);
  CHECK(barrier.conflicts.empty());
  Script nobody;
  nobody.bulk_begins(0, Touch::write, 1024, 512), nobody.arrive(0, 4096),
      nobody.bulk_arrives(0, 1024, 512, 4096);
  nobody.complete(4096), nobody.barrier(), nobody.read_warp(0, 2, 1024);
  CHECK(race(nobody, Order::read_after_write));
  Script other;  // another mbarrier than the one that counted it
  other.bulk_begins(0, Touch::write, 1024, 512), other.arrive(0, 4096),
      other.bulk_arrives(0, 1024, 512, 4096);
  other.complete(4096), other.arrive(0, 4104), other.complete(4104), other.wait(1, 4104),
      other.read_warp(0, 1, 1024);
  CHECK(race(other, Order::read_after_write));
  Script flying;
  flying.bulk_begins(0, Touch::write, 1024, 512), flying.read_warp(0, 1, 1024);
  CHECK(only(flying, What::in_flight, Order::read_after_write));
}

TEST_CASE("a barrier passes a bulk load on to another block only if somebody waited for it") {
  for (const bool fences : {false, true})
    for (const bool waited : {false, true}) {
      CAPTURE(fences);
      CAPTURE(waited);
      constexpr std::uint64_t kFlag = kGlobal + 4096;
      Script s(2);
      s.bulk_begins(0, Touch::write, 1024, 64), s.arrive(0, 4096),
          s.bulk_arrives(0, 1024, 64, 4096), s.complete(4096);
      if (waited) s.wait(1, 4096);
      s.barrier(0);
      if (fences) {
        s.fence(0, 0), s.atomic(0, 0, kFlag), s.atomic(1, 0, kFlag), s.fence(1, 0);
      } else {
        s.store_release(0, 0, kFlag), s.load_acquire(1, 0, kFlag);
      }
      std::array<std::uint64_t, 32> addresses{};
      addresses.fill(1024);
      LaneAccess access;
      access.owner = s.blocks[0].get(), access.addresses = addresses.data(), access.bytes = 4;
      s.detector.access(s.one(1, 0), access);
      CHECK(s.conflicts.empty() == waited);
      if (!waited) CHECK(race(s, Order::read_after_write));
    }
}

TEST_CASE("a proxy fence covers a copy that its thread knew to be done") {
  for (const bool waited : {false, true}) {
    CAPTURE(waited);
    Script s;
    const Stretch copy = s.stretch(Touch::write, 64, 16, false);  // cp.async
    s.detector.async_begin(s.one(0, 3), copy);
    s.detector.async_end(s.one(0, 3), std::span(&copy, 1), *s.blocks[0], 4096), s.complete(4096);
    if (waited) s.wait(1, 4096);
    s.barrier(), s.proxy_fence(0), s.wait(0, 4096);
    s.bulk_begins(0, Touch::read, 64, 16);
    CHECK(s.conflicts.empty() == waited);
    if (!waited) CHECK(only(s, What::missing_fence, Order::read_after_write));
  }
}

TEST_CASE("what a bulk load read is free for those who waited for its mbarrier") {
  for (const std::uint32_t writer : {1u, 2u})
    for (const bool barrier : {false, true}) {
      CAPTURE(writer);
      CAPTURE(barrier);
      Script s;
      s.bulk_begins(0, Touch::read, kGlobal, 64), s.bulk_begins(0, Touch::write, 1024, 64),
          s.arrive(0, 4096), s.load_arrives(0, kGlobal, 1024, 64, 4096);
      s.complete(4096);
      if (barrier) s.barrier();  // which nobody reached who had waited
      s.wait(1, 4096);
      s.write(0, 32 * writer, kGlobal + 60);
      CHECK(s.conflicts.empty() == (writer == 1));
      if (writer != 1) CHECK(race(s, Order::write_after_read));
    }
}

TEST_CASE("bulk loads of one mbarrier do not make others' reads forgotten") {
  Script s(4);
  s.read(1, 5, kGlobal), s.read(2, 5, kGlobal);
  for (std::uint32_t phase = 0; phase < 20; ++phase)
    s.bulk_begins(0, Touch::read, kGlobal, 64), s.bulk_begins(0, Touch::write, 1024, 64),
        s.load_arrives(0, kGlobal, 1024, 64, 4096), s.complete(4096);
  s.conflicts.clear();  // the writes to shared memory
  s.write(3, 0, kGlobal);
  REQUIRE(race(s, Order::write_after_read));
  CHECK(s.conflicts.size() == 3);
  for (const std::uint32_t block : {0u, 1u, 2u})
    CHECK(std::ranges::count(s.conflicts, block, &Conflict::other_block) == 1);
}

TEST_CASE("a generic write needs a proxy fence before an asynchronous read") {
  struct Case {
    const char* name;
    int fence;  // 1: by the writer, 2: by the issuer after the barrier, 3: by the writer too early,
                // 4: by another thread
    bool reported;
  };
  const Case cases[] = {{"none", 0, true},
                        {"by the writer", 1, false},
                        {"by the issuer", 2, false},
                        {"before the write", 3, true},
                        {"by the issuer before the barrier", 4, true}};
  for (const Case& c : cases) {
    CAPTURE(std::string(c.name));
    Script s;
    if (c.fence == 3) s.proxy_fence(50);
    s.at(7).write(0, 50, 1024);
    if (c.fence == 1) s.proxy_fence(50);
    if (c.fence == 4) s.proxy_fence(0);
    s.barrier();
    if (c.fence == 2) s.proxy_fence(0);
    s.at(8).bulk_begins(0, Touch::read, 1024, 64);
    CHECK(s.conflicts.empty() != c.reported);
    if (!c.reported) continue;
    CHECK(only(s, What::missing_fence, Order::read_after_write));
    CHECK(s.conflicts[0].other_site == 7);
  }
  Script racing;
  racing.write(0, 50, 1024), racing.proxy_fence(50), racing.bulk_begins(0, Touch::read, 1024, 64);
  CHECK(race(racing, Order::read_after_write));
}

TEST_CASE("what an asynchronous operation reads must stay until it was waited for") {
  Script s;
  s.write(0, 0, 1024), s.proxy_fence(0);
  s.bulk_begins(0, Touch::read, 1024, 64);
  s.read(0, 0, 1024);
  CHECK(s.conflicts.empty());
  s.write(0, 0, 1024);
  CHECK(only(s, What::in_flight, Order::write_after_read));
  Script done;
  done.write(0, 0, 1024), done.proxy_fence(0), done.bulk_begins(0, Touch::read, 1024, 64);
  done.bulk_ends(0, Touch::read, 1024, 64), done.write(0, 0, 1024);
  CHECK(done.conflicts.empty());
  done.write(0, 90, 1024);
  CHECK(race(done, Order::write_after_write));
}

TEST_CASE("a cluster's barrier orders what came before an arrival that releases") {
  enum class How { none, relaxed, too_late, ordered };
  for (const How how : {How::none, How::relaxed, How::too_late, How::ordered}) {
    CAPTURE(static_cast<int>(how));
    Script s(2);
    RacingBlock* const both[] = {s.blocks[0].get(), s.blocks[1].get()};
    const auto arrive = [&] {
      for (std::uint32_t b = 0; b < 2; ++b)
        for (std::uint32_t w = 0; w < 4; ++w)
          if (b != 0 || w != 0 || how != How::relaxed)
            s.detector.cluster_arrive(s.who(b, w, kFullMask), both);
    };
    std::array<std::uint64_t, 32> addresses{};
    LaneAccess access;
    access.touch = Touch::write, access.owner = s.blocks[1].get(),
    access.addresses = addresses.data(), access.bytes = 4;
    if (how == How::too_late) arrive();
    s.detector.access(s.who(0, 0, 1), access);  // block 0 writes into block 1
    if (how == How::ordered || how == How::relaxed) arrive();
    s.detector.cluster_complete(both);
    if (how != How::none) s.detector.cluster_wait(s.who(1, 2, kFullMask));
    s.read(1, 70, 0);
    CHECK(s.conflicts.empty() == (how == How::ordered));
  }
}

TEST_CASE("an access to another block's shared memory comes before that block's end") {
  for (const bool ordered : {false, true}) {
    Script s(2);
    RacingBlock* const both[] = {s.blocks[0].get(), s.blocks[1].get()};
    std::array<std::uint64_t, 32> addresses{};
    LaneAccess access;
    access.owner = s.blocks[1].get(), access.addresses = addresses.data(), access.bytes = 4;
    s.detector.access(s.who(0, 0, 1), access);  // block 0 reads block 1
    s.detector.cluster_arrive(s.who(0, 0, 1), both);
    s.detector.cluster_complete(both);
    if (ordered) s.detector.cluster_wait(s.who(1, 3, 1));
    s.detector.block_ends(*s.blocks[1]);
    REQUIRE(s.conflicts.size() == (ordered ? 0 : 1));
    if (!ordered) CHECK(s.conflicts[0].what == Conflict::What::owner_gone);
  }
}

TEST_CASE("each of many readers of another block's shared memory comes before that block's end") {
  struct Case {
    const char* name;
    std::uint32_t arrives[2];  // lanes of warps 0 and 1, of which the lowest two read
    std::uint32_t missing;     // a thread
  };
  constexpr std::uint32_t kNobody = ~0u;
  const Case cases[] = {{"all", {3, 3}, kNobody},
                        {"not the first warp's second lane", {1, 3}, 1},
                        {"not the second warp's first lane", {3, 2}, 32},
                        {"not the second warp's second lane", {3, 1}, 33}};
  for (const Case& c : cases) {
    CAPTURE(std::string(c.name));
    Script s(2);
    RacingBlock* const both[] = {s.blocks[0].get(), s.blocks[1].get()};
    std::array<std::uint64_t, 32> addresses{};
    LaneAccess access;
    access.owner = s.blocks[1].get(), access.addresses = addresses.data(), access.bytes = 4;
    for (std::uint32_t warp = 0; warp < 2; ++warp) s.detector.access(s.who(0, warp, 3), access);
    for (std::uint32_t warp = 0; warp < 2; ++warp)
      s.detector.cluster_arrive(s.who(0, warp, c.arrives[warp]), both);
    s.detector.cluster_complete(both);
    s.detector.cluster_wait(s.who(1, 3, 1));
    s.detector.block_ends(*s.blocks[1]);
    CHECK(s.conflicts.empty() == (c.missing == kNobody));
    if (s.conflicts.empty()) continue;
    CHECK(only(s, What::owner_gone, Order::read_after_write));
    CHECK(s.conflicts[0].thread == c.missing);
  }
}

TEST_CASE("a block does not end while an asynchronous copy reads its shared memory") {
  for (const bool done : {false, true}) {
    Script s(2);
    s.at(7).bulk_begins(5, Touch::read, 1024, 64);
    if (done) s.bulk_ends(5, Touch::read, 1024, 64);
    s.detector.block_ends(*s.blocks[0]);
    CHECK(s.conflicts.empty() == done);
    if (done || s.conflicts.empty()) continue;
    CHECK(only(s, What::owner_gone, Order::read_after_write));
    CHECK(s.conflicts[0].thread == 5);
    CHECK(s.conflicts[0].site == 7);
    CHECK(s.conflicts[0].address == 1024);
  }
}
