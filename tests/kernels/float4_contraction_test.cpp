// SPDX-License-Identifier: Apache-2.0
// float4_contraction.cuh on the simulator: sums inside N13 and N14 of numbers, all else to the bit,
// nothing found, and no two lanes of a wavefront in one bank.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "contraction_check.hpp"

using namespace halftone;
using namespace halftone::tests;
using description::Element;

namespace {

constexpr int kPlaces[] = {16, 32};  // that share a scale: of f8e4m3, of f8e8m0

/// Depths of tiles are in bytes.
Instance instance_of(int places, bool promotes) {
  Instance instance = {.tile = {64, 64, 64, 32, 32, 3, 16, 16},
                       .format = Element::f4e2m1,
                       .columns = 64,
                       .chip = "120a",
                       .lhs_sum = LhsSum::unused,
                       .promotes = promotes};
  instance.lhs_blocks = instance.rhs_blocks = ScaledBlocks{1, places};
  return instance;
}

}  // namespace

TEST_CASE("products of 4 bits are inside the bound of numbers, codes times scales") {
  for (const int places : kPlaces)
    for (const bool promotes : kEither) {
      const Instance instance = instance_of(places, promotes);
      check(instance, 64, 640);
      check(instance, 64, 640, 1, kTruncating);
    }
}

TEST_CASE("rows and columns that no tile divides are masked, and sums may end anywhere") {
  struct Size {
    long long rows;
    int columns;
    long long depth;
  };
  static constexpr Size kSizes[] = {{4, 4, 8},     {1, 72, 16},   {72, 3, 40},
                                    {36, 52, 333}, {68, 68, 130}, {144, 144, 1000}};
  for (const auto& [rows, columns, depth] : kSizes)
    for (const int places : kPlaces)
      for (const bool promotes : kEither) {
        Instance instance = instance_of(places, promotes);
        instance.columns = columns;
        check(instance, rows, depth, 1, kTruncating);
      }
}

TEST_CASE("tiles of every shape give results inside the bound") {
  static constexpr TilePlan kTiles[] = {
      {128, 128, 64, 64, 32, 3, 16, 16}, {64, 128, 64, 32, 32, 4, 16, 16},
      {256, 128, 64, 64, 64, 3, 16, 16}, {128, 256, 64, 64, 64, 3, 16, 16},
      {64, 64, 128, 32, 32, 2, 16, 16},  {128, 32, 128, 32, 16, 2, 16, 16},
      {16, 64, 128, 16, 16, 3, 16, 16},
  };
  for (const TilePlan& tile : kTiles)
    for (const int places : kPlaces) {
      Instance instance = instance_of(places, tile.depth == 64);
      instance.tile = tile;
      instance.columns = 144;
      check(instance, 144, 600, 1, kTruncating);
    }
}

TEST_CASE("a split depth gives the same bits in whatever order its blocks arrive") {
  for (const bool promotes : kEither) {
    Instance instance = instance_of(promotes ? 16 : 32, promotes);
    instance.tile.splits = 4;
    instance.columns = 72;
    for (const int splits : {1, 2, 4}) check_order(instance, 128, 2000, splits);
  }
}

TEST_CASE("parts of 128 products are added in f32, and sums that are not promoted are not") {
  constexpr long long kDepth = 4096;
  for (const int places : kPlaces) {
    const Instance instance = instance_of(places, true);
    Operands x = operands(instance, 64, kDepth);
    // 2^13 in the first part, then products of 0.5, of which 14 digits below 2^13 keep nothing.
    for (std::size_t i = 0; i < x.lhs_codes.size(); ++i) {
      const bool is_first = static_cast<long long>(i) % kDepth < 128;
      x.lhs_codes[i] = is_first ? 4.0f : 0.5f;
      x.rhs_codes[i] = is_first ? 4.0f : 1.0f;
    }
    for (std::vector<float>* scales : {&x.lhs_scales, &x.rhs_scales})
      for (std::size_t i = 0; i < scales->size(); ++i)
        (*scales)[i] = static_cast<long long>(i) % (kDepth / places) < 128 / places ? 2.0f : 1.0f;
    scale_blocks(instance, x);
    check_parts(instance, x, 0x1p13f + 0.5f * static_cast<float>(kDepth - 128), 0x1p13f);
  }
}

TEST_CASE("of a line with a scale that is NaN all sums are, and no others") {
  for (const int places : kPlaces) {
    const Instance instance = instance_of(places, places == 16);
    Operands x = operands(instance, 64, 192);
    const long long parts = 192 / places;
    x.rhs_scales[static_cast<std::size_t>(9 * parts + 1)] = NAN;
    const Outcome outcome = run(instance, ptx_of(instance), x, 1, {});
    for (std::size_t at = 0; at < outcome.sum.size(); ++at) {
      const std::size_t column = at % static_cast<std::size_t>(x.columns);
      CAPTURE(column);
      CHECK(std::isnan(outcome.sum[at]) == (column == 9));
    }
  }
}

TEST_CASE("no two lanes of a wavefront want one bank") {
  for (const TilePlan& tile : kTilesOfBytes)
    for (const int places : kPlaces) {
      Instance instance = instance_of(places, tile.depth == 64);
      instance.tile = tile;
      instance.columns = 128;
      check_banks(instance, 128, 512);
    }
}

TEST_CASE("a product passes half as often through shared memory as one of 8 bits") {
  for (const bool promotes : kEither) {
    Instance pairs = instance_of(32, promotes);
    Instance codes = pairs;
    codes.format = Element::f8e4m3;
    for (Instance* each : {&pairs, &codes}) each->tile = {128, 128, 64, 64, 32, 3, 16, 16};
    const Turns own = turns_of(pairs), of_8_bits = turns_of(codes);
    const double instructions = own.instructions / of_8_bits.instructions,
                 shared = own.shared_wavefronts / of_8_bits.shared_wavefronts;
    std::printf("%s: %.2f of 8 bits' instructions, %.2f of their passes through shared memory\n",
                pairs.text().c_str(), instructions, shared);
    CHECK(shared < 0.51);
    CHECK(instructions < (promotes ? 0.75 : 0.51));
  }
}
