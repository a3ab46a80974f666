// SPDX-License-Identifier: Apache-2.0
// The model in f32, bf16, f16 and tf32, from equal weights on equal batches: how well it learned.
//   language_compare FOLDER [--steps 300]
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>

#include "training.hpp"

namespace {

void print(const std::string& name, const Run& run, const Run& f32, const Sizes& sizes) {
  const halftone::Statistics& statistics = run.statistics;
  const double tokens = static_cast<double>(statistics.steps * sizes.batch * sizes.window);
  std::printf(
      "%-5s  %8.4f  %8.4f  %+6.3f %%  %7lld  %10.0f  %8.0f  %11lld\n", name.c_str(),
      run.training_loss, run.held_out_loss, 100 * (run.held_out_loss / f32.held_out_loss - 1),
      static_cast<long long>(statistics.skipped_steps), static_cast<double>(statistics.loss_scale),
      tokens / run.seconds, static_cast<long long>(statistics.peak_bytes_measured));
  std::fflush(stdout);
}

void compare(const std::filesystem::path& folder, Plan plan) {
  const auto device = halftone::Device::best(rule_sets().front().artifact);
  plan.training = folder / "training.tok";
  plan.held_out = folder / "held_out.tok";
  plan.look_every = plan.steps;
  std::printf("%s\n%lld steps of %lld tokens\n\n", device.description().c_str(),
              static_cast<long long>(plan.steps),
              static_cast<long long>(plan.sizes.batch * plan.sizes.window));
  std::printf("rules  training  held out  to f32    skipped  loss scale  tokens/s   peak bytes\n");
  Run f32;
  for (const RuleSet& rules : rule_sets()) {
    plan.log = folder / ("compare_" + rules.name + ".jsonl");
    const Run run = train(rules, device, plan);
    if (rules.name == "f32") f32 = run;
    print(rules.name, run, f32, plan.sizes);
  }
  std::printf("\nhalftone report %s/compare_*.jsonl shows the four runs\n", folder.c_str());
}

}  // namespace

int main(int count, char** values) {
  std::filesystem::path folder;
  Plan plan;
  plan.steps = 300;
  CLI::App app("Trains one small GPT under four rule sets");
  app.add_option("FOLDER", folder, "With what make_tokens made")->required();
  app.add_option("--steps", plan.steps, "Of each")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", plan.seed, "Of first weights and order")->capture_default_str();
  CLI11_PARSE(app, count, values);
  try {
    compare(folder, plan);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
