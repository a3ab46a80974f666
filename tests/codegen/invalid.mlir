// Every sentence that a verifier of the dialect can say.
// RUN: halftone-opt %s -split-input-file -verify-diagnostics

// Types and attributes: an extent is positive.
// expected-error @+1 {{extent 0 is not positive}}
module attributes {test.type = !halftone.tensor<[batch, 0], f32>} {}

// -----

// expected-error @+1 {{a symbol is divided by 0}}
module attributes {test.type = !halftone.tensor<[batch ceildiv 0, 4], f32>} {}

// -----

// expected-error @+1 {{a symbol is taken 0 times}}
module attributes {test.type = !halftone.tensor<[batch, 0*side], f32>} {}

// -----

// expected-error @+1 {{two numbers in one dimension}}
module attributes {test.type = !halftone.tensor<[batch, side 2], f32>} {}

// -----

// An element is in a format that rules or inputs may name.
// expected-error @+1 {{element type 'i64' is none of the formats f32, tf32, f16, bf16, i32, u8, i8, u16, i16, i64, f8e4m3, f8e5m2, f8e8m0, f6e3m2, f6e2m3 and f4e2m1}}
module attributes {test.type = !halftone.tensor<[4], i64>} {}

// -----

// expected-error @+1 {{element type 'f64' is none of the formats f32, tf32, f16, bf16, i32, u8, i8, u16, i16, i64, f8e4m3, f8e5m2, f8e8m0, f6e3m2, f6e2m3 and f4e2m1}}
module attributes {test.type = !halftone.tensor<[4], f64>} {}

// -----

// Nothing is undecided.
// expected-error @+1 {{element type 'none' is none of the formats f32, tf32, f16, bf16, i32, u8, i8, u16, i16, i64, f8e4m3, f8e5m2, f8e8m0, f6e3m2, f6e2m3 and f4e2m1}}
module attributes {test.type = !halftone.tensor<[4], none>} {}

// -----

// An encoding is of a known element.
// expected-error @+2 {{no element is called 'f8'; there are f32, tf32, f16, bf16, i32, u8, i8, u16, i16, i64, f8e4m3, f8e5m2, f8e8m0, f6e3m2, f6e2m3 and f4e2m1}}
// expected-error @+1 {{failed to parse Halftone_EncodingAttr parameter 'value'}}
module attributes {test.encoding = #halftone.encoding<f8>} {}

// -----

// Nothing computes with elements of scales, nor with those of fewer than 8 bits.
// expected-error @+1 {{element type 'f4E2M1FN' is of an element that is converted alone, not computed with; state f8e4m3 or f8e5m2}}
module attributes {test.type = !halftone.tensor<[4], f4E2M1FN>} {}

// -----

// Scales of two levels are those of four bits, and nothing is rounded to f32.
// expected-error @+2 {{'f8e4m3 scaled block 32 by 16 f8e4m3 saturate' has scales of f8e4m3 on another element than f4e2m1 (P77); state them as f8e8m0}}
// expected-error @+1 {{failed to parse Halftone_EncodingAttr parameter 'value'}}
module attributes {test.encoding = #halftone.encoding<f8e4m3 scaled block 32 by 16 f8e4m3 saturate>} {}

// -----

// expected-error @+2 {{'f32 saturate' saturates, but nothing is rounded to its element (F2); leave saturate out}}
// expected-error @+1 {{failed to parse Halftone_EncodingAttr parameter 'value'}}
module attributes {test.encoding = #halftone.encoding<f32 saturate>} {}

// -----

// Linear: x has the columns of its weight.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 7], f32>
  // expected-error @+1 {{does not fit weight}}
  %y = halftone.linear %x, %w : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4, 7], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Linear: a weight is a matrix.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8], f32>
  // expected-error @+1 {{does not fit weight}}
  %y = halftone.linear %x, %w : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Linear: two symbols are two extents.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, k], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, l], f32>
  // expected-error @+1 {{does not fit weight}}
  %y = halftone.linear %x, %w : (!halftone.tensor<[batch, k], f32>, !halftone.tensor<[4, l], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Linear: one result column per weight row.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 8], f32>
  // expected-error @+1 {{must have one column per row of weight}}
  %y = halftone.linear %x, %w : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4, 8], f32>) -> !halftone.tensor<[batch, 5], f32>
}

// -----

// Linear, transposed: x has as many columns as its weight has rows.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 8], f32>
  // expected-error @+1 {{does not fit weight}}
  %y = halftone.linear %x, %w {transposed = true} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4, 8], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Linear, transposed: one result column per weight column.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 4], f32>
  // expected-error @+1 {{must have one column per column of weight}}
  %y = halftone.linear %x, %w {transposed = true} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 4], f32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Linear, transposed: one bias per weight column.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 4], f32>
  %b = halftone.input "b" : !halftone.tensor<[8], f32>
  // expected-error @+1 {{does not fit weight}}
  %y = halftone.linear %x, %w bias %b {transposed = true} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 4], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Linear: one bias per weight row.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 8], f32>
  %b = halftone.input "b" : !halftone.tensor<[5], f32>
  // expected-error @+1 {{does not fit weight}}
  %y = halftone.linear %x, %w bias %b : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4, 8], f32>, !halftone.tensor<[5], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Linear: rows stay.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 8], f32>
  // expected-error @+1 {{do not match rows of}}
  %y = halftone.linear %x, %w : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4, 8], f32>) -> !halftone.tensor<[time, 4], f32>
}

// -----

// Layer_norm: one weight per column.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{does not have one value per column of}}
  %y, %m, %r = halftone.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f64} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4], f32>, !halftone.tensor<[4], f32>) -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], f32>, !halftone.tensor<[batch], f32>)
}

// -----

// Layer_norm: one mean per row.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8], f32>
  // expected-error @+1 {{does not have one value per row of}}
  %y, %m, %r = halftone.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f64} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[batch], f32>)
}

// -----

// Counters are scalars.
halftone.graph "g" {
  // expected-error @+1 {{must be halftone scalar tensor}}
  %c:4 = halftone.counters : !halftone.tensor<[4], i32>, !halftone.tensor<[], i32>, !halftone.tensor<[], i32>, !halftone.tensor<[], i32>
}

// -----

// Rms_norm: one weight per column.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{does not have one value per column of}}
  %y, %r = halftone.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4], f32>) -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], f32>)
}

// -----

// Rms_norm: one rstd per row.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8], f32>
  // expected-error @+1 {{does not have one value per row of}}
  %y, %r = halftone.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>) -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>)
}

// -----

// Matmul: both operands and the result have one batch.
halftone.graph "g" {
  %a = halftone.input "a" : !halftone.tensor<[batch, 5, 4], f32>
  %b = halftone.input "b" : !halftone.tensor<[time, 4, 8], f32>
  // expected-error @+1 {{are not matrices of one batch}}
  %y = halftone.matmul %a, %b {transpose_a = false, transpose_b = false} : (!halftone.tensor<[batch, 5, 4], f32>, !halftone.tensor<[time, 4, 8], f32>) -> !halftone.tensor<[batch, 5, 8], f32>
}

// -----

// Matmul: nothing is broadcast.
halftone.graph "g" {
  %a = halftone.input "a" : !halftone.tensor<[batch, 5, 4], f32>
  %b = halftone.input "b" : !halftone.tensor<[4, 8], f32>
  // expected-error @+1 {{are not matrices of one batch}}
  %y = halftone.matmul %a, %b {transpose_a = false, transpose_b = false} : (!halftone.tensor<[batch, 5, 4], f32>, !halftone.tensor<[4, 8], f32>) -> !halftone.tensor<[batch, 5, 8], f32>
}

// -----

// Matmul: both operands sum over one dimension.
halftone.graph "g" {
  %a = halftone.input "a" : !halftone.tensor<[batch, 5, 4], f32>
  %b = halftone.input "b" : !halftone.tensor<[batch, 8, 4], f32>
  // expected-error @+1 {{sums over 4 of a but 8 of b}}
  %y = halftone.matmul %a, %b {transpose_a = false, transpose_b = false} : (!halftone.tensor<[batch, 5, 4], f32>, !halftone.tensor<[batch, 8, 4], f32>) -> !halftone.tensor<[batch, 5, 4], f32>
}

// -----

// Matmul: the result is rows by columns.
halftone.graph "g" {
  %a = halftone.input "a" : !halftone.tensor<[batch, 4, 5], f32>
  %b = halftone.input "b" : !halftone.tensor<[batch, 8, 4], f32>
  // expected-error @+1 {{is not 5 x 8}}
  %y = halftone.matmul %a, %b {transpose_a = true, transpose_b = true} : (!halftone.tensor<[batch, 4, 5], f32>, !halftone.tensor<[batch, 8, 4], f32>) -> !halftone.tensor<[batch, 4, 8], f32>
}

// -----

// Causal_conv1d: times and channels.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 4], f32>
  // expected-error @+1 {{must have times before its channels}}
  %y = halftone.causal_conv1d %x, %w : (!halftone.tensor<[8], f32>, !halftone.tensor<[8, 4], f32>) -> !halftone.tensor<[8], f32>
}

// -----

// Group_norm: whole groups.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8], f32>
  // expected-error @+1 {{into 3 groups}}
  %y:3 = halftone.group_norm %x, %w, %w {epsilon = 1.0e-05 : f64, groups = 3 : i64} : (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) -> (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>)
}

// -----

// Group_norm: images before channels.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[8], f32>
  // expected-error @+1 {{must have images and a number of channels}}
  %y:3 = halftone.group_norm %x, %x, %x {epsilon = 1.0e-05 : f64} : (!halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) -> (!halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>)
}

// -----

// Global_average_pool: images and channels.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{is not the images and channels of}}
  %y = halftone.global_average_pool %x : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 9], f32>
}

// -----

// Expand: the rows and the columns of x.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{does not begin and end with the dimensions of}}
  %y = halftone.expand %x : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 9, 4], f32>
}

// -----

// Sums over the rows of each element of a batch, whose axes are the first.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{cannot be accessed as column of domain}}
  %s = halftone.reduce "sum" (%x) : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[9, 8], f32>
}

// -----

// Sums of one kernel are of one batch.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{wants results of one shape}}
  %s:2 = halftone.reduce "sums" (%x, %x) : (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[batch, 9, 8], f32>) -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>)
}

// -----

// Convolution: lists of as many numbers as dimensions.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 3, 8], f32>
  // expected-error @+1 {{wants a kernel, and strides and dilations if any, of 1 or more and paddings of 0 or more for one to three dimensions}}
  %y = halftone.convolution %x, %w {kernel = array<i64: 3>, padding = array<i64: 1>} : (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[4, 3, 8], f32>) -> !halftone.tensor<[batch, 8, 4], f32>
}

// -----

// Convolution: a place for every window.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 3, 8], f32>
  // expected-error @+1 {{does not have a place for every window of}}
  %y = halftone.convolution %x, %w {kernel = array<i64: 3>, stride = array<i64: 2>} : (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[4, 3, 8], f32>) -> !halftone.tensor<[batch, 5, 4], f32>
}

// -----

// Convolution: a symbol keeps its length.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, time, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 3, 8], f32>
  // expected-error @+1 {{does not have a place for every window of}}
  %y = halftone.convolution %x, %w {kernel = array<i64: 3>, padding = array<i64: 2, 1>} : (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[4, 3, 8], f32>) -> !halftone.tensor<[batch, time, 4], f32>
}

// -----

// Convolution: whole groups.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 3, 8], f32>
  // expected-error @+1 {{into 3 groups}}
  %y = halftone.convolution %x, %w {groups = 3 : i64, kernel = array<i64: 3>} : (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[4, 3, 8], f32>) -> !halftone.tensor<[batch, 7, 4], f32>
}

// -----

// Convolution: a weight for every element of a window.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 3, 8], f32>
  // expected-error @+1 {{is not 4 x 3 x 4}}
  %y = halftone.convolution %x, %w {groups = 2 : i64, kernel = array<i64: 3>} : (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[4, 3, 8], f32>) -> !halftone.tensor<[batch, 7, 4], f32>
}

// -----

// Convolution: one bias per output.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 3, 8], f32>
  %b = halftone.input "b" : !halftone.tensor<[8], f32>
  // expected-error @+1 {{does not have one value per output of}}
  %y = halftone.convolution %x, %w bias %b {kernel = array<i64: 3>} : (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[4, 3, 8], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[batch, 7, 4], f32>
}

// -----

// Pool: a place for every window.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{does not have a place for every window of}}
  %y = halftone.pool %x {function = "average", kernel = array<i64: 3>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 9, 8], f32>
}

// -----

// Pool: every channel by itself.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{does not have a place for every window of}}
  %y = halftone.pool %x {function = "average", kernel = array<i64: 3>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 7, 4], f32>
}

// -----

// Pool: the largest or the mean.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{has the function 'sum': write max or average}}
  %y = halftone.pool %x {function = "sum", kernel = array<i64: 3>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 7, 8], f32>
}

// -----

// Pool: an index for a maximum.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{wants an index}}
  %y = halftone.pool %x {function = "max", kernel = array<i64: 3>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 7, 8], f32>
}

// -----

// Pool: none for a mean.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{wants an index}}
  %y, %i = halftone.pool %x {function = "average", kernel = array<i64: 3>} : (!halftone.tensor<[batch, 9, 8], f32>) -> (!halftone.tensor<[batch, 7, 8], f32>, !halftone.tensor<[batch, 7, 8], f32>)
}

// -----

// Upsample: a factor for one to three dimensions.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{wants factors of 1 or more for one to three dimensions}}
  %y = halftone.upsample %x {factor = array<i64>, mode = "nearest"} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 9, 8], f32>
}

// -----

// Upsample: one of two modes.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{has the mode 'cubic': write nearest or linear}}
  %y = halftone.upsample %x {factor = array<i64: 2>, mode = "cubic"} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 18, 8], f32>
}

// -----

// Upsample: as many dimensions.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{does not have 3 dimensions before its channels}}
  %y = halftone.upsample %x {factor = array<i64: 2, 2, 2>, mode = "nearest"} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 9, 8], f32>
}

// -----

// Upsample: a symbol that is taken so many times more often.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[3*side, 9, 8], f32>
  // expected-error @+1 {{is not 6*side x 18 x 8}}
  %y = halftone.upsample %x {factor = array<i64: 2, 2>, mode = "nearest"} : (!halftone.tensor<[3*side, 9, 8], f32>) -> !halftone.tensor<[3*side, 18, 8], f32>
}

// -----

// Upsample: a result that is so many times longer.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{is not batch x 18 x 8}}
  %y = halftone.upsample %x {factor = array<i64: 2>, mode = "nearest"} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 9, 8], f32>
}

// -----

// Adaptive_pool: one to three dimensions.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{wants sizes of 1 or more for one to three dimensions}}
  %y = halftone.adaptive_pool %x {function = "average", size = array<i64: 0>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 4, 8], f32>
}

// -----

// Adaptive_pool: one of two functions.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{has the function 'sum': write max or average}}
  %y = halftone.adaptive_pool %x {function = "sum", size = array<i64: 4>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 4, 8], f32>
}

// -----

// Adaptive_pool: as many dimensions.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{does not have 3 dimensions before its channels}}
  %y = halftone.adaptive_pool %x {function = "average", size = array<i64: 4, 4, 4>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 4, 8], f32>
}

// -----

// Adaptive_pool: a result of that size.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{is not batch x 5 x 8}}
  %y = halftone.adaptive_pool %x {function = "average", size = array<i64: 5>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 4, 8], f32>
}

// -----

// Adaptive_pool: an index of a maximum.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{wants an index of its result's type for a maximum, and for nothing else}}
  %y = halftone.adaptive_pool %x {function = "max", size = array<i64: 4>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 4, 8], f32>
}

// -----

// Pad: before and behind one to three dimensions.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{wants the padding before and then that behind one to three dimensions}}
  %y = halftone.pad %x {mode = "constant", padding = array<i64: 1>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 10, 8], f32>
}

// -----

// Pad: one of four modes.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{has the mode 'edge': write constant, reflect, replicate or circular}}
  %y = halftone.pad %x {mode = "edge", padding = array<i64: 1, 0>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 10, 8], f32>
}

// -----

// Pad: a value of what repeats none.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{has a pad_value, but repeats elements of x}}
  %y = halftone.pad %x {mode = "reflect", pad_value = 1.0 : f64, padding = array<i64: 1, 0>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 10, 8], f32>
}

// -----

// Pad: as many dimensions.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[9, 8], f32>
  // expected-error @+1 {{does not have 2 dimensions before its channels}}
  %y = halftone.pad %x {mode = "constant", padding = array<i64: 1, 1, 0, 0>} : (!halftone.tensor<[9, 8], f32>) -> !halftone.tensor<[10, 8], f32>
}

// -----

// Pad: what is added to a symbol.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4*side + 2, 8], f32>
  // expected-error @+1 {{is not 4*side - 1 x 8}}
  %y = halftone.pad %x {mode = "constant", padding = array<i64: 1, -4>} : (!halftone.tensor<[4*side + 2, 8], f32>) -> !halftone.tensor<[4*side + 1, 8], f32>
}

// -----

// Pad: as many elements as there are to reflect.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{has a padding of 9 at a dimension of 9, which has not so many elements}}
  %y = halftone.pad %x {mode = "reflect", padding = array<i64: 9, 0>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 18, 8], f32>
}

// -----

// Pad: a result that is so much longer.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{is not batch x 8 x 8}}
  %y = halftone.pad %x {mode = "circular", padding = array<i64: 1, -2>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 9, 8], f32>
}

// -----

// Pixel_shuffle: a factor for one to three dimensions.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{wants factors of 1 or more for one to three dimensions}}
  %y = halftone.pixel_shuffle %x {factor = array<i64: 0>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 9, 8], f32>
}

// -----

// Pixel_shuffle: whole groups of channels.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{by groups of channels}}
  %y = halftone.pixel_shuffle %x {factor = array<i64: 3>} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 27, 2], f32>
}

// -----

// Pixel_shuffle: places of a symbol that is taken so many times more often.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, side, 8], f32>
  // expected-error @+1 {{by groups of channels}}
  %y = halftone.pixel_shuffle %x {factor = array<i64: 2>} : (!halftone.tensor<[batch, side, 8], f32>) -> !halftone.tensor<[batch, side, 4], f32>
}

// -----

// Pixel_shuffle: whole blocks of places.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  // expected-error @+1 {{by blocks of places}}
  %y = halftone.pixel_shuffle %x {factor = array<i64: 2>, inverse = true} : (!halftone.tensor<[batch, 9, 8], f32>) -> !halftone.tensor<[batch, 4, 16], f32>
}

// -----

// Segment_reduce: a number for every time.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  %s = halftone.input "s" : !halftone.tensor<[batch], i32>
  // expected-error @+1 {{does not have one i32 for every time of}}
  %y = halftone.segment_reduce %x by %s {function = "sum", segments = 4 : i64} : (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[batch], i32>) -> !halftone.tensor<[batch, 4, 8], f32>
}

// -----

// Segment_reduce: sequences of the same batch.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  %s = halftone.input "s" : !halftone.tensor<[batch, 9], i32>
  // expected-error @+1 {{does not have segments and columns, in a number, for the times of}}
  %y = halftone.segment_reduce %x by %s {function = "sum", segments = 4 : i64} : (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[batch, 9], i32>) -> !halftone.tensor<[9, 4, 8], f32>
}

// -----

// Segment_reduce: as many segments as it says.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  %s = halftone.input "s" : !halftone.tensor<[batch, 9], i32>
  // expected-error @+1 {{does not have 4 segments}}
  %y = halftone.segment_reduce %x by %s {function = "sum", segments = 4 : i64} : (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[batch, 9], i32>) -> !halftone.tensor<[batch, 5, 8], f32>
}

// -----

// Segment_reduce: one of three functions.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  %s = halftone.input "s" : !halftone.tensor<[batch, 9], i32>
  // expected-error @+1 {{has the function 'least': write sum, mean or max}}
  %y = halftone.segment_reduce %x by %s {function = "least", segments = 4 : i64} : (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[batch, 9], i32>) -> !halftone.tensor<[batch, 4, 8], f32>
}

// -----

// Segment_reduce: a count of a mean.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  %s = halftone.input "s" : !halftone.tensor<[batch, 9], i32>
  // expected-error @+1 {{wants a count for every segment of a mean, a time for every element of a max, and for nothing else}}
  %y = halftone.segment_reduce %x by %s {function = "mean", segments = 4 : i64} : (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[batch, 9], i32>) -> !halftone.tensor<[batch, 4, 8], f32>
}

// -----

// Segment_broadcast: as many sequences.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4, 8], f32>
  %s = halftone.input "s" : !halftone.tensor<[3, 9], i32>
  // expected-error @+1 {{does not have segments and columns, in a number, for the times of}}
  %y = halftone.segment_broadcast %x by %s : (!halftone.tensor<[batch, 4, 8], f32>, !halftone.tensor<[3, 9], i32>) -> !halftone.tensor<[3, 9, 8], f32>
}

// -----

// Segments: of the batch that the rows begin with.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 4], f32>
  %i = halftone.input "i" : !halftone.tensor<[batch, 9], i32>
  // expected-error @+1 {{does not have segments for each element of the batch that}}
  %y = halftone.segment_sum %i, %x : (!halftone.tensor<[batch, 9], i32>, !halftone.tensor<[batch, 9, 4], f32>) -> !halftone.tensor<[9, 5, 4], f32>
}

// -----

// Segments of a batch are those of the kernel's.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 4], f32>
  %i = halftone.input "i" : !halftone.tensor<[batch, 9], i32>
  // expected-error @+1 {{of a batch that domain batch x 9 x 4 does not begin with}}
  %y = halftone.kernel "k" segment over ["batch", 9, 4] reduce [] (%i, %x) accesses [#halftone.access<row>, #halftone.access<full>]
      -> [#halftone.access<segment>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 9], i32>, !halftone.tensor<[batch, 9, 4], f32>) -> (!halftone.tensor<[9, 5, 4], f32>) {
  ^bb0(%row: i32, %a: f32):
    halftone.kernel_yield stores %a : f32 into %row
  }
}

// -----

// Transposed_convolution: a place of x for every window.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 5, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 3, 8], f32>
  // expected-error @+1 {{does not have a place for every window of}}
  %y = halftone.transposed_convolution %x, %w {kernel = array<i64: 3>, stride = array<i64: 2>} : (!halftone.tensor<[batch, 5, 8], f32>, !halftone.tensor<[4, 3, 8], f32>) -> !halftone.tensor<[batch, 13, 4], f32>
}

// -----

// Transposed_convolution: a place of x for every window, of sums of a symbol, too.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, side + 2, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 2, 8], f32>
  // expected-error @+1 {{does not have a place for every window of}}
  %y = halftone.transposed_convolution %x, %w {kernel = array<i64: 2>, stride = array<i64: 2>} : (!halftone.tensor<[batch, side + 2, 8], f32>, !halftone.tensor<[4, 2, 8], f32>) -> !halftone.tensor<[batch, 2*side + 2, 4], f32>
}

// -----

// Transposed_convolution: an output_padding for every dimension.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 5, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 3, 8], f32>
  // expected-error @+1 {{wants an output_padding of 0 or more for every dimension}}
  %y = halftone.transposed_convolution %x, %w {kernel = array<i64: 3>, output_padding = array<i64: 0, 1>, stride = array<i64: 2>} : (!halftone.tensor<[batch, 5, 8], f32>, !halftone.tensor<[4, 3, 8], f32>) -> !halftone.tensor<[batch, 11, 4], f32>
}

// -----

// Transposed_convolution: a weight for every element of a window.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 5, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 3, 4], f32>
  // expected-error @+1 {{is not 4 x 3 x 8}}
  %y = halftone.transposed_convolution %x, %w {kernel = array<i64: 3>} : (!halftone.tensor<[batch, 5, 8], f32>, !halftone.tensor<[8, 3, 4], f32>) -> !halftone.tensor<[batch, 7, 4], f32>
}

// -----

// Embedding: integers choose.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch], f32>
  %w = halftone.input "w" : !halftone.tensor<[9, 4], f32>
  // expected-error @+1 {{is not of integers}}
  %y = halftone.embedding %x, %w : (!halftone.tensor<[batch], f32>, !halftone.tensor<[9, 4], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Embedding: among rows in a number.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch], i32>
  %w = halftone.input "w" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{is not a number of rows and columns}}
  %y = halftone.embedding %x, %w : (!halftone.tensor<[batch], i32>, !halftone.tensor<[batch, 4], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Embedding: as many as an i32 can name.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch], i32>
  %w = halftone.input "w" : !halftone.tensor<[2147483648, 4], f32>
  // expected-error @+1 {{has more rows than an i32 can name}}
  %y = halftone.embedding %x, %w : (!halftone.tensor<[batch], i32>, !halftone.tensor<[2147483648, 4], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Embedding: one row for each.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch], i32>
  %w = halftone.input "w" : !halftone.tensor<[9, 4], f32>
  // expected-error @+1 {{does not have a row of}}
  %y = halftone.embedding %x, %w : (!halftone.tensor<[batch], i32>, !halftone.tensor<[9, 4], f32>) -> !halftone.tensor<[batch, 9], f32>
}

// -----

// Segments: one index a row.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  %i = halftone.input "i" : !halftone.tensor<[batch, 4], i32>
  // expected-error @+1 {{does not have one i32 per row of}}
  %y = halftone.segment_sum %i, %x : (!halftone.tensor<[batch, 4], i32>, !halftone.tensor<[batch, 4], f32>) -> !halftone.tensor<[9, 4], f32>
}

// -----

// Long_convolution: lengths are numbers.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, time, 8], f32>
  %f = halftone.input "f" : !halftone.tensor<[time, 8], f32>
  // expected-error @+1 {{must have places and channels, in numbers, and result}}
  %y = halftone.long_convolution %x, %f : (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[time, 8], f32>) -> !halftone.tensor<[batch, time, 8], f32>
}

// -----

// Long_convolution: a filter as long as x.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 9, 8], f32>
  %f = halftone.input "f" : !halftone.tensor<[8, 8], f32>
  // expected-error @+1 {{does not have the places and channels of}}
  %y = halftone.long_convolution %x, %f : (!halftone.tensor<[batch, 9, 8], f32>, !halftone.tensor<[8, 8], f32>) -> !halftone.tensor<[batch, 9, 8], f32>
}

// -----

// Long_convolution: no more places than turns tell apart.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[1048577, 1], f32>
  // expected-error @+1 {{has more than 1048576 places}}
  %y = halftone.long_convolution %x, %x : (!halftone.tensor<[1048577, 1], f32>, !halftone.tensor<[1048577, 1], f32>) -> !halftone.tensor<[1048577, 1], f32>
}

// -----

// Transform: turns of a power of two.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[9, 8], f32>
  %t = halftone.input "t" : !halftone.tensor<[2, 12], f32>
  // expected-error @+1 {{are not [2, places], a power of two from 2 to 1048576}}
  %y = halftone.transform %x by %t : (!halftone.tensor<[9, 8], f32>, !halftone.tensor<[2, 12], f32>) -> !halftone.tensor<[1, 12, 2, 16], f32>
}

// -----

// Transform: places for all of the sequence.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[9, 8], f32>
  %t = halftone.input "t" : !halftone.tensor<[2, 8], f32>
  // expected-error @+1 {{has more than 8 places}}
  %y = halftone.transform %x by %t : (!halftone.tensor<[9, 8], f32>, !halftone.tensor<[2, 8], f32>) -> !halftone.tensor<[1, 8, 2, 16], f32>
}

// -----

// Transform: sixteen channels are a block.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[9, 17], f32>
  %t = halftone.input "t" : !halftone.tensor<[2, 16], f32>
  // expected-error @+1 {{is not '!halftone.tensor<[2, 16, 2, 16], f32>'}}
  %y = halftone.transform %x by %t : (!halftone.tensor<[9, 17], f32>, !halftone.tensor<[2, 16], f32>) -> !halftone.tensor<[1, 16, 2, 16], f32>
}

// -----

// Inverse_transform works in a spectrum.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[1, 8, 2, 16], f32>
  %t = halftone.input "t" : !halftone.tensor<[2, 8], f32>
  // expected-error @+1 {{works in '!halftone.tensor<[8], f32>', which is not}}
  %y, %w = halftone.inverse_transform %x by %t : (!halftone.tensor<[1, 8, 2, 16], f32>, !halftone.tensor<[2, 8], f32>) -> (!halftone.tensor<[8, 3], f32>, !halftone.tensor<[8], f32>)
}

// -----

// Transform_pass: a second pass is of what one does not hold.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[1, 64, 2, 16], f32>
  %t = halftone.input "t" : !halftone.tensor<[2, 64], f32>
  // expected-error @+1 {{goes over a spectrum of 64 places a second time; one pass does all of its stages}}
  %y = halftone.transform_pass %x by %t : (!halftone.tensor<[1, 64, 2, 16], f32>, !halftone.tensor<[2, 64], f32>) -> !halftone.tensor<[1, 64, 2, 16], f32>
}

// -----

// Inverse_transform_pass: a spectrum of the turns' places.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[1, 1024, 2, 16], f32>
  %t = halftone.input "t" : !halftone.tensor<[2, 2048], f32>
  // expected-error @+1 {{is no spectrum of 2048 places}}
  %y = halftone.inverse_transform_pass %x by %t : (!halftone.tensor<[1, 1024, 2, 16], f32>, !halftone.tensor<[2, 2048], f32>) -> !halftone.tensor<[1, 1024, 2, 16], f32>
}

// -----

// Transform_pass: a spectrum of the same sequences.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[3, 1, 2048, 2, 16], f32>
  %t = halftone.input "t" : !halftone.tensor<[2, 2048], f32>
  // expected-error @+1 {{a spectrum of another}}
  %y = halftone.transform_pass %x by %t : (!halftone.tensor<[3, 1, 2048, 2, 16], f32>, !halftone.tensor<[2, 2048], f32>) -> !halftone.tensor<[4, 1, 2048, 2, 16], f32>
}

// -----

// Convolution_pass: sequences that a block holds.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[2000, 8], f32>
  %f = halftone.input "f" : !halftone.tensor<[1, 2048, 2, 16], f32>
  %t = halftone.input "t" : !halftone.tensor<[2, 2048], f32>
  // expected-error @+1 {{holds no 2048 places at once; give it what the first stages left}}
  %y = halftone.convolution_pass %x times %f by %t : (!halftone.tensor<[2000, 8], f32>, !halftone.tensor<[1, 2048, 2, 16], f32>, !halftone.tensor<[2, 2048], f32>) -> !halftone.tensor<[2000, 8], f32>
}

// -----

// Convolution_pass: a factor of x's channels.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[50, 17], f32>
  %f = halftone.input "f" : !halftone.tensor<[1, 64, 2, 16], f32>
  %t = halftone.input "t" : !halftone.tensor<[2, 64], f32>
  // expected-error @+1 {{is not '!halftone.tensor<[2, 64, 2, 16], f32>'}}
  %y = halftone.convolution_pass %x times %f by %t : (!halftone.tensor<[50, 17], f32>, !halftone.tensor<[1, 64, 2, 16], f32>, !halftone.tensor<[2, 64], f32>) -> !halftone.tensor<[50, 17], f32>
}

// -----

// Convolution_pass keeps the shape.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[50, 8], f32>
  %f = halftone.input "f" : !halftone.tensor<[1, 64, 2, 16], f32>
  %t = halftone.input "t" : !halftone.tensor<[2, 64], f32>
  // expected-error @+1 {{which is not convolved in place}}
  %y = halftone.convolution_pass %x times %f by %t : (!halftone.tensor<[50, 8], f32>, !halftone.tensor<[1, 64, 2, 16], f32>, !halftone.tensor<[2, 64], f32>) -> !halftone.tensor<[40, 8], f32>
}

// -----

// Causal_conv1d keeps the shape.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 4], f32>
  // expected-error @+1 {{and result '!halftone.tensor<[batch, 5], f32>' its shape}}
  %y = halftone.causal_conv1d %x, %w : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 4], f32>) -> !halftone.tensor<[batch, 5], f32>
}

// -----

// Segments: a number for every row.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  %i = halftone.input "i" : !halftone.tensor<[4], i32>
  // expected-error @+1 {{does not have one i32 per row of}}
  %y = halftone.segment_max %i, %x : (!halftone.tensor<[4], i32>, !halftone.tensor<[batch, 4], f32>) -> !halftone.tensor<[3, 4], f32>
}

// -----

// Segments: in a number.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  %i = halftone.input "i" : !halftone.tensor<[batch], i32>
  // expected-error @+1 {{does not have rows, in a number, of the columns of}}
  %y = halftone.segment_sum %i, %x : (!halftone.tensor<[batch], i32>, !halftone.tensor<[batch, 4], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Causal_conv1d: taps of every channel.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 8], f32>
  // expected-error @+1 {{does not have a row of taps per channel of x}}
  %y = halftone.causal_conv1d %x, %w : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// A sum into segments says into which.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{wants the row to add `into` if, and only if, it sums into segments}}
  %y = halftone.kernel "k" segment over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>] -> [#halftone.access<segment>]
      fused [] {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[9, 4], f32>) {
  ^bb0(%a: f32):
    halftone.kernel_yield stores %a : f32
  }
}

// -----

// Causal_conv1d: one bias per channel.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 4], f32>
  %b = halftone.input "b" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{does not have one value per channel of x}}
  %y = halftone.causal_conv1d %x, %w bias %b : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 4], f32>, !halftone.tensor<[4], f32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Segments are rows of the kernel's columns.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  %i = halftone.input "i" : !halftone.tensor<[batch], i32>
  // expected-error @+1 {{they are rows in f32 of 4 columns, in a number}}
  %y = halftone.kernel "k" segment over ["batch", 4] reduce [] (%i, %x) accesses [#halftone.access<row>, #halftone.access<full>]
      -> [#halftone.access<segment>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch], i32>, !halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[9, 5], f32>) {
  ^bb0(%row: i32, %a: f32):
    halftone.kernel_yield stores %a : f32 into %row
  }
}

// -----

// Relu keeps the shape.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{does not have the shape of result}}
  %y = halftone.relu %x : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Dropout drops some and not all.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{rate 1.000000e+00 is not in [0, 1)}}
  %y = halftone.dropout %x {rate = 1.0 : f64} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Gelu keeps the shape.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{does not have the shape of result}}
  %y = halftone.gelu %x {approximation = "erf"} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Softmax keeps the shape, and works on rows.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{does not have the shape of result}}
  %y = halftone.softmax %x : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[], f32>
  // expected-error @+1 {{has no rows}}
  %y = halftone.softmax %x {log = true} : (!halftone.tensor<[], f32>) -> !halftone.tensor<[], f32>
}

// -----

// Add: one shape.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %z = halftone.input "z" : !halftone.tensor<[8], f32>
  // expected-error @+1 {{does not have the shape of result}}
  %y = halftone.add %x, %z : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Cast keeps the shape.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{does not have the shape of result}}
  %y = halftone.cast %x : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[8, batch], bf16>
}

// -----

// A cast has one rounding, and what is exact has none.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{rounds toward zero and stochastically; say one of them}}
  %y = halftone.cast %x {stochastic = "x", toward_zero} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], bf16>
}

// -----

halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], bf16>
  // expected-error @+1 {{rounds stochastically what its result holds exactly}}
  %y = halftone.cast %x {stochastic = "x"} : (!halftone.tensor<[batch, 8], bf16>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Pointwise has a result.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{has no result}}
  halftone.pointwise "p" (%x) : (!halftone.tensor<[4], f32>) -> () {
  ^bb0(%a: f32):
    halftone.yield
  }
}

// -----

// Pointwise results have one shape.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{differ in shape}}
  %y:2 = halftone.pointwise "p" (%x) : (!halftone.tensor<[4], f32>) -> (!halftone.tensor<[4], f32>, !halftone.tensor<[5], f32>) {
  ^bb0(%a: f32):
    halftone.yield %a, %a : f32, f32
  }
}

// -----

// Pointwise operands can be spread over the result.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[5], f32>
  // expected-error @+1 {{neither has the shape of}}
  %y = halftone.pointwise "p" (%x) : (!halftone.tensor<[5], f32>) -> !halftone.tensor<[batch, 4], f32> {
  ^bb0(%a: f32):
    halftone.yield %a : f32
  }
}

// -----

// A value per row is no pointwise operand.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch], f32>
  // expected-error @+1 {{neither has the shape of}}
  %y = halftone.pointwise "p" (%x) : (!halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch, 4], f32> {
  ^bb0(%a: f32):
    halftone.yield %a : f32
  }
}

// -----

// Pointwise region: one argument per operand.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{region wants one argument per operand, of its element type}}
  %y = halftone.pointwise "p" (%x) : (!halftone.tensor<[4], f32>) -> !halftone.tensor<[4], f32> {
    %a = arith.constant 0.0 : f32
    halftone.yield %a : f32
  }
}

// -----

// Pointwise region: arguments in the element type.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{region wants one argument per operand, of its element type}}
  %y = halftone.pointwise "p" (%x) : (!halftone.tensor<[4], f32>) -> !halftone.tensor<[4], bf16> {
  ^bb0(%a: bf16):
    halftone.yield %a : bf16
  }
}

// -----

// Pointwise region: one value per result.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{region wants to yield one value per result, of its element type}}
  %y = halftone.pointwise "p" (%x) : (!halftone.tensor<[4], f32>) -> !halftone.tensor<[4], f32> {
  ^bb0(%a: f32):
    halftone.yield %a, %a : f32, f32
  }
}

// -----

// Concat: rows stay.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %z = halftone.input "z" : !halftone.tensor<[time, 8], f32>
  // expected-error @+1 {{do not match rows of}}
  %y = halftone.concat %x, %z : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[time, 8], f32>) -> !halftone.tensor<[batch, 16], f32>
}

// -----

// Concat: columns are numbers.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, time], f32>
  // expected-error @+1 {{joins '!halftone.tensor<[batch, time], f32>', whose columns are no number}}
  %y = halftone.concat %x, %x : (!halftone.tensor<[batch, time], f32>, !halftone.tensor<[batch, time], f32>) -> !halftone.tensor<[batch, 2], f32>
}

// -----

// Concat: columns add up.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %z = halftone.input "z" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{parts have 16 columns together, the result '!halftone.tensor<[batch, 15], f32>'}}
  %y = halftone.concat %x, %z : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 15], f32>
}

// -----

// Slice: columns that there are.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{takes columns 4 to 9 of '!halftone.tensor<[batch, 8], f32>': begin must be less than end, and end at most its columns}}
  %y = halftone.slice %x {begin = 4 : i64, end = 9 : i64} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 5], f32>
}

// -----

// Slice: as many as the result has.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{takes 3 columns, the result is '!halftone.tensor<[batch, 4], f32>'}}
  %y = halftone.slice %x {begin = 4 : i64, end = 7 : i64} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Cross_entropy: one label per row.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %l = halftone.input "l" : !halftone.tensor<[8], i32>
  // expected-error @+1 {{does not have one value per row of logits}}
  %y = halftone.cross_entropy %x, %l : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], i32>) -> !halftone.tensor<[batch], f32>
}

// -----

// Cross_entropy: one loss per row.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %l = halftone.input "l" : !halftone.tensor<[batch], i32>
  // expected-error @+1 {{does not have one value per row of logits}}
  %y = halftone.cross_entropy %x, %l : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], i32>) -> !halftone.tensor<[], f32>
}

// -----

// Cross_entropy: one weight per class.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %l = halftone.input "l" : !halftone.tensor<[batch], i32>
  %c = halftone.input "c" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{weight '!halftone.tensor<[4], f32>' does not have one value per column of logits}}
  %y = halftone.cross_entropy %x, %l by_class %c : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], i32>, !halftone.tensor<[4], f32>) -> !halftone.tensor<[batch], f32>
}

// -----

// Soft_cross_entropy: a share of every class.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %t = halftone.input "t" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{does not have the shape of logits}}
  %y = halftone.soft_cross_entropy %x, %t : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 4], f32>) -> !halftone.tensor<[batch], f32>
}

// -----

// Cosine_embedding: one target per row.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{does not have one value per row of}}
  %y = halftone.cosine_embedding %x, %x, %x {margin = 0.0 : f64} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch], f32>
}

// -----

// Cosine_embedding: rows of one shape.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %z = halftone.input "z" : !halftone.tensor<[batch, 4], f32>
  %t = halftone.input "t" : !halftone.tensor<[batch], f32>
  // expected-error @+1 {{does not have the shape of}}
  %y = halftone.cosine_embedding %x, %z, %t {margin = 0.0 : f64} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 4], f32>, !halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch], f32>
}

// -----

// Standardize: one mean per column.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %m = halftone.input "m" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{does not have one value per column of}}
  %y = halftone.standardize %x, %m, %m : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4], f32>, !halftone.tensor<[4], f32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Cross_entropy: one weight per row.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %l = halftone.input "l" : !halftone.tensor<[batch], i32>
  // expected-error @+1 {{does not have one value per row of logits}}
  %y = halftone.cross_entropy %x, %l weighted %x : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], i32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch], f32>
}

// -----

// Mse: one weight per row or per element.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8], f32>
  // expected-error @+1 {{does not have one value per row of}}
  %y = halftone.mse %x, %x weighted %w : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[batch], f32>
}

// -----

// Mse: with a weight per row one summand per row.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[batch], f32>
  // expected-error @+1 {{does not have one value per row of}}
  %y = halftone.mse %x, %x weighted %w : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Pointwise_loss: one operand more than its function has arguments is a weight; two are none.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{region wants one argument per operand, but for the weight}}
  %y = halftone.pointwise_loss "f" (%x, %x, %x) : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32> {
  ^bb0(%a: f32):
    halftone.yield %a : f32
  }
}

// -----

// Contract: both operands sum over one dimension.
halftone.graph "g" {
  %g = halftone.input "g" : !halftone.tensor<[time, 4], f32>
  %h = halftone.input "h" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{sums over time of lhs but batch of rhs}}
  %y = halftone.contract %g, %h {pass = #halftone.pass<weight_gradient>, transpose_lhs} : (!halftone.tensor<[time, 4], f32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[4, 8], f32>
}

// -----

// Contract: the result is rows by columns.
halftone.graph "g" {
  %g = halftone.input "g" : !halftone.tensor<[batch, 4], f32>
  %h = halftone.input "h" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{is not 4 by 8}}
  %y = halftone.contract %g, %h {pass = #halftone.pass<weight_gradient>, transpose_lhs} : (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[8, 4], f32>
}

// -----

// Scaled contract: both operands sum over one dimension.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 64], f8E4M3FN>
  %xs = halftone.input "xs" : !halftone.tensor<[batch, 2], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 60], f8E4M3FN>
  %ws = halftone.input "ws" : !halftone.tensor<[8, 2], f32>
  // expected-error @+1 {{sums over 64 of lhs but 60 of rhs}}
  %y = halftone.scaled_contract %x by %xs, %w by %ws {lhs_block = array<i64: 1, 32>, pass = #halftone.pass<forward>, rhs_block = array<i64: 1, 32>, transpose_rhs} : (!halftone.tensor<[batch, 64], f8E4M3FN>, !halftone.tensor<[batch, 2], f32>, !halftone.tensor<[8, 60], f8E4M3FN>, !halftone.tensor<[8, 2], f32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Scaled contract: an instruction multiplies 32 places by one scale.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 64], f8E4M3FN>
  %xs = halftone.input "xs" : !halftone.tensor<[batch, 2], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 64], f8E4M3FN>
  %ws = halftone.input "ws" : !halftone.tensor<[8, 2], f32>
  // expected-error @+1 {{wants blocks of one line or more by a multiple of 32 places of the sum}}
  %y = halftone.scaled_contract %x by %xs, %w by %ws {lhs_block = array<i64: 1, 48>, pass = #halftone.pass<forward>, rhs_block = array<i64: 1, 32>, transpose_rhs} : (!halftone.tensor<[batch, 64], f8E4M3FN>, !halftone.tensor<[batch, 2], f32>, !halftone.tensor<[8, 64], f8E4M3FN>, !halftone.tensor<[8, 2], f32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Scaled contract: a block is lines by places.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 64], f8E4M3FN>
  %xs = halftone.input "xs" : !halftone.tensor<[batch, 2], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 64], f8E4M3FN>
  %ws = halftone.input "ws" : !halftone.tensor<[8, 2], f32>
  // expected-error @+1 {{wants blocks of one line or more by a multiple of 32 places of the sum}}
  %y = halftone.scaled_contract %x by %xs, %w by %ws {lhs_block = array<i64: 32>, pass = #halftone.pass<forward>, rhs_block = array<i64: 1, 32>, transpose_rhs} : (!halftone.tensor<[batch, 64], f8E4M3FN>, !halftone.tensor<[batch, 2], f32>, !halftone.tensor<[8, 64], f8E4M3FN>, !halftone.tensor<[8, 2], f32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Scaled contract: codes have 8 bits.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 64], bf16>
  %xs = halftone.input "xs" : !halftone.tensor<[batch, 2], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 64], f8E4M3FN>
  %ws = halftone.input "ws" : !halftone.tensor<[8, 2], f32>
  // expected-error @+1 {{multiplies blocks of '!halftone.tensor<[batch, 64], bf16>', which is no matrix of codes}}
  %y = halftone.scaled_contract %x by %xs, %w by %ws {lhs_block = array<i64: 1, 32>, pass = #halftone.pass<forward>, rhs_block = array<i64: 1, 32>, transpose_rhs} : (!halftone.tensor<[batch, 64], bf16>, !halftone.tensor<[batch, 2], f32>, !halftone.tensor<[8, 64], f8E4M3FN>, !halftone.tensor<[8, 2], f32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Scaled contract: each block has a scale.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 64], f8E4M3FN>
  %xs = halftone.input "xs" : !halftone.tensor<[batch, 3], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 64], f8E4M3FN>
  %ws = halftone.input "ws" : !halftone.tensor<[8, 2], f32>
  // expected-error @+1 {{has '!halftone.tensor<[batch, 3], f32>' as scales of '!halftone.tensor<[batch, 64], f8E4M3FN>', not batch x 2 in f32}}
  %y = halftone.scaled_contract %x by %xs, %w by %ws {lhs_block = array<i64: 1, 32>, pass = #halftone.pass<forward>, rhs_block = array<i64: 1, 32>, transpose_rhs} : (!halftone.tensor<[batch, 64], f8E4M3FN>, !halftone.tensor<[batch, 3], f32>, !halftone.tensor<[8, 64], f8E4M3FN>, !halftone.tensor<[8, 2], f32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Scaled contract: scales are f32.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 64], f8E4M3FN>
  %xs = halftone.input "xs" : !halftone.tensor<[batch, 2], bf16>
  %w = halftone.input "w" : !halftone.tensor<[8, 64], f8E4M3FN>
  %ws = halftone.input "ws" : !halftone.tensor<[8, 2], f32>
  // expected-error @+1 {{as scales of '!halftone.tensor<[batch, 64], f8E4M3FN>', not batch x 2 in f32}}
  %y = halftone.scaled_contract %x by %xs, %w by %ws {lhs_block = array<i64: 1, 32>, pass = #halftone.pass<forward>, rhs_block = array<i64: 1, 32>, transpose_rhs} : (!halftone.tensor<[batch, 64], f8E4M3FN>, !halftone.tensor<[batch, 2], bf16>, !halftone.tensor<[8, 64], f8E4M3FN>, !halftone.tensor<[8, 2], f32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Scaled contract: packed codes are eight words for each part.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 2, 4], i32>
  %xs = halftone.input "xs" : !halftone.tensor<[batch, 2], i32>
  %w = halftone.input "w" : !halftone.tensor<[8, 2, 4], i32>
  %ws = halftone.input "ws" : !halftone.tensor<[8, 2], i32>
  // expected-error @+1 {{sums packed codes over parts of eight words, and over no others}}
  %y = halftone.scaled_contract %x by %xs, %w by %ws {lhs_block = array<i64: 1, 16>, pass = #halftone.pass<forward>, rhs_block = array<i64: 1, 16>, transpose_rhs} : (!halftone.tensor<[batch, 2, 4], i32>, !halftone.tensor<[batch, 2], i32>, !halftone.tensor<[8, 2, 4], i32>, !halftone.tensor<[8, 2], i32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Scaled contract: packed codes lie along the sum.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 2, 8], i32>
  %xs = halftone.input "xs" : !halftone.tensor<[batch, 2], i32>
  %w = halftone.input "w" : !halftone.tensor<[8, 2, 8], i32>
  %ws = halftone.input "ws" : !halftone.tensor<[8, 2], i32>
  // expected-error @+1 {{multiplies packed codes that lie along the sum, in blocks of one line by 16 or 32 places}}
  %y = halftone.scaled_contract %x by %xs, %w by %ws {lhs_block = array<i64: 1, 16>, pass = #halftone.pass<forward>, rhs_block = array<i64: 1, 16>} : (!halftone.tensor<[batch, 2, 8], i32>, !halftone.tensor<[batch, 2], i32>, !halftone.tensor<[8, 2, 8], i32>, !halftone.tensor<[8, 2], i32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Scaled contract: an instruction multiplies 16 or 32 packed codes by one scale.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 2, 8], i32>
  %xs = halftone.input "xs" : !halftone.tensor<[batch, 2], i32>
  %w = halftone.input "w" : !halftone.tensor<[8, 2, 8], i32>
  %ws = halftone.input "ws" : !halftone.tensor<[8, 2], i32>
  // expected-error @+1 {{multiplies packed codes that lie along the sum, in blocks of one line by 16 or 32 places}}
  %y = halftone.scaled_contract %x by %xs, %w by %ws {lhs_block = array<i64: 1, 64>, pass = #halftone.pass<forward>, rhs_block = array<i64: 1, 64>, transpose_rhs} : (!halftone.tensor<[batch, 2, 8], i32>, !halftone.tensor<[batch, 2], i32>, !halftone.tensor<[8, 2, 8], i32>, !halftone.tensor<[8, 2], i32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Scaled contract: both operands have scales of one kind.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 2, 8], i32>
  %xs = halftone.input "xs" : !halftone.tensor<[batch, 2], i32>
  %w = halftone.input "w" : !halftone.tensor<[8, 2, 8], i32>
  %ws = halftone.input "ws" : !halftone.tensor<[8, 2], i32>
  // expected-error @+1 {{multiplies packed codes that lie along the sum, in blocks of one line by 16 or 32 places}}
  %y = halftone.scaled_contract %x by %xs, %w by %ws {lhs_block = array<i64: 1, 16>, pass = #halftone.pass<forward>, rhs_block = array<i64: 1, 32>, transpose_rhs} : (!halftone.tensor<[batch, 2, 8], i32>, !halftone.tensor<[batch, 2], i32>, !halftone.tensor<[8, 2, 8], i32>, !halftone.tensor<[8, 2], i32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Scaled contract: a part has a word of scales.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 2, 8], i32>
  %xs = halftone.input "xs" : !halftone.tensor<[batch, 2], i32>
  %w = halftone.input "w" : !halftone.tensor<[8, 2, 8], i32>
  %ws = halftone.input "ws" : !halftone.tensor<[8, 1], i32>
  // expected-error @+1 {{has '!halftone.tensor<[8, 2, 8], i32>' by '!halftone.tensor<[8, 1], i32>' as packed codes and scales, not '!halftone.tensor<[8, 2, 8], i32>' by '!halftone.tensor<[8, 2], i32>'}}
  %y = halftone.scaled_contract %x by %xs, %w by %ws {lhs_block = array<i64: 1, 16>, pass = #halftone.pass<forward>, rhs_block = array<i64: 1, 16>, transpose_rhs} : (!halftone.tensor<[batch, 2, 8], i32>, !halftone.tensor<[batch, 2], i32>, !halftone.tensor<[8, 2, 8], i32>, !halftone.tensor<[8, 1], i32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Scaled contract: both have as many parts.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 2, 8], i32>
  %xs = halftone.input "xs" : !halftone.tensor<[batch, 2], i32>
  %w = halftone.input "w" : !halftone.tensor<[8, 3, 8], i32>
  %ws = halftone.input "ws" : !halftone.tensor<[8, 2], i32>
  // expected-error @+1 {{has '!halftone.tensor<[8, 3, 8], i32>' by '!halftone.tensor<[8, 2], i32>' as packed codes and scales, not}}
  %y = halftone.scaled_contract %x by %xs, %w by %ws {lhs_block = array<i64: 1, 16>, pass = #halftone.pass<forward>, rhs_block = array<i64: 1, 16>, transpose_rhs} : (!halftone.tensor<[batch, 2, 8], i32>, !halftone.tensor<[batch, 2], i32>, !halftone.tensor<[8, 3, 8], i32>, !halftone.tensor<[8, 2], i32>) -> !halftone.tensor<[batch, 8], f32>
}

// -----

// Contract: a batch has matrices.
halftone.graph "g" {
  %g = halftone.input "g" : !halftone.tensor<[batch, 4], f32>
  %h = halftone.input "h" : !halftone.tensor<[batch, 4, 8], f32>
  // expected-error @+1 {{'!halftone.tensor<[batch, 4], f32>' has no matrix behind a batch of 1 axis}}
  %y = halftone.contract %g, %h {batch_axes = 1, pass = #halftone.pass<forward>} : (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[batch, 4, 8], f32>) -> !halftone.tensor<[batch, 1, 8], f32>
}

// -----

// Contract: both operands have one batch.
halftone.graph "g" {
  %g = halftone.input "g" : !halftone.tensor<[batch, 3, 5, 4], f32>
  %h = halftone.input "h" : !halftone.tensor<[batch, 2, 4, 8], f32>
  // expected-error @+1 {{has a batch of batch x 3 in lhs but batch x 2 in rhs}}
  %y = halftone.contract %g, %h {batch_axes = 2, pass = #halftone.pass<forward>} : (!halftone.tensor<[batch, 3, 5, 4], f32>, !halftone.tensor<[batch, 2, 4, 8], f32>) -> !halftone.tensor<[batch, 3, 5, 8], f32>
}

// -----

// Contract: the result has their batch.
halftone.graph "g" {
  %g = halftone.input "g" : !halftone.tensor<[batch, 5, 4], f32>
  %h = halftone.input "h" : !halftone.tensor<[batch, 4, 8], f32>
  // expected-error @+1 {{has a batch of batch in lhs but time in its result}}
  %y = halftone.contract %g, %h {batch_axes = 1, pass = #halftone.pass<forward>} : (!halftone.tensor<[batch, 5, 4], f32>, !halftone.tensor<[batch, 4, 8], f32>) -> !halftone.tensor<[time, 5, 8], f32>
}

// -----

// Contract: of a batch, too, the result is rows by columns.
halftone.graph "g" {
  %g = halftone.input "g" : !halftone.tensor<[batch, 5, 4], f32>
  %h = halftone.input "h" : !halftone.tensor<[batch, 4, 8], f32>
  // expected-error @+1 {{is not 5 by 8}}
  %y = halftone.contract %g, %h {batch_axes = 1, pass = #halftone.pass<forward>} : (!halftone.tensor<[batch, 5, 4], f32>, !halftone.tensor<[batch, 4, 8], f32>) -> !halftone.tensor<[batch, 8, 5], f32>
}

// -----

// Map: rows stay.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{cannot be accessed as window of domain time x 4}}
  %y = halftone.map "slice" (%x) over ["time", 4] reads [#halftone.access<window>] writes [#halftone.access<full>]
      : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[time, 4], f32> {
  ^bb0(%a: f32):
    halftone.yield %a : f32
  }
}

// -----

// Map: one access per operand and per result.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{wants one access per operand and per result}}
  %y = halftone.map "copy" (%x) over ["batch", 8] reads [] writes [#halftone.access<full>]
      : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32> {
  ^bb0(%a: f32):
    halftone.yield %a : f32
  }
}

// -----

// Map: matrices are a contraction's.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{cannot be accessed as lhs of domain batch x 8}}
  %y = halftone.map "copy" (%x) over ["batch", 8] reads [#halftone.access<lhs>] writes [#halftone.access<full>]
      : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32> {
  ^bb0(%a: f32):
    halftone.yield %a : f32
  }
}

// -----

// Kernel: a second product has a row of lhs2 for every row of its domain, a row of rhs2 for every column.
halftone.graph "g" {
  %q = halftone.input "q" : !halftone.tensor<[batch, 7, 16], f32>
  %k = halftone.input "k" : !halftone.tensor<[batch, 9, 16], f32>
  // expected-error @+1 {{cannot be accessed as lhs2 of domain batch x 7 x 9: it wants a number of columns behind batch x 7}}
  %y = halftone.kernel "y" attention over ["batch", 7, 9] reduce [16](%q, %k, %k, %k)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>, #halftone.access<lhs2>, #halftone.access<rhs2>] -> [#halftone.access<rhs>]
      fused [] {resultSegmentSizes = array<i32: 1, 0>, transpose_rhs} : (!halftone.tensor<[batch, 7, 16], f32>, !halftone.tensor<[batch, 9, 16], f32>,
      !halftone.tensor<[batch, 9, 16], f32>, !halftone.tensor<[batch, 9, 16], f32>) -> !halftone.tensor<[batch, 7, 16], f32> {
  ^bb0(%sum: f32, %sum2: f32):
    halftone.kernel_yield stores %sum2 : f32
  }
}

// -----

// Kernel: turns are cosines and sines.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4, 8], f32>
  %t = halftone.input "t" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{turns by '!halftone.tensor<[4], f32>': turns are two rows in f32, of numbers of places}}
  %y = halftone.kernel "y" transform over ["batch", 4, 8] reduce [](%x, %t)
      accesses [#halftone.access<full>, #halftone.access<turns>] -> [#halftone.access<transformed>]
      fused [] {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 4, 8], f32>, !halftone.tensor<[4], f32>)
      -> !halftone.tensor<[batch, 1, 4, 2, 16], f32> {
  ^bb0(%a: f32):
    halftone.kernel_yield stores %a : f32
  }
}

// -----

// Kernel: a spectrum is one of the domain's sequences.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4, 8], f32>
  %t = halftone.input "t" : !halftone.tensor<[2, 4], f32>
  // expected-error @+1 {{which are no sequence and spectrum of one another}}
  %y = halftone.kernel "y" transform over ["batch", 4, 8] reduce [](%x, %t)
      accesses [#halftone.access<full>, #halftone.access<turns>] -> [#halftone.access<transformed>]
      fused [] {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 4, 8], f32>, !halftone.tensor<[2, 4], f32>)
      -> !halftone.tensor<[batch, 4, 2, 16], f32> {
  ^bb0(%a: f32):
    halftone.kernel_yield stores %a : f32
  }
}

// -----

// Kernel: a factor is a spectrum of the domain's channels.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 50, 8], f32>
  %f = halftone.input "f" : !halftone.tensor<[2, 64, 2, 16], f32>
  %t = halftone.input "t" : !halftone.tensor<[2, 64], f32>
  // expected-error @+1 {{which is none of the same channels}}
  %y = halftone.kernel "y" convolution_pass over ["batch", 50, 8] reduce [](%x, %f, %t)
      accesses [#halftone.access<full>, #halftone.access<factor>, #halftone.access<turns>] -> [#halftone.access<transformed>]
      fused [] {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 50, 8], f32>, !halftone.tensor<[2, 64, 2, 16], f32>, !halftone.tensor<[2, 64], f32>)
      -> !halftone.tensor<[batch, 50, 8], f32> {
  ^bb0(%a: f32):
    halftone.kernel_yield stores %a : f32
  }
}

// -----

// Kernel: a second product gives the body a second sum.
halftone.graph "g" {
  %q = halftone.input "q" : !halftone.tensor<[batch, 7, 16], f32>
  %k = halftone.input "k" : !halftone.tensor<[batch, 9, 16], f32>
  // expected-error @+1 {{body wants 2 arguments, not 1}}
  %y = halftone.kernel "y" attention_columns over ["batch", 7, 9] reduce [16](%q, %k, %q, %k)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>, #halftone.access<lhs2>, #halftone.access<rhs2>] -> [#halftone.access<lhs>]
      fused [] {resultSegmentSizes = array<i32: 1, 0>, transpose_rhs} : (!halftone.tensor<[batch, 7, 16], f32>, !halftone.tensor<[batch, 9, 16], f32>,
      !halftone.tensor<[batch, 7, 16], f32>, !halftone.tensor<[batch, 9, 16], f32>) -> !halftone.tensor<[batch, 9, 16], f32> {
  ^bb0(%sum: f32):
    halftone.kernel_yield stores %sum : f32
  }
}

// -----

// Flatten: one offset per part.
halftone.graph "g" {
  %p0 = halftone.input "p0" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{has 1 parts but 2 offsets}}
  %y = halftone.flatten %p0 at [0, 4] : (!halftone.tensor<[4], f32>) -> !halftone.tensor<[32], f32>
}

// -----

// Flatten: parts do not overlap.
halftone.graph "g" {
  %p0 = halftone.input "p0" : !halftone.tensor<[4], f32>
  %p1 = halftone.input "p1" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{overlaps the part before it or has a symbolic size}}
  %y = halftone.flatten %p0, %p1 at [0, 3] : (!halftone.tensor<[4], f32>, !halftone.tensor<[4], f32>) -> !halftone.tensor<[32], f32>
}

// -----

// Flatten: parts have a size.
halftone.graph "g" {
  %p0 = halftone.input "p0" : !halftone.tensor<[batch], f32>
  // expected-error @+1 {{overlaps the part before it or has a symbolic size}}
  %y = halftone.flatten %p0 at [0] : (!halftone.tensor<[batch], f32>) -> !halftone.tensor<[32], f32>
}

// -----

// Flatten: parts lie inside.
halftone.graph "g" {
  %p0 = halftone.input "p0" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{parts end at 33, past}}
  %y = halftone.flatten %p0 at [29] : (!halftone.tensor<[4], f32>) -> !halftone.tensor<[32], f32>
}

// -----

// Reduce: an operand that its domain can address.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  %z = halftone.input "z" : !halftone.tensor<[5], f32>
  // expected-error @+1 {{does not fit domain batch x 4}}
  %y = halftone.reduce "n" (%x, %z) : (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[5], f32>) -> !halftone.tensor<[4], f32>
}

// -----

// Reduce: as many sums as results.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{wants as many sums as results}}
  %y = halftone.reduce "n" (%x, %x) : (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[batch, 4], f32>) -> !halftone.tensor<[4], f32>
}

// -----

// Reduce over rows: one value a column.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{cannot be accessed as column of domain batch x 4}}
  %y = halftone.reduce "n" (%x) : (!halftone.tensor<[batch, 4], f32>) -> !halftone.tensor<[5], f32>
}

// -----

// Reduce: 'each' sees the operands.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{wants one argument per operand, of its element type, in 'each'}}
  %y = halftone.reduce "n" (%x) : (!halftone.tensor<[batch, 4], f32>) -> !halftone.tensor<[4], f32> each {
  ^bb0(%a: bf16):
    halftone.yield %a : bf16
  }
}

// -----

// Reduce: 'finish' sees the sums and the scalars.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{wants the sums and one argument per scalar in 'finish'}}
  %y = halftone.reduce "n" (%x) : (!halftone.tensor<[4], f32>) -> !halftone.tensor<[], f32> finish {
  ^bb0(%a: f32, %b: f32):
    halftone.yield %a : f32
  }
}

// -----

// Reduce: 'finish' yields the results.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{wants 'finish' to yield one value per result}}
  %y = halftone.reduce "n" (%x) : (!halftone.tensor<[4], f32>) -> !halftone.tensor<[], f32> finish {
  ^bb0(%a: f32):
    halftone.yield
  }
}

// -----

// Mean: the result is a scalar.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{must be halftone scalar tensor}}
  %y = halftone.mean %x : (!halftone.tensor<[4], f32>) -> !halftone.tensor<[4], f32>
}

// -----

// Assign: only what persists.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], f32>
  %z = halftone.input "z" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{assigns to what does not persist}}
  halftone.assign %x to %z : (!halftone.tensor<[4], f32>, !halftone.tensor<[4], f32>) -> ()
}

// -----

// QuantizedWeight: codes are a matrix of what weights are held in, scales one for each channel.
halftone.graph "g" {
  // expected-error @+1 {{codes '!halftone.tensor<[4, 8], bf16>' are no matrix of i8 or f8e4m3}}
  %q, %s = halftone.quantized_weight "w" at 0, 0 {dimension = 0 : i64} : !halftone.tensor<[4, 8], bf16>, !halftone.tensor<[4], f32>
}

// -----

halftone.graph "g" {
  // expected-error @+1 {{scales '!halftone.tensor<[4], f32>' are not one for each channel of '!halftone.tensor<[4, 8], si8>' along dimension 1}}
  %q, %s = halftone.quantized_weight "w" at 0, 0 {dimension = 1 : i64} : !halftone.tensor<[4, 8], si8>, !halftone.tensor<[4], f32>
}

// -----

// Assign: a working copy is read from its buffer, which is what takes new values.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], bf16>
  %c = halftone.working_copy "w" in "parameters.bf16" at 0 : !halftone.tensor<[4], bf16>
  // expected-error @+1 {{assigns to what does not persist}}
  halftone.assign %x to %c : (!halftone.tensor<[4], bf16>, !halftone.tensor<[4], bf16>) -> ()
}

// -----

// Assign: parameters change as a whole.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], f32>
  %w = halftone.parameter "w" {initializer = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>} : !halftone.tensor<[4], f32>
  // expected-error @+1 {{assigns to what does not persist}}
  halftone.assign %x to %w : (!halftone.tensor<[4], f32>, !halftone.tensor<[4], f32>) -> ()
}

// -----

// Assign: the formats agree, though an input that a state takes may still arrive in its own.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], bf16>
  %y = halftone.relu %x : (!halftone.tensor<[4], bf16>) -> !halftone.tensor<[4], bf16>
  %s = halftone.state "s" {initial = 0.0 : f64} : !halftone.tensor<[4], f32>
  halftone.assign %x to %s : (!halftone.tensor<[4], f32>, !halftone.tensor<[4], bf16>) -> ()
  // expected-error @+1 {{does not fit}}
  halftone.assign %y to %s : (!halftone.tensor<[4], f32>, !halftone.tensor<[4], bf16>) -> ()
}

// -----

// Assign: an output's gradient has one format.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], bf16>
  %g = halftone.output_gradient "x", %x : (!halftone.tensor<[4], bf16>) -> !halftone.tensor<[4], bf16>
  %e = halftone.external_gradient "x" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{does not fit}}
  halftone.assign %e to %g : (!halftone.tensor<[4], bf16>, !halftone.tensor<[4], f32>) -> ()
}

// -----

// Assign: one type.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[5], f32>
  %s = halftone.state "s" {initial = 0.0 : f64} : !halftone.tensor<[4], f32>
  // expected-error @+1 {{does not fit}}
  halftone.assign %x to %s : (!halftone.tensor<[4], f32>, !halftone.tensor<[5], f32>) -> ()
}

// -----

// Kernel: a domain is not empty.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{wants a domain with columns}}
  %y = halftone.kernel "k" pointwise over [] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: one access per operand.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{wants one access per operand and per stored result}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses []
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: one access per stored result.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{wants one access per operand and per stored result}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: only contractions reduce.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{wants reduction dimensions if, and only if, it is a contraction}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [8] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: contractions reduce.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{wants reduction dimensions if, and only if, it is a contraction}}
  %y = halftone.kernel "k" contraction over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: one body argument per element.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{body wants 1 arguments, not 2}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32, %a1: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: a contraction body has the sum as well.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8, 4], f32>
  // expected-error @+1 {{body wants 1 arguments, not 0}}
  %y = halftone.kernel "k" contraction over ["batch", 4] reduce [8] (%x, %w) accesses [#halftone.access<lhs>, #halftone.access<rhs>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: one store per result.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{body wants to end in a kernel_yield of one value per stored result}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c, %c : f32, f32
  }
}

// -----

// Kernel: a body ends in a kernel_yield.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{body wants to end in a kernel_yield of one value per stored result}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.yield %c : f32
  }
}

// -----

// Kernel: no sums without a finish.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{wants sums and a finish if, and only if, it has finished results}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32 sums %c : f32
  }
}

// -----

// Kernel: no finish without sums.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{wants sums and a finish if, and only if, it has finished results}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  } finish {
  ^bb0(%s: f32):
    halftone.yield %s : f32
  }
}

// -----

// Kernel: no finished result without a finish.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{wants sums and a finish if, and only if, it has finished results}}
  %y = halftone.kernel "k" flat over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [] fused [] {resultSegmentSizes = array<i32: 0, 1>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield sums %c : f32
  }
}

// -----

// Kernel: an operand fits its access, full.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 5], f32>
  // expected-error @+1 {{cannot be accessed as full of domain batch x 4}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 5], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: an operand fits its access, window.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[time, 4], f32>
  // expected-error @+1 {{cannot be accessed as window of domain batch x 4}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<window>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[time, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: an operand fits its access, column.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[5], f32>
  // expected-error @+1 {{cannot be accessed as column of domain batch x 4}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<column>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[5], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: an operand fits its access, row.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{cannot be accessed as row of domain batch x 4}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<row>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: an operand fits its access, scalar.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{cannot be accessed as scalar of domain batch x 4}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<scalar>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: an operand fits its access, lhs.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{cannot be accessed as lhs of domain batch x 4}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<lhs>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: an operand fits its access, rhs.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[4, 4], f32>
  // expected-error @+1 {{cannot be accessed as rhs of domain batch x 4}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<rhs>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[4, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: a result fits its access.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{cannot be accessed as row of domain batch x 4}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<row>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: a finished result is a scalar.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{must be variadic of halftone scalar tensor}}
  %y = halftone.kernel "k" flat over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [] fused [] {resultSegmentSizes = array<i32: 0, 1>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield sums %c : f32
  } finish {
  ^bb0(%s: f32):
    halftone.yield %s : f32
  }
}

// -----

// Kernel: only a contraction says how it accumulates.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{states an accumulation, but only contractions sum over k (P21)}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {accumulation = #halftone.accumulation<hardware>, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    halftone.kernel_yield stores %a0 : f32
  }
}

// -----

// Kernel: a general access has a map.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{has a general access without a map}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<general>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: a map is one of the kernel's axes to the operand's dimensions.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{by a map of 1 axes, 0 indices and 2 dimensions; it wants 2, 0 and 2}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<general reads affine_map<(i) -> (i, i)>>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: a map has a symbol for every index.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{by a map of 2 axes, 1 indices and 2 dimensions; it wants 2, 0 and 2}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<general reads affine_map<(i, j)[t] -> (t, j)>>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: a predicate is one of the kernel's axes.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{has a predicate of 1 axes and 0 indices; it wants 2 and 0}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<general reads affine_map<(i, j) -> (i, j)> where affine_set<(i) : (i mod 2 == 0)>>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: maps divide by rounding down.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{has a map or predicate with ceildiv or a divisor that is no number}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<general reads affine_map<(i, j) -> (i, j ceildiv 2)>>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: a map with a loop of its own is named.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{has a general access that is full: name it}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<general reads affine_map<(i, j) -> (i, j)>>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: a map with a loop of its own is named, window.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{has a general access that is window: name it}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<general reads affine_map<(i, j) -> (i, j + 3)>>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: a gather reads through an operand.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{reads through operand 2, which it has not}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<general reads affine_map<(i, j)[t] -> (t, j)> through [2]>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: a gather reads through integers.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  %r = halftone.input "r" : !halftone.tensor<[batch], f32>
  // expected-error @+1 {{reads through operand 1, which holds}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x, %r) accesses [#halftone.access<general reads affine_map<(i, j)[t] -> (t, j)> through [1]>, #halftone.access<row>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[batch], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32, %a1: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: a gather reads through a named access.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  %r = halftone.input "r" : !halftone.tensor<[batch, 4], i32>
  // expected-error @+1 {{reads through operand 1 accessed as window: an index is full, column, row or scalar}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x, %r) accesses [#halftone.access<general reads affine_map<(i, j)[t] -> (t, j)> through [1]>, #halftone.access<window, 1>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[batch, 4], i32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32, %a1: i32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: a result is stored by its name.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4], f32>
  // expected-error @+1 {{stores result 0 by a general access: read by the inverse map instead}}
  %y = halftone.kernel "k" pointwise over ["batch", 4] reduce [] (%x) accesses [#halftone.access<full>]
      -> [#halftone.access<general reads affine_map<(i, j) -> (j, i)>>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%a0: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: both operands of a contraction have its depth.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[9, 4], f32>
  // expected-error @+1 {{cannot be accessed as rhs of domain batch x 4}}
  %y = halftone.kernel "k" contraction over ["batch", 4] reduce [8] (%x, %w) accesses [#halftone.access<lhs>, #halftone.access<rhs>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[9, 4], f32>) -> (!halftone.tensor<[batch, 4], f32>) {
  ^bb0(%s: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// Kernel: both operands of a contraction have its batch.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 3, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[5, 8, 4], f32>
  // expected-error @+1 {{cannot be accessed as rhs of domain batch x 3 x 4}}
  %y = halftone.kernel "k" contraction over ["batch", 3, 4] reduce [8] (%x, %w) accesses [#halftone.access<lhs>, #halftone.access<rhs>]
      -> [#halftone.access<full>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 3, 8], f32>, !halftone.tensor<[5, 8, 4], f32>) -> (!halftone.tensor<[batch, 3, 4], f32>) {
  ^bb0(%s: f32):
    %c = arith.constant 0.0 : f32
    halftone.kernel_yield stores %c : f32
  }
}

// -----

// View: nothing is rounded or widened.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], bf16>
  // expected-error @+1 {{differ in their element: a view rounds and widens nothing}}
  %y = halftone.view %x : (!halftone.tensor<[batch, 8], bf16>) -> !halftone.tensor<[batch, 2, 4], f16>
}

// -----

// View: as many elements, whatever symbols are bound to.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, time, 8], f32>
  // expected-error @+1 {{have other numbers of elements: give both the same symbols and the same product of extents}}
  %y = halftone.view %x : (!halftone.tensor<[batch, time, 8], f32>) -> !halftone.tensor<[batch, batch, 8], f32>
}

// -----

// View: as many elements, where all dimensions are numbers.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{have other numbers of elements: give both the same symbols and the same product of extents}}
  %y = halftone.view %x : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 3, 3], f32>
}

// -----

// View: as many elements, of a sum of a symbol.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, side + 1, 8], f32>
  // expected-error @+1 {{have other numbers of elements: give both the same symbols and the same product of extents}}
  %y = halftone.view %x : (!halftone.tensor<[batch, side + 1, 8], f32>) -> !halftone.tensor<[batch, 2*side + 1, 4], f32>
}

// -----

// View: a part is what is behind the dimensions of the parts.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4, time, 8], f32>
  // expected-error @+1 {{are not 2 dimensions of parts and one of them}}
  %y = halftone.view %x {parts = 2 : i64} : (!halftone.tensor<[batch, 4, time, 8], f32>) -> !halftone.tensor<[8, time], f32>
}

// -----

// View: of no part at all.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4, time, 8], f32>
  // expected-error @+1 {{attribute 'parts' failed to satisfy constraint}}
  %y = halftone.view %x {parts = -1 : i64} : (!halftone.tensor<[batch, 4, time, 8], f32>) -> !halftone.tensor<[time, 8], f32>
}

// -----

// Reshape: as many elements.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{have other numbers of elements: give both the same symbols and the same product of extents}}
  %y = halftone.reshape %x : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 9], f32>
}

// -----

// Transpose: axes are a permutation.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{axes are no permutation of the dimensions of}}
  %y = halftone.transpose %x {axes = array<i64: 1, 1>} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[8, 8], f32>
}

// -----

// Transpose: the result has the dimensions in their order.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4, 8], f32>
  // expected-error @+1 {{transposed by its axes is not}}
  %y = halftone.transpose %x {axes = array<i64: 1, 2, 0>} : (!halftone.tensor<[batch, 4, 8], f32>) -> !halftone.tensor<[8, batch, 4], f32>
}

// -----

// Attention: keys and values of the same sequences.
halftone.graph "g" {
  %q = halftone.input "q" : !halftone.tensor<[batch, 5, 4], f32>
  %k = halftone.input "k" : !halftone.tensor<[time, 7, 4], f32>
  // expected-error @+1 {{are not sequences of one batch}}
  %y = halftone.attention %q, %k, %k {heads = 2 : i64} : (!halftone.tensor<[batch, 5, 4], f32>, !halftone.tensor<[time, 7, 4], f32>, !halftone.tensor<[time, 7, 4], f32>) -> !halftone.tensor<[batch, 5, 4], f32>
}

// -----

// Attention: a value for every key.
halftone.graph "g" {
  %q = halftone.input "q" : !halftone.tensor<[batch, 5, 4], f32>
  %k = halftone.input "k" : !halftone.tensor<[batch, 7, 4], f32>
  // expected-error @+1 {{do not match}}
  %y = halftone.attention %q, %k, %q {heads = 2 : i64} : (!halftone.tensor<[batch, 5, 4], f32>, !halftone.tensor<[batch, 7, 4], f32>, !halftone.tensor<[batch, 5, 4], f32>) -> !halftone.tensor<[batch, 5, 4], f32>
}

// -----

// Attention: heads that share keys are a multiple of the key heads.
halftone.graph "g" {
  %q = halftone.input "q" : !halftone.tensor<[batch, 5, 6], f32>
  // expected-error @+1 {{3 heads are no multiple of 2 key heads}}
  %y = halftone.attention %q, %q, %q {heads = 3 : i64, key_heads = 2 : i64} : (!halftone.tensor<[batch, 5, 6], f32>, !halftone.tensor<[batch, 5, 6], f32>, !halftone.tensor<[batch, 5, 6], f32>) -> !halftone.tensor<[batch, 5, 6], f32>
}

// -----

// Attention: heads are whole columns.
halftone.graph "g" {
  %q = halftone.input "q" : !halftone.tensor<[batch, 5, 6], f32>
  // expected-error @+1 {{cannot be cut into 4 heads}}
  %y = halftone.attention %q, %q, %q {heads = 4 : i64} : (!halftone.tensor<[batch, 5, 6], f32>, !halftone.tensor<[batch, 5, 6], f32>, !halftone.tensor<[batch, 5, 6], f32>) -> !halftone.tensor<[batch, 5, 6], f32>
}

// -----

// Attention: products are of heads of one width.
halftone.graph "g" {
  %q = halftone.input "q" : !halftone.tensor<[batch, 5, 6], f32>
  // expected-error @+1 {{has 3 columns of the query in a head but 6 of the key}}
  %y = halftone.attention %q, %q, %q {heads = 2 : i64, key_heads = 1 : i64} : (!halftone.tensor<[batch, 5, 6], f32>, !halftone.tensor<[batch, 5, 6], f32>, !halftone.tensor<[batch, 5, 6], f32>) -> !halftone.tensor<[batch, 5, 12], f32>
}

// -----

// Attention: the result has the columns of all heads' values.
halftone.graph "g" {
  %q = halftone.input "q" : !halftone.tensor<[batch, 5, 6], f32>
  // expected-error @+1 {{does not have 6 columns for every query of}}
  %y = halftone.attention %q, %q, %q {heads = 2 : i64} : (!halftone.tensor<[batch, 5, 6], f32>, !halftone.tensor<[batch, 5, 6], f32>, !halftone.tensor<[batch, 5, 6], f32>) -> !halftone.tensor<[batch, 5, 12], f32>
}

// -----

// Attention: a length for every sequence.
halftone.graph "g" {
  %q = halftone.input "q" : !halftone.tensor<[batch, 5, 6], f32>
  %n = halftone.input "n" : !halftone.tensor<[batch, 5], i32>
  // expected-error @+1 {{to mask keys; it wants batch}}
  %y = halftone.attention %q, %q, %q length %n {heads = 2 : i64} : (!halftone.tensor<[batch, 5, 6], f32>, !halftone.tensor<[batch, 5, 6], f32>, !halftone.tensor<[batch, 5, 6], f32>, !halftone.tensor<[batch, 5], i32>) -> !halftone.tensor<[batch, 5, 6], f32>
}

// -----

// Attention: segments are those of one sequence.
halftone.graph "g" {
  %q = halftone.input "q" : !halftone.tensor<[batch, 5, 6], f32>
  %k = halftone.input "k" : !halftone.tensor<[batch, 7, 6], f32>
  %s = halftone.input "s" : !halftone.tensor<[batch, 5], i32>
  // expected-error @+1 {{has segments of one sequence, but reads}}
  %y = halftone.attention %q, %k, %k segment %s {heads = 2 : i64} : (!halftone.tensor<[batch, 5, 6], f32>, !halftone.tensor<[batch, 7, 6], f32>, !halftone.tensor<[batch, 7, 6], f32>, !halftone.tensor<[batch, 5], i32>) -> !halftone.tensor<[batch, 5, 6], f32>
}

// -----

// Kept: of kernels that leave out what is not.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %y = halftone.kernel "y" row over ["batch", 8] reduce [](%x) accesses [#halftone.access<full>] -> [#halftone.access<full>]
      fused [] {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32> {
  ^bb0(%a: f32):
    %number = arith.cmpf ord, %a, %a : f32
    // expected-error @+1 {{is in a kernel of skeleton row, which computes every element: use its operand}}
    %kept = halftone.kept %number : i1
    %b = arith.select %kept, %a, %a : f32
    halftone.kernel_yield stores %b : f32
  }
}

// -----

// Axis index: of the domain.
halftone.graph "g" {
  %y = halftone.map "places" () : () -> !halftone.tensor<[batch, 8], i32> {
    // expected-error @+1 {{asks for axis 2 of a domain with 2: axes count from 0}}
    %i = halftone.axis_index 2 : i32
    halftone.yield %i : i32
  }
}

// -----

// Rotary: heads divide columns.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, time, 8], f32>
  // expected-error @+1 {{has 3 heads, by which the columns of}}
  %y:3 = halftone.rotary %x {base = 1.0e4 : f64, factor = 1.0 : f64, interleaved = false, heads = 3 : i64} : (!halftone.tensor<[batch, time, 8], f32>) -> (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[time, 2], f32>, !halftone.tensor<[time, 2], f32>)
}

// -----

// Rotary: pairs of a head.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, time, 8], f32>
  // expected-error @+1 {{rotates 3 of the 4 elements of a head: rotate an even number of them}}
  %y:3 = halftone.rotary %x {base = 1.0e4 : f64, factor = 1.0 : f64, interleaved = false, heads = 2 : i64, rotated = 3 : i64} : (!halftone.tensor<[batch, time, 8], f32>) -> (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[time, 2], f32>, !halftone.tensor<[time, 2], f32>)
}

// -----

// Rotary: as many cosines as pairs.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, time, 8], f32>
  // expected-error @+1 {{cosine and sine must be '!halftone.tensor<[time, 2], f32>'}}
  %y:3 = halftone.rotary %x {base = 1.0e4 : f64, factor = 1.0 : f64, interleaved = false, heads = 2 : i64} : (!halftone.tensor<[batch, time, 8], f32>) -> (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[time, 4], f32>, !halftone.tensor<[time, 4], f32>)
}

// -----

// Rotary: a position for every row.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, time, 8], f32>
  %p = halftone.input "p" : !halftone.tensor<[batch], i32>
  // expected-error @+1 {{position '!halftone.tensor<[batch], i32>' does not have an integer for every row of}}
  %y:3 = halftone.rotary %x at %p {base = 1.0e4 : f64, factor = 1.0 : f64, interleaved = false, heads = 2 : i64} : (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[batch], i32>) -> (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[batch, 2], f32>, !halftone.tensor<[batch, 2], f32>)
}

// -----

// Sinusoidal embedding: pairs of columns.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, time, 7], f32>
  // expected-error @+1 {{does not have an even number of columns}}
  %y = halftone.sinusoidal_embedding %x {base = 1.0e4 : f64} : (!halftone.tensor<[batch, time, 7], f32>) -> !halftone.tensor<[batch, time, 7], f32>
}

// -----

// Position embedding: rows as long as those of x.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, time, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[5, 7], f32>
  // expected-error @+1 {{weight '!halftone.tensor<[5, 7], f32>' is not rows, in a number, as long as those of}}
  %y = halftone.position_embedding %x, %w : (!halftone.tensor<[batch, time, 8], f32>, !halftone.tensor<[5, 7], f32>) -> !halftone.tensor<[batch, time, 8], f32>
}

// -----

// Results by a window are columns of a wider tensor, and those that make it up are of its type.
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{stores domain batch x 8 from column 4 on of '!halftone.tensor<[batch, 11], f32>', which has no such columns}}
  %y = halftone.kernel "k" pointwise over ["batch", 8] reduce [] (%x) accesses [#halftone.access<full>] -> [#halftone.access<window, 4>] fused []
      {resultSegmentSizes = array<i32: 1, 0>} : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 11], f32> {
  ^bb0(%e: f32):
    halftone.kernel_yield stores %e : f32
  }
}

// -----

halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{is '!halftone.tensor<[batch, 16], f32>', of which '!halftone.tensor<[batch, 8], f32>' is no part: kernels store theirs in all of it, by a window}}
  %y = halftone.whole "y" of %x : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 16], f32>
}

// -----

halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{'!halftone.tensor<[batch, 4], f32>' are no columns of '!halftone.tensor<[batch, 8], f32>' from 5 on}}
  %y = halftone.part %x from 5 : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 4], f32>
}

// -----

// Batch norm: one value per column.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8], f32>
  %v = halftone.input "v" : !halftone.tensor<[7], f32>
  // expected-error @+1 {{'!halftone.tensor<[7], f32>' does not have one value per column of}}
  %y:5 = halftone.batch_norm %x, %w, %v, %w, %w {epsilon = 1.0e-05 : f64, momentum = 1.0e-01 : f64} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[7], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>)
}

// -----

// Group norm: one value per channel, and shared ones per image and channel.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8], f32>
  %v = halftone.input "v" : !halftone.tensor<[4], f32>
  // expected-error @+1 {{'!halftone.tensor<[4], f32>' does not have one value per channel of}}
  %y:3 = halftone.group_norm %x, %w, %v {epsilon = 1.0e-05 : f64, groups = 4 : i64} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[4], f32>) -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch, 8], f32>)
}

// -----

halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[8], f32>
  // expected-error @+1 {{'!halftone.tensor<[batch], f32>' does not have one value per image and channel of}}
  %y:3 = halftone.group_norm %x, %w, %w {epsilon = 1.0e-05 : f64, groups = 4 : i64} : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) -> (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[batch], f32>, !halftone.tensor<[batch, 8], f32>)
}

// -----

// Positions: times before columns.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[8], f32>
  %w = halftone.input "w" : !halftone.tensor<[5, 8], f32>
  // expected-error @+1 {{x '!halftone.tensor<[8], f32>' must have times before its columns}}
  %y = halftone.position_embedding %x, %w : (!halftone.tensor<[8], f32>, !halftone.tensor<[5, 8], f32>) -> !halftone.tensor<[8], f32>
}

// -----

halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[8], f32>
  // expected-error @+1 {{x '!halftone.tensor<[8], f32>' must have times before its columns}}
  %y:3 = halftone.rotary %x {heads = 2 : i64, base = 1.0e4 : f64, interleaved = false, factor = 1.0 : f64} : (!halftone.tensor<[8], f32>) -> (!halftone.tensor<[8], f32>, !halftone.tensor<[1, 2], f32>, !halftone.tensor<[1, 2], f32>)
}

// -----

// A product goes on from a sum of its own type.
halftone.graph "g" {
  %g = halftone.input "g" : !halftone.tensor<[batch, 4], f32>
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %s = halftone.input "s" : !halftone.tensor<[8, 4], f32>
  // expected-error @+1 {{starts from '!halftone.tensor<[8, 4], f32>', which is no '!halftone.tensor<[4, 8], f32>'}}
  %y = halftone.contract %g, %x from %s {pass = #halftone.pass<weight_gradient>, transpose_lhs} : (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8, 4], f32>) -> !halftone.tensor<[4, 8], f32>
}

// -----

// A map over a domain leaves something.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  // expected-error @+1 {{has no result}}
  halftone.map "none" (%x) over ["batch", 8] reads [#halftone.access<full>] writes [] : (!halftone.tensor<[batch, 8], f32>) -> () {
  ^bb0(%e: f32):
    halftone.yield
  }
}

// -----

// A sum has something to sum.
halftone.graph "g" {
  // expected-error @+1 {{wants an operand to sum and a result}}
  %y = halftone.reduce "none" () : () -> !halftone.tensor<[8], f32>
}

// -----

// What lies in a flat buffer lies inside of it.
halftone.graph "g" {
  %x = halftone.input "x" : !halftone.tensor<[16], f32>
  // expected-error @+1 {{'!halftone.tensor<[4, 2], f32>' are no elements of '!halftone.tensor<[16], f32>' from 9 on}}
  %y = halftone.view %x {at = 9 : i64} : (!halftone.tensor<[16], f32>) -> !halftone.tensor<[4, 2], f32>
}
