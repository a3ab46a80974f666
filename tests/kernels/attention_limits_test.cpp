// SPDX-License-Identifier: Apache-2.0
// What ptxas makes of attention.cuh and attention_columns.cuh, forward and backward, for heads of
// 16 to 128 columns: no spills, and no more registers than two blocks of 128 threads leave each
// other.
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

/// A file of this folder, and how many kernels it has.
struct Kernels {
  const char* file;
  std::size_t entries;
};

void check(const std::string& chip, int head, const std::string& keys, const Kernels& kernels) {
  CAPTURE(chip);
  CAPTURE(head);
  CAPTURE(keys);
  CAPTURE(std::string(kernels.file));
  const bool pairs = kernels.entries == 2;
  const std::string columns = "," + std::to_string(head) + "," + std::to_string(head);
  const Compilation compilation =
      compile(kernels.file, chip,
              {std::string("ELEMENT=") + (chip == "sm_75" ? "f16" : "bf16"),
               "TILE=" + std::string(pairs || head > 64 ? "32" : "64") + columns,
               "COLUMNS_TILE=" + std::string(head > 64 ? "16" : "32") + columns, "KEYS=" + keys});
  INFO(compilation.log);
  REQUIRE(compilation.accepted);
  const std::vector<EntryUsage> entries = parse_ptxas_log(compilation.log);
  REQUIRE(entries.size() == kernels.entries);
  for (const EntryUsage& entry : entries) {
    std::printf("%-8s %-10s heads of %3d, %4s keys: %3d registers %6d B shared\n", chip.c_str(),
                entry.entry.c_str(), head, keys.c_str(), entry.registers, entry.shared_bytes);
    CHECK(entry.spill_bytes == 0);
    CHECK(entry.stack_bytes == 0);
    CHECK(entry.registers <= kRegisters);
  }
}

/// All; or where keys come when kernels run, of the gradient the largest head of either plan.
/// run.
void check_all(bool all) {
  for (const std::string& chip : chips(all))
    for (const int head : {32, 64, 96, 128})
      for (const char* keys : {"1024", "0"}) {
        if (!all && keys[0] != '0') continue;
        check(chip, head, keys, {"attention.cu", 1});
        if (all || head % 64 == 0) check(chip, head, keys, {"attention_gradient.cu", 2});
      }
}

}  // namespace

TEST_CASE("no head spills registers") { check_all(false); }

TEST_CASE("no head spills registers on any chip" * doctest::skip()) { check_all(true); }
