// SPDX-License-Identifier: Apache-2.0
// Presets of rules, beside lists written by hand: of each kind of layer what its operands are
// rounded to, as the reference resolves the rules.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "described.hpp"
#include "every_kind.hpp"
#include "halftone/reference/resolution.hpp"

namespace {

using namespace halftone::dsl;
using every_kind::every;
using halftone::description::Description;
using halftone::description::NodeId;
using halftone::description::Pass;
using halftone::description::Role;
using halftone::reference::Resolution;

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
const std::vector<std::string> kDenied = {
    "layer_norm",       "rms_norm",      "batch_norm",    "group_norm",
    "softmax",          "cross_entropy", "standardize",   "soft_cross_entropy",
    "cosine_embedding", "mse",           "pointwise_loss"};

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

/// What TransformerEngine's recipes are for: linear layers. Of all others contractions run in bf16.
const std::set<std::string> kInBf16 = {"matmul", "causal_conv1d", "convolution",
                                       "transposed_convolution", "attention"};

TEST_CASE("presets of TransformerEngine scale the operands of linear and of nothing else") {
  using halftone::encoding::Scaling;
  using halftone::reference::RoundTo;
  const Scaling tensor{.kind = Scaling::Kind::tensor, .scale = f8e8m0};
  const Scaling blocks{.kind = Scaling::Kind::block, .size = 32, .scale = f8e8m0};
  const auto even = halftone::description::Rounding::nearest_even;
  const RoundTo e4m3{f8e4m3, even, true, tensor}, e5m2{f8e5m2, even, true, tensor};
  const RoundTo mx{f8e4m3, even, true, blocks}, half{bf16};
  const Description current = describe(every, presets::fp8_current(), adamw());
  const Description microscaled = describe(every, presets::mxfp8(), adamw());
  for (const Description* described : {&current, &microscaled}) {
    const bool is_current = described == &current;
    const Resolution rules(*described);
    int linears = 0;
    for (NodeId id = 0; id < static_cast<NodeId>(described->nodes.size()); ++id) {
      const auto& node = described->nodes[static_cast<std::size_t>(id)];
      if (halftone::description::is_source(node.kind)) continue;
      const std::string kind(halftone::description::kind_text(node.kind));
      CAPTURE(kind);
      const auto reads = [&](Pass pass, Role role) { return rules.operand(id, pass, role); };
      const bool is_linear = kind == "linear";
      const RoundTo other = kInBf16.contains(kind) ? half : RoundTo{};
      linears += is_linear;
      const RoundTo forward = !is_linear ? other : is_current ? e4m3 : mx;
      const RoundTo arriving = !is_linear ? other : is_current ? e5m2 : mx;
      const RoundTo summed = !is_linear ? other : is_current ? e4m3 : half;
      CHECK(reads(Pass::forward, Role::activation) == forward);
      CHECK(reads(Pass::forward, Role::weight) == forward);
      CHECK(reads(Pass::input_gradient, Role::gradient) == arriving);
      CHECK(reads(Pass::input_gradient, Role::weight) == forward);
      CHECK(reads(Pass::weight_gradient, Role::saved) == summed);
      CHECK(reads(Pass::weight_gradient, Role::gradient) ==
            (is_linear && is_current ? e5m2 : summed));
      if (!halftone::description::is_layer(node.kind)) continue;
      CHECK(rules.store(id, Role::activation) == half);
    }
    CHECK(linears > 0);
  }
}

TEST_CASE("presets of TransformerEngine take other products, and a model without losses") {
  CHECK(specs::lines(describe(every, presets::fp8_current(contraction), adamw()), "rule ") ==
        std::vector<std::string>{
            "rule everywhere : store bf16", "rule where class contraction : compute bf16",
            "rule where class contraction : compute f8e4m3 scaled tensor f8e8m0 saturate",
            "rule where class contraction role gradient if_any : compute f8e5m2 scaled tensor "
            "f8e8m0 saturate"});
  constexpr auto plain = model("plain", inputs(tensor("x", batch, 8)),
                               from("x") | linear("fc", 4) | output("y"));
  CHECK(specs::lines(describe(plain, presets::mxfp8()), "rule ") ==
        std::vector<std::string>{
            "rule everywhere : store bf16", "rule where class contraction : compute bf16",
            "rule where op linear : compute f8e4m3 scaled block 32 f8e8m0 saturate",
            "rule where op linear pass weight_gradient if_any : compute bf16"});
}

}  // namespace
