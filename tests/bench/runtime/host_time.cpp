// SPDX-License-Identifier: Apache-2.0
// The host's time for a step: everything but what the driver and the device do. Prints, per number
// of steps in flight, microseconds of a step that nobody asks about; fails when a step made calls
// that depend on a result.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "fake_driver.hpp"
#include "generated_example.hpp"

namespace {

constexpr int kSteps = 20'000, kRounds = 7;
constexpr std::int64_t kBatch = 512;

/// Microseconds per step, of the fastest round.
double time_of(const std::function<void()>& step) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kSteps; ++i) step();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / kSteps);
  }
  return best;
}

/// Whether each of some steps launches one graph and waits for one event at most.
bool asks_nothing(int steps_in_flight) {
  const auto log = std::make_shared<fake::Log>();
  models::line::Trainer trainer(fake::device(log, {.steps_in_flight = steps_in_flight}),
                                {.batch = 2});
  const std::vector<float> features(6), target(4);
  for (int step = 0; step < 3 * steps_in_flight; ++step) {
    log->calls.clear();
    trainer.step(features, target);
    const auto count = [&](const char* call) { return std::ranges::count(log->calls, call); };
    if (count("launch_graph") != 1 || count("synchronise") != 0) return false;
    if (count("synchronise_event") != (step < steps_in_flight ? 0 : 1)) return false;
  }
  return true;
}

}  // namespace

int main() {
  const std::vector<float> features(3 * kBatch, 1.0f), target(2 * kBatch, 2.0f);
  std::printf("inputs of %zu bytes; microseconds of the host per step\n",
              (features.size() + target.size()) * sizeof(float));
  std::printf("in flight   microseconds   one graph, no wait for a result\n");
  bool all = true;
  for (int steps_in_flight : {1, 2, 4, 8}) {
    const auto log = std::make_shared<fake::Log>();
    models::line::Trainer trainer(
        fake::device(log, {.steps_in_flight = steps_in_flight, .idle = true}), {.batch = kBatch});
    const double time = time_of([&] { trainer.step(features, target); });
    const bool good = asks_nothing(steps_in_flight);
    all = all && good;
    std::printf("%9d   %12.2f   %s\n", steps_in_flight, time, good ? "yes" : "NO");
  }
  return all ? 0 : 1;
}
