// SPDX-License-Identifier: Apache-2.0
// A constant without its f.
extern "C" __global__ void halftone_double(float* values) { values[threadIdx.x] *= 0.1; }
