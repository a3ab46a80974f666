// SPDX-License-Identifier: Apache-2.0
#include "diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "formats.hpp"
#include "halftone/encoding/text.hpp"
#include "halftone/manifest/spelling.hpp"

namespace halftone {
namespace {

using manifest::Buffer, manifest::Phase, manifest::Role;

class Search {
 public:
  explicit Search(const BoundProgram& training)
      : replayed_("diagnose", training), program_(replayed_.program()) {}

  std::optional<NonFinite> run(const Replay& replay) {
    replay_ = replay;
    replayed_.take_over(replay);
    std::optional<NonFinite> found = search_given();
    if (!found) {
      program_.refresh();
      found = search_working_copies();
    }
    for (const Phase phase : ReplayedProgram::phases(replay)) {
      if (!found) found = run(phase);
    }
    if (found && found->op != "parameter") {  // which all micro-batches read
      found->micro_batch = replay_.micro_batch;
      found->micro_batches = replay_.micro_batches;
    }
    return found;
  }

 private:
  [[nodiscard]] const ProgramPlan& plan() const { return program_.plan(); }

  /// Index in [begin, begin + count) of the first element that is not finite, or -1.
  [[nodiscard]] std::int64_t first_in(std::size_t buffer, std::int64_t begin,
                                      std::int64_t count) const {
    const encoding::Element element = plan().buffer(buffer).encoding.element;
    if (encoding::traits(element).integer) return -1;
    const std::byte* values = program_.execution().read(buffer);
    for (std::int64_t i = begin; i < begin + count; ++i) {
      if (!std::isfinite(element_of(values, element, i))) return i;
    }
    return -1;
  }

  [[nodiscard]] float value_at(std::size_t buffer, std::int64_t index) const {
    return element_of(program_.execution().read(buffer), plan().buffer(buffer).encoding.element,
                      index);
  }

  [[nodiscard]] std::string rule_text(std::int32_t rule) const {
    if (rule < 0) return "the language's default";
    return "the rule '" + program_.manifest().rules[static_cast<std::size_t>(rule)] + "'";
  }

  /// Parameters, the user's states, the inputs that the replay reads, the caller's gradients.
  std::optional<NonFinite> search_given() {
    const std::size_t parameters = plan().find(Role::parameters).value_or(0);
    for (const manifest::Parameter& parameter : program_.manifest().parameters) {
      const auto count =
          static_cast<std::int64_t>(program_.parameter("diagnose", parameter.name).size());
      const std::int64_t at = first_in(parameters, parameter.offset, count);
      if (at >= 0) {
        return given(parameter.name, "parameter", "master", at - parameter.offset,
                     value_at(parameters, at));
      }
    }
    for (std::size_t i = 0; i < plan().program().buffers.size(); ++i) {
      const Buffer& buffer = plan().buffer(i);
      if (buffer.role != Role::state && !(buffer.role == Role::input && is_read(i))) continue;
      const std::int64_t at = first_in(i, 0, program_.elements(i));
      const char* op = buffer.role == Role::state ? "state" : "input";
      if (at >= 0) return given(buffer.name, op, "activation", at, value_at(i, at));
    }
    if (auto found = search_tokens()) return found;
    if (replay_.losses && replay_.backward != Replay::Backward::external) {
      if (auto found = search_labels()) return found;
    }
    return replay_.backward == Replay::Backward::external ? search_output_gradients()
                                                          : std::nullopt;
  }

  /// Tokens of the embeddings, each of which reads a weight with a row for every one.
  [[nodiscard]] std::optional<NonFinite> search_tokens() const {
    return search_integers(
        Phase::forward, "embedding", "token",
        [this](const manifest::Launch& launch, std::size_t) { return rows_of_parameter(launch); });
  }

  /// Labels of the cross-entropy losses, each of which reads logits with one more dimension, that
  /// of the classes.
  [[nodiscard]] std::optional<NonFinite> search_labels() const {
    return search_integers(Phase::loss, "cross_entropy", "label",
                           [this](const manifest::Launch& launch, std::size_t label) {
                             return classes_of(launch, label);
                           });
  }

  /// Integers that operations `op` read, of which each launch takes so many from 0 on as
  /// bound_of(launch, buffer) says; 0 where it does not know.
  template <class BoundOf>
  [[nodiscard]] std::optional<NonFinite> search_integers(Phase phase, const char* op,
                                                         const char* role, BoundOf bound_of) const {
    const auto& launches = plan().program().phases[static_cast<std::size_t>(phase)];
    for (const manifest::Probe& probe : plan().program().probes) {
      if (probe.phase != phase || probe.op != op) continue;
      const manifest::Launch& launch = launches[static_cast<std::size_t>(probe.launch)];
      for (const manifest::Argument& argument : launch.arguments) {
        const auto buffer = static_cast<std::size_t>(argument.buffer);
        if (!encoding::traits(plan().buffer(buffer).encoding.element).integer) continue;
        auto found = search_integer(buffer, role, bound_of(launch, buffer), probe.layer);
        if (found) return found;
      }
    }
    return std::nullopt;
  }

  /// The last extent of what the launch reads beside the label, or 0.
  [[nodiscard]] std::int64_t classes_of(const manifest::Launch& launch, std::size_t label) const {
    const auto& rows = plan().buffer(label).shape;
    for (const manifest::Argument& argument : launch.arguments) {
      const auto& shape = plan().buffer(static_cast<std::size_t>(argument.buffer)).shape;
      if (shape.size() == rows.size() + 1 && std::equal(rows.begin(), rows.end(), shape.begin())) {
        return manifest::elements(std::span(&shape.back(), 1), program_.sizes().symbols);
      }
    }
    return 0;
  }

  /// The first extent of the parameter that the launch reads, itself or as a working copy, or 0.
  [[nodiscard]] std::int64_t rows_of_parameter(const manifest::Launch& launch) const {
    for (const manifest::Argument& argument : launch.arguments) {
      const Role role = plan().buffer(static_cast<std::size_t>(argument.buffer)).role;
      if (role != Role::parameters && role != Role::working_copies) continue;
      for (const manifest::Parameter& parameter : program_.manifest().parameters) {
        if (parameter.offset == argument.offset) return parameter.shape.front();
      }
    }
    return 0;
  }

  [[nodiscard]] std::optional<NonFinite> search_integer(std::size_t buffer, const char* role,
                                                        std::int64_t bound,
                                                        const std::string& reader) const {
    const auto* values = reinterpret_cast<const std::int32_t*>(program_.execution().read(buffer));
    for (std::int64_t i = 0; bound > 0 && i < program_.elements(buffer); ++i) {
      if (values[i] >= 0 && values[i] < bound) continue;
      NonFinite found =
          given(plan().buffer(buffer).name, role, "activation", i, static_cast<float>(values[i]));
      found.reader = reader;
      found.integer = values[i];
      found.bound = bound;
      return found;
    }
    return std::nullopt;
  }

  std::optional<NonFinite> search_output_gradients() {
    for (const manifest::Output& output : program_.manifest().outputs) {
      const auto buffer = plan().find(output.gradient);
      if (!buffer) continue;
      const std::int64_t at = first_in(*buffer, 0, program_.elements(*buffer));
      if (at >= 0) {
        return given(output.name, "output_gradient", "gradient", at, value_at(*buffer, at));
      }
    }
    return std::nullopt;
  }

  /// Without losses the trainer was not given what they alone read.
  [[nodiscard]] bool is_read(std::size_t input) const {
    if (replay_.losses) return true;
    for (std::size_t read : plan().inputs_of(Phase::forward)) {
      if (read == input) return true;
    }
    return false;
  }

  [[nodiscard]] NonFinite given(const std::string& name, const char* op, const char* role,
                                std::int64_t element, float value) const {
    return {name, op, "none", role, element, value, value, "", rule_text(-1)};
  }

  /// Parameters that overflow in the format that operations read.
  std::optional<NonFinite> search_working_copies() {
    const std::size_t masters = plan().find(Role::parameters).value_or(0);
    for (const manifest::Value& value : program_.program().values) {
      const auto copies = static_cast<std::size_t>(value.buffer);
      if (value.buffer < 0 || plan().buffer(copies).role != Role::working_copies) continue;
      for (const manifest::Parameter& parameter : program_.manifest().parameters) {
        if (parameter.name != value.name) continue;
        const auto count =
            static_cast<std::int64_t>(program_.parameter("diagnose", parameter.name).size());
        const std::int64_t at = first_in(copies, parameter.offset, count);
        if (at < 0) continue;
        NonFinite found = given(parameter.name, "parameter", "weight", at - parameter.offset,
                                value_at(copies, at));
        found.before = value_at(masters, at);
        found.format = encoding::spelled(plan().buffer(copies).encoding);
        found.rule = rule_text(value.rule);
        return found;
      }
    }
    return std::nullopt;
  }

  /// The phase, launch by launch, until one leaves something that is not finite.
  std::optional<NonFinite> run(Phase phase) {
    const auto& launches = program_.program().phases[static_cast<std::size_t>(phase)];
    for (std::size_t launch = 0; launch < launches.size(); ++launch) {
      program_.run(phase, launch);
      for (const manifest::Probe& probe : program_.program().probes) {
        if (probe.phase != phase || static_cast<std::size_t>(probe.launch) != launch) continue;
        if (auto found = look(probe, launches[launch])) return found;
      }
    }
    return std::nullopt;
  }

  std::optional<NonFinite> look(const manifest::Probe& probe, const manifest::Launch& launch) {
    const auto& argument = launch.arguments[static_cast<std::size_t>(probe.argument)];
    const auto buffer = static_cast<std::size_t>(argument.buffer);
    const std::int64_t at =
        first_in(buffer, argument.offset, plan().elements(argument, program_.sizes()));
    if (at < 0) return std::nullopt;
    NonFinite found{probe.layer,
                    probe.op,
                    std::string(manifest::spelled(probe.pass)),
                    std::string(manifest::spelled(probe.role)),
                    at - argument.offset,
                    value_at(buffer, at),
                    value_at(buffer, at),
                    "",
                    rule_text(probe.rule)};
    if (probe.before >= 0) {
      const auto& operand = launch.arguments[static_cast<std::size_t>(probe.before)];
      const std::int64_t index = operand.offset + found.element;
      if (index < program_.elements(static_cast<std::size_t>(operand.buffer))) {
        found.before = value_at(static_cast<std::size_t>(operand.buffer), index);
      }
      found.format = encoding::spelled(plan().buffer(buffer).encoding);
    }
    return found;
  }

  Replay replay_;
  ReplayedProgram replayed_;
  BoundProgram& program_;
};

}  // namespace

std::optional<NonFinite> diagnose(const BoundProgram& training, std::span<const Replay> replays) {
  require_run("diagnose", replays.back());
  Search search(training);
  for (const Replay& replay : replays) {
    if (auto found = search.run(replay)) return found;
  }
  return std::nullopt;
}

}  // namespace halftone
