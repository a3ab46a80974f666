// SPDX-License-Identifier: Apache-2.0
// What emitted_test.cpp asks of three chips, asked of the eight others: of every kernel whose text
// no earlier chip has. With HALFTONE_EVERY_CHIP, of every kernel on each.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "artifacts.hpp"
#include "packed_kernels.hpp"
#include "replay.hpp"
#include "simulation.hpp"

namespace halftone::tests {

namespace {

constexpr const char* kAlwaysRun[] = {"sm_75", "sm_80", "sm_90a"};

using Texts = std::set<std::string>;

/// The texts of one model's kernels on one chip, of its training program.
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

/// A kernel that is loaded and never launched.
std::string empty_kernel(const std::string& entry, const std::string& architecture) {
  return ".version 9.0\n.target " + architecture + "\n.address_size 64\n.visible .entry " + entry +
         "()\n{\n  ret;\n}\n";
}

/// A step of one model on `chip`, of which only the kernels of `texts` run there.
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
  const Device device = simulated(chip, options, compile);
  const Artifact artifact = Artifact::linked(*linked.image);
  std::vector<Binding> bindings;
  for (const std::string& symbol : artifact.manifest().symbols)
    bindings.push_back({symbol, symbol == "batch" ? 37 : 3});
  Tally tally;
  try {
    Replay replay(artifact, device, {.model = "", .bindings = bindings, .seed = 5},
                  [&](const std::string& text) { return texts.contains(text); });
    replay.step(1, tally);
  } catch (const std::exception& error) {
    FAIL_CHECK(std::string(error.what()));
  }
  CAPTURE(tally.first);
  CHECK(tally.clean());
  all.launches += tally.launches;
  all.exact_sums += tally.exact_sums;
  all.bounded += tally.bounded;
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
  std::printf(
      "%zu kernels of %zu chips: %lld launches of class A and %lld of class B with exact sums have "
      "the CPU's bits, %lld other sums of class B are inside their bound\n",
      kernels, chips, static_cast<long long>(all.launches), static_cast<long long>(all.exact_sums),
      static_cast<long long>(all.bounded));
}

}  // namespace halftone::tests
