// SPDX-License-Identifier: Apache-2.0
// Where the loss scale differs from torch.amp.GradScaler on purpose: torch's side as recorded in
// torch_differences.txt, Halftone's from docs/spec/precision.md.
#pragma once

#include <doctest/doctest.h>

#include <iomanip>
#include <sstream>

#include "recorded.hpp"

namespace halftone::tests {

struct Difference {
  const char* name;
  ScheduleSettings settings;
  MicroBatches steps;  ///< one micro-batch each
  const char* torch;
  const char* halftone;  ///< scale bits, clean steps, s when the step was skipped
};

inline std::vector<Difference> differences() {
  constexpr std::array<float, kElements> kFine{0.5f, 0.5f, 0.5f}, kBad{0.5f, INFINITY, 0.5f},
      kHuge{1e25f, 0.5f, 0.5f};
  return {
      // One decision for all parameters.
      {.name = "two_optimizers",
       .settings = {.initial = 1024, .interval = 2, .optimizers = 2},
       .steps = {{kBad, kFine}, {kFine, kBad}, {kBad, kBad}, {kFine, kFine}},
       .torch = "44000000:0:s- 43800000:0:-s 43000000:0:ss 43000000:1:--",
       .halftone = "44000000:0:s 43800000:0:s 43000000:0:s 43000000:1:-"},
      // torch's scale reaches 0, stays, and updates that follow write NaN into the parameters.
      {.name = "floor",
       .settings = {.initial = 1, .backoff = 0x1p-80f, .interval = 2, .floor = 1},
       .steps = {{kBad}, {kBad}, {kFine}, {kFine}},
       .torch = "17800000:0:s 00000000:0:s 00000000:1:- 00000000:0:-",
       .halftone = "3f800000:0:s 3f800000:0:s 3f800000:1:- 40000000:0:-"},
      // torch drops a growth past f32's range.
      {.name = "ceiling",
       .settings = {.initial = 0x1p126f, .interval = 1, .ceiling = 0x1.8p127f},
       .steps = {{kFine}, {kFine}, {kFine}},
       .torch = "7f000000:0:- 7f000000:0:- 7f000000:0:-",
       .halftone = "7f000000:0:- 7f400000:0:- 7f400000:0:-"},
      // A norm past f32's range skips.
      {.name = "norm",
       .settings = {.initial = 1, .interval = 2},
       .steps = {{kHuge}, {kFine}, {kFine}},
       .torch = "3f800000:1:- 40000000:0:- 40000000:1:-",
       .halftone = "3f000000:0:s 3f000000:1:- 3f800000:0:-"},
      // Factors are rounded to f32 before they multiply, to 0x1.333334p0 and 0x1.99999ap-1; torch
      // multiplies in double. Worked out with exact rational arithmetic, each product rounded once.
      {.name = "decimal_factors",
       .settings = {.initial = 65536, .growth = 1.2f, .backoff = 0.8f, .interval = 1},
       .steps = {{kFine}, {kFine}, {kFine}, {kFine}, {kBad}, {kBad}, {kBad}, {kBad}},
       .torch = "4799999a:0:- 47b851ec:0:- 47dd2f1b:0:- 4804b5dd:0:- 47d4562e:0:s 47a9de8b:0:s "
                "4787e53c:0:s 47596ec6:0:s",
       .halftone = "4799999a:0:- 47b851ec:0:- 47dd2f1c:0:- 4804b5de:0:- 47d45630:0:s 47a9de8d:0:s "
                   "4787e53e:0:s 47596eca:0:s"},
  };
}

/// torch_differences.txt by name.
inline std::map<std::string, std::string> read_differences() {
  std::ifstream stream(std::filesystem::path(HALFTONE_SCALER_TRACES) / "torch_differences.txt");
  if (!stream) throw std::runtime_error("torch_differences.txt cannot be read");
  std::map<std::string, std::string> rows;
  for (std::string name, rest; stream >> name && std::getline(stream >> std::ws, rest);)
    rows[name] = rest;
  return rows;
}

/// The trace of `scaler` in the form of Difference::halftone.
inline std::string trace(ScalerUnderTest& scaler, const Difference& difference) {
  scaler.reset(difference.settings);
  std::ostringstream text;
  for (const auto& gradients : difference.steps) {
    StepEvents events;
    events.gradients = {gradients};
    const Outcome outcome = scaler.step(events);
    if (text.tellp() > 0) text << ' ';
    text << std::hex << std::setw(8) << std::setfill('0')
         << std::bit_cast<std::uint32_t>(outcome.scale) << ':' << std::dec << outcome.clean << ':'
         << (outcome.skipped ? 's' : '-');
  }
  return text.str();
}

inline void check_differences(ScalerUnderTest& scaler) {
  const auto torch = read_differences();
  const auto rows = differences();
  CHECK(torch.size() == rows.size());
  for (const Difference& row : rows) {
    CAPTURE(std::string(row.name));
    CHECK(torch.at(row.name) == row.torch);
    CHECK(trace(scaler, row) == std::string(row.halftone));
  }
}

}  // namespace halftone::tests
