// SPDX-License-Identifier: Apache-2.0
// N10: an operation is narrow when its own result is first rounded to f16 or bf16, to the nearest.
// RUN: halftone-opt --halftone-choose-grades -split-input-file %s | FileCheck %s

!matrix = !halftone.tensor<[batch, 8], f32>
#exact = #halftone.round<encoding = f32, role = activation>
#bf16 = #halftone.round<encoding = bf16, role = activation, rule = 0>
#f16 = #halftone.round<encoding = f16, role = activation, rule = 0>
#tf32 = #halftone.round<encoding = tf32, role = activation, rule = 0>
#f16_down = #halftone.round<encoding = f16 toward_zero, role = activation, rule = 0>

// CHECK-LABEL: halftone.graph "layers"
halftone.graph "layers" {
  %x = halftone.input "x" : !matrix
  // CHECK: halftone.gelu %{{.*}} {{{.*}}, narrow}
  %bf16 = halftone.gelu %x {approximation = "erf", halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#exact, #bf16]]>} : (!matrix) -> !matrix
  // CHECK: halftone.silu %{{.*}} {{{.*}}, narrow}
  %f16 = halftone.silu %x {halftone.precision = #halftone.precision<operands = [[#bf16]], results = [[#f16]]>} : (!matrix) -> !matrix
  // What the operand is rounded to does not matter, nor what a reader rounds to.
  // CHECK-NOT: narrow
  %read = halftone.gelu %f16 {approximation = "erf", halftone.precision = #halftone.precision<operands = [[#bf16]], results = [[#exact]]>} : (!matrix) -> !matrix
  %tf32 = halftone.gelu %x {approximation = "erf", halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#tf32, #bf16]]>} : (!matrix) -> !matrix
  %down = halftone.silu %x {halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#f16_down]]>} : (!matrix) -> !matrix
  %unasked = halftone.silu %x : (!matrix) -> !matrix
  halftone.output "y", %unasked : !matrix
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
#exact = #halftone.round<encoding = f32, role = activation>
#bf16 = #halftone.round<encoding = bf16, role = activation, rule = 0>
#gradient = #halftone.round<encoding = bf16, role = gradient, rule = 0>

// CHECK-LABEL: halftone.graph "pointwise"
halftone.graph "pointwise" {
  %x = halftone.input "x" : !matrix
  // The last instruction alone: the first one is read by another, too.
  // CHECK: math.tanh
  // CHECK: halftone.recipe sigmoid %{{.*}} {narrow} : f32
  // CHECK-NEXT: halftone.yield
  %last = halftone.pointwise "last" (%x) {halftone.phase = #halftone.phase<forward>, halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#bf16]]>} : (!matrix) -> !matrix {
  ^bb0(%a: f32):
    %t = math.tanh %a : f32
    %s = halftone.sigmoid %t : f32
    halftone.yield %s : f32
  }
  // CHECK: math.exp
  // CHECK-NOT: narrow
  %not_last = halftone.pointwise "not last" (%x) {halftone.phase = #halftone.phase<forward>, halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#bf16]]>} : (!matrix) -> !matrix {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    %r = arith.addf %e, %e : f32
    halftone.yield %r : f32
  }
  // CHECK: math.tanh
  // CHECK-NOT: narrow
  %long = halftone.pointwise "long" (%x) {halftone.phase = #halftone.phase<forward>, halftone.precision = #halftone.precision<operands = [[#bf16]], results = [[#exact]]>} : (!matrix) -> !matrix {
  ^bb0(%a: f32):
    %t = math.tanh %a : f32
    halftone.yield %t : f32
  }
  // A gradient's derivative, which the arriving gradient multiplies.
  // CHECK: halftone.recipe gelu_erf_derivative %{{.*}} {narrow} : f32
  %narrow = halftone.map "gelu_grad" (%x, %last) {halftone.phase = #halftone.phase<backward>, halftone.precision = #halftone.precision<operands = [[#bf16], [#bf16]], results = [[#gradient]]>} : (!matrix, !matrix) -> !matrix {
  ^bb0(%a: f32, %g: f32):
    %d = halftone.recipe gelu_erf_derivative %a : f32
    %r = arith.mulf %g, %d : f32
    halftone.yield %r : f32
  }
  // CHECK: halftone.recipe gelu_erf_derivative %{{[a-z0-9]*}} : f32
  %full = halftone.map "gelu_grad" (%x, %last) {halftone.phase = #halftone.phase<backward>, halftone.precision = #halftone.precision<operands = [[#bf16], [#bf16]], results = [[#exact]]>} : (!matrix, !matrix) -> !matrix {
  ^bb0(%a: f32, %g: f32):
    %d = halftone.recipe gelu_erf_derivative %a : f32
    %r = arith.mulf %g, %d : f32
    halftone.yield %r : f32
  }
  halftone.output "y", %last : !matrix
}
