// SPDX-License-Identifier: Apache-2.0
// tensor_memory_contraction.cuh on the simulator, of numbers, of blocks with scales or factors and
// of packed codes of 4 bits: sums inside N13, N14 and N17, all else to the bit, nothing found. Each
// bound is shown to tell the two apart.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

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

Instance by_factors(Instance instance, ScaledBlocks lhs = {1, 128}, ScaledBlocks rhs = {1, 128}) {
  instance = in_blocks(instance, lhs, rhs);
  instance.promotes = instance.by_factors = true;
  return instance;
}

/// Blocks of 16 have scales of f8e4m3, those of 32 f8e8m0.
Instance of_4_bits(int places, bool promotes) {
  Instance instance = instance_of(Element::f4e2m1, Element::f4e2m1, false, true, promotes);
  return in_blocks(instance, {1, places}, {1, places});
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

TEST_CASE("products of 4 bits are inside the bound of numbers, codes times scales") {
  struct Case {
    int tile_columns, stages;
    long long rows;
    int columns;
    long long depth;
    int splits = 1;
  };
  static constexpr Case kCases[] = {{128, 5, 16, 16, 8},
                                    {128, 2, 144, 144, 640},
                                    {128, 3, 130, 260, 1000},
                                    {256, 2, 272, 400, 333},
                                    {128, 3, 160, 144, 2100, 4}};
  for (const int places : {16, 32})
    for (const bool promotes : kEither)
      for (const Case& each : kCases) {
        Instance instance = of_4_bits(places, promotes);
        instance.tile.columns = each.tile_columns;
        instance.tile.stages = each.stages;
        instance.tile.splits = each.splits;
        instance.columns = each.columns;
        check(instance, each.rows, each.depth, each.splits);
        check(instance, each.rows, each.depth, each.splits, kTruncating);
      }
}

TEST_CASE("a split depth of 4 bits gives the same bits in whatever order its blocks arrive") {
  for (const bool promotes : kEither) {
    Instance instance = of_4_bits(promotes ? 16 : 32, promotes);
    instance.tile.splits = 4;
    for (const int splits : {1, 4}) check_order(instance, 128, 2000, splits);
  }
}

TEST_CASE("parts of 128 products of 4 bits, half of a stage, are added in f32") {
  constexpr long long kDepth = 4096;
  for (const int places : {16, 32}) {
    const Instance instance = of_4_bits(places, true);
    Operands x = operands(instance, 128, kDepth);
    // 2^13 in the first part, then products of 0.5, of which 14 digits below 2^13 keep nothing.
    for (std::vector<float>* codes : {&x.lhs_codes, &x.rhs_codes})
      for (std::size_t i = 0; i < codes->size(); ++i) {
        const float small = codes == &x.lhs_codes ? 0.5f : 1.0f;
        (*codes)[i] = static_cast<long long>(i) % kDepth < 128 ? 4.0f : small;
      }
    for (std::vector<float>* scales : {&x.lhs_scales, &x.rhs_scales})
      for (std::size_t i = 0; i < scales->size(); ++i)
        (*scales)[i] = static_cast<long long>(i) % (kDepth / places) < 128 / places ? 2.0f : 1.0f;
    scale_blocks(instance, x);
    check_parts(instance, x, 0x1p13f + 0.5f * static_cast<float>(kDepth - 128), 0x1p13f);
  }
}

TEST_CASE("of a line of 4 bits with a scale that is NaN all sums are, and no others") {
  for (const int places : {16, 32}) {
    const Instance instance = of_4_bits(places, places == 16);
    Operands x = operands(instance, 128, 320);
    x.rhs_scales[static_cast<std::size_t>(9 * (320 / places) + 1)] = NAN;
    const Outcome outcome = run(instance, ptx_of(instance), x, 1, {});
    CHECK(outcome.report.findings.empty());
    for (std::size_t at = 0; at < outcome.sum.size(); ++at) {
      const std::size_t column = at % static_cast<std::size_t>(x.columns);
      CAPTURE(column);
      CHECK(std::isnan(outcome.sum[at]) == (column == 9));
    }
  }
}

TEST_CASE("sums of parts are multiplied by factors of their lines, whichever way operands lie") {
  for (const bool transpose_lhs : kEither)
    for (const bool transpose_rhs : kEither)
      for (const ScaledBlocks& of_rhs : {ScaledBlocks{1, 128}, ScaledBlocks{128, 128}}) {
        const Instance instance =
            instance_of(Element::f8e4m3, Element::f8e5m2, transpose_lhs, transpose_rhs, true);
        check(by_factors(instance, {1, 128}, of_rhs), 144, 400);
        check(by_factors(instance, {3, 256}, of_rhs), 144, 1040, 1, kTruncating);
        Instance split = by_factors(instance, {128, 128}, of_rhs);
        split.tile.splits = 4;
        split.tile.stages = 5;
        split.columns = 272;
        check(split, 272, 1040, 4, kTruncating);
        check(split, 16, 16, 1);
      }
}

TEST_CASE("each part of 128 products has factors of its own, whose product is what counts") {
  check_factors_of_parts(
      by_factors(instance_of(Element::f8e4m3, Element::f8e4m3, false, true, true)));
}

TEST_CASE("ptxas takes it for all chips that have the instructions, blocks without spills") {
  for (const char* chip : {"100a", "103a", "110a"}) {
    for (const int places : {16, 32})
      for (const bool promotes : kEither) {
        Instance instance = of_4_bits(places, promotes);
        instance.chip = chip;
        instance.tile.stages = 5;
        const Compilation made = compile(instance, "sm");
        INFO(made.log);
        CHECK(made.accepted);
        CHECK(made.log.find(" 0 bytes spill stores") != std::string::npos);
      }
    for (const bool scaled : kEither) {
      for (const bool promotes : kEither) {
        Instance instance = instance_of(Element::f8e4m3, Element::f8e5m2, false, true, promotes);
        instance.chip = chip;
        instance.tile.stages = 6;
        const Compilation made = compile(scaled ? in_blocks(instance) : instance, "sm");
        INFO(made.log);
        CHECK(made.accepted);
        if (scaled) CHECK(made.log.find(" 0 bytes spill stores") != std::string::npos);
        if (!scaled || !promotes) continue;
        for (const int lines : {1, 128}) {
          const Compilation factored = compile(by_factors(instance, {1, 128}, {lines, 128}), "sm");
          INFO(factored.log);
          CHECK(factored.accepted);
          CHECK(factored.log.find(" 0 bytes spill stores") != std::string::npos);
        }
      }
    }
  }
}
