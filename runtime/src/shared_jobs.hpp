// SPDX-License-Identifier: Apache-2.0
// What a pool's threads have to do: for every thread that launches a kernel one job, cut into
// contiguous ranges of tasks that whoever is free claims. Who runs which decides no bit, since
// tasks are independent of each other.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace halftone {

/// What adjacent cache lines are fetched for together: what different threads write lies apart.
inline constexpr std::size_t kApart = 128;

class SharedJobs {
  struct Job;

 public:
  struct Body {
    void (*call)(const void* context, std::int64_t first, std::int64_t last, int slot) = nullptr;
    const void* context = nullptr;
    bool timed = false;
  };

  /// `may_spin`: threads that find nothing to do look out for it for a moment before they sleep.
  explicit SharedJobs(bool may_spin) : may_spin_(may_spin) {}

  /// A job for `threads` that may help. Null where too many threads have one here.
  [[nodiscard]] Job* publish(const Body& body, std::int64_t count, int threads) noexcept;

  /// Runs the ranges that nobody else claims on this thread, with slot 0, and waits for the others.
  /// Returns the nanoseconds of all threads together where the body is timed.
  std::int64_t finish(Job& job) noexcept;

  /// Runs one range of any job. False where there is none.
  bool help(int slot) noexcept;

  /// Changes with every new job.
  [[nodiscard]] std::uint32_t news() const noexcept { return news_.load(); }
  /// Whether there are some within a moment.
  [[nodiscard]] bool look_out(std::uint32_t seen) const noexcept;
  /// Sleeps until there are.
  void sleep(std::uint32_t seen) const noexcept { news_.wait(seen); }
  /// Wakes all that sleep, without a job.
  void wake() noexcept;

  /// After a fork, of which only the calling thread is left.
  void forget() noexcept;

 private:
  // A ticket is the number of the job in this place (upper half) and how many of its ranges nobody
  // has claimed (lower half). A claim is one compare-exchange of it, so a thread that wakes late
  // can never take a range of a job that it has not seen, and what is said of a job stays as it is
  // while any claimed range is unfinished.
  struct Job {
    alignas(kApart) std::atomic<std::uint64_t> ticket{0};
    alignas(kApart) std::atomic<std::uint32_t> unfinished{0};
    std::atomic<std::int64_t> nanoseconds{0};
    alignas(kApart) std::atomic<bool> taken{false};
    Body body;
    std::int64_t count = 0, units = 0;  ///< tasks; what they are cut into, to be claimed together
    std::atomic<std::uint32_t> shares{1};
  };

  /// So many threads can have a job at once.
  static constexpr std::size_t kPlaces = 8;

  [[nodiscard]] Job* take_place() noexcept;
  static bool run_one_range(Job& job, int slot) noexcept;
  template <class Done>
  bool spin_until(Done done) const noexcept;

  std::array<Job, kPlaces> jobs_;
  alignas(kApart) std::atomic<std::uint32_t> news_{0};
  const bool may_spin_;
};

}  // namespace halftone
