// SPDX-License-Identifier: Apache-2.0
// Faults in shared memory. FAULT plants them; without it the same kernels are right.

//! race; block 64
extern "C" __global__ void exchange_without_barrier(const float* in, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
#if !FAULT
  __syncthreads();
#endif
  out[threadIdx.x] = tile[63 - threadIdx.x];  // HERE
}

//! race; block 64
extern "C" __global__ void tree_without_barrier(const float* in, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];  // HERE
#if !FAULT
    __syncthreads();
#endif
  }
  if (threadIdx.x == 0) out[0] = tile[0];
}

//! race; block 64
extern "C" __global__ void overwritten_while_read(const float* in, float* out) {
  __shared__ float tile[64];
  float sum = 0;
  for (int step = 0; step < 4; ++step) {
    tile[threadIdx.x] = in[64 * step + threadIdx.x];  // HERE
    __syncthreads();
    sum += tile[63 - threadIdx.x];
#if !FAULT
    __syncthreads();
#endif
  }
  out[threadIdx.x] = sum;
}

//! race; block 64
extern "C" __global__ void two_writers(const float* in, float* out) {
  __shared__ float tile[64];
  tile[FAULT ? threadIdx.x / 2 : threadIdx.x] = in[threadIdx.x];  // HERE
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x / 2];
}

//! race; block 96
extern "C" __global__ void stage_off_by_one(const float* in, float* out) {
  __shared__ float stages[2][96];
  stages[0][threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int step = 0; step < 4; ++step) {
    stages[FAULT ? step % 2 : (step + 1) % 2][threadIdx.x] = in[96 * step + 96 + threadIdx.x];  // HERE
    sum += stages[step % 2][95 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

//! race; block 64
extern "C" __global__ void atomic_and_plain(const float* in, float* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, in[threadIdx.x] > 0 ? 1 : 2);
#if !FAULT
  __syncthreads();
#endif
  out[threadIdx.x] = count;  // HERE
}

//! uninitialised; block 32
extern "C" __global__ void counter_not_zeroed(const float* in, float* out) {
  __shared__ int count;
#if !FAULT
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
#endif
  atomicAdd(&count, in[threadIdx.x] > 0 ? 1 : 2);  // HERE
  __syncthreads();
  out[threadIdx.x] = count;
}

//! uninitialised; block 32
extern "C" __global__ void last_element_never_written(const float* in, float* out) {
  __shared__ float tile[33];
  tile[threadIdx.x] = in[threadIdx.x];
  if (!FAULT && threadIdx.x == 0) tile[32] = 0;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x + 1];  // HERE
}

//! uninitialised; block 32
extern "C" __global__ void vector_with_a_hole(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  for (int i = 0; i < (FAULT ? 3 : 4); ++i) tile[4 * threadIdx.x + i] = in[threadIdx.x + i];
  __syncthreads();
  const float4 four = *reinterpret_cast<const float4*>(tile + 4 * (31 - threadIdx.x));  // HERE
  out[threadIdx.x] = four.x + four.y + four.z + four.w;
}

//! out_of_bounds; block 32; shared 128
extern "C" __global__ void dynamic_read_past_end(const float* in, float* out) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[FAULT ? threadIdx.x + 1 : 31 - threadIdx.x];  // HERE
}

//! out_of_bounds; block 32
extern "C" __global__ void static_write_past_end(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = 0;
  tile[FAULT ? 32 * threadIdx.x : threadIdx.x] = in[threadIdx.x];  // HERE
  __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x];
}

//! misaligned; block 32
extern "C" __global__ void shared_pair_misaligned(const float* in, float* out) {
  __shared__ alignas(16) float tile[80];
  for (int i = threadIdx.x; i < 80; i += 32) tile[i] = in[i];
  __syncthreads();
  const float2 two = *reinterpret_cast<const float2*>(tile + 2 * threadIdx.x + (FAULT ? 1 : 0));  // HERE
  out[threadIdx.x] = two.x + two.y;
}
