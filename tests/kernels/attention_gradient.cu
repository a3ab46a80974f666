// SPDX-License-Identifier: Apache-2.0
// The gradient of attention with Bodies written by hand, as attention.cu's: `by_rows` for queries,
// `by_columns` for keys and values. Options define ELEMENT (f16 or bf16), TILE (keys at a time,
// columns of keys, of values), COLUMNS_TILE (queries at a time, and the same columns), KEYS (a
// number, or 0 where it comes when the kernels run).
#include "halftone/kernels/attention.cuh"
#include "halftone/kernels/attention_columns.cuh"

using halftone::kernels::bf16;
using halftone::kernels::f16;

namespace {

using Plan = halftone::kernels::attention::Tile<TILE>;
using ColumnsPlan = halftone::kernels::attention_columns::Tile<COLUMNS_TILE>;

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

/// Maximum, sum of exponentials, and sum of weights times what arrives at them, of each query.
constexpr int kReductions = 3;

struct Operands {
  using Column = int;
  using Lhs = ELEMENT;
  using Rhs = ELEMENT;
  using Weight = ELEMENT;
  static constexpr bool kIsBatch = true, kMasks = true;
  static constexpr int kProducts = 2, kRowValues = 1;

  const ELEMENT *lhs, *rhs, *lhs2, *rhs2;
  long long rows, depth, element_rows;
  int keys;

  __device__ __forceinline__ Column columns() const { return KEYS == 0 ? keys : KEYS; }
  __device__ __forceinline__ long long queries() const { return element_rows; }
  __device__ __forceinline__ int group() const { return 1; }
  /// What the causal mask keeps of these pairs.
  __device__ __forceinline__ halftone::kernels::Kept kept(long long, int first_row, int last_row,
                                                          int first_column, int last_column) const {
    return halftone::kernels::kept_of(
        halftone::kernels::at_most(halftone::kernels::Range{first_column, last_column},
                                   halftone::kernels::Range{first_row, last_row}));
  }
  template <int kWidth>
  struct Inputs {};
  template <int kWidth>
  struct Outputs {};
  template <int kWidth>
  __device__ __forceinline__ void load(long long, Column, Inputs<kWidth>&) const {}

  /// maximum, reciprocal of the sum, mean: the row's.
  __device__ __forceinline__ static float weight(float sum, bool kept, float maximum,
                                                 float reciprocal) {
    return kept ? power(sum * 0.125f - maximum) * reciprocal : 0.0f;
  }
};

struct Body : Operands {
  static constexpr int kLevels = KEYS == 0 ? 3 : KEYS > 1024 ? 2 : 1;
  static constexpr int kStages = 3, kReductions = 3;
  float *result, *maximum, *total, *mean;

  struct Uniforms {
    int query;
  };
  using Operands::load;
  __device__ __forceinline__ void load(long long row, Uniforms& uniforms) const {
    uniforms.query = static_cast<int>(row % element_rows);
  }
  __device__ __forceinline__ float* sums(long long row) const {
    return result + row * Plan::kColumns;
  }
  __device__ static constexpr int stage_begin(int stage) { return stage; }
  __device__ static constexpr bool reads_sum2(int stage) { return stage == 2; }
  __device__ static constexpr halftone::kernels::Reduction reduction(int index) {
    return index == 0 ? halftone::kernels::Reduction::maximum : halftone::kernels::Reduction::sum;
  }
  template <int kStage, bool kAll, int kWidth>
  __device__ __forceinline__ void contribute(const Uniforms& uniforms, const float* reduced,
                                             float sum, float sum2, const Inputs<kWidth>&, int,
                                             long long, Column column, float* terms) const {
    const bool kept = kAll || column <= uniforms.query;
    if constexpr (kStage == 0)
      terms[0] = kept ? sum * 0.125f : -__int_as_float(0x7f800000);
    else if constexpr (kStage == 1)
      terms[0] = weight(sum, kept, reduced[0], 1.0f);
    else
      terms[0] = weight(sum, kept, reduced[0], reduced[3]) * sum2;
  }
  template <int kStage>
  __device__ __forceinline__ void derive(const Uniforms&, float* reduced) const {
    if constexpr (kStage == 2) reduced[3] = 1.0f / reduced[1];
  }
  template <bool kAll, int kWidth>
  __device__ __forceinline__ void compute(const Uniforms& uniforms, const float* reduced, float sum,
                                          float sum2, const Inputs<kWidth>&, int, long long,
                                          Column column, Outputs<kWidth>&, Weight* terms) const {
    const float p = weight(sum, kAll || column <= uniforms.query, reduced[0], reduced[3]);
    *terms = rounded(p * (sum2 - reduced[2]) * 0.125f, lhs);
  }
  __device__ __forceinline__ void store_row(const Uniforms&, const float* reduced,
                                            long long row) const {
    maximum[row] = reduced[0], total[row] = reduced[1], mean[row] = reduced[2];
  }
};

struct ColumnsBody : Operands {
  const float *maximum, *total, *mean;
  float *result, *result2;

  struct Uniforms {
    int query;
    float maximum, total, mean;
  };
  using Operands::load;
  __device__ __forceinline__ void load(long long row, Uniforms& uniforms) const {
    uniforms = {static_cast<int>(row % element_rows), maximum[row], total[row], mean[row]};
  }
  __device__ __forceinline__ float* sums(long long row) const {
    return result + row * ColumnsPlan::kColumns;
  }
  __device__ __forceinline__ float* sums2(long long row) const {
    return result2 + row * ColumnsPlan::kValueColumns;
  }
  template <int kStage>
  __device__ __forceinline__ void derive(const Uniforms& uniforms, float* reduced) const {
    reduced[0] = 1.0f / uniforms.total;
  }
  template <bool kAll, int kWidth>
  __device__ __forceinline__ void compute(const Uniforms& uniforms, const float* reduced, float sum,
                                          float sum2, const Inputs<kWidth>&, int, long long,
                                          Column column, Outputs<kWidth>&, Weight* terms) const {
    const float p = weight(sum, kAll || column <= uniforms.query, uniforms.maximum, reduced[0]);
    terms[0] = rounded(p * (sum2 - uniforms.mean) * 0.125f, lhs);
    terms[1] = rounded(p, lhs);
  }
};

template <class Body>
__device__ __forceinline__ void give(Body& body, const ELEMENT* queries, const ELEMENT* keys,
                                     const ELEMENT* gradient, const ELEMENT* values, long long rows,
                                     long long element_rows, int count) {
  body.lhs = queries, body.rhs = keys, body.lhs2 = gradient, body.rhs2 = values;
  body.rows = rows;
  body.depth = Plan::kColumns;
  body.element_rows = element_rows;
  body.keys = count;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(Plan::kThreads, 2)
    by_rows(const ELEMENT* __restrict__ queries, const ELEMENT* __restrict__ keys,
            const ELEMENT* __restrict__ gradient, const ELEMENT* __restrict__ values,
            float* __restrict__ result, float* __restrict__ maximum, float* __restrict__ total,
            float* __restrict__ mean, long long rows, long long element_rows, int count) {
  Body body;
  give(body, queries, keys, gradient, values, rows, element_rows, count);
  body.result = result, body.maximum = maximum, body.total = total, body.mean = mean;
  halftone::kernels::attention::run<Body, Plan>(body);
}

extern "C" __global__ void __launch_bounds__(ColumnsPlan::kThreads, 2)
    by_columns(const ELEMENT* __restrict__ queries, const ELEMENT* __restrict__ keys,
               const ELEMENT* __restrict__ gradient, const ELEMENT* __restrict__ values,
               const float* __restrict__ maximum, const float* __restrict__ total,
               const float* __restrict__ mean, float* __restrict__ result,
               float* __restrict__ result2, long long rows, long long element_rows, int count) {
  ColumnsBody body;
  give(body, queries, keys, gradient, values, rows, element_rows, count);
  body.maximum = maximum, body.total = total, body.mean = mean;
  body.result = result, body.result2 = result2;
  halftone::kernels::attention_columns::run<ColumnsBody, ColumnsPlan>(body);
}
