// SPDX-License-Identifier: Apache-2.0
// Scales of operands in blocks: where they lie in memory, and powers of two as instructions take
// them.
#pragma once

namespace halftone::kernels {

/// Of a line's place the number of its scale: kLines lines, none of which is summed over, by
/// kPlaces places of the sum share one; a line of scales, in the order of the codes' memory, is
/// `pitch` long.
template <bool kAlongDepth, int kLines, int kPlaces, class Index>
__device__ __forceinline__ long long scale_at(Index line, Index place, long long pitch) {
  const Index lines = line / kLines, places = place / kPlaces;
  return kAlongDepth ? lines * pitch + places : places * pitch + lines;
}

/// Of a float's bits, a power of two, the f8e8m0 that it is. P21: numbers of a scale of 2^113 or
/// more may be infinite, which their codes are not.
__device__ __forceinline__ unsigned int f8e8m0_of(unsigned int scale) {
  const unsigned int exponent = scale >> 23;
  return exponent < 127 + 113 ? exponent : 255;
}

}  // namespace halftone::kernels
