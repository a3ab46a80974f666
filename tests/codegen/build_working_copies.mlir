// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-build-working-copies -split-input-file %s | FileCheck %s

!weight = !halftone.tensor<[8, 8], f32>
!vector = !halftone.tensor<[8], f32>
!x = !halftone.tensor<[batch, 8], f32>
!narrow = !halftone.tensor<[8, 8], bf16>
!flat = !halftone.tensor<[64], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#update = #halftone.phase<update>

// M1: of each chain of roundings that something reads weights through there is one buffer with the masters' layout. The
// update writes the trained ones from what it stores, and phase refresh all of them, frozen ones too, from the masters.
// CHECK-LABEL: module @one_buffer_per_chain
module @one_buffer_per_chain {
  // CHECK-LABEL: halftone.graph "training"
  halftone.graph "training" {
    %x = halftone.input "x" : !x
    // CHECK: %[[W:.*]] = halftone.parameter "w"
    // CHECK-NEXT: %[[COPY:.*]] = halftone.working_copy "w" in "parameters.bf16" at 0 {halftone.cast = {value = 4 : i64}, halftone.values = array<i64: 4>} : <[8, 8], bf16>
    %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !weight
    // CHECK: halftone.parameter "frozen"
    // CHECK-DAG: %[[DOWN:.*]] = halftone.working_copy "frozen" in "parameters.f16.toward_zero" at 64 : <[8], f16>
    // CHECK-DAG: %[[CHAIN:.*]] = halftone.working_copy "frozen" in "parameters.bf16.f16" at 64 : <[8], f16>
    %frozen = halftone.parameter "frozen" {initializer = #zeros, frozen = true, offset = 64 : i64} : !vector
    %half = halftone.cast %w {halftone.cast = {value = 4 : i64}, halftone.values = array<i64: 4>} : (!weight) -> !narrow
    %down = halftone.cast %frozen {toward_zero} : (!vector) -> !halftone.tensor<[8], f16>
    %store = halftone.cast %frozen : (!vector) -> !halftone.tensor<[8], bf16>
    %chain = halftone.cast %store : (!halftone.tensor<[8], bf16>) -> !halftone.tensor<[8], f16>
    // CHECK: halftone.linear %{{.*}}, %[[COPY]] :
    %y = halftone.linear %x, %half : (!x, !narrow) -> !x
    // CHECK: halftone.cast %[[DOWN]] {halftone.inline}
    %wide = halftone.cast %down {halftone.inline} : (!halftone.tensor<[8], f16>) -> !vector
    // CHECK: halftone.cast %[[CHAIN]] {halftone.inline}
    %wide2 = halftone.cast %chain {halftone.inline} : (!halftone.tensor<[8], f16>) -> !vector
    %n, %mean, %rstd = halftone.layer_norm %y, %wide, %wide2 {epsilon = 1.0e-5 : f64}
        : (!x, !vector, !vector) -> (!x, !halftone.tensor<[batch], f32>, !halftone.tensor<[batch], f32>)
    halftone.output "n", %n : !x
    %p = halftone.flat_parameters : !flat
    // CHECK: %[[NEXT:.*]] = halftone.map "update"
    %next = halftone.map "update" (%p) {halftone.phase = #update} : (!flat) -> !flat {
    ^bb0(%a: f32):
      halftone.yield %a : f32
    }
    halftone.assign %next to %p {halftone.phase = #update} : (!flat, !flat) -> ()
    // 96 elements: 64 of w, and 8 of frozen padded to 32.
    // CHECK: %[[ALL:.*]] = halftone.flat_parameters : <[96], f32>
    // CHECK: %[[CAST:.*]] = halftone.cast %[[ALL]] {halftone.phase = #halftone.phase<refresh>} : {{.*}}-> !halftone.tensor<[96], bf16>
    // CHECK: %[[BUFFER:.*]] = halftone.flat_working_copies "parameters.bf16" : <[96], bf16>
    // CHECK: halftone.assign %[[CAST]] to %[[BUFFER]] {halftone.phase = #halftone.phase<refresh>}
    // CHECK: %[[CAST:.*]] = halftone.cast %[[NEXT]] {halftone.phase = #halftone.phase<update>} : {{.*}}-> !halftone.tensor<[64], bf16>
    // CHECK: %[[BUFFER:.*]] = halftone.flat_working_copies "parameters.bf16" : <[64], bf16>
    // CHECK: halftone.assign %[[CAST]] to %[[BUFFER]] {halftone.phase = #halftone.phase<update>}
    // The other buffers, in whichever order, once for refresh and once for update.
    // CHECK-DAG: halftone.flat_working_copies "parameters.f16.toward_zero" : <[96], f16>
    // CHECK-DAG: halftone.flat_working_copies "parameters.f16.toward_zero" : <[64], f16>
    // CHECK-DAG: halftone.flat_working_copies "parameters.bf16.f16" : <[96], f16>
    // CHECK-DAG: halftone.flat_working_copies "parameters.bf16.f16" : <[64], f16>
    // CHECK-NOT: halftone.flat_working_copies
  }
  // Inference has the same buffers, but no update.
  // CHECK-LABEL: halftone.graph "inference"
  // CHECK: %[[COPY:.*]] = halftone.working_copy "w" in "parameters.bf16" at 0
  // CHECK: halftone.linear %{{.*}}, %[[COPY]]
  // CHECK-COUNT-3: halftone.assign {{.*}}phase<refresh>
  // CHECK-NOT: phase<update>
  halftone.graph "inference" {
    %x = halftone.input "x" : !x
    %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !weight
    %half = halftone.cast %w : (!weight) -> !narrow
    %y = halftone.linear %x, %half : (!x, !narrow) -> !x
    halftone.output "y", %y : !x
  }
}

// -----

!vector = !halftone.tensor<[8], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// Only what is read has a buffer; a value that is no parameter is cast where it is; what is read in f32 is the master (P14).
// CHECK-LABEL: module @does_not_copy_what_nobody_reads
// CHECK-NOT: working_cop
// CHECK: halftone.cast %{{.*}} : (!halftone.tensor<[8], f32>) -> !halftone.tensor<[8], bf16>
// CHECK-NOT: working_cop
module @does_not_copy_what_nobody_reads {
  halftone.graph "inference" {
    %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !vector
    %dead = halftone.cast %w : (!vector) -> !halftone.tensor<[8], f16>
    %x = halftone.input "x" : !vector
    %half = halftone.cast %x : (!vector) -> !halftone.tensor<[8], bf16>
    %wide = halftone.cast %half {halftone.inline} : (!halftone.tensor<[8], bf16>) -> !vector
    %y = halftone.add %wide, %w : (!vector, !vector) -> !vector
    halftone.output "y", %y : !vector
  }
}

// -----

!weight = !halftone.tensor<[8, 8], f32>
!x = !halftone.tensor<[batch, 8], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// P50: what is drawn is cast anew for every pass, from the master or from its copy.
// CHECK-LABEL: module @does_not_copy_what_is_drawn
// CHECK: %[[W:.*]] = halftone.parameter "w"
// CHECK: %[[COPY:.*]] = halftone.working_copy "w" in "parameters.f16" at 0
// CHECK: halftone.cast %[[W]] {stochastic = "w"}
// CHECK: halftone.cast %[[COPY]] {stochastic = "w"}
// CHECK-COUNT-1: halftone.flat_working_copies
// CHECK-NOT: flat_working_copies
module @does_not_copy_what_is_drawn {
  halftone.graph "inference" {
    %x = halftone.input "x" : !x
    %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !weight
    %drawn = halftone.cast %w {stochastic = "w"} : (!weight) -> !halftone.tensor<[8, 8], bf16>
    %y = halftone.linear %x, %drawn : (!x, !halftone.tensor<[8, 8], bf16>) -> !x
    %half = halftone.cast %w : (!weight) -> !halftone.tensor<[8, 8], f16>
    %chain = halftone.cast %half {stochastic = "w"} : (!halftone.tensor<[8, 8], f16>) -> !halftone.tensor<[8, 8], f8E5M2>
    %z = halftone.linear %y, %chain : (!x, !halftone.tensor<[8, 8], f8E5M2>) -> !x
    halftone.output "z", %z : !x
  }
}

// -----

!weight = !halftone.tensor<[8, 8], f32>
!vector = !halftone.tensor<[8], f32>
!x = !halftone.tensor<[batch, 8], f32>
!narrow = !halftone.tensor<[8, 8], bf16>
!flat = !halftone.tensor<[64], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#update = #halftone.phase<update>

// P69: the copy in bf16 is the upper half of the masters; whoever reads them otherwise, as f32, through a view or on the way to another
// copy, adds the lower half, and the update leaves both.
// CHECK-LABEL: module @masters_in_two_halves
module @masters_in_two_halves attributes {halftone.split_by = {rule = 0 : i64}} {
  // CHECK-LABEL: halftone.graph "training"
  halftone.graph "training" {
    %x = halftone.input "x" : !x
    %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !weight
    %v = halftone.parameter "v" {initializer = #zeros, frozen = true, offset = 64 : i64} : !vector
    // CHECK-DAG: %[[COPY:.*]] = halftone.working_copy "w" in "parameters" at 0 : <[8, 8], bf16>
    // CHECK-DAG: %[[UPPER:.*]] = halftone.working_copy "v" in "parameters" at 64 : <[8], bf16>
    // CHECK-DAG: %[[LOWER:.*]] = halftone.working_copy "v" in "parameters.remainder" at 64 : <[8], si16>
    %half = halftone.cast %w : (!weight) -> !narrow
    // CHECK: halftone.linear %{{.*}}, %[[COPY]] :
    %y = halftone.linear %x, %half : (!x, !narrow) -> !x
    // CHECK: %[[VIEWED:.*]] = halftone.view %[[UPPER]] : {{.*}} -> !halftone.tensor<[1, 8], bf16>
    // CHECK: %[[REST:.*]] = halftone.view %[[LOWER]] : {{.*}} -> !halftone.tensor<[1, 8], si16>
    // CHECK: halftone.map "join"(%[[VIEWED]], %[[REST]]) {halftone.inline, halftone.internal, halftone.phase = #halftone.phase<forward>}
    // CHECK-NEXT: ^bb0(%[[U:.*]]: bf16, %[[L:.*]]: si16):
    // CHECK: %[[WIDE:.*]] = arith.extf %[[U]] : bf16 to f32
    // CHECK: %[[REST:.*]] = halftone.integer %[[L]] : si16 -> i32
    // CHECK: %[[CODE:.*]] = arith.bitcast %[[WIDE]] : f32 to i32
    // CHECK: %[[SUM:.*]] = arith.addi %[[CODE]], %[[REST]] : i32
    // CHECK: arith.bitcast %[[SUM]] : i32 to f32
    %row = halftone.view %v : (!vector) -> !halftone.tensor<[1, 8], f32>
    %shown = halftone.map "copy" (%row) : (!halftone.tensor<[1, 8], f32>) -> !halftone.tensor<[1, 8], f32> {
    ^bb0(%a: f32):
      halftone.yield %a : f32
    }
    halftone.output "n", %y : !x
    halftone.output "row", %shown : !halftone.tensor<[1, 8], f32>
    // CHECK: %[[UPPER:.*]] = halftone.flat_working_copies "parameters" : <[64], bf16>
    // CHECK: %[[LOWER:.*]] = halftone.flat_working_copies "parameters.remainder" : <[64], si16>
    // CHECK: %[[BEFORE:.*]] = halftone.map "join"(%[[UPPER]], %[[LOWER]])
    // CHECK: %[[NEXT:.*]] = halftone.map "update"(%[[BEFORE]])
    // CHECK: %[[HALF:.*]] = halftone.cast %[[NEXT]] {halftone.phase = #halftone.phase<update>} : {{.*}} -> !halftone.tensor<[64], bf16>
    // CHECK: %[[REST:.*]] = halftone.map "remainder"(%[[NEXT]])
    // CHECK: halftone.low16
    // CHECK: halftone.assign %[[HALF]] to
    // CHECK: halftone.assign %[[REST]] to
    %p = halftone.flat_parameters : !flat
    %next = halftone.map "update" (%p) {halftone.phase = #update} : (!flat) -> !flat {
    ^bb0(%a: f32):
      halftone.yield %a : f32
    }
    halftone.assign %next to %p {halftone.phase = #update} : (!flat, !flat) -> ()
    // CHECK-NOT: halftone.flat_parameters
  }
}
