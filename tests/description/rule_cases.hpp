// SPDX-License-Identifier: Apache-2.0
// Models that rules are added to, and what validate() says of them then.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "halftone/description/text.hpp"
#include "halftone/description/validate.hpp"

namespace halftone::tests {

using namespace halftone::description;  // NOLINT(google-build-using-namespace)

/// fc is trained, frozen is not; a layer of most classes.
inline constexpr const char* kTrained = R"(halftone description 1
model "m"
input %x : f32[batch, 4]
parameter %frozen.weight : [4, 4] init constant(1) frozen
parameter %h/fc.weight : [4, 4] init constant(1)
%frozen = linear(x: %x, weight: %frozen.weight) : [batch, 4]
%h/fc = linear(x: %frozen, weight: %h/fc.weight) : [batch, 4]
%act = relu(x: %h/fc) : [batch, 4]
%sum = add(a: %act, b: %x) : [batch, 4]
%error = mse(x: %sum, target: %x) : []
loss %error weight 1
)";
inline constexpr const char* kEvaluated = R"(halftone description 1
model "m"
input %x : f32[batch, 4]
parameter %fc.weight : [4, 4] init constant(1)
%fc = linear(x: %x, weight: %fc.weight) : [batch, 4]
output "y" = %fc
)";
inline constexpr const char* kWithoutParameters = R"(halftone description 1
model "m"
input %x : f32[batch, 4]
%act = relu(x: %x) : [batch, 4]
output "y" = %act
)";

/// Of no class contraction, but it may hold contractions.
inline constexpr const char* kLongConvolution = R"(halftone description 1
model "m"
input %x : f32[batch, 8, 4]
input %filter : f32[8, 4]
%long = long_convolution(x: %x, filter: %filter) : [batch, 8, 4]
output "y" = %long
)";

/// What is wrong with `model` when it has this rule; empty when nothing is.
inline std::string fault(const char* model, const std::string& rule) {
  const std::string text = std::string(model) + "rule " + rule +
                           "\noptimizer sgd learning_rate 1 momentum 0.5 weight_decay 0\n";
  const auto result = parse(text);
  const auto* error = std::get_if<ParseError>(&result);
  return error ? error->message : "";
}

struct RuleCase {
  const char *rule, *trouble;  // without the rule's name in front
};

inline void check(const char* model, const RuleCase& is) {
  CAPTURE(is.rule);
  const std::string said = fault(model, is.rule);
  const std::size_t name = said.find(" : ");
  REQUIRE(name != said.npos);
  const std::size_t end = said.find("\" ", name);
  REQUIRE(end != said.npos);
  CHECK(said.substr(0, 10) == "the rule \"");
  CHECK(said.substr(end + 2) == is.trouble);
}

}  // namespace halftone::tests
