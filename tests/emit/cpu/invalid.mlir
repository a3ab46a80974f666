// What CPU emission refuses, with its reason.
module {
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 7], f32>
  // expected-error @+1 {{has no cpu_tile: run PlanTiles first}}
  %r = halftone.kernel "untiled" pointwise over ["batch", 7] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {untiled, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 7], f32>) -> !halftone.tensor<[batch, 7], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }
}
}
// -----
module {
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 7], f32>
  %b = halftone.input "b" : !halftone.tensor<[7], f32>
  // expected-error @+1 {{sums elements of rows and columns; only full and scalar accesses can be summed flat}}
  %r = halftone.kernel "ragged" flat over ["batch", 7] reduce [] (%x, %b) accesses [#halftone.access<full>, #halftone.access<column>]
      -> [] fused [] {resultSegmentSizes = array<i32: 0, 1>}
      : (!halftone.tensor<[batch, 7], f32>, !halftone.tensor<[7], f32>) -> !halftone.tensor<[], f32> {
    ^bb0(%a: f32, %c: f32):
      %p = arith.mulf %a, %c : f32
      halftone.kernel_yield sums %p : f32
  } finish {
    ^bb0(%sum: f32):
      halftone.yield %sum : f32
  }
}
}
// -----
module {
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 7], f32>
  // expected-error @+1 {{wants a cpu_tile with a multiple of 32 columns, not 24}}
  %r = halftone.kernel "split_vector" column over ["batch", 7] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<column>] fused [] {cpu_tile = array<i64: 24>, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 7], f32>) -> !halftone.tensor<[7], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }
}
}
// -----
module {
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 7], f32>
  // expected-error @+1 {{wants a cpu_tile of 1 positive extents}}
  %r = halftone.kernel "two_tiles" row over ["batch", 7] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {cpu_tile = array<i64: 24, 1>, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 7], f32>) -> !halftone.tensor<[batch, 7], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }
}
}
// -----
module {
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 7], f32>
  %r = halftone.kernel "upward" pointwise over ["batch", 7] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 7], f32>) -> !halftone.tensor<[batch, 7], bf16> {
    ^bb0(%a: f32):
      // expected-error @+1 {{rounds upward; only to_nearest_even and toward_zero have code}}
      %b = arith.truncf %a upward : f32 to bf16
      halftone.kernel_yield stores %b : bf16
  }
}
}
// -----
module {
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 7], f32>
  // expected-error @+1 {{sums columns into 'bf16'; sums are f32: round them in another kernel}}
  %r = halftone.kernel "narrow_sum" column over ["batch", 7] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<column>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 7], f32>) -> !halftone.tensor<[7], bf16> {
    ^bb0(%a: f32):
      %b = arith.truncf %a : f32 to bf16
      halftone.kernel_yield stores %b : bf16
  }
}
}

// -----

// A flat kernel has loops for named accesses alone.
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{reads operand 0 by a general access, as no flat kernel can: let a pointwise kernel read it first}}
  %y = halftone.kernel "k" flat over ["batch", 4] reduce [] (%x) accesses [#halftone.access<general reads affine_map<(i, j) -> (i, 3 - j)>>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
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
      -> [#halftone.access<segment>] fused [] {resultSegmentSizes = array<i32: 1, 0>, cpu_tile = array<i64: 8, 16>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[9, 4], f32>) {
  ^bb0(%a0: f32):
    %j = halftone.column_index : i32
    halftone.kernel_yield stores %a0 : f32 into %j
  }
}
