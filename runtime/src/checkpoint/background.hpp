// SPDX-License-Identifier: Apache-2.0
// One piece of work at a time on a thread of its own.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "halftone/error.hpp"

namespace halftone {

class Background {
 public:
  Background() = default;
  /// Waits for the work.
  ~Background() {
    if (thread_.joinable()) thread_.join();
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// After finish(). Throws Error where the system has no more threads.
  void start(const char* operation, std::function<void()> work) {
    try {
      thread_ = std::thread([this, work = std::move(work)] {
        try {
          work();
        } catch (...) {
          failure_ = std::current_exception();
        }
      });
    } catch (const std::system_error& refused) {
      throw Error({.operation = operation,
                   .object = "a thread for the background",
                   .cause = std::string("cannot be started: ") + refused.what(),
                   .hint = "say .background = false, or end other threads"});
    }
  }

  /// Waits until nothing is being done; throws what went wrong, once.
  void finish() {
    if (thread_.joinable()) thread_.join();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  std::thread thread_;
  std::exception_ptr failure_;
};

}  // namespace halftone
