// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-build-diagnosis -split-input-file %s | FileCheck %s
// RUN: halftone-opt --halftone-build-diagnosis --halftone-lower-layers --halftone-form-kernels -split-input-file %s | FileCheck %s --check-prefix=FORMED

!vector = !halftone.tensor<[8], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// What a step computes up to its gradients is computed once more, by a graph in which every operation is a kernel of its
// own; nothing that a step leaves behind is in it. Phase external is, as it may take the losses' place.
// CHECK: halftone.graph "training" {
// CHECK: halftone.map "update"
// CHECK-LABEL: halftone.graph "inference"
// CHECK-LABEL: halftone.graph "diagnosis" {
// CHECK: halftone.parameter "w"
// CHECK: halftone.relu %{{.*}} {halftone.layer = "a"}
// CHECK: halftone.gelu %{{.*}} {approximation = "erf", halftone.layer = "b"}
// CHECK: phase<loss>
// CHECK: phase<loss_backward>
// CHECK: phase<external>
// CHECK: halftone.flatten {{.*}}phase<backward>
// CHECK-NOT: phase<{{accumulate|check|update}}>
// CHECK-NOT: halftone.graph
// FORMED-LABEL: halftone.graph "training"
// FORMED: fused ["a:relu", "b:gelu"
// FORMED-LABEL: halftone.graph "diagnosis"
// FORMED: halftone.kernel "diagnosis_a" {{.*}}fused ["a:relu"]
// FORMED: halftone.kernel "diagnosis_b" {{.*}}fused ["b:gelu"]
halftone.graph "training" {
  %x = halftone.input "x" : !vector
  %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !vector
  %a = halftone.relu %w {halftone.layer = "a"} : (!vector) -> !vector
  %b = halftone.gelu %a {approximation = "erf", halftone.layer = "b"} : (!vector) -> !vector
  %l = halftone.mean %b {halftone.layer = "l", halftone.phase = #halftone.phase<loss>} : (!vector) -> !halftone.tensor<[], f32>
  halftone.loss "l", %l weight 1.0 {halftone.phase = #halftone.phase<loss>} : !halftone.tensor<[], f32>
  %d = halftone.add %b, %w {halftone.layer = "l", halftone.phase = #halftone.phase<loss_backward>} : (!vector, !vector) -> !vector
  %point = halftone.output_gradient "b", %d {halftone.phase = #halftone.phase<loss_backward>} : (!vector) -> !vector
  %e = halftone.external_gradient "b" : !vector
  %scaled = halftone.silu %e {halftone.phase = #halftone.phase<external>} : (!vector) -> !vector
  halftone.assign %scaled to %point {halftone.phase = #halftone.phase<external>} : (!vector, !vector) -> ()
  %dw = halftone.add %point, %w {halftone.layer = "b", halftone.phase = #halftone.phase<backward>} : (!vector, !vector) -> !vector
  %flat = halftone.flatten %dw at [0] {halftone.phase = #halftone.phase<backward>} : (!vector) -> !halftone.tensor<[32], f32>
  %sum = halftone.accumulated : !halftone.tensor<[32], f32>
  %total = halftone.add %sum, %flat {halftone.phase = #halftone.phase<accumulate>} : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> !halftone.tensor<[32], f32>
  halftone.assign %total to %sum {halftone.phase = #halftone.phase<accumulate>} : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
  %norm = halftone.mean %flat {halftone.phase = #halftone.phase<check>} : (!halftone.tensor<[32], f32>) -> !halftone.tensor<[], f32>
  halftone.statistic "norm", %norm {halftone.phase = #halftone.phase<check>} : !halftone.tensor<[], f32>
  %p = halftone.flat_parameters : !halftone.tensor<[32], f32>
  %next = halftone.map "update" (%p, %flat) {halftone.phase = #halftone.phase<update>}
      : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> !halftone.tensor<[32], f32> {
  ^bb0(%v: f32, %g: f32):
    %r = arith.subf %v, %g : f32
    halftone.yield %r : f32
  }
  halftone.assign %next to %p {halftone.phase = #halftone.phase<update>} : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
}
halftone.graph "inference" {
  %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !vector
  %a = halftone.relu %w {halftone.layer = "a"} : (!vector) -> !vector
  halftone.output "a", %a : !vector
}

// -----

!vector = !halftone.tensor<[8], f32>

// CHECK-LABEL: module @does_not_copy_a_model_without_training
// CHECK: halftone.graph "inference"
// CHECK-NOT: halftone.graph
// FORMED-LABEL: module @does_not_copy_a_model_without_training
module @does_not_copy_a_model_without_training {
  halftone.graph "inference" {
    %x = halftone.input "x" : !vector
    %a = halftone.relu %x {halftone.layer = "a"} : (!vector) -> !vector
    halftone.output "a", %a : !vector
  }
}

// -----

!vector = !halftone.tensor<[8], f32>
!scalar = !halftone.tensor<[], f32>

// A metric, and what it alone reads, spoils no step: the copy has none of it. 1e-60 is 0 in f32.
// CHECK-LABEL: module @passes_over_metrics
// CHECK: halftone.graph "training"
// CHECK: halftone.input "alone"
// CHECK: halftone.loss "metric"
// CHECK: halftone.graph "diagnosis"
// CHECK-NOT: alone
// CHECK-NOT: metric
// CHECK: halftone.input "x"
// CHECK-NOT: alone
// CHECK-NOT: metric
// CHECK: halftone.mean %{{.*}}"l"
// CHECK-NOT: metric
// CHECK: halftone.loss "l"
// CHECK-NOT: metric
// FORMED-LABEL: module @passes_over_metrics
module @passes_over_metrics {
  halftone.graph "training" {
    %alone = halftone.input "alone" : !vector
    %x = halftone.input "x" : !vector
    %a = halftone.relu %x {halftone.layer = "a"} : (!vector) -> !vector
    %b = halftone.add %a, %alone {halftone.layer = "for_metric"} : (!vector, !vector) -> !vector
    %m = halftone.mean %b {halftone.layer = "metric", halftone.phase = #halftone.phase<loss>} : (!vector) -> !scalar
    %l = halftone.mean %a {halftone.layer = "l", halftone.phase = #halftone.phase<loss>} : (!vector) -> !scalar
    halftone.loss "metric", %m weight 1.0e-60 {halftone.phase = #halftone.phase<loss>} : !scalar
    halftone.loss "l", %l weight 1.0 {halftone.phase = #halftone.phase<loss>} : !scalar
  }
}

// -----

!vector = !halftone.tensor<[8], f32>

// The gradient of an input spoils no step either (D15): the copy has neither it nor what it alone is computed from.
// CHECK-LABEL: module @passes_over_gradients_of_inputs
// CHECK: halftone.input_gradient "x"
// CHECK: halftone.graph "diagnosis"
// CHECK: halftone.map "both"
// CHECK-NOT: alone
// CHECK-NOT: halftone.input_gradient
// FORMED-LABEL: module @passes_over_gradients_of_inputs
module @passes_over_gradients_of_inputs {
  halftone.graph "training" {
    %x = halftone.input "x" {gradient} : !vector
    %g = halftone.map "both"(%x) {halftone.phase = #halftone.phase<backward>} : (!vector) -> !vector {
    ^bb0(%a: f32):
      halftone.yield %a : f32
    }
    %h = halftone.map "alone"(%g) {halftone.phase = #halftone.phase<backward>} : (!vector) -> !vector {
    ^bb0(%a: f32):
      halftone.yield %a : f32
    }
    halftone.output "y", %g : !vector
    halftone.input_gradient "x", %h {halftone.phase = #halftone.phase<backward>} : !vector
  }
}
