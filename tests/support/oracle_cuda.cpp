// SPDX-License-Identifier: Apache-2.0
// The host side of cuda_fp16.h, cuda_bf16.h and the headers of narrower floats, which programs get
// who convert before they copy.
#include "oracles.hpp"

#if defined(HALFTONE_CUDA_HEADERS)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

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

// Of elements of 8 bits and fewer; empty where the headers have no such rounding.
Encode<std::uint16_t> encode_bytes(const Mode& mode) {
  const bool nearest = mode.rounding == Rounding::nearest_even;
  const cudaRoundMode rounding = nearest ? cudaRoundNearest : cudaRoundZero;
  const __nv_saturation_t saturate = mode.saturate ? __NV_SATFINITE : __NV_NOSAT;
  const auto each = [](auto convert) {
    return [convert](const float* in, std::uint16_t* out, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) out[i] = convert(in[i]);
    };
  };
  switch (mode.format) {
    case Element::f8e4m3:
    case Element::f8e5m2: {
      if (!nearest) return {};
      const auto form = mode.format == Element::f8e4m3 ? __NV_E4M3 : __NV_E5M2;
      return each([=](float x) { return __nv_cvt_float_to_fp8(x, saturate, form); });
    }
    case Element::f6e3m2:
    case Element::f6e2m3: {
      const auto form = mode.format == Element::f6e3m2 ? __NV_E3M2 : __NV_E2M3;
      return each([=](float x) { return __nv_cvt_float_to_fp6(x, form, rounding); });
    }
    case Element::f4e2m1:
      return each([=](float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, rounding); });
    default:
      if (nearest) return {};
      return each([=](float x) { return __nv_cvt_float_to_e8m0(x, saturate, cudaRoundZero); });
  }
}

Decode decode_bytes(Element format) {
  const auto each = [](auto convert) {
    return [convert](const std::uint16_t* in, float* out, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) out[i] = convert(static_cast<unsigned char>(in[i]));
    };
  };
  switch (format) {
    case Element::f8e4m3:
      return each([](auto x) { return of_half(__nv_cvt_fp8_to_halfraw(x, __NV_E4M3)); });
    case Element::f8e5m2:
      return each([](auto x) { return of_half(__nv_cvt_fp8_to_halfraw(x, __NV_E5M2)); });
    case Element::f6e3m2:
      return each([](auto x) { return of_half(__nv_cvt_fp6_to_halfraw(x, __NV_E3M2)); });
    case Element::f6e2m3:
      return each([](auto x) { return of_half(__nv_cvt_fp6_to_halfraw(x, __NV_E2M3)); });
    case Element::f4e2m1:
      return each([](auto x) { return of_half(__nv_cvt_fp4_to_halfraw(x, __NV_E2M1)); });
    default:
      return each([](auto x) { return of_bfloat16(__nv_cvt_e8m0_to_bf16raw(x)); });
  }
}

}  // namespace

std::string cuda_missing() { return ""; }

Encode<std::uint16_t> cuda_encode(const Mode& mode) {
  const bool nearest = mode.rounding == Rounding::nearest_even;
  if (mode.format == Element::f16) {
    return nearest ? encode<__half, half_rn> : encode<__half, half_rz>;
  }
  if (mode.format != Element::bf16) return encode_bytes(mode);
  return nearest ? encode<__nv_bfloat16, bfloat16_rn> : encode<__nv_bfloat16, bfloat16_rz>;
}

Decode cuda_decode(Element format) {
  if (format != Element::f16 && format != Element::bf16) return decode_bytes(format);
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
