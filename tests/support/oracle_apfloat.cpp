// SPDX-License-Identifier: Apache-2.0
// LLVM's software floating point, which folds conversions of constants.
#include "oracles.hpp"

#if defined(HALFTONE_APFLOAT)
#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/APInt.h>

#include <cmath>

namespace halftone::tests {
namespace {

using description::Element;
using description::Rounding;

const llvm::fltSemantics& semantics_of(Element format) {
  switch (format) {
    case Element::f16:
      return llvm::APFloat::IEEEhalf();
    case Element::bf16:
      return llvm::APFloat::BFloat();
    case Element::f8e4m3:
      return llvm::APFloat::Float8E4M3FN();
    case Element::f8e5m2:
      return llvm::APFloat::Float8E5M2();
    case Element::f8e8m0:
      return llvm::APFloat::Float8E8M0FNU();
    case Element::f6e3m2:
      return llvm::APFloat::Float6E3M2FN();
    case Element::f6e2m3:
      return llvm::APFloat::Float6E2M3FN();
    case Element::f4e2m1:
      return llvm::APFloat::Float4E2M1FN();
    default:
      return llvm::APFloat::FloatTF32();
  }
}

// What exceeds the largest number, where that is what is left: LLVM saturates nowhere.
bool saturates(const Mode& mode, const llvm::fltSemantics& semantics) {
  return mode.saturate ||
         !(llvm::APFloat::semanticsHasInf(semantics) || llvm::APFloat::semanticsHasNaN(semantics));
}

// `shift` puts tf32's 19 bits where an f32 has them.
template <class Code>
Encode<Code> encode(const Mode& mode, int shift) {
  const llvm::fltSemantics& semantics = semantics_of(mode.format);
  const auto rounding = mode.rounding == Rounding::nearest_even ? llvm::APFloat::rmNearestTiesToEven
                                                                : llvm::APFloat::rmTowardZero;
  const bool is_scale = mode.format == Element::f8e8m0;
  const bool saturate = saturates(mode, semantics);
  const float largest = [&] {
    llvm::APFloat value = llvm::APFloat::getLargest(semantics);
    bool loses_digits = false;
    value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &loses_digits);
    return value.convertToFloat();
  }();
  return [=, &semantics](const float* in, Code* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      float x = is_scale ? std::fabs(in[i]) : in[i];
      if (saturate && std::fabs(x) > largest) x = std::copysign(largest, x);
      if (saturate && std::isnan(x)) x = largest;  // judge() knows what becomes of a NaN
      llvm::APFloat value(x);
      bool loses_digits = false;
      value.convert(semantics, rounding, &loses_digits);
      out[i] = static_cast<Code>(value.bitcastToAPInt().getZExtValue() << shift);
    }
  };
}

}  // namespace

std::string apfloat_missing() { return ""; }

Encode<std::uint16_t> apfloat_encode(const Mode& mode) { return encode<std::uint16_t>(mode, 0); }

Encode<std::uint32_t> apfloat_encode_tf32(const Mode& mode) {
  return encode<std::uint32_t>(mode, 13);
}

Decode apfloat_decode(Element format) {
  const llvm::fltSemantics& semantics = semantics_of(format);
  return [&semantics](const std::uint16_t* in, float* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const unsigned bits = llvm::APFloat::getSizeInBits(semantics);
      llvm::APFloat value(semantics, llvm::APInt(bits, in[i]));
      if (value.isNaN()) {  // convert() makes infinity of one without a payload, that of f8e8m0
        out[i] = std::nanf("");
        continue;
      }
      bool loses_digits = false;
      value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &loses_digits);
      out[i] = value.convertToFloat();
    }
  };
}

}  // namespace halftone::tests

#else

namespace halftone::tests {

std::string apfloat_missing() { return "llvm/ADT/APFloat.h was not found; install llvm-22-dev"; }
Encode<std::uint16_t> apfloat_encode(const Mode&) { return {}; }
Encode<std::uint32_t> apfloat_encode_tf32(const Mode&) { return {}; }
Decode apfloat_decode(description::Element) { return {}; }

}  // namespace halftone::tests

#endif
