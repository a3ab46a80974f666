// SPDX-License-Identifier: Apache-2.0
// A small GPT: learns from a folder of tokens, then writes text.
//   language train FOLDER [--rules bf16] [--steps 1200]
//   language write FOLDER [--prompt "It is a truth"] [--temperature 0.8] [--top-p 0.95] [--seed 1]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <halftone/tokenizer.hpp>
#include <iostream>
#include <stdexcept>

#include "training.hpp"
#include "writing.hpp"

namespace {

struct Arguments {
  std::filesystem::path folder;
  std::string rules = "f32";
  std::filesystem::path checkpoint;
  Plan plan;
  halftone::Sampling sampling{.temperature = 0.8, .top_p = 0.95, .seed = 1};
  std::string prompt = "It was";
  std::int64_t count = 200;

  /// In the folder, one for each rule set.
  [[nodiscard]] std::filesystem::path file(const char* extension) const {
    return folder / ("language_" + rules + extension);
  }
  [[nodiscard]] std::filesystem::path checkpoint_file() const {
    return checkpoint.empty() ? file(".safetensors") : checkpoint;
  }
};

halftone::Tokenizer tokenizer_of(const Arguments& arguments) {
  const auto file = arguments.folder / "tokenizer.json";
  auto tokenizer = halftone::Tokenizer::load(file);
  if (tokenizer.size() > kVocabulary)
    throw std::runtime_error("language: " + file.string() + " has " +
                             std::to_string(tokenizer.size()) + " tokens and the model " +
                             std::to_string(kVocabulary) +
                             "; make a smaller one with make_tokens, or a larger embedding in "
                             "language.hpp");
  return tokenizer;
}

void run_training(const Arguments& arguments, const halftone::Device& device) {
  (void)tokenizer_of(arguments);
  Plan plan = arguments.plan;
  plan.training = arguments.folder / "training.tok";
  plan.held_out = arguments.folder / "held_out.tok";
  plan.checkpoint = arguments.checkpoint_file();
  plan.log = arguments.file(".jsonl");
  const Run run = train(rule_set(arguments.rules), device, plan);
  const auto steps = run.statistics.steps - run.first_step;
  if (run.first_step > 0)
    std::printf("went on from step %lld of %s\n", static_cast<long long>(run.first_step),
                plan.checkpoint.c_str());
  if (steps > 0)
    std::printf("%lld steps of %lld tokens, %.0f tokens a second\n", static_cast<long long>(steps),
                static_cast<long long>(plan.sizes.batch * plan.sizes.window),
                static_cast<double>(steps * plan.sizes.batch * plan.sizes.window) / run.seconds);
  std::printf("held-out loss %.4f a token: as unsure as among %.0f equally likely ones\n",
              run.held_out_loss, std::exp(run.held_out_loss));
}

void write(const Arguments& arguments, const halftone::Device& device) {
  halftone::check(arguments.sampling, "write");
  const halftone::Tokenizer tokenizer = tokenizer_of(arguments);
  const std::int64_t window = arguments.plan.sizes.window;
  halftone::Generator generator(rule_set(arguments.rules).decoder, device,
                                {.sequences = 1, .capacity = window});
  generator.load_weights(arguments.checkpoint_file());
  std::vector<halftone::Token> text = tokenizer.encode(arguments.prompt);
  if (text.empty())
    throw std::runtime_error("language: the prompt is empty; give at least a letter");
  std::cout << arguments.prompt;
  const auto show = [&](halftone::Token token) {
    // The model has rows for tokens that a smaller tokenizer lacks.
    if (token < tokenizer.size()) std::cout << tokenizer.text(token) << std::flush;
  };
  continue_text(text, arguments.count, generator, window, arguments.sampling, show);
  std::cout << "\n";
}

void add_shared(CLI::App& command, Arguments& arguments) {
  command.add_option("FOLDER", arguments.folder, "With what make_tokens made")->required();
  command.add_option("--rules", arguments.rules, "Of precision: f32, bf16, f16 or tf32")
      ->capture_default_str();
  command.add_option("--checkpoint", arguments.checkpoint,
                     "Instead of FOLDER/language_RULES.safetensors");
  command.add_option("--window", arguments.plan.sizes.window, "Tokens that are seen together")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
}

void add_training(CLI::App& command, Arguments& arguments) {
  Plan& plan = arguments.plan;
  command.add_option("--steps", plan.steps, "Up to which, those of a checkpoint included")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--batch", plan.sizes.batch, "Windows of a step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--look-every", plan.look_every, "Steps between looks at the held-out text")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--seed", plan.seed, "Of first weights and order")->capture_default_str();
  command.add_flag("--gradients", plan.gradients, "Norms of every block's gradient in the log");
}

void add_writing(CLI::App& command, Arguments& arguments) {
  halftone::Sampling& sampling = arguments.sampling;
  command.add_option("--prompt", arguments.prompt, "What the text begins with")
      ->capture_default_str();
  command.add_option("--length", arguments.count, "Tokens to write")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--temperature", sampling.temperature, "0 takes the likeliest token")
      ->capture_default_str();
  command.add_option("--top-k", sampling.top_k, "Of so many likeliest tokens; 0: of all")
      ->capture_default_str();
  command.add_option("--top-p", sampling.top_p, "Of those that have this probability together")
      ->capture_default_str();
  command.add_option("--min-p", sampling.min_p, "Of those at least so likely beside the likeliest")
      ->capture_default_str();
  command.add_option("--seed", sampling.seed, "Of the draws")->capture_default_str();
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments;
  CLI::App app("Trains a small GPT on novels, and writes with it");
  app.require_subcommand(1);
  CLI::App* training = app.add_subcommand("train", "Learn from FOLDER/training.tok");
  CLI::App* writing = app.add_subcommand("write", "Go on from a prompt");
  for (CLI::App* command : {training, writing}) add_shared(*command, arguments);
  add_training(*training, arguments);
  add_writing(*writing, arguments);
  CLI11_PARSE(app, count, values);
  try {
    const auto device = halftone::Device::best(rule_set(arguments.rules).artifact);
    if (*training)
      run_training(arguments, device);
    else
      write(arguments, device);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
