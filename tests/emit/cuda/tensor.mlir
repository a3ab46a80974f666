// SPDX-License-Identifier: Apache-2.0
// Texts of contractions on tensor cores: the skeleton's name, what a Body adds for it, the plan, and a workspace where the
// sum is split. tests/nvrtc compiles such texts, tests/kernels runs the skeleton.
#lhs = #halftone.access<lhs>
#rhs = #halftone.access<rhs>
#full = #halftone.access<full>
#row = #halftone.access<row>
#column = #halftone.access<column>
halftone.graph "training" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 64], f16>
  %w = halftone.input "w" : !halftone.tensor<[40, 64], f16>
  %b = halftone.input "b" : !halftone.tensor<[40], f16>
  %g = halftone.input "g" : !halftone.tensor<[batch, 40], f16>

  // Where all elements have 16 bits, eight of them are read and written at once.
  // CHECK: {{^}}// m: dense, tensor_contraction kernel, f16 -> f16, Halftone 0
  // CHECK-NOT: #include
  // CHECK: kTransposeLhs = false;
  // CHECK-NEXT: kTransposeRhs = true;
  // CHECK-NEXT: kIsBatch = false;
  // CHECK-NEXT: kUsesLhsSum = false;
  // CHECK-NEXT: kElementsUseLhsSum = false;
  // CHECK-NEXT: kWidth = 8;
  // CHECK-NEXT: using Lhs = halftone::kernels::f16;
  // CHECK-NEXT: using Rhs = halftone::kernels::f16;
  // CHECK-NOT: workspace
  // CHECK: extern "C" __global__ void __launch_bounds__(128)
  // CHECK-NEXT: halftone_dense(const halftone::kernels::f16* __restrict__ input0,
  // CHECK-NOT: workspace
  // CHECK: body.depth = 64LL;
  // CHECK-NEXT: halftone::kernels::tensor_contraction::run<Body, halftone::kernels::tensor_contraction::Tile<64, 32, 64, 32, 16, 3, 16, 8, 1>>(body);
  %y = halftone.kernel "dense" contraction over ["batch", 40] reduce [64] (%x, %w, %b) accesses [#lhs, #rhs, #column] -> [#full]
      fused [] {transpose_rhs, resultSegmentSizes = array<i32: 1, 0>, cuda_plans = [#halftone.chip<"sm_80",
        [#halftone.plan<tensor, [64, 32, 64, 32, 16, 3, 16, 8] splits 1 least 1 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[40, 64], f16>, !halftone.tensor<[40], f16>) -> !halftone.tensor<[batch, 40], f16> {
    ^bb0(%s: f32, %c: f16):
      %d = arith.extf %c : f16 to f32
      %e = arith.addf %s, %d : f32
      %r = arith.truncf %e : f32 to f16
      halftone.kernel_yield stores %r : f16
  }

  // A split sum has a workspace, between results and symbols. Rows' sums of lhs do not keep the sum in one block.
  // CHECK: {{^}}// m: gradient, tensor_contraction kernel, f16 -> f32, Halftone 0
  // CHECK: kTransposeLhs = true;
  // CHECK: kUsesLhsSum = true;
  // CHECK-NEXT: kElementsUseLhsSum = false;
  // CHECK-NEXT: kWidth = 4;
  // CHECK: float* result1;
  // CHECK-NEXT: float* workspace;
  // CHECK-NEXT: long long symbol_batch;
  // CHECK: void store_row(
  // CHECK-NEXT: result1[row] = lhs_sum;
  // CHECK: float* __restrict__ result1,
  // CHECK-NEXT: float* workspace,
  // CHECK-NEXT: long long symbol_batch) {
  // CHECK: body.workspace = workspace;
  // CHECK: tensor_contraction::Tile<64, 64, 64, 32, 32, 3, 16, 16, 8>>(body);
  %d:2 = halftone.kernel "gradient" contraction over [40, 64] reduce ["batch"] (%g, %x) accesses [#lhs, #rhs] -> [#full, #row]
      fused [] {transpose_lhs, resultSegmentSizes = array<i32: 2, 0>, cuda_plans = [#halftone.chip<"sm_80",
        [#halftone.plan<tensor, [64, 64, 64, 32, 32, 3, 16, 16] splits 8 least 512 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 40], f16>, !halftone.tensor<[batch, 64], f16>) -> (!halftone.tensor<[40, 64], f32>, !halftone.tensor<[40], f32>) {
    ^bb0(%s: f32):
      %l = halftone.lhs_sum : f32
      halftone.kernel_yield stores %s, %l : f32, f32
  }

  // CHECK: {{^}}// m: centred, tensor_contraction kernel
  // CHECK: kUsesLhsSum = true;
  // CHECK-NEXT: kElementsUseLhsSum = true;
  %z = halftone.kernel "centred" contraction over ["batch", 40] reduce [64] (%x, %w) accesses [#lhs, #rhs] -> [#full]
      fused [] {transpose_rhs, resultSegmentSizes = array<i32: 1, 0>, cuda_plans = [#halftone.chip<"sm_80",
        [#halftone.plan<tensor, [64, 64, 32, 32, 32, 3, 16, 16] splits 1 least 1 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[40, 64], f16>) -> !halftone.tensor<[batch, 40], f32> {
    ^bb0(%s: f32):
      %l = halftone.lhs_sum : f32
      %r = arith.subf %s, %l : f32
      halftone.kernel_yield stores %r : f32
  }

  // Windows that are in no memory: every second place of an image along both dimensions, three taps of 16 channels in each.
  // CHECK: {{^}}// m: windows, gathered_tensor_contraction kernel, f16 -> f32, Halftone 0
  // CHECK: kGathersLhs = true;
  // CHECK-NEXT: kNeighbours = 16;
  // CHECK: long long image_windows() const { return 5LL * 4LL; }
  // CHECK-NEXT: long long image_elements() const { return 9LL * 7LL * 16LL; }
  // CHECK: long long batch_begin(long long element) const {
  // CHECK-NEXT: return 0;
  // CHECK: window.axis2 = halftone::kernels::rest(number, 4LL);
  // CHECK-NEXT: number = halftone::kernels::quotient(number, 4LL);
  // CHECK-NEXT: window.axis1 = number;
  // CHECK: bool find(const Window& window, int element, long long& place) const {
  // CHECK-NEXT: const int at1 = ((window.axis1 * 2 + halftone::kernels::quotient(element, 48)) + -1);
  // CHECK-NEXT: const int at2 = ((window.axis2 * 2 + halftone::kernels::rest(halftone::kernels::quotient(element, 16), 3)) + -1);
  // CHECK-NEXT: const int at3 = halftone::kernels::rest(element, 16);
  // CHECK-NEXT: place = static_cast<long long>(at1 * static_cast<int>(7LL) + at2) * (16LL) + at3;
  // CHECK-NEXT: return !(static_cast<unsigned int>(at1) >= static_cast<unsigned int>(9LL) || static_cast<unsigned int>(at2) >= static_cast<unsigned int>(7LL));
  // CHECK: halftone::kernels::gathered_tensor_contraction::run<Body, halftone::kernels::gathered_tensor_contraction::Tile<64, 32, 64, 32, 16, 3, 16, 16, 1>>(body);
  %image = halftone.input "image" : !halftone.tensor<[batch, 9, 7, 16], f16>
  %taps = halftone.input "taps" : !halftone.tensor<[40, 144], f16>
  %c = halftone.kernel "windows" contraction over ["batch", 5, 4, 40] reduce [144] (%image, %taps)
      accesses [#halftone.access<lhs reads affine_map<(b, i, j, o, k) -> (b, i * 2 + k floordiv 48 - 1, j * 2 + (k floordiv 16) mod 3 - 1, k mod 16)>>, #rhs] -> [#full]
      fused [] {transpose_rhs, resultSegmentSizes = array<i32: 1, 0>, cuda_plans = [#halftone.chip<"sm_80",
        [#halftone.plan<tensor, [64, 32, 64, 32, 16, 3, 16, 16] splits 1 least 1 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 9, 7, 16], f16>, !halftone.tensor<[40, 144], f16>) -> !halftone.tensor<[batch, 5, 4, 40], f32> {
    ^bb0(%s: f32):
      halftone.kernel_yield stores %s : f32
  }

  // Its finish takes the largest magnitude: of the columns that there are, behind run(), by each warp. A split sum's workspace is apart.
  // CHECK: {{^}}// m: largest, tensor_contraction kernel, f16, f32 -> f16, f32, Halftone 0
  // CHECK: __device__ unsigned int so_far = 0, warps_done = 0;
  // CHECK: float* finished0;
  // CHECK-NEXT: float* largest;
  // CHECK-NEXT: unsigned int *so_far, *warps_done;
  // CHECK-NEXT: halftone::kernels::Maximum* maximum;
  // CHECK-NEXT: float* workspace;
  // CHECK: if (column < columns()) *maximum = v
  // CHECK-NOT: workspace[row]
  // CHECK: void finish(float sum) const {
  // CHECK: float* __restrict__ finished0,
  // CHECK-NEXT: float* largest,
  // CHECK-NEXT: float* workspace,
  // CHECK-NEXT: long long symbol_batch) {
  // CHECK: body.so_far = &so_far;
  // CHECK-NEXT: body.warps_done = &warps_done;
  // CHECK-NEXT: halftone::kernels::Maximum maximum;
  // CHECK-NEXT: body.maximum = &maximum;
  // CHECK: halftone::kernels::tensor_contraction::run<Body, halftone::kernels::tensor_contraction::Tile<64, 64, 64, 32, 32, 3, 16, 16, 8>>(body);
  // CHECK-NEXT: halftone::kernels::finish_maximum<4>(body);
  %s = halftone.input "s" : !halftone.tensor<[], f32>
  %m:2 = halftone.kernel "largest" contraction over [40, 64] reduce ["batch"] (%g, %x, %s) accesses [#lhs, #rhs, #halftone.access<scalar>] -> [#full]
      fused [] {transpose_lhs, resultSegmentSizes = array<i32: 1, 1>, cuda_plans = [#halftone.chip<"sm_80",
        [#halftone.plan<tensor, [64, 64, 64, 32, 32, 3, 16, 16] splits 8 least 512 cost [0.0]>], "">]}
      : (!halftone.tensor<[batch, 40], f16>, !halftone.tensor<[batch, 64], f16>, !halftone.tensor<[], f32>)
      -> (!halftone.tensor<[40, 64], f16>, !halftone.tensor<[], f32>) {
    ^bb0(%t: f32, %unused: f32):
      %h = arith.truncf %t : f32 to f16
      %wide = arith.extf %h : f16 to f32
      %magnitude = math.absf %wide : f32
      halftone.kernel_yield stores %h : f16 sums %magnitude : f32
  } finish {
    ^bb0(%most: f32, %by: f32):
      %scaled = arith.mulf %most, %by : f32
      halftone.yield %scaled : f32
  }
}
