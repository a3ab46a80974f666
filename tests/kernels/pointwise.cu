// SPDX-License-Identifier: Apache-2.0
// A pointwise kernel whose Body is written by hand: result = round(x + y). Options define ELEMENT
// (f16, bf16 or float), COLUMNS and WIDTH.
#include "halftone/kernels/convert.cuh"
#include "halftone/kernels/pointwise.cuh"

using halftone::kernels::bf16;
using halftone::kernels::f16;

namespace {

__device__ __forceinline__ void round_to(float x, f16& to) { to = halftone::kernels::to_f16(x); }
__device__ __forceinline__ void round_to(float x, bf16& to) { to = halftone::kernels::to_bf16(x); }
__device__ __forceinline__ void round_to(float x, float& to) { to = x; }

struct Body {
  using Column = int;
  static constexpr bool kCollapsed = false;

  const ELEMENT *x, *y;
  ELEMENT* result;
  long long rows;

  __device__ static constexpr Column columns() { return COLUMNS; }

  struct Uniforms {};
  template <int kWidth>
  struct Inputs {
    ELEMENT x[kWidth], y[kWidth];
  };
  template <int kWidth>
  struct Outputs {
    ELEMENT result[kWidth];
  };

  __device__ __forceinline__ void load(long long row, Uniforms& uniforms) const {}
  template <int kWidth>
  __device__ __forceinline__ void load(long long row, Column column, Inputs<kWidth>& inputs) const {
    halftone::kernels::load(x + row * columns(), column, columns(), inputs.x);
    halftone::kernels::load(y + row * columns(), column, columns(), inputs.y);
  }
  template <int kWidth>
  __device__ __forceinline__ void compute(const Uniforms& uniforms, const Inputs<kWidth>& inputs,
                                          int i, long long row, Column column,
                                          Outputs<kWidth>& outputs) const {
    using halftone::kernels::widen;
    round_to(widen(inputs.x[i]) + widen(inputs.y[i]), outputs.result[i]);
  }
  template <int kWidth>
  __device__ __forceinline__ void store(long long row, Column column,
                                        const Outputs<kWidth>& outputs) const {
    halftone::kernels::store(result + row * columns(), column, columns(), outputs.result);
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(128)
    add(const ELEMENT* __restrict__ x, const ELEMENT* __restrict__ y, ELEMENT* __restrict__ result,
        long long rows) {
  Body body;
  body.x = x;
  body.y = y;
  body.result = result;
  body.rows = rows;
  halftone::kernels::pointwise::run<Body, 128, WIDTH>(body);
}
