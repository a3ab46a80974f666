// SPDX-License-Identifier: Apache-2.0
// Every mutant must be killed: another bit than the CPU's, a value outside of N8, or a finding.
// On sm_80, or sm_75 for what only it compiles; with HALFTONE_EVERY_CHIP on every chip.
#include "mutants.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>

#include "artifacts.hpp"
#include "replay.hpp"
#include "simulation.hpp"

namespace halftone::tests {

namespace {

constexpr std::uint64_t kSeeds[] = {0, 1, 2};  // of the order in which blocks and warps run
// Mutants times chips, as docs/benchmarks/simulated.md records them.
constexpr int kOnOneChip = 135, kOnEveryChip = 381;

bool every_chip() { return std::getenv("HALFTONE_EVERY_CHIP") != nullptr; }

/// What a kernel did, and whether it could be asked at all.
struct Verdict {
  std::string killed;  ///< by what; empty: it lives
  std::string broken;  ///< why the mutant is none
};

bool is_of(const std::string& text, const Mutant& mutant) {
  return text.substr(0, text.find('\n')).find(": " + std::string(mutant.kernel) + ", ") !=
         std::string::npos;
}

/// Of the kernels that run before any other does.
bool is_refresh(const std::string& text) {
  return text.substr(0, text.find('\n')).find(": refresh") != std::string::npos;
}

/// Replays the mutant's kernel alone, through three steps, the last with hostile inputs.
Verdict replay(const Mutant& mutant, const std::string& chip, bool changed, std::uint64_t seed) {
  Verdict verdict;
  std::atomic<int> found = 0;  // texts are compiled on several threads
  const auto compile = [&](std::string text, const std::string& name,
                           const std::string& architecture) {
    if (!is_of(text, mutant))
      return is_refresh(text) ? compile_with_nvrtc(text, name, architecture)
                              : empty_kernel(name, architecture);
    const std::size_t at = text.find(mutant.from);
    if (changed && at != std::string::npos) {
      text.replace(at, mutant.from.size(), mutant.to);
    }
    found += at != std::string::npos ? 1 : 0;
    return compile_with_nvrtc(text, name, architecture);
  };
  const auto observe = [&](const std::string&, const simulator::LaunchReport& report) {
    if (!report.findings.empty() && verdict.killed.empty())
      verdict.killed = "finding: " + report.findings.front().text();
  };
  const Artifact artifact = Artifact::linked(*find_artifact(mutant.model).image);
  const std::array bindings = {Binding{"batch", mutant.batch}};
  Tally tally;
  try {
    Replay replay(artifact, simulated(chip, {.traffic = false, .seed = seed}, compile, observe),
                  {.model = "", .bindings = bindings, .seed = 5},
                  [&](const std::string& text) { return is_of(text, mutant); });
    if (found != 1) verdict.broken = "the fragment stands in " + std::to_string(found) + " texts";
    for (std::uint64_t step = 1; step <= 3 && verdict.broken.empty() && tally.clean(); ++step)
      replay.step(step, tally, step < 3 ? Inputs::ordinary : Inputs::hostile);
    if (verdict.broken.empty() && tally.launches + tally.exact_sums == 0)
      verdict.broken = "the kernel was not launched";
  } catch (const std::exception& error) {
    if (verdict.killed.empty()) verdict.broken = error.what();
  }
  if (!tally.clean() && verdict.killed.empty())
    verdict.killed = (tally.differing > 0 ? "bits: " : "bound: ") + tally.first;
  return verdict;
}

class Score {
 public:
  void run(std::span<const Mutant> mutants) {
    for (const Mutant& mutant : mutants) {
      for (const char* chip : {"sm_75", "sm_80", "sm_90a"})
        if (is_for(mutant, chip)) run(mutant, chip);
    }
  }
  void print() const { std::printf("killed %d of %d\n", killed_, count_); }
  [[nodiscard]] int count() const { return count_; }

 private:
  static bool is_for(const Mutant& mutant, const std::string& chip) {
    if (mutant.chips == Chips::sm_75) return chip == "sm_75";
    if (chip == "sm_80") return true;
    return every_chip() && (chip == "sm_90a" || mutant.chips == Chips::all);
  }

  void run(const Mutant& mutant, const std::string& chip) {
    CAPTURE(std::string(mutant.fault));
    CAPTURE(std::string(mutant.model));
    CAPTURE(std::string(mutant.kernel));
    CAPTURE(chip);
    ++count_;
    const auto kernel =
        std::tuple{std::string(mutant.model), std::string(mutant.kernel), chip, mutant.batch};
    if (sound_.insert(kernel).second) {
      for (const std::uint64_t seed : kSeeds) {
        const Verdict unchanged = replay(mutant, chip, false, seed);
        CHECK(unchanged.killed == "");
        CHECK(unchanged.broken == "");
      }
    }
    Verdict verdict;
    for (const std::uint64_t seed : kSeeds)
      if (verdict.killed.empty() && verdict.broken.empty())
        verdict = replay(mutant, chip, true, seed);
    CHECK(verdict.broken == "");
    CHECK_FALSE(verdict.killed.empty());
    if (!verdict.broken.empty() || verdict.killed.empty()) return;
    ++killed_;
    std::printf("%s, %s/%s on %s: %s\n", std::string(mutant.fault).c_str(),
                std::string(mutant.model).c_str(), std::string(mutant.kernel).c_str(), chip.c_str(),
                verdict.killed.c_str());
  }

  std::set<std::tuple<std::string, std::string, std::string, std::int64_t>> sound_;
  int count_ = 0, killed_ = 0;
};

}  // namespace

TEST_CASE("every mutant of an emitted kernel is killed, and no kernel as emitted is") {
  Score score;
  for (const auto mutants : {tensor_mutants(), split_mutants(), ordered_mutants(),
                             reduction_mutants(), element_mutants()})
    score.run(mutants);
  score.print();
  CHECK(score.count() == (every_chip() ? kOnEveryChip : kOnOneChip));
}

}  // namespace halftone::tests
