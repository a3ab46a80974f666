// SPDX-License-Identifier: Apache-2.0
// A model under rules, asked what they decide.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "halftone/reference/resolution.hpp"
#include "problem.hpp"

namespace halftone::reference::tests {

using namespace description;

constexpr Element f32 = Element::f32, tf32 = Element::tf32, f16 = Element::f16,
                  bf16 = Element::bf16;
constexpr Rounding even = Rounding::nearest_even, zero = Rounding::toward_zero;
constexpr Pass forward = Pass::forward, input_gradient = Pass::input_gradient,
               weight_gradient = Pass::weight_gradient;
constexpr Role activation = Role::activation, saved = Role::saved, gradient = Role::gradient,
               weight = Role::weight;

inline const char kModel[] = R"(input %x : f32[batch, 8]
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

}  // namespace halftone::reference::tests
