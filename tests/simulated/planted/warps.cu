// SPDX-License-Identifier: Apache-2.0
// Faults of lanes and barriers.

//! race; block 32
extern "C" __global__ void missing_syncwarp(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
#if !FAULT
  __syncwarp();
#endif
  out[threadIdx.x] = tile[31 - threadIdx.x];  // HERE
}

//! race; block 32
extern "C" __global__ void syncwarp_of_half(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncwarp(FAULT ? (threadIdx.x < 16 ? 0xffffu : 0xffff0000u) : 0xffffffffu);
  out[threadIdx.x] = tile[31 - threadIdx.x];  // HERE
}

//! race; block 32
extern "C" __global__ void shuffle_orders_nothing(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  const float other = __shfl_xor_sync(0xffffffffu, in[threadIdx.x], 1);
#if !FAULT
  __syncwarp();
#endif
  out[threadIdx.x] = tile[31 - threadIdx.x] + other;  // HERE
}

//! deadlock; block 32
extern "C" __global__ void shuffle_in_a_branch(const float* in, float* out) {
  float value = in[threadIdx.x];
  if (!FAULT || threadIdx.x < 16) value += __shfl_xor_sync(0xffffffffu, value, 1);  // HERE
  if (FAULT && threadIdx.x >= 16) return;
  out[threadIdx.x] = value;
  if (FAULT) __syncthreads();
}

//! inactive_lane; block 32
extern "C" __global__ void shuffle_from_an_idle_lane(const float* in, float* out) {
  float value = in[threadIdx.x];
  if (threadIdx.x < 16) value += __shfl_sync(0xffffu, value, FAULT ? 20 : 4);  // HERE
  out[threadIdx.x] = value;
}

//! divergent_warp; block 32
extern "C" __global__ void vote_without_its_own_lane(const float* in, float* out) {
  const unsigned mask = FAULT && threadIdx.x >= 16 ? 0x0000ffffu : 0xffffffffu;
  out[threadIdx.x] = __ballot_sync(mask, in[threadIdx.x] > 0.5f);  // HERE
}

//! divergent_barrier; block 64
extern "C" __global__ void two_barriers_for_one(const float* in, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  if (FAULT && threadIdx.x % 2 == 0) {
    out[threadIdx.x] = 1;
    __syncthreads();  // HERE
    out[64 + threadIdx.x] = tile[63 - threadIdx.x];
  } else {
    __syncthreads();
    out[64 + threadIdx.x] = 2 * tile[63 - threadIdx.x];
  }
}

//! deadlock; block 64
extern "C" __global__ void barrier_after_some_left(const float* in, float* out) {
  if (FAULT && threadIdx.x >= 32) return;
  out[threadIdx.x] = in[threadIdx.x];
  __syncthreads();  // HERE
  out[64 + threadIdx.x] = out[(threadIdx.x + 32) % 64];
}

//! deadlock; block 64
extern "C" __global__ void loops_of_different_length(const float* in, float* out) {
  const int rounds = FAULT ? 1 + threadIdx.x / 32 : 2;
  for (int i = 0; i < rounds; ++i) {
    out[threadIdx.x + 64 * i] = in[threadIdx.x];
    __syncthreads();  // HERE
  }
}

//! mismatched_barrier; block 64
extern "C" __global__ void different_thread_counts(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];
  const int count = FAULT && threadIdx.x >= 32 ? 32 : 64;
  asm volatile("bar.sync 1, %0;" ::"r"(count) : "memory");  // HERE
  out[64 + threadIdx.x] = out[threadIdx.x];
}

//! deadlock; block 64
extern "C" __global__ void named_barrier_of_too_many(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];
  asm volatile("bar.sync 1, %0;" ::"r"(FAULT ? 96 : 64) : "memory");  // HERE
  out[64 + threadIdx.x] = out[63 - threadIdx.x];
}

//! race; block 96
extern "C" __global__ void released_too_early(const float* in, float* out) {
  __shared__ float tile[32];
  if (threadIdx.x < 32) {
    tile[threadIdx.x] = in[threadIdx.x];
    asm volatile("bar.arrive 1, 96;" ::: "memory");
    asm volatile("bar.sync 2, %0;" ::"r"(FAULT ? 64 : 96) : "memory");
    tile[threadIdx.x] = in[32 + threadIdx.x];  // HERE
  } else {
    asm volatile("bar.sync 1, 96;" ::: "memory");
    out[threadIdx.x] = tile[31 - threadIdx.x % 32];
    if (!FAULT || threadIdx.x < 64) asm volatile("bar.arrive 2, %0;" ::"r"(FAULT ? 64 : 96) : "memory");
  }
}

//! race; block 96
extern "C" __global__ void named_barrier_after_a_warp_left(const float* in, float* out) {
  __shared__ float tile[32];
  if (threadIdx.x < 32) {
    tile[threadIdx.x] = in[threadIdx.x];
    if (!FAULT) asm volatile("bar.arrive 1, 96;" ::: "memory");
    return;
  }
  asm volatile("bar.sync 1, %0;" ::"r"(FAULT ? 64 : 96) : "memory");
  out[threadIdx.x] = tile[31 - threadIdx.x % 32];  // HERE
}

//! race; block 96
extern "C" __global__ void written_after_the_arrival(const float* in, float* out) {
  __shared__ float tile[32];
  if (threadIdx.x < 32) {
    if (!FAULT) tile[threadIdx.x] = in[threadIdx.x];
    asm volatile("bar.arrive 1, 96;" ::: "memory");
    if (FAULT) tile[threadIdx.x] = in[threadIdx.x];
    return;
  }
  asm volatile("bar.sync 1, 96;" ::: "memory");
  out[threadIdx.x] = tile[31 - threadIdx.x % 32];  // HERE
}

//! trap; block 32
extern "C" __global__ void traps(const float* in, float* out) {
  if (FAULT && threadIdx.x == 3) __trap();  // HERE
  out[threadIdx.x] = in[threadIdx.x];
}

//! no_progress; block 32; grid 2
extern "C" __global__ void waits_for_a_flag_that_nobody_sets(const float* in, float* out) {
  unsigned* flag = reinterpret_cast<unsigned*>(out);
  if (!FAULT && threadIdx.x == 0) atomicExch(flag, 1u);
  if (threadIdx.x == 0)
    while (atomicAdd(flag, 0u) != 1u) {}  // HERE
  out[32 + blockIdx.x] = in[threadIdx.x % 1];
}

//! deadlock; block 64
extern "C" __global__ void vote_in_a_branch(const float* in, float* out) {
  unsigned votes = 0;
  if (!FAULT || threadIdx.x % 32 < 8) votes = __ballot_sync(0xffffffffu, in[threadIdx.x] > 0);  // HERE
  if (FAULT && threadIdx.x % 32 >= 8) __syncthreads();
  out[threadIdx.x] = votes;
}
