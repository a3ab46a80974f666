// SPDX-License-Identifier: Apache-2.0
// The loss scale (L1 to L4) against torch.amp.GradScaler and Apex's hysteresis, as recorded by
// tests/support/scaler.
#include <doctest/doctest.h>

#include <sstream>

#include "scaler/differences.hpp"
#include "scaler/recorded.hpp"
#include "scaler/spelled_out.hpp"

namespace halftone::tests {

TEST_CASE("the loss scale as specified agrees with torch on every recorded schedule") {
  SpelledOut scaler;
  const Agreement found = compare_with_torch(scaler);
  CAPTURE(found.first_differing);
  CHECK(found.differing == 0);
  const auto torch = read_summary();
  CAPTURE(torch.at("torch"));
  const auto counted = [&](const char* name) { return std::stoll(torch.at(name)); };
  CHECK(found.schedules == 100'000);
  CHECK(found.schedules == counted("schedules"));
  CHECK(found.schedules_two_optimizers == counted("schedules_two_optimizers"));
  CHECK(found.schedules_clipped == counted("schedules_clipped"));
  CHECK(found.schedules_accumulated == counted("schedules_accumulated"));
  CHECK(found.steps == counted("steps"));
  CHECK(found.steps_any_skipped == counted("steps_any_skipped"));
  CHECK(found.steps_other_optimizer_went_on == counted("steps_other_optimizer_went_on"));
}

TEST_CASE("the loss scale follows torch's full traces step by step") {
  std::ifstream stream(std::filesystem::path(HALFTONE_SCALER_TRACES) / "torch_traces.txt");
  REQUIRE(stream);
  SpelledOut scaler;
  std::uint64_t schedules = 0;
  for (std::string line; std::getline(stream, line); ++schedules) {
    std::istringstream tokens(line);
    std::uint64_t index = 0;
    std::string initial, token;
    tokens >> index >> initial;
    CAPTURE(index);
    Draws draws(index);
    const ScheduleSettings settings = draw_settings(draws);
    CHECK(std::bit_cast<std::uint32_t>(settings.initial) == std::stoul(initial, nullptr, 16));
    scaler.reset(settings);
    for (int step = 0; step < settings.steps; ++step) {
      CAPTURE(step);
      REQUIRE(static_cast<bool>(tokens >> token));
      const Outcome outcome = scaler.step(draw_step(draws, settings));
      const std::size_t first = token.find(':'), second = token.find(':', first + 1);
      REQUIRE(std::bit_cast<std::uint32_t>(outcome.scale) == std::stoul(token, nullptr, 16));
      REQUIRE(outcome.clean == std::stoi(token.substr(first + 1)));
      REQUIRE(outcome.skipped == (token.find('s', second) != std::string::npos));
    }
    CHECK((tokens >> std::ws).eof());
  }
  CHECK(schedules == 200);
}

TEST_CASE("hysteresis, floor and ceiling follow the recorded model of Apex's rule") {
  SpelledOut scaler;
  const Agreement found = compare_hysteresis(scaler);
  CAPTURE(found.first_differing);
  CHECK(found.schedules == 10'000);
  CHECK(found.differing == 0);
}

TEST_CASE("where the loss scale differs from torch it does so as specified") {
  SpelledOut scaler;
  check_differences(scaler);
}

}  // namespace halftone::tests
