// SPDX-License-Identifier: Apache-2.0
#include "diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string>

#include "formats.hpp"
#include "halftone/encoding/text.hpp"
#include "halftone/manifest/spelling.hpp"
#include "loss_sources.hpp"

namespace halftone {
namespace {

using manifest::Buffer, manifest::Phase, manifest::Role;

class Search {
 public:
  explicit Search(const BoundProgram& training)
      : replayed_("diagnose", training),
        program_(replayed_.program()),
        loss_sources_(replayed_.program()) {}

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

  /// Parameters, the user's states, the inputs that layers read, the caller's gradients.
  std::optional<NonFinite> search_given() {
    for (const manifest::Parameter& parameter : program_.manifest().parameters) {
      const auto masters = program_.parameter("diagnose", parameter.name);
      const auto at = std::ranges::find_if_not(masters, [](float x) { return std::isfinite(x); });
      if (at != masters.end())
        return given(parameter.name, "parameter", "master", at - masters.begin(), *at);
    }
    for (std::size_t i = 0; i < plan().program().buffers.size(); ++i) {
      const Buffer& buffer = plan().buffer(i);
      const bool is_input = buffer.role == Role::input && !loss_sources_.has(i);
      if (buffer.role != Role::state && !is_input) continue;
      const std::int64_t at = first_in(i, 0, program_.elements(i));
      const char* op = buffer.role == Role::state ? "state" : "input";
      if (at >= 0) return given(buffer.name, op, "activation", at, value_at(i, at));
    }
    if (auto found = search_tokens()) return found;
    return replay_.backward == Replay::Backward::external ? search_output_gradients()
                                                          : std::nullopt;
  }

  /// Tokens of the embeddings, each of which reads a weight with a row for every one.
  [[nodiscard]] std::optional<NonFinite> search_tokens() const {
    return search_integers(
        Phase::forward, "embedding", "token",
        [this](const manifest::Launch& launch, std::size_t) { return rows_of_parameter(launch); });
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
        if (!encoding::traits(plan().buffer(buffer).encoding.element).integer ||
            plan().buffer(buffer).role == Role::counters) {
          continue;
        }
        auto found = search_integer(delivered(buffer), role, bound_of(launch, buffer), probe.layer);
        if (found) return found;
      }
    }
    return std::nullopt;
  }

  /// The input that a launch of two arguments makes i32 of in this buffer, or the buffer itself.
  [[nodiscard]] std::size_t delivered(std::size_t buffer) const {
    if (plan().buffer(buffer).role == Role::input) return buffer;
    for (const auto& phase : plan().program().phases) {
      for (const manifest::Launch& launch : phase) {
        if (launch.arguments.size() != 2) continue;
        const auto from = static_cast<std::size_t>(launch.arguments[0].buffer);
        const auto to = static_cast<std::size_t>(launch.arguments[1].buffer);
        if (to == buffer && plan().buffer(from).role == Role::input) return from;
      }
    }
    return buffer;
  }

  /// The first extent of the parameter that the launch reads, itself, as a working copy or as
  /// another launch has rounded it (P50), or 0.
  [[nodiscard]] std::int64_t rows_of_parameter(const manifest::Launch& launch) const {
    for (const manifest::Argument& argument : launch.arguments) {
      const Role role = plan().buffer(static_cast<std::size_t>(argument.buffer)).role;
      if (role != Role::parameters && role != Role::working_copies) continue;
      for (const manifest::Parameter& parameter : program_.manifest().parameters) {
        if (parameter.offset == argument.offset) return parameter.shape.front();
      }
    }
    for (const manifest::Argument& argument : launch.arguments) {
      const manifest::Launch* maker = maker_of(argument.buffer);
      const bool is_operand = maker != nullptr && maker != &launch;
      if (const std::int64_t rows = is_operand ? rows_of_parameter(*maker) : 0) return rows;
    }
    return 0;
  }

  /// The launch of the forward pass that writes the buffer, its last argument, or null.
  [[nodiscard]] const manifest::Launch* maker_of(std::int32_t buffer) const {
    const auto forward = static_cast<std::size_t>(Phase::forward);
    for (const manifest::Launch& launch : plan().program().phases[forward]) {
      if (launch.arguments.back().buffer == buffer) return &launch;
    }
    return nullptr;
  }

  [[nodiscard]] std::optional<NonFinite> search_integer(std::size_t buffer, const char* role,
                                                        std::int64_t bound,
                                                        const std::string& reader) const {
    const std::byte* values = program_.execution().read(buffer);
    const encoding::Element element = plan().buffer(buffer).encoding.element;
    for (std::int64_t i = 0; bound > 0 && i < program_.elements(buffer); ++i) {
      const std::int64_t value = integer_of(values, element, i);
      if (value < 0 || value >= bound) return wrong(buffer, role, i, bound, reader);
    }
    return std::nullopt;
  }

  /// An integer that its reader has nothing for.
  [[nodiscard]] NonFinite wrong(std::size_t buffer, const char* role, std::int64_t at,
                                std::int64_t bound, const std::string& reader) const {
    const encoding::Element element = plan().buffer(buffer).encoding.element;
    const std::int64_t value = integer_of(program_.execution().read(buffer), element, at);
    NonFinite found =
        given(plan().buffer(buffer).name, role, "activation", at, static_cast<float>(value));
    found.reader = reader;
    found.integer = value;
    found.bound = bound;
    return found;
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

  [[nodiscard]] NonFinite given(const std::string& name, const char* op, const char* role,
                                std::int64_t element, float value) const {
    return {name, op, "none", role, element, value, value, "", rule_text(-1)};
  }

  /// Whether operations read a value there in place of a master: a working copy, or the half of
  /// masters that is one (P69).
  [[nodiscard]] bool is_copy(const manifest::Value& value) const {
    if (value.buffer < 0) return false;
    const Buffer& buffer = plan().buffer(static_cast<std::size_t>(value.buffer));
    const bool is_half = buffer.role == Role::parameters &&
                         value.role == manifest::ValueRole::weight &&
                         value.encoding.element == buffer.encoding.element;
    return buffer.role == Role::working_copies || is_half;
  }

  /// Parameters that overflow in the format that operations read.
  std::optional<NonFinite> search_working_copies() {
    for (const manifest::Value& value : program_.program().values) {
      const auto copies = static_cast<std::size_t>(value.buffer);
      if (!is_copy(value)) continue;
      for (const manifest::Parameter& parameter : program_.manifest().parameters) {
        if (parameter.name != value.name) continue;
        const auto masters = program_.parameter("diagnose", parameter.name);
        const auto count = static_cast<std::int64_t>(masters.size());
        const std::int64_t at = first_in(copies, parameter.offset, count);
        if (at < 0) continue;
        const std::int64_t element = at - parameter.offset;
        NonFinite found =
            given(parameter.name, "parameter", "weight", element, value_at(copies, at));
        found.before = masters[static_cast<std::size_t>(element)];
        found.format = encoding::spelled(plan().buffer(copies).encoding);
        found.rule = rule_text(value.rule);
        return found;
      }
    }
    return std::nullopt;
  }

  /// Launches that are steps of a rounding in several, the last of which shows what it leaves.
  [[nodiscard]] std::set<std::size_t> steps_of_roundings(Phase phase) const {
    const auto& launches = program_.program().phases[static_cast<std::size_t>(phase)];
    std::set<std::size_t> steps;
    for (const manifest::Probe& probe : program_.program().probes) {
      if (probe.phase != phase || probe.first_launch < 0) continue;
      const auto first = static_cast<std::size_t>(probe.first_launch);
      for (auto at = static_cast<std::size_t>(probe.launch); at > first;) {
        const std::int32_t read = launches[at].arguments.front().buffer;
        std::size_t maker = first;  // the first to speak of a buffer writes it
        while (maker + 1 < at &&
               std::ranges::find(launches[maker].arguments, read, &manifest::Argument::buffer) ==
                   launches[maker].arguments.end()) {
          ++maker;
        }
        steps.insert(maker);
        at = maker;
      }
    }
    return steps;
  }

  /// The phase, launch by launch, until one leaves something that is not finite. What losses read
  /// comes before what any of them computes.
  std::optional<NonFinite> run(Phase phase) {
    const auto& launches = program_.program().phases[static_cast<std::size_t>(phase)];
    const std::set<std::size_t> steps = steps_of_roundings(phase);
    std::optional<NonFinite> of_loss;
    for (std::size_t launch = 0; launch < launches.size(); ++launch) {
      program_.run(phase, launch);
      if (steps.contains(launch)) continue;
      for (const manifest::Probe& probe : program_.program().probes) {
        if (probe.phase != phase || static_cast<std::size_t>(probe.launch) != launch) continue;
        bool is_read = false;
        auto found = look(probe, launches[launch], is_read);
        if (found && (phase != Phase::loss || is_read)) return found;
        if (!of_loss) of_loss = std::move(found);
      }
    }
    return of_loss;
  }

  /// Sets `is_read` where a loss's result is not finite for what it read.
  std::optional<NonFinite> look(const manifest::Probe& probe, const manifest::Launch& launch,
                                bool& is_read) {
    if (loss_sources_.has(probe)) return std::nullopt;
    const auto& argument = launch.arguments[static_cast<std::size_t>(probe.argument)];
    const std::int64_t at = first_in(static_cast<std::size_t>(argument.buffer), argument.offset,
                                     plan().elements(argument, program_.sizes()));
    if (at < 0) return std::nullopt;
    if (const auto culprit = loss_sources_.culprit(probe, at - argument.offset)) {
      is_read = true;
      return name(*culprit, probe);
    }
    return at_probe(probe, launch, at);
  }

  /// What a loss read.
  [[nodiscard]] NonFinite name(const LossSources::Element& of, const manifest::Probe& loss) const {
    if (of.classes > 0)
      return wrong(delivered(of.buffer), "label", of.index, of.classes, loss.layer);
    if (of.cast == nullptr) {
      return given(plan().buffer(of.buffer).name, "input", "activation", of.index,
                   value_at(of.buffer, of.index));
    }
    const auto& launches = plan().program().phases[static_cast<std::size_t>(of.cast->phase)];
    return at_probe(*of.cast, launches[static_cast<std::size_t>(of.cast->launch)], of.index);
  }

  /// What a cast leaves in the buffer: scaled numbers lie in one of a wider element (P52).
  [[nodiscard]] std::string format_of(const manifest::Launch& launch, std::size_t buffer) const {
    const manifest::Program& program = program_.program();
    const auto kernel = static_cast<std::size_t>(launch.kernel);
    for (const manifest::Cast& cast : program.casts) {
      const auto value = static_cast<std::size_t>(cast.value);
      if (encoding::is_scaled(cast.to) &&
          program.values[value].buffer == static_cast<std::int32_t>(buffer) &&
          cast.kernel == program_.manifest().kernels[kernel].name) {
        return encoding::spelled(cast.to);
      }
    }
    return encoding::spelled(plan().buffer(buffer).encoding);
  }

  /// The launch that reads what the probe's launch is the end of rounding.
  [[nodiscard]] const manifest::Launch& first_of(const manifest::Probe& probe,
                                                 const manifest::Launch& launch) const {
    if (probe.first_launch < 0) return launch;
    return program_.program().phases[static_cast<std::size_t>(probe.phase)]
                                    [static_cast<std::size_t>(probe.first_launch)];
  }

  /// Element `at` of what the probe shows, counted in its buffer.
  [[nodiscard]] NonFinite at_probe(const manifest::Probe& probe, const manifest::Launch& launch,
                                   std::int64_t at) const {
    const auto& argument = launch.arguments[static_cast<std::size_t>(probe.argument)];
    const auto buffer = static_cast<std::size_t>(argument.buffer);
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
      const auto& operand =
          first_of(probe, launch).arguments[static_cast<std::size_t>(probe.before)];
      const std::int64_t index = operand.offset + found.element;
      if (index < program_.elements(static_cast<std::size_t>(operand.buffer))) {
        found.before = value_at(static_cast<std::size_t>(operand.buffer), index);
      }
      found.format = format_of(launch, buffer);
    }
    return found;
  }

  Replay replay_;
  ReplayedProgram replayed_;
  BoundProgram& program_;
  LossSources loss_sources_;
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
