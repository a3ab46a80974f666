// SPDX-License-Identifier: Apache-2.0
// What the tests of tiles.mlir.in share: matrices of bf16, runs of a kernel, and sums by the
// formula of the instructions (provided.hpp), judged by the bound of class B (N8) and, where sums
// are exact, by N1.
#pragma once

#include <bit>

#include "class_b.hpp"
#include "native.hpp"
#include "provided.hpp"
#include "reference.hpp"

namespace tile_kernels {

using namespace native;
using halftone::tests::ClassB;
using halftone::tests::Sums;
using reference::Values;
namespace products = halftone::tests::products;

using Codes = Memory<std::uint16_t>;

inline float widened(std::uint16_t code) { return std::bit_cast<float>(std::uint32_t{code} << 16); }
inline std::uint16_t bf16(float value) {  // of what is one
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

enum class Kind { integers, numbers, specials };

/// A matrix of bf16 as kernels see it.
struct Matrix {
  std::int64_t rows, columns;
  Codes codes;

  Matrix(std::int64_t row_count, std::int64_t column_count, Kind kind, unsigned seed)
      : rows(row_count),
        columns(column_count),
        codes(static_cast<std::size_t>(rows * columns), seed % 2 ? Place::end : Place::start) {
    constexpr float kSpecials[] = {NAN, INFINITY, -INFINITY, -0.0f, 0x1p-130f, 0x1p-70f, 0x1p-60f};
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows * columns); ++i) {
      float value = static_cast<float>(random() % 17) - 8;
      if (kind != Kind::integers) value += static_cast<float>(random() % 16) / 16;
      if (kind == Kind::specials && random() % 32 == 0) value = kSpecials[random() % 7];
      codes[i] = bf16(value);
    }
  }

  float at(std::int64_t i, std::int64_t j) {
    return widened(codes[static_cast<std::size_t>(i * columns + j)]);
  }
  Values row(std::int64_t i) {
    Values values;
    for (std::int64_t j = 0; j < columns; ++j) values.push_back(at(i, j));
    return values;
  }
  Values column(std::int64_t j, std::int64_t first = 0, std::int64_t count = -1) {
    Values values;
    for (std::int64_t i = first; i < first + (count < 0 ? rows : count); ++i)
      values.push_back(at(i, j));
    return values;
  }
};

inline std::size_t variant() {
  const auto& names = manifest().variants;
  return static_cast<std::size_t>(std::ranges::find(names, products::kVariant) - names.begin());
}

/// The sum of a result, of its row of lhs and column of rhs, judged as N8 and N1 say.
inline float judged_sum(const Values& a, const Values& b, Kind kind) {
  const float sum = products::sum_of(a, b);
  if (kind == Kind::integers || (products::kInOrder && kind == Kind::numbers))
    CHECK(sum == reference::contraction(a, b));
  const ClassB bound = halftone::tests::class_b(a, b, {}, Sums::flushed);
  if (kind != Kind::specials) CHECK(bound.holds(sum));
  return sum;
}

inline void run_tiles(const std::string& name, const std::vector<const void*>& arguments,
                      std::int64_t batch) {
  const std::uint64_t before = products::emulated();
  run(variant(), name, arguments, batch);
  CHECK((!products::emulates() || products::emulated() > before));
  CHECK(products::is_left());
}

template <class Test>
void each_kind(const std::vector<std::int64_t>& batches, Test test) {
  for (const std::int64_t batch : batches)
    for (const Kind kind : {Kind::integers, Kind::numbers, Kind::specials})
      for (const bool small : {false, true}) {
        CAPTURE(batch);
        CAPTURE(static_cast<int>(kind));
        CAPTURE(small);
        small_blocks = small;
        test(batch, kind);
      }
}

}  // namespace tile_kernels
