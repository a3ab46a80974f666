// SPDX-License-Identifier: Apache-2.0
// The quickstart on the device: in every rule set as accurate as on the CPU, and what the driver is
// asked for in a step, counted.
//   training [--steps 2000] [--seeds 3] [--only f32,bf16,...] [--parts accuracy,counted]
#include "training.hpp"

#include <cstdio>

#include "counted_cuda.hpp"
#include "device_under_test.hpp"
#include "simulated_cuda.hpp"
#include "test_report.hpp"

using namespace halftone;
using namespace halftone::tests;

namespace {

constexpr double kPoints = 0.5;  // of the mean accuracy in percent, as the quickstart promises
constexpr std::int64_t kBatch = 32, kCounted = 16;

double mean_accuracy(const RuleSet& rules, const Device& device, const Split& data, long steps,
                     long seeds) {
  double sum = 0, ms = 0;
  std::int64_t skipped = 0;
  for (long seed = 1; seed <= seeds; ++seed) {
    const Plan plan{.steps = steps, .seed = static_cast<std::uint64_t>(seed)};
    const Run run = rules.train(device, data, plan, [](std::int64_t, float) {});
    sum += run.accuracy;
    ms += run.ms_per_step;
    skipped += run.statistics.skipped_steps;
  }
  const double n = static_cast<double>(seeds), accuracy = 100 * sum / n;
  std::printf("        %s on %s: %.2f %% held out, %.4f ms a step, %lld steps skipped\n",
              rules.name.c_str(), device.name().c_str(), accuracy, ms / n,
              static_cast<long long>(skipped));
  return accuracy;
}

std::vector<std::string> compare_accuracy(const RuleSet& rules, const Device& device,
                                          const Split& data, long steps, long seeds) {
  const double cpu = mean_accuracy(rules, Device::cpu(), data, steps, seeds),
               gpu = mean_accuracy(rules, device, data, steps, seeds);
  if (gpu >= cpu - kPoints) return {};
  return {"the device reaches " + std::to_string(gpu) + " %, the CPU " + std::to_string(cpu) +
          " %; allowed are " + std::to_string(kPoints) + " points less"};
}

std::vector<std::string> count_calls(const RuleSet& rules, const Device& device) {
  const std::vector<Binding> bindings = {{"batch", kBatch}};
  Trainer trainer(rules.artifact, device, {.model = "", .bindings = bindings, .seed = 1});
  const std::vector<float> pixels(static_cast<std::size_t>(kBatch * kPixels), 0.5f);
  const std::vector<std::int32_t> digits(static_cast<std::size_t>(kBatch), 3);
  const NamedValues inputs[] = {{"pixels", std::span(pixels)}, {"digit", std::span(digits)}};
  for (int i = 0; i < 2; ++i) trainer.step(inputs);
  reset_counted_calls();
  for (int i = 0; i < kCounted; ++i) trainer.step(inputs);
  CallCounts calls = counted_calls();
  std::string all;
  for (const auto& [name, count] : calls) all += " " + name + " " + std::to_string(count);
  std::printf("        %s, %lld steps:%s\n", rules.name.c_str(), static_cast<long long>(kCounted),
              all.c_str());
  std::vector<std::string> wrong;
  if (calls["cuGraphLaunch"] != kCounted || calls["cuLaunchKernel"] != 0)
    wrong.push_back("a step is not one graph launch");
  if (calls["cuStreamSynchronize"] != 0)
    wrong.push_back("the host waits for the whole stream " +
                    std::to_string(calls["cuStreamSynchronize"]) + " times");
  if (calls["cuEventSynchronize"] > kCounted)  // for the oldest of those in flight
    wrong.push_back("the host waits for " + std::to_string(calls["cuEventSynchronize"]) +
                    " events in " + std::to_string(kCounted) + " steps");
  return wrong;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments{count, values};
  return report_of("training", arguments, [&](Report& report) {
    std::vector<std::string> names;
    for (const RuleSet& rules : rule_sets()) names.push_back(rules.name);
    const auto only = share_of_names(arguments, "--only", names);
    const auto parts = names_option(arguments, "--parts", {"accuracy", "counted"});
    const long steps = number_option(arguments, "--steps", 2000);
    const long seeds = number_option(arguments, "--seeds", 3);
    const Device device = device_under_test();
    std::printf("%s\n", device.description().c_str());
    const Split data = split(read_images("examples/digits/data/digits.csv"));
    std::string reason;
    const CudaLibrary simulated = simulated_cuda(simulated_chip_of(device));
    const bool plays = is_simulated(device);
    const CudaLibrary* const library = plays ? &simulated : CudaLibrary::open(reason);
    for (const RuleSet& rules : rule_sets()) {
      if (!chosen(only, rules.name)) continue;
      if (chosen(parts, "accuracy"))
        report.run(rules.name + ", " + std::to_string(steps) + " steps",
                   [&] { return compare_accuracy(rules, device, data, steps, seeds); });
      if (chosen(parts, "counted"))
        report.run(rules.name + ", calls of a step", [&] {
          if (!library) throw Skipped(reason);
          return count_calls(rules, counted_device(*library, plays));
        });
    }
  });
}
