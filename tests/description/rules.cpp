// SPDX-License-Identifier: Apache-2.0
// Each rule of docs/spec/description.md about nodes, uses and losses broken once, in a model that
// is valid otherwise.
#include "broken.hpp"

using namespace halftone::tests;

TEST_CASE("a model that keeps every rule has no violation") {
  const auto violation = validate(valid());
  CHECK_MESSAGE(!violation, (violation ? violation->message : ""));
}

TEST_CASE("nodes, names and operands keep D1 to D3") {
  const Broken cases[] = {
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
  for (const Broken& c : cases) check(c);
}

TEST_CASE("dimensions, formats and wanted gradients keep D4, D8 and D15") {
  const Broken cases[] = {
      {[](Description& d) { d.nodes[kWeight].shape[0].extent = 0; }, kWeight,
       "parameter '%fc.weight' has a dimension of 0; make every extent positive (D4)"},
      {[](Description& d) { d.nodes[kWeight].shape[0].extent = INT64_MAX; }, kWeight,
       "parameter '%fc.weight' has more than 1099511627776 elements; make its dimensions smaller "
       "(D4)"},
      {[](Description& d) {
         d.nodes[kX].shape = {{1 << 20, {}}, {1 << 20, {}}, {0, "batch", 2}};
       },
       kX, "input '%x' has more than 1099511627776 elements; make its dimensions smaller (D4)"},
      {[](Description& d) {
         d.nodes[kX].shape[0] = {4, "batch"};
       },
       kX,
       "input '%x' has a dimension that adds to the symbol 'batch'; give it a multiple of that, to "
       "which pad adds (D116)"},
      {[](Description& d) { d.nodes[kX].shape[0].symbol = "2n"; }, kX,
       "input '%x' has a dimension \"2n\"; a symbol is an identifier (D4)"},
      {[](Description& d) { d.nodes[kX].shape[0].factor = 0; }, kX,
       "input '%x' has a dimension of 0 times the symbol 'batch'; make the factor 1 to 65536 "
       "(D112)"},
      {[](Description& d) { d.nodes[kX].shape[0].factor = 65537; }, kX,
       "input '%x' has a dimension of 65537 times the symbol 'batch'; make the factor 1 to 65536 "
       "(D112)"},
      {[](Description& d) { d.nodes[kWeight].shape[0].factor = 2; }, kWeight,
       "parameter '%fc.weight' has a dimension of 4 with a factor; give factors to symbols alone "
       "(D112)"},
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
  for (const Broken& c : cases) check(c);
}

TEST_CASE("uses, outputs, losses and assignments keep D5 to D7") {
  const Broken cases[] = {
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
  for (const Broken& c : cases) check(c);
}
