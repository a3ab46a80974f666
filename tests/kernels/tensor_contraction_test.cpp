// SPDX-License-Identifier: Apache-2.0
// tensor_contraction.cuh on the simulator: sums inside N8, all else to the bit, nothing found, and
// no two lanes of a wavefront in one bank.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "chips.hpp"
#include "contraction_check.hpp"

using namespace halftone;
using namespace halftone::tests;
using description::Element;

namespace {

constexpr Element kFormats[] = {Element::bf16, Element::f16, Element::tf32};

/// Which operands are transposed.
struct Orientation {
  bool lhs, rhs;
};

/// So many of the four for a case, others for the next, all with HALFTONE_EVERY_ORIENTATION.
std::vector<Orientation> orientations(std::size_t number, std::size_t count) {
  static constexpr Orientation kAll[] = {
      {false, false}, {false, true}, {true, false}, {true, true}};
  const std::size_t all = std::size(kAll), first = number * count + number / (all / count);
  static const bool every = std::getenv("HALFTONE_EVERY_ORIENTATION") != nullptr;
  if (every) count = all;
  if (!every && number == 0)
    std::printf("left out: orientations; tests/run --exhaustive -R kernels_every tries them\n");
  std::vector<Orientation> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(kAll[(first + i) % all]);
  return chosen;
}

/// The largest of 2, 4, 8, 16 that divides both rows of memory that the orientation makes.
TilePlan aligned(TilePlan tile, const Instance& instance, long long rows, long long depth) {
  const auto largest = [&](long long elements, Element format) {
    int bytes = 16;
    while (elements * (format == Element::tf32 ? 4 : 2) % bytes != 0) bytes /= 2;
    return bytes;
  };
  tile.lhs_bytes = largest(instance.transpose_lhs ? rows : depth, instance.format);
  tile.rhs_bytes = largest(instance.transpose_rhs ? depth : instance.columns, instance.rhs());
  return tile;
}

}  // namespace

TEST_CASE("every orientation and format is inside the bound, however the hardware rounds") {
  const TilePlan tile = {64, 64, 32, 32, 32, 3, 16, 16};
  for (const Element format : kFormats) {
    for (const bool transpose_lhs : kEither) {
      for (const bool transpose_rhs : kEither) {
        Instance instance = {.tile = tile,
                             .format = format,
                             .transpose_lhs = transpose_lhs,
                             .transpose_rhs = transpose_rhs,
                             .columns = 128};
        check(instance, 128, 96);
        check(instance, 128, 96, 1, {.accumulation = simulator::Accumulation::truncating});
      }
    }
  }
}

TEST_CASE("rows, columns and depths of any size are masked") {
  struct Size {
    long long rows;
    int columns;
    long long depth;
  };
  static constexpr Size kSizes[] = {{1, 1, 1},    {1, 72, 8},    {72, 1, 200}, {65, 10, 1},
                                    {37, 53, 77}, {72, 88, 136}, {70, 66, 68}};
  std::size_t number = 0;
  for (const Element format : {Element::bf16, Element::tf32}) {
    for (const auto& [rows, columns, depth] : kSizes) {
      for (const auto& [transpose_lhs, transpose_rhs] : orientations(number++, 2)) {
        Instance instance = {.tile = {32, 64, 32, 16, 32, 3, 16, 16},
                             .format = format,
                             .transpose_lhs = transpose_lhs,
                             .transpose_rhs = transpose_rhs,
                             .columns = columns};
        instance.tile = aligned(instance.tile, instance, rows, depth);
        check(instance, rows, depth);
      }
    }
  }
}

TEST_CASE("operands of two formats are widened exactly and multiplied as tf32") {
  struct Pair {
    Element lhs, rhs;
  };
  static constexpr Pair kPairs[] = {{Element::f16, Element::bf16},
                                    {Element::bf16, Element::f16},
                                    {Element::tf32, Element::bf16},
                                    {Element::f16, Element::tf32}};
  struct Size {
    long long rows;
    int columns;
    long long depth;
  };
  static constexpr Size kSizes[] = {{128, 128, 96}, {37, 53, 77}, {70, 66, 68}};
  std::size_t number = 0;
  for (const auto& [lhs, rhs] : kPairs) {
    for (const auto& [rows, columns, depth] : kSizes) {
      for (const auto& [transpose_lhs, transpose_rhs] : orientations(number++, 1)) {
        Instance instance = {.tile = {32, 64, 32, 16, 32, 3, 16, 16},
                             .format = lhs,
                             .transpose_lhs = transpose_lhs,
                             .transpose_rhs = transpose_rhs,
                             .columns = columns,
                             .rhs_format = rhs};
        instance.tile = aligned(instance.tile, instance, rows, depth);
        check(instance, rows, depth);
      }
    }
  }
}

TEST_CASE("tiles of every shape give the same results") {
  static constexpr TilePlan kTiles[] = {
      {128, 128, 32, 64, 64, 3, 16, 16}, {128, 128, 32, 64, 32, 3, 16, 16},
      {64, 128, 64, 32, 64, 2, 16, 16},  {128, 16, 64, 32, 16, 3, 16, 16},
      {16, 128, 32, 16, 32, 4, 16, 16},  {32, 32, 128, 16, 16, 2, 16, 16},
      {128, 64, 32, 16, 64, 5, 8, 4},
  };
  for (const TilePlan& tile : kTiles) {
    for (const Element format : {Element::bf16, Element::tf32}) {
      if (format == Element::tf32 && tile.shared_bytes(4) > 164 * 1024) continue;
      for (const bool transpose : kEither) {
        Instance instance = {.tile = tile,
                             .format = format,
                             .transpose_lhs = transpose,
                             .transpose_rhs = !transpose,
                             .columns = 136,
                             .width = 8};
        check(instance, 136, 264);
      }
    }
  }
}

TEST_CASE("a split depth gives the same bits in whatever order its blocks arrive") {
  Instance instance = {.tile = {64, 64, 32, 32, 32, 3, 16, 16, 8},
                       .transpose_lhs = true,
                       .transpose_rhs = false,
                       .columns = 72};
  for (const Element format : kFormats) {
    instance.format = format;
    for (const int splits : {1, 2, 3, 8}) check_order(instance, 136, 1000, splits);
    check(instance, 136, 100, 3);  // two splits have nothing to add
  }
}

TEST_CASE("each element of a batch is a product of its own") {
  std::size_t number = 0;
  for (const Element format : kFormats) {
    for (const auto& [transpose_lhs, transpose_rhs] : orientations(number++, 4)) {
      Instance instance = {.tile = {32, 64, 32, 16, 32, 3, 16, 16, 2},
                           .format = format,
                           .transpose_lhs = transpose_lhs,
                           .transpose_rhs = transpose_rhs,
                           .columns = 84,
                           .lhs_sum = LhsSum::unused,
                           .batch = 3};
      instance.tile = aligned(instance.tile, instance, 36, 260);
      check(instance, 36, 260);
      check(instance, 36, 260, 2);
    }
  }
}

TEST_CASE("splits are added up in ascending order") {
  const Instance instance = {.tile = {32, 32, 32, 16, 16, 3, 16, 16, 3}, .columns = 32};
  constexpr std::size_t kPart = 128, kParts = 3;
  for (std::size_t large = 0; large < kParts; ++large) {
    CAPTURE(large);
    Operands x = operands(instance, 32, kParts * kPart);
    for (std::size_t i = 0; i < x.lhs.size(); ++i) {  // one part's sum is 2^24, the others are 1
      const std::size_t k = i % (kParts * kPart);
      x.lhs[i] = k / kPart == large ? 0x1p9f : k % kPart == 0 ? 1.0f : 0.0f;
      x.rhs[i] = k / kPart == large ? 0x1p8f : 1.0f;
    }
    const Outcome outcome = run(instance, ptx_of(instance), x, kParts, {});
    const float expected = large == 2 ? (1.0f + 1.0f) + 0x1p24f : (0x1p24f + 1.0f) + 1.0f;
    CHECK(outcome.sum == std::vector<float>(outcome.sum.size(), expected));
  }
}

TEST_CASE("elements may use lhs's sum when one block sees the whole depth") {
  for (const bool transpose_lhs : kEither) {
    check({.tile = {64, 64, 32, 32, 32, 3, 16, 16},
           .transpose_lhs = transpose_lhs,
           .columns = 72,
           .lhs_sum = LhsSum::by_elements},
          72, 264);
  }
}

TEST_CASE("sm_75 multiplies f16 through registers") {
  for (const bool transpose_lhs : kEither) {
    for (const bool transpose_rhs : kEither) {
      Instance instance = {.tile = {64, 64, 32, 32, 32, 2, 16, 16, 4},
                           .format = Element::f16,
                           .transpose_lhs = transpose_lhs,
                           .transpose_rhs = transpose_rhs,
                           .columns = 72,
                           .chip = "75"};
      check(instance, 136, 200);
      check(instance, 136, 1000, 3);
      instance.columns = 53;
      instance.tile = aligned(instance.tile, instance, 37, 77);
      check(instance, 37, 77);
    }
  }
}

TEST_CASE("no two lanes of a wavefront want one bank") {
  static constexpr TilePlan kTiles[] = {
      {128, 128, 32, 64, 64, 3, 16, 16}, {64, 64, 64, 32, 32, 3, 16, 16},
      {32, 64, 64, 16, 32, 3, 8, 8},     {128, 16, 32, 32, 16, 3, 4, 4},
      {16, 128, 32, 16, 32, 3, 16, 16},
  };
  std::size_t number = 0;
  for (const TilePlan& tile : kTiles) {
    for (const Element format : {Element::bf16, Element::tf32}) {
      for (const auto& [transpose_lhs, transpose_rhs] : orientations(number++, 2)) {
        check_banks({.tile = tile,
                     .format = format,
                     .transpose_lhs = transpose_lhs,
                     .transpose_rhs = transpose_rhs,
                     .columns = 128,
                     .width = transpose_lhs ? 4 : 8},
                    128, 128);
      }
    }
  }
}

TEST_CASE("results leave sixteen bytes at a time on every chip") {
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const Instance instance = {.tile = {64, 64, 32, 32, 32, 2, 16, 16},
                               .format = Element::f16,
                               .columns = 128,
                               .chip = chip,
                               .width = 8};
    const std::string& ptx = ptx_of(instance);
    int stores = 0;
    for (std::size_t at = ptx.find("st.global.v4"); at != ptx.npos;
         at = ptx.find("st.global.v4", at + 1))
      ++stores;
    // For each of two times sixteen rows: eight values of f16, and twice four of f32.
    CHECK(stores == 2 * 3);
  }
}

TEST_CASE("40 of 100 instructions of a large tile's main loop multiply") {
  static constexpr TilePlan kTiles[] = {
      {128, 128, 32, 64, 64, 4, 16, 16},
      {256, 128, 32, 64, 64, 3, 16, 16},
      {128, 128, 32, 64, 32, 4, 16, 16},
      {64, 64, 64, 32, 32, 3, 16, 16},
  };
  for (const TilePlan& tile : kTiles) {
    for (const Element format : {Element::bf16, Element::tf32}) {
      for (const bool transpose : kEither) {
        const Instance instance = {.tile = tile,
                                   .format = format,
                                   .transpose_lhs = transpose,
                                   .transpose_rhs = !transpose,
                                   .columns = 256,
                                   .lhs_sum = LhsSum::unused};
        // A depth that is longer by 256 takes more turns of the main loop and nothing else.
        const auto counted = [&](long long depth) {
          return run(instance, ptx_of(instance), operands(instance, 256, depth), 1,
                     {.check = false, .traffic = false})
              .report.counters;
        };
        const simulator::Counters few = counted(256), many = counted(512);
        const double operations = 16 * 8 * 2 * (format == Element::tf32 ? 8 : 16);  // of one mma
        const double products =
            static_cast<double>(many.tensor_operations - few.tensor_operations) / operations;
        const double share =
            products / static_cast<double>(many.warp_instructions - few.warp_instructions);
        std::printf("%s: mma are %.1f %% of the main loop\n", instance.text().c_str(), 100 * share);
        CHECK(share >= (tile.warp_columns == 64 ? 0.45 : tile.warp_rows == 64 ? 0.38 : 0.33));
      }
    }
  }
}
