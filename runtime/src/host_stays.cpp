// SPDX-License-Identifier: Apache-2.0
#include "host_stays.hpp"

#include <algorithm>
#include <utility>

#include "text.hpp"

namespace halftone {
namespace {

bool uses(std::span<const std::size_t> launch, std::size_t buffer) {
  return std::ranges::find(launch, buffer) != launch.end();
}

/// Through another buffer than that one.
bool uses_slot(std::span<const std::size_t> launch, std::span<const std::int32_t> slots,
               std::int32_t slot, std::size_t but) {
  return std::ranges::any_of(
      launch, [&](std::size_t buffer) { return buffer != but && slots[buffer] == slot; });
}

}  // namespace

StaySchedule schedule_stays(std::span<const HostStay> stays,
                            std::span<const std::span<const std::size_t>> launches,
                            std::span<const std::int32_t> slots) {
  StaySchedule schedule;
  schedule.leaving.resize(launches.size());
  schedule.coming.resize(launches.size() + 1);
  schedule.arrived.resize(launches.size());
  schedule.gone.resize(launches.size());
  schedule.gone_before.resize(stays.size());
  schedule.run_before.resize(stays.size());

  std::vector<std::optional<std::size_t>> last(stays.size()), next(stays.size());
  for (std::size_t s = 0; s < stays.size(); ++s) {
    for (std::size_t i = 0; i < launches.size(); ++i) {
      if (uses(launches[i], stays[s].buffer)) last[s] = i;
      if (!next[s] && uses(launches[i], stays[s].back)) next[s] = i;
    }
    if (last[s]) schedule.leaving[*last[s]].push_back(s);
  }

  std::vector<std::size_t> number(stays.size());  // of those that leave, from 1 on
  std::size_t leaves = 0;
  for (const auto& behind : schedule.leaving) {
    for (const std::size_t s : behind) number[s] = ++leaves;
  }
  for (std::size_t s = 0; s < stays.size(); ++s) {
    if (!last[s]) continue;
    for (std::size_t i = *last[s] + 1; i < launches.size(); ++i) {
      if (uses_slot(launches[i], slots, slots[stays[s].buffer], stays[s].buffer))
        schedule.gone[i] = std::max(schedule.gone[i], number[s]);
    }
  }

  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < stays.size(); ++s) {
    if (next[s]) order.push_back(s);
  }
  std::ranges::sort(order, {}, [&](std::size_t s) { return std::pair(*next[s], s); });
  std::size_t free_behind = 0, count = 0;
  for (const std::size_t s : order) {
    const std::int32_t slot = slots[stays[s].back];
    for (std::size_t i = 0; i < *next[s]; ++i) {
      if (uses_slot(launches[i], slots, slot, stays[s].back)) schedule.run_before[s] = i + 1;
    }
    free_behind = std::max(free_behind, schedule.run_before[s]);
    if (last[s]) free_behind = std::max(free_behind, *last[s] + 1);
    schedule.coming[free_behind].push_back(s);
    schedule.arrived[*next[s]] = ++count;
    for (std::size_t t = 0; t < stays.size(); ++t) {
      if (last[t] && (t == s || slots[stays[t].buffer] == slot))
        schedule.gone_before[s] = std::max(schedule.gone_before[s], number[t]);
    }
  }
  return schedule;
}

HostStays::HostStays(const char* who, DriverContext& context, DriverStream stream,
                     std::vector<HostStay> stays, std::vector<std::int32_t> slots)
    : context_(context),
      kernels_(stream),
      stays_(std::move(stays)),
      slots_(std::move(slots)),
      in_(make_stream(who, context)),
      out_(make_stream(who, context)),
      used_(make_event(who, context)),
      freed_(make_event(who, context)) {
  for (std::size_t s = 0; s < stays_.size(); ++s) {
    left_.push_back(make_event(who, context));
    arrived_.push_back(make_event(who, context));
  }
}

/// What a call that failed left on the way still uses both memories.
HostStays::~HostStays() {
  for (const OwnedStream* stream : {&in_, &out_}) {
    (void)context_.driver().synchronise(stream->get());
  }
}

void HostStays::begin(std::span<const std::span<const std::size_t>> launches,
                      std::vector<std::int64_t> bytes) {
  schedule_ = schedule_stays(stays_, launches, slots_);
  bytes_ = std::move(bytes);
  next_ = leaves_ = arrivals_ = 0;
  kernels_know_arrived_ = kernels_know_gone_ = in_knows_gone_ = 0;
  in_knows_run_.reset();
  run_with_.clear();
  gone_with_.clear();
  for (const std::size_t stay : schedule_.coming[0]) come(stay);
}

void HostStays::before_launch() {
  if (const std::size_t needed = schedule_.arrived[next_]; needed > kernels_know_arrived_) {
    wait(context_, kernels_, arrived_[needed - 1]);
    kernels_know_arrived_ = needed;
    kernels_know_gone_ = std::max(kernels_know_gone_, gone_with_[needed - 1]);
  }
  if (const std::size_t needed = schedule_.gone[next_]; needed > kernels_know_gone_) {
    wait(context_, kernels_, left_[needed - 1]);
    kernels_know_gone_ = needed;
  }
}

void HostStays::after_launch() {
  const std::vector<std::size_t>& leaving = schedule_.leaving[next_];
  if (!leaving.empty()) {
    record(context_, used_, kernels_);
    wait(context_, out_.get(), used_);
    for (const std::size_t stay : leaving) leave(stay);
  }
  ++next_;
  for (const std::size_t stay : schedule_.coming[next_]) come(stay);
}

/// The last that left is gone when all are; whatever came, a launch waited for.
void HostStays::end() {
  if (leaves_ > kernels_know_gone_) wait(context_, kernels_, left_[leaves_ - 1]);
}

void HostStays::leave(std::size_t stay) {
  const HostStay& of = stays_[stay];
  const auto bytes = static_cast<std::size_t>(bytes_[stay]);
  context_.run("move out", named("buffer", of.name), [&](Driver& driver) {
    return driver.copy_out({of.host, bytes}, of.from, out_.get());
  });
  record(context_, left_[leaves_++], out_.get());
  run_with_.push_back(next_ + 1);
}

/// Where it lies on the device, launches may have used another buffer, and one that left may lie;
/// and it must be gone itself. Each stream knows what those knew that it waited for.
void HostStays::wait_for_place(std::size_t stay) {
  const std::size_t gone = schedule_.gone_before[stay], run = schedule_.run_before[stay];
  if (gone > std::max(in_knows_gone_, kernels_know_gone_)) {
    wait(context_, in_.get(), left_[gone - 1]);
    in_knows_gone_ = gone;
    in_knows_run_ = std::max(in_knows_run_, std::optional(run_with_[gone - 1]));
  }
  if (gone > in_knows_gone_ || !in_knows_run_ || *in_knows_run_ < run) {
    record(context_, freed_, kernels_);
    wait(context_, in_.get(), freed_);
    in_knows_gone_ = std::max(in_knows_gone_, kernels_know_gone_);
    in_knows_run_ = next_;
  }
}

void HostStays::come(std::size_t stay) {
  wait_for_place(stay);
  const HostStay& of = stays_[stay];
  const auto bytes = static_cast<std::size_t>(bytes_[stay]);
  context_.run("bring back", named("buffer", of.name), [&](Driver& driver) {
    return driver.copy_in_staged(of.to, {of.host, bytes}, in_.get());
  });
  record(context_, arrived_[arrivals_++], in_.get());
  gone_with_.push_back(in_knows_gone_);
}

}  // namespace halftone
