// SPDX-License-Identifier: Apache-2.0
// Kernels of every test model on simulated chips, a sample or, with HALFTONE_EVERY_KERNEL, all of
// them: class A to the last bit with the CPU (which the laws hold to the reference), class B exact
// where its sums are and inside its bound where they are not, no finding in any order of warps, and
// memory traffic as close to the ideal as recorded.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "replayed_models.hpp"
#include "sampled_chips.hpp"
#include "syntax.hpp"
#include "traffic.hpp"

namespace halftone::tests {

namespace {

using simulator::Accumulation;

/// Training steps of one model on one chip.
void train(const LinkedArtifact& linked, const Device& device, const std::string& chip, int steps,
           Tally& all) {
  CAPTURE(std::string(linked.name));
  CAPTURE(chip);
  const Artifact artifact = Artifact::linked(*linked.image);
  const std::vector<Binding> sizes = odd_sizes(artifact);
  Tally tally;
  try {
    Replay replay(artifact, device, {.model = "", .bindings = sizes, .seed = 5});
    for (int step = 1; step <= steps; ++step) replay.step(static_cast<std::uint64_t>(step), tally);
  } catch (const std::exception& error) {
    FAIL_CHECK(std::string(error.what()));
  }
  add(tally, chip + "/" + linked.name, all);
}

/// Findings of launches that have no fault.
struct Alarms {
  std::int64_t launches = 0, false_alarms = 0;
};

/// Opcodes of a PTX text that the list of those under test lacks.
void note_unlisted(const std::string& ptx, std::set<std::string>& unlisted) {
  static const std::set<std::string, std::less<>> listed = [] {
    std::ifstream file(HALFTONE_OPCODES);
    return std::set<std::string, std::less<>>(std::istream_iterator<std::string>(file), {});
  }();
  for (const auto& function : simulator::syntax::parse(ptx).functions)
    for (const auto& statement : function.statements)
      if (!statement.opcode.starts_with('.') && !listed.contains(statement.opcode))
        unlisted.emplace(statement.opcode);
}

/// Which kernels of one chip run.
struct Wanted {
  std::string chip;
  std::vector<std::pair<const LinkedArtifact*, Texts>> texts = {};
};

bool every_kernel() { return std::getenv("HALFTONE_EVERY_KERNEL") != nullptr; }

/// On sm_75, sm_80 and sm_90a every kernel; or on a sample of the chips one of all whose texts are
/// alike, whatever model it is of, and each model on one of the chips, which take turns with the
/// commits: compiling all of them takes a quarter of an hour. Says what is left out.
std::vector<Wanted> wanted() {
  std::vector<std::string> all;
  for (const simulator::Chip& chip : simulator::chips()) all.emplace_back(chip.name);
  const unsigned long commit = commit_number(HALFTONE_TEST_MODELS);
  std::set<std::string> chips = {"sm_75", "sm_80", "sm_90a"};
  if (!every_kernel()) chips = sampled_chips(all, commit, 1);
  std::vector<Wanted> made;
  std::size_t kernels = 0, runs = 0, turn = commit;
  for (const std::string& chip : chips) {
    made.push_back({chip});
    Texts seen;
    std::size_t model = turn++;
    for (const LinkedArtifact& linked : kArtifacts) {
      const Texts texts = texts_of(linked, chip);
      kernels += texts.size();
      if (!every_kernel() && model++ % chips.size() != 0) continue;
      made.back().texts.emplace_back(&linked, every_kernel() ? texts : take_new(texts, seen));
      runs += made.back().texts.back().second.size();
    }
    std::printf("%s ", chip.c_str());
  }
  if (!every_kernel())
    std::printf(
        "are the chips of commit %lu, each for its share of the models; left out: %zu kernels of "
        "%zu there, and other chips; tests/run --exhaustive -R simulated_every runs them\n",
        commit, kernels - runs, kernels);
  return made;
}

/// Those of them whose sums may be cut off.
Wanted class_b(Wanted wanted) {
  for (auto& [_, texts] : wanted.texts)
    std::erase_if(texts, [](const std::string& text) {
      return text.find("::tensor_contraction::run<Body") == text.npos;
    });
  return wanted;
}

/// One order of blocks and warps on one chip, all models.
void replay_all(const Wanted& wanted, const simulator::LaunchOptions& options, Tally& all,
                Alarms& alarms, Traffic* traffic) {
  std::map<std::string, std::string> labels;  // by entry, of the model at hand
  std::set<std::string> unlisted;
  std::mutex mutex;  // texts are compiled on several threads
  const auto compile = [&](const std::string& text, const std::string& entry,
                           const std::string& architecture) {
    std::string ptx = compile_with_nvrtc(text, entry, architecture);
    const std::lock_guard lock(mutex);
    labels[entry] = label_of(text);
    if (traffic != nullptr) note_unlisted(ptx, unlisted);
    return ptx;
  };
  const auto observe = [&](const std::string& kernel, const simulator::LaunchReport& report) {
    ++alarms.launches;
    alarms.false_alarms += static_cast<std::int64_t>(report.findings.size());
    if (traffic != nullptr) traffic->add(wanted.chip, labels[kernel], report.counters);
  };
  for (const auto& [linked, texts] : wanted.texts)
    if (!texts.empty()) replay_texts(*linked, wanted.chip, texts, {options, compile, observe}, all);
  for (const std::string& opcode : unlisted) FAIL_CHECK("not in opcodes.txt: " << opcode);
}

}  // namespace

TEST_CASE("every emitted kernel has the CPU's bits on simulated chips, and no false alarm") {
  Tally all;
  Alarms alarms;
  Traffic traffic;
  for (const Wanted& chip : wanted()) {
    replay_all(chip, {.seed = 0}, all, alarms, &traffic);
    replay_all(every_kernel() ? chip : class_b(chip),
               {.traffic = false, .seed = 1, .accumulation = Accumulation::truncating}, all, alarms,
               nullptr);
    if (every_kernel()) replay_all(chip, {.traffic = false, .seed = 2}, all, alarms, nullptr);
  }
  report(all);
  CHECK(all.exact_sums > 0);
  CHECK(all.bounded > 0);
  std::printf("false alarms %lld over %lld launches\n", static_cast<long long>(alarms.false_alarms),
              static_cast<long long>(alarms.launches));
  CHECK(alarms.false_alarms == 0);
  const std::string differences = traffic.differences_from(HALFTONE_TRAFFIC_TABLE, every_kernel());
  std::printf("%s", traffic.summary().c_str());
  CHECK(differences == "");
}

TEST_CASE("training steps of the quickstart's network, replayed, have the CPU's bits") {
  const int steps = every_kernel() ? 20 : 3;
  std::vector<std::string> chips = {"sm_90a"};
  if (every_kernel()) chips = {"sm_75", "sm_80", "sm_90a"};
  Tally all;
  for (const std::string& chip : chips) {
    const Device device = simulated(chip, {.traffic = false});
    for (const char* name : {"digits", "digits_bf16", "digits_f16", "digits_tf32"})
      train(find_artifact(name), device, chip, steps, all);
  }
  std::printf("%d steps under 4 rule sets on %zu chips: ", steps, chips.size());
  report(all);
}

}  // namespace halftone::tests
