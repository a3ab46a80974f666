// SPDX-License-Identifier: Apache-2.0
// Lines of an operand in shared memory as wgmma reads them and as tensor copies leave them: 64
// elements of 16 bits each, of whose eight parts of 16 bytes those of neighbouring lines are
// exchanged (the swizzle of 128 bytes). And how threads place them where rows in memory do not
// begin at multiples of 16 bytes, which tensor copies want.
#pragma once

#include "halftone/kernels/ptx_sm90.cuh"

namespace halftone::kernels::warpgroup_contraction {

constexpr int kLineElements = 64, kLineBytes = 128;
constexpr int kLineWarps = 4;  // that copy

/// In the place of a tensor map: threads copy.
struct NoMap {};
template <class Map>
inline constexpr bool kHasNoMap = false;
template <>
inline constexpr bool kHasNoMap<NoMap> = true;

/// A matrix as it lies in memory.
template <class T>
struct LinesOf {
  const T* data;
  long long lines, elements;
};

/// 64 elements from `element` on of kLines lines from `line` on, zeros outside of the matrix, to
/// `to`: by the first four warps, each of which takes every fourth line.
template <int kLines, class T>
__device__ __forceinline__ void copy_lines(const LinesOf<T>& matrix, unsigned char* to, int element,
                                           int line) {
  static_assert(sizeof(T) == 2 && kLines % 64 == 0, "elements of 16 bits, 64 lines at a time");
  constexpr int kOwn = kLines / kLineWarps, kAtOnce = 16;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int own = line + warp;
  // Of its lines the warp's number i is 4 * i + warp: two places of each word, in turns.
  unsigned int* const words[2] = {
      reinterpret_cast<unsigned int*>(to + warp * kLineBytes) + (lane ^ warp * 4),
      reinterpret_cast<unsigned int*>(to + (warp + 4) * kLineBytes) + (lane ^ (warp + 4) * 4)};
  if (line + kLines <= matrix.lines && element + kLineElements < matrix.elements) {
    // Words that begin at multiples of four bytes, of which a lane's elements are two halves; four
    // lines are a multiple of eight bytes, so that all own lines begin alike.
    const auto address =
        reinterpret_cast<unsigned long long>(matrix.data + own * matrix.elements + element);
    const auto odd = static_cast<unsigned int>(address >> 1 & 1);
    const auto* from = reinterpret_cast<const unsigned int*>(address & ~3ull) + lane;
#pragma unroll
    for (int first = 0; first < kOwn; first += kAtOnce) {
      unsigned int low[kAtOnce], high[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        low[i] = __ldg(from);
        high[i] = __ldg(from + odd);
        from += 2 * matrix.elements;
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i)
        words[i % 2][(first + i) / 2 * (8 * kLineBytes / 4)] =
            __funnelshift_r(low[i], high[i], 16 * odd);
    }
    return;
  }
  const auto* bits = reinterpret_cast<const unsigned short*>(matrix.data);
#pragma unroll 1
  for (int i = 0; i < kOwn; ++i) {
    const long long at = own + 4 * i, first = element + 2 * lane;
    unsigned int word = 0;
    if (at < matrix.lines && first < matrix.elements)
      word = __ldg(bits + at * matrix.elements + first);
    if (at < matrix.lines && first + 1 < matrix.elements)
      word |= static_cast<unsigned int>(__ldg(bits + at * matrix.elements + first + 1)) << 16;
    (i % 2 == 0 ? words[0] : words[1])[i / 2 * (8 * kLineBytes / 4)] = word;
  }
}

/// Asks L2 for such lines, of which a lane takes every 128th.
template <int kLines, class T>
__device__ __forceinline__ void ask_for_lines(const LinesOf<T>& matrix, int element, int line) {
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int first = 0; first < kLines; first += 32 * kLineWarps) {
    const long long own = line + first + thread;
    if (first + thread < kLines && own < matrix.lines &&
        element + kLineElements <= matrix.elements) {
      const T* const begin = matrix.data + own * matrix.elements + element;
      ptx::prefetch_l2(begin);
      ptx::prefetch_l2(begin + kLineElements - 1);
    }
  }
}

}  // namespace halftone::kernels::warpgroup_contraction
