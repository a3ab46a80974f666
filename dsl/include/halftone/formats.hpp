// SPDX-License-Identifier: Apache-2.0
// Number formats as values that precision rules and inputs name (F1 of docs/spec/precision.md).
#pragma once

#include "halftone/description/vocabulary.hpp"

namespace halftone::dsl {

using description::Element;

inline constexpr Element f32 = Element::f32;  ///< IEEE binary32
inline constexpr Element tf32 =
    Element::tf32;  ///< f32's range with 10 bits of fraction; computed in, never stored
inline constexpr Element f16 = Element::f16;    ///< IEEE binary16
inline constexpr Element bf16 = Element::bf16;  ///< the upper half of binary32
inline constexpr Element f8e4m3 = Element::f8e4m3;  ///< OCP's E4M3: up to 448, no infinity
inline constexpr Element f8e5m2 = Element::f8e5m2;  ///< OCP's E5M2: up to 57344, with infinity

// OCP's microscaling elements: a scale's powers of two, and numbers of 6 and 4 bits. No rule states
// them.
inline constexpr Element f8e8m0 = Element::f8e8m0, f6e3m2 = Element::f6e3m2,
                         f6e2m3 = Element::f6e2m3, f4e2m1 = Element::f4e2m1;

// Integers, in which inputs may be delivered and nothing else is (D8, D16).
inline constexpr Element u8 = Element::u8, i8 = Element::i8, u16 = Element::u16, i16 = Element::i16,
                         i32 = Element::i32, i64 = Element::i64;

/// In the place of a format of store or compute (P20).
struct Follow {};
inline constexpr Follow follow{};

/// Behind a format: what exceeds its largest number becomes that number (F2).
struct Saturate {};
inline constexpr Saturate saturate{};

}  // namespace halftone::dsl
