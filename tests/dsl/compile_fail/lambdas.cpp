// SPDX-License-Identifier: Apache-2.0
// Functions of the user: pointwise and pointwise_loss.
#include <algorithm>
#include <cases.hpp>
#include <cmath>

// EXPECT captures: layer 'act' has a lambda that captures variables: write numbers into the lambda,
// or name constexpr globals
namespace captures {
constexpr auto function =
    either([scale = 2.0](auto x) { return scale * x; }, [](auto x) { return 2.0 * x; });
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
MODEL(net, rules)
}  // namespace captures

// EXPECT lambda_constants: layer 'act' has a lambda that computes with constants alone: write the
// result as a number
namespace lambda_constants {
constexpr auto function =
    either([](auto x) { return x * exp(Scalar(2.0)); }, [](auto x) { return x * 7.389056; });
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
MODEL(net, rules)
}  // namespace lambda_constants

// EXPECT lambda_length: layer 'act' has a lambda of more than 128 operations: split it into two
// layers
namespace lambda_length {
constexpr auto function = [](auto x) {
  for (int i = 0; i < either(128, 127); ++i) x = x * x;
  return x;
};
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
MODEL(net, rules)
}  // namespace lambda_length

// EXPECT lambda_nan: layer 'act' has a lambda with a constant that is not a number: write a finite
// one
namespace lambda_nan {
constexpr auto function =
    either([](auto x) { return x * __builtin_nan(""); }, [](auto x) { return x * 2.0; });
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
MODEL(net, rules)
}  // namespace lambda_nan

// EXPECT lambda_result: layer 'act' has a lambda that does not return a number: return an
// expression of its arguments
namespace lambda_result {
constexpr auto function =
    either([](auto x) { return x > 0.0; }, [](auto x) { return select(x > 0.0, x, 0.0); });
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
MODEL(net, rules)
}  // namespace lambda_result

// EXPECT lambda_without_result: layer 'act' has a lambda that does not return a number: return an
// expression of its arguments
namespace lambda_without_result {
constexpr auto function = either([](auto x) { x += 1.0; }, [](auto x) { return x += 1.0; });
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
MODEL(net, rules)
}  // namespace lambda_without_result

// EXPECT loss_arity: loss 'loss' gives its lambda 2 values but the lambda takes 1: make the numbers
// equal
namespace loss_arity {
constexpr auto function =
    either([](auto x) { return abs(x); }, [](auto x, auto y) { return abs(x - y); });
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(pointwise_loss("loss", function, "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace loss_arity

// EXPECT not_callable: layer 'act' has a lambda that does not compile with 1 of the dsl's values:
// write [](auto x, ...) { return ...; }
namespace not_callable {
constexpr auto function = either([](const char* x) { return x; }, [](Scalar x) { return x; });
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
MODEL(net, rules)
}  // namespace not_callable

// EXPECT pointwise_arity: layer 'act' gives its lambda 1 values but the lambda takes 2: make the
// numbers equal
namespace pointwise_arity {
constexpr auto function =
    either([](auto x, auto y) { return x * y; }, [](auto x) { return x * x; });
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
MODEL(net, rules)
}  // namespace pointwise_arity

// EXPECT branch_if: layer 'act' has a lambda that branches on a comparison: write select(x > 0, a,
// b), once for each comparison, in place of if, ?:, while, && and ||
namespace branch_if {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") |
                               pointwise("act", either(
                                                    [](auto x) {
                                                      if (x > 0) return x;
                                                      return 0 * x;
                                                    },
                                                    [](auto x) { return select(x > 0, x, 0); })) |
                               output("z"));
MODEL(net, rules)
}  // namespace branch_if

// EXPECT branch_choice: layer 'act' has a lambda that branches on a comparison: write select(x > 0,
// a, b), once for each comparison, in place of if, ?:, while, && and ||
namespace branch_choice {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") |
              pointwise("act", either([](auto x) { return x > 0 ? x : 0 * x; },
                                      [](auto x) { return select(x > 0, x, 0); })) |
              output("z"));
MODEL(net, rules)
}  // namespace branch_choice

// EXPECT branch_loop: layer 'act' has a lambda that branches on a comparison: write select(x > 0,
// a, b), once for each comparison, in place of if, ?:, while, && and ||
namespace branch_loop {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") |
                               pointwise("act", either(
                                                    [](auto x) {
                                                      while (x < 10) x = x * 2;
                                                      return x;
                                                    },
                                                    [](auto x) { return select(x > 0, x, 0); })) |
                               output("z"));
MODEL(net, rules)
}  // namespace branch_loop

// EXPECT branch_until: layer 'act' has a lambda that branches on a comparison: write select(x > 0,
// a, b), once for each comparison, in place of if, ?:, while, && and ||
namespace branch_until {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") |
                               pointwise("act", either(
                                                    [](auto x) {
                                                      for (;;) {
                                                        if (!(x < 10)) break;
                                                        x *= 2;
                                                      }
                                                      return x;
                                                    },
                                                    [](auto x) { return select(x > 0, x, 0); })) |
                               output("z"));
MODEL(net, rules)
}  // namespace branch_until

// EXPECT branch_both: layer 'act' has a lambda that branches on a comparison: write select(x > 0,
// a, b), once for each comparison, in place of if, ?:, while, && and ||
namespace branch_both {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8)),
    from("x") |
        pointwise("act", either([](auto x) { return select(x > 0 && x < 1, x, 0); },
                                [](auto x) { return select(x > 0, select(x < 1, x, 0), 0); })) |
        output("z"));
MODEL(net, rules)
}  // namespace branch_both

// EXPECT branch_either: layer 'act' has a lambda that branches on a comparison: write select(x > 0,
// a, b), once for each comparison, in place of if, ?:, while, && and ||
namespace branch_either {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") |
              pointwise("act", either([](auto x) { return select(x < 0 || x > 1, x, 0); },
                                      [](auto x) { return select(!(x < 0), x, 0); })) |
              output("z"));
MODEL(net, rules)
}  // namespace branch_either

// EXPECT std_max_of_two: layer 'act' has a lambda that branches on a comparison: write select(x >
// 0, a, b), once for each comparison, in place of if, ?:, while, && and ||
namespace std_max_of_two {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 8)),
                           from("x") |
                               pointwise("act",
                                         either([](auto x, auto y) { return std::max(x, y); },
                                                [](auto x, auto y) { return maximum(x, y); }),
                                         "y") |
                               output("z"));
MODEL(net, rules)
}  // namespace std_max_of_two

// EXPECT comparison_as_number: layer 'act' has a lambda that computes with a comparison: write
// select(x > 0, 1, 0)
namespace comparison_as_number {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") |
              pointwise("act", either([](auto x) { return x * (x > 0); },
                                      [](auto x) { return x * select(x > 0, 1, 0); })) |
              output("z"));
MODEL(net, rules)
}  // namespace comparison_as_number

// EXPECT std_exp: layer 'act' has a lambda that cannot be traced: take parameters as auto, read
// constexpr variables alone, and write + - * / and exp, expm1, log, log1p, pow, sqrt, rsqrt,
// sin, cos, tanh, erf, sigmoid, softplus, abs, floor, clamp, minimum, maximum and select without
// std::
namespace std_exp {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") |
                               pointwise("act", either([](auto x) { return std::exp(x); },
                                                       [](auto x) { return exp(x); })) |
                               output("z"));
MODEL(net, rules)
}  // namespace std_exp

// EXPECT std_abs: layer 'act' has a lambda that cannot be traced: take parameters as auto, read
// constexpr variables alone, and write + - * / and exp, expm1, log, log1p, pow, sqrt, rsqrt,
// sin, cos, tanh, erf, sigmoid, softplus, abs, floor, clamp, minimum, maximum and select without
// std::
namespace std_abs {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") |
                               pointwise("act", either([](auto x) { return std::abs(x); },
                                                       [](auto x) { return abs(x); })) |
                               output("z"));
MODEL(net, rules)
}  // namespace std_abs

// EXPECT uses_cbrt: layer 'act' has a lambda that cannot be traced: take parameters as auto,
// read constexpr variables alone, and write + - * / and exp, expm1, log, log1p, pow, sqrt,
// rsqrt, sin, cos, tanh, erf, sigmoid, softplus, abs, floor, clamp, minimum, maximum and select
// without std::
namespace uses_cbrt {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") |
                               pointwise("act", either([](auto x) { return cbrt(x); },
                                                       [](auto x) { return pow(x, 1.0 / 3); })) |
                               output("z"));
MODEL(net, rules)
}  // namespace uses_cbrt

// EXPECT uses_fmax: layer 'act' has a lambda that cannot be traced: take parameters as auto,
// read constexpr variables alone, and write + - * / and exp, expm1, log, log1p, pow, sqrt,
// rsqrt, sin, cos, tanh, erf, sigmoid, softplus, abs, floor, clamp, minimum, maximum and select
// without std::
namespace uses_fmax {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") |
                               pointwise("act", either([](auto x) { return std::fmax(x, 0); },
                                                       [](auto x) { return maximum(x, 0); })) |
                               output("z"));
MODEL(net, rules)
}  // namespace uses_fmax

// EXPECT float_parameter: layer 'act' has a lambda that cannot be traced: take parameters as
// auto, read constexpr variables alone, and write + - * / and exp, expm1, log, log1p, pow, sqrt,
// rsqrt, sin, cos, tanh, erf, sigmoid, softplus, abs, floor, clamp, minimum, maximum and select
// without std::
namespace float_parameter {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8)),
    from("x") |
        pointwise("act", either([](float x) { return 2 * x; }, [](auto& x) { return 2 * x; })) |
        output("z"));
MODEL(net, rules)
}  // namespace float_parameter

// EXPECT float_variable: layer 'act' has a lambda that cannot be traced: take parameters as
// auto, read constexpr variables alone, and write + - * / and exp, expm1, log, log1p, pow, sqrt,
// rsqrt, sin, cos, tanh, erf, sigmoid, softplus, abs, floor, clamp, minimum, maximum and select
// without std::
namespace float_variable {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") |
                               pointwise("act", either(
                                                    [](auto x) {
                                                      float y = x;
                                                      return y * y;
                                                    },
                                                    [](auto x) {
                                                      auto y = x;
                                                      return y * y;
                                                    })) |
                               output("z"));
MODEL(net, rules)
}  // namespace float_variable

// EXPECT power_by_caret: layer 'act' has a lambda that cannot be traced: take parameters as
// auto, read constexpr variables alone, and write + - * / and exp, expm1, log, log1p, pow, sqrt,
// rsqrt, sin, cos, tanh, erf, sigmoid, softplus, abs, floor, clamp, minimum, maximum and select
// without std::
namespace power_by_caret {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") |
              pointwise("act", either([](auto x) { return x ^ 2; }, [](auto x) { return x * x; })) |
              output("z"));
MODEL(net, rules)
}  // namespace power_by_caret

// EXPECT uses_remainder: layer 'act' has a lambda that cannot be traced: take parameters as
// auto, read constexpr variables alone, and write + - * / and exp, expm1, log, log1p, pow, sqrt,
// rsqrt, sin, cos, tanh, erf, sigmoid, softplus, abs, floor, clamp, minimum, maximum and select
// without std::
namespace uses_remainder {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") |
              pointwise("act", either([](auto x) { return x % 2; }, [](auto x) { return x / 2; })) |
              output("z"));
MODEL(net, rules)
}  // namespace uses_remainder

// EXPECT variable: layer 'act' has a lambda that cannot be traced: take parameters as auto, read
// constexpr variables alone, and write + - * / and exp, expm1, log, log1p, pow, sqrt, rsqrt,
// sin, cos, tanh, erf, sigmoid, softplus, abs, floor, clamp, minimum, maximum and select without
// std::
namespace variable {
double factor = 2;
constexpr double constant = 2;
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") |
                               pointwise("act", either([](auto x) { return factor * x; },
                                                       [](auto x) { return constant * x; })) |
                               output("z"));
MODEL(net, rules)
}  // namespace variable

// EXPECT unknown_function: 'squash'
// AND layer 'act' has a lambda that does not compile with 1 of the dsl's values
namespace unknown_function {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | pointwise("act", [](auto x) {
                                                  return MISSPELT(squash, sigmoid)(x);
                                                }) | output("z"));
MODEL(net, rules)
}  // namespace unknown_function

// EXPECT std_max: no matching function for call to 'max
// AND layer 'act' has a lambda that does not compile with 1 of the dsl's values
namespace std_max {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | pointwise("act", [](auto x) {
                                                  return MISSPELT(std::max, maximum)(x, 0.0);
                                                }) | output("z"));
MODEL(net, rules)
}  // namespace std_max
