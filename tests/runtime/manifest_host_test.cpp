// SPDX-License-Identifier: Apache-2.0
// Manifests under a valid checksum that say of the host's memory what cannot be.
#include <doctest/doctest.h>

#include "line_artifact.hpp"
#include "manifest_failure.hpp"
#include "manifest_parts.hpp"

using namespace halftone::manifest;
using namespace manifest_parts;
using Kind = DecodeError::Kind;

TEST_CASE("what stays in the host's memory may be used in every phase on its side of the way") {
  for (const Phase before : {Phase::forward, Phase::loss})
    for (const Phase behind : {Phase::loss_backward, Phase::external, Phase::backward}) {
      CAPTURE(static_cast<int>(before));
      CAPTURE(static_cast<int>(behind));
      Manifest manifest = hand_made::manifest();
      Program& program = stay_in_host(manifest);
      const auto arguments_in = [&](Phase phase) -> std::vector<Argument>& {
        return program.phases[static_cast<std::size_t>(phase)][0].arguments;
      };
      const Argument back = arguments_in(Phase::backward).back();
      arguments_in(Phase::backward).pop_back();
      manifest.programs.resize(1);
      arguments_in(before).push_back({5, 0});
      arguments_in(behind).push_back(back);
      Kind kind{};
      CHECK(failure(encode(manifest), kind).empty());
    }
}

TEST_CASE("what may not lie in the host's memory is refused with its name") {
  const auto training = [](Manifest& m) -> Program& { return m.programs[0]; };
  const BrokenManifest cases[] = {
      {"buffer 'accumulated' lies in the host's memory, where it may not",
       [&](Manifest& m) { training(m).buffers[12].in_host = true; }},
      {"buffer 'loss_scale' lies in the host's memory, where it may not",
       [&](Manifest& m) { training(m).buffers[15].in_host = true; }},
      {"buffer 'accumulated' lies in the host's memory, where it may not",
       [&](Manifest& m) {
         place_in_host(m);
         training(m).buffers[12].shape = {{1, 0}};
       }},
      {"kernel 'line_update' sees an impossible part of the host's memory",
       [](Manifest& m) { place_in_host(m).seen = 0; }},
      {"kernel 'line_update' sees an impossible part of the host's memory",
       [](Manifest& m) { place_in_host(m).seen = 33; }},
      {"kernel 'line_update' sees an impossible part of the host's memory",
       [&](Manifest& m) {
         place_in_host(m);
         training(m).phases[static_cast<std::size_t>(Phase::update)][0].arguments.push_back(
             {12, 0, 0, 32});
       }},
      {"kernel 'line_update' sees an impossible part of the host's memory",
       [&](Manifest& m) {
         place_in_host(m);
         training(m).phases[static_cast<std::size_t>(Phase::update)][0].arguments[0].seen = 8;
       }},
      {"kernel 'line_check' sees an impossible part of the host's memory",
       [&](Manifest& m) {
         place_in_host(m);
         training(m).phases[static_cast<std::size_t>(Phase::check)][0].arguments.push_back(
             {12, 0, 0, 32});
       }},
      {"activations of no training stay in the host's memory",
       [](Manifest& m) {
         stay_in_host(m).stays.clear();
         m.programs[1].stays = {{5, 6}};
       }},
      {"activations stay in the host's memory of a program for the CPU",
       [](Manifest& m) {
         stay_in_host(m);
         m.targets = {"cpu", "sm_80"};
       }},
      {"an unknown buffer stays in the host's memory",
       [](Manifest& m) { stay_in_host(m).stays[0].back = 99; }},
      {"an unknown buffer stays in the host's memory",
       [](Manifest& m) { stay_in_host(m).stays[0].buffer = -1; }},
      {"buffer 'row_errors' stays in the host's memory twice",
       [](Manifest& m) {
         Program& program = stay_in_host(m);
         program.stays.push_back(program.stays[0]);
       }},
      {"buffer 'row_errors' stays in the host's memory twice",
       [](Manifest& m) { stay_in_host(m).stays[0].back = 5; }},
      {"buffer 'row_errors' stays in the host's memory twice",
       [](Manifest& m) {  // and comes back to two places
         Program& program = stay_in_host(m);
         Buffer other = program.buffers.back();
         other.name = "row_errors.other";
         other.slot = static_cast<std::int32_t>(program.slots.size());
         const auto index = static_cast<std::int32_t>(program.buffers.size());
         program.buffers.push_back(other);
         program.slots.push_back({{index}});
         program.phases[static_cast<std::size_t>(Phase::backward)][0].arguments.push_back(
             {index, 0});
         program.stays.push_back({5, index});
       }},
      {"buffer 'prediction' stays in the host's memory, where it may not",
       [](Manifest& m) {  // as an output, which comes back as it was
         Program& program = stay_in_host(m);
         program.buffers.back().shape = program.buffers[4].shape;
         program.stays[0].buffer = 4;
       }},
      {"buffer 'row_errors' stays in the host's memory, where it may not",
       [](Manifest& m) { stay_in_host(m).buffers.back().role = Role::optimizer_state; }},
      {"buffer 'row_errors' stays in the host's memory, where it may not",
       [](Manifest& m) {  // of which a chunk alone is there
         Program& program = stay_in_host(m);
         program.sections = {{Phase::loss, 0, 1, 128, 0, {}}};
         program.buffers[5].section = 0;
       }},
      {"buffer 'prediction' stays in the host's memory, where it may not",
       [](Manifest& m) { stay_in_host(m).stays[0].buffer = 4; }},
      {"buffer 'row_errors' stays in the host's memory, where it may not, or comes back as another",
       [](Manifest& m) { stay_in_host(m).buffers.back().encoding = Element::bf16; }},
      {"buffer 'row_errors' stays in the host's memory, where it may not, or comes back as another",
       [](Manifest& m) { stay_in_host(m).buffers.back().shape.clear(); }},
      {"buffer 'row_errors' is in the host's memory while launches use it",
       [](Manifest& m) {
         Program& program = stay_in_host(m);
         program.phases[static_cast<std::size_t>(Phase::loss_backward)][0].arguments.push_back(
             {5, 0});
       }},
      {"buffer 'row_errors' is in the host's memory while launches use it",
       [](Manifest& m) {
         Program& program = stay_in_host(m);
         program.phases[static_cast<std::size_t>(Phase::loss)][0].arguments.push_back(
             {program.stays[0].back, 0});
       }},
      {"buffer 'row_errors' is in the host's memory while launches use it",
       [](Manifest& m) {
         stay_in_host(m).phases[static_cast<std::size_t>(Phase::backward)][0].arguments.pop_back();
       }},
  };
  check_refused(cases);
}
