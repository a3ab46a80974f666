// SPDX-License-Identifier: Apache-2.0
// The memory of the fifth generation's tensor cores: PTX ISA 9.0, 9.7.16.1. 128 lanes by 512
// columns of 32 bits, of which a block allocates columns. What tensor cores do for a thread is done
// in the order in which it asked, when an mbarrier that it committed this to is waited for.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "kernel.hpp"
#include "race.hpp"

namespace halftone::simulator {

struct Block;
struct Context;
struct Execution;

inline constexpr std::uint32_t kTensorLanes = 128, kTensorColumns = 512, kTensorQuarters = 4;

/// Columns of some quarters of the lanes.
struct TensorRegion {
  std::uint32_t column = 0, columns = 0;
  std::uint32_t quarters = 15;  ///< a bit for each
};

/// tcgen05.mma or tcgen05.cp that is under way.
struct TensorWork {
  const Instruction* instruction = nullptr;
  std::function<void()> run;
  std::vector<Stretch> sources;  ///< of shared memory
  std::vector<TensorRegion> read, written;
};

/// Who touched a column of a quarter, by the clocks of its block.
struct TensorStamp {
  std::uint32_t time = 0, thread = 0;  ///< a thread, or an agent behind them
  std::uint32_t issuer = kNone;        ///< whose work tensor cores did
  const Instruction* instruction = nullptr;
};

struct TensorColumn {
  std::uint32_t under_way = 0, by = 0;  ///< operations not yet done, and whose
  TensorStamp written;
  std::vector<TensorStamp> read;
};

struct TensorMemory {
  std::vector<std::uint32_t> cells;  ///< by lane, then column; empty until some are allocated
  std::vector<bool> set;             ///< likewise: written since
  std::vector<TensorColumn> columns;
  std::map<std::uint32_t, std::uint32_t> allocated;  ///< columns from a column on
  const Instruction* allocation = nullptr;           ///< the last one
  bool has_permit = true;
  std::map<std::uint32_t, std::vector<TensorWork>> open;  ///< by thread: not committed
  /// By thread: of each agent that stood for work of a commit, when the last of it was done.
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> done;
  std::map<std::uint32_t, std::vector<std::uint32_t>> fences_before;  ///< by thread: times
  std::map<std::uint32_t, Glance> fences_after;                       ///< what its last one saw

  [[nodiscard]] std::uint32_t& cell(std::uint32_t lane, std::uint32_t column) {
    return cells[lane * kTensorColumns + column];
  }
  [[nodiscard]] TensorColumn& at(std::uint32_t quarter, std::uint32_t column) {
    return columns[quarter * kTensorColumns + column];
  }
};

/// Notes a finding when the instruction touches registers of a tcgen05.ld that nobody waited for.
void check_tensor_loads(Context& context, const Instruction& instruction);

/// What a block that ends has left: columns, and work that is not committed.
void each_left_over(
    const Block& block,
    const std::function<void(const Instruction&, std::uint32_t thread, const char* detail)>& visit);

}  // namespace halftone::simulator
