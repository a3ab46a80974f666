// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-quantize-weights -split-input-file %s | FileCheck %s

!x = !halftone.tensor<[batch, 8], f32>
!y = !halftone.tensor<[batch, 4], f32>
!rows = !halftone.tensor<[4, 8], f32>
!columns = !halftone.tensor<[8, 4], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#held = {element = si8, least_error = false, rule = 2 : i64}
#sought = {element = f8E4M3FN, least_error = true, rule = 3 : i64}

// P82: a product reads codes, and a map behind it, which takes its place, multiplies by the scales. Values that rules speak
// of are those of the map, and the weight itself.
// CHECK-LABEL: halftone.graph "inference"
// CHECK-SAME: halftone.values = [{name = "y"}, {layer = "w", name = "w", op = "parameter", role = {{[0-9]+}} : i64, rule = 2 : i64, type = !halftone.tensor<[4, 8], si8>}]
halftone.graph "inference" attributes {halftone.values = [{name = "y"}]} {
  %x = halftone.input "x" : !x
  // CHECK: %[[Q:.*]], %[[S:.*]] = halftone.quantized_weight "w" at 0, 0 {dimension = 0 : i64, halftone.values = array<i64: 1, -1>} : <[4, 8], si8>, <[4], f32>
  %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64, halftone.quantized = #held} : !rows
  // CHECK: %[[SUM:.*]] = halftone.contract %{{.*}}, %[[Q]] {halftone.internal, halftone.layer = "fc", pass = {{.*}}, transpose_rhs}
  // CHECK: %[[Y:.*]] = halftone.map "scale"(%[[SUM]], %[[S]]) {halftone.layer = "fc", halftone.values = array<i64: 0>}
  // CHECK: %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
  %y = halftone.contract %x, %w {transpose_rhs, pass = #halftone.pass<forward>, halftone.layer = "fc", halftone.values = array<i64: 0>} : (!x, !rows) -> !y
  // CHECK: halftone.output "y", %[[Y]]
  halftone.output "y", %y : !y
}

// -----

!x = !halftone.tensor<[batch, 8], f32>
!y = !halftone.tensor<[batch, 4], f32>
!rows = !halftone.tensor<[4, 8], f32>
!columns = !halftone.tensor<[8, 4], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#held = {element = si8, least_error = false, rule = 2 : i64}
#sought = {element = f8E4M3FN, least_error = true, rule = 3 : i64}

// P81: what all read as it lies has channels along the second dimension; codes of each element lie apart, scales together.
// CHECK-LABEL: halftone.graph "decode"
halftone.graph "decode" {
  %x = halftone.input "x" : !x
  // CHECK: halftone.quantized_weight "w" at 0, 0 {dimension = 1 : i64, halftone.values = array<i64: 0, -1>, least_error} : <[8, 4], f8E4M3FN>, <[4], f32>
  %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64, halftone.quantized = #sought} : !columns
  // CHECK: halftone.quantized_weight "v" at 0, 32 {dimension = 0 : i64, halftone.values = array<i64: 1, -1>} : <[4, 8], si8>, <[4], f32>
  %v = halftone.parameter "v" {initializer = #zeros, offset = 32 : i64, halftone.quantized = #held} : !rows
  // CHECK: halftone.quantized_weight "u" at 64, 64
  %u = halftone.parameter "u" {initializer = #zeros, offset = 64 : i64, halftone.quantized = #sought} : !rows
  // CHECK: %[[A:.*]] = halftone.contract
  // CHECK: halftone.map "scale"(%[[A]],
  %a = halftone.contract %x, %w {pass = #halftone.pass<forward>} : (!x, !columns) -> !y
  %b = halftone.contract %x, %v {transpose_rhs, pass = #halftone.pass<forward>} : (!x, !rows) -> !y
  %c = halftone.contract %x, %u {transpose_rhs, pass = #halftone.pass<forward>} : (!x, !rows) -> !y
  halftone.output "a", %a : !y
  halftone.output "b", %b : !y
  halftone.output "c", %c : !y
}

// -----

!x = !halftone.tensor<[batch, 8], f32>
!y = !halftone.tensor<[batch, 4], f32>
!rows = !halftone.tensor<[4, 8], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#held = {element = si8, least_error = false, rule = 2 : i64}

// A gather reads codes of the row that it names and that row's scale. A product across the channels reads f32 that a map
// makes of both.
// CHECK: #[[ROW:.*]] = affine_map<(d0, d1)[s0] -> (s0, d1)>
// CHECK: #[[SCALE:.*]] = affine_map<(d0, d1)[s0] -> (s0)>
// CHECK-LABEL: halftone.graph "inference"
halftone.graph "inference" {
  %token = halftone.input "token" : !halftone.tensor<[batch], i32>
  %y = halftone.input "y" : !y
  // CHECK: %[[Q:.*]], %[[S:.*]] = halftone.quantized_weight "w"
  %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64, halftone.quantized = #held} : !rows
  // CHECK: %[[WIDE:.*]] = halftone.map "dequantize"(%[[Q]], %[[S]]) over [4, 8]
  // CHECK: halftone.map "embed"(%{{.*}}, %[[Q]], %[[S]]) over ["batch", 8]
  // CHECK-SAME: reads [#halftone.access<row>, #halftone.access<general reads #[[ROW]] through[0]>, #halftone.access<general reads #[[SCALE]] through[0]>]
  // CHECK: ^bb0(%{{.*}}: i32, %[[CODE:.*]]: si8, %[[SCALE:.*]]: f32):
  // CHECK: %[[NUMBER:.*]] = halftone.integer %[[CODE]]
  // CHECK: arith.mulf %[[NUMBER]], %[[SCALE]]
  %e = halftone.map "embed" (%token, %w) over ["batch", 8] reads [#halftone.access<row>, #halftone.access<general reads affine_map<(d0, d1)[s0] -> (s0, d1)> through [0]>] writes [#halftone.access<full>]
      : (!halftone.tensor<[batch], i32>, !rows) -> !x {
  ^bb0(%t: i32, %c: f32):
    halftone.yield %c : f32
  }
  // CHECK: halftone.contract %{{.*}}, %[[WIDE]]
  // CHECK-NOT: halftone.map "scale"
  %back = halftone.contract %y, %w {pass = #halftone.pass<forward>} : (!y, !rows) -> !x
  halftone.output "e", %e : !x
  halftone.output "back", %back : !x
}

// -----

!x = !halftone.tensor<[batch, 8], f32>
!y = !halftone.tensor<[batch, 4], f32>
!rows = !halftone.tensor<[4, 8], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// CHECK-LABEL: halftone.graph "training"
// CHECK-NOT: quantized_weight
halftone.graph "training" {
  %x = halftone.input "x" : !x
  %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !rows
  %y = halftone.contract %x, %w {transpose_rhs, pass = #halftone.pass<forward>} : (!x, !rows) -> !y
  halftone.output "y", %y : !y
}
