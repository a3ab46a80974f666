// SPDX-License-Identifier: Apache-2.0
// What instructions see while they run: the lanes of a warp, its block, the launch.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "async_work.hpp"
#include "findings.hpp"
#include "halftone/simulator/device.hpp"
#include "kernel.hpp"
#include "memory.hpp"
#include "races.hpp"

namespace halftone::simulator {

/// Instruction::flags of addresses and memory accesses.
inline constexpr std::uint32_t kNarrowAddress = 1u << 31;  ///< the address register has 32 bits
inline constexpr std::uint32_t kReadOnly = 1u << 30;       ///< ld.global.nc
inline constexpr std::uint32_t kStrong = 1u << 29;         ///< volatile, relaxed and stronger
inline constexpr std::uint32_t kAcquire = 1u << 28;
inline constexpr std::uint32_t kRelease = 1u << 27;
inline constexpr int kScopeShift = 25;  ///< two bits: a Scope

/// Lanes of a warp that are at the same instruction.
struct Group {
  enum class State : std::uint8_t { ready, together, barrier, object };
  std::uint32_t pc = 0, mask = 0;
  State state = State::ready;
  std::uint32_t barrier = 0;  ///< State::barrier
  std::uint64_t object = 0;   ///< State::object: the address of an mbarrier
  std::uint32_t parity = 0;
  std::vector<std::uint32_t> returns;  ///< of calls under way
};

/// cp.async of one warp's lanes: copied when a lane waits for the group that it committed it to.
struct Copy {
  std::array<std::uint32_t, 32> to{}, group{};
  std::array<std::uint64_t, 32> from{};
  std::array<std::uint8_t, 32> from_bytes{};
  std::uint32_t bytes = 0;
  std::uint32_t number = 0;               ///< in its warp
  std::uint32_t open = 0, committed = 0;  ///< lanes
  std::uint32_t tracked = 0;              ///< lanes whose copy an mbarrier waits for
  std::uint32_t issued = 0;               ///< when, by the race detector's clock of the block
  const Instruction* instruction = nullptr;
};

struct Warp {
  std::uint32_t index = 0;    ///< in its block
  std::uint32_t members = 0;  ///< lanes that hold a thread
  std::uint32_t exited = 0;
  std::byte* registers = nullptr;
  std::vector<Group> groups;
  std::vector<std::byte> local;         ///< of all lanes, one behind the other
  std::vector<std::uint8_t> local_set;  ///< a bit per byte: written
  std::vector<Copy> copies;
  std::uint32_t copies_made = 0;
  std::array<std::uint32_t, 32> commits{};
  std::vector<BulkStore> bulk_stores;
  std::array<std::uint32_t, 32> bulk_commits{};
  WarpgroupWork wgmma;
  std::map<std::uint32_t, std::array<std::uint32_t, 32>>
      tensor_loads;  ///< by place: what tcgen05.wait::ld will put there
  std::array<std::uint32_t, 32>
      cluster_phase{};               ///< that a lane's barrier.cluster.arrive belongs to
  std::uint32_t most_registers = 0;  ///< setmaxnreg; 0: as compiled
  std::uint64_t executed = 0;        ///< instructions since it was last put aside

  [[nodiscard]] bool done() const { return groups.empty(); }
};

struct Barrier {
  std::uint32_t arrived = 0, expected = 0;
  std::uint32_t conjunction = 1, disjunction = 0, population = 0;  ///< bar.red
};

struct Execution;

struct Block {
  Dim3 index;
  std::uint64_t number = 0;  ///< x fastest
  std::vector<std::byte> shared;
  std::vector<std::uint8_t> shared_set;  ///< a bit per byte: written
  std::vector<Warp> warps;
  std::array<Barrier, 16> barriers{};
  std::unique_ptr<std::byte[]> register_memory;
  std::uint32_t threads = 0;
  std::unique_ptr<RacingBlock> racing;  ///< null when unchecked
  AsyncWork async;
  std::vector<Block*> cluster;  ///< all blocks of its cluster by rank; empty without clusters
  std::uint32_t rank = 0;       ///< in its cluster
  std::shared_ptr<ClusterBarrier> cluster_barrier;

  [[nodiscard]] bool done() const {
    for (const Warp& warp : warps)
      if (!warp.done()) return false;
    return true;
  }
};

/// The index of a block or thread from its number, x fastest.
[[nodiscard]] inline Dim3 position_in(std::uint64_t number, Dim3 size) {
  return {static_cast<std::uint32_t>(number % size.x),
          static_cast<std::uint32_t>(number / size.x % size.y),
          static_cast<std::uint32_t>(number / size.x / size.y)};
}

/// One launch.
struct Execution {
  const Kernel& kernel;
  Memory& memory;
  const Chip& chip;
  const LaunchOptions& options;
  Dim3 grid, block;
  Dim3 cluster;  ///< blocks
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t dynamic_offset = 0;  ///< where dynamic shared memory begins
  std::vector<std::byte> parameters;
  Findings findings;
  Counters counters;
  std::unique_ptr<Races> races;  ///< null when unchecked
  bool stopped = false;          ///< by a deadlock or a trap
  std::uint64_t progress = 0;    ///< grows when memory changes, a barrier opens, a thread ends
  std::uint64_t random = 0;      ///< state of LaunchOptions::seed
};

struct Context {
  std::byte* registers;
  std::uint32_t mask;  ///< lanes that execute the instruction
  Warp& warp;
  Block& block;
  Execution& launch;
  Group& group;
  bool blocked = false;  ///< set by run() of Flow::wait: the lanes stay where they are

  /// The lanes' values of a place: T is std::uint32_t or std::uint64_t, or a type of that size.
  template <class T = std::uint32_t>
  [[nodiscard, gnu::always_inline]] T* plane(std::uint32_t place) const {
    return reinterpret_cast<T*>(registers + place);
  }
  [[nodiscard]] std::uint32_t& predicate(std::uint32_t place) const {
    return *reinterpret_cast<std::uint32_t*>(registers + place);
  }
  [[nodiscard]] std::uint32_t thread(std::uint32_t lane) const { return warp.index * 32 + lane; }

  /// Notes a finding of a lane.
  void report(Kind kind, const Instruction& instruction, std::uint32_t lane, Place place,
              std::string detail = {}) const;
};

/// Calls visit(lane) for every lane of the mask.
template <class Visit>
[[gnu::always_inline]] inline void each_lane(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

/// A lane's type inside a plane: 16-bit values lie in the low half of 32.
template <class T>
using Lane = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
[[gnu::always_inline]] inline T get(Lane<T> lane) {
  if constexpr (sizeof(T) == 1)
    return std::bit_cast<T>(static_cast<std::uint8_t>(lane));
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(static_cast<std::uint16_t>(lane));
  else
    return std::bit_cast<T>(lane);
}

/// Narrow values are widened with zeros; PTX leaves those bits open.
template <class T>
[[gnu::always_inline]] inline Lane<T> put(T value) {
  if constexpr (sizeof(T) == 1)
    return std::bit_cast<std::uint8_t>(value);
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<std::uint16_t>(value);
  else
    return std::bit_cast<Lane<T>>(value);
}

/// Sets a finding's lines and opcode from an instruction.
void set_lines(Finding& finding, const Kernel& kernel, const Instruction& instruction);

/// call: copies at[2] bytes of each lane's local memory from at[1] to at[0].
void copy_local(Context& context, const Instruction& instruction);

}  // namespace halftone::simulator
