// SPDX-License-Identifier: Apache-2.0
// How contractions are cut: by hand for two, and what must hold for every other.
#include "halftone/manifest/blocks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <utility>

using namespace halftone::manifest;

namespace {

constexpr RegisterTile kTile{6, 16, 8}, kMatrices{32, 32, 32, 32}, kPairs{14, 32, 16, 2};

/// [batch, rows, columns] = the symbols in this order, summed over the fourth.
Kernel contraction(std::int64_t stride, bool transposes = false, RegisterTile tile = kTile) {
  Kernel kernel{.name = "product", .skeleton = "contraction", .tasks = {}};
  for (std::int32_t symbol : {0, 1, 2}) kernel.tasks.push_back({{{1, symbol}}, 1});
  kernel.blocking = {{tile}, {{1, 3}}, stride, transposes};
  return kernel;
}

BlockPlan plan_of(const Kernel& kernel, std::vector<std::int64_t> sizes, CacheSizes caches = {},
                  int threads = 1) {
  return plan_blocks(kernel, 0, sizes, caches, threads);
}

}  // namespace

TEST_CASE("blocks fill the caches: a small product is one task, a large one several") {
  // 32 KiB / (4 * (6 + 16)) = 372; 100 in one block.
  const BlockPlan small = plan_of(contraction(0), {1, 20, 40, 100});
  CHECK(small.tasks == 1);
  CHECK(small.blocks.rows == 24);     // four tiles of 6
  CHECK(small.blocks.columns == 48);  // three of 16
  CHECK(small.blocks.depth == 100);
  CHECK(small.lhs == 4 * 8 * 100);
  CHECK(small.panel == 2 * 100 * 16);
  CHECK(small.sums == 6 * 16);  // one tile: no sum waits for another block
  CHECK(small.lhs_sums == 48);  // 24 + 16, in whole lines
  CHECK(small.floats() == 3200 + 3200 + 96 + 48);
  // Of a transposed rhs there is one panel, and no more than a task has columns for.
  CHECK(plan_of(contraction(0, true), {1, 20, 40, 100}).panel == 100 * 16);
  CHECK(plan_of(contraction(0), {1, 20, 10, 100}).panel == 100 * 16);

  // Three blocks of 336 along k (1000 / 3 in lines of 16); 512 KiB / 2 / (4 * 336) = 195 rows at
  // most.
  const BlockPlan large = plan_of(contraction(512 + 16), {1, 1000, 3000, 1000});
  CHECK(large.blocks.depth == 336);
  CHECK(large.blocks.rows == 168);      // 1000 in six parts
  CHECK(large.blocks.columns == 1008);  // 3000 in three
  CHECK(large.tasks == 6 * 3);
  CHECK(large.lhs == 168 * 528);
  CHECK(large.sums == 168 * 1008);
}

TEST_CASE("tiles of matrices work in bf16 and in whole steps of k") {
  // 32 KiB / (2 * (32 + 32)) = 256 at most: 100 in one block, of four steps of 32.
  const BlockPlan small = plan_of(contraction(112, false, kMatrices), {1, 20, 40, 100});
  CHECK(small.blocks.rows == 32);
  CHECK(small.blocks.columns == 64);
  CHECK(small.blocks.depth == 128);
  CHECK(small.lhs == 32 * 128 / 2);  // floats: two bf16 each, whatever the stride
  CHECK(small.panel == 128 * 32 / 2);
  CHECK(small.sums == 32 * 32);
  // 1000 in four blocks of 256; 512 KiB / 2 / (2 * 256) = 512 rows.
  const BlockPlan large = plan_of(contraction(0, false, kMatrices), {1, 1000, 3000, 1000});
  CHECK(large.blocks.depth == 256);
  CHECK(large.blocks.rows == 512);
  CHECK(large.lhs == 512 * 256 / 2);
  CHECK(large.sums == 512 * 1024);
  // A caller's depth is rounded up, so that no bit depends on it.
  const std::vector<std::int64_t> sizes = {1, 20, 40, 100};
  for (const std::int64_t depth : {1, 31, 32, 33}) {
    const BlockPlan asked =
        plan_blocks(contraction(0, false, kMatrices), 0, sizes, CpuBlocks{32, 32, depth});
    CHECK(asked.blocks.depth == (depth > 32 ? 64 : 32));
  }
}

TEST_CASE("pairs of bf16 work in lines of 32 along k, of as many rows as floats have") {
  // 32 KiB / (2 * (14 + 32)) = 356 at most: 100 in one block, of four lines.
  const BlockPlan small = plan_of(contraction(112, false, kPairs), {1, 20, 40, 100});
  CHECK(small.blocks.rows == 28);
  CHECK(small.blocks.columns == 64);
  CHECK(small.blocks.depth == 128);
  CHECK(small.lhs == 2 * 16 * 128 / 2);  // two tiles, each with room for 16 rows
  CHECK(small.panel == 128 * 32 / 2);
  CHECK(small.sums == 14 * 32);
  // 1000 in three blocks of 352; 512 KiB / 2 / (2 * 352) = 372 rows.
  const BlockPlan large = plan_of(contraction(0, false, kPairs), {1, 1000, 3000, 1000});
  CHECK(large.blocks.depth == 352);
  CHECK(large.blocks.rows == 336);
  const std::vector<std::int64_t> sizes = {1, 20, 40, 100};
  for (const std::int64_t depth : {1, 2, 32, 33})
    CHECK(plan_blocks(contraction(0, false, kPairs), 0, sizes, CpuBlocks{32, 32, depth})
              .blocks.depth == (depth > 32 ? 64 : 32));
}

TEST_CASE("all panels of rhs are packed by tasks of two each, in whole panels and lines") {
  const auto packing = [](std::vector<std::int64_t> sizes, RegisterTile tile = kTile) {
    return plan_packing(contraction(0, false, tile), 0, sizes);
  };
  // 40 columns are three panels of 16, of 100 floats each; rows do not matter.
  for (const std::int64_t rows : {1, 20, 5000}) {
    const PackingPlan plan = packing({1, rows, 40, 100});
    CHECK(plan.tasks == 2);
    CHECK(plan.bytes == 3 * 16 * 100 * 4);
    CHECK(plan.blocks.columns == 32);
    CHECK(plan.blocks.depth == 100);  // of all k, so that a panel is one block
    CHECK(plan.blocks.panels == Panels::packing);
  }
  CHECK(packing({1, 1, 1, 1}).bytes == 64);  // a panel of one line
  CHECK(packing({1, 1, 33, 3}).bytes == 3 * 16 * 3 * 4);
  CHECK(packing({1, 1, 33, 3}).tasks == 2);
  // Of bf16, two panels of 32 columns, 100 in four steps of 32.
  for (const RegisterTile tile : {kMatrices, kPairs}) {
    const PackingPlan plan = packing({1, 1, 40, 100}, tile);
    CHECK(plan.tasks == 1);
    CHECK(plan.bytes == 2 * 32 * 128 * 2);
    CHECK(plan.blocks.columns == 64);
    CHECK(plan.blocks.depth == 128);
  }
  const std::int64_t many = std::int64_t{1} << 40;
  CHECK_THROWS_AS((void)packing({1, 1, many, many}), std::overflow_error);
}

TEST_CASE("rhs of tiles is packed ahead where several tasks read it, of f32 a weight of few rows") {
  const std::vector<std::int64_t> sizes = {1, 1000, 64, 64};
  for (const RegisterTile tile : {kTile, kMatrices, kPairs}) {
    const Kernel kernel = contraction(0, false, tile);
    const auto worth = [&](std::int64_t rows_of_task) {
      const BlockPlan plan = plan_blocks(kernel, 0, sizes, CpuBlocks{rows_of_task, 64, 64});
      CHECK(plan.uses == (1000 + rows_of_task - 1) / rows_of_task);
      return is_worth_packing(kernel, 0, plan);
    };
    CHECK_FALSE(worth(1024));
    CHECK(worth(512) == (tile == kMatrices));
  }
  const auto keeps = [](std::int64_t rows, bool transposes, RegisterTile tile) {
    return is_worth_keeping_packed(contraction(0, transposes, tile), 0,
                                   std::vector<std::int64_t>{1, rows, 64, 64});
  };
  CHECK_FALSE(keeps(1, false, kTile));  // read in place
  CHECK(keeps(1, true, kTile));
  CHECK(keeps(kFewRows, true, kTile));
  CHECK_FALSE(keeps(kFewRows + 1, true, kTile));
  for (const bool transposes : {false, true})
    for (const std::int64_t rows : {1, 1000}) {
      CHECK(keeps(rows, transposes, kMatrices));
      CHECK(keeps(rows, transposes, kPairs));
    }
}

TEST_CASE("the parts lie one after another in the memory of a thread") {
  std::vector<float> memory(1);
  const BlockPlan plan = plan_of(contraction(0), {1, 20, 40, 100});
  const CpuBlocks blocks = plan.in(memory.data());
  CHECK(blocks.lhs == memory.data());
  CHECK(blocks.panel - blocks.lhs == plan.lhs);
  CHECK(blocks.sums - blocks.panel == plan.panel);
  CHECK(blocks.lhs_sums - blocks.sums == plan.sums);
  CHECK(blocks.rows == plan.blocks.rows);
}

TEST_CASE("what a launch writes goes past the caches where they hold less than half of it") {
  const auto at = [](std::uintptr_t address, std::int64_t bytes) {
    return MemoryRange{reinterpret_cast<const std::byte*>(address), bytes};
  };
  const CacheSizes caches{.first = 1, .second = 1, .last = 1000};
  const auto bits = [&](std::vector<MemoryRange> ranges) { return past_caches(ranges, caches); };
  CHECK(bits({at(0x1000, 1000), at(0x2000, 1002)}) == 0b11);
  CHECK(bits({at(0x1000, 1000), at(0x2000, 1000)}) == 0);  // no more than twice
  // The middle one begins within a line.
  CHECK(bits({at(0x1000, 1000), at(0x2020, 1000), at(0x3000, 1000)}) == 0b101);
  // A result in an operand's place, and one that begins in another's last line.
  CHECK(bits({at(0x1000, 2000), at(0x3000, 1000), at(0x1000, 2000)}) == 0b010);
  CHECK(bits({at(0x1000, 2049), at(0x1800, 1000), at(0x3000, 1)}) == 0b100);
  // There are 64 bits.
  std::vector<MemoryRange> many;
  for (std::uintptr_t i = 1; i <= 70; ++i) many.push_back(at(i * 0x1000, 1000));
  CHECK(bits(many) == ~std::uint64_t{0});
}

TEST_CASE("several threads get tasks each, cut where copies are cheaper") {
  // Columns: rhs, twice as long and across its rows, would be copied once more for every cut of
  // rows.
  const BlockPlan columns = plan_of(contraction(528, true), {1, 256, 512, 512}, {}, 2);
  CHECK(columns.tasks >= 8);
  CHECK(columns.blocks.rows >= 256);
  const BlockPlan rows = plan_of(contraction(0), {1, 4096, 64, 256}, {}, 2);
  CHECK(rows.tasks >= 8);
  CHECK(rows.blocks.columns == 64);
  // Not worth a second thread's waking.
  CHECK(plan_of(contraction(0), {1, 32, 32, 32}, {}, 16).tasks == 1);
}

namespace {

/// Parts of rows and of columns.
std::pair<std::int64_t, std::int64_t> parts_of(const Kernel& kernel, std::int64_t rows,
                                               std::int64_t columns, std::int64_t depth,
                                               int threads) {
  const BlockPlan plan = plan_of(kernel, {1, rows, columns, depth}, {}, threads);
  const auto parts = [](std::int64_t whole, std::int64_t part) {
    return (whole + part - 1) / part;
  };
  CHECK(plan.tasks == parts(rows, plan.blocks.rows) * parts(columns, plan.blocks.columns));
  return {parts(rows, plan.blocks.rows), parts(columns, plan.blocks.columns)};
}

/// Its rhs, as that of a convolution's weight gradient, or its lhs, as forward, is gathered.
Kernel gathering(std::int32_t lhs_neighbours, std::int32_t rhs_neighbours,
                 RegisterTile tile = kTile) {
  Kernel kernel = contraction(lhs_neighbours > 0 ? 528 : 0, false, tile);
  kernel.blocking.lhs_neighbours = lhs_neighbours;
  kernel.blocking.rhs_neighbours = rhs_neighbours;
  return kernel;
}

}  // namespace

TEST_CASE("what is dear to copy is copied once") {
  // The gradient of 24 rows: all of them together use a copied window.
  for (const int threads : {2, 4})
    CHECK(parts_of(gathering(0, 72), 24, 216, 32768, threads).first == 1);
  // Were the windows in memory, rows would be cut, too.
  CHECK(parts_of(gathering(0, 0), 240, 32, 32768, 2).first > 1);
  // Forward: every part of columns would gather the windows of its rows.
  for (const int threads : {2, 8}) {
    const auto [rows, columns] = parts_of(gathering(72, 0), 4096, 48, 216, threads);
    CHECK(columns == 1);
    CHECK(rows % threads == 0);
  }
  // Where it lies in memory, columns are cut, which rows are fewer than.
  CHECK(parts_of(gathering(0, 0), 96, 128, 4096, 2) == std::pair<std::int64_t, std::int64_t>(1, 2));
  CHECK(parts_of(gathering(3, 0), 96, 128, 4096, 2) == std::pair<std::int64_t, std::int64_t>(2, 1));
}

TEST_CASE("a product of a register takes as long whatever the rows of its tile in a copy are") {
  std::mt19937_64 random(11);
  for (const RegisterTile tile : {RegisterTile{8, 48, 8}, RegisterTile{4, 24, 4}})
    for (int i = 0; i < 300; ++i) {
      const auto size = [&](std::int64_t most) { return 1 + std::int64_t(random() % most); };
      const std::int64_t rows = size(2048), columns = tile.columns * size(20), depth = size(2048);
      const int threads = static_cast<int>(size(16));
      CAPTURE(rows);
      CAPTURE(columns);
      CAPTURE(depth);
      CAPTURE(threads);
      RegisterTile spread = tile;
      spread.lanes *= 2;
      CHECK(parts_of(contraction(0, false, tile), rows, columns, depth, threads) ==
            parts_of(contraction(0, false, spread), rows, columns, depth, threads));
    }
}

TEST_CASE("no thread waits long for the last task") {
  // Of three panels of columns and plenty of rows both are cut, so that tasks are even.
  for (const int threads : {2, 3, 4, 6, 7}) {
    const auto [rows, columns] = parts_of(contraction(0), 1024, 48, 1024, threads);
    const double tasks = static_cast<double>(rows * columns);
    CAPTURE(threads);
    CHECK(tasks <= 8.0 * threads);
    CHECK(std::ceil(tasks / threads) / (tasks / threads) <= 1.1);
  }
  // One thread has no more tasks than caches ask for.
  CHECK(plan_of(gathering(0, 72), {1, 24, 216, 32768}, {}, 1).tasks == 1);
}

TEST_CASE("whatever the sizes, caches and threads: every result in one task, memory as stated") {
  std::mt19937_64 random(7);
  const auto size = [&](int bits) {
    return 1 + std::int64_t(random() % (1u << (random() % bits)));
  };
  for (int i = 0; i < 20000; ++i) {
    const bool by_row = random() % 2 != 0, of_bf16 = random() % 4 == 0;
    const RegisterTile tile = !of_bf16 ? kTile : random() % 2 == 0 ? kMatrices : kPairs;
    const std::int64_t line = of_bf16 ? kPackedDepth : 1;
    const Kernel kernel = contraction(by_row ? 528 : 0, random() % 2 != 0, tile);
    const std::vector<std::int64_t> sizes = {size(4), size(16), size(16), size(14)};
    const CacheSizes caches{1024 * size(8), 1024 * size(14)};
    const int threads = static_cast<int>(size(8));
    CAPTURE(sizes[0]);
    CAPTURE(sizes[1]);
    CAPTURE(sizes[2]);
    CAPTURE(sizes[3]);
    CAPTURE(threads);
    const BlockPlan plan = plan_blocks(kernel, 0, sizes, caches, threads);
    const CpuBlocks& b = plan.blocks;
    REQUIRE(b.rows >= 1);
    REQUIRE(b.columns >= 1);
    REQUIRE(b.depth >= 1);
    CHECK(b.rows % tile.rows == 0);
    CHECK(b.columns % tile.columns == 0);
    CHECK((b.depth % line == 0 && b.depth <= 512));
    CHECK(b.depth - line < sizes[3]);
    const auto parts = [](std::int64_t whole, std::int64_t part) {
      return (whole + part - 1) / part;
    };
    CHECK(plan.tasks == sizes[0] * parts(sizes[1], b.rows) * parts(sizes[2], b.columns));
    const std::int64_t copies = of_bf16 ? 2 : 1;  // in a float
    CHECK(copies * plan.lhs >=
          (by_row && !of_bf16 ? b.rows * 528 : b.rows / tile.rows * tile.lanes * b.depth));
    const std::int64_t panels = kernel.blocking.transposes || of_bf16 ? 1 : kPanels;
    CHECK(copies * plan.panel >= b.depth * std::min(b.columns, panels * tile.columns));
    CHECK(plan.sums >= (b.depth < sizes[3] ? b.rows * b.columns : tile.rows * tile.columns));
    CHECK(plan.lhs_sums >= b.rows + tile.columns);
    for (std::int64_t part : {plan.lhs, plan.panel, plan.sums, plan.lhs_sums})
      CHECK(part % 16 == 0);
  }
}

TEST_CASE("few rows read a large rhs line by line, not in deep blocks") {
  const auto depth = [](std::int64_t rows, bool transposes, CacheSizes caches = {}) {
    return plan_of(contraction(528, transposes), {1, rows, 1024, 1000}, caches).blocks.depth;
  };
  CHECK(depth(12, false) == 8);
  CHECK(depth(13, false) == 336);
  CHECK(depth(12, true) == 336);
  CHECK(depth(12, false, {32 << 10, 4 << 20}) == 336);  // 4,096,000 bytes stay in the cache
}

TEST_CASE("fewer rows may want more memory; cut as the planned ones they take no more") {
  std::mt19937_64 random(11);
  const auto size = [&](int bits) {
    return 1 + std::int64_t(random() % (1u << (random() % bits)));
  };
  int wanting = 0;
  for (int i = 0; i < 20000; ++i) {
    const RegisterTile tile = random() % 4 != 0 ? kTile : random() % 2 == 0 ? kMatrices : kPairs;
    const Kernel kernel = contraction(random() % 2 != 0 ? 528 : 0, random() % 2 != 0, tile);
    std::vector<std::int64_t> sizes = {size(4), size(14), size(14), size(14)};
    const int threads = static_cast<int>(size(5));
    const BlockPlan planned = plan_of(kernel, sizes, {}, threads);
    std::int64_t& rows = sizes[random() % 4];  // a batch, the rows, the columns or the sum
    rows = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows));
    wanting += plan_of(kernel, sizes, {}, threads).floats() > planned.floats() ? 1 : 0;
    const BlockPlan cut = plan_blocks(kernel, 0, sizes, planned.blocks);
    CHECK(cut.floats() <= planned.floats());
    CHECK(cut.tasks <= planned.tasks);
  }
  CHECK(wanting > 100);
}

TEST_CASE("more tasks than can be counted are refused") {
  const auto refused = [](std::vector<std::int64_t> sizes) {
    CHECK_THROWS_AS((void)plan_of(contraction(0), std::move(sizes)), std::overflow_error);
  };
  const std::int64_t many = std::int64_t{1} << 40;
  refused({many, many, 1, 1});
  refused({many, 1, many, 1});
  refused({std::int64_t{1} << 32, many, 1, 1});  // 2^63 = 2^32 * 2^40 / 512
  refused({std::int64_t{1} << 31, 2 * many - 512, 1, 1});
  Kernel kernel = contraction(0);
  kernel.tasks.insert(kernel.tasks.begin(), {{{1, 0}}, 1});
  CHECK_THROWS_AS((void)plan_of(kernel, {many, 1, 1, 1}), std::overflow_error);
}
