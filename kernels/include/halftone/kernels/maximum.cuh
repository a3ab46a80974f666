// SPDX-License-Identifier: Apache-2.0
// The largest magnitude of what a kernel computes, in whatever tiles: a maximum knows no order.
// Bits of magnitudes are compared as integers, among which a NaN is above all numbers.
#pragma once

namespace halftone::kernels {

/// A thread's, from +0. Bodies point to it, so that what skeletons make of them has no other.
struct Maximum {
  unsigned int bits = 0;

  /// Takes the magnitude where it is the larger one.
  __device__ __forceinline__ void operator=(float magnitude) {
    bits = max(bits, __float_as_uint(magnitude));
  }
};

/// Hands in the maxima of a warp's threads; kWarps of each block call, behind all elements. The
/// last warp of the grid leaves the largest of all in `largest` and finishes the body with it.
/// `so_far` and `warps_done` start at 0 and are 0 again afterwards.
template <int kWarps, class Body>
__device__ __forceinline__ void finish_maximum(const Body& body) {
  constexpr unsigned int kAll = 0xffffffffu;
  unsigned int bits = body.maximum->bits;
  __syncwarp();
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    bits = max(bits, __shfl_xor_sync(kAll, bits, distance));
  if (threadIdx.x % 32 != 0) return;
  atomicMax(body.so_far, bits);
  __threadfence();
  const unsigned int last = gridDim.x * kWarps - 1;
  if (atomicInc(body.warps_done, last) != last) return;
  __threadfence();
  const float largest = __uint_as_float(atomicExch(body.so_far, 0u));
  *body.largest = largest;
  body.finish(largest);
}

}  // namespace halftone::kernels
