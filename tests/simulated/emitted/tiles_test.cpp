// SPDX-License-Identifier: Apache-2.0
// Training by AMX or AVX512-BF16, launch by launch with the operands of the code that is ordered:
// class A to the bit, class B exact where sums are and inside its bound elsewhere.
#include "provided.hpp"
#include "replayed_models.hpp"

namespace halftone::tests {

TEST_CASE(
    "steps of every model by products of bf16 have v4's bits where they must, and are in N8 "
    "elsewhere") {
  Tally all;
  int with_tiles = 0;
  for (const LinkedArtifact& linked : kArtifacts) {
    CAPTURE(std::string(linked.name));
    const Artifact artifact = Artifact::linked(*linked.image);
    const std::vector<Binding> sizes = odd_sizes(artifact);
    Tally tally;
    for (const manifest::Program& program : artifact.manifest().programs) {
      Replay replay(artifact, Device::cpu(products::kVariant),
                    {.model = "", .bindings = sizes, .seed = 5}, {}, program.name);
      for (const Inputs inputs : {Inputs::ordinary, Inputs::hostile}) replay.step(1, tally, inputs);
    }
    with_tiles += tally.exact_sums > 0;
    add(tally, linked.name, all);
  }
  CHECK(with_tiles > 5);
  CHECK(all.bounded > 0);
  report(all);
  std::printf("%d models with tiles\n", with_tiles);
}

}  // namespace halftone::tests
