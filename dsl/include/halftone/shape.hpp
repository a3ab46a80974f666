// SPDX-License-Identifier: Apache-2.0
// Compile-time dimensions: fixed extents and the symbols that are bound when a trainer is built.
#pragma once

#include <type_traits>

#include "halftone/description/extents.hpp"

namespace halftone::dsl {

inline constexpr int kMaxRank = 6;

/// Of sizes: what converts to an integer and is not cut by that.
template <class T>
concept Whole = std::is_convertible_v<T, long long> && !std::is_floating_point_v<T>;

/// The largest one where a wider type holds another.
template <Whole T>
constexpr long long whole_number(T number) {
  const auto value = static_cast<long long>(number);
  return (number > 0) == (value > 0) ? value : 0x7fffffffffffffff;
}

/// Likewise of a token's, the least one too.
constexpr long long whole_number(double number) {
  if (number >= 0x1p63) return 0x7fffffffffffffff;
  return number < -0x1p63 ? -0x7fffffffffffffff - 1 : static_cast<long long>(number);
}

constexpr bool same_text(const char* left, const char* right) {
  while (*left != 0 && *left == *right) {
    ++left;
    ++right;
  }
  return *left == *right;
}

/// A fixed extent when `symbol` is null, otherwise `factor` times what the symbol of that name is
/// bound to, and `extent` more, which layers alone add. Converts from a number.
struct Dimension {
  long long extent = 0;
  const char* symbol = nullptr;
  long long factor = 1;

  constexpr Dimension() = default;
  template <Whole T>
  constexpr Dimension(T fixed) : extent(fixed) {}
  constexpr explicit Dimension(const char* name, long long times = 1)
      : symbol(name), factor(times) {}

  friend constexpr bool operator==(const Dimension& left, const Dimension& right) {
    if (left.symbol == nullptr || right.symbol == nullptr) {
      return left.symbol == nullptr && right.symbol == nullptr && left.extent == right.extent;
    }
    return left.factor == right.factor && left.extent == right.extent &&
           same_text(left.symbol, right.symbol);
  }
};

/// A dimension whose extent is known only when a trainer is built: symbol("time"). `name` is a C++
/// identifier; equal names are equal extents. (A constant called time belongs inside a namespace of
/// yours: libc has a function ::time.)
constexpr Dimension symbol(const char* name) { return Dimension(name); }

/// In the place of a factor: there is none such.
inline constexpr long long kPartOfSymbol = -1, kProductOfSymbols = -2;

/// What is always a multiple of `times`, as strides and pools want it: 4 * symbol("side") has 28
/// places where side is bound to 7. Factors are from 1 to 65536. D112
template <Whole T>
constexpr Dimension operator*(T times, Dimension dimension) {
  constexpr long long kBeyond = 65537;  // of factors, so that no product of them overflows
  const long long number = whole_number(times);
  if (dimension.symbol == nullptr) {
    dimension.extent = description::product_of_extents(dimension.extent, number);
  } else if (number < 1) {
    dimension.factor = 0;
  } else if (dimension.factor > 0) {
    dimension.factor = number > kBeyond / dimension.factor ? kBeyond : number * dimension.factor;
    if (dimension.factor != kBeyond) dimension.extent *= number;
  }
  return dimension;
}
template <Whole T>
constexpr Dimension operator*(const Dimension& dimension, T times) {
  return times * dimension;
}
/// What a stride or a pool leaves of a multiple: (4 * symbol("side")) / 2 is 2 * symbol("side").
template <Whole T>
constexpr Dimension operator/(Dimension dimension, T parts) {
  const long long number = whole_number(parts);
  if (dimension.symbol == nullptr) {
    dimension.extent = number < 1 ? 0 : dimension.extent / number;
  } else if (number < 1 || dimension.factor % number != 0 || dimension.extent % number != 0) {
    dimension.factor = kPartOfSymbol;
  } else {
    dimension.factor /= number;
    dimension.extent /= number;
  }
  return dimension;
}
/// No dimension is one.
constexpr Dimension operator*(Dimension left, const Dimension& right) {
  if (left.symbol == nullptr) return left.extent * right;
  if (right.symbol == nullptr) return right.extent * left;
  left.factor = kProductOfSymbols;
  return left;
}
/// What pads make of the length of a symbol, as reshape and expand spell it: 4 * symbol("side") + 2.
/// D116
template <Whole T>
constexpr Dimension operator+(Dimension dimension, T more) {
  constexpr double kBeyond = 0x1p40;  // of all padding
  const double sum = static_cast<double>(dimension.extent) + static_cast<double>(whole_number(more));
  dimension.extent =
      static_cast<long long>(sum > kBeyond ? kBeyond : sum < -kBeyond ? -kBeyond : sum);
  return dimension;
}
template <Whole T>
constexpr Dimension operator-(const Dimension& dimension, T fewer) {
  const long long number = whole_number(fewer);
  return dimension + (number < -0x7fffffffffffffff ? 0x7fffffffffffffff : -number);
}

inline constexpr Dimension batch = symbol("batch");

/// A number, `batch`, symbol("name"), a multiple of these, or of a layer a sum.
template <class T>
concept DimensionOfShape = std::is_convertible_v<const T&, Dimension>;

/// Row-major, outermost first; rank 0 is a scalar.
struct Shape {
  int rank = 0;
  Dimension dimensions[kMaxRank];

  constexpr void push(const Dimension& dimension) { dimensions[rank++] = dimension; }
  constexpr Dimension& last() { return dimensions[rank - 1]; }
  constexpr const Dimension& last() const { return dimensions[rank - 1]; }

  /// All but the last dimension.
  constexpr Shape leading() const {
    Shape result = *this;
    if (result.rank > 0) --result.rank;
    return result;
  }

  friend constexpr bool operator==(const Shape& left, const Shape& right) {
    if (left.rank != right.rank) return false;
    for (int i = 0; i < left.rank; ++i) {
      if (!(left.dimensions[i] == right.dimensions[i])) return false;
    }
    return true;
  }
};

}  // namespace halftone::dsl
