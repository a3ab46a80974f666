// SPDX-License-Identifier: Apache-2.0
// Formats against the host side of CUDA's own headers: every code, and every boundary +- 2 ulp.
#include <doctest/doctest.h>

#include <string>

#ifdef HALFTONE_CUDA_HEADERS
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include "representable.hpp"

using namespace halftone::simulator;
using namespace halftone::tests;

namespace {

std::uint32_t half_bits(__half x) { return static_cast<__half_raw>(x).x; }
std::uint32_t bfloat_bits(__nv_bfloat16 x) { return static_cast<__nv_bfloat16_raw>(x).x; }

struct Conversion {
  NumberFormat format;
  const char* name;
  Encoding how;
  std::uint32_t (*code)(float);
};

constexpr Encoding kNearest{}, kNearestFinite{Rounding::nearest_even, true};

const Conversion kConversions[] = {
    {NumberFormat::f16, "__float2half_rn", kNearest,
     [](float x) { return half_bits(__float2half_rn(x)); }},
    {NumberFormat::f16,
     "__float2half_rz",
     {Rounding::toward_zero},
     [](float x) { return half_bits(__float2half_rz(x)); }},
    {NumberFormat::f16,
     "__float2half_ru",
     {Rounding::upward},
     [](float x) { return half_bits(__float2half_ru(x)); }},
    {NumberFormat::f16,
     "__float2half_rd",
     {Rounding::downward},
     [](float x) { return half_bits(__float2half_rd(x)); }},
    {NumberFormat::bf16, "__float2bfloat16_rn", kNearest,
     [](float x) { return bfloat_bits(__float2bfloat16_rn(x)); }},
    {NumberFormat::bf16,
     "__float2bfloat16_rz",
     {Rounding::toward_zero},
     [](float x) { return bfloat_bits(__float2bfloat16_rz(x)); }},
    {NumberFormat::bf16,
     "__float2bfloat16_ru",
     {Rounding::upward},
     [](float x) { return bfloat_bits(__float2bfloat16_ru(x)); }},
    {NumberFormat::bf16,
     "__float2bfloat16_rd",
     {Rounding::downward},
     [](float x) { return bfloat_bits(__float2bfloat16_rd(x)); }},
    {NumberFormat::e4m3, "e4m3 satfinite", kNearestFinite,
     [](float x) { return std::uint32_t{__nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3)}; }},
    {NumberFormat::e4m3, "e4m3", kNearest,
     [](float x) { return std::uint32_t{__nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3)}; }},
    {NumberFormat::e5m2, "e5m2 satfinite", kNearestFinite,
     [](float x) { return std::uint32_t{__nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2)}; }},
    {NumberFormat::e5m2, "e5m2", kNearest,
     [](float x) { return std::uint32_t{__nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2)}; }},
    {NumberFormat::e3m2, "e3m2", kNearestFinite,
     [](float x) { return std::uint32_t{__nv_cvt_float_to_fp6(x, __NV_E3M2, cudaRoundNearest)}; }},
    {NumberFormat::e2m3, "e2m3", kNearestFinite,
     [](float x) { return std::uint32_t{__nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundNearest)}; }},
    {NumberFormat::e2m1, "e2m1", kNearestFinite,
     [](float x) { return std::uint32_t{__nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest)}; }},
    {NumberFormat::ue8m0,
     "ue8m0 rz",
     {Rounding::toward_zero},
     [](float x) { return std::uint32_t{__nv_cvt_float_to_e8m0(x, __NV_NOSAT, cudaRoundZero)}; }},
    {NumberFormat::ue8m0,
     "ue8m0 rp",
     {Rounding::upward},
     [](float x) { return std::uint32_t{__nv_cvt_float_to_e8m0(x, __NV_NOSAT, cudaRoundPosInf)}; }},
    {NumberFormat::ue8m0,
     "ue8m0 rp satfinite",
     {Rounding::upward, true},
     [](float x) {
       return std::uint32_t{__nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf)};
     }},
};

std::vector<float> inputs_for(NumberFormat format) {
  std::vector<float> inputs;
  for (const Definition& d : kDefinitions) {
    const bool wanted =
        d.format == format || (format == NumberFormat::ue8m0 && d.format == NumberFormat::bf16);
    if (wanted) inputs = boundaries(finite_values(d), 1);
  }
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 65521)
    inputs.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return inputs;
}

struct Reading {
  NumberFormat format;
  const char* name;
  std::uint32_t codes;
  float (*value)(std::uint32_t);
};

float float_of(__half_raw x) { return __half2float(__half(x)); }

const Reading kReadings[] = {
    {NumberFormat::f16, "f16", 0x10000,
     [](std::uint32_t c) { return float_of({static_cast<unsigned short>(c)}); }},
    {NumberFormat::bf16, "bf16", 0x10000,
     [](std::uint32_t c) {
       return __bfloat162float(__nv_bfloat16_raw{static_cast<unsigned short>(c)});
     }},
    {NumberFormat::e4m3, "e4m3", 256,
     [](std::uint32_t c) {
       return float_of(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(c), __NV_E4M3));
     }},
    {NumberFormat::e5m2, "e5m2", 256,
     [](std::uint32_t c) {
       return float_of(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(c), __NV_E5M2));
     }},
    {NumberFormat::e3m2, "e3m2", 64,
     [](std::uint32_t c) {
       return float_of(__nv_cvt_fp6_to_halfraw(static_cast<__nv_fp6_storage_t>(c), __NV_E3M2));
     }},
    {NumberFormat::e2m3, "e2m3", 64,
     [](std::uint32_t c) {
       return float_of(__nv_cvt_fp6_to_halfraw(static_cast<__nv_fp6_storage_t>(c), __NV_E2M3));
     }},
    {NumberFormat::e2m1, "e2m1", 16,
     [](std::uint32_t c) {
       return float_of(__nv_cvt_fp4_to_halfraw(static_cast<__nv_fp4_storage_t>(c), __NV_E2M1));
     }},
    {NumberFormat::ue8m0, "ue8m0", 255,
     [](std::uint32_t c) {
       return __bfloat162float(__nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(c)));
     }},
};

}  // namespace

TEST_CASE("codes are those of CUDA's host headers at every boundary") {
  for (const Conversion& c : kConversions) {
    CAPTURE(std::string(c.name));
    std::uint32_t wrong = 0, got = 0, wanted = 0;
    float culprit = 0;
    for (const float x : inputs_for(c.format))
      if (encode(c.format, x, c.how) != c.code(x))
        ++wrong, culprit = x, got = encode(c.format, x, c.how), wanted = c.code(x);
    CAPTURE(culprit);
    CAPTURE(got);
    CAPTURE(wanted);
    CHECK(wrong == 0);
  }
}

TEST_CASE("values of all codes are those of CUDA's host headers") {
  for (const Reading& r : kReadings) {
    CAPTURE(std::string(r.name));
    std::uint32_t wrong = 0, culprit = 0;
    for (std::uint32_t code = 0; code < r.codes; ++code)
      if (std::bit_cast<std::uint32_t>(decode(r.format, code)) !=
          std::bit_cast<std::uint32_t>(r.value(code)))
        ++wrong, culprit = code;
    CAPTURE(culprit);
    CHECK(wrong == 0);
  }
}
#else
TEST_CASE("codes are those of CUDA's host headers at every boundary") {
  MESSAGE("Skipped: cuda_fp16.h was not found; the definition in double stands alone");
}
#endif
