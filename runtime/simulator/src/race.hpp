// SPDX-License-Identifier: Apache-2.0
// The detector of unordered accesses: told what a launch does, it reports every pair of accesses to
// one byte, one of them a write, that nothing orders. It knows no instructions and no engine. One
// detector serves one launch; memory that an earlier launch wrote is ordered before it. It is used
// by one host thread at a time.
//
// Order comes from: barriers of a block, of a warp (bar.warp.sync), named barriers, mbarriers,
// fences with strong accesses around them, acquire and release. Shuffles, votes and matrix
// operations order nothing (PTX ISA 9.0, 8). Strong accesses (atomics, volatile, relaxed and
// stronger) do not race with each other unless one's scope is the block and they come from two.
// Lanes of one instruction that write one address are a race when their values differ; when they
// are the same, or not known, they are not: every order leaves the same bytes.
// Of more than 17 unordered reads of one byte, 4 in global memory, the oldest are forgotten; of
// unordered strong writes all but the last.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "race_clocks.hpp"
#include "race_shadow.hpp"

namespace halftone::simulator {

enum class Touch : std::uint8_t { read, write };
enum class Scope : std::uint8_t { block, cluster, device, system };
/// As stamps hold it.
[[nodiscard]] inline std::uint8_t strength_of(bool strong, Scope scope) {
  return strong ? static_cast<std::uint8_t>(1 + static_cast<int>(scope)) : 0;
}

enum class Order : std::uint8_t { read_after_write, write_after_read, write_after_write };

struct Conflict {
  enum class What : std::uint8_t {
    race,           ///< nothing orders the two
    in_flight,      ///< the other is asynchronous and not yet awaited
    missing_fence,  ///< ordered, but no fence.proxy.async lies between a generic write and an
                    ///< asynchronous access
    owner_gone,     ///< of another block's shared memory, and nothing orders it before that block's
                    ///< end; `other_block` is that block
  };
  What what{};
  Order order{};
  bool shared = false;
  std::uint64_t address =
      0;                    ///< a byte that both touch; of shared memory, in the window of `owner`
  std::uint32_t owner = 0;  ///< the block whose shared memory it is
  std::uint32_t block = 0, other_block = 0;
  std::uint32_t thread = 0,
                other_thread = 0;  ///< of their blocks; >= its threads: an asynchronous engine
  std::uint32_t site = 0, other_site = 0;  ///< as given by the caller
};

/// What was released through objects, by address.
using Objects = std::unordered_map<std::uint64_t, Log>;

/// A block while it runs.
struct RacingBlock {
  RacingBlock(std::uint32_t number, std::uint32_t threads, std::uint32_t shared_bytes,
              std::uint32_t granule)
      : clocks(number, threads), shared(shared_bytes, granule), flight(shared_bytes) {}
  BlockClocks clocks;
  ShadowLines shared;
  FlightMap flight;

  struct Mbarrier {
    Message arriving, complete;  // of this block: of the phase under way, of all phases before
    Log* others;                 // of other blocks of the cluster, or null: all arrivals,
    Seen others_complete;        // and those of phases before
    std::uint32_t agent;  // whose column stands for asynchronous work that this barrier counts
  };
  std::map<std::uint32_t, Mbarrier> mbarriers;  // by shared address
  Mbarrier& mbarrier(std::uint32_t address) {
    const auto agent = static_cast<std::uint32_t>(mbarriers.size() % kAgents);
    return mbarriers.try_emplace(address, Mbarrier{{}, {}, nullptr, {}, agent}).first->second;
  }
  std::map<std::uint32_t, Message> named;                // arrivals at barriers that do not wait
  std::shared_ptr<Objects> objects;                      // of shared memory; null: none
  std::vector<std::vector<std::uint32_t>> proxy_fences;  // by thread: times, ascending
  std::vector<Glance> proxy_seen;                        // by thread: what its last one saw
};

/// Who acts: lanes of a warp.
struct Lanes {
  RacingBlock& block;
  std::uint32_t warp = 0, mask = 0;
  std::uint32_t site = 0;
};

/// An access of lanes to shared memory of `owner`, or to global memory when it is null.
struct LaneAccess {
  Touch touch = Touch::read;
  RacingBlock* owner = nullptr;
  const std::uint64_t* addresses = nullptr;  // 32
  std::uint32_t bytes = 0;                   // of each lane
  bool strong = false;
  Scope scope = Scope::system;
  /// Whether two lanes store the same value; null: not known.
  bool (*same)(const void* context, std::uint32_t lane, std::uint32_t other) = nullptr;
  const void* context = nullptr;
};

/// What a strong access does to its object: ld reads, st and red write, atom does both.
struct Strength {
  bool reads = false, writes = false;
  bool acquire = false, release = false;  // .relaxed and .volatile: neither
};

/// An asynchronous access to one stretch of memory.
struct Stretch {
  Touch touch = Touch::read;
  RacingBlock* owner = nullptr;  // null: global memory
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  bool proxy = true;    // through the asynchronous proxy: bulk copies, wgmma; not cp.async
  bool strong = false;  // a bulk reduction, which no other strong access races with
};

class RaceDetector {
 public:
  using Listener = std::function<void(const Conflict&)>;
  /// granule: bytes of the narrowest access of the launch, 1, 2 or 4.
  RaceDetector(std::uint32_t granule, Listener listener)
      : granule_(granule), listener_(std::move(listener)), global_(granule) {}

  std::unique_ptr<RacingBlock> block_begins(std::uint32_t number, std::uint32_t threads,
                                            std::uint32_t shared_bytes) {
    return std::make_unique<RacingBlock>(number, threads, shared_bytes, granule_);
  }

  void access(const Lanes& who, const LaneAccess& what);

  /// All running threads of the block.
  void block_barrier(RacingBlock& block) { block.clocks.full_barrier(); }
  void warp_barrier(const Lanes& who) { who.block.clocks.warp_barrier(who.warp, who.mask); }
  /// bar.arrive: lanes that do not wait.
  void named_arrive(const Lanes& who, std::uint32_t barrier);
  /// The barrier lets these lanes go; each has arrived and waited.
  void named_complete(RacingBlock& block, std::uint32_t barrier, std::span<const Lanes> waiters);
  /// barrier.cluster of these blocks: an arrival that releases, the phase's end, and a wait.
  void cluster_arrive(const Lanes& who, std::span<RacingBlock* const> blocks);
  void cluster_complete(std::span<RacingBlock* const> blocks);
  void cluster_wait(const Lanes& who);
  /// All threads of a block of a cluster have ended: accesses of other blocks to its shared memory
  /// must be known to one of them, and no asynchronous operation may still read it.
  void block_ends(RacingBlock& block);

  /// membar, fence.acq_rel, fence.sc by each lane.
  void fence(const Lanes& who, Scope scope);
  /// A strong access by each lane to an object that order may pass through. Told besides access(),
  /// for all of them.
  void synchronize(const Lanes& who, const LaneAccess& what, Strength strength);

  /// mbarrier operations, by shared address in `owner`.
  void mbarrier_arrive(const Lanes& who, RacingBlock& owner, std::uint32_t address);
  void mbarrier_complete(RacingBlock& owner, std::uint32_t address);  // its phase ends
  void mbarrier_wait(const Lanes& who, RacingBlock& owner, std::uint32_t address);

  /// fence.proxy.async by each lane.
  void proxy_fence(const Lanes& who);
  /// An asynchronous access starts: reported if it conflicts with what its issuer knows, or needs a
  /// proxy fence.
  void async_begin(const Lanes& who, const Stretch& stretch);
  /// The check alone, of an access that takes no time.
  void async_check(const Lanes& who, const Stretch& stretch);
  /// It is done, and who waited knows so.
  void async_end(const Lanes& who, const Stretch& stretch);
  /// Accesses of one operation are done, and who waits for the mbarrier's phase will know. `issuer`
  /// issued it.
  void async_end(const Lanes& issuer, std::span<const Stretch> stretches, RacingBlock& owner,
                 std::uint32_t mbarrier);
  /// A copy of a thread has read global memory at some time since `issued`, and no other thread
  /// could know that it has: what this block wrote there later is reported. Not what the same
  /// thread wrote before anything else was ordered.
  void source_read_end(const Lanes& who, const Stretch& source, std::uint32_t issued);

 private:
  enum class Mode : std::uint8_t { check_and_record, check, record };
  struct Actor {
    RacingBlock& block;  // with `thread`: who is asked what it knows
    std::uint32_t thread;
    std::uint32_t lanes;  // that read
    Stamp stamp;
    Touch touch;
    RacingBlock* owner;
    Mode mode = Mode::check_and_record;
  };
  Actor actor_of(const Lanes& who, std::uint32_t lane, const Stretch& stretch, Mode mode) const;
  void touch(const Actor& actor, std::uint64_t address, std::uint32_t bytes);
  void touch_cells(const Actor& actor, ShadowLines& lines, std::uint64_t offset,
                   std::uint32_t bytes, std::uint64_t address);
  void check_cell(const Actor& actor, Cell& cell, std::uint64_t address);
  void record_read(const Actor& actor, Cell& cell);
  [[nodiscard]] bool replaces(const Actor& actor, const ReadStamp& read) const;
  [[nodiscard]] bool knows(const Actor& actor, const Stamp& stamp, std::uint32_t thread) const;
  [[nodiscard]] bool knows(const Actor& actor, const ReadStamp& read, std::uint32_t& culprit) const;
  [[nodiscard]] bool fenced(const Actor& actor, const Stamp& write) const;
  void check_flight(const Actor& actor, std::uint64_t address, std::uint32_t bytes);
  static void fly(const Lanes& who, const Stretch& stretch, int change);
  std::uint32_t without_repeats(const Lanes& who, const LaneAccess& what);
  void report(const Actor& actor, Conflict::What what, Order order, std::uint64_t address,
              const Stamp& other, std::uint32_t other_thread);
  Objects& objects_of(const Lanes& who, const LaneAccess& what);

  std::uint32_t granule_;
  Listener listener_;
  GlobalShadow global_;
  ReadSets sets_;
  Objects objects_;                             // of global memory
  std::vector<std::shared_ptr<Objects>> kept_;  // of blocks; others know them after their end
  std::vector<std::unique_ptr<Log>> logs_;  // of mbarriers; other blocks know them after their end
};

}  // namespace halftone::simulator
