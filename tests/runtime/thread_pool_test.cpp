// SPDX-License-Identifier: Apache-2.0
#include "thread_pool.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "halftone/error.hpp"

using halftone::ThreadPool;
using halftone::Work;

namespace {

/// How many threads ran one of 40 tasks, which wait for a second thread for `patience`.
std::size_t runners(ThreadPool& pool, Work* work, std::chrono::milliseconds patience) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::atomic<bool>> ran(static_cast<std::size_t>(pool.threads()));
  const auto count = [&] {
    return static_cast<std::size_t>(std::ranges::count_if(ran, [](auto& it) { return it.load(); }));
  };
  const auto body = [&](std::int64_t, std::int64_t, int slot) {
    ran[static_cast<std::size_t>(slot)] = true;
    while (count() < 2 && std::chrono::steady_clock::now() - start < patience) {
      std::this_thread::yield();
    }
  };
  work ? pool.run(40, *work, body) : pool.run(40, body);
  return count();
}

constexpr std::chrono::milliseconds kLong(10'000), kBrief(20);

/// What the process's threads together computed.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Whether a forked process finds it true within seconds.
bool in_a_fork(const std::function<bool()>& is_true) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);
    _exit(is_true() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("every task runs exactly once, for all thread counts and task counts") {
  for (int threads = 1; threads <= 8; ++threads) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    for (std::int64_t count : {0, 1, 2, 3, 7, 31, 32, 33, 100, 1000}) {
      std::vector<int> runs(
          static_cast<std::size_t>(count));  // not atomic: a task run twice at once is a data race
      pool.run(count, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t task = first; task < last; ++task) ++runs[static_cast<std::size_t>(task)];
      });
      CAPTURE(threads);
      CAPTURE(count);
      CHECK(runs == std::vector<int>(static_cast<std::size_t>(count), 1));
    }
  }
}

TEST_CASE("no two calls at once have the same slot") {
  for (int threads : {1, 2, 5}) {
    CAPTURE(threads);
    ThreadPool pool(threads);
    std::vector<std::atomic<bool>> taken(static_cast<std::size_t>(threads));
    std::atomic<int> outside = 0, twice = 0;
    for (int round = 0; round < 200; ++round) {
      pool.run(40, [&](std::int64_t, std::int64_t, int slot) {
        if (slot < 0 || slot >= threads) {
          ++outside;
          return;
        }
        if (taken[static_cast<std::size_t>(slot)].exchange(true)) ++twice;
        std::this_thread::yield();  // lets another thread in
        taken[static_cast<std::size_t>(slot)] = false;
      });
    }
    CHECK(outside == 0);
    CHECK(twice == 0);
  }
}

TEST_CASE("run returns only after all tasks are done, many times in a row") {
  ThreadPool pool(4);
  std::vector<std::int64_t> values(64);
  for (std::int64_t round = 1; round <= 5000; ++round) {
    pool.run(64, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t i = first; i < last; ++i) values[static_cast<std::size_t>(i)] += i;
    });
    const auto i = static_cast<std::size_t>(round % 64);
    REQUIRE(values[i] == round * static_cast<std::int64_t>(i));
  }
}

TEST_CASE("tasks that run in turn run once each, in their order where one thread runs them") {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (std::size_t count : {0u, 1u, 3u, 40u}) {
      CAPTURE(threads);
      CAPTURE(count);
      std::vector<int> runs(count);
      std::atomic<std::int64_t> begun = 0, out_of_order = 0;
      pool.run_in_turn(static_cast<std::int64_t>(count), [&](std::int64_t i) {
        ++runs[static_cast<std::size_t>(i)];
        if (begun++ != i) ++out_of_order;
        std::this_thread::yield();
      });
      CHECK(runs == std::vector<int>(count, 1));
      if (threads == 1) CHECK(out_of_order == 0);
    }
  }
}

TEST_CASE("a single task runs on the calling thread") {
  ThreadPool pool(4);
  std::thread::id runner;
  pool.run(1, [&](std::int64_t, std::int64_t, int) { runner = std::this_thread::get_id(); });
  CHECK(runner == std::this_thread::get_id());
}

TEST_CASE("callers from several threads each have all their tasks run") {
  ThreadPool pool(3);
  std::vector<std::int64_t> sums(4);
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < sums.size(); ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<std::int64_t> sum = 0;
        pool.run(50, [&](std::int64_t first, std::int64_t last, int) {
          std::this_thread::yield();  // lets another caller in, if it can get in
          for (std::int64_t i = first; i < last; ++i) sum += i;
        });
        sums[caller] += sum;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(sums == std::vector<std::int64_t>(4, 200 * 1225));
}

TEST_CASE("a pool that never ran anything ends") {
  for (int i = 0; i < 100; ++i) ThreadPool pool(4);
}

TEST_CASE("a run inside of a run ends, however deep and from however many threads") {
  ThreadPool pool(3);
  std::atomic<std::int64_t> sum = 0;
  const std::function<void(int)> nested = [&](int depth) {
    pool.run(4, [&, depth](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t i = first; i < last; ++i) {
        if (depth == 0) {
          ++sum;
        } else {
          nested(depth - 1);
        }
      }
    });
  };
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 12; ++caller) callers.emplace_back([&] { nested(3); });
  for (std::thread& caller : callers) caller.join();
  CHECK(sum == 12 * 256);
}

TEST_CASE("callers and their helpers are together no more than the pool's threads") {
  constexpr int kThreads = 4;
  for (const int callers : {1, 2, 4}) {
    CAPTURE(callers);
    ThreadPool pool(kThreads);
    std::atomic<int> inside = 0, most = 0;
    std::barrier begin(callers), end(callers);
    std::vector<std::thread> threads;
    for (int caller = 0; caller < callers; ++caller) {
      threads.emplace_back([&] {
        const ThreadPool::Use use(pool);
        begin.arrive_and_wait();
        for (int round = 0; round < 100; ++round) {
          pool.run(40, [&](std::int64_t, std::int64_t, int) {
            int former = most;
            for (const int now = ++inside; former < now;) most.compare_exchange_weak(former, now);
            std::this_thread::yield();
            --inside;
          });
        }
        end.arrive_and_wait();
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(most <= kThreads);
  }
}

TEST_CASE("the process has one pool for a number of threads, while anybody has it") {
  const auto pool = ThreadPool::shared(3);
  CHECK(pool->threads() == 3);
  CHECK(ThreadPool::shared(3) == pool);
  CHECK(ThreadPool::shared(2) != pool);
  const std::weak_ptr<ThreadPool> ended = ThreadPool::shared(5);
  CHECK(ended.expired());
}

TEST_CASE("what took a few microseconds runs on the calling thread alone, anything else does not") {
  ThreadPool pool(4);
  Work unknown, brief{500}, lasting{1'000'000};
  CHECK(runners(pool, nullptr, kLong) > 1);
  CHECK(runners(pool, &unknown, kLong) > 1);
  CHECK(runners(pool, &lasting, kLong) > 1);
  CHECK(runners(pool, &brief, kBrief) == 1);
}

TEST_CASE("a launch is known by what it took last, all threads together") {
  constexpr std::int64_t kMillisecond = 1'000'000;
  ThreadPool pool(4);
  const auto sleep = [](std::int64_t first, std::int64_t last, int) {
    for (; first < last; ++first) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  Work work;
  pool.run(8, work, sleep);
  CHECK(work.nanoseconds >= 8 * kMillisecond);
  work = {0};
  pool.run(8, work, sleep);  // alone
  CHECK(work.nanoseconds >= 8 * kMillisecond);
  // Whoever is interrupted takes longer; not ever.
  for (int round = 0; round < 1000 && work.nanoseconds >= kMillisecond; ++round) {
    pool.run(8, work, [](std::int64_t, std::int64_t, int) {});
  }
  CHECK(work.nanoseconds < kMillisecond);
}

TEST_CASE("a pool that has nothing to do takes no processor") {
  ThreadPool pool(4), of_two(2);
  CHECK(runners(pool, nullptr, kLong) > 1);
  CHECK(runners(of_two, nullptr, kLong) > 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  CHECK(processor_seconds() - before < 0.05);  // a thread that looked out would take 0.5
}

TEST_CASE("a forked process has the pool's threads, and ends though its parent had others") {
  const auto pool = std::make_unique<ThreadPool>(3);
  CHECK(runners(*pool, nullptr, kLong) > 1);
  CHECK(in_a_fork([&] { return runners(*pool, nullptr, kLong) > 1; }));
  CHECK(in_a_fork([&] {
    ThreadPool other(2);
    pool->~ThreadPool();  // as at its exit
    return runners(other, nullptr, kLong) > 1;
  }));
  CHECK(runners(*pool, nullptr, kLong) > 1);
}

#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a pool that the system has no threads for says so, and starts when it has") {
  CHECK(in_a_fork([] {
    const auto threads = [] {
      return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
    };
    const auto before = threads();
    rlimit former{}, little{};
    getrlimit(RLIMIT_AS, &former);
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    little = {static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + (64 << 20)), former.rlim_max};
    ThreadPool pool(500);
    setrlimit(RLIMIT_AS, &little);
    std::string message;
    try {
      pool.start();
    } catch (const halftone::Error& error) {
      message = error.what();
    }
    setrlimit(RLIMIT_AS, &former);
    return threads() == before &&
           message.starts_with("device: a pool of 500 threads cannot be started: ") &&
           message.ends_with("; ask for fewer with HALFTONE_THREADS or with_threads") &&
           runners(pool, nullptr, kLong) > 1;
  }));
}
#endif
