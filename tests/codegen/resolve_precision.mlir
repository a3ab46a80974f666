// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-build-backward --halftone-resolve-precision -split-input-file -verify-diagnostics %s | FileCheck %s

!matrix = !halftone.tensor<[batch, 8], f32>

// The defaults of P10 to P12, and no rule is named.
// CHECK-LABEL: module @everything_is_f32_without_rules
module @everything_is_f32_without_rules {
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    // CHECK: halftone.relu
    // CHECK-SAME: <operands = {{\[\[}}#halftone.round<encoding = f32, role = activation>]], results = {{\[\[}}#halftone.round<encoding = f32, role = activation>]]>
    %y = halftone.relu %x {halftone.layer = "y", halftone.kind = "relu"} : (!matrix) -> !matrix
    halftone.output "y", %y : !matrix
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>

// P4: each field from the last rule that matches and states it; who lost is kept for people.
// CHECK-LABEL: module @the_last_rule_wins_field_by_field
module @the_last_rule_wins_field_by_field attributes {halftone.rules = #halftone.rules<[
    "everywhere : store bf16 compute bf16", "where layer \"y\" : compute f16", "where op relu : compute tf32 result tf32",
    "where layer \"z\" : store f32"]>} {
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    // CHECK: halftone.relu
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = tf32, role = activation, rule = 2, beaten = [0, 1]>]],
    // CHECK-SAME: results = {{\[\[}}#halftone.round<encoding = tf32, role = activation, rule = 2>, #halftone.round<encoding = bf16, role = activation, rule = 0>]]
    %y = halftone.relu %x {halftone.layer = "y", halftone.kind = "relu"} : (!matrix) -> !matrix
    // CHECK: halftone.gelu
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 0>]],
    // CHECK-SAME: results = {{\[\[}}#halftone.round<encoding = f32, role = activation, rule = 3, beaten = [0]>]]
    %z = halftone.gelu %y {approximation = "erf", halftone.layer = "z", halftone.kind = "gelu"} : (!matrix) -> !matrix
    halftone.output "z", %z : !matrix
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>

// P3: a clause matches when all of its parts do, a part when one of its alternatives does, a rule when one clause does. `*`
// stays within a path component, `**` does not.
// CHECK-LABEL: module @parts_of_clauses
module @parts_of_clauses attributes {halftone.rules = #halftone.rules<[
    "where layer \"h/*\" : store f16", "where layer \"h/**\" class elementwise|activation_function : compute f16",
    "where op silu|add pass forward : compute bf16", "where layer \"h/0/b\" role activation or op gelu : store bf16",
    "where layer \"h/0/b\" pass input_gradient : compute tf32", "where op linear : store f32"]>} {
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    // CHECK: halftone.relu
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f16, role = activation, rule = 1>]], results = {{\[\[}}#halftone.round<encoding = f16, role = activation, rule = 0>]]
    %a = halftone.relu %x {halftone.layer = "h/a", halftone.kind = "relu"} : (!matrix) -> !matrix
    // CHECK: halftone.relu
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f16, role = activation, rule = 1>]], results = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 3>]]
    %b = halftone.relu %a {halftone.layer = "h/0/b", halftone.kind = "relu"} : (!matrix) -> !matrix
    // CHECK: halftone.gelu
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f32, role = activation>]], results = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 3>]]
    %c = halftone.gelu %b {approximation = "erf", halftone.layer = "c", halftone.kind = "gelu"} : (!matrix) -> !matrix
    // CHECK: halftone.silu
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 2, beaten = [1]>]], results = {{\[\[}}#halftone.round<encoding = f16, role = activation, rule = 0>]]
    %d = halftone.silu %c {halftone.layer = "h/d", halftone.kind = "silu"} : (!matrix) -> !matrix
    halftone.output "d", %d : !matrix
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!rows = !halftone.tensor<[batch], f32>
!label = !halftone.tensor<[batch], i32>
!scalar = !halftone.tensor<[], f32>
#loss = #halftone.phase<loss>

// P3: the classes and what belongs to them. An operation of two classes is matched by both.
// CHECK-LABEL: module @classes
module @classes attributes {halftone.rules = #halftone.rules<["where class normalization : store f16", "where class elementwise : store bf16",
    "where class softmax : compute f16", "where class loss : compute bf16", "where class softmax : compute tf32"]>} {
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    %label = halftone.input "label" {halftone.layer = "label", halftone.kind = "input"} : !label
    %v = halftone.input "v" {halftone.layer = "v", halftone.kind = "input"} : !halftone.tensor<[8], f32>
    // Row statistics stay f32: they are no values (P31).
    // CHECK: halftone.layer_norm
    // CHECK-SAME: results = {{\[\[}}#halftone.round<encoding = f16, role = activation, rule = 0>], [], []]>
    %n, %mean, %rstd = halftone.layer_norm %x, %v, %v {epsilon = 1.0e-5 : f64, halftone.layer = "n", halftone.kind = "layer_norm"}
        : (!matrix, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) -> (!matrix, !rows, !rows)
    // CHECK: halftone.concat
    // CHECK-SAME: results = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 1>]]
    %c = halftone.concat %n {halftone.layer = "c", halftone.kind = "concat"} : (!matrix) -> !matrix
    // CHECK: halftone.relu
    // CHECK-SAME: results = {{\[\[}}#halftone.round<encoding = f32, role = activation>]]
    %r = halftone.relu %c {halftone.layer = "r", halftone.kind = "relu"} : (!matrix) -> !matrix
    // A label is no number, and inside a loss nothing is rounded (P31).
    // CHECK: halftone.cross_entropy
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = tf32, role = activation, rule = 4, beaten = [2, 3]>], []], results = {{\[\[}}]]>
    %l = halftone.cross_entropy %r, %label {halftone.layer = "l", halftone.kind = "cross_entropy", halftone.phase = #loss} : (!matrix, !label) -> !rows
    // CHECK: halftone.mean
    // CHECK-SAME: <operands = {{\[\[}}]], results = {{\[\[}}]]>
    %m = halftone.mean %l {halftone.layer = "l", halftone.kind = "cross_entropy", halftone.phase = #loss} : (!rows) -> !scalar
    // CHECK: halftone.pointwise "square"
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 3>]], results = {{\[\[}}]]>
    %p = halftone.pointwise "square" (%r) {halftone.layer = "p", halftone.kind = "pointwise_loss", halftone.phase = #loss} : (!matrix) -> !matrix {
    ^bb0(%a: f32):
      %s = arith.mulf %a, %a : f32
      halftone.yield %s : f32
    }
    halftone.output "r", %r : !matrix
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!vector = !halftone.tensor<[8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// P18: what role an operand has in each pass (P1); a clause without a role selects all operands. P19: the stores of weights
// and of saved values must be named. P34, P35: where gradients are rounded.
// CHECK-LABEL: module @roles_in_every_pass
module @roles_in_every_pass attributes {halftone.rules = #halftone.rules<[
    "everywhere : store f32 compute f32", "where role weight : compute bf16", "where role activation pass forward : compute f16",
    "where role gradient pass input_gradient : compute tf32", "where role gradient pass weight_gradient : compute f16",
    "where role saved : compute bf16", "where role saved : store f16 rounding toward_zero", "where role gradient : store bf16",
    "where pass weight_gradient : result f16", "where pass input_gradient : result tf32", "where role weight : store f16"]>} {
  halftone.graph "training" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    %w = halftone.parameter "w" {initializer = #zeros, halftone.layer = "w", halftone.kind = "parameter"} : !weight
    %b = halftone.parameter "b" {initializer = #zeros, halftone.layer = "b", halftone.kind = "parameter"} : !vector
    %h = halftone.linear %x, %w bias %b {halftone.layer = "h", halftone.kind = "linear"} : (!matrix, !weight, !vector) -> !matrix
    // CHECK: halftone.linear {{.*}}halftone.layer = "y"
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f16, role = activation, rule = 2, beaten = [0]>],
    // CHECK-SAME: [#halftone.round<encoding = f16, role = weight, rule = 10>, #halftone.round<encoding = bf16, role = weight, rule = 1, beaten = [0]>],
    // CHECK-SAME: [#halftone.round<encoding = f16, role = weight, rule = 10>, #halftone.round<encoding = bf16, role = weight, rule = 1, beaten = [0]>]],
    // CHECK-SAME: results = {{\[\[}}#halftone.round<encoding = f32, role = activation, rule = 0>]]
    %y = halftone.linear %h, %w bias %b {halftone.layer = "y", halftone.kind = "linear"} : (!matrix, !weight, !vector) -> !matrix
    %m = halftone.mean %y {halftone.layer = "l", halftone.kind = "mse", halftone.phase = #loss} : (!matrix) -> !scalar
    halftone.loss "l", %m weight 1.0 {halftone.phase = #loss} : !scalar
    // The loss's gradient is a contribution to y's (P34).
    // CHECK: halftone.map "mean_grad"
    // CHECK-SAME: <operands = {{\[\[}}]], results = {{\[\[}}#halftone.round<encoding = tf32, role = gradient, rule = 9>, #halftone.round<encoding = bf16, role = gradient, rule = 7, beaten = [0]>]]>
    // CHECK: halftone.contract {{.*}} {halftone.gradient_of = ["h"],
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = tf32, role = gradient, rule = 3, beaten = [0]>],
    // CHECK-SAME: [#halftone.round<encoding = f16, role = weight, rule = 10>, #halftone.round<encoding = bf16, role = weight, rule = 1, beaten = [0]>]],
    // CHECK-SAME: results = {{\[\[}}#halftone.round<encoding = tf32, role = gradient, rule = 9>, #halftone.round<encoding = bf16, role = gradient, rule = 7, beaten = [0]>]]
    // CHECK: halftone.contract {{.*}}halftone.gradient_of = ["w"],
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f16, role = gradient, rule = 4, beaten = [0]>],
    // CHECK-SAME: [#halftone.round<encoding = f16 toward_zero, role = saved, rule = 6>, #halftone.round<encoding = bf16 toward_zero, role = saved, rule = 5, beaten = [0]>]],
    // CHECK-SAME: results = {{\[\[}}#halftone.round<encoding = f16, role = weight_gradient, rule = 8>]]
    // CHECK: halftone.reduce "column_sum"({{.*}} {halftone.gradient_of = ["b"],
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f16, role = gradient, rule = 4, beaten = [0]>]], results = {{\[\[}}#halftone.round<encoding = f16, role = weight_gradient, rule = 8>]]
    // A sum of contributions to a parameter's gradient is f32 and nothing else.
    // CHECK: halftone.map "add"({{.*}} {halftone.gradient_of = ["w"],
    // CHECK-SAME: halftone.partial_sum, {{.*}}<operands = {{\[\[}}], []], results = {{\[\[}}]]>
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// P5: a parameter is matched by its name, by its name without the last part, and by the kinds of all that read it, in
// whichever graph; P30: its compute is that of the operation. P6: to no pass.
// CHECK-LABEL: module @parameters
module @parameters attributes {halftone.rules = #halftone.rules<["where layer \"fc1.weight\" role weight : store bf16",
    "where layer \"fc2\" role weight : store f16", "where op add role weight : store bf16",
    "where layer \"h.0/w\" role weight : store f16", "where layer \"h\" role weight : store f16",
    "where role weight pass forward : store f32", "where layer \"y\" role weight : compute f16"]>} {
  // CHECK-LABEL: halftone.graph "inference"
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    %w1 = halftone.parameter "fc1.weight" {initializer = #zeros, halftone.layer = "fc1.weight", halftone.kind = "parameter"} : !weight
    %w2 = halftone.parameter "fc2.weight" {initializer = #zeros, halftone.layer = "fc2.weight", halftone.kind = "parameter"} : !weight
    %shared = halftone.parameter "shared" {initializer = #zeros, halftone.layer = "shared", halftone.kind = "parameter"} : !weight
    %part = halftone.parameter "h.0/w" {initializer = #zeros, halftone.layer = "h.0/w", halftone.kind = "parameter"} : !weight
    %other = halftone.parameter "h.0/v" {initializer = #zeros, halftone.layer = "h.0/v", halftone.kind = "parameter"} : !weight
    // CHECK: halftone.linear {{.*}}[#halftone.round<encoding = bf16, role = weight, rule = 0>, #halftone.round<encoding = f32, role = weight>]
    %a = halftone.linear %x, %w1 {halftone.layer = "a", halftone.kind = "linear"} : (!matrix, !weight) -> !matrix
    // CHECK: halftone.linear {{.*}}[#halftone.round<encoding = f16, role = weight, rule = 1>, #halftone.round<encoding = f32, role = weight>]
    %b = halftone.linear %a, %w2 {halftone.layer = "b", halftone.kind = "linear"} : (!matrix, !weight) -> !matrix
    // CHECK: halftone.linear {{.*}}[#halftone.round<encoding = bf16, role = weight, rule = 2>, #halftone.round<encoding = f32, role = weight>]
    %c = halftone.linear %b, %shared {halftone.layer = "c", halftone.kind = "linear"} : (!matrix, !weight) -> !matrix
    // CHECK: halftone.linear {{.*}}[#halftone.round<encoding = f16, role = weight, rule = 3>, #halftone.round<encoding = f16, role = weight, rule = 6>]
    %y = halftone.linear %c, %part {halftone.layer = "y", halftone.kind = "linear"} : (!matrix, !weight) -> !matrix
    // The last part is cut off the last component of a path only.
    // CHECK: halftone.linear {{.*}}, [#halftone.round<encoding = f32, role = weight>]]
    %z = halftone.linear %y, %other {halftone.layer = "z", halftone.kind = "linear"} : (!matrix, !weight) -> !matrix
    halftone.output "z", %z : !matrix
  }
  halftone.graph "diagnosis" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !weight
    %shared = halftone.parameter "shared" {initializer = #zeros, halftone.layer = "shared", halftone.kind = "parameter"} : !weight
    %d = halftone.add %x, %shared {halftone.layer = "d", halftone.kind = "add"} : (!weight, !weight) -> !weight
    halftone.output "d", %d : !weight
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!narrow = !halftone.tensor<[batch, 8], bf16>

// P20, forward: compute follows the stores of the operands, store the formats that operands were rounded to; two formats
// give f32, and tf32 cannot be stored.
// CHECK-LABEL: module @follow
module @follow attributes {halftone.rules = #halftone.rules<["everywhere : store follow compute follow",
    "where layer \"half\" : store f16", "where layer \"tensor\" : compute tf32"]>} {
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !narrow
    // CHECK: halftone.layer = "a",{{.*}}<operands = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 0>]], results = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 0>]]
    %a = halftone.relu %x {halftone.layer = "a", halftone.kind = "relu"} : (!narrow) -> !matrix
    // CHECK: halftone.layer = "half",{{.*}}<operands = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 0>]], results = {{\[\[}}#halftone.round<encoding = f16,
    %half = halftone.relu %a {halftone.layer = "half", halftone.kind = "relu"} : (!matrix) -> !matrix
    // CHECK: halftone.layer = "both",{{.*}}<operands = {{\[\[}}#halftone.round<encoding = f32, {{.*}}results = {{\[\[}}#halftone.round<encoding = f32,
    %both = halftone.add %a, %half {halftone.layer = "both", halftone.kind = "add"} : (!matrix, !matrix) -> !matrix
    // CHECK: halftone.layer = "equal",{{.*}}<operands = {{\[\[}}#halftone.round<encoding = f16, {{.*}}results = {{\[\[}}#halftone.round<encoding = f16,
    %equal = halftone.add %half, %half {halftone.layer = "equal", halftone.kind = "add"} : (!matrix, !matrix) -> !matrix
    // CHECK: halftone.layer = "tensor",{{.*}}<operands = {{\[\[}}#halftone.round<encoding = tf32, {{.*}}results = {{\[\[}}#halftone.round<encoding = f32,
    %tensor = halftone.relu %equal {halftone.layer = "tensor", halftone.kind = "relu"} : (!matrix) -> !matrix
    halftone.output "tensor", %tensor : !matrix
    halftone.output "both", %both : !matrix
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>

// P20, P46: what is followed saturates where all saturate that are counted; two formats of 8 bits give f32.
// CHECK-LABEL: module @follow_what_saturates
module @follow_what_saturates attributes {halftone.rules = #halftone.rules<["everywhere : store f8e4m3 saturate compute f8e4m3 saturate",
    "where layer \"open\" : store f8e4m3", "where layer \"wide\" : store f8e5m2 saturate",
    "where op add : store follow compute follow"]>} {
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    // CHECK: halftone.layer = "most",{{.*}}<operands = {{\[\[}}#halftone.round<encoding = f8e4m3 saturate, role = activation, rule = 0>]], results = {{\[\[}}#halftone.round<encoding = f8e4m3 saturate, role = activation, rule = 0>]]
    %most = halftone.relu %x {halftone.layer = "most", halftone.kind = "relu"} : (!matrix) -> !matrix
    %open = halftone.relu %x {halftone.layer = "open", halftone.kind = "relu"} : (!matrix) -> !matrix
    %wide = halftone.relu %x {halftone.layer = "wide", halftone.kind = "relu"} : (!matrix) -> !matrix
    // CHECK: halftone.layer = "equal",{{.*}}<operands = {{\[\[}}#halftone.round<encoding = f8e4m3 saturate, {{.*}}results = {{\[\[}}#halftone.round<encoding = f8e4m3 saturate,
    %equal = halftone.add %most, %most {halftone.layer = "equal", halftone.kind = "add"} : (!matrix, !matrix) -> !matrix
    // CHECK: halftone.layer = "one",{{.*}}<operands = {{\[\[}}#halftone.round<encoding = f8e4m3, {{.*}}results = {{\[\[}}#halftone.round<encoding = f8e4m3,
    %one = halftone.add %most, %open {halftone.layer = "one", halftone.kind = "add"} : (!matrix, !matrix) -> !matrix
    // CHECK: halftone.layer = "both",{{.*}}<operands = {{\[\[}}#halftone.round<encoding = f32, {{.*}}results = {{\[\[}}#halftone.round<encoding = f32,
    %both = halftone.add %most, %wide {halftone.layer = "both", halftone.kind = "add"} : (!matrix, !matrix) -> !matrix
    halftone.output "equal", %equal : !matrix
    halftone.output "one", %one : !matrix
    halftone.output "both", %both : !matrix
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>

// P51, P53: an operand is scaled, and what follows it is stored in bf16, which does not saturate.
// CHECK-LABEL: module @follow_what_is_scaled
module @follow_what_is_scaled attributes {halftone.rules = #halftone.rules<["everywhere : compute f8e4m3 scaled block 4 f8e8m0 saturate",
    "where layer \"sum\" : store follow"]>} {
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    // CHECK: halftone.layer = "sum",{{.*}}<operands = {{\[\[}}#halftone.round<encoding = f8e4m3 scaled block 4 f8e8m0 saturate, role = activation, rule = 0>], {{.*}}results = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 1>]]
    %sum = halftone.add %x, %x {halftone.layer = "sum", halftone.kind = "add"} : (!matrix, !matrix) -> !matrix
    halftone.output "sum", %sum : !matrix
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!vector = !halftone.tensor<[8], f32>
!rows = !halftone.tensor<[batch], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// P20, backward: an operation's operands are the arriving gradient, as it is stored, and what it reads of the forward pass,
// as that was saved; a gradient follows its activation. Row statistics count for nothing. P37: the bias sums the gradient
// as the weight gradient reads it, which is f32 beside a saved bf16, though the bias itself reads no saved value.
// CHECK-LABEL: module @follow_backward
module @follow_backward attributes {halftone.rules = #halftone.rules<["where role activation|gradient : store f16",
    "where layer \"n\" role activation : store bf16", "where layer \"n\" role gradient : store follow",
    "where layer \"x2\" role saved : store bf16",
    "where pass input_gradient or pass weight_gradient : compute follow"]>} {
  halftone.graph "training" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    %w = halftone.parameter "w" {initializer = #zeros, halftone.layer = "w", halftone.kind = "parameter"} : !weight
    %b = halftone.parameter "b" {initializer = #zeros, halftone.layer = "b", halftone.kind = "parameter"} : !vector
    %g = halftone.parameter "g" {initializer = #zeros, halftone.layer = "g", halftone.kind = "parameter"} : !vector
    %x2 = halftone.add %x, %x {halftone.layer = "x2", halftone.kind = "add"} : (!matrix, !matrix) -> !matrix
    %h = halftone.linear %x2, %w bias %b {halftone.layer = "h", halftone.kind = "linear"} : (!matrix, !weight, !vector) -> !matrix
    %n, %mean, %rstd = halftone.layer_norm %h, %g, %g {epsilon = 1.0e-5 : f64, halftone.layer = "n", halftone.kind = "layer_norm"}
        : (!matrix, !vector, !vector) -> (!matrix, !rows, !rows)
    %y = halftone.silu %n {halftone.layer = "y", halftone.kind = "silu"} : (!matrix) -> !matrix
    %m = halftone.mean %y {halftone.layer = "l", halftone.kind = "mse", halftone.phase = #loss} : (!matrix) -> !scalar
    halftone.loss "l", %m weight 1.0 {halftone.phase = #loss} : !scalar
    // silu: the gradient of y is f16, the saved n is bf16; n's own gradient follows n.
    // CHECK: halftone.map "silu_grad"
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f32, role = saved, rule = 4>], [#halftone.round<encoding = f32, role = gradient, rule = 4>]],
    // CHECK-SAME: results = {{\[\[}}#halftone.round<encoding = bf16, role = gradient, rule = 2, beaten = [0]>]]
    // layer_norm: the gradient of n is bf16, the saved h is f16.
    // CHECK: halftone.map "layer_norm_grad"
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f32, role = saved, rule = 4>], [#halftone.round<encoding = f32, role = weight, rule = 4>], [], [],
    // CHECK-SAME: [#halftone.round<encoding = f32, role = gradient, rule = 4>]], results = {{\[\[}}#halftone.round<encoding = f16, role = gradient, rule = 0>]]
    // linear: the gradient of h is f16, the saved x2 is bf16.
    // CHECK: halftone.contract {{.*}}{halftone.gradient_of = ["w"]
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f32, role = gradient, rule = 4>], [#halftone.round<encoding = bf16, role = saved, rule = 3>, #halftone.round<encoding = f32, role = saved, rule = 4>]],
    // CHECK: halftone.reduce "column_sum"
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f32, role = gradient, rule = 4>]],
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>

// P3: chips are ordered by their number, and the CPU is before and from none of them.
// CHECK-LABEL: module @targets
module @targets attributes {halftone.target = "sm_86", halftone.rules = #halftone.rules<["where target cpu : store f16",
    "where target before(sm_86) : compute f16", "where target from(sm_86) : compute bf16", "where target sm_80|sm_86 : store bf16",
    "where target from(sm_89) : result f16"]>} {
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    // CHECK: halftone.relu
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 2>]], results = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 3>]]
    %y = halftone.relu %x {halftone.layer = "y", halftone.kind = "relu"} : (!matrix) -> !matrix
    halftone.output "y", %y : !matrix
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>

// CHECK-LABEL: module @does_not_match_the_cpu_by_number
module @does_not_match_the_cpu_by_number attributes {halftone.rules = #halftone.rules<["where target before(sm_75) or target from(sm_75) : store bf16",
    "where target cpu : compute f16"]>} {
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    // CHECK: halftone.relu
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f16, role = activation, rule = 1>]], results = {{\[\[}}#halftone.round<encoding = f32, role = activation>]]
    %y = halftone.relu %x {halftone.layer = "y", halftone.kind = "relu"} : (!matrix) -> !matrix
    halftone.output "y", %y : !matrix
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// P13, P15, P16, P18: what belongs to an operation is matched by no clause with a role; rounding belongs to operands and
// stores, a result's is always to nearest.
// CHECK-LABEL: module @rounding_accumulate_recompute
module @rounding_accumulate_recompute attributes {halftone.rules = #halftone.rules<[
    "everywhere : store bf16 compute f16 result tf32 accumulate ordered rounding toward_zero recompute always",
    "where role weight : compute bf16 rounding nearest_even", "where layer \"z\" : accumulate hardware recompute never",
    "where role saved : recompute always"]>} {
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    %w = halftone.parameter "w" {initializer = #zeros, halftone.layer = "w", halftone.kind = "parameter"} : !weight
    // CHECK: halftone.linear
    // CHECK-SAME: halftone.decisions = [
    // CHECK-SAME: {beaten = array<i64>, field = "rounding", layer = "y", pass = "forward", role = "activation", rule = 0 : i64, setting = "toward_zero"}
    // CHECK-SAME: {beaten = array<i64: 0>, field = "rounding", layer = "y", pass = "forward", role = "weight", rule = 1 : i64, setting = "nearest_even"}
    // CHECK-SAME: {beaten = array<i64>, field = "accumulate", layer = "y", pass = "forward", role = "", rule = 0 : i64, setting = "ordered"}
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f16 toward_zero, role = activation, rule = 0>], [#halftone.round<encoding = bf16, role = weight, rule = 1, beaten = [0]>]],
    // CHECK-SAME: results = {{\[\[}}#halftone.round<encoding = tf32, role = activation, rule = 0>, #halftone.round<encoding = bf16 toward_zero, role = activation, rule = 0>]],
    // CHECK-SAME: accumulate = ordered>, halftone.recompute = true
    %y = halftone.linear %x, %w {halftone.layer = "y", halftone.kind = "linear"} : (!matrix, !weight) -> !matrix
    // CHECK: halftone.linear
    // CHECK-SAME: {beaten = array<i64: 0>, field = "accumulate", layer = "z", pass = "forward", role = "", rule = 2 : i64, setting = "hardware"}
    // CHECK-SAME: {beaten = array<i64: 0>, field = "recompute", layer = "z", pass = "forward", role = "activation", rule = 2 : i64, setting = "never"}
    // CHECK-SAME: accumulate = hardware>, halftone.recompute = false
    %z = halftone.linear %y, %w {halftone.layer = "z", halftone.kind = "linear"} : (!matrix, !weight) -> !matrix
    halftone.output "z", %z : !matrix
  }
}

// -----

!scalar = !halftone.tensor<[], f32>

// A layer whose result is one number is a layer (P32).
// CHECK-LABEL: module @scalar_values
module @scalar_values attributes {halftone.rules = #halftone.rules<["everywhere : store bf16 compute f16"]>} {
  halftone.graph "inference" {
    %s = halftone.state "s" {initial = 0.0 : f64, halftone.layer = "s", halftone.kind = "state"} : !scalar
    // CHECK: halftone.relu
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f16, {{.*}}results = {{\[\[}}#halftone.round<encoding = bf16,
    %y = halftone.relu %s {halftone.layer = "y", halftone.kind = "relu"} : (!scalar) -> !scalar
    halftone.output "y", %y : !scalar
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!vector = !halftone.tensor<[8], f32>
#backward = #halftone.phase<backward>

// What stays inside of a gradient reads by the rules of the pass that the gradient belongs to (P1), and is not rounded (P31).
// CHECK-LABEL: module @parts_of_gradients
module @parts_of_gradients attributes {halftone.rules = #halftone.rules<["everywhere : store bf16 compute bf16",
    "where pass weight_gradient : compute f16"]>} {
  halftone.graph "training" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    %w = halftone.parameter "w" {initializer = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>, frozen = true} : !vector
    // CHECK: halftone.reduce "sums"
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f16, role = saved, rule = 1, beaten = [0]>]], results = {{\[\[\]\]}}>
    %p = halftone.reduce "sums"(%x) {halftone.internal, halftone.layer = "fc", halftone.kind = "linear", halftone.phase = #backward}
        : (!matrix) -> !vector
    // CHECK: halftone.map "whole"
    // CHECK-SAME: operands = {{\[\[\]\]}}, results = {{\[\[\]\]}}>
    %g = halftone.map "whole"(%p) {halftone.gradient_of = ["w"], halftone.layer = "fc", halftone.kind = "linear",
        halftone.phase = #backward} : (!vector) -> !vector {
    ^bb0(%e: f32):
      halftone.yield %e : f32
    }
    halftone.gradient %g of %w {halftone.phase = #backward} : (!vector, !vector) -> ()
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>

// CHECK-LABEL: module @does_not_change_what_belongs_to_no_layer
module @does_not_change_what_belongs_to_no_layer attributes {halftone.rules = #halftone.rules<["everywhere : store bf16 compute bf16"]>} {
  halftone.graph "training" {
    // CHECK: halftone.input "x" : <[batch, 8], f32>
    %x = halftone.input "x" : !matrix
    // CHECK: halftone.relu %{{[0-9]+}} : (
    %y = halftone.relu %x : (!matrix) -> !matrix
    halftone.output "y", %y : !matrix
  }
}

// -----

// expected-error @+1 {{rule 'everywhere : store f33' cannot be read: }}
module attributes {halftone.rules = #halftone.rules<["everywhere : store bf16", "everywhere : store f33"]>} {
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>

// P49: in inference what is stochastic goes to the nearest; P42: f32 is not drawn, whichever rule's it is.
// CHECK-LABEL: module @draws_in_training_alone
module @draws_in_training_alone attributes {halftone.rules = #halftone.rules<[
    "everywhere : store bf16 compute f16 rounding stochastic", "where layer \"z\" : store f32"]>} {
  // CHECK-LABEL: halftone.graph "training"
  // CHECK: halftone.relu {{.*}}#halftone.precision<operands = {{\[\[}}#halftone.round<encoding = f16 stochastic, role = activation, rule = 0>]], results = {{\[\[}}#halftone.round<encoding = bf16 stochastic, role = activation, rule = 0>]]>
  // CHECK: halftone.relu {{.*}}results = {{\[\[}}#halftone.round<encoding = f32, role = activation, rule = 1, beaten = [0]>]]>
  halftone.graph "training" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    %y = halftone.relu %x {halftone.layer = "y", halftone.kind = "relu"} : (!matrix) -> !matrix
    %z = halftone.relu %y {halftone.layer = "z", halftone.kind = "relu"} : (!matrix) -> !matrix
    halftone.output "z", %z : !matrix
  }
  // CHECK-LABEL: halftone.graph "inference"
  // CHECK: halftone.relu {{.*}}#halftone.precision<operands = {{\[\[}}#halftone.round<encoding = f16, role = activation, rule = 0>]], results = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 0>]]>
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    %y = halftone.relu %x {halftone.layer = "y", halftone.kind = "relu"} : (!matrix) -> !matrix
    halftone.output "y", %y : !matrix
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// P60: bounds ask where the layer or the parameter stands by its name; P61: where an exception fits it is as if there were no rule.
// CHECK-LABEL: module @bounds_and_exceptions
module @bounds_and_exceptions attributes {halftone.rules = #halftone.rules<[
    "everywhere except op relu or role weight : compute tf32", "where first 1 : compute f16", "where role activation last 1 : compute bf16",
    "where op relu depth 1 2 : store bf16", "where role weight at_least 65 except last 1 : store f16"]>,
    halftone.rule_places = {"in.weight" = array<i64: 0, 1, -1, 65>, "h/1/fc.weight" = array<i64: 1, 0, 1, 65>, in = array<i64: 0, 1, -1, 65>,
      "h/0/act" = array<i64: -1, -1, 0, -1>, "h/1/act" = array<i64: -1, -1, 1, -1>, "h/1/fc" = array<i64: 1, 0, 1, 65>}} {
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    %w = halftone.parameter "in.weight" {initializer = #zeros, halftone.layer = "in.weight", halftone.kind = "parameter"} : !weight
    %v = halftone.parameter "h/1/fc.weight" {initializer = #zeros, halftone.layer = "h/1/fc.weight", halftone.kind = "parameter"} : !weight
    // CHECK: halftone.linear
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = f16, role = activation, rule = 1, beaten = [0]>], [#halftone.round<encoding = f16, role = weight, rule = 4>, #halftone.round<encoding = f16, role = weight, rule = 1>]]
    %a = halftone.linear %x, %w {halftone.layer = "in", halftone.kind = "linear"} : (!matrix, !weight) -> !matrix
    // CHECK: halftone.relu
    // CHECK-SAME: <operands = {{\[\[}}#halftone.round<encoding = f32, role = activation>]], results = {{\[\[}}#halftone.round<encoding = f32, role = activation>]]>
    %b = halftone.relu %a {halftone.layer = "h/0/act", halftone.kind = "relu"} : (!matrix) -> !matrix
    // CHECK: halftone.relu
    // CHECK-SAME: <operands = {{\[\[}}#halftone.round<encoding = f32, role = activation>]], results = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 3>]]>
    %c = halftone.relu %b {halftone.layer = "h/1/act", halftone.kind = "relu"} : (!matrix) -> !matrix
    // CHECK: halftone.linear
    // CHECK-SAME: operands = {{\[\[}}#halftone.round<encoding = bf16, role = activation, rule = 2, beaten = [0]>], [#halftone.round<encoding = f32, role = weight>]]
    %d = halftone.linear %c, %v {halftone.layer = "h/1/fc", halftone.kind = "linear"} : (!matrix, !weight) -> !matrix
    halftone.output "d", %d : !matrix
  }
}
