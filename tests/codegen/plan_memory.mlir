// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-plan-memory -split-input-file %s | FileCheck %s

!matrix = !halftone.tensor<[batch, 8], f32>
#full = #halftone.access<full>

// A chain of four values needs two slots in turn; what the caller sees has a slot of its own.
// CHECK-LABEL: halftone.graph "chain"
// CHECK-SAME: <"x", input, !halftone.tensor<[batch, 8], f32>, slot 0,
// CHECK-SAME: <"=y", output, !halftone.tensor<[batch, 8], f32>, slot 1,
// CHECK-SAME: <"%a.0", activation, {{[^>]*}}>, slot 2,
// CHECK-SAME: <"%b.0", activation, {{[^>]*}}>, slot 3,
// CHECK-SAME: <"%c.0", activation, {{[^>]*}}>, slot 2,
// CHECK: halftone.input "x" {halftone.places = #halftone.places<[0], [0]>}
// CHECK: halftone.kernel "a" {{.*}}halftone.places = #halftone.places<[2], [0]>
// CHECK: halftone.kernel "b" {{.*}}halftone.places = #halftone.places<[3], [0]>
// CHECK: halftone.kernel "c" {{.*}}halftone.places = #halftone.places<[4], [0]>
// CHECK: halftone.kernel "d" {{.*}}halftone.places = #halftone.places<[1], [0]>
halftone.graph "chain" {
  %x = halftone.input "x" : !matrix
  %a = halftone.kernel "a" pointwise over ["batch", 8] reduce [] (%x) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!matrix) -> !matrix {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %b = halftone.kernel "b" pointwise over ["batch", 8] reduce [] (%a) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!matrix) -> !matrix {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %c = halftone.kernel "c" pointwise over ["batch", 8] reduce [] (%b) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!matrix) -> !matrix {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %d = halftone.kernel "d" pointwise over ["batch", 8] reduce [] (%c) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!matrix) -> !matrix {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  halftone.output "y", %d : !matrix
}

// Counters lie one after another in one buffer.
// CHECK-LABEL: halftone.graph "counters"
// CHECK-SAME: [#halftone.buffer<"%counters", counters, !halftone.tensor<[4], i32>, slot 0, initial 0.000000e+00 : f64>]
// CHECK: halftone.counters {halftone.places = #halftone.places<[0, 0, 0, 0], [0, 1, 2, 3]>}
halftone.graph "counters" {
  %c:4 = halftone.counters : !halftone.tensor<[], i32>, !halftone.tensor<[], i32>, !halftone.tensor<[], i32>, !halftone.tensor<[], i32>
}

// CHECK-LABEL: halftone.graph "does_not_share_while_a_value_is_still_read"
// CHECK-SAME: <"%a.0", activation, {{[^>]*}}>, slot [[A:[0-9]+]],
// CHECK-NOT: slot [[A]],
halftone.graph "does_not_share_while_a_value_is_still_read" {
  %x = halftone.input "x" : !matrix
  %a = halftone.kernel "a" pointwise over ["batch", 8] reduce [] (%x) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!matrix) -> !matrix {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %b = halftone.kernel "b" pointwise over ["batch", 8] reduce [] (%a) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!matrix) -> !matrix {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %c = halftone.kernel "c" pointwise over ["batch", 8] reduce [] (%b) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!matrix) -> !matrix {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %d = halftone.kernel "d" pointwise over ["batch", 8] reduce [] (%a, %c) accesses [#full, #full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!matrix, !matrix) -> !matrix {
  ^bb0(%e: f32, %f: f32):
    halftone.kernel_yield stores %e : f32
  }
  halftone.output "y", %d : !matrix
}

// -----

!vector = !halftone.tensor<[8], f32>
!narrow = !halftone.tensor<[8], bf16>
!flat = !halftone.tensor<[32], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#full = #halftone.access<full>

// Parameters lie in one buffer at their offsets, gradients in another that nothing shares; the update works in place.
// CHECK-LABEL: halftone.graph "training"
// CHECK-SAME: <"parameters", parameters, !halftone.tensor<[96], f32>, slot 0,
// CHECK-SAME: <"moment", optimizer_state, !halftone.tensor<[32], f32>, slot [[MOMENT:[0-9]+]],
// CHECK-SAME: <"learning_rate", hyperparameter, !halftone.tensor<[], f32>, slot {{[0-9]+}}, initial 2.500000e-01
// A caller's gradient of an output is f32 in a buffer of its own; what both it and the losses leave is an activation (P36).
// CHECK-SAME: <"d=y", output_gradient, !halftone.tensor<[8], f32>, slot [[D:[0-9]+]],
// CHECK-SAME: <"%d=y", activation, !halftone.tensor<[8], bf16>,
// CHECK-SAME: <"gradients", gradients, !halftone.tensor<[32], f32>, slot [[GRADIENTS:[0-9]+]],
// CHECK-SAME: <"norm", statistic, !halftone.tensor<[], f32>,
// CHECK-SAME: <"%norm.workspace", activation, !halftone.tensor<[1], f32>,
// CHECK: halftone.parameter "w" {{.*}}halftone.places = #halftone.places<[0], [0]>
// CHECK: halftone.parameter "frozen" {{.*}}halftone.places = #halftone.places<[0], [64]>
// CHECK: halftone.flat_parameters {halftone.places = #halftone.places<[0], [0]>}
// CHECK: halftone.state "moment" {halftone.places = #halftone.places<[[[M:[0-9]+]]], [0]>
// CHECK: halftone.external_gradient "y" {halftone.places = #halftone.places<[[[EXTERNAL:[0-9]+]]], [0]>}
// CHECK: halftone.kernel "dy" {{.*}}halftone.places = #halftone.places<[[[DY:[0-9]+]]], [0]>
// CHECK: halftone.output_gradient "y", {{.*}}halftone.places = #halftone.places<[[[DY]]], [0]>
// CHECK: halftone.kernel "scaled" {{.*}}(%{{.*}}) {{.*}}halftone.places = #halftone.places<[[[DY]]], [0]>
// CHECK: halftone.kernel "dw" {{.*}}halftone.places = #halftone.places<[[[G:[0-9]+]], [[G]]], [0, 8]>
// CHECK: halftone.flatten {{.*}}halftone.places = #halftone.places<[[[G]]], [0]>
// CHECK: halftone.kernel "norm" {{.*}}halftone.places = #halftone.places<[{{[0-9]+}}, {{[0-9]+}}], [0, 0]>
// CHECK: halftone.kernel "update" {{.*}}halftone.places = #halftone.places<[0, [[M]]], [0, 0]>
halftone.graph "training" {
  %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !vector
  %f = halftone.parameter "frozen" {initializer = #zeros, frozen = true, offset = 64 : i64} : !vector
  %p = halftone.flat_parameters : !flat
  %m = halftone.state "moment" {initial = 0.0 : f64, optimizer} : !flat
  %rate = halftone.hyperparameter "learning_rate" {initial = 0.25 : f64} : !scalar
  %external = halftone.external_gradient "y" : !vector
  %dy = halftone.kernel "dy" pointwise over [8] reduce [] (%w) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!vector) -> !narrow {
  ^bb0(%e: f32):
    %r = arith.truncf %e : f32 to bf16
    halftone.kernel_yield stores %r : bf16
  }
  %cut = halftone.output_gradient "y", %dy : (!narrow) -> !narrow
  %scaled = halftone.kernel "scaled" pointwise over [8] reduce [] (%external) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!vector) -> !narrow {
  ^bb0(%e: f32):
    %r = arith.truncf %e : f32 to bf16
    halftone.kernel_yield stores %r : bf16
  }
  halftone.assign %scaled to %cut : (!narrow, !narrow) -> ()
  %dw:2 = halftone.kernel "dw" pointwise over [8] reduce [] (%cut) accesses [#full] -> [#full, #full] fused []
      {resultSegmentSizes = array<i32: 2, 0>} : (!narrow) -> (!vector, !vector) {
  ^bb0(%n: bf16):
    %e = arith.extf %n : bf16 to f32
    halftone.kernel_yield stores %e, %e : f32, f32
  }
  %g = halftone.flatten %dw#0, %dw#1 at [0, 8] : (!vector, !vector) -> !flat
  %norm = halftone.kernel "norm" flat over [32] reduce [] (%g) accesses [#full] -> [] fused []
      {resultSegmentSizes = array<i32: 0, 1>} : (!flat) -> !scalar {
  ^bb0(%e: f32):
    halftone.kernel_yield sums %e : f32
  } finish {
  ^bb0(%s: f32):
    halftone.yield %s : f32
  }
  halftone.statistic "norm", %norm : !scalar
  %next:2 = halftone.kernel "update" pointwise over [32] reduce [] (%p, %m, %g, %rate)
      accesses [#full, #full, #full, #halftone.access<scalar>] -> [#full, #full] fused []
      {resultSegmentSizes = array<i32: 2, 0>} : (!flat, !flat, !flat, !scalar) -> (!flat, !flat) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    halftone.kernel_yield stores %a, %b : f32, f32
  }
  halftone.assign %next#0 to %p : (!flat, !flat) -> ()
  halftone.assign %next#1 to %m : (!flat, !flat) -> ()
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!scalar = !halftone.tensor<[], f32>
#full = #halftone.access<full>

// A workspace has a place for every row of a row kernel, for every chunk of 1024 elements of a flat one.
// CHECK-LABEL: halftone.graph "workspaces"
// CHECK-SAME: <"%rows.workspace", activation, !halftone.tensor<[batch], f32>,
// CHECK-SAME: <"%flat.workspace", activation, !halftone.tensor<[3], f32>,
// CHECK-SAME: <"%open.workspace", activation, !halftone.tensor<[batch, 2], f32>,
halftone.graph "workspaces" {
  %x = halftone.input "x" : !matrix
  %v = halftone.input "v" : !halftone.tensor<[2049], f32>
  %o = halftone.input "o" : !halftone.tensor<[batch, 1025], f32>
  %rows = halftone.kernel "rows" row over ["batch", 8] reduce [] (%x) accesses [#full] -> [] fused []
      {resultSegmentSizes = array<i32: 0, 1>} : (!matrix) -> !scalar {
  ^bb0(%e: f32):
    %r = halftone.row_sum %e : f32
    halftone.kernel_yield sums %r : f32
  } finish {
  ^bb0(%s: f32):
    halftone.yield %s : f32
  }
  %flat = halftone.kernel "flat" flat over [2049] reduce [] (%v) accesses [#full] -> [] fused []
      {resultSegmentSizes = array<i32: 0, 1>} : (!halftone.tensor<[2049], f32>) -> !scalar {
  ^bb0(%e: f32):
    halftone.kernel_yield sums %e : f32
  } finish {
  ^bb0(%s: f32):
    halftone.yield %s : f32
  }
  %open = halftone.kernel "open" flat over ["batch", 1025] reduce [] (%o) accesses [#full] -> [] fused []
      {resultSegmentSizes = array<i32: 0, 1>} : (!halftone.tensor<[batch, 1025], f32>) -> !scalar {
  ^bb0(%e: f32):
    halftone.kernel_yield sums %e : f32
  } finish {
  ^bb0(%s: f32):
    halftone.yield %s : f32
  }
  halftone.loss "rows", %rows weight 1.0 : !scalar
  halftone.loss "flat", %flat weight 1.0 : !scalar
  halftone.loss "open", %open weight 1.0 : !scalar
}

// -----

!vector = !halftone.tensor<[8], f32>
!flat = !halftone.tensor<[32], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#full = #halftone.access<full>

// M1: of every kind of working copies one buffer with the masters' layout, whoever speaks of how much of it; a copy lies at
// its parameter's offset. M4: the sum over micro-batches.
// CHECK-LABEL: halftone.graph "training"
// CHECK-SAME: <"parameters", parameters, !halftone.tensor<[64], f32>, slot 0,
// CHECK-SAME: <"parameters.bf16", working_copies, !halftone.tensor<[64], bf16>, slot 1,
// CHECK-SAME: <"accumulated", accumulated, !halftone.tensor<[32], f32>, slot 2,
// CHECK-NOT: working_copies
// CHECK: halftone.working_copy "frozen" {{.*}}halftone.places = #halftone.places<[1], [32]>
// CHECK: halftone.kernel "update" {{.*}}halftone.places = #halftone.places<[0, 1], [0, 0]>
halftone.graph "training" {
  %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !vector
  %f = halftone.parameter "frozen" {initializer = #zeros, frozen = true, offset = 32 : i64} : !vector
  %copy = halftone.working_copy "frozen" in "parameters.bf16" at 32 : !halftone.tensor<[8], bf16>
  %p = halftone.flat_parameters : !flat
  %sum = halftone.accumulated : !flat
  %copies = halftone.flat_working_copies "parameters.bf16" : !halftone.tensor<[32], bf16>
  %next:2 = halftone.kernel "update" pointwise over [32] reduce [] (%p, %sum) accesses [#full, #full] -> [#full, #full] fused []
      {resultSegmentSizes = array<i32: 2, 0>} : (!flat, !flat) -> (!flat, !halftone.tensor<[32], bf16>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.truncf %a : f32 to bf16
    halftone.kernel_yield stores %a, %r : f32, bf16
  }
  halftone.assign %next#0 to %p : (!flat, !flat) -> ()
  halftone.assign %next#1 to %copies : (!halftone.tensor<[32], bf16>, !halftone.tensor<[32], bf16>) -> ()
}

// The search for what is not finite looks at every value after everything has run.
// CHECK-LABEL: halftone.graph "diagnosis"
// CHECK-SAME: <"%a.0", activation, {{[^>]*}}>, slot [[A:[0-9]+]],
// CHECK-NOT: slot [[A]],
// CHECK-SAME: <"%b.0", activation, {{[^>]*}}>, slot [[B:[0-9]+]],
// CHECK-NOT: slot [[B]],
// CHECK-SAME: <"%c.0", activation,
halftone.graph "diagnosis" {
  %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !vector
  %a = halftone.kernel "a" pointwise over [8] reduce [] (%w) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!vector) -> !vector {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %b = halftone.kernel "b" pointwise over [8] reduce [] (%a) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!vector) -> !vector {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %c = halftone.kernel "c" pointwise over [8] reduce [] (%b) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!vector) -> !vector {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!vector = !halftone.tensor<[8], f32>
!narrow = !halftone.tensor<[4], bf16>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#full = #halftone.access<full>

// A view lies where its operand does, whose buffer lives as long as somebody reads a view of it: %c must not take its slot.
// CHECK-LABEL: halftone.graph "views"
// CHECK-SAME: <"%a.0", activation, {{[^>]*}}>, slot [[A:[0-9]+]],
// CHECK-NOT: slot [[A]],
// CHECK: %[[X:.*]] = halftone.input "x" {halftone.places = #halftone.places<[[[INPUT:[0-9]+]]], [0]>}
// CHECK: halftone.view %[[X]] {halftone.places = #halftone.places<[[[INPUT]]], [0]>}
// CHECK: %[[A:.*]] = halftone.kernel "a" {{.*}}halftone.places = #halftone.places<[[[BUFFER:[0-9]+]]], [0]>
// CHECK: %[[V:.*]] = halftone.view %[[A]] {halftone.places = #halftone.places<[[[BUFFER]]], [0]>}
// CHECK: halftone.view %[[V]] {halftone.places = #halftone.places<[[[BUFFER]]], [0]>}
halftone.graph "views" {
  %x = halftone.input "x" : !matrix
  %column = halftone.view %x : (!matrix) -> !halftone.tensor<[batch, 8, 1], f32>
  %a = halftone.kernel "a" pointwise over ["batch", 8] reduce [] (%x) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!matrix) -> !matrix {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %pairs = halftone.view %a : (!matrix) -> !halftone.tensor<[batch, 2, 4], f32>
  %b = halftone.kernel "b" pointwise over ["batch", 8] reduce [] (%a) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!matrix) -> !matrix {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %c = halftone.kernel "c" pointwise over ["batch", 8] reduce [] (%b) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!matrix) -> !matrix {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %fours = halftone.view %pairs : (!halftone.tensor<[batch, 2, 4], f32>) -> !halftone.tensor<[2, batch, 4], f32>
  %d = halftone.kernel "d" pointwise over [2, "batch", 4] reduce [] (%fours) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[2, batch, 4], f32>) -> !halftone.tensor<[2, batch, 4], f32> {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  halftone.output "c", %c : !matrix
  halftone.output "d", %d : !halftone.tensor<[2, batch, 4], f32>
}

// A view of a part of a buffer begins where the part does.
// CHECK-LABEL: halftone.graph "views_of_weights"
// CHECK: halftone.view %{{.*}} {halftone.places = #halftone.places<[{{[0-9]+}}], [32]>}
// CHECK: halftone.view %{{.*}} {halftone.places = #halftone.places<[{{[0-9]+}}], [64]>}
halftone.graph "views_of_weights" {
  %w = halftone.parameter "w" {initializer = #zeros, offset = 32 : i64} : !vector
  %square = halftone.view %w : (!vector) -> !halftone.tensor<[2, 4], f32>
  %copy = halftone.working_copy "v" in "parameters.bf16" at 64 : !narrow
  %narrow = halftone.view %copy : (!narrow) -> !halftone.tensor<[2, 2], bf16>
}

// -----

!wide = !halftone.tensor<[batch, 1024], f32>
!square = !halftone.tensor<[batch, batch], f32>
#full = #halftone.access<full>

// What grows with the square of a symbol shares a slot with its like, wherever smaller values leave others free.
// CHECK-LABEL: halftone.graph "squares"
// CHECK-SAME: <"%narrow1.0", activation, {{[^>]*}}>, slot [[SQUARES:[0-9]+]],
// CHECK-SAME: <"%narrow2.0", activation, {{[^>]*}}>, slot [[OTHERS:[0-9]+]],
// CHECK-SAME: <"%square1.0", activation, {{[^>]*}}>, slot [[SQUARES]],
// CHECK-SAME: <"%narrow3.0", activation, {{[^>]*}}>, slot [[OTHERS]],
// CHECK-SAME: <"%square2.0", activation, {{[^>]*}}>, slot [[SQUARES]],
halftone.graph "squares" {
  %x = halftone.input "x" : !wide
  %q = halftone.input "q" : !square
  %narrow1 = halftone.kernel "narrow1" pointwise over ["batch", 1024] reduce [] (%x) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!wide) -> !wide {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %narrow2 = halftone.kernel "narrow2" pointwise over ["batch", 1024] reduce [] (%narrow1) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!wide) -> !wide {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %square1 = halftone.kernel "square1" pointwise over ["batch", "batch"] reduce [] (%q) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!square) -> !square {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %one = halftone.kernel "one" pointwise over ["batch", 1024] reduce [] (%narrow2) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!wide) -> !wide {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %two = halftone.kernel "two" pointwise over ["batch", "batch"] reduce [] (%square1) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!square) -> !square {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %narrow3 = halftone.kernel "narrow3" pointwise over ["batch", 1024] reduce [] (%x) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!wide) -> !wide {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %square2 = halftone.kernel "square2" pointwise over ["batch", "batch"] reduce [] (%q) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!square) -> !square {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %three = halftone.kernel "three" pointwise over ["batch", 1024] reduce [] (%narrow3) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!wide) -> !wide {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %four = halftone.kernel "four" pointwise over ["batch", "batch"] reduce [] (%square2) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!square) -> !square {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  halftone.output "one", %one : !wide
  halftone.output "two", %two : !square
  halftone.output "three", %three : !wide
  halftone.output "four", %four : !square
}
