// SPDX-License-Identifier: Apache-2.0
// Which lanes run when. Groups of lanes at one instruction run until they wait; of those that can,
// the one with the lowest instruction goes first, so that lanes meet again where branches join.
#pragma once

#include "execute.hpp"

namespace halftone::simulator {

/// Runs a warp until all its groups wait or ended, or its share of instructions is used up. True
/// when anything ran.
bool run_warp(Execution& launch, Block& block, Warp& warp);

/// True when all threads ended; false when nothing can run although some threads have not, or when
/// the block's share is used up (`spent`).
struct BlockOutcome {
  bool done = false, spent = false, ran = false;
};
BlockOutcome run_block(Execution& launch, Block& block);

/// Lets one group arrive at a barrier that other lanes of its warp never come to, so that the
/// finding names the barrier and the launch goes on. False: there is none.
bool run_divergent(Execution& launch, Block& block);

/// splitmix64 (Steele, Lea, Flood, 2014).
[[nodiscard]] std::uint64_t next_random(std::uint64_t& state);

/// A barrier of the block has all its arrivals: those that wait go on, in order.
void let_go(Execution& launch, Block& block, std::uint32_t number);

/// A finding of kind deadlock or no_progress that lists every group of lanes and where it waits.
void report_deadlock(Execution& launch, Block& block, Kind kind);

}  // namespace halftone::simulator
