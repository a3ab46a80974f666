// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-choose-saved -split-input-file %s | FileCheck %s

!matrix = !halftone.tensor<[batch, 8], f32>
#backward = #halftone.phase<backward>

// Its operand is an input, which is there anyway: the value is computed again next to its user.
// CHECK-LABEL: halftone.graph "recomputes_relu_of_an_input"
halftone.graph "recomputes_relu_of_an_input" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !matrix
  %g = halftone.input "g" : !matrix
  // CHECK: %[[Y:.*]] = halftone.relu %[[X]] : (
  %y = halftone.relu %x : (!matrix) -> !matrix
  // CHECK: %[[Z:.*]] = halftone.gelu %[[Y]]
  %z = halftone.gelu %y : (!matrix) -> !matrix
  // CHECK: %[[AGAIN:.*]] = halftone.relu %[[X]] {halftone.inline, halftone.phase = #halftone.phase<backward>}
  // CHECK: halftone.add %[[AGAIN]], %
  %d = halftone.add %y, %g {halftone.phase = #backward} : (!matrix, !matrix) -> !matrix
  halftone.output "z", %z : !matrix
}

// What a contraction of the backward pass reads is kept, so what is computed from it can be computed again.
// CHECK-LABEL: halftone.graph "recomputes_from_what_is_kept"
halftone.graph "recomputes_from_what_is_kept" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !halftone.tensor<[8, 8], f32>
  %g = halftone.input "g" : !matrix
  // CHECK: %[[H:.*]] = halftone.linear
  %h = halftone.linear %x, %w : (!matrix, !halftone.tensor<[8, 8], f32>) -> !matrix
  // CHECK: halftone.pointwise "cheap"(%[[H]]) : (
  %p = halftone.pointwise "cheap" (%h) : (!matrix) -> !matrix {
  ^bb0(%a: f32):
    %r = arith.mulf %a, %a : f32
    halftone.yield %r : f32
  }
  halftone.output "p", %p : !matrix
  %dw = halftone.contract %g, %h {pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.phase = #backward}
      : (!matrix, !matrix) -> !halftone.tensor<[8, 8], f32>
  // CHECK: halftone.contract
  // CHECK: %[[AGAIN:.*]] = halftone.pointwise "cheap"(%[[H]]) {halftone.inline,
  // CHECK: halftone.add %[[AGAIN]]
  %d = halftone.add %p, %g {halftone.phase = #backward} : (!matrix, !matrix) -> !matrix
}

// CHECK-LABEL: halftone.graph "does_not_recompute_what_a_contraction_reads"
// CHECK-NOT: halftone.inline
halftone.graph "does_not_recompute_what_a_contraction_reads" {
  %x = halftone.input "x" : !matrix
  %g = halftone.input "g" : !matrix
  %y = halftone.relu %x : (!matrix) -> !matrix
  %dw = halftone.contract %g, %y {pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.phase = #backward}
      : (!matrix, !matrix) -> !halftone.tensor<[8, 8], f32>
  %d = halftone.add %y, %g {halftone.phase = #backward} : (!matrix, !matrix) -> !matrix
}

// CHECK-LABEL: halftone.graph "does_not_recompute_what_costs_more_than_a_load"
// CHECK-NOT: halftone.inline
halftone.graph "does_not_recompute_what_costs_more_than_a_load" {
  %x = halftone.input "x" : !matrix
  %g = halftone.input "g" : !matrix
  %y = halftone.gelu %x : (!matrix) -> !matrix
  %p = halftone.pointwise "division" (%x) : (!matrix) -> !matrix {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.divf %one, %a : f32
    halftone.yield %r : f32
  }
  %d = halftone.add %y, %p {halftone.phase = #backward} : (!matrix, !matrix) -> !matrix
}

// Its operand would have to be kept in its place.
// CHECK-LABEL: halftone.graph "does_not_recompute_from_what_is_not_kept"
// CHECK-NOT: halftone.inline
halftone.graph "does_not_recompute_from_what_is_not_kept" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !halftone.tensor<[8, 8], f32>
  %g = halftone.input "g" : !matrix
  %h = halftone.linear %x, %w : (!matrix, !halftone.tensor<[8, 8], f32>) -> !matrix
  %y = halftone.relu %h : (!matrix) -> !matrix
  %d = halftone.add %y, %g {halftone.phase = #backward} : (!matrix, !matrix) -> !matrix
}

// A state takes the value after the backward pass: it must be there in memory.
// CHECK-LABEL: halftone.graph "does_not_recompute_what_is_assigned"
// CHECK-NOT: halftone.inline
halftone.graph "does_not_recompute_what_is_assigned" {
  %x = halftone.input "x" : !matrix
  %g = halftone.input "g" : !matrix
  %s = halftone.state "s" {initial = 0.0 : f64} : !matrix
  %y = halftone.relu %x : (!matrix) -> !matrix
  %d = halftone.add %y, %g {halftone.phase = #backward} : (!matrix, !matrix) -> !matrix
  halftone.assign %y to %s {halftone.phase = #halftone.phase<update>} : (!matrix, !matrix) -> ()
}
