// SPDX-License-Identifier: Apache-2.0
// P39: what layers round inside is decided before their gradients are built, which round alike.
// RUN: halftone-opt --halftone-round-internals --halftone-build-backward --halftone-resolve-precision -split-input-file %s | FileCheck %s

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!vector = !halftone.tensor<[8], f32>
!rows = !halftone.tensor<[batch], f32>

// Who won stands on the module, for people; the last rule wins, and the rounding is a field of its own.
// CHECK-LABEL: module @by_name_layer_and_class
// CHECK-SAME: halftone.decisions = [
// CHECK-SAME: {beaten = array<i64: 1>, field = "store", layer = "a.product", pass = "", role = "internal", rule = 2 : i64, setting = "f16"}
// CHECK-SAME: {beaten = array<i64: 1>, field = "store", layer = "h/b.product", pass = "", role = "internal", rule = 3 : i64, setting = "bf16"}
// CHECK-SAME: {beaten = array<i64>, field = "rounding", layer = "h/b.product", pass = "", role = "internal", rule = 3 : i64, setting = "toward_zero"}
module @by_name_layer_and_class attributes {halftone.rules = #halftone.rules<[
    "everywhere : store bf16 compute bf16", "where class contraction role internal : store bf16",
    "where layer \"a\" role internal : store f16", "where layer \"**/b.product\" role internal : store bf16 rounding toward_zero",
    "where layer \"h/b.*\" role internal target sm_80 : store f16"]>} {
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    %w = halftone.parameter "w" {initializer = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>} : !weight
    // CHECK: halftone.linear
    // CHECK-SAME: halftone.rounded_inside = {product = #halftone.encoding<f16>}
    %a = halftone.linear %x, %w {halftone.layer = "a", halftone.kind = "linear"} : (!matrix, !weight) -> !matrix
    // CHECK: halftone.linear
    // CHECK-SAME: halftone.rounded_inside = {product = #halftone.encoding<bf16 toward_zero>}
    %b = halftone.linear %a, %w {halftone.layer = "h/b", halftone.kind = "linear"} : (!matrix, !weight) -> !matrix
    halftone.output "b", %b : !matrix
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>

// CHECK-LABEL: module @does_not_round_where_no_rule_names_the_role
// CHECK-NOT: rounded_inside
module @does_not_round_where_no_rule_names_the_role attributes {halftone.rules = #halftone.rules<[
    "everywhere : store bf16 compute bf16 rounding toward_zero", "where layer \"a\" : store f16",
    "where op layer_norm role internal : store bf16"]>} {
  halftone.graph "inference" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    %w = halftone.parameter "w" {initializer = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>} : !weight
    %a = halftone.linear %x, %w {halftone.layer = "a", halftone.kind = "linear"} : (!matrix, !weight) -> !matrix
    halftone.output "a", %a : !matrix
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!vector = !halftone.tensor<[8], f32>
!rows = !halftone.tensor<[batch], f32>
!scalar = !halftone.tensor<[], f32>

// A store of f32 is a decision, and rounds nothing.
// CHECK-LABEL: module @gradients_round_what_they_compute_again
// CHECK-SAME: field = "store", layer = "error.probabilities", pass = "", role = "internal", rule = 1 : i64, setting = "f32"
module @gradients_round_what_they_compute_again attributes {halftone.rules = #halftone.rules<[
    "where role internal : store tf32", "where op cross_entropy role internal : store f32"]>} {
  halftone.graph "training" {
    %x = halftone.input "x" {halftone.layer = "x", halftone.kind = "input"} : !matrix
    %c = halftone.input "c" {halftone.layer = "c", halftone.kind = "input"} : !halftone.tensor<[batch], i32>
    %w = halftone.parameter "w" {initializer = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>} : !vector
    // CHECK: halftone.rms_norm
    // CHECK-SAME: halftone.rounded_inside = {normalized = #halftone.encoding<tf32>}
    %y, %rstd = halftone.rms_norm %x, %w {epsilon = 1.0e-5 : f64, halftone.layer = "y", halftone.kind = "rms_norm"} : (!matrix, !vector) -> (!matrix, !rows)
    // CHECK: halftone.cross_entropy
    // CHECK-NOT: rounded_inside
    %l = halftone.cross_entropy %y, %c {halftone.layer = "error", halftone.kind = "cross_entropy", halftone.phase = #halftone.phase<loss>} : (!matrix, !halftone.tensor<[batch], i32>) -> !rows
    %m = halftone.mean %l {halftone.layer = "error", halftone.kind = "cross_entropy", halftone.phase = #halftone.phase<loss>} : (!rows) -> !scalar
    halftone.loss "error", %m weight 1.0 : !scalar
    // CHECK: halftone.map "cross_entropy_grad"
    // CHECK-NOT: arith.truncf
    // CHECK: halftone.yield
    // CHECK: halftone.map "rms_norm_grad"
    // CHECK: %[[H:.*]] = arith.mulf
    // CHECK-NEXT: %[[NARROW:.*]] = arith.truncf %[[H]] : f32 to tf32
    // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[NARROW]] : tf32 to f32
    // CHECK: halftone.reduce "rms_norm_weight_grad"
    // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[RSTD:.*]]: f32, %[[G:.*]]: f32):
    // CHECK-NEXT: %[[H:.*]] = arith.mulf %[[X]], %[[RSTD]] : f32
    // CHECK-NEXT: %[[NARROW:.*]] = arith.truncf %[[H]] : f32 to tf32
    // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[NARROW]] : tf32 to f32
    // CHECK-NEXT: arith.mulf %[[G]], %[[WIDE]] : f32
  }
}
