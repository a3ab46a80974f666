// SPDX-License-Identifier: Apache-2.0
// All passes on a small model: what remains are sources, kernels and sinks, in the order of their phases, every one with
// tiles and a place.
// RUN: halftone-opt --halftone-pipeline %s > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck --check-prefix=NONE %s < %t
// RUN: halftone-opt --halftone-pipeline %s | cmp - %t

// NONE-NOT: halftone.{{linear|relu|gelu|cross_entropy|mean|contract|column_sum|pointwise|total|cast|gradient|add}}{{ }}
// NONE-NOT: , none>
// NONE-NOT: math.{{exp|log|tanh|erf|rsqrt}}

!x = !halftone.tensor<[batch, 8], none>
!w = !halftone.tensor<[4, 8], none>
!b = !halftone.tensor<[4], none>
!y = !halftone.tensor<[batch, 4], none>
!label = !halftone.tensor<[batch], i32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// CHECK: module @classifier
module @classifier attributes {halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64, momentum = 0.0 : f64,
    weight_decay = 0.0 : f64, nesterov = false}} {
  // CHECK-LABEL: halftone.graph "training"
  // CHECK: halftone.kernel "fc" contraction {{.*}}fused ["fc:linear", "act:relu"] {cpu_tile = {{.*}}, cuda_tile = {{.*}}, halftone.phase = #halftone.phase<forward>, halftone.places = #halftone.places<
  // CHECK: halftone.kernel "loss" row {{.*}}fused ["loss:cross_entropy", "loss:mean"] {cpu_tile = {{.*}}halftone.phase = #halftone.phase<loss>, halftone.places
  // CHECK: halftone.kernel "loss_gradient" row {{.*}}fused ["loss:cross_entropy_grad"] {{.*}}halftone.phase = #halftone.phase<loss_backward>, halftone.places
  // CHECK: halftone.output_gradient "y"
  // CHECK: halftone.kernel "act_gradient" pointwise {{.*}}fused ["act:relu_grad"] {{.*}}halftone.phase = #halftone.phase<backward>, halftone.places
  // CHECK: halftone.kernel "fc_weight_gradient" contraction {{.*}}fused ["fc:contract", "fc:column_sum"]
  // CHECK: halftone.flatten
  // CHECK: halftone.kernel "check" flat {{.*}}fused ["square", "total"] {{.*}}halftone.phase = #halftone.phase<check>
  // CHECK: halftone.kernel "update" pointwise {{.*}}fused ["update"] {{.*}}halftone.phase = #halftone.phase<update>
  // CHECK-NOT: halftone.kernel "
  // CHECK: halftone.output "y"
  halftone.graph "training" {
    %x = halftone.input "x" : !x
    %label = halftone.input "label" : !label
    %w = halftone.parameter "w" {initializer = #zeros} : !w
    %b = halftone.parameter "b" {initializer = #zeros} : !b
    %fc = halftone.linear %x, %w bias %b {halftone.layer = "fc"} : (!x, !w, !b) -> !y
    %act = halftone.relu %fc {halftone.layer = "act"} : (!y) -> !y
    %rows = halftone.cross_entropy %act, %label {halftone.layer = "loss", halftone.phase = #loss}
        : (!y, !label) -> !halftone.tensor<[batch], none>
    %l = halftone.mean %rows {halftone.layer = "loss", halftone.phase = #loss}
        : (!halftone.tensor<[batch], none>) -> !halftone.tensor<[], none>
    halftone.output "y", %act : !y
    halftone.loss "loss", %l weight 1.0 {halftone.phase = #loss} : !halftone.tensor<[], none>
  }
  // CHECK-LABEL: halftone.graph "inference"
  // CHECK: halftone.kernel "inference_fc" contraction {{.*}}fused ["fc:linear", "act:relu"]
  // CHECK-NOT: halftone.kernel "
  halftone.graph "inference" {
    %x = halftone.input "x" : !x
    %w = halftone.parameter "w" {initializer = #zeros} : !w
    %b = halftone.parameter "b" {initializer = #zeros} : !b
    %fc = halftone.linear %x, %w bias %b {halftone.layer = "fc"} : (!x, !w, !b) -> !y
    %act = halftone.relu %fc {halftone.layer = "act"} : (!y) -> !y
    halftone.output "y", %act : !y
  }
}
