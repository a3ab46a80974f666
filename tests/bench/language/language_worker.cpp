// SPDX-License-Identifier: Apache-2.0
// language_worker RULES TOKENS WEIGHTS: answers lines, for compare.py; HALFTONE_THREADS says how
// many threads.
//   weights        writes its first weights to the file WEIGHTS, "ok" and how many numbers they are
//   losses STEPS   the losses of so many further steps, on the windows of TOKENS in their order
//   speed SECONDS  tokens a second of further steps
//   bytes          of memory that the trainer takes
//   memory         the most bytes that this process had at once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "training.hpp"

namespace {

class Worker {
 public:
  Worker(const std::string& rules, const std::string& tokens)
      : trainer_(trainer_of(rule_set(rules), halftone::Device::best(rule_set(rules).artifact),
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
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    double steps = 0;
    std::chrono::duration<double> passed{};
    do {
      step();
      ++steps;
      passed = Clock::now() - start;
    } while (passed.count() < most);
    return steps * static_cast<double>(kSizes.batch * kSizes.window) / passed.count();
  }

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
