// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-build-update -split-input-file %s | FileCheck %s

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// Groups of equal decay and rate in the order of their first parameter, each parameter padded to 32 elements, the frozen
// ones behind; inference reads the same buffer.
// CHECK-LABEL: module @offsets_by_group
module @offsets_by_group attributes {halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64, momentum = 0.0 : f64,
    weight_decay = 0.25 : f64, nesterov = false}} {
  halftone.graph "training" {
    // CHECK: parameter "w1" {initializer = #{{.*}}, offset = 0 : i64}
    %w1 = halftone.parameter "w1" {initializer = #zeros} : !halftone.tensor<[40], f32>
    // CHECK: parameter "b1" {{.*}}offset = 96 : i64}
    %b1 = halftone.parameter "b1" {initializer = #zeros, decay = false} : !halftone.tensor<[3], f32>
    // CHECK: parameter "frozen" {{.*}}offset = 160 : i64}
    %frozen = halftone.parameter "frozen" {initializer = #zeros, frozen = true} : !halftone.tensor<[5], f32>
    // CHECK: parameter "w2" {{.*}}offset = 64 : i64}
    %w2 = halftone.parameter "w2" {initializer = #zeros} : !halftone.tensor<[2, 16], f32>
    // CHECK: parameter "scaled" {{.*}}offset = 128 : i64}
    %scaled = halftone.parameter "scaled" {initializer = #zeros, learning_rate_scale = 0.5 : f64} : !halftone.tensor<[1], f32>
    // CHECK: %[[G1:.*]] = halftone.input "g1"
    %g1 = halftone.input "g1" : !halftone.tensor<[40], f32>
    // CHECK: %[[G2:.*]] = halftone.input "g2"
    %g2 = halftone.input "g2" : !halftone.tensor<[2, 16], f32>
    // CHECK: %[[G3:.*]] = halftone.input "g3"
    %g3 = halftone.input "g3" : !halftone.tensor<[3], f32>
    // CHECK: %[[G4:.*]] = halftone.input "g4"
    %g4 = halftone.input "g4" : !halftone.tensor<[1], f32>
    halftone.gradient %g1 of %w1 : (!halftone.tensor<[40], f32>, !halftone.tensor<[40], f32>) -> ()
    halftone.gradient %g3 of %b1 : (!halftone.tensor<[3], f32>, !halftone.tensor<[3], f32>) -> ()
    halftone.gradient %g2 of %w2 : (!halftone.tensor<[2, 16], f32>, !halftone.tensor<[2, 16], f32>) -> ()
    halftone.gradient %g4 of %scaled : (!halftone.tensor<[1], f32>, !halftone.tensor<[1], f32>) -> ()
    // CHECK-NOT: halftone.gradient
    // CHECK: halftone.flatten %[[G1]], %[[G2]], %[[G3]], %[[G4]] at [0, 64, 96, 128] {{.*}}-> !halftone.tensor<[160], f32>
    // CHECK: halftone.pointwise "update"
    // The rate's scale and the decay depend on where the element lies: U3.
    // CHECK: ^bb0(%[[P:[a-z0-9]+]]: f32, %[[G:[a-z0-9]+]]: f32, %[[RATE:[a-z0-9]+]]: f32, %[[FINITE:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32):
    // CHECK: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
    // CHECK: %[[AT:.*]] = halftone.element_index : i64
    // CHECK: %[[END2:.*]] = arith.constant 128 : i64
    // CHECK: arith.cmpi slt, %[[AT]], %[[END2]] : i64
    // CHECK: %[[END1:.*]] = arith.constant 96 : i64
    // CHECK: arith.cmpi slt, %[[AT]], %[[END1]] : i64
    // CHECK: %[[SCALE:.*]] = arith.select
    // CHECK: %[[LR:.*]] = arith.mulf %[[RATE]], %[[SCALE]] : f32
    // CHECK: arith.constant 2.500000e-01 : f32
    // CHECK: arith.constant 0.000000e+00 : f32
    // CHECK: arith.constant 2.500000e-01 : f32
    // CHECK: %[[DECAY:.*]] = arith.select
    // U5 without momentum, then U7.
    // CHECK: %[[SUM:.*]] = math.fma %[[DECAY]], %[[P]], %[[G]] : f32
    // CHECK: %[[MINUS:.*]] = arith.negf %[[LR]] : f32
    // CHECK: %[[NEW:.*]] = math.fma %[[MINUS]], %[[SUM]], %[[P]] : f32
    // CHECK: %[[OK:.*]] = arith.cmpf ogt, %[[FINITE]]
    // CHECK: %[[NEXT:.*]] = arith.select %[[OK]], %[[NEW]], %[[P]] : f32
    // CHECK: halftone.yield %[[NEXT]] : f32
  }
  // CHECK: halftone.graph "inference"
  halftone.graph "inference" {
    // CHECK: parameter "b1" {{.*}}offset = 96 : i64}
    %b1 = halftone.parameter "b1" {initializer = #zeros, decay = false} : !halftone.tensor<[3], f32>
    // CHECK: parameter "frozen" {{.*}}offset = 160 : i64}
    %frozen = halftone.parameter "frozen" {initializer = #zeros, frozen = true} : !halftone.tensor<[5], f32>
    // CHECK-NOT: halftone.flat_parameters
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U1 and U2: the norm over everything, whether it is finite, and the coefficient; U4 to U7 for adamw.
// CHECK-LABEL: module @adamw_with_clip
module @adamw_with_clip attributes {halftone.clip = 2.0 : f64, halftone.optimizer = {kind = "adamw",
    learning_rate = 0.001 : f64, beta1 = 0.5 : f64, beta2 = 0.75 : f64, epsilon = 1.0 : f64, weight_decay = 0.25 : f64}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK: %[[FLAT:.*]] = halftone.flatten
    // CHECK: %[[P:.*]] = halftone.flat_parameters : <[32], f32>
    // CHECK: %[[H1:.*]] = halftone.state "adamw.beta1_power_high" {initial = 1.000000e+00 : f64, optimizer} : <[], f32>
    // CHECK: %[[L1:.*]] = halftone.state "adamw.beta1_power_low" {initial = 0.000000e+00 : f64, optimizer}
    // CHECK: %[[H2:.*]] = halftone.state "adamw.beta2_power_high" {initial = 1.000000e+00 : f64, optimizer}
    // CHECK: %[[L2:.*]] = halftone.state "adamw.beta2_power_low"
    // CHECK: %[[SQUARES:.*]] = halftone.pointwise "square"(%[[FLAT]])
    // CHECK: %[[ALL:.*]]:7 = halftone.total "norm" %[[SQUARES]](%[[H1]], %[[L1]], %[[H2]], %[[L2]]) {halftone.phase = #halftone.phase<check>}
    // CHECK: ^bb0(%[[SUM:[a-z0-9]+]]: f32, %[[OLD:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32):
    // CHECK: %[[NORM:.*]] = math.sqrt %[[SUM]] : f32
    // CHECK: %[[INF:.*]] = arith.constant 0x7F800000 : f32
    // CHECK: %[[OK:.*]] = arith.cmpf olt, %[[SUM]], %[[INF]] : f32
    // CHECK: %[[CLIP:.*]] = arith.constant 2.000000e+00 : f32
    // CHECK: %[[LONGER:.*]] = arith.addf %[[NORM]], %{{.*}} : f32
    // CHECK: %[[RATIO:.*]] = arith.divf %[[CLIP]], %[[LONGER]] : f32
    // CHECK: %[[COEFFICIENT:.*]] = arith.minimumf %{{.*}}, %[[RATIO]] : f32
    // U6
    // CHECK: %[[T:.*]] = arith.mulf %[[OLD]], %[[BETA:.*]] : f32
    // CHECK: math.fma %[[OLD]], %[[BETA]], %{{.*}} : f32
    // CHECK: arith.select %[[OK]], %{{.*}}, %[[OLD]] : f32
    // CHECK: halftone.yield %[[NORM]], %{{.*}}, %[[COEFFICIENT]],
    // CHECK: halftone.statistic "grad_norm", %[[ALL]]#0
    // CHECK: halftone.statistic "finite", %[[ALL]]#1
    // CHECK: halftone.assign %[[ALL]]#3 to %[[H1]] {halftone.phase = #halftone.phase<check>}
    // CHECK: halftone.assign %[[ALL]]#6 to %[[L2]]
    // CHECK: %[[LR:.*]] = halftone.hyperparameter "learning_rate" {initial = 1.000000e-03 : f64}
    // CHECK: %[[M:.*]] = halftone.state "adamw.first_moment" {initial = 0.000000e+00 : f64, optimizer} : <[32], f32>
    // CHECK: %[[V:.*]] = halftone.state "adamw.second_moment"
    // CHECK: %[[NEXT:.*]]:3 = halftone.pointwise "update"(%[[P]], %[[FLAT]], %[[M]], %[[V]], %[[LR]], %[[ALL]]#1, %[[ALL]]#2, %[[ALL]]#3, %[[ALL]]#4, %[[ALL]]#5, %[[ALL]]#6) {halftone.phase = #halftone.phase<update>}
    // CHECK: ^bb0(%[[EP:[a-z0-9]+]]: f32, %[[EG:[a-z0-9]+]]: f32, %[[EM:[a-z0-9]+]]: f32, %[[EV:[a-z0-9]+]]: f32, %[[ELR:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32, %[[EC:[a-z0-9]+]]: f32,
    // CHECK: %[[CG:.*]] = arith.mulf %[[EG]], %[[EC]] : f32
    // CHECK: %[[DIFF:.*]] = arith.subf %[[CG]], %[[EM]] : f32
    // CHECK: math.fma %{{.*}}, %[[DIFF]], %[[EM]] : f32
    // CHECK: arith.mulf %[[CG]], %[[CG]] : f32
    // CHECK: halftone.assign %[[NEXT]]#0 to %[[P]] {halftone.phase = #halftone.phase<update>}
    // CHECK: halftone.assign %[[NEXT]]#1 to %[[M]]
    // CHECK: halftone.assign %[[NEXT]]#2 to %[[V]]
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U5 with Nesterov momentum. Without a clip the gradient is used as it is, and one group needs no element index.
// CHECK-LABEL: module @sgd_with_nesterov
module @sgd_with_nesterov attributes {halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64, momentum = 0.5 : f64,
    weight_decay = 0.0 : f64, nesterov = true}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK-NOT: arith.minimumf
    // CHECK: halftone.state "sgd.momentum"
    // CHECK: halftone.pointwise "update"
    // CHECK-NOT: halftone.element_index
    // CHECK: ^bb0(%[[P:[a-z0-9]+]]: f32, %[[G:[a-z0-9]+]]: f32, %[[OLD:[a-z0-9]+]]: f32,
    // CHECK: %[[DECAYED:.*]] = math.fma %{{.*}}, %[[P]], %[[G]] : f32
    // CHECK: %[[MOMENTUM:.*]] = arith.constant 5.000000e-01 : f32
    // CHECK: %[[BUFFER:.*]] = math.fma %[[MOMENTUM]], %[[OLD]], %[[DECAYED]] : f32
    // CHECK: %[[STEP:.*]] = math.fma %[[MOMENTUM]], %[[BUFFER]], %[[DECAYED]] : f32
    // CHECK: math.fma %{{.*}}, %[[STEP]], %[[P]] : f32
    // CHECK: arith.select %{{.*}}, %[[BUFFER]], %[[OLD]] : f32
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// CHECK-LABEL: module @does_not_update_a_model_without_training
module @does_not_update_a_model_without_training {
  // CHECK-NEXT: halftone.graph "inference"
  // CHECK-NEXT: parameter "a" {{.*}}offset = 0 : i64}
  // CHECK-NEXT: parameter "b" {{.*}}offset = 32 : i64}
  // CHECK-NEXT: }
  halftone.graph "inference" {
    %a = halftone.parameter "a" {initializer = #zeros} : !halftone.tensor<[3], f32>
    %b = halftone.parameter "b" {initializer = #zeros} : !halftone.tensor<[3], f32>
  }
}
