// SPDX-License-Identifier: Apache-2.0
// Painting by four lists (P64) of graphs worked out by hand after the steps of TensorFlow's
// auto_mixed_precision.cc.
#include "halftone/description/paint.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "described.hpp"
#include "halftone/description/validate.hpp"

namespace {

using namespace halftone::dsl;
using halftone::description::Description;
using halftone::description::Paint;

// One kind for each list; embeddings begin graphs and are on none.
constexpr KindList allow = ops("linear"), infer = ops("gelu"), deny = ops("softmax", "mse"),
                   clear = ops("relu", "add");
constexpr auto lists = precision(paint(f16, allow, infer, deny, clear));

/// "allow", "deny" or "bare" and the reason, of each layer in order.
std::vector<std::string> painted(const Description& description) {
  const auto& of = lists.rules[0].lists;
  std::vector<std::string> found;
  const std::vector<Paint> paints = halftone::description::paint(description, of);
  for (std::size_t n = 0; n < paints.size(); ++n) {
    if (!halftone::description::is_computed(description.nodes[n].kind)) continue;
    constexpr const char* kWords[] = {"allow", "deny", "bare"};
    found.push_back(description.nodes[n].name + " " + kWords[static_cast<int>(paints[n].colour)] +
                    ": " + paints[n].because);
  }
  return found;
}

TEST_CASE("the example of TensorFlow's source is painted as it says") {
  // deny -> infer -> clear -> infer -> clear -> allow -> infer becomes
  // deny -> deny  -> deny  -> deny  -> clear -> allow -> infer.
  constexpr auto net = model("net", inputs(tensor("x", batch, 4)),
                             from("x") | softmax("a") | gelu("b") | relu("c") | gelu("d") |
                                 relu("e") | linear("f", 4) | gelu("g") | output("y"));
  const Description description = describe(net, precision(everywhere(store(f32))));
  CHECK(painted(description) ==
        std::vector<std::string>{
            "a deny: on the deny list", "b deny: behind a, which is on the deny list",
            "c deny: behind a, which is on the deny list",
            "d deny: behind a, which is on the deny list",
            "e allow: on the clear list, and f beside it is allowed", "f allow: on the allow list",
            "g bare: not between allowed layers"});
}

TEST_CASE("what stands between allowed layers is allowed, at a graph's edge it is not") {
  constexpr auto net = model("net", inputs(tensor("x", batch, 4)),
                             from("x") | gelu("edge") | linear("in", 4) | gelu("act") |
                                 relu("cut") | linear("out", 4) | softmax("shares") | output("y"));
  const Description description = describe(net, precision(everywhere(store(f32))));
  CHECK(painted(description) ==
        std::vector<std::string>{"edge bare: not between allowed layers",
                                 "in allow: on the allow list",
                                 "act allow: between in and out, which are allowed",
                                 "cut allow: between in and out, which are allowed",
                                 "out allow: on the allow list", "shares deny: on the deny list"});
}

TEST_CASE("a denied branch denies what joins it, and what is on no list stops the paint") {
  constexpr auto net = model("net", inputs(tensor("x", batch, 4)),
                             from("x") | linear("in", 4) | as("root") | softmax("shares") |
                                 gelu("late") | add("root") | as("sum") | gelu("act") |
                                 linear("out", 4) | silu("other") | relu("last") | output("y"));
  const Description description = describe(net, precision(everywhere(store(f32))));
  CHECK(painted(description) ==
        std::vector<std::string>{"in allow: on the allow list", "shares deny: on the deny list",
                                 "late deny: behind shares, which is on the deny list",
                                 "sum deny: behind shares, which is on the deny list",
                                 "act deny: behind shares, which is on the deny list",
                                 "out allow: on the allow list", "other bare: on no list",
                                 "last bare: not between allowed layers"});
}

TEST_CASE("paint gives each layer a rule that says why, and no loss a store") {
  constexpr auto net = model("net", inputs(tensor("x", batch, 4), tensor("y", batch, 4)),
                             from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                             losses(mse("error", "guess", "y")));
  const Description description = describe(net, lists, adamw());
  CHECK(specs::lines(description, "rule ") ==
        std::vector<std::string>{
            "rule where layer \"fc\" : store f16 compute f16 because \"on the allow list\"",
            "rule where layer \"act\" : store f32 compute f32 because \"not between allowed "
            "layers\"",
            "rule where layer \"error\" : compute f32 because \"on the deny list\""});
  CHECK(!halftone::description::validate(description).has_value());
}

}  // namespace
