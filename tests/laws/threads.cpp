// SPDX-License-Identifier: Apache-2.0
// Who computes an element decides no bit: not how many threads there are, whose they are, nor how
// many trainers use them at once.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "artifacts.hpp"
#include "executors.hpp"
#include "pair.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

constexpr std::int64_t kBatch = 70;  // more than one range of most kernels
constexpr int kSteps = 3;

/// All parameters after some steps.
std::vector<std::uint32_t> trained(const LinkedArtifact& artifact, const Device& device) {
  Pair inputs(artifact.name, *artifact.image, tested_variant, kBatch);
  Trainer trainer(inputs.artifact, device, inputs.setup(1));
  for (int step = 0; step < kSteps; ++step) {
    inputs.draw();
    trainer.step(inputs.named_inputs());
  }
  std::vector<std::uint32_t> all;
  for (const std::string& name : trainer.parameter_names())
    for (const float value : trainer.parameter(name)) all.push_back(bits(value));
  return all;
}

std::vector<std::pair<const char*, Device>> devices() {
  const Device cpu = Device::cpu(tested_variant);
  return {{"two threads", cpu.with_threads(2)},
          {"seven threads", cpu.with_threads(7)},
          {"an executor of two threads", cpu.with_executor(std::make_shared<executors::Queue>(2))},
          {"jobs inside of submit()", cpu.with_executor(std::make_shared<executors::AtOnce>())},
          {"jobs that never run", cpu.with_executor(std::make_shared<executors::Refusing>())}};
}

}  // namespace

TEST_CASE("steps have the same bits on any number of threads and on any executor") {
  const auto all = devices();
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    const auto expected = trained(artifact, Device::cpu(tested_variant).with_threads(1));
    for (const auto& [name, device] : all) {
      CAPTURE(std::string(name));
      CHECK((trained(artifact, device) == expected));
    }
  }
}

TEST_CASE("trainers that share threads, an executor's own among them, have the bits of one alone") {
  const LinkedArtifact& artifact = find_artifact("every_layer");
  const auto expected = trained(artifact, Device::cpu(tested_variant).with_threads(1));
  const auto queue = std::make_shared<executors::Queue>(2);
  const Device owned = Device::cpu(tested_variant).with_threads(2);
  const Device lent = owned.with_executor(queue);
  std::atomic<int> right = 0, done = 0;
  const auto train = [&](const Device& device) {
    if (trained(artifact, device) == expected) ++right;
    ++done;
    done.notify_all();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back(train, owned);
    threads.emplace_back(train, lent);
    queue->submit([&] { train(lent); });
    queue->submit([&] { train(owned); });
  }
  for (std::thread& thread : threads) thread.join();
  while (done < 12) done.wait(done.load());
  CHECK(right == 12);
}

}  // namespace halftone::tests
