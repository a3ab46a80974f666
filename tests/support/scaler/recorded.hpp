// SPDX-License-Identifier: Apache-2.0
// The recorded digests, and an implementation run against them.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

#include "schedules.hpp"

namespace halftone::tests {

/// The digests of a file that record_traces.py or record_hysteresis.py wrote, by schedule.
inline std::vector<std::uint32_t> read_digests(const std::string& file) {
  const auto path = std::filesystem::path(HALFTONE_SCALER_TRACES) / file;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  std::vector<std::uint32_t> digests(bytes.size() / 4);
  for (std::size_t i = 0; i < digests.size(); ++i)
    for (std::size_t byte = 0; byte < 4; ++byte)
      digests[i] |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[4 * i + byte]))
                    << (8 * byte);
  return digests;
}

/// torch_summary.txt: counts by name, and "torch" for the version.
inline std::map<std::string, std::string> read_summary() {
  const auto path = std::filesystem::path(HALFTONE_SCALER_TRACES) / "torch_summary.txt";
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  std::map<std::string, std::string> summary;
  for (std::string key, value; stream >> key >> value;) summary[key] = value;
  return summary;
}

/// What a run over many schedules found.
struct Agreement {
  std::int64_t schedules = 0, schedules_two_optimizers = 0, schedules_clipped = 0,
               schedules_accumulated = 0;
  std::int64_t steps = 0, steps_any_skipped = 0;
  /// Steps that were skipped as a whole, in which torch updates one of two optimizers' parameters.
  std::int64_t steps_other_optimizer_went_on = 0;
  std::int64_t differing = 0, first_differing = -1;
};

/// Recorded schedules, and which of them to run: `first`, `first + stride`, ...
struct Recording {
  const char* file;
  std::uint64_t seeds;  ///< schedule i was drawn from seeds + i
  void (Digest::*add)(const Outcome&);
  std::size_t first = 0, stride = 1;
};

/// The numbers of the seeds are those of the recording scripts.
inline Recording torch_recording(std::size_t stride = 1) {
  return {"torch_digests.bin", 0, &Digest::add_outcome, 0, stride};
}
inline Recording artifact_recording(std::size_t artifact, std::size_t artifacts,
                                    std::size_t every = 1) {
  return {"torch_artifact_digests.bin", 2'000'000, &Digest::add_visible, artifact,
          artifacts * every};
}
inline Recording hysteresis_recording(std::size_t stride = 1) {
  return {"hysteresis_digests.bin", 1'000'000, &Digest::add_all, 0, stride};
}

/// Runs `scaler` over a recording. `adjust(draws, settings)` completes the drawn settings.
template <class Adjust>
Agreement compare(ScalerUnderTest& scaler, const Recording& recording, const Adjust& adjust) {
  const std::vector<std::uint32_t> digests = read_digests(recording.file);
  Agreement found;
  for (std::size_t i = recording.first; i < digests.size(); i += recording.stride) {
    Draws draws(recording.seeds + i);
    ScheduleSettings settings = draw_settings(draws);
    adjust(draws, settings);
    scaler.reset(settings);
    Digest digest;
    for (int step = 0; step < settings.steps; ++step) {
      const StepEvents events = draw_step(draws, settings);
      const Outcome outcome = scaler.step(events);
      (digest.*recording.add)(outcome);
      found.steps_any_skipped += outcome.skipped;
      found.steps_other_optimizer_went_on +=
          outcome.skipped && settings.optimizers == 2 && events.hit[0] != events.hit[1];
    }
    ++found.schedules;
    found.schedules_two_optimizers += settings.optimizers == 2;
    found.schedules_clipped += settings.clip.has_value();
    found.schedules_accumulated += settings.micro_batches > 1;
    found.steps += settings.steps;
    if (digest.value() == digests[i]) continue;
    if (found.differing++ == 0) found.first_differing = static_cast<std::int64_t>(i);
  }
  return found;
}

inline Agreement compare_with_torch(ScalerUnderTest& scaler, std::size_t stride = 1) {
  return compare(scaler, torch_recording(stride), [](Draws&, ScheduleSettings&) {});
}

inline Agreement compare_hysteresis(ScalerUnderTest& scaler, std::size_t stride = 1) {
  return compare(scaler, hysteresis_recording(stride), draw_bounds);
}

}  // namespace halftone::tests
