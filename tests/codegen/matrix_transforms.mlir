// SPDX-License-Identifier: Apache-2.0
// Where rules round what transforms multiply, spectra are products of matrices (decisions/0059).
// RUN: halftone-opt --halftone-lower-layers %s | FileCheck %s
// RUN: halftone-opt --halftone-lower-layers --halftone-split-transforms --halftone-form-kernels %s | FileCheck %s --check-prefix=KERNELS

// CHECK-DAG: #[[PLACES:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4 * 16 + d2, d1)>
// CHECK-DAG: #[[TURNED:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d5, d3, d4, d2)>
// CHECK-DAG: #[[OTHER_PART:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d5, d3, -d4 + 1, d2)>
// CHECK-DAG: #[[COSINES:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (0, d2, d3, d5)>
// CHECK-DAG: #[[COSINES_BACK:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (0, d5, d3, d2)>
// CHECK-DAG: #[[RESULT:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1 mod 16, d1 floordiv 16)>

!sequences = !halftone.tensor<[batch, 200, 3], f32>
!filter = !halftone.tensor<[200, 3], f32>

module {
// Of 256 places two sides of 16; matrices and factors once for x, for the filter, for the way back and for the second layer.
// CHECK-LABEL: halftone.graph "two_sides"
halftone.graph "two_sides" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !sequences
  // CHECK: %[[F:.*]] = halftone.input "f"
  %f = halftone.input "f" : !filter
  // CHECK: halftone.map "transform_places"(%[[X]]) over ["batch", 3, 16, 1, 16] reads [#halftone.access<general reads #[[PLACES]]>] {{.*}} -> !halftone.tensor<[batch, 3, 16, 1, 16], f16>
  // CHECK: %[[FIRST:.*]] = halftone.map "transform_matrix"() over [16, 32] {{.*}} -> !halftone.tensor<[16, 32], f16>
  // CHECK: %[[SUMS:.*]] = halftone.contract %{{.*}}, %[[FIRST]] {{.*}}label = "transform_product"{{.*}} : (!halftone.tensor<[batch, 3, 16, 16], f16>, !halftone.tensor<[16, 32], f16>) -> !halftone.tensor<[batch, 3, 16, 32], f32>
  // CHECK: %[[PARTS:.*]] = halftone.view %[[SUMS]] {{.*}} -> !halftone.tensor<[batch, 3, 16, 1, 2, 16], f32>
  // CHECK: %[[FACTORS:.*]] = halftone.map "transform_factors"() over [2, 16, 1, 16]
  // CHECK: halftone.map "transform_factors"(%[[PARTS]], %[[PARTS]], %[[FACTORS]], %[[FACTORS]]) over ["batch", 3, 16, 1, 2, 16] reads [#halftone.access<general reads #[[TURNED]]>, #halftone.access<general reads #[[OTHER_PART]]>, #halftone.access<general reads #[[COSINES]]>,
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  // CHECK: %[[SECOND:.*]] = halftone.map "transform_matrix"() over [32, 32] {{.*}} -> !halftone.tensor<[32, 32], f16>
  // CHECK: halftone.contract %{{.*}}, %[[SECOND]] {{.*}} : (!halftone.tensor<[batch, 3, 16, 32], f16>, !halftone.tensor<[32, 32], f16>) -> !halftone.tensor<[batch, 3, 16, 32], f32>
  // CHECK-NOT: over [16, 32]
  // CHECK: halftone.map "transform_places"(%[[F]]) over [3, 16, 1, 16]
  // CHECK: halftone.contract %{{.*}}, %[[FIRST]]
  // CHECK: halftone.contract %{{.*}}, %[[SECOND]]
  // CHECK: %[[PRODUCT:.*]] = halftone.map "long_convolution"
  // CHECK: halftone.map "transform_rounding"(%[[PRODUCT]]) {{.*}} -> !halftone.tensor<[batch, 3, 16, 2, 16], f16>
  // CHECK: halftone.contract %{{.*}}, %[[SECOND]] {{.*}}label = "inverse_transform_product"{{.*}}transpose_rhs}
  // CHECK: halftone.map "inverse_transform_factors"(%{{.*}}, %{{.*}}, %[[FACTORS]], %[[FACTORS]]) {{.*}}#halftone.access<general reads #[[COSINES_BACK]]>
  // CHECK: %[[BACK:.*]] = halftone.contract %{{.*}}, %[[FIRST]] {{.*}}transpose_rhs} : (!halftone.tensor<[batch, 3, 16, 32], f16>, !halftone.tensor<[16, 32], f16>) -> !halftone.tensor<[batch, 3, 16, 16], f32>
  // CHECK: halftone.map "transformed_places"(%[[BACK]]) over ["batch", 200, 3] reads [#halftone.access<general reads #[[RESULT]]>]
  %y = halftone.long_convolution %x, %f {halftone.layer = "long", halftone.rounded_inside = {transforms = #halftone.encoding<f16>}} : (!sequences, !filter) -> !sequences
  // CHECK-NOT: map "transform_matrix"
  // CHECK-NOT: halftone.transform {{%}}
  %z = halftone.long_convolution %y, %f {halftone.layer = "more", halftone.rounded_inside = {transforms = #halftone.encoding<f16>}} : (!sequences, !filter) -> !sequences
  // CHECK: halftone.output "z"
  halftone.output "z", %z : !sequences
}

// Of 2^15 places three sides of 32; other matrices in another format, and none without a rule.
// CHECK-LABEL: halftone.graph "three_sides"
halftone.graph "three_sides" {
  %x = halftone.input "x" : !halftone.tensor<[30000, 1], f32>
  // CHECK: halftone.map "transform_matrix"() over [32, 64] {{.*}}, bf16>
  // CHECK: halftone.map "transform_factors"() over [2, 32, 32, 32]
  // CHECK: halftone.map "transform_matrix"() over [64, 64]
  // CHECK: halftone.map "transform_factors"() over [2, 32, 1, 32]
  // CHECK: halftone.contract {{.*}}-> !halftone.tensor<[1, 1024, 64], f32>
  // CHECK: halftone.map "long_convolution"
  // CHECK-COUNT-2: halftone.map "inverse_transform_factors"
  %y = halftone.long_convolution %x, %x {halftone.rounded_inside = {transforms = #halftone.encoding<bf16>}} : (!halftone.tensor<[30000, 1], f32>, !halftone.tensor<[30000, 1], f32>) -> !halftone.tensor<[30000, 1], f32>
  // CHECK: halftone.map "transform_matrix"() over [32, 64] {{.*}}, f16>
  %z = halftone.long_convolution %y, %x {halftone.rounded_inside = {transforms = #halftone.encoding<f16>}} : (!halftone.tensor<[30000, 1], f32>, !halftone.tensor<[30000, 1], f32>) -> !halftone.tensor<[30000, 1], f32>
  // CHECK: halftone.transform {{%}}
  // CHECK: halftone.inverse_transform {{%}}
  %w = halftone.long_convolution %z, %x : (!halftone.tensor<[30000, 1], f32>, !halftone.tensor<[30000, 1], f32>) -> !halftone.tensor<[30000, 1], f32>
  halftone.output "w", %w : !halftone.tensor<[30000, 1], f32>
}
}

// What rounds a product of spectra joins its map.
// KERNELS-LABEL: halftone.graph "two_sides"
// KERNELS: halftone.kernel{{.*}}long_convolution
// KERNELS-NOT: halftone.kernel "{{[a-z_0-9]*}}transform_rounding
// KERNELS: halftone.graph "three_sides"
