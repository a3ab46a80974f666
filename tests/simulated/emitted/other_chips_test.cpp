// SPDX-License-Identifier: Apache-2.0
// What emitted_test.cpp asks of three chips, asked of the eight others: of every kernel whose text
// no earlier chip has. With HALFTONE_EVERY_CHIP, of every kernel on each.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "packed_kernels.hpp"
#include "replayed_models.hpp"
#include "simulation.hpp"

namespace halftone::tests {

namespace {

constexpr const char* kAlwaysRun[] = {"sm_75", "sm_80", "sm_90a"};

using Texts = std::set<std::string>;

/// The texts of one model's kernels on one chip.
Texts texts_of(const LinkedArtifact& linked, std::string_view chip) {
  const Artifact artifact = Artifact::linked(*linked.image);
  const auto packed = unpack_kernels(artifact, "test");
  Texts texts;
  for (const manifest::CudaTarget& target : artifact.manifest().cuda) {
    if (target.chip != chip) continue;
    for (const manifest::CudaKernel& kernel : target.kernels)
      texts.insert(packed->texts[static_cast<std::size_t>(kernel.text)]);
  }
  return texts;
}

/// Those of `texts` that `seen` lacks; then it has them.
Texts take_new(const Texts& texts, Texts& seen) {
  Texts fresh;
  for (const std::string& text : texts)
    if (seen.insert(text).second) fresh.insert(text);
  return fresh;
}

/// The kernels of `texts` of one model on `chip`; the others are loaded as empty ones there.
void replay(const LinkedArtifact& linked, const std::string& chip, const Texts& texts,
            const simulator::LaunchOptions& options, Tally& all) {
  CAPTURE(std::string(linked.name));
  CAPTURE(chip);
  const auto compile = [&](const std::string& text, const std::string& entry,
                           const std::string& architecture) {
    const bool runs =
        texts.contains(text) || entry.starts_with("halftone_refresh");  // those run before a step
    return runs ? compile_with_nvrtc(text, entry, architecture) : empty_kernel(entry, architecture);
  };
  const Tally tally =
      replay_kernels(Artifact::linked(*linked.image), simulated(chip, options, compile),
                     [&](const std::string& text) { return texts.contains(text); });
  CHECK(tally.kernels.size() == texts.size());
  add(tally, chip + "/" + linked.name, all);
}

}  // namespace

TEST_CASE("kernels that other chips alone have keep the CPU's bits there") {
  const bool every_chip = std::getenv("HALFTONE_EVERY_CHIP") != nullptr;
  Texts seen;
  for (const LinkedArtifact& linked : kArtifacts)
    for (const char* chip : kAlwaysRun) take_new(texts_of(linked, chip), seen);
  Tally all;
  std::size_t kernels = 0, chips = 0;
  for (const simulator::Chip& chip : simulator::chips()) {
    const std::string name(chip.name);
    if (std::ranges::find(kAlwaysRun, name) != std::end(kAlwaysRun)) continue;
    ++chips;
    for (const LinkedArtifact& linked : kArtifacts) {
      Texts texts = texts_of(linked, name);
      CHECK_FALSE(texts.empty());
      if (!every_chip) texts = take_new(texts, seen);
      if (texts.empty()) continue;
      kernels += texts.size();
      replay(linked, name, texts, {.traffic = false}, all);
      replay(linked, name, texts,
             {.traffic = false, .seed = 1, .accumulation = simulator::Accumulation::truncating},
             all);
    }
    std::printf("%s: %zu kernels so far\n", name.c_str(), kernels);
    std::fflush(stdout);
  }
  CHECK(chips == 8);
  CHECK(kernels > 0);
  CHECK(all.launches > 0);
  CHECK(all.exact_sums > 0);
  CHECK(all.kernels.size() == kernels);
  std::printf("%zu chips: ", chips);
  report(all);
}

}  // namespace halftone::tests
