// SPDX-License-Identifier: Apache-2.0
// Kernels that only copy columns are none: parts are stored and read where they lie (docs/decisions/0051).
// RUN: halftone-opt --halftone-leave-parts-in-place -split-input-file %s | FileCheck %s
// RUN: halftone-opt --halftone-leave-parts-in-place --halftone-plan-memory -split-input-file %s | FileCheck %s --check-prefix=MEMORY
// RUN: halftonec --summary --targets=cpu --without-diagnosis %models/unet.halftone | FileCheck %s --check-prefix=UNET

// Nothing joins or cuts but what copies the image beside the norm.
// UNET-NOT: joined
// UNET: training forward: seen (pointwise): seen:concat
// UNET-NOT: joined

#full = #halftone.access<full>
#wide = #halftone.access<window>
#turned = #halftone.access<general reads affine_map<(b, j) -> (b floordiv 2, j)>>
!eight = !halftone.tensor<[batch, 8], f32>
!sixteen = !halftone.tensor<[batch, 16], f32>
!whole = !halftone.tensor<[batch, 24], f32>

// Each of both stores its columns, and what reads one of them reads it there, by whatever map.
// CHECK: #[[MOVED:.*]] = affine_map<(d0, d1) -> (d0 floordiv 2, d1 + 8)>
// CHECK-LABEL: halftone.graph "side_by_side"
// MEMORY-LABEL: halftone.graph "side_by_side"
// MEMORY-SAME: <"%join.0", activation, !halftone.tensor<[batch, 24], f32>, slot [[SLOT:[0-9]+]]
// CHECK: %[[A:.*]]:2 = halftone.kernel "a" row over ["batch", 8] {{.*}} -> [#halftone.access<window>, #halftone.access<row>]
// CHECK-SAME: -> (!halftone.tensor<[batch, 24], f32>, !halftone.tensor<[batch], f32>)
// MEMORY: halftone.kernel "a" {{.*}}halftone.places = #halftone.places<{{\[}}[[PLACE:[0-9]+]], {{[0-9]+}}], [0, 0]>
// CHECK: %[[B:.*]] = halftone.kernel "b" pointwise over ["batch", 16] {{.*}} -> [#halftone.access<window, 8>]
// MEMORY: halftone.kernel "b" {{.*}}halftone.places = #halftone.places<{{\[}}[[PLACE]]], [0]>
// CHECK: halftone.kernel "turns" pointwise over ["batch", 16] reduce [](%[[B]], %[[B]]) accesses [#halftone.access<general reads #[[MOVED]]>, #halftone.access<window, 8>]
// CHECK: %[[WHOLE:.*]] = halftone.whole "join" of %[[A]]#0, %[[B]]
// CHECK-NOT: halftone.kernel "join"
// CHECK: halftone.kernel "reads" pointwise over ["batch", 24] reduce [](%[[WHOLE]])
halftone.graph "side_by_side" {
  %x = halftone.input "x" : !eight
  %y = halftone.input "y" : !sixteen
  %a:2 = halftone.kernel "a" row over ["batch", 8] reduce [] (%x) accesses [#full] -> [#full, #halftone.access<row>] fused []
      {resultSegmentSizes = array<i32: 2, 0>} : (!eight) -> (!eight, !halftone.tensor<[batch], f32>) {
  ^bb0(%e: f32):
    %sum = halftone.row_sum %e : f32
    %d = arith.subf %e, %sum : f32
    halftone.kernel_yield stores %d, %sum : f32, f32
  }
  %b = halftone.kernel "b" pointwise over ["batch", 16] reduce [] (%y) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!sixteen) -> !sixteen {
  ^bb0(%e: f32):
    %d = arith.mulf %e, %e : f32
    halftone.kernel_yield stores %d : f32
  }
  %t = halftone.kernel "turns" pointwise over ["batch", 16] reduce [] (%b, %b) accesses [#turned, #full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!sixteen, !sixteen) -> !sixteen {
  ^bb0(%e: f32, %f: f32):
    %d = arith.mulf %e, %f : f32
    halftone.kernel_yield stores %d : f32
  }
  %c = halftone.kernel "join" pointwise over ["batch", 24] reduce [] (%a#0, %b) accesses [#wide, #halftone.access<window, -8>] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!eight, !sixteen) -> !whole {
  ^bb0(%e: f32, %f: f32):
    %column = halftone.column_index : i32
    %eight = arith.constant 8 : i32
    %isFirst = arith.cmpi slt, %column, %eight : i32
    %chosen = arith.select %isFirst, %e, %f : f32
    halftone.kernel_yield stores %chosen : f32
  }
  %r = halftone.kernel "reads" pointwise over ["batch", 24] reduce [] (%c) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!whole) -> !whole {
  ^bb0(%e: f32):
    %d = arith.mulf %e, %e : f32
    halftone.kernel_yield stores %d : f32
  }
  halftone.output "r", %r : !whole
  halftone.output "t", %t : !sixteen
  halftone.output "s", %a#1 : !halftone.tensor<[batch], f32>
}

// -----

#full = #halftone.access<full>
!eight = !halftone.tensor<[batch, 8], bf16>
!sixteen = !halftone.tensor<[batch, 16], bf16>
!whole = !halftone.tensor<[batch, 24], bf16>

// Columns taken out of rows: a row kernel reads them there, and so does what read them as another kernel had stored them.
// CHECK-LABEL: halftone.graph "apart"
// CHECK: %[[G:.*]] = halftone.kernel "g"
// CHECK: halftone.part %[[G]] from 8 {halftone.values = array<i64: 4>}
// CHECK: halftone.kernel "reads" row over ["batch", 16] reduce [](%[[G]]) accesses [#halftone.access<window, 8>]
// CHECK: halftone.part %[[G]] from 0 {halftone.values = array<i64: 5>}
// CHECK: halftone.kernel "again" pointwise over ["batch", 8] reduce [](%[[G]]) accesses [#halftone.access<window>] -> [#halftone.access<full>]
// CHECK-SAME: halftone.values = array<i64: 6>
// CHECK: halftone.kernel "last" row over ["batch", 8] reduce [](%[[G]]) accesses [#halftone.access<window>]
halftone.graph "apart" {
  %x = halftone.input "x" : !whole
  %g = halftone.kernel "g" pointwise over ["batch", 24] reduce [] (%x) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!whole) -> !whole {
  ^bb0(%e: bf16):
    halftone.kernel_yield stores %e : bf16
  }
  %s = halftone.kernel "slice" pointwise over ["batch", 16] reduce [] (%g) accesses [#halftone.access<window, 8>] -> [#full] fused []
      {halftone.values = array<i64: 4>, resultSegmentSizes = array<i32: 1, 0>} : (!whole) -> !sixteen {
  ^bb0(%e: bf16):
    %wide = arith.extf %e : bf16 to f32
    %same = arith.truncf %wide : f32 to bf16
    halftone.kernel_yield stores %same : bf16
  }
  %r = halftone.kernel "reads" row over ["batch", 16] reduce [] (%s) accesses [#full] -> [#halftone.access<row>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!sixteen) -> !halftone.tensor<[batch], f32> {
  ^bb0(%e: bf16):
    %wide = arith.extf %e : bf16 to f32
    %sum = halftone.row_sum %wide : f32
    halftone.kernel_yield stores %sum : f32
  }
  %t:2 = halftone.kernel "again" pointwise over ["batch", 8] reduce [] (%g) accesses [#halftone.access<window>] -> [#full, #full] fused []
      {halftone.values = array<i64: 5, 6>, resultSegmentSizes = array<i32: 2, 0>} : (!whole) -> (!eight, !eight) {
  ^bb0(%e: bf16):
    %wide = arith.extf %e : bf16 to f32
    %twice = arith.addf %wide, %wide : f32
    %rounded = arith.truncf %twice : f32 to bf16
    halftone.kernel_yield stores %e, %rounded : bf16, bf16
  }
  %l = halftone.kernel "last" row over ["batch", 8] reduce [] (%t#0) accesses [#full] -> [#halftone.access<row>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!eight) -> !halftone.tensor<[batch], f32> {
  ^bb0(%e: bf16):
    %wide = arith.extf %e : bf16 to f32
    %sum = halftone.row_sum %wide : f32
    halftone.kernel_yield stores %sum : f32
  }
  halftone.output "r", %r : !halftone.tensor<[batch], f32>
  halftone.output "l", %l : !halftone.tensor<[batch], f32>
  halftone.output "t", %t#1 : !eight
}

// -----

#full = #halftone.access<full>
!sixteen = !halftone.tensor<[batch, 16], f32>
!whole = !halftone.tensor<[batch, 48], f32>

// What is no kernel's and what a product reads as a matrix are copied, neighbours by one kernel; one result is stored in place.
// CHECK-LABEL: halftone.graph "rest"
// CHECK: %[[A:.*]] = halftone.kernel "a" {{.*}} -> [#halftone.access<full>]
// CHECK: halftone.kernel "product" {{.*}}(%[[A]], %{{.*}}) accesses [#halftone.access<lhs>, #halftone.access<rhs>]
// CHECK: %[[B:.*]] = halftone.kernel "b" {{.*}} -> [#halftone.access<window>]
// CHECK: %[[REST:.*]] = halftone.kernel "join" pointwise over ["batch", 32] reduce [](%{{.*}}, %[[A]]) accesses [#halftone.access<window>, #halftone.access<window, -16>] -> [#halftone.access<window, 16>]
// CHECK: %[[BOUND:.*]] = arith.constant 16 : i32
// CHECK: arith.cmpi slt, %{{.*}}, %[[BOUND]]
// CHECK: halftone.whole "join" of %[[B]], %[[REST]]
halftone.graph "rest" {
  %x = halftone.input "x" : !sixteen
  %w = halftone.input "w" : !halftone.tensor<[16, 4], f32>
  %a = halftone.kernel "a" pointwise over ["batch", 16] reduce [] (%x) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!sixteen) -> !sixteen {
  ^bb0(%e: f32):
    %d = arith.mulf %e, %e : f32
    halftone.kernel_yield stores %d : f32
  }
  %p = halftone.kernel "product" contraction over ["batch", 4] reduce [16] (%a, %w) accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!sixteen, !halftone.tensor<[16, 4], f32>) -> !halftone.tensor<[batch, 4], f32> {
  ^bb0(%sum: f32):
    halftone.kernel_yield stores %sum : f32
  }
  %b = halftone.kernel "b" pointwise over ["batch", 16] reduce [] (%x) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!sixteen) -> !sixteen {
  ^bb0(%e: f32):
    %d = arith.addf %e, %e : f32
    halftone.kernel_yield stores %d : f32
  }
  %c = halftone.kernel "join" pointwise over ["batch", 48] reduce [] (%b, %x, %a) accesses [#halftone.access<window>, #halftone.access<window, -16>, #halftone.access<window, -32>] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!sixteen, !sixteen, !sixteen) -> !whole {
  ^bb0(%e: f32, %f: f32, %g: f32):
    %column = halftone.column_index : i32
    %low = arith.constant 16 : i32
    %high = arith.constant 32 : i32
    %isSecond = arith.cmpi slt, %column, %high : i32
    %behind = arith.select %isSecond, %f, %g : f32
    %isFirst = arith.cmpi slt, %column, %low : i32
    %chosen = arith.select %isFirst, %e, %behind : f32
    halftone.kernel_yield stores %chosen : f32
  }
  %r = halftone.kernel "reads" pointwise over ["batch", 48] reduce [] (%c) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!whole) -> !whole {
  ^bb0(%e: f32):
    %d = arith.mulf %e, %e : f32
    halftone.kernel_yield stores %d : f32
  }
  halftone.output "r", %r : !whole
  halftone.output "p", %p : !halftone.tensor<[batch, 4], f32>
}

// -----

#full = #halftone.access<full>
!sixteen = !halftone.tensor<[batch, 16], f32>
!whole = !halftone.tensor<[batch, 64], f32>

// Of a gradient that is 64 columns long 16 are needed while something else that is long is in use, too: those are copied.
// CHECK-LABEL: halftone.graph "long"
// CHECK: halftone.kernel "slice" {{.*}} accesses [#halftone.access<window, 48>] -> [#halftone.access<full>]
// CHECK-LABEL: halftone.graph "short"
// CHECK-NOT: halftone.kernel "slice"
halftone.graph "long" {
  %x = halftone.input "x" : !whole
  %g = halftone.kernel "g" pointwise over ["batch", 64] reduce [] (%x) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!whole) -> !whole {
  ^bb0(%e: f32):
    %d = arith.mulf %e, %e : f32
    halftone.kernel_yield stores %d : f32
  }
  %s = halftone.kernel "slice" pointwise over ["batch", 16] reduce [] (%g) accesses [#halftone.access<window, 48>] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!whole) -> !sixteen {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %h = halftone.kernel "h" pointwise over ["batch", 64] reduce [] (%x) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!whole) -> !whole {
  ^bb0(%e: f32):
    %d = arith.addf %e, %e : f32
    halftone.kernel_yield stores %d : f32
  }
  %r = halftone.kernel "reads" pointwise over ["batch", 16] reduce [] (%s, %h) accesses [#full, #halftone.access<window>] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!sixteen, !whole) -> !sixteen {
  ^bb0(%e: f32, %f: f32):
    %d = arith.mulf %e, %f : f32
    halftone.kernel_yield stores %d : f32
  }
  halftone.output "r", %r : !sixteen
}
halftone.graph "short" {
  %x = halftone.input "x" : !whole
  %g = halftone.kernel "g" pointwise over ["batch", 64] reduce [] (%x) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!whole) -> !whole {
  ^bb0(%e: f32):
    %d = arith.mulf %e, %e : f32
    halftone.kernel_yield stores %d : f32
  }
  %s = halftone.kernel "slice" pointwise over ["batch", 16] reduce [] (%g) accesses [#halftone.access<window, 48>] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!whole) -> !sixteen {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  %r = halftone.kernel "reads" pointwise over ["batch", 16] reduce [] (%s) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!sixteen) -> !sixteen {
  ^bb0(%e: f32):
    %d = arith.mulf %e, %e : f32
    halftone.kernel_yield stores %d : f32
  }
  halftone.output "r", %r : !sixteen
}

// -----

#full = #halftone.access<full>
!eight = !halftone.tensor<[batch, 8], f32>
!sixteen = !halftone.tensor<[batch, 16], f32>
!whole = !halftone.tensor<[batch, 32], f32>

// Parts of a part, as dense blocks have them, lie in the last whole.
// CHECK: #[[TURNED:.*]] = affine_map<(d0, d1) -> (d0 floordiv 2, d1 + 16)>
// CHECK-LABEL: halftone.graph "chain"
// MEMORY-LABEL: halftone.graph "chain"
// MEMORY-SAME: [#halftone.buffer<"x", {{[^"]*}}#halftone.buffer<"%second.0", activation, !halftone.tensor<[batch, 32], f32>, {{[^"]*}}#halftone.buffer<"=r", {{[^"]*}}>]}
// CHECK: %[[A:.*]] = halftone.kernel "a" row over ["batch", 8] {{.*}} -> [#halftone.access<window, 16>]
// CHECK: %[[B:.*]] = halftone.kernel "b" row over ["batch", 8] reduce [](%[[A]], %[[A]]) accesses [#halftone.access<window, 16>, #halftone.access<general reads #[[TURNED]]>] -> [#halftone.access<window, 24>]
// CHECK: %[[FIRST:.*]] = halftone.whole "first" of %[[A]], %[[B]] {{.*}} -> !halftone.tensor<[batch, 32], f32>
// CHECK: %[[C:.*]] = halftone.kernel "c" row over ["batch", 16] reduce [](%[[FIRST]]) accesses [#halftone.access<window, 16>] -> [#halftone.access<window>]
// CHECK: halftone.whole "second" of %[[C]], %[[FIRST]]
halftone.graph "chain" {
  %x = halftone.input "x" : !eight
  %a = halftone.kernel "a" row over ["batch", 8] reduce [] (%x) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!eight) -> !eight {
  ^bb0(%e: f32):
    %sum = halftone.row_sum %e : f32
    halftone.kernel_yield stores %sum : f32
  }
  %b = halftone.kernel "b" row over ["batch", 8] reduce [] (%a, %a) accesses [#full, #halftone.access<general reads affine_map<(b, j) -> (b floordiv 2, j)>>] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!eight, !eight) -> !eight {
  ^bb0(%e: f32, %f: f32):
    %d = arith.addf %e, %f : f32
    %sum = halftone.row_max %d : f32
    halftone.kernel_yield stores %sum : f32
  }
  %first = halftone.kernel "first" pointwise over ["batch", 16] reduce [] (%a, %b) accesses [#halftone.access<window>, #halftone.access<window, -8>] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!eight, !eight) -> !sixteen {
  ^bb0(%e: f32, %f: f32):
    %column = halftone.column_index : i32
    %eight = arith.constant 8 : i32
    %isFirst = arith.cmpi slt, %column, %eight : i32
    %chosen = arith.select %isFirst, %e, %f : f32
    halftone.kernel_yield stores %chosen : f32
  }
  %c = halftone.kernel "c" row over ["batch", 16] reduce [] (%first) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!sixteen) -> !sixteen {
  ^bb0(%e: f32):
    %sum = halftone.row_sum %e : f32
    halftone.kernel_yield stores %sum : f32
  }
  %second = halftone.kernel "second" pointwise over ["batch", 32] reduce [] (%c, %first) accesses [#halftone.access<window>, #halftone.access<window, -16>] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!sixteen, !sixteen) -> !whole {
  ^bb0(%e: f32, %f: f32):
    %column = halftone.column_index : i32
    %sixteen = arith.constant 16 : i32
    %isFirst = arith.cmpi slt, %column, %sixteen : i32
    %chosen = arith.select %isFirst, %e, %f : f32
    halftone.kernel_yield stores %chosen : f32
  }
  %r = halftone.kernel "reads" row over ["batch", 32] reduce [] (%second) accesses [#full] -> [#full] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!whole) -> !whole {
  ^bb0(%e: f32):
    %sum = halftone.row_sum %e : f32
    halftone.kernel_yield stores %sum : f32
  }
  halftone.output "r", %r : !whole
}
