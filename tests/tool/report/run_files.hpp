// SPDX-License-Identifier: Apache-2.0
// Run logs of made-up runs, as a log writes them.
#pragma once

#include <cmath>
#include <functional>
#include <string>

#include "halftone/run_sinks.hpp"
#include "made_up_run.hpp"

namespace halftone::tests {

struct MadeUpRun {
  RunFacts facts = made_up::facts();
  std::int64_t first = 10, last = 1000;  ///< steps, ten apart
  std::function<float(std::int64_t)> loss = [](std::int64_t) { return 1.0f; };
  std::function<void(LogEntry&)> change = [](LogEntry&) {};
  bool ends = true;
};

inline void write_run(const std::string& file, const MadeUpRun& run,
                      IfExists if_exists = IfExists::refuse) {
  const auto sink = json_lines(file, if_exists);
  sink->begin(run.facts);
  for (std::int64_t step = run.first; step <= run.last; step += 10) {
    LogEntry entry = made_up::entry(step, run.loss(step));
    run.change(entry);
    sink->write(entry);
  }
  if (run.ends) sink->end();
}

}  // namespace halftone::tests
