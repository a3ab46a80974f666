// SPDX-License-Identifier: Apache-2.0
// Indices that the compiler does not know, so that the array cannot stay in registers.
extern "C" __global__ void halftone_local(float* values, const int* indices) {
  float copies[64];
  for (int i = 0; i < 64; ++i) copies[i] = values[64 * threadIdx.x + i];
  for (int i = 0; i < 64; ++i) copies[indices[i] % 64] += 1.0f;
  for (int i = 0; i < 64; ++i) values[64 * threadIdx.x + i] = copies[i];
}
