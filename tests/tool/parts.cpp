// SPDX-License-Identifier: Apache-2.0
// Which kernels run part by part, and on what, by docs/decisions/0026: on the CPU alone the scores
// and the weights of attention are in memory for one sequence and head at a time.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "run_tool.hpp"

namespace halftone::tests {

using Kernels = std::multiset<std::string>;

static nlohmann::json program_of(const nlohmann::json& explained, const std::string& name) {
  for (const nlohmann::json& program : explained["programs"])
    if (program["name"] == name) return program;
  return {};
}

/// What the kernels of a program fused that run in parts.
static Kernels kernels_in_parts(const nlohmann::json& program) {
  Kernels found;
  for (const nlohmann::json& phase : program["phases"])
    for (const nlohmann::json& kernel : phase["kernels"])
      if (kernel["in_parts"]) found.insert(kernel["fused"]);
  return found;
}

TEST_CASE("0026: an artifact for the CPU and chips has a program of its own for the CPU") {
  const std::string call = "explain " TOOL_ARTIFACTS "/attention.o --symbols batch=8,time=64";
  const nlohmann::json cpu = json_of(call), chip = json_of(call + " --chip sm_80");
  CHECK(cpu["targets"] == nlohmann::json{"cpu"});
  CHECK(chip["targets"] == nlohmann::json{"sm_75", "sm_80"});
  CHECK(kernels_in_parts(program_of(cpu, "inference")) ==
        Kernels{"mix1:scores", "mix1:softmax", "mix1:attention", "mix2:scores", "mix2:softmax",
                "mix2:attention"});
  const nlohmann::json parts = program_of(cpu, "training"), whole = program_of(chip, "training");
  CHECK(kernels_in_parts(parts).size() == 18);  // 3 of forward, 6 of backward, of two layers
  CHECK(kernels_in_parts(whole).empty());
  constexpr long kScores = 64 * 64 * 4;  // of one sequence and head, f32
  CHECK(whole["arena_bytes"].get<long>() - parts["arena_bytes"].get<long>() >= 8 * 3 * kScores);
  CHECK(parts["part_bytes"] >= 2 * kScores);
  CHECK(parts["part_bytes"] <= 4 * kScores);
  CHECK(whole["part_bytes"] == 0);
}

TEST_CASE("0026: with --alike there is one program, that of the chips") {
  const std::string call = "explain " TOOL_ARTIFACTS "/attention--alike.o";
  const nlohmann::json cpu = json_of(call), chip = json_of(call + " --chip sm_80");
  CHECK(cpu["targets"] == nlohmann::json{"cpu", "sm_75", "sm_80"});
  CHECK(kernels_in_parts(program_of(cpu, "training")).empty());
  CHECK(cpu["programs"] == chip["programs"]);
}

}  // namespace halftone::tests
