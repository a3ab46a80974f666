// SPDX-License-Identifier: Apache-2.0
// float8_contraction.cuh, block_scaled_contraction.cuh and factored_contraction.cuh on the
// simulator: sums inside N13, N14 and N17, all else to the bit, nothing found, and no two lanes of
// a wavefront in one bank. Each bound is shown to tell the first two apart.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "contraction_check.hpp"

using namespace halftone;
using namespace halftone::tests;
using description::Element;

namespace {

Instance instance_of(Element lhs, Element rhs, bool transpose_lhs, bool transpose_rhs,
                     bool promotes) {
  return {.tile = {64, 64, 64, 32, 32, 3, 16, 16},
          .format = lhs,
          .transpose_lhs = transpose_lhs,
          .transpose_rhs = transpose_rhs,
          .columns = 64,
          .chip = "89",
          .rhs_format = rhs,
          .promotes = promotes};
}

}  // namespace

TEST_CASE("every orientation and pair of formats is inside the bound, whatever digits are kept") {
  bool promotes = false;
  for (const Element lhs : {Element::f8e4m3, Element::f8e5m2}) {
    for (const Element rhs : {Element::f8e4m3, Element::f8e5m2}) {
      for (const bool transpose_lhs : kEither) {
        for (const bool transpose_rhs : kEither) {
          const Instance instance = instance_of(lhs, rhs, transpose_lhs, transpose_rhs, promotes);
          check(instance, 64, 320);
          check(instance, 64, 320, 1, kTruncating);
          promotes = !promotes;
        }
        promotes = !promotes;
      }
    }
  }
}

TEST_CASE("rows, columns and depths that no tile divides are masked") {
  struct Size {
    long long rows;
    int columns;
    long long depth;
  };
  static constexpr Size kSizes[] = {
      {4, 4, 4}, {4, 72, 8}, {72, 4, 200}, {36, 52, 76}, {68, 68, 132}};
  for (const auto& [rows, columns, depth] : kSizes) {
    for (const bool transpose_lhs : kEither) {
      for (const bool transpose_rhs : kEither) {
        Instance instance = instance_of(Element::f8e4m3, Element::f8e5m2, transpose_lhs,
                                        transpose_rhs, transpose_lhs == transpose_rhs);
        instance.columns = columns;
        instance.tile = {128, 128, 64, 32, 32, 3, 4, 4};
        check(instance, rows, depth, 1, kTruncating);
      }
    }
  }
}

TEST_CASE("tiles of every shape give results inside the bound") {
  static constexpr TilePlan kTiles[] = {
      {128, 128, 64, 64, 32, 3, 16, 16}, {64, 128, 64, 32, 32, 4, 16, 16},
      {256, 128, 64, 64, 64, 3, 16, 16}, {128, 256, 64, 64, 64, 3, 16, 16},
      {64, 64, 128, 32, 32, 2, 16, 8},   {128, 32, 128, 32, 32, 2, 4, 16},
  };
  for (const TilePlan& tile : kTiles) {
    for (const bool transpose : kEither) {
      Instance instance =
          instance_of(Element::f8e5m2, Element::f8e4m3, transpose, !transpose, transpose);
      instance.tile = tile;
      instance.columns = 144;
      check(instance, 144, 272, 1, kTruncating);
    }
  }
}

TEST_CASE("a split depth gives the same bits in whatever order its blocks arrive") {
  for (const bool promotes : kEither) {
    Instance instance = instance_of(Element::f8e4m3, Element::f8e4m3, true, false, promotes);
    instance.tile.splits = 4;
    instance.columns = 72;
    instance.tile.rhs_bytes = 8;
    for (const int splits : {1, 2, 4}) check_order(instance, 128, 1000, splits);
  }
}

TEST_CASE("each element of a batch is a product of its own") {
  for (const bool transpose : kEither) {
    Instance instance = instance_of(Element::f8e4m3, Element::f8e5m2, transpose, transpose, true);
    instance.batch = 3;
    instance.lhs_sum = LhsSum::unused;
    check(instance, 48, 272, 1, kTruncating);
  }
}

TEST_CASE("parts of 128 products are added in f32, and sums that are not promoted are not") {
  const Instance instance = instance_of(Element::f8e4m3, Element::f8e4m3, false, true, true);
  constexpr long long kDepth = 4096;
  Operands x = operands(instance, 64, kDepth);
  REQUIRE(x.lhs.size() == x.rhs.size());
  // 2^15 in the first part, then products of 3.5, of which 14 digits below 2^15 keep nothing.
  for (std::size_t i = 0; i < x.lhs.size(); ++i) {
    x.lhs[i] = static_cast<long long>(i) % kDepth < 128 ? 16.0f : 1.75f;
    x.rhs[i] = static_cast<long long>(i) % kDepth < 128 ? 16.0f : 2.0f;
  }
  check_parts(instance, x, 0x1p15f + 3.5f * static_cast<float>(kDepth - 128), 0x1p15f);
}

//===--- Blocks with scales, on sm_120a ---===//

namespace {

Instance in_blocks(Element lhs, Element rhs, bool transpose_lhs, bool transpose_rhs,
                   bool promotes) {
  Instance instance = instance_of(lhs, rhs, transpose_lhs, transpose_rhs, promotes);
  instance.chip = "120a";
  instance.lhs_sum = LhsSum::unused;
  instance.lhs_blocks = {1, 32};
  instance.rhs_blocks = promotes ? ScaledBlocks{1, 32} : ScaledBlocks{64, 64};
  return instance;
}

struct ShortBlocks {
  TilePlan tile;
  ScaledBlocks lhs, rhs;
  long long rows;
  int columns;
  long long depth;
  int splits = 1;
};

/// In all orientations, of which `make` is given two flags.
template <class Make>
void check_short(std::span<const ShortBlocks> cases, const Make& make) {
  for (const ShortBlocks& each : cases) {
    for (const bool transpose_lhs : kEither) {
      for (const bool transpose_rhs : kEither) {
        Instance instance = make(transpose_lhs, transpose_rhs);
        instance.tile = each.tile;
        instance.tile.splits = each.splits;
        instance.lhs_blocks = each.lhs;
        instance.rhs_blocks = each.rhs;
        instance.columns = each.columns;
        check(instance, each.rows, each.depth, each.splits, kTruncating);
      }
    }
  }
}

}  // namespace

TEST_CASE("products of blocks are inside the bound of numbers, codes times scales") {
  bool promotes = false;
  for (const Element lhs : {Element::f8e4m3, Element::f8e5m2}) {
    for (const Element rhs : {Element::f8e4m3, Element::f8e5m2}) {
      for (const bool transpose_lhs : kEither) {
        for (const bool transpose_rhs : kEither) {
          const Instance instance = in_blocks(lhs, rhs, transpose_lhs, transpose_rhs, promotes);
          check(instance, 64, 320);
          check(instance, 64, 320, 1, kTruncating);
          promotes = !promotes;
        }
        promotes = !promotes;
      }
    }
  }
}

TEST_CASE("blocks that end short, and tiles of every shape, with and without splits") {
  static constexpr ShortBlocks kCases[] = {
      {{128, 128, 64, 64, 32, 3, 16, 16}, {1, 32}, {1, 32}, 144, 144, 272},
      {{128, 128, 64, 32, 32, 3, 4, 4}, {1, 128}, {128, 128}, 36, 52, 76},
      {{128, 128, 64, 32, 32, 3, 4, 4}, {1, 32}, {3, 96}, 72, 4, 200},
      {{256, 128, 64, 64, 64, 2, 16, 16}, {128, 128}, {1, 128}, 272, 144, 272},
      {{64, 64, 128, 32, 32, 3, 8, 8}, {2, 32}, {1, 64}, 72, 72, 1000, 4},
  };
  check_short(kCases, [](bool transpose_lhs, bool transpose_rhs) {
    return in_blocks(Element::f8e4m3, Element::f8e5m2, transpose_lhs, transpose_rhs,
                     transpose_lhs == transpose_rhs);
  });
}

TEST_CASE("of blocks with a scale of 2^113 or more all sums are NaN, and no others") {
  check_large_scales(in_blocks(Element::f8e4m3, Element::f8e4m3, false, true, true));
}

//===--- Blocks with factors ---===//

namespace {

Instance by_factors(Element lhs, Element rhs, bool transpose_lhs, bool transpose_rhs) {
  Instance instance = instance_of(lhs, rhs, transpose_lhs, transpose_rhs, true);
  instance.lhs_sum = LhsSum::unused;
  instance.lhs_blocks = {1, 128};
  instance.rhs_blocks = transpose_rhs ? ScaledBlocks{128, 128} : ScaledBlocks{1, 128};
  instance.by_factors = true;
  return instance;
}

}  // namespace

TEST_CASE("products of blocks by factors are inside the bound of numbers") {
  for (const Element lhs : {Element::f8e4m3, Element::f8e5m2}) {
    for (const Element rhs : {Element::f8e4m3, Element::f8e5m2}) {
      for (const bool transpose_lhs : kEither) {
        for (const bool transpose_rhs : kEither) {
          Instance instance = by_factors(lhs, rhs, transpose_lhs, transpose_rhs);
          if (lhs == rhs) instance.chip = "120a";
          check(instance, 64, 320);
          check(instance, 64, 320, 1, kTruncating);
        }
      }
    }
  }
}

TEST_CASE("blocks by factors that end short, and tiles of every shape, with and without splits") {
  static constexpr ShortBlocks kCases[] = {
      {{128, 128, 64, 64, 32, 3, 16, 16}, {1, 128}, {1, 128}, 144, 144, 272},
      {{128, 128, 64, 32, 32, 3, 4, 4}, {1, 128}, {128, 128}, 36, 52, 76},
      {{128, 128, 64, 32, 32, 3, 4, 4}, {64, 256}, {3, 384}, 72, 4, 700},
      {{256, 128, 64, 64, 64, 2, 16, 16}, {128, 128}, {1, 128}, 272, 144, 272},
      {{32, 128, 128, 32, 32, 3, 16, 16}, {128, 128}, {128, 128}, 272, 144, 528},
      {{64, 64, 128, 32, 32, 3, 8, 8}, {2, 128}, {1, 4096}, 72, 72, 1000, 4},
      {{64, 64, 64, 32, 32, 4, 8, 8}, {1, 128}, {32, 128}, 72, 72, 264, 4},
  };
  check_short(kCases, [](bool transpose_lhs, bool transpose_rhs) {
    return by_factors(Element::f8e4m3, Element::f8e5m2, transpose_lhs, transpose_rhs);
  });
}

TEST_CASE("each part of 128 products has factors of its own, whose product is what counts") {
  check_factors_of_parts(by_factors(Element::f8e4m3, Element::f8e4m3, false, true));
}

TEST_CASE("no two lanes of a wavefront want one bank") {
  for (const TilePlan& tile : kTilesOfBytes) {
    for (const bool transpose_lhs : kEither) {
      for (const bool transpose_rhs : kEither) {
        const Instance instance =
            instance_of(Element::f8e4m3, Element::f8e4m3, transpose_lhs, transpose_rhs, false);
        for (Instance each :
             {instance,
              in_blocks(Element::f8e4m3, Element::f8e4m3, transpose_lhs, transpose_rhs, true),
              by_factors(Element::f8e4m3, Element::f8e4m3, transpose_lhs, transpose_rhs)}) {
          each.tile = tile;
          each.columns = 128;
          each.lhs_sum = LhsSum::unused;
          check_banks(each, 128, 256);
        }
      }
    }
  }
}

TEST_CASE("a product passes half as often through shared memory as one of 16 bits") {
  const TilePlan tile = {128, 128, 64, 64, 32, 3, 16, 16};
  for (const bool promotes : kEither) {
    for (const bool turned : kEither) {
      Instance codes = instance_of(Element::f8e4m3, Element::f8e4m3, turned, !turned, promotes);
      const Instance halves = {.tile = {128, 128, 32, 64, 32, 3, 16, 16},
                               .format = Element::bf16,
                               .transpose_lhs = turned,
                               .transpose_rhs = !turned,
                               .chip = "89"};
      codes.tile = tile;
      const Turns own = turns_of(codes), of_16_bits = turns_of(halves);
      const double instructions = own.instructions / of_16_bits.instructions,
                   shared = own.shared_wavefronts / of_16_bits.shared_wavefronts;
      std::printf("%s: %.2f of bf16's instructions, %.2f of its passes through shared memory\n",
                  codes.text().c_str(), instructions, shared);
      CHECK(shared < 0.55);
      // Words that lie across k are turned, and parts of 128 are added and begun anew.
      CHECK(instructions < (promotes ? 0.45 : 0.0) + (turned ? 1.35 : 0.55));
    }
  }
}
