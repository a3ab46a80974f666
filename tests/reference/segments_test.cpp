// SPDX-License-Identifier: Apache-2.0
// D93 to D96: sums, means, maxima and rows of segments by themselves, against numpy's f32 bit by
// bit, which torch agrees with (record_segments.py), and against central differences in double.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "layer_case.hpp"
#include "segments_expected.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

constexpr std::int64_t kSequences = 2, kTimes = 9, kSegments = 5, kColumns = 3;
// Ascending; in any order, with numbers of no segment and segments without times.
const Integers kNumbers = {0, 0, 1,  1, 1, 2, 3, 3, 4,  //
                           4, 2, -1, 2, 5, 0, 4, 4, 2147483647};

LayerCase reduce(std::string name, const char* function) {
  LayerCase layer{std::move(name),
                  "segment_reduce",
                  {values("x", {kSequences, kTimes, kColumns}, 1),
                   integers("segment", {kSequences, kTimes}, kNumbers)},
                  {kSequences, kSegments, kColumns}};
  layer.settings.numbers["segments"] = kSegments;
  layer.settings.words["function"] = function;
  return layer;
}

std::vector<LayerCase> layers() {
  return {reduce("sums", "sum"),
          reduce("means", "mean"),
          reduce("maxima", "max"),
          {"broadcast",
           "segment_broadcast",
           {values("x", {kSequences, kSegments, kColumns}, 1),
            integers("segment", {kSequences, kTimes}, kNumbers)},
           {kSequences, kTimes, kColumns}}};
}

// One sequence of one column, and two segments.
LayerCase two_segments(const char* function, const Values<double>& x, const Integers& numbers) {
  LayerCase layer = reduce("", function);
  const std::int64_t times = std::ssize(x);
  layer.operands = {values("x", {times, 1}, 1), integers("segment", {times}, numbers)};
  layer.operands[0].values = x;
  layer.extents = {2, 1};
  layer.settings.numbers["segments"] = 2;
  return layer;
}

Values<float> gradient(const LayerCase& layer, const Values<float>& g) {
  return gradients_of(layer.kind, layer_of<float>(layer), View<float>(g))[0];
}

}  // namespace

TEST_CASE("segments have numpy's bits") {
  for (const LayerCase& layer : layers()) {
    check_bits(kSegmentsBits, layer.name + " result", result<float>(layer));
    const auto of = gradients<float>(layer);
    check_bits(kSegmentsBits, layer.name + " x", of[0]);
    CHECK(of[1].empty());
  }
}

TEST_CASE("gradients of segments agree with central differences") {
  for (LayerCase& layer : layers()) {
    CAPTURE(layer.name);
    check_first_gradient(layer);
  }
}

TEST_CASE("declared sums of segments stay within the bound of exact ones") {
  for (const LayerCase& layer : layers()) {
    CAPTURE(layer.name);
    check_declared_layer(layer);
  }
}

TEST_CASE("sums begin at +0 and go on from time to time") {
  const LayerCase sums = two_segments("sum", {0x1p24, -0.0, 1, 1, -0x1p24}, {0, 1, 0, 0, 0});
  const Values<float> y = result<float>(sums);
  CHECK(y[0] == 0);  // 1 is lost each time
  CHECK(!std::signbit(y[1]));
}

TEST_CASE("what belongs to no segment changes none, and a segment without times is +0") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const char* function : {"sum", "mean", "max"}) {
    const LayerCase layer = two_segments(function, {nan, 3, nan}, {-1, 0, 2});
    CHECK(result<float>(layer) == Values<float>{3, 0});
    CHECK(gradient(layer, {5, std::numeric_limits<float>::infinity()}) == Values<float>{0, 5, 0});
  }
}

TEST_CASE("a mean divides once, by the number of its times") {
  const LayerCase means = two_segments("mean", {1, 3, 4, 0}, {1, 1, 1, 0});
  CHECK(result<float>(means) == Values<float>{0, 8.0f / 3.0f});
  CHECK(gradient(means, {7, 5}) == Values<float>{5.0f / 3.0f, 5.0f / 3.0f, 5.0f / 3.0f, 7});
}

TEST_CASE("a maximum is the first time's that has it, and NaN where a time is") {
  const double infinity = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  const LayerCase layer = two_segments("max", {-3, -1, -2, -1, -infinity}, {0, 0, 0, 0, 1});
  CHECK(result<float>(layer) == Values<float>{-1, 0});
  CHECK(gradient(layer, {5, 7}) == Values<float>{0, 5, 0, 0, 0});
  const LayerCase zeros = two_segments("max", {-0.0, 0.0, 0.0, -0.0}, {0, 0, 1, 1});
  CHECK(std::signbit(result<float>(zeros)[0]));
  CHECK(!std::signbit(result<float>(zeros)[1]));
  const LayerCase undefined = two_segments("max", {1, nan, 2}, {0, 0, 0});
  CHECK(std::isnan(result<float>(undefined)[0]));
  CHECK(gradient(undefined, {5, 0}) == Values<float>{0, 5, 0});
}
