// SPDX-License-Identifier: Apache-2.0
// Models of a layer or a loss each, and scalar operations, whose gradients are compared with
// differences.
#pragma once

#include <string>

namespace halftone::reference::tests {

struct LayerCase {
  std::string name;
  const char* statements;
  double low = -1, high = 1;
};

inline const LayerCase kLayers[] = {
    {"linear", R"(input %x : f32[batch, 7]
parameter %w : [5, 7] init constant(0)
parameter %b : [5] init constant(0)
%y = linear(x: %x, weight: %w, bias: %b) : [batch, 5]
output "y" = %y
)"},
    {"linear without bias, three dimensions", R"(input %x : f32[batch, 2, 7]
parameter %w : [5, 7] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, 2, 5]
output "y" = %y
)"},
    {"expand", R"(input %x : f32[batch, 3]
parameter %w : [5, 3] init constant(0)
%h = linear(x: %x, weight: %w) : [batch, 5]
%y = expand(x: %h) {shape: [batch, 2, 4, 5]} : [batch, 2, 4, 5]
output "y" = %y
)"},
    {"global_average_pool", R"(input %x : f32[batch, 3, 2, 6]
parameter %w : [4, 6] init constant(0)
%h = linear(x: %x, weight: %w) : [batch, 3, 2, 4]
%y = global_average_pool(x: %h) : [batch, 4]
output "y" = %y
)"},
    {"group_norm", R"(input %x : f32[batch, 3, 2, 6]
parameter %w : [6] init constant(1)
parameter %b : [6] init constant(0)
%y = group_norm(x: %x, weight: %w, bias: %b) {epsilon: 0.001, groups: 3} : [batch, 3, 2, 6]
output "y" = %y
)"},
    {"group_norm of each channel", R"(input %x : f32[batch, 7, 3]
parameter %w : [3] init constant(1)
parameter %b : [3] init constant(0)
%y = group_norm(x: %x, weight: %w, bias: %b) {epsilon: 0.001} : [batch, 7, 3]
output "y" = %y
)"},
    {"long_convolution", R"(input %x : f32[batch, 2, 5, 3]
parameter %w : [2, 3] init constant(0)
parameter %f : [5, 2] init constant(0)
%u = linear(x: %x, weight: %w) : [batch, 2, 5, 2]
%y = long_convolution(x: %u, filter: %f) : [batch, 2, 5, 2]
output "y" = %y
)"},
    {"long_convolution with itself", R"(input %x : f32[batch, 3, 2]
parameter %f : [3, 2] init constant(0)
%g = long_convolution(x: %f, filter: %f) : [3, 2]
%y = long_convolution(x: %x, filter: %g) : [batch, 3, 2]
output "y" = %y
)"},
    {"matmul", R"(input %x : f32[batch, 2, 3, 4]
parameter %w : [3, 4] init constant(0)
%u = linear(x: %x, weight: %w) : [batch, 2, 3, 3]
%y = matmul(a: %u, b: %x) {transpose_a: false, transpose_b: false} : [batch, 2, 3, 4]
output "y" = %y
)"},
    {"matmul by b transposed", R"(input %x : f32[batch, 2, 3, 4]
parameter %w : [4, 4] init constant(0)
%u = linear(x: %x, weight: %w) : [batch, 2, 3, 4]
%y = matmul(a: %x, b: %u) {transpose_a: false, transpose_b: true} : [batch, 2, 3, 3]
output "y" = %y
)"},
    {"matmul of a transposed", R"(input %x : f32[batch, 2, 3, 4]
parameter %w : [5, 4] init constant(0)
%u = linear(x: %x, weight: %w) : [batch, 2, 3, 5]
%y = matmul(a: %u, b: %x) {transpose_a: true, transpose_b: false} : [batch, 2, 5, 4]
output "y" = %y
)"},
    {"matmul of both transposed", R"(input %x : f32[batch, 2, 3, 4]
parameter %w : [3, 4] init constant(0)
%u = linear(x: %x, weight: %w) : [batch, 2, 3, 3]
%y = matmul(a: %u, b: %u) {transpose_a: true, transpose_b: true} : [batch, 2, 3, 3]
output "y" = %y
)"},
    {"attention, causal", R"(input %x : f32[batch, 5, 4]
parameter %w : [4, 4] init constant(0)
parameter %v : [6, 4] init constant(0)
%k = linear(x: %x, weight: %w) : [batch, 5, 4]
%u = linear(x: %x, weight: %v) : [batch, 5, 6]
%y = attention(query: %x, key: %k, value: %u) {heads: 2, causal: true} : [batch, 5, 6]
output "y" = %y
)"},
    {"attention of few keys, heads that share, capped, sloped and windowed",
     R"(input %x : f32[batch, 4, 6]
parameter %k : [7, 4] init constant(0)
parameter %w : [2, 2] init constant(0)
%q = reshape(x: %x) {shape: [batch, 6, 4]} : [batch, 6, 4]
%h = reshape(x: %x) {shape: [batch, 12, 2]} : [batch, 12, 2]
%v = linear(x: %h, weight: %w) : [batch, 12, 2]
%y = attention(query: %q, key: %v, value: %v) {heads: 2, key_heads: 1, causal: true, window: 4, score_scale: 0.8, soft_cap: 1.5, alibi: true} : [batch, 6, 4]
%z = linear(x: %y, weight: %k) : [batch, 6, 7]
output "z" = %z
)"},
    {"attention of one value, masked", R"(input %x : f32[batch, 4, 6]
input %n : i32[batch]
input %s : i32[batch, 4]
parameter %w : [6, 6] init constant(0)
%u = linear(x: %x, weight: %w) : [batch, 4, 6]
%y = attention(query: %u, key: %u, value: %u, length: %n, key_mask: %s, segment: %s) {heads: 3} : [batch, 4, 6]
output "y" = %y
)"},
    {"attention of parameters, dropped", R"(parameter %q : [3, 4] init constant(0)
parameter %k : [5, 4] init constant(0)
parameter %v : [5, 2] init constant(0)
input %x : f32[3, 2]
%y = attention(query: %q, key: %k, value: %v) {heads: 2, dropout_rate: 0.3} : [3, 2]
%z = add(a: %x, b: %y) : [3, 2]
output "z" = %z
)"},
    {"layer_norm", R"(input %x : f32[batch, 9]
parameter %w : [9] init constant(0)
parameter %b : [9] init constant(0)
%y = layer_norm(x: %x, weight: %w, bias: %b) {epsilon: 1e-05} : [batch, 9]
output "y" = %y
)"},
    {"embedding that a linear layer is tied to", R"(input %t : i32[batch, 2]
parameter %w : [5, 6] init constant(0)
%row = embedding(token: %t, weight: %w) : [batch, 2, 6]
%y = linear(x: %row, weight: %w) : [batch, 2, 5]
output "y" = %y
)"},
    {"rms_norm", R"(input %x : f32[batch, 9]
parameter %w : [9] init constant(0)
%y = rms_norm(x: %x, weight: %w) {epsilon: 1e-05} : [batch, 9]
output "y" = %y
)"},
    {"batch_norm", R"(input %x : f32[batch, 2, 5]
parameter %w : [5] init constant(0)
parameter %b : [5] init constant(0)
parameter %v : [4, 5] init constant(0)
state %m : [5] initial 0
state %s : [5] initial 1
state %m2 : [4] initial 0
state %s2 : [4] initial 1
parameter %w2 : [4] init constant(0)
parameter %b2 : [4] init constant(0)
%y = batch_norm(x: %x, weight: %w, bias: %b, mean: %m, variance: %s) {epsilon: 1e-05, momentum: 0.1} : [batch, 2, 5]
%z = linear(x: %y, weight: %v) : [batch, 2, 4]
%t = batch_norm(x: %z, weight: %w2, bias: %b2, mean: %m2, variance: %s2) {epsilon: 0.5, momentum: 0.1} : [batch, 2, 4]
output "t" = %t
)"},
    {"reshape", R"(input %x : f32[batch, 2, 6]
parameter %w : [4, 3] init constant(0)
%y = reshape(x: %x) {shape: [4, batch, 3]} : [4, batch, 3]
%z = linear(x: %y, weight: %w) : [4, batch, 4]
output "z" = %z
)"},
    {"pools whose windows overlap, and upsampling", R"(input %x : f32[batch, 5, 4, 3]
parameter %w : [2, 3] init constant(0)
%m = pool(x: %x) {kernel: [3, 2], stride: [2, 1], padding: [1, 1, 1, 0], function: max} : [batch, 3, 4, 3]
%a = pool(x: %m) {kernel: [2, 2], padding: [1, 0, 0, 1], function: average, count_include_pad: true} : [batch, 3, 4, 3]
%b = pool(x: %a) {kernel: [3], stride: [1], padding: [1, 1], function: average} : [batch, 3, 4, 3]
%l = upsample(x: %b) {factor: [1, 3], mode: linear} : [batch, 3, 12, 3]
%n = upsample(x: %l) {factor: [2, 1], mode: nearest} : [batch, 6, 12, 3]
%y = linear(x: %n, weight: %w) : [batch, 6, 12, 2]
output "y" = %y
)"},
    {"windows that share an image", R"(input %x : f32[batch, 5, 3, 2]
parameter %w : [3, 2] init constant(0)
%h = linear(x: %x, weight: %w) : [batch, 5, 3, 3]
%a = adaptive_pool(x: %h) {size: [3, 4], function: average} : [batch, 3, 4, 3]
%m = adaptive_pool(x: %a) {size: [2, 3], function: max} : [batch, 2, 3, 3]
output "y" = %m
)"},
    {"segments, one of them empty, and times of none", R"(input %x : f32[batch, 4, 3]
input %s : i32[batch, 4]
parameter %w : [3, 3] init constant(0)
%h = linear(x: %x, weight: %w) : [batch, 4, 3]
%m = segment_reduce(x: %h, segment: %s) {segments: 4, function: mean} : [batch, 4, 3]
%b = segment_broadcast(x: %m, segment: %s) : [batch, 4, 3]
%t = segment_reduce(x: %b, segment: %s) {segments: 2, function: sum} : [batch, 2, 3]
%y = segment_broadcast(x: %t, segment: %s) : [batch, 4, 3]
output "y" = %y
)"},
    {"padding of every mode, and blocks of places", R"(input %x : f32[batch, 3, 4, 2]
parameter %w : [4, 2] init constant(0)
%h = linear(x: %x, weight: %w) : [batch, 3, 4, 4]
%s = pixel_shuffle(x: %h) {factor: [1, 2]} : [batch, 3, 8, 2]
%r = pad(x: %s) {padding: [2, 3, 1, -2], mode: reflect} : [batch, 6, 9, 2]
%c = pad(x: %r) {padding: [-1, 4, 2, 0], mode: circular} : [batch, 7, 13, 2]
%e = pad(x: %c) {padding: [3, 0, 0, 2], mode: replicate} : [batch, 10, 15, 2]
%z = pad(x: %e) {padding: [1, -2, -3, 1], mode: constant, pad_value: 2} : [batch, 8, 14, 2]
%y = pixel_shuffle(x: %z) {factor: [2, 7], inverse: true} : [batch, 4, 2, 28]
output "y" = %y
)"},
    {"slices, one of them of what another takes", R"(input %x : f32[batch, 2, 6]
parameter %w : [4, 3] init constant(0)
%first = slice(x: %x) {begin: 0, end: 4} : [batch, 2, 4]
%second = slice(x: %x) {begin: 3, end: 6} : [batch, 2, 3]
%inner = slice(x: %first) {begin: 1, end: 4} : [batch, 2, 3]
%both = add(a: %second, b: %inner) : [batch, 2, 3]
%z = linear(x: %both, weight: %w) : [batch, 2, 4]
output "z" = %z
)"},
    {"transpose", R"(input %x : f32[batch, 2, 3, 5]
parameter %w : [4, 2] init constant(0)
%y = transpose(x: %x) {axes: [3, 0, 2, 1]} : [5, batch, 3, 2]
%z = linear(x: %y, weight: %w) : [5, batch, 3, 4]
output "z" = %z
)"},
    {"causal_conv1d", R"(input %x : f32[batch, 5, 3]
parameter %w : [3, 4] init constant(0)
parameter %b : [3] init constant(0)
%y = causal_conv1d(x: %x, weight: %w, bias: %b) : [batch, 5, 3]
output "y" = %y
)"},
    {"causal_conv1d of one sequence, shorter than its taps, without bias", R"(input %x : f32[2, 3]
parameter %w : [3, 4] init constant(0)
%y = causal_conv1d(x: %x, weight: %w) : [2, 3]
output "y" = %y
)"},
    {"convolution of one image that reaches beyond it, in groups", R"(input %x : f32[4, 3, 2]
parameter %v : [4, 2, 2, 2] init constant(0)
parameter %w : [6, 3, 2, 2] init constant(0)
parameter %b : [6] init constant(0)
%u = convolution(x: %x, weight: %v) {kernel: [2, 2], padding: [1, 0, 0, 1]} : [4, 3, 4]
%y = convolution(x: %u, weight: %w, bias: %b) {kernel: [3, 2], stride: [2, 3], dilation: [1, 2], padding: [2, 1, 0, 1], groups: 2} : [2, 1, 6]
output "y" = %y
)"},
    {"transposed_convolution in groups, and back to a symbol", R"(input %x : f32[batch, 3, 2, 2]
parameter %v : [4, 2, 3, 2] init constant(0)
parameter %b : [4] init constant(0)
parameter %w : [2, 3, 2] init constant(0)
%u = transposed_convolution(x: %x, weight: %v, bias: %b) {kernel: [2, 3], stride: [2, 1], dilation: [3, 1], padding: [1, 1, 2, 1], output_padding: [1, 0]} : [batch, 6, 2, 4]
%r = reshape(x: %u) {shape: [6, 2, batch, 4]} : [6, 2, batch, 4]
%y = transposed_convolution(x: %r, weight: %w) {kernel: [3], padding: [0, 2], groups: 2} : [6, 2, batch, 2]
output "y" = %y
)"},
    {"rotary", R"(input %x : f32[batch, 3, 3]
input %place : i32[batch, 3]
parameter %w : [12, 3] init constant(0)
%fc = linear(x: %x, weight: %w) : [batch, 3, 12]
%y = rotary(x: %fc) {heads: 2, base: 100, interleaved: false, factor: 2} : [batch, 3, 12]
%z = rotary(x: %y, position: %place) {heads: 3, base: 100, interleaved: true, factor: 1, rotated: 2} : [batch, 3, 12]
output "z" = %z
)"},
    {"embeddings of positions", R"(input %x : f32[batch, 3, 3]
parameter %v : [4, 3] init constant(0)
parameter %w : [5, 4] init constant(0)
%fc = linear(x: %x, weight: %v) : [batch, 3, 4]
%y = position_embedding(x: %fc, weight: %w) : [batch, 3, 4]
%z = sinusoidal_embedding(x: %y) {base: 100} : [batch, 3, 4]
output "z" = %z
)"},
    {"dropout", R"(input %x : f32[batch, 9]
parameter %w : [4, 9] init constant(0)
%fc = linear(x: %x, weight: %w) : [batch, 4]
%y = dropout(x: %fc) {rate: 0.4} : [batch, 4]
output "y" = %y
)"},
    {"relu of positive values", R"(input %x : f32[batch, 9]
parameter %w : [4, 9] init constant(0)
%y = relu(x: %x) : [batch, 9]
%z = linear(x: %y, weight: %w) : [batch, 4]
output "z" = %z
)",
     0.1, 1},
    {"relu of negative values", R"(input %x : f32[batch, 9]
parameter %w : [4, 9] init constant(0)
%y = relu(x: %x) : [batch, 9]
%z = linear(x: %y, weight: %w) : [batch, 4]
output "z" = %z
)",
     -1, -0.1},
    {"gelu erf", R"(input %x : f32[batch, 9]
%y = gelu(x: %x) {approximation: erf} : [batch, 9]
output "y" = %y
)",
     -3, 3},
    {"gelu tanh", R"(input %x : f32[batch, 9]
%y = gelu(x: %x) {approximation: tanh} : [batch, 9]
output "y" = %y
)",
     -3, 3},
    {"silu", R"(input %x : f32[batch, 9]
%y = silu(x: %x) : [batch, 9]
output "y" = %y
)",
     -3, 3},
    {"softmax", R"(input %x : f32[batch, 2, 9]
%y = softmax(x: %x) : [batch, 2, 9]
output "y" = %y
)",
     -3, 3},
    {"softmax, of its logarithm", R"(input %x : f32[batch, 9]
%y = softmax(x: %x) {log: true} : [batch, 9]
output "y" = %y
)",
     -3, 3},
    {"add, one operand used twice", R"(input %x : f32[batch, 4]
input %z : f32[batch, 4]
%a = add(a: %x, b: %z) : [batch, 4]
%y = add(a: %a, b: %x) : [batch, 4]
output "y" = %y
)"},
    {"concat of three parts", R"(input %x : f32[batch, 2, 3]
input %z : f32[batch, 2, 4]
%y = concat(part0: %x, part1: %z, part2: %x) : [batch, 2, 10]
output "y" = %y
)"},
    {"cross_entropy", R"(input %label : i32[batch]
input %x : f32[batch, 6]
parameter %w : [5, 6] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, 5]
%loss = cross_entropy(logits: %y, label: %label) : []
loss %loss weight 0.7
)"},
    {"cross_entropy with a weight for every row and an ignored label", R"(input %label : i32[batch]
input %weight : f32[batch]
input %x : f32[batch, 6]
parameter %w : [5, 6] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, 5]
%loss = cross_entropy(logits: %y, label: %label, sample_weight: %weight) {ignore_index: 1} : []
loss %loss weight 0.7
)",
     0.25, 1},
    {"cross_entropy of smoothed labels with a z_loss", R"(input %label : i32[batch]
input %x : f32[batch, 6]
parameter %w : [5, 6] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, 5]
%loss = cross_entropy(logits: %y, label: %label) {label_smoothing: 0.2, z_loss: 0.125} : []
loss %loss weight 0.7
)"},
    {"cross_entropy of capped logits", R"(input %label : i32[batch]
input %x : f32[batch, 6]
parameter %w : [5, 6] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, 5]
%loss = cross_entropy(logits: %y, label: %label) {soft_cap: 0.75} : []
loss %loss weight 0.7
)"},
    {"cross_entropy with all settings and weights", R"(input %label : i32[batch]
input %weight : f32[batch]
input %x : f32[batch, 6]
parameter %w : [5, 6] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, 5]
%loss = cross_entropy(logits: %y, label: %label, sample_weight: %weight) {ignore_index: 1, label_smoothing: 0.25, z_loss: 0.5, soft_cap: 1.5} : []
loss %loss weight 0.7
)",
     0.25, 1},
    {"cross_entropy under weights of classes and rows", R"(input %label : i32[batch]
input %weight : f32[batch]
input %x : f32[batch, 6]
parameter %w : [5, 6] init constant(0)
state %classes : [5] initial 1
%y = linear(x: %x, weight: %w) : [batch, 5]
%loss = cross_entropy(logits: %y, label: %label, class_weight: %classes, sample_weight: %weight) {ignore_index: 1, z_loss: 0.5} : []
loss %loss weight 0.7
)",
     0.25, 1},
    {"soft_cross_entropy of a target that is computed", R"(input %x : f32[batch, 6]
input %weight : f32[batch]
parameter %w : [5, 6] init constant(0)
parameter %t : [5, 6] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, 5]
%shares = linear(x: %x, weight: %t) : [batch, 5]
%loss = soft_cross_entropy(logits: %y, target: %shares, sample_weight: %weight) : []
%sum = soft_cross_entropy(logits: %shares, target: %y) {summed: true} : []
loss %loss weight 0.7
loss %sum weight 0.3
)",
     0.25, 1},
    {"cosine_embedding of rows that should be alike", R"(input %x : f32[batch, 2, 6]
input %z : f32[batch, 2, 6]
input %v : f32[batch, 2]
parameter %w : [5, 6] init constant(0)
%a = linear(x: %x, weight: %w) : [batch, 2, 5]
%b = linear(x: %z, weight: %w) : [batch, 2, 5]
%one = pointwise(x0: %v) "one" { %0 = operand 0; %1 = subtract %0 %0; %2 = constant 1; %3 = add %1 %2 } : [batch, 2]
%loss = cosine_embedding(x: %a, y: %b, target: %one) {margin: 0.5} : []
loss %loss weight 0.7
)"},
    {"cosine_embedding of rows that should be apart, summed", R"(input %x : f32[batch, 6]
input %z : f32[batch, 6]
input %v : f32[batch]
input %weight : f32[batch]
parameter %w : [5, 6] init constant(0)
%a = linear(x: %x, weight: %w) : [batch, 5]
%b = linear(x: %z, weight: %w) : [batch, 5]
%minus = pointwise(x0: %v) "minus" { %0 = operand 0; %1 = subtract %0 %0; %2 = constant 1; %3 = subtract %1 %2 } : [batch]
%loss = cosine_embedding(x: %a, y: %b, target: %minus, sample_weight: %weight) {margin: 0.25, summed: true} : []
loss %loss weight 0.7
)",
     0.25, 1},
    {"standardize", R"(input %x : f32[batch, 2, 5]
parameter %w : [5, 5] init constant(0)
state %mean : [5] initial 0
state %deviation : [5] initial 1
%fc = linear(x: %x, weight: %w) : [batch, 2, 5]
%y = standardize(x: %fc, mean: %mean, deviation: %deviation) : [batch, 2, 5]
output "y" = %y
)",
     0.25, 1},
    {"sums of mse, and of a pointwise_loss under weights", R"(input %x : f32[batch, 6]
input %target : f32[batch, 5]
input %weight : f32[batch]
parameter %w : [5, 6] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, 5]
%sum = mse(x: %y, target: %target) {summed: true} : []
%weighted = pointwise_loss(x0: %y, x1: %target, sample_weight: %weight) {summed: true} "cube" { %0 = operand 0; %1 = operand 1; %2 = subtract %0 %1; %3 = multiply %2 %2; %4 = multiply %3 %2 } : []
loss %sum weight 0.3
loss %weighted weight 0.7
)",
     0.25, 1},
    {"mse with a weight for every row", R"(input %x : f32[batch, 6]
input %target : f32[batch, 5]
input %weight : f32[batch]
parameter %w : [5, 6] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, 5]
%loss = mse(x: %y, target: %target, sample_weight: %weight) : []
loss %loss weight 0.7
)",
     0.25, 1},
    {"pointwise_loss with a weight for every element", R"(input %x : f32[batch, 6]
input %target : f32[batch, 5]
input %weight : f32[batch, 5]
parameter %w : [5, 6] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, 5]
%loss = pointwise_loss(x0: %y, x1: %target, sample_weight: %weight) "f" { %0 = operand 0; %1 = operand 1; %2 = multiply %0 %1; %3 = tanh %2 } : []
loss %loss weight 0.7
)",
     0.25, 1},
    {"mse", R"(input %x : f32[batch, 6]
input %target : f32[batch, 5]
parameter %w : [5, 6] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, 5]
%loss = mse(x: %y, target: %target) : []
loss %loss weight 0.7
)"},
    {"pointwise_loss", R"(input %x : f32[batch, 6]
input %target : f32[batch, 5]
parameter %w : [5, 6] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, 5]
%loss = pointwise_loss(x0: %y, x1: %target) "f" { %0 = operand 0; %1 = operand 1; %2 = multiply %0 %1; %3 = tanh %2 } : []
loss %loss weight 0.7
)"},
};

// Operands in [low, high]; %0 and %1 are the operands, `body` uses them.
struct ScalarCase {
  std::string name;
  const char* body;
  double low = -2, high = 2;
};

inline const ScalarCase kScalars[] = {
    {"add", "%2 = add %0 %1"},
    {"subtract", "%2 = subtract %0 %1"},
    {"multiply", "%2 = multiply %0 %1"},
    {"multiply by itself", "%2 = multiply %0 %0; %3 = multiply %2 %1"},
    {"divide", "%2 = divide %0 %1", 0.5, 2},
    {"minimum", "%2 = minimum %0 %1"},
    {"maximum", "%2 = maximum %0 %1"},
    {"pow", "%2 = pow %0 %1", 0.5, 2},
    {"pow of a negative base", "%2 = constant -3; %3 = pow %0 %2; %4 = multiply %3 %1", -2, -0.5},
    {"pow of a constant base", "%2 = constant 1.5; %3 = pow %2 %0; %4 = multiply %3 %1"},
    {"negate", "%2 = negate %0; %3 = multiply %2 %1"},
    {"absolute", "%2 = absolute %0; %3 = multiply %2 %1"},
    {"exp", "%2 = exp %0; %3 = multiply %2 %1"},
    {"expm1", "%2 = expm1 %0; %3 = multiply %2 %1"},
    {"log1p", "%2 = log1p %0; %3 = multiply %2 %1", -0.5, 2},
    {"sin", "%2 = sin %0; %3 = multiply %2 %1", -5, 5},
    {"cos", "%2 = cos %0; %3 = multiply %2 %1", -5, 5},
    {"log", "%2 = log %0; %3 = multiply %2 %1", 0.5, 2},
    {"sqrt", "%2 = sqrt %0; %3 = multiply %2 %1", 0.5, 2},
    {"rsqrt", "%2 = rsqrt %0; %3 = multiply %2 %1", 0.5, 2},
    {"tanh", "%2 = tanh %0; %3 = multiply %2 %1"},
    {"erf", "%2 = erf %0; %3 = multiply %2 %1"},
    {"sigmoid", "%2 = sigmoid %0; %3 = multiply %2 %1"},
    {"select by less", "%2 = less %0 %1; %3 = multiply %0 %1; %4 = tanh %0; %5 = select %2 %3 %4"},
    {"select by less_equal", "%2 = less_equal %0 %1; %3 = multiply %0 %1; %4 = select %2 %3 %1"},
    {"select by equal", "%2 = equal %0 %1; %3 = multiply %0 %1; %4 = select %2 %0 %3"},
    {"one value used three times",
     "%2 = exp %0; %3 = multiply %2 %1; %4 = add %3 %2; %5 = divide %4 %2"},
};

}  // namespace halftone::reference::tests
