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

// OCP's microscaling elements: a scale's powers of two, and numbers of 6 and 4 bits, which operands
// alone have, with scales (P51).
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

namespace detail {

/// What is far out of a range is out of it as an int, too, which a sentence quotes.
constexpr int nearest_int(long long number) {
  constexpr int kMost = 2147483647;
  return number > kMost ? kMost : number < -kMost ? -kMost : static_cast<int>(number);
}

}  // namespace detail

/// What shares a scale (P51): so many rows, along the dimension in front of the last one, of so many
/// columns, along the last one, each from 1 to 4096 and not both 1.
struct Block {
  int rows, columns;
};
/// block(128, 128), or block(32, 1) for 32 neighbours in a column.
constexpr Block block(long long rows, long long columns) {
  return {detail::nearest_int(rows), detail::nearest_int(columns)};
}
/// So many neighbours in a row.
constexpr Block block(long long columns) { return block(1, columns); }

/// A scale for each vector along the last dimension, or for each along all others: for each row, or
/// for each column (P89).
struct Vectors {
  encoding::Scaling::Kind kind;
};
inline constexpr Vectors per_row{encoding::Scaling::Kind::row},
    per_column{encoding::Scaling::Kind::column};

/// That a tensor's scale is that of the largest magnitude of so many steps before, 1 to 4096, times
/// 2^margin, 0 to 16 (P72). `history` 1 is what TransformerEngine calls most_recent.
struct Delayed {
  int history, margin;
};
constexpr Delayed delayed(long long history = 1024, long long margin = 0) {
  return {detail::nearest_int(history), detail::nearest_int(margin)};
}

/// A format of compute: numbers of `element` times scales, by which the largest number of a whole
/// tensor, of each vector or of each block, fits the element. Scales are powers of two (P51), or f32
/// as TransformerEngine's by default: those are for operands of linear and matmul alone, whose sums
/// of codes they multiply (P87, P88), and for f16, too (P100); but of blocks for operands of any
/// operation, as numbers of f32 (P101). It saturates by itself.
struct Scaled {
  description::Encoding encoding;
  bool sound = true;
};
/// scaled(f8e4m3): one scale for the whole tensor; scaled(f8e4m3, f32) for one of f32.
constexpr Scaled scaled(Element element, Element scale = f8e8m0) {
  Scaled is{element};
  is.encoding.scaling = {.kind = encoding::Scaling::Kind::tensor, .scale = scale};
  is.encoding.saturate = true;
  return is;
}
/// scaled(f8e4m3, per_row, f32): a scale for each row, of f32. What products sum over must share a
/// scale of f32: of a linear that are rows of both operands in forward and of the gradient in an
/// input gradient, and columns of the weight there and of both operands of a weight gradient.
constexpr Scaled scaled(Element element, Vectors vectors, Element scale = f8e8m0) {
  Scaled is = scaled(element, scale);
  is.encoding.scaling.kind = vectors.kind;
  return is;
}

/// scaled(f8e4m3, block(32)): a scale for every 32 elements of a row. Scales are powers of two, or
/// with scaled(f8e4m3, block(128), f32) of f32, whose numbers are f32, too (P101); or with
/// scaled(f4e2m1, block(16), f8e4m3) numbers of f8e4m3 under one power of two for the tensor
/// (P77); with scaled(f4e2m1, block(16), f8e4m3, f32), as NVFP4 has them, under one of f32, for
/// operands of linear and matmul alone (P97).
constexpr Scaled scaled(Element element, Block block, Element scale = f8e8m0,
                        Element of_all = f8e8m0) {
  Scaled is = scaled(element);
  is.encoding.scaling.kind = encoding::Scaling::Kind::block;
  is.encoding.scaling.size = block.columns;
  is.encoding.scaling.rows = block.rows;
  is.encoding.scaling.scale = scale;
  is.encoding.scaling.of_all = of_all;
  return is;
}

/// scaled(f8e4m3, delayed(1024)): one scale for the whole tensor, from earlier steps; behind it
/// f32 for one of f32.
constexpr Scaled scaled(Element element, Delayed delayed, Element scale = f8e8m0) {
  Scaled is = scaled(element, scale);
  is.encoding.scaling.kind = encoding::Scaling::Kind::delayed;
  is.encoding.scaling.history = delayed.history;
  is.encoding.scaling.margin = delayed.margin;
  return is;
}

/// rotated(scaled(f4e2m1, block(16, 1), f8e4m3, f32)): the 16 numbers of a block are multiplied by a
/// fixed matrix first, so that one that is large is spread over all (P105). Of blocks of 16 along what
/// a linear or matmul sums over, and of both operands of a product (P106).
constexpr Scaled rotated(Scaled format) {
  format.encoding.scaling.rotated = true;
  return format;
}

}  // namespace halftone::dsl
