// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "builder.hpp"
#include "halftone/description/text.hpp"
#include "halftone/description/validate.hpp"

using namespace halftone::tests;

namespace {

const Shape kWide = {symbol("batch"), fixed(4)};

/// A model with two inputs, a label, a state, a tied weight, a skip, two losses and every attribute
/// off its default.
Description everything() {
  Builder b;
  b.description.name = "every \"thing\"\n\x01\x7f\\\xc3\xa9";
  const NodeId left = b.input("left", kWide);
  const NodeId right = b.input("in/right-2", kWide, Element::bf16);
  const NodeId label = b.input("label", {symbol("batch")}, Element::i32);
  const NodeId word = b.input("word", {symbol("batch")}, Element::i32);
  const NodeId weights = b.input("importance", {symbol("batch")});
  const NodeId weight = b.parameter("w.weight", {fixed(4), fixed(4)},
                                    {{Initializer::Kind::uniform, -0.5, 0.25}, false, true, 0.5});
  const NodeId bias =
      b.parameter("w.bias", {fixed(4)}, {{Initializer::Kind::normal, 0.1, 1e-300}, true, false, 3});
  const NodeId mean = b.node("mean", kind_called("state"), {}, kWide, StateAttributes{-2.5});
  const NodeId first = b.node("first", kind_called("linear"),
                              {{"x", left}, {"weight", weight}, {"bias", bias}}, kWide);
  const NodeId second = b.node("second", kind_called("linear"), {{"x", right}, {"weight", weight}},
                               kWide, LayerAttributes{{{"transposed", true}}, {}});
  const NodeId conv = b.node("conv", kind_called("causal_conv1d"),
                             {{"x", second}, {"weight", weight}, {"bias", bias}}, kWide);
  const NodeId row = b.node("row", kind_called("embedding"), {{"token", word}, {"weight", weight}},
                            kWide, LayerAttributes{{{"padding_index", std::int64_t{3}}}, {}});
  const NodeId rows = b.node("rows", kind_called("embedding"),
                             {{"token", word}, {"weight", weight}}, kWide, LayerAttributes{});
  const NodeId norm =
      b.node("norm", kind_called("layer_norm"), {{"x", row}, {"weight", bias}, {"bias", bias}},
             kWide, set(kind_called("layer_norm"), 1e-12));
  const NodeId root = b.node("root", kind_called("rms_norm"), {{"x", norm}, {"weight", bias}},
                             kWide, set(kind_called("rms_norm"), 0.0));
  const Shape folded = {symbol("batch"), fixed(2), fixed(2)};
  const NodeId fold = b.node("fold", kind_called("reshape"), {{"x", root}}, folded,
                             set(kind_called("reshape"), folded));
  LayerAttributes windows;
  windows.settings = {{"kernel", std::vector<std::int64_t>{2}},
                      {"dilation", std::vector<std::int64_t>{1}},
                      {"padding", std::vector<std::int64_t>{1, 0}},
                      {"groups", std::int64_t{2}}};
  const NodeId taps = b.parameter("taps", {fixed(2), fixed(2), fixed(1)});
  const NodeId pair = b.parameter("pair", {fixed(2)});
  const NodeId square = b.parameter("square", {fixed(2), fixed(2)});
  const NodeId slid = b.node("slid", kind_called("convolution"), {{"x", fold}, {"weight", taps}},
                             folded, std::move(windows));
  LayerAttributes windows_back;
  windows_back.settings = {{"kernel", std::vector<std::int64_t>{2}},
                           {"stride", std::vector<std::int64_t>{2}},
                           {"padding", std::vector<std::int64_t>{1, 2}},
                           {"groups", std::int64_t{2}},
                           {"output_padding", std::vector<std::int64_t>{1}}};
  const NodeId slid_back = b.node("slid_back", kind_called("transposed_convolution"),
                                  {{"x", slid}, {"weight", taps}}, folded, std::move(windows_back));
  const NodeId grouped = b.node(
      "grouped", kind_called("group_norm"), {{"x", slid_back}, {"weight", pair}, {"bias", pair}},
      folded, LayerAttributes{{{"epsilon", 1e-3}, {"groups", std::int64_t{2}}}, {}});
  const NodeId each =
      b.node("each", kind_called("group_norm"), {{"x", grouped}, {"weight", pair}, {"bias", pair}},
             folded, set(kind_called("group_norm"), 0.25));
  LayerAttributes pooling;
  pooling.settings = {{"kernel", std::vector<std::int64_t>{2}},
                      {"stride", std::vector<std::int64_t>{2}},
                      {"padding", std::vector<std::int64_t>{1, 1}},
                      {"function", "average"},
                      {"count_include_pad", true}};
  const NodeId filtered =
      b.node("long", kind_called("long_convolution"), {{"x", each}, {"filter", square}}, folded);
  const NodeId pooled =
      b.node("pooled", kind_called("pool"), {{"x", filtered}}, folded, std::move(pooling));
  LayerAttributes lines;
  lines.settings = {{"factor", std::vector<std::int64_t>{1}}, {"mode", "linear"}};
  const NodeId stretched =
      b.node("stretched", kind_called("upsample"), {{"x", pooled}}, folded, std::move(lines));
  const NodeId shared_out =
      b.node("shared_out", kind_called("adaptive_pool"), {{"x", stretched}}, folded,
             LayerAttributes{{{"size", std::vector<std::int64_t>{2}}, {"function", "max"}}, {}});
  const NodeId around = b.node("around", kind_called("pad"), {{"x", shared_out}}, folded,
                               LayerAttributes{{{"padding", std::vector<std::int64_t>{-1, 1}},
                                                {"mode", "constant"},
                                                {"pad_value", -0.5}},
                                               {}});
  const NodeId circled = b.node(
      "circled", kind_called("pad"), {{"x", around}}, folded,
      LayerAttributes{{{"padding", std::vector<std::int64_t>{1, -1}}, {"mode", "circular"}}, {}});
  const NodeId shuffled = b.node("shuffled", kind_called("pixel_shuffle"), {{"x", circled}},
                                 {symbol("batch"), fixed(4), fixed(1)},
                                 LayerAttributes{{{"factor", std::vector<std::int64_t>{2}}}, {}});
  const NodeId unshuffled =
      b.node("unshuffled", kind_called("pixel_shuffle"), {{"x", shuffled}}, folded,
             LayerAttributes{{{"factor", std::vector<std::int64_t>{2}}, {"inverse", true}}, {}});
  const NodeId summed =
      b.node("summed", kind_called("segment_reduce"), {{"x", rows}, {"segment", word}},
             {fixed(3), fixed(4)},
             LayerAttributes{{{"segments", std::int64_t{3}}, {"function", "mean"}}, {}});
  const NodeId named =
      b.node("named", kind_called("segment_broadcast"), {{"x", summed}, {"segment", word}}, kWide);
  const NodeId swap = b.node("swap", kind_called("transpose"), {{"x", unshuffled}}, folded,
                             set(kind_called("transpose"), std::vector<std::int64_t>{0, 2, 1}));
  LayerAttributes heads = standard_attributes(kind_called("attention"));
  heads.settings[0].value = std::int64_t{2};
  heads.settings.push_back({"causal", true});
  heads.settings.push_back({"soft_cap", 30.0});
  const NodeId mixed = b.node("mixed", kind_called("attention"),
                              {{"query", swap}, {"key", fold}, {"value", fold}, {"length", label}},
                              folded, std::move(heads));
  const NodeId unfold = b.node("unfold", kind_called("reshape"), {{"x", mixed}}, kWide,
                               set(kind_called("reshape"), kWide));
  const NodeId relu = b.node("relu", kind_called("relu"), {{"x", unfold}}, kWide);
  const NodeId erf = b.node("erf", kind_called("gelu"), {{"x", relu}}, kWide,
                            standard_attributes(kind_called("gelu")));
  const NodeId tanh =
      b.node("tanh", kind_called("gelu"), {{"x", erf}}, kWide, set(kind_called("gelu"), "tanh"));
  const NodeId silu = b.node("silu", kind_called("silu"), {{"x", tanh}}, kWide);
  const NodeId shares = b.node("shares", kind_called("softmax"), {{"x", silu}}, kWide,
                               standard_attributes(kind_called("softmax")));
  const NodeId logs = b.node("logs", kind_called("softmax"), {{"x", shares}}, kWide,
                             LayerAttributes{{{"log", true}}, {}});
  const NodeId drop = b.node("drop", kind_called("dropout"), {{"x", logs}}, kWide,
                             set(kind_called("dropout"), 0.1));
  LayerAttributes turns = standard_attributes(kind_called("rotary"));
  turns.settings[0].value = std::int64_t{2};
  const NodeId turn = b.node("turn", kind_called("rotary"), {{"x", drop}}, kWide, turns);
  turns.settings = {{"heads", std::int64_t{1}},   {"base", 5e5},
                    {"interleaved", true},        {"factor", 8.0},
                    {"rotated", std::int64_t{2}}, {"low_factor", 1.0},
                    {"high_factor", 4.0},         {"original_length", 8192.0}};
  const NodeId back = b.node("back", kind_called("rotary"), {{"x", turn}, {"position", word}},
                             kWide, std::move(turns));
  const NodeId learned = b.node("learned", kind_called("position_embedding"),
                                {{"x", back}, {"weight", weight}}, kWide);
  const NodeId waves =
      b.node("waves", kind_called("sinusoidal_embedding"), {{"x", learned}, {"position", word}},
             kWide, set(kind_called("sinusoidal_embedding"), 100.0));
  const NodeId add = b.node("0", kind_called("add"), {{"a", waves}, {"b", conv}}, kWide);
  LayerAttributes flags = standard_attributes(kind_called("matmul"));
  flags.settings[1].value = true;
  const NodeId product = b.node("product", kind_called("matmul"), {{"a", add}, {"b", weight}},
                                kWide, std::move(flags));
  const NodeId joined = b.node("joined", kind_called("concat"),
                               {{"part0", product}, {"part1", named}}, {symbol("batch"), fixed(8)});
  const NodeId part =
      b.node("part", kind_called("slice"), {{"x", joined}}, kWide,
             LayerAttributes{{{"begin", std::int64_t{2}}, {"end", std::int64_t{6}}}, {}});
  const double infinity = std::numeric_limits<double>::infinity();
  const Expression mask = {2,
                           {{ScalarOp::operand, 0},
                            {ScalarOp::operand, 1},
                            {ScalarOp::constant, 0, 0, 0, -infinity},
                            {ScalarOp::less_equal, 0, 1},
                            {ScalarOp::select, 3, 2, 0},
                            {ScalarOp::negate, 4}}};
  const NodeId mask_node = b.node("mask", kind_called("pointwise"), {{"x0", mean}, {"x1", first}},
                                  kWide, function("mask \"it\"", mask));
  const NodeId xent =
      b.node("xent", kind_called("cross_entropy"), {{"logits", joined}, {"label", label}}, {},
             standard_attributes(kind_called("cross_entropy")));
  const NodeId mse =
      b.node("mse", kind_called("mse"), {{"x", add}, {"target", left}}, {}, LayerAttributes{});
  const NodeId own = b.node("own", kind_called("pointwise_loss"), {{"x0", part}}, {},
                            function("", {1, {{ScalarOp::operand, 0}}}));
  LayerAttributes ignoring = standard_attributes(kind_called("cross_entropy"));
  ignoring.settings = {{"ignore_index", std::int64_t{-100}},
                       {"label_smoothing", 0.1},
                       {"z_loss", 1e-4},
                       {"soft_cap", 30.0},
                       {"chunk_rows", std::int64_t{1024}}};
  const NodeId masked = b.node("masked", kind_called("cross_entropy"),
                               {{"logits", joined}, {"label", label}, {"sample_weight", weights}},
                               {}, std::move(ignoring));
  const NodeId weighed = b.node("weighed", kind_called("pointwise_loss"),
                                {{"x0", add}, {"x1", left}, {"sample_weight", right}}, {},
                                function("", {2, {{ScalarOp::operand, 1}}}));
  b.description.outputs = {{"sum \t", add}, {"joined", joined}};
  b.description.losses = {{mse, 0.1}, {xent, -1}, {own, 0}, {masked, 1}, {weighed, 1}};
  b.description.assignments = {{mean, mask_node}};
  Rule general;
  general.store = {false, Element::bf16};
  general.compute = {false, Element::tf32};
  general.accumulate = Accumulation::f32;
  general.master = Element::f32;
  Rule particular;
  particular.clauses.emplace_back().layer = "{fir*,\"b\"}";
  particular.compute = {false, Element::f16};
  b.description.rules = {general, particular};
  b.description.optimizer = Sgd{0.1, 0.9, true, 1e-4};
  b.description.clip = 0.3;
  b.description.clip_value = 0.7;
  b.description.stages = {"warm-up", "_2"};
  b.description.schedule = Expression{
      1, {{ScalarOp::operand, 0}, {ScalarOp::constant, 0, 0, 0, 8}, {ScalarOp::divide, 0, 1}}};
  b.description.average = 0.99;
  return b.description;
}

constexpr const char* kEverything = R"(halftone description 1
model "every \"thing\"\n\x01\x7f\\é"
input %left : f32[batch, 4]
input %in/right-2 : bf16[batch, 4]
input %label : i32[batch]
input %word : i32[batch]
input %importance : f32[batch]
parameter %w.weight : [4, 4] init uniform(-0.5, 0.25) no_decay frozen learning_rate_scale 0.5
parameter %w.bias : [4] init normal(0.1, 1e-300) learning_rate_scale 3
state %mean : [batch, 4] initial -2.5
%first = linear(x: %left, weight: %w.weight, bias: %w.bias) : [batch, 4]
%second = linear(x: %in/right-2, weight: %w.weight) {transposed: true} : [batch, 4]
%conv = causal_conv1d(x: %second, weight: %w.weight, bias: %w.bias) : [batch, 4]
%row = embedding(token: %word, weight: %w.weight) {padding_index: 3} : [batch, 4]
%rows = embedding(token: %word, weight: %w.weight) : [batch, 4]
%norm = layer_norm(x: %row, weight: %w.bias, bias: %w.bias) {epsilon: 1e-12} : [batch, 4]
%root = rms_norm(x: %norm, weight: %w.bias) {epsilon: 0} : [batch, 4]
%fold = reshape(x: %root) {shape: [batch, 2, 2]} : [batch, 2, 2]
parameter %taps : [2, 2, 1] init constant(0)
parameter %pair : [2] init constant(0)
parameter %square : [2, 2] init constant(0)
%slid = convolution(x: %fold, weight: %taps) {kernel: [2], dilation: [1], padding: [1, 0], groups: 2} : [batch, 2, 2]
%slid_back = transposed_convolution(x: %slid, weight: %taps) {kernel: [2], stride: [2], padding: [1, 2], groups: 2, output_padding: [1]} : [batch, 2, 2]
%grouped = group_norm(x: %slid_back, weight: %pair, bias: %pair) {epsilon: 0.001, groups: 2} : [batch, 2, 2]
%each = group_norm(x: %grouped, weight: %pair, bias: %pair) {epsilon: 0.25} : [batch, 2, 2]
%long = long_convolution(x: %each, filter: %square) : [batch, 2, 2]
%pooled = pool(x: %long) {kernel: [2], stride: [2], padding: [1, 1], function: average, count_include_pad: true} : [batch, 2, 2]
%stretched = upsample(x: %pooled) {factor: [1], mode: linear} : [batch, 2, 2]
%shared_out = adaptive_pool(x: %stretched) {size: [2], function: max} : [batch, 2, 2]
%around = pad(x: %shared_out) {padding: [-1, 1], mode: constant, pad_value: -0.5} : [batch, 2, 2]
%circled = pad(x: %around) {padding: [1, -1], mode: circular} : [batch, 2, 2]
%shuffled = pixel_shuffle(x: %circled) {factor: [2]} : [batch, 4, 1]
%unshuffled = pixel_shuffle(x: %shuffled) {factor: [2], inverse: true} : [batch, 2, 2]
%summed = segment_reduce(x: %rows, segment: %word) {segments: 3, function: mean} : [3, 4]
%named = segment_broadcast(x: %summed, segment: %word) : [batch, 4]
%swap = transpose(x: %unshuffled) {axes: [0, 2, 1]} : [batch, 2, 2]
%mixed = attention(query: %swap, key: %fold, value: %fold, length: %label) {heads: 2, causal: true, soft_cap: 30} : [batch, 2, 2]
%unfold = reshape(x: %mixed) {shape: [batch, 4]} : [batch, 4]
%relu = relu(x: %unfold) : [batch, 4]
%erf = gelu(x: %relu) {approximation: erf} : [batch, 4]
%tanh = gelu(x: %erf) {approximation: tanh} : [batch, 4]
%silu = silu(x: %tanh) : [batch, 4]
%shares = softmax(x: %silu) : [batch, 4]
%logs = softmax(x: %shares) {log: true} : [batch, 4]
%drop = dropout(x: %logs) {rate: 0.1} : [batch, 4]
%turn = rotary(x: %drop) {heads: 2, base: 10000, interleaved: false, factor: 1} : [batch, 4]
%back = rotary(x: %turn, position: %word) {heads: 1, base: 5e+05, interleaved: true, factor: 8, rotated: 2, low_factor: 1, high_factor: 4, original_length: 8192} : [batch, 4]
%learned = position_embedding(x: %back, weight: %w.weight) : [batch, 4]
%waves = sinusoidal_embedding(x: %learned, position: %word) {base: 100} : [batch, 4]
%0 = add(a: %waves, b: %conv) : [batch, 4]
%product = matmul(a: %0, b: %w.weight) {transpose_a: false, transpose_b: true} : [batch, 4]
%joined = concat(part0: %product, part1: %named) : [batch, 8]
%part = slice(x: %joined) {begin: 2, end: 6} : [batch, 4]
%mask = pointwise(x0: %mean, x1: %first) "mask \"it\"" { %0 = operand 0; %1 = operand 1; %2 = constant -inf; %3 = less_equal %0 %1; %4 = select %3 %2 %0; %5 = negate %4 } : [batch, 4]
%xent = cross_entropy(logits: %joined, label: %label) : []
%mse = mse(x: %0, target: %left) : []
%own = pointwise_loss(x0: %part) "" { %0 = operand 0 } : []
%masked = cross_entropy(logits: %joined, label: %label, sample_weight: %importance) {ignore_index: -100, label_smoothing: 0.1, z_loss: 1e-04, soft_cap: 30, chunk_rows: 1024} : []
%weighed = pointwise_loss(x0: %0, x1: %left, sample_weight: %in/right-2) "" { %0 = operand 1 } : []
output "sum \t" = %0
output "joined" = %joined
loss %mse weight 0.1
loss %xent weight -1
loss %own weight 0
loss %masked weight 1
loss %weighed weight 1
assign %mean = %mask
stages "warm-up" "_2"
rule everywhere : store bf16 compute tf32 accumulate f32 master f32
rule where layer "{fir*,\"b\"}" : compute f16
optimizer sgd learning_rate 0.1 momentum 0.9 nesterov weight_decay 1e-04
clip 0.3
clip_value 0.7
schedule { %0 = operand 0; %1 = constant 8; %2 = divide %0 %1 }
average 0.99
)";

/// The result of parse, or a failed check and an empty Description.
Description parsed(const std::string& text) {
  auto result = parse(text);
  const auto* error = std::get_if<ParseError>(&result);
  CHECK_MESSAGE(!error, (error ? error->str("text") : ""));
  return error ? Description{} : std::get<Description>(result);
}

/// The smallest model that has a pointwise layer of these instructions over two inputs.
Description with_instructions(std::vector<ScalarInstruction> instructions) {
  Builder b;
  const NodeId x = b.input("x", {}), y = b.input("y", {});
  const NodeId f = b.node("f", kind_called("pointwise"), {{"x0", x}, {"x1", y}}, {},
                          function("f", {2, std::move(instructions)}));
  b.description.outputs = {{"f", f}};
  return b.description;
}

}  // namespace

TEST_CASE("the structure is the text without rules, optimizer and its settings (D13)") {
  Description model = everything();
  std::istringstream whole(print(model));
  std::string expected;
  for (std::string line; std::getline(whole, line);) {
    const std::string word = line.substr(0, line.find(' '));
    constexpr std::string_view kNoStructure[] = {"clip_group", "rule",     "optimizer", "clip",
                                                 "clip_value", "schedule", "average",   "stages"};
    if (std::ranges::find(kNoStructure, word) == std::end(kNoStructure)) expected += line + "\n";
  }
  CHECK(print_structure(model) == expected);
  model.rules.clear();
  model.stages.clear();
  model.optimizer = Sgd{.learning_rate = 0.75};
  model.clip.reset();
  model.clip_value.reset();
  model.schedule.reset();
  model.average = 0.5;
  CHECK(print_structure(model) == expected);
  model.losses.front().weight += 1;
  CHECK(print_structure(model) != expected);
}

TEST_CASE("a model with every kind and attribute prints as its text") {
  CHECK(print(everything()) == kEverything);
}

TEST_CASE("a model with every kind and attribute survives print and parse") {
  const Description description = everything();
  CHECK(parsed(print(description)) == description);
}

TEST_CASE("every scalar operation survives print and parse") {
  for (int op = static_cast<int>(ScalarOp::add); op <= static_cast<int>(ScalarOp::equal); ++op) {
    CAPTURE(op);
    const bool unary =
        op >= static_cast<int>(ScalarOp::negate) && op <= static_cast<int>(ScalarOp::sigmoid);
    std::vector<ScalarInstruction> instructions = {{ScalarOp::operand, 0}, {ScalarOp::operand, 1}};
    instructions.push_back({static_cast<ScalarOp>(op), 1, 0});
    if (unary) instructions.back().b = 0;
    if (op >= static_cast<int>(ScalarOp::less)) instructions.push_back({ScalarOp::select, 2, 1, 0});
    const Description description = with_instructions(instructions);
    CHECK(parsed(print(description)) == description);
  }
}

TEST_CASE("clips of groups survive print and parse, and are no part of the structure (D13)") {
  Description description = everything();
  const std::string structure = print_structure(description);
  std::vector<NodeId> trained;
  for (std::size_t id = 0; id < description.nodes.size(); ++id) {
    const auto* of = std::get_if<ParameterAttributes>(&description.nodes[id].attributes);
    if (of != nullptr && !of->frozen) trained.push_back(static_cast<NodeId>(id));
  }
  REQUIRE(trained.size() > 2);
  const auto named = [&](std::size_t i) {
    return " %" + description.nodes[static_cast<std::size_t>(trained[i])].name;
  };
  description.clip.reset();
  description.clip_groups = {{0.5, {trained[0], trained[2]}}, {2, {trained[1]}}};
  CHECK(print(description)
            .find("\nclip_group 0.5" + named(0) + named(2) + "\nclip_group 2" + named(1) +
                  "\nclip_value 0.7\n") != std::string::npos);
  CHECK(parsed(print(description)) == description);
  CHECK(print_structure(description) == structure);
}

TEST_CASE("adam and adamw without clip survive print and parse") {
  Description description = everything();
  description.clip.reset();
  description.optimizer = AdamW{3e-4, 0.95, 0.98, 1e-6, 0.3};
  CHECK(parsed(print(description)) == description);
  description.optimizer = Adam{3e-4, 0.95, 0.98, 1e-6, 0.3};
  CHECK(print(description)
            .find("\noptimizer adam learning_rate 3e-04 beta1 0.95 beta2 0.98 "
                  "epsilon 1e-06 weight_decay 0.3\n") != std::string::npos);
  CHECK(parsed(print(description)) == description);
}

TEST_CASE("every optimizer survives print and parse") {
  struct Case {
    Optimizer optimizer;
    const char* text;
  };
  const Case cases[] = {
      {Sgd{0.5, 0.25, false, 0, 0.125},
       "sgd learning_rate 0.5 momentum 0.25 dampening 0.125 weight_decay 0"},
      {Sgd{0.5, 0.25, true, 2, 0}, "sgd learning_rate 0.5 momentum 0.25 nesterov weight_decay 2"},
      {AdamW{0.5, 0.25, 0.75, 1, 2, true},
       "adamw learning_rate 0.5 beta1 0.25 beta2 0.75 epsilon 1 weight_decay 2 amsgrad"},
      {Adam{0.5, 0.25, 0.75, 1, 2, true},
       "adam learning_rate 0.5 beta1 0.25 beta2 0.75 epsilon 1 weight_decay 2 amsgrad"},
      {NAdam{0.5, 0.25, 0.75, 1, 2, 3, false},
       "nadam learning_rate 0.5 beta1 0.25 beta2 0.75 epsilon 1 weight_decay 2 momentum_decay 3"},
      {NAdam{0.5, 0.25, 0.75, 1, 2, 3, true},
       "nadam learning_rate 0.5 beta1 0.25 beta2 0.75 epsilon 1 weight_decay 2 momentum_decay 3 "
       "decoupled_weight_decay"},
      {Adagrad{0.5, 1, 2, 3},
       "adagrad learning_rate 0.5 epsilon 1 weight_decay 2 initial_accumulator_value 3"},
      {RmsProp{0.5, 0.25, 1, 0, false, 2},
       "rmsprop learning_rate 0.5 alpha 0.25 epsilon 1 momentum 0 weight_decay 2"},
      {RmsProp{0.5, 0.25, 1, 0.75, true, 2},
       "rmsprop learning_rate 0.5 alpha 0.25 epsilon 1 momentum 0.75 centered weight_decay 2"},
      {Lion{0.5, 0.25, 0.75, 2}, "lion learning_rate 0.5 beta1 0.25 beta2 0.75 weight_decay 2"},
      {Lamb{0.5, 0.25, 0.75, 1, 2, 0, false},
       "lamb learning_rate 0.5 beta1 0.25 beta2 0.75 epsilon 1 weight_decay 2"},
      {Lamb{0.5, 0.25, 0.75, 1, 2, 10, true},
       "lamb learning_rate 0.5 beta1 0.25 beta2 0.75 epsilon 1 weight_decay 2 max_trust 10 "
       "decayed_only"},
      {Adafactor{0.5, 0.75, 0.25, 0.125, 2, 1},
       "adafactor learning_rate 0.5 decay_rate 0.75 epsilon1 0.25 epsilon2 0.125 clip_threshold 2 "
       "weight_decay 1"},
      {Custom{0.5, 2, {5, {{ScalarOp::operand, 1}}}, {}},
       "custom learning_rate 0.5 weight_decay 2 parameter { %0 = operand 1 }"},
      {Custom{0.5,
              2,
              {7, {{ScalarOp::operand, 5}}},
              {{"m", {7, {{ScalarOp::operand, 6}, {ScalarOp::exp, 0}}}},
               {"old_m", {7, {{ScalarOp::operand, 5}}}}}},
       "custom learning_rate 0.5 weight_decay 2 parameter { %0 = operand 5 } m { %0 = operand 6; "
       "%1 "
       "= exp %0 } old_m { %0 = operand 5 }"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    Description description = everything();
    description.optimizer = c.optimizer;
    const std::string text = print(description);
    CHECK(text.find("\noptimizer " + std::string(c.text) + "\n") != text.npos);
    CHECK(parsed(text) == description);
  }
}

TEST_CASE("every initializer survives print and parse") {
  struct Case {
    Initializer initializer;
    const char* text;
  };
  using Draw = Initializer::Kind;
  for (const Case& c :
       {Case{{Draw::constant, 0.5}, "constant(0.5)"},
        Case{{Draw::uniform, -0.5, 2}, "uniform(-0.5, 2)"},
        Case{{Draw::normal, 0.25, 2}, "normal(0.25, 2)"},
        Case{{Draw::truncated_normal, 0.25, 2, -1, 3}, "truncated_normal(0.25, 2, -1, 3)"},
        Case{{Draw::orthogonal, 0.5}, "orthogonal(0.5)"}}) {
    CAPTURE(std::string(c.text));
    Description description = everything();
    for (Node& node : description.nodes) {
      auto* attributes = std::get_if<ParameterAttributes>(&node.attributes);
      if (attributes && node.name == "w.weight") attributes->initializer = c.initializer;
    }
    const std::string text = print(description);
    CHECK(text.find("%w.weight : [4, 4] init " + std::string(c.text) + " no_decay") != text.npos);
    CHECK(parsed(text) == description);
  }
}

TEST_CASE("numbers print with the fewest digits that read back") {
  struct Case {
    double value;
    const char* text;
  };
  constexpr double kLargest = std::numeric_limits<double>::max();
  const Case cases[] = {
      {0.1, "0.1"},       {1.0 / 3, "0.3333333333333333"},       {0.1 + 0.2, "0.30000000000000004"},
      {5e-324, "5e-324"}, {kLargest, "1.7976931348623157e+308"}, {-0.0, "-0"}};
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const Description description = with_instructions({{ScalarOp::constant, 0, 0, 0, c.value}});
    const std::string text = print(description);
    CHECK(text.find("{ %0 = constant " + std::string(c.text) + " }") != text.npos);
    const auto read = parsed(text);
    REQUIRE(!read.nodes.empty());
    const auto& attributes = *std::get<LayerAttributes>(read.nodes.back().attributes).function;
    CHECK(attributes.expression.instructions[0].constant == c.value);
    CHECK(std::signbit(attributes.expression.instructions[0].constant) == std::signbit(c.value));
  }
}

TEST_CASE("comments, blank lines, tabs and carriage returns do not matter") {
  const std::string text =
      "halftone description 1 # the form\r\n\r\n"
      "\tmodel   \"a # b\"# name\r\n   # nothing\n"
      "input %x:f32 [ batch,4 ]\r\n"
      "%y=relu ( x :%x ):[batch,4]\n"
      "output \"y\"=%y\n\n"
      "optimizer sgd learning_rate 1 momentum 0 weight_decay 0";
  Builder b;
  b.description.name = "a # b";
  const NodeId x = b.input("x", kWide);
  const NodeId y = b.node("y", kind_called("relu"), {{"x", x}}, kWide);
  b.description.outputs = {{"y", y}};
  b.description.optimizer = Sgd{1, 0, false, 0};
  CHECK(parsed(text) == b.description);
}

TEST_CASE("a Description with an operand out of range prints without reading past its nodes") {
  Builder b;
  b.node("y", kind_called("relu"), {{"x", 7}}, {});
  b.description.outputs = {{"y", -1}};
  CHECK(print(b.description).find("%y = relu(x: %?) : []\noutput \"y\" = %?\n") !=
        std::string::npos);
}
