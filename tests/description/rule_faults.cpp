// SPDX-License-Identifier: Apache-2.0
// Rules that cannot be meant (P40 to P43), each with its sentence, and rules next to them that can.
#include "rule_cases.hpp"

using namespace halftone::tests;

TEST_CASE("a rule that matches nothing is refused") {
  const RuleCase cases[] = {
      {"where layer \"conv\" : store f32",
       "names \"conv\", but no layer and no parameter is called that; correct the name or remove "
       "the rule (P40)"},
      {"where layer \"*fc\" : store f32",
       "names \"*fc\", but no layer and no parameter is called that; correct the name or remove "
       "the rule (P40)"},
      {"where layer \"x\" : store f32",
       "names \"x\", but no layer and no parameter is called that; correct the name or remove the "
       "rule (P40)"},
      {"where layer \"act\" or layer \"{a,b}\" : store f32",
       "names \"{a,b}\", but no layer and no parameter is called that; correct the name or remove "
       "the rule (P40)"},
      {"where class normalization : compute f32",
       "names a class or op that this model does not have; correct it or remove the rule (P40)"},
      {"where op gelu|silu : compute f32",
       "names a class or op that this model does not have; correct it or remove the rule (P40)"},
      {"where layer \"act\" class contraction : compute f32",
       "names \"act\", but the layers called that are of another class or op; correct one of the "
       "two (P40)"},
      {"where layer \"h/fc.weight\" op relu role weight : compute f32",
       "names \"h/fc.weight\", but the layers called that are of another class or op; correct one "
       "of the two (P40)"},
      {"where op input : store f32",
       "names an op that is no layer or loss; name inputs and states not at all, parameters by "
       "role weight (P40)"},
      {"where layer \"act\" pass weight_gradient : compute f32",
       "combines parts that no operation and no value of this model has; correct one of them or "
       "remove the rule (P40)"},
      {"where layer \"frozen\" pass weight_gradient : compute f32",
       "combines parts that no operation and no value of this model has; correct one of them or "
       "remove the rule (P40)"},
      {"where layer \"frozen\" role gradient : store f16",
       "combines parts that no operation and no value of this model has; correct one of them or "
       "remove the rule (P40)"},
      {"where layer \"frozen\" role gradient|weight pass input_gradient|weight_gradient : compute "
       "f16",
       "combines parts that no operation and no value of this model has; correct one of them or "
       "remove the rule (P40)"},
      {"where layer \"frozen\" pass input_gradient : store f16",
       "combines parts that no operation and no value of this model has; correct one of them or "
       "remove the rule (P40)"},
      {"where op linear role saved pass input_gradient : compute f32",
       "combines parts that no operation and no value of this model has; correct one of them or "
       "remove the rule (P40)"},
      {"where op add role saved pass input_gradient : compute f32",
       "combines parts that no operation and no value of this model has; correct one of them or "
       "remove the rule (P40)"},
      {"where op add role weight : compute f32",
       "combines parts that no operation and no value of this model has; correct one of them or "
       "remove the rule (P40)"},
      {"where target sm_8 : store f32",
       "names the chip \"sm_8\", which is none; write cpu, or sm_ and a number such as sm_80 or "
       "sm_90a (P40)"},
      {"where target cpu|sm_1000 : store f32",
       "names the chip \"sm_1000\", which is none; write cpu, or sm_ and a number such as sm_80 or "
       "sm_90a (P40)"},
      {"where target sm_80aa : store f32",
       "names the chip \"sm_80aa\", which is none; write cpu, or sm_ and a number such as sm_80 or "
       "sm_90a (P40)"},
      {"where target cuda : store f32",
       "names the chip \"cuda\", which is none; write cpu, or sm_ and a number such as sm_80 or "
       "sm_90a (P40)"},
      {"where target from(cpu) : store f32",
       "orders cpu among chips, but it is neither before nor after one; write cpu alone (P40)"},
  };
  for (const RuleCase& is : cases) check(kTrained, is);
  check(kEvaluated, {"where pass input_gradient|weight_gradient : compute f32",
                     "speaks of a backward pass, which a model without losses does not have; "
                     "remove the rule (P40)"});
  check(kEvaluated, {"where role saved : store f32",
                     "speaks of a backward pass, which a model without losses does not have; "
                     "remove the rule (P40)"});
}

TEST_CASE("parts that exclude each other are refused") {
  const char* class_and_op =
      "names a class and an op that exclude each other; keep one of them (P41)";
  const char* role_and_pass =
      "names a role and a pass that exclude each other; keep one of them (P41)";
  const RuleCase cases[] = {
      {"where class contraction|loss op relu|add : compute f32", class_and_op},
      {"where role gradient pass forward : store f32", role_and_pass},
      {"where role activation pass input_gradient|weight_gradient : store f32", role_and_pass},
      {"where role weight_gradient pass forward|input_gradient : store f32", role_and_pass},
      {"where role master|optimizer_state pass forward : master f32", role_and_pass},
  };
  for (const RuleCase& is : cases) check(kTrained, is);
}

TEST_CASE("internal values are selected by role and name") {
  for (const char* rule : {
           "where role internal : store bf16",
           "where role internal : store tf32 rounding toward_zero",
           "where layer \"h/fc\" role internal : store f16",
           "where layer \"h/fc.product\" role internal : store f16",
           "where layer \"**.product\" role internal : store f16",
           "where layer \"{act,h/*}.product\" op linear role internal : store f16",
           "where class contraction role internal|activation : store bf16",
       }) {
    CAPTURE(rule);
    CHECK(fault(kTrained, rule) == "");
    CHECK(fault(kEvaluated, "where layer \"fc.product\" role internal : store bf16") == "");
  }
  const char* nothing =
      "combines parts that no operation and no value of this model has; correct "
      "one of them or remove the rule (P40)";
  const RuleCase cases[] = {
      {"where layer \"h/fc.products\" role internal : store bf16",
       "names \"h/fc.products\", but linear has no such internal value; write one that it has: "
       "product (P40)"},
      {"where layer \"**.normalized\" role internal : store bf16",
       "names \"**.normalized\", but linear has no such internal value; write one that it has: "
       "product (P40)"},
      {"where layer \"act.product\" role internal : store bf16",
       "names \"act.product\", but relu has no internal values; remove the rule (P40)"},
      {"where layer \"fc.product\" role internal : store bf16",
       "names \"fc.product\", but no layer and no parameter is called that; correct the name or "
       "remove the rule (P40)"},
      {"where layer \"h/fc.product\" : store bf16",
       "names \"h/fc.product\", an internal value, but not its role; add role internal (P40)"},
      {"where layer \"h/fc.product\" role weight : store bf16",
       "names \"h/fc.product\", an internal value, but not its role; add role internal (P40)"},
      {"where layer \"h/fc.weight\" role internal : store bf16", nothing},
      {"where layer \"act\" role internal : store bf16", nothing},
      {"where op relu role internal : store bf16", nothing},
      {"where layer \"h/fc.product\" op relu role internal : store bf16",
       "names \"h/fc.product\", but the layers called that are of another class or op; correct "
       "one of the two (P40)"},
      {"where role internal pass forward : store bf16",
       "names a role and a pass that exclude each other; keep one of them (P41)"},
      {"where role internal : store follow",
       "lets the store of role internal follow, but it has nothing to follow; write a format "
       "(P42)"},
      {"where role internal : compute bf16",
       "states a compute, but selects no operand; name operations and roles that they read (P42)"},
      {"where role internal : result bf16",
       "states result beside a role, which an operation does not have; name a pass instead, or "
       "write a rule of its own (P42)"},
      {"where role internal : recompute never",
       "states recompute for role internal; activations alone are recomputed, so remove that role "
       "(P42)"},
      {"where role internal or role saved : store tf32",
       "stores tf32, which nothing is held in; store f32, f16, bf16, f8e4m3, f8e5m2 or follow "
       "(P42)"},
      {"where role internal|saved : store tf32",
       "stores tf32, which nothing is held in; store f32, f16, bf16, f8e4m3, f8e5m2 or follow "
       "(P42)"},
      {"where role internal : store i32",
       "stores i32, which nothing is held in; store f32, f16, bf16, f8e4m3, f8e5m2 or follow "
       "(P42)"},
  };
  for (const RuleCase& is : cases) check(kTrained, is);
  check(kWithoutParameters, {"where role internal : store bf16", nothing});
}

TEST_CASE("a glob that is too long to be matched is refused as that") {
  const std::string longest = "where layer \"**fc" + std::string(122, '*') + "\" : store f32";
  CHECK(fault(kTrained, longest) == "");
  const std::string longer = "where layer \"**fc" + std::string(123, '*') + "\" : store f32";
  check(
      kTrained,
      {longer.c_str(),
       "names a layer by more than 126 characters, the most that are matched; write * in place of "
       "some of them (P40)"});
}

TEST_CASE("nothing has a gradient before the first layer that is trained") {
  const char* model = R"(halftone description 1
model "m"
input %x : f32[batch, 4]
state %kept : [batch, 4] initial 0
parameter %first.weight : [4, 4] init constant(1)
parameter %second.weight : [4, 4] init constant(1)
%mean = add(a: %x, b: %kept) : [batch, 4]
%first = linear(x: %mean, weight: %first.weight) : [batch, 4]
%second = linear(x: %first, weight: %second.weight) : [batch, 4]
%error = mse(x: %second, target: %x) : []
%metric = mse(x: %mean, target: %x) : []
assign %kept = %mean
loss %error weight 1
loss %metric weight 0
)";
  check(model,
        {"where layer \"first\" pass input_gradient : compute bf16",
         "states a compute, but selects no operand; name operations and roles that they read "
         "(P42)"});
  check(model, {"where layer \"mean\" role gradient : store bf16",
                "combines parts that no operation and no value of this model has; correct one of "
                "them or remove the rule (P40)"});
  check(model, {"where layer \"metric\" pass input_gradient : result bf16",
                "combines parts that no operation and no value of this model has; correct one of "
                "them or remove the rule (P40)"});
  for (const char* rule : {
           "where layer \"first\" role gradient : store bf16",
           "where layer \"first\" pass weight_gradient : compute bf16 result bf16",
           "where layer \"second\" pass input_gradient : compute bf16 result bf16",
           "where layer \"error\" pass input_gradient : result bf16",
           "where layer \"mean\" role saved : store bf16",
           "where layer \"{mean,first}\" role gradient : store bf16",
       }) {
    CAPTURE(rule);
    CHECK(fault(model, rule) == "");
  }
}

TEST_CASE("what the text form cannot spell is refused") {
  const auto model =
      parse(std::string(kTrained) + "optimizer sgd learning_rate 1 momentum 0 weight_decay 0\n");
  Description description = std::get<Description>(model);
  Rule& rule = description.rules.emplace_back();
  CHECK(validate(description)->message ==
        "the rule \"everywhere :\" states no field; state store, compute, result, accumulate, "
        "master, rounding, recompute, loss_scale, memory_budget, quantize or place (P41)");
  rule.store = {true, Element::bf16};
  CHECK(validate(description)->message ==
        "the rule \"everywhere : store follow\" states store follow together with a format; leave "
        "the format f32 (P42)");
  rule.store = EncodingChoice{};
  rule.clauses.emplace_back();
  CHECK(validate(description)->message ==
        "the rule \"where : store f32\" has a clause without parts; name layer, class, op, role, "
        "pass or target, or write everywhere (P41)");
}

TEST_CASE("rules that can be meant are accepted") {
  for (const char* rule : {
           "everywhere : store bf16 compute bf16 accumulate f32 master f32",
           "where class normalization|softmax|loss : compute f32",
           "where class loss or layer \"**\" : store f32 compute f32",
           "where layer \"h/fc\" : store f16 compute f16 result bf16 accumulate hardware master "
           "f32 rounding toward_zero recompute always",
           "where layer \"h/fc.weight\" role weight : store bf16",
           "where layer \"h/f?\" role weight pass forward : compute bf16",
           "where layer \"*.weight\" role master : master f32",
           "where role master : master bf16 remainder",
           "where role master target cpu : master bf16 remainder",
           "everywhere : store bf16 compute bf16 master bf16 remainder",
           "everywhere except target cpu : master bf16 remainder",
           "everywhere except layer \"h/fc\" role gradient : store bf16 master bf16 remainder",
           "where role optimizer_state : store bf16",
           "where role optimizer_state : store f16 saturate rounding stochastic",
           "where role optimizer_state|saved target cpu : store f16",
           "where role optimizer_state : store f8e4m3 scaled block 256 f32 saturate",
           "where role optimizer_state target cpu : store f8e5m2 scaled block 32 f32 saturate "
           "rounding stochastic",
           "where role saved : store bf16",
           "where role saved pass input_gradient : compute bf16",
           "where role saved|activation pass forward|weight_gradient : store follow",
           "where role gradient : store f16 compute f16",
           "where role weight_gradient : store f32",
           "where pass weight_gradient : result bf16 accumulate ordered",
           "where op linear role gradient pass weight_gradient : compute tf32",
           "where layer \"frozen\" role weight : store bf16 compute bf16",
           "where class loss pass input_gradient : result f16",
           "where target before(sm_80)|cpu : store f16 compute f16 loss_scale fixed 128",
           "everywhere : loss_scale fixed 3e-39",
           "where target sm_75|sm_121a|sm_100f : accumulate hardware",
           "where op relu role activation : store bf16 compute follow recompute never",
           "everywhere : store f8e4m3 saturate compute f8e5m2 result f16 saturate",
           "where role internal : store f8e4m3",
           "everywhere : store bf16 compute f8e4m3 scaled tensor f8e8m0 saturate",
           "everywhere : compute f8e4m3 scaled delayed 1 f8e8m0 saturate",
           "where role gradient : compute f8e5m2 scaled delayed 4096 margin 16 f8e8m0 saturate "
           "rounding stochastic",
           "where role weight : compute f8e5m2 scaled block 2 f8e8m0 saturate",
           "where role weight : compute f4e2m1 scaled block 32 f8e8m0 saturate",
           "everywhere : compute f6e3m2 scaled tensor f8e8m0 saturate rounding nearest_even",
           "where op linear : compute f6e2m3 scaled block 32 f8e8m0 saturate",
           "where role gradient : compute f8e5m2 scaled block 4096 f8e8m0 saturate rounding "
           "stochastic",
           "where role weight : store f8e5m2 saturate rounding toward_zero",
           "everywhere : store f32 compute tf32 rounding stochastic",
           "where role activation : store follow rounding stochastic",
           "where role weight|saved|gradient : store f8e4m3 rounding stochastic",
       }) {
    CAPTURE(rule);
    CHECK(fault(kTrained, rule) == "");
  }
  CHECK(fault(kEvaluated, "everywhere : store bf16 compute follow recompute never") == "");
  CHECK(fault(kEvaluated, "where role weight|gradient : compute bf16") == "");
  CHECK(fault(kWithoutParameters, "everywhere : store f32 accumulate f32 master f32") == "");
  CHECK(fault(kWithoutParameters, "where target cpu : store f32 accumulate f32 master f32") == "");
}
