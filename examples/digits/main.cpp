// SPDX-License-Identifier: Apache-2.0
// Trains the network of digits.hpp on handwritten digits under every rule set, once per seed, and
// says how good it became.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <halftone/device.hpp>
#include <iostream>
#include <stdexcept>

#include "report.hpp"
#include "report/page.hpp"
#include "training.hpp"

namespace {

struct Arguments {
  std::string data = DIGITS_CSV;
  std::string json;
  std::string report;
  std::int64_t steps = Plan{}.steps;
  int seeds = 5;
  double at_least = 0.0;
};

/// A bar that is redrawn on a terminal; nothing elsewhere.
void show_progress(const std::string& rules, std::uint64_t seed, std::int64_t done,
                   std::int64_t steps, float loss) {
  static const bool terminal = isatty(STDOUT_FILENO);
  const std::int64_t every = std::max<std::int64_t>(1, steps / 100);
  if (!terminal || (done % every != 0 && done != steps)) return;
  constexpr int kWidth = 40;
  const int filled = static_cast<int>(kWidth * done / steps);
  std::printf("\r%-4s seed %llu [%.*s%*s] %3d %%  loss %.4f", rules.c_str(),
              static_cast<unsigned long long>(seed), filled,
              "########################################", kWidth - filled, "",
              static_cast<int>(100 * done / steps), loss);
  std::fflush(stdout);
}

/// Of the first seed's run: beside the page that is made of it.
std::string log_for(const std::string& rules, const Arguments& arguments) {
  if (arguments.report.empty()) return {};
  return std::filesystem::path(arguments.report).replace_extension(rules + ".jsonl").string();
}

/// All seeds of one rule set.
std::vector<Run> train_all(const RuleSet& rules, const halftone::Device& device, const Split& data,
                           const Arguments& arguments) {
  std::vector<Run> runs;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(arguments.seeds); ++seed) {
    const Plan plan{.steps = arguments.steps,
                    .seed = seed,
                    .name = rules.name,
                    .log = seed == 1 ? log_for(rules.name, arguments) : ""};
    float loss = 0.0f;
    runs.push_back(rules.train(device, data, plan, [&](std::int64_t done, float value) {
      loss = value;
      show_progress(rules.name, seed, done, plan.steps, value);
    }));
    if (isatty(STDOUT_FILENO)) std::printf("\r\033[K");
    std::printf("%-4s seed %llu: held-out accuracy %.2f %%, last loss %.4f\n", rules.name.c_str(),
                static_cast<unsigned long long>(seed), 100 * runs.back().accuracy, loss);
    std::fflush(stdout);
  }
  return runs;
}

template <class Write>
void write_file(const std::string& path, Write write) {
  if (path.empty()) return;
  std::ofstream file(path);
  write(file);
  if (!file.flush())
    throw std::runtime_error("digits: " + path + " cannot be written; choose another file");
}

int run(const Arguments& arguments) {
  const Split data = split(read_images(arguments.data));
  const std::vector<RuleSet> all_rules = rule_sets();
  const auto device = halftone::Device::best(all_rules.front().artifact);
  std::cout << device.description() << "\n"
            << data.training.count() << " images to learn from, " << data.held_out.count()
            << " held out, " << arguments.steps << " steps per seed\n";
  std::vector<Summary> summaries;
  std::vector<halftone::tools::LoggedRun> logged;
  for (const RuleSet& rules : all_rules) {
    const std::vector<Run> runs = train_all(rules, device, data, arguments);
    summaries.push_back(summarize(rules.name, device.description(), runs));
    if (const std::string log = log_for(rules.name, arguments); !log.empty())
      logged.push_back(halftone::tools::read_run(log));
  }
  print(std::cout, summaries);
  write_file(arguments.json, [&](std::ostream& out) { write_json(out, summaries); });
  write_file(arguments.report, [&](std::ostream& out) { out << halftone::tools::page_of(logged); });
  if (!arguments.report.empty())
    std::cout << "curves, kernels and casts: " << arguments.report << "\n";
  const auto worst = std::ranges::min(summaries, {}, &Summary::accuracy);
  if (worst.accuracy >= arguments.at_least) return 0;
  std::cerr << "digits: the accuracy under " << worst.rules << " is below " << arguments.at_least
            << "\n";
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
  app.add_option("--report", arguments.report,
                 "Write curves, kernels and casts to this HTML file, and run logs beside it");
  app.add_option("--at-least", arguments.at_least,
                 "Fail when a mean accuracy, in 0..1, is below this")
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
