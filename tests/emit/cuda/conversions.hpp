// SPDX-License-Identifier: Apache-2.0
// Every rounding and reading of convert.cuh and float8.cuh beside the oracles that define it: the
// definition for all, CUDA's host headers and F16C where this machine has them. NaN payloads differ
// among oracles, so that a NaN is compared as one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "formats.hpp"
#include "halftone/kernels/float8.cuh"

namespace conversions {

using Code = std::uint32_t (*)(float);

struct Rounding {
  const char* name;
  const oracle::Format& (*format)();
  bool toward_zero;
  Code computed;
};
struct Other {
  const char* name;      ///< of the oracle
  const char* rounding;  ///< of the Rounding it defines
  Code expected;         ///< a NaN gives any NaN's code
};
struct Reading {
  const char* name;
  const char* oracle;
  const oracle::Format& (*format)();
  float (*computed)(std::uint16_t);
  float (*expected)(std::uint16_t);  ///< null: Format::read
};

template <auto kFunction, halftone::kernels::Rounding kRounding>
std::uint32_t code(float x) {
  return kFunction(x, kRounding).code;
}
template <halftone::kernels::Rounding kRounding>
std::uint32_t tf32_code(float x) {
  return halftone::kernels::bits_of(halftone::kernels::to_tf32(x, kRounding));
}
template <class T>
float read(std::uint16_t stored) {
  return halftone::kernels::widen(T{static_cast<decltype(T::code)>(stored)});
}

inline const std::vector<Rounding>& roundings() {
  using namespace halftone::kernels;
  using R = halftone::kernels::Rounding;
  static const std::vector<conversions::Rounding> all = {
      {"f16 nearest_even", oracle::f16, false, code<to_f16, R::nearest_even>},
      {"f16 toward_zero", oracle::f16, true, code<to_f16, R::toward_zero>},
      {"bf16 nearest_even", oracle::bf16, false, code<to_bf16, R::nearest_even>},
      {"bf16 toward_zero", oracle::bf16, true, code<to_bf16, R::toward_zero>},
      {"tf32 nearest_even", oracle::tf32, false, tf32_code<R::nearest_even>},
      {"tf32 toward_zero", oracle::tf32, true, tf32_code<R::toward_zero>},
      {"f8e4m3 nearest_even", oracle::f8e4m3, false, code<to_f8e4m3, R::nearest_even>},
      {"f8e4m3 toward_zero", oracle::f8e4m3, true, code<to_f8e4m3, R::toward_zero>},
      {"f8e5m2 nearest_even", oracle::f8e5m2, false, code<to_f8e5m2, R::nearest_even>},
      {"f8e5m2 toward_zero", oracle::f8e5m2, true, code<to_f8e5m2, R::toward_zero>}};
  return all;
}

/// The oracles that this machine has beside the definition.
std::vector<Other> other_oracles();
std::vector<Reading> readings();

}  // namespace conversions
