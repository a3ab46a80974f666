// SPDX-License-Identifier: Apache-2.0
// The cost model against figures worked out by hand from its formula, and what any such model must
// promise; the chips against what NVIDIA publishes of them.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "chips.hpp"
#include "codegen/plan/Chips.h"
#include "codegen/plan/CostModel.h"
#include "codegen/plan/StayTimes.h"
#include "halftone/simulator/chip.hpp"

using namespace halftone::ir;

namespace {

const Chip& chip(const char* name) {
  const Chip* found = findChip(name);
  REQUIRE(found != nullptr);
  return *found;
}

/// 128 x 128 x 32 of 16 bits by eight warps in four stages.
Tiling large_tile() {
  Tiling tiling;
  tiling.tensor = true;
  tiling.rows = tiling.columns = 128;
  tiling.depth = 32;
  tiling.threads = 256;
  tiling.registers = 128;
  tiling.sharedBytes = 4 * (128 + 128) * 32 * 2;
  tiling.stages = 4;
  tiling.sharedTraffic = 256 * 2 + 8 * (64 + 32) * 2;
  return tiling;
}

Problem square(double size) {
  Problem problem;
  problem.rows = problem.columns = problem.depth = size;
  problem.elementBytes = 2;
  problem.bytes = 2 * size * size * 2 + size * size * 4;
  return problem;
}

}  // namespace

TEST_CASE("chips are in order, each once, with the peak that their products are sold with") {
  // Tera-operations of f16 tensor cores with f32 sums, dense, and of f32 cores, from the
  // datasheets; of sm_90a and its successors what mma.sync reaches is less than what is sold.
  struct {
    const char* name;
    double tensor, simt;
  } cases[] = {{"sm_75", 65, 8.1},       {"sm_80", 312, 19.5},   {"sm_86", 71, 35.6},
               {"sm_87", 42.5, 5.3},     {"sm_89", 165.2, 82.6}, {"sm_90a", 0.629 * 989.4, 66.9},
               {"sm_120a", 209.5, 104.8}};
  for (const auto& c : cases) {
    CAPTURE(c.name);
    const Chip& known = chip(c.name);
    const double clocks = known.sms * known.gigahertz * 1e9;
    CHECK(known.halfOperations * clocks / 1e12 == doctest::Approx(c.tensor).epsilon(0.02));
    CHECK(known.f32Operations * clocks / 1e12 == doctest::Approx(c.simt).epsilon(0.09));
  }
  std::set<std::string> names;
  int last = 0;
  for (const Chip& known : chips()) {
    CHECK(names.insert(known.name.str()).second);
    CHECK(known.number > last);
    last = known.number;
    CHECK(known.name.starts_with("sm_" + std::to_string(known.number)));
    CHECK((known.tf32Operations > 0) == (known.number >= 80));
    CHECK(known.sharedPerBlock <= known.sharedPerSm);
  }
  CHECK(findChip("sm_90") == nullptr);
  CHECK(findChip("cpu") == nullptr);
}

TEST_CASE("the simulator and the tests know every chip that kernels are planned for") {
  std::string planned, tested;
  for (const Chip& known : chips()) planned += known.name.str() + ",";
  const auto simulated = halftone::simulator::chips();
  REQUIRE(simulated.size() == chips().size());
  for (std::size_t i = 0; i < simulated.size(); ++i) {
    const Chip& plan = chips()[i];
    const halftone::simulator::Chip& chip = simulated[i];
    CAPTURE(plan.name.str());
    const auto same = [](auto a, auto b) { return static_cast<long>(a) == static_cast<long>(b); };
    CHECK(chip.name == std::string_view(plan.name));
    CHECK(same(chip.capability, plan.number));
    CHECK(same(chip.multiprocessors, plan.sms));
    CHECK(same(chip.threads_per_multiprocessor, plan.threadsPerSm));
    CHECK(same(chip.blocks_per_multiprocessor, plan.blocksPerSm));
    CHECK(same(chip.shared_bytes_per_multiprocessor, plan.sharedPerSm));
    CHECK(same(chip.shared_bytes_per_block, plan.sharedPerBlock));
    CHECK(same(chip.registers_per_multiprocessor, kRegistersPerSm));
  }
  for (const std::string known : halftone::tests::kChips) tested += "sm_" + known + ",";
  CHECK(tested == planned);
  CHECK(HALFTONE_CHIPS "," == planned);  // of tests/cmake
}

TEST_CASE("an SM holds as many blocks as the scarcest of its means allows") {
  Tiling tiling = large_tile();
  // sm_80: 164 KiB / (64 + 1), 2048 / 256 threads, 65536 / (128 * 256) registers
  CHECK(residentBlocks(chip("sm_80"), tiling) == 2);
  tiling.registers = 64;  // 4 by registers, 2 by shared memory
  CHECK(residentBlocks(chip("sm_80"), tiling) == 2);
  tiling.sharedBytes = 1024;  // 4 by registers
  CHECK(residentBlocks(chip("sm_80"), tiling) == 4);
  tiling.registers = 33;  // counts as 40: 6 by registers, and by threads on sm_86
  CHECK(residentBlocks(chip("sm_80"), tiling) == 6);
  CHECK(residentBlocks(chip("sm_86"), tiling) == 6);
  tiling.registers = 16, tiling.threads = 32;  // by the chip's limit of blocks
  CHECK(residentBlocks(chip("sm_86"), tiling) == 16);
  CHECK(residentBlocks(chip("sm_89"), tiling) == 24);
  tiling.sharedBytes = 99 * 1024 + 1;
  CHECK(residentBlocks(chip("sm_86"), tiling) == 0);
  CHECK(residentBlocks(chip("sm_80"), tiling) == 1);
  tiling.registers = 256;
  CHECK(residentBlocks(chip("sm_80"), tiling) == 0);
}

TEST_CASE("the estimate is what its formula gives by hand") {
  // 4096^3 on A100: 1024 tiles, 2 to an SM, 1024 / 216 waves: 4 full ones and one of
  // ceil(160 / 108) = 2 blocks to an SM, so 5 waves of 2 blocks. A block: 2 * 128 * 128 * 4096 /
  // 2048 = 65536 clocks of mathematics, which is more than (512 + 1536) * 4096 / 128 = 65536 (no
  // less), 256 * 4096 * 2 / 47 = 44620 of L2, 128 steps * max(30 + 2 * 35, 600 / 3) = 25600. Two
  // blocks: 131072, five times, and 600 for the first step: 655960 clocks at 1.41 GHz = 465.2 us.
  // Memory: 134.2 MB at 2039 GB/s = 65.8 us, a tenth of which adds, and 0.6 us for the launch.
  const Estimate estimate = estimateContraction(chip("sm_80"), square(4096), large_tile());
  CHECK(estimate.operations == 2.0 * 4096 * 4096 * 4096);
  CHECK(estimate.bytes == 4096.0 * 4096 * 8);
  CHECK(estimate.waves == doctest::Approx(1024.0 / 216).epsilon(1e-9));
  CHECK(estimate.microseconds == doctest::Approx(465.2 + 6.58 + 0.6).epsilon(0.001));

  // One tile with a depth of 8192: 256 steps of 200 clocks (latency) against 131072 of mathematics.
  Problem deep = square(128);
  deep.depth = 8192;
  deep.bytes = 0;
  CHECK(estimateContraction(chip("sm_80"), deep, large_tile()).microseconds ==
        doctest::Approx(0.6 + (600 + 131072) / 1410.0).epsilon(0.001));
  // In eight splits: 16384 clocks, 1200 for the last block to see the others, 524288 bytes at 47 a
  // clock to read; partial sums to memory and back, 1 MiB in 0.51 us.
  Tiling split = large_tile();
  split.splits = 8;
  const Estimate shared = estimateContraction(chip("sm_80"), deep, split);
  CHECK(shared.bytes == 2 * 8 * 128 * 128 * 4);
  CHECK(
      shared.microseconds ==
      doctest::Approx(0.6 + (600 + 16384 + 1200 + 524288 / 47.0) / 1410.0 + 0.0514).epsilon(0.001));
}

TEST_CASE("warp groups are estimated by what they reach of wgmma's peak") {
  // 8192^3 on H100 in tiles of 128 x 256: 2048 of them on 132 SMs are 15 full waves and one more. A
  // tile: 2 * 128 * 256 * 8192 / (0.71 * 4096) = 184608 clocks of mathematics; of L2 (128 + 256) *
  // 8192 * 2 / (1.28 * 39) = 126030; its elements, one operation each, 128 * 256 * (60 + 2) / 256 =
  // 7936. 16 waves and 1200 for the first step at 1.83 GHz, a tenth of 402.7 MB at 3350 GB/s, and
  // 1.1 us.
  Tiling tiling;
  tiling.tensor = tiling.warpgroup = true;
  tiling.rows = 128, tiling.columns = 256, tiling.depth = 64;
  tiling.threads = 384, tiling.registers = 168;
  tiling.stages = 4;
  tiling.sharedBytes = 213056;
  Problem problem = square(8192);
  problem.bytes = 3.0 * 8192 * 8192 * 2;
  problem.operations = 8192.0 * 8192;
  Chip hopper = chip("sm_90a");
  const auto time = [&] { return estimateContraction(hopper, problem, tiling).microseconds; };
  CHECK(estimateContraction(hopper, problem, tiling).waves == doctest::Approx(2048.0 / 132));
  const double rest = 1.1 + 12.02;
  CHECK(time() == doctest::Approx((16 * (184608 + 7936) + 1200) / 1830.0 + rest).epsilon(0.001));
  tiling.alternates = true;
  CHECK(time() == doctest::Approx((16 * (196392 + 7142) + 1200) / 1830.0 + rest).epsilon(0.001));
  hopper.cacheBytes = 20;
  CHECK(time() == doctest::Approx((16 * (245760 + 7142) + 1200) / 1830.0 + rest).epsilon(0.001));
  for (const Chip& known : chips()) CHECK((known.warpgroupOperations > 0) == (known.number == 90));
}

TEST_CASE("sums in tensor memory are estimated beside the warps that take them out") {
  // Products of 8 bits, dense, from the datasheets.
  struct {
    const char* name;
    double tera;
  } peaks[] = {{"sm_100a", 4500}, {"sm_103a", 4500}, {"sm_110a", 517}};
  for (const auto& peak : peaks) {
    const Chip& known = chip(peak.name);
    CHECK(known.tensorMemoryOperations * known.sms * known.gigahertz / 1e3 ==
          doctest::Approx(peak.tera).epsilon(0.04));
  }
  for (const Chip& known : chips())
    CHECK((known.tensorMemoryOperations > 0) == (known.number >= 100 && known.number <= 110));

  // 8192^3 on B200 in tiles of 128 x 256: 2048 of them on 148 SMs are 14 waves. A tile: 2 * 128 *
  // 256 * 8192 / (0.71 * 16384) = 46152 clocks of mathematics; 768 * 8192 / 128 = 49152 of shared
  // memory; of L2 (128 + 256) * 8192 / (1.28 * 39) = 63015. Beside them elements, 128 * 256 * (60 +
  // 2) / 256 = 7936, and where sums are promoted their parts, 64 * 2 * 128 * 256 / 256 = 16384.
  Tiling tiling;
  tiling.tensor = tiling.float8 = tiling.tensorMemory = tiling.alternates = true;
  tiling.rows = 128, tiling.columns = 256, tiling.depth = 128;
  tiling.threads = 384, tiling.registers = 168;
  tiling.stages = 4;
  tiling.sharedBytes = 213104;
  tiling.sharedTraffic = 2 * (128 + 256);
  Problem problem = square(8192);
  problem.elementBytes = 1;
  problem.bytes = 6.0 * 8192 * 8192;
  problem.operations = 8192.0 * 8192;
  Chip blackwell = chip("sm_100a");
  const auto check = [&](double tile) {
    CHECK(estimateContraction(blackwell, problem, tiling).microseconds ==
          doctest::Approx((14 * tile + 1200) / 1850.0 + 1.1 + 5.23).epsilon(0.001));
  };
  check(63015);
  tiling.promotes = true;
  check(63015);
  blackwell.f32Operations /= 4;
  check(4 * (16384 + 7936));
  tiling.factors = true;  // a product of two factors for each sum, too
  check(4 * (2 * 16384 + 7936));
  tiling.factors = false;
  // Where there is no room for another tile's sums nothing is beside them.
  blackwell = chip("sm_100a");
  tiling.alternates = false;
  check(63015 + 16384 + 7936);
  tiling.promotes = false;
  check(63015 + 7936);
}

TEST_CASE(
    "codes of 4 bits take half the time in tensor memory, and mma.sync has its share beside") {
  // Of 8192^3 on B200 in tiles of 128 x 128, where nothing but mathematics counts: 4096 of them are
  // 28 waves. A tile of 8 bits: 2 * 128 * 128 * 8192 / (0.71 * 16384) = 23076 clocks, and by
  // mma.sync, two blocks beside each other, / (0.52 * 0.629 * 4096) = 200365 each.
  Tiling tiling;
  tiling.tensor = tiling.float8 = tiling.tensorMemory = tiling.alternates = true;
  tiling.rows = tiling.columns = 128;
  tiling.depth = 128;
  tiling.threads = 384, tiling.registers = 168;
  tiling.stages = 5;
  tiling.sharedBytes = 200832;
  Problem problem = square(8192);
  problem.bytes = 6.0 * 8192 * 8192;
  Chip blackwell = chip("sm_100a");
  blackwell.cacheBytes = 1e6;
  const auto check = [&](double cycles, double rest) {
    CHECK(estimateContraction(blackwell, problem, tiling).microseconds ==
          doctest::Approx(cycles / 1850.0 + rest + 5.23).epsilon(0.001));
  };
  check(28 * 23076 + 1200, 1.1);
  tiling.float4 = true;
  tiling.depth = 256;
  check(28 * 11538 + 1200, 1.1);
  tiling.float4 = tiling.tensorMemory = tiling.alternates = false;
  tiling.threads = 256, tiling.registers = 128;
  tiling.depth = 64;
  tiling.sharedBytes = 49152;
  check(28 * 200365.0 + 600, 0.6);
  tiling.float8 = false;  // of 16 bits, for which there is nothing else
  check(28 * 200365.0 * 0.52 + 600, 0.6);
}

TEST_CASE("more work never takes less time, nor the same work on a chip of more SMs more") {
  for (const Chip& known : chips()) {
    CAPTURE(known.name.str());
    Tiling tiling = large_tile();
    tiling.sharedBytes = 32768;
    double last = 0;
    for (double size = 64; size <= 8192; size *= 2) {
      CAPTURE(size);
      const Estimate estimate = estimateContraction(known, square(size), tiling);
      CHECK(estimate.microseconds >= last);
      last = estimate.microseconds;
      Chip larger = known;
      larger.sms *= 2;
      CHECK(estimateContraction(larger, square(size), tiling).microseconds <=
            estimate.microseconds);
      // No launch beats what the chip's units can do.
      const double peak = known.sms * known.gigahertz * 1e3;
      CHECK(estimate.microseconds >= estimate.operations / (known.halfOperations * peak));
      CHECK(estimate.microseconds >= estimate.bytes / (known.gigabytesPerSecond * 1e3));
    }
  }
}

TEST_CASE("kernels that only move are as fast as memory when they are large") {
  Problem problem;
  problem.rows = 1 << 20;
  problem.columns = 256;
  problem.bytes = 2 * problem.rows * problem.columns * 4;
  problem.operations = problem.rows * problem.columns;
  const Estimate estimate = estimateElements(chip("sm_90a"), problem, 1 << 18, 256);
  CHECK(estimate.bytes == problem.bytes);
  const double floor = problem.bytes / 3350e3;
  CHECK(estimate.microseconds > floor);
  CHECK(estimate.microseconds < 1.15 * floor);
}

TEST_CASE("P98: activations go over the bus one at a time, beside kernels") {
  // Ten kernels, beside each of which the bus moves 250000 bytes.
  const std::vector<double> times(10, 250000.0);
  const Stayable first{500000, 1, 8}, second{500000, 2, 7}, small{99, 0, 9};
  const auto alone = findStayTimes({first}, times, 100);
  CHECK(alone[0].verdict == StayVerdict::stays);
  CHECK(alone[0].until == 3);  // out from the end of kernel 1 to that of 3
  CHECK(alone[0].from == 6);   // in from the beginning of 6 to that of 8
  // The second would be out at the end of 5, and would have to be on its way back from 4 on.
  const auto both = findStayTimes({small, second, first}, times, 100);
  CHECK(both[0].verdict == StayVerdict::isSmall);
  CHECK(both[1].verdict == StayVerdict::isSoonNeeded);
  CHECK(both[2].verdict == StayVerdict::stays);
  CHECK(both[2].until == 3);
  CHECK(both[2].from == 6);
  // A third as large it is out beside 4 and comes beside 5: no kernel finds its place free.
  CHECK(findStayTimes({first, {166667, 2, 7}}, times, 100)[1].verdict == StayVerdict::isSoonNeeded);
  // So a tenth as large.
  CHECK(findStayTimes({first, {50000, 2, 7}}, times, 100)[1].verdict == StayVerdict::isSoonNeeded);
  // Of two that would find a way alone the one that leaves first does, wherever it stands; and it
  // comes as late as if the other had not been asked, which would have been on its way back
  // beside 6.
  const Stayable last{500000, 2, 8};
  CHECK(findStayTimes({last}, times, 100)[0].verdict == StayVerdict::stays);
  const auto rivals = findStayTimes({last, {500000, 1, 7}}, times, 100);
  CHECK(rivals[0].verdict == StayVerdict::isSoonNeeded);
  CHECK(rivals[1].verdict == StayVerdict::stays);
  CHECK(rivals[1].until == 3);
  CHECK(rivals[1].from == 5);
  // Beside longer kernels both find a way.
  const auto longer = findStayTimes({first, second}, std::vector<double>(10, 1000000.0), 100);
  CHECK(longer[0].until == 2);
  CHECK(longer[0].from == 7);
  CHECK(longer[1].until == 3);
  CHECK(longer[1].from == 6);
}

TEST_CASE("P98: what is needed before it could come back, or at once, stays where it is") {
  const std::vector<double> times(10, 250000.0);
  for (const Stayable& is :
       {Stayable{500000, 1, 3}, Stayable{500000, 1, 6}, Stayable{100, 4, 5}, Stayable{100, 4, 6},
        Stayable{2000000, 0, 9}, Stayable{int64_t(1) << 40, 0, 9}}) {
    CAPTURE(is.bytes);
    CAPTURE(is.nextUse);
    CHECK(findStayTimes({is}, times, 1)[0].verdict == StayVerdict::isSoonNeeded);
  }
  CHECK(findStayTimes({{100, 4, 8}}, times, 100)[0].verdict == StayVerdict::stays);
  CHECK(findStayTimes({{100, 4, 8}}, times, 101)[0].verdict == StayVerdict::isSmall);
  CHECK(findStayTimes({}, times, 1).empty());
}

TEST_CASE("P99: buses are those that products are sold with, less a fifth") {
  for (const auto& [name, gigabytes] : {std::pair{"sm_75", 16.0},
                                        {"sm_80", 32.0},
                                        {"sm_86", 32.0},
                                        {"sm_89", 32.0},
                                        {"sm_90a", 64.0},
                                        {"sm_120a", 64.0}}) {
    CAPTURE(name);
    CHECK(busBytesPerMicrosecond(chip(name)) == doctest::Approx(gigabytes * 800));
  }
}
