// SPDX-License-Identifier: Apache-2.0
// Convolutions on simulated chips whose windows lie in no memory (docs/decisions/0037): every
// product that gathers one of its matrices has the CPU's sums, on tensor cores with operands whose
// sums are exact in any order.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "replayed_models.hpp"

namespace halftone::tests {

namespace {

/// Those of a chip's kernels that gather a matrix, but for a diagnosis', which no step runs; with a
/// longer word some.
Texts gathering(const LinkedArtifact& linked, std::string_view chip,
                const std::string& word = "::gathered_") {
  Texts texts = texts_of(linked, chip);
  std::erase_if(texts, [&](const std::string& text) {
    return text.find(word) == text.npos || text.find("contraction::run<Body") == text.npos ||
           text.find("halftone_diagnosis_") != text.npos;
  });
  return texts;
}

/// What the replay of these texts finds where each is given to `change` first.
template <class Change>
Tally replay_changed(const LinkedArtifact& linked, const std::string& chip, const Texts& texts,
                     const Change& change) {
  const auto compile = [&](const std::string& text, const std::string& entry,
                           const std::string& architecture) {
    if (texts.contains(text)) return compile_with_nvrtc(change(text), entry, architecture);
    return entry.starts_with("halftone_refresh") ? compile_with_nvrtc(text, entry, architecture)
                                                 : empty_kernel(entry, architecture);
  };
  const Artifact artifact = Artifact::linked(*linked.image);
  const Device device = simulated(chip, {}, compile);
  const std::vector<Binding> sizes = odd_sizes(artifact);
  const auto runs = [&](const std::string& text) { return texts.contains(text); };
  Tally tally;
  Replay(artifact, device, {.model = "", .bindings = sizes, .seed = 5}, runs).step(1, tally);
  return tally;
}

}  // namespace

TEST_CASE("products that gather windows have the CPU's sums, on tensor cores and without them") {
  struct Run {
    const char *model, *chip;
    std::size_t least_by_tensor_cores;
  };
  Tally all;
  for (const auto& [model, chip, least] :
       {Run{"gathered", "sm_75", 8}, Run{"gathered", "sm_80", 12},
        Run{"gathered_bf16", "sm_90a", 12}, Run{"unet", "sm_80", 8}, Run{"sides", "sm_80", 8}}) {
    CAPTURE(std::string(model));
    CAPTURE(std::string(chip));
    const LinkedArtifact& linked = find_artifact(model);
    const Texts texts = gathering(linked, chip);
    CHECK(texts.size() >= std::max<std::size_t>(8, least));
    CHECK(gathering(linked, chip, "::gathered_tensor_").size() >= least);
    replay_texts(linked, chip, texts, {}, all);
  }
  report(all);
}

TEST_CASE("no windows are in memory") {
  for (const LinkedArtifact& linked : kArtifacts) {
    const Artifact artifact = Artifact::linked(*linked.image);
    for (const manifest::Kernel& kernel : artifact.manifest().kernels) {
      CAPTURE(kernel.name);
      CHECK(kernel.name.find("windows") == kernel.name.npos);
    }
  }
}

TEST_CASE("a window that begins elsewhere is seen, and one that reads beyond its image") {
  const LinkedArtifact& linked = find_artifact("gathered");
  Texts texts = gathering(linked, "sm_80", "::gathered_tensor_");
  std::erase_if(texts, [](const std::string& text) { return text.find(" + -1)") == text.npos; });
  REQUIRE(texts.size() >= 3);
  texts = {*texts.begin()};
  const auto replaced = [](std::string text, const std::string& before, const std::string& after) {
    text.replace(text.find(before), before.size(), after);
    return text;
  };
  CHECK(replay_changed(linked, "sm_80", texts, [](std::string text) { return text; }).clean());
  CHECK(!replay_changed(linked, "sm_80", texts, [&](const std::string& text) {
           return replaced(text, " + -1)", " + 0)");
         }).clean());
  CHECK_THROWS_WITH_AS(replay_changed(linked, "sm_80", texts,
                                      [&](const std::string& text) {
                                        return replaced(text, "(at1) >= static_cast<unsigned int>(",
                                                        "(at1) > static_cast<unsigned int>(");
                                      }),
                       doctest::Contains("out of bounds"), std::exception);
}

}  // namespace halftone::tests
