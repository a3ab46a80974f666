// SPDX-License-Identifier: Apache-2.0
// Every kernel of every test model on simulated chips: class A to the last bit with the CPU (which
// the laws hold to the reference), class B exact where its sums are, and no finding.
#include <doctest/doctest.h>

#include "artifacts.hpp"
#include "replay.hpp"
#include "simulation.hpp"

namespace halftone::tests {

namespace {

std::vector<Binding> bindings_of(const Artifact& artifact, std::int64_t batch) {
  std::vector<Binding> bindings;
  for (const std::string& symbol : artifact.manifest().symbols)
    bindings.push_back({symbol, symbol == "batch" ? batch : 3});
  return bindings;
}

void replay(const LinkedArtifact& linked, const Device& device, const std::string& chip,
            Tally& all) {
  CAPTURE(std::string(linked.name));
  CAPTURE(chip);
  const Artifact artifact = Artifact::linked(*linked.image);
  const auto bindings = bindings_of(artifact, 37);
  Tally tally;
  try {
    Replay replay(artifact, device, {.model = "", .bindings = bindings, .seed = 5});
    replay.step(1, tally);
  } catch (const std::exception& error) {
    FAIL_CHECK(error.what());
  }
  CAPTURE(tally.first);
  CHECK(tally.differing == 0);
  CHECK(tally.launches > 0);
  all.launches += tally.launches;
  all.exact_sums += tally.exact_sums;
  for (const std::string& kernel : tally.kernels)
    all.kernels.insert(chip + "/" + linked.name + "/" + kernel);
}

void report(const Tally& all) {
  MESSAGE(all.launches << " launches of class A and " << all.exact_sums
                       << " of class B with exact sums, " << all.kernels.size()
                       << " kernels on chips");
}

}  // namespace

TEST_CASE("every emitted kernel gives the CPU's bits on a simulated chip") {
  Tally all;
  for (const char* chip : {"sm_75", "sm_80", "sm_90a"}) {
    const Device device = simulated(chip);
    for (const LinkedArtifact& linked : kArtifacts) replay(linked, device, chip, all);
  }
  report(all);
  CHECK(all.exact_sums > 0);
}

TEST_CASE("sums that are exact stay so where tensor cores cut their sums off") {
  const Device device = simulated("sm_80", {.accumulation = simulator::Accumulation::truncating});
  Tally all;
  for (const char* name : {"digits_bf16", "digits_f16", "digits_tf32", "mixed_rules"})
    replay(find_artifact(name), device, "sm_80", all);
  report(all);
  CHECK(all.exact_sums > 0);
}

TEST_CASE("another compiler's PTX of the same texts gives the same bits") {
  if (const std::string why = clang_missing(); !why.empty()) {
    MESSAGE("not asked: " << why);
    return;
  }
  const Device device = simulated("sm_80", {}, compile_with_clang);
  Tally all;
  for (const char* name : {"digits_f16", "every_layer", "mixed_rules"})
    replay(find_artifact(name), device, "sm_80", all);
  report(all);
}

}  // namespace halftone::tests
