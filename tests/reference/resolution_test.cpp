// SPDX-License-Identifier: Apache-2.0
// What rules decide (P4 to P53), against tables written by hand from docs/spec/precision.md.
#include <doctest/doctest.h>

#include <string>

#include "ruled.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;
using namespace halftone::description;

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
  // P53: elements of fewer than 8 bits are rounded as another rule says.
  for (const auto& [word, stated] :
       {std::pair{"toward_zero", zero}, {"stochastic", Rounding::stochastic}}) {
    const Ruled shorter("rule everywhere : store bf16 rounding " + std::string(word) + R"(
rule where op linear : compute f4e2m1 scaled block 32 f8e8m0 saturate
)");
    CHECK(shorter.operand("first", forward, activation) ==
          RoundTo{Element::f4e2m1, stated, true, blocks});
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
