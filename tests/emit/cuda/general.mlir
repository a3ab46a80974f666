// SPDX-License-Identifier: Apache-2.0
// General accesses of pointwise, row and column kernels, sums into segments, and contractions with batch axes. cpu_general_test.cpp runs the CPU's code,
// general_test.cpp the CUDA text on the host, simulated_general_test.cpp on the simulator; general.hpp says what they compute.
// RUN: cuda_text %s | FileCheck %s
#full = #halftone.access<full>
#row = #halftone.access<row>
#column = #halftone.access<column>
#lhs = #halftone.access<lhs>
#rhs = #halftone.access<rhs>
#board = affine_set<(b, j) : ((b + j) mod 2 == 0, 4 - j >= 0)>

module {
halftone.graph "training" {
  %x35 = halftone.input "x35" : !halftone.tensor<[batch, 3, 5], f32>
  %c3 = halftone.input "c3" : !halftone.tensor<[3], f32>
  %x34 = halftone.input "x34" : !halftone.tensor<[batch, 3, 4], f32>
  %tokens = halftone.input "tokens" : !halftone.tensor<[batch, 4], i32>
  %table = halftone.input "table" : !halftone.tensor<[11, 6], bf16>
  %x46 = halftone.input "x46" : !halftone.tensor<[4, batch, 6], f32>
  %x9 = halftone.input "x9" : !halftone.tensor<[batch, 9], f32>
  %choice = halftone.input "choice" : !halftone.tensor<[batch, 5], i32>
  %t70 = halftone.input "t70" : !halftone.tensor<[batch, 70], i32>
  %g70 = halftone.input "g70" : !halftone.tensor<[batch, 70, 6], f32>
  %h70 = halftone.input "h70" : !halftone.tensor<[batch, 70, 37], f32>
  %x75 = halftone.input "x75" : !halftone.tensor<[batch, 7, 5], f32>
  %g45 = halftone.input "g45" : !halftone.tensor<[batch, 4, 5], f32>
  %xt = halftone.input "xt" : !halftone.tensor<[batch, 29, 5], f32>
  %gt = halftone.input "gt" : !halftone.tensor<[batch, 29, 5], f32>
  %xe = halftone.input "xe" : !halftone.tensor<[batch, 11, 13, 37], f32>
  %me = halftone.input "me" : !halftone.tensor<[batch, 37], f32>
  %left = halftone.input "left" : !halftone.tensor<[batch, 3, 37, 10], f32>
  %right = halftone.input "right" : !halftone.tensor<[batch, 3, 10, 21], f32>
  %c21 = halftone.input "c21" : !halftone.tensor<[21], f32>
  %skip = halftone.input "skip" : !halftone.tensor<[batch, 3, 37, 21], f32>
  %lt = halftone.input "lt" : !halftone.tensor<[batch, 12, 9], f32>
  %rt = halftone.input "rt" : !halftone.tensor<[batch, 18, 12], f32>
  %gb = halftone.input "gb" : !halftone.tensor<[4, batch, 9], f32>
  %xb = halftone.input "xb" : !halftone.tensor<[4, batch, 6], f32>

  // No index of a transposition leaves the operand.
  // CHECK-LABEL: // m: transposed, pointwise kernel
  // CHECK: kCollapsed = false
  // CHECK: float read0(long long row, long long column) const {
  // CHECK-NEXT: if (column >= columns()) return {};
  // CHECK-NEXT: const long long axis1 = row % 5LL;
  // CHECK-NEXT: const long long axis0 = row / 5LL;
  // CHECK-NEXT: const long long axis2 = column;
  // CHECK-NOT: return {};
  // CHECK: return input0[(at0 * 3LL + at1) * 5LL + at2];
  // CHECK: inputs.input0[i] = read0(row, column + i);
  %transposed = halftone.kernel "transposed" pointwise over ["batch", 5, 3] reduce [] (%x35, %c3)
      accesses [#halftone.access<general reads affine_map<(b, i, j) -> (b, j, i)>>, #column] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 3, 5], f32>, !halftone.tensor<[3], f32>) -> !halftone.tensor<[batch, 5, 3], f32> {
    ^bb0(%a: f32, %c: f32):
      %r = arith.addf %a, %c : f32
      halftone.kernel_yield stores %r : f32
  }

  // Where columns stay columns, a row is a line of the operand; an axis in the middle may be a symbol.
  // CHECK-LABEL: // m: swapped, pointwise kernel
  // CHECK: long long line0(long long row) const {
  // CHECK: const long long axis1 = row % symbol_batch;
  // CHECK: return (at0 * 3LL + at1) * 4LL;
  // CHECK: halftone::kernels::load(input0 + (begin0 < 0 ? 0 : begin0), column + (0), static_cast<Column>(begin0 < 0 ? 0 : 4LL), inputs.input0);
  %swapped = halftone.kernel "swapped" pointwise over [3, "batch", 4] reduce [] (%x34)
      accesses [#halftone.access<general reads affine_map<(i, b, j) -> (b, i, j)>>] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 3, 4], f32>) -> !halftone.tensor<[3, batch, 4], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }

  // CHECK-LABEL: // m: gathered, pointwise kernel
  // CHECK: const long long index0 = input1[row];
  // CHECK: if (at0 < 0 || at0 >= 11LL) return -1;
  %gathered = halftone.kernel "gathered" pointwise over ["batch", 4, 6] reduce [] (%table, %tokens)
      accesses [#halftone.access<general reads affine_map<(b, t, j)[token] -> (token, j)> through [1]>, #row] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[11, 6], bf16>, !halftone.tensor<[batch, 4], i32>) -> !halftone.tensor<[batch, 4, 6], f32> {
    ^bb0(%a: bf16, %token: i32):
      %r = arith.extf %a : bf16 to f32
      halftone.kernel_yield stores %r : f32
  }

  // CHECK-LABEL: // m: summed, segment kernel
  // CHECK: segment::run<Body, 32, 4>(body);
  %summed = halftone.kernel "summed" segment over ["batch", 70, 6] reduce [] (%t70, %g70)
      accesses [#row, #full] -> [#halftone.access<segment>] fused []
      {cuda_tile = array<i64: 32, 4>, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 70], i32>, !halftone.tensor<[batch, 70, 6], f32>) -> !halftone.tensor<[11, 6], f32> {
    ^bb0(%row: i32, %a: f32):
      %two = arith.constant 2 : i32
      %none = arith.constant -1 : i32
      %skips = arith.cmpi eq, %row, %two : i32
      %into = arith.select %skips, %none, %row : i32
      halftone.kernel_yield stores %a : f32 into %into
  }

  // Each element of the batch has segments of its own.
  // CHECK-LABEL: // m: summed_of_each, batched_segment kernel
  // CHECK: kSegments = 7;
  // CHECK: body.rows = symbol_batch * 70LL;
  // CHECK: body.element_rows = 70LL;
  // CHECK: batched_segment::run<Body, 32, 4>(body);
  %summed_of_each = halftone.kernel "summed_of_each" segment over ["batch", 70, 37] reduce [] (%t70, %h70)
      accesses [#row, #full] -> [#halftone.access<segment>] fused []
      {cuda_tile = array<i64: 32, 4>, cpu_tile = array<i64: 3, 32>, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 70], i32>, !halftone.tensor<[batch, 70, 37], f32>) -> !halftone.tensor<[batch, 7, 37], f32> {
    ^bb0(%row: i32, %a: f32):
      halftone.kernel_yield stores %a : f32 into %row
  }

  %shifted = halftone.kernel "shifted" pointwise over ["batch", 7, 5] reduce [] (%x75)
      accesses [#halftone.access<general reads affine_map<(b, t, j) -> (b, t - 2, j)>>] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 7, 5], f32>) -> !halftone.tensor<[batch, 7, 5], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }

  // Each line where it is, but in an operand that has more of them: no full access.
  // CHECK-LABEL: // m: cropped, pointwise kernel
  %cropped = halftone.kernel "cropped" pointwise over ["batch", 4, 5] reduce [] (%x75)
      accesses [#halftone.access<general reads affine_map<(b, t, j) -> (b, t, j)>>] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 7, 5], f32>) -> !halftone.tensor<[batch, 4, 5], f32> {
    ^bb0(%x: f32):
      halftone.kernel_yield stores %x : f32
  }

  // CHECK-LABEL: // m: spread, pointwise kernel
  // CHECK: halftone::kernels::floor_divide(
  // CHECK: {{if .*floor_modulo.* != 0. return -1}}
  %spread = halftone.kernel "spread" pointwise over ["batch", 9, 5] reduce [] (%g45)
      accesses [#halftone.access<general reads affine_map<(b, t, j) -> (b, (t - 1) floordiv 2, j)> where affine_set<(b, t, j) : ((t - 1) mod 2 == 0)>>] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4, 5], f32>) -> !halftone.tensor<[batch, 9, 5], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }

  // An index of its own for every element.
  // CHECK-LABEL: // m: picked, pointwise kernel
  // CHECK: const long long index0 = input1[row * columns() + column];
  %picked = halftone.kernel "picked" pointwise over ["batch", 5] reduce [] (%x9, %choice)
      accesses [#halftone.access<general reads affine_map<(b, j)[c] -> (b, c)> through [1]>, #full] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 9], f32>, !halftone.tensor<[batch, 5], i32>) -> !halftone.tensor<[batch, 5], f32> {
    ^bb0(%a: f32, %c: i32):
      halftone.kernel_yield stores %a : f32
  }

  %strided = halftone.kernel "strided" pointwise over ["batch", 6] reduce [] (%x9)
      accesses [#halftone.access<general reads affine_map<(b, j) -> (b, j * 2 - 1)> where #board>]
      -> [#full] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 9], f32>) -> !halftone.tensor<[batch, 6], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }

  // A column kernel loads the same lines, an element at a time.
  // CHECK-LABEL: // m: late_sums, column kernel
  // CHECK: long long line1(long long row) const {
  // CHECK: const long long axis1 = row % 29LL;
  // CHECK: if (at1 < 0 || at1 >= 29LL) return -1;
  // CHECK: halftone::kernels::load(input1 + (begin1 < 0 ? 0 : begin1), column + (0), static_cast<Column>(begin1 < 0 ? 0 : 5LL), inputs.input1);
  %late_sums = halftone.kernel "late_sums" column over ["batch", 29, 5] reduce [] (%gt, %xt)
      accesses [#full, #halftone.access<general reads affine_map<(b, t, j) -> (b, t - 2, j)>>] -> [#column]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 29, 5], f32>, !halftone.tensor<[batch, 29, 5], f32>) -> !halftone.tensor<[5], f32> {
    ^bb0(%g: f32, %x: f32):
      %r = arith.mulf %g, %x : f32
      halftone.kernel_yield stores %r : f32
  }

  // CHECK-LABEL: // m: turned_sums, column kernel
  // CHECK: inputs.input0[i] = read0(row, column + i);
  %turned_sums = halftone.kernel "turned_sums" column over ["batch", 5, 29] reduce [] (%xt)
      accesses [#halftone.access<general reads affine_map<(b, i, j) -> (b, j, i)>>] -> [#column]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 29, 5], f32>) -> !halftone.tensor<[29], f32> {
    ^bb0(%x: f32):
      halftone.kernel_yield stores %x : f32
  }

  // CHECK-LABEL: // m: sums_of_each, batched_column kernel
  // CHECK: result0[element * columns() + column] = totals[0];
  // CHECK: body.rows = symbol_batch * 11LL * 13LL;
  // CHECK: body.element_rows = 11LL * 13LL;
  // CHECK: batched_column::run<Body, 32, 16>(body);
  %sums_of_each = halftone.kernel "sums_of_each" column over ["batch", 11, 13, 37] reduce [] (%xe, %me)
      accesses [#full, #halftone.access<general reads affine_map<(b, h, w, j) -> (b, j)>>] -> [#column]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 11, 13, 37], f32>, !halftone.tensor<[batch, 37], f32>) -> !halftone.tensor<[batch, 37], f32> {
    ^bb0(%x: f32, %m: f32):
      %d = arith.subf %x, %m : f32
      halftone.kernel_yield stores %d : f32
  }

  %gathered_sums = halftone.kernel "gathered_sums" column over ["batch", 4, 6] reduce [] (%table, %tokens)
      accesses [#halftone.access<general reads affine_map<(b, t, j)[token] -> (token, j)> through [1]>, #row] -> [#column]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[11, 6], bf16>, !halftone.tensor<[batch, 4], i32>) -> !halftone.tensor<[6], f32> {
    ^bb0(%a: bf16, %token: i32):
      %r = arith.extf %a : bf16 to f32
      halftone.kernel_yield stores %r : f32
  }

  // CHECK-LABEL: // m: placed, row kernel
  // CHECK: uniforms.axis0 = static_cast<int>(row / (symbol_batch));
  // CHECK: inputs.input1[i] = read1(row, column + i);
  %placed = halftone.kernel "placed" row over [4, "batch", 6] reduce [] (%x46, %x34)
      accesses [#full, #halftone.access<general reads affine_map<(i, b, j) -> (b, i - 1, 4 - j)>>] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[4, batch, 6], f32>, !halftone.tensor<[batch, 3, 4], f32>) -> !halftone.tensor<[4, batch, 6], f32> {
    ^bb0(%a: f32, %c: f32):
      %both = arith.addf %a, %c : f32
      %sum = halftone.row_sum %both : f32
      %max = halftone.row_max %c : f32
      %of_row = arith.addf %sum, %max : f32
      %i = halftone.axis_index 0 : i32
      %b = halftone.axis_index 1 : i32
      %place = arith.subi %b, %i : i32
      %number = arith.sitofp %place : i32 to f32
      %scaled = arith.mulf %of_row, %number : f32
      %r = arith.addf %scaled, %both : f32
      halftone.kernel_yield stores %r : f32
  }

  // CHECK-LABEL: // m: products, contraction kernel
  // CHECK: kIsBatch = true;
  // CHECK: body.rows = symbol_batch * 3LL * 37LL;
  // CHECK: body.element_rows = 37LL;
  // CHECK: contraction::run<Body, halftone::kernels::contraction::Tile<32, 32, 16, 2, 4>>(body);
  %products = halftone.kernel "products" contraction over ["batch", 3, 37, 21] reduce [10] (%left, %right, %c21, %skip)
      accesses [#lhs, #rhs, #column, #full] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 3, 37, 10], f32>, !halftone.tensor<[batch, 3, 10, 21], f32>, !halftone.tensor<[21], f32>, !halftone.tensor<[batch, 3, 37, 21], f32>) -> !halftone.tensor<[batch, 3, 37, 21], f32> {
    ^bb0(%sum: f32, %bias: f32, %s: f32):
      %biased = arith.addf %sum, %bias : f32
      %r = arith.mulf %biased, %s : f32
      halftone.kernel_yield stores %r : f32
  }

  %turned = halftone.kernel "turned" contraction over ["batch", 9, 18] reduce [12] (%lt, %rt)
      accesses [#lhs, #rhs] -> [#full]
      fused [] {transpose_lhs, transpose_rhs, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 12, 9], f32>, !halftone.tensor<[batch, 18, 12], f32>) -> !halftone.tensor<[batch, 9, 18], f32> {
    ^bb0(%sum: f32):
      halftone.kernel_yield stores %sum : f32
  }

  %gradients = halftone.kernel "gradients" contraction over [4, 9, 6] reduce ["batch"] (%gb, %xb)
      accesses [#lhs, #rhs] -> [#full]
      fused [] {transpose_lhs, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[4, batch, 9], f32>, !halftone.tensor<[4, batch, 6], f32>) -> !halftone.tensor<[4, 9, 6], f32> {
    ^bb0(%sum: f32):
      halftone.kernel_yield stores %sum : f32
  }

  // Where an element lies along an axis that a row has one place on is found once a row.
  // CHECK-LABEL: // m: places, pointwise kernel
  // CHECK: kCollapsed = false
  // CHECK: int axis0;
  // CHECK-NEXT: int axis1;
  // CHECK: uniforms.axis0 = static_cast<int>(row / (symbol_batch));
  // CHECK-NEXT: uniforms.axis1 = static_cast<int>(row % symbol_batch);
  %places = halftone.kernel "places" pointwise over [4, "batch", 9] reduce [] (%gb) accesses [#full] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[4, batch, 9], f32>) -> !halftone.tensor<[4, batch, 9], f32> {
    ^bb0(%x: f32):
      %four = arith.constant 4 : i32
      %hundred = arith.constant 100 : i32
      %i = halftone.axis_index 0 : i32
      %b = halftone.axis_index 1 : i32
      %j = halftone.axis_index 2 : i32
      %rest = arith.remui %j, %four : i32
      %far = arith.muli %b, %hundred : i32
      %leading = arith.addi %far, %i : i32
      %scaled = arith.muli %leading, %four : i32
      %place = arith.addi %scaled, %rest : i32
      %number = arith.sitofp %place : i32 to f32
      %r = arith.subf %number, %x : f32
      halftone.kernel_yield stores %r : f32
  }

  // CHECK-LABEL: // m: causal, row kernel
  // CHECK: uniforms.axis1 = static_cast<int>(row % 7LL);
  %causal = halftone.kernel "causal" row over ["batch", 7, 5] reduce [] (%x75) accesses [#full] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 7, 5], f32>) -> !halftone.tensor<[batch, 7, 5], f32> {
    ^bb0(%x: f32):
      %zero = arith.constant 0.0 : f32
      %t = halftone.axis_index 1 : i32
      %j = halftone.axis_index 2 : i32
      %isPast = arith.cmpi sle, %j, %t : i32
      %past = arith.select %isPast, %x, %zero : f32
      %sum = halftone.row_sum %past : f32
      %time = arith.sitofp %t : i32 to f32
      %later = arith.addf %sum, %time : f32
      %r = arith.addf %later, %x : f32
      halftone.kernel_yield stores %r : f32
  }

  // Two blocks of channels, the second of which has four; a pass over the whole spectrum, and one over its quarters.
  // CHECK-LABEL: // m: spectrum, transform kernel
  // CHECK: kLength = 11;
  // CHECK-NEXT: kChannels = 20;
  // CHECK-NEXT: kPlaces = 16;
  // CHECK-NEXT: kStages = 4;
  // CHECK-NEXT: using Turns = float;
  // CHECK: terms[0] = v0;
  // CHECK: transform::run<Body, 256>(body);
  %xs = halftone.input "xs" : !halftone.tensor<[batch, 11, 20], f32>
  %turns = halftone.input "turns" : !halftone.tensor<[2, 16], f32>
  %spectrum = halftone.kernel "spectrum" transform over ["batch", 11, 20] reduce [] (%xs, %turns)
      accesses [#full, #halftone.access<turns>] -> [#halftone.access<transformed>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 11, 20], f32>, !halftone.tensor<[2, 16], f32>) -> !halftone.tensor<[batch, 2, 16, 2, 16], f32> {
    ^bb0(%x: f32):
      %r = arith.addf %x, %x : f32
      halftone.kernel_yield stores %r : f32
  }
}
}
