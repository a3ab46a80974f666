// EXPECT-ERROR: layer 'act' has a lambda of more than 128 operations: split it into two layers
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto function = [](auto x) {
  for (int i = 0; i < either(128, 127); ++i) x = x * x;
  return x;
};
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
HALFTONE_MODEL(net, rules)
