// SPDX-License-Identifier: Apache-2.0
// Trainer::inspect, apart from trainer.cpp: programs that do not ask are linked without it.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "formats.hpp"
#include "halftone/encoding/text.hpp"
#include "halftone/encoding/traits.hpp"
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
    for (const manifest::Value& value : program_.program().values) show_parameter(value);
    for (const manifest::Phase phase : ReplayedProgram::phases(replay)) run(phase);
  }

 private:
  void run(manifest::Phase phase) {
    const auto& launches = program_.program().phases[static_cast<std::size_t>(phase)];
    const auto& probes = program_.program().probes;
    std::map<std::size_t, std::vector<float>> rounded;  // by probe, of roundings under way
    for (std::size_t launch = 0; launch < launches.size(); ++launch) {
      for (std::size_t i = 0; i < probes.size(); ++i)
        if (probes[i].phase == phase && probes[i].first_launch == static_cast<int>(launch))
          read_operand(launches[launch], 0, elements_of(probes[i]), rounded[i]);
      program_.run(phase, launch);
      for (std::size_t i = 0; i < probes.size(); ++i) {
        const manifest::Probe& probe = probes[i];
        if (probe.phase != phase || static_cast<std::size_t>(probe.launch) != launch) continue;
        before_.clear();
        if (const auto found = rounded.extract(i))
          before_ = std::move(found.mapped());
        else if (probe.before >= 0)
          read_operand(launches[launch], probe.before, elements_of(probe), before_);
        show(probe, launches[launch]);
      }
    }
  }

  void show(const manifest::Probe& probe, const manifest::Launch& launch) {
    const auto& argument = launch.arguments[static_cast<std::size_t>(probe.argument)];
    const manifest::Buffer& buffer = buffer_of(argument);
    read(argument, elements_of(probe), values_);
    const bool is_rounding = !before_.empty();
    std::vector<std::int64_t> shape;
    for (const manifest::Dimension& dimension : buffer.shape) {
      shape.push_back(manifest::elements(std::span(&dimension, 1), program_.sizes().symbols));
    }
    const std::int64_t of_shape =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    const auto count = static_cast<std::int64_t>(values_.size());
    if (of_shape != count) shape = {count};  // a parameter's part of a flat buffer
    const manifest::Cast* const cast = is_rounding ? cast_to(argument) : nullptr;
    const std::string format = is_rounding ? format_of(cast, buffer) : std::string();
    look_({.layer = cast != nullptr ? layer_of(*cast) : std::string_view(probe.layer),
           .op = probe.op,
           .pass = manifest::spelled(probe.pass),
           .role = manifest::spelled(probe.role),
           .shape = shape,
           .values = values_,
           .before = before_,
           .format = format,
           .rule = is_rounding ? rule(probe.rule) : std::string_view()});
  }

  /// A parameter that the update rounds for those that read it.
  void show_parameter(const manifest::Value& value) {
    if (value.buffer < 0 || value.role != manifest::ValueRole::weight) return;
    const auto copies = static_cast<std::size_t>(value.buffer);
    if (program_.plan().buffer(copies).role != manifest::Role::working_copies) return;
    const auto& parameters = program_.manifest().parameters;
    const auto found = std::ranges::find(parameters, value.name, &manifest::Parameter::name);
    if (found == parameters.end()) return;
    const auto masters = program_.parameter("inspect", value.name);
    before_.assign(masters.begin(), masters.end());
    read({.buffer = value.buffer, .offset = found->offset}, before_.size(), values_);
    const std::string format = encoding::spelled(value.encoding);
    look_({.layer = value.name,
           .op = "parameter",
           .pass = manifest::spelled(manifest::Pass::none),
           .role = manifest::spelled(value.role),
           .shape = program_.parameter_shape("inspect", value.name),
           .values = values_,
           .before = before_,
           .format = format,
           .rule = rule(value.rule)});
  }

  /// The rounding whose result lies there, or null.
  [[nodiscard]] const manifest::Cast* cast_to(const manifest::Argument& result) const {
    for (const manifest::Cast& cast : program_.program().casts)
      if (value_of(cast).buffer == result.buffer) return &cast;
    return nullptr;
  }

  [[nodiscard]] const manifest::Value& value_of(const manifest::Cast& cast) const {
    return program_.program().values[static_cast<std::size_t>(cast.value)];
  }

  /// By which rules select it (P18, P19): of a gradient that whose result's it is, of what an
  /// operation reads that operation.
  [[nodiscard]] std::string_view layer_of(const manifest::Cast& cast) const {
    const manifest::Value& value = value_of(cast);
    return value.role == manifest::ValueRole::gradient ? value.name : value.layer;
  }

  /// With scales and draws; a buffer knows its own element alone.
  static std::string format_of(const manifest::Cast* cast, const manifest::Buffer& result) {
    return encoding::spelled(cast != nullptr ? cast->to : result.encoding);
  }

  [[nodiscard]] std::string_view rule(std::int32_t index) const {
    if (index < 0) return {};
    return program_.manifest().rules[static_cast<std::size_t>(index)];
  }

  /// What is delivered otherwise than in f32 is scaled and offset before it is rounded (D8).
  static bool is_converted(const manifest::Buffer& operand) {
    return operand.role == manifest::Role::input &&
           operand.encoding.element != encoding::Element::f32;
  }

  [[nodiscard]] const manifest::Buffer& buffer_of(const manifest::Argument& argument) const {
    return program_.plan().buffer(static_cast<std::size_t>(argument.buffer));
  }

  [[nodiscard]] std::size_t elements_of(const manifest::Probe& probe) const {
    const auto& launches = program_.program().phases[static_cast<std::size_t>(probe.phase)];
    const auto& arguments = launches[static_cast<std::size_t>(probe.launch)].arguments;
    return static_cast<std::size_t>(program_.plan().elements(
        arguments[static_cast<std::size_t>(probe.argument)], program_.sizes()));
  }

  /// Nothing where it is delivered otherwise than it is read, or has other elements; a parameter is
  /// the first `count` from its offset on.
  void read_operand(const manifest::Launch& launch, std::int32_t operand, std::size_t count,
                    std::vector<float>& values) const {
    const auto& argument = launch.arguments[static_cast<std::size_t>(operand)];
    const manifest::Role role = buffer_of(argument).role;
    const bool is_flat =
        role == manifest::Role::parameters || role == manifest::Role::working_copies;
    const auto held =
        static_cast<std::size_t>(program_.plan().elements(argument, program_.sizes()));
    values.clear();
    if (!is_converted(buffer_of(argument)) && (held == count || (is_flat && held > count)))
      read(argument, count, values);
  }

  void read(const manifest::Argument& argument, std::size_t count,
            std::vector<float>& values) const {
    const encoding::Element element = buffer_of(argument).encoding.element;
    const auto bytes_of = [&](std::int64_t elements) {
      return encoding::storage_bytes(element, elements);
    };
    values.resize(count);
    const auto part = program_.execution().read_part(static_cast<std::size_t>(argument.buffer),
                                                     bytes_of(argument.offset),
                                                     bytes_of(static_cast<std::int64_t>(count)));
    read_elements(part.data(), element, 0, values);
  }

  ReplayedProgram replayed_;
  BoundProgram& program_;
  const Look& look_;
  std::vector<float> values_, before_;  ///< of the operation at hand
};

}  // namespace

void Trainer::inspect(const std::function<void(const InspectedValue&)>& look) const {
  const auto state = use("inspect");
  const Replay replay = state->step.last_run();
  require_run("inspect", replay);
  Inspection(state->program, look).run(replay);
}

}  // namespace halftone
