// SPDX-License-Identifier: Apache-2.0
// The host side of cuda_fp16.h and cuda_bf16.h, which programs get who convert before they copy.
#include "oracles.hpp"

#if defined(HALFTONE_CUDA_HEADERS)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

namespace halftone::tests {
namespace {

using description::Element;
using description::Rounding;

template <class Narrow, Narrow (*convert)(float)>
void encode(const float* in, std::uint16_t* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const Narrow value = convert(in[i]);
    std::memcpy(&out[i], &value, sizeof(out[i]));
  }
}

template <class Narrow, float (*convert)(Narrow)>
void decode(const std::uint16_t* in, float* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    Narrow value;
    std::memcpy(static_cast<void*>(&value), &in[i], sizeof(value));
    out[i] = convert(value);
  }
}

__half half_rn(float x) { return __float2half_rn(x); }
__half half_rz(float x) { return __float2half_rz(x); }
__nv_bfloat16 bfloat16_rn(float x) { return __float2bfloat16_rn(x); }
__nv_bfloat16 bfloat16_rz(float x) { return __float2bfloat16_rz(x); }
float of_half(__half x) { return __half2float(x); }
float of_bfloat16(__nv_bfloat16 x) { return __bfloat162float(x); }

}  // namespace

std::string cuda_missing() { return ""; }

Encode<std::uint16_t> cuda_encode(const Mode& mode) {
  const bool nearest = mode.rounding == Rounding::nearest_even;
  if (mode.format == Element::f16) {
    return nearest ? encode<__half, half_rn> : encode<__half, half_rz>;
  }
  return nearest ? encode<__nv_bfloat16, bfloat16_rn> : encode<__nv_bfloat16, bfloat16_rz>;
}

Decode cuda_decode(Element format) {
  return format == Element::f16 ? decode<__half, of_half> : decode<__nv_bfloat16, of_bfloat16>;
}

}  // namespace halftone::tests

#else

namespace halftone::tests {

std::string cuda_missing() {
  return "cuda_fp16.h was not found in NVRTC_HOME, CUDA_HOME, /usr/local/cuda or build/dev/nvrtc "
         "when this was configured; install the CUDA Toolkit 13 or run tests/run";
}
Encode<std::uint16_t> cuda_encode(const Mode&) { return {}; }
Decode cuda_decode(description::Element) { return {}; }

}  // namespace halftone::tests

#endif
