// SPDX-License-Identifier: Apache-2.0
// Losses of whole rows (D105, D107), weights of classes and sums (D71): the exact evaluation
// against what torch computes in f64, and limits.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>

#include "problem.hpp"
#include "recorded.hpp"
#include "row_losses_expected.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Loss {
  const char* operands;  // what stands between the parentheses
  const char* settings = "";
  const char* function = "";
};

// By the names of record_row_losses.py, with the kind in front.
const std::map<std::string, std::pair<const char*, Loss>> kLosses = {
    {"class_weights", {"cross_entropy", {"logits: %x, label: %label, class_weight: %c"}}},
    {"class_weights_ignoring",
     {"cross_entropy", {"logits: %x, label: %label, class_weight: %c", "ignore_index: 4"}}},
    {"cross_entropy", {"cross_entropy", {"logits: %x, label: %label"}}},
    {"soft_cross_entropy", {"soft_cross_entropy", {"logits: %x, target: %y"}}},
    {"cosine_embedding", {"cosine_embedding", {"x: %x, y: %y, target: %sign", "margin: 0"}}},
    {"cosine_embedding_margin",
     {"cosine_embedding", {"x: %x, y: %y, target: %sign", "margin: 0.125"}}},
    {"mse", {"mse", {"x: %x, target: %y"}}},
    {"l1",
     {"pointwise_loss",
      {"x0: %x, x1: %y", "",
       " \"l1\" { %0 = operand 0; %1 = operand 1; %2 = subtract %0 %1; %3 = absolute %2 }"}}}};

bool mentions(const std::string& text, const char* name) {
  return text.find(name) != std::string::npos;
}

/// Of x and y, [rows, 9]; only what the loss reads is declared.
Problem problem_of(const std::string& name, bool summed, std::vector<double> x,
                   std::vector<double> y, std::vector<double> weights = {}) {
  const auto& [kind, loss] = kLosses.at(name);
  const std::string rows = std::to_string(x.size() / 9), operands = loss.operands;
  std::string settings = loss.settings;
  if (summed) settings += settings.empty() ? "summed: true" : ", summed: true";
  std::string text;
  if (mentions(operands, "%label")) text += "input %label : i32[" + rows + "]\n";
  if (mentions(operands, "%sign")) text += "input %sign : f32[" + rows + "]\n";
  if (!mentions(text, "input")) text += "input %unused : f32[" + rows + ", 9]\n";
  if (!weights.empty()) text += "input %w : f32[" + rows + "]\n";
  text += "parameter %x : [" + rows + ", 9] init constant(0)\n";
  if (mentions(operands, "%y")) text += "parameter %y : [" + rows + ", 9] init constant(0)\n";
  if (mentions(operands, "%c")) text += "state %c : [9] initial 1\n";
  text += std::string("%loss = ") + kind + "(" + operands +
          (weights.empty() ? "" : ", sample_weight: %w") + ")" +
          (settings.empty() ? "" : " {" + settings + "}") + loss.function +
          " : []\nloss %loss weight 1\n";
  if (mentions(text, "%unused")) text += "output \"unused\" = %unused\n";
  Problem problem{parse_model(text), {}, {{"x", std::move(x)}}, {}, {}, {}};
  if (mentions(operands, "%y")) problem.parameters["y"] = std::move(y);
  if (mentions(operands, "%c")) {
    for (const double weight : data(9, 4)) problem.states["c"].push_back(std::abs(weight));
  }
  return problem;
}

Problem recorded_problem(const std::string& name, bool summed) {
  std::vector<double> x = data(54, 1);
  for (double& value : x) value = static_cast<float>(3 * value);
  Problem problem = problem_of(name, summed, std::move(x), data(54, 3));
  for (std::int32_t i = 0; i < 6; ++i) problem.inputs.integers["label"].push_back(4 * i % 9);
  problem.inputs.values = {{"sign", kSigns}, {"unused", std::vector<double>(54, 0)}};
  const std::string& text = kLosses.at(name).second.operands;
  if (!mentions(text, "%label")) problem.inputs.integers.clear();
  if (!mentions(text, "%sign")) problem.inputs.values.erase("sign");
  if (mentions(text, "%label") || mentions(text, "%sign")) problem.inputs.values.erase("unused");
  return problem;
}

void check_close(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t e = 0; e < found.size(); ++e) {
    CAPTURE(e);
    CHECK(std::abs(found[e] - expected[e]) <= 4e-15 * (1 + std::abs(expected[e])));
  }
}

}  // namespace

TEST_CASE("losses of rows, weights of classes and sums are torch's, and so are their gradients") {
  for (const TorchRowLoss& torch : kTorchRowLosses) {
    CAPTURE(std::string(torch.name));
    CAPTURE(torch.summed);
    const Run<double> run(recorded_problem(torch.name, torch.summed));
    CHECK(std::abs(run.forward.losses[0] - torch.loss) <= 1e-14 * std::abs(torch.loss));
    check_close(run.gradient("x"), torch.of_x);
    if (!torch.of_y.empty()) check_close(run.gradient("y"), torch.of_y);
  }
}

TEST_CASE("one-hot shares are labels") {
  const Run<double> hard(recorded_problem("cross_entropy", false));
  Problem problem = recorded_problem("soft_cross_entropy", false);
  std::vector<double>& shares = problem.parameters["y"];
  shares.assign(54, 0);
  for (std::size_t i = 0; i < 6; ++i) shares[9 * i + 4 * i % 9] = 1;
  const Run<double> soft(problem);
  CHECK(std::abs(soft.forward.losses[0] - hard.forward.losses[0]) <= 1e-14 * 5);
  check_close(soft.gradient("x"), hard.gradient("x"));
}

TEST_CASE("weights of classes and of samples multiply, and a label beyond the classes is NaN") {
  Problem problem = problem_of("class_weights", false, std::vector<double>(18, 0), {}, {1, 1});
  problem.inputs.integers["label"] = {3, 5};
  problem.inputs.values["w"] = {0.5, 3};
  const double first = std::abs(data(9, 4)[3]), second = std::abs(data(9, 4)[5]);
  REQUIRE(first > 0.1);
  REQUIRE(std::abs(first - second) > 0.1);
  problem.parameters["x"][3] = 1;
  const double far = std::log(std::exp(1) + 8) - 1, flat = std::log(9);
  const double expected = (0.5 * first * far + 3 * second * flat) / (0.5 * first + 3 * second);
  CHECK(Run<double>(problem).forward.losses[0] == doctest::Approx(expected).epsilon(1e-13));
  problem.inputs.integers["label"] = {3, 9};
  CHECK(std::isnan(Run<float>(problem).forward.losses[0]));
  problem.inputs.values["w"] = {0.5, 0};  // D73
  CHECK(Run<float>(problem).forward.losses[0] == doctest::Approx(far).epsilon(1e-6));
}

TEST_CASE("a row of weight 0 is passed over, be it NaN") {
  for (const char* name : {"soft_cross_entropy", "cosine_embedding"}) {
    CAPTURE(std::string(name));
    std::vector<double> x(18, 0.5), y(18, 0.25);
    x[3] = y[4] = kNan;
    Problem problem = problem_of(name, false, x, y, {1, 1});
    problem.inputs.values["w"] = {0, 2};
    if (mentions(kLosses.at(name).second.operands, "%sign"))
      problem.inputs.values["sign"] = {1, -1};
    else
      problem.inputs.values["unused"] = std::vector<double>(18, 0);
    const Run<float> run(problem);
    CHECK(std::isfinite(run.forward.losses[0]));
    for (std::size_t e = 0; e < 9; ++e) {
      CHECK(run.gradient("x")[e] == 0);
      CHECK(run.gradient("y")[e] == 0);
    }
  }
}

TEST_CASE("the cosine of rows of zeros is 0, and of large ones what it is of small ones") {
  Problem problem =
      problem_of("cosine_embedding", true, std::vector<double>(18, 0), std::vector<double>(18, 0));
  problem.inputs.values["sign"] = {1, -1};
  CHECK(Run<float>(problem).forward.losses[0] == 1);
  for (std::size_t e = 0; e < 9; ++e) {
    problem.parameters["x"][e] = 0x1p60;
    problem.parameters["y"][e] = 0x1p62;
  }
  CHECK(Run<float>(problem).forward.losses[0] == doctest::Approx(0).epsilon(1e-6));
}
