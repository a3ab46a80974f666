// SPDX-License-Identifier: Apache-2.0
#include "halftone/column_moments.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "halftone/error.hpp"

using namespace halftone;

TEST_CASE("columns have sklearn's means and deviations, and 1 where they are constant") {
  // sklearn.preprocessing.StandardScaler().fit([[1, -4, 5], [2, 0, 5], [6, 1, 5]]): mean_, scale_.
  const std::array<float, 9> x = {1, -4, 5, 2, 0, 5, 6, 1, 5};
  const ColumnMoments moments = column_moments(Dataset::view({{"x", x}}, 3), "x");
  CHECK(moments.mean == std::vector<float>{3, -1, 5});
  REQUIRE(moments.deviation.size() == 3);
  CHECK(moments.deviation[0] == doctest::Approx(std::sqrt(14.0 / 3)).epsilon(1e-7));
  CHECK(moments.deviation[1] == doctest::Approx(std::sqrt(14.0 / 3)).epsilon(1e-7));
  CHECK(moments.deviation[2] == 1);
}

TEST_CASE("columns go over many batches, inner dimensions and integers, and keep far digits") {
  constexpr int kRows = 3000;
  std::vector<std::int32_t> x;
  for (int row = 0; row < kRows; ++row)
    for (int place = 0; place < 2; ++place) {
      x.push_back(1000000 + row % 2);
      x.push_back(place);
    }
  const std::vector<OwnedValues> values = {{"other", std::vector<float>(kRows, 1)}};
  Dataset both = Dataset::own(values, kRows)
                     .joined(Dataset::own({{"x", std::vector<std::int32_t>(x)}}, kRows));
  const ColumnMoments moments = column_moments(both, "x");
  // [rows, 4] of a dataset that knows no more of it: the pairs of both places.
  CHECK(moments.mean == std::vector<float>{1000000.5f, 0, 1000000.5f, 1});
  CHECK(moments.deviation == std::vector<float>{0.5f, 1, 0.5f, 1});
  CHECK(column_moments(both, "other").mean == std::vector<float>{1});
}

TEST_CASE("a value that is not finite, and an input that is none, are refused") {
  const std::array<float, 4> x = {1, 2, 3, std::numeric_limits<float>::infinity()};
  const Dataset data = Dataset::view({{"x", x}}, 2);
  CHECK_THROWS_WITH_AS((void)column_moments(data, "x"),
                       doctest::Contains("has a value that is not finite in column 1"), Error);
  CHECK_THROWS_AS((void)column_moments(data, "y"), Error);
}
