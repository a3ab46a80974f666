// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-lower-layers --halftone-ride-maxima -split-input-file %s | FileCheck %s
// RUN: halftone-opt --halftone-lower-layers --halftone-ride-maxima --halftone-form-kernels -split-input-file %s | FileCheck %s --check-prefix=KERNELS

#full = #halftone.access<full>
#row = #halftone.access<row>
#scalar = #halftone.access<scalar>
!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!rows = !halftone.tensor<[batch], f32>
!one = !halftone.tensor<[], f32>

// What two maps made of a product's elements its kernel makes. Magnitudes are of what was rounded.
// CHECK-LABEL: halftone.graph "behind_a_product"
// CHECK: %[[ROUNDED:.*]] = halftone.cast
// CHECK: %[[WIDE:.*]] = halftone.cast %[[ROUNDED]]
// CHECK-NOT: row_max
// CHECK: halftone.reduce "scales"(%[[WIDE]]) {halftone.maximum} {{.*}} each {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT: %[[MAGNITUDE:.*]] = math.absf %[[X]] : f32
// CHECK-NEXT: halftone.yield %[[MAGNITUDE]] : f32
// CHECK: finish {
// CHECK-NEXT: ^bb0(%[[LARGEST:.*]]: f32):
// CHECK-NEXT: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %[[SCALE:.*]] = arith.mulf %[[LARGEST]], %[[HALF]] : f32
// CHECK-NEXT: halftone.yield %[[SCALE]], %[[LARGEST]] : f32, f32
// KERNELS-LABEL: halftone.graph "behind_a_product"
// KERNELS: %[[Y:.*]], %[[FOUND:.*]]:2 = halftone.kernel "{{[a-z_]+}}" contraction over ["batch", 8]
// KERNELS-SAME: fused ["fc:linear", "cast", "scales"]
// KERNELS: halftone.kernel_yield stores %{{.*}} : bf16 sums %{{.*}} : f32
// KERNELS: finish {
// KERNELS-NOT: halftone.kernel "
// KERNELS: halftone.output "scale", %[[FOUND]]#0
halftone.graph "behind_a_product" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %fc = halftone.linear %x, %w {halftone.layer = "fc"} : (!matrix, !weight) -> !matrix
  %rounded = halftone.cast %fc : (!matrix) -> !halftone.tensor<[batch, 8], bf16>
  %wide = halftone.cast %rounded {halftone.inline} : (!halftone.tensor<[batch, 8], bf16>) -> !matrix
  %maxima = halftone.map "scales" (%wide) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %scale:2 = halftone.map "scales" (%maxima) over ["batch"] reads [#full] writes [#row, #row] : (!rows) -> (!one, !one) {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    %half = arith.constant 0.5 : f32
    %s = arith.mulf %r, %half : f32
    halftone.yield %s, %r : f32, f32
  }
  halftone.output "y", %rounded : !halftone.tensor<[batch, 8], bf16>
  halftone.output "scale", %scale#0 : !one
  halftone.output "largest", %scale#1 : !one
}

// -----

#full = #halftone.access<full>
#row = #halftone.access<row>
#scalar = #halftone.access<scalar>
!matrix = !halftone.tensor<[batch, 3, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!rows = !halftone.tensor<[batch, 3], f32>
!batch = !halftone.tensor<[batch], f32>
!one = !halftone.tensor<[], f32>

// A map that makes elements beside the maxima of rows joins the product without them; nobody needs the sums themselves.
// KERNELS-LABEL: halftone.graph "elements_beside_maxima"
// KERNELS: %[[Y:.*]], %[[FOUND:.*]] = halftone.kernel "{{[a-z_]+}}" contraction over ["batch", 3, 8]
// KERNELS-SAME: -> [#halftone.access<full>] fused ["fc:linear", "scale", "scales"]
// KERNELS-NOT: halftone.kernel "
// KERNELS: halftone.output "y", %[[Y]]
// KERNELS: halftone.output "largest", %[[FOUND]]
halftone.graph "elements_beside_maxima" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %s = halftone.input "s" : !one
  %fc = halftone.linear %x, %w {halftone.layer = "fc"} : (!matrix, !weight) -> !matrix
  %y, %maxima = halftone.map "scale" (%fc, %s) over ["batch", 3, 8] reads [#full, #scalar] writes [#full, #row] : (!matrix, !one) -> (!matrix, !rows) {
  ^bb0(%a: f32, %b: f32):
    %m = math.absf %a : f32
    %e = arith.mulf %a, %b : f32
    %r = halftone.row_max %m : f32
    halftone.yield %e, %r : f32, f32
  }
  %left = halftone.map "scales" (%maxima) over ["batch", 3] reads [#full] writes [#row] : (!rows) -> !batch {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %largest = halftone.map "scales" (%left) over ["batch"] reads [#full] writes [#row] : (!batch) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  halftone.output "y", %y : !matrix
  halftone.output "largest", %largest : !one
}

// -----

#full = #halftone.access<full>
#row = #halftone.access<row>
!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!rows = !halftone.tensor<[batch], f32>
!one = !halftone.tensor<[], f32>

// Who else reads the maxima of rows, or elements that are no product's, leaves the maps as they are; a kernel has one finish.
// CHECK-LABEL: halftone.graph "maps_that_stay"
// CHECK-COUNT-4: halftone.row_max
// CHECK: halftone.reduce "second"
// CHECK-COUNT-2: halftone.row_max
// CHECK-NOT: halftone.reduce
// CHECK: halftone.output "rows"
halftone.graph "maps_that_stay" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %fc = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
  %read = halftone.map "read" (%fc) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %all = halftone.map "read" (%read) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %source = halftone.map "source" (%x) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %of = halftone.map "source" (%source) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %second = halftone.map "second" (%fc) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %rides = halftone.map "second" (%second) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %third = halftone.map "third" (%fc) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %stays = halftone.map "third" (%third) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  halftone.output "rows", %read : !rows
  halftone.output "all", %all : !one
  halftone.output "of", %of : !one
  halftone.output "rides", %rides : !one
  halftone.output "stays", %stays : !one
}
