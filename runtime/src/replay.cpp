// SPDX-License-Identifier: Apache-2.0
#include "replay.hpp"

#include <string>

#include "halftone/error.hpp"
#include "halftone/manifest/spelling.hpp"

namespace halftone {
namespace {

using manifest::Buffer, manifest::Phase, manifest::Role;

bool is_taken_over(Role role) {
  return manifest::is_given(role) || role == Role::parameters || role == Role::remainders ||
         role == Role::hyperparameter || role == Role::state;
}

}  // namespace

void ReplayedProgram::take_over(const Replay& replay) {
  program_.use_rows(replay.rows);
  const ProgramPlan& plan = program_.plan();
  for (std::size_t i = 0; i < plan.program().buffers.size(); ++i) {
    const Buffer& buffer = plan.buffer(i);
    if (!is_taken_over(buffer.role) && !manifest::scales_passes(buffer)) continue;
    const std::size_t source =
        *(buffer.role == Role::parameters ? training_.plan().find(Role::parameters)
                                          : training_.plan().find(buffer.name));
    program_.execution().write(i, 0, as_read(source, buffer, replay));
  }
}

/// A buffer of the training program as the replayed run read it; empty where it did not.
std::span<const std::byte> ReplayedProgram::as_read(std::size_t source, const Buffer& buffer,
                                                    const Replay& replay) const {
  if (manifest::is_given(buffer.role) && replay.given) {
    const auto found = replay.given->find(source);
    return found == replay.given->end() ? std::span<const std::byte>() : found->second;
  }
  const bool is_state = buffer.role == Role::state;
  if (is_state && replay.given) {
    const auto before = training_.plan().find(std::string(manifest::kBeforeStep) + buffer.name);
    if (before) return read(*before);
  }
  if (is_state || manifest::scales_passes(buffer)) return training_.execution().kept(source);
  return read(source);
}

std::vector<Phase> ReplayedProgram::phases(const Replay& replay) {
  using Backward = Replay::Backward;
  std::vector<Phase> phases = {Phase::forward};
  if (replay.losses && replay.backward != Backward::external) phases.push_back(Phase::loss);
  if (replay.backward == Backward::losses) phases.push_back(Phase::loss_backward);
  if (replay.backward == Backward::external) phases.push_back(Phase::external);
  if (replay.backward != Backward::none) phases.push_back(Phase::backward);
  return phases;
}

void require_run(const char* operation, const Replay& replay) {
  if (replay.forward) return;
  throw Error({.operation = operation,
               .object = "the trainer",
               .cause = "has run nothing that could be replayed",
               .hint = "call it after a step, forward() or backward()"});
}

}  // namespace halftone
