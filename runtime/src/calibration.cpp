// SPDX-License-Identifier: Apache-2.0
// What the trainer ran is run forward once more, unfused; before each product of a parameter its
// other operand is read.
#include "halftone/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "formats.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/error.hpp"
#include "replay.hpp"
#include "text.hpp"
#include "trainer_state.hpp"

namespace halftone {

using manifest::Phase, manifest::Role;

class CalibrationRun {
 public:
  CalibrationRun(const BoundProgram& training, Calibration& sums)
      : replayed_("calibrate", training), program_(replayed_.program()), sums_(sums) {}

  void run(const Replay& replay) {
    replayed_.take_over(replay);
    program_.refresh();
    for (const Phase phase : ReplayedProgram::phases(replay))
      if (phase == Phase::forward || phase == Phase::loss) run(phase);
  }

 private:
  static constexpr std::size_t kLhs = 0, kRhs = 1;  // bias and result follow

  [[nodiscard]] const std::vector<manifest::Launch>& launches(Phase phase) const {
    return program_.program().phases[static_cast<std::size_t>(phase)];
  }

  void run(Phase phase) {
    for (std::size_t launch = 0; launch < launches(phase).size(); ++launch) {
      program_.run(phase, launch);
      add(launches(phase)[launch]);
    }
  }

  void add(const manifest::Launch& launch) {
    const manifest::Kernel& kernel = program_.plan().kernel(launch);
    const manifest::Blocking& blocking = kernel.blocking;
    const bool multiplies = kernel.skeleton == "contraction" &&
                            blocking.rhs == static_cast<std::int32_t>(kRhs) &&
                            blocking.stride != 0 &&        // lines of lhs lie along the sum
                            blocking.lhs_neighbours == 0;  // and all of it in memory
    if (!multiplies) return;
    const manifest::Parameter* const parameter = parameter_of(launch.arguments[kRhs]);
    if (parameter == nullptr) return;
    const auto depth =
        static_cast<std::size_t>(manifest::elements(blocking.depth, program_.sizes().symbols));
    read(launch.arguments[kLhs]);
    std::vector<double>& squares = reading_of(*parameter, blocking.transposes, depth).squares;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const auto value = static_cast<double>(values_[i]);
      if (!std::isfinite(value)) refuse(*parameter, i);
      squares[i % depth] += value * value;
    }
  }

  /// The parameter that lies there, itself, as a working copy or as casts have rounded it; or null.
  [[nodiscard]] const manifest::Parameter* parameter_of(manifest::Argument argument) const {
    while (true) {
      const Role role = program_.plan().buffer(static_cast<std::size_t>(argument.buffer)).role;
      if (role == Role::parameters || role == Role::working_copies) break;
      const auto rounded = rounded_from(argument);
      if (!rounded) return nullptr;
      argument = *rounded;
    }
    const auto& parameters = program_.manifest().parameters;
    const auto found = std::ranges::find(parameters, argument.offset, &manifest::Parameter::offset);
    return found == parameters.end() ? nullptr : &*found;
  }

  /// What a cast made the argument of, or none.
  [[nodiscard]] std::optional<manifest::Argument> rounded_from(
      const manifest::Argument& argument) const {
    for (const manifest::Probe& probe : program_.program().probes) {
      const manifest::Launch& last = launches(probe.phase)[static_cast<std::size_t>(probe.launch)];
      const bool is_cast = probe.before >= 0 || probe.first_launch >= 0;
      if (!is_cast || last.arguments[static_cast<std::size_t>(probe.argument)] != argument)
        continue;
      if (probe.first_launch < 0) return last.arguments[static_cast<std::size_t>(probe.before)];
      return launches(probe.phase)[static_cast<std::size_t>(probe.first_launch)].arguments.front();
    }
    return std::nullopt;
  }

  void read(const manifest::Argument& argument) {
    const auto buffer = static_cast<std::size_t>(argument.buffer);
    const encoding::Element element = program_.plan().buffer(buffer).encoding.element;
    const std::int64_t count = program_.plan().elements(argument, program_.sizes());
    values_.resize(static_cast<std::size_t>(count));
    const auto part =
        program_.execution().read_part(buffer, encoding::storage_bytes(element, argument.offset),
                                       encoding::storage_bytes(element, count));
    read_elements(part.data(), element, 0, values_);
  }

  Calibration::Reading& reading_of(const manifest::Parameter& parameter, bool sums_rows,
                                   std::size_t depth) {
    Calibration::Weight& weight = sums_.weights_[parameter.name];
    weight.elements = 1;
    for (const std::int64_t extent : parameter.shape)
      weight.elements *= static_cast<std::size_t>(extent);
    for (Calibration::Reading& reading : weight.readings)
      if (reading.sums_rows == sums_rows && reading.squares.size() == depth) return reading;
    return weight.readings.emplace_back(
        Calibration::Reading{sums_rows, std::vector<double>(depth)});
  }

  [[noreturn]] void refuse(const manifest::Parameter& parameter, std::size_t at) const {
    throw Error({.operation = "calibrate",
                 .object = named("parameter", parameter.name),
                 .cause = "is multiplied by " + number_text(values_[at]) + ", which is not finite",
                 .hint = "call the trainer's diagnose(), which says where it comes from"});
  }

  ReplayedProgram replayed_;
  BoundProgram& program_;
  Calibration& sums_;
  std::vector<float> values_;  ///< of the operand at hand
};

void Calibration::add(const Trainer& trainer) {
  const auto state = trainer.use("calibrate");
  const Replay replay = state->step.last_run();
  require_run("calibrate", replay);
  Calibration sums = *this;
  CalibrationRun(state->program, sums).run(replay);
  *this = std::move(sums);
}

std::vector<std::string> Calibration::parameter_names() const {
  std::vector<std::string> names;
  for (const auto& [name, weight] : weights_) names.push_back(name);
  return names;
}

std::vector<double> Calibration::squares(std::string_view parameter) const {
  const auto found = weights_.find(parameter);
  if (found == weights_.end()) return {};
  const Weight& weight = found->second;
  std::vector<double> squares(weight.elements);
  for (const Reading& reading : weight.readings) {
    const std::size_t depth = reading.squares.size(), columns = weight.elements / depth;
    for (std::size_t e = 0; e < squares.size(); ++e)
      squares[e] += reading.squares[reading.sums_rows ? e % depth : e / columns];
  }
  return squares;
}

}  // namespace halftone
