// SPDX-License-Identifier: Apache-2.0
// Every call of a driver fails once in the life of a trainer and its files. What had not begun is
// tried again; a trainer that was left between two steps says so and resumes; the bits are those of
// a life in which nothing failed.
#include <doctest/doctest.h>

#include "../fake_driver.hpp"
#include "life.hpp"

namespace halftone::tests {
namespace {

struct Driven {
  std::shared_ptr<fake::Log> log = std::make_shared<fake::Log>();
  std::size_t fails_at = 0;
  bool failed = false;
  std::string call;

  [[nodiscard]] Injector injector(DriverStatus failure) {
    return {.arm =
                [this, failure](int at) {
                  log->failure = failure;
                  failed = false;
                  log->fail_at = fails_at = log->calls.size() + static_cast<std::size_t>(at);
                },
            .disarm =
                [this] {
                  if (log->fail_at > 0 && log->calls.size() >= fails_at) {
                    call = log->calls[fails_at - 1];
                    failed = true;
                  }
                  log->fail_at = 0;
                  return failed;
                },
            .call = [this] { return call; }};
  }
};

}  // namespace

TEST_CASE("every call of a driver fails once, and no step is lost, doubled or half done") {
  const DriverStatus kFailures[] = {{DriverStatus::Kind::failed, "the fake says no", ""},
                                    {DriverStatus::Kind::out_of_memory, "full", ""}};
  struct Case {
    bool checks_launches, separate_buffers;
    int steps_in_flight;
  };
  for (const auto& [checks_launches, separate_buffers, steps_in_flight] :
       {Case{false, false, 4}, {true, false, 4}, {false, true, 1}}) {
    const fake::Options options{.separate_buffers = separate_buffers,
                                .checks_launches = checks_launches,
                                .steps_in_flight = steps_in_flight};
    Life plain([&] { return fake::device(std::make_shared<fake::Log>(), options); });
    (void)plain.run(nullptr);
    for (const DriverStatus& failure : kFailures) {
      CAPTURE(checks_launches);
      CAPTURE(separate_buffers);
      CAPTURE(failure.text);
      Driven driven;
      const Injector injector = driven.injector(failure);
      Outcomes outcomes;
      {
        Life life([&] { return fake::device(driven.log, options); });
        outcomes = life.run(&injector);
        CHECK(difference(life.said(), plain.said()) == "");
      }
      for (const std::string& wrong : outcomes.wrong) MESSAGE(wrong);
      CHECK(outcomes.wrong.empty());
      CHECK(driven.log->is_clean());
      MESSAGE("calls refused " << outcomes.refused << ", done without " << outcomes.harmless
                               << ", that left the trainer between two steps " << outcomes.torn);
      CHECK(outcomes.refused > 100);
      CHECK(outcomes.torn > 10);
    }
  }
}

}  // namespace halftone::tests
