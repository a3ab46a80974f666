// SPDX-License-Identifier: Apache-2.0
#include "specialisation.hpp"

#include <cstdlib>
#include <exception>
#include <new>
#include <set>
#include <utility>

#include "stopping.hpp"
#include "text.hpp"

namespace halftone {
namespace {

std::string sizes_of(const ProgramPlan& plan) {
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < plan.symbols().size(); ++i) {
    sizes.push_back(plan.manifest().symbols[i] + " " + std::to_string(plan.symbols()[i]));
  }
  return joined(sizes, ", ");
}

/// The definitions that make a text one for these sizes; lines keep their numbers.
std::string definitions_of(const ProgramPlan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.symbols().size(); ++i) {
    text += "#define HALFTONE_SYMBOL_" + plan.manifest().symbols[i] + " " +
            std::to_string(plan.symbols()[i]) + "LL\n";
  }
  return text + "#line 1\n";
}

/// Those that are alive. Never destroyed itself, since static trainers may go after anything else.
struct Living {
  std::mutex mutex;
  std::set<Specialisation*> all;
  bool over = false;  ///< the process ends; nothing starts any more
};
Living& living() {
  static Living& living = *new Living;
  return living;
}

}  // namespace

Specialisation::Specialisation(const ProgramPlan& plan, std::shared_ptr<DriverContext> context,
                               std::span<const std::size_t> kernels)
    : context_(std::move(context)), sizes_(sizes_of(plan)), images_(texts_of(plan, kernels)) {
  static const int registered = std::atexit(stop_all);
  if (registered != 0) {
    fail("the system would not end it with the process");
    return;
  }
  // Held until the thread is there, so that whoever stops all finds it; it never takes this lock.
  const std::lock_guard lock(living().mutex);
  if (living().over) {
    fail("the process ends");
    return;
  }
  living().all.insert(this);
  try {
    thread_ = std::jthread([this, &plan](const std::stop_token& stop) { compile(stop, plan); });
  } catch (const std::exception& error) {
    living().all.erase(this);
    fail(std::string("no thread could be started: ") + error.what());
  }
}

Specialisation::~Specialisation() {
  thread_.request_stop();
  // Held until the thread is gone, so that the process does not end before it.
  const std::lock_guard lock(living().mutex);
  living().all.erase(this);
  if (thread_.joinable()) thread_.join();
}

void Specialisation::stop_all() {
  const std::lock_guard lock(living().mutex);
  living().over = true;
  for (Specialisation* each : living().all) {
    each->thread_.request_stop();
    if (each->thread_.joinable()) each->thread_.join();
  }
}

void Specialisation::compile(const std::stop_token& stop, const ProgramPlan& plan) {
  const MayStop may_stop(stop);
  try {
    const std::string definitions = definitions_of(plan);
    for (auto& [text, image] : images_) {
      if (stop.stop_requested()) return;
      image.bytes =
          context_->compile(definitions + plan.packed()->texts[static_cast<std::size_t>(text)],
                            image.name, plan.architecture());
    }
  } catch (const std::exception& error) {
    fail(error.what());
    return;
  }
  const std::lock_guard lock(mutex_);
  state_ = State::ready;
}

std::optional<KernelImages> Specialisation::take() {
  const std::lock_guard lock(mutex_);
  if (state_ != State::ready) return std::nullopt;
  state_ = State::taken;
  return std::move(images_);
}

void Specialisation::fail(std::string_view why) noexcept {
  const std::lock_guard lock(mutex_);
  state_ = State::failed;
  try {
    failure_ = why;
  } catch (const std::bad_alloc&) {
    failure_ = "no memory";  // which needs none
  }
}

std::string Specialisation::text() const {
  const std::lock_guard lock(mutex_);
  const std::string text = "specialised for " + sizes_;
  switch (state_) {
    case State::compiling:
      return "being " + text;
    case State::ready:
      return text + " from the next step on";
    case State::taken:
      return text;
    case State::failed:
      return "not " + text + ": " + failure_;
  }
  return text;
}

}  // namespace halftone
