// SPDX-License-Identifier: Apache-2.0
// 64 live values under a limit of 32 registers: ptxas must spill, and nvrtc_compile must say so.
extern "C" __global__ void __launch_bounds__(1024, 2) spills(const float* from, float* to) {
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = from[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 64; ++i) to[(63 - i) * 1024 + threadIdx.x] = v[i] * v[(i * 7 + 3) % 64];
}
