// SPDX-License-Identifier: Apache-2.0
// Each rule of docs/spec/description.md broken once, in a model that is valid otherwise.
#include <doctest/doctest.h>

#include <limits>

#include "builder.hpp"
#include "halftone/description/validate.hpp"

using namespace halftone::tests;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

enum : NodeId { kX, kLabel, kWeight, kBias, kMean, kFc, kNorm, kAct, kOwn, kJoined, kXent, kMse };

/// One node of most kinds, in the order of the enum above.
Description valid() {
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

/// P68, P86
void hold_states(Description& d, const Encoding& in) {
  Rule& rule = d.rules.emplace_back();
  rule.clauses.emplace_back().roles = {Role::optimizer_state};
  rule.store = EncodingChoice{false, in};
}
Encoding blocks_of_states() {
  Encoding in(Element::f8e4m3);
  in.scaling = {
      .kind = halftone::encoding::Scaling::Kind::block, .size = 256, .scale = Element::f32};
  in.saturate = true;
  return in;
}

struct Case {
  void (*break_it)(Description&);
  NodeId node;
  std::string message;
};

void check(const Case& expected) {
  Description description = valid();
  expected.break_it(description);
  CAPTURE(expected.message);
  const auto violation = validate(description);
  REQUIRE(violation);
  CHECK(violation->message == expected.message);
  CHECK(violation->node == expected.node);
}

Expression& expression(Description& d) {
  return std::get<LayerAttributes>(d.nodes[kOwn].attributes).function->expression;
}

Initializer& initializer(Description& d) {
  return std::get<ParameterAttributes>(d.nodes[kWeight].attributes).initializer;
}

}  // namespace

TEST_CASE("a model that keeps every rule has no violation") {
  const auto violation = validate(valid());
  CHECK_MESSAGE(!violation, (violation ? violation->message : ""));
}

TEST_CASE("nodes, names and operands keep D1 to D3") {
  const Case cases[] = {
      {[](Description& d) { d.nodes[kAct].operands[0].node = kAct; }, kAct,
       "gelu '%act' has an operand 'x' that does not stand before it; put every operand's node "
       "before its users (D1)"},
      {[](Description& d) { d.nodes[kAct].operands[0].node = 99; }, kAct,
       "gelu '%act' has an operand 'x' that does not stand before it; put every operand's node "
       "before its users (D1)"},
      {[](Description& d) { d.nodes[kAct].operands[0].node = -1; }, kAct,
       "gelu '%act' has an operand 'x' that does not stand before it; put every operand's node "
       "before its users (D1)"},
      {[](Description& d) { d.nodes[kAct].name = "norm"; }, kAct,
       "two nodes are named '%norm'; rename one (D2)"},
      {[](Description& d) { d.nodes[kAct].name.clear(); }, kAct,
       "the gelu named \"\" needs a name of letters, digits and _ . / - (D2)"},
      {[](Description& d) { d.nodes[kAct].name = "a b"; }, kAct,
       "the gelu named \"a b\" needs a name of letters, digits and _ . / - (D2)"},
      {[](Description& d) { d.nodes[kFc].operands.pop_back(), d.nodes[kFc].operands.pop_back(); },
       kFc,
       "linear '%fc' does not have the operands of its kind; give it x, weight, bias (may be "
       "absent), in this order (D3)"},
      {[](Description& d) {
         std::swap(d.nodes[kNorm].operands[1].role, d.nodes[kNorm].operands[2].role);
       },
       kNorm,
       "layer_norm '%norm' does not have the operands of its kind; give it x, weight, bias, in "
       "this order (D3)"},
      {[](Description& d) { d.nodes[kJoined].operands[1].role = "part2"; }, kJoined,
       "concat '%joined' does not have the operands of its kind; give it part0, part1, ..., in "
       "this order (D3)"},
      {[](Description& d) { d.nodes[kJoined].operands.clear(); }, kJoined,
       "concat '%joined' does not have the operands of its kind; give it part0, part1, ..., in "
       "this order (D3)"},
      {[](Description& d) {
         d.nodes[kMean].operands = {{"x", kX}};
       },
       kMean,
       "state '%mean' does not have the operands of its kind; give it no operands, in this order "
       "(D3)"},
  };
  for (const Case& c : cases) check(c);
}

TEST_CASE("dimensions, formats and wanted gradients keep D4, D8 and D15") {
  const Case cases[] = {
      {[](Description& d) { d.nodes[kWeight].shape[0].extent = 0; }, kWeight,
       "parameter '%fc.weight' has a dimension of 0; make every extent positive (D4)"},
      {[](Description& d) {
         d.nodes[kX].shape[0] = {4, "batch"};
       },
       kX,
       "input '%x' has a dimension \"batch\"; a symbol is an identifier and has no extent of its "
       "own (D4)"},
      {[](Description& d) { d.nodes[kX].shape[0].symbol = "2n"; }, kX,
       "input '%x' has a dimension \"2n\"; a symbol is an identifier and has no extent of its own "
       "(D4)"},
      {[](Description& d) { d.nodes[kBias].shape[0] = symbol("n"); }, kBias,
       "parameter '%fc.bias' has a dimension 'n'; give a parameter fixed extents (D4)"},
      {[](Description& d) { d = {}, d.name = "m"; }, -1,
       "the model \"m\" has no input; give it one (D4)"},
      {[](Description& d) { d.nodes[kX].format = Element::tf32; }, kX,
       "input '%x' is delivered in tf32, which no input is; use f32 (D8)"},
      {[](Description& d) { d.nodes[kAct].format = Element::bf16; }, kAct,
       "gelu '%act' states the format bf16; leave it f32 and state formats in rules (D8)"},
      {[](Description& d) { d.nodes[kLabel].attributes = InputAttributes{.gradient = true}; },
       kLabel,
       "input '%label' wants a gradient but holds integers, which have none; leave 'gradient' out "
       "(D15)"},
      {[](Description& d) {
         d.losses.clear();
         d.nodes[kX].attributes = InputAttributes{.gradient = true};
       },
       kX,
       "input '%x' wants a gradient but the model has no loss; add one, or leave 'gradient' out "
       "(D15)"},
      {[](Description& d) { d.nodes[kX].attributes = InputAttributes{}; }, kX,
       "input '%x' has attributes that state nothing; leave them out (D20)"},
      {[](Description& d) { d.nodes[kMean].attributes = InputAttributes{.gradient = true}; }, kMean,
       "state '%mean' has the attributes of another kind; give it its own (D20)"},
      {[](Description& d) { d.nodes[kX].format = Element::i32; }, kFc,
       "linear '%fc' computes with the i32 input '%x'; only labels and tokens are so, and values "
       "f32, f16, bf16, u8, i8, u16 or i16 (D8)"},
      {[](Description& d) {
         d.nodes[kX].format = Element::u8;
         d.nodes[kX].attributes = InputAttributes{.scale = kInfinity};
       },
       kX, "input '%x' has a scale of inf and an offset of 0; make both finite in f32 (D16)"},
      {[](Description& d) { d.nodes[kX].attributes = InputAttributes{.offset = 1}; }, kX,
       "input '%x' is delivered in f32 and has a scale or an offset; only u8, i8, u16 and i16 have "
       "them (D16)"},
      {[](Description& d) {
         d.nodes[kX].format = Element::i16;
         d.nodes[kX].attributes = InputAttributes{.gradient = true};
       },
       kX,
       "input '%x' wants a gradient but holds integers, which have none; leave 'gradient' out "
       "(D15)"},
      {[](Description& d) {
         d.nodes[kLabel].format = Element::u8;
         d.nodes[kLabel].attributes = InputAttributes{.scale = 2};
       },
       kXent,
       "cross_entropy '%xent' has the label '%label', which has a scale or an offset; only values "
       "have them, so leave them out (D16)"},
      {[](Description& d) {
         d.nodes[kX].format = Element::u8;
         d.nodes[kXent].operands[1].node = kX;
       },
       kXent,
       "cross_entropy '%xent' reads the input '%x' as a value, and another reads it as a label or "
       "token, or the other way round; give each an input of its own (D8)"},
      {[](Description& d) { d.nodes[kLabel].format = Element::f32; }, kXent,
       "cross_entropy '%xent' has the label '%label', which holds no integers; use an input of "
       "format "
       "i32, or of other integers (D8)"},
      {[](Description& d) {
         d.outputs.push_back({"label", kLabel});
       },
       kLabel,
       "the output \"label\" is the i32 input '%label'; no output holds integers, so remove it "
       "(D6)"},
  };
  for (const Case& c : cases) check(c);
}

TEST_CASE("uses, outputs, losses and assignments keep D5 to D7") {
  const Case cases[] = {
      {[](Description& d) {
         d.nodes.push_back(
             {"spare", kind_called("relu"), {{"x", kX}}, d.nodes[kX].shape, Element::f32, {}});
       },
       12, "relu '%spare' is never used; give it a user, make it an output or remove it (D5)"},
      {[](Description& d) {
         d.nodes[kFc].operands.pop_back(), d.nodes[kNorm].operands[1].node = kX;
       },
       kNorm,
       "layer_norm '%norm' needs the weight [4] but reads [batch, 4] of '%x'; make it [4] (D22)"},
      {[](Description& d) { d.nodes[kOwn].operands[1].node = kX; }, kMean,
       "state '%mean' is never used; give it a user or remove it (D5)"},
      {[](Description& d) {
         d.outputs.push_back({"act", kFc});
       },
       kFc, "the output \"act\" needs a name that no other output has; rename it (D6)"},
      {[](Description& d) { d.outputs[0].name.clear(); }, kAct,
       "the output \"\" needs a name that no other output has; rename it (D6)"},
      {[](Description& d) { d.outputs[0].node = 12; }, -1,
       "the output \"act\" names no node; name one that exists (D6)"},
      {[](Description& d) { d.losses[0].node = kAct; }, kAct,
       "gelu '%act' is no loss; name a " + words_of(is_loss, " or ") + " (D6)"},
      {[](Description& d) { d.losses[0].node = -7; }, -1,
       "a loss that names no node is no loss; name a " + words_of(is_loss, " or ") + " (D6)"},
      {[](Description& d) {
         d.losses.push_back({kXent, 1});
       },
       kXent, "cross_entropy '%xent' is named as a loss twice; add the weights up in one (D6)"},
      {[](Description& d) { d.losses.pop_back(); }, kMse,
       "mse '%mse' is not named as a loss; add a loss statement for it (D6)"},
      {[](Description& d) { d.losses[1].weight = kNan; }, kMse,
       "mse '%mse' has the weight nan; make it finite in f32 (D6)"},
      {[](Description& d) {
         d.nodes.push_back(
             {"sum", kind_called("add"), {{"a", kXent}, {"b", kMse}}, {}, Element::f32, {}});
         d.nodes.push_back({"again",
                            kind_called("mse"),
                            {{"x", 12}, {"target", 12}},
                            {},
                            Element::f32,
                            LayerAttributes{}});
         d.losses.push_back({13, 1});
       },
       13,
       "mse '%again' is computed from another loss; give each loss its own values and let their "
       "weights add them up (D6)"},
      {[](Description& d) { d.assignments[0].state = kX; }, kX,
       "input '%x' cannot be assigned to; name a state (D7)"},
      {[](Description& d) { d.assignments[0].state = 12; }, -1,
       "an assignment that names no node cannot be assigned to; name a state (D7)"},
      {[](Description& d) { d.assignments[0].value = -1; }, kMean,
       "state '%mean' is assigned no value; name one that exists (D7)"},
      {[](Description& d) {
         d.assignments.push_back({kMean, kFc});
       },
       kMean, "state '%mean' is assigned twice; keep one assignment (D7)"},
      {[](Description& d) { d.assignments[0].value = kJoined; }, kMean,
       "state '%mean' of shape [batch, 4] is assigned '%joined' of shape [batch, 8]; make their "
       "shapes equal (D7)"},
      {[](Description& d) {
         d.nodes[kMean].shape = {symbol("batch")};
         d.nodes[kOwn].operands[1].node = kX;
         d.assignments[0].value = kLabel;
       },
       kMean,
       "state '%mean' is assigned the i32 input '%label'; assign a value that is computed (D7)"},
      {[](Description& d) {
         d.nodes[kMean].shape = {};
         d.nodes[kOwn].operands[1].node = kX;
         d.nodes.push_back({"scaled", kind_called("relu"), {{"x", kXent}}, {}, Element::f32, {}});
         d.assignments[0].value = 12;
       },
       kMean,
       "state '%mean' is assigned '%scaled', which depends on a loss; assign a value from before "
       "the losses (D7)"},
  };
  for (const Case& c : cases) check(c);
}

TEST_CASE("training, rules and optimizers keep D9 to D11") {
  const Case cases[] = {
      {[](Description& d) {
         for (const NodeId id : {kWeight, kBias}) {
           std::get<ParameterAttributes>(d.nodes[static_cast<std::size_t>(id)].attributes).frozen =
               true;
         }
       },
       -1,
       "the model \"m\" has a loss and nothing to train; add a parameter that is not frozen (D9)"},
      {[](Description& d) { d.rules[0].store->encoding = Element::tf32; }, -1,
       "the rule \"everywhere : store tf32\" stores tf32, which nothing is held in; store f32, "
       "f16, bf16, f8e4m3, f8e5m2 or follow (P42)"},
      {[](Description& d) { d.optimizer = Sgd{kInfinity}; }, -1,
       "the optimizer sgd has learning_rate inf; make it finite, not negative in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = Sgd{0.1, 1.0};
       },
       -1,
       "the optimizer sgd has momentum 1; make it finite, not negative and below 1 in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = Sgd{0.1, 0.5, false, -1};
       },
       -1, "the optimizer sgd has weight_decay -1; make it finite, not negative in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = Sgd{0.1, 0, true};
       },
       -1, "the optimizer sgd has nesterov without momentum; give it a momentum above 0 (D11)"},
      {[](Description& d) { d.optimizer = AdamW{-0.1}; }, -1,
       "the optimizer adamw has learning_rate -0.1; make it finite, not negative in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = AdamW{0.1, 1.5};
       },
       -1,
       "the optimizer adamw has beta1 1.5; make it finite, not negative and below 1 in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = AdamW{0.1, 0.5, kNan};
       },
       -1,
       "the optimizer adamw has beta2 nan; make it finite, not negative and below 1 in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = AdamW{0.1, 0.5, 0.5, -1e-8};
       },
       -1, "the optimizer adamw has epsilon -1e-08; make it finite, not negative in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = AdamW{0.1, 0.5, 0.5, 0, kInfinity};
       },
       -1, "the optimizer adamw has weight_decay inf; make it finite, not negative in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = Adam{0.1, 1.5};
       },
       -1,
       "the optimizer adam has beta1 1.5; make it finite, not negative and below 1 in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = Adam{0.1, 0.5, 0.5, 0, -1};
       },
       -1, "the optimizer adam has weight_decay -1; make it finite, not negative in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = Sgd{0.1, 0, false, 0, 0.5};
       },
       -1, "the optimizer sgd has dampening without momentum; give it a momentum above 0 (D11)"},
      {[](Description& d) {
         d.optimizer = Sgd{0.1, 0.9, false, 0, 1};
       },
       -1,
       "the optimizer sgd has dampening 1; make it finite, not negative and below 1 in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = Sgd{0.1, 0.9, true, 0, 0.5};
       },
       -1, "the optimizer sgd has nesterov and dampening; leave one out (D11)"},
      {[](Description& d) { d.optimizer = NAdam{.momentum_decay = -1}; }, -1,
       "the optimizer nadam has momentum_decay -1; make it finite, not negative in f32 (D11)"},
      {[](Description& d) { d.optimizer = Adagrad{.initial_accumulator_value = 1e39}; }, -1,
       "the optimizer adagrad has initial_accumulator_value 1e+39; make it finite, not negative in "
       "f32 (D11)"},
      {[](Description& d) { d.optimizer = RmsProp{.alpha = 1}; }, -1,
       "the optimizer rmsprop has alpha 1; make it finite, not negative and below 1 in f32 (D11)"},
      {[](Description& d) { d.optimizer = RmsProp{.momentum = -0.5}; }, -1,
       "the optimizer rmsprop has momentum -0.5; make it finite, not negative and below 1 in f32 "
       "(D11)"},
      {[](Description& d) { d.optimizer = Lion{.beta2 = kNan}; }, -1,
       "the optimizer lion has beta2 nan; make it finite, not negative and below 1 in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = Custom{.learning_rate = -1, .parameter = {}, .states = {}};
       },
       -1, "the optimizer custom has learning_rate -1; make it finite, not negative in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = Custom{.parameter = {4, {{ScalarOp::operand, 1}}}, .states = {}};
       },
       -1,
       "the optimizer's new parameter: its function takes 4 values and it has 5 operands; make "
       "them equal (D11)"},
      {[](Description& d) {
         const Expression gradient{7, {{ScalarOp::operand, 1}}};
         d.optimizer = Custom{.parameter = gradient, .states = {{"m", gradient}, {"m", gradient}}};
       },
       -1,
       "the optimizer custom has a state \"m\"; give each a name of its own of letters, digits and "
       "_, not 'parameter' (D11)"},
      {[](Description& d) {
         const Expression gradient{6, {{ScalarOp::operand, 1}}};
         d.optimizer = Custom{.parameter = gradient, .states = {{"m", {}}}};
       },
       -1,
       "the optimizer's state \"m\": its function takes 0 values and it has 6 operands; make them "
       "equal (D11)"},
      {[](Description& d) {
         d.optimizer = Custom{.parameter = {14, {{ScalarOp::operand, 1}}},
                              .states = std::vector<Custom::State>(9)};
       },
       -1, "the optimizer custom has 9 states; leave it 8 or fewer (D11)"},
      {[](Description& d) { d.clip = 0; }, -1,
       "the clip norm is 0; make it finite and positive in f32 (D11)"},
      {[](Description& d) { d.clip_value = kNan; }, -1,
       "the clip value is nan; make it finite and positive in f32 (D11)"},
      {[](Description& d) { d.clip_value = 1e-60; }, -1,
       "the clip value is 1e-60; make it finite and positive in f32 (D11)"},
      {[](Description& d) { d.optimizer = Lamb{.epsilon = 0}; }, -1,
       "the optimizer lamb has epsilon 0; make it finite and positive in f32 (D11)"},
      {[](Description& d) { d.optimizer = Lamb{.max_trust = 1e-60}; }, -1,
       "the optimizer lamb has max_trust 1e-60; make it finite and positive in f32, or leave it "
       "out (D11)"},
      {[](Description& d) { d.optimizer = Adafactor{.epsilon1 = 1e-23}; }, -1,
       "the optimizer adafactor has epsilon1 1e-23, whose square it divides by; make that finite "
       "and "
       "positive in f32 (D11)"},
      {[](Description& d) { d.optimizer = Adafactor{.clip_threshold = 0}; }, -1,
       "the optimizer adafactor has clip_threshold 0; make it finite and positive in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = Adafactor{};
         d.clip_groups = {{1, {kWeight}}};
       },
       -1,
       "the optimizer adafactor has a clip_group, but clips each parameter's step itself; write "
       "clip "
       "in its place (U18)"},
      {[](Description& d) {
         d.optimizer = Adafactor{};
         hold_states(d, Element::bf16);
       },
       -1,
       "the optimizer adafactor keeps f32, of which it has little, but a rule stores role "
       "optimizer_state in bf16; leave that rule out (U18)"},
      {[](Description& d) {
         d.optimizer = AdamW{.epsilon = 0};
         hold_states(d, blocks_of_states());
       },
       -1,
       "the optimizer has epsilon 0 and states in blocks, whose padding that makes NaN; make it "
       "positive (P86)"},
      {[](Description& d) {
         d.optimizer = Adagrad{.initial_accumulator_value = 0.1};
         hold_states(d, blocks_of_states());
       },
       -1,
       "the optimizer adagrad has initial_accumulator_value 0.1, but states in blocks begin at 0; "
       "leave it out, or store bf16 (P86)"},
      {[](Description& d) {
         d.optimizer = Custom{0.5, 2, {5, {{ScalarOp::operand, 1}}}, {}};
         hold_states(d, blocks_of_states());
       },
       -1,
       "the optimizer custom has states in blocks, whose padding must stay 0, which nobody knows "
       "of a "
       "function of yours; store f32, f16 or bf16 (P86)"},
      {[](Description& d) {
         d.clip_groups = {{0, {kWeight}}};
       },
       -1, "the clip of a group has the norm 0; make it finite and positive in f32 (D11)"},
      {[](Description& d) {
         d.clip_groups = {{1, {}}};
       },
       -1, "the clip of a group names no parameter; name those that it clips (D11)"},
      {[](Description& d) {
         d.clip_groups = {{1, {kFc}}};
       },
       -1,
       "the clip of a group names '%fc', which is no parameter that is trained; leave it out "
       "(D11)"},
      {[](Description& d) {
         std::get<ParameterAttributes>(d.nodes[kBias].attributes).frozen = true;
         d.clip_groups = {{1, {kWeight, kBias}}};
       },
       -1,
       "the clip of a group names '%fc.bias', which is no parameter that is trained; leave it out "
       "(D11)"},
      {[](Description& d) {
         d.clip_groups = {{1, {99}}};
       },
       -1, "the clip of a group names no node; name a parameter (D11)"},
      {[](Description& d) {
         d.clip_groups = {{1, {kWeight}}, {2, {kBias, kWeight}}};
       },
       -1, "the clip of a group names '%fc.weight', which is clipped already; name it once (D11)"},
      {[](Description& d) {
         d.clip_groups = {{1, {kWeight, kWeight}}};
       },
       -1, "the clip of a group names '%fc.weight', which is clipped already; name it once (D11)"},
      {[](Description& d) {
         d.clip = 1;
         d.clip_groups = {{1, {kWeight}}};
       },
       -1,
       "the clip of a group stands beside a clip of all parameters; leave one of them out (D11)"},
      {[](Description& d) { d.clip = kInfinity; }, -1,
       "the clip norm is inf; make it finite and positive in f32 (D11)"},
      {[](Description& d) {
         d.schedule = Expression{1, {}};
       },
       -1, "the schedule: its function is empty; give it an instruction (D11)"},
      {[](Description& d) {
         d.schedule = Expression{2, {{ScalarOp::operand, 1}}};
       },
       -1,
       "the schedule: its function takes 2 values and it has 1 operands; make them equal (D11)"},
      {[](Description& d) { d.average = 1; }, -1,
       "the averages keep a share of 1; make it 0 or more and below 1 in f32 (D11)"},
      {[](Description& d) { d.average = kNan; }, -1,
       "the averages keep a share of nan; make it 0 or more and below 1 in f32 (D11)"},
      {[](Description& d) {
         std::get<ParameterAttributes>(d.nodes[kBias].attributes).learning_rate_scale = -1;
       },
       kBias,
       "parameter '%fc.bias' has a learning-rate scale of -1; make it finite in f32 and not "
       "negative "
       "(D11)"},
      {[](Description& d) { d.nodes[kNorm].attributes = set(kind_called("layer_norm"), kNan); },
       kNorm,
       "layer_norm '%norm' has an epsilon of nan, which is negative or not finite in f32; write "
       "1e-5 (D11)"},
  };
  for (const Case& c : cases) check(c);
}

TEST_CASE("stages have names of their own, and rules speak of those that there are (P66)") {
  static constexpr auto during = [](Description& d, std::vector<Clause> Rule::*clauses,
                                    const char* stage) {
    d.rules = {Rule{}};
    d.rules[0].store = {false, Element::f32};
    (d.rules[0].*clauses).emplace_back().stages = {stage};
  };
  const Case cases[] = {
      {[](Description& d) { d.stages = {"a", "b", "c", "d", "e", "f", "g", "h", "i"}; }, -1,
       "the model has 9 stages; leave it 8 or fewer (P66)"},
      {[](Description& d) {
         d.stages = {"a", ""};
       },
       -1, "the stage \"\" has no usable name; write letters, digits, '_' and '-' (P66)"},
      {[](Description& d) {
         d.stages = {"a", "b c"};
       },
       -1, "the stage \"b c\" has no usable name; write letters, digits, '_' and '-' (P66)"},
      {[](Description& d) {
         d.stages = {"a", "b", "a"};
       },
       -1, "the stage \"a\" is declared twice; remove one (P66)"},
      {[](Description& d) { during(d, &Rule::clauses, "a"); }, -1,
       "the rule \"where during \\\"a\\\" : store f32\" speaks of the stage \"a\", which the model "
       "does not have; declare it: stages \"a\" (P66)"},
      {[](Description& d) {
         d.stages = {"b", "c"};
         during(d, &Rule::exceptions, "a");
       },
       -1,
       "the rule \"everywhere except during \\\"a\\\" : store f32\" speaks of the stage \"a\", "
       "which "
       "the model does not have; its stages are \"b\", \"c\" (P66)"},
  };
  for (const Case& c : cases) check(c);
}

TEST_CASE("attributes belong to their kind and hold numbers") {
  const Case cases[] = {
      {[](Description& d) { d.nodes[kAct].attributes = {}; }, kAct,
       "gelu '%act' has the attributes of another kind; give it its own (D24)"},
      {[](Description& d) { d.nodes[kX].attributes = StateAttributes{}; }, kX,
       "input '%x' has the attributes of another kind; give it its own (D20)"},
      {[](Description& d) {
         initializer(d) = {Initializer::Kind::uniform, 1, -1};
       },
       kWeight,
       "parameter '%fc.weight' has an initializer uniform of 1 and -1; use numbers finite in f32, "
       "ends in "
       "order and a deviation that is not negative (D20)"},
      {[](Description& d) {
         initializer(d) = {Initializer::Kind::normal, 0, -1};
       },
       kWeight,
       "parameter '%fc.weight' has an initializer normal of 0 and -1; use numbers finite in f32, "
       "ends in "
       "order and a deviation that is not negative (D20)"},
      {[](Description& d) { initializer(d).first = kNan; }, kWeight,
       "parameter '%fc.weight' has an initializer constant of nan and 0; use numbers finite in "
       "f32, ends "
       "in order and a deviation that is not negative (D20)"},
      {[](Description& d) {
         initializer(d) = {Initializer::Kind::uniform, 0, kInfinity};
       },
       kWeight,
       "parameter '%fc.weight' has an initializer uniform of 0 and inf; use numbers finite in f32, "
       "ends "
       "in "
       "order and a deviation that is not negative (D20)"},
      {[](Description& d) {
         initializer(d) = {Initializer::Kind::constant, 1, 2};
       },
       kWeight,
       "parameter '%fc.weight' has a constant initializer with a second number, 2; leave it 0 "
       "(D20)"},
      {[](Description& d) {
         initializer(d) = {Initializer::Kind::truncated_normal, 0, 1, 2, -2};
       },
       kWeight,
       "parameter '%fc.weight' has an initializer truncated_normal from 2 to -2; use ends that are "
       "finite in f32 and in order (D20)"},
      {[](Description& d) {
         initializer(d) = {Initializer::Kind::orthogonal, 1, 2};
       },
       kWeight,
       "parameter '%fc.weight' has an initializer orthogonal with numbers that its text leaves "
       "out; leave them as they are (D20)"},
      {[](Description& d) { d.nodes[kNorm].attributes = LayerAttributes{}; }, kNorm,
       "layer_norm '%norm' does not have the settings of its kind; give it 'epsilon' (D22)"},
      {[](Description& d) { d.nodes[kNorm].attributes = set(kind_called("layer_norm"), true); },
       kNorm, "layer_norm '%norm' does not have the settings of its kind; give it 'epsilon' (D22)"},
      {[](Description& d) { d.nodes[kAct].attributes = set(kind_called("gelu"), "tan"); }, kAct,
       "gelu '%act' has an approximation \"tan\"; write erf (D24)"},
      {[](Description& d) { d.nodes[kAct].attributes = function("f", {}); }, kAct,
       "gelu '%act' does not have the settings of its kind; give it 'approximation' (D24)"},
      {[](Description& d) {
         std::get<LayerAttributes>(d.nodes[kAct].attributes).settings.push_back({"more", 1.0});
       },
       kAct, "gelu '%act' has the attributes of another kind; give it its own (D24)"},
      {[](Description& d) { d.nodes[kMean].attributes = StateAttributes{kInfinity}; }, kMean,
       "state '%mean' has an initial value of inf, which is not finite in f32; write 0 (D20)"},
  };
  for (const Case& c : cases) check(c);
}

TEST_CASE("a transposed linear says so, and its weight lies the other way") {
  const auto fault = [](bool transposed, Shape weight) {
    Builder b;
    const NodeId x = b.input("x", {symbol("batch"), fixed(9)});
    const NodeId table = b.parameter("to.weight", std::move(weight));
    const NodeId back =
        b.node("back", kind_called("linear"), {{"x", x}, {"weight", table}},
               {symbol("batch"), fixed(4)}, LayerAttributes{{{"transposed", transposed}}, {}});
    b.description.outputs = {{"rows", back}};
    const auto found = validate(b.description);
    return found ? found->message : "";
  };
  CHECK(fault(true, {fixed(9), fixed(4)}) == "");
  CHECK(fault(true, {fixed(4), fixed(9)}) ==
        "linear '%back' needs the weight [9, 9] but reads [4, 9] of '%to.weight'; make it [9, 9] "
        "(D21)");
  CHECK(fault(false, {fixed(4), fixed(9)}) ==
        "linear '%back' states that it is not transposed; leave that out (D21)");
}

TEST_CASE("an embedding reads integers, from a weight that has its padding_index") {
  const auto fault = [](Element format, Shape weight, std::int64_t padding) {
    Builder b;
    const NodeId token = b.input("token", {symbol("batch")}, format);
    const NodeId table = b.parameter("embed.weight", std::move(weight));
    const NodeId embed =
        b.node("embed", kind_called("embedding"), {{"token", token}, {"weight", table}},
               {symbol("batch"), fixed(4)}, LayerAttributes{{{"padding_index", padding}}, {}});
    b.description.outputs = {{"rows", embed}};
    const auto found = validate(b.description);
    return found ? found->message : "";
  };
  const Shape table = {fixed(9), fixed(4)};
  CHECK(fault(Element::i32, table, 8) == "");
  CHECK(
      fault(Element::f32, table, 8) ==
      "embedding '%embed' has the token '%token', which holds no integers; use an input of format "
      "i32, or of other integers (D8)");
  CHECK(fault(Element::i32, table, 9) ==
        "embedding '%embed' has the padding_index 9 and 9 rows; write the number of one of them, "
        "from 0 on (D34)");
  CHECK(fault(Element::i32, table, -1) ==
        "embedding '%embed' has a padding_index of -1, which is negative; write 0 (D34)");
  CHECK(
      fault(Element::i32, {fixed(9), fixed(4), fixed(1)}, 0) ==
      "embedding '%embed' needs the weight [9, 4] but reads [9, 4, 1] of '%embed.weight'; make it "
      "[9, 4] (D34)");
}

TEST_CASE("numbers are judged as f32") {
  const Case cases[] = {
      {[](Description& d) { d.losses[1].weight = 1e39; }, kMse,
       "mse '%mse' has the weight 1e+39; make it finite in f32 (D6)"},
      {[](Description& d) { initializer(d).first = -1e39; }, kWeight,
       "parameter '%fc.weight' has an initializer constant of -1e+39 and 0; use numbers finite in "
       "f32, ends in order and a deviation that is not negative (D20)"},
      {[](Description& d) { d.nodes[kMean].attributes = StateAttributes{1e39}; }, kMean,
       "state '%mean' has an initial value of 1e+39, which is not finite in f32; write 0 (D20)"},
      {[](Description& d) { d.optimizer = Sgd{1e39}; }, -1,
       "the optimizer sgd has learning_rate 1e+39; make it finite, not negative in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = Sgd{0.1, 1 - 0x1p-26};
       },
       -1,  // 1 in f32
       "the optimizer sgd has momentum 0.9999999850988388; make it finite, not negative and below "
       "1 in f32 (D11)"},
      {[](Description& d) {
         d.optimizer = Sgd{0.1, 1e-60, true};
       },
       -1,  // 0 in f32
       "the optimizer sgd has nesterov without momentum; give it a momentum above 0 (D11)"},
      {[](Description& d) { d.clip = 1e-60; }, -1,
       "the clip norm is 1e-60; make it finite and positive in f32 (D11)"},
  };
  for (const Case& c : cases) check(c);
  Description largest = valid();
  const double rounds_down = 3.4028235e38;  // a little above the largest f32
  largest.losses[1].weight = -rounds_down;
  initializer(largest) = {Initializer::Kind::uniform, -rounds_down, rounds_down};
  largest.nodes[kMean].attributes = StateAttributes{rounds_down};
  largest.optimizer = Sgd{rounds_down, 1 - 0x1p-24, true, rounds_down};
  largest.clip = 1e-45;
  CHECK(!validate(largest));
}

TEST_CASE("an expression is in single assignment and keeps its conditions to select") {
  const Case cases[] = {
      {[](Description& d) { expression(d).arity = 3; }, kOwn,
       "pointwise '%own': its function takes 3 values and it has 2 operands; make them equal "
       "(D28)"},
      {[](Description& d) { expression(d).instructions.clear(); }, kOwn,
       "pointwise '%own': its function is empty; give it an instruction (D28)"},
      {[](Description& d) { expression(d).instructions[1].a = 2; }, kOwn,
       "pointwise '%own': instruction %1 (operand) reads operand 2 of 2; count operands from 0 "
       "(D28)"},
      {[](Description& d) { expression(d).instructions[3].c = 3; }, kOwn,
       "pointwise '%own': instruction %3 (select) reads %3, which is not an earlier instruction; "
       "put it first (D28)"},
      {[](Description& d) { expression(d).instructions[3].b = -1; }, kOwn,
       "pointwise '%own': instruction %3 (select) reads %-1, which is not an earlier instruction; "
       "put it first (D28)"},
      {[](Description& d) { expression(d).instructions[3].b = 2; }, kOwn,
       "pointwise '%own': instruction %3 (select) computes with a condition; conditions only steer "
       "select (D28)"},
      {[](Description& d) { expression(d).instructions[3].a = 0; }, kOwn,
       "pointwise '%own': instruction %3 (select) needs a condition (less, less_equal or equal) as "
       "its first operand (D28)"},
      {[](Description& d) { expression(d).instructions.pop_back(); }, kOwn,
       "pointwise '%own': its function ends in a condition; end it with a select (D28)"},
      {[](Description& d) { expression(d).instructions[2].c = 1; }, kOwn,
       "pointwise '%own': instruction %2 (less) sets a field that its operation does not read; "
       "leave it 0 (D28)"},
      {[](Description& d) { expression(d).instructions[2].constant = 1; }, kOwn,
       "pointwise '%own': instruction %2 (less) sets a field that its operation does not read; "
       "leave it 0 (D28)"},
      {[](Description& d) {
         expression(d).instructions[0] = {ScalarOp::constant, 1};
       },
       kOwn,
       "pointwise '%own': instruction %0 (constant) sets a field that its operation does not read; "
       "leave it 0 (D28)"},
      {[](Description& d) { expression(d).instructions[0].b = 1; }, kOwn,
       "pointwise '%own': instruction %0 (operand) sets a field that its operation does not read; "
       "leave it 0 (D28)"},
      {[](Description& d) { expression(d).instructions[0].a = -1; }, kOwn,
       "pointwise '%own': instruction %0 (operand) reads operand -1 of 2; count operands from 0 "
       "(D28)"},
      {[](Description& d) { expression(d).arity = -1; }, kOwn,
       "pointwise '%own': its function takes -1 values and it has 2 operands; make them equal "
       "(D28)"},
      {[](Description& d) {
         expression(d).instructions[0] = {ScalarOp::constant, 0, 0, 0, kNan};
       },
       kOwn, "pointwise '%own': instruction %0 (constant) holds a NaN; use a number (D28)"},
  };
  for (const Case& c : cases) check(c);
}

TEST_CASE("stated shapes are those that the operands give") {
  const Case cases[] = {
      {[](Description& d) { d.nodes[kWeight].shape[1].extent = 5; }, kFc,
       "linear '%fc' needs the weight [4, 4] but reads [4, 5] of '%fc.weight'; make it [4, 4] "
       "(D21)"},
      {[](Description& d) { d.nodes[kWeight].shape = {fixed(4)}; }, kFc,
       "linear '%fc' needs the weight [4, 4] but reads [4] of '%fc.weight'; make it [4, 4] (D21)"},
      {[](Description& d) { d.nodes[kWeight].shape.push_back(fixed(1)); }, kFc,
       "linear '%fc' needs the weight [4, 4] but reads [4, 4, 1] of '%fc.weight'; make it [4, 4] "
       "(D21)"},
      {[](Description& d) { d.nodes[kBias].shape[0].extent = 3; }, kFc,
       "linear '%fc' needs the bias [4] but reads [3] of '%fc.bias'; make it [4] (D21)"},
      {[](Description& d) { d.nodes[kX].shape.clear(); }, kFc,
       "linear '%fc' reads a scalar but works on rows; give its input a dimension (D21)"},
      {[](Description& d) { d.nodes[kFc].shape[0].symbol = "time"; }, kFc,
       "linear '%fc' states the shape [time, 4] but its operands give [batch, 4]; state that "
       "(D21)"},
      {[](Description& d) { d.nodes[kAct].shape.clear(); }, kAct,
       "gelu '%act' states the shape [] but its operands give [batch, 4]; state that (D24)"},
      {[](Description& d) { d.nodes[kMean].shape[1].extent = 5; }, kOwn,
       "pointwise '%own' works on equal shapes but reads [batch, 4] and [batch, 5] of '%mean'; "
       "make "
       "the shapes equal (D28)"},
      {[](Description& d) { d.nodes[kJoined].shape[1].extent = 9; }, kJoined,
       "concat '%joined' states the shape [batch, 9] but its operands give [batch, 8]; state that "
       "(D27)"},
      {[](Description& d) { d.nodes[kJoined].operands[1].node = kBias; }, kJoined,
       "concat '%joined' puts [batch, 4] beside [4] of '%fc.bias'; make all dimensions but the "
       "last "
       "equal (D27)"},
      {[](Description& d) {
         d.nodes[kJoined].operands = {{"part0", kLabel}}, d.nodes[kLabel].format = Element::f32;
       },
       kJoined,
       "concat '%joined' adds up last dimensions, but that of '%label' is the symbol 'batch'; give "
       "it a number (D27)"},
      {[](Description& d) { d.nodes[kLabel].shape = {fixed(4)}; }, kXent,
       "cross_entropy '%xent' reads logits [batch, 8] and [4] of '%label'; make the label [batch] "
       "(D29)"},
      {[](Description& d) { d.nodes[kMse].operands[0].node = kJoined; }, kMse,
       "mse '%mse' compares [batch, 8] with [batch, 4] of '%x'; make the shapes equal (D30)"},
      {[](Description& d) { d.nodes[kMse].shape = {fixed(1)}; }, kMse,
       "mse '%mse' states the shape [1] but its operands give []; state that (D30)"},
  };
  for (const Case& c : cases) check(c);
}
