// SPDX-License-Identifier: Apache-2.0
// Work that engines beside the threads do: mbarriers and what completes on them, bulk copies,
// wgmma. It is done as late as the ISA allows: when somebody waits for it by number, or when no
// thread can run without it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "tensor_memory.hpp"

namespace halftone::simulator {

struct Block;
struct Context;
struct Execution;
struct Instruction;

/// Work that was done and counted on an mbarrier, in a phase that nobody waited for so far.
struct Unawaited {
  const Instruction* instruction = nullptr;
  std::uint32_t thread = 0;
  std::uint32_t phase = 0;
};

/// PTX ISA 9.0, 9.7.13.15: a phase is complete when no arrivals and no bytes are pending.
struct Mbarrier {
  std::uint32_t expected = 0, pending = 0;
  std::int64_t bytes = 0;
  std::uint32_t phase = 0;           ///< how many are complete; the lowest bit is the parity
  std::vector<Unawaited> unawaited;  ///< of this phase and earlier ones

  [[nodiscard]] std::uint32_t parity() const { return phase & 1; }
  /// Somebody knows that the phase before the current one is complete.
  void was_awaited() {
    std::erase_if(unawaited, [&](const Unawaited& work) { return work.phase < phase; });
  }
};

/// cp.async.bulk to global memory, by one lane: its group is waited for.
struct BulkStore {
  std::uint32_t lane = 0, group = 0;
  bool committed = false, was_read = false;
  const Instruction* instruction = nullptr;
  std::function<void()> read;   ///< takes the bytes out of shared memory
  std::function<void()> write;  ///< puts them where they go
};

/// Work that completes on an mbarrier of the block in whose list it is.
struct AsyncJob {
  std::function<void()> run;
  const Instruction* instruction = nullptr;
  std::uint32_t thread = 0;
  std::uint32_t mbarrier = 0;  ///< its shared address
};

/// wgmma of one warp. Sums under way lie here; their registers hold NaN until they are waited for.
struct WarpgroupWork {
  struct Operation {
    std::function<void()> run;
    std::vector<std::uint32_t> sums;  ///< places of its accumulators
  };
  std::vector<Operation> open;
  std::deque<std::vector<Operation>> groups;
  std::map<std::uint32_t, std::array<std::uint32_t, 32>> sums;  ///< by place
  bool fenced = false;
};

/// barrier.cluster of the blocks of one cluster.
struct ClusterBarrier {
  std::uint32_t phase = 0;
};

struct AsyncWork {
  std::map<std::uint32_t, Mbarrier> mbarriers;  ///< by shared address
  std::deque<AsyncJob> jobs;                    ///< oldest first
  std::vector<Unawaited> unawaited;             ///< of mbarriers that are no more
  TensorMemory tensor;
  std::uint32_t polls = 0;  ///< mbarrier.test_wait that found nothing
};

/// The mbarrier at an address of shared memory of `block`; null and a finding when none was
/// initialised there.
Mbarrier* find_mbarrier(Context& context, const Instruction& instruction, std::uint32_t lane,
                        Block& block, std::uint32_t address);
/// Ends the phase if it is complete, and lets go who waits for it.
void complete_phase(Execution& launch, Block& block, std::uint32_t address);
/// Does the oldest job of the block, or of its cluster. False: there is none.
bool do_one_job(Execution& launch, Block& block);
/// Notes a finding when the instruction touches registers of a wgmma that nobody waited for.
void check_registers(Context& context, const Instruction& instruction);
/// Lets go who waits at barrier.cluster, when all threads that still run have arrived. False: they
/// have not.
bool try_cluster_barrier(Execution& launch, Block& block);
/// Does what bulk stores of these lanes have left when their threads end; those whose source nobody
/// waited for are findings.
void finish_bulk_stores(Context& context, std::uint32_t lanes);

}  // namespace halftone::simulator
