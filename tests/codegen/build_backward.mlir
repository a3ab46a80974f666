// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-build-backward -split-input-file -verify-diagnostics %s | FileCheck %s

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!vector = !halftone.tensor<[8], f32>
!rows = !halftone.tensor<[batch], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// D40, D48: the seed is the loss's weight, the mean divides it, every gradient is marked with layer and phase.
// CHECK-LABEL: module @gradients_of_a_linear_layer_and_its_loss
module @gradients_of_a_linear_layer_and_its_loss {
  halftone.graph "training" {
    // CHECK: %[[X:.*]] = halftone.input "x"
    %x = halftone.input "x" : !matrix
    // CHECK: %[[LABEL:.*]] = halftone.input "label"
    %label = halftone.input "label" : !halftone.tensor<[batch], i32>
    %w = halftone.parameter "w" {initializer = #zeros} : !weight
    %b = halftone.parameter "b" {initializer = #zeros} : !vector
    // CHECK: %[[Y:.*]] = halftone.linear
    %y = halftone.linear %x, %w bias %b {halftone.kind = "linear", halftone.layer = "fc"} : (!matrix, !weight, !vector) -> !matrix
    %r = halftone.cross_entropy %y, %label {halftone.layer = "loss", halftone.phase = #halftone.phase<loss>}
        : (!matrix, !halftone.tensor<[batch], i32>) -> !rows
    %l = halftone.mean %r {halftone.layer = "loss", halftone.phase = #halftone.phase<loss>} : (!rows) -> !scalar
    halftone.output "y", %y : !matrix
    // CHECK: halftone.loss "loss"
    halftone.loss "loss", %l weight 0.5 {halftone.phase = #halftone.phase<loss>} : !scalar
    // CHECK: %[[SEED:.*]] = halftone.map "loss_weight"() {halftone.phase = #halftone.phase<loss_backward>}
    // CHECK: arith.constant 5.000000e-01 : f32
    // CHECK: %[[ROW:.*]] = halftone.map "mean_grad"(%[[SEED]]) {{.*}}-> !halftone.tensor<[batch], f32>
    // CHECK: %[[COUNT:.*]] = halftone.count ["batch"] : f32
    // CHECK: arith.divf %{{.*}}, %[[COUNT]]
    // CHECK: %[[DY:.*]] = halftone.map "cross_entropy_grad"(%[[Y]], %[[LABEL]], %[[ROW]]) over ["batch", 8] reads [#halftone.access<full>, #halftone.access<row>, #halftone.access<row>] writes [#halftone.access<full>] {halftone.gradient_of = ["fc"], halftone.layer = "loss", halftone.phase = #halftone.phase<loss_backward>}
    // CHECK: %[[CUT:.*]] = halftone.output_gradient "y", %[[DY]] {halftone.gradient_of = ["fc"], halftone.kind = "linear", halftone.layer = "fc", halftone.phase = #halftone.phase<loss_backward>}
    // CHECK: %[[DW:.*]] = halftone.contract %[[CUT]], %[[X]] {halftone.gradient_of = ["w"], halftone.kind = "linear", halftone.layer = "fc", halftone.phase = #halftone.phase<backward>, pass = #halftone.pass<weight_gradient>, transpose_lhs}
    // CHECK: %[[DB:.*]] = halftone.reduce "column_sum"(%[[CUT]]) {halftone.gradient_of = ["b"],
    // CHECK: halftone.gradient %[[DW]] of
    // CHECK: halftone.gradient %[[DB]] of
  }
}

// -----

!wide = !halftone.tensor<[batch, 8], f32>
!code = !halftone.tensor<[batch, 3], f32>
!weight = !halftone.tensor<[3, 8], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// D40: the way back by the weight of the way in; what both give for it is laid out as it is, and summed.
// CHECK-LABEL: module @gradients_of_a_transposed_weight
module @gradients_of_a_transposed_weight {
  halftone.graph "training" {
    // CHECK: %[[X:.*]] = halftone.input "x"
    %x = halftone.input "x" : !wide
    // CHECK: %[[W:.*]] = halftone.parameter "w"
    %w = halftone.parameter "w" {initializer = #zeros} : !weight
    // CHECK: %[[CODE:.*]] = halftone.linear %[[X]], %[[W]]
    %code = halftone.linear %x, %w {halftone.layer = "to"} : (!wide, !weight) -> !code
    // CHECK: halftone.linear %[[CODE]], %[[W]]
    %back = halftone.linear %code, %w {halftone.layer = "back", transposed = true} : (!code, !weight) -> !wide
    %s = halftone.mse %back, %x {halftone.layer = "loss", halftone.phase = #loss} : (!wide, !wide) -> !wide
    %l = halftone.mean %s {halftone.layer = "loss", halftone.phase = #loss} : (!wide) -> !halftone.tensor<[], f32>
    halftone.loss "loss", %l weight 1.0 {halftone.phase = #loss} : !halftone.tensor<[], f32>
    // CHECK: %[[G:.*]]:2 = halftone.map "mse_grad"
    // CHECK: %[[DCODE:.*]] = halftone.contract %[[G]]#0, %[[W]] {{.*}}pass = #halftone.pass<input_gradient>, transpose_rhs} {{.*}}-> !halftone.tensor<[batch, 3], f32>
    // CHECK: %[[BACK:.*]] = halftone.contract %[[CODE]], %[[G]]#0 {{.*}}pass = #halftone.pass<weight_gradient>, transpose_lhs} {{.*}}-> !halftone.tensor<[3, 8], f32>
    // CHECK: %[[TO:.*]] = halftone.contract %[[DCODE]], %[[X]] {{.*}}pass = #halftone.pass<weight_gradient>, transpose_lhs} {{.*}}-> !halftone.tensor<[3, 8], f32>
    // CHECK: %[[SUM:.*]] = halftone.map "add"(%[[BACK]], %[[TO]])
    // CHECK: halftone.gradient %[[SUM]] of %[[W]]
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!vector = !halftone.tensor<[8], f32>
!rows = !halftone.tensor<[batch], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#forward = #halftone.phase<forward>
#loss = #halftone.phase<loss>

// D41 to D47, one layer after the other. Nothing leads to the input, so nothing computes its gradient.
// CHECK-LABEL: module @gradients_of_every_layer
module @gradients_of_every_layer {
  halftone.graph "training" {
    // CHECK: %[[X:.*]] = halftone.input "x"
    %x = halftone.input "x" : !matrix
    // CHECK: %[[G:.*]] = halftone.parameter "g"
    %g = halftone.parameter "g" {initializer = #zeros} : !vector
    %b = halftone.parameter "b" {initializer = #zeros} : !vector
    // CHECK: %[[N:.*]], %[[MEAN:.*]], %[[RSTD:.*]] = halftone.layer_norm
    %n, %mean, %rstd = halftone.layer_norm %x, %g, %b {epsilon = 1.0e-5 : f64}
        : (!matrix, !vector, !vector) -> (!matrix, !rows, !rows)
    // CHECK: %[[RELU:.*]] = halftone.relu
    %relu = halftone.relu %n : (!matrix) -> !matrix
    // CHECK: %[[GELU:.*]] = halftone.gelu
    %gelu = halftone.gelu %relu {approximation = "erf"} : (!matrix) -> !matrix
    %tanh = halftone.gelu %gelu {approximation = "tanh"} : (!matrix) -> !matrix
    %wide = halftone.concat %x, %tanh, %x : (!matrix, !matrix, !matrix) -> !halftone.tensor<[batch, 24], f32>
    %cat = halftone.slice %wide {begin = 2 : i64, end = 18 : i64} : (!halftone.tensor<[batch, 24], f32>) -> !halftone.tensor<[batch, 16], f32>
    // CHECK: %[[TOTAL:.*]] = halftone.pointwise "half"
    %p = halftone.pointwise "half" (%cat) : (!halftone.tensor<[batch, 16], f32>) -> !halftone.tensor<[batch, 16], f32> {
    ^bb0(%a: f32):
      %half = arith.constant 0.5 : f32
      %h = arith.mulf %a, %half : f32
      halftone.yield %h : f32
    }
    %l = halftone.mean %p {halftone.phase = #loss} : (!halftone.tensor<[batch, 16], f32>) -> !scalar
    halftone.loss "l", %l weight 1.0 {halftone.phase = #loss} : !scalar
    // CHECK: %[[DP:.*]] = halftone.map "mean_grad"
    // CHECK: %[[DC:.*]] = halftone.map "half_grad"(%{{.*}}, %[[DP]])
    // CHECK: %[[DS:.*]] = halftone.map "pad"(%[[DC]]) over ["batch", 24] reads [#halftone.access<window, -2>] writes [#halftone.access<full>]
    // CHECK: %[[DT:.*]] = halftone.map "slice"(%[[DS]]) over ["batch", 8] reads [#halftone.access<window, 8>] writes [#halftone.access<full>]
    // CHECK: %[[DG:.*]] = halftone.map "gelu_tanh_grad"(%[[GELU]], %[[DT]])
    // CHECK: %[[DR:.*]] = halftone.map "gelu_grad"(%[[RELU]], %[[DG]])
    // CHECK: %[[DN:.*]] = halftone.map "relu_grad"(%[[RELU]], %[[DR]])
    // CHECK-NEXT: ^bb0(%[[RY:[a-z0-9]+]]: f32, %[[RG:[a-z0-9]+]]: f32):
    // CHECK: %[[OFF:.*]] = arith.cmpf ole, %[[RY]], %[[RZERO:.*]] : f32
    // CHECK: arith.select %[[OFF]], %[[RZERO]], %[[RG]] : f32
    // CHECK: %[[DW:.*]]:2 = halftone.reduce "layer_norm_weight_grad"(%[[X]], %[[MEAN]], %[[RSTD]], %[[DN]])
    // CHECK: halftone.gradient %[[DW]]#0 of %[[G]]
    // CHECK: halftone.gradient %[[DW]]#1
    // CHECK-NOT: halftone.gradient %
  }
}

// -----

!sequence = !halftone.tensor<[batch, time, 8], f32>
!taps = !halftone.tensor<[8, 2], f32>
!vector = !halftone.tensor<[8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// D58: x's gradient looks ahead, one pass sums what belongs to all taps, and what stays inside of a gradient is marked.
// CHECK-DAG: #[[LATER:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1 + 1, d2)>
// CHECK-DAG: #[[BEFORE:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1 - 1, d2)>
// CHECK-LABEL: module @gradients_of_a_convolution
module @gradients_of_a_convolution {
  halftone.graph "training" {
    %x = halftone.input "x" : !sequence
    // CHECK: %[[W:.*]] = halftone.parameter "w"
    %w = halftone.parameter "w" {initializer = #zeros} : !taps
    %v = halftone.parameter "v" {initializer = #zeros} : !taps
    %b = halftone.parameter "b" {initializer = #zeros} : !vector
    // CHECK: %[[H:.*]] = halftone.causal_conv1d
    %h = halftone.causal_conv1d %x, %v {halftone.layer = "first"} : (!sequence, !taps) -> !sequence
    %y = halftone.causal_conv1d %h, %w bias %b {halftone.layer = "conv"} : (!sequence, !taps, !vector) -> !sequence
    %e = halftone.mse %y, %x {halftone.layer = "loss", halftone.phase = #halftone.phase<loss>} : (!sequence, !sequence) -> !sequence
    %l = halftone.mean %e {halftone.layer = "loss", halftone.phase = #halftone.phase<loss>} : (!sequence) -> !scalar
    halftone.loss "loss", %l weight 1.0 {halftone.phase = #halftone.phase<loss>} : !scalar
    // CHECK: %[[G:.*]]:2 = halftone.map "mse_grad"
    // CHECK: %[[T:.*]] = halftone.map "taps"(%[[W]]) {{.*}}{halftone.internal, halftone.layer = "conv",
    // CHECK: halftone.map "causal_conv1d_grad"(%[[T]], %[[G]]#0, %[[T]], %[[G]]#0) {{.*}} reads [#halftone.access<general reads #{{.*}}>, #halftone.access<general reads #[[LATER]]>, #halftone.access<general reads #{{.*}}>, #halftone.access<full>] {{.*}}{halftone.gradient_of = ["first"],
    // CHECK: %[[S:.*]]:2 = halftone.reduce "causal_conv1d_tap_sums"(%[[G]]#0, %[[H]], %[[H]]) reads [#halftone.access<full>, #halftone.access<general reads #[[BEFORE]]>, #halftone.access<full>] {halftone.internal, {{.*}} pass = #halftone.pass<weight_gradient>}
    // CHECK: %[[DW:.*]] = halftone.map "causal_conv1d_weight_grad"(%[[S]]#0, %[[S]]#1) over [8, 2] reads [#halftone.access<row>, #halftone.access<row>] writes [#halftone.access<full>] {halftone.gradient_of = ["w"],
    // CHECK: %[[C:.*]] = halftone.column_index
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[C]], %c0_i32
    // CHECK: arith.select %[[FIRST]], %{{[a-z]+}}0, %{{[a-z]+}}1
    // CHECK: %[[DB:.*]] = halftone.reduce "column_sum"(%[[G]]#0) {halftone.gradient_of = ["b"],
    // CHECK: halftone.gradient %[[DW]] of %[[W]]
  }
}

// -----

!image = !halftone.tensor<[batch, 8, 4], f32>
!halved = !halftone.tensor<[batch, 4, 6], f32>
!kernel = !halftone.tensor<[6, 3, 4], f32>
!taps = !halftone.tensor<[4, 3, 4], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// D78: for x the windows that hold a place, where the stride leaves one, by the turned weight; for the weight the windows of x.
// CHECK-DAG: #[[HELD:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 2 + d2 - 1, d3)>
// CHECK-DAG: #[[HOLDS:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d0, (d1 - d2 + 1) floordiv 2, d3)>
// CHECK-DAG: #[[WHOLE:set[0-9]*]] = affine_set<(d0, d1, d2, d3) : ((d1 - d2 + 1) mod 2 == 0)>
// CHECK-LABEL: module @gradients_of_windows
module @gradients_of_windows {
  halftone.graph "training" {
    %x = halftone.input "x" : !image
    %t = halftone.input "t" : !halved
    // CHECK: %[[W:.*]] = halftone.parameter "w"
    %w = halftone.parameter "w" {initializer = #zeros} : !kernel
    %v = halftone.parameter "v" {initializer = #zeros} : !taps
    // CHECK: %[[H:.*]] = halftone.convolution
    %h = halftone.convolution %x, %v {halftone.layer = "first", kernel = array<i64: 3>, padding = array<i64: 1, 1>} : (!image, !taps) -> !image
    %y = halftone.convolution %h, %w {halftone.layer = "conv", kernel = array<i64: 3>, padding = array<i64: 1, 1>, stride = array<i64: 2>} : (!image, !kernel) -> !halved
    %e = halftone.mse %y, %t {halftone.layer = "loss", halftone.phase = #halftone.phase<loss>} : (!halved, !halved) -> !halved
    %l = halftone.mean %e {halftone.layer = "loss", halftone.phase = #halftone.phase<loss>} : (!halved) -> !scalar
    halftone.loss "loss", %l weight 1.0 {halftone.phase = #halftone.phase<loss>} : !scalar
    // CHECK: %[[G:.*]]:2 = halftone.map "mse_grad"
    // CHECK: %[[GIVEN:.*]] = halftone.map "windows_of"(%[[G]]#0) over ["batch", 8, 3, 6] reads [#halftone.access<general reads #[[HOLDS]] where #[[WHOLE]]>] writes [#halftone.access<full>] {halftone.internal, halftone.layer = "conv",
    // CHECK: %[[ROWS:.*]] = halftone.view %[[GIVEN]] {{.*}} -> !halftone.tensor<[batch, 8, 18], f32>
    // CHECK: %[[TURNED:.*]] = halftone.map "transpose"(%[[W]]) over [3, 6, 4]
    // CHECK: %[[COLUMNS:.*]] = halftone.view %[[TURNED]] {{.*}} -> !halftone.tensor<[18, 4], f32>
    // CHECK: halftone.contract %[[ROWS]], %[[COLUMNS]] {halftone.gradient_of = ["first"], {{.*}}pass = #halftone.pass<input_gradient>}
    // CHECK: %[[WINDOWS:.*]] = halftone.map "windows"(%[[H]]) over ["batch", 4, 3, 4] reads [#halftone.access<general reads #[[HELD]]>]
    // CHECK: %[[MATRIX:.*]] = halftone.view %[[WINDOWS]] {{.*}} -> !halftone.tensor<[batch, 4, 12], f32>
    // CHECK: %[[SUM:.*]] = halftone.contract %[[G]]#0, %[[MATRIX]] {{.*}}pass = #halftone.pass<weight_gradient>, transpose_lhs}
    // CHECK: %[[DW:.*]] = halftone.view %[[SUM]] {halftone.gradient_of = ["w"],
    // CHECK: halftone.gradient %[[DW]] of %[[W]]
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// The last user's gradient comes first; a tied weight adds up the gradients of its layers in the same order.
// CHECK-LABEL: module @last_user_first
module @last_user_first {
  halftone.graph "training" {
    %x = halftone.input "x" : !matrix
    // CHECK: %[[W:.*]] = halftone.parameter "w"
    %w = halftone.parameter "w" {initializer = #zeros} : !weight
    // CHECK: %[[H:.*]] = halftone.linear
    %h = halftone.linear %x, %w {halftone.layer = "h"} : (!matrix, !weight) -> !matrix
    %a = halftone.relu %h {halftone.layer = "a"} : (!matrix) -> !matrix
    %b = halftone.linear %h, %w {halftone.layer = "b"} : (!matrix, !weight) -> !matrix
    %c = halftone.gelu %h {approximation = "erf", halftone.layer = "c"} : (!matrix) -> !matrix
    %d = halftone.add %a, %b {halftone.layer = "d"} : (!matrix, !matrix) -> !matrix
    %e = halftone.add %d, %c {halftone.layer = "e"} : (!matrix, !matrix) -> !matrix
    %f = halftone.add %e, %e {halftone.layer = "f"} : (!matrix, !matrix) -> !matrix
    %l = halftone.mean %f {halftone.phase = #loss} : (!matrix) -> !scalar
    halftone.loss "l", %l weight 1.0 {halftone.phase = #loss} : !scalar
    // CHECK: %[[DF:.*]] = halftone.map "mean_grad"{{.*}} {halftone.gradient_of = ["f"]
    // D45: what add hands on may be rounded for each operand: an operation of its own says where to.
    // CHECK: %[[F1:.*]] = halftone.hand_on %[[DF]] {halftone.gradient_of = ["e"], halftone.layer = "f", halftone.phase = #halftone.phase<backward>}
    // CHECK: %[[F2:.*]] = halftone.hand_on %[[DF]] {halftone.gradient_of = ["e"], halftone.layer = "f", halftone.phase = #halftone.phase<backward>}
    // CHECK: %[[DE:.*]] = halftone.map "add"(%[[F1]], %[[F2]]) {halftone.gradient_of = ["e"], halftone.layer = "f", halftone.partial_sum, halftone.phase = #halftone.phase<backward>}
    // CHECK: %[[DD:.*]] = halftone.hand_on %[[DE]] {halftone.gradient_of = ["d"], halftone.layer = "e"
    // CHECK: %[[EC:.*]] = halftone.hand_on %[[DE]] {halftone.gradient_of = ["c"], halftone.layer = "e"
    // CHECK: %[[DA:.*]] = halftone.hand_on %[[DD]] {halftone.gradient_of = ["a"], halftone.layer = "d"
    // CHECK: %[[DB:.*]] = halftone.hand_on %[[DD]] {halftone.gradient_of = ["b"], halftone.layer = "d"
    // CHECK: %[[DC:.*]] = halftone.map "gelu_grad"(%[[H]], %[[EC]]) {halftone.gradient_of = ["h"], halftone.layer = "c"
    // CHECK: %[[DXB:.*]] = halftone.contract %[[DB]], %[[W]] {halftone.gradient_of = ["h"], {{.*}}pass = #halftone.pass<input_gradient>
    // CHECK: %[[DWB:.*]] = halftone.contract %[[DB]], %[[H]] {halftone.gradient_of = ["w"],
    // CHECK: %[[CB:.*]] = halftone.map "add"(%[[DC]], %[[DXB]]) {halftone.gradient_of = ["h"], halftone.layer = "b", halftone.partial_sum,
    // CHECK: %[[DXA:.*]] = halftone.map "relu_grad"(%{{.*}}, %[[DA]])
    // CHECK: %[[DH:.*]] = halftone.map "add"(%[[CB]], %[[DXA]]) {halftone.gradient_of = ["h"], halftone.layer = "a", halftone.partial_sum,
    // CHECK: %[[DWH:.*]] = halftone.contract %[[DH]], %{{.*}} {{{.*}}pass = #halftone.pass<weight_gradient>
    // CHECK: %[[DW:.*]] = halftone.map "add"(%[[DWB]], %[[DWH]]) {halftone.gradient_of = ["w"], halftone.layer = "h", halftone.partial_sum,
    // CHECK: halftone.gradient %[[DW]] of %[[W]]
    // CHECK-NOT: halftone.gradient %
  }
}

// -----

!heads = !halftone.tensor<[batch, 5, 8], f32>
!square = !halftone.tensor<[batch, 5, 5], f32>
!turned = !halftone.tensor<[batch, 8, 5], f32>
!weight = !halftone.tensor<[8, 8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// D57: the gradient of a factor lies as the factor does; those of one value that is both factors add up.
// CHECK-LABEL: module @factors
module @factors {
  halftone.graph "training" {
    %x = halftone.input "x" : !heads
    %w = halftone.parameter "w" {initializer = #zeros} : !weight
    // CHECK: %[[H:.*]] = halftone.linear
    %h = halftone.linear %x, %w {halftone.layer = "h"} : (!heads, !weight) -> !heads
    // CHECK: %[[S:.*]] = halftone.matmul %[[H]], %[[H]]
    %s = halftone.matmul %h, %h {halftone.layer = "s", transpose_a = false, transpose_b = true} : (!heads, !heads) -> !square
    %t = halftone.matmul %h, %s {halftone.layer = "t", transpose_a = true, transpose_b = false} : (!heads, !square) -> !turned
    %l = halftone.mean %t {halftone.layer = "l", halftone.phase = #loss} : (!turned) -> !scalar
    halftone.loss "l", %l weight 1.0 {halftone.phase = #loss} : !scalar
    // CHECK: %[[DT:.*]] = halftone.map "mean_grad"
    // CHECK: %[[TH:.*]] = halftone.contract %[[S]], %[[DT]] {batch_axes = 1 : i64, halftone.gradient_of = ["h"], halftone.layer = "t", halftone.phase = #halftone.phase<backward>, pass = #halftone.pass<input_gradient>, transpose_rhs} :
    // CHECK: %[[DS:.*]] = halftone.contract %[[H]], %[[DT]] {batch_axes = 1 : i64, halftone.gradient_of = ["s"], halftone.layer = "t", halftone.phase = #halftone.phase<backward>, pass = #halftone.pass<input_gradient>} :
    // CHECK: %[[SA:.*]] = halftone.contract %[[DS]], %[[H]] {batch_axes = 1 : i64, halftone.gradient_of = ["h"], halftone.layer = "s", halftone.phase = #halftone.phase<backward>, pass = #halftone.pass<input_gradient>} :
    // CHECK: %[[SB:.*]] = halftone.contract %[[DS]], %[[H]] {batch_axes = 1 : i64, halftone.gradient_of = ["h"], halftone.layer = "s", halftone.phase = #halftone.phase<backward>, pass = #halftone.pass<input_gradient>, transpose_lhs} :
    // CHECK: %[[FIRST:.*]] = halftone.map "add"(%[[TH]], %[[SA]])
    // CHECK: halftone.map "add"(%[[FIRST]], %[[SB]])
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// An output under two names has one gradient; a frozen parameter none; a loss that reads no output is noted.
// CHECK-LABEL: module @outputs_and_frozen_parameters
// CHECK: halftone.graph "training" attributes {halftone.loss_without_output = "inner"}
module @outputs_and_frozen_parameters {
  halftone.graph "training" {
    %x = halftone.input "x" : !matrix
    %w = halftone.parameter "w" {initializer = #zeros} : !weight
    %f = halftone.parameter "f" {initializer = #zeros, frozen = true} : !weight
    // CHECK: %[[H:.*]] = halftone.linear
    %h = halftone.linear %x, %w {halftone.layer = "h"} : (!matrix, !weight) -> !matrix
    // CHECK: %[[Y:.*]] = halftone.linear
    %y = halftone.linear %h, %f {halftone.layer = "y"} : (!matrix, !weight) -> !matrix
    halftone.output "y", %y : !matrix
    halftone.output "again", %y : !matrix
    %l = halftone.mean %y {halftone.layer = "outer", halftone.phase = #loss} : (!matrix) -> !scalar
    halftone.loss "outer", %l weight 1.0 {halftone.phase = #loss} : !scalar
    %m = halftone.mean %h {halftone.layer = "inner", halftone.phase = #loss} : (!matrix) -> !scalar
    halftone.loss "inner", %m weight 2.0 {halftone.phase = #loss} : !scalar
    // CHECK: %[[DH:.*]] = halftone.map "mean_grad"({{.*}} {halftone.gradient_of = ["h"], halftone.layer = "inner"
    // CHECK: %[[DY:.*]] = halftone.map "mean_grad"({{.*}} {halftone.gradient_of = ["y"], halftone.layer = "outer"
    // CHECK: %[[CUT:.*]] = halftone.output_gradient "y", %[[DY]]
    // CHECK-NOT: halftone.output_gradient
    // CHECK: %[[DX:.*]] = halftone.contract %[[CUT]], %{{.*}}pass = #halftone.pass<input_gradient>
    // CHECK: %[[SUM:.*]] = halftone.map "add"(%[[DH]], %[[DX]])
    // CHECK: halftone.contract %[[SUM]], {{.*}}weight_gradient
    // CHECK: halftone.gradient
    // CHECK-NOT: halftone.gradient %
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// D6: nothing starts from a metric, its weight as small as f32 calls 0. It reads a value that a loss reads too, and one that
// is no output, which is nothing to a caller's gradients.
// CHECK-LABEL: module @does_not_differentiate_metrics
// CHECK: halftone.graph "training" {
module @does_not_differentiate_metrics {
  halftone.graph "training" {
    %x = halftone.input "x" : !matrix
    %w = halftone.parameter "w" {initializer = #zeros} : !weight
    %h = halftone.linear %x, %w {halftone.layer = "h"} : (!matrix, !weight) -> !matrix
    %y = halftone.relu %h {halftone.layer = "y"} : (!matrix) -> !matrix
    halftone.output "y", %y : !matrix
    %m = halftone.mean %y {halftone.layer = "shared", halftone.phase = #loss} : (!matrix) -> !scalar
    halftone.loss "shared", %m weight 0.0 {halftone.phase = #loss} : !scalar
    %n = halftone.mean %h {halftone.layer = "inner", halftone.phase = #loss} : (!matrix) -> !scalar
    halftone.loss "inner", %n weight 1.0e-60 {halftone.phase = #loss} : !scalar
    %l = halftone.mean %y {halftone.layer = "l", halftone.phase = #loss} : (!matrix) -> !scalar
    halftone.loss "l", %l weight 1.0 {halftone.phase = #loss} : !scalar
    // CHECK: halftone.loss "l"
    // CHECK: halftone.map "loss_weight"() {halftone.phase = #halftone.phase<loss_backward>}
    // CHECK-NOT: "loss_weight"
    // CHECK: %[[DY:.*]] = halftone.map "mean_grad"({{.*}} {halftone.gradient_of = ["y"], halftone.layer = "l"
    // CHECK-NEXT: ^bb0
    // CHECK-NOT: "mean_grad"
    // CHECK: halftone.output_gradient "y", %[[DY]]
    // CHECK: halftone.gradient %
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// CHECK-LABEL: module @does_not_differentiate_inference
// CHECK-NOT: halftone.gradient %
module @does_not_differentiate_inference {
  halftone.graph "inference" {
    %x = halftone.input "x" : !matrix
    %w = halftone.parameter "w" {initializer = #zeros} : !weight
    %h = halftone.linear %x, %w : (!matrix, !weight) -> !matrix
    halftone.output "h", %h : !matrix
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// P1: what computes gradients of values and of parameters is an operation for each, as they belong to two passes. An input
// may arrive in a narrow format: the gradient's arithmetic is f32 all the same.
// CHECK-LABEL: module @parameters_have_a_pass_of_their_own
module @parameters_have_a_pass_of_their_own {
  halftone.graph "training" {
    %x = halftone.input "x" : !halftone.tensor<[8], bf16>
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[8], f32>
    %v = halftone.parameter "v" {initializer = #zeros} : !halftone.tensor<[8], f32>
    %h = halftone.relu %w {halftone.layer = "h"} : (!halftone.tensor<[8], f32>) -> !halftone.tensor<[8], f32>
    %p = halftone.pointwise "product" (%h, %x, %v) {halftone.layer = "p"}
        : (!halftone.tensor<[8], f32>, !halftone.tensor<[8], bf16>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[8], f32> {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %ab = arith.mulf %a, %b : f32
      %r = arith.mulf %ab, %c : f32
      halftone.yield %r : f32
    }
    %l = halftone.mean %p {halftone.phase = #loss} : (!halftone.tensor<[8], f32>) -> !scalar
    halftone.loss "l", %l weight 1.0 {halftone.phase = #loss} : !scalar
    // CHECK: %[[OFVALUES:.*]]:3 = halftone.map "product_grad"({{.*}}) {halftone.gradient_of = ["h", "", ""],
    // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
    // CHECK: %[[OFPARAMETERS:.*]]:3 = halftone.map "product_grad"({{.*}}) {halftone.gradient_of = ["", "", "v"],
    // CHECK: halftone.map "relu_grad"(%{{.*}}, %[[OFVALUES]]#0)
    // CHECK: halftone.gradient %[[OFPARAMETERS]]#2 of
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// L1: the seed is the loss's weight times the scale, which the whole step reads from one state. P36: a caller's gradient of
// an output is multiplied by it too, in a phase that takes the losses' place.
// CHECK-LABEL: module @scaled_seeds_and_external_gradients
module @scaled_seeds_and_external_gradients attributes {halftone.loss_scale = {kind = "fixed", initial = 1024.0 : f64}} {
  halftone.graph "training" {
    // CHECK: %[[SCALE:.*]] = halftone.state "loss_scale" {initial = 1.024000e+03 : f64, optimizer} : <[], f32>
    // CHECK-NOT: halftone.state
    %x = halftone.input "x" : !matrix
    %w = halftone.parameter "w" {initializer = #zeros} : !weight
    %y = halftone.linear %x, %w {halftone.layer = "y"} : (!matrix, !weight) -> !matrix
    halftone.output "y", %y : !matrix
    %l = halftone.mean %y {halftone.layer = "l", halftone.phase = #loss} : (!matrix) -> !scalar
    halftone.loss "l", %l weight 0.5 {halftone.phase = #loss} : !scalar
    %m = halftone.mean %y {halftone.layer = "m", halftone.phase = #loss} : (!matrix) -> !scalar
    halftone.loss "m", %m weight 0.25 {halftone.phase = #loss} : !scalar
    // CHECK: halftone.map "loss_weight"(%[[SCALE]]) {halftone.phase = #halftone.phase<loss_backward>}
    // CHECK-NEXT: ^bb0(%[[S:[a-z0-9]+]]: f32):
    // CHECK: %[[WEIGHT:.*]] = arith.constant 5.000000e-01 : f32
    // CHECK: arith.mulf %[[WEIGHT]], %[[S]] : f32
    // CHECK: halftone.map "loss_weight"(%[[SCALE]])
    // CHECK: arith.constant 2.500000e-01 : f32
    // CHECK: %[[POINT:.*]] = halftone.output_gradient "y"
    // CHECK: %[[E:.*]] = halftone.external_gradient "y" : <[batch, 8], f32>
    // CHECK: %[[SCALED:.*]] = halftone.map "external_gradient"(%[[E]], %[[SCALE]]) {halftone.phase = #halftone.phase<external>}
    // CHECK-NEXT: ^bb0(%[[G:[a-z0-9]+]]: f32, %[[S2:[a-z0-9]+]]: f32):
    // CHECK: arith.mulf %[[S2]], %[[G]] : f32
    // CHECK: halftone.assign %[[SCALED]] to %[[POINT]] {halftone.phase = #halftone.phase<external>}
    // CHECK: halftone.contract %[[POINT]],
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// CHECK-LABEL: module @does_not_scale_without_a_loss_scale
// CHECK-NOT: halftone.state
// CHECK: halftone.map "loss_weight"()
// CHECK: %[[E:.*]] = halftone.external_gradient "y"
// CHECK-NEXT: halftone.map "external_gradient"(%[[E]])
module @does_not_scale_without_a_loss_scale {
  halftone.graph "training" {
    %x = halftone.input "x" : !matrix
    %w = halftone.parameter "w" {initializer = #zeros} : !weight
    %y = halftone.linear %x, %w {halftone.layer = "y"} : (!matrix, !weight) -> !matrix
    halftone.output "y", %y : !matrix
    %l = halftone.mean %y {halftone.layer = "l", halftone.phase = #loss} : (!matrix) -> !scalar
    halftone.loss "l", %l weight 0.5 {halftone.phase = #loss} : !scalar
  }
}

// -----

!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// An operand that only decides a comparison gets no gradient, rather than a zero (D47).
// CHECK-LABEL: module @does_not_give_a_zero_gradient
module @does_not_give_a_zero_gradient {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[8], f32>
    %v = halftone.parameter "v" {initializer = #zeros} : !halftone.tensor<[8], f32>
    %p = halftone.pointwise "gate" (%w, %v) {halftone.layer = "gate"}
        : (!halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[8], f32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.cmpf olt, %a, %b : f32
      %zero = arith.constant 0.0 : f32
      %r = arith.select %c, %b, %zero : f32
      halftone.yield %r : f32
    }
    %q = halftone.add %p, %w : (!halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[8], f32>
    %l = halftone.mean %q {halftone.phase = #loss} : (!halftone.tensor<[8], f32>) -> !scalar
    halftone.loss "l", %l weight 1.0 {halftone.phase = #loss} : !scalar
    // CHECK: %[[DQ:.*]] = halftone.map "mean_grad"
    // CHECK: %[[QP:.*]] = halftone.hand_on %[[DQ]] {halftone.gradient_of = ["gate"]
    // CHECK: %[[QW:.*]] = halftone.hand_on %[[DQ]] {halftone.gradient_of = ["w"]
    // CHECK: %[[DP:.*]]:2 = halftone.map "gate_grad"({{.*}}, %[[QP]]) {halftone.gradient_of = ["", "v"]
    // CHECK: halftone.gradient %[[QW]] of
    // CHECK: halftone.gradient %[[DP]]#1 of
  }
}

// -----

!vector = !halftone.tensor<[8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// D47: torch's subgradients. Of two equal operands each takes half; absolute gives nothing at 0.
// CHECK-LABEL: module @subgradients
module @subgradients {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !vector
    %v = halftone.parameter "v" {initializer = #zeros} : !vector
    %p = halftone.pointwise "kinks" (%w, %v) {halftone.layer = "kinks"} : (!vector, !vector) -> !vector {
    ^bb0(%a: f32, %b: f32):
      %c = math.absf %a : f32
      %r = arith.minimumf %c, %b : f32
      halftone.yield %r : f32
    }
    %l = halftone.mean %p {halftone.phase = #loss} : (!vector) -> !scalar
    halftone.loss "l", %l weight 1.0 {halftone.phase = #loss} : !scalar
    // CHECK: halftone.map "kinks_grad"
    // CHECK-NEXT: ^bb0(%[[A:[a-z0-9]+]]: f32, %[[B:[a-z0-9]+]]: f32, %[[G:[a-z0-9]+]]: f32):
    // CHECK: %[[C:.*]] = math.absf %[[A]] : f32
    // CHECK-DAG: %[[EQUAL:.*]] = arith.cmpf oeq, %[[C]], %[[B]] : f32
    // CHECK-DAG: %[[HALF:.*]] = arith.mulf %{{.*}}, %[[G]] : f32
    // CHECK: %[[SHARE:.*]] = arith.select %[[EQUAL]], %[[HALF]], %[[G]] : f32
    // CHECK: %[[OVER:.*]] = arith.cmpf ogt, %[[C]], %[[B]] : f32
    // CHECK: %[[OFC:.*]] = arith.select %[[OVER]], %[[ZERO:.*]], %[[SHARE]] : f32
    // CHECK: %[[UNDER:.*]] = arith.cmpf olt, %[[C]], %[[B]] : f32
    // CHECK: %[[OFB:.*]] = arith.select %[[UNDER]], %[[ZERO]], %[[SHARE]] : f32
    // CHECK: %[[NEGATIVE:.*]] = arith.cmpf olt, %[[A]], %[[Z:.*]] : f32
    // CHECK: %[[MINUS:.*]] = arith.negf %[[OFC]] : f32
    // CHECK: %[[BELOW:.*]] = arith.select %[[NEGATIVE]], %[[MINUS]], %[[Z]] : f32
    // CHECK: %[[POSITIVE:.*]] = arith.cmpf ogt, %[[A]], %[[Z]] : f32
    // CHECK: %[[OFA:.*]] = arith.select %[[POSITIVE]], %[[OFC]], %[[BELOW]] : f32
    // CHECK: halftone.yield %[[OFA]], %[[OFB]] : f32, f32
  }
}

// -----

!vector = !halftone.tensor<[8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// D47: pow has torch's gradients, 0 to a base with the exponent 0 and to the exponent of a base 0 that is not negative.
// CHECK-LABEL: module @gradients_of_a_power
module @gradients_of_a_power {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !vector
    %v = halftone.parameter "v" {initializer = #zeros} : !vector
    %p = halftone.pointwise "power" (%w, %v) {halftone.layer = "power"} : (!vector, !vector) -> !vector {
    ^bb0(%a: f32, %b: f32):
      %r = math.powf %a, %b : f32
      halftone.yield %r : f32
    }
    %l = halftone.mean %p {halftone.phase = #loss} : (!vector) -> !scalar
    halftone.loss "l", %l weight 1.0 {halftone.phase = #loss} : !scalar
    // CHECK: halftone.map "power_grad"
    // CHECK-NEXT: ^bb0(%[[A:[a-z0-9]+]]: f32, %[[B:[a-z0-9]+]]: f32, %[[G:[a-z0-9]+]]: f32):
    // CHECK: %[[R:.*]] = math.powf %[[A]], %[[B]] : f32
    // CHECK: %[[LESS:.*]] = arith.subf %[[B]], %{{.*}} : f32
    // CHECK: %[[POWER:.*]] = math.powf %[[A]], %[[LESS]] : f32
    // CHECK-DAG: %[[NONE:.*]] = arith.cmpf oeq, %[[B]], %{{.*}} : f32
    // CHECK-DAG: %[[SLOPE:.*]] = arith.mulf %[[B]], %[[POWER]] : f32
    // CHECK-DAG: %[[TOA:.*]] = arith.mulf %[[G]], %[[SLOPE]] : f32
    // CHECK: %[[OFA:.*]] = arith.select %[[NONE]], %{{.*}}, %[[TOA]] : f32
    // CHECK-DAG: %[[ZERO:.*]] = arith.cmpf oeq, %[[A]], %{{.*}} : f32
    // CHECK-DAG: %[[NOTBELOW:.*]] = arith.cmpf ole, %{{.*}}, %[[B]] : f32
    // CHECK: %[[FLAT:.*]] = arith.andi %[[ZERO]], %[[NOTBELOW]] : i1
    // CHECK-DAG: %[[LOG:.*]] = math.log %[[A]] : f32
    // CHECK-DAG: %[[GROWTH:.*]] = arith.mulf %[[R]], %[[LOG]] : f32
    // CHECK-DAG: %[[TOB:.*]] = arith.mulf %[[G]], %[[GROWTH]] : f32
    // CHECK: %[[OFB:.*]] = arith.select %[[FLAT]], %{{.*}}, %[[TOB]] : f32
    // CHECK: halftone.yield %[[OFA]], %[[OFB]] : f32, f32
  }
}

// -----

!vector = !halftone.tensor<[8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>

// D15: the gradient of an input that wants one, without the loss scale, to which rules do nothing; that of one that wants none is
// not built, nor what only it would need.
// CHECK-LABEL: module @gradient_of_an_input
module @gradient_of_an_input attributes {halftone.loss_scale = {initial = 8.0 : f64, kind = "fixed"}} {
  halftone.graph "training" {
    // CHECK: %[[SCALE:.*]] = halftone.state "loss_scale"
    // CHECK: halftone.input "x" {gradient, halftone.layer = "x"}
    %x = halftone.input "x" {gradient, halftone.layer = "x"} : !vector
    %z = halftone.input "z" {halftone.layer = "z"} : !vector
    %w = halftone.parameter "w" {initializer = #zeros} : !vector
    %r = halftone.relu %x {halftone.layer = "r"} : (!vector) -> !vector
    %s = halftone.silu %z {halftone.layer = "s"} : (!vector) -> !vector
    %a = halftone.add %r, %s {halftone.layer = "a"} : (!vector, !vector) -> !vector
    %y = halftone.add %a, %w {halftone.layer = "y"} : (!vector, !vector) -> !vector
    %l = halftone.mean %y {halftone.layer = "l", halftone.phase = #loss} : (!vector) -> !scalar
    halftone.loss "l", %l weight 1.0 {halftone.phase = #loss} : !scalar
    // CHECK-NOT: silu_grad
    // CHECK: %[[G:.*]] = halftone.map "relu_grad"
    // CHECK-SAME: halftone.gradient_of = ["x"]
    // CHECK: halftone.gradient %
    // CHECK: %[[PLAIN:.*]] = halftone.map "unscale"(%[[G]], %[[SCALE]]) {halftone.gradient_of = ["x"], halftone.layer = "x", halftone.partial_sum, halftone.phase = #halftone.phase<backward>}
    // CHECK: %[[INVERSE:.*]] = arith.divf
    // CHECK: arith.mulf %{{.*}}, %[[INVERSE]]
    // CHECK: halftone.input_gradient "x", %[[PLAIN]] {halftone.phase = #halftone.phase<backward>}
    // CHECK-NOT: halftone.input_gradient
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>
module {
  halftone.graph "training" {
    // expected-error @+1 {{input 'x' wants a gradient but no loss depends on it, or only metrics of weight 0: leave 'gradient' out or use it in a loss}}
    %x = halftone.input "x" {gradient} : !halftone.tensor<[8], f32>
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[8], f32>
    %y = halftone.add %x, %w : (!halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[8], f32>
    %l = halftone.mean %w {halftone.phase = #loss} : (!halftone.tensor<[8], f32>) -> !halftone.tensor<[], f32>
    halftone.loss "l", %l weight 1.0 {halftone.phase = #loss} : !halftone.tensor<[], f32>
    halftone.output "y", %y : !halftone.tensor<[8], f32>
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
module {
  halftone.graph "training" {
    %x = halftone.input "x" : !halftone.tensor<[8], f32>
    // expected-error @+1 {{parameter 'w' is trained but no loss depends on it, or only metrics of weight 0: freeze it or use it in a loss}}
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[8], f32>
    %y = halftone.add %x, %w : (!halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[8], f32>
    halftone.output "y", %y : !halftone.tensor<[8], f32>
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>
module {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[8], f32>
    // expected-error @+1 {{halftone.reduce of layer 'sum' lies between a parameter and a loss but has no gradient}}
    %y = halftone.reduce "column_sum"(%w) {halftone.layer = "sum"} : (!halftone.tensor<[8], f32>) -> !halftone.tensor<[8], f32>
    %l = halftone.mean %y {halftone.phase = #loss} : (!halftone.tensor<[8], f32>) -> !halftone.tensor<[], f32>
    halftone.loss "l", %l weight 1.0 {halftone.phase = #loss} : !halftone.tensor<[], f32>
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#loss = #halftone.phase<loss>
module {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[8], f32>
    %y = halftone.pointwise "wave" (%w) {halftone.layer = "wave"} : (!halftone.tensor<[8], f32>) -> !halftone.tensor<[8], f32> {
    ^bb0(%a: f32):
      // expected-error @+1 {{math.tan has no derivative, but a gradient reaches it}}
      %s = math.tan %a : f32
      halftone.yield %s : f32
    }
    %l = halftone.mean %y {halftone.phase = #loss} : (!halftone.tensor<[8], f32>) -> !halftone.tensor<[], f32>
    halftone.loss "l", %l weight 1.0 {halftone.phase = #loss} : !halftone.tensor<[], f32>
  }
}

// -----

!x = !halftone.tensor<[batch, time, 8], f32>
!heads = !halftone.tensor<[batch, time, 2, 4], f32>
!swap = !halftone.tensor<[batch, 2, 4, time], f32>
!weight = !halftone.tensor<[8, 8], f32>
!scalar = !halftone.tensor<[], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// D55, D56: back through a view, and by the result's index of an element of x.
// CHECK: #[[PERMUTED:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-LABEL: module @gradients_of_axes
module @gradients_of_axes {
  halftone.graph "training" {
    %x = halftone.input "x" : !x
    %t = halftone.input "t" : !swap
    %w = halftone.parameter "w" {initializer = #zeros} : !weight
    %y = halftone.linear %x, %w {halftone.layer = "fc"} : (!x, !weight) -> !x
    %h = halftone.reshape %y {halftone.layer = "heads"} : (!x) -> !heads
    %s = halftone.transpose %h {axes = array<i64: 0, 2, 3, 1>, halftone.layer = "swap"} : (!heads) -> !swap
    %e = halftone.mse %s, %t {halftone.layer = "error", halftone.phase = #halftone.phase<loss>} : (!swap, !swap) -> !swap
    %l = halftone.mean %e {halftone.layer = "error", halftone.phase = #halftone.phase<loss>} : (!swap) -> !scalar
    halftone.output "s", %s : !swap
    // CHECK: halftone.loss "error"
    halftone.loss "error", %l weight 1.0 {halftone.phase = #halftone.phase<loss>} : !scalar
    // CHECK: %[[CUT:.*]] = halftone.output_gradient "s"
    // CHECK: %[[OF_HEADS:.*]] = halftone.map "transpose"(%[[CUT]]) over ["batch", "time", 2, 4] reads [#halftone.access<general reads #[[PERMUTED]]>] writes [#halftone.access<full>] {halftone.gradient_of = ["heads"], halftone.layer = "swap", halftone.phase = #halftone.phase<backward>}
    // CHECK: %[[OF_Y:.*]] = halftone.view %[[OF_HEADS]] {halftone.gradient_of = ["fc"], halftone.layer = "heads", halftone.phase = #halftone.phase<backward>} : {{.*}}-> !halftone.tensor<[batch, time, 8], f32>
    // CHECK: halftone.contract %[[OF_Y]], %{{.*}}transpose_lhs
  }
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!rows = !halftone.tensor<[batch], f32>
!scalar = !halftone.tensor<[], f32>
!token = !halftone.tensor<[batch], i32>
#loss = #halftone.phase<loss>

// D53: a sum into rows; nothing reads the weight or leads to the token.
// CHECK-LABEL: module @gradients_of_an_embedding
module @gradients_of_an_embedding {
  halftone.graph "training" {
    // CHECK: %[[T:.*]] = halftone.input "token"
    %token = halftone.input "token" : !token
    %w = halftone.parameter "w" {initializer = #halftone.initializer<normal, 0.0 : f64, 1.0 : f64>} : !halftone.tensor<[37, 8], f32>
    %y = halftone.embedding %token, %w {halftone.layer = "embed", padding_index = 3 : i64}
        : (!token, !halftone.tensor<[37, 8], f32>) -> !matrix
    %r = halftone.cross_entropy %y, %token {halftone.layer = "loss", halftone.phase = #loss} : (!matrix, !token) -> !rows
    %l = halftone.mean %r {halftone.layer = "loss", halftone.phase = #loss} : (!rows) -> !scalar
    halftone.loss "loss", %l weight 1.0 {halftone.phase = #loss} : !scalar
    // CHECK: %[[DY:.*]] = halftone.map "cross_entropy_grad"
    // CHECK: %[[DW:.*]] = halftone.segment_sum %[[T]], %[[DY]] {halftone.gradient_of = ["w"], halftone.layer = "embed", halftone.phase = #halftone.phase<backward>, passed_over = 3 : i64} : (!halftone.tensor<[batch], i32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[37, 8], f32>
    // CHECK-NEXT: halftone.gradient %[[DW]] of
  }
}
