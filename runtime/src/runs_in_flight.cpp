// SPDX-License-Identifier: Apache-2.0
#include "runs_in_flight.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "text.hpp"

namespace halftone {
namespace {

using manifest::Role;

/// Both parts of an outcome, in front of the inputs.
constexpr std::int64_t kAlignment = 64, kFlooredAt = sizeof(float);

float number_at(const std::byte* memory) {
  float value = 0.0f;
  std::memcpy(&value, memory, sizeof value);
  return value;
}

}  // namespace

RunsInFlight::RunsInFlight(const ProgramPlan& plan, DriverContext& context,
                           const DriverMemory& memory, DriverStream stream,
                           const RunsInFlight* shares)
    : plan_(plan),
      context_(context),
      memory_(memory),
      stream_(stream),
      outcome_buffers_(outcome_buffers(plan)),
      offsets_(plan.program().buffers.size(), -1),
      slot_bytes_(kAlignment),
      host_(shares ? shares->host_ : std::make_shared<HostMemory>()) {
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    if (!manifest::is_given(plan.buffer(i).role)) continue;
    offsets_[i] = slot_bytes_;
    slot_bytes_ += (plan.bytes(i) + kAlignment - 1) / kAlignment * kAlignment;
  }
  host_->slot_bytes = std::max(host_->slot_bytes, slot_bytes_);
}

/// The stream may still read and write the slots.
RunsInFlight::~RunsInFlight() {
  if (host_->memory) (void)context_.driver().synchronise(stream_);
}

/// When the first run asks, since programs for diagnosis never do.
void RunsInFlight::allocate() {
  const int count = context_.options().checks_launches ? 1 : context_.options().steps_in_flight;
  const std::int64_t bytes = count * host_->slot_bytes;
  std::byte* memory = host_->memory.get();
  OwnedHostMemory host;
  if (!host_->memory) {
    context_.run(plan_.who(), std::to_string(bytes) + " bytes of page-locked host memory",
                 [&](Driver& driver) { return driver.allocate_host(bytes, memory); });
    host = OwnedHostMemory(context_.driver(), memory);
  }
  std::vector<Slot> slots;
  for (int i = 0; i < count; ++i) {
    DriverEvent event{};
    context_.run(plan_.who(), "an event",
                 [&](Driver& driver) { return driver.create_event(event); });
    slots.push_back({.memory = memory + i * slot_bytes_, .done = {context_.driver(), event}});
    slots.back().inputs.reserve(offsets_.size());  // so that none is staged without the others
  }
  if (host) host_->memory = std::move(host);
  slots_ = std::move(slots);
}

void RunsInFlight::open() {
  if (slots_.empty()) allocate();
  Slot& slot = slots_[next_];
  if (slot.state == State::open) return;
  if (slot.state == State::in_flight) {
    context_.run("launch", slot.what,
                 [&](Driver& driver) { return driver.synchronise(slot.done.get()); });
    finish(slot);
  }
  slot.state = State::open;
  slot.inputs.clear();
}

std::span<std::byte> RunsInFlight::staged(std::size_t buffer, std::int64_t bytes) {
  open();
  Slot& slot = slots_[next_];
  const auto before = std::ranges::find(slot.inputs, buffer, &Staged::buffer);
  if (before == slot.inputs.end()) {
    slot.inputs.push_back({buffer, bytes});
  } else {  // by a call that failed
    before->bytes = bytes;
  }
  return {slot.memory + offsets_[buffer], static_cast<std::size_t>(bytes)};
}

bool RunsInFlight::is_open() const { return !slots_.empty() && slots_[next_].state == State::open; }

void RunsInFlight::begin(const std::string& what, bool updates) {
  if (updates) open();
  if (!is_open()) return;
  outcomes_.reserve(outcomes_.size() + slots_.size());  // of all that may be in flight
  Slot& slot = slots_[next_];
  slot.what = what;
  slot.updates = updates;
  for (const auto& [buffer, bytes] : slot.inputs) {
    const std::span from(slot.memory + offsets_[buffer], static_cast<std::size_t>(bytes));
    if (from.empty()) continue;
    context_.run("write", named("buffer", plan_.buffer(buffer).name), [&](Driver& driver) {
      return driver.copy_in_staged(memory_.buffer(buffer), from, stream_);
    });
  }
}

void RunsInFlight::end() {
  if (!is_open()) return;
  Slot& slot = slots_[next_];
  if (slot.updates) {
    if (outcome_buffers_.finite) copy_outcome(*outcome_buffers_.finite, slot.memory);
    if (outcome_buffers_.floored) {
      copy_outcome(*outcome_buffers_.floored, slot.memory + kFlooredAt);
    }
  }
  context_.run("launch", slot.what,
               [&](Driver& driver) { return driver.record(slot.done.get(), stream_); });
  slot.state = State::in_flight;
  ++ended_;
  next_ = (next_ + 1) % slots_.size();
}

void RunsInFlight::copy_outcome(std::size_t buffer, std::byte* to) {
  context_.run("read", named("buffer", plan_.buffer(buffer).name), [&](Driver& driver) {
    return driver.copy_out({to, sizeof(float)}, memory_.buffer(buffer), stream_);
  });
}

/// Its run is done; the oldest first.
void RunsInFlight::finish(Slot& slot) {
  slot.state = State::free;
  ++done_;
  if (!slot.updates) return;
  Outcome outcome;
  if (outcome_buffers_.finite) outcome.applied = number_at(slot.memory) != 0.0f;
  if (outcome_buffers_.floored) {
    outcome.floored = static_cast<std::int64_t>(number_at(slot.memory + kFlooredAt));
  }
  outcomes_.push_back(outcome);
}

bool RunsInFlight::any() const {
  return std::ranges::any_of(slots_, [](auto& slot) { return slot.state == State::in_flight; });
}

void RunsInFlight::all_done() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[(next_ + i) % slots_.size()];  // the oldest first
    if (slot.state == State::in_flight) finish(slot);
  }
}

std::vector<Outcome> RunsInFlight::take_outcomes() { return std::exchange(outcomes_, {}); }

void RunsInFlight::forget() {
  all_done();  // and whoever asks how many are done is not misled
  for (Slot& slot : slots_) slot.state = State::free;
  outcomes_.clear();
}

}  // namespace halftone
