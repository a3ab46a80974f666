// SPDX-License-Identifier: Apache-2.0
// Rules that cannot be meant (P40 to P43), each with its sentence, and rules next to them that can.
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "halftone/description/text.hpp"
#include "halftone/description/validate.hpp"

using namespace halftone::description;

namespace {

/// fc is trained, frozen is not; a layer of most classes.
constexpr const char* kTrained = R"(halftone description 1
model "m"
input %x : f32[batch, 4]
parameter %frozen.weight : [4, 4] init constant(1) frozen
parameter %h/fc.weight : [4, 4] init constant(1)
%frozen = linear(x: %x, weight: %frozen.weight) : [batch, 4]
%h/fc = linear(x: %frozen, weight: %h/fc.weight) : [batch, 4]
%act = relu(x: %h/fc) : [batch, 4]
%sum = add(a: %act, b: %x) : [batch, 4]
%error = mse(x: %sum, target: %x) : []
loss %error weight 1
)";
constexpr const char* kEvaluated = R"(halftone description 1
model "m"
input %x : f32[batch, 4]
parameter %fc.weight : [4, 4] init constant(1)
%fc = linear(x: %x, weight: %fc.weight) : [batch, 4]
output "y" = %fc
)";
constexpr const char* kWithoutParameters = R"(halftone description 1
model "m"
input %x : f32[batch, 4]
%act = relu(x: %x) : [batch, 4]
output "y" = %act
)";

/// What is wrong with `model` when it has this rule; empty when nothing is.
std::string fault(const char* model, const std::string& rule) {
  const std::string text = std::string(model) + "rule " + rule +
                           "\noptimizer sgd learning_rate 1 momentum 0 weight_decay 0\n";
  const auto result = parse(text);
  const auto* error = std::get_if<ParseError>(&result);
  return error ? error->message : "";
}

struct Case {
  const char *rule, *trouble;  // without the rule's name in front
};

void check(const char* model, const Case& is) {
  CAPTURE(is.rule);
  const std::string said = fault(model, is.rule);
  const std::size_t name = said.find(" : ");
  REQUIRE(name != said.npos);
  const std::size_t end = said.find("\" ", name);
  REQUIRE(end != said.npos);
  CHECK(said.substr(0, 10) == "the rule \"");
  CHECK(said.substr(end + 2) == is.trouble);
}

}  // namespace

TEST_CASE("a rule that matches nothing is refused") {
  const Case cases[] = {
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
  for (const Case& is : cases) check(kTrained, is);
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
  const Case cases[] = {
      {"where class contraction|loss op relu|add : compute f32", class_and_op},
      {"where role gradient pass forward : store f32", role_and_pass},
      {"where role activation pass input_gradient|weight_gradient : store f32", role_and_pass},
      {"where role weight_gradient pass forward|input_gradient : store f32", role_and_pass},
      {"where role master|optimizer_state pass forward : master f32", role_and_pass},
  };
  for (const Case& is : cases) check(kTrained, is);
}

TEST_CASE("fields that nothing selected has are refused") {
  const Case cases[] = {
      {"everywhere : store tf32",
       "stores tf32, which nothing is held in; store f32, f16, bf16, f8e4m3, f8e5m2 or follow "
       "(P42)"},
      {"everywhere : store i32",
       "stores i32, which nothing is held in; store f32, f16, bf16, f8e4m3, f8e5m2 or follow "
       "(P42)"},
      {"everywhere : store f4e2m1",
       "stores f4e2m1, which nothing is held in; store f32, f16, bf16, f8e4m3, f8e5m2 or follow "
       "(P42)"},
      {"where role internal : store f8e8m0",
       "stores f8e8m0, which nothing is held in; store f32, f16, bf16, f8e4m3, f8e5m2 or follow "
       "(P42)"},
      {"everywhere : compute i32",
       "states compute i32, which nothing is computed in; write f32, tf32, f16, bf16, f8e4m3 or "
       "f8e5m2 (P42)"},
      {"everywhere : compute f6e3m2 saturate",
       "states compute f6e3m2, which nothing is computed in; write f32, tf32, f16, bf16, f8e4m3 or "
       "f8e5m2 (P42)"},
      {"everywhere : result i32",
       "states result i32, which nothing is computed in; write f32, tf32, f16, bf16, f8e4m3 or "
       "f8e5m2 (P42)"},
      {"everywhere : store f32 saturate",
       "states a store that saturates, but nothing is rounded to its element (F2); leave saturate "
       "out (P42)"},
      {"everywhere : store f8e4m3 scaled tensor f8e8m0 saturate",
       "scales its store, but operands alone are scaled; state compute scaled, or leave the "
       "scaling out (P51)"},
      {"where role internal : store f8e4m3 scaled block 32 f8e8m0 saturate",
       "scales its store, but operands alone are scaled; state compute scaled, or leave the "
       "scaling out (P51)"},
      {"everywhere : result f8e5m2 scaled block 32 f8e8m0 saturate",
       "scales its result, but operands alone are scaled; state compute scaled, or leave the "
       "scaling out (P51)"},
      {"everywhere : master f32 scaled tensor f8e8m0",
       "scales its master, but operands alone are scaled; state compute scaled, or leave the "
       "scaling out (P51)"},
      {"everywhere : compute bf16 scaled tensor f8e8m0 saturate",
       "states a compute that scales an element of more than 8 bits (P51); state f8e4m3, f8e5m2, "
       "f6e3m2, f6e2m3 or f4e2m1 (P42)"},
      {"everywhere : compute f8e8m0 scaled tensor f8e8m0 saturate",
       "states a compute that scales an element of more than 8 bits (P51); state f8e4m3, f8e5m2, "
       "f6e3m2, f6e2m3 or f4e2m1 (P42)"},
      {"everywhere : store bf16 compute f4e2m1 scaled block 32 f8e8m0 saturate rounding "
       "toward_zero",
       "states a compute that rounds an element of fewer than 8 bits toward zero (P53); leave "
       "rounding out, or state stochastic (P42)"},
      {"everywhere : compute f8e5m2 scaled block 16 by 1 f8e4m3 saturate",
       "states a compute that has scales of f8e4m3 on another element than f4e2m1 (P77); state "
       "them as f8e8m0 (P42)"},
      {"everywhere : compute f4e2m1 scaled tensor f8e4m3 saturate",
       "states a compute that has scales that are no powers of two (P51); state them as f8e8m0 "
       "(P42)"},
      {"everywhere : compute f8e4m3 scaled block 5000 by 2 f8e8m0 saturate",
       "states a compute that has blocks of one element, or of more than 4096 rows or columns "
       "(P51); state as many as 32 or 128 (P42)"},
      {"everywhere : compute f8e4m3 scaled tensor f32 saturate",
       "states a compute that has scales that are no powers of two (P51); state them as f8e8m0 "
       "(P42)"},
      {"everywhere : compute f8e4m3 scaled block 1 f8e8m0 saturate",
       "states a compute that has blocks of one element, or of more than 4096 rows or columns "
       "(P51); state as many as 32 or 128 (P42)"},
      {"everywhere : compute f8e4m3 scaled block 4097 f8e8m0 saturate",
       "states a compute that has blocks of one element, or of more than 4096 rows or columns "
       "(P51); state as many as 32 or 128 (P42)"},
      {"everywhere : compute f8e4m3 scaled block -4294967264 f8e8m0 saturate",
       "states a compute that has blocks of one element, or of more than 4096 rows or columns "
       "(P51); state as many as 32 or 128 (P42)"},
      {"everywhere : compute f8e4m3 scaled delayed 0 f8e8m0 saturate",
       "states a compute that has a history of fewer than 1 or more than 4096 steps (P72); state "
       "as "
       "many as 1024 (P42)"},
      {"everywhere : compute f8e4m3 scaled delayed 4097 f8e8m0 saturate",
       "states a compute that has a history of fewer than 1 or more than 4096 steps (P72); state "
       "as "
       "many as 1024 (P42)"},
      {"everywhere : compute f8e4m3 scaled delayed 16 margin 17 f8e8m0 saturate",
       "states a compute that has a margin outside of 0 to 16 powers of two (P72); leave margin "
       "out, or state 1 (P42)"},
      {"everywhere : compute f8e4m3 scaled delayed 16 margin -1 f8e8m0 saturate",
       "states a compute that has a margin outside of 0 to 16 powers of two (P72); leave margin "
       "out, or state 1 (P42)"},
      {"everywhere : store f8e4m3 scaled delayed 16 f8e8m0 saturate",
       "scales its store, but operands alone are scaled; state compute scaled, or leave the "
       "scaling out (P51)"},
      {"everywhere : compute f8e4m3 scaled tensor f8e8m0",
       "states a compute that is scaled and does not saturate (P51); add saturate (P42)"},
      {"everywhere : master bf16",
       "keeps masters in another format than f32, or bf16 with a remainder; write master f32 or "
       "master bf16 remainder (P42)"},
      {"everywhere : master f32 remainder",
       "keeps masters in another format than f32, or bf16 with a remainder; write master f32 or "
       "master bf16 remainder (P42)"},
      {"everywhere : master bf16 saturate remainder",
       "keeps masters in another format than f32, or bf16 with a remainder; write master f32 or "
       "master bf16 remainder (P42)"},
      {"where layer \"h/fc\" : master bf16 remainder",
       "speaks of masters of some parameters, or in some stages, beside a remainder, but those "
       "of all lie in one buffer that stages share; select by role master and target alone "
       "(P69, P71)"},
      {"where role weight : master bf16 remainder",
       "speaks of masters of some parameters, or in some stages, beside a remainder, but those "
       "of all lie in one buffer that stages share; select by role master and target alone "
       "(P69, P71)"},
      {"everywhere except layer \"h/fc\" : master bf16 remainder",
       "speaks of masters of some parameters, or in some stages, beside a remainder, but those "
       "of all lie in one buffer that stages share; select by role master and target alone "
       "(P69, P71)"},
      {"where layer \"h/fc\" role optimizer_state : store bf16",
       "stores role optimizer_state of some parameters, or in some stages, and not of others, but "
       "all lie in one buffer that stages share; select by role and target alone, in a rule of "
       "its own (P68, P71)"},
      {"where op linear role optimizer_state|activation : store bf16",
       "stores role optimizer_state of some parameters, or in some stages, and not of others, but "
       "all lie in one buffer that stages share; select by role and target alone, in a rule of "
       "its own (P68, P71)"},
      {"where role optimizer_state except layer \"h/fc\" : store bf16",
       "stores role optimizer_state of some parameters, or in some stages, and not of others, but "
       "all lie in one buffer that stages share; select by role and target alone, in a rule of "
       "its own (P68, P71)"},
      {"where role optimizer_state : store f8e5m2",
       "stores role optimizer_state in f8e5m2, which has too few numbers for states without "
       "scales; store f32, f16 or bf16 (P68), or f8e4m3 scaled in blocks (P86)"},
      {"where role optimizer_state : store f8e4m3 scaled tensor f8e8m0 saturate",
       "stores role optimizer_state in a scaled format that states do not have; store f8e4m3 or "
       "f8e5m2 scaled block N f32 saturate, N being a power of two from 32 to 1024 (P86)"},
      {"where role optimizer_state : store f8e5m2 scaled block 48 f32 saturate",
       "stores role optimizer_state in a scaled format that states do not have; store f8e4m3 or "
       "f8e5m2 scaled block N f32 saturate, N being a power of two from 32 to 1024 (P86)"},
      {"where role optimizer_state : store f8e4m3 scaled block 2048 f32 saturate",
       "stores role optimizer_state in a scaled format that states do not have; store f8e4m3 or "
       "f8e5m2 scaled block N f32 saturate, N being a power of two from 32 to 1024 (P86)"},
      {"where role optimizer_state : store f8e4m3 scaled block 256 f32",
       "stores role optimizer_state in a scaled format that states do not have; store f8e4m3 or "
       "f8e5m2 scaled block N f32 saturate, N being a power of two from 32 to 1024 (P86)"},
      {"where role optimizer_state|saved : store f8e4m3 scaled block 256 f32 saturate",
       "scales its store, but operands alone are scaled; state compute scaled, or leave the "
       "scaling out (P51)"},
      {"where layer \"h/fc\" role optimizer_state : store f8e4m3 scaled block 256 f32 saturate",
       "stores role optimizer_state of some parameters, or in some stages, and not of others, but "
       "all lie in one buffer that stages share; select by role and target alone, in a rule of "
       "its own (P68, P71)"},
      {"where role optimizer_state : store follow",
       "lets the store of role optimizer_state follow, but it has nothing to follow; write a "
       "format (P42)"},
      {"everywhere : result bf16 rounding toward_zero",
       "states a rounding beside neither store nor compute; add the one that it is for (P42)"},
      {"everywhere : store f32 rounding stochastic",
       "rounds stochastically beside f32, to which nothing is rounded; store or compute a narrower "
       "format, or leave the rounding out (P42)"},
      {"where role activation : store f32 compute f32 rounding stochastic",
       "rounds stochastically beside f32, to which nothing is rounded; store or compute a narrower "
       "format, or leave the rounding out (P42)"},
      {"where role internal|activation : store bf16 rounding stochastic",
       "rounds role internal stochastically, but nothing is drawn inside of a formula; write "
       "nearest_even or toward_zero, or remove that role (P42)"},
      {"where role weight : compute f32 result bf16",
       "states result beside a role, which an operation does not have; name a pass instead, or "
       "write a rule of its own (P42)"},
      {"where op linear role weight : accumulate ordered",
       "states accumulate beside a role, which an operation does not have; name a pass instead, or "
       "write a rule of its own (P42)"},
      {"where role weight|master : store f32",
       "states store for role master, which is always f32; remove that role (P42)"},
      {"where role optimizer_state : compute f32",
       "states compute for role optimizer_state, which is always f32; remove that role (P42)"},
      {"where role weight_gradient : store bf16",
       "stores role weight_gradient in another format than f32; round it with result in pass "
       "weight_gradient (P42)"},
      {"where role weight_gradient : store follow",
       "stores role weight_gradient in another format than f32; round it with result in pass "
       "weight_gradient (P42)"},
      {"where role weight : store follow",
       "lets the store of role weight follow, but it has nothing to follow; write a format (P42)"},
      {"where role activation|gradient : recompute always",
       "states recompute for role gradient; activations alone are recomputed, so remove that role "
       "(P42)"},
      {"where pass forward|input_gradient : recompute always",
       "states recompute for a backward pass; activations belong to pass forward, so remove the "
       "pass (P42)"},
      {"where class loss : recompute always",
       "states recompute, but selects no activation that a backward pass could read; name a layer "
       "of a model with losses (P42)"},
      {"where class elementwise|activation_function : accumulate ordered",
       "states accumulate, but selects no contraction; name one or leave it out (P42)"},
      {"where class loss : store f32",
       "states a store, but nothing that it selects is stored; name layers, or a role that they "
       "have (P42)"},
      {"where role weight pass forward : store f32",
       "states a store, but nothing that it selects is stored; name layers, or a role that they "
       "have (P42)"},
      {"where role saved pass weight_gradient : store f32",
       "states a store, but nothing that it selects is stored; name layers, or a role that they "
       "have (P42)"},
      {"where pass weight_gradient : store f32 compute f32",
       "states a store, but nothing that it selects is stored; name layers, or a role that they "
       "have (P42)"},
      {"where role weight_gradient : compute f32",
       "states a compute, but selects no operand; name operations and roles that they read (P42)"},
      {"where class loss pass forward : result f32",
       "states a result, but selects no operation whose result is stored; name one (P42)"},
      {"where op relu : master f32",
       "states a master, but selects no parameter; name one or leave it out (P42)"},
      {"where pass forward : master f32",
       "states a master, but selects no parameter; name one or leave it out (P42)"},
      {"where layer \"act\" or class loss : store f32",
       "has a clause that selects nothing with one of its fields; remove the clause or state a "
       "field for it (P42)"},
      {"where class contraction : loss_scale none",
       "states loss_scale and selects by more than target; the model has one loss scale, so write "
       "a rule for it (P42)"},
      {"where role activation : memory_budget share 0.5",
       "states memory_budget and selects by more than target; the model has one memory budget, so "
       "write a rule for it (P42)"},
      {"everywhere : memory_budget share 0",
       "has a memory budget that is no share above 0 and at most 1; write such a share, as 0.6, or "
       "the bytes (P43)"},
      {"everywhere : memory_budget share 1.001",
       "has a memory budget that is no share above 0 and at most 1; write such a share, as 0.6, or "
       "the bytes (P43)"},
      {"everywhere : memory_budget bytes 0",
       "has a memory budget of no bytes; write a number above 0 (P43)"},
      {"everywhere : memory_budget bytes -64",
       "has a memory budget of no bytes; write a number above 0 (P43)"},
      {"everywhere : quantize i8",
       "states quantize, but selects no weight; name role weight, and one that the model has "
       "(P80)"},
      {"where layer \"h/fc\" : quantize i8",
       "states quantize, but selects no weight; name role weight, and one that the model has "
       "(P80)"},
      {"where role activation : quantize i8",
       "states quantize for role activation; weights alone are quantized, so write role weight "
       "(P80)"},
      {"where role weight pass forward : quantize i8",
       "states quantize in a pass, but a predictor holds a weight once for all that read it; "
       "remove the pass (P80)"},
      {"where role weight : quantize f32 least_error",
       "seeks scales for weights in f32, which have none; leave least_error out (P80)"},
  };
  for (const Case& is : cases) check(kTrained, is);
  CHECK(fault(kTrained, "where role weight : quantize i8") == "");
  CHECK(fault(kTrained, "where layer \"h/fc\" role weight : quantize f8e4m3 least_error") == "");
  CHECK(fault(kTrained, "everywhere : memory_budget share 1") == "");
  CHECK(fault(kTrained, "where target cpu : memory_budget bytes 1") == "");
  check(kEvaluated, {"everywhere : store f32 loss_scale none",
                     "states loss_scale, but this model has no loss to scale; remove it (P42)"});
  check(kEvaluated, {"everywhere : store f32 memory_budget share 0.5",
                     "states memory_budget, but this model has no loss and so no backward pass; "
                     "remove it (P42)"});
  check(kEvaluated, {"where layer \"fc\" : recompute never",
                     "states recompute, but selects no activation that a backward pass could read; "
                     "name a layer of a model with losses (P42)"});
  check(kWithoutParameters, {"everywhere : accumulate ordered master f32",
                             "states accumulate, but selects no contraction; name one or "
                             "leave it out (P42)"});
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
  const Case cases[] = {
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
  for (const Case& is : cases) check(kTrained, is);
  check(kWithoutParameters, {"where role internal : store bf16", nothing});
}

TEST_CASE("loss scales outside of their ranges are refused") {
  struct Scale {
    void (*set)(LossScale&);
    const char* trouble;
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const char* initial =
      "has a loss scale with an initial value that is not positive and finite in f32; write such a "
      "number (P43)";
  const char* order =
      "has a loss scale that starts outside of its bounds; make floor <= initial <= ceiling (P43)";
  const char* growth =
      "has a loss scale whose growth is not finite and above 1 in f32; write 2 (P43)";
  const char* backoff =
      "has a loss scale whose backoff is not between 0 and 1 in f32; write 0.5 (P43)";
  const char* surplus =
      "gives a loss scale that is not dynamic the settings of one; leave them out (P43)";
  const char* divisor =
      "has a loss scale with an initial value of which 1/scale is not finite in f32; write a "
      "number above 3e-39 (P43)";
  using Kind = LossScale::Kind;
  const Scale scales[] = {
      {[](LossScale& s) { s.initial = 0; }, initial},
      {[](LossScale& s) { s.initial = -1; }, initial},
      {[](LossScale& s) { s.initial = kNan; }, initial},
      {[](LossScale& s) { s.initial = kInfinity; }, initial},
      {[](LossScale& s) { s.initial = 0x1p128; }, initial},
      {[](LossScale& s) { s.initial = 0x1.ffffffp127; }, initial},  // rounds to infinity
      {[](LossScale& s) { s.initial = 0x1p-150; }, initial},        // rounds to zero
      {[](LossScale& s) { s.floor = 0; },
       "has a loss scale with a floor that is not positive and finite in f32; write such a number "
       "(P43)"},
      {[](LossScale& s) { s.ceiling = kNan; },
       "has a loss scale with a ceiling that is not positive and finite in f32; write such a "
       "number (P43)"},
      {[](LossScale& s) { s.initial = s.floor = 0x1p-128; }, divisor},  // 1/scale is 2^128
      {[](LossScale& s) { s.floor = 1e-45; },
       "has a loss scale with a floor of which 1/scale is not finite in f32; write a number above "
       "3e-39 (P43)"},
      {[](LossScale& s) {
         s = {Kind::fixed, 1e-40};
       },
       divisor},
      {[](LossScale& s) { s.floor = 131072; }, order},
      {[](LossScale& s) { s.ceiling = 32768; }, order},
      {[](LossScale& s) { s.growth = 1; }, growth},
      {[](LossScale& s) { s.growth = 1 + 0x1p-25; }, growth},  // 1 in f32
      {[](LossScale& s) { s.growth = kInfinity; }, growth},
      {[](LossScale& s) { s.backoff = 0; }, backoff},
      {[](LossScale& s) { s.backoff = 1; }, backoff},
      {[](LossScale& s) { s.backoff = 1 - 0x1p-26; }, backoff},  // 1 in f32
      {[](LossScale& s) { s.interval = 0; },
       "has a loss scale with an interval outside of 1 to 16777216; write a number in there (P43)"},
      {[](LossScale& s) { s.hysteresis = -3; },
       "has a loss scale with a hysteresis outside of 1 to 16777216; write a number in there "
       "(P43)"},
      {[](LossScale& s) { s.patience = 16777217; },
       "has a loss scale with a patience outside of 1 to 16777216; write a number in there (P43)"},
      {[](LossScale& s) {
         s = {Kind::fixed, 0};
       },
       initial},
      {[](LossScale& s) {
         s = {Kind::fixed, kNan};
       },
       initial},
      {[](LossScale& s) {
         s = {Kind::fixed, 1, 3};
       },
       surplus},
      {[](LossScale& s) {
         s = {Kind::none, 1};
       },
       surplus},
  };
  const auto model =
      parse(std::string(kTrained) + "optimizer sgd learning_rate 1 momentum 0 weight_decay 0\n");
  for (const Scale& is : scales) {
    Description description = std::get<Description>(model);
    LossScale& scale = description.rules.emplace_back().loss_scale.emplace();
    scale.kind = Kind::dynamic;
    CHECK(!validate(description));
    is.set(scale);
    CAPTURE(rule_text(description.rules[0]));
    const auto violation = validate(description);
    REQUIRE(violation);
    CHECK(violation->message.ends_with(std::string("\" ") + is.trouble));
  }
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
        "master, rounding, recompute, loss_scale, memory_budget or quantize (P41)");
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

TEST_CASE("rules state elements and whether they saturate; how they round is another field") {
  Encoding scaled = Element::bf16, saturating = Element::f32;
  scaled.scaling = {.kind = halftone::encoding::Scaling::Kind::tensor};
  saturating.saturate = true;
  Encoding columns = Element::f8e4m3;
  columns.scaling = {.kind = halftone::encoding::Scaling::Kind::block,
                     .size = 16,
                     .rows = 32,
                     .scale = Element::f8e4m3};
  columns.saturate = true;
  Rule result, compute, store, master, across;
  result.result = scaled;
  across.compute = EncodingChoice{false, columns};
  compute.compute = EncodingChoice{false, saturating};
  store.store = EncodingChoice{false, {Element::f16, Rounding::toward_zero}};
  master.master = Encoding(Element::f32, Rounding::toward_zero);
  const struct {
    Rule rule;
    const char* said;
  } cases[] = {
      {result,
       "the rule \"everywhere : result bf16 scaled tensor f32\" scales its result, but operands "
       "alone are scaled; state compute scaled, or leave the scaling out (P51)"},
      {across,
       "the rule \"everywhere : compute f8e4m3 scaled block 32 by 16 f8e4m3 saturate\" states a "
       "compute that has scales of f8e4m3 on another element than f4e2m1 (P77); state them as "
       "f8e8m0 (P42)"},
      {compute,
       "the rule \"everywhere : compute f32 saturate\" states a compute that saturates, but "
       "nothing is rounded to its element (F2); leave saturate out (P42)"},
      {store,
       "the rule \"everywhere : store f16 toward_zero\" rounds inside of store; state rounding, a "
       "field of its own (P15)"},
      {master,
       "the rule \"everywhere : master f32 toward_zero\" rounds inside of master; state rounding, "
       "a field of its own (P15)"},
  };
  const auto model =
      parse(std::string(kTrained) + "optimizer sgd learning_rate 1 momentum 0 weight_decay 0\n");
  for (const auto& c : cases) {
    Description description = std::get<Description>(model);
    description.rules = {c.rule};
    CHECK(validate(description)->message == c.said);
  }
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
