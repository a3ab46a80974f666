// SPDX-License-Identifier: Apache-2.0
// Each rule about training, the optimizer, its states, clips and stages broken once.
#include "broken.hpp"

using namespace halftone::tests;

namespace {

/// P68, P86
void hold_states(Description& d, const Encoding& in) {
  Rule& rule = d.rules.emplace_back();
  rule.clauses.emplace_back().roles = {Role::optimizer_state};
  rule.store = EncodingChoice{false, in};
}
void place_states(Description& d) {
  Rule& rule = d.rules.emplace_back();
  rule.clauses.emplace_back().roles = {Role::optimizer_state};
  rule.place = Memory::host;
}
Encoding blocks_of_states() {
  Encoding in(Element::f8e4m3);
  in.scaling = {
      .kind = halftone::encoding::Scaling::Kind::block, .size = 256, .scale = Element::f32};
  in.saturate = true;
  return in;
}

}  // namespace

TEST_CASE("training, rules and optimizers keep D9 to D11") {
  const Broken cases[] = {
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
         d.optimizer = Sgd{};
         hold_states(d, Element::bf16);
       },
       -1,
       "the optimizer sgd without momentum keeps no states, but the rule \"where role "
       "optimizer_state : store bf16\" stores them; leave that rule out, or write if_any in it "
       "(P42)"},
      {[](Description& d) {
         d.optimizer = Custom{0.5, 2, {5, {{ScalarOp::operand, 1}}}, {}};
         hold_states(d, Element::f32);
       },
       -1,
       "the optimizer custom without states keeps no states, but the rule \"where role "
       "optimizer_state : store f32\" stores them; leave that rule out, or write if_any in it "
       "(P42)"},
      {[](Description& d) {
         d.optimizer = Sgd{};
         place_states(d);
       },
       -1,
       "the optimizer sgd without momentum keeps no states, but the rule \"where role "
       "optimizer_state : place host\" places them; leave that rule out, or write if_any in it "
       "(P42)"},
      {[](Description& d) {
         d.optimizer = Adafactor{};
         place_states(d);
       },
       -1,
       "the optimizer adafactor has few states, but the rule \"where role optimizer_state : place "
       "host\" places them in the host's memory; leave that rule out (P91)"},
      {[](Description& d) {
         d.optimizer = Lamb{};
         place_states(d);
       },
       -1,
       "the optimizer lamb reads its states twice, but the rule \"where role optimizer_state : "
       "place host\" places them in the host's memory; use another optimizer, as adamw, or leave "
       "that rule out (P91)"},
      {[](Description& d) {
         d.optimizer = AdamW{};
         hold_states(d, Element::bf16);
         d.rules.back().rounding = Rounding::stochastic;
         place_states(d);
       },
       -1,
       "a rule rounds the optimizer's states stochastically, but the rule \"where role "
       "optimizer_state : place host\" places them in the host's memory, from where parts of them "
       "come; round them to the nearest, or leave that rule out (P91)"},
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
         const Expression gradient{6, {{ScalarOp::operand, 1}}};
         d.optimizer = Custom{0.5, 2, gradient, {{"m", gradient}}};
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
  for (const Broken& c : cases) check(c);
}

TEST_CASE("averages lie in the host's memory, be there states or not (P91)") {
  Description description = valid();
  description.optimizer = Sgd{};
  place_states(description);
  CHECK(validate(description));
  description.average = 0.9;
  CHECK_FALSE(validate(description));
}

TEST_CASE("a later rule has states on the device that an optimizer cannot have elsewhere (P91)") {
  Description description = valid();
  description.optimizer = Lamb{};
  place_states(description);
  CHECK(validate(description));
  place_states(description);
  description.rules.back().place = Memory::device;
  CHECK_FALSE(validate(description));
  description.rules.back().clauses.back().targets = {TargetRange{.chip = "cpu"}};
  CHECK(validate(description));  // where it does not say so
  description.rules.back().clauses.back().targets.clear();
  std::swap(description.rules.back(), description.rules[description.rules.size() - 2]);
  CHECK(validate(description));
}

TEST_CASE("rules about activations place no states (P98)") {
  Description description = valid();
  description.optimizer = Lamb{};
  place_states(description);
  CHECK(validate(description));
  description.rules.back().clauses.back().roles = {Role::activation};
  CHECK_FALSE(validate(description));
  place_states(description);
  description.rules.back().place = Memory::device;
  std::swap(description.rules.back(), description.rules[description.rules.size() - 2]);
  CHECK_FALSE(validate(description));
}

TEST_CASE("stages have names of their own, and rules speak of those that there are (P66)") {
  static constexpr auto during = [](Description& d, std::vector<Clause> Rule::*clauses,
                                    const char* stage) {
    d.rules = {Rule{}};
    d.rules[0].store = {false, Element::f32};
    (d.rules[0].*clauses).emplace_back().stages = {stage};
  };
  const Broken cases[] = {
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
  for (const Broken& c : cases) check(c);
}
