// SPDX-License-Identifier: Apache-2.0
#include "curves.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace halftone::tools {
namespace {

/// The points of one column, thinned to five at most.
void add_column(std::span<const Point> column, std::vector<Point>& result) {
  const auto is_below = [](const Point& a, const Point& b) { return a.value < b.value; };
  std::vector<Point> finite;
  for (const Point& point : column)
    if (std::isfinite(point.value)) finite.push_back(point);
  if (finite.empty()) return result.push_back(column.front());
  const auto [least, greatest] = std::ranges::minmax_element(finite, is_below);
  std::vector<Point> kept{finite.front(), *std::min(least, greatest), *std::max(least, greatest),
                          finite.back()};
  if (finite.size() < column.size()) {
    const auto gap =
        std::ranges::find_if(column, [](const Point& p) { return !std::isfinite(p.value); });
    kept.push_back(*gap);
    std::ranges::sort(kept, {}, &Point::step);
  }
  for (const Point& point : kept)
    if (result.empty() || result.back().step != point.step) result.push_back(point);
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

double median_of(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<Point> thinned(std::span<const Point> points, std::int64_t first, std::int64_t last,
                           int columns) {
  const double width = static_cast<double>(std::max<std::int64_t>(1, last - first)) / columns;
  const auto column_of = [&](const Point& point) {
    return static_cast<std::int64_t>(static_cast<double>(point.step - first) / width);
  };
  std::vector<Point> result;
  for (std::size_t at = 0; at < points.size();) {
    std::size_t end = at + 1;
    while (end < points.size() && column_of(points[end]) == column_of(points[at])) ++end;
    add_column(points.subspan(at, end - at), result);
    at = end;
  }
  return result;
}

std::vector<Point> smoothed(std::span<const Point> points, std::size_t parts, Middle middle) {
  std::vector<Point> result;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = points.size() * part / parts;
    const std::size_t end = points.size() * (part + 1) / parts;
    std::vector<double> values;
    for (const Point& point : points.subspan(begin, end - begin))
      if (std::isfinite(point.value)) values.push_back(point.value);
    if (values.empty()) continue;
    const std::int64_t step = (points[begin].step + points[end - 1].step) / 2;
    result.push_back({step, middle == Middle::mean ? mean_of(values) : median_of(values)});
  }
  return result;
}

}  // namespace halftone::tools
