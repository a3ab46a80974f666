// SPDX-License-Identifier: Apache-2.0
// Every call of a driver fails once, whatever uses the device.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fake_driver.hpp"
#include "halftone/device.hpp"
#include "message_of.hpp"

/// Whether nobody waits for the call that failed: it gives something back, or was the last wait.
inline bool is_unnoticed(const std::string& call, const std::string& message) {
  return call == "free" || call == "free_host" || call == "unload" ||
         call.starts_with("destroy_") || (call == "synchronise" && message == "no error");
}

/// Every call of use(device) fails once, with that status, and nothing is leaked.
/// check(message, device) judges what it ended in. Returns the calls where none fails.
template <class Use, class Check>
std::vector<std::string> fail_each_call(const Use& use, const fake::Options& options,
                                        const halftone::DriverStatus& failure, const Check& check) {
  const auto whole = std::make_shared<fake::Log>();
  use(fake::device(whole, options));
  CHECK(whole->is_clean());
  for (std::size_t k = 1; k <= whole->calls.size(); ++k) {
    const std::string& call = whole->calls[k - 1];
    CAPTURE(k);
    CAPTURE(call);
    const auto log = std::make_shared<fake::Log>();
    log->fail_at = k;
    log->failure = failure;
    {
      const halftone::Device device = fake::device(log, options);
      const std::string message = message_of([&] { use(device); });
      CHECK(log->calls[k - 1] == call);
      CHECK(log->is_clean());
      if (!is_unnoticed(call, message)) check(message, device);
    }
    CHECK(log->is_clean());
  }
  return whole->calls;
}

/// That one sentence has the driver's words, whichever call fails.
template <class Use>
std::vector<std::string> check_failing_calls(const Use& use, const fake::Options& options) {
  const auto check = [](const std::string& message, const halftone::Device&) {
    CHECK(message.find(" failed on 'fake:0': the fake says no") != std::string::npos);
  };
  return fail_each_call(use, options, fake::Log{}.failure, check);
}
