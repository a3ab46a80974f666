// RUN: halftone-opt --halftone-build-update=part=64 %s | FileCheck %s
// RUN: halftone-opt --halftone-build-update=part=64 --halftone-build-working-copies --halftone-form-kernels --halftone-plan-memory %s | FileCheck --check-prefix=PLACES %s

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// P91: states in the host's memory are seen in parts of at most 64 elements, of parameters that are updated alike: no code asks where an element lies.
// CHECK-LABEL: module @states_in_parts
// CHECK-SAME: {beaten = array<i64: 0>, field = "place", layer = "", pass = "", role = "optimizer_state", rule = 1 : i64, setting = "host"}
// PLACES-LABEL: module @states_in_parts
module @states_in_parts attributes {halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64, momentum = 0.5 : f64, weight_decay = 0.25 : f64, nesterov = false},
    halftone.rules = #halftone.rules<["where role optimizer_state : place device", "where role optimizer_state : place host"]>} {
  // PLACES: #halftone.buffer<"sgd.momentum", host_state, !halftone.tensor<[160], f32>
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[100], f32>
    %b = halftone.parameter "b" {initializer = #zeros, decay = false} : !halftone.tensor<[3], f32>
    %gw = halftone.input "gw" : !halftone.tensor<[100], f32>
    %gb = halftone.input "gb" : !halftone.tensor<[3], f32>
    halftone.gradient %gw of %w : (!halftone.tensor<[100], f32>, !halftone.tensor<[100], f32>) -> ()
    halftone.gradient %gb of %b : (!halftone.tensor<[3], f32>, !halftone.tensor<[3], f32>) -> ()
    // CHECK: %[[G:.*]] = halftone.flatten
    // CHECK: %[[P:.*]] = halftone.flat_parameters
    // CHECK: %[[M:.*]] = halftone.state "sgd.momentum" {halftone.in_host, {{.*}}} : <[160], f32>
    // CHECK: %[[M0:.*]] = halftone.view %[[M]] {at = 0 : i64} : {{.*}} -> !halftone.tensor<[64], f32>
    // CHECK: %[[P0:.*]] = halftone.view %[[P]] {at = 0 : i64}
    // CHECK: %[[G0:.*]] = halftone.view %[[G]] {at = 0 : i64}
    // CHECK: %[[U0:.*]]:2 = halftone.map "update"(%[[P0]], %[[G0]], %[[M0]],
    // CHECK-NOT: element_index
    // CHECK: halftone.assign %[[U0]]#0 to %[[P0]]
    // CHECK: halftone.assign %[[U0]]#1 to %[[M0]]
    // CHECK: %[[M1:.*]] = halftone.view %[[M]] {at = 64 : i64} : {{.*}} -> !halftone.tensor<[64], f32>
    // CHECK: halftone.map "update"(%{{.*}}, %{{.*}}, %[[M1]],
    // CHECK-NOT: element_index
    // CHECK: %[[M2:.*]] = halftone.view %[[M]] {at = 128 : i64} : {{.*}} -> !halftone.tensor<[32], f32>
    // CHECK: halftone.map "update"(%{{.*}}, %{{.*}}, %[[M2]],
    // CHECK-NOT: halftone.map "update"
    // Kernels of parts are found where these lie.
    // PLACES: halftone.kernel "update" {{.*}}over [64]
    // PLACES: halftone.kernel "update_2" {{.*}}over [64]
    // PLACES: halftone.kernel "update_3" {{.*}}over [32]
  }
}
