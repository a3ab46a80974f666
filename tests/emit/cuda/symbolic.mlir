// SPDX-License-Identifier: Apache-2.0
// Kernels over rows whose length is a symbol, and sums over one. cpu_symbolic_test.cpp runs the CPU's code, symbolic_test.cpp the
// CUDA text on the host, simulated_symbolic_test.cpp on the simulator; symbolic.hpp says what they compute. The tests' one symbol
// is called batch.
// RUN: cuda_text %s | FileCheck %s
#full = #halftone.access<full>
#row = #halftone.access<row>
#column = #halftone.access<column>
#scalar = #halftone.access<scalar>
#lhs = #halftone.access<lhs>
#rhs = #halftone.access<rhs>

module {
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[11, batch], f32>
  %y = halftone.input "y" : !halftone.tensor<[11, batch], f32>
  %h = halftone.input "h" : !halftone.tensor<[11, batch], bf16>
  %narrow = halftone.input "narrow" : !halftone.tensor<[11, 5], f32>
  %c = halftone.input "c" : !halftone.tensor<[batch], f32>
  %r = halftone.input "r" : !halftone.tensor<[11], f32>
  %label = halftone.input "label" : !halftone.tensor<[11], i32>
  %s = halftone.input "s" : !halftone.tensor<[], f32>

  // Four neighbours of a row at once, the row by a division.
  // CHECK-LABEL: // m: addressed, dynamic_pointwise kernel
  // CHECK: Column columns() const { return static_cast<Column>(symbol_batch); }
  // CHECK: load(input1 + row * columns(), column, columns(), inputs.input1);
  // CHECK: load(input2 + row * static_cast<Column>(symbol_batch), column + (2), static_cast<Column>(symbol_batch), inputs.input2);
  // CHECK: load(input3 + row * 5, column + (-1), 5, inputs.input3);
  // CHECK: load(input4, column, columns(), inputs.input4);
  // CHECK: body.rows = 11LL;
  // CHECK: dynamic_pointwise::run<Body, 256>(body);
  %addressed = halftone.kernel "addressed" pointwise over [11, "batch"] reduce [] (%x, %h, %y, %narrow, %c, %r)
      accesses [#full, #full, #halftone.access<window, 2>, #halftone.access<window, -1>, #column, #row] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[11, batch], f32>, !halftone.tensor<[11, batch], bf16>, !halftone.tensor<[11, batch], f32>,
         !halftone.tensor<[11, 5], f32>, !halftone.tensor<[batch], f32>, !halftone.tensor<[11], f32>)
      -> !halftone.tensor<[11, batch], f32> {
    ^bb0(%a: f32, %b: bf16, %next: f32, %before: f32, %d: f32, %e: f32):
      %j = halftone.column_index : i32
      %third = arith.constant 3 : i32
      %far = arith.cmpi sgt, %j, %third : i32
      %wide = arith.extf %b : bf16 to f32
      %chosen = arith.select %far, %wide, %a : f32
      %windows = arith.subf %next, %before : f32
      %sum = arith.addf %chosen, %windows : f32
      %scaled = arith.mulf %sum, %e : f32
      %result = arith.addf %scaled, %d : f32
      halftone.kernel_yield stores %result : f32
  }

  // Nothing of it depends on where rows begin.
  // CHECK-LABEL: // m: rowless, pointwise kernel
  // CHECK: body.elements = 11LL * symbol_batch;
  %rowless = halftone.kernel "rowless" pointwise over [11, "batch"] reduce [] (%x, %y) accesses [#full, #full] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[11, batch], f32>, !halftone.tensor<[11, batch], f32>) -> !halftone.tensor<[11, batch], f32> {
    ^bb0(%a: f32, %b: f32):
      %n = halftone.count ["batch"] : f32
      %q = arith.divf %a, %n : f32
      %sum = arith.addf %q, %b : f32
      halftone.kernel_yield stores %sum : f32
  }

  %turned = halftone.input "turned" : !halftone.tensor<[batch, 11], f32>
  %pairs = halftone.input "pairs" : !halftone.tensor<[6, batch], f32>
  // CHECK-LABEL: // m: read_by_maps, dynamic_pointwise kernel
  // CHECK: return input0[at0 * 11LL + at1];
  // CHECK: static_cast<Column>(begin1 < 0 ? 0 : symbol_batch)
  %read_by_maps = halftone.kernel "read_by_maps" pointwise over [11, "batch"] reduce [] (%turned, %pairs)
      accesses [#halftone.access<general reads affine_map<(i, j) -> (j, i)>>,
                #halftone.access<general reads affine_map<(i, j) -> (i floordiv 2, j + 1)>>] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 11], f32>, !halftone.tensor<[6, batch], f32>) -> !halftone.tensor<[11, batch], f32> {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.subf %a, %b : f32
      halftone.kernel_yield stores %sum : f32
  }

  // One text for rows of a team and for those of a whole block.
  // CHECK-LABEL: // m: normalised, dynamic_row kernel
  // CHECK: dynamic_row::run<Body, 64>(body);
  %normalised:2 = halftone.kernel "normalised" row over [11, "batch"] reduce [] (%x, %c) accesses [#full, #column]
      -> [#full, #row] fused [] {resultSegmentSizes = array<i32: 2, 0>}
      : (!halftone.tensor<[11, batch], f32>, !halftone.tensor<[batch], f32>)
      -> (!halftone.tensor<[11, batch], f32>, !halftone.tensor<[11], f32>) {
    ^bb0(%a: f32, %b: f32):
      %n = halftone.count ["batch"] : f32
      %max = halftone.row_max %a : f32
      %sum = halftone.row_sum %a : f32
      %mean = arith.divf %sum, %n : f32
      %d = arith.subf %a, %mean : f32
      %square = arith.mulf %d, %d : f32
      %squares = halftone.row_sum %square : f32
      %root = math.sqrt %squares : f32
      %q = arith.divf %d, %root : f32
      %result = math.fma %q, %b, %max : f32
      halftone.kernel_yield stores %result, %max : f32, f32
  }

  // The same of 16 bits, four rows to a block.
  %narrowed = halftone.kernel "narrowed" row over [11, "batch"] reduce [] (%h) accesses [#full] -> [#full] fused []
      {cuda_tile = array<i64: 32>, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[11, batch], bf16>) -> !halftone.tensor<[11, batch], f32> {
    ^bb0(%b: bf16):
      %a = arith.extf %b : bf16 to f32
      %sum = halftone.row_sum %a : f32
      %result = arith.subf %a, %sum : f32
      halftone.kernel_yield stores %result : f32
  }

  // CHECK-LABEL: // m: picked_loss, dynamic_row kernel
  // CHECK: static_cast<int>(symbol_batch)
  // CHECK: dynamic_row::run<Body, 256>(body);
  %picked_loss = halftone.kernel "picked_loss" row over [11, "batch"] reduce [] (%x, %label, %s)
      accesses [#full, #row, #scalar] -> [] fused [] {cuda_tile = array<i64: 256>, resultSegmentSizes = array<i32: 0, 1>}
      : (!halftone.tensor<[11, batch], f32>, !halftone.tensor<[11], i32>, !halftone.tensor<[], f32>) -> !halftone.tensor<[], f32> {
    ^bb0(%a: f32, %l: i32, %scale: f32):
      %j = halftone.column_index : i32
      %n = halftone.count ["batch"] : i32
      %zero = arith.constant 0.0 : f32
      %nothing = arith.constant -1.0 : f32
      %valid = arith.cmpi ult, %l, %n : i32
      %match = arith.cmpi eq, %j, %l : i32
      %only = arith.select %match, %a, %zero : f32
      %picked = halftone.row_sum %only : f32
      %known = arith.select %valid, %picked, %nothing : f32
      %max = halftone.row_max %a : f32
      %term = arith.subf %max, %known : f32
      halftone.kernel_yield sums %term : f32
  } finish {
    ^bb0(%sum: f32, %scale: f32):
      %scaled = arith.mulf %sum, %scale : f32
      halftone.yield %scaled : f32
  }

  %queries = halftone.input "queries" : !halftone.tensor<[11, 10], f32>
  %keys = halftone.input "keys" : !halftone.tensor<[batch, 10], f32>
  %lk = halftone.input "lk" : !halftone.tensor<[10, 11], bf16>
  %rk = halftone.input "rk" : !halftone.tensor<[10, batch], f32>
  %q = halftone.input "q" : !halftone.tensor<[2, 3, batch, 7], f32>
  %k = halftone.input "k" : !halftone.tensor<[2, 3, batch, 7], f32>
  %p = halftone.input "p" : !halftone.tensor<[2, 3, batch, batch], f32>

  // Tiles are counted while it runs.
  // CHECK-LABEL: // m: scores, contraction kernel
  // CHECK: Column columns() const { return static_cast<Column>(symbol_batch); }
  // CHECK: body.rows = 11LL;
  %scores = halftone.kernel "scores" contraction over [11, "batch"] reduce [10] (%queries, %keys, %c, %y)
      accesses [#lhs, #rhs, #column, #full] -> [#full] fused [] {transpose_rhs, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[11, 10], f32>, !halftone.tensor<[batch, 10], f32>, !halftone.tensor<[batch], f32>,
         !halftone.tensor<[11, batch], f32>) -> !halftone.tensor<[11, batch], f32> {
    ^bb0(%sum: f32, %bias: f32, %a: f32):
      %biased = arith.addf %sum, %bias : f32
      %result = arith.mulf %biased, %a : f32
      halftone.kernel_yield stores %result : f32
  }

  %plain:2 = halftone.kernel "turned_plain" contraction over [11, "batch"] reduce [10] (%lk, %rk)
      accesses [#lhs, #rhs] -> [#full, #row] fused [] {transpose_lhs, resultSegmentSizes = array<i32: 2, 0>}
      : (!halftone.tensor<[10, 11], bf16>, !halftone.tensor<[10, batch], f32>)
      -> (!halftone.tensor<[11, batch], f32>, !halftone.tensor<[11], f32>) {
    ^bb0(%sum: f32):
      %of_lhs = halftone.lhs_sum : f32
      halftone.kernel_yield stores %sum, %of_lhs : f32, f32
  }

  // CHECK-LABEL: // m: attention_scores, contraction kernel
  // CHECK: body.rows = 2LL * 3LL * symbol_batch;
  // CHECK: body.element_rows = symbol_batch;
  %attention_scores = halftone.kernel "attention_scores" contraction over [2, 3, "batch", "batch"] reduce [7] (%q, %k)
      accesses [#lhs, #rhs] -> [#full] fused [] {transpose_rhs, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[2, 3, batch, 7], f32>, !halftone.tensor<[2, 3, batch, 7], f32>) -> !halftone.tensor<[2, 3, batch, batch], f32> {
    ^bb0(%sum: f32):
      halftone.kernel_yield stores %sum : f32
  }

  %attention_values = halftone.kernel "attention_values" contraction over [2, 3, "batch", 7] reduce ["batch"] (%p, %k)
      accesses [#lhs, #rhs] -> [#full] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[2, 3, batch, batch], f32>, !halftone.tensor<[2, 3, batch, 7], f32>) -> !halftone.tensor<[2, 3, batch, 7], f32> {
    ^bb0(%sum: f32):
      halftone.kernel_yield stores %sum : f32
  }

  %long = halftone.input "long" : !halftone.tensor<[300, batch], f32>
  %weights = halftone.input "weights" : !halftone.tensor<[300], f32>
  // CHECK-LABEL: // m: column_sums, dynamic_column kernel
  // CHECK: dynamic_column::run<Body, 32, 16>(body);
  %column_sums:2 = halftone.kernel "column_sums" column over [300, "batch"] reduce [] (%long, %weights) accesses [#full, #row]
      -> [#column, #full] fused [] {resultSegmentSizes = array<i32: 2, 0>}
      : (!halftone.tensor<[300, batch], f32>, !halftone.tensor<[300], f32>)
      -> (!halftone.tensor<[batch], f32>, !halftone.tensor<[300, batch], f32>) {
    ^bb0(%a: f32, %b: f32):
      %product = arith.mulf %a, %b : f32
      halftone.kernel_yield stores %product, %product : f32, f32
  }
}
}
