// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-resolve-precision -split-input-file -verify-diagnostics %s | FileCheck %s

// Without rules everything is f32, and no rule is named.
module {
  // CHECK-LABEL: halftone.graph "language_default"
  halftone.graph "language_default" {
    // CHECK: halftone.input "x" {{.*}} : <[batch, 8], f32>
    %x = halftone.input "x" {halftone.layer = "x"} : !halftone.tensor<[batch, 8], none>
    // CHECK: halftone.relu %{{.*}} {halftone.layer = "act",
    // CHECK-SAME: halftone.precision = #halftone.precision<store = f32, compute = f32, accumulate = f32, rule = -1>}
    // CHECK-SAME: -> !halftone.tensor<[batch, 8], f32>
    %y = halftone.relu %x {halftone.layer = "act"} : (!halftone.tensor<[batch, 8], none>) -> !halftone.tensor<[batch, 8], none>
    halftone.output "y", %y : !halftone.tensor<[batch, 8], none>
  }
}

// -----

// The last rule that matches a layer wins, field by field; parameters are masters, sums over everything accumulators.
module attributes {halftone.rules = [
    {layer = "**", store = f32, compute = f32, accumulate = f32, master = f32},
    {layer = "encoder.*", store = bf16, compute = bf16},
    {layer = "encoder.fc2", compute = tf32},
    {layer = "*.norm", store = f16}]} {
  // CHECK-LABEL: halftone.graph "rules_by_layer"
  halftone.graph "rules_by_layer" {
    // CHECK: halftone.input "x" : <[batch, 8], f32>
    %x = halftone.input "x" : !halftone.tensor<[batch, 8], none>
    // CHECK: halftone.parameter "encoder.weight" {{.*}} : <[8, 8], f32>
    %w = halftone.parameter "encoder.weight" {halftone.layer = "encoder.weight",
        initializer = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>} : !halftone.tensor<[8, 8], none>
    // CHECK: halftone.parameter "encoder.gain" {{.*}} : <[8], f32>
    %v = halftone.parameter "encoder.gain" {halftone.layer = "encoder.gain",
        initializer = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>} : !halftone.tensor<[8], none>
    // CHECK: halftone.linear
    // CHECK-SAME: <store = bf16, compute = bf16, accumulate = f32, rule = 1>
    // CHECK-SAME: -> !halftone.tensor<[batch, 8], bf16>
    %a = halftone.linear %x, %w {halftone.layer = "encoder.fc1"}
        : (!halftone.tensor<[batch, 8], none>, !halftone.tensor<[8, 8], none>) -> !halftone.tensor<[batch, 8], none>
    // CHECK: halftone.linear
    // CHECK-SAME: <store = bf16, compute = tf32, accumulate = f32, rule = 2>
    %b = halftone.linear %a, %w {halftone.layer = "encoder.fc2"}
        : (!halftone.tensor<[batch, 8], none>, !halftone.tensor<[8, 8], none>) -> !halftone.tensor<[batch, 8], none>
    // CHECK: halftone.layer_norm
    // CHECK-SAME: <store = f16, compute = bf16, accumulate = f32, rule = 3>
    %c, %mean, %rstd = halftone.layer_norm %b, %v, %v {epsilon = 1.0e-5 : f64, halftone.layer = "encoder.norm"}
        : (!halftone.tensor<[batch, 8], none>, !halftone.tensor<[8], none>, !halftone.tensor<[8], none>)
        -> (!halftone.tensor<[batch, 8], none>, !halftone.tensor<[batch], none>, !halftone.tensor<[batch], none>)
    // CHECK: halftone.relu
    // CHECK-SAME: <store = f32, compute = f32, accumulate = f32, rule = 0>
    // CHECK-SAME: -> !halftone.tensor<[batch, 8], f32>
    %d = halftone.relu %c {halftone.layer = "head"} : (!halftone.tensor<[batch, 8], none>) -> !halftone.tensor<[batch, 8], none>
    // CHECK: halftone.mean
    // CHECK-SAME: -> !halftone.tensor<[], f32>
    %e = halftone.mean %d {halftone.layer = "encoder.loss"} : (!halftone.tensor<[batch, 8], none>) -> !halftone.tensor<[], none>
    halftone.output "e", %e : !halftone.tensor<[], none>
  }
}

// -----

// A region computes in the format of the rules although its operands are stored in another.
module attributes {halftone.rules = [{layer = "**", store = bf16, compute = f32}, {layer = "half", store = f16, compute = f16}]} {
  // CHECK-LABEL: halftone.graph "regions_compute_in_the_compute_format"
  halftone.graph "regions_compute_in_the_compute_format" {
    %x = halftone.input "x" : !halftone.tensor<[4], none>
    // CHECK: halftone.pointwise "double"
    // CHECK-SAME: (!halftone.tensor<[4], bf16>) -> !halftone.tensor<[4], bf16>
    // CHECK-NEXT: ^bb0(%[[A:[a-z0-9]+]]: f32):
    // CHECK-NEXT: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
    // CHECK-NEXT: arith.mulf %[[A]], %[[TWO]] : f32
    %y = halftone.pointwise "double" (%x) {halftone.layer = "wide"} : (!halftone.tensor<[4], none>) -> !halftone.tensor<[4], none> {
    ^bb0(%a: f32):
      %two = arith.constant 2.0 : f32
      %r = arith.mulf %a, %two : f32
      halftone.yield %r : f32
    }
    // CHECK: halftone.pointwise "compare"
    // CHECK-SAME: (!halftone.tensor<[4], bf16>) -> !halftone.tensor<[4], f16>
    // CHECK: ^bb0(%[[B:.*]]: f16):
    // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f16
    // CHECK: %[[C:.*]] = arith.cmpf ogt, %[[B]], %[[ZERO]] : f16
    // CHECK: arith.select %[[C]], %[[B]], %[[ZERO]] : f16
    %z = halftone.pointwise "compare" (%y) {halftone.layer = "half"} : (!halftone.tensor<[4], none>) -> !halftone.tensor<[4], none> {
    ^bb0(%a: f32):
      %zero = arith.constant 0.0 : f32
      %c = arith.cmpf ogt, %a, %zero : f32
      %r = arith.select %c, %a, %zero : f32
      halftone.yield %r : f32
    }
    halftone.output "z", %z : !halftone.tensor<[4], none>
  }
}

// -----

// What an input declares is no matter of the rules.
module attributes {halftone.rules = [{layer = "**", store = bf16, compute = bf16}]} {
  // CHECK-LABEL: halftone.graph "does_not_change_a_declared_format"
  halftone.graph "does_not_change_a_declared_format" {
    // CHECK: halftone.input "x" : <[batch, 8], f32>
    %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
    // CHECK: halftone.input "label" : <[batch], i32>
    %label = halftone.input "label" : !halftone.tensor<[batch], i32>
    // CHECK: (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], i32>) -> !halftone.tensor<[batch], bf16>
    %l = halftone.cross_entropy %x, %label : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], i32>)
        -> !halftone.tensor<[batch], none>
    halftone.output "l", %l : !halftone.tensor<[batch], none>
  }
}

// -----

// expected-error @+1 {{rule '[a' is not a valid layer pattern}}
module attributes {halftone.rules = [{layer = "**", store = f32}, {layer = "[a", store = bf16}]} {
}
