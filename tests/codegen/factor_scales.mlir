// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-factor-scales -split-input-file -verify-diagnostics %s | FileCheck %s

!x = !halftone.tensor<[batch, 8], f32>
!y = !halftone.tensor<[batch, 4], f32>
!w = !halftone.tensor<[4, 8], f32>
!scale = !halftone.tensor<[], f32>

// P88: a product of codes times scales reads a copy of the codes, and a map behind it, which takes its place, multiplies its sums by the
// product of both factors. What was noted of the rounding is noted of the copy.
// CHECK-LABEL: halftone.graph "training"
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f8E4M3FN>
  %w = halftone.input "w" : !halftone.tensor<[4, 8], f8E5M2>
  %s = halftone.input "s" : !scale
  %t = halftone.input "t" : !scale
  %xf = halftone.cast %x {halftone.inline} : (!halftone.tensor<[batch, 8], f8E4M3FN>) -> !x
  // CHECK: %[[A:.*]] = halftone.cast %{{.*}} {halftone.cast = {value = 0 : i64}, halftone.layer = "x"
  // CHECK-SAME: -> !halftone.tensor<[batch, 8], bf16>
  %a = halftone.map "unscale" (%xf, %s) {halftone.scaled = "unscale", halftone.layer = "x", halftone.cast = {value = 0 : i64}} : (!x, !scale) -> !x {
  ^bb0(%c: f32, %f: f32):
    %m = arith.mulf %c, %f : f32
    halftone.yield %m : f32
  }
  %wf = halftone.cast %w {halftone.inline} : (!halftone.tensor<[4, 8], f8E5M2>) -> !w
  // CHECK: %[[B:.*]] = halftone.cast
  // CHECK-SAME: -> !halftone.tensor<[4, 8], bf16>
  // CHECK-NOT: halftone.map "unscale"
  %b = halftone.map "unscale" (%wf, %t) {halftone.scaled = "unscale"} : (!w, !scale) -> !w {
  ^bb0(%c: f32, %f: f32):
    %one = arith.constant 1.0 : f32
    %i = arith.divf %one, %f : f32
    %m = arith.mulf %c, %i : f32
    halftone.yield %m : f32
  }
  // CHECK: %[[SUM:.*]] = halftone.contract %[[A]], %[[B]] {halftone.internal, halftone.layer = "fc", pass = {{.*}}, transpose_rhs}
  // CHECK: %[[Y:.*]] = halftone.map "scale"(%[[SUM]], %{{.*}}, %{{.*}}) {{.*}}halftone.layer = "fc", halftone.values = array<i64: 0>
  // CHECK: ^bb0(%[[D:.*]]: f32, %[[F:.*]]: f32, %[[G:.*]]: f32):
  // CHECK: %[[FIRST:.*]] = arith.mulf %{{.*}}, %[[F]]
  // CHECK: %[[SECOND:.*]] = arith.divf %{{.*}}, %[[G]]
  // CHECK: %[[OF:.*]] = arith.mulf %{{.*}}, %[[SECOND]]
  // CHECK: %[[BOTH:.*]] = arith.mulf %[[FIRST]], %[[OF]]
  // CHECK: arith.mulf %[[D]], %[[BOTH]]
  %y = halftone.contract %a, %b {transpose_rhs, pass = #halftone.pass<forward>, halftone.layer = "fc", halftone.values = array<i64: 0>} : (!x, !w) -> !y
  // CHECK: halftone.output "y", %[[Y]]
  halftone.output "y", %y : !y
}

// -----

!g = !halftone.tensor<[batch, 4], f32>
!x = !halftone.tensor<[batch, 8], f32>
!w = !halftone.tensor<[4, 8], f32>

// Columns of what is summed over rows are rows of the result, and its columns; numbers that another reads stay.
// CHECK-LABEL: halftone.graph "training"
halftone.graph "training" {
  %g = halftone.input "g" : !halftone.tensor<[batch, 4], f8E4M3FN>
  %x = halftone.input "x" : !x
  %s = halftone.input "s" : !halftone.tensor<[4], f32>
  %gf = halftone.cast %g {halftone.inline} : (!halftone.tensor<[batch, 4], f8E4M3FN>) -> !g
  // CHECK: %[[NUMBERS:.*]] = halftone.map "unscale"
  %a = halftone.map "unscale" (%gf, %s) over ["batch", 4] reads [#halftone.access<full>, #halftone.access<column>] writes [#halftone.access<full>]
      {halftone.scaled = "unscale"} : (!g, !halftone.tensor<[4], f32>) -> !g {
  ^bb0(%c: f32, %f: f32):
    %m = arith.mulf %c, %f : f32
    halftone.yield %m : f32
  }
  // CHECK: halftone.map "scale"(%{{.*}}, %{{.*}}) over [4, 8] reads [#halftone.access<full>, #halftone.access<row>] writes [#halftone.access<full>]
  %y = halftone.contract %a, %x {transpose_lhs, pass = #halftone.pass<weight_gradient>} : (!g, !x) -> !w
  halftone.output "y", %y : !w
  // CHECK: halftone.output "numbers", %[[NUMBERS]]
  halftone.output "numbers", %a : !g
}

// -----

!x = !halftone.tensor<[batch, 8], f32>
!y = !halftone.tensor<[batch, 4], f32>
!w = !halftone.tensor<[4, 8], f32>

halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f8E4M3FN>
  %w = halftone.input "w" : !w
  %s = halftone.input "s" : !halftone.tensor<[8], f32>
  %xf = halftone.cast %x {halftone.inline} : (!halftone.tensor<[batch, 8], f8E4M3FN>) -> !x
  %a = halftone.map "unscale" (%xf, %s) over ["batch", 8] reads [#halftone.access<full>, #halftone.access<column>] writes [#halftone.access<full>]
      {halftone.scaled = "unscale"} : (!x, !halftone.tensor<[8], f32>) -> !x {
  ^bb0(%c: f32, %f: f32):
    %m = arith.mulf %c, %f : f32
    halftone.yield %m : f32
  }
  // expected-error @+1 {{'fc' sums over elements that share no scale of f32; scale per row what is summed along its last dimension, per column what is summed along others, or state f8e8m0 (P89)}}
  %y = halftone.contract %a, %w {transpose_rhs, pass = #halftone.pass<forward>, halftone.layer = "fc"} : (!x, !w) -> !y
  halftone.output "y", %y : !y
}

// -----

!x = !halftone.tensor<[batch, 8], f32>
!w = !halftone.tensor<[4, 8], f32>

// P97: under a scale of f32 over blocks codes are elements times their blocks' scales; what was noted is noted of the elements' rounding.
// CHECK-LABEL: halftone.graph "training"
halftone.graph "training" {
  %z = halftone.input "z" : !x
  %e = halftone.input "e" : !halftone.tensor<[batch, 8], f8E4M3FN>
  %s = halftone.input "s" : !halftone.tensor<[], f32>
  %w = halftone.input "w" : !w
  // CHECK: halftone.cast %{{.*}} {halftone.cast = {value = 0 : i64}, saturate} : {{.*}} -> !halftone.tensor<[batch, 8], f8E4M3FN>
  %q = halftone.cast %z {saturate} : (!x) -> !halftone.tensor<[batch, 8], f8E4M3FN>
  %qf = halftone.cast %q {halftone.inline} : (!halftone.tensor<[batch, 8], f8E4M3FN>) -> !x
  %ef = halftone.cast %e {halftone.inline} : (!halftone.tensor<[batch, 8], f8E4M3FN>) -> !x
  // CHECK: %[[CODES:.*]] = halftone.map "unscale"
  %codes = halftone.map "unscale" (%qf, %ef) {halftone.scaled = "unscale"} : (!x, !x) -> !x {
  ^bb0(%c: f32, %f: f32):
    %m = arith.mulf %c, %f : f32
    halftone.yield %m : f32
  }
  // CHECK: %[[COPY:.*]] = halftone.cast %[[CODES]] {{.*}} -> !halftone.tensor<[batch, 8], bf16>
  // CHECK-NOT: halftone.map "unscale"
  %a = halftone.map "unscale" (%codes, %s) {halftone.scaled = "unscale", halftone.cast = {value = 0 : i64}} : (!x, !halftone.tensor<[], f32>) -> !x {
  ^bb0(%c: f32, %f: f32):
    %m = arith.mulf %c, %f : f32
    halftone.yield %m : f32
  }
  // CHECK: %[[SUM:.*]] = halftone.contract %[[COPY]]
  // CHECK: halftone.map "scale"(%[[SUM]]
  %y = halftone.contract %a, %w {transpose_rhs, pass = #halftone.pass<forward>} : (!x, !w) -> !halftone.tensor<[batch, 4], f32>
  halftone.output "y", %y : !halftone.tensor<[batch, 4], f32>
}

// -----

!x = !halftone.tensor<[batch, 8], f32>
!w = !halftone.tensor<[4, 8], f32>
!scale = !halftone.tensor<[], f32>

// P100: codes of f16 are read as they lie, and those of 8 bits beside them as f16; what was noted of a rounding is noted of its cast.
// CHECK-LABEL: halftone.graph "training"
halftone.graph "training" {
  %z = halftone.input "z" : !x
  %w = halftone.input "w" : !halftone.tensor<[4, 8], f8E4M3FN>
  %s = halftone.input "s" : !scale
  %t = halftone.input "t" : !scale
  // CHECK: %[[CODES:.*]] = halftone.cast %{{.*}} {halftone.cast = {value = 0 : i64}, saturate} : {{.*}} -> !halftone.tensor<[batch, 8], f16>
  %q = halftone.cast %z {saturate} : (!x) -> !halftone.tensor<[batch, 8], f16>
  %qf = halftone.cast %q {halftone.inline} : (!halftone.tensor<[batch, 8], f16>) -> !x
  %wf = halftone.cast %w {halftone.inline} : (!halftone.tensor<[4, 8], f8E4M3FN>) -> !w
  // CHECK-NOT: halftone.map "unscale"
  %a = halftone.map "unscale" (%qf, %s) {halftone.scaled = "unscale", halftone.cast = {value = 0 : i64}} : (!x, !scale) -> !x {
  ^bb0(%c: f32, %f: f32):
    %m = arith.mulf %c, %f : f32
    halftone.yield %m : f32
  }
  // CHECK: %[[OTHERS:.*]] = halftone.cast {{.*}} -> !halftone.tensor<[4, 8], f16>
  %b = halftone.map "unscale" (%wf, %t) {halftone.scaled = "unscale"} : (!w, !scale) -> !w {
  ^bb0(%c: f32, %f: f32):
    %m = arith.mulf %c, %f : f32
    halftone.yield %m : f32
  }
  // CHECK: halftone.contract %[[CODES]], %[[OTHERS]]
  %y = halftone.contract %a, %b {transpose_rhs, pass = #halftone.pass<forward>} : (!x, !w) -> !halftone.tensor<[batch, 4], f32>
  halftone.output "y", %y : !halftone.tensor<[batch, 4], f32>
}
