// SPDX-License-Identifier: Apache-2.0
// A process is killed before each call that changes something, and in the middle of each write. The
// next finds every kernel or makes it, and nothing is left behind.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include "scenarios.hpp"

namespace halftone::tests {
namespace {

/// Whether the process lived long enough to be killed there.
bool kill_at(const Scenario& scenario, const ScratchFolder& scratch, int at, bool late) {
  const pid_t child = fork();
  if (child == 0) {
    FaultyCalls calls;
    calls.kills_at = at;
    calls.kills_late = late;
    calls.longest_write = 60;
    KernelCache cache(scenario.settings(scratch), calls);
    bool right = true;
    for (const int k : kAsked) right = ask(cache, k) == image_of(k) && right;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (WIFEXITED(status)) CHECK(WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/// The next process, two hours later.
bool recovers(const Scenario& scenario, const ScratchFolder& scratch) {
  FaultyCalls calls;
  calls.later = std::chrono::hours(2);
  const CacheSettings settings = settings_for(scratch / scenario.folder);
  bool right = true;
  for (const bool again : {false, true}) {
    KernelCache cache(settings, calls);
    int made = 0;
    for (const int k : {1, 2, 7, 8}) right = ask(cache, k, made) == image_of(k) && right;
    right = right && cache.statistics().reason.empty() && (!again || made == 0);
    // What a killed process wrote is whole or was never an entry; only prepared damage is met.
    right = right && (again || cache.statistics().missed(CacheMiss::damaged) <= scenario.damaged);
    (void)ask(cache, again ? 100 : 101);  // whoever stores, reaps
  }
  std::string reason;
  const auto folder = CacheFolder::open(calls, settings.folder, false, reason);
  REQUIRE(folder);
  const CacheSurvey survey = folder->survey();
  return right && survey.entries == 6 && survey.remains == 0 && survey.foreign == 0 &&
         folder->damaged_entries().empty();
}

}  // namespace

TEST_CASE("a process may be killed at every call, and no kernel is lost, torn or wrong") {
  int tried = 0, survived = 0;
  for (const Scenario& scenario : kScenarios) {
    CAPTURE(scenario.name);
    for (const bool late : {false, true}) {
      for (int at = 0; at < 1000; ++at) {
        CAPTURE(at);
        const ScratchFolder scratch;
        scenario.prepare(scratch / scenario.folder);
        if (!kill_at(scenario, scratch, at, late)) {
          CHECK((at > 10 || scenario.mode == CacheMode::read_only));
          break;
        }
        ++tried;
        const bool sound = recovers(scenario, scratch);
        CHECK(sound);
        survived += sound;
      }
    }
  }
  CHECK(survived == tried);
  CHECK(tried > 100);
  MESSAGE("kill points tried " << tried << ", survived " << survived);
}

TEST_CASE("the lock of a killed process is free at once") {
  const ScratchFolder scratch;
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    KernelCache cache(settings_for(scratch.path()));
    (void)cache.image(identity_of(1), [&]() -> std::string {
      (void)!write(ready[1], "x", 1);
      pause();
      return "";
    });
    _exit(1);
  }
  char letter = 0;
  REQUIRE(read(ready[0], &letter, 1) == 1);
  CHECK(std::filesystem::exists(scratch / lock_name_of(1)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  KernelCache cache(settings_for(scratch.path()));
  CHECK(ask(cache, 1) == image_of(1));
  CHECK(cache.statistics().lock_timeouts == 0);
  CHECK_FALSE(std::filesystem::exists(scratch / lock_name_of(1)));
  close(ready[0]);
  close(ready[1]);
}

}  // namespace halftone::tests
