// SPDX-License-Identifier: Apache-2.0
// The F16C instructions. The one file of the tests that is compiled for a processor that may not
// be there, so nothing here runs before f16c_missing() has asked.
#include "oracles.hpp"

#if defined(__F16C__)
#include <immintrin.h>

namespace halftone::tests {
namespace {

template <int Rounding>
void encode(const float* in, std::uint16_t* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const __m128i codes = _mm_cvtps_ph(_mm_loadu_ps(in + i), Rounding);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i), codes);
  }
  for (; i < n; ++i) out[i] = static_cast<std::uint16_t>(_cvtss_sh(in[i], Rounding));
}

void decode(const std::uint16_t* in, float* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] = _cvtsh_ss(in[i]);
}

}  // namespace

std::string f16c_missing() {
  return __builtin_cpu_supports("f16c") ? "" : "this processor has no F16C instructions";
}

Encode<std::uint16_t> f16c_encode(const Mode& mode) {
  if (mode.format != description::Element::f16 || !f16c_missing().empty()) return {};
  const bool nearest = mode.rounding == description::Rounding::nearest_even;
  return nearest ? encode<_MM_FROUND_TO_NEAREST_INT> : encode<_MM_FROUND_TO_ZERO>;
}

Decode f16c_decode(description::Element format) {
  if (format != description::Element::f16 || !f16c_missing().empty()) return {};
  return decode;
}

}  // namespace halftone::tests

#else

namespace halftone::tests {

std::string f16c_missing() { return "this compiler has no F16C instructions"; }
Encode<std::uint16_t> f16c_encode(const Mode&) { return {}; }
Decode f16c_decode(description::Element) { return {}; }

}  // namespace halftone::tests

#endif
