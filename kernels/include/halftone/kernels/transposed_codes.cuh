// SPDX-License-Identifier: Apache-2.0
// A matrix of 8-bit codes with its lines along its columns, as wgmma wants what lies across a sum:
// through shared memory, so that both are read and written 128 bytes at a time.
#pragma once

namespace halftone::kernels::transposed_codes {

constexpr int kTile = 128;  // rows and columns of a block
constexpr int kChunk = 16;  // lines of a warp, and bytes that are stored at once

/// Words of four neighbours in four lines become those of four lines for each neighbour.
__device__ __forceinline__ void turn(const unsigned int (&lines)[kChunk], int first,
                                     unsigned int (&turned)[4]) {
  const unsigned int low01 = __byte_perm(lines[first], lines[first + 1], 0x5140),
                     low23 = __byte_perm(lines[first + 2], lines[first + 3], 0x5140),
                     high01 = __byte_perm(lines[first], lines[first + 1], 0x7362),
                     high23 = __byte_perm(lines[first + 2], lines[first + 3], 0x7362);
  turned[0] = __byte_perm(low01, low23, 0x5410);
  turned[1] = __byte_perm(low01, low23, 0x7632);
  turned[2] = __byte_perm(high01, high23, 0x5410);
  turned[3] = __byte_perm(high01, high23, 0x7632);
}

/// result0 (rows, columns) = input0 (lines, rows), turned; zeros past the lines. Rows are a
/// multiple of 4, columns of 16. Chunks of a row are exchanged so that lanes find all banks both
/// ways.
template <class Body, int kThreads>
__device__ __forceinline__ void run(const Body& body) {
  static_assert(kThreads == 2 * kTile, "a warp turns 16 lines of 128; launch eight of them");
  __shared__ uint4 chunks[kTile][kTile / kChunk];
  const long long rows = body.rows, columns = body.columns(), lines = body.lines();
  const unsigned int tiles = static_cast<unsigned int>((columns + kTile - 1) / kTile);
  const long long first_row = static_cast<long long>(blockIdx.x / tiles) * kTile;
  const long long first_column = static_cast<long long>(blockIdx.x % tiles) * kTile;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;

  const long long row = first_row + 4 * lane, line = first_column + kChunk * warp;
  const auto* const source = reinterpret_cast<const unsigned char*>(body.input0) + row;
  unsigned int words[kChunk], turned[4][kChunk / 4];
#pragma unroll
  for (int i = 0; i < kChunk; ++i)
    words[i] = row < rows && line + i < lines
                   ? *reinterpret_cast<const unsigned int*>(source + (line + i) * rows)
                   : 0u;
#pragma unroll
  for (int i = 0; i < kChunk / 4; ++i) {
    unsigned int four[4];
    turn(words, 4 * i, four);
#pragma unroll
    for (int j = 0; j < 4; ++j) turned[j][i] = four[j];
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
    chunks[4 * lane + j][warp ^ lane % 8] =
        make_uint4(turned[j][0], turned[j][1], turned[j][2], turned[j][3]);
  __syncthreads();

  const int chunk = static_cast<int>(threadIdx.x) % 8;
  const long long column = first_column + kChunk * chunk;
  auto* const result = reinterpret_cast<unsigned char*>(body.result0) + column;
#pragma unroll
  for (int i = 0; i < kTile; i += kThreads / 8) {
    const int at = i + static_cast<int>(threadIdx.x) / 8;
    if (first_row + at < rows && column < columns)
      *reinterpret_cast<uint4*>(result + (first_row + at) * columns) =
          chunks[at][chunk ^ at / 4 % 8];
  }
}

}  // namespace halftone::kernels::transposed_codes
