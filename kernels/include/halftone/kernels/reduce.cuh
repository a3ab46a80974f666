// SPDX-License-Identifier: Apache-2.0
// The reduction trees of the specification (N2 to N4), the same bits whatever the launch.
// A chunk of 1024 values belongs to a team of eight lanes: lane t owns the partials 4t .. 4t+3 of
// the 32, so that a lane's values lie side by side for 16-byte loads and a warp works on four
// chunks at once.
#pragma once

namespace halftone::kernels {

inline constexpr int kChunk = 1024;       // N2: values under one tree
inline constexpr int kPartials = 32;      // N2: partial results of a chunk
inline constexpr int kColumnChunk = 128;  // N3: rows in one chain
inline constexpr int kTeam = 8;           // lanes that share a chunk
inline constexpr int kOwned = kPartials / kTeam;
inline constexpr unsigned int kAllLanes = 0xffffffffu;

enum class Reduction { sum, maximum };

__device__ __forceinline__ float identity(Reduction reduction) {
  return reduction == Reduction::sum ? 0.0f : __int_as_float(static_cast<int>(0xff800000u));
}

/// `lower` is the partial of the smaller index: a maximum of two zeros depends on the order (N5).
__device__ __forceinline__ float combine(Reduction reduction, float lower, float upper) {
  if (reduction == Reduction::sum) return lower + upper;
  return lower > upper || lower != lower ? lower : upper;
}

namespace team {

__device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % kTeam; }

/// Halves the team's 32 partials by 16, 8, 4 across lanes and by 2, 1 within each. Every lane of
/// the warp must call; every lane of the team receives the result.
__device__ __forceinline__ float halve(Reduction reduction, float (&partial)[kOwned]) {
#pragma unroll
  for (int distance = kTeam / 2; distance > 0; distance /= 2) {
    const bool is_upper = (lane() & distance) != 0;
#pragma unroll
    for (int i = 0; i < kOwned; ++i) {
      const float other = __shfl_xor_sync(kAllLanes, partial[i], distance);
      partial[i] =
          is_upper ? combine(reduction, other, partial[i]) : combine(reduction, partial[i], other);
    }
  }
  const float even = combine(reduction, partial[0], partial[2]);
  const float odd = combine(reduction, partial[1], partial[3]);
  return combine(reduction, even, odd);
}

/// N2 of value(0) .. value(count - 1), count <= 1024. Every lane of the warp must call, each team
/// with its own count.
template <class Value>
__device__ __forceinline__ float tree(Reduction reduction, int count, Value value) {
  float partial[kOwned];
#pragma unroll
  for (int i = 0; i < kOwned; ++i) partial[i] = identity(reduction);
#pragma unroll 4
  for (int first = kOwned * lane(); first < count; first += kPartials) {
#pragma unroll
    for (int i = 0; i < kOwned; ++i) {
      if (first + i < count) partial[i] = combine(reduction, partial[i], value(first + i));
    }
  }
  return halve(reduction, partial);
}

}  // namespace team

namespace block {

/// N2 of values[0] .. values[count - 1], count <= 2^30, by all threads of the block, which all
/// receive the sum. Three levels: chunks, chunks of their results, and those of at most 1024 such
/// batches.
template <int kThreads>
__device__ __forceinline__ float tree_sum(const float* values, long long count) {
  constexpr int kTeams = kThreads / kTeam;
  constexpr long long kBatch = static_cast<long long>(kChunk) * kChunk;
  __shared__ float results[kChunk];
  float top[kOwned] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (long long batch = 0; batch * kBatch < count; ++batch) {
    const float* const start = values + batch * kBatch;
    const int size = static_cast<int>(min(kBatch, count - batch * kBatch));
    const int chunks = (size + kChunk - 1) / kChunk;
    for (int first = 0; first < chunks; first += kTeams) {
      const int chunk = first + static_cast<int>(threadIdx.x) / kTeam;
      const int length = max(0, min(kChunk, size - chunk * kChunk));
      const float result =
          team::tree(Reduction::sum, length, [&](int i) { return start[chunk * kChunk + i]; });
      if (chunk < chunks && team::lane() == 0) results[chunk] = result;
    }
    __syncthreads();
    const float result = team::tree(Reduction::sum, chunks, [&](int i) { return results[i]; });
    const int slot = static_cast<int>(batch % kPartials);
#pragma unroll
    for (int i = 0; i < kOwned; ++i) {
      if (slot == kOwned * team::lane() + i) top[i] += result;
    }
    __syncthreads();
  }
  return team::halve(Reduction::sum, top);
}

/// Whether this block is the last of the grid to come here; what all others wrote before is then
/// visible to it. `blocks_done` starts at 0 and is 0 again afterwards. The fences stand between the
/// barriers and the count, in the thread that counts: a release reaches what other threads wrote
/// only through a barrier before it (PTX ISA 9.0, 8.9.4 and 8.10, causality order).
__device__ __forceinline__ bool is_last(unsigned int* blocks_done) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(blocks_done, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  return last;
}

}  // namespace block

}  // namespace halftone::kernels
