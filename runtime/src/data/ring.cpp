// SPDX-License-Identifier: Apache-2.0
#include "ring.hpp"

#include <string>
#include <system_error>
#include <utility>

#include "halftone/error.hpp"

namespace halftone::data {

Ring::Ring(int threads, int slots, std::function<void(std::int64_t, std::size_t)> make)
    : threads_(threads), make_(std::move(make)), slots_(static_cast<std::size_t>(slots)) {}

Ring::~Ring() { stop(); }

std::size_t Ring::slot_of(std::int64_t item) const {
  return static_cast<std::size_t>(item) % slots_.size();
}

void Ring::make(std::int64_t item) noexcept {
  Slot& slot = slots_[slot_of(item)];
  try {
    make_(item, slot_of(item));
  } catch (...) {
    slot.failure = std::current_exception();
  }
}

std::size_t Ring::take() {
  if (threads_ > 0 && workers_.empty()) start();
  std::unique_lock lock(mutex_);
  oldest_in_use_ = next_to_take_;
  Slot& slot = slots_[slot_of(next_to_take_)];
  if (threads_ == 0) {
    if (next_to_make_ == next_to_take_) make(next_to_make_++);
  } else {
    has_room_.notify_one();
    is_ready_.wait(lock, [&] { return slot.ready; });
  }
  if (slot.failure) std::rethrow_exception(slot.failure);
  slot.ready = false;
  return slot_of(next_to_take_++);
}

void Ring::restart(std::int64_t item) {
  std::unique_lock lock(mutex_);
  restarting_ = true;
  is_ready_.wait(lock, [&] { return making_ == 0; });
  for (Slot& slot : slots_) slot = {};
  next_to_make_ = next_to_take_ = oldest_in_use_ = item;
  restarting_ = false;
  has_room_.notify_all();
}

void Ring::start() {
  workers_.reserve(static_cast<std::size_t>(threads_));
  try {
    for (int i = 0; i < threads_; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error& refused) {
    stop();
    throw Error({.operation = "loader",
                 .object = std::to_string(threads_) + " threads",
                 .cause = std::string("cannot be started: ") + refused.what(),
                 .hint = "ask for fewer, or for 0"});
  } catch (...) {  // std::bad_alloc; with fewer threads than asked for it does not go on
    stop();
    throw;
  }
}

void Ring::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  has_room_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  stopping_ = false;
}

void Ring::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    has_room_.wait(lock, [&] {
      const auto room = static_cast<std::int64_t>(slots_.size());
      return stopping_ || (!restarting_ && next_to_make_ < oldest_in_use_ + room);
    });
    if (stopping_) return;
    const std::int64_t item = next_to_make_++;
    ++making_;
    lock.unlock();
    make(item);
    lock.lock();
    --making_;
    slots_[slot_of(item)].ready = true;
    is_ready_.notify_one();
  }
}

}  // namespace halftone::data
