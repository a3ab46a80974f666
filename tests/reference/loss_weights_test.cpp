// SPDX-License-Identifier: Apache-2.0
// Weights within a loss, D70 to D73. The expected numbers are from Python's doubles: for
// cross_entropy sum(w * nll) / sum(w) with nll = log(sum(exp(x))) - x[label], as torch's
// cross_entropy(ignore_index) and (loss * w).sum() / w.sum() have it, and their derivatives; for
// elementwise losses sum(w * l) / sum(w), a weight for every row counting for each of its columns.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "problem.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Result {
  double loss;
  std::vector<double> gradient;  // of parameter x
};

/// Of `statements`, which read parameter x and end in %loss, under the loss weight 1.
template <class Scalar>
Result run(const std::string& statements, const std::vector<double>& x, Inputs<double> inputs) {
  const Problem problem{
      parse_model(statements + "loss %loss weight 1\n"), {}, {{"x", x}}, {}, {}, std::move(inputs)};
  const Run<Scalar> run(problem);
  const auto& gradient = run.gradient("x");
  return {run.forward.losses[0], {gradient.begin(), gradient.end()}};
}

void check_near(const Result& result, double loss, const std::vector<double>& gradient) {
  CHECK(std::fabs(result.loss - loss) < 1e-14);
  REQUIRE(result.gradient.size() == gradient.size());
  for (std::size_t e = 0; e < gradient.size(); ++e) {
    CAPTURE(e);
    CHECK(std::fabs(result.gradient[e] - gradient[e]) < 1e-15);
  }
}

const std::string kLabel = "input %label : i32[4]\nparameter %x : [4, 3] init constant(0)\n";
const std::string kWeighted = kLabel +
                              "input %w : f32[4]\n%loss = cross_entropy(logits: %x, label: "
                              "%label, sample_weight: %w)";
const std::string kTarget = "input %t : f32[3, 2]\nparameter %x : [3, 2] init constant(0)\n";
const std::vector<double> kX = {1, 2, 3, -1, 0.5, 0.25}, kT = {0, 0, 1, 1, 2, 2};

}  // namespace

TEST_CASE("cross_entropy under weights is a weighted mean, also of rows that are not ignored") {
  const std::vector<double> logits = {1, 2, 3, 0.5, -1, 0.25, 4, 4, 4, 7, 7, 7};
  const Inputs<double> inputs{{{"w", {0.5, 2, 3, 0}}}, {{"label", {0, 2, -100, 1}}}};
  check_near(run<double>(kWeighted + " {ignore_index: -100} : []\n", logits, inputs),
             1.2368109420104072,
             {-0.18199388536592392, 0.04894569421095954, 0.13304819115496438, 0.399614183850572,
              0.08916597684016221, -0.4887801606907342, 0, 0, 0, 0, 0, 0});
  check_near(run<double>(kLabel + "%loss = cross_entropy(logits: %x, label: %label) "
                                  "{ignore_index: -100} : []\n",
                         logits, {{}, inputs.integers}),
             1.4834434798381346,
             {-0.30332314227653984, 0.08157615701826589, 0.22174698525827397, 0.16650590993773834,
              0.03715249035006758, -0.2036584002878059, 0, 0, 0, 0.1111111111111111,
              -0.22222222222222224, 0.1111111111111111});
}

TEST_CASE("mse under weights for rows and for elements") {
  check_near(run<double>("input %w : f32[3]\n" + kTarget +
                             "%loss = mse(x: %x, target: %t, sample_weight: %w) : []\n",
                         kX, {{{"w", {0.5, 0, 2}}, {"t", kT}}, {}}),
             2.625, {0.2, 0.4, 0, 0, -1.2, -1.4});
  check_near(run<double>("input %w : f32[3, 2]\n" + kTarget +
                             "%loss = mse(x: %x, target: %t, sample_weight: %w) : []\n",
                         kX, {{{"w", {1, 0, 0, 3, 0.25, 0}}, {"t", kT}}, {}}),
             3.1911764705882355,
             {0.47058823529411764, 0, 0, -2.823529411764706, -0.17647058823529413, 0});
}

TEST_CASE("a pointwise_loss of the same function equals the mse under the same weights") {
  const char* function =
      "%loss = pointwise_loss(x0: %x, x1: %t, sample_weight: %w) \"f\" { %0 = operand 0; %1 = "
      "operand 1; %2 = subtract %0 %1; %3 = multiply %2 %2 } : []\n";
  for (const char* shape : {"[3]", "[3, 2]"}) {
    const std::string head = std::string("input %w : f32") + shape + "\n" + kTarget;
    const Inputs<double> inputs{
        {{"w", std::string(shape) == "[3]" ? std::vector<double>{0.5, 0, 2}
                                           : std::vector<double>{1, 0, 0.5, 3, 0.25, 0}},
         {"t", kT}},
        {}};
    const Result mse = run<float>(head + "%loss = mse(x: %x, target: %t, sample_weight: %w) : []\n",
                                  kX, inputs),
                 own = run<float>(head + function, kX, inputs);
    CHECK(mse.loss == own.loss);
    CHECK(mse.gradient == own.gradient);
  }
}

TEST_CASE("nothing of a summand of weight 0 reaches loss or gradient") {
  for (const double nothing : {kNan, kInfinity, -kInfinity, 3e38}) {
    const Result cross_entropy =
        run<float>(kWeighted + " {ignore_index: 1} : []\n",
                   {1, 2, 3, nothing, 0, 0, nothing, nothing, nothing, 0, 1, 2},
                   {{{"w", {2, -0.0, 3, 1}}}, {{"label", {0, 99, 1, 2}}}});
    CHECK(std::isfinite(cross_entropy.loss));
    for (std::size_t e = 3; e < 9; ++e) {
      CHECK(cross_entropy.gradient[e] == 0);
      CHECK_FALSE(std::signbit(cross_entropy.gradient[e]));
    }
    const Result mse = run<float>("input %w : f32[3]\n" + kTarget +
                                      "%loss = mse(x: %x, target: %t, sample_weight: %w) : []\n",
                                  kX, {{{"w", {1, 0, 1}}, {"t", {0, 0, nothing, 1, 2, 2}}}, {}});
    CHECK(std::isfinite(mse.loss));
    CHECK((mse.gradient[2] == 0 && mse.gradient[3] == 0));
  }
}

TEST_CASE("where all weights are 0 so are loss and gradients") {
  const Result all_ignored =
      run<float>(kWeighted + " {ignore_index: 3} : []\n", std::vector<double>(12, 1),
                 {{{"w", {1, 0, 2, 3}}}, {{"label", {3, 0, 3, 3}}}});
  CHECK(all_ignored.loss == 0);
  CHECK(all_ignored.gradient == std::vector<double>(12, 0));
  const Result mse = run<float>(
      "input %w : f32[3]\n" + kTarget + "%loss = mse(x: %x, target: %t, sample_weight: %w) : []\n",
      kX, {{{"w", {0, 0, -0.0}}, {"t", kT}}, {}});
  CHECK(mse.loss == 0);
  CHECK(mse.gradient == std::vector<double>(6, 0));
}

TEST_CASE("weights that cancel are divided by 1, negative ones are computed with") {
  const std::string statements =
      "input %w : f32[3]\n" + kTarget + "%loss = mse(x: %x, target: %t, sample_weight: %w) : []\n";
  // Rows of squares: 5, 8 and 5.3125.
  const Result cancelled = run<double>(statements, kX, {{{"w", {1, -1, 0}}, {"t", kT}}, {}});
  CHECK(cancelled.loss == 5 - 8);
  CHECK(cancelled.gradient == std::vector<double>{2, 4, -4, 4, 0, 0});
  const Result negative = run<double>(statements, kX, {{{"w", {-2, 1, 0}}, {"t", kT}}, {}});
  CHECK(negative.loss == (-10 + 8) / -2.0);
}

TEST_CASE("a weight that is not finite makes the loss NaN") {
  for (const double weight : {kNan, kInfinity, -kInfinity}) {
    const Result result = run<float>(kWeighted + " : []\n", std::vector<double>(12, 0.5),
                                     {{{"w", {1, 2, weight, 0}}}, {{"label", {0, 1, 2, 0}}}});
    CHECK(std::isnan(result.loss));
    CHECK(std::isnan(result.gradient[6]));
    CHECK(result.gradient[9] == 0);
  }
}
