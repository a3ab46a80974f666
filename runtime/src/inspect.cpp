// SPDX-License-Identifier: Apache-2.0
// Trainer::inspect, apart from trainer.cpp: programs that do not ask are linked without it.
#include <functional>
#include <numeric>
#include <vector>

#include "formats.hpp"
#include "halftone/inspection.hpp"
#include "halftone/manifest/spelling.hpp"
#include "halftone/trainer.hpp"
#include "replay.hpp"
#include "trainer_state.hpp"

namespace halftone {
namespace {

using Look = std::function<void(const InspectedValue&)>;

class Inspection {
 public:
  Inspection(const BoundProgram& training, const Look& look)
      : replayed_("inspect", training), program_(replayed_.program()), look_(look) {}

  void run(const Replay& replay) {
    replayed_.take_over(replay);
    program_.refresh();
    for (const manifest::Phase phase : ReplayedProgram::phases(replay)) run(phase);
  }

 private:
  void run(manifest::Phase phase) {
    const auto& launches = program_.program().phases[static_cast<std::size_t>(phase)];
    for (std::size_t launch = 0; launch < launches.size(); ++launch) {
      program_.run(phase, launch);
      for (const manifest::Probe& probe : program_.program().probes) {
        if (probe.phase != phase || static_cast<std::size_t>(probe.launch) != launch) continue;
        show(probe, launches[launch].arguments[static_cast<std::size_t>(probe.argument)]);
      }
    }
  }

  void show(const manifest::Probe& probe, const manifest::Argument& argument) {
    const ProgramPlan& plan = program_.plan();
    const auto buffer = static_cast<std::size_t>(argument.buffer);
    const std::int64_t count = plan.elements(argument, program_.sizes());
    const std::byte* from = program_.execution().read(buffer);
    values_.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      values_.push_back(
          element_of(from, plan.buffer(buffer).encoding.element, argument.offset + i));
    }
    std::vector<std::int64_t> shape;
    for (const manifest::Dimension& dimension : plan.buffer(buffer).shape) {
      shape.push_back(manifest::elements(std::span(&dimension, 1), program_.sizes().symbols));
    }
    const std::int64_t of_shape =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    if (of_shape != count) shape = {count};  // a parameter's part of a flat buffer
    look_({.layer = probe.layer,
           .op = probe.op,
           .pass = manifest::spelled(probe.pass),
           .role = manifest::spelled(probe.role),
           .shape = shape,
           .values = values_});
  }

  ReplayedProgram replayed_;
  BoundProgram& program_;
  const Look& look_;
  std::vector<float> values_;
};

}  // namespace

void Trainer::inspect(const std::function<void(const InspectedValue&)>& look) const {
  const auto state = use("inspect");
  const Replay replay = state->step.last_run();
  require_run("inspect", replay);
  Inspection(state->program, look).run(replay);
}

}  // namespace halftone
