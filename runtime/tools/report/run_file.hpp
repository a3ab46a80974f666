// SPDX-License-Identifier: Apache-2.0
// Run logs, as json_lines() writes them (docs/run-logs.md), read back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halftone/run_log.hpp"
#include "halftone/stages.hpp"
#include "halftone/value_statistics.hpp"
#include "pictures.hpp"

namespace halftone::tools {

struct Point {
  std::int64_t step = 0;
  double value = 0.0;  ///< may be infinite or NaN
};

/// One of a run's numbers over its steps, in their order.
struct Series {
  std::string name;
  std::vector<Point> points;
};

struct LoggedRun {
  std::string file;
  RunFacts facts;
  std::vector<Series> losses, metrics;
  Series grad_norm, loss_scale, learning_rate, ms_per_step, rows_per_second;
  Series skipped;                       ///< of the steps of each entry that has some
  std::vector<Series> layer_gradients;  ///< norms, in the order of the model
  std::vector<ValueSample> samples;     ///< of roundings, in the order of their steps
  std::vector<StageSwitch> switches;    ///< likewise
  std::vector<PictureRow> pictures;     ///< likewise
  std::int64_t last_step = 0, skipped_steps = 0, peak_bytes = 0;
  double seconds = 0.0;            ///< of all parts of a run that resumed
  bool is_ended = false;           ///< finish() was called
  std::vector<std::string> notes;  ///< what was left out, one sentence each
};

/// A part that goes on at an earlier step than where the one before it ended takes the place of the
/// steps behind that. A line that is no JSON, as one that was cut off, is left out, with a note.
/// Throws std::runtime_error, one sentence, where there is no such file, or it is empty or no run
/// log, or a line is damaged.
[[nodiscard]] LoggedRun read_run(const std::string& path);

}  // namespace halftone::tools
