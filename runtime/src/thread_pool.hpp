// SPDX-License-Identifier: Apache-2.0
// The CPU device's threads: the runtime's own, or those of an executor.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "halftone/executor.hpp"
#include "shared_jobs.hpp"

namespace halftone {

/// What a launch took when it last ran, all its threads together: what it is to cost is known from
/// there. One for each launch; belongs to whoever launches.
struct Work {
  std::int64_t nanoseconds = -1;  ///< unknown
};

/// Several threads may use a pool at once, from inside of a pool's tasks, too. Then they and the
/// workers that help them are together no more than `threads`, or as many as they are themselves.
class ThreadPool {
 public:
  /// The caller of run() is one of the `threads` >= 1. Workers are started when they are needed.
  explicit ThreadPool(int threads);
  ThreadPool(int threads, std::shared_ptr<Executor> executor);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The process's pool of so many threads, which lives as long as somebody has it.
  [[nodiscard]] static std::shared_ptr<ThreadPool> shared(int threads);

  [[nodiscard]] int threads() const noexcept { return threads_; }

  /// Starts the workers, if need be, as run() would; a forked process has none. Throws Error when
  /// the system has no more threads.
  void start();

  /// In a forked process, which has none of the threads but the one that forked.
  void forget_threads();

  /// body(first, last, slot) for ranges that cover [0, count) once, from several threads; returns
  /// when all are done. `slot` is one of [0, threads()), and calls that share one follow each
  /// other. `body` must not throw.
  template <class Body>
  void run(std::int64_t count, const Body& body) {
    run(count, nullptr, body_of(body));
  }

  /// The same; a launch that takes a few microseconds runs on the calling thread alone.
  template <class Body>
  void run(std::int64_t count, Work& work, const Body& body) {
    run(count, &work, body_of(body));
  }

  /// body(i) for every i of [0, count), begun in this order by whoever is free: for few tasks of
  /// very different lengths, the longest first.
  template <class Body>
  void run_in_turn(std::int64_t count, const Body& body) {
    std::atomic<std::int64_t> next{0};
    run(std::min<std::int64_t>(count, threads()), [&](std::int64_t first, std::int64_t last, int) {
      for (; first < last; ++first) {
        for (std::int64_t i = next++; i < count; i = next++) body(i);
      }
    });
  }

  /// While it lives, this thread counts as one of those that use the pool, as it does inside of
  /// run(): around several runs that follow each other closely.
  class Use {
   public:
    explicit Use(ThreadPool& pool) noexcept;
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    std::atomic<int>* users_;  ///< null where the thread is counted already
  };

 private:
  /// What helpers need that may outlive the pool: an executor may run a job late.
  struct Shared {
    explicit Shared(int threads);
    SharedJobs jobs;
    alignas(kApart) std::atomic<int> users{0};
    std::atomic<bool> stopping{false};
    std::vector<std::atomic<bool>> seats;  ///< by slot; taken by what was submitted
  };
  struct Seat;

  template <class Body>
  static SharedJobs::Body body_of(const Body& body) {
    return {[](const void* context, std::int64_t first, std::int64_t last, int slot) {
              (*static_cast<const Body*>(context))(first, last, slot);
            },
            &body};
  }

  void run(std::int64_t count, Work* work, SharedJobs::Body body);
  [[nodiscard]] bool is_worth_sharing(std::int64_t count, const Work* work) const noexcept;
  void start_workers();
  void stop() noexcept;
  void invite(std::int64_t helpers) noexcept;
  void work(int slot) noexcept;
  static void help_for_a_moment(Seat& seat) noexcept;

  const std::shared_ptr<Executor> executor_;
  const int threads_;
  const std::shared_ptr<Shared> shared_;
  std::atomic<bool> started_{false};
  std::vector<std::thread> workers_;
};

}  // namespace halftone
