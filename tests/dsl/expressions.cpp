// SPDX-License-Identifier: Apache-2.0
// What a user's lambda is traced to.
#include <doctest/doctest.h>

#include <string>

#include "described.hpp"

using namespace specs;

namespace {

/// The operations of a lambda of x and, when it takes two values, y.
template <class F>
std::string traced(F function) {
  const auto net = described_layer(function);
  const std::string line = lines(net, "%f")[0];
  const auto from = line.find("{ ") + 2;
  return line.substr(from, line.find(" }") - from);
}

TEST_CASE("a lambda is traced in the order in which it computes") {
  CHECK(traced([](auto x, auto y) { return x * y + exp(-x) / sqrt(abs(y)); }) ==
        "%0 = operand 0; %1 = operand 1; %2 = multiply %0 %1; %3 = negate %0; %4 = exp %3; "
        "%5 = absolute %1; %6 = sqrt %5; %7 = divide %4 %6; %8 = add %2 %7");
}

TEST_CASE("equal constants are recorded once, and zeros of either sign are two") {
  CHECK(traced([](auto x) { return (x + 2.0) * 2.0; }) ==
        "%0 = operand 0; %1 = constant 2; %2 = add %0 %1; %3 = multiply %2 %1");
  CHECK(traced([](auto x) { return maximum(x, 0.0) + minimum(x, -0.0); }) ==
        "%0 = operand 0; %1 = constant 0; %2 = maximum %0 %1; %3 = constant -0; "
        "%4 = minimum %0 %3; %5 = add %2 %4");
}

TEST_CASE("every function is traced to its operation") {
  CHECK(traced([](auto x, auto y) { return sin(cos(log1p(expm1(pow(max(x, y), min(x, y)))))); }) ==
        "%0 = operand 0; %1 = operand 1; %2 = maximum %0 %1; %3 = minimum %0 %1; %4 = pow %2 %3; "
        "%5 = expm1 %4; %6 = log1p %5; %7 = cos %6; %8 = sin %7");
}

TEST_CASE("what the result does not need is left out") {
  CHECK(traced([](auto x, auto y) {
          const auto unused = tanh(x) * erf(y);
          (void)unused;
          return log(y);
        }) == "%0 = operand 1; %1 = log %0");
}

TEST_CASE("comparisons choose through select") {
  CHECK(traced([](auto x) { return select(x > 1.0, sigmoid(x), rsqrt(x)); }) ==
        "%0 = operand 0; %1 = constant 1; %2 = less %1 %0; %3 = sigmoid %0; %4 = rsqrt %0; "
        "%5 = select %2 %3 %4");
  CHECK(traced([](auto x, auto y) { return select(x >= y, x, y); }) ==
        "%0 = operand 0; %1 = operand 1; %2 = less_equal %1 %0; %3 = select %2 %0 %1");
  CHECK(traced([](auto x, auto y) { return select(!(x < y), x, y); }) ==
        "%0 = operand 0; %1 = operand 1; %2 = less %0 %1; %3 = select %2 %1 %0");
  CHECK(traced([](auto x, auto y) { return select(x != y, x, 2); }) ==
        "%0 = operand 0; %1 = operand 1; %2 = equal %0 %1; %3 = constant 2; %4 = select %2 %3 %0");
}

TEST_CASE("a lambda may assign, and return an argument or a number") {
  CHECK(traced([](Scalar x, Scalar y) {
          x += 3;
          x -= y;
          x *= x;
          x /= y;
          return x;
        }) ==
        "%0 = operand 0; %1 = operand 1; %2 = constant 3; %3 = add %0 %2; %4 = subtract %3 %1; "
        "%5 = multiply %4 %4; %6 = divide %5 %1");
  CHECK(traced([](auto, auto y) { return y; }) == "%0 = operand 1");
  CHECK(traced([](auto) { return 0.5; }) == "%0 = constant 0.5");
}

}  // namespace
