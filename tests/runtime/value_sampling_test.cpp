// SPDX-License-Identifier: Apache-2.0
// How often values are sampled where the processor has other work, too.
#include <doctest/doctest.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "halftone/value_statistics.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using halftone::ValueSampling;

namespace {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

TEST_CASE("samples take their share of the processor's time, not of what others compute in") {
  auto trainer = make_trainer();
  ValueSampling sampling({.share_of_time = 0.01});
  const auto samples_now = [&] {
    trainer.step(kFeatures, kTarget);
    return sampling.step(trainer).has_value();
  };
  const double before = processor_seconds();
  REQUIRE(samples_now());
  const double most = processor_seconds() - before;  // that the sample took
  // By the clock alone this is long enough.
  std::this_thread::sleep_for(std::chrono::duration<double>(150 * most + 0.5));
  CHECK_FALSE(samples_now());
  for (const double begin = processor_seconds(); processor_seconds() - begin < 150 * most + 0.01;) {
  }
  CHECK(samples_now());
}

TEST_CASE("a share of a long run is sampled, though clocks are looked at ever more rarely") {
  auto trainer = make_trainer();
  ValueSampling sampling({.share_of_time = 0.25});
  int samples = 0;
  double of_samples = 0;
  const double before = processor_seconds();
  while (processor_seconds() - before < 0.5) {
    trainer.step(kFeatures, kTarget);
    const double begin = processor_seconds();
    if (!sampling.step(trainer)) continue;
    ++samples;
    of_samples += processor_seconds() - begin;
  }
  CAPTURE(samples);
  CHECK(samples > 10);
  CHECK(of_samples > 0.05 * 0.5);  // a sample comes later than it might, by half a wait at most
  CHECK(of_samples < 0.4 * 0.5);   // with what the clock itself takes
}
