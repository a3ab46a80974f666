// SPDX-License-Identifier: Apache-2.0
// Executors as programs may have them: threads behind a queue, and some that do the least that an
// executor may.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "halftone/executor.hpp"

namespace executors {

/// Threads that take jobs in their order.
class Queue final : public halftone::Executor {
 public:
  explicit Queue(int workers, int threads) : threads_(threads) {
    for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
  }
  explicit Queue(int workers) : Queue(workers, workers + 1) {}
  ~Queue() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  [[nodiscard]] int threads() const noexcept override { return threads_; }
  void submit(std::function<void()> job) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
      ++submitted_;
    }
    changed_.notify_one();
  }
  [[nodiscard]] std::int64_t submitted() {
    const std::lock_guard lock(mutex_);
    return submitted_;
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
    }
  }

  const int threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::int64_t submitted_ = 0;
  bool ending_ = false;
  std::vector<std::thread> workers_;
};

/// Runs every job inside of submit().
class AtOnce final : public halftone::Executor {
 public:
  [[nodiscard]] int threads() const noexcept override { return 4; }
  void submit(std::function<void()> job) noexcept override { job(); }
};

/// Destroys every job.
class Refusing final : public halftone::Executor {
 public:
  [[nodiscard]] int threads() const noexcept override { return 4; }
  void submit(std::function<void()>) noexcept override {}
};

/// Keeps jobs until it is told to run them.
class Late final : public halftone::Executor {
 public:
  [[nodiscard]] int threads() const noexcept override { return 4; }
  void submit(std::function<void()> job) noexcept override { jobs_.push_back(std::move(job)); }
  void run_all() {
    for (const auto& job : jobs_) job();
    jobs_.clear();
  }

 private:
  std::vector<std::function<void()>> jobs_;
};

}  // namespace executors
