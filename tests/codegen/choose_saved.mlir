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
  %z = halftone.gelu %y {approximation = "erf"} : (!matrix) -> !matrix
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

// What is stored rounded is rounded again when it is computed again (P32, P33): the casts under a value belong to it.
// CHECK-LABEL: halftone.graph "recomputes_through_casts"
halftone.graph "recomputes_through_casts" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !matrix
  %g = halftone.input "g" : !matrix
  %y = halftone.relu %x : (!matrix) -> !matrix
  %half = halftone.cast %y {halftone.cast = {value = 0 : i64}, halftone.values = array<i64: 0>} : (!matrix) -> !halftone.tensor<[batch, 8], bf16>
  %wide = halftone.cast %half {halftone.inline} : (!halftone.tensor<[batch, 8], bf16>) -> !matrix
  %z = halftone.gelu %wide {approximation = "erf"} : (!matrix) -> !matrix
  halftone.output "z", %z : !matrix
  %saved = halftone.cast %half {halftone.cast = {value = 1 : i64}, toward_zero} : (!halftone.tensor<[batch, 8], bf16>) -> !halftone.tensor<[batch, 8], f16>
  // CHECK: halftone.output "z"
  // CHECK: %[[Y:.*]] = halftone.relu %[[X]] {halftone.inline, halftone.phase = #halftone.phase<backward>}
  // CHECK-NEXT: %[[HALF:.*]] = halftone.cast %[[Y]] {halftone.inline, halftone.phase = #halftone.phase<backward>} : {{.*}}-> !halftone.tensor<[batch, 8], bf16>
  // CHECK-NEXT: %[[SAVED:.*]] = halftone.cast %[[HALF]] {halftone.inline, halftone.phase = #halftone.phase<backward>, toward_zero} : {{.*}}-> !halftone.tensor<[batch, 8], f16>
  // CHECK-NEXT: %[[WIDE:.*]] = halftone.cast %[[SAVED]] {halftone.inline, halftone.phase = #halftone.phase<backward>} : {{.*}}-> !halftone.tensor<[batch, 8], f32>
  // CHECK-NEXT: halftone.add %[[WIDE]], %
  %again = halftone.cast %saved {halftone.inline, halftone.phase = #backward} : (!halftone.tensor<[batch, 8], f16>) -> !matrix
  %d = halftone.add %again, %g {halftone.phase = #backward} : (!matrix, !matrix) -> !matrix
}

// P16, always: whatever it costs and whoever reads it, once in every phase that does, in a kernel of its own. The forward
// pass reads the first one.
// CHECK-LABEL: halftone.graph "recomputes_what_a_rule_says"
halftone.graph "recomputes_what_a_rule_says" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !matrix
  %g = halftone.input "g" : !matrix
  %v = halftone.input "v" : !halftone.tensor<[8], f32>
  // CHECK: %[[Y:.*]] = halftone.gelu %[[X]] {approximation = "erf", halftone.recompute = true} :
  %y = halftone.gelu %x {approximation = "erf", halftone.recompute = true} : (!matrix) -> !matrix
  // CHECK: %[[N:.*]], %[[MEAN:.*]], %{{.*}} = halftone.layer_norm %[[Y]],
  %n, %mean, %rstd = halftone.layer_norm %y, %v, %v {epsilon = 1.0e-5 : f64, halftone.recompute = true}
      : (!matrix, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) -> (!matrix, !halftone.tensor<[batch], f32>, !halftone.tensor<[batch], f32>)
  // CHECK: halftone.output "n", %[[N]]
  halftone.output "n", %n : !matrix
  // CHECK: %[[LOSS:.*]] = halftone.gelu %[[X]] {approximation = "erf", halftone.phase = #halftone.phase<loss_backward>, halftone.recompute = true}
  // CHECK: halftone.add %[[LOSS]], %{{.*}}phase<loss_backward>
  %d = halftone.add %y, %g {halftone.phase = #halftone.phase<loss_backward>} : (!matrix, !matrix) -> !matrix
  // CHECK: %[[BACK:.*]] = halftone.gelu %[[X]] {approximation = "erf", halftone.phase = #halftone.phase<backward>, halftone.recompute = true}
  // CHECK-NOT: halftone.gelu
  // CHECK: %[[AGAIN:[a-z0-9_]+]], %{{.*}}, %{{.*}} = halftone.layer_norm %[[BACK]], {{.*}}phase<backward>
  // CHECK: halftone.contract %{{.*}}, %[[AGAIN]]
  %dw = halftone.contract %g, %n {pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.phase = #backward}
      : (!matrix, !matrix) -> !halftone.tensor<[8, 8], f32>
  // CHECK: halftone.contract %{{.*}}, %[[BACK]]
  %dv = halftone.contract %g, %y {pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.phase = #backward}
      : (!matrix, !matrix) -> !halftone.tensor<[8, 8], f32>
}

// P16, never: though it would be cheap.
// CHECK-LABEL: halftone.graph "does_not_recompute_what_a_rule_keeps"
// CHECK-NOT: phase<backward>{{.*}}recompute
// CHECK-NOT: halftone.inline
halftone.graph "does_not_recompute_what_a_rule_keeps" {
  %x = halftone.input "x" : !matrix
  %g = halftone.input "g" : !matrix
  %y = halftone.relu %x {halftone.recompute = false} : (!matrix) -> !matrix
  %half = halftone.cast %y {halftone.cast = {value = 0 : i64}} : (!matrix) -> !halftone.tensor<[batch, 8], bf16>
  // CHECK: halftone.cast %{{.*}} {halftone.phase = #halftone.phase<backward>}
  %again = halftone.cast %half {halftone.phase = #backward} : (!halftone.tensor<[batch, 8], bf16>) -> !matrix
  %d = halftone.add %again, %g {halftone.phase = #backward} : (!matrix, !matrix) -> !matrix
}

// A state takes the value that the forward pass had, whatever a rule says of the backward pass: another state that it was
// computed from may have changed by then.
// CHECK-LABEL: halftone.graph "does_not_recompute_for_a_state"
// CHECK-COUNT-1: halftone.gelu
// CHECK-NOT: halftone.gelu
halftone.graph "does_not_recompute_for_a_state" {
  %s = halftone.state "s" {initial = 0.0 : f64} : !matrix
  %t = halftone.state "t" {initial = 0.0 : f64} : !matrix
  %y = halftone.gelu %s {approximation = "erf", halftone.recompute = true} : (!matrix) -> !matrix
  halftone.assign %t to %s {halftone.phase = #halftone.phase<update>} : (!matrix, !matrix) -> ()
  halftone.assign %y to %t {halftone.phase = #halftone.phase<update>} : (!matrix, !matrix) -> ()
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
  %y = halftone.gelu %x {approximation = "erf"} : (!matrix) -> !matrix
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

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!pairs = !halftone.tensor<[batch, 2, 4], f32>
!weight = !halftone.tensor<[4, 4], f32>
#backward = #halftone.phase<backward>
#loss_backward = #halftone.phase<loss_backward>

// The backward pass has views of its own, so that what they show is kept or computed again as if they were not there: relu is
// kept, since a contraction reads it, and what is cheap is computed again from a view of it.
// CHECK-LABEL: halftone.graph "what_a_view_shows_is_kept"
halftone.graph "what_a_view_shows_is_kept" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %g = halftone.input "g" : !pairs
  // CHECK: %[[Y:.*]] = halftone.relu
  %y = halftone.relu %x : (!matrix) -> !matrix
  // CHECK: %[[V:.*]] = halftone.reshape %[[Y]] {halftone.values = array<i64: 0>}
  %v = halftone.reshape %y {halftone.values = array<i64: 0>} : (!matrix) -> !pairs
  %p = halftone.pointwise "cheap" (%v) : (!pairs) -> !pairs {
  ^bb0(%a: f32):
    %r = arith.mulf %a, %a : f32
    halftone.yield %r : f32
  }
  // CHECK: halftone.output "p"
  halftone.output "p", %p : !pairs
  // CHECK: %[[OWN:.*]] = halftone.reshape %[[Y]] {halftone.phase = #halftone.phase<backward>}
  // CHECK-NEXT: halftone.contract %{{.*}}, %[[OWN]]
  %dw = halftone.contract %g, %v {pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.phase = #backward}
      : (!pairs, !pairs) -> !weight
  // CHECK: %[[AGAIN:.*]] = halftone.reshape %[[Y]]
  // CHECK-NEXT: %[[P:.*]] = halftone.pointwise "cheap"(%[[AGAIN]]) {halftone.inline,
  // CHECK: halftone.add %[[P]]
  %d = halftone.add %p, %g {halftone.phase = #backward} : (!pairs, !pairs) -> !pairs
}

// A rule's word holds under a view, too (P16).
// CHECK-LABEL: halftone.graph "recomputes_under_a_view"
halftone.graph "recomputes_under_a_view" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %g = halftone.input "g" : !pairs
  %y = halftone.gelu %x {approximation = "erf", halftone.recompute = true} : (!matrix) -> !matrix
  %v = halftone.reshape %y : (!matrix) -> !pairs
  // CHECK: halftone.output "v"
  halftone.output "v", %v : !pairs
  // CHECK: %[[AGAIN:.*]] = halftone.gelu %[[X]] {{.*}}halftone.phase = #halftone.phase<backward>
  // CHECK: %[[V:.*]] = halftone.reshape %[[AGAIN]]
  // CHECK: halftone.contract %{{.*}}, %[[V]]
  %dw = halftone.contract %g, %v {pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.phase = #backward}
      : (!pairs, !pairs) -> !weight
}

// F6 costs more than to keep what it leaves, and draws what it drew wherever it is computed again.
// CHECK-LABEL: halftone.graph "keeps_what_is_drawn"
halftone.graph "keeps_what_is_drawn" {
  %x = halftone.input "x" : !matrix
  %g = halftone.input "g" : !matrix
  // CHECK: %[[Y:.*]] = halftone.relu
  %y = halftone.relu %x : (!matrix) -> !matrix
  // CHECK: %[[DRAWN:.*]] = halftone.cast %[[Y]] {stochastic = "y"}
  %drawn = halftone.cast %y {stochastic = "y"} : (!matrix) -> !halftone.tensor<[batch, 8], bf16>
  // CHECK: %[[OFX:.*]] = halftone.cast %{{.*}} {stochastic = "x"}
  %ofx = halftone.cast %x {stochastic = "x"} : (!matrix) -> !halftone.tensor<[batch, 8], bf16>
  // CHECK-NEXT: %[[Z:.*]] = halftone.gelu
  %z = halftone.gelu %x {approximation = "erf", halftone.recompute = true} : (!matrix) -> !matrix
  %half = halftone.cast %z {stochastic = "z"} : (!matrix) -> !halftone.tensor<[batch, 8], bf16>
  // CHECK: halftone.cast %[[DRAWN]] {halftone.inline,
  %again = halftone.cast %drawn {halftone.inline, halftone.phase = #backward} : (!halftone.tensor<[batch, 8], bf16>) -> !matrix
  // CHECK: halftone.cast %[[OFX]] {halftone.inline,
  %twice = halftone.cast %ofx {halftone.inline, halftone.phase = #backward} : (!halftone.tensor<[batch, 8], bf16>) -> !matrix
  %d = halftone.add %again, %twice {halftone.phase = #backward} : (!matrix, !matrix) -> !matrix
  // CHECK: %[[AGAIN:.*]] = halftone.gelu %{{.*}}halftone.phase = #halftone.phase<backward>
  // CHECK-NEXT: %[[HALF:.*]] = halftone.cast %[[AGAIN]] {halftone.phase = #halftone.phase<backward>, stochastic = "z"}
  // CHECK: halftone.cast %[[HALF]] {halftone.inline,
  %thrice = halftone.cast %half {halftone.inline, halftone.phase = #backward} : (!halftone.tensor<[batch, 8], bf16>) -> !matrix
  %e = halftone.add %thrice, %g {halftone.phase = #backward} : (!matrix, !matrix) -> !matrix
}

// A kernel of other places cannot round what it reads anew: where the rounded value is not kept, what reads it is.
// CHECK-LABEL: halftone.graph "keeps_places_of_what_is_rounded"
halftone.graph "keeps_places_of_what_is_rounded" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 3, 8], f32>
  %g = halftone.input "g" : !halftone.tensor<[batch, 6, 8], f32>
  %r = halftone.cast %x : (!halftone.tensor<[batch, 3, 8], f32>) -> !halftone.tensor<[batch, 3, 8], bf16>
  %v = halftone.cast %r {halftone.inline} : (!halftone.tensor<[batch, 3, 8], bf16>) -> !halftone.tensor<[batch, 3, 8], f32>
  // CHECK: %[[Y:.*]] = halftone.upsample
  %y = halftone.upsample %v {factor = array<i64: 2>, mode = "nearest"} : (!halftone.tensor<[batch, 3, 8], f32>) -> !halftone.tensor<[batch, 6, 8], f32>
  // CHECK-NEXT: halftone.add %[[Y]], %
  %d = halftone.add %y, %g {halftone.phase = #backward} : (!halftone.tensor<[batch, 6, 8], f32>, !halftone.tensor<[batch, 6, 8], f32>) -> !halftone.tensor<[batch, 6, 8], f32>
  halftone.output "y", %y : !halftone.tensor<[batch, 6, 8], f32>
}

// Codes under a scale of f32 that the backward pass alone reads are kept, and say what rules decided of their numbers (P88).
// CHECK-LABEL: halftone.graph "notes_codes_of_the_backward_pass"
// CHECK-SAME: name = "x", {{.*}}type = !halftone.tensor<[batch, 8], f8E4M3FN>
halftone.graph "notes_codes_of_the_backward_pass" attributes {halftone.values = [{name = "x", role = 1 : i64, rule = 0 : i64, type = !matrix}]} {
  %x = halftone.input "x" : !matrix
  %g = halftone.input "g" : !matrix
  %s = halftone.input "s" : !halftone.tensor<[], f32>
  // CHECK: %[[CODES:.*]] = halftone.cast %{{.*}} {halftone.cast = {value = 0 : i64}, halftone.values = array<i64: 0>, saturate}
  %codes = halftone.cast %x {saturate} : (!matrix) -> !halftone.tensor<[batch, 8], f8E4M3FN>
  %wide = halftone.cast %codes {halftone.inline} : (!halftone.tensor<[batch, 8], f8E4M3FN>) -> !matrix
  // CHECK: halftone.map "unscale"
  // CHECK-NOT: halftone.values
  %numbers = halftone.map "unscale" (%wide, %s) {halftone.scaled = "unscale", halftone.cast = {value = 0 : i64}, halftone.values = array<i64: 0>} : (!matrix, !halftone.tensor<[], f32>) -> !matrix {
  ^bb0(%c: f32, %f: f32):
    %m = arith.mulf %c, %f : f32
    halftone.yield %m : f32
  }
  %dw = halftone.contract %g, %numbers {pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.phase = #backward}
      : (!matrix, !matrix) -> !halftone.tensor<[8, 8], f32>
}
