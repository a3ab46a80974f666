// SPDX-License-Identifier: Apache-2.0
// Codes of weights that predictors hold (P81 of docs/spec/precision.md): what a code of i8 stands
// for.
#pragma once

#include "halftone/kernels/convert.cuh"
#include "halftone/kernels/integers.cuh"

namespace halftone::kernels {

/// x + 128 in the last places of 2^23 + 128: an addition, where a conversion takes four times as
/// long.
__device__ __forceinline__ float widen(i8 x) {
  const unsigned int shifted = static_cast<unsigned char>(x.code) ^ 0x80u;
  return float_of(0x4b000000u | shifted) - 8388736.0f;
}

}  // namespace halftone::kernels
