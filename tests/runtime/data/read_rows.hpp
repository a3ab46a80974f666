// SPDX-License-Identifier: Apache-2.0
// All of a dataset's values, in its order.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "data/gather.hpp"
#include "data/table.hpp"
#include "halftone/dataset.hpp"

namespace halftone::tests {

template <class Element>
std::vector<Element> values_of(const Dataset& data, std::string_view input) {
  const auto& columns = data.table().columns;
  const auto column = std::ranges::find(columns, input, &data::Column::input);
  REQUIRE(column != columns.end());
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < data.rows(); ++i) rows.push_back(data.table().source_row(i));
  std::vector<Element> values(rows.size() * static_cast<std::size_t>(column->count));
  gather(*column, rows, std::span(values));
  return values;
}

inline std::vector<float> floats_of(const Dataset& data, std::string_view input) {
  return values_of<float>(data, input);
}
inline std::vector<std::int32_t> integers_of(const Dataset& data, std::string_view input) {
  return values_of<std::int32_t>(data, input);
}

}  // namespace halftone::tests
