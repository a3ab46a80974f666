// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --split-input-file "--halftone-plan-tiles=chips=sm_75,sm_80,sm_86 assume=batch=4096" %s | FileCheck %s
// RUN: halftone-opt --split-input-file "--halftone-plan-tiles=chips=sm_80,sm_90a assume=batch=4096" %s | FileCheck %s --check-prefix=WGMMA
// RUN: halftone-opt --split-input-file --halftone-plan-tiles %s | FileCheck %s --check-prefix=NONE
// RUN: not halftone-opt --halftone-plan-tiles=chips=sm_81 %s 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not halftone-opt --halftone-plan-tiles=assume=batch=0 %s 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not halftone-opt --halftone-plan-tiles=assume=batch=4,batch=5 %s 2>&1 | FileCheck %s --check-prefix=TWICE
// CHIP: error: 'sm_81' is no chip that kernels are planned for
// SIZE: error: 'batch=0' assumes no size: write NAME=NUMBER with a whole number above 0
// TWICE: error: 'batch=5' assumes a second size of batch: give it once

// Without chips there is a plan for the CPU alone.
// NONE-NOT: cuda_plans

// Every kernel has a plan for each chip, whatever was there before, and its cost.
// CHECK-LABEL: halftone.graph "every_kernel_has_plans"
halftone.graph "every_kernel_has_plans" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %w = halftone.input "w" : !halftone.tensor<[4, 8], f32>
  // CHECK: halftone.kernel "fc"
  // CHECK-SAME: cpu_tile = array<i64>
  // CHECK-SAME: cuda_plans = [#halftone.chip<"sm_75", [<simt, [{{[0-9]+, [0-9]+, [0-9]+, [0-9]+, [0-9]+}}] splits 1 least 1 cost [{{[^]]*}}]>, <simt,
  // CHECK-SAME: "f32 operands: tensor cores would round them to tf32, which compute tf32 allows">
  // CHECK-SAME: #halftone.chip<"sm_80", [<simt
  // CHECK-SAME: #halftone.chip<"sm_86", [<simt
  %y = halftone.kernel "fc" contraction over ["batch", 4] reduce [8] (%x, %w)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, transpose_rhs}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4, 8], f32>) -> !halftone.tensor<[batch, 4], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
  // CHECK: halftone.kernel "copy"
  // CHECK-NOT: array<i64: -7>
  // CHECK-SAME: cpu_tile = array<i64: {{[0-9]+}}>, cuda_plans = [#halftone.chip<"sm_75", [<simt, [{{[0-9]+}}] splits 1 least 1 cost [{{[^]]*}}]>], "">
  %z = halftone.kernel "copy" pointwise over ["batch", 4] reduce [] (%y) accesses [#halftone.access<full>]
      -> [#halftone.access<full>] fused [] {cpu_tile = array<i64: -7>, resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4], f32>) -> !halftone.tensor<[batch, 4], f32> {
  ^bb0(%a: f32):
    halftone.kernel_yield stores %a : f32
  }
  // A tile given by hand is every chip's.
  // CHECK: halftone.kernel "by_hand"
  // CHECK-SAME: cuda_plans = [#halftone.chip<"sm_75", [<simt, [64, 32, 16, 4, 4] splits 1 least 1 cost [{{[^]]*}}]>], "f32 operands
  %h = halftone.kernel "by_hand" contraction over ["batch", 4] reduce [8] (%x, %w)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, transpose_rhs, cuda_tile = array<i64: 64, 32, 16, 4, 4>}
      : (!halftone.tensor<[batch, 8], f32>, !halftone.tensor<[4, 8], f32>) -> !halftone.tensor<[batch, 4], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
}

// -----

// The more sums a column kernel has, the fewer chunks fit into a block's registers at once.
// CHECK-LABEL: halftone.graph "many_sums_take_fewer_chunks_at_once"
// CHECK: halftone.kernel "sums"
// CHECK-SAME: #halftone.chip<"sm_75", [<simt, [32, 8] splits 1
halftone.graph "many_sums_take_fewer_chunks_at_once" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 8], f32>
  %s:32 = halftone.kernel "sums" column over ["batch", 8] reduce [] (%x) accesses [#halftone.access<full>] -> [
      #halftone.access<column>, #halftone.access<column>, #halftone.access<column>, #halftone.access<column>,
      #halftone.access<column>, #halftone.access<column>, #halftone.access<column>, #halftone.access<column>,
      #halftone.access<column>, #halftone.access<column>, #halftone.access<column>, #halftone.access<column>,
      #halftone.access<column>, #halftone.access<column>, #halftone.access<column>, #halftone.access<column>,
      #halftone.access<column>, #halftone.access<column>, #halftone.access<column>, #halftone.access<column>,
      #halftone.access<column>, #halftone.access<column>, #halftone.access<column>, #halftone.access<column>,
      #halftone.access<column>, #halftone.access<column>, #halftone.access<column>, #halftone.access<column>,
      #halftone.access<column>, #halftone.access<column>, #halftone.access<column>, #halftone.access<column>]
      fused [] {resultSegmentSizes = array<i32: 32, 0>} : (!halftone.tensor<[batch, 8], f32>) -> (
      !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>,
      !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>,
      !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>,
      !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>,
      !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>,
      !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>,
      !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>,
      !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>, !halftone.tensor<[8], f32>) {
  ^bb0(%a: f32):
    halftone.kernel_yield stores %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32,
      f32, f32, f32, f32, f32, f32, f32
  }
}

// -----

// Tensor cores take two f16 on every chip: two stages through registers on sm_75, more from sm_80 on; depths are 64 bytes and
// more; rows of 256 and 80 bytes start at multiples of 16. At least three plans are weighed.
// CHECK-LABEL: halftone.graph "f16_runs_on_tensor_cores_of_every_chip"
// CHECK: halftone.kernel "fc"
// CHECK-SAME: #halftone.chip<"sm_75", [<tensor, [{{[0-9]+, [0-9]+, (32|64), [0-9]+, [0-9]+, 2, 16, 16\]}} splits 1
// CHECK-SAME: <tensor, {{.*}}<tensor, {{.*}}], "">, #halftone.chip<"sm_80", [<tensor, [{{[0-9]+, [0-9]+, (32|64), [0-9]+, [0-9]+, 4, 16, 16\]}} splits 1
// CHECK-SAME: <tensor, {{.*}}<tensor, {{.*}}], "">, #halftone.chip<"sm_86", [<tensor, [{{[0-9]+, [0-9]+, (32|64), [0-9]+, [0-9]+, 3, 16, 16\]}} splits 1
halftone.graph "f16_runs_on_tensor_cores_of_every_chip" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 128], f16>
  %w = halftone.input "w" : !halftone.tensor<[128, 40], f16>
  %y = halftone.kernel "fc" contraction over ["batch", 40] reduce [128] (%x, %w)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 128], f16>, !halftone.tensor<[128, 40], f16>) -> !halftone.tensor<[batch, 40], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
}

// -----

// Rows of 10 and 7 bf16 start at multiples of 4 and of 2 bytes.
// CHECK-LABEL: halftone.graph "bf16_and_tf32_wait_for_sm_80"
// CHECK: halftone.kernel "brain"
// CHECK-SAME: #halftone.chip<"sm_75", [<simt, {{.*}}], "sm_75 has no tensor cores for bf16; sm_80 is the first">, #halftone.chip<"sm_80", [<tensor, [{{[0-9, ]+}}, 4, 2] splits {{.*}}], "">, #halftone.chip<"sm_86", [<tensor
// CHECK: halftone.kernel "tensor_float"
// CHECK-SAME: #halftone.chip<"sm_75", [<simt, {{.*}}], "sm_75 has no tensor cores for tf32; sm_80 is the first">, #halftone.chip<"sm_80", [<tensor, [{{[0-9]+, [0-9]+, (16|32), [0-9]+, [0-9]+, 4, 8, 4\]}}
halftone.graph "bf16_and_tf32_wait_for_sm_80" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 10], bf16>
  %w = halftone.input "w" : !halftone.tensor<[10, 7], bf16>
  %y = halftone.kernel "brain" contraction over ["batch", 7] reduce [10] (%x, %w)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, accumulation = #halftone.accumulation<hardware>}
      : (!halftone.tensor<[batch, 10], bf16>, !halftone.tensor<[10, 7], bf16>) -> !halftone.tensor<[batch, 7], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
  %a = halftone.input "a" : !halftone.tensor<[batch, 10], tf32>
  %b = halftone.input "b" : !halftone.tensor<[10, 7], tf32>
  %z = halftone.kernel "tensor_float" contraction over ["batch", 7] reduce [10] (%a, %b)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 10], tf32>, !halftone.tensor<[10, 7], tf32>) -> !halftone.tensor<[batch, 7], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
}

// -----

// Each element of a batch is a product: the more there are, the fewer parts of the depth.
// CHECK-LABEL: halftone.graph "tensor_cores_take_a_batch"
// CHECK: halftone.kernel "products"
// CHECK-SAME: #halftone.chip<"sm_75", [<simt, {{.*}}#halftone.chip<"sm_80", [<tensor, [{{[0-9, ]+}}, 4, 16, 16] splits 1
halftone.graph "tensor_cores_take_a_batch" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 64, 2048], bf16>
  %y = halftone.input "y" : !halftone.tensor<[batch, 2048, 64], bf16>
  %z = halftone.kernel "products" contraction over ["batch", 64, 64] reduce [2048] (%x, %y)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 64, 2048], bf16>, !halftone.tensor<[batch, 2048, 64], bf16>) -> !halftone.tensor<[batch, 64, 64], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
}

// -----

// Rows whose length is a symbol may start at any element.
// CHECK-LABEL: halftone.graph "rows_of_any_length"
// CHECK: halftone.kernel "pooled"
// CHECK-SAME: #halftone.chip<"sm_80", [<tensor, [{{[0-9, ]+}}, 4, 2, 16] splits
halftone.graph "rows_of_any_length" {
  %x = halftone.input "x" : !halftone.tensor<[32, batch], bf16>
  %y = halftone.input "y" : !halftone.tensor<[batch, 40], bf16>
  %z = halftone.kernel "pooled" contraction over [32, 40] reduce ["batch"] (%x, %y)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[32, batch], bf16>, !halftone.tensor<[batch, 40], bf16>) -> !halftone.tensor<[32, 40], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
}

// -----

// CHECK-LABEL: halftone.graph "does_not_use_tensor_cores_in_an_order_that_rules_forbid"
// CHECK: halftone.kernel "ordered"
// CHECK-NOT: <tensor
// CHECK-SAME: #halftone.chip<"sm_80", [<simt, {{.*}}], "accumulate ordered: tensor cores sum in an order of their own">
// Two formats are widened to tf32, which sm_75 has not.
// CHECK: halftone.kernel "mixed"
// CHECK-SAME: #halftone.chip<"sm_75", [<simt, {{.*}}], "operands of f16 and bf16: tensor cores take two of one format below sm_80">
// CHECK-SAME: #halftone.chip<"sm_80", [<tensor, [{{[0-9]+, [0-9]+}}, 32, {{.*}}], "">
halftone.graph "does_not_use_tensor_cores_in_an_order_that_rules_forbid" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 64], f16>
  %w = halftone.input "w" : !halftone.tensor<[64, 64], f16>
  %v = halftone.input "v" : !halftone.tensor<[64, 64], bf16>
  %y = halftone.kernel "ordered" contraction over ["batch", 64] reduce [64] (%x, %w)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, accumulation = #halftone.accumulation<ordered>}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[64, 64], f16>) -> !halftone.tensor<[batch, 64], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
  %z = halftone.kernel "mixed" contraction over ["batch", 64] reduce [64] (%x, %v)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 64], f16>, !halftone.tensor<[64, 64], bf16>) -> !halftone.tensor<[batch, 64], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
}

// -----

// A gradient of 64 x 64 is one or a few tiles, so the sum over the batch is split, in whole chunks of 128. Where an element
// needs the sum of lhs, the whole depth is one block's.
// CHECK-LABEL: halftone.graph "splits_a_long_sum_of_few_results"
// CHECK: halftone.kernel "gradient"
// CHECK-SAME: #halftone.chip<"sm_80", [<tensor, {{\[[^]]*\] splits (2|4|8|16) least (256|512|1024|2048) }}
// CHECK: halftone.kernel "whole"
// CHECK-NOT: splits {{[2-9]}}
// CHECK: halftone.kernel "row_sum"
// CHECK-SAME: #halftone.chip<"sm_80", [<tensor, {{\[[^]]*\] splits (2|4|8|16) least (256|512|1024|2048) }}
halftone.graph "splits_a_long_sum_of_few_results" {
  %g = halftone.input "g" : !halftone.tensor<[batch, 64], bf16>
  %x = halftone.input "x" : !halftone.tensor<[batch, 64], bf16>
  %w = halftone.kernel "gradient" contraction over [64, 64] reduce ["batch"] (%g, %x)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, transpose_lhs}
      : (!halftone.tensor<[batch, 64], bf16>, !halftone.tensor<[batch, 64], bf16>) -> !halftone.tensor<[64, 64], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
  %v = halftone.kernel "whole" contraction over [64, 64] reduce ["batch"] (%g, %x)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, transpose_lhs}
      : (!halftone.tensor<[batch, 64], bf16>, !halftone.tensor<[batch, 64], bf16>) -> !halftone.tensor<[64, 64], f32> {
  ^bb0(%acc: f32):
    %sum = halftone.lhs_sum : f32
    %both = arith.addf %acc, %sum : f32
    halftone.kernel_yield stores %both : f32
  }
  %u:2 = halftone.kernel "row_sum" contraction over [64, 64] reduce ["batch"] (%g, %x)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>, #halftone.access<row>] fused []
      {resultSegmentSizes = array<i32: 2, 0>, transpose_lhs}
      : (!halftone.tensor<[batch, 64], bf16>, !halftone.tensor<[batch, 64], bf16>)
      -> (!halftone.tensor<[64, 64], f32>, !halftone.tensor<[64], f32>) {
  ^bb0(%acc: f32):
    %sum = halftone.lhs_sum : f32
    halftone.kernel_yield stores %acc, %sum : f32, f32
  }
}

// -----

// A batch of 4096 takes as many operations and waves as 4096 products.
// CHECK-LABEL: halftone.graph "plans_a_batch_as_so_many_products"
// CHECK: halftone.kernel "one"
// CHECK-SAME: #halftone.chip<"sm_80", {{.*}}<simt, [64, 16, 16, 4, 4] splits 1 least 1 cost [5.242880e+05, {{[^,]*}}, 2.650000e-03,
// CHECK: halftone.kernel "batch"
// CHECK-SAME: #halftone.chip<"sm_80", {{.*}}<simt, [64, 16, 16, 4, 4] splits 1 least 1 cost [2.147484e+09, {{[^,]*}}, 1.080000e+01,
halftone.graph "plans_a_batch_as_so_many_products" {
  %x = halftone.input "x" : !halftone.tensor<[64, 64], f32>
  %w = halftone.input "w" : !halftone.tensor<[64, 64], f32>
  %a = halftone.input "a" : !halftone.tensor<[batch, 64, 64], f32>
  %b = halftone.input "b" : !halftone.tensor<[batch, 64, 64], f32>
  %y = halftone.kernel "one" contraction over [64, 64] reduce [64] (%x, %w)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[64, 64], f32>, !halftone.tensor<[64, 64], f32>) -> !halftone.tensor<[64, 64], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
  %z = halftone.kernel "batch" contraction over ["batch", 64, 64] reduce [64] (%a, %b)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 64, 64], f32>, !halftone.tensor<[batch, 64, 64], f32>) -> !halftone.tensor<[batch, 64, 64], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
}

// -----

// Large products of two bf16 are for wgmma where the chip has it; every operand lies as it will. What wgmma cannot run stays, with
// the reason, on mma.sync; small ones stay because those plans are faster.
// WGMMA-LABEL: halftone.graph "large_products_are_for_warp_groups"
// WGMMA: halftone.kernel "large"
// WGMMA-SAME: #halftone.chip<"sm_80", [<tensor, {{[^"]*}}], "">, #halftone.chip<"sm_90a", [<warpgroup, [{{[0-9, ]+}}] splits 1 least 1 cost [{{[^]]*}}]>, <{{[^"]*}}], "">]
// WGMMA: halftone.kernel "across"
// WGMMA-SAME: #halftone.chip<"sm_90a", [<warpgroup, {{[^"]*}}], "">]
// WGMMA: halftone.kernel "long"
// WGMMA-SAME: #halftone.chip<"sm_90a", [<warpgroup, {{\[[^]]*\] splits ([2-9]|10|12|16) least}}
// WGMMA: halftone.kernel "small"
// WGMMA-SAME: #halftone.chip<"sm_90a", [<tensor, {{[^"]*}}], "">]
// WGMMA: halftone.kernel "row_sum"
// WGMMA-SAME: #halftone.chip<"sm_90a", [<warpgroup, {{[^"]*}}], "">]
// WGMMA: halftone.kernel "used_row_sum"
// WGMMA-SAME: #halftone.chip<"sm_90a", [<tensor, {{[^"]*}}], "", no_warpgroups "elements that use the sum of lhs: it is known when they are done">]
// WGMMA: halftone.kernel "batch"
// WGMMA-SAME: #halftone.chip<"sm_90a", [<tensor, {{[^"]*}}], "", no_warpgroups "a batch: tensor copies would read past the end of an element">]
// WGMMA: halftone.kernel "rows"
// WGMMA-SAME: #halftone.chip<"sm_90a", [<tensor, {{[^"]*}}], "">]
// WGMMA: halftone.kernel "tensor_float"
// WGMMA-SAME: #halftone.chip<"sm_90a", [<tensor, {{[^"]*}}], "", no_warpgroups "operands of tf32: wgmma is given two f16 or two bf16">]
// WGMMA: halftone.kernel "ordered"
// WGMMA-SAME: #halftone.chip<"sm_90a", [<simt, {{[^"]*}}], "accumulate ordered: tensor cores sum in an order of their own">]
halftone.graph "large_products_are_for_warp_groups" {
  %x = halftone.input "x" : !halftone.tensor<[batch, 4096], bf16>
  %w = halftone.input "w" : !halftone.tensor<[4096, 4096], bf16>
  %y = halftone.kernel "large" contraction over ["batch", 4096] reduce [4096] (%x, %w)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, transpose_rhs}
      : (!halftone.tensor<[batch, 4096], bf16>, !halftone.tensor<[4096, 4096], bf16>) -> !halftone.tensor<[batch, 4096], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
  %across = halftone.kernel "across" contraction over [4096, 4096] reduce ["batch"] (%x, %x)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, transpose_lhs}
      : (!halftone.tensor<[batch, 4096], bf16>, !halftone.tensor<[batch, 4096], bf16>) -> !halftone.tensor<[4096, 4096], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
  %p = halftone.input "p" : !halftone.tensor<[32768, 768], bf16>
  %q = halftone.input "q" : !halftone.tensor<[32768, 1024], bf16>
  %long = halftone.kernel "long" contraction over [768, 1024] reduce [32768] (%p, %q)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, transpose_lhs}
      : (!halftone.tensor<[32768, 768], bf16>, !halftone.tensor<[32768, 1024], bf16>) -> !halftone.tensor<[768, 1024], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
  %a = halftone.input "a" : !halftone.tensor<[64, 128], bf16>
  %b = halftone.input "b" : !halftone.tensor<[64, 128], bf16>
  %small = halftone.kernel "small" contraction over [64, 64] reduce [128] (%a, %b)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, transpose_rhs}
      : (!halftone.tensor<[64, 128], bf16>, !halftone.tensor<[64, 128], bf16>) -> !halftone.tensor<[64, 64], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
  %u:2 = halftone.kernel "row_sum" contraction over [4096, 4096] reduce ["batch"] (%x, %x)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>, #halftone.access<row>] fused []
      {resultSegmentSizes = array<i32: 2, 0>, transpose_lhs}
      : (!halftone.tensor<[batch, 4096], bf16>, !halftone.tensor<[batch, 4096], bf16>)
      -> (!halftone.tensor<[4096, 4096], f32>, !halftone.tensor<[4096], f32>) {
  ^bb0(%acc: f32):
    %sum = halftone.lhs_sum : f32
    halftone.kernel_yield stores %acc, %sum : f32, f32
  }
  %used = halftone.kernel "used_row_sum" contraction over [4096, 4096] reduce ["batch"] (%x, %x)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, transpose_lhs}
      : (!halftone.tensor<[batch, 4096], bf16>, !halftone.tensor<[batch, 4096], bf16>) -> !halftone.tensor<[4096, 4096], f32> {
  ^bb0(%acc: f32):
    %sum = halftone.lhs_sum : f32
    %both = arith.addf %acc, %sum : f32
    halftone.kernel_yield stores %both : f32
  }
  %m = halftone.input "m" : !halftone.tensor<[16, 2048, 2048], bf16>
  %n = halftone.input "n" : !halftone.tensor<[16, 2048, 2048], bf16>
  %batch = halftone.kernel "batch" contraction over [16, 2048, 2048] reduce [2048] (%m, %n)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[16, 2048, 2048], bf16>, !halftone.tensor<[16, 2048, 2048], bf16>) -> !halftone.tensor<[16, 2048, 2048], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
  %r = halftone.input "r" : !halftone.tensor<[4096, 100], bf16>
  %rows = halftone.kernel "rows" contraction over ["batch", 100] reduce [4096] (%x, %r)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4096], bf16>, !halftone.tensor<[4096, 100], bf16>) -> !halftone.tensor<[batch, 100], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
  %s = halftone.input "s" : !halftone.tensor<[batch, 4096], tf32>
  %t = halftone.input "t" : !halftone.tensor<[4096, 4096], tf32>
  %tf = halftone.kernel "tensor_float" contraction over ["batch", 4096] reduce [4096] (%s, %t)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>}
      : (!halftone.tensor<[batch, 4096], tf32>, !halftone.tensor<[4096, 4096], tf32>) -> !halftone.tensor<[batch, 4096], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
  %ordered = halftone.kernel "ordered" contraction over ["batch", 4096] reduce [4096] (%x, %w)
      accesses [#halftone.access<lhs>, #halftone.access<rhs>] -> [#halftone.access<full>] fused []
      {resultSegmentSizes = array<i32: 1, 0>, transpose_rhs, accumulation = #halftone.accumulation<ordered>}
      : (!halftone.tensor<[batch, 4096], bf16>, !halftone.tensor<[4096, 4096], bf16>) -> !halftone.tensor<[batch, 4096], f32> {
  ^bb0(%acc: f32):
    halftone.kernel_yield stores %acc : f32
  }
}
