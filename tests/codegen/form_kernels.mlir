// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-lower-layers --halftone-form-kernels -split-input-file -verify-diagnostics %s | FileCheck %s
// RUN: halftone-opt --halftone-lower-layers --halftone-form-kernels=fuse=false -split-input-file -verify-diagnostics %s | FileCheck %s --check-prefix=UNFUSED

#full = #halftone.access<full>
#row = #halftone.access<row>
!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!vector = !halftone.tensor<[8], f32>
!rows = !halftone.tensor<[batch], f32>
!label = !halftone.tensor<[batch], i32>
!scalar = !halftone.tensor<[], f32>
#loss = #halftone.phase<loss>
#loss_backward = #halftone.phase<loss_backward>
#backward = #halftone.phase<backward>
#check = #halftone.phase<check>
#update = #halftone.phase<update>

// CHECK-LABEL: halftone.graph "linear_bias_and_gelu_are_one_kernel"
halftone.graph "linear_bias_and_gelu_are_one_kernel" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !matrix
  // CHECK: %[[W:.*]] = halftone.input "w"
  %w = halftone.input "w" : !weight
  // CHECK: %[[B:.*]] = halftone.input "b"
  %b = halftone.input "b" : !vector
  // CHECK-NEXT: %[[Y:.*]] = halftone.kernel "{{[a-z_]+}}_fc" contraction over ["batch", 8] reduce [8](%[[X]], %[[W]], %[[B]])
  // CHECK-SAME: accesses [#halftone.access<lhs>, #halftone.access<rhs>, #halftone.access<column>] -> [#halftone.access<full>]
  // CHECK-SAME: fused ["fc:linear", "act:gelu"]
  // CHECK-SAME: transpose_rhs
  // CHECK-NEXT: ^bb0(%[[SUM:[a-z0-9]+]]: f32, %[[BIAS:[a-z0-9]+]]: f32):
  // CHECK-NEXT: %[[FC:.*]] = arith.addf %[[SUM]], %[[BIAS]] : f32
  // CHECK: halftone.recipe gelu_erf %{{.*}} : f32
  // CHECK: halftone.kernel_yield stores %{{[0-9]+}} : f32
  // CHECK-NOT: halftone.kernel "
  // CHECK: halftone.output "y", %[[Y]]
  %fc = halftone.linear %x, %w bias %b {halftone.layer = "fc"} : (!matrix, !weight, !vector) -> !matrix
  %y = halftone.gelu %fc {approximation = "erf", halftone.layer = "act"} : (!matrix) -> !matrix
  halftone.output "y", %y : !matrix
}

// UNFUSED-LABEL: halftone.graph "linear_bias_and_gelu_are_one_kernel"
// UNFUSED: halftone.kernel "{{[a-z_]+}}_fc" contraction {{.*}} fused ["fc:linear"]
// UNFUSED-SAME: halftone.layer = "fc"
// UNFUSED: halftone.kernel "{{[a-z_]+}}_act" pointwise {{.*}} fused ["act:gelu"]
// UNFUSED-NOT: halftone.kernel "
// UNFUSED: halftone.output "y"

// What somebody else reads is stored as well.
// CHECK-LABEL: halftone.graph "stores_what_is_read_elsewhere"
// CHECK: %[[Y:.*]]:2 = halftone.kernel "{{[a-z_]+}}_fc"
// CHECK-SAME: -> [#halftone.access<full>, #halftone.access<full>]
// CHECK: halftone.output "fc", %[[Y]]#0
// CHECK: halftone.output "y", %[[Y]]#1
halftone.graph "stores_what_is_read_elsewhere" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %fc = halftone.linear %x, %w {halftone.layer = "fc"} : (!matrix, !weight) -> !matrix
  %y = halftone.relu %fc {halftone.layer = "act"} : (!matrix) -> !matrix
  halftone.output "fc", %fc : !matrix
  halftone.output "y", %y : !matrix
}

// Rows take elementwise code before and after them; the sum of what a row kernel computes per row is its finish.
// CHECK-LABEL: halftone.graph "row_and_mean_are_one_kernel"
// CHECK: halftone.kernel "{{[a-z_]+}}_act" row over ["batch", 8]
// CHECK-SAME: accesses [#halftone.access<full>, #halftone.access<row>] -> []
// CHECK-SAME: fused ["act:relu", "loss:cross_entropy", "loss:mean"]
// CHECK: halftone.row_max
// CHECK: halftone.kernel_yield sums
// CHECK: finish {
// CHECK: halftone.count ["batch"]
// CHECK-NOT: halftone.kernel "
// CHECK: halftone.loss
halftone.graph "row_and_mean_are_one_kernel" {
  %x = halftone.input "x" : !matrix
  %label = halftone.input "label" : !label
  %y = halftone.relu %x {halftone.layer = "act", halftone.phase = #loss} : (!matrix) -> !matrix
  %r = halftone.cross_entropy %y, %label {halftone.layer = "loss", halftone.phase = #loss} : (!matrix, !label) -> !rows
  %l = halftone.mean %r {halftone.layer = "loss", halftone.phase = #loss} : (!rows) -> !scalar
  halftone.loss "loss", %l weight 1.0 {halftone.phase = #loss} : !scalar
}

// What is kept is told to attention's kernels alone (join_products.halftone): this one computes every element.
// CHECK-LABEL: halftone.graph "every_element_is_computed"
// CHECK: halftone.kernel "every_element_is_computed_kept_sum" row over ["batch", 8]
// CHECK: %[[BELOW:.*]] = arith.cmpf olt
// CHECK-NOT: halftone.kept
// CHECK: arith.select %[[BELOW]]
halftone.graph "every_element_is_computed" {
  %x = halftone.input "x" : !matrix
  %y = halftone.map "kept_sum"(%x) over ["batch", 8] reads [#full] writes [#full] {halftone.phase = #loss} : (!matrix) -> !matrix {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %below = arith.cmpf olt, %a, %zero : f32
    %kept = halftone.kept %below : i1
    %term = arith.select %kept, %a, %zero : f32
    %sum = halftone.row_sum %term : f32
    halftone.yield %sum : f32
  }
  halftone.output "y", %y : !matrix
}

// A cross-entropy and its gradient read the logits together, in the phase of the loss; what only rounds the gradient follows it.
// CHECK-LABEL: halftone.graph "cross_entropy_and_its_gradient_are_one_kernel"
// CHECK: %[[G:.*]], %[[L:.*]] = halftone.kernel "{{[a-z_]+}}_loss" row over ["batch", 8]
// CHECK-SAME: accesses [#halftone.access<full>, #halftone.access<row>] -> [#halftone.access<full>]
// CHECK-SAME: fused ["loss:cross_entropy", "loss:mean", "loss:cross_entropy_grad", "loss:cast"]
// CHECK-SAME: halftone.phase = #halftone.phase<loss>
// CHECK: halftone.kernel_yield stores %{{.*}} : bf16 sums %{{.*}} : f32
// CHECK-NOT: halftone.kernel "
// CHECK: halftone.output_gradient "y", %[[G]]
// CHECK: halftone.loss "loss", %[[L]]
// UNFUSED-LABEL: halftone.graph "cross_entropy_and_its_gradient_are_one_kernel"
// UNFUSED: fused ["loss:cross_entropy"]
// UNFUSED: fused ["loss:mean"]
// UNFUSED: fused ["loss:cross_entropy_grad"] {{.*}}halftone.phase = #halftone.phase<loss_backward>
halftone.graph "cross_entropy_and_its_gradient_are_one_kernel" {
  %x = halftone.input "x" : !matrix
  %label = halftone.input "label" : !label
  %r = halftone.cross_entropy %x, %label {halftone.layer = "loss", halftone.phase = #loss} : (!matrix, !label) -> !rows
  %l = halftone.mean %r {halftone.layer = "loss", halftone.phase = #loss} : (!rows) -> !scalar
  %one = halftone.map "loss_weight" () {halftone.phase = #loss_backward} : () -> !rows {
    %c = arith.constant 1.0 : f32
    halftone.yield %c : f32
  }
  %g = halftone.map "cross_entropy_grad"(%x, %label, %one) over ["batch", 8] reads [#full, #row, #row] writes [#full]
      {halftone.layer = "loss", halftone.phase = #loss_backward} : (!matrix, !label, !rows) -> !matrix {
  ^bb0(%logit: f32, %column: i32, %seed: f32):
    %max = halftone.row_max %logit : f32
    %p = arith.mulf %max, %seed : f32
    halftone.yield %p : f32
  }
  %h = halftone.cast %g {halftone.layer = "loss", halftone.phase = #loss_backward} : (!matrix) -> !halftone.tensor<[batch, 8], bf16>
  halftone.loss "loss", %l weight 1.0 {halftone.phase = #loss} : !scalar
  %cut = halftone.output_gradient "y", %h {halftone.phase = #loss_backward}
      : (!halftone.tensor<[batch, 8], bf16>) -> !halftone.tensor<[batch, 8], bf16>
}

// Each gradient joins its own loss; the sum of both needs both, and follows in the later kernel.
// CHECK-LABEL: halftone.graph "two_cross_entropies_of_the_same_logits"
// CHECK: fused ["first:cross_entropy", "first:mean", "first:cross_entropy_grad"] {{.*}}halftone.phase = #halftone.phase<loss>
// CHECK: fused ["second:cross_entropy", "second:mean", "second:cross_entropy_grad", "second:add"] {{.*}}halftone.phase = #halftone.phase<loss>
// CHECK-NOT: halftone.kernel "
// CHECK: halftone.loss
halftone.graph "two_cross_entropies_of_the_same_logits" {
  %x = halftone.input "x" : !matrix
  %label = halftone.input "label" : !label
  %w = halftone.input "w" : !rows
  %a = halftone.cross_entropy %x, %label {halftone.layer = "first", halftone.phase = #loss} : (!matrix, !label) -> !rows
  %la = halftone.mean %a {halftone.layer = "first", halftone.phase = #loss} : (!rows) -> !scalar
  %b = halftone.cross_entropy %x, %label {halftone.layer = "second", halftone.phase = #loss} : (!matrix, !label) -> !rows
  %lb = halftone.mean %b {halftone.layer = "second", halftone.phase = #loss} : (!rows) -> !scalar
  %gb = halftone.map "cross_entropy_grad"(%x, %label, %w) over ["batch", 8] reads [#full, #row, #row] writes [#full]
      {halftone.layer = "second", halftone.phase = #loss_backward} : (!matrix, !label, !rows) -> !matrix {
  ^bb0(%logit: f32, %column: i32, %seed: f32):
    %max = halftone.row_max %logit : f32
    %p = arith.mulf %max, %seed : f32
    halftone.yield %p : f32
  }
  %ga = halftone.map "cross_entropy_grad"(%x, %label, %w) over ["batch", 8] reads [#full, #row, #row] writes [#full]
      {halftone.layer = "first", halftone.phase = #loss_backward} : (!matrix, !label, !rows) -> !matrix {
  ^bb0(%logit: f32, %column: i32, %seed: f32):
    %max = halftone.row_max %logit : f32
    %p = arith.mulf %max, %seed : f32
    halftone.yield %p : f32
  }
  %sum = halftone.add %gb, %ga {halftone.layer = "second", halftone.phase = #loss_backward} : (!matrix, !matrix) -> !matrix
  halftone.loss "first", %la weight 1.0 {halftone.phase = #loss} : !scalar
  halftone.loss "second", %lb weight 1.0 {halftone.phase = #loss} : !scalar
  %cut = halftone.output_gradient "y", %sum {halftone.phase = #loss_backward} : (!matrix) -> !matrix
}

// The phase of the loss is over before kernels of the next one run: what needs their results stays with them.
// CHECK-LABEL: halftone.graph "does_not_join_a_loss_with_what_needs_later_kernels"
// CHECK: fused ["loss:cross_entropy", "loss:mean"] {{.*}}halftone.phase = #halftone.phase<loss>
// CHECK: fused ["other:cross_entropy", "other:mean", "other:cross_entropy_grad"] {{.*}}halftone.phase = #halftone.phase<loss>
// CHECK: fused ["half:relu", "loss:cross_entropy_grad"] {{.*}}halftone.phase = #halftone.phase<loss_backward>
// CHECK: fused ["other:add"] {{.*}}halftone.phase = #halftone.phase<loss_backward>
// CHECK-NOT: halftone.kernel "
// CHECK: halftone.loss
halftone.graph "does_not_join_a_loss_with_what_needs_later_kernels" {
  %x = halftone.input "x" : !matrix
  %label = halftone.input "label" : !label
  %w = halftone.input "w" : !rows
  %again = halftone.relu %x {halftone.layer = "half", halftone.phase = #loss_backward} : (!matrix) -> !matrix
  %r = halftone.cross_entropy %x, %label {halftone.layer = "loss", halftone.phase = #loss} : (!matrix, !label) -> !rows
  %l = halftone.mean %r {halftone.layer = "loss", halftone.phase = #loss} : (!rows) -> !scalar
  %o = halftone.cross_entropy %x, %label {halftone.layer = "other", halftone.phase = #loss} : (!matrix, !label) -> !rows
  %m = halftone.mean %o {halftone.layer = "other", halftone.phase = #loss} : (!rows) -> !scalar
  %g = halftone.map "cross_entropy_grad"(%again, %label, %w) over ["batch", 8] reads [#full, #row, #row] writes [#full]
      {halftone.layer = "loss", halftone.phase = #loss_backward} : (!matrix, !label, !rows) -> !matrix {
  ^bb0(%logit: f32, %column: i32, %seed: f32):
    %max = halftone.row_max %logit : f32
    %p = arith.mulf %max, %seed : f32
    halftone.yield %p : f32
  }
  %h = halftone.map "cross_entropy_grad"(%x, %label, %w) over ["batch", 8] reads [#full, #row, #row] writes [#full]
      {halftone.layer = "other", halftone.phase = #loss_backward} : (!matrix, !label, !rows) -> !matrix {
  ^bb0(%logit: f32, %column: i32, %seed: f32):
    %max = halftone.row_max %logit : f32
    %p = arith.mulf %max, %seed : f32
    halftone.yield %p : f32
  }
  %sum = halftone.add %g, %h {halftone.layer = "other", halftone.phase = #loss_backward} : (!matrix, !matrix) -> !matrix
  halftone.loss "loss", %l weight 1.0 {halftone.phase = #loss} : !scalar
  halftone.loss "other", %m weight 1.0 {halftone.phase = #loss} : !scalar
  %cut = halftone.output_gradient "y", %sum {halftone.phase = #loss_backward} : (!matrix) -> !matrix
}

// CHECK-LABEL: halftone.graph "bias_gradient_rides_on_weight_gradient"
// CHECK: halftone.kernel "{{[a-z_]+}}_fc_weight_gradient" contraction over [8, 8] reduce ["batch"]
// CHECK-SAME: accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>, #halftone.access<row>]
// CHECK-SAME: fused ["fc:contract", "fc:column_sum"]
// CHECK-SAME: transpose_lhs
// CHECK: %[[SUM:.*]] = halftone.lhs_sum : f32
// CHECK: halftone.kernel_yield stores %{{.*}}, %[[SUM]] : f32, f32
// CHECK-NOT: halftone.kernel "
// CHECK: halftone.flatten %{{.*}}#0, %{{.*}}#1
halftone.graph "bias_gradient_rides_on_weight_gradient" {
  %x = halftone.input "x" : !matrix
  %g = halftone.input "g" : !matrix
  %dw = halftone.contract %g, %x {pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.layer = "fc", halftone.phase = #backward}
      : (!matrix, !matrix) -> !weight
  %db = halftone.reduce "column_sum"(%g) {halftone.layer = "fc", halftone.phase = #backward} : (!matrix) -> !vector
  %flat = halftone.flatten %dw, %db at [0, 64] : (!weight, !vector) -> !halftone.tensor<[96], f32>
}

// CHECK-LABEL: halftone.graph "sums_over_rows_share_a_pass"
// CHECK: halftone.kernel "{{[a-z_]+}}_norm_weight_gradient" column over ["batch", 8]
// CHECK-SAME: -> [#halftone.access<column>, #halftone.access<column>, #halftone.access<column>]
// CHECK-SAME: fused ["norm:layer_norm_weight_grad", "fc:column_sum"]
// CHECK-NOT: halftone.kernel "
halftone.graph "sums_over_rows_share_a_pass" {
  %x = halftone.input "x" : !matrix
  %g = halftone.input "g" : !matrix
  %r = halftone.input "r" : !rows
  %dw, %db = halftone.reduce "layer_norm_weight_grad"(%x, %r, %r, %g) reads [#full, #row, #row, #full]
      {pass = #halftone.pass<weight_gradient>, halftone.layer = "norm", halftone.phase = #backward} : (!matrix, !rows, !rows, !matrix) -> (!vector, !vector) each {
  ^bb0(%ex: f32, %mean: f32, %rstd: f32, %eg: f32):
    %d = arith.subf %ex, %mean : f32
    %h = arith.mulf %d, %rstd : f32
    %p = arith.mulf %eg, %h : f32
    halftone.yield %p, %eg : f32, f32
  }
  %sum = halftone.reduce "column_sum"(%x) {halftone.layer = "fc", halftone.phase = #backward} : (!matrix) -> !vector
  %flat = halftone.flatten %dw, %db, %sum at [0, 32, 64] : (!vector, !vector, !vector) -> !halftone.tensor<[96], f32>
}

// Up to 24 sums share a pass.
// CHECK-LABEL: halftone.graph "does_not_join_more_sums_than_a_block_holds"
// CHECK: halftone.kernel "{{[a-z_]+}}_a_gradient" column
// CHECK: halftone.kernel "{{[a-z_]+}}_b_gradient" column
halftone.graph "does_not_join_more_sums_than_a_block_holds" {
  %x = halftone.input "x" : !matrix
  %a:13 = halftone.reduce "column_sum"(%x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x) {halftone.layer = "a", halftone.phase
      = #backward} : (!matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix,
      !matrix, !matrix) -> (!vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector,
      !vector, !vector)
  %b:13 = halftone.reduce "column_sum"(%x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x) {halftone.layer = "b", halftone.phase
      = #backward} : (!matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix,
      !matrix, !matrix) -> (!vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector,
      !vector, !vector)
  %flat = halftone.flatten %a#0, %a#1, %a#2, %a#3, %a#4, %a#5, %a#6, %a#7, %a#8, %a#9, %a#10, %a#11, %a#12, %b#0, %b#1, %b#2,
      %b#3, %b#4, %b#5, %b#6, %b#7, %b#8, %b#9, %b#10, %b#11, %b#12 at [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352,
      384, 416, 448, 480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800] : (!vector, !vector, !vector, !vector, !vector,
      !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector,
      !vector, !vector, !vector, !vector, !vector, !vector, !vector, !vector) -> !halftone.tensor<[832], f32>
}

// A part of a layer whose kernel does not hold the rest is listed, and the kernel is called after both.
// CHECK-LABEL: halftone.graph "parts_with_kernels_of_their_own"
// CHECK: halftone.kernel "{{[a-z_]+}}_conv_taps" pointwise over [8, 8]
// CHECK-SAME: fused ["conv:taps"]
// CHECK-SAME: halftone.internal
// CHECK: halftone.kernel "{{[a-z_]+}}_conv" pointwise over ["batch", 8]
// CHECK-SAME: fused ["conv:whole"]
// CHECK-NOT: halftone.internal
// CHECK: halftone.output "y"
halftone.graph "parts_with_kernels_of_their_own" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %t = halftone.map "taps"(%w) over [8, 8] reads [#halftone.access<general reads affine_map<(p, c) -> (c, p)>>] writes [#full]
      {halftone.internal, halftone.layer = "conv"} : (!weight) -> !weight {
  ^bb0(%e: f32):
    halftone.yield %e : f32
  }
  %y = halftone.map "whole"(%x, %t) over ["batch", 8] reads [#full, #halftone.access<general reads affine_map<(b, c) -> (2, c)>>]
      writes [#full] {halftone.layer = "conv"} : (!matrix, !weight) -> !matrix {
  ^bb0(%e: f32, %tap: f32):
    %p = arith.mulf %e, %tap : f32
    halftone.yield %p : f32
  }
  halftone.output "y", %y : !matrix
}

// A sum into segments is a kernel of its own, whose body says into which; what is widened for it is widened inside.
// CHECK-LABEL: halftone.graph "sums_into_segments"
// CHECK: %[[Y:.*]] = halftone.kernel "{{[a-z_]+}}_embed_gradient" segment over ["batch", 8] reduce [](%{{.*}}, %{{.*}}) accesses [#halftone.access<row>, #halftone.access<full>] -> [#halftone.access<segment>]
// CHECK-SAME: fused ["embed:segment_sum"]
// CHECK-NEXT: ^bb0(%[[ROW:[a-z0-9]+]]: i32, %[[A:[a-z0-9]+]]: bf16):
// CHECK-DAG: %[[WIDE:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-DAG: %[[IS:.*]] = arith.cmpi eq, %[[ROW]], %{{.*}} : i32
// CHECK-DAG: %[[INTO:.*]] = arith.select %[[IS]], %{{.*}}, %[[ROW]] : i32
// CHECK: halftone.kernel_yield stores %[[WIDE]] : f32 into %[[INTO]]
// CHECK: halftone.kernel "{{[a-z_]+}}_sum_gradient" pointwise over [37, 8] reduce [](%[[Y]])
halftone.graph "sums_into_segments" {
  %t = halftone.input "t" : !halftone.tensor<[batch], i32>
  %g = halftone.input "g" : !halftone.tensor<[batch, 8], bf16>
  %wide = halftone.cast %g {halftone.inline, halftone.phase = #backward} : (!halftone.tensor<[batch, 8], bf16>) -> !matrix
  %dw = halftone.segment_sum %t, %wide {halftone.layer = "embed", halftone.phase = #backward, passed_over = 3 : i64}
      : (!halftone.tensor<[batch], i32>, !matrix) -> !halftone.tensor<[37, 8], f32>
  %sum = halftone.map "add" (%dw) {halftone.layer = "sum", halftone.phase = #backward}
      : (!halftone.tensor<[37, 8], f32>) -> !halftone.tensor<[37, 8], f32> {
  ^bb0(%a: f32):
    %twice = arith.addf %a, %a : f32
    halftone.yield %twice : f32
  }
  halftone.output "y", %sum : !halftone.tensor<[37, 8], f32>
}

// A value marked inline, and code on scalars, is computed by each of its readers.
// CHECK-LABEL: halftone.graph "inlines_what_is_marked"
// CHECK: halftone.kernel "{{[a-z_]+}}_a_gradient" pointwise
// CHECK-SAME: fused ["a:add"]
// CHECK-DAG: arith.divf
// CHECK-DAG: arith.select
// CHECK: halftone.kernel "{{[a-z_]+}}_b_weight_gradient" column
// CHECK: arith.divf
// CHECK-NOT: halftone.kernel "
halftone.graph "inlines_what_is_marked" {
  %x = halftone.input "x" : !matrix
  %s = halftone.input "s" : !scalar
  %half = halftone.map "half" (%s) : (!scalar) -> !rows {
  ^bb0(%a: f32):
    %two = arith.constant 2.0 : f32
    %h = arith.divf %a, %two : f32
    halftone.yield %h : f32
  }
  %wide = halftone.map "half" (%s) : (!scalar) -> !matrix {
  ^bb0(%a: f32):
    %two = arith.constant 2.0 : f32
    %h = arith.divf %a, %two : f32
    halftone.yield %h : f32
  }
  %relu = halftone.relu %x {halftone.inline, halftone.layer = "relu", halftone.phase = #backward} : (!matrix) -> !matrix
  %a = halftone.add %relu, %wide {halftone.layer = "a", halftone.phase = #backward} : (!matrix, !matrix) -> !matrix
  %dw, %db = halftone.reduce "layer_norm_weight_grad"(%x, %half, %half, %a) reads [#full, #row, #row, #full]
      {pass = #halftone.pass<weight_gradient>, halftone.layer = "b", halftone.phase = #backward} : (!matrix, !rows, !rows, !matrix) -> (!vector, !vector) each {
  ^bb0(%ex: f32, %mean: f32, %rstd: f32, %eg: f32):
    %d = arith.subf %ex, %mean : f32
    %h = arith.mulf %d, %rstd : f32
    %p = arith.mulf %eg, %h : f32
    halftone.yield %p, %eg : f32, f32
  }
  %flat = halftone.flatten %dw, %db at [0, 32] : (!vector, !vector) -> !halftone.tensor<[64], f32>
}

// A rounding inside a kernel is kept: what follows it reads the rounded value, widened. The producer stores it once for all
// other readers; a widened value belongs to the place that its reader reads.
// CHECK-LABEL: halftone.graph "rounds_inside_a_kernel"
// CHECK: %[[X:.*]] = halftone.input "x"
// CHECK: %[[W:.*]] = halftone.input "w"
// CHECK: %[[Y:.*]]:2 = halftone.kernel "{{[a-z_]+}}_fc" contraction over ["batch", 8] reduce [8](%[[X]], %[[W]])
// CHECK-SAME: fused ["fc:linear", "fc:cast", "act:relu"]
// CHECK-SAME: halftone.cast = [{from = #halftone.encoding<f32>, rule = 3 : i64, to = #halftone.encoding<bf16>, value = 0 : i64}], halftone.only_casts = false,
// CHECK-SAME: halftone.values = array<i64: 0, 1>
// CHECK-SAME: -> (!halftone.tensor<[batch, 8], bf16>, !halftone.tensor<[batch, 8], f32>)
// CHECK-NEXT: ^bb0(%[[SUM:[a-z0-9]+]]: f32):
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f32 to bf16
// CHECK: %[[WIDE:.*]] = arith.extf %[[ROUNDED]] : bf16 to f32
// CHECK: arith.cmpf ogt, %[[WIDE]],
// CHECK: halftone.kernel "{{[a-z_]+}}_cat" pointwise over ["batch", 16] reduce [](%[[Y]]#0, %[[Y]]#0)
// CHECK-SAME: accesses [#halftone.access<window>, #halftone.access<window, -8>]
// CHECK-NEXT: ^bb0(%[[LEFT:[a-z0-9]+]]: bf16, %[[RIGHT:[a-z0-9]+]]: bf16):
// CHECK-DAG: arith.extf %[[LEFT]] : bf16 to f32
// CHECK-DAG: arith.extf %[[RIGHT]] : bf16 to f32
// CHECK: halftone.kernel_yield
// UNFUSED-LABEL: halftone.graph "rounds_inside_a_kernel"
// UNFUSED: fused ["fc:linear"]
// UNFUSED: fused ["fc:cast"] {halftone.cast = [{{.*}}], halftone.layer = "fc", halftone.only_casts = true,
// UNFUSED: fused ["act:relu"]
// UNFUSED: arith.extf
halftone.graph "rounds_inside_a_kernel" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %fc = halftone.linear %x, %w {halftone.layer = "fc"} : (!matrix, !weight) -> !matrix
  %half = halftone.cast %fc {halftone.layer = "fc", halftone.values = array<i64: 0>,
      halftone.cast = {value = 0 : i64, from = #halftone.encoding<f32>, to = #halftone.encoding<bf16>, rule = 3 : i64}} : (!matrix) -> !halftone.tensor<[batch, 8], bf16>
  %wide = halftone.cast %half {halftone.inline} : (!halftone.tensor<[batch, 8], bf16>) -> !matrix
  %act = halftone.relu %wide {halftone.layer = "act", halftone.values = array<i64: 1>} : (!matrix) -> !matrix
  %left = halftone.cast %half {halftone.inline} : (!halftone.tensor<[batch, 8], bf16>) -> !matrix
  %cat = halftone.concat %left, %left {halftone.layer = "cat"} : (!matrix, !matrix) -> !halftone.tensor<[batch, 16], f32>
  halftone.output "act", %act : !matrix
  halftone.output "cat", %cat : !halftone.tensor<[batch, 16], f32>
}

// What no operation of a kernel reads is no operand of it, so that nothing keeps it for the backward pass; of an input of the
// model the forward pass keeps it, since callers give what it reads.
// CHECK-LABEL: halftone.graph "drops_operands_that_nothing_reads"
// CHECK: %[[X:.*]] = halftone.input "x"
// CHECK: %[[S:.*]] = halftone.input "s"
// CHECK: %[[A:.*]] = halftone.kernel "{{[a-z_]+}}_first" pointwise over ["batch", 8] reduce [](%[[X]], %[[S]])
// CHECK-NEXT: ^bb0(%[[KEPT:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32):
// CHECK-NEXT: arith.negf %[[KEPT]]
// CHECK: halftone.kernel "{{[a-z_]+}}_second_gradient" pointwise over ["batch", 8] reduce [](%[[X]])
// CHECK-SAME: accesses [#halftone.access<full>]
// CHECK-NEXT: ^bb0(%[[G:[a-z0-9]+]]: f32):
// CHECK-NEXT: arith.negf %[[G]]
// CHECK-NEXT: halftone.kernel_yield
halftone.graph "drops_operands_that_nothing_reads" {
  %x = halftone.input "x" : !matrix
  %s = halftone.input "s" : !scalar
  %a = halftone.map "first" (%x, %s) {halftone.layer = "first"} : (!matrix, !scalar) -> !matrix {
  ^bb0(%v: f32, %unread: f32):
    %r = arith.negf %v : f32
    halftone.yield %r : f32
  }
  %b = halftone.map "second" (%a, %s, %x) {halftone.layer = "second", halftone.phase = #backward}
      : (!matrix, !scalar, !matrix) -> !matrix {
  ^bb0(%v: f32, %unread: f32, %g: f32):
    %dead = arith.addf %v, %v : f32
    %r = arith.negf %g : f32
    halftone.yield %r : f32
  }
  halftone.output "a", %a : !matrix
  halftone.output "b", %b : !matrix
}

// A Scalar that the finish alone reads stays, with the argument that stands for it in the body.
// CHECK-LABEL: halftone.graph "keeps_what_a_finish_reads"
// CHECK: %[[G:.*]] = halftone.input "g"
// CHECK: %[[N:.*]] = halftone.state "n"
// CHECK: %[[M:.*]] = halftone.state "m"
// CHECK: halftone.kernel "{{[a-z_]+}}_check" flat over [64] reduce [](%[[G]], %[[M]])
// CHECK-SAME: accesses [#halftone.access<full>, #halftone.access<scalar>]
// CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: f32):
// CHECK: finish {
// CHECK-NEXT: ^bb0(%[[SUM:[a-z0-9]+]]: f32, %[[READ:[a-z0-9]+]]: f32):
// CHECK-NEXT: arith.mulf %[[SUM]], %[[READ]]
halftone.graph "keeps_what_a_finish_reads" {
  %g = halftone.input "g" : !halftone.tensor<[64], f32>
  %n = halftone.state "n" {initial = 0.0 : f64} : !scalar
  %m = halftone.state "m" {initial = 0.0 : f64} : !scalar
  %norm = halftone.reduce "total"(%g, %n, %m) {halftone.phase = #check}
      : (!halftone.tensor<[64], f32>, !scalar, !scalar) -> !scalar finish {
  ^bb0(%sum: f32, %unread: f32, %read: f32):
    %dead = arith.addf %unread, %unread : f32
    %r = arith.mulf %sum, %read : f32
    halftone.yield %r : f32
  }
  halftone.statistic "norm", %norm {halftone.phase = #check} : !scalar
}

// CHECK-LABEL: halftone.graph "does_not_fuse_across_phases"
// CHECK: fused ["a:relu"]
// CHECK: fused ["b:gelu"]
halftone.graph "does_not_fuse_across_phases" {
  %x = halftone.input "x" : !matrix
  %a = halftone.relu %x {halftone.layer = "a"} : (!matrix) -> !matrix
  %b = halftone.gelu %a {approximation = "erf", halftone.layer = "b", halftone.phase = #loss} : (!matrix) -> !matrix
  halftone.output "b", %b : !matrix
}

// CHECK-LABEL: halftone.graph "does_not_fuse_two_contractions"
// CHECK: fused ["a:linear", "act:relu"]
// CHECK: fused ["b:linear"]
halftone.graph "does_not_fuse_two_contractions" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %a = halftone.linear %x, %w {halftone.layer = "a"} : (!matrix, !weight) -> !matrix
  %act = halftone.relu %a {halftone.layer = "act"} : (!matrix) -> !matrix
  %b = halftone.linear %act, %w {halftone.layer = "b"} : (!matrix, !weight) -> !matrix
  halftone.output "b", %b : !matrix
}

// A row has to be complete before it can be reduced: tiles of a contraction are not.
// CHECK-LABEL: halftone.graph "does_not_fuse_rows_into_a_contraction"
// CHECK: fused ["a:linear"]
// CHECK: fused ["norm:layer_norm"]
halftone.graph "does_not_fuse_rows_into_a_contraction" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %b = halftone.input "b" : !vector
  %a = halftone.linear %x, %w {halftone.layer = "a"} : (!matrix, !weight) -> !matrix
  %n, %mean, %rstd = halftone.layer_norm %a, %b, %b {epsilon = 1.0e-5 : f64, halftone.layer = "norm"}
      : (!matrix, !vector, !vector) -> (!matrix, !rows, !rows)
  halftone.output "n", %n : !matrix
}

// A concat reads its parts at another place than they were computed for.
// CHECK-LABEL: halftone.graph "does_not_fuse_a_window_with_its_producer"
// CHECK: fused ["a:relu"]
// CHECK: halftone.kernel "{{[a-z_]+}}_cat" pointwise over ["batch", 16]
// CHECK-SAME: accesses [#halftone.access<window>, #halftone.access<window, -8>]
// CHECK-SAME: fused ["cat:concat"]
halftone.graph "does_not_fuse_a_window_with_its_producer" {
  %x = halftone.input "x" : !matrix
  %a = halftone.relu %x {halftone.layer = "a"} : (!matrix) -> !matrix
  %cat = halftone.concat %a, %a {halftone.layer = "cat"} : (!matrix, !matrix) -> !halftone.tensor<[batch, 16], f32>
  halftone.output "cat", %cat : !halftone.tensor<[batch, 16], f32>
}

// CHECK-LABEL: halftone.graph "does_not_fuse_a_mean_that_others_share"
// CHECK: fused ["a:relu"]
// CHECK: halftone.kernel "{{[a-z_]+}}_m" flat
// CHECK-SAME: fused ["m:mean"]
halftone.graph "does_not_fuse_a_mean_that_others_share" {
  %x = halftone.input "x" : !matrix
  %a = halftone.relu %x {halftone.layer = "a", halftone.phase = #loss} : (!matrix) -> !matrix
  %m = halftone.mean %a {halftone.layer = "m", halftone.phase = #loss} : (!matrix) -> !scalar
  halftone.output "a", %a {halftone.phase = #loss} : !matrix
  halftone.loss "m", %m weight 1.0 {halftone.phase = #loss} : !scalar
}

// A finish runs after its kernel: what needs its result is a kernel of its own.
// CHECK-LABEL: halftone.graph "does_not_fuse_with_the_result_of_a_finish"
// CHECK: %[[R:[a-z0-9]+]], %[[M:.*]] = halftone.kernel "{{[a-z_]+}}_r" row
// CHECK-SAME: fused ["r:layer_norm", "m:mean"]
// CHECK: halftone.kernel "{{[a-z_]+}}_s" pointwise over ["batch", 8] reduce [](%[[X:.*]], %[[M]])
// CHECK-SAME: fused ["s:shift"]
halftone.graph "does_not_fuse_with_the_result_of_a_finish" {
  %x = halftone.input "x" : !matrix
  %b = halftone.input "b" : !vector
  %n, %mean, %rstd = halftone.layer_norm %x, %b, %b {epsilon = 1.0e-5 : f64, halftone.layer = "r"}
      : (!matrix, !vector, !vector) -> (!matrix, !rows, !rows)
  %m = halftone.mean %mean {halftone.layer = "m"} : (!rows) -> !scalar
  %s = halftone.map "shift" (%x, %m) {halftone.layer = "s"} : (!matrix, !scalar) -> !matrix {
  ^bb0(%a: f32, %c: f32):
    %r = arith.subf %a, %c : f32
    halftone.yield %r : f32
  }
  halftone.output "n", %n : !matrix
  halftone.output "s", %s : !matrix
}

// Each sink has a value of its own, stored by a kernel.
// CHECK-LABEL: halftone.graph "copies_for_sinks"
// CHECK: %[[X:.*]] = halftone.input "x"
// CHECK: %[[Y:.*]]:2 = halftone.kernel {{.*}} fused ["y:linear", "copy"]
// CHECK: %[[COPY:.*]] = halftone.kernel {{.*}}(%[[X]]) {{.*}} fused ["copy"]
// CHECK: halftone.output "first", %[[Y]]#0
// CHECK: halftone.output "second", %[[Y]]#1
// CHECK: halftone.output "x", %[[COPY]]
halftone.graph "copies_for_sinks" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %y = halftone.linear %x, %w {halftone.layer = "y"} : (!matrix, !weight) -> !matrix
  halftone.output "first", %y : !matrix
  halftone.output "second", %y : !matrix
  halftone.output "x", %x : !matrix
}

// Scalar code is not inlined into the phases in which the states that it reads change.
// CHECK-LABEL: halftone.graph "scalar_states"
// CHECK: %[[S:.*]] = halftone.state "s"
// CHECK: %[[T:.*]] = halftone.state "t"
// CHECK: %[[NEXT:.*]] = halftone.kernel "{{[a-z_]+}}_next" pointwise over [1] {{.*}}(%[[S]]) {{.*}}halftone.phase = #halftone.phase<forward>
// CHECK: %[[LAST:.*]] = halftone.kernel "{{[a-z_]+}}_last" pointwise over [1] {{.*}}(%[[T]]) {{.*}}halftone.phase = #halftone.phase<forward>
// CHECK: %[[ON:.*]] = halftone.kernel {{.*}}(%[[NEXT]]) {{.*}}halftone.phase = #halftone.phase<accumulate>
// CHECK: %[[END:.*]] = halftone.kernel {{.*}}(%[[LAST]]) {{.*}}halftone.phase = #halftone.phase<update>
// CHECK: halftone.assign %[[ON]] to %[[S]]
// CHECK: halftone.assign %[[END]] to %[[T]]
halftone.graph "scalar_states" {
  %s = halftone.state "s" {initial = 0.0 : f64} : !scalar
  %t = halftone.state "t" {initial = 0.0 : f64} : !scalar
  %next = halftone.map "increment" (%s) {halftone.layer = "next", halftone.phase = #halftone.phase<forward>}
      : (!scalar) -> !scalar {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    halftone.yield %r : f32
  }
  %last = halftone.map "decrement" (%t) {halftone.layer = "last", halftone.phase = #halftone.phase<forward>}
      : (!scalar) -> !scalar {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.subf %a, %one : f32
    halftone.yield %r : f32
  }
  %on = halftone.map "on" (%next) {halftone.phase = #halftone.phase<accumulate>} : (!scalar) -> !scalar {
  ^bb0(%a: f32):
    halftone.yield %a : f32
  }
  halftone.assign %on to %s {halftone.phase = #halftone.phase<accumulate>} : (!scalar, !scalar) -> ()
  %end = halftone.map "end" (%last) {halftone.phase = #update} : (!scalar) -> !scalar {
  ^bb0(%a: f32):
    halftone.yield %a : f32
  }
  halftone.assign %end to %t {halftone.phase = #update} : (!scalar, !scalar) -> ()
}

// Where nothing depends on where rows of a symbolic length begin, every element is a row. A single row is a contraction over one.
// CHECK-LABEL: halftone.graph "elements_are_rows"
// CHECK: halftone.kernel "{{[a-z_]+}}_a" pointwise over ["batch", 1]
// CHECK: halftone.kernel "{{[a-z_]+}}_b" pointwise over [1]
// CHECK: halftone.kernel "{{[a-z_]+}}_c_weight_gradient" contraction over [8, 4] reduce [1]
halftone.graph "elements_are_rows" {
  %r = halftone.input "r" : !rows
  %s = halftone.input "s" : !scalar
  %v = halftone.input "v" : !vector
  %u = halftone.input "u" : !halftone.tensor<[4], f32>
  %a = halftone.relu %r {halftone.layer = "a"} : (!rows) -> !rows
  %b = halftone.relu %s {halftone.layer = "b"} : (!scalar) -> !scalar
  %c = halftone.contract %v, %u {pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.layer = "c"}
      : (!vector, !halftone.tensor<[4], f32>) -> !halftone.tensor<[8, 4], f32>
  halftone.output "a", %a : !rows
  halftone.output "b", %b : !scalar
  halftone.output "c", %c : !halftone.tensor<[8, 4], f32>
}

// CHECK-LABEL: halftone.graph "each_element_of_a_batch_is_a_product"
// CHECK: halftone.kernel "{{[a-z_]+}}_a" contraction over ["batch", 3, "time", 9] reduce [4](%{{.*}}, %{{.*}}) accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused ["a:contract", "b:relu"]
// CHECK-SAME: transpose_rhs
// CHECK: halftone.kernel "{{[a-z_]+}}_c" contraction over ["batch", 3, 4, 9] reduce ["time"]
// CHECK-SAME: transpose_lhs
// CHECK-NOT: halftone.kernel "
halftone.graph "each_element_of_a_batch_is_a_product" {
  %q = halftone.input "q" : !halftone.tensor<[batch, 3, time, 4], f32>
  %k = halftone.input "k" : !halftone.tensor<[batch, 3, 9, 4], f32>
  %a = halftone.contract %q, %k {batch_axes = 2, pass = #halftone.pass<forward>, transpose_rhs, halftone.layer = "a"}
      : (!halftone.tensor<[batch, 3, time, 4], f32>, !halftone.tensor<[batch, 3, 9, 4], f32>) -> !halftone.tensor<[batch, 3, time, 9], f32>
  %b = halftone.relu %a {halftone.layer = "b"} : (!halftone.tensor<[batch, 3, time, 9], f32>) -> !halftone.tensor<[batch, 3, time, 9], f32>
  %c = halftone.contract %q, %b {batch_axes = 2, pass = #halftone.pass<forward>, transpose_lhs, halftone.layer = "c"}
      : (!halftone.tensor<[batch, 3, time, 4], f32>, !halftone.tensor<[batch, 3, time, 9], f32>) -> !halftone.tensor<[batch, 3, 4, 9], f32>
  halftone.output "c", %c : !halftone.tensor<[batch, 3, 4, 9], f32>
}

// Its sum over k would be one for each element of the batch.
// CHECK-LABEL: halftone.graph "does_not_sum_columns_in_a_contraction_of_a_batch"
// CHECK: halftone.kernel "{{[a-z_]+}}_fc_weight_gradient" contraction over ["batch", 4, 8] reduce ["time"]
// CHECK-SAME: fused ["fc:contract"]
// CHECK: halftone.kernel "{{[a-z_]+}}_fc_gradient" column over ["batch", "time", 4]
// CHECK-SAME: fused ["fc:column_sum"]
halftone.graph "does_not_sum_columns_in_a_contraction_of_a_batch" {
  %x = halftone.input "x" : !halftone.tensor<[batch, time, 8], f32>
  %g = halftone.input "g" : !halftone.tensor<[batch, time, 4], f32>
  %products = halftone.contract %g, %x {batch_axes = 1, pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.layer = "fc", halftone.phase = #backward}
      : (!halftone.tensor<[batch, time, 4], f32>, !halftone.tensor<[batch, time, 8], f32>) -> !halftone.tensor<[batch, 4, 8], f32>
  %sum = halftone.reduce "column_sum"(%g) {halftone.layer = "fc", halftone.phase = #backward}
      : (!halftone.tensor<[batch, time, 4], f32>) -> !halftone.tensor<[4], f32>
  halftone.output "products", %products : !halftone.tensor<[batch, 4, 8], f32>
  halftone.output "sum", %sum : !halftone.tensor<[4], f32>
}

// CHECK-LABEL: halftone.graph "names_are_identifiers"
// CHECK: halftone.kernel "names_are_identifiers_a_b_c"
// CHECK: halftone.kernel "names_are_identifiers_a_b_c_2"
halftone.graph "names_are_identifiers" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %a = halftone.linear %x, %w {halftone.layer = "a.b/c"} : (!matrix, !weight) -> !matrix
  %b = halftone.linear %x, %w {halftone.layer = "a_b-c"} : (!matrix, !weight) -> !matrix
  halftone.output "a", %a : !matrix
  halftone.output "b", %b : !matrix
}

// -----

!scores = !halftone.tensor<[batch, classes], f32>
!rows = !halftone.tensor<[batch], f32>

// Rows, products and sums may be as long as a symbol says; what is elementwise joins them.
// CHECK-LABEL: halftone.graph "columns_are_a_symbol"
// CHECK: halftone.kernel "{{[a-z_]+}}_scores" contraction over ["batch", "classes"] reduce [4]
// CHECK-SAME: fused ["scores:linear", "act:relu"]
// CHECK: halftone.kernel "{{[a-z_]+}}_loss" row over ["batch", "classes"]
// CHECK-SAME: fused ["loss:cross_entropy", "loss:mean"]
// CHECK: halftone.count ["classes"] : i32
// CHECK: halftone.kernel "{{[a-z_]+}}_biased" pointwise over ["batch", "classes"]
// CHECK-SAME: accesses [#halftone.access<full>, #halftone.access<column>] -> [#halftone.access<full>]
// CHECK: halftone.kernel "{{[a-z_]+}}_total" column over ["batch", "classes"]
// CHECK: halftone.kernel "{{[a-z_]+}}_doubled" pointwise over ["batch", "classes", 1]
halftone.graph "columns_are_a_symbol" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  %k = halftone.input "k" : !halftone.tensor<[classes, 4], f32>
  %bias = halftone.input "bias" : !halftone.tensor<[classes], f32>
  %label = halftone.input "label" : !halftone.tensor<[batch], i32>
  %y = halftone.input "y" : !scores
  %scores = halftone.linear %x, %k {halftone.layer = "scores"}
      : (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[classes, 4], f32>) -> !scores
  %act = halftone.relu %scores {halftone.layer = "act"} : (!scores) -> !scores
  %l = halftone.cross_entropy %act, %label {halftone.layer = "loss"} : (!scores, !halftone.tensor<[batch], i32>) -> !rows
  %mean = halftone.mean %l {halftone.layer = "loss"} : (!rows) -> !halftone.tensor<[], f32>
  %biased = halftone.map "biased" (%y, %bias) {halftone.layer = "biased"}
      : (!scores, !halftone.tensor<[classes], f32>) -> !scores {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    halftone.yield %sum : f32
  }
  %total = halftone.reduce "total" (%y) {halftone.layer = "total"} : (!scores) -> !halftone.tensor<[classes], f32>
  %doubled = halftone.map "doubled" (%y) {halftone.layer = "doubled"} : (!scores) -> !scores {
  ^bb0(%a: f32):
    %two = arith.addf %a, %a : f32
    halftone.yield %two : f32
  }
  halftone.output "l", %mean : !halftone.tensor<[], f32>
  halftone.output "biased", %biased : !scores
  halftone.output "total", %total : !halftone.tensor<[classes], f32>
  halftone.output "doubled", %doubled : !scores
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>

// How a contraction accumulates (P21) stays with its kernel; f32 is not spelled.
// CHECK-LABEL: halftone.graph "keeps_how_a_contraction_accumulates"
// CHECK: halftone.kernel "{{[a-z_]+}}_first" contraction {{.*}}accumulation = #halftone.accumulation<ordered>
// CHECK: halftone.kernel "{{[a-z_]+}}_second" contraction {{.*}}accumulation = #halftone.accumulation<hardware>
// CHECK: halftone.kernel "{{[a-z_]+}}_third" contraction
// CHECK-NOT: accumulation
// CHECK: halftone.output
// UNFUSED-LABEL: halftone.graph "keeps_how_a_contraction_accumulates"
// UNFUSED: halftone.kernel "{{[a-z_]+}}_first" contraction {{.*}}accumulation = #halftone.accumulation<ordered>
halftone.graph "keeps_how_a_contraction_accumulates" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %a = halftone.linear %x, %w {halftone.layer = "first", halftone.precision = #halftone.precision<operands = [[], []],
    results = [[]], accumulate = ordered>} : (!matrix, !weight) -> !matrix
  %b = halftone.relu %a {halftone.layer = "relu", halftone.precision = #halftone.precision<operands = [[]], results = [[]],
    accumulate = ordered>} : (!matrix) -> !matrix
  %c = halftone.linear %b, %w {halftone.layer = "second", halftone.precision = #halftone.precision<operands = [[], []],
    results = [[]], accumulate = hardware>} : (!matrix, !weight) -> !matrix
  %d = halftone.linear %c, %w {halftone.layer = "third", halftone.precision = #halftone.precision<operands = [[], []],
    results = [[]]>} : (!matrix, !weight) -> !matrix
  halftone.output "d", %d : !matrix
}

// -----

#full = #halftone.access<full>
#row = #halftone.access<row>
#late = affine_set<(d0) : (d0 - 2 >= 0)>
!rows = !halftone.tensor<[batch], f32>
!tokens = !halftone.tensor<[batch], i32>
!table = !halftone.tensor<[9, 8], f32>
!matrix = !halftone.tensor<[batch, 8], f32>

// A map reads through its operand 0; in the kernel, whose first operands are others and whose unread ones go, that is another
// number. What gathers joins no producer of what it reads so, and nothing that its kernel cannot hold joins it.
// CHECK: #[[LOOK_UP:.*]] = affine_map<(d0, d1)[s0] -> (s0, d1)>
// CHECK: #[[SHIFT:.*]] = affine_map<(d0) -> (d0 - 1)>
// CHECK: #[[LATE:.*]] = affine_set<(d0) : (d0 - 2 >= 0)>
// CHECK-LABEL: halftone.graph "gathers"
// CHECK-DAG: %[[T:.*]] = halftone.input "t"
// CHECK-DAG: %[[W:.*]] = halftone.input "w"
// CHECK-DAG: %[[X:.*]] = halftone.input "x"
// CHECK: %[[TABLE:.*]] = halftone.kernel "{{[a-z_]+}}" pointwise over [9, 8] reduce [](%[[W]])
// CHECK: %[[Y:.*]] = halftone.kernel "{{[a-z_]+}}" pointwise over ["batch", 8] reduce [](%[[X]], %[[T]], %[[TABLE]])
// CHECK-SAME: accesses [#halftone.access<full>, #halftone.access<row>,
// CHECK-SAME: #halftone.access<general reads #[[LOOK_UP]] through[1]>] -> [#halftone.access<full>]
// CHECK: halftone.kernel "{{[a-z_]+}}" row over ["batch", 8] reduce [](%[[Y]])
// UNFUSED-LABEL: halftone.graph "gathers"
// UNFUSED: through[0]
halftone.graph "gathers" {
  %t = halftone.input "t" : !tokens
  %w = halftone.input "w" : !table
  %x = halftone.input "x" : !matrix
  %table = halftone.relu %w {halftone.layer = "table", halftone.phase = #halftone.phase<backward>} : (!table) -> !table
  %more = halftone.map "more" (%x) {halftone.layer = "more", halftone.phase = #halftone.phase<backward>} : (!matrix) -> !matrix {
  ^bb0(%a: f32):
    %two = arith.addf %a, %a : f32
    halftone.yield %two : f32
  }
  %unread = halftone.input "unread" : !matrix
  %y = halftone.map "look_up" (%t, %unread, %table, %more) over ["batch", 8]
      reads [#row, #full, #halftone.access<general reads affine_map<(d0, d1)[s0] -> (s0, d1)> through [0]>, #full] writes [#full]
      {halftone.layer = "y", halftone.phase = #halftone.phase<backward>} : (!tokens, !matrix, !table, !matrix) -> !matrix {
  ^bb0(%index: i32, %nothing: f32, %a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    halftone.yield %sum : f32
  }
  %z = halftone.map "centre" (%y) {halftone.layer = "z", halftone.phase = #halftone.phase<backward>} : (!matrix) -> !matrix {
  ^bb0(%a: f32):
    %sum = halftone.row_sum %a : f32
    %d = arith.subf %a, %sum : f32
    halftone.yield %d : f32
  }
  halftone.output "z", %z : !matrix
}

// A map that has a name in its kernel takes it.
// CHECK-LABEL: halftone.graph "shifts"
// CHECK: halftone.kernel "{{[a-z_]+}}" pointwise over ["batch"] reduce
// CHECK-SAME: accesses [#halftone.access<general reads #[[SHIFT]] where #[[LATE]]>,
// CHECK-SAME: #halftone.access<full>]
halftone.graph "shifts" {
  %x = halftone.input "x" : !rows
  %u = halftone.input "u" : !rows
  %y = halftone.map "shift" (%x, %u) over ["batch"]
      reads [#halftone.access<general reads affine_map<(d0) -> (d0 - 1)> where #late>,
             #halftone.access<general reads affine_map<(d0) -> (d0)>>] writes [#full] {halftone.layer = "y"} : (!rows, !rows) -> !rows {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    halftone.yield %sum : f32
  }
  halftone.output "y", %y : !rows
}

// -----

!rows = !halftone.tensor<[8], f32>
#update = #halftone.phase<update>

halftone.graph "moves_what_it_reads" {
  %s = halftone.state "s" {initial = 0.0 : f64} : !rows
  // expected-error @+1 {{assigns to what it reads by a general access}}
  %y = halftone.map "reverse" (%s) over [8] reads [#halftone.access<general reads affine_map<(d0) -> (7 - d0)>>]
      writes [#halftone.access<full>] {halftone.layer = "y", halftone.phase = #update} : (!rows) -> !rows {
  ^bb0(%a: f32):
    halftone.yield %a : f32
  }
  halftone.assign %y to %s {halftone.phase = #update} : (!rows, !rows) -> ()
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!pairs = !halftone.tensor<[batch, 2, 4], f32>
!flat = !halftone.tensor<[batch, 4, 2], f32>

// A view is no kernel. What reads it is one of its own, since the operand's elements are in memory after its kernel alone; here, too,
// where shapes would let it join.
// CHECK-LABEL: halftone.graph "reads_a_view_behind_the_kernel_of_its_operand"
// CHECK: %[[X:.*]] = halftone.input "x"
// CHECK: %[[S:.*]] = halftone.view %[[X]]
// CHECK: %[[A:.*]] = halftone.kernel "{{[a-z_]+}}_a" pointwise over ["batch", 2, 4] reduce [](%[[S]])
// CHECK: %[[V:.*]] = halftone.view %[[A]]
// CHECK: %[[W:.*]] = halftone.view %[[V]]
// CHECK: %[[B:.*]] = halftone.kernel "{{[a-z_]+}}_b" pointwise over ["batch", 2, 4] reduce [](%[[W]])
// CHECK: halftone.kernel "{{[a-z_]+}}_copy" {{.*}}over ["batch", 4, 2] reduce [](%[[V]])
// CHECK-NOT: halftone.kernel "
// CHECK: halftone.output "b", %[[B]]
// UNFUSED-LABEL: halftone.graph "reads_a_view_behind_the_kernel_of_its_operand"
// UNFUSED-COUNT-3: halftone.kernel "
// UNFUSED-NOT: halftone.kernel "
// UNFUSED: halftone.output "b"
halftone.graph "reads_a_view_behind_the_kernel_of_its_operand" {
  %x = halftone.input "x" : !matrix
  %source = halftone.view %x : (!matrix) -> !pairs
  %a = halftone.relu %source {halftone.layer = "a"} : (!pairs) -> !pairs
  %v = halftone.view %a : (!pairs) -> !flat
  %w = halftone.view %v : (!flat) -> !pairs
  %b = halftone.relu %w {halftone.layer = "b"} : (!pairs) -> !pairs
  halftone.output "b", %b : !pairs
  halftone.output "v", %v : !flat
}

// What is computed where it is read is in memory, too, where a view of it is read.
// CHECK-LABEL: halftone.graph "stores_what_a_view_shows"
// CHECK: %[[A:.*]] = halftone.kernel "{{[a-z_]+}}_a"
// CHECK: %[[V:.*]] = halftone.view %[[A]]
// CHECK: halftone.kernel "{{[a-z_]+}}_c" {{.*}}(%[[V]])
halftone.graph "stores_what_a_view_shows" {
  %x = halftone.input "x" : !matrix
  %a = halftone.relu %x {halftone.inline, halftone.layer = "a"} : (!matrix) -> !matrix
  %v = halftone.view %a : (!matrix) -> !pairs
  %c = halftone.relu %v {halftone.layer = "c"} : (!pairs) -> !pairs
  halftone.output "c", %c : !pairs
}

// The same of what is computed again from a view.
// CHECK-LABEL: halftone.graph "reads_what_is_computed_from_a_view"
// CHECK: %[[A:.*]] = halftone.kernel "{{[a-z_]+}}_a"
// CHECK: %[[V:.*]] = halftone.view %[[A]]
// CHECK: halftone.kernel "{{[a-z_]+}}_d" {{.*}}(%[[V]])
halftone.graph "reads_what_is_computed_from_a_view" {
  %x = halftone.input "x" : !pairs
  %a = halftone.relu %x {halftone.layer = "a"} : (!pairs) -> !pairs
  %v = halftone.view %a : (!pairs) -> !pairs
  %c = halftone.relu %v {halftone.inline, halftone.layer = "c"} : (!pairs) -> !pairs
  %d = halftone.relu %c {halftone.layer = "d"} : (!pairs) -> !pairs
  halftone.output "d", %d : !pairs
}
