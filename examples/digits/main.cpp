// SPDX-License-Identifier: Apache-2.0
// Trains the network of digits.hpp on handwritten digits, once per seed, and says how good it
// became.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <halftone/device.hpp>
#include <iostream>

#include "report.hpp"
#include "training.hpp"

namespace {

struct Arguments {
  std::string data = DIGITS_CSV;
  std::string json;
  std::int64_t steps = Plan{}.steps;
  int seeds = 5;
  double at_least = 0.0;
};

/// A bar that is redrawn on a terminal; nothing elsewhere.
void show_progress(std::uint64_t seed, std::int64_t done, std::int64_t steps, float loss) {
  static const bool terminal = isatty(STDOUT_FILENO);
  const std::int64_t every = std::max<std::int64_t>(1, steps / 100);
  if (!terminal || (done % every != 0 && done != steps)) return;
  constexpr int kWidth = 40;
  const int filled = static_cast<int>(kWidth * done / steps);
  std::printf("\rseed %llu [%.*s%*s] %3d %%  loss %.4f", static_cast<unsigned long long>(seed),
              filled, "########################################", kWidth - filled, "",
              static_cast<int>(100 * done / steps), loss);
  std::fflush(stdout);
}

int run(const Arguments& arguments) {
  const Split data = split(read_images(arguments.data));
  const auto device = halftone::Device::best();
  std::cout << device.description() << "\n"
            << data.training.count() << " images to learn from, " << data.held_out.count()
            << " held out, " << arguments.steps << " steps per seed\n";
  std::vector<Run> runs;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(arguments.seeds); ++seed) {
    const Plan plan{.steps = arguments.steps, .seed = seed};
    float loss = 0.0f;
    runs.push_back(train(device, data, plan, [&](std::int64_t done, float value) {
      loss = value;
      show_progress(seed, done, plan.steps, value);
    }));
    if (isatty(STDOUT_FILENO)) std::printf("\r\033[K");
    std::printf("seed %llu: held-out accuracy %.2f %%, last loss %.4f\n",
                static_cast<unsigned long long>(seed), 100 * runs.back().accuracy, loss);
    std::fflush(stdout);
  }
  const Summary summary = summarize(device.description(), runs);
  print(std::cout, summary);
  if (!arguments.json.empty()) {
    std::ofstream file(arguments.json);
    write_json(file, summary);
    if (!file.flush())
      throw std::runtime_error("digits: " + arguments.json +
                               " cannot be written; choose another --json");
  }
  if (summary.accuracy >= arguments.at_least) return 0;
  std::cerr << "digits: the accuracy is below " << arguments.at_least << "\n";
  return 1;
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments;
  CLI::App app("Trains a small network on handwritten digits");
  app.add_option("--steps", arguments.steps, "Training steps per seed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seeds", arguments.seeds, "Runs, each with a seed of its own")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--json", arguments.json,
                 "Write the figures to this file; accuracies are in 0..1");
  app.add_option("--at-least", arguments.at_least,
                 "Fail when the mean accuracy, in 0..1, is below this")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--data", arguments.data, "The images")->capture_default_str();
  CLI11_PARSE(app, count, values);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
