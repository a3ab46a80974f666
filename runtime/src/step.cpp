// SPDX-License-Identifier: Apache-2.0
// One step: which phases run, in which order, on which inputs.
#include "step.hpp"

#include <algorithm>

#include "floating_point.hpp"
#include "halftone/error.hpp"
#include "text.hpp"
#include "thread_pool.hpp"

namespace halftone {

using manifest::Phase;

void BoundProgram::run(Phase phase) {
  for (const BoundLaunch& launch : phases_[static_cast<std::size_t>(phase)]) run(launch);
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
}

bool Step::run(std::span<const NamedValues> inputs) {
  copy_in(program_, "step", "input", all_inputs_, inputs);
  program_.run(Phase::forward);
  program_.run(Phase::loss);
  losses_computed_ = true;
  done_ = Done::forward;
  backward();
  const bool finite = check();
  update();
  return finite;
}

void Step::forward(const char* operation, std::span<const NamedValues> inputs) {
  const auto is_for_losses = [&](const NamedValues& given) {
    return std::ranges::find(forward_inputs_, given.name, &Place::name) == forward_inputs_.end();
  };
  const bool with_losses =
      forward_inputs_.size() == all_inputs_.size() || std::ranges::any_of(inputs, is_for_losses);
  copy_in(program_, operation, "input", with_losses ? all_inputs_ : forward_inputs_, inputs);
  program_.run(Phase::forward);
  if (with_losses) program_.run(Phase::loss);
  losses_computed_ = with_losses;
  done_ = Done::forward;
}

void Step::backward() {
  require("backward", Done::forward, "forward()");
  if (!losses_computed_) {
    throw Error({.operation = "backward",
                 .object = "the last forward()",
                 .cause = "was not given the inputs that the losses need",
                 .hint = "give all inputs, or call backward() with the outputs' gradients"});
  }
  program_.run(Phase::loss_backward);
  program_.run(Phase::backward);
  done_ = Done::backward;
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
  program_.run(Phase::backward);
  done_ = Done::backward;
}

bool Step::check() {
  require("check", Done::backward, "backward()");
  program_.run(Phase::check);
  done_ = Done::check;
  return finite();
}

void Step::update() {
  require("update", Done::check, "check()");
  program_.run(Phase::update);
  ++steps_;
  if (!finite()) ++skipped_steps_;
  done_ = Done::nothing;
}

void Step::require(const char* operation, Done needed, const char* first) const {
  if (done_ == needed) return;
  throw Error({.operation = operation,
               .object = "the trainer",
               .cause = std::string("has not done ") + first + " directly before",
               .hint = "call forward, backward, check and update in this order"});
}

bool Step::finite() const { return program_.scalar(*program_.find("finite")) != 0.0f; }

}  // namespace halftone
