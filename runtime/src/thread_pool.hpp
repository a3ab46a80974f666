// SPDX-License-Identifier: Apache-2.0
// The CPU device's threads. A kernel's tasks are cut into contiguous ranges; who runs which decides
// no bit, since tasks are independent of each other.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace halftone {

class ThreadPool {
 public:
  /// The caller of run() is one of the `threads` >= 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  /// body(first, last, slot) for ranges that cover [0, count) once, from several threads; returns
  /// when all are done. `slot` is one of [0, threads()), and calls that share one follow each
  /// other. `body` must not throw, nor call run(). Calls from different threads take turns.
  template <class Body>
  void run(std::int64_t count, const Body& body) {
    run(count, {[](const void* context, std::int64_t first, std::int64_t last, int slot) {
                  (*static_cast<const Body*>(context))(first, last, slot);
                },
                &body});
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

 private:
  struct Job {
    void (*call)(const void* context, std::int64_t first, std::int64_t last, int slot) = nullptr;
    const void* context = nullptr;
    std::int64_t count = 0;
    std::int64_t ranges = 0;
  };

  void run(std::int64_t count, Job job);
  bool run_one_range(int slot) noexcept;
  void work(int slot) noexcept;
  void stop();
  void await_work(std::uint32_t seen) const noexcept;

  // A ticket is the job's number (upper half) and how many of its ranges nobody has claimed (lower
  // half). A claim is one compare-exchange of it, so a worker that wakes late can never take a
  // range of a job that it has not seen, and job_ stays as it is while any claimed range is
  // unfinished.
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint32_t> job_number_{0};  // what idle workers sleep on
  std::atomic<std::uint32_t> unfinished_{0};  // ranges of the current job
  std::atomic<bool> stopping_{false};
  Job job_;
  std::mutex turn_;
  bool may_spin_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace halftone
