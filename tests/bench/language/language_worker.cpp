// SPDX-License-Identifier: Apache-2.0
// language_worker RULES TOKENS WEIGHTS: answers lines, for compare.py; HALFTONE_THREADS says how
// many threads.
//   weights        writes its first weights to the file WEIGHTS, "ok" and how many numbers they are
//   losses STEPS   the losses of so many further steps, on the windows of TOKENS in their order
//   speed SECONDS  tokens a second of further steps
//   greedy COUNT   so many tokens behind each prompt, the likeliest each time
//   decode SECONDS tokens a second of such steps, and of reading the prompts
//   bytes          of memory that the trainer takes
//   memory         the most bytes that this process had at once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <halftone/generator.hpp>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "training.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Prompts, and what is likeliest behind them.
class Decoder {
 public:
  Decoder(const std::string& rules, const halftone::Trainer& trainer)
      : generator_(rule_set(rules).decoder, halftone::Device::cpu(),
                   {.sequences = kSequences, .capacity = kPrompt + kSteps, .chunk = kPrompt}) {
    generator_.copy_parameters(trainer);
    for (int sequence = 0; sequence < kSequences; ++sequence) {
      halftone::Tokens prompt;
      for (int i = 0; i < kPrompt; ++i)
        prompt.push_back((1 + 37 * (i + kPrompt * sequence)) % 4096);
      prompts_.push_back(prompt);
    }
  }

  /// Token by token, of all sequences.
  std::vector<std::int32_t> greedy(int count) {
    std::vector<std::int32_t> found;
    read();
    for (int i = 0; i < count; ++i) {
      found.insert(found.end(), next_.begin(), next_.end());
      step();
    }
    return found;
  }

  void print_speeds(double most) {
    double reading = 0, stepping = 0, rounds = 0;
    while (reading + stepping < most) {
      auto start = Clock::now();
      read();
      reading += seconds_since(start);
      start = Clock::now();
      for (int i = 0; i < kSteps; ++i) step();
      stepping += seconds_since(start);
      ++rounds;
    }
    std::printf("ok %.9g %.9g\n", rounds * kSteps * kSequences / stepping,
                rounds * kPrompt * kSequences / reading);
  }

 private:
  static constexpr int kSequences = 8, kPrompt = 64, kSteps = 64;

  void read() { choose(generator_.prefill(prompts_)); }
  void step() { choose(generator_.step(next_)); }

  void choose(std::span<const float> logits) {
    const std::size_t count = logits.size() / kSequences;
    next_.clear();
    for (std::size_t i = 0; i < logits.size(); i += count) {
      const auto row = logits.subspan(i, count);
      next_.push_back(static_cast<std::int32_t>(std::ranges::max_element(row) - row.begin()));
    }
  }

  halftone::Generator generator_;
  std::vector<halftone::Tokens> prompts_;
  std::vector<std::int32_t> next_;
};

class Worker {
 public:
  Worker(const std::string& rules, const std::string& tokens)
      : rules_(rules),
        trainer_(trainer_of(rule_set(rules), halftone::Device::best(rule_set(rules).artifact),
                            kSizes, 1)),
        batches_(windows(tokens, kSizes.window),
                 {.batch = kSizes.batch, .shuffle = false, .drop_last = true}) {}

  void answer(const std::string& what, double amount, const char* weights) {
    if (what == "weights") {
      trainer_.save_weights(weights);
      std::size_t numbers = 0;
      for (const std::string& name : trainer_.parameter_names())
        numbers += trainer_.parameter(name).size();
      std::printf("ok %zu\n", numbers);
    } else if (what == "losses") {
      std::printf("ok");
      for (int i = 0; i < static_cast<int>(amount); ++i) {
        step();
        std::printf(" %.7g", static_cast<double>(trainer_.loss("loss")));
      }
      std::printf("\n");
    } else if (what == "speed") {
      std::printf("ok %.9g\n", tokens_per_second(amount));
    } else if (what == "greedy") {
      std::printf("ok");
      for (const std::int32_t token : Decoder(rules_, trainer_).greedy(static_cast<int>(amount)))
        std::printf(" %d", token);
      std::printf("\n");
    } else if (what == "decode") {
      Decoder(rules_, trainer_).print_speeds(amount);
    } else if (what == "memory") {
      std::printf("ok %lld\n", peak_bytes());
    } else {
      std::printf("ok %lld\n", static_cast<long long>(trainer_.stats().peak_bytes_measured));
    }
  }

 private:
  static constexpr Sizes kSizes = {};

  void step() {
    auto batch = batches_.next();
    if (!batch) batch = batches_.next();
    trainer_.step(batch->inputs);
    trainer_.wait();
  }

  static long long peak_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return 1024 * std::atoll(line.c_str() + 6);
    return 0;
  }

  double tokens_per_second(double most) {
    const auto start = Clock::now();
    double steps = 0, passed = 0;
    do {
      step();
      ++steps;
      passed = seconds_since(start);
    } while (passed < most);
    return steps * static_cast<double>(kSizes.batch * kSizes.window) / passed;
  }

  std::string rules_;
  halftone::Trainer trainer_;
  halftone::Loader batches_;
};

}  // namespace

int main(int count, char** words) try {
  if (count != 4) return 2;
  Worker worker(words[1], words[2]);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string what;
    double amount = 0;
    in >> what >> amount;
    worker.answer(what, amount, words[3]);
    std::fflush(stdout);
  }
} catch (const std::exception& error) {
  std::printf("error %s\n", error.what());
  return 1;
}
