// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-insert-casts %s | FileCheck %s

// One cast per value and format, next to the value, however many users want it.
// CHECK-LABEL: halftone.graph "one_cast_per_value_and_format"
halftone.graph "one_cast_per_value_and_format" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  // CHECK-DAG: %[[HALF:.*]] = halftone.cast %[[X]] {{.*}}-> !halftone.tensor<[4], f16>
  // CHECK-DAG: %[[BRAIN:.*]] = halftone.cast %[[X]] {{.*}}-> !halftone.tensor<[4], bf16>
  // CHECK-NOT: halftone.cast
  %x = halftone.input "x" : !halftone.tensor<[4], f32>
  // CHECK: halftone.relu %[[BRAIN]]
  %a = halftone.relu %x {halftone.precision = #halftone.precision<store = bf16, compute = bf16, accumulate = f32, rule = 0>}
      : (!halftone.tensor<[4], f32>) -> !halftone.tensor<[4], bf16>
  // CHECK: halftone.gelu %[[BRAIN]]
  %b = halftone.gelu %x {halftone.precision = #halftone.precision<store = bf16, compute = bf16, accumulate = f32, rule = 0>}
      : (!halftone.tensor<[4], f32>) -> !halftone.tensor<[4], bf16>
  // CHECK: halftone.relu %[[HALF]]
  %c = halftone.relu %x {halftone.precision = #halftone.precision<store = f16, compute = f16, accumulate = f32, rule = 0>}
      : (!halftone.tensor<[4], f32>) -> !halftone.tensor<[4], f16>
  // CHECK: halftone.output "a"
  halftone.output "a", %a : !halftone.tensor<[4], bf16>
  halftone.output "b", %b : !halftone.tensor<[4], bf16>
  halftone.output "c", %c : !halftone.tensor<[4], f16>
}

// The sum of a contraction leaves in its accumulator's format; what is stored is a rounding point of its own.
// CHECK-LABEL: halftone.graph "contraction_result_is_its_accumulator"
halftone.graph "contraction_result_is_its_accumulator" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], bf16>
  // CHECK: %[[W:.*]] = halftone.parameter "w"
  // CHECK: %[[NARROW:.*]] = halftone.cast %[[W]] {{.*}}-> !halftone.tensor<[4, 8], bf16>
  %w = halftone.parameter "w" {initializer = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>} : !halftone.tensor<[4, 8], f32>
  // CHECK: %[[SUM:.*]] = halftone.linear %[[X]], %[[NARROW]] {{.*}} -> !halftone.tensor<[batch, 4], f32>
  // CHECK: %[[STORED:.*]] = halftone.cast %[[SUM]] {{.*}}halftone.layer = "fc"{{.*}}-> !halftone.tensor<[batch, 4], bf16>
  // CHECK: halftone.relu %[[STORED]]
  // CHECK: halftone.output "fc", %[[STORED]]
  %y = halftone.linear %x, %w {halftone.layer = "fc", halftone.precision = #halftone.precision<store = bf16, compute = bf16, accumulate = f32, rule = 0>}
      : (!halftone.tensor<[batch, 8], bf16>, !halftone.tensor<[4, 8], f32>) -> !halftone.tensor<[batch, 4], bf16>
  %z = halftone.relu %y {halftone.precision = #halftone.precision<store = bf16, compute = bf16, accumulate = f32, rule = 0>}
      : (!halftone.tensor<[batch, 4], bf16>) -> !halftone.tensor<[batch, 4], bf16>
  halftone.output "fc", %y : !halftone.tensor<[batch, 4], bf16>
  halftone.output "z", %z : !halftone.tensor<[batch, 4], bf16>
}

// Computed wide, stored narrow: the operand is widened and the result rounded once.
// CHECK-LABEL: halftone.graph "stored_narrower_than_computed"
halftone.graph "stored_narrower_than_computed" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  // CHECK: %[[WIDE:.*]] = halftone.cast %[[X]] {{.*}}-> !halftone.tensor<[4], f32>
  %x = halftone.input "x" : !halftone.tensor<[4], bf16>
  // CHECK: %[[Y:.*]] = halftone.pointwise "twice"(%[[WIDE]]) {{.*}} : (!halftone.tensor<[4], f32>) -> !halftone.tensor<[4], f32>
  %y = halftone.pointwise "twice" (%x) {halftone.precision = #halftone.precision<store = bf16, compute = f32, accumulate = f32, rule = 0>}
      : (!halftone.tensor<[4], bf16>) -> !halftone.tensor<[4], bf16> {
  ^bb0(%a: f32):
    %r = arith.addf %a, %a : f32
    halftone.yield %r : f32
  }
  // CHECK: %[[ROUNDED:.*]] = halftone.cast %[[Y]] {{.*}}-> !halftone.tensor<[4], bf16>
  // CHECK: halftone.output "y", %[[ROUNDED]]
  halftone.output "y", %y : !halftone.tensor<[4], bf16>
}

// CHECK-LABEL: halftone.graph "does_not_cast_in_pure_f32"
// CHECK-NOT: halftone.cast
halftone.graph "does_not_cast_in_pure_f32" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %label = halftone.input "label" : !halftone.tensor<[batch], i32>
  %w = halftone.parameter "w" {initializer = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>} : !halftone.tensor<[4, 8], f32>
  %y = halftone.linear %x, %w {halftone.precision = #halftone.precision<store = f32, compute = f32, accumulate = f32, rule = 0>}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4, 8], f32>) -> !halftone.tensor<[batch, 4], f32>
  %l = halftone.cross_entropy %y, %label {halftone.precision = #halftone.precision<store = f32, compute = f32, accumulate = f32, rule = 0>}
      : (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[batch], i32>) -> !halftone.tensor<[batch], f32>
  %m = halftone.mean %l {halftone.precision = #halftone.precision<store = f32, compute = f32, accumulate = f32, rule = 0>}
      : (!halftone.tensor<[batch], f32>) -> !halftone.tensor<[], f32>
  halftone.output "m", %m : !halftone.tensor<[], f32>
}

// Labels are integers and scalars are accumulators: neither is rounded on the way into an operation.
// CHECK-LABEL: halftone.graph "does_not_cast_labels_or_scalars"
halftone.graph "does_not_cast_labels_or_scalars" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], bf16>
  // CHECK: %[[LABEL:.*]] = halftone.input "label"
  // CHECK-NEXT: %[[ROWS:.*]] = halftone.cross_entropy %{{.*}}, %[[LABEL]] {{.*}}-> !halftone.tensor<[batch], bf16>
  // CHECK-NEXT: halftone.mean %[[ROWS]] {{.*}}-> !halftone.tensor<[], f32>
  // CHECK-NEXT: halftone.output
  %label = halftone.input "label" : !halftone.tensor<[batch], i32>
  %l = halftone.cross_entropy %x, %label {halftone.precision = #halftone.precision<store = bf16, compute = bf16, accumulate = f32, rule = 0>}
      : (!halftone.tensor<[batch, 8], bf16>, !halftone.tensor<[batch], i32>) -> !halftone.tensor<[batch], bf16>
  %m = halftone.mean %l {halftone.precision = #halftone.precision<store = bf16, compute = bf16, accumulate = f32, rule = 0>}
      : (!halftone.tensor<[batch], bf16>) -> !halftone.tensor<[], f32>
  halftone.output "m", %m : !halftone.tensor<[], f32>
}
