// SPDX-License-Identifier: Apache-2.0
// Each rule about attributes, numbers, expressions and stated shapes broken once.
#include "broken.hpp"

using namespace halftone::tests;

TEST_CASE("attributes belong to their kind and hold numbers") {
  const Broken cases[] = {
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
  for (const Broken& c : cases) check(c);
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
  const Broken cases[] = {
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
  for (const Broken& c : cases) check(c);
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
  const Broken cases[] = {
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
  for (const Broken& c : cases) check(c);
}

TEST_CASE("stated shapes are those that the operands give") {
  const Broken cases[] = {
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
  for (const Broken& c : cases) check(c);
}
