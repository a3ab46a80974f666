// SPDX-License-Identifier: Apache-2.0
// Every operation, type and attribute of the dialect is printed as it is read.
// RUN: halftone-opt %s | halftone-opt | FileCheck %s
// RUN: halftone-opt --mlir-print-op-generic %s | halftone-opt | FileCheck %s

// CHECK-LABEL: halftone.graph "sources"
halftone.graph "sources" {
  // CHECK: halftone.input "x" : <[batch, time, 8], f32>
  %x = halftone.input "x" : !halftone.tensor<[batch, time, 8], f32>
  // CHECK: halftone.input "label" : <[batch], i32>
  %label = halftone.input "label" : !halftone.tensor<[batch], i32>
  // CHECK: halftone.parameter "plain" {initializer = #halftone.initializer<constant, 1.000000e+00 : f64, 0.000000e+00 : f64>} : <[8], f32>
  %plain = halftone.parameter "plain" {initializer = #halftone.initializer<constant, 1.0 : f64, 0.0 : f64>}
      : !halftone.tensor<[8], f32>
  // CHECK: halftone.parameter "set" {decay = false, frozen = true, initializer = #halftone.initializer<normal, 0.000000e+00 : f64, 2.500000e-01 : f64>, learning_rate_scale = 5.000000e-01 : f64, offset = 32 : i64} : <[8, 4], bf16>
  %set = halftone.parameter "set" {initializer = #halftone.initializer<normal, 0.0 : f64, 0.25 : f64>, decay = false,
      frozen = true, learning_rate_scale = 0.5 : f64, offset = 32 : i64} : !halftone.tensor<[8, 4], bf16>
  // CHECK: #halftone.initializer<uniform, -1.000000e+00 : f64, 1.000000e+00 : f64>
  %uniform = halftone.parameter "uniform" {initializer = #halftone.initializer<uniform, -1.0 : f64, 1.0 : f64>}
      : !halftone.tensor<[], f16>
  // CHECK: halftone.state "mean" {initial = 5.000000e-01 : f64} : <[batch], tf32>
  %mean = halftone.state "mean" {initial = 0.5 : f64} : !halftone.tensor<[batch], tf32>
  // CHECK: halftone.state "parts" {initial = 1.000000e+00 : f64} : <[batch ceildiv 32, 8, time ceildiv 6], f32>
  %parts = halftone.state "parts" {initial = 1.0 : f64} : !halftone.tensor<[batch ceildiv 32, 8, time ceildiv 6], f32>
  // CHECK: halftone.state "sides" {initial = 1.000000e+00 : f64} : <[4*side, side, 3*side ceildiv 8], f32>
  %sides = halftone.state "sides" {initial = 1.0 : f64} : !halftone.tensor<[4 * side, 1*side, 3*side ceildiv 8], f32>
  // CHECK: halftone.state "sums" {initial = 1.000000e+00 : f64} : <[4*side + 2, side - 1, 3*side ceildiv 8 + 1], f32>
  %sums = halftone.state "sums" {initial = 1.0 : f64} : !halftone.tensor<[4 * side+2, side -1, 3*side ceildiv 8 + 1], f32>
  // CHECK: halftone.state "moment" {initial = 0.000000e+00 : f64, optimizer} : <[96], f32>
  %moment = halftone.state "moment" {initial = 0.0 : f64, optimizer} : !halftone.tensor<[96], f32>
  // CHECK: halftone.hyperparameter "learning_rate" {initial = 1.000000e-03 : f64} : <[], f32>
  %rate = halftone.hyperparameter "learning_rate" {initial = 0.001 : f64} : !halftone.tensor<[], f32>
  // CHECK: halftone.counters : !halftone.tensor<[], i32>, !halftone.tensor<[], i32>, !halftone.tensor<[], i32>, !halftone.tensor<[], i32>
  %counters:4 = halftone.counters : !halftone.tensor<[], i32>, !halftone.tensor<[], i32>, !halftone.tensor<[], i32>, !halftone.tensor<[], i32>
  // CHECK: halftone.flat_parameters : <[96], f32>
  %all = halftone.flat_parameters : !halftone.tensor<[96], f32>
  // CHECK: halftone.flat_working_copies "parameters.bf16" : <[96], bf16>
  %copies = halftone.flat_working_copies "parameters.bf16" : !halftone.tensor<[96], bf16>
  // CHECK: halftone.working_copy "set" in "parameters.bf16" at 32 : <[8, 4], bf16>
  %copy = halftone.working_copy "set" in "parameters.bf16" at 32 : !halftone.tensor<[8, 4], bf16>
  // CHECK: halftone.quantized_weight "set" at 64, 32 {dimension = 0 : i64, least_error} : <[8, 4], si8>, <[8], f32>
  %codes, %scales = halftone.quantized_weight "set" at 64, 32 {dimension = 0 : i64, least_error}
      : !halftone.tensor<[8, 4], si8>, !halftone.tensor<[8], f32>
  // CHECK: halftone.accumulated : <[96], f32>
  %sum = halftone.accumulated : !halftone.tensor<[96], f32>
  // CHECK: halftone.external_gradient "logits" : <[batch, 8], f32>
  %external = halftone.external_gradient "logits" : !halftone.tensor<[batch, 8], f32>
}

// CHECK-LABEL: halftone.graph "layers" attributes {halftone.buffers = [#halftone.buffer<"x", input, !halftone.tensor<[batch, 8], f32>, slot 0, initial 0.000000e+00 : f64>], halftone.loss_without_output = "xent"}
halftone.graph "layers" attributes {halftone.loss_without_output = "xent", halftone.buffers = [
    #halftone.buffer<"x", input, !halftone.tensor<[batch, 8], f32>, slot 0, initial 0.0 : f64>]} {
  // CHECK: halftone.input "x" {halftone.places = #halftone.places<[0, 1], [0, 32]>}
  %x = halftone.input "x" {halftone.places = #halftone.places<[0, 1], [0, 32]>} : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 8], f32>
  %b = halftone.input "b" : !halftone.tensor<[8], f32>
  %label = halftone.input "label" : !halftone.tensor<[batch], i32>
  // CHECK: halftone.linear %{{.*}}, %{{.*}} bias %{{.*}} {halftone.layer = "fc", halftone.phase = #halftone.phase<forward>, halftone.precision = #halftone.precision<operands = {{\[\[}}#halftone.round<encoding = bf16 toward_zero, role = activation, rule = 3, beaten = [0, 1]>], [], []], results = {{\[\[}}#halftone.round<encoding = tf32, role = gradient>]], accumulate = ordered>} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 8], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[batch, 8], f32>
  %fc = halftone.linear %x, %w bias %b {halftone.layer = "fc", halftone.phase = #halftone.phase<forward>,
      halftone.precision = #halftone.precision<operands = [[#halftone.round<encoding = bf16 toward_zero, role = activation, rule = 3, beaten = [0, 1]>], [], []],
          results = [[#halftone.round<encoding = tf32, role = gradient>]], accumulate = ordered>}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 8], f32>, !halftone.tensor<[8], f32>)
      -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.linear %{{[0-9]+}}, %{{[0-9]+}} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  %bare = halftone.linear %x, %w : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 8], f32>)
      -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.linear %{{[0-9]+}}, %{{[0-9]+}} {transposed = true} :
  %back = halftone.linear %bare, %w {transposed = true} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 8], f32>)
      -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.matmul %{{.*}}, %{{.*}} {transpose_a = true, transpose_b = false} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[8, 8], f32>
  %gram = halftone.matmul %fc, %bare {transpose_a = true, transpose_b = false}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[8, 8], f32>
  // CHECK: halftone.long_convolution %{{.*}}, %{{.*}} : (!halftone.tensor<[8, 8], f32>, !halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[8, 8], f32>
  %long = halftone.long_convolution %gram, %w
      : (!halftone.tensor<[8, 8], f32>, !halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[8, 8], f32>
  %turns = halftone.input "turns" : !halftone.tensor<[2, 8], f32>
  // CHECK: halftone.transform %{{.*}} by %{{.*}} : (!halftone.tensor<[8, 8], f32>, !halftone.tensor<[2, 8], f32>) -> !halftone.tensor<[1, 8, 2, 16], f32>
  %spectrum = halftone.transform %long by %turns
      : (!halftone.tensor<[8, 8], f32>, !halftone.tensor<[2, 8], f32>) -> !halftone.tensor<[1, 8, 2, 16], f32>
  // CHECK: halftone.inverse_transform %{{.*}} by %{{.*}} : (!halftone.tensor<[1, 8, 2, 16], f32>, !halftone.tensor<[2, 8], f32>) -> (!halftone.tensor<[8, 8], f32>, !halftone.tensor<[1, 8, 2, 16], f32>)
  %sequence, %work = halftone.inverse_transform %spectrum by %turns
      : (!halftone.tensor<[1, 8, 2, 16], f32>, !halftone.tensor<[2, 8], f32>)
      -> (!halftone.tensor<[8, 8], f32>, !halftone.tensor<[1, 8, 2, 16], f32>)
  %many = halftone.input "many" : !halftone.tensor<[2, 64], f32>
  %sound = halftone.input "sound" : !halftone.tensor<[50, 8], f32>
  // CHECK: %[[PASSED:.*]] = halftone.transform_pass %{{.*}} by %{{.*}} : (!halftone.tensor<[50, 8], f32>, !halftone.tensor<[2, 64], f32>) -> !halftone.tensor<[1, 64, 2, 16], f32>
  %passed = halftone.transform_pass %sound by %many
      : (!halftone.tensor<[50, 8], f32>, !halftone.tensor<[2, 64], f32>) -> !halftone.tensor<[1, 64, 2, 16], f32>
  // CHECK: halftone.inverse_transform_pass %[[PASSED]] by %{{.*}} : (!halftone.tensor<[1, 64, 2, 16], f32>, !halftone.tensor<[2, 64], f32>) -> !halftone.tensor<[50, 8], f32>
  %returned = halftone.inverse_transform_pass %passed by %many
      : (!halftone.tensor<[1, 64, 2, 16], f32>, !halftone.tensor<[2, 64], f32>) -> !halftone.tensor<[50, 8], f32>
  // CHECK: halftone.convolution_pass %{{.*}} times %[[PASSED]] by %{{.*}} {conjugate} : (!halftone.tensor<[50, 8], f32>, !halftone.tensor<[1, 64, 2, 16], f32>, !halftone.tensor<[2, 64], f32>) -> !halftone.tensor<[50, 8], f32>
  %correlated = halftone.convolution_pass %returned times %passed by %many {conjugate}
      : (!halftone.tensor<[50, 8], f32>, !halftone.tensor<[1, 64, 2, 16], f32>, !halftone.tensor<[2, 64], f32>) -> !halftone.tensor<[50, 8], f32>
  // CHECK: halftone.attention %{{.*}}, %{{.*}}, %{{.*}} {causal = true, heads = 2 : i64} : (
  %mix = halftone.attention %x, %x, %x {causal = true, heads = 2 : i64}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>)
      -> !halftone.tensor<[batch, 8], f32>
  %b4 = halftone.input "keys" : !halftone.tensor<[batch, 4], f32>
  %document = halftone.input "document" : !halftone.tensor<[batch], i32>
  // CHECK: halftone.attention %{{.*}}, %{{.*}}, %{{.*}} key_mask %[[DOCUMENT:.*]] segment %[[DOCUMENT]] {heads = 4 : i64, key_heads = 2 : i64, score_scale = 2.500000e-01 : f64, window = 3 : i64} : (
  %sparse = halftone.attention %x, %b4, %b4 key_mask %document segment %document
      {heads = 4 : i64, key_heads = 2 : i64, score_scale = 0.25 : f64, window = 3 : i64}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 4], f32>, !halftone.tensor<[batch, 4], f32>,
         !halftone.tensor<[batch], i32>, !halftone.tensor<[batch], i32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: %{{.*}}, %[[MEAN:.*]], %[[RSTD:.*]] = halftone.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64}
  %y, %mean, %rstd = halftone.layer_norm %x, %b, %b {epsilon = 1.0e-05 : f64}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>)
      -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], f32>, !halftone.tensor<[batch], f32>)
  // CHECK: halftone.group_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64, groups = 4 : i64} :
  %grouped:3 = halftone.group_norm %y, %b, %b {epsilon = 1.0e-05 : f64, groups = 4 : i64} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>,
      !halftone.tensor<[8], f32>) -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>)
  // CHECK: halftone.global_average_pool %{{.*}} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  %pooled = halftone.global_average_pool %y : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.expand %{{.*}} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 3, 8], f32>
  %expanded = halftone.expand %y : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 3, 8], f32>
  // CHECK: halftone.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64, momentum = 1.000000e-01 : f64} :
  %batch:5 = halftone.batch_norm %y, %b, %b, %b, %b {epsilon = 1.0e-05 : f64, momentum = 1.0e-01 : f64} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>)
  // CHECK: %{{.*}}, %{{.*}} = halftone.rms_norm %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>) -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], f32>)
  %scaled, %root = halftone.rms_norm %y, %b {epsilon = 1.0e-05 : f64}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>)
      -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], f32>)
  // CHECK: %{{.*}} = halftone.causal_conv1d %{{.*}}, %{{.*}} bias %{{.*}} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 4], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[batch, 8], f32>
  %taps = halftone.input "taps" : !halftone.tensor<[8, 4], f32>
  %conv = halftone.causal_conv1d %scaled, %taps bias %b
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 4], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: %{{.*}} = halftone.convolution %{{.*}}, %{{.*}} {groups = 2 : i64, kernel = array<i64: 3>, padding = array<i64: 1, 1>} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4, 3, 4], f32>) -> !halftone.tensor<[batch, 4], f32>
  %kernels = halftone.input "kernels" : !halftone.tensor<[4, 3, 4], f32>
  %slid = halftone.convolution %scaled, %kernels {groups = 2 : i64, kernel = array<i64: 3>, padding = array<i64: 1, 1>}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4, 3, 4], f32>) -> !halftone.tensor<[batch, 4], f32>
  // CHECK: %{{.*}} = halftone.transposed_convolution %{{.*}}, %{{.*}} {kernel = array<i64: 3>, padding = array<i64: 1, 1>} : (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[4, 3, 4], f32>) -> !halftone.tensor<[batch, 4], f32>
  %slid_back = halftone.transposed_convolution %slid, %kernels {kernel = array<i64: 3>, padding = array<i64: 1, 1>}
      : (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[4, 3, 4], f32>) -> !halftone.tensor<[batch, 4], f32>
  // CHECK: %{{.*}}, %{{.*}} = halftone.pool %{{.*}} {function = "max", kernel = array<i64: 3>, padding = array<i64: 1, 1>} : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[batch, 4], f32>)
  %largest, %index = halftone.pool %slid_back {function = "max", kernel = array<i64: 3>, padding = array<i64: 1, 1>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[batch, 4], f32>)
  // CHECK: %{{.*}} = halftone.pool %{{.*}} {count_include_pad = true, function = "average", kernel = array<i64: 3>, padding = array<i64: 1, 1>} : (!halftone.tensor<[batch, 4], f32>) -> !halftone.tensor<[batch, 4], f32>
  %means = halftone.pool %largest {count_include_pad = true, function = "average", kernel = array<i64: 3>, padding = array<i64: 1, 1>}
      : (!halftone.tensor<[batch, 4], f32>) -> !halftone.tensor<[batch, 4], f32>
  // CHECK: %{{.*}} = halftone.upsample %{{.*}} {factor = array<i64: 2>, mode = "linear"} : (!halftone.tensor<[4, 3, 4], f32>) -> !halftone.tensor<[4, 6, 4], f32>
  %lines = halftone.upsample %kernels {factor = array<i64: 2>, mode = "linear"} : (!halftone.tensor<[4, 3, 4], f32>) -> !halftone.tensor<[4, 6, 4], f32>
  // CHECK: %{{.*}}, %{{.*}} = halftone.adaptive_pool %{{.*}} {function = "max", size = array<i64: 4>} : (!halftone.tensor<[4, 6, 4], f32>) -> (!halftone.tensor<[4, 4, 4], f32>, !halftone.tensor<[4, 4, 4], f32>)
  %most, %which = halftone.adaptive_pool %lines {function = "max", size = array<i64: 4>} : (!halftone.tensor<[4, 6, 4], f32>) -> (!halftone.tensor<[4, 4, 4], f32>, !halftone.tensor<[4, 4, 4], f32>)
  // CHECK: %{{.*}} = halftone.pad %{{.*}} {mode = "constant", pad_value = 5.000000e-01 : f64, padding = array<i64: 1, -2>} : (!halftone.tensor<[4, 6, 4], f32>) -> !halftone.tensor<[4, 5, 4], f32>
  %framed = halftone.pad %lines {mode = "constant", pad_value = 5.0e-01 : f64, padding = array<i64: 1, -2>} : (!halftone.tensor<[4, 6, 4], f32>) -> !halftone.tensor<[4, 5, 4], f32>
  // CHECK: %{{.*}} = halftone.pixel_shuffle %{{.*}} {factor = array<i64: 5>, inverse = true} : (!halftone.tensor<[4, 5, 4], f32>) -> !halftone.tensor<[4, 1, 20], f32>
  %blocks = halftone.pixel_shuffle %framed {factor = array<i64: 5>, inverse = true} : (!halftone.tensor<[4, 5, 4], f32>) -> !halftone.tensor<[4, 1, 20], f32>
  %part = halftone.input "part" : !halftone.tensor<[4, 6], i32>
  // CHECK: %{{.*}}, %{{.*}} = halftone.segment_reduce %{{.*}} by %{{.*}} {function = "mean", segments = 2 : i64} : (!halftone.tensor<[4, 6, 4], f32>, !halftone.tensor<[4, 6], i32>) -> (!halftone.tensor<[4, 2, 4], f32>, !halftone.tensor<[4, 2], f32>)
  %of_parts, %count = halftone.segment_reduce %lines by %part {function = "mean", segments = 2 : i64}
      : (!halftone.tensor<[4, 6, 4], f32>, !halftone.tensor<[4, 6], i32>) -> (!halftone.tensor<[4, 2, 4], f32>, !halftone.tensor<[4, 2], f32>)
  // CHECK: %{{.*}} = halftone.segment_broadcast %{{.*}} by %{{.*}} : (!halftone.tensor<[4, 2, 4], f32>, !halftone.tensor<[4, 6], i32>) -> !halftone.tensor<[4, 6, 4], f32>
  %of_times = halftone.segment_broadcast %of_parts by %part : (!halftone.tensor<[4, 2, 4], f32>, !halftone.tensor<[4, 6], i32>) -> !halftone.tensor<[4, 6, 4], f32>
  // CHECK: halftone.segment_max %{{.*}}, %{{.*}} : (!halftone.tensor<[4, 6], i32>, !halftone.tensor<[4, 6, 4], f32>) -> !halftone.tensor<[4, 2, 4], f32>
  %of_largest = halftone.segment_max %part, %lines : (!halftone.tensor<[4, 6], i32>, !halftone.tensor<[4, 6, 4], f32>) -> !halftone.tensor<[4, 2, 4], f32>
  // CHECK: halftone.segment_sum %{{.*}}, %{{.*}} : (!halftone.tensor<[4, 6], i32>, !halftone.tensor<[4, 6, 4], f32>) -> !halftone.tensor<[4, 2, 4], f32>
  %of_batch = halftone.segment_sum %part, %of_times : (!halftone.tensor<[4, 6], i32>, !halftone.tensor<[4, 6, 4], f32>) -> !halftone.tensor<[4, 2, 4], f32>
  %token = halftone.input "token" : !halftone.tensor<[batch], i32>
  // CHECK: halftone.embedding %{{.*}}, %{{.*}} {padding_index = 3 : i64} : (!halftone.tensor<[batch], i32>, !halftone.tensor<[37, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  %table = halftone.input "table" : !halftone.tensor<[37, 8], f32>
  %embed = halftone.embedding %token, %table {padding_index = 3 : i64}
      : (!halftone.tensor<[batch], i32>, !halftone.tensor<[37, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.segment_sum %{{.*}}, %{{.*}} {passed_over = 3 : i64} : (!halftone.tensor<[batch], i32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[37, 8], f32>
  %segments = halftone.segment_sum %token, %y {passed_over = 3 : i64}
      : (!halftone.tensor<[batch], i32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[37, 8], f32>
  // CHECK: halftone.kernel "segments" segment over ["batch", 8] reduce [](%{{.*}}, %{{.*}}) accesses [#halftone.access<row>, #halftone.access<full>] -> [#halftone.access<segment>] fused []
  // CHECK: halftone.kernel_yield stores %{{.*}} : f32 into %{{.*}}
  %summed = halftone.kernel "segments" segment over ["batch", 8] reduce [] (%token, %y)
      accesses [#halftone.access<row>, #halftone.access<full>] -> [#halftone.access<segment>] fused []
      {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch], i32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[37, 8], f32> {
  ^bb0(%row: i32, %a: f32):
    halftone.kernel_yield stores %a : f32 into %row
  }
  // CHECK: halftone.relu %{{.*}} {halftone.inline} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  %relu = halftone.relu %conv {halftone.inline} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.gelu %{{[0-9a-z]+}} {approximation = "erf"} : (
  %erf = halftone.gelu %relu {approximation = "erf"} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.gelu %{{[0-9]+}} {approximation = "tanh"} : (
  %tanh = halftone.gelu %erf {approximation = "tanh"} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.softmax %{{.*}} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  %shares = halftone.softmax %tanh : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.softmax %{{.*}} {log = true} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  %logs = halftone.softmax %tanh {log = true} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.silu %{{.*}} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  %silu = halftone.silu %tanh : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  %times = halftone.input "times" : !halftone.tensor<[batch, time, 8], f32>
  %places = halftone.input "places" : !halftone.tensor<[batch, time], i32>
  // CHECK: halftone.rotary %{{.*}} {base = 1.000000e+04 : f64, factor = 1.000000e+00 : f64, heads = 2 : i64, interleaved = false} : (!halftone.tensor<[batch, time, 8], f32>) -> (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[time, 2], f32>, !halftone.tensor<[time, 2], f32>)
  %turned:3 = halftone.rotary %times {heads = 2 : i64, base = 1.0e4 : f64, interleaved = false, factor = 1.0 : f64}
      : (!halftone.tensor<[batch, time, 8], f32>) -> (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[time, 2], f32>, !halftone.tensor<[time, 2], f32>)
  // CHECK: halftone.rotary %{{.*}} at %{{.*}} {base = 1.000000e+04 : f64, factor = 8.000000e+00 : f64, heads = 1 : i64, high_factor = 4.000000e+00 : f64, interleaved = true, low_factor = 1.000000e+00 : f64, original_length = 6.400000e+01 : f64, rotated = 4 : i64}
  %placed:3 = halftone.rotary %times at %places {heads = 1 : i64, base = 1.0e4 : f64, interleaved = true, factor = 8.0 : f64, rotated = 4 : i64, low_factor = 1.0 : f64, high_factor = 4.0 : f64, original_length = 64.0 : f64}
      : (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[batch, time], i32>) -> (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[batch, time, 2], f32>, !halftone.tensor<[batch, time, 2], f32>)
  // CHECK: halftone.sinusoidal_embedding %{{.*}} at %{{.*}} {base = 1.000000e+02 : f64}
  %waves = halftone.sinusoidal_embedding %turned#0 at %places {base = 100.0 : f64}
      : (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[batch, time], i32>) -> !halftone.tensor<[batch, time, 8], f32>
  %rows_of_times = halftone.input "rows_of_times" : !halftone.tensor<[5, 8], f32>
  // CHECK: halftone.position_embedding %{{.*}}, %{{.*}} : (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[5, 8], f32>) -> !halftone.tensor<[batch, time, 8], f32>
  %learned = halftone.position_embedding %waves, %rows_of_times
      : (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[5, 8], f32>) -> !halftone.tensor<[batch, time, 8], f32>
  // CHECK: halftone.dropout %{{.*}} {rate = 1.000000e-01 : f64} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  %dropped = halftone.dropout %silu {rate = 0.1 : f64} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.add %{{.*}}, %{{.*}} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  %add = halftone.add %dropped, %bare : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>)
      -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.pointwise "scale"(%{{.*}}, %{{.*}}) : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>) -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>) {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT:   %[[P:.*]] = arith.mulf %[[A]], %[[B]] : f32
  // CHECK-NEXT:   %[[S:.*]] = halftone.sigmoid %[[P]] : f32
  // CHECK-NEXT:   halftone.yield %[[P]], %[[S]] : f32, f32
  %p:2 = halftone.pointwise "scale" (%add, %b) : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>)
      -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>) {
  ^bb0(%a: f32, %c: f32):
    %m = arith.mulf %a, %c : f32
    %s = halftone.sigmoid %m : f32
    halftone.yield %m, %s : f32, f32
  }
  // CHECK: halftone.reshape %{{.*}} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 2, 4], f32>
  %heads = halftone.reshape %p#0 : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 2, 4], f32>
  // CHECK: halftone.transpose %{{.*}} {axes = array<i64: 2, 0, 1>} : (!halftone.tensor<[batch, 2, 4], f32>) -> !halftone.tensor<[4, batch, 2], f32>
  %swap = halftone.transpose %heads {axes = array<i64: 2, 0, 1>} : (!halftone.tensor<[batch, 2, 4], f32>)
      -> !halftone.tensor<[4, batch, 2], f32>
  // CHECK: halftone.view %{{.*}} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[2, batch, 4], f32>
  %view = halftone.view %p#0 : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[2, batch, 4], f32>
  // CHECK: halftone.map "one"() : () -> !halftone.tensor<[], f32> {
  // CHECK: halftone.count ["batch", 8] : f32
  %one = halftone.map "one" () : () -> !halftone.tensor<[], f32> {
    %c = halftone.count ["batch", 8] : f32
    halftone.yield %c : f32
  }
  // CHECK: halftone.map "drawn"(%{{.*}}) : (!halftone.tensor<[], i32>) -> !halftone.tensor<[], i32> {
  // CHECK-NEXT: ^bb0(%[[N:.*]]: i32):
  // CHECK-NEXT:   halftone.quarter_index : i64
  // CHECK-NEXT:   halftone.quarter_place : i32
  // CHECK-NEXT:   %[[D:.*]] = halftone.draw "drop" by %[[N]], %[[N]], %[[N]], %[[N]] : i32
  // CHECK-NEXT:   %[[C:.*]] = arith.cmpi eq, %[[D]], %[[N]] : i32
  // CHECK-NEXT:   halftone.kept %[[C]] : i1
  %number = halftone.input "number" : !halftone.tensor<[], i32>
  %drawn = halftone.map "drawn" (%number) : (!halftone.tensor<[], i32>) -> !halftone.tensor<[], i32> {
  ^bb0(%n: i32):
    %quarter = halftone.quarter_index : i64
    %place = halftone.quarter_place : i32
    %d = halftone.draw "drop" by %n, %n, %n, %n : i32
    %c = arith.cmpi eq, %d, %n : i32
    %kept = halftone.kept %c : i1
    halftone.yield %d : i32
  }
  // CHECK: halftone.concat %{{.*}}, %{{.*}} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 16], f32>
  %both = halftone.concat %p#0, %p#1 : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>)
      -> !halftone.tensor<[batch, 16], f32>
  // CHECK: halftone.slice %{{.*}} {begin = 3 : i64, end = 8 : i64} : (!halftone.tensor<[batch, 16], f32>) -> !halftone.tensor<[batch, 5], f32>
  %columns = halftone.slice %both {begin = 3 : i64, end = 8 : i64} : (!halftone.tensor<[batch, 16], f32>) -> !halftone.tensor<[batch, 5], f32>
  // CHECK: halftone.cross_entropy %{{.*}}, %{{.*}} : (!halftone.tensor<[batch, 16], f32>, !halftone.tensor<[batch], i32>) -> !halftone.tensor<[batch], f32>
  %rows = halftone.cross_entropy %both, %label : (!halftone.tensor<[batch, 16], f32>, !halftone.tensor<[batch], i32>)
      -> !halftone.tensor<[batch], f32>
  // CHECK: halftone.mean %{{.*}} {halftone.phase = #halftone.phase<loss>} : (!halftone.tensor<[batch], f32>) -> !halftone.tensor<[], f32>
  %xent = halftone.mean %rows {halftone.phase = #halftone.phase<loss>}
      : (!halftone.tensor<[batch], f32>) -> !halftone.tensor<[], f32>
  // CHECK: halftone.cross_entropy %{{.*}}, %{{.*}} weighted %[[W:.*]] {ignore_index = -100 : i64} : (!halftone.tensor<[batch, 16], f32>, !halftone.tensor<[batch], i32>, !halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch], f32>
  %weight = halftone.input "weight" : !halftone.tensor<[batch], f32>
  %weighted = halftone.cross_entropy %both, %label weighted %weight {ignore_index = -100 : i64}
      : (!halftone.tensor<[batch, 16], f32>, !halftone.tensor<[batch], i32>, !halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch], f32>
  // CHECK: halftone.cross_entropy %{{.*}}, %{{.*}} {label_smoothing = 1.000000e-01 : f64, soft_cap = 3.000000e+01 : f64, z_loss = 1.000000e-04 : f64} :
  %smoothed = halftone.cross_entropy %both, %label {label_smoothing = 0.1, soft_cap = 30.0, z_loss = 1.0e-4}
      : (!halftone.tensor<[batch, 16], f32>, !halftone.tensor<[batch], i32>) -> !halftone.tensor<[batch], f32>
  // CHECK: halftone.cross_entropy %{{.*}}, %{{.*}} by_class %{{.*}} weighted %{{.*}} {summed = true} : (!halftone.tensor<[batch, 16], f32>, !halftone.tensor<[batch], i32>, !halftone.tensor<[16], f32>, !halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch], f32>
  %class_weight = halftone.state "class_weight" {initial = 1.0 : f64} : !halftone.tensor<[16], f32>
  %by_class = halftone.cross_entropy %both, %label by_class %class_weight weighted %weight {summed = true}
      : (!halftone.tensor<[batch, 16], f32>, !halftone.tensor<[batch], i32>, !halftone.tensor<[16], f32>, !halftone.tensor<[batch], f32>)
      -> !halftone.tensor<[batch], f32>
  // CHECK: halftone.mean %{{.*}} {summed} : (!halftone.tensor<[batch], f32>) -> !halftone.tensor<[], f32>
  %sum = halftone.mean %by_class {summed} : (!halftone.tensor<[batch], f32>) -> !halftone.tensor<[], f32>
  // CHECK: halftone.soft_cross_entropy %{{.*}}, %{{.*}} weighted %{{.*}} : (!halftone.tensor<[batch, 16], f32>, !halftone.tensor<[batch, 16], f32>, !halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch], f32>
  %soft = halftone.soft_cross_entropy %both, %both weighted %weight
      : (!halftone.tensor<[batch, 16], f32>, !halftone.tensor<[batch, 16], f32>, !halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch], f32>
  // CHECK: halftone.cosine_embedding %{{.*}}, %{{.*}}, %{{.*}} {margin = 5.000000e-01 : f64} : (
  %cosines = halftone.cosine_embedding %both, %both, %weight {margin = 0.5 : f64}
      : (!halftone.tensor<[batch, 16], f32>, !halftone.tensor<[batch, 16], f32>, !halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch], f32>
  // CHECK: halftone.standardize %{{.*}}, %{{.*}}, %{{.*}} : (!halftone.tensor<[batch, 16], f32>, !halftone.tensor<[16], f32>, !halftone.tensor<[16], f32>) -> !halftone.tensor<[batch, 16], f32>
  %standard = halftone.standardize %both, %class_weight, %class_weight
      : (!halftone.tensor<[batch, 16], f32>, !halftone.tensor<[16], f32>, !halftone.tensor<[16], f32>) -> !halftone.tensor<[batch, 16], f32>
  // CHECK: halftone.parameter "truncated" {initializer = #halftone.initializer<truncated_normal, 0.000000e+00 : f64, 1.000000e+00 : f64, -2.000000e+00 : f64, 3.000000e+00 : f64>}
  %truncated = halftone.parameter "truncated" {initializer = #halftone.initializer<truncated_normal, 0.0 : f64, 1.0 : f64, -2.0 : f64, 3.0 : f64>}
      : !halftone.tensor<[2, 3], f32>
  // CHECK: halftone.own_value "momentum" {
  halftone.own_value "momentum" {
  ^bb0(%parameter: f32, %gradient: f32, %rate: f32, %decay: f32, %updates: f32, %momentum: f32):
    halftone.yield %momentum : f32
  }
  // CHECK: halftone.mean %{{.*}} by %{{.*}} : (!halftone.tensor<[batch], f32>, !halftone.tensor<[], f32>) -> !halftone.tensor<[], f32>
  %masked = halftone.mean %weighted by %one : (!halftone.tensor<[batch], f32>, !halftone.tensor<[], f32>) -> !halftone.tensor<[], f32>
  halftone.loss "masked", %masked weight 1.0 : !halftone.tensor<[], f32>
  // CHECK: halftone.mse %{{.*}}, %{{.*}} weighted %[[W]] : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch], f32>
  %error = halftone.mse %p#0, %p#1 weighted %weight
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch], f32>
  // CHECK: halftone.output "logits", %{{.*}} : <[batch, 16], f32>
  halftone.output "logits", %both : !halftone.tensor<[batch, 16], f32>
  // CHECK: halftone.loss "xent", %{{.*}} weight 5.000000e-01 : <[], f32>
  halftone.loss "xent", %xent weight 0.5 : !halftone.tensor<[], f32>
}

// CHECK-LABEL: halftone.graph "gradients"
halftone.graph "gradients" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %g = halftone.input "g" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.parameter "w" {initializer = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>} : !halftone.tensor<[8, 8], f32>
  %row = halftone.input "row" : !halftone.tensor<[batch], f32>
  %v = halftone.input "v" : !halftone.tensor<[8], f32>
  %label = halftone.input "label" : !halftone.tensor<[batch], i32>
  %one = halftone.input "one" : !halftone.tensor<[], f32>
  // CHECK: halftone.contract %{{.*}}, %{{.*}} {pass = #halftone.pass<weight_gradient>, transpose_lhs} : (
  %wg = halftone.contract %g, %x {pass = #halftone.pass<weight_gradient>, transpose_lhs}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[8, 8], f32>
  // CHECK: halftone.contract %{{.*}}, %{{.*}} {pass = #halftone.pass<input_gradient>} : (
  %xg = halftone.contract %g, %w {pass = #halftone.pass<input_gradient>}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.contract %{{.*}}, %{{.*}} {pass = #halftone.pass<forward>, transpose_rhs} : (
  %fg = halftone.contract %g, %w {pass = #halftone.pass<forward>, transpose_rhs}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.contract %{{.*}}, %{{.*}} {batch_axes = 1 : i64, pass = #halftone.pass<forward>, transpose_lhs} : (
  %heads = halftone.input "heads" : !halftone.tensor<[batch, 5, 3], f32>
  %products = halftone.contract %heads, %heads {batch_axes = 1, pass = #halftone.pass<forward>, transpose_lhs}
      : (!halftone.tensor<[batch, 5, 3], f32>, !halftone.tensor<[batch, 5, 3], f32>) -> !halftone.tensor<[batch, 3, 3], f32>
  // CHECK: halftone.scaled_contract %{{.*}} by %{{.*}}, %{{.*}} by %{{.*}} {lhs_block = array<i64: 1, 32>, pass = #halftone.pass<input_gradient>, rhs_block = array<i64: 8, 64>} : (
  %codes = halftone.input "codes" : !halftone.tensor<[batch, 64], f8E4M3FN>
  %scales = halftone.input "scales" : !halftone.tensor<[batch, 2], f32>
  %more_codes = halftone.input "more_codes" : !halftone.tensor<[64, 20], f8E5M2>
  %squares = halftone.input "squares" : !halftone.tensor<[1, 3], f32>
  %of_codes = halftone.scaled_contract %codes by %scales, %more_codes by %squares {lhs_block = array<i64: 1, 32>, pass = #halftone.pass<input_gradient>, rhs_block = array<i64: 8, 64>}
      : (!halftone.tensor<[batch, 64], f8E4M3FN>, !halftone.tensor<[batch, 2], f32>, !halftone.tensor<[64, 20], f8E5M2>, !halftone.tensor<[1, 3], f32>) -> !halftone.tensor<[batch, 20], f32>
  // CHECK: halftone.scaled_contract %{{.*}} by %{{.*}}, %{{.*}} by %{{.*}} {lhs_block = array<i64: 1, 16>, pass = #halftone.pass<weight_gradient>, rhs_block = array<i64: 1, 16>, transpose_rhs} : (
  %words = halftone.input "words" : !halftone.tensor<[12, batch ceildiv 64, 8], i32>
  %four_scales = halftone.input "four_scales" : !halftone.tensor<[12, batch ceildiv 64], i32>
  %more_words = halftone.input "more_words" : !halftone.tensor<[20, batch ceildiv 64, 8], i32>
  %more_scales = halftone.input "more_scales" : !halftone.tensor<[20, batch ceildiv 64], i32>
  %of_words = halftone.scaled_contract %words by %four_scales, %more_words by %more_scales {lhs_block = array<i64: 1, 16>, pass = #halftone.pass<weight_gradient>, rhs_block = array<i64: 1, 16>, transpose_rhs}
      : (!halftone.tensor<[12, batch ceildiv 64, 8], i32>, !halftone.tensor<[12, batch ceildiv 64], i32>, !halftone.tensor<[20, batch ceildiv 64, 8], i32>, !halftone.tensor<[20, batch ceildiv 64], i32>) -> !halftone.tensor<[12, 20], f32>
  // CHECK: halftone.reduce "column_sum"(%{{.*}}) : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[8], f32>
  %bg = halftone.reduce "column_sum"(%g) : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[8], f32>
  // CHECK: halftone.map "layer_norm_grad"(%{{.*}}, %{{.*}}) over ["batch", 8] reads [#halftone.access<full>, #halftone.access<row>] writes [#halftone.access<full>] : (
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT:   %[[S:.*]] = halftone.row_sum %[[A]] : f32
  %cg = halftone.map "layer_norm_grad" (%x, %row) over ["batch", 8]
      reads [#halftone.access<full>, #halftone.access<row>] writes [#halftone.access<full>]
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch, 8], f32> {
  ^bb0(%a: f32, %b: f32):
    %s = halftone.row_sum %a : f32
    %p = arith.mulf %s, %b : f32
    halftone.yield %p : f32
  }
  // CHECK: halftone.map "slice"(%{{.*}}) over ["batch", 4] reads [#halftone.access<window, 4>] writes [#halftone.access<full>] : (
  %slice = halftone.map "slice" (%g) over ["batch", 4] reads [#halftone.access<window, 4>] writes [#halftone.access<full>]
      : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 4], f32> {
  ^bb0(%a: f32):
    halftone.yield %a : f32
  }
  // CHECK: halftone.reduce "weight_grad"(%{{.*}}, %{{.*}}) reads [#halftone.access<full>, #halftone.access<row>] {pass = #halftone.pass<weight_gradient>} : ({{.*}}) -> (!halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) each {
  %nw, %nb = halftone.reduce "weight_grad" (%x, %row) reads [#halftone.access<full>, #halftone.access<row>]
      {pass = #halftone.pass<weight_gradient>}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], f32>) -> (!halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) each {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    halftone.yield %p, %a : f32, f32
  }
  // CHECK: halftone.output_gradient "logits", %{{.*}} {halftone.phase = #halftone.phase<loss_backward>} : (
  %og = halftone.output_gradient "logits", %cg {halftone.phase = #halftone.phase<loss_backward>}
      : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.hand_on %{{.*}} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  %handed = halftone.hand_on %og : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.gradient %{{.*}} of %{{.*}} {halftone.phase = #halftone.phase<backward>} : (
  halftone.gradient %wg of %w {halftone.phase = #halftone.phase<backward>}
      : (!halftone.tensor<[8, 8], f32>, !halftone.tensor<[8, 8], f32>) -> ()
  // CHECK: halftone.cast %{{.*}} : (!halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[8, 8], f16>
  %half = halftone.cast %w : (!halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[8, 8], f16>
  // CHECK: halftone.cast %{{.*}} {toward_zero} : (!halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[8, 8], tf32>
  %down = halftone.cast %w {toward_zero} : (!halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[8, 8], tf32>
  // CHECK: halftone.cast %{{.*}} {saturate} : (!halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[8, 8], f8E4M3FN>
  %most = halftone.cast %w {saturate} : (!halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[8, 8], f8E4M3FN>
  // CHECK: halftone.cast %{{.*}} {saturate, stochastic = "w"} : (!halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[8, 8], f8E5M2>
  %drawn = halftone.cast %w {stochastic = "w", saturate} : (!halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[8, 8], f8E5M2>
  // CHECK: halftone.flatten %{{.*}}, %{{.*}} at [0, 64] : (!halftone.tensor<[8, 8], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[96], f32>
  %flat = halftone.flatten %wg, %bg at [0, 64]
      : (!halftone.tensor<[8, 8], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[96], f32>
  // CHECK: halftone.reduce "total"(%{{.*}}, %{{.*}}) {halftone.phase = #halftone.phase<check>} : (!halftone.tensor<[96], f32>, !halftone.tensor<[], f32>) -> !halftone.tensor<[], f32> finish {
  %norm = halftone.reduce "total"(%flat, %one) {halftone.phase = #halftone.phase<check>}
      : (!halftone.tensor<[96], f32>, !halftone.tensor<[], f32>) -> !halftone.tensor<[], f32> finish {
  ^bb0(%sum: f32, %s: f32):
    %r = arith.mulf %sum, %s : f32
    halftone.yield %r : f32
  }
  // CHECK: halftone.statistic "grad_norm", %{{.*}} : <[], f32>
  halftone.statistic "grad_norm", %norm : !halftone.tensor<[], f32>
  // CHECK: halftone.amax "x f8e4m3 scaled delayed 16 f8e8m0 saturate", %{{.*}} : <[], f32>
  halftone.amax "x f8e4m3 scaled delayed 16 f8e8m0 saturate", %norm : !halftone.tensor<[], f32>
  %all = halftone.flat_parameters : !halftone.tensor<[96], f32>
  // CHECK: halftone.assign %{{.*}} to %{{.*}} {halftone.phase = #halftone.phase<update>} : (
  halftone.assign %flat to %all {halftone.phase = #halftone.phase<update>}
      : (!halftone.tensor<[96], f32>, !halftone.tensor<[96], f32>) -> ()
}

// CHECK-LABEL: halftone.graph "kernels"
halftone.graph "kernels" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 8], f32>
  %b = halftone.input "b" : !halftone.tensor<[4], f32>
  %s = halftone.input "s" : !halftone.tensor<[], f32>
  %r = halftone.input "r" : !halftone.tensor<[batch], f32>
  %label = halftone.input "label" : !halftone.tensor<[batch], i32>
  // CHECK: halftone.kernel "fc" contraction over ["batch", 4] reduce [8](%{{.*}}, %{{.*}}, %{{.*}}) accesses [#halftone.access<lhs>, #halftone.access<rhs>, #halftone.access<column>] -> [#halftone.access<full>, #halftone.access<row>] fused ["fc:linear"] {
  // CHECK-SAME: accumulation = #halftone.accumulation<ordered>, cpu_tile = array<i64: 4, 16>
  // CHECK-SAME: cuda_plans = [#halftone.chip<"sm_80", [<tensor, [64, 64, 32, 32, 32, 4, 16, 8] splits 2 least 256 cost [1.000000e+06, 2.000000e+03, 5.000000e-01, 3.250000e+00]>, <simt, [64, 64, 16, 4, 4] splits 1 least 1 cost [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]>], "why">]
  // CHECK-SAME: cuda_tile = array<i64: 64>
  // CHECK-SAME: transpose_rhs
  // CHECK: halftone.lhs_sum : f32
  // CHECK: halftone.kernel_yield stores %{{.*}}, %{{.*}} : f32, f32
  %fc, %sums = halftone.kernel "fc" contraction over ["batch", 4] reduce [8] (%x, %w, %b)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>, #halftone.access<column>]
      -> [#halftone.access<full>, #halftone.access<row>] fused ["fc:linear"]
      {cpu_tile = array<i64: 4, 16>, accumulation = #halftone.accumulation<ordered>, cuda_plans = [#halftone.chip<"sm_80",
        [#halftone.plan<tensor, [64, 64, 32, 32, 32, 4, 16, 8] splits 2 least 256 cost [1.0e6, 2.0e3, 0.5, 3.25]>,
         #halftone.plan<simt, [64, 64, 16, 4, 4] splits 1 least 1 cost [0.0, 0.0, 0.0, 0.0]>], "why">],
       cuda_tile = array<i64: 64>, resultSegmentSizes = array<i32: 2, 0>, transpose_rhs}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4, 8], f32>, !halftone.tensor<[4], f32>)
      -> (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[batch], f32>) {
  ^bb0(%acc: f32, %bias: f32):
    %y = arith.addf %acc, %bias : f32
    %l = halftone.lhs_sum : f32
    halftone.kernel_yield stores %y, %l : f32, f32
  }
  // CHECK: halftone.kernel "loss" row over ["batch", 8] reduce [](%{{.*}}, %{{.*}}, %{{.*}}) accesses [#halftone.access<full>, #halftone.access<row>, #halftone.access<scalar>] -> [] fused []
  // CHECK: halftone.row_max
  // CHECK: halftone.row_sum
  // CHECK: halftone.column_index : i32
  // CHECK: halftone.axis_index 0 : i32
  // CHECK: halftone.element_index : i64
  // CHECK: halftone.kernel_yield sums %{{.*}} : f32
  // CHECK: finish {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  // CHECK: halftone.yield %{{.*}} : f32
  %total = halftone.kernel "loss" row over ["batch", 8] reduce [] (%x, %r, %s)
      accesses [#halftone.access<full>, #halftone.access<row>, #halftone.access<scalar>] -> [] fused []
      {resultSegmentSizes = array<i32: 0, 1>}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], f32>, !halftone.tensor<[], f32>)
      -> !halftone.tensor<[], f32> {
  ^bb0(%e: f32, %row: f32, %scalar: f32):
    %max = halftone.row_max %e : f32
    %sum = halftone.row_sum %e : f32
    %j = halftone.column_index : i32
    %i = halftone.axis_index 0 : i32
    %at = halftone.element_index : i64
    %d = arith.subf %max, %sum : f32
    halftone.kernel_yield sums %d : f32
  } finish {
  ^bb0(%sum: f32, %scalar: f32):
    %m = arith.divf %sum, %scalar : f32
    halftone.yield %m : f32
  }
  // CHECK: pointwise over ["batch", 4]
  // CHECK-SAME: [#halftone.access<window, -4>]
  %part = halftone.kernel "part" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<window, -4>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>, transpose_lhs}
      : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 4], f32> {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  // CHECK: accesses [#halftone.access<general reads #{{.*}} where #{{.*}} through[1]>, #halftone.access<row>]
  %gathered = halftone.kernel "gathered" pointwise over ["batch", 4] reduce [] (%x, %label)
      accesses [#halftone.access<general reads affine_map<(i, j)[t] -> (t, j * 2)> where affine_set<(i, j) : (i mod 2 == 0)> through [1]>,
                #halftone.access<row>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], i32>) -> !halftone.tensor<[batch, 4], f32> {
    ^bb0(%a: f32, %token: i32):
      halftone.kernel_yield stores %a : f32
  }
  // CHECK: accesses [#halftone.access<general reads #{{.*}} lengths["4*side", "batch"]>]
  %turned = halftone.kernel "turned" pointwise over ["batch", 8] reduce [] (%x)
      accesses [#halftone.access<general reads affine_map<(i, j)[n, m] -> ((i * n) floordiv 7, 2 * m - j)> lengths ["4*side", "batch"]>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }
  // CHECK: halftone.kernel "columns" column over ["batch", 8]
  %column = halftone.kernel "columns" column over ["batch", 8] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<column>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[8], f32> {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
  // CHECK: halftone.kernel "flat" flat over ["batch", 8]
  %sum = halftone.kernel "flat" flat over ["batch", 8] reduce [] (%x) accesses [#halftone.access<full>] -> [] fused []
      {resultSegmentSizes = array<i32: 0, 1>} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[], f32> {
  ^bb0(%e: f32):
    halftone.kernel_yield sums %e : f32
  } finish {
  ^bb0(%s1: f32):
    halftone.yield %s1 : f32
  }
}

// Every kind of buffer and every phase has a name that is read back.
// CHECK-LABEL: halftone.graph "names"
// CHECK-SAME: input, {{.*}}parameters, {{.*}}gradients, {{.*}}optimizer_state, {{.*}}state, {{.*}}activation, {{.*}}output, {{.*}}output_gradient, {{.*}}loss, {{.*}}hyperparameter, {{.*}}statistic, {{.*}}working_copies, {{.*}}accumulated, {{.*}}input_gradient, {{.*}}remainders,
// CHECK-SAME: [#halftone.phase<forward>, #halftone.phase<loss>, #halftone.phase<loss_backward>, #halftone.phase<backward>, #halftone.phase<accumulate>, #halftone.phase<check>, #halftone.phase<update>, #halftone.phase<refresh>, #halftone.phase<external>]
halftone.graph "names" attributes {halftone.buffers = [
    #halftone.buffer<"a", input, !halftone.tensor<[], f32>, slot 0, initial 0.0 : f64>,
    #halftone.buffer<"b", parameters, !halftone.tensor<[], f32>, slot 1, initial 0.0 : f64>,
    #halftone.buffer<"c", gradients, !halftone.tensor<[], f32>, slot 2, initial 0.0 : f64>,
    #halftone.buffer<"d", optimizer_state, !halftone.tensor<[], f32>, slot 3, initial 1.0 : f64>,
    #halftone.buffer<"e", state, !halftone.tensor<[], f32>, slot 4, initial 0.0 : f64>,
    #halftone.buffer<"f", activation, !halftone.tensor<[], f32>, slot 5, initial 0.0 : f64>,
    #halftone.buffer<"g", output, !halftone.tensor<[], f32>, slot 6, initial 0.0 : f64>,
    #halftone.buffer<"h", output_gradient, !halftone.tensor<[], f32>, slot 7, initial 0.0 : f64>,
    #halftone.buffer<"i", loss, !halftone.tensor<[], f32>, slot 8, initial 0.0 : f64>,
    #halftone.buffer<"j", hyperparameter, !halftone.tensor<[], f32>, slot 9, initial 0.0 : f64>,
    #halftone.buffer<"k", statistic, !halftone.tensor<[], f32>, slot 10, initial 0.0 : f64>,
    #halftone.buffer<"l", working_copies, !halftone.tensor<[], bf16>, slot 11, initial 0.0 : f64>,
    #halftone.buffer<"m", accumulated, !halftone.tensor<[], f32>, slot 12, initial 0.0 : f64>,
    #halftone.buffer<"n", input_gradient, !halftone.tensor<[], f32>, slot 13, initial 0.0 : f64>,
    #halftone.buffer<"o", remainders, !halftone.tensor<[], si16>, slot 14, initial 0.0 : f64>],
  phases = [#halftone.phase<forward>, #halftone.phase<loss>, #halftone.phase<loss_backward>, #halftone.phase<backward>,
    #halftone.phase<accumulate>, #halftone.phase<check>, #halftone.phase<update>, #halftone.phase<refresh>, #halftone.phase<external>]} {
}
