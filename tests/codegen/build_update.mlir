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
    // CHECK: %[[DECLARED:.*]] = halftone.hyperparameter "weight_decay" {initial = 2.500000e-01 : f64}
    // CHECK: halftone.map "update"(%{{.*}}, %[[DECLARED]])
    // The rate's scale and the decay depend on where the element lies: U3.
    // CHECK: ^bb0(%[[P:[a-z0-9]+]]: f32, %[[G:[a-z0-9]+]]: f32, %[[RATE:[a-z0-9]+]]: f32, %[[FINITE:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32, %[[INVERSE:[a-z0-9]+]]: f32, %[[WEIGHT_DECAY:[a-z0-9]+]]: f32):
    // U0
    // CHECK-NEXT: %[[UNSCALED:.*]] = arith.mulf %[[G]], %[[INVERSE]] : f32
    // CHECK: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
    // CHECK: %[[AT:.*]] = halftone.element_index : i64
    // CHECK: %[[END2:.*]] = arith.constant 128 : i64
    // CHECK: arith.cmpi slt, %[[AT]], %[[END2]] : i64
    // CHECK: %[[END1:.*]] = arith.constant 96 : i64
    // CHECK: arith.cmpi slt, %[[AT]], %[[END1]] : i64
    // CHECK: %[[SCALE:.*]] = arith.select
    // CHECK: %[[LR:.*]] = arith.mulf %[[RATE]], %[[SCALE]] : f32
    // CHECK: %[[NONE:.*]] = arith.constant 0.000000e+00 : f32
    // CHECK: %[[BEHIND:.*]] = arith.select %{{.*}}, %[[NONE]], %[[WEIGHT_DECAY]] : f32
    // CHECK: %[[DECAY:.*]] = arith.select %{{.*}}, %[[WEIGHT_DECAY]], %[[BEHIND]] : f32
    // U5 without momentum, then U7.
    // CHECK: %[[SUM:.*]] = math.fma %[[DECAY]], %[[P]], %[[UNSCALED]] : f32
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
    // M4: the first micro-batch starts the sum; gradients hold it too.
    // CHECK: %[[BEFORE:.*]] = halftone.accumulated : <[32], f32>
    // CHECK: %[[FIRST:.*]] = halftone.hyperparameter "first_micro_batch" {initial = 1.000000e+00 : f64} : <[], f32>
    // CHECK: %[[BOTH:.*]]:2 = halftone.map "accumulate"(%[[BEFORE]], %[[FLAT]], %[[FIRST]]) {halftone.phase = #halftone.phase<accumulate>}
    // CHECK-NEXT: ^bb0(%[[EB:[a-z0-9]+]]: f32, %[[EN:[a-z0-9]+]]: f32, %[[EF:[a-z0-9]+]]: f32):
    // CHECK: %[[ISFIRST:.*]] = arith.cmpf ogt, %[[EF]], %{{.*}} : f32
    // CHECK: %[[TOTAL:.*]] = arith.addf %[[EB]], %[[EN]] : f32
    // CHECK: %[[SUMMED:.*]] = arith.select %[[ISFIRST]], %[[EN]], %[[TOTAL]] : f32
    // CHECK: halftone.yield %[[SUMMED]], %[[SUMMED]] : f32, f32
    // CHECK: halftone.assign %[[BOTH]]#0 to %[[BEFORE]] {halftone.phase = #halftone.phase<accumulate>}
    // CHECK: halftone.assign %[[BOTH]]#1 to %[[FLAT]] {halftone.phase = #halftone.phase<accumulate>}
    // CHECK: %[[H1:.*]] = halftone.state "adamw.beta1_power_high" {initial = 1.000000e+00 : f64, optimizer} : <[], f32>
    // CHECK: %[[L1:.*]] = halftone.state "adamw.beta1_power_low" {initial = 0.000000e+00 : f64, optimizer}
    // CHECK: %[[H2:.*]] = halftone.state "adamw.beta2_power_high" {initial = 1.000000e+00 : f64, optimizer}
    // CHECK: %[[L2:.*]] = halftone.state "adamw.beta2_power_low"
    // CHECK: %[[MICRO:.*]] = halftone.hyperparameter "micro_batches" {initial = 1.000000e+00 : f64}
    // U0, U1: squares of the mean of the micro-batches.
    // CHECK: %[[SQUARES:.*]] = halftone.map "square"(%[[FLAT]], %[[MICRO]])
    // CHECK-NEXT: ^bb0(%[[SG:[a-z0-9]+]]: f32, %[[SN:[a-z0-9]+]]: f32):
    // CHECK: %[[SI:.*]] = arith.divf %{{.*}}, %[[SN]] : f32
    // CHECK: %[[SU:.*]] = arith.mulf %[[SG]], %[[SI]] : f32
    // CHECK: arith.mulf %[[SU]], %[[SU]] : f32
    // CHECK: %[[ALL:.*]]:8 = halftone.reduce "total"(%[[SQUARES]], %[[H1]], %[[L1]], %[[H2]], %[[L2]], %[[MICRO]]) {halftone.phase = #halftone.phase<check>}
    // CHECK: ^bb0(%[[SUM:[a-z0-9]+]]: f32, %[[OLD:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %[[N:[a-z0-9]+]]: f32):
    // CHECK: %[[NORM:.*]] = math.sqrt %[[SUM]] : f32
    // CHECK: %[[INF:.*]] = arith.constant 0x7F800000 : f32
    // CHECK: %[[OK:.*]] = arith.cmpf olt, %[[SUM]], %[[INF]] : f32
    // CHECK: %[[CLIP:.*]] = arith.constant 2.000000e+00 : f32
    // CHECK: %[[LONGER:.*]] = arith.addf %[[NORM]], %{{.*}} : f32
    // CHECK: %[[RATIO:.*]] = arith.divf %[[CLIP]], %[[LONGER]] : f32
    // CHECK: %[[COEFFICIENT:.*]] = arith.minimumf %{{.*}}, %[[RATIO]] : f32
    // CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[N]] : f32
    // U6
    // CHECK: %[[T:.*]] = arith.mulf %[[OLD]], %[[BETA:.*]] : f32
    // CHECK: math.fma %[[OLD]], %[[BETA]], %{{.*}} : f32
    // CHECK: arith.select %[[OK]], %{{.*}}, %[[OLD]] : f32
    // CHECK: halftone.yield %[[NORM]], %{{.*}}, %[[COEFFICIENT]], %[[INVERSE]],
    // CHECK: halftone.statistic "grad_norm", %[[ALL]]#0
    // CHECK: halftone.statistic "finite", %[[ALL]]#1
    // CHECK: halftone.assign %[[ALL]]#4 to %[[H1]] {halftone.phase = #halftone.phase<check>}
    // CHECK: halftone.assign %[[ALL]]#7 to %[[L2]]
    // CHECK: %[[LR:.*]] = halftone.hyperparameter "learning_rate" {initial = 1.000000e-03 : f64}
    // CHECK: %[[M:.*]] = halftone.state "adamw.first_moment" {initial = 0.000000e+00 : f64, optimizer} : <[32], f32>
    // CHECK: %[[V:.*]] = halftone.state "adamw.second_moment"
    // CHECK: %[[NEXT:.*]]:3 = halftone.map "update"(%[[P]], %[[FLAT]], %[[M]], %[[V]], %[[LR]], %[[ALL]]#1, %[[ALL]]#2, %[[ALL]]#3, %[[ALL]]#4, %[[ALL]]#5, %[[ALL]]#6, %[[ALL]]#7, %{{.*}}) {halftone.phase = #halftone.phase<update>}
    // CHECK: ^bb0(%[[EP:[a-z0-9]+]]: f32, %[[EG:[a-z0-9]+]]: f32, %[[EM:[a-z0-9]+]]: f32, %[[EV:[a-z0-9]+]]: f32, %[[ELR:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32, %[[EC:[a-z0-9]+]]: f32, %[[EI:[a-z0-9]+]]: f32,
    // M3: unscale, then clip.
    // CHECK: %[[UG:.*]] = arith.mulf %[[EG]], %[[EI]] : f32
    // CHECK: %[[CG:.*]] = arith.mulf %[[UG]], %[[EC]] : f32
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
    // CHECK: halftone.map "update"
    // CHECK-NOT: halftone.element_index
    // CHECK: ^bb0(%[[P:[a-z0-9]+]]: f32, %[[G:[a-z0-9]+]]: f32, %[[OLD:[a-z0-9]+]]: f32, {{.*}}, %[[DECAY:[a-z0-9]+]]: f32, %[[MOMENTUM:[a-z0-9]+]]: f32):
    // CHECK: %[[UNSCALED:.*]] = arith.mulf %[[G]], %{{.*}} : f32
    // CHECK: %[[DECAYED:.*]] = math.fma %[[DECAY]], %[[P]], %[[UNSCALED]] : f32
    // CHECK: %[[BUFFER:.*]] = math.fma %[[MOMENTUM]], %[[OLD]], %[[DECAYED]] : f32
    // CHECK: %[[STEP:.*]] = math.fma %[[MOMENTUM]], %[[BUFFER]], %[[DECAYED]] : f32
    // CHECK: math.fma %{{.*}}, %[[STEP]], %[[P]] : f32
    // CHECK: arith.select %{{.*}}, %[[BUFFER]], %[[OLD]] : f32
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U3: the factor is computed once, in the check, of the updates before, two digits of base 2^20 that a skipped step leaves; U8: the
// averages are one more value of the update, their share 1 in the first update and then 0.25.
// CHECK-LABEL: module @schedule_and_average
module @schedule_and_average attributes {halftone.average = 0.75 : f64, halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64,
    momentum = 0.0 : f64, weight_decay = 0.0 : f64, nesterov = false}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK-NOT: halftone.schedule
    halftone.schedule {
    ^bb0(%updates: f32):
      %factor = math.rsqrt %updates : f32
      halftone.yield %factor : f32
    }
    // CHECK: %[[SHARE:.*]] = halftone.state "averaged.share" {initial = 2.000000e+00 : f64, optimizer}
    // CHECK: %[[HIGH:.*]] = halftone.state "schedule.updates_high" {initial = 0.000000e+00 : f64, optimizer}
    // CHECK: %[[LOW:.*]] = halftone.state "schedule.updates_low" {initial = 0.000000e+00 : f64, optimizer}
    // CHECK: %[[RATE:.*]] = halftone.hyperparameter "learning_rate"
    // CHECK: %[[TOTAL:.*]]:8 = halftone.reduce "total"
    // CHECK: %[[FIRST:.*]] = arith.cmpf oeq
    // CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
    // CHECK-NEXT: %[[QUARTER:.*]] = arith.constant 2.500000e-01 : f32
    // CHECK-NEXT: arith.select %[[FIRST]], %[[ONE]], %[[QUARTER]] : f32
    // CHECK: arith.constant 0x49800000 : f32
    // CHECK: arith.constant 0x49800000 : f32
    // CHECK: %[[UPDATES:.*]] = math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
    // CHECK-NEXT: %[[FACTOR:.*]] = math.rsqrt %[[UPDATES]] : f32
    // CHECK-NEXT: arith.mulf %{{.*}}, %[[FACTOR]] : f32
    // CHECK: halftone.assign %[[TOTAL]]#4 to %[[SHARE]]
    // CHECK: halftone.assign %[[TOTAL]]#5 to %[[HIGH]]
    // CHECK: halftone.assign %[[TOTAL]]#6 to %[[LOW]]
    // CHECK: halftone.statistic "learning_rate.scheduled", %[[TOTAL]]#7
    // CHECK: %[[AVERAGES:.*]] = halftone.state "averaged.parameters" {initial = 0.000000e+00 : f64, optimizer} : <[32], f32>
    // CHECK: %[[UPDATE:.*]]:2 = halftone.map "update"(%{{.*}}, %{{.*}}, %[[AVERAGES]], %[[TOTAL]]#7, %[[TOTAL]]#1
    // CHECK: ^bb0(%{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %[[A:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %[[S:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32):
    // CHECK: %[[NEW:.*]] = math.fma
    // CHECK: %[[NEW:.*]] = math.fma
    // CHECK-NEXT: %[[FAR:.*]] = arith.subf %[[NEW]], %[[A]] : f32
    // CHECK-NEXT: %[[NEXT:.*]] = math.fma %[[S]], %[[FAR]], %[[A]] : f32
    // CHECK: arith.select %{{.*}}, %[[NEXT]], %[[A]] : f32
    // CHECK: halftone.assign %[[UPDATE]]#1 to %[[AVERAGES]]
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U9: the decay is part of the gradient that moments take, and the parameter itself is the one that the step is taken from.
// CHECK-LABEL: module @adam
module @adam attributes {halftone.optimizer = {kind = "adam", learning_rate = 0.001 : f64, beta1 = 0.5 : f64,
    beta2 = 0.75 : f64, epsilon = 1.0 : f64, weight_decay = 0.25 : f64}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK: halftone.state "adam.beta1_power_high"
    // CHECK: %[[M:.*]] = halftone.state "adam.first_moment"
    // CHECK: %[[V:.*]] = halftone.state "adam.second_moment"
    // CHECK: halftone.map "update"(%{{.*}}, %{{.*}}, %[[M]], %[[V]],
    // CHECK: ^bb0(%[[EP:[a-z0-9]+]]: f32, %[[EG:[a-z0-9]+]]: f32, %[[EM:[a-z0-9]+]]: f32,
    // CHECK: %[[UG:.*]] = arith.mulf %[[EG]],
    // CHECK: %[[DECAYED:.*]] = math.fma %{{.*}}, %[[EP]], %[[UG]] : f32
    // CHECK: %[[DIFF:.*]] = arith.subf %[[DECAYED]], %[[EM]] : f32
    // CHECK: math.fma %{{.*}}, %[[DIFF]], %[[EM]] : f32
    // CHECK: arith.mulf %[[DECAYED]], %[[DECAYED]] : f32
    // CHECK-NOT: math.fma %{{.*}}, %[[EP]], %[[EP]]
    // CHECK: arith.subf %[[EP]],
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U5: with a dampening the first update takes all of the gradient, which a carried number tells from the others.
// CHECK-LABEL: module @dampened
module @dampened attributes {halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64, momentum = 0.5 : f64, dampening = 0.25 : f64,
    weight_decay = 0.25 : f64, nesterov = false}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK: %[[SHARE:.*]] = halftone.state "sgd.share" {initial = 0.000000e+00 : f64, optimizer}
    // CHECK: halftone.reduce "total"(%{{.*}}, %[[SHARE]],
    // CHECK: arith.cmpf oeq, %[[OLD_SHARE:[a-z0-9]+]], %{{.*}} : f32
    // CHECK: %[[LATER:.*]] = arith.constant 7.500000e-01 : f32
    // CHECK: arith.select %{{.*}}, %{{.*}}, %[[LATER]] : f32
    // CHECK: halftone.state "sgd.momentum"
    // CHECK: halftone.map "update"
    // CHECK: ^bb0(%[[P:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32, %[[OLD:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %[[TAKES:[a-z0-9]+]]: f32,
    // CHECK: %[[G:.*]] = math.fma %{{.*}}, %[[P]], %{{.*}} : f32
    // CHECK: %[[TAKEN:.*]] = arith.mulf %[[TAKES]], %[[G]] : f32
    // CHECK: math.fma %{{.*}}, %[[OLD]], %[[TAKEN]] : f32
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U4 with amsgrad: the root is of the largest second moment, which is kept beside it. U2: elements are clipped, too.
// CHECK-LABEL: module @amsgrad
module @amsgrad attributes {halftone.clip_value = 0.5 : f64, halftone.optimizer = {kind = "adamw", learning_rate = 0.001 : f64, beta1 = 0.5 : f64, beta2 = 0.75 : f64,
    epsilon = 1.0 : f64, weight_decay = 0.25 : f64, amsgrad = true}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK: %[[V:.*]] = halftone.state "adamw.second_moment"
    // CHECK: %[[MAX:.*]] = halftone.state "adamw.largest_second_moment" {initial = 0.000000e+00 : f64, optimizer}
    // CHECK: %[[NEXT:.*]]:4 = halftone.map "update"(%{{.*}}, %{{.*}}, %{{.*}}, %[[V]], %[[MAX]],
    // CHECK: ^bb0(%{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %[[OLD:[a-z0-9]+]]: f32,
    // CHECK: %[[LOW:.*]] = arith.constant -5.000000e-01 : f32
    // CHECK: %[[RAISED:.*]] = arith.maximumf %{{.*}}, %[[LOW]] : f32
    // CHECK: %[[HIGH:.*]] = arith.constant 5.000000e-01 : f32
    // CHECK: %[[G:.*]] = arith.minimumf %[[RAISED]], %[[HIGH]] : f32
    // CHECK: arith.subf %[[G]],
    // CHECK: %[[LARGEST:.*]] = arith.maximumf %{{.*}}, %[[OLD]] : f32
    // CHECK: math.sqrt %[[LARGEST]] : f32
    // CHECK: halftone.assign %[[NEXT]]#3 to %[[MAX]]
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U10: beside the powers the product of the momenta is carried.
// CHECK-LABEL: module @nadam
module @nadam attributes {halftone.optimizer = {kind = "nadam", learning_rate = 0.001 : f64, beta1 = 0.5 : f64, beta2 = 0.75 : f64,
    epsilon = 1.0 : f64, weight_decay = 0.25 : f64, momentum_decay = 0.0 : f64, decoupled_weight_decay = true}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK: %[[H2:.*]] = halftone.state "nadam.beta2_power_high" {initial = 1.000000e+00 : f64, optimizer}
    // CHECK: %[[L2:.*]] = halftone.state "nadam.beta2_power_low" {initial = 0.000000e+00 : f64, optimizer}
    // CHECK: %[[HG:.*]] = halftone.state "nadam.growth_power_high" {initial = 1.000000e+00 : f64, optimizer}
    // CHECK: %[[LG:.*]] = halftone.state "nadam.growth_power_low" {initial = 0.000000e+00 : f64, optimizer}
    // CHECK: %[[PRODUCT:.*]] = halftone.state "nadam.momentum_product" {initial = 1.000000e+00 : f64, optimizer}
    // CHECK: halftone.reduce "total"(%{{.*}}, %[[H2]], %[[L2]], %[[HG]], %[[LG]], %[[PRODUCT]],
    // CHECK: halftone.map "update"
    // CHECK: ^bb0(%[[P:[a-z0-9]+]]: f32, %[[G:[a-z0-9]+]]: f32, %[[M:[a-z0-9]+]]: f32,
    // CHECK: %[[UG:.*]] = arith.mulf %[[G]],
    // CHECK: math.fma %{{.*}}, %[[P]], %[[P]] : f32
    // CHECK: %[[DIFF:.*]] = arith.subf %[[UG]], %[[M]] : f32
    // CHECK: %[[FIRST:.*]] = math.fma %{{.*}}, %[[DIFF]], %[[M]] : f32
    // CHECK: %[[OF_MOMENT:.*]] = arith.mulf %{{.*}}, %[[FIRST]] : f32
    // CHECK: math.fma %{{.*}}, %[[UG]], %[[OF_MOMENT]] : f32
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U11: the sum begins where the model says.
// CHECK-LABEL: module @adagrad
module @adagrad attributes {halftone.optimizer = {kind = "adagrad", learning_rate = 0.001 : f64, epsilon = 1.0 : f64,
    weight_decay = 0.25 : f64, initial_accumulator_value = 0.5 : f64}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK: %[[SUM:.*]] = halftone.state "adagrad.sum" {initial = 5.000000e-01 : f64, optimizer} : <[32], f32>
    // CHECK: halftone.map "update"(%{{.*}}, %{{.*}}, %[[SUM]],
    // CHECK: ^bb0(%[[P:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32, %[[OLD:[a-z0-9]+]]: f32,
    // CHECK: %[[G:.*]] = math.fma %{{.*}}, %[[P]], %{{.*}} : f32
    // CHECK: %[[NEXT:.*]] = math.fma %[[G]], %[[G]], %[[OLD]] : f32
    // CHECK: math.sqrt %[[NEXT]] : f32
    // CHECK: %[[STEP:.*]] = arith.divf %[[G]], %{{.*}} : f32
    // CHECK: math.fma %{{.*}}, %[[STEP]], %[[P]] : f32
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U12: what is centered and has a momentum keeps three values; the variance is not below 0.
// CHECK-LABEL: module @rmsprop
module @rmsprop attributes {halftone.optimizer = {kind = "rmsprop", learning_rate = 0.001 : f64, alpha = 0.75 : f64, epsilon = 1.0 : f64,
    momentum = 0.5 : f64, centered = true, weight_decay = 0.25 : f64}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK: %[[V:.*]] = halftone.state "rmsprop.square"
    // CHECK: %[[A:.*]] = halftone.state "rmsprop.mean"
    // CHECK: %[[B:.*]] = halftone.state "rmsprop.momentum"
    // CHECK: %[[MOMENTUM:.*]] = halftone.hyperparameter "momentum" {initial = 5.000000e-01 : f64}
    // CHECK: halftone.map "update"(%{{.*}}, %{{.*}}, %[[V]], %[[A]], %[[B]], {{.*}}, %[[MOMENTUM]])
    // CHECK: ^bb0(%[[P:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %[[MEAN:[a-z0-9]+]]: f32, %[[BUFFER:[a-z0-9]+]]: f32, {{.*}}, %[[FACTOR:[a-z0-9]+]]: f32):
    // CHECK: %[[G:.*]] = math.fma %{{.*}}, %[[P]], %{{.*}} : f32
    // CHECK: %[[DIFF:.*]] = arith.subf %[[G]], %[[MEAN]] : f32
    // CHECK: %[[NEXT:.*]] = math.fma %{{.*}}, %[[DIFF]], %[[MEAN]] : f32
    // CHECK: %[[VARIANCE:.*]] = math.fma %{{.*}}, %[[NEXT]], %{{.*}} : f32
    // CHECK: %[[DIVISOR:.*]] = arith.maximumf %[[VARIANCE]],
    // CHECK: math.sqrt %[[DIVISOR]] : f32
    // CHECK: %[[RATIO:.*]] = arith.divf %[[G]],
    // CHECK: %[[STEP:.*]] = math.fma %[[FACTOR]], %[[BUFFER]], %[[RATIO]] : f32
    // CHECK: math.fma %{{.*}}, %[[STEP]], %[[P]] : f32
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U13: the learning rate up, down or not at all, and no power is carried.
// CHECK-LABEL: module @lion
module @lion attributes {halftone.optimizer = {kind = "lion", learning_rate = 0.001 : f64, beta1 = 0.5 : f64, beta2 = 0.75 : f64,
    weight_decay = 0.25 : f64}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK-NOT: power
    // CHECK: halftone.state "lion.momentum"
    // CHECK: halftone.map "update"
    // CHECK: ^bb0(%[[P:[a-z0-9]+]]: f32, %[[G:[a-z0-9]+]]: f32, %[[M:[a-z0-9]+]]: f32,
    // CHECK: %[[DIRECTION:.*]] = math.fma %{{.*}}, %{{.*}}, %[[M]] : f32
    // CHECK: %[[DECAYED:.*]] = math.fma %{{.*}}, %[[P]], %[[P]] : f32
    // CHECK: %[[DOWN:.*]] = arith.subf %[[DECAYED]], %[[RATE:.*]] : f32
    // CHECK: %[[UP:.*]] = arith.addf %[[DECAYED]], %[[RATE]] : f32
    // CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[DIRECTION]],
    // CHECK: %[[MOVED:.*]] = arith.select %[[BELOW]], %[[UP]], %[[DECAYED]] : f32
    // CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[DIRECTION]],
    // CHECK: arith.select %[[ABOVE]], %[[DOWN]], %[[MOVED]] : f32
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U15, U16: parameters begin at blocks of 1024 elements. The step is computed for its norm, a trust is made of the parameter that decays, and its elements read
// it by their block.
// CHECK: #[[BLOCK:.*]] = affine_map<(d0) -> (d0 floordiv 1024)>
// CHECK-LABEL: module @lamb
module @lamb attributes {halftone.optimizer = {kind = "lamb", learning_rate = 0.001 : f64, beta1 = 0.5 : f64, beta2 = 0.75 : f64, epsilon = 1.0 : f64,
    weight_decay = 0.25 : f64, max_trust = 8.0 : f64, decayed_only = true}} {
  halftone.graph "training" {
    // CHECK: parameter "w" {{.*}}offset = 0 : i64}
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[1030], f32>
    // CHECK: parameter "b" {{.*}}offset = 2048 : i64}
    %b = halftone.parameter "b" {initializer = #zeros, decay = false} : !halftone.tensor<[3], f32>
    // CHECK: parameter "f" {{.*}}offset = 3072 : i64}
    %f = halftone.parameter "f" {initializer = #zeros, frozen = true} : !halftone.tensor<[3], f32>
    %gw = halftone.input "gw" : !halftone.tensor<[1030], f32>
    %gb = halftone.input "gb" : !halftone.tensor<[3], f32>
    halftone.gradient %gw of %w : (!halftone.tensor<[1030], f32>, !halftone.tensor<[1030], f32>) -> ()
    halftone.gradient %gb of %b : (!halftone.tensor<[3], f32>, !halftone.tensor<[3], f32>) -> ()
    // CHECK: %[[GRADIENTS:.*]] = halftone.flatten {{.*}} at [0, 2048]
    // CHECK: %[[FLAT:.*]] = halftone.flat_parameters : <[3072], f32>
    // CHECK: %[[M:.*]] = halftone.state "lamb.first_moment"
    // CHECK: %[[V:.*]] = halftone.state "lamb.second_moment"
    // CHECK: %[[P_BLOCKS:.*]] = halftone.view %[[FLAT]] : {{.*}} -> !halftone.tensor<[3, 1024], f32>
    // CHECK: %[[G_BLOCKS:.*]] = halftone.view %[[GRADIENTS]]
    // CHECK: %[[SQUARES:.*]]:2 = halftone.map "parameter_squares"(%[[P_BLOCKS]], %[[G_BLOCKS]], {{.*}}) over [3, 1024]
    // CHECK-SAME: writes [#halftone.access<row>, #halftone.access<row>] {halftone.phase = #halftone.phase<update>}
    // CHECK: ^bb0(%[[P:[a-z0-9]+]]: f32,
    // The decay is that of the block's group.
    // CHECK: halftone.axis_index 0
    // CHECK: %[[STEP:.*]] = math.fma %{{.*}}, %[[P]], %{{.*}} : f32
    // CHECK: %[[PP:.*]] = arith.mulf %[[P]], %[[P]] : f32
    // CHECK: %[[UU:.*]] = arith.mulf %[[STEP]], %[[STEP]] : f32
    // CHECK: halftone.row_sum %[[PP]]
    // CHECK: halftone.row_sum %[[UU]]
    // The one part is blocks 0 and 1.
    // CHECK: %[[TRUST:.*]]:3 = halftone.map "parameter_norms_of_parts"(%[[SQUARES]]#0, %[[SQUARES]]#1) over [1, 3]
    // CHECK: %[[FIRST:.*]] = arith.constant 0.000000e+00 : f32
    // CHECK: %[[END:.*]] = arith.constant 2.000000e+00 : f32
    // CHECK: arith.cmpf ole, %[[FIRST]], %[[AT:.*]] : f32
    // CHECK: arith.cmpf olt, %[[AT]], %[[END]] : f32
    // CHECK: %[[OF_P:.*]] = math.sqrt
    // CHECK: %[[OF_STEP:.*]] = math.sqrt
    // CHECK: %[[BOTH:.*]] = arith.andi
    // CHECK: %[[QUOTIENT:.*]] = arith.divf %[[OF_P]], %[[OF_STEP]] : f32
    // CHECK: %[[MOST:.*]] = arith.select %[[BOTH]], %[[QUOTIENT]], %{{.*}} : f32
    // CHECK: %[[NUMBER:.*]] = arith.minimumf %[[MOST]], %{{.*}} : f32
    // CHECK: halftone.yield %[[NUMBER]], %[[FIRST]], %[[END]]
    // CHECK: %[[AT_BLOCKS:.*]] = halftone.map "parameter_norms"(%[[TRUST]]#0, %[[TRUST]]#1, %[[TRUST]]#2) over [3, 1]
    // CHECK: halftone.map "update"(%[[FLAT]], %[[GRADIENTS]], %[[M]], %[[V]], {{.*}}, %[[AT_BLOCKS]]) over [3072]
    // CHECK-SAME: #halftone.access<general reads #[[BLOCK]]>] writes
    // CHECK: ^bb0({{.*}}, %[[OWN:[a-z0-9]+]]: f32):
    // What does not decay has a trust of 1.
    // CHECK: %[[USED:.*]] = arith.select %{{.*}}, %[[OWN]], %{{.*}} : f32
    // CHECK: arith.mulf %{{.*}}, %[[USED]] : f32
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U2 of groups: those of a clip lie behind its first, and each has a coefficient of the norm of its blocks; what is in none is not clipped.
// CHECK-LABEL: module @clips_of_groups
module @clips_of_groups attributes {halftone.clip_groups = [{norm = 2.0 : f64, parameters = ["w", "v"]}, {norm = 0.5 : f64, parameters = ["b"]}],
    halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64, momentum = 0.0 : f64, weight_decay = 0.25 : f64, nesterov = false}} {
  halftone.graph "training" {
    // CHECK: parameter "w" {{.*}}offset = 0 : i64}
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[1030], f32>
    // CHECK: parameter "b" {{.*}}offset = 3072 : i64}
    %b = halftone.parameter "b" {initializer = #zeros} : !halftone.tensor<[3], f32>
    // CHECK: parameter "u" {{.*}}offset = 4096 : i64}
    %u = halftone.parameter "u" {initializer = #zeros} : !halftone.tensor<[3], f32>
    // CHECK: parameter "v" {{.*}}offset = 2048 : i64}
    %v = halftone.parameter "v" {initializer = #zeros, decay = false} : !halftone.tensor<[3], f32>
    %gw = halftone.input "gw" : !halftone.tensor<[1030], f32>
    %gb = halftone.input "gb" : !halftone.tensor<[3], f32>
    %gu = halftone.input "gu" : !halftone.tensor<[3], f32>
    %gv = halftone.input "gv" : !halftone.tensor<[3], f32>
    halftone.gradient %gw of %w : (!halftone.tensor<[1030], f32>, !halftone.tensor<[1030], f32>) -> ()
    halftone.gradient %gb of %b : (!halftone.tensor<[3], f32>, !halftone.tensor<[3], f32>) -> ()
    halftone.gradient %gu of %u : (!halftone.tensor<[3], f32>, !halftone.tensor<[3], f32>) -> ()
    halftone.gradient %gv of %v : (!halftone.tensor<[3], f32>, !halftone.tensor<[3], f32>) -> ()
    // CHECK: %[[TOTAL:.*]]:4 = halftone.reduce "total"
    // The gradient is unscaled by what the sum of all was: the scale may be the next step's by then.
    // CHECK: %[[SQUARES:.*]] = halftone.map "clip_squares"(%{{.*}}, %[[TOTAL]]#3) over [5, 1024]
    // CHECK: %[[COEFFICIENTS:.*]]:3 = halftone.map "clip_of_parts"(%[[SQUARES]]) over [2, 5]
    // CHECK: %[[PART:.*]] = halftone.axis_index 0
    // CHECK: %[[NORM:.*]] = math.sqrt
    // CHECK: %[[LAST:.*]] = arith.constant 5.000000e-01 : f32
    // CHECK: %[[C:.*]] = arith.select %{{.*}}, %{{.*}}, %[[LAST]] : f32
    // CHECK: %[[RATIO:.*]] = arith.divf %[[C]], %{{.*}} : f32
    // CHECK: arith.minimumf %{{.*}}, %[[RATIO]] : f32
    // CHECK: %[[AT_BLOCKS:.*]] = halftone.map "clip"(%[[COEFFICIENTS]]#0, %[[COEFFICIENTS]]#1, %[[COEFFICIENTS]]#2) over [5, 2]
    // CHECK: halftone.map "update"({{.*}}, %[[AT_BLOCKS]]) over [5120]
    // CHECK: ^bb0(%{{[a-z0-9]+}}: f32, %{{.*}}, %[[OWN:[a-z0-9]+]]: f32):
    // CHECK: %[[G:.*]] = arith.mulf
    // CHECK: %[[CLIPPED:.*]] = arith.mulf %[[G]], %[[OWN]] : f32
    // CHECK: %[[END:.*]] = arith.constant 4096 : i64
    // CHECK: arith.select %{{.*}}, %[[CLIPPED]], %[[G]] : f32
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U14: the functions of the parameter and of each state, of the updates before, and none of them is left.
// CHECK-LABEL: module @custom
module @custom attributes {halftone.optimizer = {kind = "custom", learning_rate = 0.001 : f64, weight_decay = 0.25 : f64}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    halftone.own_value "parameter" {
    ^bb0(%parameter: f32, %gradient: f32, %rate: f32, %decay: f32, %updates: f32, %momentum: f32):
      %moved = arith.mulf %momentum, %updates : f32
      halftone.yield %moved : f32
    }
    halftone.own_value "momentum" {
    ^bb0(%parameter: f32, %gradient: f32, %rate: f32, %decay: f32, %updates: f32, %momentum: f32):
      %sum = arith.addf %momentum, %gradient : f32
      halftone.yield %sum : f32
    }
    // CHECK-NOT: own_value
    // CHECK: halftone.state "custom.updates_high" {initial = 0.000000e+00 : f64, optimizer}
    // CHECK: halftone.state "custom.updates_low"
    // CHECK: halftone.state "custom.updates_before"
    // CHECK: halftone.state "custom.momentum" {initial = 0.000000e+00 : f64, optimizer} : <[32], f32>
    // CHECK: halftone.map "update"
    // CHECK: ^bb0(%[[P:[a-z0-9]+]]: f32, %[[G:[a-z0-9]+]]: f32, %[[M:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32, %[[FINITE:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32, %[[BEFORE:[a-z0-9]+]]: f32,
    // CHECK: %[[UNSCALED:.*]] = arith.mulf %[[G]],
    // CHECK: %[[NEW:.*]] = arith.mulf %[[M]], %[[BEFORE]] : f32
    // CHECK: %[[NEXT:.*]] = arith.addf %[[M]], %[[UNSCALED]] : f32
    // CHECK: %[[OK:.*]] = arith.cmpf ogt, %[[FINITE]]
    // CHECK: arith.select %[[OK]], %[[NEW]], %[[P]] : f32
    // CHECK: arith.select %[[OK]], %[[NEXT]], %[[M]] : f32
    // CHECK-NOT: own_value
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U3, U5: a momentum that is not 0 is the host's to set; a decay that no parameter has is not.
// CHECK-LABEL: module @momentum_without_decay
module @momentum_without_decay attributes {halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64,
    momentum = 0.5 : f64, weight_decay = 0.25 : f64, nesterov = false}} {
  halftone.graph "training" {
    %b = halftone.parameter "b" {initializer = #zeros, decay = false} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %b : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK-NOT: "weight_decay"
    // CHECK: %[[BUFFER:.*]] = halftone.state "sgd.momentum"
    // CHECK: %[[MOMENTUM:.*]] = halftone.hyperparameter "momentum" {initial = 5.000000e-01 : f64}
    // CHECK: halftone.map "update"(%{{.*}}, %{{.*}}, %[[BUFFER]], %{{.*}}, %[[MOMENTUM]])
    // CHECK: ^bb0(%[[P:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32, %[[OLD:[a-z0-9]+]]: f32, {{.*}}, %[[FACTOR:[a-z0-9]+]]: f32):
    // CHECK: %[[NO_DECAY:.*]] = arith.constant 0.000000e+00 : f32
    // CHECK: %[[G:.*]] = math.fma %[[NO_DECAY]], %[[P]],
    // CHECK: math.fma %[[FACTOR]], %[[OLD]], %[[G]] : f32
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// L2: with a fixed scale, gradients are multiplied by (1 / scale) / micro_batches; the scale stays what it is.
// CHECK-LABEL: module @fixed_loss_scale
module @fixed_loss_scale attributes {halftone.loss_scale = {kind = "fixed", initial = 8.0 : f64}, halftone.optimizer = {kind = "sgd",
    learning_rate = 0.1 : f64, momentum = 0.0 : f64, weight_decay = 0.0 : f64, nesterov = false}} {
  halftone.graph "training" {
    // CHECK: %[[SCALE:.*]] = halftone.state "loss_scale"
    %scale = halftone.state "loss_scale" {initial = 8.0 : f64, optimizer} : !halftone.tensor<[], f32>
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK-NOT: halftone.state
    // CHECK: %[[MICRO:.*]] = halftone.hyperparameter "micro_batches"
    // CHECK: halftone.map "square"(%{{.*}}, %[[SCALE]], %[[MICRO]])
    // CHECK-NEXT: ^bb0(%[[G:[a-z0-9]+]]: f32, %[[S:[a-z0-9]+]]: f32, %[[N:[a-z0-9]+]]: f32):
    // CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
    // CHECK: %[[PER_SCALE:.*]] = arith.divf %[[ONE]], %[[S]] : f32
    // CHECK: %[[INVERSE:.*]] = arith.divf %[[PER_SCALE]], %[[N]] : f32
    // CHECK: arith.mulf %[[G]], %[[INVERSE]] : f32
    // CHECK: %[[ALL:.*]]:4 = halftone.reduce "total"(%{{.*}}, %[[SCALE]], %[[MICRO]])
    // CHECK-NOT: to %[[SCALE]]
    // CHECK: halftone.map "update"(%{{.*}}, %{{.*}}, %{{.*}}, %[[ALL]]#1, %[[ALL]]#2, %[[ALL]]#3, %{{.*}})
    // CHECK-NOT: to %[[SCALE]]
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// L3, L4: the scale's state advances behind the optimizer's, with the check: scale, clean, wait and floored.
// CHECK-LABEL: module @dynamic_loss_scale
module @dynamic_loss_scale attributes {halftone.loss_scale = {kind = "dynamic", initial = 8.0 : f64, growth = 3.0 : f64, backoff = 0.25 : f64,
    interval = 7.0 : f64, floor = 2.0 : f64, ceiling = 64.0 : f64, hysteresis = 5.0 : f64}, halftone.optimizer = {kind = "sgd",
    learning_rate = 0.1 : f64, momentum = 0.0 : f64, weight_decay = 0.0 : f64, nesterov = false}} {
  halftone.graph "training" {
    // CHECK: %[[SCALE:.*]] = halftone.state "loss_scale"
    %scale = halftone.state "loss_scale" {initial = 8.0 : f64, optimizer} : !halftone.tensor<[], f32>
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK: %[[CLEAN:.*]] = halftone.state "loss_scale.clean" {initial = 0.000000e+00 : f64, optimizer}
    // CHECK: %[[WAIT:.*]] = halftone.state "loss_scale.wait" {initial = 5.000000e+00 : f64, optimizer}
    // CHECK: %[[FLOORED:.*]] = halftone.state "loss_scale.floored" {initial = 0.000000e+00 : f64, optimizer}
    // CHECK: %[[ALL:.*]]:8 = halftone.reduce "total"(%{{.*}}, %[[SCALE]], %[[CLEAN]], %[[WAIT]], %[[FLOORED]], %{{.*}})
    // CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: f32, %[[S:[a-z0-9]+]]: f32, %[[C:[a-z0-9]+]]: f32, %[[W:[a-z0-9]+]]: f32, %[[F:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32):
    // CHECK: %[[FINITE:.*]] = arith.cmpf olt,
    // Not finite: wait is one less; at 0 the scale is lowered, not below the floor. Only steps at the floor count as floored.
    // CHECK-DAG: %[[FLOOR:.*]] = arith.constant 2.000000e+00 : f32
    // CHECK-DAG: %[[CEILING:.*]] = arith.constant 6.400000e+01 : f32
    // CHECK: %[[WAITED:.*]] = arith.subf %[[W]], %{{.*}} : f32
    // CHECK: %[[BACKOFF:.*]] = arith.constant 2.500000e-01 : f32
    // CHECK: %[[SMALLER:.*]] = arith.mulf %[[S]], %[[BACKOFF]] : f32
    // CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[SMALLER]], %[[FLOOR]] : f32
    // CHECK: %[[LOWERED:.*]] = arith.select %[[ABOVE]], %[[SMALLER]], %[[FLOOR]] : f32
    // CHECK: %[[WAITS:.*]] = arith.cmpf ogt, %[[WAITED]], %{{.*}} : f32
    // CHECK: %[[SKIPPED:.*]] = arith.select %[[WAITS]], %[[S]], %[[LOWERED]] : f32
    // CHECK: %[[ONCE:.*]] = arith.addf %[[F]], %{{.*}} : f32
    // CHECK: %[[OVER:.*]] = arith.cmpf ogt, %[[S]], %[[FLOOR]] : f32
    // CHECK: %[[COUNT:.*]] = arith.select %[[OVER]], %[[ZERO:.*]], %[[ONCE]] : f32
    // Finite: after `interval` clean steps the scale grows, not above the ceiling.
    // CHECK: %[[COUNTED:.*]] = arith.addf %[[C]], %{{.*}} : f32
    // CHECK: %[[INTERVAL:.*]] = arith.constant 7.000000e+00 : f32
    // CHECK: %[[GROWS:.*]] = arith.cmpf oge, %[[COUNTED]], %[[INTERVAL]] : f32
    // CHECK: %[[GROWTH:.*]] = arith.constant 3.000000e+00 : f32
    // CHECK: %[[LARGER:.*]] = arith.mulf %[[S]], %[[GROWTH]] : f32
    // CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[LARGER]], %[[CEILING]] : f32
    // CHECK: %[[RAISED:.*]] = arith.select %[[BELOW]], %[[LARGER]], %[[CEILING]] : f32
    // CHECK-DAG: %[[NEXT:.*]] = arith.select %[[GROWS]], %[[RAISED]], %[[S]] : f32
    // CHECK-DAG: %[[NEW_SCALE:.*]] = arith.select %[[FINITE]], %[[NEXT]], %[[SKIPPED]] : f32
    // CHECK-DAG: %[[CLEANED:.*]] = arith.select %[[GROWS]], %[[ZERO]], %[[COUNTED]] : f32
    // CHECK-DAG: %[[NEW_CLEAN:.*]] = arith.select %[[FINITE]], %[[CLEANED]], %[[ZERO]] : f32
    // CHECK-DAG: %[[HYSTERESIS:.*]] = arith.constant 5.000000e+00 : f32
    // CHECK-DAG: %[[NEW_WAIT:.*]] = arith.select %[[FINITE]], %[[HYSTERESIS]], %[[WAITED]] : f32
    // CHECK-DAG: %[[NEW_FLOORED:.*]] = arith.select %[[FINITE]], %[[ZERO]], %[[COUNT]] : f32
    // CHECK: halftone.yield %{{.*}}, %[[NEW_SCALE]], %[[NEW_CLEAN]], %[[NEW_WAIT]], %[[NEW_FLOORED]] :
    // CHECK: halftone.assign %[[ALL]]#4 to %[[SCALE]] {halftone.phase = #halftone.phase<check>}
    // CHECK: halftone.assign %[[ALL]]#5 to %[[CLEAN]]
    // CHECK: halftone.assign %[[ALL]]#6 to %[[WAIT]]
    // CHECK: halftone.assign %[[ALL]]#7 to %[[FLOORED]]
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// S1, S2, S4: in accumulation a state takes its new value, and what it was before the first micro-batch is kept; the update
// gives it the new value, or back what that was. What forward reads of another state or a parameter is copied there.
// CHECK-LABEL: module @states
module @states attributes {halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64, momentum = 0.0 : f64,
    weight_decay = 0.0 : f64, nesterov = false}} {
  halftone.graph "training" {
    // CHECK: %[[S:.*]] = halftone.state "s"
    // CHECK: %[[T:.*]] = halftone.state "t"
    %s = halftone.state "s" {initial = 0.5 : f64} : !halftone.tensor<[32], f32>
    %t = halftone.state "t" {initial = 0.0 : f64} : !halftone.tensor<[32], f32>
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    // CHECK: %[[G:.*]] = halftone.input "g"
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    halftone.assign %g to %s {halftone.phase = #halftone.phase<update>} : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    halftone.assign %s to %t {halftone.phase = #halftone.phase<update>} : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK-NOT: halftone.assign %[[G]]
    // CHECK: %[[FIRST:.*]] = halftone.hyperparameter "first_micro_batch"
    // CHECK: %[[MICRO:.*]] = halftone.hyperparameter "micro_batches"
    // CHECK: %[[ALL:.*]]:4 = halftone.reduce "total"
    // CHECK: halftone.map "update"
    // CHECK: %[[GIVEN:.*]] = halftone.map "copy"(%[[G]]) :
    // CHECK: %[[BEFORE:.*]] = halftone.state "before=s" {initial = 5.000000e-01 : f64, optimizer} : <[32], f32>
    // CHECK: %[[ON:.*]]:2 = halftone.map "advance_state"(%[[GIVEN]], %[[S]], %[[BEFORE]], %[[FIRST]]) {halftone.phase = #halftone.phase<accumulate>}
    // CHECK-NEXT: ^bb0(%[[N:[a-z0-9]+]]: f32, %[[C:[a-z0-9]+]]: f32, %[[B:[a-z0-9]+]]: f32, %[[F:[a-z0-9]+]]: f32):
    // CHECK: %[[IS:.*]] = arith.cmpf ogt, %[[F]], %{{.*}} : f32
    // CHECK: %[[KEPT:.*]] = arith.select %[[IS]], %[[C]], %[[B]] : f32
    // CHECK: halftone.yield %[[N]], %[[KEPT]] : f32, f32
    // CHECK: halftone.assign %[[ON]]#0 to %[[S]] {halftone.phase = #halftone.phase<accumulate>}
    // CHECK: halftone.assign %[[ON]]#1 to %[[BEFORE]] {halftone.phase = #halftone.phase<accumulate>}
    // CHECK: %[[END:.*]] = halftone.map "assign_state"(%[[GIVEN]], %[[S]], %[[BEFORE]], %[[ALL]]#1, %[[MICRO]]) {halftone.phase = #halftone.phase<update>}
    // CHECK-NEXT: ^bb0(%[[N:[a-z0-9]+]]: f32, %[[C:[a-z0-9]+]]: f32, %[[B:[a-z0-9]+]]: f32, %[[OK:[a-z0-9]+]]: f32, %[[M:[a-z0-9]+]]: f32):
    // CHECK: %[[FINITE:.*]] = arith.cmpf ogt, %[[OK]], %{{.*}} : f32
    // CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
    // CHECK: %[[SEVERAL:.*]] = arith.cmpf ogt, %[[M]], %[[ONE]] : f32
    // CHECK: %[[BACK:.*]] = arith.select %[[SEVERAL]], %[[B]], %[[C]] : f32
    // CHECK: arith.select %[[FINITE]], %[[N]], %[[BACK]] : f32
    // CHECK: halftone.assign %[[END]] to %[[S]] {halftone.phase = #halftone.phase<update>}
    // CHECK: %[[OLD:.*]] = halftone.map "copy"(%[[S]]) :
    // CHECK: halftone.map "advance_state"(%[[OLD]], %[[T]],
    // CHECK: halftone.map "assign_state"(%[[OLD]], %[[T]],
    // CHECK-NOT: halftone.assign %[[S]]
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

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// P68: a state is held as the last rule says that fits, is read as f32 and rounded behind the update; averages are f32.
// CHECK-LABEL: module @states_of_16_bits
module @states_of_16_bits attributes {halftone.optimizer = {kind = "adagrad", learning_rate = 0.1 : f64, epsilon = 0.0 : f64,
    initial_accumulator_value = 0.1 : f64, weight_decay = 0.0 : f64}, halftone.average = 0.5 : f64,
    halftone.rules = #halftone.rules<["where role optimizer_state : store f16", "everywhere : store f16",
      "where role optimizer_state : store bf16 saturate rounding toward_zero"]>} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK: %[[SUM:.*]] = halftone.state "adagrad.sum" {halftone.held_by = {beaten = array<i64: 0>, rule = 2 : i64}, initial = 0.10009765625 : f64, optimizer} : <[32], bf16>
    // CHECK: %[[MEAN:.*]] = halftone.state "averaged.parameters" {initial = 0.000000e+00 : f64, optimizer} : <[32], f32>
    // CHECK: %[[WIDE:.*]] = halftone.cast %[[SUM]] {halftone.inline, halftone.phase = #halftone.phase<update>}
    // CHECK: %[[NEXT:.*]]:3 = halftone.map "update"(%{{.*}}, %{{.*}}, %[[WIDE]], %[[MEAN]],
    // CHECK: %[[HELD:.*]] = halftone.cast %[[NEXT]]#1 {halftone.phase = #halftone.phase<update>, saturate, toward_zero}
    // CHECK: halftone.assign %[[HELD]] to %[[SUM]]
    // CHECK: halftone.assign %[[NEXT]]#2 to %[[MEAN]]
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// M5: behind the average the master leaves the middle between two numbers of bf16.
// CHECK-LABEL: module @settles_masters
module @settles_masters attributes {halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64, momentum = 0.0 : f64,
    weight_decay = 0.0 : f64, nesterov = false}, halftone.rules = #halftone.rules<["everywhere : master bf16 remainder"]>} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[32], f32>
    %g = halftone.input "g" : !halftone.tensor<[32], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[32], f32>, !halftone.tensor<[32], f32>) -> ()
    // CHECK: halftone.map "update"
    // CHECK: %[[CODE:.*]] = arith.bitcast %[[NEXT:.*]] : f32 to i32
    // CHECK: %[[MASK:.*]] = arith.constant 131071 : i32
    // CHECK: %[[LOW:.*]] = arith.andi %[[CODE]], %[[MASK]] : i32
    // CHECK: %[[MIDDLE:.*]] = arith.constant 32768 : i32
    // CHECK: arith.cmpi eq, %[[LOW]], %[[MIDDLE]] : i32
    // CHECK: arith.subi %[[CODE]], %{{.*}} : i32
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// P86: the update is over rows of what shares a scale; every parameter begins at one. Codes are read and left, each row's scale beside them; a step
// that is not finite leaves both. A product by the scale of the step before makes the state of codes.
// CHECK-LABEL: module @states_in_blocks
// CHECK-SAME: halftone.parameter_alignment = 64 : i64
module @states_in_blocks attributes {halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64, momentum = 0.5 : f64,
    weight_decay = 0.0 : f64, nesterov = false}, halftone.average = 0.5 : f64,
    halftone.rules = #halftone.rules<["where role optimizer_state : store f8e4m3 scaled block 64 f32 saturate rounding stochastic"]>} {
  halftone.graph "training" {
    // CHECK: halftone.parameter "w" {{.*}}offset = 0 : i64
    // CHECK: halftone.parameter "v" {{.*}}offset = 128 : i64
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[65], f32>
    %v = halftone.parameter "v" {initializer = #zeros, no_decay} : !halftone.tensor<[3], f32>
    %g = halftone.input "g" : !halftone.tensor<[65], f32>
    %h = halftone.input "h" : !halftone.tensor<[3], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[65], f32>, !halftone.tensor<[65], f32>) -> ()
    halftone.gradient %h of %v : (!halftone.tensor<[3], f32>, !halftone.tensor<[3], f32>) -> ()
    // CHECK: %[[CODES:.*]] = halftone.state "sgd.momentum" {{.*}} : <[192], f8E4M3FN>
    // CHECK: %[[SCALES:.*]] = halftone.state "sgd.momentum.scale" {initial = 0.000000e+00 : f64, optimizer} : <[3], f32>
    // CHECK: %[[SEEN:.*]] = halftone.view %[[CODES]] : (!halftone.tensor<[192], f8E4M3FN>) -> !halftone.tensor<[3, 64], f8E4M3FN>
    // CHECK: %[[WIDE:.*]] = halftone.cast %[[SEEN]] {halftone.inline, halftone.phase = #halftone.phase<update>}
    // CHECK: %[[NEXT:.*]]:4 = halftone.map "update"(%{{.*}}, %{{.*}}, %[[WIDE]], %{{.*}}, %[[SCALES]],
    // CHECK-SAME: over [3, 64] reads [#halftone.access<full>, #halftone.access<full>, #halftone.access<full>, #halftone.access<full>, #halftone.access<row>, {{.*}}] writes [#halftone.access<full>, #halftone.access<full>, #halftone.access<full>, #halftone.access<row>]
    // CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
    // CHECK: %[[SIZE:.*]] = math.absf %[[BUFFER:.*]] : f32
    // CHECK: %[[MOST:.*]] = halftone.row_max %[[SIZE]]
    // CHECK: %[[LEAST:.*]] = arith.constant 9.99999996E-13 : f32
    // CHECK: %[[KEPT:.*]] = arith.maximumf %[[MOST]], %[[LEAST]] : f32
    // CHECK: %[[LARGEST:.*]] = arith.constant 4.480000e+02 : f32
    // CHECK: %[[SCALE:.*]] = arith.divf %[[KEPT]], %[[LARGEST]] : f32
    // CHECK: arith.divf %[[BUFFER]], %[[SCALE]] : f32
    // CHECK: halftone.cast %[[NEXT]]#1 {halftone.phase = #halftone.phase<update>, saturate, stochastic = "sgd.momentum"} : (!halftone.tensor<[3, 64], f32>) -> !halftone.tensor<[3, 64], f8E4M3FN>
    // CHECK: %[[MOVED:.*]] = halftone.map "scales"(%[[NEXT]]#3) {halftone.phase = #halftone.phase<update>}
    // CHECK: halftone.assign %[[MOVED]] to %[[SCALES]]
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U18: a matrix has a row and a column of means, and the update writes its part of the flat buffer; of a vector one map does all.
// CHECK-LABEL: module @updates_parameters_one_by_one
module @updates_parameters_one_by_one attributes {halftone.optimizer = {kind = "adafactor", learning_rate = 0.1 : f64, decay_rate = 0.8 : f64,
    epsilon1 = 1.0e-7 : f64, epsilon2 = 1.0e-3 : f64, clip_threshold = 1.0 : f64, weight_decay = 0.0 : f64}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[5, 8], f32>
    %v = halftone.parameter "v" {initializer = #zeros} : !halftone.tensor<[7], f32>
    %g = halftone.input "g" : !halftone.tensor<[5, 8], f32>
    %h = halftone.input "h" : !halftone.tensor<[7], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[5, 8], f32>, !halftone.tensor<[5, 8], f32>) -> ()
    halftone.gradient %h of %v : (!halftone.tensor<[7], f32>, !halftone.tensor<[7], f32>) -> ()
    // CHECK: %[[ALL:.*]] = halftone.flat_parameters
    // CHECK: %[[P:.*]] = halftone.view %[[ALL]] {at = 0 : i64} : (!halftone.tensor<[96], f32>) -> !halftone.tensor<[5, 8], f32>
    // CHECK: %[[ROWS:.*]] = halftone.state "adafactor.row_means/w" {initial = 0.000000e+00 : f64, optimizer} : <[5], f32>
    // CHECK: %[[COLUMNS:.*]] = halftone.state "adafactor.column_means/w" {{.*}} : <[8], f32>
    // CHECK: %[[R:.*]]:2 = halftone.map "row_means w"(%[[G:[^,]*]], {{.*}}, %[[P]], %[[ROWS]],
    // CHECK: %[[SUMS:.*]] = halftone.reduce "column_squares"(%[[G]],
    // CHECK: %[[C:.*]] = halftone.map "column_means w"(%[[SUMS]], %[[COLUMNS]],
    // CHECK: %[[D:.*]]:2 = halftone.map "mean w"(%[[R]]#0)
    // CHECK: %[[SIZES:.*]] = halftone.map "steps w"(%[[G]], {{.*}}, %[[R]]#0, %[[C]], %[[D]]#0)
    // CHECK: %[[FACTOR:.*]] = halftone.map "factor w"(%[[R]]#1, %[[SIZES]],
    // CHECK: %[[NEXT:.*]] = halftone.map "update w"(%[[G]], {{.*}}, %[[R]]#0, %[[C]], %[[D]]#0, %[[FACTOR]])
    // CHECK: halftone.assign %[[NEXT]] to %[[P]]
    // CHECK: halftone.assign %[[D]]#1 to %[[ROWS]]
    // CHECK: halftone.assign %[[C]] to %[[COLUMNS]]
    // CHECK: %[[Q:.*]] = halftone.view %[[ALL]] {at = 64 : i64} : (!halftone.tensor<[96], f32>) -> !halftone.tensor<[7], f32>
    // CHECK: %[[SQUARES:.*]] = halftone.state "adafactor.squares/v" {{.*}} : <[7], f32>
    // CHECK: %[[BOTH:.*]]:2 = halftone.map "update v"({{.*}}, %[[SQUARES]],
    // CHECK: halftone.assign %[[BOTH]]#0 to %[[Q]]
    // CHECK: halftone.assign %[[BOTH]]#1 to %[[SQUARES]]
  }
}
