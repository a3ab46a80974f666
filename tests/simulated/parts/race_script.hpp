// SPDX-License-Identifier: Apache-2.0
// Events told to the race detector by hand, one line each: what a kernel would do.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "race.hpp"

namespace halftone::tests {

using namespace halftone::simulator;

inline constexpr std::uint64_t kGlobal = std::uint64_t{1} << 36;
inline constexpr std::uint32_t kFullMask = 0xffffffffu;

class Script {
 public:
  explicit Script(std::uint32_t blocks = 1, std::uint32_t threads = 128, std::uint32_t granule = 4)
      : detector(granule, [this](const Conflict& c) { conflicts.push_back(c); }) {
    for (std::uint32_t b = 0; b < blocks; ++b)
      this->blocks.push_back(detector.block_begins(b, threads, 8192));
  }

  /// The site of what follows.
  Script& at(std::uint32_t site) { return site_ = site, *this; }

  /// Lanes of a warp touch consecutive elements from `address` on; below 2^32 it is shared memory.
  void lanes(Touch touch, std::uint32_t block, std::uint32_t warp, std::uint32_t mask,
             std::uint64_t address, std::uint32_t bytes, bool same = false, bool strong = false,
             Scope scope = Scope::device) {
    std::array<std::uint64_t, 32> addresses{};
    for (std::uint32_t l = 0; l < 32; ++l) addresses[l] = address + (same ? 0 : l * bytes);
    LaneAccess access;
    access.touch = touch;
    access.owner = address < kGlobal ? blocks[block].get() : nullptr;
    access.addresses = addresses.data();
    access.bytes = bytes;
    access.strong = strong;
    access.scope = scope;
    detector.access(who(block, warp, mask), access);
  }
  void write(std::uint32_t block, std::uint32_t thread, std::uint64_t address,
             std::uint32_t bytes = 4) {
    lanes(Touch::write, block, thread / 32, 1u << thread % 32, address, bytes, true);
  }
  void read(std::uint32_t block, std::uint32_t thread, std::uint64_t address,
            std::uint32_t bytes = 4) {
    lanes(Touch::read, block, thread / 32, 1u << thread % 32, address, bytes, true);
  }
  void write_warp(std::uint32_t block, std::uint32_t warp, std::uint64_t address,
                  std::uint32_t bytes = 4) {
    lanes(Touch::write, block, warp, kFullMask, address, bytes);
  }
  void read_warp(std::uint32_t block, std::uint32_t warp, std::uint64_t address,
                 std::uint32_t bytes = 4) {
    lanes(Touch::read, block, warp, kFullMask, address, bytes);
  }

  /// Strong accesses of one thread.
  void strong(std::uint32_t block, std::uint32_t thread, std::uint64_t address, Strength strength,
              Scope scope = Scope::device) {
    std::array<std::uint64_t, 32> addresses;
    addresses.fill(address);
    LaneAccess access;
    access.touch = strength.writes ? Touch::write : Touch::read;
    access.owner = address < kGlobal ? blocks[block].get() : nullptr;
    access.addresses = addresses.data();
    access.bytes = 4;
    access.strong = true;
    access.scope = scope;
    detector.access(one(block, thread), access);
    detector.synchronize(one(block, thread), access, strength);
  }
  void atomic(std::uint32_t block, std::uint32_t thread, std::uint64_t address,
              Scope scope = Scope::device) {
    strong(block, thread, address, {true, true, false, false}, scope);
  }
  void store_release(std::uint32_t block, std::uint32_t thread, std::uint64_t address,
                     Scope scope = Scope::device) {
    strong(block, thread, address, {false, true, false, true}, scope);
  }
  void load_acquire(std::uint32_t block, std::uint32_t thread, std::uint64_t address,
                    Scope scope = Scope::device) {
    strong(block, thread, address, {true, false, true, false}, scope);
  }
  void fence(std::uint32_t block, std::uint32_t thread, Scope scope = Scope::device) {
    detector.fence(one(block, thread), scope);
  }

  void barrier(std::uint32_t block = 0) { detector.block_barrier(*blocks[block]); }
  void sync_warp(std::uint32_t warp, std::uint32_t mask = kFullMask) {
    detector.warp_barrier(who(0, warp, mask));
  }
  void named_arrive(std::uint32_t warp, std::uint32_t id) {
    detector.named_arrive(who(0, warp, kFullMask), id);
  }
  void named_complete(std::uint32_t id, std::initializer_list<std::uint32_t> warps) {
    std::vector<Lanes> waiters;
    for (const std::uint32_t warp : warps) waiters.push_back(who(0, warp, kFullMask));
    detector.named_complete(*blocks[0], id, waiters);
  }

  void arrive(std::uint32_t thread, std::uint32_t mbarrier) {
    detector.mbarrier_arrive(one(0, thread), *blocks[0], mbarrier);
  }
  void arrive_warp(std::uint32_t warp, std::uint32_t mbarrier) {
    detector.mbarrier_arrive(who(0, warp, kFullMask), *blocks[0], mbarrier);
  }
  void complete(std::uint32_t mbarrier) { detector.mbarrier_complete(*blocks[0], mbarrier); }
  void wait(std::uint32_t warp, std::uint32_t mbarrier) {
    detector.mbarrier_wait(who(0, warp, kFullMask), *blocks[0], mbarrier);
  }

  void proxy_fence(std::uint32_t thread) { detector.proxy_fence(one(0, thread)); }
  Stretch stretch(Touch touch, std::uint64_t address, std::uint32_t bytes, bool proxy) {
    return {touch, address < kGlobal ? blocks[0].get() : nullptr, address, bytes, proxy};
  }
  /// cp.async of 16 bytes by a thread.
  void copy_begins(std::uint32_t thread, std::uint32_t to) {
    detector.async_begin(one(0, thread), stretch(Touch::write, to, 16, false));
  }
  void copy_ends(std::uint32_t thread, std::uint32_t to) {
    detector.async_end(one(0, thread), stretch(Touch::write, to, 16, false));
  }
  /// Bulk copies and wgmma.
  void bulk_begins(std::uint32_t thread, Touch touch, std::uint64_t address, std::uint32_t bytes) {
    detector.async_begin(one(0, thread), stretch(touch, address, bytes, true));
  }
  void bulk_ends(std::uint32_t thread, Touch touch, std::uint64_t address, std::uint32_t bytes) {
    detector.async_end(one(0, thread), stretch(touch, address, bytes, true));
  }
  void bulk_arrives(std::uint32_t thread, std::uint32_t to, std::uint32_t bytes,
                    std::uint32_t mbarrier) {
    const Stretch written = stretch(Touch::write, to, bytes, true);
    detector.async_end(one(0, thread), std::span(&written, 1), *blocks[0], mbarrier);
  }
  /// A bulk load: `from` global memory.
  void load_arrives(std::uint32_t thread, std::uint64_t from, std::uint32_t to, std::uint32_t bytes,
                    std::uint32_t mbarrier) {
    const Stretch both[] = {stretch(Touch::read, from, bytes, true),
                            stretch(Touch::write, to, bytes, true)};
    detector.async_end(one(0, thread), both, *blocks[0], mbarrier);
  }

  Lanes who(std::uint32_t block, std::uint32_t warp, std::uint32_t mask) {
    return {*blocks[block], warp, mask, site_};
  }
  Lanes one(std::uint32_t block, std::uint32_t thread) {
    return who(block, thread / 32, 1u << thread % 32);
  }

  std::vector<Conflict> conflicts;
  RaceDetector detector;
  std::vector<std::unique_ptr<RacingBlock>> blocks;

 private:
  std::uint32_t site_ = 0;
};

/// Whether there are conflicts, all of this kind and order.
inline bool only(const Script& s, Conflict::What what, Order order) {
  return !s.conflicts.empty() && std::ranges::all_of(s.conflicts, [&](const Conflict& c) {
    return c.what == what && c.order == order;
  });
}
inline bool race(const Script& s, Order order) { return only(s, Conflict::What::race, order); }

}  // namespace halftone::tests
