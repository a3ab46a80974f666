// SPDX-License-Identifier: Apache-2.0
// What a training step spends its time on, in small: a product of bf16 matrices, a layer norm, and
// attention that keeps no matrix of scores. All need sm_80.
namespace {
using Half = unsigned short;  // bf16

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
__device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory"); }
__device__ void load4(unsigned (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(row)) : "memory");
}
__device__ void load4_transposed(unsigned (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(row)) : "memory");
}
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ unsigned packed(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ float widened(Half x) { return __uint_as_float(static_cast<unsigned>(x) << 16); }

constexpr int kPitch = 40;  // of a row of 32, so that eight rows of ldmatrix lie in different banks
constexpr int kStages = 3;

/// 128 rows of 32 from (row, column) of a matrix with rows of `depth`.
__device__ void stage(Half* to, const Half* from, int row, int column, int depth) {
  for (int i = threadIdx.x; i < 128 * 4; i += 256)
    copy16(to + i / 4 * kPitch + i % 4 * 8, from + static_cast<long long>(row + i / 4) * depth + column + i % 4 * 8);
}
}  // namespace

/// product (rows, columns) = lhs (rows, depth) * rhs (columns, depth)^T. Tiles of 128 by 128, 256
/// threads; extents are multiples of 128 and of 32.
extern "C" __global__ void __launch_bounds__(256)
    product(const Half* __restrict__ lhs, const Half* __restrict__ rhs, float* __restrict__ result, int columns, int depth) {
  extern __shared__ __align__(16) Half shared[];
  Half* const a = shared;
  Half* const b = shared + kStages * 128 * kPitch;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.y * 128, column = blockIdx.x * 128;
  const int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  const int steps = depth / 32;
  float sums[4][4][4] = {};
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < steps) {
      stage(a + s * 128 * kPitch, lhs, row, 32 * s, depth);
      stage(b + s * 128 * kPitch, rhs, column, 32 * s, depth);
    }
    commit();
  }
  for (int step = 0; step < steps; ++step) {
    wait<kStages - 2>();
    __syncthreads();
    const int next = step + kStages - 1;
    if (next < steps) {
      stage(a + next % kStages * 128 * kPitch, lhs, row, 32 * next, depth);
      stage(b + next % kStages * 128 * kPitch, rhs, column, 32 * next, depth);
    }
    commit();
    const Half* const tile_a = a + step % kStages * 128 * kPitch;
    const Half* const tile_b = b + step % kStages * 128 * kPitch;
#pragma unroll
    for (int k = 0; k < 32; k += 16) {
      unsigned fa[4][4], fb[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) load4(fa[i], tile_a + (warp_row + 16 * i + lane % 16) * kPitch + k + lane / 16 * 8);
#pragma unroll
      for (int j = 0; j < 2; ++j)
        load4(fb[j], tile_b + (warp_column + 16 * j + lane / 16 * 8 + lane % 8) * kPitch + k + lane / 8 % 2 * 8);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int r = row + warp_row + 16 * i + lane / 4 + 8 * half, c = column + warp_column + 8 * j + lane % 4 * 2;
        *reinterpret_cast<float2*>(result + static_cast<long long>(r) * columns + c) = make_float2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
      }
}

/// One block of 192 threads a row of 768: (x - mean) / sqrt(variance + 1e-5) * scale + shift.
extern "C" __global__ void __launch_bounds__(192)
    layer_norm(const Half* __restrict__ x, const float* __restrict__ scale, const float* __restrict__ shift, float* __restrict__ result) {
  __shared__ float sums[6];
  const long long row = blockIdx.x * 768ll;
  const int at = 4 * threadIdx.x, warp = threadIdx.x / 32;
  const ushort4 four = *reinterpret_cast<const ushort4*>(x + row + at);
  float values[4] = {widened(four.x), widened(four.y), widened(four.z), widened(four.w)};
  const auto over_row = [&](float sum) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) sums[warp] = sum;
    __syncthreads();
    float total = 0;
#pragma unroll
    for (int w = 0; w < 6; ++w) total += sums[w];
    __syncthreads();
    return total;
  };
  const float mean = over_row(values[0] + values[1] + values[2] + values[3]) / 768;
  float squares = 0;
#pragma unroll
  for (float& value : values) {
    value -= mean;
    squares += value * value;
  }
  const float factor = 1 / sqrtf(over_row(squares) / 768 + 1e-5f);
  const float4 s = *reinterpret_cast<const float4*>(scale + at), b = *reinterpret_cast<const float4*>(shift + at);
  *reinterpret_cast<float4*>(result + row + at) = make_float4(values[0] * factor * s.x + b.x, values[1] * factor * s.y + b.y,
                                                              values[2] * factor * s.z + b.z, values[3] * factor * s.w + b.w);
}

/// Causal attention of one head of 64 channels for 64 queries a block, 128 threads: each warp keeps
/// 16 queries' largest score, sum of weights and weighted values while it passes over the keys.
extern "C" __global__ void __launch_bounds__(128)
    attention(const Half* __restrict__ q, const Half* __restrict__ k, const Half* __restrict__ v, float* __restrict__ result) {
  constexpr int kRow = 72;  // of 64 channels, for the banks' sake
  __shared__ __align__(16) Half tiles[5][64 * kRow];  // queries; keys and values, twice
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = 64 * blockIdx.x;
  const auto fetch = [&](int tile, const Half* from, int row, int rows = 32) {
    for (int i = threadIdx.x; i < rows * 8; i += 128) copy16(&tiles[tile][i / 8 * kRow + i % 8 * 8], from + (row + i / 8) * 64 + i % 8 * 8);
  };
  fetch(0, q, first, 64);
  fetch(1, k, 0);
  fetch(2, v, 0);
  commit();
  unsigned queries[4][4];
  float values[8][4] = {}, largest[2] = {-1e30f, -1e30f}, weights[2] = {0, 0};
  const int keys = first + 64;
  for (int key = 0, turn = 0; key < keys; key += 32, turn ^= 1) {
    if (key + 32 < keys) {
      fetch(3 - 2 * turn, k, key + 32);
      fetch(4 - 2 * turn, v, key + 32);
    }
    commit();
    wait<1>();
    __syncthreads();
    if (key == 0)
#pragma unroll
      for (int c = 0; c < 4; ++c) load4(queries[c], &tiles[0][(16 * warp + lane % 16) * kRow + 16 * c + lane / 16 * 8]);
    float scores[4][4] = {};
#pragma unroll
    for (int n = 0; n < 2; ++n)
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        unsigned part[4];
        load4(part, &tiles[1 + 2 * turn][(16 * n + lane / 16 * 8 + lane % 8) * kRow + 16 * c + lane / 8 % 2 * 8]);
        multiply(scores[2 * n], queries[c], part[0], part[1]);
        multiply(scores[2 * n + 1], queries[c], part[2], part[3]);
      }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int query = first + 16 * warp + lane / 4 + 8 * half;
      float most = largest[half];
#pragma unroll
      for (int n = 0; n < 4; ++n)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& score = scores[n][2 * half + e];
          score = key + 8 * n + lane % 4 * 2 + e <= query ? score * (0.125f * 1.44269504f) : -1e30f;
          most = fmaxf(most, score);
        }
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
      const float factor = power_of_two(largest[half] - most);
      largest[half] = most;
      weights[half] *= factor;
#pragma unroll
      for (int n = 0; n < 8; ++n)
#pragma unroll
        for (int e = 0; e < 2; ++e) values[n][2 * half + e] *= factor;
#pragma unroll
      for (int n = 0; n < 4; ++n)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& score = scores[n][2 * half + e];
          score = power_of_two(score - most);
          weights[half] += score;
        }
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const unsigned a[4] = {packed(scores[2 * n][0], scores[2 * n][1]), packed(scores[2 * n][2], scores[2 * n][3]),
                             packed(scores[2 * n + 1][0], scores[2 * n + 1][1]), packed(scores[2 * n + 1][2], scores[2 * n + 1][3])};
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        unsigned part[4];
        load4_transposed(part, &tiles[2 + 2 * turn][(16 * n + lane % 16) * kRow + 16 * c + lane / 16 * 8]);
        multiply(values[2 * c], a, part[0], part[1]);
        multiply(values[2 * c + 1], a, part[2], part[3]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float sum = weights[half];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    const int query = first + 16 * warp + lane / 4 + 8 * half;
#pragma unroll
    for (int n = 0; n < 8; ++n)
      *reinterpret_cast<float2*>(result + query * 64 + 8 * n + lane % 4 * 2) = make_float2(values[n][2 * half] / sum, values[n][2 * half + 1] / sum);
  }
}
