// SPDX-License-Identifier: Apache-2.0
// Which values, targets and layers rules select (P3, P39, P60, P61), against tables written by hand
// from docs/spec/precision.md.
#include <doctest/doctest.h>

#include <string>

#include "ruled.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;
using namespace halftone::description;

TEST_CASE("P5, P6, P19, P39: what internal values are rounded to") {
  struct Case {
    const char *rules, *node, *value;
    RoundTo expected;
  };
  const Case cases[] = {
      {"", "norm", "normalized", {f32, even}},
      {"rule everywhere : store bf16 rounding toward_zero\n", "norm", "normalized", {f32, even}},
      {"rule where layer \"norm\" : store bf16\n", "norm", "normalized", {f32, even}},
      {"rule where role internal : store bf16\n", "norm", "normalized", {bf16, even}},
      {"rule where role internal : store tf32 rounding toward_zero\n",
       "h/0/fc",
       "product",
       {tf32, zero}},
      {"rule where layer \"norm\" role internal : store f16\n", "norm", "normalized", {f16, even}},
      {"rule where layer \"norm.normalized\" role internal : store f16\n",
       "norm",
       "normalized",
       {f16, even}},
      {"rule where layer \"**.product\" role internal : store f16\n",
       "norm",
       "normalized",
       {f32, even}},
      {"rule where layer \"**.product\" role internal : store f16\n",
       "h/0/fc",
       "product",
       {f16, even}},
      {"rule where class contraction role internal : store f16\n", "first", "product", {f16, even}},
      {"rule where op layer_norm role internal : store f16\n", "first", "product", {f32, even}},
      {"rule where role internal : store bf16\nrule where role internal target sm_80 : store f16\n",
       "first",
       "product",
       {bf16, even}},
      {"rule where role internal : store bf16\nrule where layer \"first\" role internal : store "
       "f32\n",
       "first",
       "product",
       {f32, even}},
      {"rule where role internal|activation : store bf16\nrule where layer \"first.product\" role "
       "internal : store f16 rounding toward_zero\n",
       "first",
       "product",
       {f16, zero}},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.rules));
    CAPTURE(std::string(c.node));
    const Ruled ruled(c.rules);
    CHECK(ruled.rules.internal(ruled.id(c.node), c.value) == c.expected);
  }
  const Ruled apart("rule where role internal : store bf16\n");
  CHECK(apart.store("norm", activation) == RoundTo{f32, even});
  CHECK(apart.operand("norm", forward, activation) == RoundTo{f32, even});
}

TEST_CASE("P3, P17: targets choose rules, the loss scale's among them") {
  struct Case {
    const char* part;
    const char* target;
    bool matches;
  };
  const Case cases[] = {
      {"cpu", "cpu", true},
      {"cpu", "sm_90a", false},
      {"sm_90a", "sm_90a", true},
      {"sm_90", "sm_90a", false},
      {"before(sm_80)", "sm_75", true},
      {"before(sm_80)", "sm_80", false},
      {"before(sm_100a)", "sm_90a", true},
      {"before(sm_80)", "cpu", false},
      {"from(sm_80)", "sm_80", true},
      {"from(sm_80)", "sm_120f", true},
      {"from(sm_80)", "sm_75", false},
      {"from(sm_75)", "cpu", false},
      {"cpu|from(sm_100)", "cpu", true},
      {"cpu|from(sm_100)", "sm_90a", false},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.part));
    CAPTURE(std::string(c.target));
    const Ruled ruled(std::string("rule everywhere : loss_scale fixed 8\nrule where target ") +
                          c.part + " : compute f16 loss_scale fixed 64\n",
                      c.target);
    CHECK(ruled.operand("gate", forward, activation).format == (c.matches ? f16 : f32));
    CHECK(ruled.rules.loss_scale().initial == (c.matches ? 64 : 8));
  }
  CHECK(Ruled("").rules.loss_scale().kind == LossScale::Kind::none);
  CHECK(Ruled("rule everywhere : loss_scale fixed 8\nrule everywhere : loss_scale none\n")
            .rules.loss_scale()
            .kind == LossScale::Kind::none);
}

TEST_CASE("P60: bounds count contractions, copies and elements") {
  // Contractions in order: h/0/fc, first, second and dynamic, which has no weight but a bias of 8.
  const OperandCase cases[] = {
      {"rule where first 1 : compute f16\n", "h/0/fc", forward, activation, {f16, even}},
      {"rule where first 1 : compute f16\n", "first", forward, activation, {f32, even}},
      {"rule where first 9 : compute f16\n", "norm", forward, activation, {f32, even}},
      {"rule where last 2 : compute f16\n", "second", forward, activation, {f16, even}},
      {"rule where last 2 : compute f16\n", "second", input_gradient, gradient, {f16, even}},
      {"rule where last 2 : compute f16\n", "first", forward, activation, {f32, even}},
      {"rule where first 3 last 3 : compute f16\n", "first", forward, weight, {f16, even}},
      {"rule where first 3 last 3 : compute f16\n", "h/0/fc", forward, weight, {f32, even}},
      {"rule where depth 0 1 : compute f16\n", "h/0/act", forward, activation, {f16, even}},
      {"rule where depth 0 1 : compute f16\n", "norm", forward, activation, {f32, even}},
      {"rule where smaller_than 9 : compute f16\n", "norm", forward, activation, {f16, even}},
      {"rule where smaller_than 9 : compute f16\n", "dynamic", forward, activation, {f16, even}},
      {"rule where smaller_than 9 : compute f16\n", "first", forward, activation, {f32, even}},
      {"rule where at_least 64 : compute f16\n", "first", forward, activation, {f16, even}},
      {"rule where at_least 1 : compute f16\n", "gate", forward, activation, {f32, even}},
  };
  for (const OperandCase& c : cases) {
    CAPTURE(std::string(c.rules));
    CAPTURE(std::string(c.node));
    CHECK(Ruled(c.rules).operand(c.node, c.pass, c.role) == c.expected);
  }
  // A parameter stands where one of its readers does.
  const StoreCase stores[] = {
      {"rule where role weight first 2 : store f16\n", "tied", weight, {f16, even}},
      {"rule where role weight first 2 : store f16\n", "h/0/fc.bias", weight, {f16, even}},
      {"rule where role weight first 2 : store f16\n", "norm.weight", weight, {f32, even}},
      {"rule where role weight last 1 : store f16\n", "norm.bias", weight, {f16, even}},
      {"rule where role weight last 1 : store f16\n", "tied", weight, {f32, even}},
      {"rule where role weight depth 0 1 : store f16\n", "h/0/fc.bias", weight, {f16, even}},
      {"rule where role weight at_least 9 : store f16\n", "tied", weight, {f16, even}},
      {"rule where role weight at_least 9 : store f16\n", "norm.bias", weight, {f32, even}},
  };
  for (const StoreCase& c : stores) {
    CAPTURE(std::string(c.rules));
    CAPTURE(std::string(c.node));
    CHECK(Ruled(c.rules).store(c.node, c.role) == c.expected);
  }
}

TEST_CASE("P61: where an exception fits there is no rule") {
  const char* norm = "rule everywhere except layer \"norm\" : compute f16\n";
  const char* backward = "rule everywhere except pass forward : compute f16\n";
  const char* narrow = "rule where role weight|activation except role weight : compute f16\n";
  const char* two = "rule where op linear|silu except first 2 or layer \"gate\" : compute f16\n";
  const char* cpu = "rule everywhere except target cpu : compute f16\n";
  const OperandCase cases[] = {
      {norm, "norm", forward, weight, {f32, even}},
      {norm, "norm", input_gradient, gradient, {f32, even}},
      {norm, "gate", forward, activation, {f16, even}},
      {backward, "gate", forward, activation, {f32, even}},
      {backward, "gate", input_gradient, gradient, {f16, even}},
      {narrow, "first", forward, weight, {f32, even}},
      {narrow, "first", forward, activation, {f16, even}},
      {two, "first", forward, activation, {f32, even}},
      {two, "gate", forward, activation, {f32, even}},
      {two, "second", forward, activation, {f16, even}},
      {cpu, "gate", forward, activation, {f32, even}},
  };
  for (const OperandCase& c : cases) {
    CAPTURE(std::string(c.rules));
    CAPTURE(std::string(c.node));
    CHECK(Ruled(c.rules).operand(c.node, c.pass, c.role) == c.expected);
  }
  // Without a role an exception is about every role, which a clause is not.
  const Ruled stored("rule where role weight except layer \"tied\" : store f16\n");
  CHECK(stored.store("tied", weight).format == f32);
  CHECK(stored.store("norm.bias", weight).format == f16);
  CHECK(Ruled(cpu, "sm_80").operand("gate", forward, activation).format == f16);
}
