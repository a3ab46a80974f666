// SPDX-License-Identifier: Apache-2.0
// Presets of rules, beside lists written by hand: of each kind of layer what its operands are
// rounded to, as the reference resolves the rules.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "described.hpp"
#include "halftone/reference/resolution.hpp"

namespace {

using namespace halftone::dsl;
using halftone::description::Description;
using halftone::description::NodeId;
using halftone::description::Pass;
using halftone::description::Role;
using halftone::reference::Resolution;

constexpr Dimension times = symbol("times");
constexpr auto swapped = [](auto x) { return 1.0 - x; };

/// A layer of every kind that the lists name, called as in them.
constexpr auto every = model(
    "every",
    inputs(tokens("word", batch, times), tensor("x", batch, times, 8), labels("next", batch, times),
           segments("part", batch, times), tensor("target", batch, times, 16)),
    from("word") | embedding("embedding", 11, 8) | position_embedding("position_embedding", 16) |
        add("x") | as("add") | rotary("rotary", 1) | sinusoidal_embedding("sinusoidal_embedding") |
        causal_conv1d("causal_conv1d", 3) | conv1d("convolution", 8, 3, same) |
        conv_transpose1d("transposed_convolution", 8, 3, same) |
        max_pool1d("pool", 3, stride(1), same) | reshape("plane", batch, times, 8, 1) |
        upsample1d("upsample", 1) | pad1d("pad", padding(1, -1)) |
        adaptive_max_pool1d("adaptive_pool", 8) | pixel_shuffle("pixel_shuffle", factor(1)) |
        reshape("line", batch, times, 8) | segment_sum("segment_reduce", 4, "part") |
        segment_broadcast("segment_broadcast", "part") | dropout("dropout", 0.1) |
        layer_norm("layer_norm") | linear("linear", 8) | gelu("gelu") |
        group_norm("group_norm", 2) | global_avg_pool("global_average_pool") |
        expand("expand", batch, times, 8) | batch_norm("batch_norm"),
    from("batch_norm") | attention("attention", "linear", "gelu", heads(2)) | rms_norm("rms_norm") |
        relu("relu") | silu("silu") | softmax("softmax") | pointwise("pointwise", swapped) |
        concat("relu") | as("concat") | output("y"),
    from("relu") | matmul("matmul", "silu", transpose_a) | output("gram"),
    losses(cross_entropy("cross_entropy", "y", "next"), mse("mse", "y", "target"),
           pointwise_loss(
               "pointwise_loss", [](auto x, auto y) { return abs(x - y); }, "y", "target")));

/// The lists as systems with automatic casts write them.
const std::vector<std::string> kAllowed = {"matmul",
                                           "linear",
                                           "causal_conv1d",
                                           "convolution",
                                           "transposed_convolution",
                                           "pool",
                                           "upsample",
                                           "adaptive_pool",
                                           "pad",
                                           "pixel_shuffle",
                                           "segment_reduce",
                                           "segment_broadcast",
                                           "expand",
                                           "global_average_pool",
                                           "attention",
                                           "add",
                                           "concat",
                                           "pointwise",
                                           "dropout",
                                           "rotary",
                                           "position_embedding",
                                           "sinusoidal_embedding",
                                           "relu",
                                           "gelu",
                                           "silu"};
const std::vector<std::string> kDenied = {"layer_norm", "rms_norm",      "batch_norm",
                                          "group_norm", "softmax",       "cross_entropy",
                                          "mse",        "pointwise_loss"};

NodeId node_of(const Description& of, const std::string& name) {
  const auto found = std::ranges::find(of.nodes, name, &halftone::description::Node::name);
  REQUIRE(found != of.nodes.end());
  return static_cast<NodeId>(found - of.nodes.begin());
}

TEST_CASE("an allow list computes in half, forward and backward, a deny list in f32") {
  for (const Element half : {bf16, f16}) {
    const Description described = describe(every, presets::allow_deny(half), adamw());
    const Resolution rules(described);
    const auto read = [&](const std::string& name, Pass pass, Role role) {
      return rules.operand(node_of(described, name), pass, role).format;
    };
    for (const std::string& name : kAllowed) {
      CAPTURE(name);
      CHECK(read(name, Pass::forward, Role::activation) == half);
      CHECK(read(name, Pass::forward, Role::weight) == half);
      CHECK(read(name, Pass::input_gradient, Role::gradient) == half);
      CHECK(read(name, Pass::weight_gradient, Role::saved) == half);
      CHECK(rules.store(node_of(described, name), Role::activation).format == half);
      CHECK(rules.store(node_of(described, name), Role::gradient).format == half);
    }
    for (const std::string& name : kDenied) {
      CAPTURE(name);
      CHECK(read(name, Pass::forward, Role::activation) == f32);
      CHECK(read(name, Pass::forward, Role::weight) == f32);
      CHECK(read(name, Pass::input_gradient, Role::gradient) == f32);
      CHECK(read(name, Pass::weight_gradient, Role::saved) == f32);
    }
    CHECK(read("embedding", Pass::forward, Role::weight) == f32);
    CHECK(rules.store(node_of(described, "embedding"), Role::activation).format == half);
  }
}

TEST_CASE(
    "the lists name every kind of layer and loss but those that move values or have spectra") {
  std::set<std::string> listed(kAllowed.begin(), kAllowed.end());
  listed.insert(kDenied.begin(), kDenied.end());
  for (const char* other : {"embedding", "long_convolution", "reshape", "slice", "transpose"})
    listed.insert(other);
  for (int i = 0; i < halftone::description::kKinds; ++i) {
    const auto kind = static_cast<halftone::description::Kind>(i);
    if (!halftone::description::is_computed(kind)) continue;
    const std::string word = halftone::description::form_of(kind).word;
    CAPTURE(word);
    CHECK(listed.contains(word));
  }
}

TEST_CASE("what both lists name is denied, and rules behind a preset win") {
  const Description described =
      describe(every,
               precision(presets::allow_deny(bf16, contraction | elementwise, layer("matmul")),
                         where(layer("linear"))(store(f32), compute(f32))),
               adamw());
  const Resolution rules(described);
  const auto read = [&](const char* name) {
    return rules.operand(node_of(described, name), Pass::forward, Role::activation).format;
  };
  CHECK(read("matmul") == f32);
  CHECK(read("linear") == f32);
  CHECK(read("attention") == bf16);
  CHECK(read("gelu") == f32);
  CHECK(rules.store(node_of(described, "linear"), Role::activation).format == f32);
  CHECK(specs::lines(described, "rule ") ==
        std::vector<std::string>{"rule everywhere : store bf16",
                                 "rule where class contraction|elementwise : compute bf16",
                                 "rule where layer \"matmul\" : compute f32",
                                 "rule where layer \"linear\" : store f32 compute f32"});
}

}  // namespace
