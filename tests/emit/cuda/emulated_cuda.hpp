// SPDX-License-Identifier: Apache-2.0
// CUDA for kernel texts on the host: force-included before a text, and included by the test that
// launches it. The threads of a block are fibers that switch at barriers and shuffles; blocks run
// one after another. A block whose threads wait for each other in vain throws. The order of threads
// can be reversed, which shows missing barriers.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

namespace emulated {

struct Index {
  unsigned int x = 0;
};

struct Barrier {
  int arrived = 0;
  long long generation = 0;
};

struct Warp {
  Barrier barrier;
  float values[32] = {};
};

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  bool done = false;
};

struct Block {
  ucontext_t scheduler;
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  Barrier barrier;
  const std::function<void()>* body = nullptr;
  bool progress = false;
};

inline Block* block = nullptr;
inline Index thread_index, block_index, grid_size;

/// Waits until `expected` threads have arrived.
inline void wait(Barrier& barrier, int expected) {
  block->progress = true;
  const long long generation = barrier.generation;
  if (++barrier.arrived == expected) {
    barrier.arrived = 0;
    ++barrier.generation;
  }
  while (barrier.generation == generation)
    swapcontext(&block->fibers[thread_index.x].context, &block->scheduler);
}

inline void enter() {
  (*block->body)();
  block->fibers[thread_index.x].done = true;
  block->progress = true;
}

inline void start(Fiber& fiber) {
  constexpr std::size_t kStack = 64 * 1024;
  fiber.stack = std::make_unique<char[]>(kStack);
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStack;
  fiber.context.uc_link = &block->scheduler;
  makecontext(&fiber.context, &enter, 0);
}

inline void run_block(int threads, bool reversed, const std::function<void()>& body) {
  Block state;
  block = &state;
  state.body = &body;
  state.fibers.resize(threads);
  state.warps.resize(threads / 32);
  for (Fiber& fiber : state.fibers) start(fiber);
  for (bool alive = true; alive;) {
    alive = false;
    state.progress = false;
    for (int i = 0; i < threads; ++i) {
      thread_index.x = static_cast<unsigned int>(reversed ? threads - 1 - i : i);
      Fiber& fiber = state.fibers[thread_index.x];
      if (fiber.done) continue;
      swapcontext(&state.scheduler, &fiber.context);
      alive = alive || !fiber.done;
    }
    if (alive && !state.progress)
      throw std::runtime_error("the threads of a block wait for each other in vain");
  }
}

/// Runs `body` as a kernel of `blocks` blocks of `threads` threads, last block and thread first
/// when `reversed`.
inline void launch(long long blocks, int threads, bool reversed,
                   const std::function<void()>& body) {
  grid_size.x = static_cast<unsigned int>(blocks);
  for (long long i = 0; i < blocks; ++i) {
    block_index.x = static_cast<unsigned int>(reversed ? blocks - 1 - i : i);
    run_block(threads, reversed, body);
  }
}

}  // namespace emulated

#define threadIdx (emulated::thread_index)
#define blockIdx (emulated::block_index)
#define gridDim (emulated::grid_size)

using std::max;
using std::min;

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned int x, y, z, w;
};
struct alignas(8) ushort4 {
  unsigned short x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) {
  return {x, y, z, w};
}
inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z,
                            unsigned short w) {
  return {x, y, z, w};
}

inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline unsigned int __float_as_uint(float value) { return std::bit_cast<unsigned int>(value); }
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }

inline void __threadfence() {}
inline void __syncthreads() {
  emulated::wait(emulated::block->barrier, static_cast<int>(emulated::block->fibers.size()));
}
inline unsigned int atomicInc(unsigned int* address, unsigned int last) {
  const unsigned int old = *address;
  *address = old >= last ? 0 : old + 1;
  return old;
}
inline unsigned int __ballot_sync(unsigned int, bool vote) {
  emulated::Warp& warp = emulated::block->warps[threadIdx.x / 32];
  warp.values[threadIdx.x % 32] = vote ? 1.0f : 0.0f;
  emulated::wait(warp.barrier, 32);
  unsigned int votes = 0;
  for (unsigned int lane = 0; lane < 32; ++lane) votes |= (warp.values[lane] != 0.0f) << lane;
  emulated::wait(warp.barrier, 32);
  return votes;
}
inline int __popc(unsigned int bits) { return std::popcount(bits); }
inline float __shfl_xor_sync(unsigned int, float value, int lanes) {
  const unsigned int lane = threadIdx.x % 32;
  emulated::Warp& warp = emulated::block->warps[threadIdx.x / 32];
  warp.values[lane] = value;
  emulated::wait(warp.barrier, 32);
  const float other = warp.values[lane ^ static_cast<unsigned int>(lanes)];
  emulated::wait(warp.barrier, 32);
  return other;
}
