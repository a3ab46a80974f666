// SPDX-License-Identifier: Apache-2.0
// float8_warpgroup_contraction.cuh and factored_warpgroup_contraction.cuh on the simulator: sums
// inside N13, N14 and N17, all else to the bit, and nothing found.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "contraction_check.hpp"

using namespace halftone;
using namespace halftone::tests;
using description::Element;

namespace {

struct Groups {
  int rows = 128, columns = 128, stages = 2;
  bool take_turns = false;
  int splits = 1;
};

Instance instance_of(Element lhs, Element rhs, const Groups& groups, bool promotes) {
  return {.tile = {.rows = groups.rows,
                   .columns = groups.columns,
                   .depth = 128,
                   .warp_rows = 64,
                   .warp_columns = 64,
                   .stages = groups.stages,
                   .lhs_bytes = 16,
                   .rhs_bytes = 16,
                   .splits = groups.splits},
          .format = lhs,
          .columns = 144,
          .chip = "90a",
          .lhs_sum = LhsSum::unused,
          .rhs_format = rhs,
          .promotes = promotes,
          .is_by_groups = true,
          .groups_take_turns = groups.take_turns};
}

Instance by_factors(Element lhs, Element rhs, const Groups& groups = {},
                    ScaledBlocks of_lhs = {1, 128}, ScaledBlocks of_rhs = {128, 128}) {
  Instance instance = instance_of(lhs, rhs, groups, true);
  instance.lhs_blocks = of_lhs;
  instance.rhs_blocks = of_rhs;
  instance.by_factors = true;
  return instance;
}

/// Those of plans, with fewer stages, and one of 64 rows whose groups have half of its columns.
constexpr Groups kTiles[] = {
    {128, 128, 2}, {128, 192, 3}, {256, 128, 2}, {128, 128, 3, true}, {64, 256, 2},
};

}  // namespace

TEST_CASE("products of codes along the sum are inside the bound, whatever digits are kept") {
  for (const Element lhs : {Element::f8e4m3, Element::f8e5m2}) {
    for (const Element rhs : {Element::f8e4m3, Element::f8e5m2}) {
      for (const bool promotes : kEither)
        check(instance_of(lhs, rhs, {}, promotes), 144, 400, 1, kTruncating);
      for (const ScaledBlocks of_rhs : {ScaledBlocks{1, 128}, ScaledBlocks{128, 128}}) {
        const Instance instance = by_factors(lhs, rhs, {}, {1, 128}, of_rhs);
        check(instance, 144, 400);
        check(instance, 144, 400, 1, kTruncating);
      }
    }
  }
}

TEST_CASE("tiles of every shape have factors of their lines, in blocks that end short, too") {
  struct Case {
    ScaledBlocks lhs, rhs;
    long long rows;
    int columns;
    long long depth;
  };
  static constexpr Case kCases[] = {
      {{1, 128}, {128, 128}, 272, 400, 528}, {{1, 128}, {1, 128}, 300, 140, 272},
      {{128, 128}, {1, 256}, 272, 272, 784}, {{3, 384}, {64, 128}, 16, 16, 1008},
      {{2, 4096}, {5, 128}, 130, 258, 16},
  };
  for (const Groups& groups : kTiles) {
    for (const auto& [lhs, rhs, rows, columns, depth] : kCases) {
      Instance instance = by_factors(Element::f8e4m3, Element::f8e5m2, groups, lhs, rhs);
      instance.columns = columns;
      check(instance, rows, depth, 1, kTruncating);
    }
  }
}

TEST_CASE("a split depth gives the same bits in whatever order its blocks arrive") {
  for (Groups groups : kTiles) {
    groups.splits = 4;
    const ScaledBlocks of_rhs = groups.take_turns ? ScaledBlocks{256, 512} : ScaledBlocks{1, 128};
    const Instance instance =
        by_factors(Element::f8e4m3, Element::f8e4m3, groups, {1, 128}, of_rhs);
    for (const int splits : {1, 3, 4}) check_order(instance, 144, 1200, splits);
  }
}

TEST_CASE("each part of 128 products has factors of its own, whose product is what counts") {
  check_factors_of_parts(by_factors(Element::f8e4m3, Element::f8e4m3));
}

TEST_CASE("no two lanes of a wavefront want one bank") {
  for (const Groups& groups : kTiles) {
    for (const ScaledBlocks of_rhs : {ScaledBlocks{1, 128}, ScaledBlocks{256, 128}})
      check_banks(by_factors(Element::f8e4m3, Element::f8e4m3, groups, {1, 128}, of_rhs), 128, 256);
  }
}
