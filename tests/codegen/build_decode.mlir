// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-build-decode -split-input-file -verify-diagnostics %s | FileCheck %s

!tokens = !halftone.tensor<[batch, time], i32>
!rows = !halftone.tensor<[batch, time, 8], f32>
!narrow = !halftone.tensor<[batch, time, 8], bf16>
!angles = !halftone.tensor<[time, 2], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// Where a token stands and which of them a cache's row is follow from two integers for every sequence (G8); what counts
// times takes the first, and attention reads the caches behind the writing in the place of key and value (G9, G10). A
// cache has the format that the product reads, and its rows keep what they are where no token comes. The query, of which
// the output alone is computed, and all behind it are of each sequence's last token (G11).
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2)[s0] -> (d0, s0, d2)>
// CHECK-DAG: #[[ELEMENT:.*]] = affine_map<(d0, d1)[s0] -> (d0, s0)>
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
// CHECK: %[[LAST:.*]] = halftone.map "last"(%[[START]], %[[COUNT]]) over ["batch", 1]
// CHECK: ^bb0(%{{.*}}: i32, %[[C:.*]]: i32):
// CHECK: %[[I:.*]] = arith.subi %[[C]], %{{.*}}
// CHECK: %[[IS:.*]] = arith.cmpi sge, %[[I]], %{{.*}}
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
// CHECK: %[[QUERY:.*]] = halftone.map "take_last"(%[[TURNED]], %[[LAST]]) over ["batch", 1, 8] reads [#halftone.access<general reads #[[ROW]] through[1]>, #halftone.access<row>]
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %{{.*}}: i32):
// CHECK-NEXT: halftone.yield %[[E]]
// CHECK: %[[AT_LAST:.*]] = halftone.map "take_last"(%[[AT]], %[[LAST]]) over ["batch", 1] reads [#halftone.access<general reads #[[ELEMENT]] through[1]>, #halftone.access<full>]
// CHECK: %[[MIX:.*]] = halftone.attention %[[QUERY]], %[[KEY]], %[[VALUE]] at %[[AT_LAST]] {causal = true,
// CHECK-SAME: -> !halftone.tensor<[batch, 1, 8], f32>
// CHECK: %[[Y:.*]] = halftone.relu %[[MIX]] {{.*}} -> !halftone.tensor<[batch, 1, 8], f32>
// CHECK: halftone.output "y", %[[Y]] : <[batch, 1, 8], f32>
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

// All that a cache's rows are computed from is of every token; one gather stands for all that reads a value's last rows.
// An output of such a value reads that gather, too.
// CHECK-LABEL: module @does_not_leave_out_rows_that_caches_hold
// CHECK: %[[LAST:.*]] = halftone.map "last"
// CHECK: %[[X:.*]] = halftone.embedding {{.*}} -> !halftone.tensor<[batch, time, 8], f32>
// CHECK: %[[LINE:.*]] = halftone.relu %[[X]] {{.*}} -> !halftone.tensor<[batch, time, 8], f32>
// CHECK: %[[LAST_LINE:.*]] = halftone.map "take_last"(%[[LINE]], %[[LAST]])
// CHECK: halftone.output "line", %[[LAST_LINE]]
// CHECK: %[[KEY:.*]] = halftone.map "remember"(%{{.*}}, %[[LINE]],
// CHECK: %[[MIX:.*]] = halftone.attention %[[LAST_LINE]], %[[KEY]],
// CHECK-NOT: take_last
// CHECK: %[[LAST_X:.*]] = halftone.map "take_last"(%[[X]], %[[LAST]])
// CHECK: %[[SUM:.*]] = halftone.add %[[LAST_X]], %[[MIX]]
// CHECK-NOT: take_last
// CHECK: halftone.output "y", %[[SUM]]
module @does_not_leave_out_rows_that_caches_hold attributes {halftone.model = "m"} {
  halftone.graph "inference" {
    %t = halftone.input "token" {integers} : !halftone.tensor<[batch, time], i32>
    %w = halftone.parameter "w" {initializer = #zeros, offset = 0 : i64} : !halftone.tensor<[9, 8], f32>
    %x = halftone.embedding %t, %w {halftone.layer = "embed"} : (!halftone.tensor<[batch, time], i32>, !halftone.tensor<[9, 8], f32>) -> !rows
    %line = halftone.relu %x {halftone.layer = "line"} : (!rows) -> !rows
    halftone.output "line", %line : !rows
    %mix = halftone.attention %line, %line, %line {causal = true, heads = 2 : i64, halftone.layer = "mix"} : (!rows, !rows, !rows) -> !rows
    %sum = halftone.add %x, %mix {halftone.layer = "sum"} : (!rows, !rows) -> !rows
    halftone.output "y", %sum : !rows
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

module @does_not_take_times_that_are_multiples attributes {halftone.model = "m"} {
  // expected-error @+1 {{model 'm' cannot decode: it wants tokens, an input of integers with symbols for sequences and times, i32[batch, time] say}}
  halftone.graph "inference" {
    %x = halftone.input "x" : !halftone.tensor<[batch, 2*time], i32>
    halftone.output "y", %x : !halftone.tensor<[batch, 2*time], i32>
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
