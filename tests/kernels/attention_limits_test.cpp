// SPDX-License-Identifier: Apache-2.0
// What ptxas makes of attention.cuh for heads of 16 to 128 columns: no spills, and no more
// registers than two blocks of 128 threads leave each other.
#include <doctest/doctest.h>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "chips.hpp"
#include "ptxas_log.hpp"
#include "sampled_chips.hpp"
#include "simulated.hpp"

using namespace halftone::tests;

namespace {

constexpr int kRegisters = 255;

std::vector<std::string> chips(bool all) {
  std::vector<std::string> names;
  for (const char* chip : kChips) names.push_back("sm_" + std::string(chip));
  if (all) return names;
  const std::set<std::string> sampled =
      sampled_chips(names, commit_number(HALFTONE_TEST_MODELS), 1);
  std::printf("left out: other chips; tests/run --exhaustive -R kernels_attention tries them\n");
  return {sampled.begin(), sampled.end()};
}

void check(const std::string& chip, int head, const std::string& keys) {
  CAPTURE(chip);
  CAPTURE(head);
  CAPTURE(keys);
  const std::string columns = std::to_string(head);
  const Compilation compilation =
      compile("attention.cu", chip,
              {std::string("ELEMENT=") + (chip == "sm_75" ? "f16" : "bf16"),
               "TILE=" + std::string(head > 64 ? "32" : "64") + "," + columns + "," + columns,
               "KEYS=" + keys});
  INFO(compilation.log);
  REQUIRE(compilation.accepted);
  const std::vector<EntryUsage> entries = parse_ptxas_log(compilation.log);
  REQUIRE(entries.size() == 1);
  std::printf("%-8s heads of %3d, %4s keys: %3d registers %6d B shared\n", chip.c_str(), head,
              keys.c_str(), entries[0].registers, entries[0].shared_bytes);
  CHECK(entries[0].spill_bytes == 0);
  CHECK(entries[0].stack_bytes == 0);
  CHECK(entries[0].registers <= kRegisters);
}

void check_all(bool all) {
  for (const std::string& chip : chips(all))
    for (const int head : {32, 64, 96, 128})
      for (const char* keys : {"1024", "0"})
        if (all || keys[0] == '0') check(chip, head, keys);
}

}  // namespace

TEST_CASE("no head spills registers") { check_all(false); }

TEST_CASE("no head spills registers on any chip" * doctest::skip()) { check_all(true); }
