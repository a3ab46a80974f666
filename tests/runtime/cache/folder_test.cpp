// SPDX-License-Identifier: Apache-2.0
// The limit of a folder, what dead processes left in it, and what is not its own.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <set>

#include "cache/cache_folder.hpp"
#include "../files/faulty_calls.hpp"
#include "kernels.hpp"
#include "../files/scratch_folder.hpp"

namespace halftone::tests {
namespace {

namespace fs = std::filesystem;

/// Last used that many minutes ago.
void age(const std::string& path, int minutes) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
}

std::set<int> numbers_in(const ScratchFolder& scratch, int count) {
  std::set<int> found;
  for (int k = 0; k < count; ++k) {
    if (fs::exists(scratch / name_of(k))) found.insert(k);
  }
  return found;
}

std::unique_ptr<CacheFolder> open_folder(const ScratchFolder& scratch,
                                         FileCalls& calls = system_file_calls()) {
  std::string reason;
  auto folder = CacheFolder::open(calls, scratch.path(), false, reason);
  REQUIRE_MESSAGE(folder, reason);
  return folder;
}

}  // namespace

TEST_CASE("what was used longest ago is evicted, until an eighth of the limit is free") {
  const ScratchFolder scratch;
  for (int k = 0; k < 16; ++k) {
    write_file(scratch / name_of(k), std::string(100, 'x'));
    age(scratch / name_of(k), 16 - k);
  }
  age(scratch / name_of(2), 0);
  const auto folder = open_folder(scratch);
  CHECK(folder->sweep(1600).evicted == 0);
  const CacheSurvey survey = folder->sweep(1599);  // leaves at most 1400
  CHECK(survey.evicted == 2);
  CHECK(survey.entries == 14);
  CHECK(survey.bytes == 1400);
  CHECK(numbers_in(scratch, 16) == std::set<int>{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(folder->sweep(350).evicted == 11);
  CHECK(numbers_in(scratch, 16) == std::set<int>{2, 14, 15});
}

TEST_CASE("a hit counts as use, and the limit holds while a cache is filled") {
  const ScratchFolder scratch;
  CacheSettings settings = settings_for(scratch.path());
  const std::uint64_t entry = entry_of(10).size();
  settings.most_bytes = 8 * entry;
  for (int k = 0; k < 8; ++k) {
    write_file(scratch / name_of(k), entry_of(k));
    age(scratch / name_of(k), 80 - k);
  }
  KernelCache cache(settings);
  int made = 0;
  CHECK(ask(cache, 0, made) == image_of(0));
  CHECK(made == 0);
  CHECK(ask(cache, 10, made) == image_of(10));
  CHECK(cache.statistics().evicted == 2);
  CHECK(numbers_in(scratch, 11) == std::set<int>{0, 3, 4, 5, 6, 7, 10});
  for (int k = 11; k < 60; ++k) {
    (void)ask(cache, k);
    CHECK(open_folder(scratch)->survey().bytes <=
          settings.most_bytes + settings.most_bytes / 16 + entry);
  }
}

TEST_CASE("remains are reaped after an hour, and nothing foreign is ever touched") {
  const ScratchFolder scratch;
  const std::string key = name_of(1).substr(0, 64);
  const std::string remains[] = {name_of(1) + ".12.34.0.tmp", key + ".lock"};
  const std::string foreign[] = {"notes.tmp",
                                 "x.lock",
                                 key,
                                 key + ".kernel.bak",
                                 key.substr(1) + ".kernel",
                                 "G" + key.substr(1) + ".kernel",
                                 ".hidden"};
  for (const auto& name : remains) write_file(scratch / name, "half");
  for (const auto& name : foreign) {
    write_file(scratch / name, "mine");
    age(scratch / name, 300);
  }
  fs::create_directory(scratch / "folder.tmp");
  FaultyCalls calls;
  const auto folder = open_folder(scratch, calls);
  CHECK(folder->survey().remains == 2);
  CHECK(folder->survey().foreign == 8);
  for (const auto& name : remains) age(scratch / name, 55);
  CHECK(folder->sweep(1).reaped == 0);
  for (const auto& name : remains) age(scratch / name, 65);
  CHECK(folder->sweep(1).reaped == 2);
  for (const auto& name : remains) write_file(scratch / name, "half");
  for (const auto& name : remains) age(scratch / name, -65);  // a clock was set back
  CHECK(folder->sweep(1).reaped == 2);
  write_file(scratch / name_of(1), entry_of(1));
  for (const auto& name : remains) write_file(scratch / name, "half");
  const CacheSurvey cleared = folder->clear();
  CHECK(cleared.evicted == 1);
  CHECK(cleared.reaped == 2);
  CHECK(cleared.foreign == 8);
  for (const auto& name : foreign) CHECK(bytes_of_file(scratch / name) == "mine");
}

TEST_CASE("a process that stores a kernel reaps what others left") {
  const ScratchFolder scratch;
  const std::string remains = scratch / (name_of(1) + ".12.34.0.tmp");
  write_file(remains, "half");
  for (const int minutes : {30, 90}) {
    CAPTURE(minutes);
    age(remains, minutes);
    KernelCache cache(settings_for(scratch.path()));
    (void)ask(cache, minutes);
    CHECK(cache.statistics().reaped == (minutes > 60 ? 1 : 0));
  }
}

TEST_CASE("only entries that are not sound are found damaged") {
  const ScratchFolder scratch;
  for (int k = 0; k < 5; ++k) write_file(scratch / name_of(k), entry_of(k));
  write_file(scratch / name_of(1), entry_of(1) + "x");
  write_file(scratch / name_of(2), entry_of(3));  // whole, at another's place
  std::string later = entry_of(4);
  later[8] = 2;  // of another format: not ours to judge
  write_file(scratch / name_of(4), later);
  std::vector<std::string> expected = {name_of(1), name_of(2)};
  std::ranges::sort(expected);
  CHECK(open_folder(scratch)->damaged_entries() == expected);
}

}  // namespace halftone::tests
