// SPDX-License-Identifier: Apache-2.0
// What only moves the elements of one contraction's matrix is no kernel: the contraction reads them from where they were.
// RUN: halftone-opt --halftone-lower-layers --halftone-gather-matrices --halftone-form-kernels %s | FileCheck %s
// RUN: halftone-opt --halftone-lower-layers --halftone-gather-matrices=for-chips --halftone-form-kernels %s | FileCheck --check-prefix=CHIPS %s

// The last axis taken apart: 2 x 4 of a row of taps, 4 channels.
// CHECK: #[[SLIDES:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d4 floordiv 8 - 1, d2 + ((d4 floordiv 4) mod 2) * 2, d4 mod 4)>
// CHIPS: module attributes {halftone.cpu_apart}

module {
// CHECK-LABEL: halftone.graph "slides"
// CHIPS-LABEL: halftone.graph "slides"
halftone.graph "slides" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 6, 4], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 3, 2, 4], f32>
  // CHECK-NOT: halftone.kernel {{.*}} pointwise
  // CHECK: halftone.kernel "slides_conv" contraction over ["batch", 4, 5, 8] reduce [24](%[[X]], %{{.*}}) accesses [#halftone.access<lhs reads #[[SLIDES]]>, #halftone.access<rhs>]
  // CHIPS: halftone.kernel "slides_conv_windows" pointwise over ["batch", 4, 5, 3, 2, 4]
  // CHIPS: halftone.kernel "slides_conv" contraction {{.*}} accesses [#halftone.access<lhs>, #halftone.access<rhs>]
  %y = halftone.convolution %x, %w
      {dilation = array<i64: 1, 2>, halftone.layer = "conv", halftone.phase = #halftone.phase<forward>, kernel = array<i64: 3, 2>, padding = array<i64: 1, 0, 0, 1>, stride = array<i64: 2, 1>}
      : (!halftone.tensor<[batch, 9, 6, 4], f32>, !halftone.tensor<[8, 3, 2, 4], f32>) -> !halftone.tensor<[batch, 4, 5, 8], f32>
  halftone.output "y", %y {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 4, 5, 8], f32>
}

// Two factors of bf16 may be multiplied by tiles of matrices, which read what lies in memory.
// CHECK-LABEL: halftone.graph "halves"
halftone.graph "halves" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 4], bf16>
  %w = halftone.input "w" : !halftone.tensor<[8, 12], bf16>
  // CHECK: halftone.kernel "halves_windows" pointwise
  // CHECK: halftone.kernel "halves_forward" contraction {{.*}} accesses [#halftone.access<lhs>, #halftone.access<rhs>]
  %windows = halftone.map "windows" (%x) over ["batch", 7, 3, 4]
      reads [#halftone.access<general reads affine_map<(b, i, p, c) -> (b, i + p, c)>>] writes [#halftone.access<full>] {halftone.phase = #halftone.phase<forward>}
      : (!halftone.tensor<[batch, 9, 4], bf16>) -> !halftone.tensor<[batch, 7, 3, 4], bf16> {
    ^bb0(%a: bf16):
      halftone.yield %a : bf16
  }
  %rows = halftone.view %windows : (!halftone.tensor<[batch, 7, 3, 4], bf16>) -> !halftone.tensor<[batch, 7, 12], bf16>
  %y = halftone.contract %rows, %w {halftone.phase = #halftone.phase<forward>, pass = #halftone.pass<forward>, transpose_rhs}
      : (!halftone.tensor<[batch, 7, 12], bf16>, !halftone.tensor<[8, 12], bf16>) -> !halftone.tensor<[batch, 7, 8], f32>
  halftone.output "y", %y {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 7, 8], f32>
}

// Nor is it a kernel less where something else reads it, too.
// CHECK-LABEL: halftone.graph "shared"
halftone.graph "shared" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 4], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 12], f32>
  // CHECK: halftone.kernel "shared_windows" pointwise
  // CHECK: halftone.kernel "shared_forward" contraction {{.*}} accesses [#halftone.access<lhs>, #halftone.access<rhs>]
  %windows = halftone.map "windows" (%x) over ["batch", 7, 3, 4]
      reads [#halftone.access<general reads affine_map<(b, i, p, c) -> (b, i + p, c)>>] writes [#halftone.access<full>] {halftone.phase = #halftone.phase<forward>}
      : (!halftone.tensor<[batch, 9, 4], f32>) -> !halftone.tensor<[batch, 7, 3, 4], f32> {
    ^bb0(%a: f32):
      halftone.yield %a : f32
  }
  %rows = halftone.view %windows : (!halftone.tensor<[batch, 7, 3, 4], f32>) -> !halftone.tensor<[batch, 7, 12], f32>
  %y = halftone.contract %rows, %w {halftone.phase = #halftone.phase<forward>, pass = #halftone.pass<forward>, transpose_rhs}
      : (!halftone.tensor<[batch, 7, 12], f32>, !halftone.tensor<[8, 12], f32>) -> !halftone.tensor<[batch, 7, 8], f32>
  halftone.output "rows", %rows {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 7, 12], f32>
  halftone.output "y", %y {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 7, 8], f32>
}
}
