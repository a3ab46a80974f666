// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-round-from-f32 %s | FileCheck %s

!tensor = !halftone.tensor<[8], tf32>
!brain = !halftone.tensor<[8], bf16>
!vector = !halftone.tensor<[8], f32>

// CHECK-LABEL: halftone.graph "narrow_to_narrow"
// CHECK: ^bb0(%[[A:[a-z0-9]+]]: tf32):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[A]] : tf32 to f32
// CHECK-NEXT: arith.truncf %[[WIDE]] toward_zero : f32 to bf16
halftone.graph "narrow_to_narrow" {
  %x = halftone.input "x" : !tensor
  %y = halftone.kernel "k" pointwise over [8] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>} : (!tensor) -> !brain {
  ^bb0(%a: tf32):
    %r = arith.truncf %a toward_zero : tf32 to bf16
    halftone.kernel_yield stores %r : bf16
  }
}

// CHECK-LABEL: halftone.graph "does_not_touch_what_is_f32"
// CHECK: ^bb0(%[[A:[a-z0-9]+]]: f32):
// CHECK-NEXT: arith.truncf %[[A]] : f32 to bf16
halftone.graph "does_not_touch_what_is_f32" {
  %x = halftone.input "x" : !vector
  %y = halftone.kernel "k" pointwise over [8] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>} : (!vector) -> !brain {
  ^bb0(%a: f32):
    %r = arith.truncf %a : f32 to bf16
    halftone.kernel_yield stores %r : bf16
  }
}
