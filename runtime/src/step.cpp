// SPDX-License-Identifier: Apache-2.0
// One step: which phases run, in which order, on which inputs.
#include "step.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "floating_point.hpp"
#include "halftone/error.hpp"
#include "text.hpp"
#include "thread_pool.hpp"

namespace halftone {

using manifest::Phase;

namespace {

std::string text_of(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace

void BoundProgram::refresh() {
  if (!parameters_changed_) return;
  parameters_changed_ = false;
  run(Phase::refresh);
}

void BoundProgram::run(Phase phase) {
  refresh();
  for (const BoundLaunch& launch : phases_[static_cast<std::size_t>(phase)]) run(launch);
}

void BoundProgram::run(Phase phase, std::size_t launch) {
  refresh();
  run(phases_[static_cast<std::size_t>(phase)][launch]);
}

void BoundProgram::run(const BoundLaunch& launch) {
  const auto call = [&](CpuEntry entry, std::int64_t first, std::int64_t last) {
    const StandardFloatingPoint mode;
    entry(launch.arguments.data(), symbols_.data(), first, last);
  };
  device_.pool().run(launch.tasks, [&](std::int64_t first, std::int64_t last) {
    call(launch.entry, first, last);
  });
  if (launch.finish) call(launch.finish, 0, 1);
}

Step::Step(BoundProgram& program) : program_(program) {
  const auto place = [&](std::size_t buffer) { return Place{program.buffer(buffer).name, buffer}; };
  for (std::size_t buffer : program.inputs_of(Phase::forward)) {
    forward_inputs_.push_back(place(buffer));
  }
  for (const std::string& input : program.manifest().inputs) {
    all_inputs_.push_back(place(*program.find(input)));
  }
  for (const manifest::Output& output : program.manifest().outputs) {
    if (output.gradient.empty()) continue;
    output_gradients_.push_back({output.name, *program.find(output.gradient)});
  }
  using Kind = manifest::LossScale::Kind;
  const Kind kind = program.manifest().loss_scale.kind;
  if (kind != Kind::none) loss_scale_ = program.find("loss_scale");
  if (kind == Kind::dynamic) floored_ = program.find("loss_scale.floored");
}

bool Step::run(std::span<const NamedValues> inputs) {
  run_losses("step", inputs);
  const bool finite = check();
  update("step");
  return finite;
}

void Step::accumulate(std::span<const NamedValues> inputs) {
  program_.prepare_accumulation();
  run_losses("accumulate", inputs);
  accumulate_gradients("accumulate");
}

void Step::run_losses(const char* operation, std::span<const NamedValues> inputs) {
  copy_in(program_, operation, "input", all_inputs_, inputs);
  run_forward(true);
  backward();
}

void Step::forward(const char* operation, std::span<const NamedValues> inputs) {
  const auto is_for_losses = [&](const NamedValues& given) {
    return std::ranges::find(forward_inputs_, given.name, &Place::name) == forward_inputs_.end();
  };
  const bool with_losses =
      forward_inputs_.size() == all_inputs_.size() || std::ranges::any_of(inputs, is_for_losses);
  copy_in(program_, operation, "input", with_losses ? all_inputs_ : forward_inputs_, inputs);
  run_forward(with_losses);
}

void Step::run_forward(bool with_losses) {
  program_.run(Phase::forward);
  if (with_losses) program_.run(Phase::loss);
  replay_ = {};
  replay_.forward = true;
  replay_.losses = with_losses;
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
  program_.run(Phase::loss_backward);
  finish_backward(Replay::Backward::losses);
}

void Step::backward(std::span<const NamedValues> output_gradients) {
  require("backward", Done::forward, "forward()");
  if (const std::string& loss = program_.program().loss_without_output; !loss.empty()) {
    throw Error({.operation = "backward",
                 .object = named("loss", loss),
                 .cause = "reads values that are no output, so gradients of outputs cannot stand "
                          "in for it",
                 .hint = "declare what it reads as an output, or call backward() without them"});
  }
  copy_in(program_, "backward", "output gradient", output_gradients_, output_gradients);
  program_.run(Phase::external);
  finish_backward(Replay::Backward::external);
}

void Step::finish_backward(Replay::Backward backward) {
  program_.run(Phase::backward);
  replay_.backward = backward;
  replay_.loss_scale = loss_scale();  // check() moves it on
  done_ = Done::backward;
}

void Step::accumulate_gradients(const char* operation) {
  require(operation, Done::backward, "backward()");
  program_.prepare_accumulation();
  set("first_micro_batch", micro_batches_ == 0 ? 1.0f : 0.0f);
  program_.run(Phase::accumulate);
  ++micro_batches_;
  done_ = Done::nothing;
}

bool Step::check() {
  require("check", Done::backward, "backward()");
  if (micro_batches_ > 0) accumulate_gradients("check");
  set("micro_batches", static_cast<float>(std::max<std::int64_t>(micro_batches_, 1)));
  micro_batches_ = 0;
  program_.run(Phase::check);
  done_ = Done::check;
  return finite();
}

void Step::update(const char* operation) {
  require(operation, Done::check, "check()");
  const bool applied = finite();
  if (!applied) replay_.states = copy_states(program_);
  program_.run(Phase::update);
  ++steps_;
  if (!applied) ++skipped_steps_;
  done_ = Done::nothing;
  if (floored_ && floored() >= program_.manifest().loss_scale.patience) stop_at_floor(operation);
}

std::int64_t Step::floored() const {
  return floored_ ? static_cast<std::int64_t>(program_.scalar(*floored_)) : 0;
}

void Step::stop_at_floor(const char* operation) const {
  std::string found;
  try {
    const std::optional<NonFinite> value = diagnose();
    found = value ? "the first value that is not finite: " + value->text()
                  : "all values of the last micro-batch are finite, so that an earlier one or the "
                    "norm of the gradients was not";
  } catch (const Error& error) {
    found = std::string("what was not finite is unknown, since ") + error.what();
  }
  throw Error({.operation = operation,
               .object = "the loss scale",
               .cause = "is at its floor " + text_of(program_.manifest().loss_scale.floor) +
                        " and " + std::to_string(floored()) + " steps in a row were skipped there",
               .hint = std::move(found)});
}

std::optional<NonFinite> Step::diagnose() const { return halftone::diagnose(program_, replay_); }

void Step::require(const char* operation, Done needed, const char* first) const {
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

void Step::set(const char* hyperparameter, float value) {
  program_.floats("step", *program_.find(hyperparameter))[0] = value;
}

bool Step::finite() const { return program_.scalar(*program_.find("finite")) != 0.0f; }

}  // namespace halftone
