// SPDX-License-Identifier: Apache-2.0
// made_up_runs FOLDER: two logs whose picture is known. The loss of `high` is 1 and that of `low`
// 0.01 in every step; steps 500 to 600 of `low` were skipped and lowered its loss scale from 2^16
// to 2^15. The gradients of the two layers of `high` are 1 and 1e-4, from step 500 on the other
// way.
#include <utility>

#include "run_files.hpp"

int main(int count, char** values) {
  using namespace halftone::tests;
  if (count != 2) return 2;
  MadeUpRun high, low;
  high.facts.name = "high";
  low.facts.name = "low";
  high.facts.gradient_layers = {"front", "back"};
  high.change = [](halftone::LogEntry& entry) {
    entry.layer_gradients = {1.0, 1e-4};
    if (entry.step >= 500) std::swap(entry.layer_gradients[0], entry.layer_gradients[1]);
  };
  low.loss = [](std::int64_t) { return 0.01f; };
  low.change = [](halftone::LogEntry& entry) {
    entry.loss_scale = entry.step < 500 ? 65536.0f : 32768.0f;
    if (entry.step >= 500 && entry.step <= 600) entry.skipped = 1;
  };
  write_run(std::string(values[1]) + "/high.jsonl", high);
  write_run(std::string(values[1]) + "/low.jsonl", low);
}
