// SPDX-License-Identifier: Apache-2.0
// Attention with a Body written by hand: a softmax of scores that a causal mask keeps. Options
// define ELEMENT (f16 or bf16), TILE (keys at a time, columns of keys, of values), KEYS (a number,
// or 0 where it comes when the kernel runs).
#include "halftone/kernels/attention.cuh"

using halftone::kernels::bf16;
using halftone::kernels::f16;

namespace {

using Plan = halftone::kernels::attention::Tile<TILE>;

__device__ __forceinline__ f16 rounded(float x, const f16*) { return halftone::kernels::to_f16(x); }
__device__ __forceinline__ bf16 rounded(float x, const bf16*) {
  return halftone::kernels::to_bf16(x);
}

/// About as many operations as an exponential of math.md.
__device__ __forceinline__ float power(float x) {
  const float k = rintf(x * 1.44269502f);
  float r = __fmaf_rn(k, -0.693145751f, x), sum = 0.00137824577f;
  r = __fmaf_rn(k, -1.42860677e-6f, r);
  sum = __fmaf_rn(sum, r, 0.00836866907f);
  sum = __fmaf_rn(sum, r, 0.0416689627f);
  sum = __fmaf_rn(sum, r, 0.166665211f);
  sum = __fmaf_rn(sum, r, 0.499999911f);
  sum = __fmaf_rn(sum * r, r, r + 1.0f);
  const int whole = static_cast<int>(k), part = whole / 2;
  return x < -104.0f ? 0.0f
                     : sum * __int_as_float((part + 127) << 23) *
                           __int_as_float((whole - part + 127) << 23);
}

struct Body {
  using Column = int;
  using Lhs = ELEMENT;
  using Rhs = ELEMENT;
  using Values = ELEMENT;
  using Weight = ELEMENT;
  static constexpr bool kIsBatch = true, kMasks = true;
  static constexpr int kProducts = 1;
  static constexpr int kLevels = KEYS == 0 ? 3 : KEYS > 1024 ? 2 : 1;
  static constexpr int kStages = 2, kReductions = 2, kRowValues = 1;

  const ELEMENT *lhs, *rhs, *values;
  float* result;
  long long rows, depth, element_rows;
  int keys;

  __device__ __forceinline__ Column columns() const { return KEYS == 0 ? keys : KEYS; }
  __device__ __forceinline__ float* sums(long long row) const {
    return result + row * Plan::kValueColumns;
  }

  __device__ __forceinline__ long long queries() const { return element_rows; }
  __device__ __forceinline__ int group() const { return 1; }
  /// What the causal mask keeps of these pairs.
  __device__ __forceinline__ halftone::kernels::Kept kept(long long, int first_row, int last_row,
                                                          int first_column, int last_column) const {
    return halftone::kernels::kept_of(
        halftone::kernels::at_most(halftone::kernels::Range{first_column, last_column},
                                   halftone::kernels::Range{first_row, last_row}));
  }

  struct Uniforms {
    int query;
  };
  template <int kWidth>
  struct Inputs {};
  template <int kWidth>
  struct Outputs {};

  __device__ static constexpr int stage_begin(int stage) { return stage; }
  __device__ static constexpr bool reads_sum2(int) { return false; }
  __device__ static constexpr halftone::kernels::Reduction reduction(int index) {
    return index == 0 ? halftone::kernels::Reduction::maximum : halftone::kernels::Reduction::sum;
  }

  __device__ __forceinline__ void load(long long row, Uniforms& uniforms) const {
    uniforms.query = static_cast<int>(row % element_rows);
  }
  template <int kWidth>
  __device__ __forceinline__ void load(long long, Column, Inputs<kWidth>&) const {}
  template <int kStage, bool kAll, int kWidth>
  __device__ __forceinline__ void contribute(const Uniforms& uniforms, const float* reduced,
                                             float sum, float, const Inputs<kWidth>&, int,
                                             long long, Column column, float* terms) const {
    const bool kept = kAll || column <= uniforms.query;
    const float score = kept ? sum * 0.125f : -__int_as_float(0x7f800000);
    terms[0] = kStage == 0 ? score : kept ? power(score - reduced[0]) : 0.0f;
  }
  template <int kStage>
  __device__ __forceinline__ void derive(const Uniforms&, float* reduced) const {
    if constexpr (kStage == 2) reduced[2] = 1.0f / reduced[1];
  }
  template <bool kAll, int kWidth>
  __device__ __forceinline__ void compute(const Uniforms& uniforms, const float* reduced, float sum,
                                          float, const Inputs<kWidth>&, int, long long,
                                          Column column, Outputs<kWidth>&, Weight* terms) const {
    const bool kept = kAll || column <= uniforms.query;
    *terms = rounded(kept ? power(sum * 0.125f - reduced[0]) * reduced[2] : 0.0f, lhs);
  }
  __device__ __forceinline__ void store_row(const Uniforms&, const float*, long long) const {}
};

}  // namespace

extern "C" __global__ void __launch_bounds__(Plan::kThreads, 2)
    attention(const ELEMENT* __restrict__ queries, const ELEMENT* __restrict__ keys,
              const ELEMENT* __restrict__ values, float* __restrict__ result, long long rows,
              long long element_rows, int count) {
  Body body;
  body.lhs = queries;
  body.rhs = keys;
  body.values = values;
  body.result = result;
  body.rows = rows;
  body.depth = Plan::kColumns;
  body.element_rows = element_rows;
  body.keys = count;
  halftone::kernels::attention::run<Body, Plan>(body);
}
