// SPDX-License-Identifier: Apache-2.0
// Long series as few points, and axes.
#include "report/curves.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "report/axis.hpp"
#include "report/markup.hpp"

namespace halftone::tests {
namespace {

using tools::Axis, tools::Point;

std::vector<Point> noise(std::int64_t count) {
  std::mt19937 random(1);
  std::vector<Point> points;
  for (std::int64_t step = 0; step < count; ++step)
    points.push_back({step, static_cast<double>(random() % 10'000)});
  return points;
}

std::vector<double> ticks(Axis::Kind kind, double least, double greatest) {
  return Axis(kind, least, greatest).ticks();
}

}  // namespace

TEST_CASE("a thinned series keeps the first, least, greatest and last of every column") {
  constexpr int kColumns = 50;
  const std::vector<Point> points = noise(10'000);
  const std::vector<Point> few = tools::thinned(points, 0, 10'000, kColumns);
  CHECK(few.size() <= 4 * kColumns);
  CHECK(std::ranges::is_sorted(few, {}, &Point::step));
  for (int column = 0; column < kColumns; ++column) {
    CAPTURE(column);
    const auto of_column = [&](const Point& point) { return point.step / 200 == column; };
    std::vector<double> all, kept;
    for (const Point& point : points)
      if (of_column(point)) all.push_back(point.value);
    for (const Point& point : few)
      if (of_column(point)) kept.push_back(point.value);
    REQUIRE(!kept.empty());
    CHECK(kept.front() == all.front());
    CHECK(kept.back() == all.back());
    CHECK(std::ranges::min(kept) == std::ranges::min(all));
    CHECK(std::ranges::max(kept) == std::ranges::max(all));
  }
}

TEST_CASE("a short series stays as it is, and what is not finite stays a gap") {
  const std::vector<Point> points = {{0, 1.0}, {10, NAN}, {20, 2.0}, {30, INFINITY}};
  const std::vector<Point> few = tools::thinned(points, 0, 30, 500);
  REQUIRE(few.size() == 4);
  CHECK(std::isnan(few[1].value));
  CHECK(std::isinf(few[3].value));
  const std::vector<Point> one = tools::thinned(points, 0, 30, 1);
  CHECK(std::ranges::any_of(one, [](const Point& point) { return std::isnan(point.value); }));
  CHECK(std::ranges::is_sorted(one, {}, &Point::step));
  CHECK(tools::thinned({}, 0, 1, 10).empty());
}

TEST_CASE("a series is thinned alike wherever it begins") {
  std::vector<Point> points = noise(10'000);
  std::vector<Point> expected = tools::thinned(points, 0, 10'000, 50);
  for (std::vector<Point>* const moved : {&points, &expected})
    for (Point& point : *moved) point.step += 12'345;
  const std::vector<Point> few = tools::thinned(points, 12'345, 22'345, 50);
  CHECK(std::ranges::equal(few, expected, [](const Point& a, const Point& b) {
    return a.step == b.step && a.value == b.value;
  }));
}

TEST_CASE("a smoothed series has the means or the medians of its groups") {
  const std::vector<Point> points = {{0, 1.0}, {1, 3.0}, {2, NAN}, {3, 5.0}, {4, NAN}, {5, NAN}};
  const std::vector<Point> means = tools::smoothed(points, 3, tools::Middle::mean);
  REQUIRE(means.size() == 2);
  CHECK(means[0].value == 2.0);
  CHECK(means[1].value == 5.0);
  CHECK(means[1].step == 2);
  const std::vector<Point> held_up = {{0, 1.0}, {1, 100.0}, {2, 2.0}, {3, 5.0}, {4, 5.0}, {5, 6.0}};
  const std::vector<Point> medians = tools::smoothed(held_up, 2, tools::Middle::median);
  REQUIRE(medians.size() == 2);
  CHECK(medians[0].value == 2.0);
  CHECK(medians[1].value == 5.0);
  CHECK(medians[0].step == 1);
  CHECK(medians[1].step == 4);
  std::vector<double> even = {4, 1, 3, 2};
  CHECK(tools::median_of(even) == 3);  // the upper of the two in the middle
}

TEST_CASE("ticks are round and inside of the axis") {
  CHECK(ticks(Axis::Kind::linear, 0, 10) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(ticks(Axis::Kind::linear, 0, 1000) == std::vector<double>{0, 200, 400, 600, 800, 1000});
  CHECK(ticks(Axis::Kind::logarithmic, 1e-3, 10) ==
        std::vector<double>{std::pow(10.0, -3), 0.01, 0.1, 1, 10});
  CHECK(ticks(Axis::Kind::binary, 1024, 4096) == std::vector<double>{1024, 2048, 4096});
  CHECK(ticks(Axis::Kind::linear, 0, 2.8) == std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5});
  CHECK(ticks(Axis::Kind::linear, 0, 4) == std::vector<double>{0, 1, 2, 3, 4});
  // Of few powers their multiples, too; of many every fourth, at multiples of four.
  CHECK(ticks(Axis::Kind::logarithmic, 0.3, 20) == std::vector<double>{0.5, 1, 2, 5, 10, 20});
  CHECK(ticks(Axis::Kind::logarithmic, 1, 100) == std::vector<double>{1, 2, 5, 10, 20, 50, 100});
  CHECK(ticks(Axis::Kind::logarithmic, 1e-10, 1e10) ==
        std::vector<double>{std::pow(10.0, -8), std::pow(10.0, -4), 1, 1e4, 1e8});
  for (const double value : {0.0, 1.0, -3.5, 1e-12, 1e300}) {
    const Axis axis(Axis::Kind::linear, value, value);
    CAPTURE(value);
    CHECK(axis.part(value) > 0);
    CHECK(axis.part(value) < 1);
    CHECK(axis.ticks().size() < 20);
  }
}

TEST_CASE("an axis has a margin but at zero, which it shows beside what is near") {
  const auto part = [](double least, double greatest, double value) {
    return doctest::Approx(Axis(Axis::Kind::linear, least, greatest).part(value));
  };
  CHECK(part(0, 10, 0) == 0);
  CHECK(part(0, 10, 10) == 10 / 10.4);
  CHECK(part(5.9, 10, 0) == 0);  // below six tenths of the greatest
  CHECK(part(5.9, 10, 10) == 10 / 10.4);
  CHECK(part(6, 10, 6) == 0.16 / 4.32);
  CHECK(part(6, 10, 10) == 4.16 / 4.32);
  CHECK(part(-1, 1, -1) == 0.08 / 2.16);
}

TEST_CASE("an axis is logarithmic where values span much") {
  CHECK(Axis::fitting(1, 20).kind() == Axis::Kind::logarithmic);
  CHECK(Axis::fitting(1, 19.9).kind() == Axis::Kind::linear);
  CHECK(Axis::fitting(0.01, 1).kind() == Axis::Kind::logarithmic);
  CHECK(Axis::fitting(0.5, 1).kind() == Axis::Kind::linear);
  CHECK(Axis::fitting(0, 1).kind() == Axis::Kind::linear);
  CHECK(Axis::fitting(-1, 1).kind() == Axis::Kind::linear);
  const Axis axis = Axis::fitting(0.01, 1);
  CHECK(axis.part(0.1) == doctest::Approx(0.5));
}

TEST_CASE("numbers are short, and text cannot become markup") {
  CHECK(tools::figure_text(0.031254, 3) == "0.0313");
  CHECK(tools::figure_text(131072, 3) == "131072");
  CHECK(tools::figure_text(579710.1, 3) == "579710");
  CHECK(tools::figure_text(1e-9, 3) == "1e-09");
  CHECK(tools::figure_text(NAN, 3) == "NaN");
  CHECK(tools::figure_text(INFINITY, 3) == "∞");
  CHECK(tools::figure_text(-INFINITY, 3) == "−∞");
  CHECK(tools::figure_text(12345.6, 3) == "12346");  // of five digits all
  CHECK(tools::figure_text(9876.5, 3) == "9.88e+03");
  CHECK(tools::figure_text(999'999'999, 3) == "999999999");
  CHECK(tools::figure_text(1e9, 3) == "1e+09");
  CHECK(tools::bytes_text(452992) == "442 KiB");
  CHECK(tools::bytes_text(1000) == "1000 B");
  CHECK(tools::bytes_text(1536) == "1.50 KiB");
  CHECK(tools::bytes_text(1023) == "1023 B");
  CHECK(tools::bytes_text(1024) == "1.00 KiB");
  CHECK(tools::bytes_text(9.996 * 1024) == "10.0 KiB");
  CHECK(tools::bytes_text(99.96 * 1024) == "100 KiB");
  CHECK(tools::bytes_text(0x1p40) == "1.00 TiB");
  CHECK(tools::bytes_text(0x1p50) == "1024 TiB");
  CHECK(tools::escaped("<a href=\"x\">&\x01") == "&lt;a href=&quot;x&quot;&gt;&amp;?");
}

}  // namespace halftone::tests
