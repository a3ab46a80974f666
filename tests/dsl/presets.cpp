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

TEST_CASE("presets of 8 and 4 bits scale the operands of linear and of nothing else") {
  using halftone::encoding::Scaling;
  using halftone::reference::RoundTo;
  const auto even = halftone::description::Rounding::nearest_even;
  const auto drawn = halftone::description::Rounding::stochastic;
  const auto tensor = [&](Element element, Element scale = f8e8m0) {
    return RoundTo{element, even, true, {.kind = Scaling::Kind::tensor, .scale = scale}};
  };
  const auto vectors = [&](Scaling::Kind kind, Element scale) {
    return RoundTo{f8e4m3, even, true, {.kind = kind, .scale = scale}};
  };
  const auto blocks = [&](std::int32_t rows, std::int32_t columns, Element element = f8e4m3) {
    const Element scale = element == f4e2m1 ? f8e4m3 : f8e8m0;
    const Scaling scaling = {
        .kind = Scaling::Kind::block, .size = columns, .rows = rows, .scale = scale};
    return RoundTo{element, even, true, scaling};
  };
  const auto later = [&](Element element, Element scale = f8e8m0) {
    return RoundTo{
        element, even, true, {.kind = Scaling::Kind::delayed, .scale = scale, .history = 1024}};
  };
  const auto stochastic = [&](RoundTo to) {
    to.rounding = drawn;
    return to;
  };
  const RoundTo half{bf16}, e4m3 = tensor(f8e4m3), e5m2 = tensor(f8e5m2);
  const RoundTo in_row = blocks(1, 16, f4e2m1), in_column = blocks(16, 1, f4e2m1);
  const RoundTo square = blocks(16, 16, f4e2m1);
  const auto tiles = [&](std::int32_t rows, std::int32_t columns) {  // P101
    RoundTo to = blocks(rows, columns);
    to.scaling.scale = f32;
    return to;
  };
  const auto under_f32 = [](RoundTo to) {
    to.scaling.of_all = f32;
    return to;
  };
  const auto rotated = [](RoundTo to) {
    to.scaling.rotated = true;
    return to;
  };
  const RoundTo row = vectors(Scaling::Kind::row, f8e8m0),
                column = vectors(Scaling::Kind::column, f8e8m0);
  const RoundTo row_of_f32 = vectors(Scaling::Kind::row, f32),
                column_of_f32 = vectors(Scaling::Kind::column, f32);
  /// What a linear reads.
  struct Reads {
    const char* preset;
    Description described;
    RoundTo activation, weight, gradient, weight_back, saved, gradient_of_weight;
  };
  const Reads cases[] = {
      {"fp8_current", describe(every, presets::fp8_current(), adamw()), e4m3, e4m3, e5m2, e4m3,
       e4m3, e5m2},
      {"fp8_delayed", describe(every, presets::fp8_delayed(), adamw()), later(f8e4m3),
       later(f8e4m3), later(f8e5m2), later(f8e4m3), later(f8e4m3), later(f8e5m2)},
      {"fp8_current in f32", describe(every, presets::fp8_current(op("linear"), f32), adamw()),
       tensor(f8e4m3, f32), tensor(f8e4m3, f32), tensor(f8e5m2, f32), tensor(f8e4m3, f32),
       tensor(f8e4m3, f32), tensor(f8e5m2, f32)},
      {"fp8_delayed in f32",
       describe(every, presets::fp8_delayed(delayed(), op("linear"), f32), adamw()),
       later(f8e4m3, f32), later(f8e4m3, f32), later(f8e5m2, f32), later(f8e4m3, f32),
       later(f8e4m3, f32), later(f8e5m2, f32)},
      {"fp8_rowwise", describe(every, presets::fp8_rowwise(), adamw()), row, row, row, column,
       column, column},
      {"fp8_rowwise in f32", describe(every, presets::fp8_rowwise(op("linear"), f32), adamw()),
       row_of_f32, row_of_f32, row_of_f32, column_of_f32, column_of_f32, column_of_f32},
      {"mxfp8", describe(every, presets::mxfp8(), adamw()), blocks(1, 32), blocks(1, 32),
       blocks(1, 32), blocks(32, 1), blocks(32, 1), blocks(32, 1)},
      {"fp8_block", describe(every, presets::fp8_block(), adamw()), blocks(1, 128),
       blocks(128, 128), blocks(1, 128), blocks(128, 128), blocks(128, 1), blocks(128, 1)},
      {"deepseek_v3", describe(every, presets::deepseek_v3(), adamw()), blocks(1, 128),
       blocks(128, 128), blocks(1, 128), blocks(128, 128), blocks(128, 1), blocks(128, 1)},
      {"fp8_block in f32", describe(every, presets::fp8_block(op("linear"), f32), adamw()),
       tiles(1, 128), tiles(128, 128), tiles(1, 128), tiles(128, 128), tiles(128, 1),
       tiles(128, 1)},
      {"deepseek_v3 in f32", describe(every, presets::deepseek_v3(op("linear"), f32), adamw()),
       tiles(1, 128), tiles(128, 128), tiles(1, 128), tiles(128, 128), tiles(128, 1),
       tiles(128, 1)},
      {"nvfp4", describe(every, presets::nvfp4(), adamw()), under_f32(in_row), under_f32(square),
       under_f32(stochastic(in_row)), under_f32(square), rotated(under_f32(in_column)),
       rotated(under_f32(stochastic(in_column)))},
      {"nvfp4 without its rotation",
       describe(every, presets::nvfp4(op("linear"), {.disable_rht = true}), adamw()),
       under_f32(in_row), under_f32(square), under_f32(stochastic(in_row)), under_f32(square),
       under_f32(in_column), under_f32(stochastic(in_column))},
      {"nvfp4 without draws",
       describe(every, presets::nvfp4(op("linear"), {.disable_stochastic_rounding = true}),
                adamw()),
       under_f32(in_row), under_f32(square), under_f32(in_row), under_f32(square),
       rotated(under_f32(in_column)), rotated(under_f32(in_column))},
      {"nvfp4 under a power of two", describe(every, presets::nvfp4(op("linear"), f8e8m0), adamw()),
       in_row, square, stochastic(in_row), square, in_column, stochastic(in_column)}};
  for (const Reads& of : cases) {
    CAPTURE(std::string(of.preset));
    const Resolution rules(of.described);
    int linears = 0;
    for (NodeId id = 0; id < static_cast<NodeId>(of.described.nodes.size()); ++id) {
      const auto& node = of.described.nodes[static_cast<std::size_t>(id)];
      if (halftone::description::is_source(node.kind)) continue;
      const std::string kind(halftone::description::kind_text(node.kind));
      CAPTURE(kind);
      const bool is_linear = kind == "linear";
      const RoundTo other = kInBf16.contains(kind) ? half : RoundTo{};
      linears += is_linear;
      const auto check = [&](Pass pass, Role role, const RoundTo& expected) {
        CHECK(rules.operand(id, pass, role) == (is_linear ? expected : other));
      };
      check(Pass::forward, Role::activation, of.activation);
      check(Pass::forward, Role::weight, of.weight);
      check(Pass::input_gradient, Role::gradient, of.gradient);
      check(Pass::input_gradient, Role::weight, of.weight_back);
      check(Pass::weight_gradient, Role::saved, of.saved);
      check(Pass::weight_gradient, Role::gradient, of.gradient_of_weight);
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
  CHECK(specs::lines(describe(every, presets::fp8_delayed(delayed(16, 1), contraction), adamw()),
                     "rule ") ==
        std::vector<std::string>{
            "rule everywhere : store bf16", "rule where class contraction : compute bf16",
            "rule where class contraction : compute f8e4m3 scaled delayed 16 margin 1 f8e8m0 "
            "saturate",
            "rule where class contraction role gradient if_any : compute f8e5m2 scaled delayed 16 "
            "margin 1 f8e8m0 saturate"});
  CHECK(
      specs::lines(describe(every, presets::fp8_current(op("linear") | op("matmul"), f32), adamw()),
                   "rule ")
          .back() ==
      "rule where op linear|matmul role gradient if_any : compute f8e5m2 scaled tensor f32 "
      "saturate");
  constexpr auto plain =
      model("plain", inputs(tensor("x", batch, 8)), from("x") | linear("fc", 4) | output("y"));
  CHECK(specs::lines(describe(plain, presets::mxfp8()), "rule ") ==
        std::vector<std::string>{
            "rule everywhere : store bf16", "rule where class contraction : compute bf16",
            "rule where op linear : compute f8e4m3 scaled block 32 f8e8m0 saturate",
            "rule where op linear role weight pass input_gradient if_any : compute f8e4m3 scaled "
            "block 32 by 1 f8e8m0 saturate",
            "rule where op linear pass weight_gradient if_any : compute f8e4m3 scaled block 32 by "
            "1 f8e8m0 saturate"});
}

}  // namespace
