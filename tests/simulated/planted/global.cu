// SPDX-License-Identifier: Apache-2.0
// Faults in global memory, inside a block and between blocks. Both buffers have 4096 bytes.

//! out_of_bounds; block 32; grid 33
extern "C" __global__ void read_past_end(const float* in, float* out) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (FAULT || i < 1024) out[i % 1024] = in[i];  // HERE
}

//! out_of_bounds; block 32
extern "C" __global__ void read_before_begin(const float* in, float* out) {
  const int i = threadIdx.x;
  out[i] = i > 0 || FAULT ? in[i - 1] : 0;  // HERE
}

//! out_of_bounds; block 32; grid 32
extern "C" __global__ void write_past_end(const float* in, float* out) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  out[FAULT ? i + 1 : i] = in[i];  // HERE
}

//! out_of_bounds; block 32
extern "C" __global__ void vector_across_the_end(const float* in, float* out) {
  const float4* fours = reinterpret_cast<const float4*>(in);
  const float4 four = fours[threadIdx.x + (FAULT ? 240 : 224)];  // HERE
  out[threadIdx.x] = four.x + four.w;
}

//! out_of_bounds; block 32
extern "C" __global__ void null_pointer(const float* in, float* out) {
  // in[0] is 0.
  const float* from = FAULT ? reinterpret_cast<const float*>(static_cast<unsigned long long>(in[0])) : in;
  out[threadIdx.x] = from[threadIdx.x];  // HERE
}

//! misaligned; block 32
extern "C" __global__ void vector_misaligned(const float* in, float* out) {
  const float4 four = *reinterpret_cast<const float4*>(in + 4 * threadIdx.x + (FAULT ? 2 : 0));  // HERE
  out[threadIdx.x] = four.x + four.w;
}

//! uninitialised; block 32
extern "C" __global__ void result_read_before_written(const float* in, float* out) {
#if !FAULT
  out[threadIdx.x] = 0;
#endif
  out[threadIdx.x] += in[threadIdx.x];  // HERE
}

//! race; block 32; grid 2
extern "C" __global__ void two_blocks_write_one(const float* in, float* out) {
  out[FAULT ? threadIdx.x : blockIdx.x * 32 + threadIdx.x] = in[blockIdx.x];  // HERE
}

//! race; block 32; grid 2
extern "C" __global__ void reads_another_blocks_result(const float* in, float* out) {
  out[blockIdx.x * 32 + threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const int other = FAULT ? 0 : blockIdx.x;
  const float value = out[other * 32 + 31 - threadIdx.x];  // HERE
  out[64 + blockIdx.x * 32 + threadIdx.x] = value;
}

//! race; block 64
extern "C" __global__ void global_exchange_without_barrier(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];
#if !FAULT
  __syncthreads();
#endif
  out[64 + threadIdx.x] = out[63 - threadIdx.x];  // HERE
}

__device__ unsigned blocks_done = 0;

//! race; block 32; grid 4
extern "C" __global__ void last_block_without_fence(const float* in, float* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    *const_cast<volatile float*>(out + 1 + blockIdx.x) = in[blockIdx.x];
#if !FAULT
    __threadfence();
#endif
    last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
#if !FAULT
  __threadfence();
#endif
  float sum = 0;
  for (unsigned block = 0; block < gridDim.x; ++block) sum += out[1 + block];  // HERE
  out[0] = sum;
}

//! race; block 32; grid 2
extern "C" __global__ void plain_flag_between_blocks(const float* in, float* out) {
  unsigned* flag = reinterpret_cast<unsigned*>(out + 64);
  if (blockIdx.x == 0) {
    out[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicExch(flag, 1u);
    }
    return;
  }
  if (threadIdx.x == 0) {
#if FAULT
    while (*const_cast<volatile unsigned*>(flag) != 1u) {}
#else
    while (atomicAdd(flag, 0u) != 1u) {}
    __threadfence();
#endif
  }
  __syncthreads();
  out[32 + threadIdx.x] = out[threadIdx.x];  // HERE
}

//! out_of_bounds; block 32
extern "C" __global__ void local_array_past_end(const float* in, float* out) {
  float mine[8];
  for (int i = 0; i < 8; ++i) mine[i] = in[i + threadIdx.x];
  const int at = static_cast<int>(in[0]) + (FAULT ? 8 : 3);
  out[threadIdx.x] = mine[at];  // HERE
}

//! uninitialised; block 32
extern "C" __global__ void local_array_with_a_hole(const float* in, float* out) {
  float mine[8];
  const int to = static_cast<int>(in[0]) + 3;
  for (int i = 0; i < (FAULT ? to : 8); ++i) mine[i] = in[i + threadIdx.x];
  out[threadIdx.x] = mine[to + 1];  // HERE
}
