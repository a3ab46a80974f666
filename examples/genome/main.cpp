// SPDX-License-Identifier: Apache-2.0
// A byte-level Hyena on genomes: five tasks, each under precision rules of its own.
//   genome train TASK FOLDER [--steps 600] [--fresh]
//   genome judge FOLDER
//   genome sample FOLDER [--length 256] [--seed 1]
//   genome long FOLDER
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <genome_long_text_model.hpp>
#include <halftone/loader.hpp>
#include <iostream>
#include <stdexcept>

#include "judging.hpp"
#include "sampling.hpp"
#include "sizes.hpp"
#include "training.hpp"

namespace {

struct Arguments {
  std::string task;
  Plan plan;
  std::int64_t length = 256, steps = 3;
  std::uint64_t seed = 1;
};

void run_training(const Arguments& arguments, const halftone::Device& device) {
  const Task& chosen = task(arguments.task);
  std::printf("%s\n", device.description().c_str());
  const Run run = train(chosen, device, arguments.plan);
  const halftone::Statistics& statistics = run.statistics;
  if (run.first_step > 0)
    std::printf("went on from step %lld\n", static_cast<long long>(run.first_step));
  if (!run.why_not_before.empty()) std::printf("%s\n", run.why_not_before.c_str());
  const auto steps = statistics.steps - run.first_step;
  if (steps > 0)
    std::printf(
        "%s, %lld steps in %.0f s, %.1f MB; skipped of all %lld, loss scale %g after %lld "
        "changes\n",
        run.rules.c_str(), static_cast<long long>(steps), run.seconds,
        static_cast<double>(statistics.peak_bytes_measured) / 1e6,
        static_cast<long long>(statistics.skipped_steps),
        static_cast<double>(statistics.loss_scale), static_cast<long long>(run.scale_updates));
  judge(chosen, device, arguments.plan.folder);
}

/// Sequences that go on from the beginning of what is held out, beside all of it.
void make_samples(const Arguments& arguments, const halftone::Device& device) {
  constexpr std::int64_t kRows = 8;
  constexpr std::size_t kPrompt = 32;
  constexpr int kRun = 4;
  const auto& folder = arguments.plan.folder;
  const Task& of = task("generation");
  const RuleSet* rules = trained_rules(folder, of, false);
  if (rules == nullptr)
    throw std::runtime_error("genome: generation is not trained; train it first");
  halftone::Predictor predictor = predictor_of(rules->artifact, device, of.length, kRows);
  predictor.load_weights(file_of(folder, of, false, *rules, ".safetensors"));
  const std::string real = read_text(folder / (of.judged + ".tok"));
  const auto prompt = std::string_view(real).substr(0, kPrompt);
  const std::string learned = read_text(folder / (of.counted + ".tok"));
  const Markov chain = best_markov(learned);
  std::string made, of_chain;
  for (const std::string& text :
       sample(predictor, kRows, arguments.length, prompt, arguments.seed)) {
    std::printf("%s\n", text.c_str());
    made += text.substr(kPrompt);
    of_chain +=
        sample(chain, arguments.length, prompt, arguments.seed + of_chain.size()).substr(kPrompt);
  }
  std::printf("\n                  GC content   distance of runs of %d from the held-out part's\n",
              kRun);
  const auto print = [&](const std::string& what, std::string_view text) {
    std::printf("%-18s %9.3f   %.3f\n", what.c_str(), gc_content(text),
                kmer_distance(text, real, kRun));
  };
  print("samples", made);
  print("Markov chain's", of_chain);
  print("what was learned", learned);
}

/// Steps of one text of 65,536 bases.
void train_on_long_text(const Arguments& arguments, const halftone::Device& device) {
  constexpr std::int64_t kMostBytes = 4'000'000'000;
  const auto artifact = models::long_text::artifact();
  halftone::Trainer trainer = trainer_of(artifact, device, kLong, 1, arguments.plan.seed);
  halftone::Loader texts(
      halftone::Dataset::tokens(arguments.plan.folder / "chloroplast_training.tok",
                                {.input = "text", .targets = "label", .length = kLong}),
      {.batch = 1, .seed = arguments.plan.seed});
  for (std::int64_t step = 0; step < arguments.steps;) {
    const auto batch = texts.next();
    if (!batch) continue;
    const auto start = std::chrono::steady_clock::now();
    trainer.step(batch->inputs);
    trainer.wait();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    std::printf("step %lld: %.2f s, loss %.4f\n", static_cast<long long>(++step), passed.count(),
                static_cast<double>(trainer.loss("loss")));
    std::fflush(stdout);
  }
  const halftone::Statistics statistics = trainer.stats();
  std::printf("%d bases, planned %lld bytes, measured %lld\n", kLong,
              static_cast<long long>(statistics.peak_bytes_predicted),
              static_cast<long long>(statistics.peak_bytes_measured));
  if (statistics.peak_bytes_measured >= kMostBytes)
    throw std::runtime_error("genome: a step takes 4 GB or more");
}

void add_folder(CLI::App& command, Arguments& arguments) {
  command.add_option("FOLDER", arguments.plan.folder, "With what make_genome made")->required();
}

void add_training(CLI::App& command, Arguments& arguments) {
  Plan& plan = arguments.plan;
  command
      .add_option("TASK", arguments.task, "generation, adaptation, annotation, variant or function")
      ->required();
  add_folder(command, arguments);
  command
      .add_option("--steps", plan.steps,
                  "Up to which, those of a checkpoint included; otherwise as the task says")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--batch", plan.batch, "Texts of a step; otherwise as the task says")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--seed", plan.seed, "Of first weights and order")->capture_default_str();
  command.add_option("--from", plan.first_weights, "A file of weights to begin with");
  command.add_flag("--fresh", plan.fresh, "Of adaptation: begin with weights that are drawn");
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments;
  CLI::App app("Trains a small Hyena on genomes, and says what it is worth");
  app.require_subcommand(1);
  CLI::App* training = app.add_subcommand("train", "Learn a task");
  CLI::App* judging = app.add_subcommand("judge", "All trained tasks on what is held out");
  CLI::App* sampling = app.add_subcommand("sample", "Make sequences");
  CLI::App* long_text = app.add_subcommand("long", "Steps on a text of 65,536 bases");
  add_training(*training, arguments);
  for (CLI::App* command : {judging, sampling, long_text}) add_folder(*command, arguments);
  sampling->add_option("--length", arguments.length, "Bases of each, 32 of a prompt among them")
      ->check(CLI::Range(64, kRead))
      ->capture_default_str();
  sampling->add_option("--seed", arguments.seed, "Of the draws")->capture_default_str();
  long_text->add_option("--steps", arguments.steps, "To take")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  CLI11_PARSE(app, count, values);
  try {
    const auto device = halftone::Device::best(tasks().front().rules.front().artifact);
    if (*training)
      run_training(arguments, device);
    else if (*sampling)
      make_samples(arguments, device);
    else if (*long_text)
      train_on_long_text(arguments, device);
    else
      for (const Task& each : tasks()) judge(each, device, arguments.plan.folder);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
