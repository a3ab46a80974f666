// SPDX-License-Identifier: Apache-2.0
// States that layers keep are theirs alone (D17).
#include <doctest/doctest.h>

#include "builder.hpp"
#include "halftone/description/validate.hpp"

using namespace halftone::tests;

namespace {

enum : NodeId { kX, kWeight, kBias, kMean, kVariance, kNorm };

/// A batch_norm whose kept states are the nodes `mean` and `variance`.
Description normalized(NodeId mean = kMean, NodeId variance = kVariance) {
  Builder b;
  const Shape rows = {symbol("batch"), fixed(4)}, column = {fixed(4)};
  b.input("x", rows);
  b.parameter("weight", column);
  b.parameter("bias", column);
  b.node("mean", kind_called("state"), {}, column, StateAttributes{});
  b.node("variance", kind_called("state"), {}, column, StateAttributes{});
  b.node("norm", kind_called("batch_norm"),
         {{"x", kX}, {"weight", kWeight}, {"bias", kBias}, {"mean", mean}, {"variance", variance}},
         rows, standard_attributes(kind_called("batch_norm")));
  b.description.name = "m";
  b.description.outputs = {{"norm", kNorm}};
  return b.description;
}

void check_refused(const Description& description, const std::string& message) {
  const auto found = validate(description);
  REQUIRE(found);
  CHECK(found->message == message);
}

constexpr const char* kShared =
    "batch_norm '%norm' keeps '%mean' as its mean, which something else reads or assigns; give it "
    "a state of its own (D17)";

}  // namespace

TEST_CASE("a layer keeps states, and each once") {
  CHECK(!validate(normalized()));
  check_refused(normalized(kBias, kVariance),
                "batch_norm '%norm' keeps '%bias' as its mean, which is no state; name a state "
                "(D17)");
  check_refused(normalized(kMean, kMean), kShared);
}

TEST_CASE("nothing else reads or assigns what a layer keeps") {
  Description shown = normalized();
  shown.outputs.push_back({"looked_at", kMean});
  check_refused(shown, kShared);
  Description assigned = normalized();
  assigned.assignments.push_back({kMean, kBias});
  check_refused(assigned, kShared);
}
