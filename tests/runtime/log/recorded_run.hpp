// SPDX-License-Identifier: Apache-2.0
// The run that record_events writes with PyPI's tensorboard.
#pragma once

#include <limits>

#include "made_up_run.hpp"

namespace made_up {

inline void write_recorded_run(halftone::RunSink& sink) {
  sink.begin(facts());
  halftone::LogEntry each = entry(300, 0.25f, 1);
  each.metrics = {{"held-out/accuracy", 0.75}};
  sink.write(each);
  each = entry(std::int64_t{1} << 40, std::numeric_limits<float>::infinity(), 2);
  each.ms_per_step.reset();
  each.rows_per_second.reset();
  sink.write(each);
  sink.end();
}

}  // namespace made_up
