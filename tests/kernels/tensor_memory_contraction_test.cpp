// SPDX-License-Identifier: Apache-2.0
// tensor_memory_contraction.cuh on the simulator, of numbers and of blocks with scales: sums inside
// N13 and N14, all else to the bit, nothing found. Each bound is shown to tell the two apart.
#include <doctest/doctest.h>

#include <string>

#include "contraction_check.hpp"

using namespace halftone;
using namespace halftone::tests;
using description::Element;

namespace {

Instance instance_of(Element lhs, Element rhs, bool transpose_lhs, bool transpose_rhs,
                     bool promotes) {
  return {.tile = {.rows = 128,
                   .columns = 128,
                   .depth = 128,
                   .warp_rows = 32,
                   .warp_columns = 64,
                   .stages = 2,
                   .lhs_bytes = 16,
                   .rhs_bytes = 16},
          .format = lhs,
          .transpose_lhs = transpose_lhs,
          .transpose_rhs = transpose_rhs,
          .columns = 144,
          .chip = "100a",
          .lhs_sum = LhsSum::unused,
          .rhs_format = rhs,
          .promotes = promotes,
          .is_in_tensor_memory = true};
}

Instance in_blocks(Instance instance, ScaledBlocks lhs = {1, 32}, ScaledBlocks rhs = {1, 32}) {
  instance.lhs_blocks = lhs;
  instance.rhs_blocks = rhs;
  return instance;
}

}  // namespace

TEST_CASE("every orientation and pair of formats is inside the bound, whatever digits are kept") {
  bool promotes = false;
  for (const Element lhs : {Element::f8e4m3, Element::f8e5m2}) {
    for (const Element rhs : {Element::f8e4m3, Element::f8e5m2}) {
      for (const bool transpose_lhs : kEither) {
        for (const bool transpose_rhs : kEither) {
          const Instance instance = instance_of(lhs, rhs, transpose_lhs, transpose_rhs, promotes);
          check(instance, 144, 400);
          check(in_blocks(instance), 144, 400, 1, kTruncating);
          promotes = !promotes;
        }
        promotes = !promotes;
      }
    }
  }
}

TEST_CASE("edges of tiles and of blocks, in tiles of both sizes, with and without splits") {
  struct Case {
    int tile_columns, stages;
    ScaledBlocks lhs, rhs;
    long long rows;
    int columns;
    long long depth;
    int splits = 1;
  };
  static constexpr Case kCases[] = {
      {128, 6, {1, 32}, {1, 32}, 16, 16, 16},
      {256, 2, {1, 128}, {128, 128}, 272, 400, 272},
      {256, 4, {1, 32}, {3, 96}, 144, 272, 144},
      {128, 3, {2, 64}, {1, 32}, 160, 144, 1040, 4},
  };
  for (const Case& each : kCases) {
    for (const bool transpose_lhs : kEither) {
      for (const bool transpose_rhs : kEither) {
        Instance instance = instance_of(Element::f8e4m3, Element::f8e5m2, transpose_lhs,
                                        transpose_rhs, transpose_lhs == transpose_rhs);
        instance.tile.columns = each.tile_columns;
        instance.tile.stages = each.stages;
        instance.tile.splits = each.splits;
        instance.columns = each.columns;
        if (!transpose_lhs || transpose_rhs)
          check(instance, each.rows, each.depth, each.splits, kTruncating);
        check(in_blocks(instance, each.lhs, each.rhs), each.rows, each.depth, each.splits,
              kTruncating);
      }
    }
  }
}

TEST_CASE("a split depth gives the same bits in whatever order its blocks arrive") {
  for (const bool promotes : kEither) {
    Instance instance = instance_of(Element::f8e4m3, Element::f8e4m3, true, false, promotes);
    instance.tile.splits = 4;
    for (const int splits : {1, 4}) check_order(in_blocks(instance), 128, 1008, splits);
  }
}

TEST_CASE("parts of 128 products are added in f32, and sums that are not promoted are not") {
  const Instance instance = instance_of(Element::f8e4m3, Element::f8e4m3, false, true, true);
  constexpr long long kDepth = 2048;
  Operands x = operands(instance, 128, kDepth);
  // 2^15 in the first part, then products of 3.5, of which 14 digits below 2^15 keep nothing.
  for (std::size_t i = 0; i < x.lhs.size(); ++i)
    x.lhs[i] = static_cast<long long>(i) % kDepth < 128 ? 16.0f : 1.75f;
  for (std::size_t i = 0; i < x.rhs.size(); ++i)
    x.rhs[i] = static_cast<long long>(i) % kDepth < 128 ? 16.0f : 2.0f;
  check_parts(instance, x, 0x1p15f + 3.5f * static_cast<float>(kDepth - 128), 0x1p15f);
}

TEST_CASE("of blocks with a scale of 2^113 or more all sums are NaN, and no others") {
  check_large_scales(in_blocks(instance_of(Element::f8e4m3, Element::f8e4m3, false, true, true)));
}

TEST_CASE("ptxas takes it for all chips that have the instructions, blocks without spills") {
  for (const char* chip : {"100a", "103a", "110a"}) {
    for (const bool scaled : kEither) {
      for (const bool promotes : kEither) {
        Instance instance = instance_of(Element::f8e4m3, Element::f8e5m2, false, true, promotes);
        instance.chip = chip;
        instance.tile.stages = 6;
        const Compilation made = compile(scaled ? in_blocks(instance) : instance, "sm");
        INFO(made.log);
        CHECK(made.accepted);
        if (scaled) CHECK(made.log.find(" 0 bytes spill stores") != std::string::npos);
      }
    }
  }
}
