// SPDX-License-Identifier: Apache-2.0
// Every call to the system fails in turn, once and for good, with every error that disks have. The
// user gets every kernel; what is stored is sound.
#include <doctest/doctest.h>

#include "scenarios.hpp"

namespace halftone::tests {
namespace {

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(
      std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

/// A disk over a network, which says when a file is closed that its quota was passed.
class LateQuota final : public FileCalls {
  ssize_t write(int file, const void* bytes, std::size_t count) override {
    written_ = file;
    return FileCalls::write(file, bytes, count);
  }
  int close(int file) override {
    const int result = FileCalls::close(file);
    if (file != written_) return result;
    errno = EDQUOT;
    return -1;
  }
  int written_ = -1;
};

struct Fault {
  int failure;
  bool keeps_failing;
};

/// Whether the call was reached at all.
bool survive(const Scenario& scenario, const Fault& fault, int at, int& survived) {
  const ScratchFolder scratch;
  scenario.prepare(scratch / scenario.folder);
  FaultyCalls calls;
  calls.fails_at = at;
  calls.failure = fault.failure;
  calls.keeps_failing = fault.keeps_failing;
  calls.longest_write = 150;
  calls.longest_read = 200;
  int made = 0;
  bool right = true;
  {
    KernelCache cache(scenario.settings(scratch), calls);
    for (const int k : kAsked) right = ask(cache, k, made) == image_of(k) && right;
    const KernelCacheStatistics statistics = cache.statistics();
    right = right && statistics.missed() == static_cast<std::uint64_t>(made);
    // A kernel that was made is stored, or there is a reason why not.
    const bool all_stored = statistics.stored == statistics.missed();
    if (scenario.mode != CacheMode::read_only)
      right = right && all_stored == statistics.reason.empty();
  }
  FaultyCalls sound;
  KernelCache after(settings_for(scratch / scenario.folder), sound);
  for (const int k : {1, 2, 7, 8}) right = ask(after, k) == image_of(k) && right;
  const KernelCacheStatistics statistics = after.statistics();
  right = right && statistics.reason.empty() &&
          statistics.missed(CacheMiss::damaged) <= scenario.damaged;
  survived += right;
  return at < calls.calls();
}

}  // namespace

TEST_CASE("every call fails with every error, and the user gets every kernel") {
  const Fault faults[] = {{ENOSPC, false}, {ENOSPC, true}, {EIO, false},    {EIO, true},
                          {EROFS, false},  {EROFS, true},  {EACCES, false}, {EACCES, true},
                          {EDQUOT, false}, {EDQUOT, true}, {EINTR, false},  {EINTR, true},
                          {ENOENT, false}, {EMFILE, true}, {ENOLCK, false}, {ESTALE, true}};
  const std::size_t descriptors = open_descriptors();
  int tried = 0, survived = 0;
  for (const Scenario& scenario : kScenarios) {
    CAPTURE(scenario.name);
    for (const Fault& fault : faults) {
      CAPTURE(fault.failure);
      CAPTURE(fault.keeps_failing);
      int at = 0;
      do {
        CAPTURE(at);
        const int before = survived;
        ++tried;
        if (!survive(scenario, fault, at, survived)) break;
        CHECK(survived == before + 1);
      } while (++at < 1000);
      CHECK(at > 5);
    }
  }
  CHECK(survived == tried);
  CHECK(open_descriptors() == descriptors);
  MESSAGE("faults of calls tried " << tried << ", survived " << survived);
}

TEST_CASE("an entry is read in pieces, and one that cannot be read is not taken away") {
  const ScratchFolder scratch;
  write_file(scratch / name_of(1), entry_of(1));
  FaultyCalls calls;
  calls.longest_read = 7;
  int made = 0;
  KernelCache pieces(settings_for(scratch.path()), calls);
  CHECK(ask(pieces, 1, made) == image_of(1));
  CHECK(made == 0);
  for (int at = 2; at < 5; ++at) {  // open, status, read
    CAPTURE(at);
    FaultyCalls failing;
    failing.fails_at = at;
    KernelCache other(settings_for(scratch.path()), failing);
    CHECK(ask(other, 1, made) == image_of(1));
    CHECK(other.statistics().removed == 0);
    CHECK(other.statistics().hits == 1);  // behind the lock it is looked for again
  }
}

TEST_CASE("a call that a signal interrupts is made again") {
  const ScratchFolder scratch;
  write_file(scratch / name_of(1), entry_of(1));
  for (const int at : {0, 2, 4}) {  // open the folder, open the entry, read it
    CAPTURE(at);
    FaultyCalls calls;
    calls.fails_at = at;
    calls.failure = EINTR;
    KernelCache cache(settings_for(scratch.path()), calls);
    CHECK(ask(cache, 1) == image_of(1));
    CHECK(cache.statistics().hits == 1);
    CHECK(calls.log() == "t");  // a hit at once, without a lock
  }
}

TEST_CASE("an entry that was lost when its file was closed is not stored") {
  const ScratchFolder scratch;
  LateQuota calls;
  KernelCache cache(settings_for(scratch.path()), calls);
  CHECK(ask(cache, 1) == image_of(1));
  CHECK(cache.statistics().not_stored == 1);
  CHECK(cache.statistics().reason.find("Disk quota exceeded") != std::string::npos);
  CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("of several reasons the first is reported") {
  const ScratchFolder scratch;
  std::filesystem::create_directory(scratch / name_of(1));
  FaultyCalls calls;
  KernelCache cache(settings_for(scratch.path()), calls);
  CHECK(ask(cache, 1) == image_of(1));
  calls.fails_at = calls.calls();
  calls.keeps_failing = true;
  CHECK(ask(cache, 2) == image_of(2));
  CHECK(cache.statistics().not_stored == 2);
  CHECK(cache.statistics().reason.find("Is a directory") != std::string::npos);
}

TEST_CASE("a full disk is reported once, and not written to again") {
  const ScratchFolder scratch;
  FaultyCalls calls;
  calls.failure = ENOSPC;
  KernelCache cache(settings_for(scratch.path()), calls);
  CHECK(ask(cache, 1) == image_of(1));
  calls.fails_at = calls.calls();
  calls.keeps_failing = true;
  int made = 0;
  CHECK(ask(cache, 2, made) == image_of(2));
  CHECK(ask(cache, 2, made) == image_of(2));
  CHECK(made == 1);
  CHECK(cache.statistics().memory_hits == 1);
  CHECK(cache.statistics().reason ==
        "the folder '" + scratch.path() +
            "' took no kernel (No space left on device); make room or mend it, or name another "
            "folder in HALFTONE_CACHE_DIR");
  calls.fails_at = FaultyCalls::kNever;
  calls.keeps_failing = false;
  CHECK(ask(cache, 1, made) == image_of(1));  // what is there is still read
  CHECK(cache.statistics().hits == 1);
  CHECK(ask(cache, 3, made) == image_of(3));
  CHECK(cache.statistics().not_stored == 2);
}

}  // namespace halftone::tests
