// SPDX-License-Identifier: Apache-2.0
// Who may use what a trainer or predictor holds: one call at a time.
#pragma once

#include <atomic>
#include <string>

#include "halftone/error.hpp"
#include "profile_range.hpp"

namespace halftone {

/// Throws Error for what was moved from. `who`: "the trainer".
template <class State>
[[nodiscard]] State& require_held(State* state, const char* operation, const char* who) {
  if (state) return *state;
  throw Error({.operation = operation,
               .object = who,
               .cause = "was moved from",
               .hint = "use the one that it was moved to"});
}

/// Lasts as long as the call, which profilers show. State has a member `std::atomic<bool> in_use`,
/// which also hands what one thread wrote to the next one that calls.
template <class State>
class InUse {
 public:
  /// Throws Error when another call lasts still, or nothing is held.
  InUse(State* state, const char* operation, const char* who)
      : state_(require_held(state, operation, who)), range_(operation) {
    if (!state_.in_use.exchange(true, std::memory_order_acquire)) return;
    throw Error({.operation = operation,
                 .object = who,
                 .cause = "is in use: a call from another thread has not returned",
                 .hint = "let one thread at a time use it, or give every thread one of its own"});
  }
  ~InUse() { state_.in_use.store(false, std::memory_order_release); }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

  State* operator->() const noexcept { return &state_; }

 private:
  State& state_;
  ProfileRange range_;
};

}  // namespace halftone
