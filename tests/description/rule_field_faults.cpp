// SPDX-License-Identifier: Apache-2.0
// Fields that nothing selected has, or that hold what nothing can (P42, P43, P51), each with its
// sentence.
#include <limits>

#include "rule_cases.hpp"

using namespace halftone::tests;

TEST_CASE("fields that nothing selected has are refused") {
  const RuleCase cases[] = {
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
      {"everywhere : compute f16 scaled delayed 8 f8e8m0 saturate",
       "states a compute that scales an element of 16 bits by powers of two, or in blocks (P100); "
       "state a scale of f32 for the tensor, for each row or for each column (P42)"},
      {"everywhere : compute f8e8m0 scaled tensor f8e8m0 saturate",
       "states a compute that scales an element of more than 8 bits (P51); state f8e4m3, f8e5m2, "
       "f6e3m2, f6e2m3 or f4e2m1 (P42)"},
      {"everywhere : compute f8e5m2 scaled block 16 by 1 f8e4m3 saturate",
       "states a compute that has scales of f8e4m3 on another element than f4e2m1 (P77); state "
       "them as f8e8m0 (P42)"},
      {"everywhere : compute f4e2m1 scaled block 16 f8e8m0 under f32 saturate",
       "states a compute that states a scale of the tensor beside others than blocks' of f8e4m3, "
       "or in "
       "another format than f32 (P97); leave under out, or state block 16 f8e4m3 under f32 (P42)"},
      {"everywhere : compute f4e2m1 scaled tensor f32 under f32 saturate",
       "states a compute that states a scale of the tensor beside others than blocks' of f8e4m3, "
       "or in "
       "another format than f32 (P97); leave under out, or state block 16 f8e4m3 under f32 (P42)"},
      {"everywhere : compute f4e2m1 scaled block 16 by 16 f8e4m3 under f32 rotated saturate",
       "states a compute that rotates others than blocks of 16 in a row or a column (P105); state "
       "block 16 or block 16 by 1, or leave rotated out (P42)"},
      {"everywhere : compute f8e4m3 scaled tensor f32 rotated saturate",
       "states a compute that rotates others than blocks of 16 in a row or a column (P105); state "
       "block 16 or block 16 by 1, or leave rotated out (P42)"},
      {"everywhere : compute f4e2m1 scaled tensor f8e4m3 saturate",
       "states a compute that has scales that are neither powers of two nor f32 (P51, P87); state "
       "them as f8e8m0 or f32 (P42)"},
      {"everywhere : compute f8e4m3 scaled column f8e4m3 saturate",
       "states a compute that has scales that are neither powers of two nor f32 (P51, P87); state "
       "them as f8e8m0 or f32 (P42)"},
      {"everywhere : compute f8e4m3 scaled block 5000 by 2 f8e8m0 saturate",
       "states a compute that has blocks of one element, or of more than 4096 rows or columns "
       "(P51); state as many as 32 or 128 (P42)"},
      {"everywhere : compute f16 scaled block 128 f32 saturate",
       "states a compute that scales an element of 16 bits by powers of two, or in blocks (P100); "
       "state a scale of f32 for the tensor, for each row or for each column (P42)"},
      {"everywhere : compute f8e4m3 scaled block 128 f32",
       "states a compute that is scaled and does not saturate (P51); add saturate (P42)"},
      {"everywhere : compute f8e4m3 scaled block 128 f32 under f32 saturate",
       "states a compute that states a scale of the tensor beside others than blocks' of f8e4m3, "
       "or in another format than f32 (P97); leave under out, or state block 16 f8e4m3 under f32 "
       "(P42)"},
      {"everywhere : compute f8e4m3 scaled block 1 f8e8m0 saturate",
       "states a compute that has blocks of one element, or of more than 4096 rows or columns "
       "(P51); state as many as 32 or 128 (P42)"},
      {"everywhere : compute f8e4m3 scaled block 4097 f8e8m0 saturate",
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
      {"everywhere : place host",
       "states a place, but selects no state of an optimizer, nor an activation that a backward "
       "pass could read; name role optimizer_state or activation, and train something (P91, P98)"},
      {"where role optimizer_state|master : place host",
       "states a place for role master; the optimizer's states and activations alone may lie "
       "elsewhere, so write role optimizer_state or activation (P91, P98)"},
      {"where role saved : place device",
       "states a place for role saved; the optimizer's states and activations alone may lie "
       "elsewhere, so write role optimizer_state or activation (P91, P98)"},
      {"where layer \"h/fc\" role optimizer_state|activation : place host",
       "places states of some parameters, or in some stages, and not of others, but all lie in one "
       "buffer that stages share; select by role and target alone (P91)"},
      {"where layer \"h/fc\" role optimizer_state : place host",
       "places states of some parameters, or in some stages, and not of others, but all lie in one "
       "buffer that stages share; select by role and target alone (P91)"},
      {"where role optimizer_state except layer \"h/fc\" : place host",
       "places states of some parameters, or in some stages, and not of others, but all lie in one "
       "buffer that stages share; select by role and target alone (P91)"},
  };
  for (const RuleCase& is : cases) check(kTrained, is);
  CHECK(fault(kTrained, "where role optimizer_state target from(sm_80) : place host") == "");
  CHECK(fault(kTrained, "where role optimizer_state except target cpu : place host") == "");
  CHECK(fault(kTrained, "where role activation : place host") == "");
  CHECK(fault(kTrained, "where role optimizer_state|activation : place host") == "");
  CHECK(fault(kTrained, "where layer \"h/fc\" role activation target from(sm_80) : place host") ==
        "");
  CHECK(fault(kTrained, "where role activation except layer \"h/fc\" : place host") == "");
  check(kEvaluated, {"where role activation : place host",
                     "states a place, but selects no state of an optimizer, nor an activation that "
                     "a backward pass could read; name role optimizer_state or activation, and "
                     "train something (P91, P98)"});
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
  CHECK(fault(kLongConvolution, "where op long_convolution : accumulate ordered") == "");
  CHECK(fault(kLongConvolution, "where class contraction : accumulate ordered") != "");
}

TEST_CASE("transforms of a long convolution are an internal value") {
  for (const char* rule : {"where layer \"long.transforms\" role internal : store f16",
                           "where op long_convolution role internal : store tf32"})
    CHECK(fault(kLongConvolution, rule) == "");
  CHECK(fault(kLongConvolution, "where layer \"long.product\" role internal : store f16") != "");
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
