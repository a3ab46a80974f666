// SPDX-License-Identifier: Apache-2.0
// Kernels of every skeleton over f16, bf16 and tf32. narrow_test.cpp runs their texts, nvrtc_compile and nvrtc_casts
// compile them, and the CHECK lines say what a text looks like.
// RUN: cuda_text %s | FileCheck %s
#full = #halftone.access<full>
#row = #halftone.access<row>
#column = #halftone.access<column>
#scalar = #halftone.access<scalar>
#lhs = #halftone.access<lhs>
#rhs = #halftone.access<rhs>

module {
halftone.graph "training" {
  %f32x6 = halftone.input "f32x6" : !halftone.tensor<[batch, 6], f32>
  %f16x4 = halftone.input "f16x4" : !halftone.tensor<[batch, 4], f16>
  %bf16x6 = halftone.input "bf16x6" : !halftone.tensor<[batch, 6], bf16>
  %f16x7 = halftone.input "f16x7" : !halftone.tensor<[batch, 7], f16>
  %f16x8 = halftone.input "f16x8" : !halftone.tensor<[batch, 8], f16>
  %bf16x10 = halftone.input "bf16x10" : !halftone.tensor<[batch, 10], bf16>
  %tf32x29 = halftone.input "tf32x29" : !halftone.tensor<[batch, 29], tf32>
  %f16x36 = halftone.input "f16x36" : !halftone.tensor<[batch, 36], f16>
  %bf16x36 = halftone.input "bf16x36" : !halftone.tensor<[batch, 36], bf16>
  %f16x37 = halftone.input "f16x37" : !halftone.tensor<[batch, 37], f16>
  %f32x37 = halftone.input "f32x37" : !halftone.tensor<[batch, 37], f32>
  %bf16x2500 = halftone.input "bf16x2500" : !halftone.tensor<[batch, 2500], bf16>
  %label = halftone.input "label" : !halftone.tensor<[batch], i32>
  %f16rows = halftone.input "f16rows" : !halftone.tensor<[batch], f16>
  %bf16rows = halftone.input "bf16rows" : !halftone.tensor<[batch], bf16>
  %bf16c10 = halftone.input "bf16c10" : !halftone.tensor<[10], bf16>
  %f16c37 = halftone.input "f16c37" : !halftone.tensor<[37], f16>
  %bf16c36 = halftone.input "bf16c36" : !halftone.tensor<[36], bf16>
  %bf16s = halftone.input "bf16s" : !halftone.tensor<[], bf16>
  %bf16w37x36 = halftone.input "bf16w37x36" : !halftone.tensor<[37, 36], bf16>
  %f16w29x37 = halftone.input "f16w29x37" : !halftone.tensor<[29, 37], f16>
  %f32w37x40 = halftone.input "f32w37x40" : !halftone.tensor<[37, 40], f32>
  %tf32w10x37 = halftone.input "tf32w10x37" : !halftone.tensor<[10, 37], tf32>
  %f16w132x37 = halftone.input "f16w132x37" : !halftone.tensor<[132, 37], f16>

  // Every rounding of an f32, and what is read back of it.
  // CHECK-LABEL: {{^}}// m: casts, pointwise kernel, f32 -> f16, bf16, tf32, f32, Halftone 0
  // CHECK-NOT: #include
  // CHECK-NOT: SPDX
  // CHECK: namespace halftone::kernels::ptx {
  // CHECK: struct Body {
  // CHECK: halftone::kernels::f16* result0;
  // CHECK: halftone::kernels::bf16* result2;
  // CHECK: float* result4;
  // CHECK: halftone::kernels::f16 result0[kWidth];
  // CHECK: const halftone::kernels::f16 v0 = halftone::kernels::to_f16(inputs.input0[i]);
  // CHECK-NEXT: const halftone::kernels::f16 v1 = halftone::kernels::to_f16(inputs.input0[i], halftone::kernels::Rounding::toward_zero);
  // CHECK-NEXT: const halftone::kernels::bf16 v2 = halftone::kernels::to_bf16(inputs.input0[i]);
  // CHECK-NEXT: const halftone::kernels::bf16 v3 = halftone::kernels::to_bf16(inputs.input0[i], halftone::kernels::Rounding::toward_zero);
  // CHECK-NEXT: const float v4 = halftone::kernels::to_tf32(inputs.input0[i]);
  // CHECK-NEXT: const float v5 = halftone::kernels::to_tf32(inputs.input0[i], halftone::kernels::Rounding::toward_zero);
  // CHECK-NEXT: const float v6 = halftone::kernels::widen(v0);
  // CHECK-NEXT: const float v7 = halftone::kernels::widen(v2);
  // CHECK-NEXT: const float v8 = v4;
  // CHECK: halftone_casts(const float* input0,
  // CHECK-NEXT: halftone::kernels::f16* result0,
  %casts:7 = halftone.kernel "casts" pointwise over ["batch", 6] reduce [] (%f32x6) accesses [#full]
      -> [#full, #full, #full, #full, #full, #full, #full] fused [] {resultSegmentSizes = array<i32: 7, 0>}
      : (!halftone.tensor<[batch, 6], f32>)
      -> (!halftone.tensor<[batch, 6], f16>, !halftone.tensor<[batch, 6], f16>, !halftone.tensor<[batch, 6], bf16>,
          !halftone.tensor<[batch, 6], bf16>, !halftone.tensor<[batch, 6], tf32>, !halftone.tensor<[batch, 6], tf32>,
          !halftone.tensor<[batch, 6], f32>) {
    ^bb0(%a: f32):
      %h = arith.truncf %a : f32 to f16
      %hz = arith.truncf %a toward_zero : f32 to f16
      %b = arith.truncf %a to_nearest_even : f32 to bf16
      %bz = arith.truncf %a toward_zero : f32 to bf16
      %t = arith.truncf %a : f32 to tf32
      %tz = arith.truncf %a toward_zero : f32 to tf32
      %wide_h = arith.extf %h : f16 to f32
      %wide_b = arith.extf %b : bf16 to f32
      %wide_t = arith.extf %t : tf32 to f32
      %hb = arith.addf %wide_h, %wide_b : f32
      %sum = arith.addf %hb, %wide_t : f32
      halftone.kernel_yield stores %h, %hz, %b, %bz, %t, %tz, %sum : f16, f16, bf16, bf16, tf32, tf32, f32
  }

  // Numbers that a pass folded.
  // CHECK-LABEL: // m: constants, pointwise kernel,  -> f16, bf16, tf32
  // CHECK-DAG: const halftone::kernels::f16 v{{[0-9]+}} = halftone::kernels::f16{0x2e66};
  // CHECK-DAG: const halftone::kernels::bf16 v{{[0-9]+}} = halftone::kernels::bf16{0xff80};
  // CHECK-DAG: const float v{{[0-9]+}} = halftone::kernels::float_of(0x3dccc000u);
  // CHECK-DAG: const halftone::kernels::f16 v{{[0-9]+}} = halftone::kernels::f16{0x7fff};
  // CHECK-DAG: const float v{{[0-9]+}} = halftone::kernels::float_of(0x7fffffffu);
  %constants:5 = halftone.kernel "constants" pointwise over [1] reduce [] () accesses [] -> [#full, #full, #full, #full, #full]
      fused [] {resultSegmentSizes = array<i32: 5, 0>} : ()
      -> (!halftone.tensor<[], f16>, !halftone.tensor<[], bf16>, !halftone.tensor<[], tf32>, !halftone.tensor<[], f16>,
          !halftone.tensor<[], tf32>) {
      %h = arith.constant 0.1 : f16
      %b = arith.constant 0xFF80 : bf16
      %t = arith.constant 0.0999755859375 : tf32
      %hn = arith.constant 0xFE00 : f16
      %tn = arith.constant 0x3FE00 : tf32
      halftone.kernel_yield stores %h, %b, %t, %hn, %tn : f16, bf16, tf32, f16, tf32
  }

  // Windows, columns and rows of different formats beside i32.
  // CHECK-LABEL: // m: narrow_join, pointwise kernel, f16, bf16, i32 -> f16
  // CHECK: halftone::kernels::load(input0 + row * 4, column + (0), 4, inputs.input0);
  // CHECK: halftone::kernels::load(input1 + row * 6, column + (-4), 6, inputs.input1);
  %join = halftone.kernel "narrow_join" pointwise over ["batch", 10] reduce [] (%f16x4, %bf16x6, %bf16c10, %f16rows, %label)
      accesses [#halftone.access<window>, #halftone.access<window, -4>, #column, #row, #row] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f16>, !halftone.tensor<[batch, 6], bf16>, !halftone.tensor<[10], bf16>,
         !halftone.tensor<[batch], f16>, !halftone.tensor<[batch], i32>) -> !halftone.tensor<[batch, 10], f16> {
    ^bb0(%a: f16, %b: bf16, %c: bf16, %d: f16, %l: i32):
      %wide_a = arith.extf %a : f16 to f32
      %wide_b = arith.extf %b : bf16 to f32
      %wide_c = arith.extf %c : bf16 to f32
      %wide_d = arith.extf %d : f16 to f32
      %j = halftone.column_index : i32
      %four = arith.constant 4 : i32
      %zero = arith.constant 0.0 : f32
      %first = arith.cmpi slt, %j, %four : i32
      %match = arith.cmpi eq, %j, %l : i32
      %r = arith.select %first, %wide_a, %wide_b : f32
      %scaled = arith.mulf %r, %wide_d : f32
      %sum = arith.addf %scaled, %wide_c : f32
      %masked = arith.select %match, %zero, %sum : f32
      %y = arith.truncf %masked : f32 to f16
      halftone.kernel_yield stores %y : f16
  }

  // CHECK-LABEL: // m: narrow_norm, row kernel, f16, bf16 -> f16, f32, bf16
  // CHECK: terms[0] = v0;
  // CHECK: result2[row] = v{{[0-9]+}};
  %norm:3 = halftone.kernel "narrow_norm" row over ["batch", 36] reduce [] (%f16x36, %bf16c36) accesses [#full, #column]
      -> [#full, #row, #row] fused [] {resultSegmentSizes = array<i32: 3, 0>}
      : (!halftone.tensor<[batch, 36], f16>, !halftone.tensor<[36], bf16>)
      -> (!halftone.tensor<[batch, 36], f16>, !halftone.tensor<[batch], f32>, !halftone.tensor<[batch], bf16>) {
    ^bb0(%a: f16, %w: bf16):
      %x = arith.extf %a : f16 to f32
      %scale = arith.extf %w : bf16 to f32
      %sum = halftone.row_sum %x : f32
      %d = arith.subf %x, %sum : f32
      %max = halftone.row_max %d : f32
      %rounded = arith.truncf %max : f32 to bf16
      %y = arith.mulf %d, %scale : f32
      %r = arith.truncf %y toward_zero : f32 to f16
      halftone.kernel_yield stores %r, %sum, %rounded : f16, f32, bf16
  }
  %long_rows = halftone.kernel "narrow_long_rows" row over ["batch", 2500] reduce [] (%bf16x2500) accesses [#full] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 2500], bf16>) -> !halftone.tensor<[batch, 2500], bf16> {
    ^bb0(%a: bf16):
      %x = arith.extf %a : bf16 to f32
      %sum = halftone.row_sum %x : f32
      %d = arith.subf %x, %sum : f32
      %r = arith.truncf %d : f32 to bf16
      halftone.kernel_yield stores %r : bf16
  }

  // Sums and what follows them are f32; the finish rounds its own result.
  // CHECK-LABEL: // m: narrow_loss, row kernel, bf16, i32 -> f32, f16
  // CHECK: float* workspace;
  // CHECK: const halftone::kernels::bf16 scalar2 = input2[0];
  %loss:2 = halftone.kernel "narrow_loss" row over ["batch", 10] reduce [] (%bf16x10, %label, %bf16s)
      accesses [#full, #row, #scalar] -> [] fused [] {resultSegmentSizes = array<i32: 0, 2>}
      : (!halftone.tensor<[batch, 10], bf16>, !halftone.tensor<[batch], i32>, !halftone.tensor<[], bf16>)
      -> (!halftone.tensor<[], f32>, !halftone.tensor<[], f16>) {
    ^bb0(%a: bf16, %l: i32, %s: bf16):
      %x = arith.extf %a : bf16 to f32
      %j = halftone.column_index : i32
      %zero = arith.constant 0.0 : f32
      %match = arith.cmpi eq, %j, %l : i32
      %only = arith.select %match, %x, %zero : f32
      %picked = halftone.row_sum %only : f32
      halftone.kernel_yield sums %picked : f32
  } finish {
    ^bb0(%sum: f32, %s: bf16):
      %scale = arith.extf %s : bf16 to f32
      %r = arith.mulf %sum, %scale : f32
      %h = arith.truncf %r : f32 to f16
      halftone.yield %r, %h : f32, f16
  }

  // CHECK-LABEL: // m: narrow_columns, column kernel, f16, bf16 -> f32, tf32
  %columns:2 = halftone.kernel "narrow_columns" column over ["batch", 37] reduce [] (%f16x37, %bf16rows)
      accesses [#full, #row] -> [#column, #full] fused [] {resultSegmentSizes = array<i32: 2, 0>}
      : (!halftone.tensor<[batch, 37], f16>, !halftone.tensor<[batch], bf16>)
      -> (!halftone.tensor<[37], f32>, !halftone.tensor<[batch, 37], tf32>) {
    ^bb0(%a: f16, %b: bf16):
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : bf16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.truncf %p : f32 to tf32
      halftone.kernel_yield stores %p, %t : f32, tf32
  }

  // CHECK-LABEL: // m: narrow_total, flat kernel, f16 -> f32
  %total = halftone.kernel "narrow_total" flat over ["batch", 8] reduce [] (%f16x8) accesses [#full] -> []
      fused [] {resultSegmentSizes = array<i32: 0, 1>} : (!halftone.tensor<[batch, 8], f16>) -> !halftone.tensor<[], f32> {
    ^bb0(%a: f16):
      %x = arith.extf %a : f16 to f32
      %square = arith.mulf %x, %x : f32
      halftone.kernel_yield sums %square : f32
  } finish {
    ^bb0(%sum: f32):
      halftone.yield %sum : f32
  }
  %flat_rows:2 = halftone.kernel "narrow_flat_rows" flat over ["batch", 7] reduce [] (%f16x7, %bf16rows) accesses [#full, #row]
      -> [#full] fused [] {resultSegmentSizes = array<i32: 1, 1>}
      : (!halftone.tensor<[batch, 7], f16>, !halftone.tensor<[batch], bf16>)
      -> (!halftone.tensor<[batch, 7], bf16>, !halftone.tensor<[], f32>) {
    ^bb0(%a: f16, %b: bf16):
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : bf16 to f32
      %p = arith.mulf %x, %y : f32
      %r = arith.truncf %p : f32 to bf16
      %back = arith.extf %r : bf16 to f32
      halftone.kernel_yield stores %r : bf16 sums %back : f32
  } finish {
    ^bb0(%sum: f32):
      halftone.yield %sum : f32
  }

  // Operands of different formats, widened on their way into shared memory.
  // CHECK-LABEL: // m: narrow_dense, contraction kernel, f16, bf16 -> f16
  // CHECK: using Lhs = halftone::kernels::f16;
  // CHECK-NEXT: using Rhs = halftone::kernels::bf16;
  // CHECK: const halftone::kernels::f16* lhs;
  // CHECK: = sum + v
  // CHECK: halftone_narrow_dense(const halftone::kernels::f16* __restrict__ input0,
  // CHECK-NEXT: const halftone::kernels::bf16* __restrict__ input1,
  %dense = halftone.kernel "narrow_dense" contraction over ["batch", 37] reduce [36] (%f16x36, %bf16w37x36, %f16c37)
      accesses [#lhs, #rhs, #column] -> [#full] fused [] {transpose_rhs, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 36], f16>, !halftone.tensor<[37, 36], bf16>, !halftone.tensor<[37], f16>)
      -> !halftone.tensor<[batch, 37], f16> {
    ^bb0(%sum: f32, %b: f16):
      %bias = arith.extf %b : f16 to f32
      %y = arith.addf %sum, %bias : f32
      %r = arith.truncf %y : f32 to f16
      halftone.kernel_yield stores %r : f16
  }
  // CHECK-LABEL: // m: narrow_plain, contraction kernel, tf32, f16 -> f32
  // CHECK: using Lhs = float;
  %plain = halftone.kernel "narrow_plain" contraction over ["batch", 37] reduce [29] (%tf32x29, %f16w29x37)
      accesses [#lhs, #rhs] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>, cuda_tile = array<i64: 64, 64, 16, 4, 4>}
      : (!halftone.tensor<[batch, 29], tf32>, !halftone.tensor<[29, 37], f16>) -> !halftone.tensor<[batch, 37], f32> {
    ^bb0(%sum: f32):
      halftone.kernel_yield stores %sum : f32
  }
  // A weight's gradient, and the bias' rounded.
  // CHECK-LABEL: // m: narrow_gradient, contraction kernel, bf16, f32 -> f32, bf16
  // CHECK: = halftone::kernels::to_bf16(lhs_sum, halftone::kernels::Rounding::toward_zero);
  %gradient:2 = halftone.kernel "narrow_gradient" contraction over [36, 37] reduce ["batch"] (%bf16x36, %f32x37)
      accesses [#lhs, #rhs] -> [#full, #row] fused [] {transpose_lhs, resultSegmentSizes = array<i32: 2, 0>}
      : (!halftone.tensor<[batch, 36], bf16>, !halftone.tensor<[batch, 37], f32>)
      -> (!halftone.tensor<[36, 37], f32>, !halftone.tensor<[36], bf16>) {
    ^bb0(%sum: f32):
      %row = halftone.lhs_sum : f32
      %r = arith.truncf %row toward_zero : f32 to bf16
      halftone.kernel_yield stores %sum, %r : f32, bf16
  }
  %twice = halftone.kernel "narrow_twice" contraction over [40, 10] reduce [37] (%f32w37x40, %tf32w10x37)
      accesses [#lhs, #rhs] -> [#full] fused [] {transpose_lhs, transpose_rhs, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[37, 40], f32>, !halftone.tensor<[10, 37], tf32>) -> !halftone.tensor<[40, 10], tf32> {
    ^bb0(%sum: f32):
      %r = arith.truncf %sum : f32 to tf32
      halftone.kernel_yield stores %r : tf32
  }
  %large = halftone.kernel "narrow_large_tile" contraction over ["batch", 132] reduce [37] (%f16x37, %f16w132x37)
      accesses [#lhs, #rhs] -> [#full] fused []
      {transpose_rhs, resultSegmentSizes = array<i32: 1, 0>, cuda_tile = array<i64: 128, 128, 8, 8, 8>}
      : (!halftone.tensor<[batch, 37], f16>, !halftone.tensor<[132, 37], f16>) -> !halftone.tensor<[batch, 132], bf16> {
    ^bb0(%sum: f32):
      %r = arith.truncf %sum : f32 to bf16
      halftone.kernel_yield stores %r : bf16
  }
}
}
