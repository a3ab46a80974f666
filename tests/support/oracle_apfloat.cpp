// SPDX-License-Identifier: Apache-2.0
// LLVM's software floating point, which folds conversions of constants.
#include "oracles.hpp"

#if defined(HALFTONE_APFLOAT)
#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/APInt.h>

namespace halftone::tests {
namespace {

using description::Element;
using description::Rounding;

const llvm::fltSemantics& semantics_of(Element format) {
  if (format == Element::f16) return llvm::APFloat::IEEEhalf();
  if (format == Element::bf16) return llvm::APFloat::BFloat();
  return llvm::APFloat::FloatTF32();
}

// `shift` puts tf32's 19 bits where an f32 has them.
template <class Code>
Encode<Code> encode(const Mode& mode, int shift) {
  const llvm::fltSemantics& semantics = semantics_of(mode.format);
  const auto rounding = mode.rounding == Rounding::nearest_even ? llvm::APFloat::rmNearestTiesToEven
                                                                : llvm::APFloat::rmTowardZero;
  return [&semantics, rounding, shift](const float* in, Code* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      llvm::APFloat value(in[i]);
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
      llvm::APFloat value(semantics, llvm::APInt(16, in[i]));
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
