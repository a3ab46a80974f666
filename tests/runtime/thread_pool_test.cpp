// SPDX-License-Identifier: Apache-2.0
#include "thread_pool.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

using halftone::ThreadPool;

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

TEST_CASE("callers from several threads take turns") {
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
