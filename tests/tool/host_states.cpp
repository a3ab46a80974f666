// SPDX-License-Identifier: Apache-2.0
// P91: what of a trainer's memory lies in the host's, of the hand-made artifact with a state there.
#include <doctest/doctest.h>

#include <string>

#include "file_of_bytes.hpp"
#include "line_artifact.hpp"
#include "run_tool.hpp"

namespace halftone::tests {
namespace {

using manifest::Manifest, manifest::Program;

constexpr std::int64_t kBytes = hand_made::kParameterElements * 4;

Manifest with_state(bool in_host) {
  Manifest made = hand_made::manifest();
  Program& program = made.programs[0];
  const auto index = static_cast<std::int32_t>(program.buffers.size());
  const auto slot = static_cast<std::int32_t>(program.slots.size());
  program.buffers.push_back({"sgd.momentum",
                             manifest::Role::optimizer_state,
                             manifest::Element::f32,
                             {{hand_made::kParameterElements, -1}},
                             slot,
                             0.0});
  program.buffers.back().in_host = in_host;
  program.slots.push_back({{index}});
  program.phases[static_cast<std::size_t>(manifest::Phase::update)][0].arguments.push_back(
      {index, 0, 0, in_host ? hand_made::kParameterElements : 0});
  made.decisions = {{"place", "", "optimizer_state", "", in_host ? "host" : "device", 0, {}}};
  return made;
}

/// The notes of that label.
int count_notes(const nlohmann::json& json, const std::string& label) {
  int count = 0;
  for (const nlohmann::json& note : json["notes"]) count += note["label"] == label ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("explain and diff say what lies in the host's memory, and that a CPU has one memory") {
  const File host(manifest::encode(with_state(true))), device(manifest::encode(with_state(false)));
  const std::string call = "explain --symbols batch=20 ";
  const nlohmann::json there = json_of(call + host.path()), here = json_of(call + device.path());
  CHECK(there["programs"][0]["host_bytes"] == kBytes);
  CHECK(here["programs"][0]["host_bytes"] == 0);
  CHECK(there["programs"][0]["arena_bytes"] == here["programs"][0]["arena_bytes"]);
  CHECK(count_notes(there, "P91") == 1);
  CHECK(count_notes(here, "P91") == 0);

  const auto text_of = [&](const File& file) {
    const Outcome outcome = run_tool(call + "--all " + file.path());
    CHECK(outcome.status == 0);
    return outcome.output;
  };
  const std::string of_chips = ", of which on chips 256 lie in the host's memory";
  CHECK(text_of(host).find(of_chips) != std::string::npos);
  CHECK(text_of(host).find("  of these on chips in the host's memory") != std::string::npos);
  CHECK(text_of(host).find("on the CPU place host changes nothing") != std::string::npos);
  CHECK(text_of(device).find("in the host's memory") == std::string::npos);

  const Outcome difference =
      run_tool("diff --symbols batch=20 " + device.path() + " " + host.path());
  CHECK(difference.output.find("\n  host_bytes: 0 -> 256\n") != std::string::npos);
}

}  // namespace halftone::tests
