// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-plan-tiles %s | FileCheck %s

// Every kernel has a tile for each target, whatever was there before; which one is the emitter's own business.
// CHECK-LABEL: halftone.graph "every_kernel_has_tiles"
halftone.graph "every_kernel_has_tiles" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 8], f32>
  // CHECK: halftone.kernel "fc"
  // CHECK-SAME: cpu_tile = array<i64: {{[0-9]+, [0-9]+}}>, cuda_tile = array<i64: {{[0-9, ]+}}>
  %y = halftone.kernel "fc" contraction over ["batch", 4] reduce [8] (%x, %w)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, transpose_rhs}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4, 8], f32>) -> !halftone.tensor<[batch, 4], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
  // CHECK: halftone.kernel "copy"
  // CHECK-NOT: array<i64: -7>
  // CHECK-SAME: cpu_tile = array<i64: {{[0-9]+}}>, cuda_tile = array<i64: {{[0-9]+}}>
  %z = halftone.kernel "copy" pointwise over ["batch", 4] reduce [] (%y) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {cpu_tile = array<i64: -7>, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> !halftone.tensor<[batch, 4], f32> {
  ^bb0(%a: f32):
    halftone.kernel_yield stores %a : f32
  }
}
