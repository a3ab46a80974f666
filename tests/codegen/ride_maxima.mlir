// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-lower-layers --halftone-ride-maxima -split-input-file %s | FileCheck %s
// RUN: halftone-opt --halftone-lower-layers --halftone-ride-maxima --halftone-ride-maxima -split-input-file %s | FileCheck %s
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
// CHECK: halftone.reduce "scales"(%[[WIDE]]) {halftone.maximum, halftone.values = array<i64: -1, -1>} {{.*}} each {
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
// CHECK-LABEL: halftone.graph "elements_beside_maxima"
// CHECK: halftone.map "scale"({{.*}}halftone.values = array<i64: 7>
// CHECK: halftone.reduce "scales"({{.*}}halftone.layer = "of_scales"{{.*}}halftone.values = array<i64: 9>
// KERNELS-LABEL: halftone.graph "elements_beside_maxima"
// KERNELS: %[[Y:.*]], %[[FOUND:.*]] = halftone.kernel "{{[a-z_]+}}" contraction over ["batch", 3, 8]
// KERNELS-SAME: -> [#halftone.access<full>] fused ["fc:linear", "scale", "of_scales:scales"]
// KERNELS-NOT: halftone.kernel "
// KERNELS: halftone.output "y", %[[Y]]
// KERNELS: halftone.output "largest", %[[FOUND]]
halftone.graph "elements_beside_maxima" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %s = halftone.input "s" : !one
  %fc = halftone.linear %x, %w {halftone.layer = "fc"} : (!matrix, !weight) -> !matrix
  %y, %maxima = halftone.map "scale" (%fc, %s) over ["batch", 3, 8] reads [#full, #scalar] writes [#full, #row] {halftone.values = array<i64: 7, 8>} : (!matrix, !one) -> (!matrix, !rows) {
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
  %largest = halftone.map "scales" (%left) over ["batch"] reads [#full] writes [#row] {halftone.layer = "of_scales", halftone.values = array<i64: 9>} : (!batch) -> !one {
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

// Who else reads the maxima of rows, or elements that are no product's, leaves the maps as they are; a kernel has one finish, which
// finds the maximum of one value for all who want it, and of no other, though the pass runs twice.
// CHECK-LABEL: halftone.graph "maps_that_stay"
// CHECK: %[[FC:.*]] = halftone.contract %
// CHECK-COUNT-5: halftone.row_max
// CHECK: %[[FOUND:.*]]:2 = halftone.reduce "second"(%[[FC]])
// CHECK: finish {
// CHECK-NEXT: ^bb0(%[[LARGEST:.*]]: f32):
// CHECK-NEXT: %[[TWICE:.*]] = arith.addf %[[LARGEST]], %[[LARGEST]] : f32
// CHECK-NEXT: halftone.yield %[[LARGEST]], %[[TWICE]] : f32, f32
// CHECK: halftone.map "other"
// CHECK-COUNT-2: halftone.row_max
// CHECK-NOT: halftone.reduce
// CHECK: halftone.output "all"
// CHECK: halftone.output "rides", %[[FOUND]]#0
// CHECK: halftone.output "too", %[[FOUND]]#1
halftone.graph "maps_that_stay" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %fc = halftone.linear %x, %w {halftone.layer = "fc"} : (!matrix, !weight) -> !matrix
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
  %again = halftone.map "read" (%read) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
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
  %too = halftone.map "third" (%third) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    %t = arith.addf %r, %r : f32
    halftone.yield %t : f32
  }
  %rounded = halftone.cast %fc : (!matrix) -> !halftone.tensor<[batch, 8], bf16>
  %wide = halftone.cast %rounded {halftone.inline} : (!halftone.tensor<[batch, 8], bf16>) -> !matrix
  %other = halftone.map "other" (%wide) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %stays = halftone.map "other" (%other) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  halftone.output "all", %all : !one
  halftone.output "again", %again : !one
  halftone.output "of", %of : !one
  halftone.output "rides", %rides : !one
  halftone.output "too", %too : !one
  halftone.output "stays", %stays : !one
}

// -----

#full = #halftone.access<full>
#row = #halftone.access<row>
!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!matrices = !halftone.tensor<[batch, 3, 8], f32>
!lines = !halftone.tensor<[batch, 3], f32>
!rows = !halftone.tensor<[batch], f32>
!one = !halftone.tensor<[], f32>

// Diagnosis keeps launches apart. Maxima of maxima that have something beside them stay, too.
// CHECK-LABEL: halftone.graph "diagnosis"
// CHECK-COUNT-2: halftone.row_max
// CHECK-LABEL: halftone.graph "maxima_of_maxima"
// CHECK-COUNT-3: halftone.row_max
// CHECK: halftone.output "left"
halftone.graph "diagnosis" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %fc = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
  %maxima = halftone.map "scales" (%fc) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %largest = halftone.map "scales" (%maxima) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  halftone.output "largest", %largest : !one
}

halftone.graph "maxima_of_maxima" {
  %x = halftone.input "x" : !matrices
  %w = halftone.input "w" : !weight
  %fc = halftone.linear %x, %w : (!matrices, !weight) -> !matrices
  %maxima = halftone.map "scales" (%fc) over ["batch", 3, 8] reads [#full] writes [#row] : (!matrices) -> !lines {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %left:2 = halftone.map "scales" (%maxima) over ["batch", 3] reads [#full] writes [#row, #row] : (!lines) -> (!rows, !rows) {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    %h = arith.addf %r, %r : f32
    halftone.yield %r, %h : f32, f32
  }
  %largest = halftone.map "scales" (%left#0) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  halftone.output "largest", %largest : !one
  halftone.output "left", %left#1 : !rows
}

// -----

#full = #halftone.access<full>
#row = #halftone.access<row>
#scalar = #halftone.access<scalar>
#next = #halftone.access<general reads affine_map<(d0, d1) -> (d0, (d1 + 1) mod 8)>>
!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!rows = !halftone.tensor<[batch], f32>
!one = !halftone.tensor<[], f32>

// So do maps that find anything beside, or of anything else, or that run at another time than the product: each has one thing wrong.
// CHECK-LABEL: halftone.graph "other_maxima"
// CHECK-NOT: halftone.reduce
// CHECK: halftone.output "two"
halftone.graph "other_maxima" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %s = halftone.input "s" : !one
  %fc_two = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
  %rows_two:2 = halftone.map "two" (%fc_two) over ["batch", 8] reads [#full] writes [#row, #row] : (!matrix) -> (!rows, !rows) {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    %q = halftone.row_max %m : f32
    halftone.yield %r, %q : f32, f32
  }
  %one_two = halftone.map "two" (%rows_two#1) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %fc_sum = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
  %rows_sum:2 = halftone.map "sum" (%fc_sum) over ["batch", 8] reads [#full] writes [#row, #row] : (!matrix) -> (!rows, !rows) {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    %q = halftone.row_sum %m : f32
    halftone.yield %r, %q : f32, f32
  }
  %one_sum = halftone.map "sum" (%rows_sum#0) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %fc_signed = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
  %rows_signed = halftone.map "signed" (%fc_signed) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %r = halftone.row_max %a : f32
    halftone.yield %r : f32
  }
  %one_signed = halftone.map "signed" (%rows_signed) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %fc_product = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
  %rows_product = halftone.map "product" (%fc_product) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %p = arith.mulf %a, %a : f32
    %m = math.absf %p : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %one_product = halftone.map "product" (%rows_product) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %fc_neighbour = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
  %rows_neighbour = halftone.map "neighbour" (%fc_neighbour) over ["batch", 8] reads [#next] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %one_neighbour = halftone.map "neighbour" (%rows_neighbour) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %fc_divided = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
  %rows_divided:2 = halftone.map "divided" (%fc_divided) over ["batch", 8] reads [#full] writes [#full, #row] : (!matrix) -> (!matrix, !rows) {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    %e = arith.divf %a, %r : f32
    halftone.yield %e, %r : f32, f32
  }
  %one_divided = halftone.map "divided" (%rows_divided#1) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %fc_beside = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
  %rows_beside = halftone.map "beside" (%fc_beside) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %one_beside = halftone.map "beside" (%rows_beside, %s) over ["batch"] reads [#full, #scalar] writes [#row] : (!rows, !one) -> !one {
  ^bb0(%a: f32, %b: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    %e = arith.mulf %r, %b : f32
    halftone.yield %e : f32
  }
  %fc_again = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
  %rows_again = halftone.map "again" (%fc_again) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %one_again:2 = halftone.map "again" (%rows_again) over ["batch"] reads [#full] writes [#full, #row] : (!rows) -> (!rows, !one) {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    %e = arith.addf %a, %r : f32
    halftone.yield %e, %r : f32, f32
  }
  %fc_magnitude = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
  %rows_magnitude = halftone.map "magnitude" (%fc_magnitude) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %one_magnitude:2 = halftone.map "magnitude" (%rows_magnitude) over ["batch"] reads [#full] writes [#full, #row] : (!rows) -> (!rows, !one) {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %m, %r : f32, f32
  }
  %made = halftone.map "made" (%x) over ["batch", 8] reads [#full] writes [#full] : (!matrix) -> !matrix {
  ^bb0(%a: f32):
    %e = arith.addf %a, %a : f32
    halftone.yield %e : f32
  }
  %rows_made = halftone.map "made" (%made) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %one_made = halftone.map "made" (%rows_made) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %fc_chunked = halftone.linear %x, %w {halftone.section = "loss"} : (!matrix, !weight) -> !matrix
  %rows_chunked = halftone.map "chunked" (%fc_chunked) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %one_chunked = halftone.map "chunked" (%rows_chunked) over ["batch"] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %fc_later = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
  %rows_later = halftone.map "later" (%fc_later) over ["batch", 8] reads [#full] writes [#row] : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %one_later = halftone.map "later" (%rows_later) over ["batch"] reads [#full] writes [#row] {halftone.phase = #halftone.phase<backward>} : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %fc_behind = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
  %rows_behind = halftone.map "behind" (%fc_behind) over ["batch", 8] reads [#full] writes [#row] {halftone.phase = #halftone.phase<backward>} : (!matrix) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %one_behind = halftone.map "behind" (%rows_behind) over ["batch"] reads [#full] writes [#row] {halftone.phase = #halftone.phase<backward>} : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  halftone.output "two", %one_two : !one
  halftone.output "also", %rows_two#0 : !rows
  halftone.output "sum", %one_sum : !one
  halftone.output "sums", %rows_sum#1 : !rows
  halftone.output "signed", %one_signed : !one
  halftone.output "product", %one_product : !one
  halftone.output "neighbour", %one_neighbour : !one
  halftone.output "divided", %one_divided : !one
  halftone.output "quotients", %rows_divided#0 : !matrix
  halftone.output "beside", %one_beside : !one
  halftone.output "again", %one_again#1 : !one
  halftone.output "added", %one_again#0 : !rows
  halftone.output "magnitude", %one_magnitude#1 : !one
  halftone.output "magnitudes", %one_magnitude#0 : !rows
  halftone.output "made", %one_made : !one
  halftone.output "elements", %made : !matrix
  halftone.output "chunked", %one_chunked : !one
  halftone.output "later", %one_later : !one
  halftone.output "behind", %one_behind : !one
}

// -----

#full = #halftone.access<full>
#row = #halftone.access<row>
#scalar = #halftone.access<scalar>
#part = #halftone.access<general reads affine_map<(d0, d1, d2) -> (d0, d1 * 4 + d2)>>
#even = #halftone.access<general reads affine_map<(d0, d1) -> (d0 * 2, d1)>>
#odd = #halftone.access<general reads affine_map<(d0, d1) -> (d0 * 2 + 1, d1)>>
!matrix = !halftone.tensor<[6, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!parts = !halftone.tensor<[6, 2], f32>
!squares = !halftone.tensor<[3, 2], f32>
!threes = !halftone.tensor<[3], f32>
!rows = !halftone.tensor<[6], f32>
!one = !halftone.tensor<[], f32>

// Two levels of blocks: the largest of blocks' maxima is the product's, of squares, too, which are found in two ways; their own maxima
// stay, since others read them.
// CHECK-LABEL: halftone.graph "largest_of_blocks"
// CHECK: %[[FC:.*]] = halftone.contract %
// CHECK: %[[PARTS:.*]] = halftone.map "parts"(%[[FC]])
// CHECK: halftone.row_max
// CHECK: %[[FOUND:.*]]:2 = halftone.reduce "scales"(%[[FC]])
// CHECK: halftone.map "fit"(%[[PARTS]], %[[FOUND]]#0)
// CHECK: %[[SQUARES:.*]] = halftone.map "squares"(%[[PARTS]], %[[PARTS]])
// CHECK-NOT: halftone.row_max
// CHECK: halftone.map "fit"(%[[SQUARES]], %[[FOUND]]#1)
// KERNELS-LABEL: halftone.graph "largest_of_blocks"
// KERNELS: %[[Y:.*]], %[[FOUND:.*]]:2 = halftone.kernel "{{[a-z_]+}}" contraction over [6, 8]
// KERNELS-SAME: fused ["fc:linear", "scales"]
// KERNELS: halftone.kernel "{{[a-z_0-9]+}}" row over [6, 2, 4]
// KERNELS: halftone.kernel "{{[a-z_0-9]+}}" pointwise over [6, 2]
// KERNELS: halftone.kernel "{{[a-z_0-9]+}}" pointwise over [3, 2]
// KERNELS-SAME: fused ["squares", "fit"]
// KERNELS-NOT: halftone.kernel "
// KERNELS: halftone.output "fits"
halftone.graph "largest_of_blocks" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %fc = halftone.linear %x, %w {halftone.layer = "fc"} : (!matrix, !weight) -> !matrix
  %parts = halftone.map "parts" (%fc) over [6, 2, 4] reads [#part] writes [#row] {halftone.maxima_of_groups} : (!matrix) -> !parts {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %lines = halftone.map "scales" (%parts) over [6, 2] reads [#full] writes [#row] {halftone.maxima_of_groups} : (!parts) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %largest = halftone.map "scales" (%lines) over [6] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %fit = halftone.map "fit" (%parts, %largest) over [6, 2] reads [#full, #scalar] writes [#full] : (!parts, !one) -> !parts {
  ^bb0(%a: f32, %b: f32):
    %e = arith.mulf %a, %b : f32
    halftone.yield %e : f32
  }
  %squares = halftone.map "squares" (%parts, %parts) over [3, 2] reads [#even, #odd] writes [#full] {halftone.maxima_of_groups} : (!parts, !parts) -> !squares {
  ^bb0(%a: f32, %b: f32):
    %m = math.absf %a : f32
    %n = math.absf %b : f32
    %r = arith.maximumf %m, %n : f32
    halftone.yield %r : f32
  }
  %threes = halftone.map "scales" (%squares) over [3, 2] reads [#full] writes [#row] {halftone.maxima_of_groups} : (!squares) -> !threes {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %same = halftone.map "scales" (%threes) over [3] reads [#full] writes [#row] : (!threes) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %fits = halftone.map "fit" (%squares, %same) over [3, 2] reads [#full, #scalar] writes [#full] : (!squares, !one) -> !squares {
  ^bb0(%a: f32, %b: f32):
    %e = arith.mulf %a, %b : f32
    halftone.yield %e : f32
  }
  halftone.output "fc", %fc : !matrix
  halftone.output "fit", %fit : !parts
  halftone.output "fits", %fits : !squares
}

// Each of several maps might begin a chain: the longest does.
// CHECK-LABEL: halftone.graph "marked_rows"
// CHECK: %[[FC:.*]] = halftone.contract %
// CHECK-NOT: halftone.row_max
// CHECK: %[[FOUND:.*]] = halftone.reduce "scales"(%[[FC]])
// CHECK-NOT: halftone.row_max
// CHECK: halftone.output "largest", %[[FOUND]]
halftone.graph "marked_rows" {
  %x = halftone.input "x" : !halftone.tensor<[2, 3, 8], f32>
  %w = halftone.input "w" : !weight
  %fc = halftone.linear %x, %w {halftone.layer = "fc"} : (!halftone.tensor<[2, 3, 8], f32>, !weight) -> !halftone.tensor<[2, 3, 8], f32>
  %lines = halftone.map "scales" (%fc) over [2, 3, 8] reads [#full] writes [#row] {halftone.maxima_of_groups} : (!halftone.tensor<[2, 3, 8], f32>) -> !halftone.tensor<[2, 3], f32> {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %rows = halftone.map "scales" (%lines) over [2, 3] reads [#full] writes [#row] {halftone.maxima_of_groups} : (!halftone.tensor<[2, 3], f32>) -> !halftone.tensor<[2], f32> {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %largest = halftone.map "scales" (%rows) over [2] reads [#full] writes [#row] : (!halftone.tensor<[2], f32>) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  halftone.output "largest", %largest : !one
}

// What no mark says to be of all elements stays, and what is of no product's.
// CHECK-LABEL: halftone.graph "largest_of_others"
// CHECK-NOT: halftone.reduce
// CHECK: halftone.output "fit"
halftone.graph "largest_of_others" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %fc = halftone.linear %x, %w {halftone.layer = "fc"} : (!matrix, !weight) -> !matrix
  %parts = halftone.map "parts" (%fc) over [6, 2, 4] reads [#part] writes [#row] : (!matrix) -> !parts {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %lines = halftone.map "scales" (%parts) over [6, 2] reads [#full] writes [#row] {halftone.maxima_of_groups} : (!parts) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %largest = halftone.map "scales" (%lines) over [6] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %fit = halftone.map "fit" (%parts, %largest) over [6, 2] reads [#full, #scalar] writes [#full] : (!parts, !one) -> !parts {
  ^bb0(%a: f32, %b: f32):
    %e = arith.mulf %a, %b : f32
    halftone.yield %e : f32
  }
  %of_x = halftone.map "parts" (%x) over [6, 2, 4] reads [#part] writes [#row] {halftone.maxima_of_groups} : (!matrix) -> !parts {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %lines_of_x = halftone.map "scales" (%of_x) over [6, 2] reads [#full] writes [#row] {halftone.maxima_of_groups} : (!parts) -> !rows {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  %largest_of_x = halftone.map "scales" (%lines_of_x) over [6] reads [#full] writes [#row] : (!rows) -> !one {
  ^bb0(%a: f32):
    %m = math.absf %a : f32
    %r = halftone.row_max %m : f32
    halftone.yield %r : f32
  }
  halftone.output "fit", %fit : !parts
  halftone.output "of_x", %largest_of_x : !one
}
