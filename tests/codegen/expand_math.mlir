// SPDX-License-Identifier: Apache-2.0
// Every function becomes its recipe of docs/spec/math.md: what is left of math is what IEEE rounds.
// RUN: halftone-opt --halftone-expand-math -split-input-file -verify-diagnostics %s > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck --check-prefix=LEFT %s < %t

// LEFT-NOT: math.{{exp|log|tanh|erf|rsqrt|sin|cos|pow}}
// LEFT-NOT: halftone.sigmoid
// LEFT-NOT: halftone.recipe
// LEFT-NOT: arith.{{minimumf|maximumf}}

!vector = !halftone.tensor<[8], f32>

// CHECK-LABEL: halftone.graph "functions"
halftone.graph "functions" {
  %x = halftone.input "x" : !vector
  %y:8 = halftone.kernel "k" pointwise over [8] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>, #halftone.access<full>, #halftone.access<full>, #halftone.access<full>,
          #halftone.access<full>, #halftone.access<full>, #halftone.access<full>, #halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 8, 0>}
      : (!vector) -> (!vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector) {
  // CHECK: ^bb0(%[[A:[a-z0-9]+]]: f32):
  ^bb0(%a: f32):
    // R1: its first constant is the clamp 0x1.64p+6.
    // CHECK: arith.constant 8.900000e+01 : f32
    // CHECK: %[[SCALED:.*]] = arith.mulf
    // CHECK: %[[EXP:.*]] = arith.mulf %[[SCALED]]
    %exp = math.exp %a : f32
    // R2 scales subnormals by 2^23 first.
    // CHECK: arith.constant 0x4B000000 : f32
    // CHECK: arith.mulf %[[A]], %{{.*}} : f32
    %log = math.log %a : f32
    // R3 takes the sign off.
    // CHECK: arith.bitcast %[[A]] : f32 to i32
    // CHECK: arith.constant 2147483647 : i32
    // CHECK: arith.andi
    %tanh = math.tanh %a : f32
    // R4 chooses between its two ranges.
    // CHECK: arith.bitcast %[[A]] : f32 to i32
    // CHECK: arith.constant 1.125000e+00 : f32
    %erf = math.erf %a : f32
    // R5 clamps at 32.
    // CHECK: arith.constant 3.200000e+01 : f32
    // CHECK: arith.divf
    %sigmoid = halftone.sigmoid %a : f32
    // R6
    // CHECK: %[[ROOT:.*]] = math.sqrt %[[A]] : f32
    // CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
    // CHECK: arith.divf %[[ONE]], %[[ROOT]] : f32
    %rsqrt = math.rsqrt %a : f32
    // N5: NaN wins when it is the first operand.
    // CHECK: %[[LESS:.*]] = arith.cmpf olt, %[[A]], %[[EXP]] : f32
    // CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[A]], %[[A]] : f32
    // CHECK: %[[TAKE:.*]] = arith.ori %[[LESS]], %[[NAN]] : i1
    // CHECK: arith.select %[[TAKE]], %[[A]], %[[EXP]] : f32
    %min = arith.minimumf %a, %exp : f32
    // CHECK: %[[MORE:.*]] = arith.cmpf ogt, %[[A]], %[[EXP]] : f32
    // CHECK: %[[NAN2:.*]] = arith.cmpf uno, %[[A]], %[[A]] : f32
    // CHECK: %[[TAKE2:.*]] = arith.ori %[[MORE]], %[[NAN2]] : i1
    // CHECK: arith.select %[[TAKE2]], %[[A]], %[[EXP]] : f32
    %max = arith.maximumf %a, %exp : f32
    halftone.kernel_yield stores %exp, %log, %tanh, %erf, %sigmoid, %rsqrt, %min, %max
        : f32, f32, f32, f32, f32, f32, f32, f32
  }
  // A finish is expanded like a body.
  // CHECK: halftone.kernel "sum"
  // CHECK: finish
  // CHECK: arith.constant 8.900000e+01 : f32
  %sum = halftone.kernel "sum" flat over [8] reduce [] (%x) accesses [#halftone.access<full>] -> [] fused []
      {resultSegmentSizes = array<i32: 0, 1>} : (!vector) -> !halftone.tensor<[], f32> {
  ^bb0(%a: f32):
    halftone.kernel_yield sums %a : f32
  } finish {
  ^bb0(%s: f32):
    %e = math.exp %s : f32
    halftone.yield %e : f32
  }
}

// CHECK-LABEL: halftone.graph "does_not_touch_what_ieee_rounds"
// CHECK: math.fma
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.absf
// CHECK-NEXT: arith.divf
// CHECK-NEXT: halftone.kernel_yield
halftone.graph "does_not_touch_what_ieee_rounds" {
  %x = halftone.input "x" : !vector
  %y = halftone.kernel "k" pointwise over [8] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>} : (!vector) -> !vector {
  ^bb0(%a: f32):
    %f = math.fma %a, %a, %a : f32
    %s = math.sqrt %f : f32
    %b = math.absf %s : f32
    %d = arith.divf %b, %a : f32
    halftone.kernel_yield stores %d : f32
  }
}

// CHECK-LABEL: halftone.graph "powers_and_waves"
halftone.graph "powers_and_waves" {
  %x = halftone.input "x" : !vector
  %y:5 = halftone.kernel "k" pointwise over [8] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>, #halftone.access<full>, #halftone.access<full>, #halftone.access<full>,
          #halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 5, 0>}
      : (!vector) -> (!vector, !vector, !vector, !vector, !vector) {
  // CHECK: ^bb0(%[[A:[a-z0-9]+]]: f32):
  ^bb0(%a: f32):
    // R22 takes the exponent of 1 + x and scales x by it.
    // CHECK: %[[ONE_MORE:.*]] = arith.addf %[[A]], %{{.*}} : f32
    // CHECK: arith.bitcast %[[ONE_MORE]] : f32 to i32
    // CHECK: arith.mulf %[[A]], %{{.*}} : f32
    %log1p = math.log1p %a : f32
    // R23 doubles last, and is x itself where that is subnormal.
    // CHECK: %[[DOUBLE:.*]] = arith.addf %[[HALF:.*]], %[[HALF]] : f32
    // CHECK: %[[SIZE:.*]] = math.absf %[[A]] : f32
    // CHECK: %[[TINY:.*]] = arith.cmpf olt, %[[SIZE]]
    // CHECK: %[[EXPM1:.*]] = arith.select %[[TINY]], %[[A]], %[[DOUBLE]] : f32
    %expm1 = math.expm1 %a : f32
    // R24 multiplies integers, without a branch.
    // CHECK: arith.constant -1861924225 : i32
    // CHECK-COUNT-3: arith.muli {{.*}} : i64
    // CHECK-COUNT-2: arith.sitofp
    // CHECK-NOT: arith.sitofp
    %sin = math.sin %a : f32
    // CHECK-COUNT-3: arith.muli {{.*}} : i64
    // CHECK-COUNT-2: arith.sitofp
    %cos = math.cos %a : f32
    // R26 divides once, and asks whether the exponent is whole.
    // CHECK: arith.divf
    // CHECK-NOT: arith.divf
    // CHECK: math.floor
    // CHECK: math.floor
    %pow = math.powf %a, %sin : f32
    halftone.kernel_yield stores %log1p, %expm1, %sin, %cos, %pow : f32, f32, f32, f32, f32
  }
}

// -----

halftone.graph "a_function_without_a_recipe" {
  %x = halftone.input "x" : !halftone.tensor<[8], f32>
  %y = halftone.kernel "k" pointwise over [8] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[8], f32>) -> !halftone.tensor<[8], f32> {
  ^bb0(%a: f32):
    // expected-error @+1 {{math.tan has no recipe in docs/spec/math.md}}
    %c = math.tan %a : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

halftone.graph "a_function_in_another_format" {
  %x = halftone.input "x" : !halftone.tensor<[8], bf16>
  %y = halftone.kernel "k" pointwise over [8] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[8], bf16>) -> !halftone.tensor<[8], bf16> {
  ^bb0(%a: bf16):
    // expected-error @+1 {{math.exp in 'bf16' has no recipe: compute it in f32}}
    %c = math.exp %a : bf16
    halftone.kernel_yield stores %c : bf16
  }
}

// -----

!vector = !halftone.tensor<[8], f32>

// No narrow recipe divides.
// CHECK-LABEL: halftone.graph "narrow"
halftone.graph "narrow" {
  %x = halftone.input "x" : !vector
  %y:9 = halftone.kernel "k" pointwise over [8] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>, #halftone.access<full>, #halftone.access<full>, #halftone.access<full>, #halftone.access<full>, #halftone.access<full>, #halftone.access<full>, #halftone.access<full>, #halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 9, 0>}
      : (!vector) -> (!vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector) {
  ^bb0(%a: f32):
    // CHECK-NOT: arith.divf
    // CHECK: halftone.kernel_yield
    %n0 = halftone.recipe exp %a {narrow} : f32
    %n1 = halftone.recipe tanh %a {narrow} : f32
    %n2 = halftone.recipe sigmoid %a {narrow} : f32
    %n3 = halftone.recipe gelu_erf %a {narrow} : f32
    %n4 = halftone.recipe gelu_erf_derivative %a {narrow} : f32
    %n5 = halftone.recipe gelu_tanh %a {narrow} : f32
    %n6 = halftone.recipe gelu_tanh_derivative %a {narrow} : f32
    %n7 = halftone.recipe silu %a {narrow} : f32
    %n8 = halftone.recipe silu_derivative %a {narrow} : f32
    halftone.kernel_yield stores %n0, %n1, %n2, %n3, %n4, %n5, %n6, %n7, %n8 : f32, f32, f32, f32, f32, f32, f32, f32, f32
  }
  halftone.output "y", %y#0 : !vector
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>

// Of a difference to its row's maximum the shorter exp: no second scale. Of another difference R1, unless it is marked: the maximum is that of
// another kernel.
// CHECK-LABEL: halftone.graph "below_the_maximum"
halftone.graph "below_the_maximum" {
  %x = halftone.input "x" : !matrix
  %y:3 = halftone.kernel "k" row over ["batch", 8] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>, #halftone.access<full>, #halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 3, 0>}
      : (!matrix) -> (!matrix, !matrix, !matrix) {
  ^bb0(%a: f32):
    // CHECK: %[[MAX:.*]] = halftone.row_max
    // CHECK: arith.subf %{{.*}}, %[[MAX]]
    // CHECK-NOT: arith.shrsi
    // CHECK: arith.constant 4.65661287E-10 : f32
    %m = halftone.row_max %a : f32
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    // CHECK: arith.subf %[[MAX]], %
    // CHECK: arith.shrsi
    %o = arith.subf %m, %a : f32
    %f = math.exp %o : f32
    // CHECK: arith.addf %[[MAX]], %
    // CHECK-NOT: arith.shrsi
    // CHECK: halftone.kernel_yield
    %p = arith.addf %m, %a : f32
    %g = math.exp %p {halftone.of_nonpositive} : f32
    halftone.kernel_yield stores %e, %f, %g : f32, f32, f32
  }
  halftone.output "y", %y#0 : !matrix
  halftone.output "z", %y#1 : !matrix
  halftone.output "w", %y#2 : !matrix
}

// -----

!counter = !halftone.tensor<[], i32>
#scalar = #halftone.access<scalar>

// N9 by the seed xor the XXH3-64 of the layer's name, 0x2490b07d75bf8f56 of "drop", and by the element's quarter.
// CHECK-LABEL: halftone.graph "draw"
halftone.graph "draw" {
  %c:4 = halftone.counters : !counter, !counter, !counter, !counter
  %y = halftone.kernel "k" pointwise over ["batch", 8] reduce [] (%c#0, %c#1, %c#2, %c#3)
      accesses [#scalar, #scalar, #scalar, #scalar] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!counter, !counter, !counter, !counter) -> !halftone.tensor<[batch, 8], f32> {
  // CHECK: ^bb0(%[[LOW:[a-z0-9]+]]: i32, %[[HIGH:[a-z0-9]+]]: i32, %[[STEP:[a-z0-9]+]]: i32, %[[MICRO:[a-z0-9]+]]: i32):
  ^bb0(%low: i32, %high: i32, %step: i32, %micro: i32):
    // CHECK: %[[HASH0:.*]] = arith.constant 1975488342 : i32
    // CHECK-NEXT: %[[K0:.*]] = arith.xori %[[LOW]], %[[HASH0]] : i32
    // CHECK-NEXT: %[[HASH1:.*]] = arith.constant 613462141 : i32
    // CHECK-NEXT: %[[K1:.*]] = arith.xori %[[HIGH]], %[[HASH1]] : i32
    // CHECK-NEXT: %[[PLACE:.*]] = halftone.quarter_place : i32
    // CHECK-NEXT: %[[Q:.*]] = halftone.quarter_index : i64
    // CHECK-NEXT: %[[Q0:.*]] = arith.trunci %[[Q]] : i64 to i32
    // CHECK: arith.extui %[[Q0]] : i32 to i64
    // CHECK: arith.constant 3528531795 : i64
    // CHECK: arith.extui %[[STEP]] : i32 to i64
    // CHECK: arith.constant 3449720151 : i64
    // CHECK-COUNT-19: arith.muli
    // CHECK-NOT: arith.muli
    // CHECK: arith.andi %[[PLACE]], %{{.*}} : i32
    // CHECK: %[[FIRST:.*]] = arith.select
    // CHECK: %[[SECOND:.*]] = arith.select
    // CHECK: %[[D:.*]] = arith.select %{{.*}}, %[[SECOND]], %[[FIRST]] : i32
    // CHECK-NEXT: arith.sitofp %[[D]] : i32 to f32
    %d = halftone.draw "drop" by %low, %high, %step, %micro : i32
    %f = arith.sitofp %d : i32 to f32
    halftone.kernel_yield stores %f : f32
  }
  halftone.output "y", %y : !halftone.tensor<[batch, 8], f32>
}
