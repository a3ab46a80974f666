// SPDX-License-Identifier: Apache-2.0
#include "conversions.hpp"

#if HALFTONE_HAS_CUDA_HEADERS
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace conversions {
namespace {

#if HALFTONE_HAS_CUDA_HEADERS
template <auto kFunction>
std::uint32_t cuda_f16(float x) {
  return static_cast<__half_raw>(kFunction(x)).x;
}
template <auto kFunction>
std::uint32_t cuda_bf16(float x) {
  return static_cast<__nv_bfloat16_raw>(kFunction(x)).x;
}
template <__nv_fp8_interpretation_t kForm>
std::uint32_t cuda_f8(float x) {
  return __nv_cvt_float_to_fp8(x, __NV_NOSAT, kForm);
}
template <__nv_fp8_interpretation_t kForm>
float cuda_read_f8(std::uint16_t code) {
  return __half2float(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code), kForm));
}
float cuda_read_f16(std::uint16_t code) {
  __half_raw raw;
  raw.x = code;
  return __half2float(raw);
}
float cuda_read_bf16(std::uint16_t code) {
  __nv_bfloat16_raw raw;
  raw.x = code;
  return __bfloat162float(raw);
}
#endif

#if defined(__x86_64__)
template <int kMode>
__attribute__((target("f16c"))) std::uint32_t f16c(float x) {
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(x), kMode))) &
         0xffffu;
}
__attribute__((target("f16c"))) float f16c_read(std::uint16_t code) {
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(code)));
}
#endif

}  // namespace

std::vector<Other> other_oracles() {
  std::vector<Other> all;
#if HALFTONE_HAS_CUDA_HEADERS
  all.push_back({"CUDA headers", "f16 nearest_even", cuda_f16<__float2half_rn>});
  all.push_back({"CUDA headers", "f16 toward_zero", cuda_f16<__float2half_rz>});
  all.push_back({"CUDA headers", "bf16 nearest_even", cuda_bf16<__float2bfloat16_rn>});
  all.push_back({"CUDA headers", "bf16 toward_zero", cuda_bf16<__float2bfloat16_rz>});
  all.push_back({"CUDA headers", "f8e4m3 nearest_even", cuda_f8<__NV_E4M3>});
  all.push_back({"CUDA headers", "f8e5m2 nearest_even", cuda_f8<__NV_E5M2>});
#endif
#if defined(__x86_64__)
  if (__builtin_cpu_supports("f16c")) {
    all.push_back({"F16C", "f16 nearest_even", f16c<_MM_FROUND_TO_NEAREST_INT>});
    all.push_back({"F16C", "f16 toward_zero", f16c<_MM_FROUND_TO_ZERO>});
  }
#endif
  return all;
}

std::vector<Reading> readings() {
  using namespace halftone::kernels;
  std::vector<Reading> all = {{"f16", "definition", oracle::f16, read<f16>, nullptr},
                              {"bf16", "definition", oracle::bf16, read<bf16>, nullptr},
                              {"f8e4m3", "definition", oracle::f8e4m3, read<f8e4m3>, nullptr},
                              {"f8e5m2", "definition", oracle::f8e5m2, read<f8e5m2>, nullptr}};
#if HALFTONE_HAS_CUDA_HEADERS
  all.push_back({"f16", "CUDA headers", oracle::f16, read<f16>, cuda_read_f16});
  all.push_back({"bf16", "CUDA headers", oracle::bf16, read<bf16>, cuda_read_bf16});
  all.push_back({"f8e4m3", "CUDA headers", oracle::f8e4m3, read<f8e4m3>, cuda_read_f8<__NV_E4M3>});
  all.push_back({"f8e5m2", "CUDA headers", oracle::f8e5m2, read<f8e5m2>, cuda_read_f8<__NV_E5M2>});
#endif
#if defined(__x86_64__)
  if (__builtin_cpu_supports("f16c"))
    all.push_back({"f16", "F16C", oracle::f16, read<f16>, f16c_read});
#endif
  return all;
}

}  // namespace conversions
