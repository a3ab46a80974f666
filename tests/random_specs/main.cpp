// SPDX-License-Identifier: Apache-2.0
// random_specs [--count N] [--seed S] [--minutes M] [--jobs J] [--covered] [--model FILE] [--text]
// Models drawn from the seeds S, S + 1, ... are compiled for this CPU, trained and asked, and agree
// with the reference in every bit; what does not is shrunk and printed with the command that
// repeats it. --covered draws and compiles nothing: every kind, encoding and optimizer occurs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "coverage.hpp"
#include "halftone/description/text.hpp"
#include "halftone/description/validate.hpp"
#include "models.hpp"
#include "random_model.hpp"
#include "shrink.hpp"
#include "trial.hpp"

namespace halftone::tests {
namespace {

struct Options {
  std::uint64_t seed = 1;
  std::size_t count = 100;
  double minutes = 0;  ///< 0: no limit
  std::size_t jobs = std::max(1u, std::thread::hardware_concurrency());
  bool covered = false, text = false;
  std::string model;
};

std::optional<Options> read(int count, char** values) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = values[i];
    if (word == "--covered") {
      options.covered = true;
      continue;
    }
    if (word == "--text") {
      options.text = true;
      continue;
    }
    if (++i >= count) return std::nullopt;
    char* end = nullptr;
    const double number = std::strtod(values[i], &end);
    const bool is_number = *end == 0 && number >= 0;
    if (word == "--model") {
      options.model = values[i];
    } else if (word == "--seed" && is_number) {
      options.seed = std::strtoull(values[i], nullptr, 10);
    } else if (word == "--count" && is_number) {
      options.count = static_cast<std::size_t>(number);
    } else if (word == "--minutes" && is_number) {
      options.minutes = number;
    } else if (word == "--jobs" && number >= 1) {
      options.jobs = static_cast<std::size_t>(number);
    } else {
      return std::nullopt;
    }
  }
  return options;
}

/// Prints and keeps the smallest model with the fault.
void report(const Trials::Trial& trial, const Verdict& verdict) {
  const std::string fault = verdict.summary();
  std::printf("\nseed %llu %s\n  during %s: %s\n", static_cast<unsigned long long>(trial.run.seed),
              fault.c_str(), verdict.during.c_str(), verdict.sentence.c_str());
  std::fflush(stdout);
  const auto fails = [&](const description::Description& model) {
    return try_alone(model, trial.run).summary() == fault;
  };
  const auto smallest = shrink(trial.model, fails);
  const std::string file = "random_specs." + std::to_string(trial.run.seed) + ".halftone";
  std::ofstream(file) << description::print(smallest);
  std::printf("%s\n  shrunk: %s\n  repeat: random_specs --seed %llu --model %s\n",
              description::print(smallest).c_str(), try_alone(smallest, trial.run).sentence.c_str(),
              static_cast<unsigned long long>(trial.run.seed), file.c_str());
  std::fflush(stdout);
}

class Session {
 public:
  explicit Session(const Options& options) : options_(options), trials_(options.jobs) {}

  int run() {
    const auto begun = std::chrono::steady_clock::now();
    const auto minutes = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() / 60;
    };
    std::size_t number = 0;
    for (; number < options_.count; ++number) {
      if (options_.minutes > 0 && minutes() >= options_.minutes) break;
      const std::uint64_t seed = options_.seed + number;
      description::Description model = random_model(seed);
      if (auto violation = description::validate(model)) {
        ++invalid_[Verdict{Verdict::Kind::invalid, "", violation->message, 0}.summary()];
        continue;
      }
      if (!trials_.has_room()) finish_one();
      trials_.start({number, std::move(model), random_run(seed)});
      if ((number + 1) % 100 == 0) {
        std::printf("%zu models, %.1f minutes, %zu agree, %zu do not\n", number + 1, minutes(),
                    agree_, faults_);
      }
    }
    while (!trials_.is_idle()) finish_one();
    std::printf(
        "%zu models in %.1f minutes: %zu agree, of %zu every step was applied; %zu do not; "
        "the slowest took %.1f s (seed %llu)\n",
        number, minutes(), agree_, applied_, faults_, slowest_,
        static_cast<unsigned long long>(slowest_seed_));
    std::size_t refused = 0;
    for (const auto& [sentence, times] : invalid_) {
      std::printf("  %zu are none: %s\n", times, sentence.c_str());
      refused += times;
    }
    for (const auto& [summary, times] : known_)
      std::printf("  %zu of: %s\n", times, summary.c_str());
    if (5 * refused > number) {
      std::printf("more than one in five is no model: mend the generator\n");
      return 1;
    }
    return faults_ > 0 || agree_ == 0 ? 1 : 0;
  }

 private:
  void finish_one() {
    const auto [trial, verdict] = trials_.finish();
    if (verdict.seconds > slowest_) slowest_ = verdict.seconds, slowest_seed_ = trial.run.seed;
    if (!verdict.is_fault()) {
      ++agree_;
      applied_ += verdict.during == kAllApplied ? 1 : 0;
      return;
    }
    const std::string summary = verdict.summary();
    if (is_limit(verdict)) {
      ++invalid_[summary];
      return;
    }
    ++faults_;
    if (++known_[summary] <= kShrunkOfEach) return report(trial, verdict);
    std::printf("seed %llu %s, once more\n", static_cast<unsigned long long>(trial.run.seed),
                summary.c_str());
  }

  /// What codegen, or a trainer for the symbols at hand, rightly refuses, and validate() cannot:
  /// these are counted, and any other refusal is a
  /// fault.
  static bool is_limit(const Verdict& verdict) {
    static constexpr const char* kLimits[] = {"states chunk_rows, and cannot be", "(P51)",
                                              ", but layer '", "matches none of the targets"};
    return (verdict.kind == Verdict::Kind::refused || verdict.kind == Verdict::Kind::fails) &&
           std::any_of(std::begin(kLimits), std::end(kLimits), [&](const char* limit) {
             return verdict.sentence.find(limit) != std::string::npos;
           });
  }

  static constexpr std::size_t kShrunkOfEach = 1;  // of faults with one summary

  Options options_;
  Trials trials_;
  std::size_t agree_ = 0, applied_ = 0, faults_ = 0;
  double slowest_ = 0;
  std::uint64_t slowest_seed_ = 0;
  std::map<std::string, std::size_t> invalid_, known_;
};

int run_model(const Options& options) {
  const std::filesystem::path path = options.model;
  description::Description model;
  try {
    model = load_model(path.stem().string(), path.parent_path());
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "random_specs: %s\n", error.what());
    return 2;
  }
  const Verdict verdict = try_alone(model, random_run(options.seed));
  std::printf("%s, during %s: %s\n", verdict.summary().c_str(), verdict.during.c_str(),
              verdict.sentence.c_str());
  return verdict.is_fault() ? 1 : 0;
}

int run(const Options& options) {
  if (options.text) {
    std::fputs(description::print(random_model(options.seed)).c_str(), stdout);
    return 0;
  }
  if (options.covered) return check_coverage(options.seed, options.count);
  if (!options.model.empty()) return run_model(options);
  return Session(options).run();
}

}  // namespace
}  // namespace halftone::tests

int main(int count, char** values) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const auto options = halftone::tests::read(count, values);
  if (!options) {
    std::fputs(
        "random_specs [--count N] [--seed S] [--minutes M] [--jobs J]: tries that many models\n"
        "random_specs --seed S --model FILE   tries that one as a model of the seed is tried\n"
        "random_specs --seed S --text         prints the model of the seed\n"
        "random_specs --covered [--count N]   every kind, encoding and optimizer is drawn\n",
        stderr);
    return 2;
  }
  return halftone::tests::run(*options);
}
