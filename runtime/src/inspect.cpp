// SPDX-License-Identifier: Apache-2.0
// Trainer::inspect, apart from trainer.cpp: programs that do not ask are linked without it.
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "formats.hpp"
#include "halftone/encoding/text.hpp"
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
        show(probe, launches[launch]);
      }
    }
  }

  void show(const manifest::Probe& probe, const manifest::Launch& launch) {
    const auto& argument = launch.arguments[static_cast<std::size_t>(probe.argument)];
    const manifest::Buffer& buffer = buffer_of(argument);
    read(argument, values_);
    before_.clear();
    if (probe.before >= 0) {
      const auto& operand = launch.arguments[static_cast<std::size_t>(probe.before)];
      if (!is_converted(buffer_of(operand))) read(operand, before_);
      if (before_.size() != values_.size()) before_.clear();  // of which it is a part
    }
    const bool is_rounding = !before_.empty();
    const bool by_rule = is_rounding && probe.rule >= 0;
    const std::string format = is_rounding ? encoding::spelled(buffer.encoding) : std::string();
    std::vector<std::int64_t> shape;
    for (const manifest::Dimension& dimension : buffer.shape) {
      shape.push_back(manifest::elements(std::span(&dimension, 1), program_.sizes().symbols));
    }
    const std::int64_t of_shape =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    const auto count = static_cast<std::int64_t>(values_.size());
    if (of_shape != count) shape = {count};  // a parameter's part of a flat buffer
    look_({.layer = probe.layer,
           .op = probe.op,
           .pass = manifest::spelled(probe.pass),
           .role = manifest::spelled(probe.role),
           .shape = shape,
           .values = values_,
           .before = before_,
           .format = format,
           .rule = by_rule ? std::string_view(
                                 program_.manifest().rules[static_cast<std::size_t>(probe.rule)])
                           : std::string_view()});
  }

  /// What is delivered otherwise than in f32 is scaled and offset before it is rounded (D8).
  static bool is_converted(const manifest::Buffer& operand) {
    return operand.role == manifest::Role::input &&
           operand.encoding.element != encoding::Element::f32;
  }

  [[nodiscard]] const manifest::Buffer& buffer_of(const manifest::Argument& argument) const {
    return program_.plan().buffer(static_cast<std::size_t>(argument.buffer));
  }

  void read(const manifest::Argument& argument, std::vector<float>& values) const {
    const std::int64_t count = program_.plan().elements(argument, program_.sizes());
    const std::byte* from = program_.execution().read(static_cast<std::size_t>(argument.buffer));
    values.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      values.push_back(element_of(from, buffer_of(argument).encoding.element, argument.offset + i));
    }
  }

  ReplayedProgram replayed_;
  BoundProgram& program_;
  const Look& look_;
  std::vector<float> values_, before_;
};

}  // namespace

void Trainer::inspect(const std::function<void(const InspectedValue&)>& look) const {
  const auto state = use("inspect");
  const Replay replay = state->step.last_run();
  require_run("inspect", replay);
  Inspection(state->program, look).run(replay);
}

}  // namespace halftone
