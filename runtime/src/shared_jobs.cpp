// SPDX-License-Identifier: Apache-2.0
#include "shared_jobs.hpp"

#include <algorithm>
#include <chrono>

namespace halftone {
namespace {

using Clock = std::chrono::steady_clock;

// The kernels of a step follow each other within microseconds; waking a thread that sleeps costs
// about as much as a small kernel.
constexpr auto kMoment = std::chrono::microseconds(30);
constexpr int kPausesPerLookAtTheClock = 16;

// A range is a share of what nobody has claimed yet: long ones first, so that there are few, and
// short ones last, so that all threads end at once.
constexpr std::uint32_t kSharesPerThread = 2;
constexpr std::int64_t kUnitsPerThread = 16;

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

template <class Done>
bool SharedJobs::spin_until(Done done) const noexcept {
  if (done()) return true;
  if (!may_spin_) return false;
  const Clock::time_point end = Clock::now() + kMoment;
  do {
    for (int i = 0; i < kPausesPerLookAtTheClock; ++i) {
      pause();
      if (done()) return true;
    }
  } while (Clock::now() < end);
  return false;
}

SharedJobs::Job* SharedJobs::publish(const Body& body, std::int64_t count, int threads) noexcept {
  Job* job = take_place();
  if (!job) return nullptr;
  job->body = body;
  job->count = count;
  job->units = std::min(count, kUnitsPerThread * threads);
  job->shares = kSharesPerThread * static_cast<std::uint32_t>(threads);
  job->nanoseconds.store(0, std::memory_order_relaxed);
  job->unfinished.store(static_cast<std::uint32_t>(job->units), std::memory_order_relaxed);
  const std::uint64_t number = (job->ticket.load(std::memory_order_relaxed) >> 32) + 1;
  job->ticket.store((number << 32) | static_cast<std::uint64_t>(job->units),
                    std::memory_order_release);
  wake();
  return job;
}

std::int64_t SharedJobs::finish(Job& job) noexcept {
  while (run_one_range(job, 0)) {
  }
  const auto done = [&] { return job.unfinished.load(std::memory_order_acquire) == 0; };
  if (!spin_until(done)) {
    while (const std::uint32_t rest = job.unfinished.load(std::memory_order_acquire)) {
      job.unfinished.wait(rest, std::memory_order_acquire);
    }
  }
  const std::int64_t nanoseconds = job.nanoseconds.load(std::memory_order_relaxed);
  job.taken.store(false, std::memory_order_release);
  return nanoseconds;
}

SharedJobs::Job* SharedJobs::take_place() noexcept {
  for (Job& job : jobs_) {
    if (job.taken.load(std::memory_order_relaxed)) continue;
    if (!job.taken.exchange(true, std::memory_order_acquire)) return &job;
  }
  return nullptr;
}

bool SharedJobs::run_one_range(Job& job, int slot) noexcept {
  std::uint64_t ticket = job.ticket.load(std::memory_order_acquire);
  std::uint32_t unclaimed = 0, claim = 0;
  do {
    unclaimed = static_cast<std::uint32_t>(ticket);
    if (unclaimed == 0) return false;
    claim = std::max(1u, unclaimed / job.shares.load(std::memory_order_relaxed));
  } while (!job.ticket.compare_exchange_weak(ticket, ticket - claim, std::memory_order_acq_rel,
                                             std::memory_order_acquire));
  const std::int64_t size = job.count / job.units, longer = job.count % job.units;
  const auto task = [&](std::int64_t unit) { return unit * size + std::min(unit, longer); };
  const std::int64_t first = task(job.units - unclaimed),
                     last = task(job.units - unclaimed + claim);
  const Clock::time_point start = job.body.timed ? Clock::now() : Clock::time_point();
  job.body.call(job.body.context, first, last, slot);
  if (job.body.timed) {
    job.nanoseconds.fetch_add(std::chrono::nanoseconds(Clock::now() - start).count(),
                              std::memory_order_relaxed);
  }
  if (job.unfinished.fetch_sub(claim, std::memory_order_acq_rel) == claim) {
    job.unfinished.notify_all();
  }
  return true;
}

bool SharedJobs::help(int slot) noexcept {
  return std::ranges::any_of(jobs_, [&](Job& job) { return run_one_range(job, slot); });
}

bool SharedJobs::look_out(std::uint32_t seen) const noexcept {
  return spin_until([&] { return news_.load(std::memory_order_acquire) != seen; });
}

void SharedJobs::wake() noexcept {
  news_.fetch_add(1);
  news_.notify_all();
}

void SharedJobs::forget() noexcept {
  for (Job& job : jobs_) {
    job.ticket.store(job.ticket.load() >> 32 << 32);
    job.taken.store(false);
  }
}

}  // namespace halftone
