// SPDX-License-Identifier: Apache-2.0
#include "halftone/column_moments.hpp"

#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "halftone/error.hpp"
#include "halftone/loader.hpp"

namespace halftone {
namespace {

constexpr std::int64_t kBatch = 1024;

[[noreturn]] void refuse(std::string_view input, std::string cause, std::string hint) {
  throw Error({.operation = "measure columns",
               .object = "input '" + std::string(input) + "'",
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

/// Calls use(element number, value) for every element, in order.
template <class Use>
void for_elements(const Dataset& dataset, std::string_view input, Use use) {
  Loader loader(dataset, {.batch = kBatch, .shuffle = false, .threads = 0});
  std::size_t first = 0;
  while (const auto batch = loader.next()) {
    for (const NamedValues& values : batch->inputs) {
      if (values.name != input) continue;
      std::visit(
          [&]<class T>(std::span<const T> elements) {
            if constexpr (std::is_arithmetic_v<T>) {
              for (const T& value : elements) use(first++, static_cast<double>(value));
            } else {
              refuse(input, "has floats of 16 bits", "give the dataset f32");
            }
          },
          values.values);
    }
  }
}

}  // namespace

ColumnMoments column_moments(const Dataset& dataset, std::string_view input) {
  const std::vector<std::int64_t> shape = dataset.shape(input);
  const std::size_t columns = shape.empty() ? 1 : static_cast<std::size_t>(shape.back());
  std::vector<double> mean(columns), square(columns);
  double rows = 0;
  for_elements(dataset, input, [&](std::size_t e, double value) {
    mean[e % columns] += value;
    rows += e % columns == 0;
  });
  for (double& sum : mean) sum /= rows;
  for_elements(dataset, input, [&](std::size_t e, double value) {
    const double distance = value - mean[e % columns];
    square[e % columns] += distance * distance;
  });
  ColumnMoments moments;
  for (std::size_t j = 0; j < columns; ++j) {
    const double deviation = std::sqrt(square[j] / rows);
    if (!std::isfinite(deviation))
      refuse(input, "has a value that is not finite in column " + std::to_string(j),
             "leave such rows out");
    moments.mean.push_back(static_cast<float>(mean[j]));
    moments.deviation.push_back(deviation == 0 ? 1.0f : static_cast<float>(deviation));
  }
  return moments;
}

}  // namespace halftone
