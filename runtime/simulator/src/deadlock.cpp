// SPDX-License-Identifier: Apache-2.0
// What every group of lanes waits for when nobody can run.
#include <cstdio>

#include "scheduler.hpp"

namespace halftone::simulator {

namespace {

std::string_view waits_for(const Group& group) {
  switch (group.state) {
    case Group::State::barrier:
      return "waits at";
    case Group::State::together:
      return "waits for other lanes at";
    case Group::State::object:
      return "waits for the mbarrier of";
    case Group::State::ready:
      break;
  }
  return "is at";
}

}  // namespace

void report_deadlock(Execution& launch, Block& block, Kind kind) {
  std::string groups;
  const Instruction* first = nullptr;
  std::uint32_t thread = 0;
  bool first_is_barrier = false;
  for (const Warp& warp : block.warps)
    for (const Group& group : warp.groups) {
      const Instruction& i = launch.kernel.code[group.pc];
      // Lanes that wait for others of their warp say more than a barrier does.
      const bool barrier = i.flow == Flow::barrier;
      if (!first || (first_is_barrier && !barrier)) {
        first = &i;
        first_is_barrier = barrier;
        thread = warp.index * 32 + static_cast<std::uint32_t>(std::countr_zero(group.mask));
      }
      char mask[16];
      std::snprintf(mask, sizeof mask, "%08x", group.mask);
      groups += (groups.empty() ? "warp " : "; warp ") + std::to_string(warp.index) + " lanes " +
                mask + " " + std::string(waits_for(group)) + " " + std::string(i.opcode) +
                " in line " + std::to_string((*launch.kernel.lines)[i.source].line);
    }
  if (!first) return;
  Finding finding;
  finding.kind = kind;
  finding.kernel = launch.kernel.name;
  finding.opcode = first->opcode;
  set_lines(finding, launch.kernel, *first);
  finding.block = block.index;
  finding.thread = thread;
  finding.detail = groups;
  launch.findings.add(std::move(finding));
}

}  // namespace halftone::simulator
