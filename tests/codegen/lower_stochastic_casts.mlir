// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-lower-stochastic-casts %s | FileCheck %s

!matrix = !halftone.tensor<[batch, 8], f32>
!bf16 = !halftone.tensor<[batch, 8], bf16>
#backward = #halftone.phase<backward>

// F6: the complement of as many drawn bits as bf16 drops carries where the draw is below what is dropped; a NaN stays.
// CHECK-LABEL: halftone.graph "draws_what_bf16_drops"
// CHECK: %[[LOW:.*]], %[[HIGH:.*]], %[[STEP:.*]], %[[BATCH:.*]] = halftone.counters
// CHECK: %[[X:.*]] = halftone.input "x"
// CHECK: %[[MAP:.*]] = halftone.map "stochastic"(%[[X]], %[[LOW]], %[[HIGH]], %[[STEP]], %[[BATCH]]) {halftone.internal, halftone.layer = "x", halftone.phase = #halftone.phase<backward>, halftone.rounding}
// CHECK-NEXT: ^bb0(%[[A:[a-z0-9]+]]: f32,
// CHECK: %[[DRAW:.*]] = halftone.draw "x bf16 stochastic saturate" by
// CHECK: %[[BITS:.*]] = arith.bitcast %[[A]]
// CHECK: %[[COMPLEMENT:.*]] = arith.xori %[[DRAW]],
// CHECK: %[[SIXTEEN:.*]] = arith.constant 16 : i32
// CHECK: %[[UPPER:.*]] = arith.shrui %[[COMPLEMENT]], %[[SIXTEEN]]
// CHECK: arith.addi %{{.*}}, %[[UPPER]]
// CHECK: %[[NAN:.*]] = arith.cmpi ugt
// CHECK: arith.select %[[NAN]], %[[A]],
// CHECK: halftone.cast %[[MAP]] {halftone.layer = "x", halftone.phase = #halftone.phase<backward>, halftone.values = array<i64: 0>, saturate}
halftone.graph "draws_what_bf16_drops" {
  %x = halftone.input "x" : !matrix
  %h = halftone.cast %x {halftone.layer = "x", halftone.phase = #backward, halftone.values = array<i64: 0>, saturate, stochastic = "x"}
      : (!matrix) -> !bf16
  halftone.output "h", %h : !bf16
}

// What is narrow is widened inside of the map; integers are what they stand for (D16). One operation has the counters.
// CHECK-LABEL: halftone.graph "widens_first"
// CHECK-COUNT-1: halftone.counters
// CHECK-NOT: halftone.counters
// CHECK: %[[WIDE:.*]] = halftone.cast %{{.*}} {halftone.inline, {{.*}}offset = -1.000000e+00 : f32, scale = 5.000000e-01 : f32}
// CHECK: halftone.map "stochastic"(%[[WIDE]],
// CHECK: halftone.draw "levels f8e4m3 stochastic" by
// CHECK: math.floor
// CHECK: %[[WIDE2:.*]] = halftone.cast %{{.*}} {halftone.inline,
// CHECK: halftone.map "stochastic"(%[[WIDE2]],
// CHECK: halftone.draw "h f8e5m2 stochastic" by
halftone.graph "widens_first" {
  %levels = halftone.input "levels" {scale = 0.5 : f32, offset = -1.0 : f32} : !halftone.tensor<[batch, 8], ui8>
  %h = halftone.input "h" : !bf16
  %a = halftone.cast %levels {scale = 0.5 : f32, offset = -1.0 : f32, stochastic = "levels"}
      : (!halftone.tensor<[batch, 8], ui8>) -> !halftone.tensor<[batch, 8], f8E4M3FN>
  %b = halftone.cast %h {stochastic = "h"} : (!bf16) -> !halftone.tensor<[batch, 8], f8E5M2>
  halftone.output "a", %a : !halftone.tensor<[batch, 8], f8E4M3FN>
  halftone.output "b", %b : !halftone.tensor<[batch, 8], f8E5M2>
}

// P78: numbers of an element of fewer bits are held as f8e4m3: neighbours are multiples of a half, and the name is that element's.
// CHECK-LABEL: halftone.graph "draws_of_four_bits"
// CHECK: halftone.draw "x f4e2m1 stochastic saturate" by
// CHECK: arith.constant 10 : i32
// CHECK: arith.constant 2.000000e+00 : f32
// CHECK: arith.constant 5.000000e-01 : f32
// CHECK: halftone.cast %{{[0-9]+}} {saturate} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f8E4M3FN>
halftone.graph "draws_of_four_bits" {
  %x = halftone.input "x" : !matrix
  %h = halftone.cast %x {halftone.drawn_as = f4E2M1FN, saturate, stochastic = "x"} : (!matrix) -> !halftone.tensor<[batch, 8], f8E4M3FN>
  halftone.output "h", %h : !halftone.tensor<[batch, 8], f8E4M3FN>
}

// CHECK-LABEL: halftone.graph "does_not_draw_for_others"
// CHECK-NOT: halftone.counters
// CHECK-NOT: halftone.map
halftone.graph "does_not_draw_for_others" {
  %x = halftone.input "x" : !matrix
  %h = halftone.cast %x {toward_zero} : (!matrix) -> !bf16
  halftone.output "h", %h : !bf16
}
