// SPDX-License-Identifier: Apache-2.0
// Every kernel of every carried model on the device:
//   recorded: one launch at a time, the digests that the generator's machine recorded on its CPU
//   step:     a training step launch by launch with the operands of this CPU: class A to the bit,
//             class B with exact sums to the bit and inside its bound otherwise
//   replay:   the same for --steps (20) steps in a row of the quickstart's models
//   kernels [--only MODEL,...] [--share N/M] [--parts recorded,step,replay] [--steps N]
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "device_under_test.hpp"
#include "halftone/manifest/texts.hpp"
#include "models_artifacts.hpp"
#include "ordered_cpu.hpp"
#include "recorded.hpp"
#include "replay.hpp"
#include "single_launches.hpp"
#include "test_report.hpp"

using namespace halftone;
using namespace halftone::tests;

namespace {

constexpr std::uint64_t kSeed = 5;

/// Of recorded/digests.txt: "model phase/index kernel" to digest.
std::map<std::string, std::string> read_digests() {
  std::map<std::string, std::string> digests;
  std::ifstream file("recorded/digests.txt");
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.rfind(' ');
    digests[line.substr(0, space)] = line.substr(space + 1);
  }
  return digests;
}

/// What is wrong with one launch, whose digest is not the recorded one.
std::string explained(SingleLaunches& cpu, const Site& site, const Contents& got,
                      const std::string& recorded) {
  const Contents wanted = cpu.run(site, kRecordedSeed);
  const std::string difference = cpu.difference(site, wanted, got);
  if (digest(wanted) != recorded)
    return site.text() + ": this machine's CPU does not make what was recorded either" +
           (difference.empty() ? ", but the device agrees with it" : "; " + difference);
  return difference;
}

std::vector<std::string> hold_to_recorded(const LinkedArtifact& linked, const Device& device) {
  static const std::map<std::string, std::string> digests = read_digests();
  if (digests.empty()) throw Skipped("recorded/digests.txt was not carried");
  const Artifact artifact = Artifact::linked(*linked.image);
  SingleLaunches cpu(artifact, ordered_cpu(artifact)), gpu(artifact, device);
  std::vector<std::string> wrong;
  for (const Site& site : gpu.sites()) {
    const auto recorded = digests.find(std::string(linked.name) + " " + site.text());
    if (recorded == digests.end()) {
      wrong.push_back(site.text() + ": nothing was recorded of it; run tests/gpu/prepare again");
      continue;
    }
    const Contents got = gpu.run(site, kRecordedSeed);
    if (digest(got) == recorded->second) continue;
    wrong.push_back(explained(cpu, site, got, recorded->second));
  }
  return wrong;
}

std::string replayed(const Artifact& artifact, const Device& device, long steps,
                     const Replay::Filter& filter, Tally& tally) {
  const std::vector<Binding> bindings = odd_sizes(artifact);
  Replay replay(artifact, device, {.model = "", .bindings = bindings, .seed = kSeed}, filter);
  for (long step = 1; step <= steps && tally.first.empty(); ++step)
    replay.step(static_cast<std::uint64_t>(step), tally);
  return tally.first;
}

std::set<std::string> texts_of(const Artifact& artifact) {
  std::vector<std::string> texts;
  manifest::DecodeError error;
  const manifest::ArtifactImage& image = artifact.image();
  if (!manifest::unpack_texts({image.texts, image.text_bytes}, texts, error))
    throw std::runtime_error(error.message);
  return {texts.begin(), texts.end()};
}

/// The first difference; and where there is one, the first of every kernel.
std::vector<std::string> replay(const LinkedArtifact& linked, const Device& device, long steps) {
  const Artifact artifact = Artifact::linked(*linked.image);
  Tally all;
  if (replayed(artifact, device, steps, {}, all).empty())
    return all.launches + all.exact_sums > 0 ? std::vector<std::string>()
                                             : std::vector<std::string>{"no kernel was compared"};
  std::vector<std::string> wrong;
  for (const std::string& text : texts_of(artifact)) {
    Tally tally;
    const auto only_this = [&](const std::string& each) { return each == text; };
    if (std::string first = replayed(artifact, device, steps, only_this, tally); !first.empty())
      wrong.push_back(std::move(first));
  }
  if (wrong.empty()) wrong.push_back(all.first);
  return wrong;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments{count, values};
  return report_of("kernels", arguments, [&](Report& report) {
    std::vector<std::string> names;
    for (const LinkedArtifact& linked : kArtifacts) names.emplace_back(linked.name);
    const auto models = share_of_names(arguments, "--only", names);
    const auto parts = names_option(arguments, "--parts", {"recorded", "step", "replay"});
    const long steps = number_option(arguments, "--steps", 20);
    const Device device = device_under_test();
    std::printf("%s\n", device.description().c_str());
    for (const LinkedArtifact& linked : kArtifacts) {
      const std::string name = linked.name;
      if (!chosen(models, name)) continue;
      if (chosen(parts, "recorded"))
        report.run(name + ", recorded", [&] { return hold_to_recorded(linked, device); });
      if (chosen(parts, "step"))
        report.run(name + ", a step", [&] { return replay(linked, device, 1); });
      if (chosen(parts, "replay") && name.starts_with("digits"))
        report.run(name + ", " + std::to_string(steps) + " steps",
                   [&] { return replay(linked, device, steps); });
    }
  });
}
