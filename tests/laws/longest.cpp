// SPDX-License-Identifier: Apache-2.0
// D101 at its most places: generated code has the reference's bits and numpy's sums
// (tests/reference/record_long_convolution.py).
#include <doctest/doctest.h>

#include "artifacts.hpp"
#include "own_pair.hpp"
#include "reference/long_convolution.hpp"
#include "reference/long_convolution_expected.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

constexpr std::int64_t kPlaces = std::int64_t{1} << 20;

std::vector<float> floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("a convolution of 2^20 places and both of its gradients have the reference's bits") {
  namespace expected = reference::tests;
  Pair pair = make_pair(find_artifact("longest"), tested_variant, 1);
  const std::vector<double> x = expected::noise(kPlaces, 1), filter = expected::noise(kPlaces, 2),
                            g = expected::noise(kPlaces, 3);
  pair.inputs.values = {{"x", floats(x)}, {"filter", floats(filter)}, {"g", floats(g)}};
  check_step(pair);

  const double unit = 0x1p-24 * 20;  // a rounding of the mean size for each stage
  const double of[] = {expected::norm(x), expected::norm(filter), expected::norm(g)};
  for (const expected::ConvolvedPlace& at : expected::kMostConvolvedPlaces) {
    CAPTURE(at.place);
    REQUIRE(at.length == kPlaces);
    const auto near = [&](float value, double factor, double sum, double size) {
      CHECK(std::abs(value * factor - sum) <= unit * size);
    };
    const auto place = static_cast<std::size_t>(at.place);
    near(pair.trainer.output("y")[place], 1, at.y, of[0] * of[1]);
    near(pair.trainer.input_gradient("x")[place], kPlaces, at.of_x, of[2] * of[1]);
    near(pair.trainer.input_gradient("filter")[place], kPlaces, at.of_filter, of[2] * of[0]);
  }
}

}  // namespace halftone::tests
