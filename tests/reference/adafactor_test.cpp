// SPDX-License-Identifier: Apache-2.0
// U18: adafactor against torch.optim.Adafactor's formula in f64 (record_adafactor.py), and what is
// declared against that.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "adafactor_expected.hpp"
#include "problem.hpp"
#include "recorded.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

const char* kModel = R"(input %x0 : f32[6, 5]
input %x1 : f32[2, 3, 4]
input %x2 : f32[7]
input %x3 : f32[]
parameter %p0 : [6, 5] init constant(0)
parameter %p1 : [2, 3, 4] init constant(0) no_decay learning_rate_scale 0.25
parameter %p2 : [7] init constant(0)
parameter %p3 : [] init constant(0) no_decay learning_rate_scale 0.25
%y0 = add(a: %x0, b: %p0) : [6, 5]
%y1 = add(a: %x1, b: %p1) : [2, 3, 4]
%y2 = add(a: %x2, b: %p2) : [7]
%y3 = add(a: %x3, b: %p3) : []
output "y0" = %y0
output "y1" = %y1
output "y2" = %y2
output "y3" = %y3
)";
constexpr std::int64_t kSizes[] = {30, 24, 7, 1};

std::string parameter(std::size_t i) { return "p" + std::to_string(i); }

template <class Scalar>
State<Scalar> updated(const Evaluator<Scalar>& evaluator) {
  Tensors<Scalar> parameters;
  for (std::size_t i = 0; i < std::size(kSizes); ++i)
    parameters[parameter(i)] = data<Scalar>(kSizes[i], static_cast<std::int64_t>(i) + 1);
  State<Scalar> state = evaluator.initial_state(parameters);
  for (int step = 0; step < 5; ++step) {
    Gradients<Scalar> gradients(evaluator.description().nodes.size());
    for (std::size_t i = 0; i < std::size(kSizes); ++i)
      gradients[evaluator.find(parameter(i))] =
          data<Scalar>(kSizes[i], 10 * (static_cast<std::int64_t>(i) + 1) + step);
    state = evaluator.update(state, gradients).state;
  }
  return state;
}

}  // namespace

TEST_CASE("U18: adafactor is torch's") {
  for (const auto& [settings, expected] : kAdafactor) {
    CAPTURE(settings);
    const auto model =
        parse_model(kModel, "optimizer adafactor " + settings + " weight_decay 0.5\n");
    const State<double> exact = updated(Evaluator<double>(model, {}));
    const State<float> declared = updated(Evaluator<float>(model, {}));
    const State<Bounded> bounded = updated(Evaluator<Bounded>(model, {}));
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
      CAPTURE(i);
      const auto& ours = exact.parameters.at(parameter(i));
      REQUIRE(std::ssize(ours) == kSizes[i]);
      REQUIRE(ours.size() == expected[i].size());
      for (std::size_t e = 0; e < ours.size(); ++e) {
        CAPTURE(e);
        CHECK(std::abs(ours[e] - expected[i][e]) <= 1e-12);
        const Bounded bound = bounded.parameters.at(parameter(i))[e];
        CHECK(bound.error < 1e-3);
        CHECK(std::abs(declared.parameters.at(parameter(i))[e] - ours[e]) <= bound.error);
      }
    }
  }
}

TEST_CASE("U18: of a matrix a row and a column are kept, of a vector all") {
  const auto model =
      parse_model(kModel, "optimizer adafactor " + kAdafactor[0].first + " weight_decay 0.5\n");
  const State<float> state = updated(Evaluator<float>(model, {}));
  CHECK(state.first_moments.at("p0").size() == 6);
  CHECK(state.second_moments.at("p0").size() == 5);
  CHECK(state.first_moments.at("p1").size() == 2 * 3);
  CHECK(state.second_moments.at("p1").size() == 2 * 4);
  CHECK(state.first_moments.at("p2").empty());
  CHECK(state.second_moments.at("p2").size() == 7);
}
