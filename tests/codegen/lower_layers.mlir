// SPDX-License-Identifier: Apache-2.0
// Every layer becomes the primitives that it stands for; they carry its attributes.
// RUN: halftone-opt --halftone-lower-layers %s | FileCheck %s
// RUN: halftone-opt --halftone-lower-layers %s | FileCheck --check-prefix=NONE %s

// CHECK-DAG: #[[PERMUTED:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d4, d3, d0)>
// NONE-NOT: halftone.{{linear|matmul|attention|causal_conv1d|convolution|transposed_convolution|long_convolution|pool|adaptive_pool|global_average_pool|upsample|pad|pixel_shuffle|segment_reduce|segment_broadcast|embedding|layer_norm|group_norm|relu|gelu|silu|softmax|dropout|rotary|position_embedding|sinusoidal_embedding|add|concat|reshape|expand|transpose|pointwise|pointwise_loss|cross_entropy|soft_cross_entropy|cosine_embedding|standardize|mse|mean}} {{[%"]}}

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!vector = !halftone.tensor<[8], f32>
!rows = !halftone.tensor<[batch], f32>
!label = !halftone.tensor<[batch], i32>
!scalar = !halftone.tensor<[], f32>
!rows_of_times = !halftone.tensor<[5, 8], f32>
!turns = !halftone.tensor<[time, 2], f32>
!placed = !halftone.tensor<[batch, time, 2], f32>
!sequence = !halftone.tensor<[batch, time, 8], f32>

// CHECK-DAG: #[[RETURNS:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, (d2 - d3 + 1) floordiv 2, d0, d4)>
// CHECK-DAG: #[[OTHER_PART:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, -d3 + 1, d4)>
// CHECK-DAG: #[[REAL:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, 0, d4)>
// CHECK-DAG: #[[IMAGINARY:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, 1, d4)>
// CHECK-DAG: #[[WHOLE:set[0-9]*]] = affine_set<(d0, d1, d2, d3, d4) : ((d2 - d3 + 1) mod 2 == 0)>
// CHECK-DAG: #[[SLIDES:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d3 - 1, d2 + d4 * 2, d5)>
// CHECK-DAG: #[[ELEMENT0:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2 - 1, d2)>
// CHECK-DAG: #[[ELEMENT1:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2, d2)>
// CHECK-DAG: #[[ELEMENT2:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + 1, d2)>
// CHECK-DAG: #[[REPEATED:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1 floordiv 2, d2)>
// CHECK-DAG: #[[LEFT:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1 floordiv 2 - 1, d2)>
// CHECK-DAG: #[[RIGHT:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1 floordiv 2 + 1, d2)>
// CHECK-DAG: #[[TURNED:map[0-9]*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[TAP0:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, d2)>
// CHECK-DAG: #[[TAP1:map[0-9]*]] = affine_map<(d0, d1, d2) -> (1, d2)>
// CHECK-DAG: #[[BEFORE:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1 - 1, d2)>
// CHECK-DAG: #[[PAIR:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d1, d2 mod 2)>
// CHECK-DAG: #[[PLACED:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2 floordiv 2)>
// CHECK-DAG: #[[WAVE:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d1, d2 floordiv 2)>
// CHECK-DAG: #[[TIME:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[GATHER:.+]] = affine_map<(d0, d1, d2)[s0] -> (s0, d2)>

// A product, then what is added to it: the product stays inside of the layer.
// CHECK-LABEL: halftone.graph "linear"
halftone.graph "linear" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !matrix
  // CHECK: %[[W:.*]] = halftone.input "w"
  %w = halftone.input "w" : !weight
  // CHECK: %[[B:.*]] = halftone.input "b"
  %b = halftone.input "b" : !vector
  // CHECK: %[[P:.*]] = halftone.contract %[[X]], %[[W]] {halftone.internal, halftone.kind = "linear", halftone.layer = "fc", halftone.phase = #halftone.phase<backward>, label = "linear", pass = #halftone.pass<forward>, transpose_rhs}
  // CHECK: %[[Y:.*]] = halftone.map "linear"(%[[P]], %[[B]]) {halftone.kind = "linear", halftone.layer = "fc", halftone.phase = #halftone.phase<backward>, halftone.values = array<i64: 3>} : (
  // CHECK-NEXT: ^bb0(%[[SUM:[a-z0-9]+]]: f32, %[[BIAS:[a-z0-9]+]]: f32):
  // CHECK-NEXT: %[[R:.*]] = arith.addf %[[SUM]], %[[BIAS]] : f32
  // CHECK-NEXT: halftone.yield %[[R]] : f32
  %y = halftone.linear %x, %w bias %b {halftone.kind = "linear", halftone.layer = "fc", halftone.phase = #halftone.phase<backward>,
      halftone.values = array<i64: 3>} : (!matrix, !weight, !vector) -> !matrix
  // CHECK: %[[Z:.*]] = halftone.contract %[[Y]], %[[W]] {halftone.layer = "bare", halftone.values = array<i64: 4>, label = "linear"
  %z = halftone.linear %y, %w {halftone.layer = "bare", halftone.values = array<i64: 4>} : (!matrix, !weight) -> !matrix
  // CHECK: halftone.output "z", %[[Z]]
  halftone.output "z", %z : !matrix
  // CHECK: halftone.contract %[[Z]], %[[W]] {halftone.layer = "back", label = "linear", pass = #halftone.pass<forward>} :
  %back = halftone.linear %z, %w {halftone.layer = "back", transposed = true} : (!matrix, !weight) -> !matrix
  halftone.output "back", %back : !matrix
}

// Heads move before times and back; two products, and a map over the rows of what the first one leaves.
// CHECK-LABEL: halftone.graph "attention"
halftone.graph "attention" {
  %q = halftone.input "q" : !halftone.tensor<[batch, time, 24], f32>
  %k = halftone.input "k" : !halftone.tensor<[batch, 7, 8], f32>
  %n = halftone.input "n" : !halftone.tensor<[batch], i32>
  // CHECK: %[[CUT:.*]] = halftone.view %{{.*}} {halftone.internal, halftone.layer = "mix"} : (!halftone.tensor<[batch, time, 24], f32>) -> !halftone.tensor<[batch, time, 2, 3, 4], f32>
  // CHECK: %[[Q:.*]] = halftone.map "transpose"(%[[CUT]]) over ["batch", 2, 3, "time", 4] reads [#halftone.access<general reads #{{.*}}>]
  // CHECK: %[[K:.*]] = halftone.map "transpose"(%{{.*}}) over ["batch", 2, 7, 4]
  // CHECK: %[[S:.*]] = halftone.contract %[[Q]], %[[K]] {batch_axes = 2 : i64, halftone.internal, halftone.layer = "mix", label = "scores", pass = #halftone.pass<forward>, transpose_rhs} : {{.*}} -> !halftone.tensor<[batch, 2, 3, time, 7], f32>
  // CHECK: %[[W:.*]] = halftone.map "softmax"(%[[S]], %{{.*}}) over ["batch", 2, 3, "time", 7] reads [#halftone.access<full>, #halftone.access<general reads #{{.*}}>]
  // CHECK: ^bb0(%[[PRODUCT:[a-z0-9]+]]: f32, %[[LENGTH:[a-z0-9]+]]: i32):
  // CHECK: %[[I:.*]] = halftone.axis_index 3 : i32
  // CHECK: %[[SEVEN:.*]] = arith.constant 7 : i32
  // CHECK: %[[TIMES:.*]] = halftone.count ["time"] : i32
  // CHECK: arith.subi %[[SEVEN]], %[[TIMES]] : i32
  // CHECK: %[[CAUSAL:.*]] = arith.cmpi sge, %{{.*}}, %{{.*}} : i32
  // CHECK: %[[J:.*]] = halftone.column_index : i32
  // CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[J]], %[[LENGTH]] : i32
  // CHECK: %[[BOTH:.*]] = arith.andi %[[CAUSAL]], %[[INSIDE]] : i1
  // CHECK: %[[KEPT:.*]] = halftone.kept %[[BOTH]] : i1
  // CHECK: %[[Z:.*]] = arith.select %[[KEPT]], %{{.*}}, %{{.*}} : f32
  // CHECK: halftone.row_max %[[Z]] : f32
  // CHECK: %[[SUM:.*]] = halftone.row_sum %{{.*}} : f32
  // CHECK: arith.divf %{{.*}}, %[[SUM]] : f32
  // CHECK: %[[V:.*]] = halftone.map "transpose"
  // CHECK: %[[Y:.*]] = halftone.contract %[[W]], %[[V]] {batch_axes = 2 : i64, halftone.internal, halftone.layer = "mix", label = "attention", pass = #halftone.pass<forward>} :
  // CHECK: %[[BACK:.*]] = halftone.map "transpose"(%[[Y]]) over ["batch", "time", 2, 3, 4]
  // CHECK: halftone.view %[[BACK]] {halftone.layer = "mix"} : (!halftone.tensor<[batch, time, 2, 3, 4], f32>) -> !halftone.tensor<[batch, time, 24], f32>
  %y = halftone.attention %q, %k, %k length %n {causal = true, halftone.layer = "mix", heads = 6 : i64, key_heads = 2 : i64}
      : (!halftone.tensor<[batch, time, 24], f32>, !halftone.tensor<[batch, 7, 8], f32>, !halftone.tensor<[batch, 7, 8], f32>,
         !halftone.tensor<[batch], i32>) -> !halftone.tensor<[batch, time, 24], f32>
  halftone.output "y", %y : !halftone.tensor<[batch, time, 24], f32>
}

// Leading dimensions are a batch; without them it is one product.
// CHECK-LABEL: halftone.graph "matmul"
halftone.graph "matmul" {
  // CHECK: %[[Q:.*]] = halftone.input "q"
  %q = halftone.input "q" : !halftone.tensor<[batch, 3, time, 4], f32>
  // CHECK: %[[K:.*]] = halftone.input "k"
  %k = halftone.input "k" : !halftone.tensor<[batch, 3, 9, 4], f32>
  // CHECK: %[[S:.*]] = halftone.contract %[[Q]], %[[K]] {batch_axes = 2 : i64, halftone.kind = "matmul", halftone.layer = "s", label = "matmul", pass = #halftone.pass<forward>, transpose_rhs} :
  %s = halftone.matmul %q, %k {halftone.kind = "matmul", halftone.layer = "s", transpose_a = false, transpose_b = true}
      : (!halftone.tensor<[batch, 3, time, 4], f32>, !halftone.tensor<[batch, 3, 9, 4], f32>) -> !halftone.tensor<[batch, 3, time, 9], f32>
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !matrix
  // CHECK: %[[G:.*]] = halftone.contract %[[X]], %[[X]] {halftone.layer = "g", label = "matmul", pass = #halftone.pass<forward>, transpose_lhs} :
  %g = halftone.matmul %x, %x {halftone.layer = "g", transpose_a = true, transpose_b = false} : (!matrix, !matrix) -> !weight
  halftone.output "s", %s : !halftone.tensor<[batch, 3, time, 9], f32>
  halftone.output "g", %g : !weight
}

// A row operation has a domain; what its gradients read leaves it too.
// CHECK-LABEL: halftone.graph "rows"
halftone.graph "rows" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !matrix
  // CHECK: %[[V:.*]] = halftone.input "v"
  %v = halftone.input "v" : !vector
  // CHECK: %[[L:.*]] = halftone.input "label"
  %label = halftone.input "label" : !label
  // CHECK: %[[N:.*]]:3 = halftone.map "layer_norm"(%[[X]], %[[V]], %[[V]]) over ["batch", 8] reads [#halftone.access<full>, #halftone.access<column>, #halftone.access<column>] writes [#halftone.access<full>, #halftone.access<row>, #halftone.access<row>] {halftone.layer = "norm", halftone.values = array<i64: 0, -1, -1>}
  // CHECK-COUNT-2: halftone.row_sum
  // CHECK: math.fma
  %n, %mean, %rstd = halftone.layer_norm %x, %v, %v {epsilon = 1.0e-5 : f64, halftone.layer = "norm",
      halftone.values = array<i64: 0, -1, -1>} : (!matrix, !vector, !vector) -> (!matrix, !rows, !rows)
  // CHECK: %[[R:.*]] = halftone.map "cross_entropy"(%[[N]]#0, %[[L]]) over ["batch", 8] reads [#halftone.access<full>, #halftone.access<row>] writes [#halftone.access<row>]
  // CHECK: halftone.row_max
  %r = halftone.cross_entropy %n, %label : (!matrix, !label) -> !rows
  // CHECK: %[[M:.*]] = halftone.reduce "mean"(%[[R]]) {halftone.phase = #halftone.phase<loss>} : (!halftone.tensor<[batch], f32>) -> !halftone.tensor<[], f32> finish {
  // CHECK-NEXT: ^bb0(%[[S:[a-z0-9]+]]: f32):
  // CHECK-NEXT: %[[C:.*]] = halftone.count ["batch"] : f32
  // CHECK-NEXT: arith.divf %[[S]], %[[C]]
  %m = halftone.mean %r {halftone.phase = #halftone.phase<loss>} : (!rows) -> !scalar
  // CHECK: halftone.loss "m", %[[M]]
  halftone.loss "m", %m weight 1.0 : !scalar
  // CHECK: halftone.map "layer_norm_grad"(%[[X]], %[[N]]#1, %[[N]]#2)
  %g = halftone.map "layer_norm_grad" (%x, %mean, %rstd) over ["batch", 8]
      reads [#halftone.access<full>, #halftone.access<row>, #halftone.access<row>] writes [#halftone.access<full>]
      : (!matrix, !rows, !rows) -> !matrix {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    %h = arith.mulf %d, %c : f32
    halftone.yield %h : f32
  }
}

// The settings of D29: capped logits, of whose logarithms a share of all is taken, and the square of the sum's logarithm.
// CHECK-LABEL: halftone.graph "loss_settings"
halftone.graph "loss_settings" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !matrix
  %label = halftone.input "label" : !label
  // CHECK: halftone.map "cross_entropy"(%[[X]], %{{.*}})
  // CHECK-NEXT: ^bb0(%[[E:[a-z0-9]+]]: f32, %{{.*}}: i32):
  // CHECK: %[[BY:.*]] = arith.constant 2.500000e-01 : f32
  // CHECK: %[[SHARE:.*]] = arith.mulf %[[E]], %[[BY]] : f32
  // CHECK: %[[T:.*]] = math.tanh %[[SHARE]] : f32
  // CHECK: %[[CAP:.*]] = arith.constant 4.000000e+00 : f32
  // CHECK: %[[C:.*]] = arith.mulf %[[CAP]], %[[T]] : f32
  // CHECK: %[[M:.*]] = halftone.row_max %[[C]]
  // CHECK: %[[BELOW:.*]] = arith.subf %[[C]], %[[M]] : f32
  // CHECK: %[[LOG:.*]] = math.log
  // CHECK: %[[L:.*]] = arith.addf %[[M]], %[[LOG]] : f32
  // CHECK: %[[NLL:.*]] = arith.subf %[[L]], %{{.*}} : f32
  // CHECK: %[[ALL:.*]] = halftone.row_sum %[[BELOW]]
  // CHECK: %[[N:.*]] = arith.constant 8.000000e+00 : f32
  // CHECK: %[[MEAN:.*]] = arith.divf %[[ALL]], %[[N]] : f32
  // CHECK: %[[REST:.*]] = arith.constant 7.500000e-01 : f32
  // CHECK: %[[A:.*]] = arith.mulf %[[REST]], %[[NLL]] : f32
  // CHECK-DAG: %[[OTHERS:.*]] = arith.subf %[[LOG]], %[[MEAN]] : f32
  // CHECK-DAG: %[[E1:.*]] = arith.constant 2.500000e-01 : f32
  // CHECK: %[[B:.*]] = arith.mulf %[[E1]], %[[OTHERS]] : f32
  // CHECK: %[[SMOOTHED:.*]] = arith.addf %[[A]], %[[B]] : f32
  // CHECK: %[[Z:.*]] = arith.constant 1.250000e-01 : f32
  // CHECK: %[[SQUARE:.*]] = arith.mulf %[[L]], %[[L]] : f32
  // CHECK: %[[ADDED:.*]] = arith.mulf %[[Z]], %[[SQUARE]] : f32
  // CHECK: %[[LOSS:.*]] = arith.addf %[[SMOOTHED]], %[[ADDED]] : f32
  // CHECK: halftone.yield %[[LOSS]] : f32
  %r = halftone.cross_entropy %x, %label {label_smoothing = 0.25, z_loss = 0.125, soft_cap = 4.0} : (!matrix, !label) -> !rows
  halftone.output "r", %r : !rows
}

// Under weights a summand of weight 0 is 0 whatever it holds (D71); with a weight for every row of x rows are summed first.
// CHECK-LABEL: halftone.graph "weights"
halftone.graph "weights" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !matrix
  // CHECK: %[[L:.*]] = halftone.input "label"
  %label = halftone.input "label" : !label
  // CHECK: %[[W:.*]] = halftone.input "w"
  %w = halftone.input "w" : !rows
  // CHECK: %[[D:.*]] = halftone.input "divisor"
  %d = halftone.input "divisor" : !scalar
  // CHECK: %[[R:.*]] = halftone.map "cross_entropy"(%[[X]], %[[L]], %[[W]]) over ["batch", 8] reads [#halftone.access<full>, #halftone.access<row>, #halftone.access<row>] writes [#halftone.access<row>]
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[LABEL:[a-z0-9]+]]: i32, %[[GIVEN:[a-z0-9]+]]: f32):
  // CHECK: %[[IGNORED:.*]] = arith.constant -100 : i32
  // CHECK: %[[IS:.*]] = arith.cmpi eq, %[[LABEL]], %[[IGNORED]] : i32
  // CHECK: %[[WEIGHT:.*]] = arith.select %[[IS]], %{{.*}}, %[[GIVEN]] : f32
  // CHECK: %[[T:.*]] = arith.mulf %[[WEIGHT]], %{{.*}} : f32
  // CHECK: %[[ZERO:.*]] = arith.cmpf oeq, %[[WEIGHT]], %{{.*}} : f32
  // CHECK: arith.select %[[ZERO]], %{{.*}}, %[[T]] : f32
  %r = halftone.cross_entropy %x, %label weighted %w {ignore_index = -100 : i64} : (!matrix, !label, !rows) -> !rows
  // CHECK: halftone.reduce "mean"(%[[R]], %[[D]]) {halftone.phase = #halftone.phase<loss>} : (!halftone.tensor<[batch], f32>, !halftone.tensor<[], f32>) -> !halftone.tensor<[], f32> finish {
  // CHECK-NEXT: ^bb0(%[[S:[a-z0-9]+]]: f32, %[[BY:[a-z0-9]+]]: f32):
  // CHECK-NEXT: arith.divf %[[S]], %[[BY]]
  %m = halftone.mean %r by %d {halftone.phase = #halftone.phase<loss>} : (!rows, !scalar) -> !scalar
  // The weight of the label's class is a sum over the row, 1 of no class; times that of the sample.
  // CHECK: halftone.map "cross_entropy"(%[[X]], %{{.*}}, %[[C:.*]], %[[W]]) over ["batch", 8] reads [#halftone.access<full>, #halftone.access<row>, #halftone.access<column>, #halftone.access<row>] writes [#halftone.access<row>]
  // CHECK: ^bb0(%{{[a-z0-9]+}}: f32, %[[LABEL:[a-z0-9]+]]: i32, %[[OF_CLASS:[a-z0-9]+]]: f32, %[[OF_ROW:[a-z0-9]+]]: f32):
  // CHECK: %[[ONE_OF:.*]] = arith.select %{{.*}}, %[[OF_CLASS]], %{{.*}} : f32
  // CHECK: %[[PICKED:.*]] = halftone.row_sum %[[ONE_OF]] : f32
  // CHECK: %[[C1:.*]] = arith.select %{{.*}}, %[[PICKED]], %{{.*}} : f32
  // CHECK: arith.mulf %[[OF_ROW]], %[[C1]] : f32
  %classes = halftone.state "classes" {initial = 1.0 : f64} : !vector
  %by_class = halftone.cross_entropy %x, %label by_class %classes weighted %w : (!matrix, !label, !vector, !rows) -> !rows
  // Nothing divides a sum.
  // CHECK: halftone.reduce "mean"(%{{.*}}) : (!halftone.tensor<[batch], f32>) -> !halftone.tensor<[], f32> finish {
  // CHECK-NEXT: ^bb0(%[[S:[a-z0-9]+]]: f32):
  // CHECK-NEXT: halftone.yield %[[S]]
  %sum = halftone.mean %by_class {summed} : (!rows) -> !scalar
  // CHECK: halftone.map "soft_cross_entropy"(%[[X]], %[[X]], %[[W]]) over ["batch", 8] reads [#halftone.access<full>, #halftone.access<full>, #halftone.access<row>] writes [#halftone.access<row>]
  // CHECK: %[[TOTAL:.*]] = arith.addf
  // CHECK: %[[LACKING:.*]] = arith.subf %[[TOTAL]],
  // CHECK: %[[PART:.*]] = arith.mulf %{{.*}}, %[[LACKING]]
  // CHECK: halftone.row_sum %[[PART]]
  %soft = halftone.soft_cross_entropy %x, %x weighted %w : (!matrix, !matrix, !rows) -> !rows
  // CHECK: halftone.map "cosine_embedding"(%[[X]], %[[X]], %[[W]]) over ["batch", 8] reads [#halftone.access<full>, #halftone.access<full>, #halftone.access<row>] writes [#halftone.access<row>]
  // CHECK-COUNT-3: halftone.row_sum
  %cosine = halftone.cosine_embedding %x, %x, %w {margin = 0.5 : f64} : (!matrix, !matrix, !rows) -> !rows
  // CHECK: halftone.map "mse"(%[[X]], %[[X]], %[[W]]) over ["batch", 8] reads [#halftone.access<full>, #halftone.access<full>, #halftone.access<row>] writes [#halftone.access<row>]
  // CHECK: halftone.row_sum
  %e = halftone.mse %x, %x weighted %w : (!matrix, !matrix, !rows) -> !rows
  // CHECK: halftone.map "mse"(%[[X]], %[[X]], %[[X]]) : (
  // CHECK-NOT: halftone.row_sum
  // CHECK: halftone.yield
  %f = halftone.mse %x, %x weighted %x : (!matrix, !matrix, !matrix) -> !matrix
  halftone.loss "m", %m weight 1.0 : !scalar
}

// A convolution reads lines of its operand and of its taps, put side by side before; the present is its own element.
// CHECK-LABEL: halftone.graph "sequences"
halftone.graph "sequences" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, time, 8], f32>
  // CHECK: %[[W:.*]] = halftone.input "w"
  %w = halftone.input "w" : !halftone.tensor<[8, 2], f32>
  // CHECK: %[[B:.*]] = halftone.input "b"
  %b = halftone.input "b" : !vector
  // CHECK: %[[T:.*]] = halftone.map "taps"(%[[W]]) over [2, 8] reads [#halftone.access<general reads #[[TURNED]]>] writes [#halftone.access<full>] {halftone.internal, halftone.layer = "conv"}
  // CHECK: %[[Y:.*]] = halftone.map "causal_conv1d"(%[[T]], %[[X]], %[[T]], %[[X]], %[[B]]) over ["batch", "time", 8] reads [#halftone.access<general reads #[[TAP0]]>, #halftone.access<general reads #[[BEFORE]]>, #halftone.access<general reads #[[TAP1]]>, #halftone.access<full>, #halftone.access<column>] writes [#halftone.access<full>] {halftone.layer = "conv"}
  // CHECK-NEXT: ^bb0(%[[W0:[a-z0-9]+]]: f32, %[[X0:[a-z0-9]+]]: f32, %[[W1:[a-z0-9]+]]: f32, %[[X1:[a-z0-9]+]]: f32, %[[BIAS:[a-z0-9]+]]: f32):
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[S0:.*]] = math.fma %[[W0]], %[[X0]], %[[ZERO]] : f32
  // CHECK: %[[S1:.*]] = math.fma %[[W1]], %[[X1]], %[[S0]] : f32
  // CHECK: %[[R:.*]] = arith.addf %[[S1]], %[[BIAS]] : f32
  // CHECK-NEXT: halftone.yield %[[R]] : f32
  %y = halftone.causal_conv1d %x, %w bias %b {halftone.layer = "conv"}
      : (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[8, 2], f32>, !vector) -> !halftone.tensor<[batch, time, 8], f32>
  // CHECK: halftone.output "y", %[[Y]]
  halftone.output "y", %y : !halftone.tensor<[batch, time, 8], f32>
}

// Sums over the places of each image, then over the channels of a group, for each of them its group's.
// CHECK-LABEL: halftone.graph "images"
halftone.graph "images" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 6, 8], f32>
  %w = halftone.input "w" : !vector
  %s = halftone.input "s" : !matrix
  // CHECK: %[[SUM:.*]] = halftone.reduce "group_sum"(%[[X]]) reads [#halftone.access<full>] {halftone.internal, halftone.layer = "norm"} : (!halftone.tensor<[batch, 9, 6, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK: %[[CUT:.*]] = halftone.view %[[SUM]] {{.*}} -> !halftone.tensor<[batch, 2, 4], f32>
  // CHECK: %[[MEANS:.*]] = halftone.map "group_mean"(%[[CUT]]) over ["batch", 2, 4]
  // CHECK: halftone.row_sum
  // CHECK: halftone.count [9, 6, 4]
  // CHECK: %[[MEAN:.*]] = halftone.view %[[MEANS]] {{.*}} -> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.reduce "group_squares"(%[[X]], %[[MEAN]]) reads [#halftone.access<full>, #halftone.access<general reads #[[OFIMAGE:map[0-9]*]]>]
  // CHECK: %[[RSTDS:.*]] = halftone.map "group_rstd"
  // CHECK: %[[RSTD:.*]] = halftone.view %[[RSTDS]]
  // CHECK: halftone.map "group_norm"(%[[X]], %{{.*}}, %{{.*}}, %[[MEAN]], %[[RSTD]]) over ["batch", 9, 6, 8] reads [#halftone.access<full>, #halftone.access<column>, #halftone.access<column>, #halftone.access<general reads #[[OFIMAGE]]>, #halftone.access<general reads #[[OFIMAGE]]>]
  %y:3 = halftone.group_norm %x, %w, %w {epsilon = 1.0e-05 : f64, groups = 2 : i64, halftone.layer = "norm"}
      : (!halftone.tensor<[batch, 9, 6, 8], f32>, !vector, !vector) -> (!halftone.tensor<[batch, 9, 6, 8], f32>, !matrix, !matrix)
  // CHECK: halftone.map "expand"(%{{.*}}) over ["batch", 9, 6, 8] reads [#halftone.access<general reads #[[OFIMAGE]]>] writes [#halftone.access<full>] {halftone.layer = "wide"}
  %e = halftone.expand %s {halftone.layer = "wide"} : (!matrix) -> !halftone.tensor<[batch, 9, 6, 8], f32>
  halftone.output "y", %y#0 : !halftone.tensor<[batch, 9, 6, 8], f32>
  halftone.output "e", %e : !halftone.tensor<[batch, 9, 6, 8], f32>
}

// CHECK-LABEL: halftone.graph "slides"
halftone.graph "slides" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 6, 4], f32>
  // CHECK: %[[W:.*]] = halftone.input "w"
  %w = halftone.input "w" : !halftone.tensor<[8, 3, 2, 4], f32>
  %b = halftone.input "b" : !vector
  // CHECK: %[[HELD:.*]] = halftone.map "windows"(%[[X]]) over ["batch", 4, 5, 3, 2, 4] reads [#halftone.access<general reads #[[SLIDES]]>] writes [#halftone.access<full>] {halftone.internal, halftone.layer = "conv"}
  // CHECK: %[[MATRIX:.*]] = halftone.view %[[HELD]] {halftone.internal, halftone.layer = "conv"} : (!halftone.tensor<[batch, 4, 5, 3, 2, 4], f32>) -> !halftone.tensor<[batch, 4, 5, 24], f32>
  // CHECK: %[[ROWS:.*]] = halftone.view %[[W]] {{.*}} -> !halftone.tensor<[8, 24], f32>
  // CHECK: %[[SUM:.*]] = halftone.contract %[[MATRIX]], %[[ROWS]] {halftone.internal, halftone.layer = "conv", label = "convolution", pass = #halftone.pass<forward>, transpose_rhs}
  // CHECK: %[[Y:.*]] = halftone.map "convolution"(%[[SUM]], %{{.*}}) {halftone.layer = "conv"}
  %y = halftone.convolution %x, %w bias %b
      {dilation = array<i64: 1, 2>, halftone.layer = "conv", kernel = array<i64: 3, 2>, padding = array<i64: 1, 0, 0, 1>, stride = array<i64: 2, 1>}
      : (!halftone.tensor<[batch, 9, 6, 4], f32>, !halftone.tensor<[8, 3, 2, 4], f32>, !vector) -> !halftone.tensor<[batch, 4, 5, 8], f32>
  // Of single elements nothing moves.
  // CHECK: %[[POINTS:.*]] = halftone.view %{{.*}} -> !halftone.tensor<[8, 8], f32>
  // CHECK-NEXT: %[[Z:.*]] = halftone.contract %[[Y]], %[[POINTS]]
  %p = halftone.input "p" : !halftone.tensor<[8, 1, 1, 8], f32>
  %z = halftone.convolution %y, %p {halftone.layer = "point", kernel = array<i64: 1, 1>}
      : (!halftone.tensor<[batch, 4, 5, 8], f32>, !halftone.tensor<[8, 1, 1, 8], f32>) -> !halftone.tensor<[batch, 4, 5, 8], f32>
  // Where every channel is summed by itself a map reads a window's elements one after another.
  // CHECK: %[[TAPS:.*]] = halftone.map "transpose"{{.*}} -> !halftone.tensor<[2, 8], f32>
  // CHECK: %[[CHAIN:.*]] = halftone.map "depthwise"(%[[TAPS]], %[[Z]], %[[TAPS]], %[[Z]]) over ["batch", 4, 4, 8]
  // CHECK: %[[S0:.*]] = math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
  // CHECK: math.fma %{{.*}}, %{{.*}}, %[[S0]] : f32
  %d = halftone.input "d" : !halftone.tensor<[8, 1, 2, 1], f32>
  %u = halftone.convolution %z, %d {groups = 8 : i64, halftone.layer = "depth", kernel = array<i64: 1, 2>}
      : (!halftone.tensor<[batch, 4, 5, 8], f32>, !halftone.tensor<[8, 1, 2, 1], f32>) -> !halftone.tensor<[batch, 4, 4, 8], f32>
  // CHECK: halftone.output "u", %[[CHAIN]]
  halftone.output "u", %u : !halftone.tensor<[batch, 4, 4, 8], f32>
  // CHECK: halftone.output "z", %[[Z]]
  halftone.output "z", %z : !halftone.tensor<[batch, 4, 5, 8], f32>
}

// CHECK-LABEL: halftone.graph "slides_back"
halftone.graph "slides_back" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, 4, 6], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 3, 3], f32>
  // CHECK: %[[PARTS:.*]] = halftone.view %[[X]] {{.*}} -> !halftone.tensor<[batch, 4, 2, 3], f32>
  // CHECK: %[[HELD:.*]] = halftone.map "windows_of"(%[[PARTS]]) over [2, "batch", 9, 3, 3] reads [#halftone.access<general reads #[[RETURNS]] where #[[WHOLE]]>]
  // CHECK: %[[MATRIX:.*]] = halftone.view %[[HELD]] {{.*}} -> !halftone.tensor<[2, batch, 9, 9], f32>
  // CHECK: %[[ROWS:.*]] = halftone.view %{{.*}} -> !halftone.tensor<[2, 4, 9], f32>
  // CHECK: %[[SUM:.*]] = halftone.contract %[[MATRIX]], %[[ROWS]] {batch_axes = 1 : i64, {{.*}}transpose_rhs}
  // CHECK: %[[TURNED:.*]] = halftone.map "transpose"(%[[SUM]]) over ["batch", 9, 2, 4]
  // CHECK: %[[Y:.*]] = halftone.view %[[TURNED]] {{.*}} -> !halftone.tensor<[batch, 9, 8], f32>
  %y = halftone.transposed_convolution %x, %w
      {groups = 2 : i64, halftone.layer = "up", kernel = array<i64: 3>, padding = array<i64: 1, 0>, output_padding = array<i64: 1>, stride = array<i64: 2>}
      : (!halftone.tensor<[batch, 4, 6], f32>, !halftone.tensor<[8, 3, 3], f32>) -> !halftone.tensor<[batch, 9, 8], f32>
  // CHECK: halftone.output "y", %[[Y]]
  halftone.output "y", %y : !halftone.tensor<[batch, 9, 8], f32>
}

// A pool reads the elements of a window one by one, and asks of those alone whether they lie inside that do not everywhere.
// CHECK-LABEL: halftone.graph "pools"
halftone.graph "pools" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, 6, 8], f32>
  // CHECK: %[[P:.*]]:2 = halftone.map "pool"(%[[X]], %[[X]], %[[X]]) over ["batch", 3, 8] reads [#halftone.access<general reads #[[ELEMENT0]]>, #halftone.access<general reads #[[ELEMENT1]]>, #halftone.access<general reads #[[ELEMENT2]]>] writes [#halftone.access<full>, #halftone.access<full>] {halftone.layer = "largest", halftone.windows}
  // CHECK: arith.cmpf ogt
  // CHECK: arith.cmpf uno
  // CHECK: %[[WINDOW:.*]] = halftone.axis_index 1 : i32
  // CHECK: %[[INSIDE:.*]] = arith.cmpi sge, %[[WINDOW]], %{{.*}} : i32
  // CHECK: %[[TAKEN:.*]] = arith.andi %[[INSIDE]], %{{.*}} : i1
  // CHECK: arith.select %[[TAKEN]], %{{.*}}, %{{.*}} : f32
  // CHECK-NOT: arith.cmpi
  // CHECK: halftone.yield
  %y, %index = halftone.pool %x {function = "max", halftone.layer = "largest", kernel = array<i64: 3>, padding = array<i64: 1, 1>, stride = array<i64: 2>}
      : (!halftone.tensor<[batch, 6, 8], f32>) -> (!halftone.tensor<[batch, 3, 8], f32>, !halftone.tensor<[batch, 3, 8], f32>)
  // CHECK: halftone.output "y", %[[P]]#0
  halftone.output "y", %y : !halftone.tensor<[batch, 3, 8], f32>
  %s = halftone.input "s" : !sequence
  // CHECK: halftone.map "pool"(%{{.*}}, %{{.*}}) over ["batch", "time", 8] reads [#halftone.access<full>, #halftone.access<general reads #{{.*}}>]
  // CHECK: %[[TIMES:.*]] = halftone.count ["time"] : i32
  // CHECK: %[[BOUND:.*]] = arith.subi %[[TIMES]], %{{.*}} : i32
  // CHECK: arith.cmpi slt, %{{.*}}, %[[BOUND]] : i32
  // CHECK: %[[COUNT:.*]] = arith.sitofp %{{.*}} : i32 to f32
  // CHECK: arith.divf %{{.*}}, %[[COUNT]] : f32
  %z = halftone.pool %s {function = "average", kernel = array<i64: 2>, padding = array<i64: 0, 1>} : (!sequence) -> !sequence
  halftone.output "z", %z : !sequence
}

// Elements are repeated by one access; on lines they come from three, dimension by dimension, the last one first.
// The spectra of x and of its filter, their product, and what has that spectrum; one map of turns for both layers.
// CHECK-LABEL: halftone.graph "long_convolutions"
halftone.graph "long_convolutions" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, 11, 20], f32>
  // CHECK: %[[F:.*]] = halftone.input "f"
  %f = halftone.input "f" : !halftone.tensor<[11, 20], f32>
  // CHECK: %[[TURNS:.*]] = halftone.map "transform_turns"() over [2, 16] reads [] writes [#halftone.access<full>] {halftone.internal, halftone.layer = "long", halftone.transform_turns} : () -> !halftone.tensor<[2, 16], f32>
  // CHECK: %[[SX:.*]] = halftone.transform %[[X]] by %[[TURNS]] {halftone.internal, halftone.layer = "long"} : (!halftone.tensor<[batch, 11, 20], f32>, !halftone.tensor<[2, 16], f32>) -> !halftone.tensor<[batch, 2, 16, 2, 16], f32>
  // CHECK: %[[SF:.*]] = halftone.transform %[[F]] by %[[TURNS]] {{.*}} -> !halftone.tensor<[2, 16, 2, 16], f32>
  // CHECK: %[[P:.*]] = halftone.map "long_convolution"(%[[SX]], %[[SX]], %[[SF]], %[[SF]]) over ["batch", 2, 16, 2, 16] reads [#halftone.access<full>, #halftone.access<general reads #[[OTHER_PART]]>, #halftone.access<general reads #[[REAL]]>, #halftone.access<general reads #[[IMAGINARY]]>]
  // CHECK: math.fma
  // CHECK: %[[Y:.*]], %{{.*}} = halftone.inverse_transform %[[P]] by %[[TURNS]] {halftone.layer = "long"}
  %y = halftone.long_convolution %x, %f {halftone.layer = "long"} : (!halftone.tensor<[batch, 11, 20], f32>, !halftone.tensor<[11, 20], f32>) -> !halftone.tensor<[batch, 11, 20], f32>
  // CHECK-NOT: transform_turns
  // CHECK: halftone.transform %[[Y]] by %[[TURNS]]
  %z = halftone.long_convolution %y, %f : (!halftone.tensor<[batch, 11, 20], f32>, !halftone.tensor<[11, 20], f32>) -> !halftone.tensor<[batch, 11, 20], f32>
  // CHECK: halftone.output "z"
  halftone.output "z", %z : !halftone.tensor<[batch, 11, 20], f32>
}

// CHECK-LABEL: halftone.graph "upsamples"
halftone.graph "upsamples" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, 6, 8], f32>
  // CHECK: halftone.map "upsample"(%[[X]]) over ["batch", 12, 8] reads [#halftone.access<general reads #[[REPEATED]]>] writes [#halftone.access<full>] {halftone.layer = "up"}
  %y = halftone.upsample %x {factor = array<i64: 2>, halftone.layer = "up", mode = "nearest"} : (!halftone.tensor<[batch, 6, 8], f32>) -> !halftone.tensor<[batch, 12, 8], f32>
  halftone.output "y", %y : !halftone.tensor<[batch, 12, 8], f32>
  // CHECK: halftone.map "upsample"(%[[X]], %[[X]], %[[X]]) over ["batch", 12, 8] reads [#halftone.access<general reads #[[LEFT]]>, #halftone.access<general reads #[[REPEATED]]>, #halftone.access<general reads #[[RIGHT]]>]
  // CHECK: arith.remui
  // CHECK: math.fma
  %z = halftone.upsample %x {factor = array<i64: 2>, mode = "linear"} : (!halftone.tensor<[batch, 6, 8], f32>) -> !halftone.tensor<[batch, 12, 8], f32>
  halftone.output "z", %z : !halftone.tensor<[batch, 12, 8], f32>
  // CHECK: %[[PLANE:.*]] = halftone.input "plane"
  %plane = halftone.input "plane" : !halftone.tensor<[batch, 2, 3, 8], f32>
  // CHECK: %[[WIDE:.*]] = halftone.map "upsample"(%[[PLANE]], %[[PLANE]], %[[PLANE]]) over ["batch", 2, 9, 8] {{.*}}{halftone.internal}
  // CHECK: halftone.map "upsample"(%[[WIDE]], %[[WIDE]], %[[WIDE]]) over ["batch", 8, 9, 8]
  %w = halftone.upsample %plane {factor = array<i64: 4, 3>, mode = "linear"} : (!halftone.tensor<[batch, 2, 3, 8], f32>) -> !halftone.tensor<[batch, 8, 9, 8], f32>
  // CHECK: halftone.output "w"
  halftone.output "w", %w : !halftone.tensor<[batch, 8, 9, 8], f32>
}

// As many reads as the largest window has elements; of others the last does not count.
// CHECK-LABEL: halftone.graph "shares"
halftone.graph "shares" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, 5, 8], f32>
  // CHECK: halftone.map "adaptive_pool"(%[[X]], %[[X]], %[[X]]) over ["batch", 3, 8]
  // CHECK: arith.remui
  // CHECK: arith.divf
  %y = halftone.adaptive_pool %x {function = "average", size = array<i64: 3>} : (!halftone.tensor<[batch, 5, 8], f32>) -> !halftone.tensor<[batch, 3, 8], f32>
  halftone.output "y", %y : !halftone.tensor<[batch, 3, 8], f32>
  // CHECK: %[[LARGEST:.*]]:2 = halftone.map "adaptive_pool"(%[[X]]) over ["batch", 5, 8]
  // CHECK: halftone.output "z", %[[LARGEST]]#0
  %z, %index = halftone.adaptive_pool %x {function = "max", size = array<i64: 5>} : (!halftone.tensor<[batch, 5, 8], f32>) -> (!halftone.tensor<[batch, 5, 8], f32>, !halftone.tensor<[batch, 5, 8], f32>)
  halftone.output "z", %z : !halftone.tensor<[batch, 5, 8], f32>
}

// Zeros, or a value, are one access away; elements of x come from it by one or by three, dimension by dimension, the last one first.
// CHECK-LABEL: halftone.graph "pads"
halftone.graph "pads" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, 6, 5, 8], f32>
  // CHECK: halftone.map "pad"(%[[X]]) over ["batch", 4, 8, 8] reads [#halftone.access<general reads #[[CROPPED:map[0-9]*]]>] writes [#halftone.access<full>] {halftone.layer = "crop"}
  // CHECK-NOT: arith.select
  // CHECK: halftone.output "y"
  %y = halftone.pad %x {halftone.layer = "crop", mode = "constant", padding = array<i64: -1, 1, -1, 2>} : (!halftone.tensor<[batch, 6, 5, 8], f32>) -> !halftone.tensor<[batch, 4, 8, 8], f32>
  halftone.output "y", %y : !halftone.tensor<[batch, 4, 8, 8], f32>
  // CHECK: halftone.map "pad"(%[[X]]) over ["batch", 8, 5, 8]
  // CHECK: halftone.axis_index 1
  // CHECK: %[[VALUE:.*]] = arith.constant 5.000000e-01 : f32
  // CHECK-NEXT: arith.select %{{.*}}, %{{.*}}, %[[VALUE]] : f32
  %v = halftone.pad %x {mode = "constant", pad_value = 5.0e-01 : f64, padding = array<i64: 1, 0, 1, 0>} : (!halftone.tensor<[batch, 6, 5, 8], f32>) -> !halftone.tensor<[batch, 8, 5, 8], f32>
  halftone.output "v", %v : !halftone.tensor<[batch, 8, 5, 8], f32>
  // CHECK: %[[WIDE:.*]] = halftone.map "pad"(%[[X]]) over ["batch", 6, 9, 8] {{.*}}{halftone.internal}
  // CHECK: halftone.map "pad"(%[[WIDE]]) over ["batch", 7, 9, 8]
  %c = halftone.pad %x {mode = "circular", padding = array<i64: 1, 2, 0, 2>} : (!halftone.tensor<[batch, 6, 5, 8], f32>) -> !halftone.tensor<[batch, 7, 9, 8], f32>
  halftone.output "c", %c : !halftone.tensor<[batch, 7, 9, 8], f32>
  // CHECK: halftone.map "pad"(%[[X]], %[[X]], %[[X]]) over ["batch", 6, 7, 8]
  // CHECK: halftone.output "r"
  %r = halftone.pad %x {mode = "reflect", padding = array<i64: 2, 0>} : (!halftone.tensor<[batch, 6, 5, 8], f32>) -> !halftone.tensor<[batch, 6, 7, 8], f32>
  halftone.output "r", %r : !halftone.tensor<[batch, 6, 7, 8], f32>
}

// Blocks of places are dimensions on the way: one transposition between views.
// CHECK-LABEL: halftone.graph "shuffles"
halftone.graph "shuffles" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, 3, 4, 12], f32>
  // CHECK: %[[APART:.*]] = halftone.view %[[X]] {{.*}} -> !halftone.tensor<[batch, 3, 4, 2, 2, 3], f32>
  // CHECK: %[[SPREAD:.*]] = halftone.map "transpose"(%[[APART]]) over ["batch", 3, 2, 4, 3, 2]
  // CHECK: halftone.view %[[SPREAD]] {{.*}} -> !halftone.tensor<[batch, 6, 12, 2], f32>
  %y = halftone.pixel_shuffle %x {factor = array<i64: 2, 3>} : (!halftone.tensor<[batch, 3, 4, 12], f32>) -> !halftone.tensor<[batch, 6, 12, 2], f32>
  halftone.output "y", %y : !halftone.tensor<[batch, 6, 12, 2], f32>
  // CHECK: %[[BLOCKS:.*]] = halftone.view %[[X]] {{.*}} -> !halftone.tensor<[batch, 3, 2, 2, 12], f32>
  // CHECK: %[[COLLECTED:.*]] = halftone.map "transpose"(%[[BLOCKS]]) over ["batch", 3, 2, 12, 2]
  // CHECK: halftone.view %[[COLLECTED]] {{.*}} -> !halftone.tensor<[batch, 3, 2, 24], f32>
  %z = halftone.pixel_shuffle %x {factor = array<i64: 2>, inverse = true} : (!halftone.tensor<[batch, 3, 4, 12], f32>) -> !halftone.tensor<[batch, 3, 2, 24], f32>
  halftone.output "z", %z : !halftone.tensor<[batch, 3, 2, 24], f32>
}

// Sums into segments of each sequence; a mean divides by the sum of as many ones.
// CHECK-LABEL: halftone.graph "segments"
halftone.graph "segments" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !sequence
  // CHECK: %[[S:.*]] = halftone.input "s"
  %s = halftone.input "s" : !halftone.tensor<[batch, time], i32>
  // CHECK: halftone.segment_sum %[[S]], %[[X]] {halftone.layer = "sums"} : {{.*}} -> !halftone.tensor<[batch, 4, 8], f32>
  %y = halftone.segment_reduce %x by %s {function = "sum", halftone.layer = "sums", segments = 4 : i64} : (!sequence, !halftone.tensor<[batch, time], i32>) -> !halftone.tensor<[batch, 4, 8], f32>
  halftone.output "y", %y : !halftone.tensor<[batch, 4, 8], f32>
  // CHECK: %[[SUMS:.*]] = halftone.segment_sum %[[S]], %[[X]]
  // CHECK: %[[ONES:.*]] = halftone.map "ones"() {{.*}} -> !halftone.tensor<[batch, time, 1], f32>
  // CHECK: %[[COUNTS:.*]] = halftone.segment_sum %[[S]], %[[ONES]]
  // CHECK: %[[COUNT:.*]] = halftone.view %[[COUNTS]]
  // CHECK: halftone.map "segment_mean"(%[[SUMS]], %[[COUNT]]) over ["batch", 4, 8] reads [#halftone.access<full>, #halftone.access<row>]
  // CHECK: arith.divf
  // CHECK: arith.select
  %m, %count = halftone.segment_reduce %x by %s {function = "mean", segments = 4 : i64} : (!sequence, !halftone.tensor<[batch, time], i32>) -> (!halftone.tensor<[batch, 4, 8], f32>, !halftone.tensor<[batch, 4], f32>)
  halftone.output "m", %m : !halftone.tensor<[batch, 4, 8], f32>
  // Of a maximum also the first time that has it: the largest of those times' numbers, which have no sign.
  // CHECK: %[[LARGEST:.*]] = halftone.segment_max %[[S]], %[[X]]
  // CHECK: halftone.map "segment_max_read"(%[[LARGEST]], %[[S]])
  // CHECK: %[[TIMES:.*]] = halftone.map "segment_times"(%[[X]], %{{.*}})
  // CHECK: %[[LAST:.*]] = halftone.segment_max %[[S]], %[[TIMES]]
  // CHECK: halftone.map "segment_time"(%[[LAST]])
  %largest, %which = halftone.segment_reduce %x by %s {function = "max", segments = 4 : i64} : (!sequence, !halftone.tensor<[batch, time], i32>) -> (!halftone.tensor<[batch, 4, 8], f32>, !halftone.tensor<[batch, 4, 8], f32>)
  halftone.output "largest", %largest : !halftone.tensor<[batch, 4, 8], f32>
  halftone.output "which", %which : !halftone.tensor<[batch, 4, 8], f32>
  // CHECK: halftone.map "segment_broadcast"(%{{.*}}, %[[S]]) over ["batch", "time", 8] reads [#halftone.access<general reads #{{.*}} through[1]>, #halftone.access<row>]
  %b = halftone.segment_broadcast %y by %s : (!halftone.tensor<[batch, 4, 8], f32>, !halftone.tensor<[batch, time], i32>) -> !sequence
  halftone.output "b", %b : !sequence
}

// CHECK-LABEL: halftone.graph "elements"
halftone.graph "elements" {
  %x = halftone.input "x" : !matrix
  // CHECK: halftone.map "relu"(%{{.*}}) {halftone.inline} : (
  // CHECK: arith.cmpf uno
  %a = halftone.relu %x {halftone.inline} : (!matrix) -> !matrix
  // CHECK: halftone.map "gelu"(%{{.*}}) : (
  // CHECK: halftone.recipe gelu_erf %
  %b = halftone.gelu %a {approximation = "erf"} : (!matrix) -> !matrix
  // CHECK: halftone.map "gelu"(%{{.*}}) : (
  // CHECK: halftone.recipe gelu_tanh %
  %c = halftone.gelu %b {approximation = "tanh"} : (!matrix) -> !matrix
  // CHECK: halftone.map "silu"
  // CHECK: halftone.recipe silu %{{.*}} {narrow}
  %d = halftone.silu %c {narrow} : (!matrix) -> !matrix
  // CHECK: halftone.map "softmax"
  // CHECK: ^bb0(%[[X:[a-z0-9]+]]: f32):
  // CHECK: %[[MAX:.*]] = halftone.row_max %[[X]]
  // CHECK: %[[BELOW:.*]] = arith.subf %[[X]], %[[MAX]]
  // CHECK: %[[E:.*]] = math.exp %[[BELOW]]
  // CHECK: %[[SUM:.*]] = halftone.row_sum %[[E]]
  // CHECK: %[[R:.*]] = arith.divf %{{.*}}, %[[SUM]]
  // CHECK: %[[Y:.*]] = arith.mulf %[[E]], %[[R]]
  // CHECK: yield %[[Y]]
  %softmax = halftone.softmax %d : (!matrix) -> !matrix
  // CHECK: halftone.map "softmax"
  // CHECK: %[[BELOW:.*]] = arith.subf
  // CHECK: %[[SUM:.*]] = halftone.row_sum
  // CHECK: %[[LOG:.*]] = math.log %[[SUM]]
  // CHECK: arith.subf %[[BELOW]], %[[LOG]]
  %log_softmax = halftone.softmax %softmax {log = true} : (!matrix) -> !matrix
  // CHECK: halftone.map "standardize"(%{{.*}}, %[[MOMENT:.*]], %[[MOMENT]]) : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>,
  // CHECK: ^bb0(%[[X:[a-z0-9]+]]: f32, %[[MEAN:[a-z0-9]+]]: f32, %[[DEVIATION:[a-z0-9]+]]: f32):
  // CHECK: %[[D:.*]] = arith.subf %[[X]], %[[MEAN]]
  // CHECK: arith.divf %[[D]], %[[DEVIATION]]
  %moment = halftone.state "moment" {initial = 1.0 : f64} : !vector
  %standard = halftone.standardize %log_softmax, %moment, %moment : (!matrix, !vector, !vector) -> !matrix
  // CHECK: halftone.map "add"
  // CHECK: arith.addf
  %e = halftone.add %standard, %a : (!matrix, !matrix) -> !matrix
  // CHECK: halftone.map "concat"(%{{.*}}, %{{.*}}) over ["batch", 16] reads [#halftone.access<window>, #halftone.access<window, -8>] writes [#halftone.access<full>]
  // CHECK: halftone.column_index
  %f = halftone.concat %d, %e : (!matrix, !matrix) -> !halftone.tensor<[batch, 16], f32>
  // CHECK: halftone.map "slice"(%{{.*}}) over ["batch", 5] reads [#halftone.access<window, 3>] writes [#halftone.access<full>]
  %columns = halftone.slice %f {begin = 3 : i64, end = 8 : i64} : (!halftone.tensor<[batch, 16], f32>) -> !halftone.tensor<[batch, 5], f32>
  // CHECK: halftone.map "double"
  // CHECK: arith.addf
  %g = halftone.pointwise "double" (%e) : (!matrix) -> !matrix {
  ^bb0(%p: f32):
    %q = arith.addf %p, %p : f32
    halftone.yield %q : f32
  }
  // CHECK: halftone.map "mse"
  // CHECK: arith.subf
  // CHECK: arith.mulf
  %h = halftone.mse %g, %x : (!matrix, !matrix) -> !matrix
  // CHECK: halftone.map "size"
  // CHECK: math.absf
  %i = halftone.pointwise_loss "size" (%h) : (!matrix) -> !matrix {
  ^bb0(%p: f32):
    %q = math.absf %p : f32
    halftone.yield %q : f32
  }
}

// Reshape is a view, and so is a transpose that moves only extents of 1; any other reads by a permutation of the result's axes.
// CHECK-LABEL: halftone.graph "axes"
halftone.graph "axes" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !halftone.tensor<[batch, time, 8], f32>
  // CHECK: %[[HEADS:.*]] = halftone.view %[[X]] {halftone.layer = "heads", halftone.values = array<i64: 2>} : (!halftone.tensor<[batch, time, 8], f32>) -> !halftone.tensor<[batch, time, 1, 2, 4], f32>
  %heads = halftone.reshape %x {halftone.layer = "heads", halftone.values = array<i64: 2>}
      : (!halftone.tensor<[batch, time, 8], f32>) -> !halftone.tensor<[batch, time, 1, 2, 4], f32>
  // CHECK: %[[MOVED:.*]] = halftone.view %[[HEADS]] {halftone.layer = "moved"} : {{.*}}-> !halftone.tensor<[1, batch, time, 2, 4], f32>
  %moved = halftone.transpose %heads {axes = array<i64: 2, 0, 1, 3, 4>, halftone.layer = "moved"}
      : (!halftone.tensor<[batch, time, 1, 2, 4], f32>) -> !halftone.tensor<[1, batch, time, 2, 4], f32>
  // CHECK: halftone.map "transpose"(%[[MOVED]]) over [4, 1, "batch", 2, "time"] reads [#halftone.access<general reads #[[PERMUTED]]>] writes [#halftone.access<full>] {halftone.layer = "all"} : {{.*}} {
  // CHECK-NEXT: ^bb0(%[[A:[a-z0-9]+]]: f32):
  // CHECK-NEXT: halftone.yield %[[A]] : f32
  %all = halftone.transpose %moved {axes = array<i64: 4, 0, 1, 3, 2>, halftone.layer = "all"}
      : (!halftone.tensor<[1, batch, time, 2, 4], f32>) -> !halftone.tensor<[4, 1, batch, 2, time], f32>
}

// D64 to D66: cosines and sines are computed once for equal frequencies and positions; an element reads its partner on either side.
// CHECK-LABEL: halftone.graph "positions"
halftone.graph "positions" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !sequence
  // CHECK: %[[P:.*]] = halftone.input "p"
  %p = halftone.input "p" : !halftone.tensor<[batch, time], i32>
  // CHECK: %[[W:.*]] = halftone.input "w"
  %w = halftone.input "w" : !rows_of_times
  // CHECK: %[[T:.*]]:2 = halftone.map "turns"() over ["time", 2] reads [] writes [#halftone.access<full>, #halftone.access<full>] {halftone.frequencies = {{.*}}, halftone.internal, halftone.layer = "a"}
  // CHECK: halftone.column_index
  // The exponent in two parts: 2 ln(10000) / 4, and what f32 leaves of it.
  // CHECK: %[[HIGH:.*]] = arith.constant 4.60517025 : f32
  // CHECK: %[[LOW:.*]] = arith.constant -6.39508712E-8 : f32
  // CHECK: arith.mulf %{{.*}}, %[[HIGH]]
  // CHECK: math.fma %{{.*}}, %[[HIGH]]
  // CHECK: math.fma %{{.*}}, %[[LOW]]
  // CHECK: %[[EXP:.*]] = math.exp
  // CHECK: %[[F:.*]] = math.fma %{{.*}}, %[[EXP]], %[[EXP]]
  // CHECK-NOT: arith.divf
  // CHECK: halftone.axis_index 0
  // CHECK: %[[ANGLE:.*]] = arith.mulf %{{.*}}, %[[F]]
  // CHECK: math.cos %[[ANGLE]]
  // CHECK: math.sin %[[ANGLE]]
  // CHECK: %[[A:.*]] = halftone.map "rotary"(%[[X]], %[[X]], %[[X]], %[[T]]#0, %[[T]]#1) over ["batch", "time", 8] reads [#halftone.access<full>, #halftone.access<window, 2>, #halftone.access<window, -2>, #halftone.access<general reads #[[PAIR]]>, #halftone.access<general reads #[[PAIR]]>] writes [#halftone.access<full>] {halftone.layer = "a"}
  %a:3 = halftone.rotary %x {heads = 2 : i64, base = 1.0e4 : f64, interleaved = false, factor = 1.0 : f64, halftone.layer = "a"}
      : (!sequence) -> (!sequence, !turns, !turns)
  // CHECK-NOT: "turns"
  // CHECK: %[[B:.*]] = halftone.map "rotary"(%[[A]], %[[A]], %[[A]], %[[T]]#0, %[[T]]#1)
  %b:3 = halftone.rotary %a#0 {heads = 2 : i64, base = 1.0e4 : f64, interleaved = false, factor = 1.0 : f64, halftone.layer = "b"}
      : (!sequence) -> (!sequence, !turns, !turns)
  // CHECK: %[[U:.*]]:2 = halftone.map "turns"(%[[P]]) over ["batch", "time", 2] reads [#halftone.access<row>]
  // CHECK: halftone.map "rotary"(%[[B]], %[[B]], %[[B]], %[[U]]#0, %[[U]]#1) over ["batch", "time", 8] reads [#halftone.access<full>, #halftone.access<window, 1>, #halftone.access<window, -1>, #halftone.access<general reads #[[PLACED]]>, #halftone.access<general reads #[[PLACED]]>]
  // Elements from 4 on stay.
  // CHECK: %[[FOUR:.*]] = arith.constant 4 : i32
  // CHECK: %[[TURNED:.*]] = arith.cmpi ult, %{{.*}}, %[[FOUR]]
  // CHECK: arith.select %[[TURNED]]
  %c:3 = halftone.rotary %b#0 at %p {heads = 1 : i64, base = 1.0e4 : f64, interleaved = true, factor = 2.0 : f64, rotated = 4 : i64}
      : (!sequence, !halftone.tensor<[batch, time], i32>) -> (!sequence, !placed, !placed)
  // CHECK: halftone.map "position_embedding"(%{{.*}}, %[[W]]) over ["batch", "time", 8] reads [#halftone.access<full>, #halftone.access<general reads #[[TIME]]>]
  // CHECK: %[[AT:.*]] = halftone.axis_index 1
  // CHECK: arith.cmpi ult, %[[AT]]
  %d = halftone.position_embedding %c#0, %w : (!sequence, !rows_of_times) -> !sequence
  // CHECK: %[[V:.*]]:2 = halftone.map "turns"() over ["time", 4]
  // CHECK: halftone.map "sinusoidal_embedding"(%{{.*}}, %[[V]]#0, %[[V]]#1) over ["batch", "time", 8] reads [#halftone.access<full>, #halftone.access<general reads #[[WAVE]]>, #halftone.access<general reads #[[WAVE]]>]
  %e = halftone.sinusoidal_embedding %d {base = 1.0e4 : f64} : (!sequence) -> !sequence
  halftone.output "e", %e : !sequence
}

// D35: all layers draw by one operation's counters.
// CHECK-LABEL: halftone.graph "draws"
halftone.graph "draws" {
  // CHECK-NEXT: %[[LOW:.*]], %[[HIGH:.*]], %[[STEP:.*]], %[[MICRO:.*]] = halftone.counters
  // CHECK-NEXT: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !matrix
  // CHECK-NEXT: %[[A:.*]] = halftone.map "dropout"(%[[X]], %[[LOW]], %[[HIGH]], %[[STEP]], %[[MICRO]]) {halftone.layer = "drop"} : (
  // CHECK-NEXT: ^bb0(%[[E:[a-z0-9]+]]: f32, %[[L:[a-z0-9]+]]: i32, %[[H:[a-z0-9]+]]: i32, %[[S:[a-z0-9]+]]: i32, %[[M:[a-z0-9]+]]: i32):
  // CHECK-NEXT: %[[DRAW:.*]] = halftone.draw "drop" by %[[L]], %[[H]], %[[S]], %[[M]] : i32
  // The quarter of 2^32, and 1 / (1 - 1/4) in f32.
  // CHECK: %[[T:.*]] = arith.constant 1073741824 : i32
  // CHECK: %[[DROPPED:.*]] = arith.cmpi ult, %[[DRAW]], %[[T]] : i32
  // CHECK: %[[SCALE:.*]] = arith.constant 1.33333337 : f32
  // CHECK: %[[KEPT:.*]] = arith.mulf %[[E]], %[[SCALE]] : f32
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[R:.*]] = arith.select %[[DROPPED]], %[[ZERO]], %[[KEPT]] : f32
  // CHECK: halftone.yield %[[R]] : f32
  %a = halftone.dropout %x {rate = 0.25 : f64, halftone.layer = "drop"} : (!matrix) -> !matrix
  // CHECK: halftone.map "dropout"(%[[A]], %[[LOW]], %[[HIGH]], %[[STEP]], %[[MICRO]])
  // CHECK-NOT: halftone.counters
  %b = halftone.dropout %a {rate = 0.5 : f64, halftone.layer = "again"} : (!matrix) -> !matrix
  halftone.output "b", %b : !matrix
}

// A predictor draws nothing.
// CHECK-LABEL: halftone.graph "inference"
halftone.graph "inference" {
  // CHECK-NEXT: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" : !matrix
  %a = halftone.dropout %x {rate = 0.25 : f64, halftone.layer = "drop"} : (!matrix) -> !matrix
  // CHECK-NEXT: halftone.output "a", %[[X]]
  halftone.output "a", %a : !matrix
}

// P39: internal values are rounded in the map that computes them, or that goes on with a product. Without a bias a product that is
// rounded wants a map of its own.
// CHECK-LABEL: halftone.graph "rounded_inside"
halftone.graph "rounded_inside" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !weight
  %v = halftone.input "v" : !vector
  // CHECK: halftone.contract %{{.*}} {halftone.internal, halftone.layer = "fc",
  // CHECK: halftone.map "linear"
  // CHECK-NEXT: ^bb0(%[[SUM:[a-z0-9]+]]: f32, %[[BIAS:[a-z0-9]+]]: f32):
  // CHECK-NEXT: %[[NARROW:.*]] = arith.truncf %[[SUM]] : f32 to f16
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[NARROW]] : f16 to f32
  // CHECK-NEXT: arith.addf %[[WIDE]], %[[BIAS]] : f32
  %a = halftone.linear %x, %w bias %v {halftone.layer = "fc", halftone.rounded_inside = {product = #halftone.encoding<f16>}}
      : (!matrix, !weight, !vector) -> !matrix
  // CHECK: halftone.contract %{{.*}} {halftone.internal, halftone.layer = "bare",
  // CHECK: halftone.map "linear"(%{{[0-9]+}})
  // CHECK-NEXT: ^bb0(%[[SUM:[a-z0-9]+]]: f32):
  // CHECK-NEXT: %[[NARROW:.*]] = arith.truncf %[[SUM]] toward_zero : f32 to tf32
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[NARROW]] : tf32 to f32
  // CHECK-NEXT: halftone.yield %[[WIDE]] : f32
  %b = halftone.linear %a, %w {halftone.layer = "bare", halftone.rounded_inside = {product = #halftone.encoding<tf32 toward_zero>}}
      : (!matrix, !weight) -> !matrix
  // CHECK: halftone.map "layer_norm"
  // CHECK: math.sqrt
  // CHECK: %[[H:.*]] = arith.mulf
  // CHECK-NEXT: %[[NARROW:.*]] = arith.truncf %[[H]] : f32 to bf16
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[NARROW]] : bf16 to f32
  // CHECK-NEXT: math.fma %[[WIDE]],
  %n, %mean, %rstd = halftone.layer_norm %b, %v, %v {epsilon = 1.0e-5 : f64, halftone.rounded_inside = {normalized = #halftone.encoding<bf16>}}
      : (!matrix, !vector, !vector) -> (!matrix, !rows, !rows)
  halftone.output "n", %n : !matrix
}

// A gather through the token, which is read once a row; NaN where it names no row.
// CHECK-LABEL: halftone.graph "gathers"
halftone.graph "gathers" {
  // CHECK: %[[T:.*]] = halftone.input "token"
  %token = halftone.input "token" : !halftone.tensor<[batch, 3], i32>
  // CHECK: %[[W:.*]] = halftone.input "w"
  %w = halftone.input "w" : !halftone.tensor<[37, 12], f32>
  // CHECK: %[[Y:.*]] = halftone.map "embedding"(%[[T]], %[[W]]) over ["batch", 3, 12] reads [#halftone.access<row>, #halftone.access<general reads #[[GATHER]] through[0]>] writes [#halftone.access<full>] {halftone.layer = "embed"}
  // CHECK-NEXT: ^bb0(%[[TOKEN:[a-z0-9]+]]: i32, %[[ROW:[a-z0-9]+]]: f32):
  // CHECK-NEXT: %[[ROWS:.*]] = arith.constant 37 : i32
  // CHECK-NEXT: %[[IS:.*]] = arith.cmpi ult, %[[TOKEN]], %[[ROWS]] : i32
  // CHECK-NEXT: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
  // CHECK-NEXT: %[[R:.*]] = arith.select %[[IS]], %[[ROW]], %[[NAN]] : f32
  // CHECK-NEXT: halftone.yield %[[R]] : f32
  %y = halftone.embedding %token, %w {halftone.layer = "embed", padding_index = 3 : i64}
      : (!halftone.tensor<[batch, 3], i32>, !halftone.tensor<[37, 12], f32>) -> !halftone.tensor<[batch, 3, 12], f32>
  halftone.output "y", %y : !halftone.tensor<[batch, 3, 12], f32>
}
