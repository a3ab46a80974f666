// SPDX-License-Identifier: Apache-2.0
// A pool on threads that are not its own.
#include "halftone/executor.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "executors.hpp"
#include "thread_pool.hpp"

using halftone::Executor;
using halftone::ThreadPool;

namespace {

/// Whether `rounds` runs of 24 tasks ran each once, no two at once with the same slot.
bool runs_all_once(ThreadPool& pool, int rounds = 20) {
  std::vector<std::atomic<bool>> taken(static_cast<std::size_t>(pool.threads()));
  std::atomic<int> twice = 0;
  std::vector<int> runs(24);  // not atomic: a task run twice at once is a data race
  for (int round = 0; round < rounds; ++round) {
    pool.run(24, [&](std::int64_t first, std::int64_t last, int slot) {
      if (taken.at(static_cast<std::size_t>(slot)).exchange(true)) ++twice;
      for (std::int64_t task = first; task < last; ++task) ++runs[static_cast<std::size_t>(task)];
      std::this_thread::sleep_for(std::chrono::microseconds(20));  // lets another thread in
      taken[static_cast<std::size_t>(slot)] = false;
    });
  }
  return twice == 0 && runs == std::vector<int>(24, rounds);
}

/// Whether two threads were inside of one run.
bool shares(ThreadPool& pool) {
  const auto start = std::chrono::steady_clock::now();
  std::atomic<int> inside = 0;
  std::atomic<bool> met = false;
  pool.run(2, [&](std::int64_t, std::int64_t, int) {
    if (++inside == 2) met = true;
    while (!met && std::chrono::steady_clock::now() - start < std::chrono::seconds(10)) {
      std::this_thread::yield();
    }
    --inside;
  });
  return met;
}

}  // namespace

TEST_CASE("every task runs exactly once on any executor") {
  for (const int workers : {1, 2, 5}) {
    CAPTURE(workers);
    ThreadPool pool(workers + 1, std::make_shared<executors::Queue>(workers));
    CHECK(pool.threads() == workers + 1);
    CHECK(runs_all_once(pool));
  }
  ThreadPool of_two(2, std::make_shared<executors::Queue>(3, 2));  // more threads than it says
  CHECK(runs_all_once(of_two));
  ThreadPool at_once(4, std::make_shared<executors::AtOnce>());
  CHECK(runs_all_once(at_once));
  ThreadPool refusing(4, std::make_shared<executors::Refusing>());
  CHECK(runs_all_once(refusing));
}

TEST_CASE("an executor's threads take part") {
  ThreadPool pool(2, std::make_shared<executors::Queue>(1));
  CHECK(shares(pool));
  CHECK(shares(pool));
}

TEST_CASE("jobs that are run late find nothing to do, even when the pool is gone") {
  const auto late = std::make_shared<executors::Late>();
  {
    ThreadPool pool(4, late);
    CHECK(runs_all_once(pool, 3));
    late->run_all();
    CHECK(runs_all_once(pool, 3));
  }
  late->run_all();
}

TEST_CASE("a job that an executor dropped is asked for again") {
  class Forgetful final : public Executor {
   public:
    [[nodiscard]] int threads() const noexcept override { return 2; }
    void submit(std::function<void()> job) noexcept override {
      if (++asked_ > 3) queue_.submit(std::move(job));
    }

   private:
    std::atomic<int> asked_ = 0;
    executors::Queue queue_{1};
  };
  ThreadPool pool(2, std::make_shared<Forgetful>());
  CHECK(runs_all_once(pool, 3));
  CHECK(shares(pool));
}

TEST_CASE("an executor's own threads run what the executor helps with") {
  const auto queue = std::make_shared<executors::Queue>(2);
  ThreadPool pool(3, queue);
  std::atomic<int> right = 0, done = 0;
  for (int i = 0; i < 6; ++i) {
    queue->submit([&] {
      if (runs_all_once(pool)) ++right;
      ++done;
      done.notify_all();
    });
  }
  while (done < 6) done.wait(done.load());
  CHECK(right == 6);
}

TEST_CASE("jobs end soon after the last run, so that an executor is free for others") {
  const auto queue = std::make_shared<executors::Queue>(1);
  ThreadPool pool(2, queue);
  CHECK(shares(pool));
  std::atomic<bool> ran = false;
  queue->submit([&] {
    ran = true;
    ran.notify_all();
  });
  ran.wait(false);  // for ever, if the job stays
  CHECK(ran);
}
