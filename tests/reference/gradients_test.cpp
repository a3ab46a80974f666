// SPDX-License-Identifier: Apache-2.0
// Every gradient formula of docs/spec/description.md against central differences in double.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "finite_differences.hpp"
#include "gradient_cases.hpp"
#include "models.hpp"

using namespace halftone::reference::tests;

TEST_CASE("the gradient of every layer and loss equals central differences") {
  for (const LayerCase& c : kLayers) {
    CAPTURE(c.name);
    for (std::uint64_t seed : {1, 2, 3}) {
      Problem problem =
          make_problem(parse_model(c.statements), {{"batch", 3}}, seed, c.low, c.high);
      check_gradients(problem);
    }
  }
}

TEST_CASE("the gradient of every pointwise operation equals central differences") {
  for (const ScalarCase& c : kScalars) {
    CAPTURE(c.name);
    const std::string statements =
        std::string("input %x : f32[batch, 8]\ninput %z : f32[batch, 8]\n") +
        "%y = pointwise(x0: %x, x1: %z) \"f\" { %0 = operand 0; %1 = operand 1; " + c.body +
        " } : [batch, 8]\noutput \"y\" = %y\n";
    Problem problem = make_problem(parse_model(statements), {{"batch", 2}}, 5, c.low, c.high);
    // Steps of the differences must not cross a kink: at equal operands or at zero.
    for (std::size_t e = 0; e < 16; ++e) {
      double& x = problem.inputs.values["x"][e];
      double& z = problem.inputs.values["z"][e];
      if (std::fabs(x - z) < 0.0625) z += 0.125;
      if (std::fabs(x) < 0.0625) x += 0.125;
    }
    check_gradients(problem);
  }
}

TEST_CASE("the gradients of every example model equal central differences") {
  for (const std::string& name : halftone::tests::model_names()) {
    CAPTURE(name);
    // Its sums over thousands of terms hide what one element adds; it has the layers of digits.
    if (name == "wide") continue;
    // Of its hundreds of relus and maxima one of three rows is always within a step of its kink.
    const bool has_many =
        name.starts_with("unet") || name.starts_with("sides") || name == "scaled_tiles";
    const std::int64_t batch = has_many ? 1 : 3;
    Problem problem =
        make_problem(halftone::tests::load_model(name),
                     {{"batch", batch}, {"time", 2}, {"source", 4}, {"side", 1}}, 11, -0.5, 0.5);
    check_gradients(problem);
  }
}
