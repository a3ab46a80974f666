// SPDX-License-Identifier: Apache-2.0
// What tests here ask of a model on a chip: that replaying its kernels shows no difference.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "odd_sizes.hpp"
#include "replay.hpp"

namespace halftone::tests {

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

/// Every kernel of one model once, of whichever program launches it, that `wants` (all, if empty).
inline Tally replay_kernels(const Artifact& artifact, const Device& device,
                            const Replay::Filter& wants = {}) {
  const std::vector<Binding> sizes = odd_sizes(artifact);
  Tally tally;
  std::set<std::string> done;
  const auto is_new = [&](const std::string& text) {
    return (!wants || wants(text)) && done.insert(text).second;
  };
  try {
    for (const manifest::Program& program : artifact.manifest().programs)
      Replay(artifact, device, {.model = "", .bindings = sizes, .seed = 5}, is_new, program.name)
          .step(1, tally);
  } catch (const std::exception& error) {
    FAIL_CHECK(std::string(error.what()));
  }
  return tally;
}

/// All kernels of one model on one chip, none left out.
inline void replay_model(const LinkedArtifact& linked, const Device& device,
                         const std::string& chip, Tally& all) {
  CAPTURE(std::string(linked.name));
  CAPTURE(chip);
  const Artifact artifact = Artifact::linked(*linked.image);
  const Tally tally = replay_kernels(artifact, device);
  for (const manifest::Kernel& kernel : artifact.manifest().kernels) {
    CAPTURE(kernel.name);
    CHECK(tally.kernels.contains(kernel.name));
  }
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
