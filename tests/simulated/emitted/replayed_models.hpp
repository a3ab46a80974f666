// SPDX-License-Identifier: Apache-2.0
// What tests here ask of a model on a chip: that replaying its kernels shows no difference.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <set>
#include <string>

#include "anonymous_text.hpp"
#include "artifacts.hpp"
#include "odd_sizes.hpp"
#include "packed_kernels.hpp"
#include "replay.hpp"
#include "simulation.hpp"

namespace halftone::tests {

using Texts = std::set<std::string>;

/// The texts of one model's kernels on one chip.
inline Texts texts_of(const LinkedArtifact& linked, std::string_view chip) {
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

/// Those of `texts` of which `seen` has none that differs in names and sizes alone; then it has.
inline Texts take_new(const Texts& texts, Texts& seen) {
  Texts fresh;
  for (const std::string& text : texts)
    if (seen.insert(without_sizes(text)).second) fresh.insert(text);
  return fresh;
}

/// Fails for what `tally` holds of differences, and adds the rest to `all`.
inline void add(const Tally& tally, const std::string& where, Tally& all) {
  CAPTURE(tally.first);
  CHECK(tally.differing == 0);
  CHECK(tally.outside == 0);
  CHECK(tally.launches + tally.exact_sums > 0);
  all.launches += tally.launches;
  all.exact_sums += tally.exact_sums;
  all.bounded += tally.bounded;
  for (const std::string& kernel : tally.kernels) all.kernels.insert(where + "/" + kernel);
}

/// How kernels run.
struct Simulation {
  simulator::LaunchOptions options = {};
  CompileKernel compile = compile_with_nvrtc;
  SimulatedDriver::Observe observe = {};
};

/// Every kernel of one model that has one of these texts on one chip once, of whichever program
/// launches it, none left out. The others are loaded as empty ones.
inline void replay_texts(const LinkedArtifact& linked, const std::string& chip, const Texts& texts,
                         const Simulation& how, Tally& all) {
  CAPTURE(std::string(linked.name));
  CAPTURE(chip);
  Texts done, done_before;  // by this program or earlier ones, by earlier ones
  const auto compile = [&](const std::string& text, const std::string& entry,
                           const std::string& architecture) {
    const bool runs = (texts.contains(text) && !done_before.contains(text)) ||
                      entry.starts_with("halftone_refresh");  // those run before a step
    return runs ? how.compile(text, entry, architecture) : empty_kernel(entry, architecture);
  };
  const auto is_new = [&](const std::string& text) {
    return texts.contains(text) && done.insert(text).second;
  };
  const Artifact artifact = Artifact::linked(*linked.image);
  const std::vector<Binding> sizes = odd_sizes(artifact);
  Tally tally;
  try {
    for (const manifest::Program& program : artifact.manifest().programs) {
      // A device of its own, since devices keep what was compiled.
      const Device device = simulated(chip, how.options, compile, how.observe);
      Replay(artifact, device, {.model = "", .bindings = sizes, .seed = 5}, is_new, program.name)
          .step(1, tally);
      done_before = done;
    }
  } catch (const std::exception& error) {
    FAIL_CHECK(std::string(error.what()));
  }
  CHECK(tally.kernels.size() == texts.size());
  add(tally, chip + "/" + linked.name, all);
}

inline void report(const Tally& all) {
  std::printf(
      "%lld launches of class A and %lld of class B with exact sums have the CPU's bits, "
      "%lld other sums of class B are inside their bound; %zu kernels on chips\n",
      static_cast<long long>(all.launches), static_cast<long long>(all.exact_sums),
      static_cast<long long>(all.bounded), all.kernels.size());
}

}  // namespace halftone::tests
