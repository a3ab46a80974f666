// SPDX-License-Identifier: Apache-2.0
// What only moves the elements of one contraction's matrix is no kernel: the contraction reads them from where they were.
// RUN: halftone-opt --halftone-lower-layers --halftone-gather-matrices --halftone-form-kernels %s | FileCheck %s
// RUN: halftone-opt --halftone-lower-layers --halftone-gather-matrices=for-chips --halftone-form-kernels %s | FileCheck --check-prefix=CHIPS %s

// The last axis taken apart: 2 x 4 of a row of taps, 4 channels.
// CHECK: #[[SLIDES:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d4 floordiv 8 - 1, d2 + ((d4 floordiv 4) mod 2) * 2, d4 mod 4)>
// CHIPS: #[[OFCHIPS:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d4 floordiv 8 - 1, d2 + ((d4 floordiv 4) mod 2) * 2, d4 mod 4)>
// What is only turned is gathered by CPUs alone.
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
  // CHIPS-NOT: pointwise
  // CHIPS: halftone.kernel "slides_conv" contraction {{.*}} accesses [#halftone.access<lhs reads #[[OFCHIPS]]>, #halftone.access<rhs>]
  %y = halftone.convolution %x, %w
      {dilation = array<i64: 1, 2>, halftone.layer = "conv", halftone.phase = #halftone.phase<forward>, kernel = array<i64: 3, 2>, padding = array<i64: 1, 0, 0, 1>, stride = array<i64: 2, 1>}
      : (!halftone.tensor<[batch, 9, 6, 4], f32>, !halftone.tensor<[8, 3, 2, 4], f32>) -> !halftone.tensor<[batch, 4, 5, 8], f32>
  halftone.output "y", %y {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 4, 5, 8], f32>
}

// Tiles of matrices, which may multiply two factors of bf16, are made of lines as f32 is.
// CHECK-LABEL: halftone.graph "halves"
halftone.graph "halves" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 4], bf16>
  %w = halftone.input "w" : !halftone.tensor<[8, 12], bf16>
  // CHIPS-NOT: pointwise
  // CHIPS: halftone.kernel "halves_forward" contraction {{.*}} accesses [#halftone.access<lhs reads #{{.*}}>, #halftone.access<rhs>]
  // CHECK-NOT: pointwise
  // CHECK: halftone.kernel "halves_forward" contraction {{.*}} accesses [#halftone.access<lhs reads #{{.*}}>, #halftone.access<rhs>]
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

// They multiply bf16 alone, so that windows of 8 bits become bf16 in memory, unless the order of sums rules tiles out.
// CHECK-LABEL: halftone.graph "eighths"
// CHIPS-LABEL: halftone.graph "eighths"
halftone.graph "eighths" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 4], f8E4M3FN>
  %w = halftone.input "w" : !halftone.tensor<[8, 12], bf16>
  // CHIPS-NOT: pointwise
  // CHECK: halftone.kernel "eighths_windows" pointwise
  // CHECK: halftone.kernel "eighths_forward" contraction {{.*}} accesses [#halftone.access<lhs>, #halftone.access<rhs>]
  // CHECK-NOT: pointwise
  // CHECK: halftone.kernel {{.*}} contraction {{.*}} accesses [#halftone.access<lhs reads #{{.*}}>, #halftone.access<rhs>]
  %wide = halftone.cast %x {halftone.inline, halftone.phase = #halftone.phase<forward>} : (!halftone.tensor<[batch, 9, 4], f8E4M3FN>) -> !halftone.tensor<[batch, 9, 4], bf16>
  %windows = halftone.map "windows" (%wide) over ["batch", 7, 3, 4]
      reads [#halftone.access<general reads affine_map<(b, i, p, c) -> (b, i + p, c)>>] writes [#halftone.access<full>] {halftone.phase = #halftone.phase<forward>}
      : (!halftone.tensor<[batch, 9, 4], bf16>) -> !halftone.tensor<[batch, 7, 3, 4], bf16> {
    ^bb0(%a: bf16):
      halftone.yield %a : bf16
  }
  %rows = halftone.view %windows : (!halftone.tensor<[batch, 7, 3, 4], bf16>) -> !halftone.tensor<[batch, 7, 12], bf16>
  %y = halftone.contract %rows, %w {halftone.phase = #halftone.phase<forward>, pass = #halftone.pass<forward>, transpose_rhs}
      : (!halftone.tensor<[batch, 7, 12], bf16>, !halftone.tensor<[8, 12], bf16>) -> !halftone.tensor<[batch, 7, 8], f32>
  %again = halftone.map "again" (%wide) over ["batch", 7, 3, 4]
      reads [#halftone.access<general reads affine_map<(b, i, p, c) -> (b, i + p, c)>>] writes [#halftone.access<full>] {halftone.phase = #halftone.phase<forward>}
      : (!halftone.tensor<[batch, 9, 4], bf16>) -> !halftone.tensor<[batch, 7, 3, 4], bf16> {
    ^bb0(%a: bf16):
      halftone.yield %a : bf16
  }
  %lines = halftone.view %again : (!halftone.tensor<[batch, 7, 3, 4], bf16>) -> !halftone.tensor<[batch, 7, 12], bf16>
  %z = halftone.contract %lines, %w {halftone.phase = #halftone.phase<forward>, halftone.precision = #halftone.precision<operands = [[], []], results = [[]], accumulate = ordered>, pass = #halftone.pass<forward>, transpose_rhs}
      : (!halftone.tensor<[batch, 7, 12], bf16>, !halftone.tensor<[8, 12], bf16>) -> !halftone.tensor<[batch, 7, 8], f32>
  halftone.output "y", %y {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 7, 8], f32>
  halftone.output "z", %z {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 7, 8], f32>
}

// Nor is it a kernel less where something else reads it, too.
// CHECK-LABEL: halftone.graph "shared"
halftone.graph "shared" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 4], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 12], f32>
  // CHIPS: halftone.kernel "shared_windows" pointwise
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

// Nor does a product read what alternates, as channels between places: no two of a row are neighbours.
// CHECK-LABEL: halftone.graph "alternate"
// CHIPS-LABEL: halftone.graph "alternate"
halftone.graph "alternate" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 3, 2, 4], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 8], f32>
  // CHECK: halftone.kernel "alternate_channels" pointwise
  // CHECK: halftone.kernel {{.*}} contraction {{.*}} accesses [#halftone.access<lhs>, #halftone.access<rhs>]
  // CHIPS: halftone.kernel "alternate_channels" pointwise
  %channels = halftone.map "channels" (%x) over ["batch", 3, 4, 2]
      reads [#halftone.access<general reads affine_map<(b, i, c, s) -> (b, i, s, c)>>] writes [#halftone.access<full>] {halftone.phase = #halftone.phase<forward>}
      : (!halftone.tensor<[batch, 3, 2, 4], f32>) -> !halftone.tensor<[batch, 3, 4, 2], f32> {
    ^bb0(%a: f32):
      halftone.yield %a : f32
  }
  %rows = halftone.view %channels : (!halftone.tensor<[batch, 3, 4, 2], f32>) -> !halftone.tensor<[batch, 3, 8], f32>
  %y = halftone.contract %rows, %w {halftone.phase = #halftone.phase<forward>, pass = #halftone.pass<forward>, transpose_rhs}
      : (!halftone.tensor<[batch, 3, 8], f32>, !halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[batch, 3, 8], f32>
  halftone.output "y", %y {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 3, 8], f32>
}

// What chips only turn stays a kernel of theirs; two products gather their matrix each.
// CHECK-LABEL: halftone.graph "turned"
// CHIPS-LABEL: halftone.graph "turned"
halftone.graph "turned" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 3, 7, 4], f32>
  %line = halftone.input "line" : !halftone.tensor<[batch, 9, 4], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 12], f32>
  // CHECK-NOT: halftone.kernel "turned_heads"
  // CHIPS: halftone.kernel "turned_heads" pointwise
  // CHIPS-NOT: pointwise
  %heads = halftone.map "heads" (%x) over ["batch", 7, 3, 4]
      reads [#halftone.access<general reads affine_map<(b, t, h, c) -> (b, h, t, c)>>] writes [#halftone.access<full>] {halftone.phase = #halftone.phase<forward>}
      : (!halftone.tensor<[batch, 3, 7, 4], f32>) -> !halftone.tensor<[batch, 7, 3, 4], f32> {
    ^bb0(%a: f32):
      halftone.yield %a : f32
  }
  %rows = halftone.view %heads : (!halftone.tensor<[batch, 7, 3, 4], f32>) -> !halftone.tensor<[batch, 7, 12], f32>
  %y = halftone.contract %rows, %w {halftone.phase = #halftone.phase<forward>, pass = #halftone.pass<forward>, transpose_rhs}
      : (!halftone.tensor<[batch, 7, 12], f32>, !halftone.tensor<[8, 12], f32>) -> !halftone.tensor<[batch, 7, 8], f32>
  halftone.output "y", %y {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 7, 8], f32>
  // CHECK-NOT: pointwise
  // CHECK: halftone.kernel "turned_forward" contraction
  // CHECK-NOT: pointwise
  // CHECK: halftone.kernel {{.*}} contraction {{.*}} accesses [#halftone.access<lhs reads #[[BOTH:.*]]>, #halftone.access<rhs>]
  // CHECK-NOT: pointwise
  // CHECK: halftone.kernel {{.*}} contraction {{.*}} accesses [#halftone.access<lhs reads #[[BOTH]]>, #halftone.access<rhs>]
  // CHIPS: halftone.kernel {{.*}} contraction {{.*}} accesses [#halftone.access<lhs reads #[[WINDOWS:.*]]>, #halftone.access<rhs>]
  // CHIPS: halftone.kernel {{.*}} contraction {{.*}} accesses [#halftone.access<lhs reads #[[WINDOWS]]>, #halftone.access<rhs>]
  %windows = halftone.map "windows" (%line) over ["batch", 7, 3, 4]
      reads [#halftone.access<general reads affine_map<(b, i, p, c) -> (b, i + p, c)>>] writes [#halftone.access<full>] {halftone.phase = #halftone.phase<forward>}
      : (!halftone.tensor<[batch, 9, 4], f32>) -> !halftone.tensor<[batch, 7, 3, 4], f32> {
    ^bb0(%a: f32):
      halftone.yield %a : f32
  }
  %both = halftone.view %windows : (!halftone.tensor<[batch, 7, 3, 4], f32>) -> !halftone.tensor<[batch, 7, 12], f32>
  %one = halftone.contract %both, %w {halftone.phase = #halftone.phase<forward>, pass = #halftone.pass<forward>, transpose_rhs}
      : (!halftone.tensor<[batch, 7, 12], f32>, !halftone.tensor<[8, 12], f32>) -> !halftone.tensor<[batch, 7, 8], f32>
  %v = halftone.input "v" : !halftone.tensor<[5, 12], f32>
  %two = halftone.contract %both, %v {halftone.phase = #halftone.phase<forward>, pass = #halftone.pass<forward>, transpose_rhs}
      : (!halftone.tensor<[batch, 7, 12], f32>, !halftone.tensor<[5, 12], f32>) -> !halftone.tensor<[batch, 7, 5], f32>
  halftone.output "one", %one {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 7, 8], f32>
  halftone.output "two", %two {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 7, 5], f32>
}

// A diagnosis gathers what stays inside of a layer, and shows all else: the map that a layer is stays a kernel.
// CHECK-LABEL: halftone.graph "diagnosis"
// CHIPS-LABEL: halftone.graph "diagnosis"
halftone.graph "diagnosis" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 4], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 3, 4], f32>
  %v = halftone.input "v" : !halftone.tensor<[8, 12], f32>
  // CHECK-NOT: pointwise
  // CHECK: halftone.kernel "diagnosis_conv" contraction {{.*}} accesses [#halftone.access<lhs reads #{{.*}}>, #halftone.access<rhs>]
  // CHECK: halftone.kernel "diagnosis_shown" pointwise
  // CHECK: halftone.kernel {{.*}} contraction {{.*}} accesses [#halftone.access<lhs>, #halftone.access<rhs>]
  // CHIPS-NOT: pointwise
  // CHIPS: halftone.kernel "diagnosis_conv" contraction {{.*}} accesses [#halftone.access<lhs reads #{{.*}}>, #halftone.access<rhs>]
  // CHIPS: halftone.kernel "diagnosis_shown" pointwise
  // CHIPS: halftone.kernel {{.*}} contraction {{.*}} accesses [#halftone.access<lhs>, #halftone.access<rhs>]
  %y = halftone.convolution %x, %w {halftone.layer = "conv", halftone.phase = #halftone.phase<forward>, kernel = array<i64: 3>}
      : (!halftone.tensor<[batch, 9, 4], f32>, !halftone.tensor<[8, 3, 4], f32>) -> !halftone.tensor<[batch, 7, 8], f32>
  %shown = halftone.map "windows" (%x) over ["batch", 7, 3, 4]
      reads [#halftone.access<general reads affine_map<(b, i, p, c) -> (b, i + p, c)>>] writes [#halftone.access<full>] {halftone.layer = "shown", halftone.phase = #halftone.phase<forward>}
      : (!halftone.tensor<[batch, 9, 4], f32>) -> !halftone.tensor<[batch, 7, 3, 4], f32> {
    ^bb0(%a: f32):
      halftone.yield %a : f32
  }
  %rows = halftone.view %shown {halftone.internal} : (!halftone.tensor<[batch, 7, 3, 4], f32>) -> !halftone.tensor<[batch, 7, 12], f32>
  %z = halftone.contract %rows, %v {halftone.phase = #halftone.phase<forward>, pass = #halftone.pass<forward>, transpose_rhs}
      : (!halftone.tensor<[batch, 7, 12], f32>, !halftone.tensor<[8, 12], f32>) -> !halftone.tensor<[batch, 7, 8], f32>
  halftone.output "y", %y {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 7, 8], f32>
  halftone.output "z", %z {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 7, 8], f32>
}

// Chips count the windows of an image in 32 bits. Of one that has more they lie in memory there.
// CHECK-LABEL: halftone.graph "wide"
// CHIPS-LABEL: halftone.graph "wide"
halftone.graph "wide" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 32770, 32769, 4], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 3, 3, 4], f32>
  %v = halftone.input "v" : !halftone.tensor<[8, 3, 1, 4], f32>
  // CHECK-NOT: pointwise
  // CHECK: halftone.kernel "wide_conv" contraction
  // CHECK-NOT: pointwise
  // CHIPS: halftone.kernel "wide_conv_windows" pointwise over ["batch", 32768, 32768, 3, 3, 4]
  // CHIPS: halftone.kernel "wide_conv" contraction {{.*}} accesses [#halftone.access<lhs>, #halftone.access<rhs>]
  // CHIPS-NOT: pointwise
  // CHIPS: halftone.kernel "wide_low" contraction {{.*}} accesses [#halftone.access<lhs reads #{{.*}}>, #halftone.access<rhs>]
  %y = halftone.convolution %x, %w {halftone.layer = "conv", halftone.phase = #halftone.phase<forward>, kernel = array<i64: 3, 3>, padding = array<i64: 0, 0, 0, 1>}
      : (!halftone.tensor<[batch, 32770, 32769, 4], f32>, !halftone.tensor<[8, 3, 3, 4], f32>) -> !halftone.tensor<[batch, 32768, 32768, 8], f32>
  %low = halftone.input "low" : !halftone.tensor<[batch, 32768, 32768, 4], f32>
  %z = halftone.convolution %low, %v {halftone.layer = "low", halftone.phase = #halftone.phase<forward>, kernel = array<i64: 3, 1>}
      : (!halftone.tensor<[batch, 32768, 32768, 4], f32>, !halftone.tensor<[8, 3, 1, 4], f32>) -> !halftone.tensor<[batch, 32766, 32768, 8], f32>
  halftone.output "y", %y {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 32768, 32768, 8], f32>
  halftone.output "z", %z {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 32766, 32768, 8], f32>
}
}
