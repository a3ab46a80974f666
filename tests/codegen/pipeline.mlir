// SPDX-License-Identifier: Apache-2.0
// All passes on a small model: what remains are sources, kernels and sinks, in the order of their phases, every one with
// tiles and a place.
// RUN: halftone-opt --halftone-pipeline -split-input-file %s > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck --check-prefix=NONE %s < %t
// RUN: halftone-opt --halftone-pipeline -split-input-file %s | cmp - %t

// NONE-NOT: halftone.{{linear|relu|gelu|cross_entropy|mean|contract|map|reduce|pointwise|cast|gradient|hand_on|add}} {{[%"]}}
// NONE-NOT: math.{{exp|log|tanh|erf|rsqrt}}

!x = !halftone.tensor<[batch, 8], f32>
!w = !halftone.tensor<[4, 8], f32>
!b = !halftone.tensor<[4], f32>
!y = !halftone.tensor<[batch, 4], f32>
!label = !halftone.tensor<[batch], i32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>


// CHECK: module @classifier
module @classifier attributes {halftone.rules = #halftone.rules<["everywhere : store bf16 compute bf16", "where class loss : compute f32"]>,
    halftone.loss_scale = {kind = "fixed", initial = 8.0 : f64}, halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64,
    momentum = 0.0 : f64, weight_decay = 0.0 : f64, nesterov = false}} {
  // CHECK-LABEL: halftone.graph "training"
  // Working copies are written when parameters were given values, and by the update (M1).
  // CHECK: halftone.kernel "refresh" pointwise {{.*}}fused ["cast"] {{.*}}phase<refresh>, halftone.places = #halftone.places<
  // What an operation reads in bf16 is stored once, by its producer (P38).
  // CHECK: halftone.kernel "x" pointwise {{.*}}fused ["x:cast"] {{.*}}phase<forward>
  // CHECK: halftone.kernel "fc" contraction {{.*}}fused ["fc:linear", "fc:cast", "act:relu", "act:cast"{{.*}}] {cpu_tile = {{.*}}phase<forward>, halftone.places
  // CHECK: arith.truncf %{{.*}} : f32 to bf16
  // CHECK: arith.extf %{{.*}} : bf16 to f32
  // CHECK: arith.truncf %{{.*}} : f32 to bf16
  // CHECK: halftone.kernel "loss" row {{.*}}fused ["loss:cross_entropy", "loss:mean", "loss:cross_entropy_grad", "loss:cast"] {cpu_tile = {{.*}}phase<loss>, halftone.places
  // CHECK: halftone.output_gradient "y"
  // CHECK: halftone.kernel "external_gradient" pointwise {{.*}}fused ["external_gradient", "cast"] {{.*}}phase<external>
  // CHECK: halftone.kernel "act_gradient" pointwise {{.*}}fused ["act:relu_grad", "act:cast"] {{.*}}phase<backward>, halftone.places
  // CHECK: halftone.kernel "fc_weight_gradient" contraction {{.*}}fused ["fc:contract", "fc:column_sum"]
  // CHECK: halftone.flatten
  // CHECK: halftone.kernel "accumulate" pointwise {{.*}}phase<accumulate>
  // CHECK: halftone.kernel "check" flat {{.*}}fused ["square", "total"] {{.*}}phase<check>
  // CHECK: halftone.kernel "update" pointwise {{.*}}fused ["update", "cast"] {{.*}}phase<update>
  // CHECK-NOT: halftone.kernel "
  // CHECK: halftone.output "y"
  halftone.graph "training" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !x
    %label = halftone.input "label" {halftone.layer = "label", halftone.kind = "input"} : !label
    %w = halftone.parameter "w" {initializer = #zeros, halftone.layer = "w", halftone.kind = "parameter"} : !w
    %b = halftone.parameter "b" {initializer = #zeros, halftone.layer = "b", halftone.kind = "parameter"} : !b
    %fc = halftone.linear %x, %w bias %b {halftone.layer = "fc", halftone.kind = "linear"} : (!x, !w, !b) -> !y
    %act = halftone.relu %fc {halftone.layer = "act", halftone.kind = "relu"} : (!y) -> !y
    %rows = halftone.cross_entropy %act, %label {halftone.layer = "loss", halftone.kind = "cross_entropy", halftone.phase = #loss}
        : (!y, !label) -> !halftone.tensor<[batch], f32>
    %l = halftone.mean %rows {halftone.layer = "loss", halftone.kind = "cross_entropy", halftone.phase = #loss}
        : (!halftone.tensor<[batch], f32>) -> !halftone.tensor<[], f32>
    halftone.output "y", %act : !y
    halftone.loss "loss", %l weight 1.0 {halftone.phase = #loss} : !halftone.tensor<[], f32>
  }
  // CHECK-LABEL: halftone.graph "inference"
  // CHECK: halftone.kernel "inference_fc" contraction {{.*}}fused ["fc:linear", "fc:cast", "act:relu", "act:cast"{{.*}}]
  // CHECK-NOT: halftone.kernel "
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !x
    %w = halftone.parameter "w" {initializer = #zeros, halftone.layer = "w", halftone.kind = "parameter"} : !w
    %b = halftone.parameter "b" {initializer = #zeros, halftone.layer = "b", halftone.kind = "parameter"} : !b
    %fc = halftone.linear %x, %w bias %b {halftone.layer = "fc", halftone.kind = "linear"} : (!x, !w, !b) -> !y
    %act = halftone.relu %fc {halftone.layer = "act", halftone.kind = "relu"} : (!y) -> !y
    halftone.output "y", %act : !y
  }
  // Before anything was fused.
  // CHECK-LABEL: halftone.graph "diagnosis"
  // CHECK: halftone.kernel "diagnosis_fc" contraction {{.*}}fused ["fc:linear"]
  // CHECK: halftone.kernel "diagnosis_act" pointwise {{.*}}fused ["act:relu"]
  // CHECK-NOT: phase<check>
}

// -----

!v = !halftone.tensor<[8], f32>

// tanh of 0.75 is what its recipe gives, one unit in the last place above the correctly rounded value that a folder would
// put in its place: the recipe's operations are there.
// CHECK-LABEL: module @does_not_fold_functions_of_constants
// CHECK: halftone.kernel "inference_t"
// CHECK: math.fma
// CHECK: halftone.kernel_yield
module @does_not_fold_functions_of_constants {
  halftone.graph "inference" {
    %t = halftone.pointwise "t" () {halftone.layer = "t", halftone.kind = "pointwise"} : () -> !v {
      %c = arith.constant 0.75 : f32
      %r = math.tanh %c : f32
      halftone.yield %r : f32
    }
    halftone.output "t", %t : !v
  }
}
