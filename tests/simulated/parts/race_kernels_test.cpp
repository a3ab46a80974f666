// SPDX-License-Identifier: Apache-2.0
// Whole kernels as scripts: correct they give no report; each step that orders anything, left out,
// gives one.
#include <doctest/doctest.h>

#include <string>

#include "race_script.hpp"

using namespace halftone::tests;

namespace {

// Runs steps that may be left out: `keep(n)` is false for the step under test.
struct Steps {
  int omitted;
  int count = 0;
  bool keep() { return count++ != omitted; }
};

// Tiles of 128 threads x 16 bytes in two stages; every warp reads all of a stage.
void double_buffered(Script& s, Steps& steps) {
  constexpr std::uint32_t kTiles = 5, kStage = 128 * 16;
  const auto load = [&](std::uint32_t tile) {
    for (std::uint32_t t = 0; t < 128; ++t) s.at(10).copy_begins(t, tile % 2 * kStage + t * 16);
  };
  const auto land = [&](std::uint32_t tile) {
    for (std::uint32_t t = 0; t < 128; ++t) s.at(11).copy_ends(t, tile % 2 * kStage + t * 16);
  };
  load(0);
  for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
    const bool waits = tile == 2 ? steps.keep() : true;
    if (tile + 1 < kTiles) load(tile + 1);
    if (waits) land(tile);
    if (tile == 2 ? steps.keep() : true) s.barrier();
    for (std::uint32_t warp = 0; warp < 4; ++warp)
      for (std::uint32_t part = 0; part < 4; ++part)
        s.at(12).read_warp(0, warp, tile % 2 * kStage + part * 512, 16);
    if (!waits) land(tile);
    if (tile == 2 ? steps.keep() : true) s.barrier();
  }
}

// Each block writes a partial sum; the one whose ticket is the last adds them all.
void last_block_reduces(Script& s, Steps& steps) {
  constexpr std::uint64_t kPartials = kGlobal, kCounter = kGlobal + 8192, kResult = kGlobal + 12288;
  const bool writer_barrier = steps.keep(), writer_fence = steps.keep(),
             reader_fence = steps.keep(), reader_barrier = steps.keep();
  for (std::uint32_t block = 0; block < 3; ++block) {
    s.at(1).write(block, 100, kPartials + 4 * block);
    if (writer_barrier) s.barrier(block);
    if (writer_fence) s.fence(block, 0);
    s.at(2).atomic(block, 0, kCounter);
    if (block < 2) continue;
    if (reader_fence) s.fence(block, 0);
    if (reader_barrier) s.barrier(block);
    for (std::uint32_t t = 0; t < 3; ++t) s.at(3).read(block, 40 + t, kPartials + 4 * t);
    s.at(4).write(block, 40, kResult);
    s.at(5).write(block, 0, kCounter);  // left zero for the next launch
  }
}

// 128 values to one: through shared memory, then within the first warp.
void tree(Script& s, Steps& steps) {
  for (std::uint32_t warp = 0; warp < 4; ++warp) s.write_warp(0, warp, warp * 128);
  if (steps.keep()) s.barrier();
  for (std::uint32_t warp = 0; warp < 2; ++warp)
    s.read_warp(0, warp, 256 + warp * 128), s.read_warp(0, warp, warp * 128),
        s.write_warp(0, warp, warp * 128);
  if (steps.keep()) s.barrier();
  s.read_warp(0, 0, 128), s.read_warp(0, 0, 0), s.write_warp(0, 0, 0);
  if (steps.keep()) s.sync_warp(0);
  for (std::uint32_t half = 16; half > 0; half /= 2) {
    const std::uint32_t mask = (1u << half) - 1;
    s.lanes(Touch::read, 0, 0, mask, half * 4, 4);
    s.lanes(Touch::read, 0, 0, mask, 0, 4);
    s.lanes(Touch::write, 0, 0, mask, 0, 4);
    if (half != 4 || steps.keep()) s.sync_warp(0);
  }
  s.read(0, 0, 0);
  if (steps.keep()) s.barrier();
  s.read(0, 127, 0);
}

// Splits add their part in turn: each waits for the flag, adds to the tile, passes the flag on.
void split_k(Script& s, Steps& steps) {
  constexpr std::uint64_t kTile = kGlobal, kTurn = kGlobal + 8192;
  const bool acquires = steps.keep(), barrier_in = steps.keep(), barrier_out = steps.keep(),
             releases = steps.keep();
  for (std::uint32_t block = 0; block < 3; ++block) {
    s.strong(block, 0, kTurn, {true, false, acquires, false});
    if (barrier_in) s.barrier(block);
    for (std::uint32_t warp = 0; warp < 4; ++warp)
      s.read_warp(block, warp, kTile + warp * 128), s.write_warp(block, warp, kTile + warp * 128);
    if (barrier_out) s.barrier(block);
    s.strong(block, 0, kTurn, {false, true, false, releases});
  }
}

// Warp 3 loads stages with TMA, warps 0 to 2 consume them; full and empty mbarriers for each of two
// stages.
void ring(Script& s, Steps& steps) {
  constexpr std::uint32_t kBytes = 1024, kFull = 4096, kEmpty = 4128;
  const bool empty_wait = steps.keep(), full_wait = steps.keep(), arrival = steps.keep();
  for (std::uint32_t tile = 0; tile < 6; ++tile) {
    const std::uint32_t stage = tile % 2, at = stage * kBytes;
    if (tile >= 2 && empty_wait) s.wait(3, kEmpty + 8 * stage);
    s.arrive(96, kFull + 8 * stage);
    s.at(1).bulk_begins(96, Touch::write, at, kBytes);
    s.at(1).bulk_arrives(96, at, kBytes, kFull + 8 * stage);
    s.complete(kFull + 8 * stage);
    for (std::uint32_t warp = 0; warp < 3; ++warp) {
      if (full_wait || warp != 1) s.wait(warp, kFull + 8 * stage);
      s.at(2).read_warp(0, warp, at, 16), s.at(2).read_warp(0, warp, at + 512, 16);
      if (arrival || warp != 2) s.arrive_warp(warp, kEmpty + 8 * stage);
    }
    s.complete(kEmpty + 8 * stage);
  }
}

// The results go through shared memory to a bulk store; then the memory is used again.
void stored_tile(Script& s, Steps& steps) {
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t warp = 0; warp < 4; ++warp) s.at(1).write_warp(0, warp, warp * 512, 16);
    if (steps.keep())
      for (std::uint32_t t = 0; t < 128; ++t) s.proxy_fence(t);
    if (steps.keep()) s.barrier();
    s.at(2).bulk_begins(0, Touch::read, 0, 2048);
    const bool waits = round == 1 || steps.keep();
    if (waits) s.bulk_ends(0, Touch::read, 0, 2048);
    if (round == 1 || steps.keep()) s.barrier();
  }
}

struct Kernel {
  const char* name;
  std::uint32_t blocks;
  void (*run)(Script&, Steps&);
  int steps;
};
const Kernel kKernels[] = {{"double-buffered tiles", 1, double_buffered, 3},
                           {"last block reduces", 3, last_block_reduces, 4},
                           {"tree reduction", 1, tree, 5},
                           {"split-k in turns", 3, split_k, 4},
                           {"ring of bulk loads", 1, ring, 3},
                           {"stored tile", 1, stored_tile, 6}};

}  // namespace

TEST_CASE("correct kernels give no report, and each of their orders is needed") {
  for (const Kernel& kernel : kKernels) {
    CAPTURE(std::string(kernel.name));
    for (int omitted = -1; omitted < kernel.steps; ++omitted) {
      CAPTURE(omitted);
      Script s(kernel.blocks, 128, 4);
      Steps steps{omitted};
      kernel.run(s, steps);
      CHECK(steps.count == kernel.steps);
      CHECK(s.conflicts.empty() == (omitted < 0));
    }
  }
}
