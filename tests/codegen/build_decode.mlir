// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-build-decode -split-input-file -verify-diagnostics %s | FileCheck %s

!tokens = !halftone.tensor<[batch, time], i32>
!rows = !halftone.tensor<[batch, time, 8], f32>
!narrow = !halftone.tensor<[batch, time, 8], bf16>
!angles = !halftone.tensor<[time, 2], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// Where a token stands and which of them a cache's row is follow from two integers for every sequence (G8); what counts
// times takes the first, and attention reads the caches behind the writing in the place of key and value (G9, G10). A
// cache has the format that the product reads, and its rows keep what they are where no token comes.
// CHECK: #[[ROW:.*]] = affine_map<(d0, d1, d2)[s0] -> (d0, s0, d2)>
// CHECK-LABEL: module @goes_on_from_earlier_tokens
// CHECK-NEXT: halftone.graph "decode"
// CHECK: %[[START:.*]] = halftone.input "%start" {halftone.layer = "%start"} : <[batch], i32>
// CHECK: %[[COUNT:.*]] = halftone.input "%count" {halftone.layer = "%count"} : <[batch], i32>
// CHECK: %[[AT:.*]] = halftone.map "positions"(%[[START]], %[[COUNT]]) over ["batch", "time"]
// CHECK: ^bb0(%[[S:.*]]: i32, %[[C:.*]]: i32):
// CHECK: %[[I:.*]] = halftone.column_index
// CHECK: %[[IS:.*]] = arith.cmpi slt, %[[I]], %[[C]]
// CHECK: %[[SUM:.*]] = arith.addi %[[S]], %[[I]]
// CHECK: %[[NONE:.*]] = arith.constant -1
// CHECK: arith.select %[[IS]], %[[SUM]], %[[NONE]]
// CHECK: %[[SOURCES:.*]] = halftone.map "sources"(%[[START]], %[[COUNT]]) over ["batch", "capacity"]
// CHECK: ^bb0(%[[S:.*]]: i32, %[[C:.*]]: i32):
// CHECK: %[[ROW_INDEX:.*]] = halftone.column_index
// CHECK: %[[I:.*]] = arith.subi %[[ROW_INDEX]], %[[S]]
// CHECK: %[[FROM:.*]] = arith.cmpi sge, %[[I]], %{{.*}}
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[I]], %[[C]]
// CHECK: %[[IS:.*]] = arith.andi %[[FROM]], %[[BELOW]]
// CHECK: arith.select %[[IS]], %[[I]], %{{.*}}
// CHECK: %[[X:.*]] = halftone.position_embedding %{{.*}}, %{{.*}} at %[[AT]]
// CHECK: %[[TURNED:.*]], %{{.*}}, %{{.*}} = halftone.rotary %[[X]] at %[[AT]] {{.*}} -> (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[batch, time, 2], f32>, !halftone.tensor<[batch, time, 2], f32>)
// CHECK: %[[NARROW:.*]] = halftone.cast %[[X]]
// CHECK: %[[KEYS:.*]] = halftone.state "%mix.key" {cache, initial = 0.000000e+00 : f64} : <[batch, capacity, 8], f32>
// CHECK: %[[KEY:.*]] = halftone.map "remember"(%[[KEYS]], %[[TURNED]], %[[SOURCES]]) over ["batch", "capacity", 8] reads [#halftone.access<full>, #halftone.access<general reads #[[ROW]] through[2]>, #halftone.access<row>]
// CHECK: ^bb0(%[[OLD:.*]]: f32, %[[NEW:.*]]: f32, %[[SOURCE:.*]]: i32):
// CHECK: %[[IS:.*]] = arith.cmpi sge, %[[SOURCE]], %{{.*}}
// CHECK: %[[R:.*]] = arith.select %[[IS]], %[[NEW]], %[[OLD]]
// CHECK: halftone.yield %[[R]]
// CHECK: halftone.assign %[[KEY]] to %[[KEYS]]
// CHECK: %[[VALUES:.*]] = halftone.state "%mix.value" {cache, initial = 0.000000e+00 : f64} : <[batch, capacity, 8], bf16>
// CHECK: %[[VALUE:.*]] = halftone.map "remember"(%[[VALUES]], %[[NARROW]], %[[SOURCES]])
// CHECK: halftone.assign %[[VALUE]] to %[[VALUES]]
// CHECK: %[[MIX:.*]] = halftone.attention %[[TURNED]], %[[KEY]], %[[VALUE]] at %[[AT]] {causal = true,
// CHECK: %[[Y:.*]] = halftone.relu %[[MIX]]
// CHECK: halftone.output "y", %[[Y]]
// CHECK-NOT: halftone.graph
module @goes_on_from_earlier_tokens attributes {halftone.model = "m"} {
  halftone.graph "inference" {
    %t = halftone.input "token" {integers} : !tokens
    %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !halftone.tensor<[9, 8], f32>
    %places = halftone.parameter "places" {initializer = #zeros, offset = 96 : i64} : !halftone.tensor<[5, 8], f32>
    %e = halftone.embedding %t, %w {halftone.layer = "embed"} : (!tokens, !halftone.tensor<[9, 8], f32>) -> !rows
    %x = halftone.position_embedding %e, %places {halftone.layer = "place"} : (!rows, !halftone.tensor<[5, 8], f32>) -> !rows
    %q:3 = halftone.rotary %x {heads = 2 : i64, base = 1.0e4 : f64, interleaved = false, factor = 1.0 : f64, halftone.layer = "turn"}
        : (!rows) -> (!rows, !angles, !angles)
    %v = halftone.cast %x {halftone.layer = "mix"} : (!rows) -> !narrow
    %mix = halftone.attention %q#0, %q#0, %v {causal = true, heads = 2 : i64, halftone.layer = "mix"} : (!rows, !rows, !narrow) -> !rows
    %y = halftone.relu %mix {halftone.layer = "act"} : (!rows) -> !rows
    halftone.output "y", %y : !rows
  }
}

// -----

!rows = !halftone.tensor<[batch, time, 8], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// G11: what lets a token depend on later ones.
module @does_not_take_attention_that_sees_later_tokens attributes {halftone.model = "m"} {
  halftone.graph "inference" {
    %t = halftone.input "token" {integers} : !halftone.tensor<[batch, time], i32>
    %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !halftone.tensor<[9, 8], f32>
    %x = halftone.embedding %t, %w {halftone.layer = "embed"} : (!halftone.tensor<[batch, time], i32>, !halftone.tensor<[9, 8], f32>) -> !rows
    // expected-error @+1 {{layer 'mix' cannot go on from earlier tokens, as decoding does: it is not causal, so that earlier tokens depend on later ones}}
    %mix = halftone.attention %x, %x, %x {heads = 2 : i64, halftone.layer = "mix"} : (!rows, !rows, !rows) -> !rows
    halftone.output "y", %mix : !rows
  }
}

// -----

!rows = !halftone.tensor<[batch, time, 8], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

module @does_not_take_what_reads_rows_of_other_tokens attributes {halftone.model = "m"} {
  halftone.graph "inference" {
    %t = halftone.input "token" {integers} : !halftone.tensor<[batch, time], i32>
    %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !halftone.tensor<[9, 8], f32>
    %x = halftone.embedding %t, %w {halftone.layer = "embed"} : (!halftone.tensor<[batch, time], i32>, !halftone.tensor<[9, 8], f32>) -> !rows
    // expected-error @+1 {{layer 'pairs' cannot go on from earlier tokens, as decoding does: it lets a token depend on others than those before it}}
    %y = halftone.matmul %x, %x {transpose_a = false, transpose_b = true, halftone.layer = "pairs"} : (!rows, !rows) -> !halftone.tensor<[batch, time, time], f32>
    halftone.output "y", %y : !halftone.tensor<[batch, time, time], f32>
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

module @does_not_take_a_model_without_attention attributes {halftone.model = "m"} {
  // expected-error @+1 {{model 'm' cannot decode: no attention reads earlier tokens, so that there is nothing to go on from}}
  halftone.graph "inference" {
    %t = halftone.input "token" {integers} : !halftone.tensor<[batch, time], i32>
    %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !halftone.tensor<[9, 8], f32>
    %x = halftone.embedding %t, %w {halftone.layer = "embed"} : (!halftone.tensor<[batch, time], i32>, !halftone.tensor<[9, 8], f32>) -> !halftone.tensor<[batch, time, 8], f32>
    halftone.output "y", %x : !halftone.tensor<[batch, time, 8], f32>
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

module @does_not_take_another_input_than_tokens attributes {halftone.model = "m"} {
  // expected-error @+1 {{model 'm' cannot decode: it wants tokens, an input of integers with symbols for sequences and times, i32[batch, time] say}}
  halftone.graph "inference" {
    %x = halftone.input "x" : !halftone.tensor<[batch, time, 8], f32>
    halftone.output "y", %x : !halftone.tensor<[batch, time, 8], f32>
  }
}
