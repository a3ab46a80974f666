// SPDX-License-Identifier: Apache-2.0
#include "thread_pool.hpp"

#include <algorithm>
#include <string>
#include <system_error>

#include "halftone/error.hpp"

namespace halftone {
namespace {

// More ranges than threads, so that a thread that was interrupted does not hold up the rest.
constexpr std::int64_t kRangesPerThread = 4;

// The kernels of a step follow each other within microseconds; waking a sleeping thread costs about
// as much as a small kernel. A worker looks out for the next one for some 20 to 60 us before it
// sleeps.
constexpr int kSpins = 1000;

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads)
    : may_spin_(threads <= static_cast<int>(std::thread::hardware_concurrency())) {
  workers_.reserve(static_cast<std::size_t>(threads - 1));
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error& refused) {
    stop();
    throw Error({.operation = "device",
                 .object = "a pool of " + std::to_string(threads) + " threads",
                 .cause = std::string("cannot be started: ") + refused.what(),
                 .hint = "ask for fewer with HALFTONE_THREADS or with_threads"});
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  stopping_.store(true);
  job_number_.fetch_add(1);
  job_number_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(std::int64_t count, Job job) {
  if (count <= 0) return;
  if (count == 1 || workers_.empty()) {
    job.call(job.context, 0, count, 0);
    return;
  }
  const std::lock_guard lock(turn_);
  job.count = count;
  job.ranges = std::min(count, kRangesPerThread * threads());
  job_ = job;
  const std::uint32_t number = job_number_.load(std::memory_order_relaxed) + 1;
  unfinished_.store(static_cast<std::uint32_t>(job.ranges), std::memory_order_relaxed);
  ticket_.store((std::uint64_t{number} << 32) | static_cast<std::uint64_t>(job.ranges),
                std::memory_order_release);
  job_number_.store(number, std::memory_order_release);
  job_number_.notify_all();

  while (run_one_range(0)) {
  }
  for (int i = 0; may_spin_ && i < kSpins && unfinished_.load(std::memory_order_acquire) != 0;
       ++i) {
    pause();
  }
  while (const std::uint32_t rest = unfinished_.load(std::memory_order_acquire)) {
    unfinished_.wait(rest, std::memory_order_acquire);
  }
}

bool ThreadPool::run_one_range(int slot) noexcept {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  do {
    if (static_cast<std::uint32_t>(ticket) == 0) return false;
  } while (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel,
                                          std::memory_order_acquire));
  const std::int64_t range = job_.ranges - static_cast<std::uint32_t>(ticket);
  const std::int64_t size = job_.count / job_.ranges, longer = job_.count % job_.ranges;
  const std::int64_t first = range * size + std::min(range, longer);
  const std::int64_t last = first + size + (range < longer ? 1 : 0);
  job_.call(job_.context, first, last, slot);
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
  return true;
}

void ThreadPool::work(int slot) noexcept {
  for (;;) {
    const std::uint32_t seen = job_number_.load(std::memory_order_acquire);
    if (stopping_.load()) return;
    while (run_one_range(slot)) {
    }
    await_work(seen);
  }
}

void ThreadPool::await_work(std::uint32_t seen) const noexcept {
  for (int i = 0; may_spin_ && i < kSpins; ++i) {
    if (job_number_.load(std::memory_order_acquire) != seen) return;
    pause();
  }
  job_number_.wait(seen, std::memory_order_acquire);
}

}  // namespace halftone
