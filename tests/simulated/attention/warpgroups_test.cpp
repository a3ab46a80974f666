// SPDX-License-Identifier: Apache-2.0
// Attention's kernels by warp groups (decisions/0035) on a simulated chip of sm_90a: the plans that
// are chosen, steps beside their compositions, errors against exact values, faults in texts.
#include <doctest/doctest.h>

#include <cstdio>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "attention_runs.hpp"

namespace halftone::tests {

namespace {

constexpr const char* kChip = "sm_90a";

/// The chip's kernels of either skeleton of attention, by their names.
std::map<std::string, manifest::CudaKernel> attentions(const char* name) {
  std::map<std::string, manifest::CudaKernel> found;
  const Artifact artifact = artifact_of(name);
  for (const manifest::Manifest& manifest : artifact.manifests())
    if (const auto* target = manifest::find_cuda(manifest, kChip))
      for (std::size_t i = 0; i < manifest.kernels.size(); ++i)
        if (manifest.kernels[i].skeleton.starts_with("attention"))
          found[manifest.kernels[i].name] = target->kernels[i];
  return found;
}

void check_step(const char* name, const Given& given, std::span<const char* const> outputs) {
  const auto joined = trained(name, simulated(kChip), given, outputs),
             apart =
                 trained((std::string(name) + "_apart").c_str(), simulated(kChip), given, outputs);
  REQUIRE(joined.size() == apart.size());
  for (std::size_t i = 0; i < joined.size(); ++i) {
    CAPTURE(i);
    CHECK(first_difference(joined[i], apart[i]) == -1);
  }
}

constexpr const char* kByRows = "mix_input_gradient";
constexpr const char* kByColumns = "mix_input_gradient_2";

constexpr std::size_t kFirstMutants = 4;  ///< so many are for the quick list
constexpr Mutant kMutants[] = {
    {"queries are those of the first head", "mix", "at[0] = static_cast<int>(head) % kHeads;",
     "at[0] = 0;"},
    {"what the mask leaves out counts", "mix", "return halftone::kernels::kept_of(",
     "return true ? halftone::kernels::Kept::all : halftone::kernels::kept_of("},
    {"sums go to the first head", kByRows, "+ row / symbol_time %", "+ 0 * row %"},
    {"rows of the first head are multiplied", kByColumns,
     "at[0] = static_cast<int>(head) % kHeads;", "at[0] = 0;"},
    {"rows past the last are stored", "mix", "if (!exists_[half]) continue;", ""},
    {"keys are those of the first sequence", "mix", "at[1] = static_cast<int>(element);",
     "at[1] = 0;"},
    {"the second product is of the first one's rows", kByRows, "body_.second_lhs_at(place_.head",
     "body_.lhs_at(0 * place_.head"},
    {"a block of rows that is kept is left out", kByColumns, "kept != Kept::none);",
     "kept == Kept::all);"},
    {"columns past the last are stored", kByColumns, "if (column >= body_.columns()) continue;",
     ""},
    {"the stage that is read is not waited for", kByColumns, "note = ring_.read(turn);",
     "note = note + 2;"},
    {"either sum is the other", kByColumns, "result1 +", "result0 +"},
};

}  // namespace

TEST_CASE("attention is planned for warp groups where there are enough rows and keys") {
  const auto kernels = attentions("joined");
  CHECK(kernels.size() == 20);  // five of training, five of inference, ten gradients
  for (const auto& [name, kernel] : kernels) {
    CAPTURE(name);
    REQUIRE(!kernel.plans.empty());
    REQUIRE(!kernel.maps.empty());
    REQUIRE(kernel.maps.front().dimensions.size() == 4);
    CAPTURE(kernel.plans.front().name);
    CHECK(kernel.plans.front().name.find("warp groups") != std::string::npos);
    // Heads that lie in place warp groups alone find; where there is one nothing moves.
    const bool has_heads = kernel.maps.front().dimensions[2].box == 1;
    CHECK(kernel.plans.size() == (has_heads ? 1 : 2));
    CHECK(kernel.threads >= 256);
    CHECK(kernel.resident == 0);
    CHECK((kernel.maps.size() == 3 || kernel.maps.size() == 4));
    for (const manifest::TensorMap& map : kernel.maps) CHECK(map.dimensions.size() == 4);
  }
}

TEST_CASE("a step by warp groups has the bits of its composition") {
  const char* const mix[] = {"mix"};
  check_step("gradients", gradients(), mix);
  check_step("crossing", crossing(66, 70), mix);
  if (!is_whole()) {
    std::printf("left out: other models; tests/run --exhaustive -R simulated_attention\n");
    return;
  }
  for (const std::int64_t time : {1, 37, 64, 130, 200}) {
    CAPTURE(time);
    check_step("joined", Given(time), kOutputs);
  }
  struct Lengths {
    std::int64_t queries, keys;
  };
  for (const auto& [queries, keys] : {Lengths{70, 200}, {200, 70}, {1, 130}, {129, 1}}) {
    CAPTURE(queries);
    CAPTURE(keys);
    check_step("crossing", crossing(queries, keys), mix);
  }
}

TEST_CASE("predictions by warp groups are as near the exact ones as the declared reference's") {
  check_near_exact(kChip, 130);
}

TEST_CASE("a step by warp groups is as near the exact one as the declared reference's") {
  check_step_near_exact(kChip);
}

TEST_CASE("faults that kernels of warp groups are given are seen") {
  const Given given = gradients();
  const char* const outputs[] = {"mix"};
  const auto run = [&](const Device& device) {
    return trained("gradients", device, given, outputs);
  };
  const auto sound = run(simulated(kChip));
  for (const Mutant& mutant : tried_of(kMutants, kFirstMutants)) {
    CAPTURE(std::string(mutant.fault));
    check_seen(mutant, kChip, sound, run);
  }
}

}  // namespace halftone::tests
