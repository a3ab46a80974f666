// SPDX-License-Identifier: Apache-2.0
// What a user may rely on, in the order of docs/cache.md.
#include "cache/kernel_cache.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "../files/faulty_calls.hpp"
#include "kernels.hpp"
#include "../files/scratch_folder.hpp"
#include "stopping.hpp"

namespace halftone::tests {
namespace {

namespace fs = std::filesystem;

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("a kernel is compiled once, and comes from the folder in the next process") {
  const ScratchFolder scratch;
  int made = 0;
  {
    KernelCache first(settings_for(scratch / "a/b/cache"));
    CHECK(ask(first, 1, made) == image_of(1));
    CHECK(ask(first, 1, made) == image_of(1));
    CHECK(ask(first, 2, made) == image_of(2));
    CHECK(made == 2);
    const KernelCacheStatistics statistics = first.statistics();
    CHECK(statistics.missed(CacheMiss::absent) == 2);
    CHECK(statistics.missed() == 2);
    CHECK(statistics.hits == 1);
    CHECK(statistics.stored == 2);
    CHECK(statistics.reason.empty());
  }
  KernelCache second(settings_for(scratch / "a/b/cache"));
  CHECK(ask(second, 2, made) == image_of(2));
  CHECK(made == 2);
  CHECK(second.statistics().hits == 1);
  CHECK(second.statistics().text() == (scratch / "a/b/cache: 1 hit, 0 misses"));
}

TEST_CASE("folder and entries are private, and nothing else is left behind") {
  const ScratchFolder scratch;
  KernelCache cache(settings_for(scratch / "cache"));
  (void)ask(cache, 1);
  CHECK(fs::status(scratch / "cache").permissions() == fs::perms(0700));
  CHECK(files_in(scratch / "cache") == 1);
  CHECK(fs::status(scratch / "cache/" + name_of(1)).permissions() == fs::perms(0600));
}

TEST_CASE("an entry is written and on the disk before it gets its name, and a hit is one touch") {
  const ScratchFolder scratch;
  FaultyCalls calls;
  KernelCache cache(settings_for(scratch / "cache"), calls);
  (void)ask(cache, 1);
  const std::string parents(static_cast<std::size_t>(std::ranges::count(scratch.path(), '/')), 'm');
  CHECK(calls.log() == parents +
                           "m"
                           "ol"
                           "owsr"
                           "u");  // lock; entry; unlock
  (void)ask(cache, 1);
  CHECK(calls.log().ends_with("rut"));
}

TEST_CASE("an exception of the compiler passes through, and nothing is stored") {
  const ScratchFolder scratch;
  KernelCache cache(settings_for(scratch.path()));
  const auto refuse = [&] {
    return cache.image(identity_of(1), []() -> std::string { throw std::runtime_error("log"); });
  };
  CHECK_THROWS_WITH((void)refuse(), "log");
  CHECK(files_in(scratch.path()) == 0);
  CHECK(ask(cache, 1) == image_of(1));
}

TEST_CASE("off neither reads nor writes") {
  const ScratchFolder scratch;
  write_file(scratch / name_of(1), entry_of(1));
  KernelCache cache(settings_for(scratch.path(), CacheMode::off));
  int made = 0;
  CHECK(ask(cache, 1, made) == image_of(1));
  CHECK(ask(cache, 1, made) == image_of(1));
  CHECK(ask(cache, 2, made) == image_of(2));
  CHECK(made == 3);
  CHECK(cache.statistics().missed(CacheMiss::off) == 3);
  CHECK(cache.statistics().text() ==
        "no folder: 0 hits, 3 misses (3 off); HALFTONE_CACHE is off; unset it to keep kernels");
  CHECK(files_in(scratch.path()) == 1);
}

TEST_CASE("ro reads and changes nothing in the folder") {
  const ScratchFolder scratch;
  write_file(scratch / name_of(1), entry_of(1));
  write_file(scratch / name_of(2), "damaged");
  FaultyCalls calls;
  KernelCache cache(settings_for(scratch.path(), CacheMode::read_only), calls);
  int made = 0;
  for (const int number : {1, 2, 3, 2, 3}) CHECK(ask(cache, number, made) == image_of(number));
  CHECK(made == 2);
  CHECK(calls.changes() == 0);
  const KernelCacheStatistics statistics = cache.statistics();
  CHECK(statistics.hits == 1);
  CHECK(statistics.memory_hits == 2);
  CHECK(statistics.missed(CacheMiss::damaged) == 1);
  CHECK(statistics.missed(CacheMiss::absent) == 1);
  KernelCache without(settings_for(scratch / "none", CacheMode::read_only), calls);
  CHECK(ask(without, 1, made) == image_of(1));
  CHECK(calls.changes() == 0);
  CHECK(without.statistics().reason ==
        "kernels are kept in memory alone, since the folder '" + (scratch / "none") +
            "' cannot be opened (No such file or directory); name another folder in "
            "HALFTONE_CACHE_DIR");
}

TEST_CASE("refresh compiles every kernel once more and stores it") {
  const ScratchFolder scratch;
  write_file(scratch / name_of(1), encode_entry(encode_identity(identity_of(1)), "old"));
  KernelCache cache(settings_for(scratch.path(), CacheMode::refresh));
  int made = 0;
  CHECK(ask(cache, 1, made) == image_of(1));
  CHECK(ask(cache, 1, made) == image_of(1));
  CHECK(made == 1);
  CHECK(cache.statistics().missed(CacheMiss::refreshed) == 1);
  CHECK(bytes_of_file(scratch / name_of(1)) == entry_of(1));
}

TEST_CASE("of several threads that ask for one kernel, one compiles it") {
  const ScratchFolder scratch;
  for (const bool folder : {true, false}) {
    CacheSettings settings = settings_for(folder ? scratch.path() : "");
    KernelCache cache(settings);
    std::array<std::atomic<int>, 20> made{};
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int k = 0; k < 20; ++k) {
          const std::string image = cache.image(identity_of(k), [&] {
            ++made[static_cast<std::size_t>(k)];
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            return image_of(k);
          });
          wrong += image != image_of(k);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    for (const auto& count : made) CHECK(count == 1);
    CHECK(cache.statistics().missed() == 20);
    CHECK(cache.statistics().hits + cache.statistics().memory_hits == 7 * 20);
  }
}

TEST_CASE("a process that waits too long for another compiles by itself") {
  const ScratchFolder scratch;
  const int other = open((scratch / lock_name_of(1)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(flock(other, LOCK_EX | LOCK_NB) == 0);
  KernelCache cache(settings_for(scratch.path()), system_file_calls(),
                    std::chrono::milliseconds(20));
  int made = 0;
  CHECK(ask(cache, 1, made) == image_of(1));
  CHECK(made == 1);
  CHECK(cache.statistics().lock_timeouts == 1);
  CHECK(cache.statistics().stored == 1);
  CHECK(fs::exists(scratch / lock_name_of(1)));  // it is the other's
  close(other);
}

TEST_CASE("what nobody wants any more waits neither for a process nor for a thread") {
  const ScratchFolder scratch;
  const int other = open((scratch / lock_name_of(1)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(flock(other, LOCK_EX | LOCK_NB) == 0);
  KernelCache cache(settings_for(scratch.path()));
  std::stop_source stop;
  stop.request_stop();
  const auto ask_in_vain = [&](int number) {
    const MayStop may_stop(stop.get_token());
    const auto begin = std::chrono::steady_clock::now();
    // A compiler gives up likewise: cuda/nvrtc.hpp.
    CHECK_THROWS((void)cache.image(identity_of(number),
                                   []() -> std::string { throw std::runtime_error("given up"); }));
    CHECK(std::chrono::steady_clock::now() - begin < kLockPatience / 2);
  };
  ask_in_vain(1);
  close(other);
  std::atomic<bool> compiles = false, done = false;
  std::thread compiler([&] {
    (void)cache.image(identity_of(2), [&] {
      compiles = true;
      while (!done) std::this_thread::yield();
      return image_of(2);
    });
  });
  while (!compiles) std::this_thread::yield();
  ask_in_vain(2);
  done = true;
  compiler.join();
  CHECK(ask(cache, 2) == image_of(2));
}

TEST_CASE("a limit on the size of files costs the entry and not the process") {
  const ScratchFolder scratch;
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  const rlimit small{.rlim_cur = 512, .rlim_max = limit.rlim_max};
  KernelCache cache(settings_for(scratch.path()));
  const std::string image = image_of(1, 4096);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string answer = cache.image(identity_of(1), [&] { return image; });
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CHECK(answer == image);
  CHECK(cache.statistics().not_stored == 1);
  CHECK(cache.statistics().reason.find("File too large") != std::string::npos);
  CHECK(files_in(scratch.path()) == 0);
  CHECK(ask(cache, 2) == image_of(2));
  CHECK(cache.statistics().stored == 1);
}

TEST_CASE("who waits for another process takes what it stored") {
  const ScratchFolder scratch;
  const int other = open((scratch / lock_name_of(1)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(flock(other, LOCK_EX | LOCK_NB) == 0);
  std::thread holder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    write_file(scratch / "ready", entry_of(1));
    fs::rename(scratch / "ready", scratch / name_of(1));
    close(other);
  });
  KernelCache cache(settings_for(scratch.path()));
  int made = 0;
  CHECK(ask(cache, 1, made) == image_of(1));
  holder.join();
  CHECK(made == 0);
  CHECK(cache.statistics().hits == 1);
  CHECK(cache.statistics().missed() == 0);
}

TEST_CASE("a kernel larger than the limit is kept in memory, with a reason") {
  const ScratchFolder scratch;
  CacheSettings settings = settings_for(scratch.path());
  settings.most_bytes = 50;
  KernelCache cache(settings);
  CHECK(ask(cache, 1) == image_of(1));
  CHECK(files_in(scratch.path()) == 0);
  CHECK(cache.statistics().not_stored == 1);
  CHECK(cache.statistics().reason ==
        "HALFTONE_CACHE_MAX is less than the " +
            std::to_string(encode_identity(identity_of(1)).size() + image_of(1).size()) +
            " bytes of a kernel; give more");
}

TEST_CASE("a decorated compiler compiles again when any part of it changes") {
  const ScratchFolder scratch;
  const auto cache = std::make_shared<KernelCache>(settings_for(scratch.path()));
  CompilerIdentity compiler{"NVRTC 13.0", {"--fmad=false"}, "cubin", ""};
  int made = 0;
  const CompileKernel compile = cached(
      [&](const std::string& text, const std::string& name, const std::string& architecture) {
        ++made;
        return text + "|" + name + "|" + architecture + "|" + compiler.compiler;
      },
      cache,
      [&](const std::string& architecture) {
        CHECK(architecture.starts_with("sm_"));
        return compiler;
      });
  CHECK(compile("text", "k", "sm_80") == "text|k|sm_80|NVRTC 13.0");
  CHECK(compile("text", "k", "sm_80") == "text|k|sm_80|NVRTC 13.0");
  CHECK(made == 1);
  CHECK(compile("texT", "k", "sm_80") == "texT|k|sm_80|NVRTC 13.0");
  CHECK(compile("text", "l", "sm_80") == "text|l|sm_80|NVRTC 13.0");
  CHECK(compile("text", "k", "sm_90a") == "text|k|sm_90a|NVRTC 13.0");
  compiler.compiler = "NVRTC 13.1";
  CHECK(compile("text", "k", "sm_80") == "text|k|sm_80|NVRTC 13.1");
  compiler.options.push_back("-G");
  (void)compile("text", "k", "sm_80");
  compiler.output = "PTX";
  (void)compile("text", "k", "sm_80");
  compiler.driver = "13.0";
  (void)compile("text", "k", "sm_80");
  CHECK(made == 8);
  CHECK(files_in(scratch.path()) == 8);
}

TEST_CASE("statistics name the reason of every miss in one line") {
  KernelCacheStatistics statistics;
  statistics.folder = "/x";
  statistics.misses = {0, 0, 0, 2, 0, 0, 1, 0, 3};
  statistics.hits = 4;
  CHECK(statistics.text() == "/x: 4 hits, 6 misses (2 absent, 1 damaged, 3 other kernel)");
  CHECK(statistics.missed(CacheMiss::other_kernel) == 3);
  CHECK(text_of(CacheMiss::not_ours) == "not ours");
}

}  // namespace halftone::tests
