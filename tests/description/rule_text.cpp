// SPDX-License-Identifier: Apache-2.0
// Every part and every field of a precision rule as the text form spells it.
#include <doctest/doctest.h>

#include "builder.hpp"
#include "halftone/description/text.hpp"

using namespace halftone::tests;
using halftone::encoding::Scaling;

namespace {

/// A trained model with a layer of every class.
constexpr const char* kModel = R"(halftone description 1
model "m"
input %x : f32[batch, 4]
input %label : i32[batch]
parameter %h/0/fc.weight : [4, 4] init constant(1)
parameter %norm.weight : [4] init constant(1)
%h/0/fc = linear(x: %x, weight: %h/0/fc.weight) : [batch, 4]
%norm = layer_norm(x: %h/0/fc, weight: %norm.weight, bias: %norm.weight) {epsilon: 1e-05} : [batch, 4]
%act = relu(x: %norm) : [batch, 4]
%sum = add(a: %act, b: %x) : [batch, 4]
%xent = cross_entropy(logits: %sum, label: %label) : []
loss %xent weight 1
)";
constexpr const char* kEnd = "optimizer sgd learning_rate 1 momentum 0.5 weight_decay 0\n";

struct Case {
  const char* text;
  Rule rule;
};

Rule of_weights(Quantization quantize) {
  Rule rule;
  rule.clauses.emplace_back().roles = {Role::weight};
  rule.quantize = quantize;
  return rule;
}

Rule with(void (*set)(Rule&)) {
  Rule rule;
  set(rule);
  return rule;
}

Rule where(void (*set)(Clause&)) {
  Rule rule;
  set(rule.clauses.emplace_back());
  rule.compute = {false, Element::bf16};
  return rule;
}

}  // namespace

TEST_CASE("every part and field of a rule prints as its text and reads back") {
  const LossScale fixed{LossScale::Kind::fixed, 128.5};
  const LossScale dynamic{LossScale::Kind::dynamic, 1024, 3, 0.25, 7, 0.5, 4096, 2, 9};
  const Case cases[] = {
      {"everywhere : store f32", with([](Rule& r) {
         r.store = {false, Element::f32};
       })},
      {"everywhere : store bf16", with([](Rule& r) {
         r.store = {false, Element::bf16};
       })},
      {"everywhere : store follow", with([](Rule& r) {
         r.store = {true, Element::f32};
       })},
      {"everywhere : compute tf32", with([](Rule& r) {
         r.compute = {false, Element::tf32};
       })},
      {"everywhere : compute follow", with([](Rule& r) {
         r.compute = {true, Element::f32};
       })},
      {"everywhere : result f16", with([](Rule& r) { r.result = Element::f16; })},
      {"everywhere : store f8e5m2 saturate compute f8e4m3 result f16 saturate rounding toward_zero",
       with([](Rule& r) {
         r.store = {false, Element::f8e5m2};
         r.store->encoding.saturate = true;
         r.compute = {false, Element::f8e4m3};
         r.result = Element::f16;
         r.result->saturate = true;
         r.rounding = Rounding::toward_zero;
       })},
      {"everywhere : compute f8e4m3 scaled tensor f8e8m0 saturate", with([](Rule& r) {
         r.compute = {false, Element::f8e4m3};
         r.compute->encoding.scaling = {.kind = Scaling::Kind::tensor, .scale = Element::f8e8m0};
         r.compute->encoding.saturate = true;
       })},
      {"everywhere : compute f8e4m3 scaled tensor f32 saturate", with([](Rule& r) {
         r.compute = {false, Element::f8e4m3};
         r.compute->encoding.scaling = {.kind = Scaling::Kind::tensor, .scale = Element::f32};
         r.compute->encoding.saturate = true;
       })},
      {"everywhere : compute f8e5m2 scaled row f8e8m0 saturate", with([](Rule& r) {
         r.compute = {false, Element::f8e5m2};
         r.compute->encoding.scaling = {.kind = Scaling::Kind::row, .scale = Element::f8e8m0};
         r.compute->encoding.saturate = true;
       })},
      {"everywhere : compute f8e4m3 scaled column f32 saturate", with([](Rule& r) {
         r.compute = {false, Element::f8e4m3};
         r.compute->encoding.scaling = {.kind = Scaling::Kind::column, .scale = Element::f32};
         r.compute->encoding.saturate = true;
       })},
      {"everywhere : compute f8e4m3 scaled delayed 1024 f8e8m0 saturate", with([](Rule& r) {
         r.compute = {false, Element::f8e4m3};
         r.compute->encoding.scaling = {
             .kind = Scaling::Kind::delayed, .scale = Element::f8e8m0, .history = 1024};
         r.compute->encoding.saturate = true;
       })},
      {"everywhere : compute f8e4m3 scaled delayed 7 margin 2 f8e8m0 saturate", with([](Rule& r) {
         r.compute = {false, Element::f8e4m3};
         r.compute->encoding.scaling = {
             .kind = Scaling::Kind::delayed, .scale = Element::f8e8m0, .history = 7, .margin = 2};
         r.compute->encoding.saturate = true;
       })},
      {"everywhere : compute f8e5m2 scaled block 32 f8e8m0 saturate rounding stochastic",
       with([](Rule& r) {
         r.compute = {false, Element::f8e5m2};
         r.compute->encoding.scaling = {
             .kind = Scaling::Kind::block, .size = 32, .scale = Element::f8e8m0};
         r.compute->encoding.saturate = true;
         r.rounding = Rounding::stochastic;
       })},
      {"everywhere : compute f8e4m3 scaled block 32 by 1 f8e8m0 saturate", with([](Rule& r) {
         r.compute = {false, Element::f8e4m3};
         r.compute->encoding.scaling = {
             .kind = Scaling::Kind::block, .size = 1, .rows = 32, .scale = Element::f8e8m0};
         r.compute->encoding.saturate = true;
       })},
      {"everywhere : compute f8e4m3 scaled block 128 by 64 f32 saturate", with([](Rule& r) {
         r.compute = {false, Element::f8e4m3};
         r.compute->encoding.scaling = {
             .kind = Scaling::Kind::block, .size = 64, .rows = 128, .scale = Element::f32};
         r.compute->encoding.saturate = true;
       })},
      {"everywhere : compute f4e2m1 scaled block 16 by 8 f8e4m3 saturate rounding stochastic",
       with([](Rule& r) {
         r.compute = {false, Element::f4e2m1};
         r.compute->encoding.scaling = {
             .kind = Scaling::Kind::block, .size = 8, .rows = 16, .scale = Element::f8e4m3};
         r.compute->encoding.saturate = true;
         r.rounding = Rounding::stochastic;
       })},
      {"everywhere : compute f4e2m1 scaled block 16 f8e4m3 under f32 saturate", with([](Rule& r) {
         r.compute = {false, Element::f4e2m1};
         r.compute->encoding.scaling = {.kind = Scaling::Kind::block,
                                        .size = 16,
                                        .scale = Element::f8e4m3,
                                        .of_all = Element::f32};
         r.compute->encoding.saturate = true;
       })},
      {"everywhere : compute f4e2m1 scaled block 16 by 1 f8e4m3 under f32 rotated saturate",
       with([](Rule& r) {
         r.compute = {false, Element::f4e2m1};
         r.compute->encoding.scaling = {.kind = Scaling::Kind::block,
                                        .size = 1,
                                        .rows = 16,
                                        .scale = Element::f8e4m3,
                                        .of_all = Element::f32,
                                        .rotated = true};
         r.compute->encoding.saturate = true;
       })},
      {"everywhere : compute f8e4m3 scaled block 16 f8e8m0 rotated saturate", with([](Rule& r) {
         r.compute = {false, Element::f8e4m3};
         r.compute->encoding.scaling = {
             .kind = Scaling::Kind::block, .size = 16, .scale = Element::f8e8m0, .rotated = true};
         r.compute->encoding.saturate = true;
       })},
      {"everywhere : accumulate f32", with([](Rule& r) { r.accumulate = Accumulation::f32; })},
      {"everywhere : accumulate ordered",
       with([](Rule& r) { r.accumulate = Accumulation::ordered; })},
      {"everywhere : accumulate hardware",
       with([](Rule& r) { r.accumulate = Accumulation::hardware; })},
      {"everywhere : accumulate promoted",
       with([](Rule& r) { r.accumulate = Accumulation::promoted; })},
      {"everywhere : master f32", with([](Rule& r) { r.master = Element::f32; })},
      {"everywhere : master bf16 remainder", with([](Rule& r) {
         r.master = Element::bf16;
         r.remainder = true;
       })},
      {"everywhere : store f16 rounding toward_zero", with([](Rule& r) {
         r.store = {false, Element::f16};
         r.rounding = Rounding::toward_zero;
       })},
      {"everywhere : store f16 rounding stochastic", with([](Rule& r) {
         r.store = {false, Element::f16};
         r.rounding = Rounding::stochastic;
       })},
      {"everywhere : compute f16 rounding nearest_even", with([](Rule& r) {
         r.compute = {false, Element::f16};
         r.rounding = Rounding::nearest_even;
       })},
      {"everywhere : recompute always", with([](Rule& r) { r.recompute = true; })},
      {"everywhere : recompute never", with([](Rule& r) { r.recompute = false; })},
      {"everywhere : loss_scale none", with([](Rule& r) { r.loss_scale = LossScale{}; })},
      {"everywhere : loss_scale fixed 128.5", {{}, {}, {}, {}, {}, {}, {}, {}, fixed}},
      {"everywhere : loss_scale dynamic initial 1024 growth 3 backoff 0.25 interval 7 floor 0.5 "
       "ceiling 4096 hysteresis 2 patience 9",
       {{}, {}, {}, {}, {}, {}, {}, {}, dynamic}},
      {"everywhere : memory_budget share 0.6",
       with([](Rule& r) { r.memory_budget = {.share = 0.6}; })},
      {"where target sm_90a : loss_scale none memory_budget bytes 268435456",
       [] {
         Rule rule = where([](Clause& c) { c.targets = {{Relation::is, "sm_90a"}}; });
         rule.compute.reset();
         rule.loss_scale = LossScale{};
         rule.memory_budget = {.kind = MemoryBudget::Kind::bytes, .bytes = 268435456};
         return rule;
       }()},
      {"where role optimizer_state : store bf16 place host",
       [] {
         Rule rule;
         rule.clauses.emplace_back().roles = {Role::optimizer_state};
         rule.store = {false, Element::bf16};
         rule.place = Memory::host;
         return rule;
       }()},
      {"where role optimizer_state target cpu : place device",
       [] {
         Rule rule = where([](Clause& c) {
           c.roles = {Role::optimizer_state};
           c.targets = {{Relation::is, "cpu"}};
         });
         rule.compute.reset();
         rule.place = Memory::device;
         return rule;
       }()},
      {"where role weight : quantize i8", of_weights({Element::i8})},
      {"where role weight : quantize f8e4m3 least_error",
       of_weights({Element::f8e4m3, Quantization::Scale::least_error})},
      {"where role weight : quantize f32", of_weights({Element::f32})},
      {"where layer \"h/*/{fc,\\\"}\" : compute bf16",
       where([](Clause& c) { c.layer = "h/*/{fc,\"}"; })},
      {"where class contraction|normalization|softmax|activation_function|elementwise|loss : "
       "compute bf16",
       where([](Clause& c) {
         using enum LayerClass;
         c.classes = {contraction, normalization, softmax, activation_function, elementwise, loss};
       })},
      {"where op linear|cross_entropy : compute bf16", where([](Clause& c) {
         c.ops = {kind_called("linear"), kind_called("cross_entropy")};
       })},
      {"where role activation|saved|gradient|weight : compute bf16", where([](Clause& c) {
         c.roles = {Role::activation, Role::saved, Role::gradient, Role::weight};
       })},
      {"where layer \"norm.normalized\" role internal : store tf32",
       {{{"norm.normalized", {}, {}, {Role::internal}, {}, {}}},
        EncodingChoice{false, Element::tf32},
        {},
        {},
        {},
        {},
        {},
        {},
        {}}},
      {"where pass forward|input_gradient|weight_gradient : compute bf16", where([](Clause& c) {
         c.passes = {Pass::forward, Pass::input_gradient, Pass::weight_gradient};
       })},
      {"where target cpu|sm_80|before(sm_89)|from(sm_90a) : compute bf16", where([](Clause& c) {
         using enum Relation;
         c.targets = {{is, "cpu"}, {is, "sm_80"}, {before, "sm_89"}, {from, "sm_90a"}};
       })},
      {"where target cpu during \"warmup\"|\"a-9\" last 2 : compute bf16", where([](Clause& c) {
         c.targets = {{Relation::is, "cpu"}};
         c.stages = {"warmup", "a-9"};
         c.bounds.last = 2;
       })},
      {"where first 2 last 3 depth 0 4 at_least 5 smaller_than 64 if_any : compute bf16",
       with([](Rule& r) {
         r.clauses.emplace_back().bounds = {2, 3, 0, 4, 5, 64};
         r.if_any = true;
         r.compute = {false, Element::bf16};
       })},
      {"where depth 7 9 if_any : compute bf16", with([](Rule& r) {
         r.clauses.emplace_back().bounds = {0, 0, 7, 9, 0, 0};
         r.if_any = true;
         r.compute = {false, Element::bf16};
       })},
      {"everywhere except class loss or layer \"head\" last 1 if_any : store f16 because \"it "
       "\\\"is\\\"\"",
       with([](Rule& r) {
         r.exceptions.emplace_back().classes = {LayerClass::loss};
         r.exceptions.emplace_back().layer = "head";
         r.exceptions.back().bounds.last = 1;
         r.if_any = true;
         r.store = {false, Element::f16};
         r.because = "it \"is\"";
       })},
      {"where role weight_gradient|master : master f32",
       {{{{}, {}, {}, {Role::weight_gradient, Role::master}, {}, {}}},
        {},
        {},
        {},
        {},
        Element::f32,
        {},
        {},
        {}}},
      {"where layer \"act\" class activation_function op relu role saved pass input_gradient "
       "target "
       "cpu or layer \"norm\" : compute bf16",
       {{{"act",
          {LayerClass::activation_function},
          {kind_called("relu")},
          {Role::saved},
          {Pass::input_gradient},
          {{Relation::is, "cpu"}}},
         {"norm", {}, {}, {}, {}, {}}},
        {},
        EncodingChoice{false, Element::bf16},
        {},
        {},
        {},
        {},
        {},
        {}}},
  };
  for (const Case& is : cases) {
    CAPTURE(is.text);
    CHECK(rule_text(is.rule) == is.text);
    const std::string text =
        std::string(kModel) + "stages \"warmup\" \"a-9\"\nrule " + is.text + "\n" + kEnd;
    const auto read = parse(text);
    const auto* error = std::get_if<ParseError>(&read);
    REQUIRE_MESSAGE(!error, (error ? error->str("text") : ""));
    CHECK(std::get<Description>(read).rules == std::vector<Rule>{is.rule});
    CHECK(print(std::get<Description>(read)) == text);
  }
}
