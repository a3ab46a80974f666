// SPDX-License-Identifier: Apache-2.0
// Many processes on one folder.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <memory>
#include <random>
#include <vector>

#include "kernels.hpp"
#include "../files/scratch_folder.hpp"

namespace halftone::tests {
namespace {

constexpr int kProcesses = 64, kKernels = 200;

/// Seen by all processes.
struct Shared {
  std::atomic<int> compiled[kKernels];
  std::atomic<int> asked, wrong, reasons;
};

struct Unmap {
  void operator()(Shared* shared) const { munmap(shared, sizeof(Shared)); }
};

std::unique_ptr<Shared, Unmap> share() {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return std::unique_ptr<Shared, Unmap>(new (memory) Shared{});
}

/// Asks for every kernel, each process in an order of its own.
void ask_for_all(const CacheSettings& settings, unsigned seed, Shared& shared) {
  KernelCache cache(settings);
  std::vector<int> order(kKernels);
  for (int k = 0; k < kKernels; ++k) order[static_cast<std::size_t>(k)] = k;
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  for (const int k : order) {
    const std::string image = cache.image(identity_of(k), [&] {
      ++shared.compiled[k];
      return image_of(k, 3000);
    });
    ++shared.asked;
    shared.wrong += image != image_of(k, 3000);
  }
  shared.reasons += !cache.statistics().reason.empty();
}

std::vector<pid_t> start(const CacheSettings& settings, Shared& shared) {
  std::vector<pid_t> processes;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      ask_for_all(settings, static_cast<unsigned>(p), shared);
      _exit(0);
    }
    processes.push_back(child);
  }
  return processes;
}

int count_of_failed(const std::vector<pid_t>& processes) {
  int failed = 0;
  for (const pid_t process : processes) {
    int status = 0;
    const bool waited = waitpid(process, &status, 0) == process;
    failed += !waited || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  return failed;
}

int sum(const Shared& shared) {
  int compiled = 0;
  for (const auto& count : shared.compiled) compiled += count;
  return compiled;
}

std::unique_ptr<CacheFolder> open_folder(const std::string& path) {
  std::string reason;
  auto folder = CacheFolder::open(system_file_calls(), path, true, reason);
  REQUIRE_MESSAGE(folder, reason);
  return folder;
}

}  // namespace

TEST_CASE("64 processes ask for 200 kernels each, which are compiled once") {
  const ScratchFolder scratch;
  const auto shared = share();
  const CacheSettings settings = settings_for(scratch / "cache");
  CHECK(count_of_failed(start(settings, *shared)) == 0);
  CHECK(shared->asked == kProcesses * kKernels);
  CHECK(shared->wrong == 0);
  CHECK(shared->reasons == 0);
  CHECK(sum(*shared) == kKernels);
  const CacheSurvey survey = open_folder(settings.folder)->survey();
  CHECK(survey.entries == kKernels);
  CHECK(survey.remains == 0);
  CHECK(open_folder(settings.folder)->damaged_entries().empty());
  MESSAGE("processes " << kProcesses << ", kernels " << kKernels << ", asked "
                       << shared->asked.load() << ", wrong " << shared->wrong.load()
                       << ", compiled " << sum(*shared));
}

TEST_CASE("64 processes of which a third is killed share a folder that is swept all the time") {
  const ScratchFolder scratch;
  const auto shared = share();
  CacheSettings settings = settings_for(scratch / "cache");
  settings.most_bytes = 100 * 3300;  // half of what is asked for
  const auto folder = open_folder(settings.folder);
  std::vector<pid_t> processes = start(settings, *shared);
  std::mt19937 random(7);
  for (int victim = 0; victim < kProcesses / 3; ++victim) {
    folder->sweep(20 * 3300);
    kill(processes.back(), SIGKILL);
    int status = 0;
    CHECK(waitpid(processes.back(), &status, 0) == processes.back());
    processes.pop_back();
    usleep(random() % 5000);
  }
  CHECK(count_of_failed(processes) == 0);
  CHECK(shared->asked >= static_cast<int>(processes.size()) * kKernels);
  CHECK(shared->wrong == 0);
  CHECK(shared->reasons == 0);
  CHECK(folder->damaged_entries().empty());
  MESSAGE("processes " << kProcesses << ", killed " << kProcesses / 3 << ", asked "
                       << shared->asked.load() << ", wrong " << shared->wrong.load()
                       << ", compiled " << sum(*shared));
}

}  // namespace halftone::tests
