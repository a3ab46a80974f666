// SPDX-License-Identifier: Apache-2.0
// label_smoothing, z_loss and soft_cap of cross_entropy, D29 and D48: the exact evaluation against
// what torch computes in f64, and limits.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "losses_expected.hpp"
#include "problem.hpp"
#include "recorded.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

struct Result {
  double loss;
  std::vector<double> gradient;  // of the logits
};

/// Of [rows, columns] logits; labels and weights are given with `inputs`.
template <class Scalar>
Result run(std::size_t columns, const std::vector<double>& logits, const std::string& settings,
           Inputs<double> inputs) {
  const std::string rows = std::to_string(logits.size() / columns);
  const bool weighted = inputs.values.contains("w");
  const std::string model =
      "input %label : i32[" + rows + "]\n" + (weighted ? "input %w : f32[" + rows + "]\n" : "") +
      "parameter %x : [" + rows + ", " + std::to_string(columns) + "] init constant(0)\n" +
      "%loss = cross_entropy(logits: %x, label: %label" + (weighted ? ", sample_weight: %w" : "") +
      ") {" + settings + "} : []\nloss %loss weight 1\n";
  const Problem problem{parse_model(model), {}, {{"x", logits}}, {}, {}, std::move(inputs)};
  const Run<Scalar> run(problem);
  const auto& gradient = run.gradient("x");
  return {run.forward.losses[0], {gradient.begin(), gradient.end()}};
}

}  // namespace

TEST_CASE("cross_entropy under its settings is torch's, and so is its gradient") {
  std::vector<double> logits = data(54, 1), weights = data(6, 2);
  for (double& x : logits) x = static_cast<float>(3 * x);
  for (double& weight : weights) weight = std::abs(weight);
  Inputs<double> inputs;
  for (std::int32_t i = 0; i < 6; ++i) inputs.integers["label"].push_back(4 * i % 9);
  for (const TorchLoss& torch : kTorchLosses) {
    CAPTURE(std::string(torch.settings));
    CAPTURE(torch.weighted);
    if (torch.weighted) inputs.values["w"] = weights;
    const Result result = run<double>(9, logits, torch.settings, inputs);
    CHECK(std::abs(result.loss - torch.loss) <= 1e-14 * std::abs(torch.loss));
    REQUIRE(result.gradient.size() == torch.gradient.size());
    for (std::size_t e = 0; e < logits.size(); ++e) {
      CAPTURE(e);
      CHECK(std::abs(result.gradient[e] - torch.gradient[e]) < 1e-15);
    }
  }
}

TEST_CASE("a soft_cap bounds what cross_entropy reads, and passes nothing back where it does") {
  const Inputs<double> inputs{{}, {{"label", {1}}}};
  const Result result = run<float>(3, {1e30, -1e30, 0}, "soft_cap: 2", inputs);
  CHECK(result.loss == doctest::Approx(std::log(std::exp(2) + std::exp(-2) + 1) + 2).epsilon(1e-6));
  CHECK(result.gradient[0] == 0);
  CHECK(result.gradient[1] == 0);
  CHECK(result.gradient[2] == doctest::Approx(1 / (std::exp(2) + std::exp(-2) + 1)).epsilon(1e-6));
}

TEST_CASE("a label of its own share alone: with a label_smoothing of 1 no label matters") {
  const std::vector<double> logits = {1, 2, 3, 0.5};
  const auto of_label = [&](std::int32_t label) {
    return run<float>(4, logits, "label_smoothing: 1", {{}, {{"label", {label}}}});
  };
  CHECK(of_label(0).loss == of_label(3).loss);
  CHECK(of_label(0).gradient == of_label(3).gradient);
  CHECK(std::isnan(of_label(4).loss));
  CHECK(std::isnan(of_label(4).gradient[0]));
}

TEST_CASE("a row of weight 0 is passed over under every setting") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::string settings = "ignore_index: 7, label_smoothing: 0.5, z_loss: 2, soft_cap: 3";
  const Result result = run<float>(2, {kNan, 1, 0.5, 0.25}, settings, {{}, {{"label", {7, 1}}}});
  CHECK(std::isfinite(result.loss));
  CHECK(result.gradient[0] == 0);
  CHECK(result.gradient[1] == 0);
  CHECK(result.gradient[2] != 0);
}
