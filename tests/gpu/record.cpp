// SPDX-License-Identifier: Apache-2.0
// Writes what this processor makes of every launch of every carried model, as digests:
//   record FILE       a line a launch: model, phase, index, kernel, digest
#include <cstdio>
#include <fstream>

#include "models_artifacts.hpp"
#include "ordered_cpu.hpp"
#include "recorded.hpp"
#include "single_launches.hpp"

using namespace halftone;
using namespace halftone::tests;

int main(int count, char** values) {
  if (count != 2) {
    std::fprintf(stderr, "record: name the file that is written\n");
    return 1;
  }
  std::ofstream file(values[1]);
  try {
    for (const LinkedArtifact& linked : kArtifacts) {
      const Artifact artifact = Artifact::linked(*linked.image);
      SingleLaunches cpu(artifact, ordered_cpu(artifact));
      for (const Site& site : cpu.sites())
        file << linked.name << " " << site.text() << " " << digest(cpu.run(site, kRecordedSeed))
             << "\n";
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "record: %s\n", error.what());
    return 1;
  }
  return file.flush() ? 0 : 1;
}
