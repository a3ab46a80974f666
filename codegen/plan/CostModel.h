// SPDX-License-Identifier: Apache-2.0
// How long a launch takes, from the numbers of the chip and of the plan alone. The model ranks
// plans of one kernel on one chip; its microseconds are an estimate.
//
//   blocks   = tiles * splits
//   resident = blocks that an SM holds: by shared memory, threads, registers, and the chip's limit
//   waves    = blocks / (SMs * resident)
//   a block's cycles beside n - 1 others on its SM =
//     max(n * operations / rate,                       padding of tails included
//         n * bytes through shared memory / 128,
//         n * operand bytes from L2 / the SM's share of its rate,
//         steps * max(cycles of a dependent step, memory latency / (stages - 1)))
//   cycles   = full waves * a block's beside resident - 1 others
//              + a block's of the last wave, beside those that are left
//              + memory latency before the first step, and of splits: two of them and the reading
//                of all partial sums by the block that is done last
//   microseconds = launch + the larger of cycles / clock and bytes / bandwidth, and a tenth of the
//                  smaller
//   Blocks of warp groups go on with further tiles. They begin half a microsecond late, and wait
//   for the tensor map and then for what it describes. A tile's elements are finished after its
//   products, or where warp groups alternate in part beside the next one's. Promoted sums of 8 bits
//   add each 128 products' between the products, which nothing hides. Of sums in tensor memory
//   other warps do both, beside the next products where there is room for two sets of sums.
//   bytes    = every operand and result once, and partial sums written and read
#ifndef HALFTONE_PLAN_COSTMODEL_H
#define HALFTONE_PLAN_COSTMODEL_H

#include "codegen/plan/Chips.h"

namespace halftone::ir {

inline constexpr double kLaunchMicroseconds = 0.6; ///< inside a captured graph, on an H200

/// A contraction with symbols as assumed. Other kernels have no depth: rows * columns elements.
struct Problem {
  double rows = 1, columns = 1, depth = 0;
  double batch = 1;        ///< elements, each of so many rows and columns
  double bytes = 0;        ///< of every operand and result, once
  double elementBytes = 4; ///< of lhs and rhs, the mean
  double operations = 0;   ///< of the body, for all elements
};

/// One way to run it.
struct Tiling {
  bool tensor = false, tf32 = false;
  bool float8 = false;       ///< products of 8-bit floats; tensor, too
  bool float4 = false;       ///< of 4-bit floats; float8, too
  bool promotes = false;     ///< beside tensor copies: sums of 128 products are added apart
  bool factors = false;      ///< and multiplied by two factors each (N17)
  bool warpgroup = false;    ///< wgmma; tensor, too
  bool tensorMemory = false; ///< tcgen05 of 8-bit floats, or 4-bit ones; tensor and float8, too
  bool alternates = false;   ///< elements are finished beside the next tile's products
  double rows = 1, columns = 1, depth = 1; ///< of a block's tile
  double splits = 1;
  double threads = 256, registers = 32; ///< of a block, of a thread
  double sharedBytes = 0;               ///< of a block
  double stages = 2;
  double sharedTraffic = 0; ///< bytes through shared memory for one k of a tile
  double issueShare = 1;    ///< without tensor cores: of multiply-adds among all instructions
};

struct Estimate {
  double operations = 0, bytes = 0, waves = 0, microseconds = 0;
};

/// How many blocks an SM holds; 0 where not even one fits.
int residentBlocks(const Chip &chip, const Tiling &tiling);

Estimate estimateContraction(const Chip &chip, const Problem &problem, const Tiling &tiling);

/// Everything else moves its operands once and computes meanwhile.
Estimate estimateElements(const Chip &chip, const Problem &problem, double blocks, double threads);

} // namespace halftone::ir

#endif
