// SPDX-License-Identifier: Apache-2.0
// What ptxas makes of tile plans on the chips they are meant for: no spills, no more registers than
// recorded here, and the blocks that a multiprocessor then holds.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "chips.hpp"
#include "contraction_case.hpp"
#include "halftone/simulator/chip.hpp"
#include "ptxas_log.hpp"
#include "sampled_chips.hpp"

using namespace halftone;
using namespace halftone::tests;
using description::Element;

namespace {

/// A plan for 16-bit or tf32 operands and the most registers that it may take on any chip.
struct Limit {
  TilePlan tile;
  bool is_tf32;
  int registers;
};

constexpr Limit kLimits[] = {
    // large results
    {{128, 128, 32, 64, 64, 4, 16, 16}, false, 255},
    {{256, 128, 32, 64, 64, 3, 16, 16}, false, 255},
    {{128, 128, 64, 64, 64, 3, 16, 16}, false, 255},
    {{128, 128, 32, 64, 32, 4, 16, 16}, false, 176},
    {{128, 128, 16, 64, 64, 4, 16, 16}, true, 255},
    {{128, 128, 32, 64, 64, 3, 16, 16}, true, 255},
    {{128, 128, 32, 64, 32, 3, 16, 16}, true, 176},
    {{128, 128, 32, 64, 64, 3, 16, 16}, false, 255},
    // medium results
    {{128, 64, 32, 64, 32, 4, 16, 16, 8}, false, 176},
    {{64, 128, 32, 32, 64, 4, 16, 16, 8}, false, 184},
    {{64, 64, 64, 32, 32, 3, 16, 16, 8}, false, 144},
    {{64, 64, 32, 32, 32, 3, 16, 16, 8}, true, 136},
    // few rows, few columns, odd rows
    {{32, 64, 64, 16, 32, 4, 16, 16, 32}, false, 120},
    {{16, 128, 64, 16, 32, 3, 16, 16, 32}, false, 88},
    {{128, 16, 64, 32, 16, 3, 16, 16, 32}, false, 96},
    {{32, 64, 32, 16, 32, 4, 16, 16, 32}, true, 112},
    {{64, 64, 32, 32, 32, 3, 4, 4, 8}, false, 136},
    {{64, 64, 32, 32, 32, 2, 2, 2, 8}, false, 192},
    // sm_75 holds two stages
    {{128, 128, 32, 64, 64, 2, 16, 16}, false, 255},
    {{128, 64, 32, 64, 32, 2, 16, 16, 8}, false, 208},
    {{64, 64, 64, 32, 32, 2, 16, 16, 8}, false, 160},
    {{32, 64, 64, 16, 32, 2, 16, 16, 32}, false, 128},
};

struct Pass {
  const char* name;
  bool transpose_lhs, transpose_rhs;
  LhsSum lhs_sum;
};
constexpr Pass kPasses[] = {{"forward", false, true, LhsSum::unused},
                            {"input gradient", false, false, LhsSum::unused},
                            {"weight gradient", true, false, LhsSum::per_row}};

struct Job {
  Instance instance;
  const Limit* limit;
  const Pass* pass;
  Compilation compilation;
};

/// All chips, or a sample.
std::vector<std::string> chips(bool all) {
  std::vector<std::string> names;
  for (const char* chip : kChips) names.push_back("sm_" + std::string(chip));
  if (all) return names;
  const unsigned long commit = commit_number(HALFTONE_TEST_MODELS);
  const std::set<std::string> sampled = sampled_chips(names, commit, 1);
  std::printf("commit %lu tries", commit);
  for (const std::string& chip : sampled) std::printf(" %s", chip.c_str());
  std::printf(
      " and the weight gradient; tests/run --exhaustive -R kernels_static tries the rest\n");
  return {sampled.begin(), sampled.end()};
}

std::vector<Job> jobs(bool all) {
  std::vector<Job> jobs;
  for (const std::string& chip : chips(all)) {
    const simulator::Chip& limits = *simulator::find_chip(chip);
    for (const Limit& limit : kLimits) {
      const int bytes = limit.tile.shared_bytes(limit.is_tf32 ? 4 : 2);
      const bool is_75 = limits.capability == 75;
      if (static_cast<unsigned>(bytes) > limits.shared_bytes_per_block) continue;
      if (is_75 != (limit.tile.stages == 2 && limit.tile.lhs_bytes == 16)) continue;
      for (const Pass& pass : kPasses) {
        // The weight gradient takes most registers.
        if (!all && pass.lhs_sum == LhsSum::unused) continue;
        const Element format = limit.is_tf32 ? Element::tf32 : is_75 ? Element::f16 : Element::bf16;
        jobs.push_back({.instance = {.tile = limit.tile,
                                     .format = format,
                                     .transpose_lhs = pass.transpose_lhs,
                                     .transpose_rhs = pass.transpose_rhs,
                                     .columns = 4096,
                                     .chip = chip.substr(3),
                                     .width = limit.is_tf32 ? 4 : 8,
                                     .lhs_sum = pass.lhs_sum},
                        .limit = &limit,
                        .pass = &pass,
                        .compilation = {}});
      }
    }
  }
  return jobs;
}

void compile_all(std::vector<Job>& jobs) {
  (void)nvrtc();  // opened before the threads
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++)
      jobs[i].compilation = compile(jobs[i].instance, "sm");
  };
  std::thread other(work);
  work();
  other.join();
}

/// What registers, shared memory (with the 1 KiB that chips from sm_80 on keep for themselves) and
/// threads leave room for. Registers are given to warps by eights per thread.
unsigned blocks(const simulator::Chip& chip, unsigned threads, unsigned registers,
                unsigned shared_bytes) {
  const unsigned warps = threads / 32, per_warp = (registers + 7) / 8 * 8 * 32;
  const unsigned reserved = chip.capability >= 80 ? 1024 : 0;
  return std::min({chip.blocks_per_multiprocessor, chip.threads_per_multiprocessor / threads,
                   chip.registers_per_multiprocessor / per_warp / warps,
                   chip.shared_bytes_per_multiprocessor / (shared_bytes + reserved)});
}

void check(const Job& job) {
  const std::string name = job.instance.text() + ", " + job.pass->name;
  CAPTURE(name);
  INFO(job.compilation.log);
  REQUIRE(job.compilation.accepted);
  const std::vector<EntryUsage> entries = parse_ptxas_log(job.compilation.log);
  REQUIRE(entries.size() == 1);
  const simulator::Chip& chip = *simulator::find_chip("sm_" + job.instance.chip);
  const int shared = job.instance.tile.shared_bytes(job.instance.element_bytes());
  const int threads = job.instance.tile.threads();
  const unsigned held = blocks(chip, threads, entries[0].registers, shared);
  std::printf("%-72s %-15s %3d registers %6d B shared %u blocks %5.1f %% of the threads\n",
              job.instance.text().c_str(), job.pass->name, entries[0].registers, shared, held,
              100.0 * held * threads / chip.threads_per_multiprocessor);
  CHECK(entries[0].spill_bytes == 0);
  CHECK(entries[0].stack_bytes == 0);
  CHECK(entries[0].registers <= job.limit->registers);
  CHECK(held >= 1);
}

void check_all(bool all) {
  std::vector<Job> work = jobs(all);
  compile_all(work);
  for (const Job& job : work) check(job);
}

}  // namespace

TEST_CASE("no plan spills registers") { check_all(false); }

TEST_CASE("no plan spills registers in any pass on any chip" * doctest::skip()) { check_all(true); }
