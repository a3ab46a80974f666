// SPDX-License-Identifier: Apache-2.0
// On chips long sequences are transformed in passes of many blocks (decisions/0057).
// RUN: halftone-opt --halftone-split-transforms %s | FileCheck %s
// RUN: halftone-opt --halftone-lower-layers --halftone-split-transforms --halftone-form-kernels %s | FileCheck %s --check-prefix=KERNELS

// CHECK: module attributes {halftone.cpu_apart}
module {
// A block holds 1024 places: one pass for all stages.
// CHECK-LABEL: halftone.graph "whole"
halftone.graph "whole" {
  %turns = halftone.input "turns" : !halftone.tensor<[2, 1024], f32>
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, 900, 20], f32>
  // CHECK-NEXT: %[[S:.*]] = halftone.transform_pass %[[X]] by %{{.*}} {halftone.layer = "long"} : (!halftone.tensor<[batch, 900, 20], f32>, !halftone.tensor<[2, 1024], f32>) -> !halftone.tensor<[batch, 2, 1024, 2, 16], f32>
  // CHECK-NEXT: %[[Y:.*]] = halftone.inverse_transform_pass %[[S]] by %{{.*}} -> !halftone.tensor<[batch, 900, 20], f32>
  %s = halftone.transform %x by %turns {halftone.layer = "long"} : (!halftone.tensor<[batch, 900, 20], f32>, !halftone.tensor<[2, 1024], f32>) -> !halftone.tensor<[batch, 2, 1024, 2, 16], f32>
  %y, %work = halftone.inverse_transform %s by %turns : (!halftone.tensor<[batch, 2, 1024, 2, 16], f32>, !halftone.tensor<[2, 1024], f32>)
      -> (!halftone.tensor<[batch, 900, 20], f32>, !halftone.tensor<[batch, 2, 1024, 2, 16], f32>)
  // CHECK-NEXT: halftone.output "y", %[[Y]]
  halftone.output "y", %y : !halftone.tensor<[batch, 900, 20], f32>
}

// 2048 do not fit: five stages, then six. The first pass is made once for all that read it.
// CHECK-LABEL: halftone.graph "halves"
halftone.graph "halves" {
  %turns = halftone.input "turns" : !halftone.tensor<[2, 2048], f32>
  %x = halftone.input "x" : !halftone.tensor<[batch, 2000, 3], f32>
  // CHECK: %[[FIRST:.*]] = halftone.transform_pass %{{.*}} by %[[TURNS:.*]] : (!halftone.tensor<[batch, 2000, 3], f32>, {{.*}}) -> !halftone.tensor<[batch, 1, 2048, 2, 16], f32>
  // CHECK-NEXT: %[[S:.*]] = halftone.transform_pass %[[FIRST]] by %[[TURNS]] : (!halftone.tensor<[batch, 1, 2048, 2, 16], f32>, {{.*}}) -> !halftone.tensor<[batch, 1, 2048, 2, 16], f32>
  %s = halftone.transform %x by %turns : (!halftone.tensor<[batch, 2000, 3], f32>, !halftone.tensor<[2, 2048], f32>) -> !halftone.tensor<[batch, 1, 2048, 2, 16], f32>
  // CHECK: %[[F:.*]] = halftone.input "factor"
  %f = halftone.input "factor" : !halftone.tensor<[1, 2048, 2, 16], f32>
  %product = halftone.map "product"(%s, %s, %f, %f) over ["batch", 1, 2048, 2, 16]
      reads [#halftone.access<full>, #halftone.access<full>, #halftone.access<general reads affine_map<(a, b, c, d, e) -> (b, c, d, e)>>, #halftone.access<general reads affine_map<(a, b, c, d, e) -> (b, c, d, e)>>]
      writes [#halftone.access<full>] {halftone.product_of_spectra = true}
      : (!halftone.tensor<[batch, 1, 2048, 2, 16], f32>, !halftone.tensor<[batch, 1, 2048, 2, 16], f32>, !halftone.tensor<[1, 2048, 2, 16], f32>, !halftone.tensor<[1, 2048, 2, 16], f32>) -> !halftone.tensor<[batch, 1, 2048, 2, 16], f32> {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
      halftone.yield %a : f32
  }
  // CHECK-NEXT: %[[MIDDLE:.*]] = halftone.convolution_pass %[[FIRST]] times %[[F]] by %[[TURNS]] {conjugate} : ({{.*}}) -> !halftone.tensor<[batch, 1, 2048, 2, 16], f32>
  // CHECK-NEXT: %[[Y:.*]] = halftone.inverse_transform_pass %[[MIDDLE]] by %[[TURNS]] {{.*}} -> !halftone.tensor<[batch, 2000, 3], f32>
  %y, %work = halftone.inverse_transform %product by %turns : (!halftone.tensor<[batch, 1, 2048, 2, 16], f32>, !halftone.tensor<[2, 2048], f32>)
      -> (!halftone.tensor<[batch, 2000, 3], f32>, !halftone.tensor<[batch, 1, 2048, 2, 16], f32>)
  // CHECK-NEXT: halftone.output "y", %[[Y]]
  halftone.output "y", %y : !halftone.tensor<[batch, 2000, 3], f32>
  halftone.output "s", %s : !halftone.tensor<[batch, 1, 2048, 2, 16], f32>
}

// CHECK-LABEL: halftone.graph "does_not_split_short_ones"
halftone.graph "does_not_split_short_ones" {
  %turns = halftone.input "turns" : !halftone.tensor<[2, 32], f32>
  %x = halftone.input "x" : !halftone.tensor<[batch, 20, 3], f32>
  // CHECK: halftone.transform %
  %s = halftone.transform %x by %turns : (!halftone.tensor<[batch, 20, 3], f32>, !halftone.tensor<[2, 32], f32>) -> !halftone.tensor<[batch, 1, 32, 2, 16], f32>
  halftone.output "s", %s : !halftone.tensor<[batch, 1, 32, 2, 16], f32>
}

// A diagnosis runs single operations.
// CHECK-LABEL: halftone.graph "diagnosis"
halftone.graph "diagnosis" {
  %turns = halftone.input "turns" : !halftone.tensor<[2, 64], f32>
  %x = halftone.input "x" : !halftone.tensor<[batch, 50, 3], f32>
  // CHECK: halftone.transform %
  %s = halftone.transform %x by %turns : (!halftone.tensor<[batch, 50, 3], f32>, !halftone.tensor<[2, 64], f32>) -> !halftone.tensor<[batch, 1, 64, 2, 16], f32>
  halftone.output "s", %s : !halftone.tensor<[batch, 1, 64, 2, 16], f32>
}

// Forward is two kernels.
// KERNELS: halftone.graph "long"
// KERNELS: %[[SF:.*]] = halftone.kernel "long_long" transform_pass over [100, 3] reduce []
// KERNELS: halftone.kernel "long_long_2" convolution_pass over ["batch", 100, 3] reduce [](%{{.*}}, %[[SF]], %{{.*}}) accesses [#halftone.access<full>, #halftone.access<factor>, #halftone.access<turns>] -> [#halftone.access<transformed>]
halftone.graph "long" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 100, 3], f32>
  %f = halftone.input "f" : !halftone.tensor<[100, 3], f32>
  %y = halftone.long_convolution %x, %f {halftone.layer = "long", halftone.phase = #halftone.phase<forward>} : (!halftone.tensor<[batch, 100, 3], f32>, !halftone.tensor<[100, 3], f32>) -> !halftone.tensor<[batch, 100, 3], f32>
  halftone.output "y", %y {halftone.phase = #halftone.phase<forward>} : !halftone.tensor<[batch, 100, 3], f32>
}
}
