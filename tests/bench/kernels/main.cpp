// SPDX-License-Identifier: Apache-2.0
// kernel_floors [--fetched DIR] [--caps FILE [--record]] [--chip sm_80]... ARTIFACT.so=SIZE...:
// every launch of a training step against its floor (floors.hpp), counted by the simulator, as a
// table. Exit 0: every ratio above the limit has a reason and is inside its cap, or was recorded as
// that; 1: not so; 77: no NVRTC.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "caps.hpp"
#include "floors.hpp"

namespace {

using namespace halftone;
using namespace halftone::bench;

constexpr int kSkipped = 77;

struct Arguments {
  std::string fetched, caps;
  bool record = false;
  std::vector<std::string> chips, artifacts;
};

Arguments parse(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string value = values[i];
    if (value == "--fetched" && i + 1 < count)
      arguments.fetched = values[++i];
    else if (value == "--caps" && i + 1 < count)
      arguments.caps = values[++i];
    else if (value == "--record")
      arguments.record = true;
    else if (value == "--chip" && i + 1 < count)
      arguments.chips.emplace_back(values[++i]);
    else
      arguments.artifacts.push_back(value);
  }
  return arguments;
}

/// What a launch that does nothing but round says why it is there.
std::string cast_reason(const Artifact& artifact, const MeasuredLaunch& launch) {
  for (const manifest::Program& program : artifact.manifest().programs)
    for (const manifest::Cast& cast : program.casts)
      if (cast.own_launch && cast.kernel == launch.kernel->name)
        return "a cast of an input, which no kernel of the step produces and several read";
  return "";
}

/// Prints the rows of one artifact on one chip; the largest ratio without a reason, or 0.
double print(const Artifact& artifact, const std::string& chip, std::int64_t size,
             const std::vector<MeasuredLaunch>& launches, Caps& measured) {
  double worst = 0;
  for (const MeasuredLaunch& launch : launches) {
    const Floor f = floor_of(launch, chip, size);
    measured.add(artifact.manifest().model + "/" + launch.kernel->name, f);
    std::string reasons = cast_reason(artifact, launch);
    if (!f.reasons.empty()) reasons += (reasons.empty() ? "" : "; ") + f.reasons;
    if (!f.unexplained.empty()) {
      reasons += (reasons.empty() ? "" : "; ") + ("UNEXPLAINED: " + f.unexplained);
      worst = std::max({worst, f.memory, f.traffic, f.time});
    }
    std::printf(
        "| %s | %s | %s | %s | %.4g | %.4g | %.2f | %.2f | %.2f | %.2f | %.3f | %s | %s |\n",
        artifact.manifest().model.c_str(), chip.c_str(), launch.kernel->name.c_str(),
        launch.cuda->plans.front().name.c_str(), f.bytes, f.operations, f.memory, f.traffic, f.work,
        f.time, f.microseconds,
        f.mma_percent > 0 ? (std::to_string(std::lround(f.mma_percent)) + " %").c_str() : "",
        reasons.c_str());
  }
  return worst;
}

/// Compares with the recorded caps, or records: what the file's first lines say stays. The number
/// of what differs.
int hold(const Arguments& arguments, const Caps& measured) {
  if (arguments.caps.empty()) return 0;
  std::ifstream file(arguments.caps, std::ios::binary);
  if (!file) throw std::runtime_error(arguments.caps + " cannot be read");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (arguments.record) {
    std::size_t end = 0;
    while (end < text.size() && text[end] == '#') end = text.find('\n', end) + 1;
    std::ofstream(arguments.caps) << text.substr(0, end) << measured.text();
    return 0;
  }
  const std::string differences = Caps::parse(text).differences(measured);
  std::printf("%s", differences.c_str());
  if (!differences.empty())
    std::printf("where that is right, record it: ninja kernel_floors_caps\n");
  return differences.empty() ? 0 : 1;
}

int run(const Arguments& arguments) {
  std::string reason;
  const auto nvrtc = tests::NvrtcLibrary::open(arguments.fetched, reason);
  if (!nvrtc) {
    std::printf("Skipped: %s\n", reason.c_str());
    return kSkipped;
  }
  std::printf(
      "| model | chip | kernel | plan | bytes | operations | memory | traffic | work | time "
      "| us | mma | reasons |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  double worst = 0;
  Caps measured;
  std::string counts;
  for (const std::string& entry : arguments.artifacts) {
    const std::size_t equals = entry.rfind('=');
    const std::int64_t size = std::atoll(entry.substr(equals + 1).c_str());
    const Artifact artifact = Artifact::load(entry.substr(0, equals));
    for (const std::string& chip : arguments.chips) {
      const auto launches = measure_step(artifact, *nvrtc, chip, size);
      worst = std::max(worst, print(artifact, chip, size, launches, measured));
      counts += artifact.manifest().model + " on " + chip + ": " + std::to_string(launches.size()) +
                " launches per step\n";
    }
  }
  std::printf("\n%s", counts.c_str());
  if (worst > 0) std::printf("a ratio of %.2f has no reason\n", worst);
  return hold(arguments, measured) > 0 || worst > 0 ? 1 : 0;
}

}  // namespace

int main(int count, char** values) {
  try {
    return run(parse(count, values));
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
