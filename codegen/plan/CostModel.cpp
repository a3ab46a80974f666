// SPDX-License-Identifier: Apache-2.0
#include "codegen/plan/CostModel.h"

#include <algorithm>
#include <cmath>

namespace halftone::ir {

// Cycles and bytes per clock that chips share closely enough to rank plans. Shared memory has 32
// banks of 4 bytes (CUDA C++ Programming Guide). Latencies: Luo et al., arXiv 2402.13499, tables 4
// and 7, in round numbers.
static constexpr double kSharedBytesPerClock = 128;
static constexpr double kMemoryLatency = 600; // cycles
static constexpr double kStepLatency = 35;    // of 16 products: ldmatrix, then mma
static constexpr double kSimtStepLatency = 4; // of one product
static constexpr double kBarrier = 30;
static constexpr double kReservedShared = 1024; // bytes of every block, from sm_80 on
static constexpr double kLargeBlocks = 0.5; // microseconds, until SMs hold blocks of warp groups

// What contractions reach on an H200 (docs/benchmarks/gpu.md): of the tensor cores' rates, and
// tensor copies of L2's. Chips without wgmma were not measured.
static constexpr double kWarpgroupShare = 0.71, kMmaShare = 0.52;
static constexpr double kCopiesOfCache = 1.28;
// Of elements behind warp groups, beside the body's: shared memory, conversion, addresses; and what
// issues beside it. Where groups alternate little is hidden.
static constexpr double kElementOperations = 60, kPerBodyOperation = 2, kElementsInTurns = 0.9;
static constexpr double kShareInTurns = 0.94; // of what groups reach that share a tile

static constexpr double kPartDepth = 128; // N14

static constexpr double kNotOverlapped = 0.1; // of the shorter of computing and moving

int residentBlocks(const Chip &chip, const Tiling &tiling) {
  double shared = tiling.sharedBytes + (chip.number >= 80 ? kReservedShared : 0);
  double registers = std::ceil(tiling.registers / 8) * 8 * tiling.threads;
  if (tiling.sharedBytes > chip.sharedPerBlock || tiling.registers > 255)
    return 0;
  return static_cast<int>(std::min(
      {std::floor(chip.sharedPerSm / shared), std::floor(chip.threadsPerSm / tiling.threads),
       std::floor(kRegistersPerSm / registers), static_cast<double>(chip.blocksPerSm)}));
}

/// A block's cycles while `resident` blocks share its SM.
static double blockCycles(const Chip &chip, const Problem &problem, const Tiling &tiling,
                          double resident) {
  // Beside rates that are shares of a peak; where mma.sync is all there is it is weighed by itself.
  bool isBesideOthers =
      chip.warpgroupOperations > 0 || (tiling.float8 && chip.tensorMemoryOperations > 0);
  double mmaShare = isBesideOthers ? kMmaShare : 1;
  double turns = tiling.alternates ? kShareInTurns : 1;
  bool hasCopies = tiling.warpgroup || tiling.tensorMemory;
  double rate = tiling.tensorMemory
                    ? kWarpgroupShare * chip.tensorMemoryOperations * (tiling.float4 ? 2 : 1)
                : tiling.warpgroup
                    ? kWarpgroupShare * turns * chip.warpgroupOperations * (tiling.float8 ? 2 : 1)
                : tiling.tensor ? mmaShare * (tiling.float4   ? chip.float4Operations
                                              : tiling.float8 ? chip.float8Operations
                                              : tiling.tf32   ? chip.tf32Operations
                                                              : chip.halfOperations)
                                : chip.f32Operations * tiling.issueShare;
  double steps = std::ceil(problem.depth / tiling.splits / tiling.depth);
  double depth = steps * tiling.depth;
  double math = 2 * tiling.rows * tiling.columns * depth / rate;
  double promoting = 0;
  if (tiling.promotes) // an addition counts as two operations, as a multiply-add does
    promoting = 2 * tiling.rows * tiling.columns * depth / kPartDepth / chip.f32Operations;
  if (tiling.factors) // and the product of two factors before it
    promoting *= 2;
  double shared = tiling.sharedTraffic * depth / kSharedBytesPerClock;
  double cache = (tiling.rows + tiling.columns) * depth * problem.elementBytes /
                 (chip.cacheBytes * (hasCopies ? kCopiesOfCache : 1));
  double places = tiling.float4 ? 64 : tiling.float8 ? 32 : 16; // of an instruction
  double step = tiling.tensor ? kBarrier + tiling.depth / places * kStepLatency
                              : kBarrier + tiling.depth * kSimtStepLatency;
  double latency = steps * std::max(step, kMemoryLatency / std::max(tiling.stages - 1, 1.0));
  double elements = 0;
  if (hasCopies) {
    double operations = problem.operations / (problem.batch * problem.rows * problem.columns);
    elements = (kElementOperations + kPerBodyOperation * operations) * tiling.rows *
               tiling.columns / chip.f32Operations;
  }
  if (tiling.tensorMemory) {
    double products = std::max({resident * math, resident * shared, resident * cache, latency});
    return tiling.alternates ? std::max(products, promoting + elements)
                             : products + promoting + elements;
  }
  return std::max({resident * (math + promoting), resident * shared, resident * cache, latency}) +
         elements * (tiling.alternates ? kElementsInTurns : 1);
}

static double microseconds(const Chip &chip, double cycles, double bytes) {
  double compute = cycles / (chip.gigahertz * 1e3),
         memory = bytes / (chip.gigabytesPerSecond * 1e3);
  return kLaunchMicroseconds + std::max(compute, memory) +
         kNotOverlapped * std::min(compute, memory);
}

Estimate estimateContraction(const Chip &chip, const Problem &problem, const Tiling &tiling) {
  double tiles = problem.batch * std::ceil(problem.rows / tiling.rows) *
                 std::ceil(problem.columns / tiling.columns);
  double blocks = tiles * tiling.splits;
  double resident = residentBlocks(chip, tiling);
  Estimate estimate;
  estimate.waves = blocks / (chip.sms * resident);
  estimate.operations =
      2 * problem.batch * problem.rows * problem.columns * problem.depth + problem.operations;
  estimate.bytes = problem.bytes;
  double full = std::floor(estimate.waves);
  bool hasCopies = tiling.warpgroup || tiling.tensorMemory;
  double left = std::ceil((blocks - full * chip.sms * resident) / chip.sms);
  double cycles =
      kMemoryLatency * (hasCopies ? 2 : 1) + full * blockCycles(chip, problem, tiling, resident);
  if (left > 0)
    cycles += blockCycles(chip, problem, tiling, left);
  if (tiling.splits > 1) {
    double partials = tiling.splits * tiling.rows * tiling.columns * 4;
    cycles += 2 * kMemoryLatency + partials / chip.cacheBytes;
    estimate.bytes += 2 * tiles * partials;
  }
  estimate.microseconds =
      microseconds(chip, cycles, estimate.bytes) + (hasCopies ? kLargeBlocks : 0);
  return estimate;
}

Estimate estimateElements(const Chip &chip, const Problem &problem, double blocks, double threads) {
  double resident =
      std::min(std::floor(chip.threadsPerSm / threads), static_cast<double>(chip.blocksPerSm));
  Estimate estimate;
  estimate.waves = blocks / (chip.sms * resident);
  estimate.operations = problem.operations;
  estimate.bytes = problem.bytes;
  double busy = std::min<double>(blocks, chip.sms); // few blocks cannot use the whole chip
  double compute = problem.operations / (busy * chip.f32Operations);
  double cache = problem.bytes / (busy * chip.cacheBytes);
  double cycles =
      kMemoryLatency * std::max(1.0, std::ceil(estimate.waves)) + std::max(compute, cache);
  estimate.microseconds = microseconds(chip, cycles, estimate.bytes);
  return estimate;
}

} // namespace halftone::ir
