// Kernels without a CUDA text, and why.
// RUN: cuda_text --verify %s
halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{name 'ln/1' is not made of letters, digits and underscores}}
  %r = halftone.kernel "ln/1" pointwise over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{cuda_tile fits no launch of its skeleton}}
  %r = halftone.kernel "x" pointwise over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, cuda_tile = array<i64: 100>} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }
}

// -----

// The sums of a block's chunks fit into its memory.
#column = #halftone.access<column>
!columns = !halftone.tensor<[8], f32>
halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{cuda_tile fits no launch of its skeleton}}
  %r:13 = halftone.kernel "x" column over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>] ->
      [#column, #column, #column, #column, #column, #column, #column, #column, #column, #column, #column, #column, #column] fused []
      {resultSegmentSizes = array<i32: 13, 0>, cuda_tile = array<i64: 32, 32>} : (!halftone.tensor<[batch, 8], f32>) ->
      (!columns, !columns, !columns, !columns, !columns, !columns, !columns, !columns, !columns, !columns, !columns, !columns, !columns) {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[time, 8], f32>
  // expected-error @+1 {{symbol 'time' is none of the model's}}
  %r = halftone.kernel "x" pointwise over ["time", 8] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[time, 8], f32>) -> !halftone.tensor<[time, 8], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f16>
  // expected-error @+1 {{but enters the body as}}
  %r = halftone.kernel "x" pointwise over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 8], f16>) -> !halftone.tensor<[batch, 8], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f16>
  // expected-error @+1 {{result 0 holds}}
  %r = halftone.kernel "x" pointwise over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 8], f16>) -> !halftone.tensor<[batch, 8], f32> {
    ^bb0(%a: f16):
      halftone.kernel_yield stores %a : f16
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f16>
  %r = halftone.kernel "x" pointwise over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 8], f16>) -> !halftone.tensor<[batch, 8], f16> {
    ^bb0(%a: f16):
      // expected-error @+1 {{widen with arith.extf, compute in f32 and round with arith.truncf}}
      %b = arith.addf %a, %a : f16
      halftone.kernel_yield stores %b : f16
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], tf32>
  %r = halftone.kernel "x" pointwise over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 8], tf32>) -> !halftone.tensor<[batch, 8], tf32> {
    ^bb0(%a: tf32):
      // expected-error @+1 {{widen with arith.extf, compute in f32 and round with arith.truncf}}
      %b = arith.negf %a : tf32
      halftone.kernel_yield stores %b : tf32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f32>
  %r = halftone.kernel "x" pointwise over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f16> {
    ^bb0(%a: f32):
      // expected-error @+1 {{has no CUDA text}}
      %b = arith.truncf %a upward : f32 to f16
      halftone.kernel_yield stores %b : f16
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f16>
  %r = halftone.kernel "x" pointwise over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 8], f16>) -> !halftone.tensor<[batch, 8], bf16> {
    ^bb0(%a: f16):
      // expected-error @+1 {{has no CUDA text}}
      %b = arith.extf %a : f16 to f64
      %c = arith.truncf %b : f64 to bf16
      halftone.kernel_yield stores %c : bf16
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f16>
  // expected-error @+1 {{sums are f32 and are rounded by the kernel that reads them}}
  %r = halftone.kernel "x" column over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<column>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 8], f16>) -> !halftone.tensor<[8], f16> {
    ^bb0(%a: f16):
      halftone.kernel_yield stores %a : f16
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{result 0 has an access that a pointwise kernel cannot store}}
  %r = halftone.kernel "x" pointwise over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<row>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{argument 0 is not the same in the whole row}}
  %r = halftone.kernel "x" row over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<row>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 2000000], f32>
  // expected-error @+1 {{has rows of 2000000 columns, more than a row kernel can hold}}
  %r = halftone.kernel "x" row over ["batch", 2000000] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 2000000], f32>) -> !halftone.tensor<[batch, 2000000], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{a flat kernel wants a finish}}
  %r = halftone.kernel "x" flat over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f32>
  %r = halftone.kernel "x" pointwise over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32> {
    ^bb0(%a: f32):
      // expected-error @+1 {{has no CUDA text; Regions.cpp and Casts.cpp list the operations that kernels may contain}}
      %e = math.exp %a : f32
      halftone.kernel_yield stores %e : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 8], f32>
  %r = halftone.kernel "x" row over ["batch", 8] reduce [] (%i0) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32> {
    ^bb0(%a: f32):
      // expected-error @+1 {{means nothing in this skeleton}}
      %e = halftone.lhs_sum : f32
      halftone.kernel_yield stores %e : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 64], f16>
  %i1 = halftone.input "i1" : !halftone.tensor<[64, 64], f16>
  // expected-error @+1 {{has a tensor plan that tensor_contraction cannot run; leave it to halftone-plan-tiles}}
  %r = halftone.kernel "x" contraction over ["batch", 64] reduce [64] (%i0, %i1) accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, cuda_plans = [#halftone.chip<"sm_80", [#halftone.plan<tensor, [64, 64, 32, 32, 32, 3, 16] splits 1 least 1 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[64, 64], f16>) -> !halftone.tensor<[batch, 64], f32> {
    ^bb0(%s: f32):
      halftone.kernel_yield stores %s : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 64], f16>
  %i1 = halftone.input "i1" : !halftone.tensor<[64, 64], f16>
  // expected-error @+1 {{has a tensor plan that tensor_contraction cannot run; leave it to halftone-plan-tiles}}
  %r = halftone.kernel "x" contraction over ["batch", 64] reduce [64] (%i0, %i1) accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, cuda_plans = [#halftone.chip<"sm_80", [#halftone.plan<tensor, [96, 64, 32, 32, 32, 3, 16, 16] splits 1 least 1 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[64, 64], f16>) -> !halftone.tensor<[batch, 64], f32> {
    ^bb0(%s: f32):
      halftone.kernel_yield stores %s : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 64], f16>
  %i1 = halftone.input "i1" : !halftone.tensor<[64, 64], f16>
  // expected-error @+1 {{has a tensor plan that tensor_contraction cannot run; leave it to halftone-plan-tiles}}
  %r = halftone.kernel "x" contraction over ["batch", 64] reduce [64] (%i0, %i1) accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, cuda_plans = [#halftone.chip<"sm_80", [#halftone.plan<tensor, [64, 64, 32, 8, 32, 3, 16, 16] splits 1 least 1 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[64, 64], f16>) -> !halftone.tensor<[batch, 64], f32> {
    ^bb0(%s: f32):
      halftone.kernel_yield stores %s : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 64], f16>
  %i1 = halftone.input "i1" : !halftone.tensor<[64, 64], f16>
  // expected-error @+1 {{has a tensor plan that tensor_contraction cannot run; leave it to halftone-plan-tiles}}
  %r = halftone.kernel "x" contraction over ["batch", 64] reduce [64] (%i0, %i1) accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, cuda_plans = [#halftone.chip<"sm_80", [#halftone.plan<tensor, [64, 64, 32, 64, 64, 3, 16, 16] splits 1 least 1 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[64, 64], f16>) -> !halftone.tensor<[batch, 64], f32> {
    ^bb0(%s: f32):
      halftone.kernel_yield stores %s : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 64], f16>
  %i1 = halftone.input "i1" : !halftone.tensor<[64, 64], f16>
  // expected-error @+1 {{has a tensor plan that tensor_contraction cannot run; leave it to halftone-plan-tiles}}
  %r = halftone.kernel "x" contraction over ["batch", 64] reduce [64] (%i0, %i1) accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, cuda_plans = [#halftone.chip<"sm_80", [#halftone.plan<tensor, [64, 64, 256, 32, 32, 3, 16, 16] splits 1 least 1 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[64, 64], f16>) -> !halftone.tensor<[batch, 64], f32> {
    ^bb0(%s: f32):
      halftone.kernel_yield stores %s : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 64], f16>
  %i1 = halftone.input "i1" : !halftone.tensor<[64, 64], f16>
  // expected-error @+1 {{has a tensor plan that tensor_contraction cannot run; leave it to halftone-plan-tiles}}
  %r = halftone.kernel "x" contraction over ["batch", 64] reduce [64] (%i0, %i1) accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, cuda_plans = [#halftone.chip<"sm_80", [#halftone.plan<tensor, [64, 64, 32, 32, 32, 1, 16, 16] splits 1 least 1 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[64, 64], f16>) -> !halftone.tensor<[batch, 64], f32> {
    ^bb0(%s: f32):
      halftone.kernel_yield stores %s : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 64], f16>
  %i1 = halftone.input "i1" : !halftone.tensor<[64, 64], f16>
  // expected-error @+1 {{has a tensor plan that tensor_contraction cannot run; leave it to halftone-plan-tiles}}
  %r = halftone.kernel "x" contraction over ["batch", 64] reduce [64] (%i0, %i1) accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, cuda_plans = [#halftone.chip<"sm_80", [#halftone.plan<tensor, [64, 64, 32, 32, 32, 3, 32, 16] splits 1 least 1 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[64, 64], f16>) -> !halftone.tensor<[batch, 64], f32> {
    ^bb0(%s: f32):
      halftone.kernel_yield stores %s : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 64], f16>
  %i1 = halftone.input "i1" : !halftone.tensor<[64, 64], f16>
  // expected-error @+1 {{has a tensor plan that tensor_contraction cannot run; leave it to halftone-plan-tiles}}
  %r = halftone.kernel "x" contraction over ["batch", 64] reduce [64] (%i0, %i1) accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, cuda_plans = [#halftone.chip<"sm_80", [#halftone.plan<tensor, [64, 64, 32, 32, 32, 3, 16, 16] splits 0 least 1 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[64, 64], f16>) -> !halftone.tensor<[batch, 64], f32> {
    ^bb0(%s: f32):
      halftone.kernel_yield stores %s : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 64], f16>
  %i1 = halftone.input "i1" : !halftone.tensor<[64, 64], f32>
  // expected-error @+1 {{operand 1 holds 'f32', which tensor cores do not take}}
  %r = halftone.kernel "x" contraction over ["batch", 64] reduce [64] (%i0, %i1) accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, cuda_plans = [#halftone.chip<"sm_80", [#halftone.plan<tensor, [64, 64, 32, 32, 32, 3, 16, 16] splits 1 least 1 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[64, 64], f32>) -> !halftone.tensor<[batch, 64], f32> {
    ^bb0(%s: f32):
      halftone.kernel_yield stores %s : f32
  }
}

// -----

halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 64], f16>
  %i1 = halftone.input "i1" : !halftone.tensor<[64, 64], f16>
  // expected-error @+1 {{has elements that need the sum of lhs, so its depth is not split}}
  %r = halftone.kernel "x" contraction over ["batch", 64] reduce [64] (%i0, %i1) accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, cuda_plans = [#halftone.chip<"sm_80", [#halftone.plan<tensor, [64, 64, 32, 32, 32, 3, 16, 16] splits 2 least 128 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[64, 64], f16>) -> !halftone.tensor<[batch, 64], f32> {
    ^bb0(%s: f32):
      %l = halftone.lhs_sum : f32
      %r = arith.addf %s, %l : f32
      halftone.kernel_yield stores %r : f32
  }
}

// -----

// A contraction has loops for named accesses alone.
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 4], f32>
  %z = halftone.input "z" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{reads operand 2 by a general access, as no contraction kernel can: let a pointwise kernel read it first}}
  %y = halftone.kernel "k" contraction over ["batch", 4] reduce [8] (%x, %w, %z)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>, #halftone.access<general reads affine_map<(i, j, k) -> (i, 3 - j)>>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 4], f32>, !halftone.tensor<[batch, 4], f32>)
      -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%s: f32, %a: f32):
    halftone.kernel_yield stores %s : f32
  }
}

// -----

// A batch has no sum of lhs.
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 3, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[batch, 8, 4], f32>
  // expected-error @+1 {{has a batch and uses the sum of lhs; sum its columns in another kernel}}
  %y = halftone.kernel "k" contraction over ["batch", 3, 4] reduce [8] (%x, %w) accesses [#halftone.access<lhs>, #halftone.access<rhs>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 3, 8], f32>, !halftone.tensor<[batch, 8, 4], f32>) -> (!halftone.tensor<[batch, 3, 4], f32>) {
  ^bb0(%s: f32):
    %c = halftone.lhs_sum : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Segments are those of whole rows.
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{names the segments of single elements; name those of rows}}
  %y = halftone.kernel "k" segment over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<segment>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[9, 4], f32>) {
  ^bb0(%a0: f32):
    %j = halftone.column_index : i32
    halftone.kernel_yield stores %a0 : f32 into %j
  }
}

// -----

// A flat kernel has no rows of a symbolic length.
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[3, batch], f32>
  %b = halftone.input "b" : !halftone.tensor<[batch], f32>
  // expected-error @+1 {{sums elements of rows and columns; only full and scalar accesses can be summed flat}}
  %y = halftone.kernel "k" flat over [3, "batch"] reduce [] (%x, %b) accesses [#halftone.access<full>, #halftone.access<column>]
      -> [] fused [] {resultSegmentSizes = array<i32: 0, 1>}
      : (!halftone.tensor<[3, batch], f32>, !halftone.tensor<[batch], f32>) -> !halftone.tensor<[], f32> {
  ^bb0(%a: f32, %c: f32):
    %p = arith.mulf %a, %c : f32
    halftone.kernel_yield sums %p : f32
  } finish {
  ^bb0(%sum: f32):
    halftone.yield %sum : f32
  }
}

// -----

// Every partial of a long row belongs to one team: 12 teams share none evenly.
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[3, batch], f32>
  // expected-error @+1 {{cuda_tile fits no launch of its skeleton; leave it to halftone-plan-tiles}}
  %y = halftone.kernel "k" row over [3, "batch"] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {cuda_tile = array<i64: 96>, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[3, batch], f32>) -> (!halftone.tensor<[3, batch], f32>) {
  ^bb0(%a: f32):
    %sum = halftone.row_sum %a : f32
    halftone.kernel_yield stores %sum : f32
  }
}

// -----

// Neighbours of a line that are none in memory.
halftone.graph "training" {
  %i0 = halftone.input "i0" : !halftone.tensor<[batch, 4, 9], f32>
  %i1 = halftone.input "i1" : !halftone.tensor<[8, 12], f32>
  // expected-error @+1 {{reads matrix 0 by a map that no chip gathers by: let a pointwise kernel read it first}}
  %r = halftone.kernel "x" contraction over ["batch", 7, 8] reduce [12] (%i0, %i1)
      accesses [#halftone.access<lhs reads affine_map<(b, i, o, k) -> (b, k mod 4, i + k floordiv 4)>>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {transpose_rhs, resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 4, 9], f32>, !halftone.tensor<[8, 12], f32>) -> !halftone.tensor<[batch, 7, 8], f32> {
    ^bb0(%s: f32):
      halftone.kernel_yield stores %s : f32
  }
}
