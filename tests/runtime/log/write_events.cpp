// SPDX-License-Identifier: Apache-2.0
// write_events FOLDER FILE: the logged run for TensorBoard and for Prometheus.
#include "halftone/run_sinks.hpp"
#include "recorded_run.hpp"

int main(int count, char** values) {
  if (count != 3) return 2;
  made_up::write_recorded_run(*halftone::tensorboard_events(values[1]));
  made_up::write_recorded_run(
      *halftone::prometheus_text(values[2], {.labels = {{"host", "a\\b\"\n"}}}));
}
