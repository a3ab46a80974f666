// SPDX-License-Identifier: Apache-2.0
// A model that is valid, and what validate() says of it once something is broken.
#pragma once

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "builder.hpp"
#include "halftone/description/validate.hpp"

namespace halftone::tests {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

enum : NodeId { kX, kLabel, kWeight, kBias, kMean, kFc, kNorm, kAct, kOwn, kJoined, kXent, kMse };

/// One node of most kinds, in the order of the enum above.
inline Description valid() {
  Builder b;
  const Shape wide = {symbol("batch"), fixed(4)};
  b.input("x", wide);
  b.input("label", {symbol("batch")}, Element::i32);
  b.parameter("fc.weight", {fixed(4), fixed(4)});
  b.parameter("fc.bias", {fixed(4)});
  b.node("mean", kind_called("state"), {}, wide, StateAttributes{});
  b.node("fc", kind_called("linear"), {{"x", kX}, {"weight", kWeight}, {"bias", kBias}}, wide);
  b.node("norm", kind_called("layer_norm"), {{"x", kFc}, {"weight", kBias}, {"bias", kBias}}, wide,
         standard_attributes(kind_called("layer_norm")));
  b.node("act", kind_called("gelu"), {{"x", kNorm}}, wide,
         standard_attributes(kind_called("gelu")));
  const Expression choose = {2,
                             {{ScalarOp::operand, 0},
                              {ScalarOp::operand, 1},
                              {ScalarOp::less, 0, 1},
                              {ScalarOp::select, 2, 0, 1}}};
  b.node("own", kind_called("pointwise"), {{"x0", kAct}, {"x1", kMean}}, wide,
         function("choose", choose));
  b.node("joined", kind_called("concat"), {{"part0", kOwn}, {"part1", kX}},
         {symbol("batch"), fixed(8)});
  b.node("xent", kind_called("cross_entropy"), {{"logits", kJoined}, {"label", kLabel}}, {},
         standard_attributes(kind_called("cross_entropy")));
  b.node("mse", kind_called("mse"), {{"x", kOwn}, {"target", kX}}, {}, LayerAttributes{});
  b.description.name = "m";
  b.description.outputs = {{"act", kAct}};
  b.description.losses = {{kXent, 1}, {kMse, 1}};
  b.description.assignments = {{kMean, kAct}};
  b.description.rules.emplace_back().store = EncodingChoice{};
  b.description.optimizer = AdamW{};
  return b.description;
}

/// One thing broken, the node at fault, and the sentence.
struct Broken {
  void (*break_it)(Description&);
  NodeId node;
  std::string message;
};

inline void check(const Broken& expected) {
  Description description = valid();
  expected.break_it(description);
  CAPTURE(expected.message);
  const auto violation = validate(description);
  REQUIRE(violation);
  CHECK(violation->message == expected.message);
  CHECK(violation->node == expected.node);
}

inline Expression& expression(Description& d) {
  return std::get<LayerAttributes>(d.nodes[kOwn].attributes).function->expression;
}

inline Initializer& initializer(Description& d) {
  return std::get<ParameterAttributes>(d.nodes[kWeight].attributes).initializer;
}

}  // namespace halftone::tests
