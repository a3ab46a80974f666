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

// Integers, in which inputs may be delivered and nothing else is (D8, D16).
inline constexpr Element u8 = Element::u8, i8 = Element::i8, u16 = Element::u16, i16 = Element::i16,
                         i32 = Element::i32, i64 = Element::i64;

/// In the place of a format of store or compute (P20).
struct Follow {};
inline constexpr Follow follow{};

}  // namespace halftone::dsl
