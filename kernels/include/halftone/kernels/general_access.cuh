// SPDX-License-Identifier: Apache-2.0
// Division that rounds down, as the maps of general accesses mean it; divisors are above zero.
#pragma once

namespace halftone::kernels {

__device__ __forceinline__ long long floor_modulo(long long value, long long divisor) {
  const long long rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}

__device__ __forceinline__ long long floor_divide(long long value, long long divisor) {
  return (value - floor_modulo(value, divisor)) / divisor;
}

}  // namespace halftone::kernels
