// SPDX-License-Identifier: Apache-2.0
// What rules decide (P3 to P21), against tables written by hand from docs/spec/precision.md.
#include "halftone/reference/resolution.hpp"

#include <doctest/doctest.h>

#include <string>
#include <tuple>

#include "problem.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;
using namespace halftone::description;

namespace {

constexpr Element f32 = Element::f32, tf32 = Element::tf32, f16 = Element::f16,
                  bf16 = Element::bf16;
constexpr Rounding even = Rounding::nearest_even, zero = Rounding::toward_zero;
constexpr Pass forward = Pass::forward, input_gradient = Pass::input_gradient,
               weight_gradient = Pass::weight_gradient;
constexpr Role activation = Role::activation, saved = Role::saved, gradient = Role::gradient,
               weight = Role::weight;

const char kModel[] = R"(input %x : f32[batch, 8]
input %half : f16[batch, 8]
input %target : f32[batch, 8]
input %keys : f32[8, 8]
parameter %h/0/fc.weight : [8, 8] init constant(0)
parameter %h/0/fc.bias : [8] init constant(0)
parameter %norm.weight : [8] init constant(0)
parameter %norm.bias : [8] init constant(0)
parameter %tied : [8, 8] init constant(0)
state %mean : [batch, 8] initial 0
%h/0/fc = linear(x: %x, weight: %h/0/fc.weight, bias: %h/0/fc.bias) : [batch, 8]
%h/0/act = relu(x: %h/0/fc) : [batch, 8]
%norm = layer_norm(x: %h/0/act, weight: %norm.weight, bias: %norm.bias) {epsilon: 1e-05} : [batch, 8]
%first = linear(x: %norm, weight: %tied) : [batch, 8]
%gate = silu(x: %first) : [batch, 8]
%sum = add(a: %gate, b: %half) : [batch, 8]
%mixed = add(a: %sum, b: %mean) : [batch, 8]
%second = linear(x: %mixed, weight: %tied) : [batch, 8]
%joined = concat(part0: %norm, part1: %gate) : [batch, 16]
%turned = silu(x: %keys) : [8, 8]
%dynamic = linear(x: %norm, weight: %turned, bias: %norm.bias) : [batch, 8]
%error = mse(x: %second, target: %target) : []
output "joined" = %joined
output "dynamic" = %dynamic
loss %error weight 1
assign %mean = %sum
)";

// One model under rules, asked by node names.
struct Ruled {
  Description model;
  Resolution rules;

  explicit Ruled(const std::string& text, const std::string& target = "cpu")
      : model(parse_model(kModel + text)), rules(model, target) {}

  NodeId id(const std::string& name) const {
    for (std::size_t at = 0; at < model.nodes.size(); ++at) {
      if (model.nodes[at].name == name) return static_cast<NodeId>(at);
    }
    FAIL("no node " << name);
    return -1;
  }
  RoundTo operand(const std::string& name, Pass pass, Role role) const {
    return rules.operand(id(name), pass, role);
  }
  RoundTo store(const std::string& name, Role role) const { return rules.store(id(name), role); }
  Element result(const std::string& name, Pass pass) const {
    return rules.result(id(name), pass).format;
  }
};

struct OperandCase {
  const char* rules;
  const char* node;
  Pass pass;
  Role role;
  RoundTo expected;
};

struct StoreCase {
  const char* rules;
  const char* node;
  Role role;
  RoundTo expected;
};

}  // namespace

TEST_CASE("P4: the last matching rule that states a field wins, field by field") {
  const Ruled ruled(R"(rule everywhere : store bf16 compute bf16 rounding toward_zero
rule where layer "h/**" : compute f16
rule where op relu : store f16 rounding nearest_even
rule where layer "norm" : result f16
rule where layer "norm" : compute tf32
)");
  CHECK(ruled.operand("h/0/fc", forward, activation) == RoundTo{f16, zero});
  CHECK(ruled.operand("h/0/act", forward, activation) == RoundTo{f16, even});
  CHECK(ruled.operand("norm", forward, weight) == RoundTo{tf32, zero});
  CHECK(ruled.operand("gate", forward, activation) == RoundTo{bf16, zero});
  CHECK(ruled.store("h/0/fc", activation) == RoundTo{bf16, zero});
  CHECK(ruled.store("h/0/act", activation) == RoundTo{f16, even});
  CHECK(ruled.result("norm", forward) == f16);
  CHECK(ruled.result("gate", forward) == f32);
  const Ruled reversed(R"(rule where op relu : store f16
rule everywhere : store bf16
)");
  CHECK(reversed.store("h/0/act", activation).format == bf16);
}

TEST_CASE("P10, P15, P18: what operands are rounded to") {
  const OperandCase cases[] = {
      {"", "first", forward, activation, {f32, even}},
      {"rule everywhere : compute bf16\n", "error", forward, activation, {bf16, even}},
      // A clause without a role selects all operands, one with roles those alone.
      {"rule where op linear : compute f16\n", "first", forward, weight, {f16, even}},
      {"rule where role weight : compute f16\n", "first", forward, weight, {f16, even}},
      {"rule where role weight : compute f16\n", "first", forward, activation, {f32, even}},
      {"rule where role weight : compute f16\n", "first", input_gradient, weight, {f16, even}},
      {"rule where role saved|gradient : compute f16\n",
       "norm",
       input_gradient,
       saved,
       {f16, even}},
      {"rule where role saved|gradient : compute f16\n",
       "norm",
       input_gradient,
       weight,
       {f32, even}},
      {"rule where role activation : compute f16\n", "norm", input_gradient, saved, {f32, even}},
      {"rule where pass weight_gradient : compute f16\n",
       "norm",
       weight_gradient,
       saved,
       {f16, even}},
      {"rule where pass weight_gradient : compute f16\n",
       "norm",
       input_gradient,
       saved,
       {f32, even}},
      {"rule where pass forward|input_gradient : compute f16\n",
       "norm",
       input_gradient,
       gradient,
       {f16, even}},
      // Rounding goes where compute goes, whoever states it.
      {"rule where role gradient : store f16 rounding toward_zero\n",
       "gate",
       input_gradient,
       gradient,
       {f32, zero}},
      {"rule where role gradient : store f16 rounding toward_zero\n",
       "gate",
       input_gradient,
       saved,
       {f32, even}},
      // Globs, classes and ops; all parts of one clause, or all of another.
      {"rule where layer \"*\" : compute f16\n", "h/0/fc", forward, weight, {f32, even}},
      {"rule where layer \"h/*/fc\" : compute f16\n", "h/0/fc", forward, weight, {f16, even}},
      {"rule where layer \"h/**\" op relu : compute f16\n", "h/0/fc", forward, weight, {f32, even}},
      {"rule where layer \"h/**\" op relu or op silu : compute f16\n",
       "gate",
       forward,
       activation,
       {f16, even}},
      {"rule where class contraction : compute f16\n", "second", forward, activation, {f16, even}},
      {"rule where class normalization|loss : compute f16\n",
       "norm",
       forward,
       activation,
       {f16, even}},
      {"rule where class normalization|loss : compute f16\n",
       "error",
       input_gradient,
       saved,
       {f16, even}},
      {"rule where class activation_function : compute f16\n",
       "gate",
       forward,
       activation,
       {f16, even}},
      {"rule where class elementwise : compute f16\n", "joined", forward, activation, {f16, even}},
      {"rule where class elementwise : compute f16\n", "gate", forward, activation, {f32, even}},
      // A weight that is an operand goes by its reader's name and pass, not by its own.
      {"rule where pass weight_gradient : compute f16\n",
       "norm",
       input_gradient,
       weight,
       {f32, even}},
      {"rule where role weight pass input_gradient : compute f16\n",
       "norm",
       input_gradient,
       weight,
       {f16, even}},
      {"rule where layer \"first\" role weight : compute f16\n",
       "first",
       forward,
       weight,
       {f16, even}},
      {"rule where layer \"first\" role weight : compute f16\n",
       "second",
       forward,
       weight,
       {f32, even}},
      {"rule where layer \"{second,tied}\" role weight : compute f16\n",
       "first",
       forward,
       weight,
       {f32, even}},
      // A parameter's name selects the parameter, not the layer that reads it.
      {"rule where layer \"tied\" role weight : store f16\n",
       "first",
       forward,
       weight,
       {f32, even}},
  };
  for (const OperandCase& c : cases) {
    CAPTURE(std::string(c.rules));
    CAPTURE(std::string(c.node));
    CAPTURE(static_cast<int>(c.role));
    CHECK(Ruled(c.rules).operand(c.node, c.pass, c.role) == c.expected);
  }
}

TEST_CASE("P5, P6, P12, P15, P19, P33: what values are stored in") {
  const StoreCase cases[] = {
      {"", "first", activation, {f32, even}},
      {"rule everywhere : store bf16\n", "first", activation, {bf16, even}},
      {"rule everywhere : store bf16\n", "first", gradient, {bf16, even}},
      {"rule everywhere : store bf16\n", "first", saved, {bf16, even}},
      {"rule everywhere : store bf16\n", "tied", weight, {f32, even}},
      {"rule everywhere : store bf16\n", "tied", Role::weight_gradient, {f32, even}},
      {"rule everywhere : store bf16\n", "tied", Role::optimizer_state, {f32, even}},
      {"rule where role optimizer_state : store f16 saturate rounding stochastic\n",
       "tied",
       Role::optimizer_state,
       {f16, Rounding::stochastic, true}},
      {"rule everywhere : store bf16\n", "x", activation, {f32, even}},
      {"rule everywhere : store bf16\n", "half", activation, {f16, even}},
      {"rule everywhere : store bf16\n", "half", saved, {f16, even}},
      {"rule everywhere : store bf16\n", "mean", activation, {f32, even}},
      {"rule everywhere : store bf16\n", "error", activation, {f32, even}},
      // The other roles are named.
      {"rule where role saved : store f16 rounding toward_zero\n", "first", saved, {f16, zero}},
      {"rule where role saved : store f16 rounding toward_zero\n",
       "first",
       activation,
       {f32, even}},
      {"rule where role gradient : store f16 rounding toward_zero\n",
       "first",
       gradient,
       {f16, zero}},
      {"rule where role gradient : store f16 rounding toward_zero\n",
       "first",
       activation,
       {f32, even}},
      {"rule where role activation : store f16 rounding toward_zero\n",
       "first",
       saved,
       {f16, zero}},
      {"rule where role weight : store f16\n", "tied", weight, {f16, even}},
      {"rule where role saved : store f16\nrule everywhere : store bf16\n",
       "first",
       saved,
       {f16, even}},
      // Passes that values belong to.
      {"rule where pass forward : store f16\n", "first", activation, {f16, even}},
      {"rule where pass forward : store f16\n", "first", gradient, {f32, even}},
      {"rule where pass input_gradient : store f16\n", "first", gradient, {f16, even}},
      {"rule where pass input_gradient : store f16\n", "first", activation, {f32, even}},
      {"rule where role saved pass forward : store f16\n", "first", saved, {f16, even}},
      {"rule where role saved|gradient pass input_gradient : store f16\n",
       "first",
       saved,
       {f32, even}},
      {"rule where role weight|activation pass forward : store f16\n", "tied", weight, {f32, even}},
      // P5: a parameter's own name, its name without the last part, and its readers' kinds.
      {"rule where layer \"h/0/fc\" role weight : store f16\n", "h/0/fc.bias", weight, {f16, even}},
      {"rule where layer \"h/0/fc.weight\" role weight : store f16\n",
       "h/0/fc.weight",
       weight,
       {f16, even}},
      {"rule where layer \"h/0/fc.weight\" role weight : store f16\n",
       "h/0/fc.bias",
       weight,
       {f32, even}},
      {"rule where layer \"tied\" role weight : store f16\n", "tied", weight, {f16, even}},
      {"rule where layer \"{first,norm}\" role weight : store f16\n", "tied", weight, {f32, even}},
      {"rule where class normalization role weight : store f16\n",
       "norm.bias",
       weight,
       {f16, even}},
      {"rule where class normalization role weight : store f16\n", "tied", weight, {f32, even}},
      {"rule where op linear role weight : store f16\n", "tied", weight, {f16, even}},
      {"rule where op relu|silu role activation : store f16\n", "h/0/act", activation, {f16, even}},
  };
  for (const StoreCase& c : cases) {
    CAPTURE(std::string(c.rules));
    CAPTURE(std::string(c.node));
    CAPTURE(static_cast<int>(c.role));
    CHECK(Ruled(c.rules).store(c.node, c.role) == c.expected);
  }
}

TEST_CASE("P20: compute follow is the widest store format of what the pass reads") {
  const std::string stores = R"(rule where layer "{h/0/fc,h/0/act}" : store f16
rule where layer "{norm,first}" : store bf16
rule where layer "gate" role activation : store f16
rule where layer "gate" role gradient : store bf16
rule where layer "h/0/act" role saved : store bf16
rule where layer "norm" role saved : store f16
rule where layer "{sum,dynamic}" role gradient : store bf16
rule everywhere : compute follow
)";
  const OperandCase cases[] = {
      {"", "h/0/fc", forward, activation, {f32}},          // x
      {"", "h/0/fc", forward, weight, {f32}},              // x, not the weight
      {"", "h/0/act", forward, activation, {f16}},         // fc
      {"", "norm", forward, weight, {f16}},                // act
      {"", "gate", forward, activation, {bf16}},           // first
      {"", "sum", forward, activation, {f16}},             // gate and half, f16 both
      {"", "mixed", forward, activation, {f32}},           // sum and mean
      {"", "joined", forward, activation, {f32}},          // norm bf16, gate f16
      {"", "first", input_gradient, weight, {bf16}},       // its gradient
      {"", "first", weight_gradient, saved, {f32}},        // its gradient bf16, norm saved f16
      {"", "h/0/act", input_gradient, gradient, {f32}},    // its gradient f16, itself saved bf16
      {"", "h/0/fc", input_gradient, gradient, {f16}},     // its gradient
      {"", "h/0/fc", weight_gradient, gradient, {f32}},    // its gradient f16, x f32
      {"", "gate", input_gradient, gradient, {bf16}},      // its gradient and first, bf16 both
      {"", "norm", input_gradient, saved, {bf16}},         // its gradient and act saved, bf16
      {"", "sum", input_gradient, gradient, {bf16}},       // its gradient alone
      {"", "dynamic", weight_gradient, gradient, {bf16}},  // that of its bias alone
      {"", "dynamic", input_gradient, gradient, {f32}},    // norm saved f16 and turned f32 as well
      {"", "joined", input_gradient, gradient, {f32}},
      {"", "error", forward, activation, {f32}},
  };
  const Ruled ruled(stores);
  for (const OperandCase& c : cases) {
    CAPTURE(std::string(c.node));
    CAPTURE(static_cast<int>(c.pass));
    CHECK(ruled.operand(c.node, c.pass, c.role) == c.expected);
  }
}

TEST_CASE("P20: store follow is what operands were rounded to, and a gradient's its activation's") {
  const StoreCase cases[] = {
      {"rule everywhere : store follow compute bf16\n", "first", activation, {bf16}},
      {"rule everywhere : store follow compute bf16\n", "first", gradient, {bf16}},
      {"rule everywhere : store follow compute tf32\n", "first", activation, {f32}},
      {"rule everywhere : store follow\n", "first", activation, {f32}},
      {"rule where role weight : compute bf16\nrule everywhere : store follow\n",
       "first",
       activation,
       {f32}},
      {"rule everywhere : store bf16 compute bf16\nrule where op add : store follow compute "
       "follow\n",
       "sum",
       activation,
       {f32}},
      {"rule everywhere : store f16 compute f16\nrule where op add : store follow compute follow\n",
       "sum",
       activation,
       {f16}},
      {"rule everywhere : store f16 compute f16\nrule where op add : store follow compute follow\n",
       "sum",
       gradient,
       {f16}},
      {"rule everywhere : store f16 compute f16\nrule where op add : store follow compute follow\n",
       "mixed",
       activation,
       {f32}},
      // Along a chain of followers.
      {"rule where layer \"h/0/fc\" : store bf16\nrule where op relu|layer_norm|concat|silu|linear "
       "pass forward : compute follow\nrule where op relu|layer_norm|silu|concat : store follow\n",
       "norm",
       gradient,
       {bf16}},
      {"rule where role activation : store bf16\nrule where role gradient : store follow\n",
       "gate",
       gradient,
       {bf16}},
  };
  for (const StoreCase& c : cases) {
    CAPTURE(std::string(c.rules));
    CAPTURE(std::string(c.node));
    CHECK(Ruled(c.rules).store(c.node, c.role) == c.expected);
  }
}

TEST_CASE("P20, P46: what follows a format saturates where all do that are counted") {
  const RoundTo saturating = {Element::f8e4m3, even, true}, plain = {Element::f8e4m3};
  const std::string all = "rule everywhere : store f8e4m3 saturate compute f8e4m3 saturate\n";
  const std::string some = all + "rule where layer \"gate\" : store f8e4m3\n";
  const std::string two = all + "rule where layer \"gate\" : store f8e5m2 saturate\n";
  const std::string follow = "rule where op concat : store follow compute follow\n";
  CHECK(Ruled(all).store("gate", activation) == saturating);
  CHECK(Ruled(all).store("gate", saved) == saturating);
  CHECK(Ruled(all).operand("gate", forward, weight) == saturating);
  CHECK(Ruled(all + follow).operand("joined", forward, activation) == saturating);
  CHECK(Ruled(all + follow).store("joined", activation) == saturating);
  CHECK(Ruled(all + follow).store("joined", gradient) == saturating);
  CHECK(Ruled(some + follow).operand("joined", forward, activation) == plain);
  CHECK(Ruled(some + follow).store("joined", gradient) == plain);
  CHECK(Ruled(two + follow).operand("joined", forward, activation) == RoundTo{});
  const Ruled result("rule everywhere : result f16 saturate\n");
  CHECK(result.rules.result(result.id("first"), forward) == RoundTo{f16, even, true});
}

TEST_CASE("P51, P53: operands are scaled, and what follows them has bf16 for it") {
  using halftone::encoding::Scaling;
  const Scaling tensor{.kind = Scaling::Kind::tensor, .scale = Element::f8e8m0};
  const Scaling blocks{.kind = Scaling::Kind::block, .size = 32, .scale = Element::f8e8m0};
  const Ruled ruled(R"(rule everywhere : compute f8e4m3 scaled tensor f8e8m0 saturate
rule where role gradient : compute f8e5m2 scaled block 32 f8e8m0 saturate rounding toward_zero
rule where op concat : store follow
)");
  CHECK(ruled.operand("first", forward, activation) ==
        RoundTo{Element::f8e4m3, even, true, tensor});
  CHECK(ruled.operand("first", forward, weight) == RoundTo{Element::f8e4m3, even, true, tensor});
  CHECK(ruled.operand("first", weight_gradient, gradient) ==
        RoundTo{Element::f8e5m2, zero, true, blocks});
  CHECK(ruled.store("joined", activation) == RoundTo{bf16});
  const Ruled of_f32(
      "rule where op linear : store follow compute f8e4m3 scaled tensor f32 saturate\n");
  CHECK(of_f32.operand("first", forward, activation) ==
        RoundTo{Element::f8e4m3, even, true, {.kind = Scaling::Kind::tensor, .scale = f32}});
  CHECK(of_f32.store("first", activation) == RoundTo{bf16});
  // P15: the rule of role gradient states the rounding of gradients as values, too.
  CHECK(ruled.store("joined", gradient) == RoundTo{bf16, zero});
  CHECK(ruled.store("first", activation) == RoundTo{});
  // P53: elements of fewer than 8 bits are not cut where another rule says so, but drawn.
  for (const auto& [word, stated, rounding] :
       {std::tuple{"toward_zero", Rounding::toward_zero, even},
        {"stochastic", Rounding::stochastic, Rounding::stochastic}}) {
    const Ruled shorter("rule everywhere : store bf16 rounding " + std::string(word) + R"(
rule where op linear : compute f4e2m1 scaled block 32 f8e8m0 saturate
)");
    CHECK(shorter.operand("first", forward, activation) ==
          RoundTo{Element::f4e2m1, rounding, true, blocks});
    CHECK(shorter.store("first", activation) == RoundTo{bf16, stated});
  }
}

TEST_CASE("P11, P13, P16: results, accumulations and recomputation") {
  const Ruled ruled(R"(rule where op linear : accumulate hardware
rule where layer "first" pass weight_gradient : result bf16 accumulate ordered
rule where layer "second" : result tf32
rule where class activation_function : recompute always
rule where layer "gate" : recompute never
)");
  CHECK(ruled.result("first", weight_gradient) == bf16);
  CHECK(ruled.result("first", input_gradient) == f32);
  CHECK(ruled.result("second", input_gradient) == tf32);
  const auto accumulation = [&](const char* name, Pass pass) {
    return ruled.rules.accumulation(ruled.id(name), pass);
  };
  CHECK(accumulation("first", weight_gradient) == Accumulation::ordered);
  CHECK(accumulation("first", forward) == Accumulation::hardware);
  CHECK(accumulation("gate", forward) == Accumulation::f32);
  CHECK(ruled.rules.recompute(ruled.id("h/0/act")) == true);
  CHECK(ruled.rules.recompute(ruled.id("gate")) == false);
  CHECK(ruled.rules.recompute(ruled.id("norm")) == std::nullopt);
}

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
