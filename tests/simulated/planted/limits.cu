// SPDX-License-Identifier: Apache-2.0
// Launches that a chip cannot hold.

//! launch_limit; block 32; shared 200000; fixed_shared 1024
extern "C" __global__ void more_shared_memory_than_the_chip(const float* in, float* out) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = tile[threadIdx.x];
}

//! launch_limit; block 2048; fixed_block 1024
extern "C" __global__ void more_threads_than_a_block(const float* in, float* out) {
  out[threadIdx.x % 1024] = in[threadIdx.x % 1024];
}

//! launch_limit; block 256; fixed_block 128
extern "C" __global__ void __launch_bounds__(128) more_threads_than_promised(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];
}
