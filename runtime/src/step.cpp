// SPDX-License-Identifier: Apache-2.0
// One step: which phases run, in which order, on which inputs.
#include "step.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "halftone/error.hpp"
#include "text.hpp"

namespace halftone {

using manifest::Phase;

namespace {

/// A step's phases up to `last`, in the order of execution; `sums` with those of a micro-batch.
std::vector<Phase> phases_until(Phase last, bool sums) {
  std::vector<Phase> phases;
  for (const manifest::PhaseForm& form : manifest::kPhaseForms) {
    const bool runs = form.run_by == manifest::RunBy::step ||
                      (sums && form.run_by == manifest::RunBy::micro_batch);
    if (runs) phases.push_back(form.phase);
    if (form.phase == last) break;
  }
  return phases;
}

/// P36: an output that takes no gradient is none of `places`.
void refuse_outputs_without_gradient(const manifest::Manifest& manifest,
                                     std::span<const Place> places,
                                     std::span<const NamedValues> gradients) {
  std::vector<std::string_view> names;
  for (const Place& place : places) names.push_back(place.name);
  for (const NamedValues& given : gradients) {
    const auto output = std::ranges::find(manifest.outputs, given.name, &manifest::Output::name);
    if (output == manifest.outputs.end() || !output->gradient.empty()) continue;
    throw Error({.operation = "backward",
                 .object = named("output", given.name),
                 .cause =
                     "takes no gradient: no loss of a weight other than 0 reads it, it depends "
                     "on no trained parameter, or it is another name of one that takes it",
                 .hint = "those that take one are " + listed(names) +
                         "; add a loss that reads it, or add its gradient to that of its value's "
                         "first name"});
  }
}

}  // namespace

Step::Step(BoundProgram& program, std::uint64_t seed)
    : program_(program),
      seed_(seed),
      places_(places_of(program.plan())),
      gradient_rows_(program.rows()) {}

Step::Places Step::places_of(const ProgramPlan& plan) {
  Places places;
  if (const auto counters = plan.find(manifest::Role::counters)) {
    places.counters.push_back(input_place(plan, *counters));
  }
  for (std::size_t buffer : plan.inputs_of(Phase::forward)) {
    places.forward_inputs.push_back(input_place(plan, buffer));
  }
  for (const std::string& input : plan.manifest().inputs) {
    places.all_inputs.push_back(input_place(plan, *plan.find(input)));
  }
  for (const manifest::Output& output : plan.manifest().outputs) {
    if (output.gradient.empty()) continue;
    places.output_gradients.push_back({output.name, *plan.find(output.gradient)});
  }
  const bool scaled = plan.manifest().loss_scale.kind != manifest::LossScale::Kind::none;
  places.loss_scale = scaled ? plan.find("loss_scale") : std::nullopt;
  places.floored = outcome_buffers(plan).floored;
  return places;
}

void Step::run(std::span<const NamedValues> inputs) {
  require_no_check("step");
  copy_in_rows(program_, "step", places_.all_inputs, inputs);
  done_ = Done::nothing;
  stage_counters();
  run_check(Phase::update);
  replay_ = {.rows = program_.rows(),
             .forward = true,
             .losses = true,
             .backward = Replay::Backward::losses};
  gradient_rows_ = replay_.rows;
  finish_update("step");
}

void Step::accumulate(std::span<const NamedValues> inputs) {
  require_no_check("accumulate");
  program_.execution().prepare_accumulation();
  copy_in_rows(program_, "accumulate", places_.all_inputs, inputs);
  done_ = Done::nothing;
  stage_counters();
  updated_last_ = false;
  begin_micro_batch(places_.all_inputs);
  set_first_micro_batch();
  program_.run(phases_until(Phase::accumulate, true));
  ++micro_batches_;
  replay_ = {.rows = program_.rows(),
             .forward = true,
             .losses = true,
             .backward = Replay::Backward::losses};
  gradient_rows_ = replay_.rows;
  earlier_.add(replay_);
}

void Step::forward(const char* operation, std::span<const NamedValues> inputs) {
  require_no_check(operation);
  const auto is_for_losses = [&](const NamedValues& given) {
    return std::ranges::find(places_.forward_inputs, given.name, &Place::name) ==
           places_.forward_inputs.end();
  };
  const bool with_losses = places_.forward_inputs.size() == places_.all_inputs.size() ||
                           std::ranges::any_of(inputs, is_for_losses);
  const std::span<const Place> places = with_losses ? places_.all_inputs : places_.forward_inputs;
  copy_in_rows(program_, operation, places, inputs);
  done_ = Done::nothing;  // from here on, the forward pass before is gone
  stage_counters();
  updated_last_ = false;
  if (sums_) begin_micro_batch(places);
  if (with_losses) {
    program_.run({Phase::forward, Phase::loss});
  } else {
    program_.run({Phase::forward});
  }
  replay_ = {.rows = program_.rows(), .forward = true, .losses = with_losses};
  done_ = Done::forward;
}

void Step::backward() {
  require("backward", Done::forward, "forward()");
  if (!replay_.losses) {
    throw Error({.operation = "backward",
                 .object = "the last forward()",
                 .cause = "was not given the inputs that the losses need",
                 .hint = "give all inputs, or call backward() with the outputs' gradients"});
  }
  program_.use_rows(replay_.rows);
  done_ = Done::nothing;  // a pass that fails has written over what another one would read
  program_.run({Phase::loss_backward, Phase::backward});
  replay_.backward = Replay::Backward::losses;
  gradient_rows_ = replay_.rows;
  done_ = Done::backward;
}

void Step::backward(std::span<const NamedValues> output_gradients) {
  require("backward", Done::forward, "forward()");
  refuse_outputs_without_gradient(program_.manifest(), places_.output_gradients, output_gradients);
  if (const std::string& loss = program_.program().loss_without_output; !loss.empty()) {
    throw Error({.operation = "backward",
                 .object = named("loss", loss),
                 .cause = "reads values that are no output, so gradients of outputs cannot stand "
                          "in for it",
                 .hint = "declare what it reads as an output, or call backward() without them"});
  }
  program_.use_rows(replay_.rows);
  copy_in(program_, "backward", "output gradient", places_.output_gradients, output_gradients);
  if (sums_) give_micro_batch(places_.output_gradients);
  done_ = Done::nothing;  // as above
  program_.run({Phase::external, Phase::backward});
  replay_.backward = Replay::Backward::external;
  gradient_rows_ = replay_.rows;
  done_ = Done::backward;
}

void Step::accumulate_gradients() {
  require("accumulate_gradients", Done::backward, "backward()");
  program_.execution().prepare_accumulation();
  if (!sums_) {  // forward() and backward() did not know of it yet
    begin_micro_batch(replay_.losses ? places_.all_inputs : places_.forward_inputs, true);
    if (replay_.backward == Replay::Backward::external)
      give_micro_batch(places_.output_gradients, true);
    sums_ = true;
  }
  set_first_micro_batch();
  program_.run({Phase::accumulate});
  ++micro_batches_;
  earlier_.add(replay_);
  done_ = Done::nothing;
}

void Step::begin_micro_batch(std::span<const Place> inputs, bool in_place) {
  if (micro_batches_ == 0) earlier_.clear();
  earlier_.begin();
  give_micro_batch(inputs, in_place);
  give_micro_batch(places_.counters, in_place);
}

void Step::stage_counters() {
  const auto low = [](std::uint64_t number) { return static_cast<std::uint32_t>(number); };
  const std::array<std::uint32_t, manifest::kCounters> words = {
      low(seed_), low(seed_ >> 32), low(static_cast<std::uint64_t>(steps_)),
      low(static_cast<std::uint64_t>(micro_batches_))};
  for (const Place& place : places_.counters) {
    std::memcpy(program_.execution().staged(place.buffer).data(), words.data(), sizeof words);
  }
}

void Step::give_micro_batch(std::span<const Place> values, bool in_place) {
  Execution& execution = program_.execution();
  for (const Place& place : values) {
    const std::size_t bytes = program_.bytes(place.buffer);
    earlier_.give(place.buffer, in_place ? std::span(execution.read(place.buffer), bytes)
                                         : execution.staged(place.buffer));
  }
}

void Step::set_first_micro_batch() { set("first_micro_batch", micro_batches_ == 0 ? 1.0f : 0.0f); }

void Step::run_check(Phase last) {
  const bool summed = micro_batches_ > 0, whole = last == Phase::update;
  if (summed) set_first_micro_batch();
  set("micro_batches", static_cast<float>(micro_batches_ + 1));
  if (whole) {
    program_.run(phases_until(last, summed));
  } else if (summed) {
    program_.run({Phase::accumulate, Phase::check});
  } else {
    program_.run({Phase::check});
  }
  if (!summed) earlier_.clear();
  micro_batches_ = 0;
}

/// Again where the device failed before it could answer.
bool Step::check() {
  require_whole("check");
  if (done_ != Done::check) {
    require("check", Done::backward, "backward()");
    run_check(Phase::check);
    done_ = Done::check;
  }
  return finite();
}

void Step::update() {
  require("update", Done::check, "check()");
  program_.run({Phase::update});
  finish_update("update");
}

/// Where the scale sits at its floor every step is waited for, so that the patience ends with the
/// step that ended it, whose inputs are still there.
void Step::finish_update(const char* operation) {
  ++steps_;
  done_ = Done::nothing;
  updated_last_ = true;
  updated_by_ = operation;
  settle(false);
  if (last_outcome_.floored > 0) {
    try {
      settle(true);
    } catch (const std::exception&) {  // the step is done: who waits next is told what fails still
    }
  }
  report();
}

void Step::settle(bool all) {
  for (const Outcome& outcome : program_.execution().outcomes(all)) {
    last_outcome_ = outcome;
    if (outcome.applied) continue;
    ++skipped_steps_;
    if (places_.floored && outcome.floored >= program_.manifest().loss_scale.patience) {
      patience_ended_ = outcome.floored;
    }
  }
}

void Step::report() {
  if (patience_ended_ > 0) stop_at_floor(std::exchange(patience_ended_, 0));
}

void Step::wait() {
  program_.execution().wait();
  settle(true);
  report();
}

Step::Counters Step::counters(const char* operation) {
  require_no_check(operation);
  if (micro_batches_ > 0) {
    throw Error({.operation = operation,
                 .object = "the trainer",
                 .cause = "holds the gradients of micro-batches that no step followed",
                 .hint = "call step() with the last one first"});
  }
  wait();
  return {steps_, skipped_steps_, last_outcome_.applied, seed_};
}

void Step::restore(const Counters& counters) {
  program_.execution().mend();  // steps on their way are no longer its own
  seed_ = counters.seed;
  done_ = Done::nothing;
  last_outcome_ = {.applied = counters.was_applied, .floored = floored_or_waited_for()};
  updated_last_ = false;
  patience_ended_ = 0;
  replay_ = {};
  micro_batches_ = 0;
  earlier_.clear();
  steps_ = counters.steps;
  skipped_steps_ = counters.skipped_steps;
}

void Step::enter(std::string_view stage) {
  if (stage == program_.stage()) return;
  require_stage("enter", program_.manifest(), stage);
  (void)counters("enter");
  Places places = places_of(program_.plan_of(stage));
  program_.enter(stage);  // the last that throws
  places_ = std::move(places);
  done_ = Done::nothing;
  updated_last_ = false;
  replay_ = {};
  gradient_rows_ = program_.rows();
  earlier_.clear();
  last_outcome_.floored = floored_or_waited_for();
}

bool Step::updated(const char* operation) {
  if (steps_ == 0) {
    throw Error({.operation = operation,
                 .object = "the trainer",
                 .cause = "has not done an update",
                 .hint = "call step() first"});
  }
  settle(true);
  report();
  return last_outcome_.applied;
}

std::span<const float> Step::input_gradient(std::string_view name) const {
  const auto& wanted = program_.manifest().input_gradients;
  const auto found = std::ranges::find(wanted, name, &manifest::InputGradient::input);
  if (found == wanted.end()) {
    std::vector<std::string_view> names;
    for (const manifest::InputGradient& gradient : wanted) names.push_back(gradient.input);
    throw Error({.operation = "input_gradient",
                 .object = named("input", name),
                 .cause = "wants no gradient",
                 .hint = names.empty() ? "declare it with_gradient in the model"
                                       : "declare it with_gradient in the model; those that want "
                                         "one are " +
                                             listed(names)});
  }
  if (program_.rows() != gradient_rows_) {
    throw Error({.operation = "input_gradient",
                 .object = named("input", name),
                 .cause = "has a gradient of " + std::to_string(gradient_rows_) +
                          " rows, but a forward pass of " + std::to_string(program_.rows()) +
                          " came since",
                 .hint = "read it before the next forward pass"});
  }
  return program_.floats("input_gradient", *program_.plan().find(found->buffer));
}

std::int64_t Step::floored() const {
  return places_.floored ? static_cast<std::int64_t>(program_.scalar(*places_.floored)) : 0;
}

std::int64_t Step::floored_or_waited_for() const noexcept {
  try {
    return floored();
  } catch (const std::exception&) {
    return 1;
  }
}

void Step::stop_at_floor(std::int64_t floored) {
  std::string found;
  try {
    const std::optional<NonFinite> value = diagnose();
    found = value                   ? "the first value that is not finite: " + value->text()
            : last_outcome_.applied ? "later steps were on their way and were applied; set "
                                      "HALFTONE_STEPS_IN_FLIGHT to 1 to learn what was not finite"
                                    : "all values are finite, so that the sum of the gradients "
                                      "or their norm was not";
  } catch (const std::exception& error) {
    found = std::string("what was not finite is unknown, since ") + error.what();
  }
  throw Error({.operation = updated_by_,
               .object = "the loss scale",
               .cause = "is at its floor " + number_text(program_.manifest().loss_scale.floor) +
                        " and " + std::to_string(floored) + " steps in a row were skipped there",
               .hint = std::move(found)});
}

std::optional<NonFinite> Step::diagnose() {
  settle(true);
  const bool spoiled = updated_last_ ? !last_outcome_.applied : done_ == Done::check && !finite();
  if (replay_.forward) program_.use_rows(replay_.rows);
  auto found = halftone::diagnose(program_, replays(spoiled));
  const std::size_t kept = earlier_.kept().size(), count = earlier_.count();
  if (!found && spoiled && kept < count) {
    throw Error({.operation = "diagnose",
                 .object = "micro-batches " + std::to_string(kept + 1) + " to " +
                           std::to_string(count) + " of " + std::to_string(count + 1),
                 .cause = "were not run again, since of a step's earlier micro-batches at most " +
                          std::to_string(kMostKeptBytes) + " bytes of inputs are kept",
                 .hint = "all others are finite; give each of these alone to forward() and "
                         "backward() and ask again"});
  }
  return found;
}

Replay Step::last_run() {
  settle(true);
  if (replay_.forward) program_.use_rows(replay_.rows);
  return replay_;
}

std::vector<Replay> Step::replays(bool spoiled) const {
  std::vector<Replay> replays;
  if (spoiled) replays.assign(earlier_.kept().begin(), earlier_.kept().end());
  replays.push_back(replay_);
  const auto count = static_cast<std::int64_t>(earlier_.count()) + 1;
  for (std::size_t i = 0; spoiled && count > 1 && i < replays.size(); ++i) {
    const bool last = i + 1 == replays.size();
    replays[i].micro_batch = last ? count : static_cast<std::int64_t>(i) + 1;
    replays[i].micro_batches = count;
  }
  return replays;
}

void Step::require_whole(const char* operation) const {
  if (!program_.execution().is_torn()) return;
  throw Error({.operation = operation,
               .object = "the trainer",
               .cause = "was left between two steps by a call that failed",
               .hint = "resume() from a checkpoint, or make another trainer"});
}

void Step::require(const char* operation, Done needed, const char* first) const {
  require_whole(operation);
  if (done_ == needed) return;
  std::string hint = "call forward, backward, check and update in this order";
  if (micro_batches_ > 0) {
    hint =
        "after accumulate() or accumulate_gradients() call step(), or forward and backward of the "
        "last micro-batch, check and update";
  }
  throw Error({.operation = operation,
               .object = "the trainer",
               .cause = std::string("has not done ") + first + " directly before",
               .hint = std::move(hint)});
}

void Step::require_no_check(const char* operation) const {
  require_whole(operation);
  if (done_ != Done::check) return;
  throw Error({.operation = operation,
               .object = "the trainer",
               .cause = "has done check() and not update(), which belongs to it",
               .hint = "call update() first; where gradients are not finite it changes nothing"});
}

void Step::set(const char* hyperparameter, float value) {
  program_.set_scalar(*program_.plan().find(hyperparameter), value);
}

bool Step::finite() const { return program_.scalar(*program_.plan().find("finite")) != 0.0f; }

}  // namespace halftone
