// SPDX-License-Identifier: Apache-2.0
// P91, P98: what of a trainer's memory lies in the host's, of the hand-made artifact with a state
// or an activation there.
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

/// On chips the loss's errors of 20 rows stay there until the backward pass; on the CPU nothing
/// does.
Bytes with_activation(bool stays) {
  Manifest of_cpu = hand_made::manifest();
  of_cpu.text_count = 1;
  of_cpu.decisions = {
      {"place", "error", "activation", "forward", stays ? "host" : "device", 0, {}}};
  Manifest of_chips = of_cpu;
  of_chips.targets = {"sm_80"};
  of_chips.programs.pop_back();  // diagnosis, whose backward pass reads no errors
  manifest::CudaTarget target{"sm_80", {}};
  for (const manifest::Kernel& kernel : of_chips.kernels) {
    manifest::CudaKernel& on_chip = target.kernels.emplace_back();
    on_chip.entry = "halftone_" + kernel.name;
    on_chip.blocks = {{{{1, 0}}, 100}};
    on_chip.plans = {{"256 threads", {10, 20, 0.25, 2.5}}};
  }
  of_chips.cuda = {target};
  Program& program = of_chips.programs[0];
  const auto back = static_cast<std::int32_t>(program.buffers.size());
  program.buffers.push_back(program.buffers[5]);
  program.buffers.back().name = "row_errors.back";
  program.buffers.back().slot = static_cast<std::int32_t>(program.slots.size());
  program.slots.push_back({{back}});
  program.phases[static_cast<std::size_t>(manifest::Phase::backward)][0].arguments.push_back(
      {stays ? back : 5, 0});
  if (stays) program.stays = {{5, back}};
  return manifest::encode(of_cpu) + manifest::encode(of_chips);
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

TEST_CASE("explain and diff say which activations stay in the host's memory, and what they take") {
  const File host(with_activation(true)), device(with_activation(false));
  const std::string call = "explain --symbols batch=20 ";
  const nlohmann::json there = json_of(call + "--chip sm_80 " + host.path()),
                       here = json_of(call + "--chip sm_80 " + device.path()),
                       of_cpu = json_of(call + host.path());
  const nlohmann::json& program = there["programs"][0];
  CHECK(program["stay_bytes"] == 128);  // 20 of 4 bytes, in a slot of 64 or two
  CHECK(program["host_bytes"] == 0);
  CHECK(program["stays"] == nlohmann::json::array({{{"buffer", "row_errors"},
                                                    {"bytes", 80},
                                                    {"behind", "line_loss"},
                                                    {"for", "line_backward"}}}));
  CHECK(here["programs"][0]["stay_bytes"] == 0);
  CHECK(here["programs"][0]["stays"] == nlohmann::json::array());
  CHECK(of_cpu["programs"][0]["stay_bytes"] == 0);
  CHECK(count_notes(there, "P99") == 0);
  CHECK(count_notes(of_cpu, "P99") == 1);
  CHECK(count_notes(of_cpu, "P91") == 0);
  CHECK(count_notes(json_of(call + device.path()), "P99") == 0);

  const auto text_of = [&](const std::string& arguments) {
    const Outcome outcome = run_tool(call + "--all " + arguments);
    CHECK(outcome.status == 0);
    return outcome.output;
  };
  const std::string text = text_of("--chip sm_80 " + host.path());
  CHECK(text.find(", and 128 of activations in the host's memory") != std::string::npos);
  CHECK(text.find("  and of activations in the host's memory") != std::string::npos);
  CHECK(text.find("activations in the host's memory between the passes") != std::string::npos);
  CHECK(text_of(host.path()).find("on the CPU place host changes nothing") != std::string::npos);
  CHECK(text_of("--chip sm_80 " + device.path()).find("in the host's memory") == std::string::npos);

  const Outcome difference =
      run_tool("diff --chip sm_80 --symbols batch=20 " + device.path() + " " + host.path());
  CHECK(difference.output.find("\n  stay_bytes: 0 -> 128\n") != std::string::npos);
}

}  // namespace halftone::tests
