// SPDX-License-Identifier: Apache-2.0
// A tensor-core contraction whose Body is written by hand. Options define ELEMENT and RHS (f16,
// bf16 or float), TRANSPOSE_LHS, TRANSPOSE_RHS, COLUMNS, WIDTH, LHS_SUM (0: unused, 1: per row, 2:
// by elements), BATCH (its elements, 1 for none) and TILE; of two operands of 8 bits LHS, of which
// ELEMENT is no format, and PROMOTES; of two in blocks LHS_LINES, LHS_PLACES,
// RHS_LINES and RHS_PLACES, the lines and places of the sum that share a scale, and FACTORED where
// those are no powers of two; of two of 4 bits SCALE_PLACES, with int as LHS, RHS and SCALE;
// TENSOR_MEMORY where sums are kept there, and WARP_GROUPS where those multiply 8 bits.
#ifndef SCALE
#define SCALE float
#endif
#ifdef TENSOR_MEMORY
#include "halftone/kernels/tensor_memory_contraction.cuh"
using halftone::kernels::f8e4m3;
using halftone::kernels::f8e5m2;
namespace skeleton = halftone::kernels::tensor_memory_contraction;
#elif defined(WARP_GROUPS) && defined(FACTORED)
#include "halftone/kernels/factored_warpgroup_contraction.cuh"
using halftone::kernels::f8e4m3;
using halftone::kernels::f8e5m2;
namespace skeleton = halftone::kernels::factored_warpgroup_contraction;
#elif defined(WARP_GROUPS)
#include "halftone/kernels/float8_warpgroup_contraction.cuh"
using halftone::kernels::f8e4m3;
using halftone::kernels::f8e5m2;
namespace skeleton = halftone::kernels::float8_warpgroup_contraction;
#elif defined(SCALE_PLACES)
#include "halftone/kernels/float4_contraction.cuh"
namespace skeleton = halftone::kernels::float4_contraction;
#elif defined(FACTORED)
#include "halftone/kernels/factored_contraction.cuh"
using halftone::kernels::f8e4m3;
using halftone::kernels::f8e5m2;
namespace skeleton = halftone::kernels::factored_contraction;
#elif defined(LHS_LINES)
#include "halftone/kernels/block_scaled_contraction.cuh"
using halftone::kernels::f8e4m3;
using halftone::kernels::f8e5m2;
namespace skeleton = halftone::kernels::block_scaled_contraction;
#elif defined(LHS)
#include "halftone/kernels/float8_contraction.cuh"
using halftone::kernels::f8e4m3;
using halftone::kernels::f8e5m2;
namespace skeleton = halftone::kernels::float8_contraction;
#else
#define LHS ELEMENT
#define PROMOTES false
#include "halftone/kernels/tensor_contraction.cuh"
namespace skeleton = halftone::kernels::tensor_contraction;
#endif

#if defined(TENSOR_MEMORY) || defined(WARP_GROUPS)
#define TENSOR_MAPS
#endif

using halftone::kernels::bf16;
using halftone::kernels::f16;

namespace {

__device__ __forceinline__ f16 rounded(float x, const f16*) { return halftone::kernels::to_f16(x); }
__device__ __forceinline__ bf16 rounded(float x, const bf16*) {
  return halftone::kernels::to_bf16(x);
}
__device__ __forceinline__ float rounded(float x, const float*) { return x; }

using Plan = skeleton::Tile<TILE>;

/// sum[i, j] = the f32 sum; result[i, j] = round(scale[i] * (sum + bias[j]) + input[i, j]), plus
/// lhs's sum where elements use it; row_sum[i] = lhs's sum, where it is used.
struct Body {
#ifdef TENSOR_MAPS
  using Column = halftone::kernels::warpgroup_contraction::Column;
  __device__ __forceinline__ bool is_aligned() const {
    return ((reinterpret_cast<unsigned long long>(input) |
             reinterpret_cast<unsigned long long>(bias) |
             reinterpret_cast<unsigned long long>(sum) |
             reinterpret_cast<unsigned long long>(result)) &
            15) == 0;
  }
#else
  using Column = int;
#endif
  using Lhs = LHS;
  using Rhs = RHS;
  static constexpr bool kTransposeLhs = TRANSPOSE_LHS, kTransposeRhs = TRANSPOSE_RHS;
  static constexpr bool kIsBatch = BATCH > 1;
  static constexpr bool kUsesLhsSum = LHS_SUM > 0, kElementsUseLhsSum = LHS_SUM > 1;
  static constexpr bool kPromotes = PROMOTES;
  static constexpr int kWidth = WIDTH;

#ifdef SCALE_PLACES
  static constexpr int kScalePlaces = SCALE_PLACES;
#endif
#ifdef LHS_LINES
  static constexpr int kLhsScaleLines = LHS_LINES, kLhsScalePlaces = LHS_PLACES;
  static constexpr int kRhsScaleLines = RHS_LINES, kRhsScalePlaces = RHS_PLACES;
  __device__ long long lhs_scale_pitch() const {
    return kTransposeLhs ? (rows + LHS_LINES - 1) / LHS_LINES
                         : (places + LHS_PLACES - 1) / LHS_PLACES;
  }
  __device__ long long rhs_scale_pitch() const {
    return kTransposeRhs ? (places + RHS_PLACES - 1) / RHS_PLACES
                         : (COLUMNS + RHS_LINES - 1) / RHS_LINES;
  }
#endif

  const LHS* lhs;
  const SCALE *lhs_scales, *rhs_scales;
  const ELEMENT* input;
  const RHS* rhs;
  const float *bias, *scale;
  float* sum;
  ELEMENT* result;
  float *row_sum, *workspace;
  long long rows, depth, element_rows;
  long long places;  ///< of the sum, of which depth may count pairs

  __device__ static constexpr Column columns() { return COLUMNS; }

  struct Uniforms {
    float scale;
  };
  template <int kWidth>
  struct Inputs {
    float bias[kWidth];
    ELEMENT input[kWidth];
  };
  template <int kWidth>
  struct Outputs {
    float sum[kWidth];
    ELEMENT result[kWidth];
  };

  __device__ __forceinline__ void load(long long row, Uniforms& uniforms) const {
    uniforms.scale = scale[row];
  }
  template <int kWidth>
  __device__ __forceinline__ void load(long long row, Column column, Inputs<kWidth>& inputs) const {
    halftone::kernels::load(bias, column, columns(), inputs.bias);
    halftone::kernels::load(input + row * columns(), column, columns(), inputs.input);
  }
  template <int kWidth>
  __device__ __forceinline__ void compute(const Uniforms& uniforms, float total, float lhs_sum,
                                          const Inputs<kWidth>& inputs, int i, long long row,
                                          Column column, Outputs<kWidth>& outputs) const {
    float value = uniforms.scale * (total + inputs.bias[i]);
    value += halftone::kernels::widen(inputs.input[i]);
    if (kElementsUseLhsSum) value += lhs_sum;
    outputs.sum[i] = total;
    outputs.result[i] = rounded(value, result);
  }
  template <int kWidth>
  __device__ __forceinline__ void store(long long row, Column column,
                                        const Outputs<kWidth>& outputs) const {
    halftone::kernels::store(sum + row * columns(), column, columns(), outputs.sum);
    halftone::kernels::store(result + row * columns(), column, columns(), outputs.result);
  }
  __device__ __forceinline__ void store_row(const Uniforms& uniforms, float lhs_sum,
                                            long long row) const {
    if (kUsesLhsSum) row_sum[row] = lhs_sum;
  }
};

}  // namespace

#ifdef TENSOR_MAPS
#define BOUNDS Plan::kThreads, 1
#else
#define BOUNDS Plan::kThreads
#endif
extern "C" __global__ void __launch_bounds__(BOUNDS)
    contraction(const LHS* __restrict__ lhs, const RHS* __restrict__ rhs,
                const ELEMENT* __restrict__ input, const float* __restrict__ bias,
                const float* __restrict__ scale, float* __restrict__ sum,
                ELEMENT* __restrict__ result, float* __restrict__ row_sum,
                float* __restrict__ workspace, long long rows, long long depth,
                const SCALE* __restrict__ lhs_scales, const SCALE* __restrict__ rhs_scales
#ifdef TENSOR_MAPS
                ,
                const __grid_constant__ halftone::kernels::TensorMap lhs_map,
                const __grid_constant__ halftone::kernels::TensorMap rhs_map, int splits
#endif
    ) {
  Body body;
  body.lhs_scales = lhs_scales;
  body.rhs_scales = rhs_scales;
  body.lhs = lhs;
  body.rhs = rhs;
  body.input = input;
  body.bias = bias;
  body.scale = scale;
  body.sum = sum;
  body.result = result;
  body.row_sum = row_sum;
  body.workspace = workspace;
  body.rows = rows;
  body.depth = body.places = depth;
  body.element_rows = rows / BATCH;
#ifdef TENSOR_MAPS
  skeleton::run<Body, Plan>(body, lhs_map, rhs_map, splits, workspace);
#else
  skeleton::run<Body, Plan>(body);
#endif
}
