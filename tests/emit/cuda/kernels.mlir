// SPDX-License-Identifier: Apache-2.0
// Kernels of every skeleton, access and transposition. emulation_test.cpp runs their texts, nvrtc_compile compiles them,
// and the CHECK lines say what a text looks like.
// RUN: cuda_text %s | FileCheck %s
#full = #halftone.access<full>
#row = #halftone.access<row>
#column = #halftone.access<column>
#scalar = #halftone.access<scalar>
#lhs = #halftone.access<lhs>
#rhs = #halftone.access<rhs>

module {
halftone.graph "training" {
  %x5 = halftone.input "x5" : !halftone.tensor<[batch, 5], f32>
  %x4 = halftone.input "x4" : !halftone.tensor<[batch, 4], f32>
  %x6 = halftone.input "x6" : !halftone.tensor<[batch, 6], f32>
  %x7 = halftone.input "x7" : !halftone.tensor<[batch, 7], f32>
  %x8 = halftone.input "x8" : !halftone.tensor<[batch, 8], f32>
  %x10 = halftone.input "x10" : !halftone.tensor<[batch, 10], f32>
  %x29 = halftone.input "x29" : !halftone.tensor<[batch, 29], f32>
  %x35 = halftone.input "x35" : !halftone.tensor<[batch, 35], f32>
  %x37 = halftone.input "x37" : !halftone.tensor<[batch, 37], f32>
  %x700 = halftone.input "x700" : !halftone.tensor<[batch, 700], f32>
  %x2500 = halftone.input "x2500" : !halftone.tensor<[batch, 2500], f32>
  %rows = halftone.input "rows" : !halftone.tensor<[batch], f32>
  %label = halftone.input "label" : !halftone.tensor<[batch], i32>
  %c8 = halftone.input "c8" : !halftone.tensor<[8], f32>
  %c10 = halftone.input "c10" : !halftone.tensor<[10], f32>
  %c35 = halftone.input "c35" : !halftone.tensor<[35], f32>
  %c37 = halftone.input "c37" : !halftone.tensor<[37], f32>
  %s = halftone.input "s" : !halftone.tensor<[], f32>
  %w37x29 = halftone.input "w37x29" : !halftone.tensor<[37, 29], f32>
  %w29x37 = halftone.input "w29x37" : !halftone.tensor<[29, 37], f32>
  %w5x37 = halftone.input "w5x37" : !halftone.tensor<[5, 37], f32>
  %w37x40 = halftone.input "w37x40" : !halftone.tensor<[37, 40], f32>
  %w10x37 = halftone.input "w10x37" : !halftone.tensor<[10, 37], f32>
  %w132x37 = halftone.input "w132x37" : !halftone.tensor<[132, 37], f32>

  // Elements that know neither row nor column count as one row, whatever their shape.
  // CHECK-LABEL: {{^}}// m: scale, pointwise kernel, f32 -> f32, Halftone 0
  // CHECK-NOT: #include
  // CHECK-NOT: SPDX
  // CHECK-NOT: to_f16
  // CHECK: kCollapsed = true
  // CHECK: __fmaf_rn(inputs.input0[i], uniforms.input1, v
  // CHECK: extern "C" __global__ void __launch_bounds__(256)
  // CHECK-NEXT: halftone_scale(const float* input0,
  // CHECK-NEXT: const float* input1,
  // CHECK-NEXT: float* result0,
  // CHECK-NEXT: long long symbol_batch) {
  // CHECK: body.elements = symbol_batch * 5LL;
  // CHECK: pointwise::run<Body, 256>(body);
  %scaled_x = halftone.kernel "scale" pointwise over ["batch", 5] reduce [] (%x5, %s) accesses [#full, #scalar] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 5], f32>, !halftone.tensor<[], f32>) -> !halftone.tensor<[batch, 5], f32> {
    ^bb0(%a: f32, %b: f32):
      %tenth = arith.constant 0.1 : f32
      %r = math.fma %a, %b, %tenth : f32
      halftone.kernel_yield stores %r : f32
  }

  // Every scalar operation, constants to the bit.
  // CHECK-LABEL: // m: scalars, pointwise
  // CHECK-DAG: const float v{{[0-9]+}} = 0x1.99999ap-4f;
  // CHECK-DAG: const float v{{[0-9]+}} = -0x0p0f;
  // CHECK-DAG: const float v{{[0-9]+}} = 0x0.000002p-126f;
  // CHECK-DAG: const float v{{[0-9]+}} = __int_as_float(static_cast<int>(0x7fc00000u));
  // CHECK-DAG: const int v{{[0-9]+}} = static_cast<int>(0x80000000ull);
  // CHECK-DAG: static_cast<unsigned long long>((row * columns() + column))
  // CHECK-DAG: const float v{{[0-9]+}} = static_cast<float>(symbol_batch * 7LL);
  // CHECK-DAG: __fdiv_rn(
  // CHECK-DAG: __fsqrt_rn(
  %bits:2 = halftone.kernel "scalars" pointwise over ["batch", 7] reduce [] (%x7) accesses [#full] -> [#full, #full]
      fused [] {resultSegmentSizes = array<i32: 2, 0>}
      : (!halftone.tensor<[batch, 7], f32>) -> (!halftone.tensor<[batch, 7], f32>, !halftone.tensor<[batch, 7], i32>) {
    ^bb0(%a: f32):
      %tenth = arith.constant 0.1 : f32
      %minus_zero = arith.constant -0.0 : f32
      %tiny = arith.constant 1.401298464324817e-45 : f32
      %nan = arith.constant 0x7FC00000 : f32
      %five = arith.constant 5 : i32
      %smallest = arith.constant -2147483648 : i32
      %long = arith.constant 6364136223846793005 : i64
      %shift = arith.constant 33 : i64
      %absolute = math.absf %a : f32
      %root = math.sqrt %absolute : f32
      %quotient = arith.divf %root, %tenth : f32
      %negated = arith.negf %quotient : f32
      %difference = arith.subf %negated, %minus_zero : f32
      %product = arith.mulf %difference, %a : f32
      %sum = arith.addf %product, %tiny : f32
      %count = halftone.count ["batch", 7] : f32
      %shifted = arith.addf %sum, %count : f32
      %small = arith.cmpf ult, %a, %tenth : f32
      %ordered = arith.cmpf ord, %a, %a : f32
      %either = arith.ori %small, %ordered : i1
      %odd = arith.xori %either, %small : i1
      %f = arith.select %ordered, %shifted, %nan : f32
      %code = arith.bitcast %a : f32 to i32
      %left = arith.shli %code, %five : i32
      %right = arith.shrsi %code, %five : i32
      %logical = arith.shrui %code, %five : i32
      %mixed = arith.xori %left, %right : i32
      %wrapped = arith.muli %mixed, %logical : i32
      %minus = arith.subi %wrapped, %smallest : i32
      %plus = arith.addi %minus, %code : i32
      %masked = arith.andi %plus, %logical : i32
      %below = arith.cmpi ult, %code, %smallest : i32
      %lesser = arith.cmpi slt, %code, %five : i32
      %index = halftone.element_index : i64
      %hashed = arith.muli %index, %long : i64
      %high = arith.shrui %hashed, %shift : i64
      %narrow = arith.trunci %high : i64 to i32
      %chosen = arith.select %below, %narrow, %masked : i32
      %both = arith.andi %lesser, %odd : i1
      %i = arith.select %both, %plus, %chosen : i32
      %whole = arith.sitofp %narrow : i32 to f32
      %g = arith.addf %f, %whole : f32
      halftone.kernel_yield stores %g, %i : f32, i32
  }

  // CHECK-LABEL: // m: join, pointwise
  // CHECK: kCollapsed = false
  // CHECK: halftone::kernels::load(input0 + row * 4, column + (0), 4, inputs.input0);
  // CHECK: halftone::kernels::load(input1 + row * 6, column + (-4), 6, inputs.input1);
  // CHECK: halftone::kernels::load(input2, column, columns(), inputs.input2);
  %join = halftone.kernel "join" pointwise over ["batch", 10] reduce [] (%x4, %x6, %c10, %rows)
      accesses [#halftone.access<window>, #halftone.access<window, -4>, #column, #row] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>, !halftone.tensor<[batch, 6], f32>, !halftone.tensor<[10], f32>,
         !halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch, 10], f32> {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
      %j = halftone.column_index : i32
      %four = arith.constant 4 : i32
      %first = arith.cmpi slt, %j, %four : i32
      %r = arith.select %first, %a, %b : f32
      %scaled = arith.mulf %r, %d : f32
      %sum = arith.addf %scaled, %c : f32
      halftone.kernel_yield stores %sum : f32
  }
  %slice = halftone.kernel "slice" pointwise over ["batch", 4] reduce [] (%x10) accesses [#halftone.access<window, 3>] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 10], f32>) -> !halftone.tensor<[batch, 4], f32> {
    ^bb0(%a: f32):
      halftone.kernel_yield stores %a : f32
  }
  %ones = halftone.kernel "ones" pointwise over [1] reduce [] () accesses [] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>} : () -> !halftone.tensor<[], f32> {
      %one = arith.constant 1.0 : f32
      halftone.kernel_yield stores %one : f32
  }

  // One team of eight lanes per row; the second sum needs the first.
  // CHECK-LABEL: // m: norm, row
  // CHECK: kFinish = false
  // CHECK: void compute(
  // CHECK-NOT: __fdiv_rn
  // CHECK: int kStages = 2;
  // CHECK: int kRowValues = 2;
  // CHECK: if constexpr (kStage == 0)
  // CHECK: terms[0] = inputs.input0[i];
  // CHECK: if constexpr (kStage == 1)
  // CHECK-NOT: __fdiv_rn
  // CHECK: void derive(
  // CHECK-NEXT: if constexpr (kStage == 1)
  // CHECK: __fdiv_rn(reduced[0],
  // CHECK: if constexpr (kStage == 2)
  // CHECK: __fsqrt_rn(
  // CHECK: void store_row(
  // CHECK: result1[row] = reduced[2];
  // CHECK: result2[row] = reduced[3];
  %norm:3 = halftone.kernel "norm" row over ["batch", 35] reduce [] (%x35, %c35, %c35) accesses [#full, #column, #column]
      -> [#full, #row, #row] fused [] {resultSegmentSizes = array<i32: 3, 0>}
      : (!halftone.tensor<[batch, 35], f32>, !halftone.tensor<[35], f32>, !halftone.tensor<[35], f32>)
      -> (!halftone.tensor<[batch, 35], f32>, !halftone.tensor<[batch], f32>, !halftone.tensor<[batch], f32>) {
    ^bb0(%a: f32, %w: f32, %b: f32):
      %n = arith.constant 35.0 : f32
      %epsilon = arith.constant 1.0e-5 : f32
      %one = arith.constant 1.0 : f32
      %sum = halftone.row_sum %a : f32
      %mean = arith.divf %sum, %n : f32
      %d = arith.subf %a, %mean : f32
      %square = arith.mulf %d, %d : f32
      %squares = halftone.row_sum %square : f32
      %variance = arith.divf %squares, %n : f32
      %above = arith.addf %variance, %epsilon : f32
      %root = math.sqrt %above : f32
      %rstd = arith.divf %one, %root : f32
      %h = arith.mulf %d, %rstd : f32
      %r = math.fma %h, %w, %b : f32
      halftone.kernel_yield stores %r, %mean, %rstd : f32, f32, f32
  }

  // Rows that do not fit into registers.
  %wide:2 = halftone.kernel "wide" row over ["batch", 700] reduce [] (%x700, %x700) accesses [#full, #halftone.access<window, -4>]
      -> [#full, #row] fused [] {resultSegmentSizes = array<i32: 2, 0>}
      : (!halftone.tensor<[batch, 700], f32>, !halftone.tensor<[batch, 700], f32>)
      -> (!halftone.tensor<[batch, 700], f32>, !halftone.tensor<[batch], f32>) {
    ^bb0(%a: f32, %b: f32):
      %p = arith.mulf %a, %b : f32
      %sum = halftone.row_sum %p : f32
      %max = halftone.row_max %a : f32
      %m = arith.addf %sum, %max : f32
      %y = arith.addf %m, %b : f32
      %largest = arith.cmpf oeq, %a, %max : f32
      %r = arith.select %largest, %max, %y : f32
      halftone.kernel_yield stores %r, %max : f32, f32
  }

  // A block per row of several chunks.
  // CHECK-LABEL: // m: long_rows, kept_row
  // CHECK: index == 0 ? halftone::kernels::Reduction::maximum : halftone::kernels::Reduction::sum;
  %long_rows:2 = halftone.kernel "long_rows" row over ["batch", 2500] reduce [] (%x2500) accesses [#full] -> [#full, #row]
      fused [] {resultSegmentSizes = array<i32: 2, 0>}
      : (!halftone.tensor<[batch, 2500], f32>) -> (!halftone.tensor<[batch, 2500], f32>, !halftone.tensor<[batch], f32>) {
    ^bb0(%a: f32):
      %max = halftone.row_max %a : f32
      %sum = halftone.row_sum %a : f32
      %d = arith.subf %a, %max : f32
      %e = arith.mulf %d, %sum : f32
      %second = halftone.row_sum %e : f32
      %r = arith.addf %e, %second : f32
      halftone.kernel_yield stores %r, %second : f32, f32
  }

  // One term per row, summed over the rows by the block that is done last.
  // CHECK-LABEL: // m: loss, row kernel, f32, i32 -> f32
  // CHECK: __device__ unsigned int blocks_done = 0;
  // CHECK: kFinish = true
  // CHECK: workspace[row] =
  // CHECK: void finish(float sum) const
  // CHECK: finished0[0] = v
  // CHECK: halftone_loss(const float* __restrict__ input0,
  // CHECK-NEXT: const int* __restrict__ input1,
  // CHECK-NEXT: const float* __restrict__ input2,
  // CHECK-NEXT: float* __restrict__ finished0,
  // CHECK-NEXT: float* workspace,
  // CHECK-NEXT: long long symbol_batch) {
  %loss = halftone.kernel "loss" row over ["batch", 10] reduce [] (%x10, %label, %s) accesses [#full, #row, #scalar] -> []
      fused [] {resultSegmentSizes = array<i32: 0, 1>}
      : (!halftone.tensor<[batch, 10], f32>, !halftone.tensor<[batch], i32>, !halftone.tensor<[], f32>)
      -> !halftone.tensor<[], f32> {
    ^bb0(%a: f32, %l: i32, %scale: f32):
      %j = halftone.column_index : i32
      %zero = arith.constant 0.0 : f32
      %match = arith.cmpi eq, %j, %l : i32
      %only = arith.select %match, %a, %zero : f32
      %picked = halftone.row_sum %only : f32
      %max = halftone.row_max %a : f32
      %term = arith.subf %max, %picked : f32
      halftone.kernel_yield sums %term : f32
  } finish {
    ^bb0(%sum: f32, %scale: f32):
      %rows_count = halftone.count ["batch"] : f32
      %mean = arith.divf %sum, %rows_count : f32
      %r = arith.mulf %mean, %scale : f32
      halftone.yield %r : f32
  }

  // CHECK-LABEL: // m: column_sums, column
  // CHECK: kSums = 2;
  // CHECK: terms[0] = v
  // CHECK: result1[column] = totals[1];
  // CHECK: column::run<Body, 32, 16>(body);
  %column_sums:3 = halftone.kernel "column_sums" column over ["batch", 37] reduce [] (%x37, %rows)
      accesses [#full, #row] -> [#column, #column, #full] fused [] {resultSegmentSizes = array<i32: 3, 0>}
      : (!halftone.tensor<[batch, 37], f32>, !halftone.tensor<[batch], f32>)
      -> (!halftone.tensor<[37], f32>, !halftone.tensor<[37], f32>, !halftone.tensor<[batch, 37], f32>) {
    ^bb0(%a: f32, %b: f32):
      %p = arith.mulf %a, %b : f32
      halftone.kernel_yield stores %p, %a, %p : f32, f32, f32
  }

  // CHECK-LABEL: // m: segments, segment
  // CHECK: kSegments = 70;
  // CHECK: void find(const Uniforms& uniforms, int& segment) const {
  // CHECK-NEXT: segment = uniforms.input0;
  // CHECK: result0[segment * columns() + column] = sum;
  // CHECK: segment::run<Body, 64, 32>(body);
  %segments = halftone.kernel "segments" segment over ["batch", 37] reduce [] (%label, %x37)
      accesses [#row, #full] -> [#halftone.access<segment>] fused [] {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch], i32>, !halftone.tensor<[batch, 37], f32>) -> !halftone.tensor<[70, 37], f32> {
    ^bb0(%row: i32, %a: f32):
      halftone.kernel_yield stores %a : f32 into %row
  }

  // CHECK-LABEL: // m: total, flat
  // CHECK: kCollapsed = true
  // CHECK: flat::run<Body, 128>(body);
  %total:2 = halftone.kernel "total" flat over ["batch", 7] reduce [] (%x7, %s) accesses [#full, #scalar] -> []
      fused [] {resultSegmentSizes = array<i32: 0, 2>}
      : (!halftone.tensor<[batch, 7], f32>, !halftone.tensor<[], f32>)
      -> (!halftone.tensor<[], f32>, !halftone.tensor<[], f32>) {
    ^bb0(%a: f32, %scale: f32):
      %square = arith.mulf %a, %a : f32
      halftone.kernel_yield sums %square : f32
  } finish {
    ^bb0(%sum: f32, %scale: f32):
      %r = arith.mulf %sum, %scale : f32
      halftone.yield %sum, %r : f32, f32
  }
  // Four neighbours of a chunk may lie in two rows.
  %flat_rows:2 = halftone.kernel "flat_rows" flat over ["batch", 7] reduce [] (%x7, %rows) accesses [#full, #row] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 1>}
      : (!halftone.tensor<[batch, 7], f32>, !halftone.tensor<[batch], f32>)
      -> (!halftone.tensor<[batch, 7], f32>, !halftone.tensor<[], f32>) {
    ^bb0(%a: f32, %b: f32):
      %p = arith.mulf %a, %b : f32
      halftone.kernel_yield stores %p : f32 sums %p : f32
  } finish {
    ^bb0(%sum: f32):
      halftone.yield %sum : f32
  }
  %flat_columns = halftone.kernel "flat_columns" flat over ["batch", 8] reduce [] (%x8, %c8) accesses [#full, #column] -> []
      fused [] {resultSegmentSizes = array<i32: 0, 1>}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[], f32> {
    ^bb0(%a: f32, %b: f32):
      %p = arith.mulf %a, %b : f32
      halftone.kernel_yield sums %p : f32
  } finish {
    ^bb0(%sum: f32):
      halftone.yield %sum : f32
  }

  // x times transposed weight, with bias and relu behind it.
  // CHECK-LABEL: // m: dense, contraction
  // CHECK: kTransposeLhs = false;
  // CHECK: kTransposeRhs = true;
  // CHECK: kUsesLhsSum = false;
  // CHECK: = sum + inputs.input2[i];
  // CHECK: body.depth = 29LL;
  // CHECK: contraction::run<Body, halftone::kernels::contraction::Tile<32, 32, 16, 2, 4>>(body);
  %dense = halftone.kernel "dense" contraction over ["batch", 37] reduce [29] (%x29, %w37x29, %c37, %rows)
      accesses [#lhs, #rhs, #column, #row] -> [#full] fused [] {transpose_rhs, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 29], f32>, !halftone.tensor<[37, 29], f32>, !halftone.tensor<[37], f32>,
         !halftone.tensor<[batch], f32>) -> !halftone.tensor<[batch, 37], f32> {
    ^bb0(%sum: f32, %b: f32, %scale: f32):
      %zero = arith.constant 0.0 : f32
      %y = arith.addf %sum, %b : f32
      %positive = arith.cmpf ogt, %y, %zero : f32
      %relu = arith.select %positive, %y, %zero : f32
      %r = arith.mulf %relu, %scale : f32
      halftone.kernel_yield stores %r : f32
  }
  %plain = halftone.kernel "plain" contraction over ["batch", 37] reduce [29] (%x29, %w29x37) accesses [#lhs, #rhs] -> [#full]
      fused [] {resultSegmentSizes = array<i32: 1, 0>, cuda_tile = array<i64: 64, 64, 16, 4, 4>}
      : (!halftone.tensor<[batch, 29], f32>, !halftone.tensor<[29, 37], f32>) -> !halftone.tensor<[batch, 37], f32> {
    ^bb0(%sum: f32):
      halftone.kernel_yield stores %sum : f32
  }
  // A weight's gradient and the bias' along with it.
  // CHECK-LABEL: // m: weight_gradient, contraction
  // CHECK: kTransposeLhs = true;
  // CHECK: kUsesLhsSum = true;
  // CHECK: result1[row] = lhs_sum;
  // CHECK: body.rows = 37LL;
  // CHECK-NEXT: body.depth = symbol_batch;
  %gradient:2 = halftone.kernel "weight_gradient" contraction over [37, 29] reduce ["batch"] (%x37, %x29)
      accesses [#lhs, #rhs] -> [#full, #row] fused [] {transpose_lhs, resultSegmentSizes = array<i32: 2, 0>}
      : (!halftone.tensor<[batch, 37], f32>, !halftone.tensor<[batch, 29], f32>)
      -> (!halftone.tensor<[37, 29], f32>, !halftone.tensor<[37], f32>) {
    ^bb0(%sum: f32):
      %row = halftone.lhs_sum : f32
      halftone.kernel_yield stores %sum, %row : f32, f32
  }
  %twice = halftone.kernel "twice_transposed" contraction over [40, 10] reduce [37] (%w37x40, %w10x37)
      accesses [#lhs, #rhs] -> [#full]
      fused [] {transpose_lhs, transpose_rhs, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[37, 40], f32>, !halftone.tensor<[10, 37], f32>) -> !halftone.tensor<[40, 10], f32> {
    ^bb0(%sum: f32):
      %row = halftone.lhs_sum : f32
      %r = arith.addf %sum, %row : f32
      halftone.kernel_yield stores %r : f32
  }
  %large = halftone.kernel "large_tile" contraction over ["batch", 132] reduce [37] (%x37, %w132x37)
      accesses [#lhs, #rhs] -> [#full]
      fused [] {transpose_rhs, resultSegmentSizes = array<i32: 1, 0>, cuda_tile = array<i64: 128, 128, 8, 8, 8>}
      : (!halftone.tensor<[batch, 37], f32>, !halftone.tensor<[132, 37], f32>) -> !halftone.tensor<[batch, 132], f32> {
    ^bb0(%sum: f32):
      halftone.kernel_yield stores %sum : f32
  }
}
}
